"""Spending: what a whole release spends, over all its groups:
the noise of each, delta at an epsilon, and epsilon at a delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from tacit.families.synthetic.promise import geometric
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.noise import Chooser, NoisePromise
from tacit.families.synthetic.promise.printed_bounds import (
    accepted_epsilon_from_delta,
    shrunk_epsilon,
)
from tacit.families.synthetic.promise.probability_bounds import SLACK, Bounds, float_below
from tacit.families.synthetic.promise.terms import Guarantee, Noise, Terms
from tacit.families.synthetic.question import Planned, Sort
from tacit.model.jobs import Job

POINTS = 24  # of a curve
PLACES = 4  # of an epsilon that is searched, rounded up
MOST_EPSILON = 300.0  # beyond it nothing is promised


@dataclass(frozen=True, slots=True)
class Spent:
    """Delta of a whole release; the groups that may spend the most, and
    those that surely spend the most.
    """

    delta: Bounds
    worst: Sort
    surest: Sort


@dataclass(frozen=True, slots=True)
class SpendingStep:
    """What is spent once an option is counted, at the delta that was promised;
    `printed` is Machanavajjhala's (2008) epsilon, where it has one.
    """

    name: str
    epsilon: float
    printed: float | None = None


class Spending:
    """What a release spends; the noise is chosen once for each sort of groups."""

    def __init__(self, planned: Planned, job: Job | None = None) -> None:
        self.planned, self.job = planned, job or Job()
        self.chooser = Chooser(planned.terms, max(planned.groups, 1))

    @cached_property
    def noises(self) -> list[tuple[Sort, Noise]]:
        """Every sort of groups with its noise. From small groups to large ones, so that one
        guess leads to the next.
        """
        found, sorts = (
            [],
            sorted(self.planned.sorts, key=lambda sort: (sort.people, sort.cells.number)),
        )
        for number, sort in enumerate(sorts):
            if number % 32 == 0:
                self.job.step(
                    f"choosing the noise of groups of {sort.people:,}", number / len(sorts)
                )
            found.append((sort, self.chooser.noise(sort.people, sort.cells)))
        return found

    def delta(
        self, epsilon: Epsilon, delta: Fraction, guarantee: Guarantee, *, least: bool = True
    ) -> Spent:
        """What is spent at an epsilon. A promise of dp holds for all groups together as for the
        worst one; one of pdp adds up.

        Without `least` only the upper bound is looked for.
        """
        low = high = 0.0
        untold, worst, most = 0.0, self.noises[0][0], -1.0
        surest, proved = worst, -1.0
        for sort, noise in self.noises:
            found = self.of_group(sort, noise, epsilon, delta, guarantee, least=least)
            if found.high > most:
                worst, most = sort, found.high
            if found.low > proved:
                surest, proved = sort, found.low
            if guarantee == "dp":
                low, high = max(low, found.low), max(high, found.high)
            else:
                high += sort.groups * found.high * (1 + SLACK)
                untold += sort.groups * math.log1p(-min(found.low, 1 - 1e-15))
        if guarantee == "pdp":
            low = -math.expm1(untold) * (1 - SLACK)
        return Spent(Bounds(low, min(1.0, high)), worst, surest)

    def of_group(
        self,
        sort: Sort,
        noise: Noise,
        epsilon: Epsilon,
        delta: Fraction,
        guarantee: Guarantee,
        *,
        least: bool = True,
    ) -> Bounds:
        """What one group spends."""
        if noise.alpha is None:
            terms = replace(self.planned.terms, guarantee=guarantee)
            return geometric.spent(terms, sort.people, sort.cells, noise, epsilon)
        low, high = epsilon.ratio
        promise = self.promise(sort, self.group_terms(delta, guarantee))
        found = promise.spent(noise.alpha, low, least=least)
        return (
            found
            if low == high or not least
            else Bounds(promise.spent(noise.alpha, high).low, found.high)
        )

    def group_terms(self, delta: Fraction, guarantee: Guarantee) -> Terms:
        """The terms of a single group: a promise of pdp is divided among all of them."""
        share = delta / max(self.planned.groups, 1) if guarantee == "pdp" else delta
        return replace(self.planned.terms, guarantee=guarantee, delta=share)

    @staticmethod
    def promise(sort: Sort, terms: Terms) -> NoisePromise:
        """The promise of the groups of a sort."""
        return NoisePromise(terms, sort.people, sort.people, sort.cells)

    def epsilon(self, delta: Fraction, guarantee: Guarantee, near: Epsilon) -> float:
        """The least epsilon at which the release keeps to a delta, rounded up;
        infinite where there is none below MOST_EPSILON.
        """
        if guarantee == "pdp":
            return self._searched(
                lambda epsilon: self.delta(epsilon, delta, guarantee, least=False).delta.high,
                delta,
                near,
                close=0.01,
            )
        found = 0.0
        for sort, noise in sorted(self.noises, key=lambda one: -one[0].people):
            # Only groups that do not keep to delta at what was found so
            # far are looked at more closely.
            if found and self.of_group(
                sort, noise, Epsilon(value=Fraction(found)), delta, guarantee, least=False
            ).high <= float_below(delta):
                continue
            found = self._searched(self._of(sort, noise, delta, guarantee), delta, near)
            if math.isinf(found):
                break
        return found

    def _of(
        self, sort: Sort, noise: Noise, delta: Fraction, guarantee: Guarantee
    ) -> Callable[[Epsilon], float]:
        """What one group spends at an epsilon, at most."""
        return lambda epsilon: (
            self.of_group(sort, noise, epsilon, delta, guarantee, least=False).high
        )

    @staticmethod
    def _searched(
        spent: Callable[[Epsilon], float], delta: Fraction, near: Epsilon, close: float = 0.001
    ) -> float:
        """The least epsilon at which no more than delta is spent, by doubling and halving."""
        target = float_below(delta)

        def passes(epsilon: float) -> bool:
            return spent(Epsilon(value=Fraction(epsilon))) <= target

        low, high = 0.0, rounded_up(float(near))
        while not passes(high):
            low, high = high, 2 * high
            if high > MOST_EPSILON:
                return math.inf
        while high - low > close * max(1.0, high / 2):
            middle = (low + high) / 2
            low, high = (low, middle) if passes(middle) else (middle, high)
        return rounded_up(high)

    def curve(self, guarantee: Guarantee, delta: Fraction, sort: Sort) -> list[tuple[float, float]]:
        """Delta of a sort of groups at several epsilons, rounded up:
        from a fourth of what was promised to twice as much.
        """
        noise = next(noise for one, noise in self.noises if one is sort)
        middle = float(self.planned.terms.epsilon)
        points = [round(middle * (0.25 + 1.75 * at / (POINTS - 1)), PLACES) for at in range(POINTS)]
        told = []
        for point in points:
            epsilon = Epsilon(value=Fraction(str(point)))
            told.append(
                (point, self.of_group(sort, noise, epsilon, delta, guarantee, least=False).high)
            )
        return told

    def steps(self, sort: Sort) -> Iterator[SpendingStep]:
        """What is spent by the mechanism, and after each option, in the groups of a sort."""
        noise = self.chooser.noise(sort.people, sort.cells)
        if noise.alpha is None:
            yield SpendingStep(
                "thresholded geometric histogram", rounded_up(float(self.planned.terms.epsilon))
            )
            return
        terms = self.group_terms(self.planned.terms.delta, self.planned.terms.guarantee)
        promise = self.promise(sort, terms)
        alone = promise.epsilon(noise.alpha, promise.mechanism)
        yield SpendingStep("Dirichlet-multinomial mechanism", alone)
        shrunk = alone
        if sort.cells.shrinks:
            bare = replace(promise, terms=replace(terms, accept=None))
            shrunk = promise.epsilon(noise.alpha, bare.spent)
            heavy = noise.alpha * max(kind.weight for kind in sort.cells.kinds)
            printed = shrunk_epsilon(alone, float(sort.cells.least_keep), float(heavy))
            yield SpendingStep("shrinking the domain", shrunk, printed)
        if terms.accept is not None:
            yield SpendingStep(
                "accepting representative outputs",
                promise.epsilon(noise.alpha, promise.spent),
                accepted_epsilon_from_delta(shrunk, float(terms.delta)),
            )


def spending_of(planned: Planned, job: Job | None = None) -> Spending:
    """What a release spends; a release that was asked about already keeps its noise."""
    found = _known_spending(planned)
    found.job = job or Job()
    return found


@lru_cache(maxsize=8)
def _known_spending(planned: Planned) -> Spending:
    return Spending(planned)


def exact(sorts: Sequence[Sort], terms: Terms, guarantee: Guarantee) -> bool:
    """Is what is computed reached by some pair of tables, and not only a bound?"""
    if guarantee == "pdp" or terms.accept is not None or terms.mechanism == "geometric":
        return False
    return all(sort.cells.number != 2 and not sort.cells.shrinks for sort in sorts)


def rounded_up(epsilon: float) -> float:
    """An epsilon with a few digits, not less than it was."""
    return math.ceil(epsilon * 10.0**PLACES) / 10.0**PLACES
