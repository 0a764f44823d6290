"""Noise: how much a group needs for its terms, and what is then spent; every option counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from tacit.families.synthetic.cells import DomainCells
from tacit.families.synthetic.promise import geometric
from tacit.families.synthetic.promise.curve import Rivals
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.probability_bounds import (
    SLACK,
    Bounds,
    float_above,
    float_below,
)
from tacit.families.synthetic.promise.shrinking import SHARE, KeptWeight, price
from tacit.families.synthetic.promise.shrinking import kept as kept_of
from tacit.families.synthetic.promise.tails import TailGroup, disclosed, tail_bounds, unlikely
from tacit.families.synthetic.promise.terms import CannotPromise, Noise, Terms

DIGITS = 5  # of alpha, rounded up: what is too much is below a tenth of a percent
FINEST = -9  # alpha is a multiple of 10^-9 at least: the urn counts in such parts
LEAST_ALPHA = Fraction(1, 10**6)
Bracket = tuple[
    float, float, float, float
]  # two amounts of noise, and by how much delta misses at each
NARROW = 1.01  # within such a bracket delta is nearly a power of alpha
LITTLE, WIDEST = 1e-6, 2.0  # where a search without a guess begins, and its widest step
STEEP = 10.0  # about so steeply delta falls with alpha, as a power
FEW = 300  # people drawn from two cells up to whom every count is summed over
CLOSE = 1.00002  # a bracket of alpha that is narrow enough to try its ends
NEARLY = 0.998  # of delta that is used up: alpha is then the least, up to a tenth of a percent
LESS = Fraction(9999, 10_000)  # noise that may be enough too, where less of delta is used up


@dataclass(frozen=True)
class NoisePromise:
    """What the Dirichlet-multinomial mechanism spends in a group, for an amount of noise.

    >>> cells = DomainCells.alike(10_000)
    >>> promise = NoisePromise(Terms(Epsilon.read("ln(50)"), Fraction("1e-6")), 10**6, 10**6, cells)
    >>> promise.spent(Fraction("0.3394"), Fraction(50)).high <= 1e-6 < promise.spent(
    ...     Fraction("0.3393"), Fraction(50)
    ... ).low
    True
    """

    terms: Terms
    people: int
    drawn: int
    cells: DomainCells

    def spent(self, alpha: Fraction, ratio: Fraction, *, least: bool = True) -> Bounds:
        """Delta at a likelihood ratio e^epsilon, after shrinking and accepting;
        without `least` the lower bound may be 0.
        """
        if self.cells.number < 2 or not self.drawn:
            return Bounds(0.0, 0.0)
        if self.terms.accept is None:
            return self._shrunk(alpha, ratio, least)
        return self._accepted(alpha, ratio, self.terms.accept, least)

    def mechanism(
        self, alpha: Fraction, ratio: Fraction, prior: Fraction | None = None, *, least: bool = True
    ) -> Bounds:
        """Delta of the mechanism alone, or with this much prior in all cells but two."""
        if self.cells.number < 2:
            return Bounds(0.0, 0.0)
        if ratio <= 1:
            return Bounds(0.0, 1.0)
        first, second = (alpha * weight for weight in self.cells.least)
        if self.terms.guarantee == "pdp":
            # A cell with too many people is kept itself, whatever else is.
            mass = alpha * self.cells.weight if prior is None else prior + first
            group = TailGroup(self.people, self.drawn, self.cells, alpha, mass)
            return Bounds(disclosed(group, ratio) if least else 0.0, unlikely(group, ratio - 1))
        rest = (
            self.people
            - 1
            + (alpha * self.cells.weight - first - second if prior is None else prior)
        )
        found = Rivals(self.drawn, first, second, rest).delta(ratio, self._negligible)
        if first != second:
            other = Rivals(self.drawn, second, first, rest).delta(ratio, self._negligible)
            found = Bounds(max(found.low, other.low), max(found.high, other.high))
        # Two cells hold the known people too: then this is a bound and need not be reached.
        if self.cells.number > 2 or self.people == 1:
            return found
        return Bounds(self._two_cells(alpha, ratio) if least else 0.0, found.high)

    @property
    def _negligible(self) -> float:
        return min(1e-24, float(self.terms.delta) * 1e-6) or 1e-24

    def _two_cells(self, alpha: Fraction, ratio: Fraction) -> float:
        """At most delta where all known people stand in the two cells: all in the second."""
        first, second = (alpha * weight for weight in self.cells.least)
        return (
            Rivals(self.drawn, first, self.people - 1 + second, Fraction(0)).delta(ratio).low
            if self.drawn <= FEW
            else 0.0
        )

    def _shrunk(self, alpha: Fraction, ratio: Fraction, least: bool) -> Bounds:
        if not self.cells.shrinks:
            return self.mechanism(alpha, ratio, least=least)
        kept = self._kept
        certain = (
            not self.terms.delta or self.terms.guarantee == "pdp"
        )  # then the factor must hold whatever is kept
        factor = price(
            self.cells,
            alpha,
            self.people,
            self.drawn,
            Fraction(0) if certain else alpha * kept.weight,
        )
        found = self.mechanism(
            alpha,
            ratio / factor,
            Fraction(0) if not self.terms.delta else alpha * kept.weight,
            least=False,
        )
        scale = (
            1.0 if self.terms.guarantee == "pdp" else float_above(factor * self.cells.least_keep)
        )
        high = (kept.chance if self.terms.delta else 0.0) + scale * found.high * (1 + SLACK)
        return Bounds(self._delta_bound(alpha, ratio) if least else 0.0, min(1.0, high))

    @cached_property
    def _kept(self) -> KeptWeight:
        share = float_below(self.terms.delta / SHARE) if self.terms.delta else 1e-300
        return kept_of(self.cells, share)

    def _delta_bound(self, alpha: Fraction, ratio: Fraction) -> float:
        """At most delta of the shrunk mechanism:
        by looking whether the least kept cell has so many people.
        """
        if self.terms.guarantee == "pdp":
            return 0.0
        keep = self.cells.least_keep
        prior = alpha * min(kind.weight for kind in self.cells.kinds if kind.keep == keep)
        rest = self.people - 1 + alpha * self.cells.weight
        best = 0.0
        for least in (1, 2, 3, 5, 8):
            there = tail_bounds(self.drawn, 1 + prior, rest, least).low
            not_there = tail_bounds(self.drawn, prior, Fraction(self.people), least).high
            best = max(best, there - float_above(ratio * keep) * not_there * (1 + SLACK))
        return best

    def unrepresentative(self, alpha: Fraction, gamma: Fraction) -> float:
        """At least the chance that an output is not in gamma-Rep, in the worst table."""
        if not self.cells.shrinks:
            mass = alpha * self.cells.weight
            return unlikely(TailGroup(self.people, self.drawn, self.cells, alpha, mass), gamma)
        kept = self._kept
        return kept.chance + unlikely(
            TailGroup(self.people, self.drawn, self.cells, alpha, alpha * kept.weight), gamma
        )

    def _accepted(self, alpha: Fraction, ratio: Fraction, gamma: Fraction, least: bool) -> Bounds:
        """Lemma 4.3, and beyond it: outputs outside gamma-Rep, and what the others tell where
        they are drawn more often.
        """
        missing = self.unrepresentative(alpha, gamma)
        if missing >= 0.5:
            return Bounds(0.0, 1.0)
        left = 1 - Fraction(missing)
        factor = (
            price(self.cells, alpha, self.people, self.drawn, Fraction(0))
            if self.cells.shrinks
            else Fraction(1)
        )
        if (gamma + 1) * factor <= ratio * left:
            return Bounds(0.0, missing)
        other = self._shrunk(alpha, ratio * left, least=False)
        low = (
            self._shrunk(alpha, ratio / left, least=True).low - missing
            if least and self.terms.guarantee == "dp"
            else 0.0
        )
        return Bounds(
            max(0.0, low), min(1.0, missing + other.high / float_below(left) * (1 + SLACK))
        )

    def epsilon(self, alpha: Fraction, stage: Callable[[Fraction, Fraction], Bounds]) -> float:
        """The least epsilon, rounded up, at which a stage keeps to delta;
        infinite where none does.
        """
        target = float_below(self.terms.delta)
        low, high = 0.0, float(self.terms.epsilon)
        while stage(alpha, ratio_of(high)).high > target:
            low, high = high, 2 * high
            if high > 500:
                return math.inf
        while high - low > 1e-4:
            middle = (low + high) / 2
            low, high = (
                (low, middle) if stage(alpha, ratio_of(middle)).high <= target else (middle, high)
            )
        return math.ceil(high * 1e4) / 1e4


def ratio_of(epsilon: float) -> Fraction:
    """e^epsilon for a float, from below."""
    return Epsilon(value=Fraction(epsilon)).ratio[0] if epsilon else Fraction(1)


@dataclass
class Chooser:
    """The least noise of every group: found once for each number of people and kind of cells.

    `groups` is how many groups there are: what is promised as pdp is a promise about all of them,
    which adds up.
    """

    terms: Terms
    groups: int = 1

    def __post_init__(self) -> None:
        self._found: dict[tuple[int, DomainCells], Noise] = {}
        self._last: list[tuple[int, Fraction]] = []  # the last two sizes of groups with their noise

    @property
    def of_a_group(self) -> Terms:
        """The terms of a single group."""
        if self.terms.guarantee == "dp":
            return self.terms
        return replace(self.terms, delta=self.terms.delta / self.groups)

    def promise(self, people: int, cells: DomainCells) -> NoisePromise:
        """What a group spends."""
        return NoisePromise(self.of_a_group, people, people, cells)

    def noise(self, people: int, cells: DomainCells) -> Noise:
        """The least noise that the terms allow; raises CannotPromise where there is none."""
        key = people, cells
        if key not in self._found:
            self._found[key] = self._choose(people, cells)
        return self._found[key]

    def _choose(self, people: int, cells: DomainCells) -> Noise:
        if self.terms.mechanism == "geometric":
            return geometric.choose(self.of_a_group, people, cells)
        if cells.number < 2 or not people:
            return Noise(alpha=LEAST_ALPHA)
        alpha = least_alpha(self.promise(people, cells), guess(self._last, people))
        same = self._last and self._last[-1][0] == people
        self._last = [*(self._last[:-1] if same else self._last[-1:]), (people, alpha)]
        return Noise(alpha=alpha)

    def spent(self, people: int, cells: DomainCells, noise: Noise, epsilon: Epsilon) -> Bounds:
        """Delta of a group at an epsilon."""
        if noise.alpha is None:
            return geometric.spent(self.terms, people, cells, noise, epsilon)
        return Bounds(
            self.promise(people, cells).spent(noise.alpha, epsilon.ratio[1]).low,
            self.most(people, cells, noise, epsilon),
        )

    def most(self, people: int, cells: DomainCells, noise: Noise, epsilon: Epsilon) -> float:
        """Delta of a group at an epsilon, at most."""
        if noise.alpha is None:
            return geometric.spent(self.terms, people, cells, noise, epsilon).high
        return self.promise(people, cells).spent(noise.alpha, epsilon.ratio[0], least=False).high


def least_alpha(promise: NoisePromise, near: Fraction | None = None) -> Fraction:
    """The least noise with which a promise is kept; `near` is a guess."""
    terms = promise.terms
    ratio, target = terms.epsilon.ratio[0], float_below(terms.delta)

    def passes(alpha: Fraction) -> bool:
        return promise.spent(alpha, ratio, least=False).high <= target

    most = most_alpha(promise, ratio)
    if terms.accept is not None or terms.guarantee == "pdp":
        teeth = Teeth(promise, ratio)
        return searched(lambda tooth: passes(teeth.alpha(tooth)), teeth, most, near)
    if not target:
        return next_that(passes, rounded(most), most) or fail(promise)
    return narrowed(promise, ratio, target, most, near, passes)


@dataclass(frozen=True, slots=True)
class Teeth:
    """Where the chance of too many people in a cell is lowest:
    it is a sawtooth in alpha, and falls where a share is a whole number.
    """

    promise: NoisePromise
    ratio: Fraction

    def step(self, alpha: Fraction) -> Fraction:
        """The share of the least cell, per alpha."""
        accept, cells = self.promise.terms.accept, self.promise.cells
        factor = (
            price(cells, alpha, self.promise.people, self.promise.drawn, Fraction(0))
            if cells.shrinks
            else 1
        )
        return (self.ratio / factor - 1 if accept is None else accept) * cells.least[0]

    def alpha(self, tooth: int) -> Fraction:
        """The least noise with which a share is this whole number."""
        alpha = (
            rounded(tooth / self.step(Fraction(0)))
            if self.step(Fraction(0)) > 0
            else Fraction(tooth)
        )
        for _ in range(
            4 if self.promise.cells.shrinks and self.promise.terms.accept is None else 0
        ):
            step = self.step(alpha)
            if step <= 0 or step * alpha >= tooth:
                break
            alpha = rounded(tooth / step)
        return alpha


def most_alpha(promise: NoisePromise, ratio: Fraction) -> Fraction:
    """Noise that is enough for a delta of 0 (Theorem 4.1), where the options allow that."""
    if promise.cells.shrinks and ratio * promise.cells.least_keep <= 1:
        need = math.ceil(1000 * math.log(1 / promise.cells.least_keep)) / 1000
        raise CannotPromise(
            f"some cells are kept with a chance of {float(promise.cells.least_keep):.3g} only, "
            f"which alone costs an epsilon of {need}.",
            "Raise epsilon, or the least chance under shrink.",
        )
    return promise.drawn / ((ratio * promise.cells.least_keep - 1) * promise.cells.least[0])


def cannot(promise: NoisePromise) -> CannotPromise:
    """That no amount of noise is enough, and what would help."""
    raised = [
        "epsilon",
        *(["accept"] if promise.terms.accept is not None else []),
        "the chances under shrink" if promise.cells.shrinks else "delta",
    ]
    more = ", or leave shrink out" if promise.cells.shrinks else ""
    return CannotPromise(
        "no amount of noise is known to keep these terms with these options in a group of "
        f"{promise.people:,}.",
        f"Raise {', '.join(raised[:-1])} or {raised[-1]}{more}.",
    )


def fail(promise: NoisePromise) -> Fraction:
    """Say that no amount of noise is enough."""
    raise cannot(promise)


def searched(
    passes: Callable[[int], bool], teeth: Teeth, most: Fraction, near: Fraction | None
) -> Fraction:
    """The least tooth of the sawtooth that passes, by doubling and halving around a guess."""
    step = teeth.step(Fraction(0))
    last = (
        max(math.ceil(most * step), teeth.promise.drawn) + 1
    )  # from here on no cell can have too many
    low, high = 0, last
    if near is not None:
        guess, width = min(max(1, int(near * step)), last), 1
        while low < guess - width and passes(guess - width):
            guess, width = guess - width, 2 * width
        low = max(0, guess - width)
        high, width = guess, 1
        while high < last and not passes(high):
            low, high, width = high, min(last, high + width), 2 * width
    if high == last and not passes(last):
        raise cannot(teeth.promise)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return teeth.alpha(high)


def narrowed(
    promise: NoisePromise,
    ratio: Fraction,
    target: float,
    most: Fraction,
    near: Fraction | None,
    passes: Callable[[Fraction], bool],
) -> Fraction:
    """The least noise where delta falls smoothly:
    a bracket that a straight line through the logarithms makes narrow.
    """

    def miss(alpha: float) -> float:
        found = promise.spent(Fraction(alpha), ratio, least=False).high
        return math.log(found) - math.log(target) if found else -700.0

    def least(alpha: Fraction) -> bool:
        """Is it enough, and hardly less not? Where delta has a kink, a
        straight line may lead too far.
        """
        found = promise.spent(alpha, ratio, least=False).high
        return found <= target and (found >= NEARLY * target or not passes(rounded(alpha * LESS)))

    if (
        near is not None
        and (root := followed(miss, float(near)))
        and least(best := rounded(Fraction(root * (1 + 1e-7))))
    ):
        return best
    found_bracket = bracket(miss, float(near) if near is not None else None, float(most))
    if found_bracket is None:
        raise cannot(promise)
    low, high, at_low, at_high = found_bracket
    for turn in range(60):
        if high <= low * CLOSE or at_low <= 0:
            break
        root = low * (high / low) ** (at_low / (at_low - at_high))
        if high <= low * NARROW and least(best := rounded(Fraction(root * (1 + 1e-7)))):
            return best
        at = root if turn % 3 else math.sqrt(low * high)
        found = miss(at)
        low, at_low, high, at_high = (
            (at, found, high, at_high) if found > 0 else (low, at_low, at, found)
        )
    return next_that(passes, rounded(Fraction(low)), most) or fail(promise)


def followed(miss: Callable[[float], float], near: float) -> float | None:
    """Where delta is met, by following straight lines through the logarithms from a good guess;
    None where that leads nowhere.
    """
    here, at_here = math.log(near), miss(near)
    there = here + at_here / STEEP
    for _ in range(5):
        if not abs(there - math.log(near)) < 1:
            return None
        at_there = miss(math.exp(there))
        if at_there >= at_here if there > here else at_there <= at_here:
            return None
        root = there + at_there * (there - here) / (at_here - at_there)
        if abs(at_there) < 1e-3:
            return math.exp(root)
        here, at_here, there = there, at_there, root
    return None


def bracket(miss: Callable[[float], float], near: float | None, most: float) -> Bracket | None:
    """Noise that is too little and noise that is enough, around a guess;
    with by how much they miss.

    Where cells are left out by chance too much noise is as bad as too little:
    without a guess the search comes from below.
    """
    for begin, width in ((near, 1.001), (LITTLE, 2.0)):
        if begin is None:
            continue
        high = begin * width
        at_high = miss(high)
        low = at_low = 0.0
        while at_high > 0 and high <= 4 * most:
            low, at_low, width = high, at_high, min(width**2, WIDEST)
            high *= width
            at_high = miss(high)
        if at_high <= 0:
            return (
                (low, high, at_low, at_high)
                if low
                else lowered(miss, high, at_high, min(width**2, WIDEST))
            )
    return None


def lowered(miss: Callable[[float], float], high: float, at_high: float, width: float) -> Bracket:
    """From noise that is enough to noise that is too little."""
    while True:
        low = high / width
        at_low = miss(low)
        if at_low > 0 or low < LITTLE:
            return low, high, at_low, at_high
        high, at_high, width = low, at_low, min(width**2, WIDEST)


def guess(known: Sequence[tuple[int, Fraction]], people: int) -> Fraction | None:
    """The noise of a group from that of two others, along a power of their size;
    it is only a place to begin.
    """
    if len(known) < 2 or known[0][0] == known[1][0]:
        return known[-1][1] if known else None
    (less, before), (more, after) = known
    power = math.log(after / before) / math.log(more / less)
    return Fraction(float(after) * (people / more) ** min(max(power, -1.0), 1.0))


def next_that(
    passes: Callable[[Fraction], bool], alpha: Fraction, most: Fraction
) -> Fraction | None:
    """The first rounded amount of noise from one on that passes; None where none of many does."""
    for _ in range(10_000):
        if passes(alpha):
            return alpha
        alpha = rounded(alpha * (1 + Fraction(1, 10 ** (DIGITS + 1))))
        if alpha > 8 * most + 1:
            break
    return None


def rounded(alpha: Fraction) -> Fraction:
    """An amount of noise rounded up to a few digits.

    >>> rounded(Fraction(1, 3)), rounded(Fraction(12345678))
    (Fraction(16667, 50000), Fraction(12346000, 1))
    """
    if alpha <= 0:
        return LEAST_ALPHA
    power = max(FINEST, math.floor(math.log10(alpha)) - DIGITS + 1)
    unit = Fraction(10) ** power
    return math.ceil(alpha / unit) * unit
