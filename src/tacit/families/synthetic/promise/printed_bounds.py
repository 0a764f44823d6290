"""The bounds as Machanavajjhala (2008) prints them (chapter 4):
shown beside ours for comparison, and never the ground of a verdict.

All of it is in floating point, and Theorems 4.2, 4.3 and 4.5 fail in the cases that their functions
name here. `ratio` is e^epsilon throughout: how many times likelier an output may become by one
person's value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

DENSE = 64  # so few places are looked at one by one
EXACT = 1e-12  # how closely Algorithm 4's bisection settles alpha, relative to it


def pure_alpha(drawn: int, ratio: float) -> float:
    """The noise per cell of epsilon-differential privacy:
    m / (e^epsilon - 1) (Theorem 4.1, which is right).

    >>> [round(pure_alpha(10**6, ratio)) for ratio in (5, 10, 20, 50)]
    [250000, 111111, 52632, 20408]
    """
    return drawn / (ratio - 1)


def printed_delta(
    people: int, least: float, mass: float, cells: int, ratio: float, *, drawn: int | None = None
) -> float | None:
    """Theorem 4.2: the delta that a prior of so much `mass` has, whose least cell has `least`;
    None where epsilon is not above ln 3.

    delta = 2 k e^epsilon / (e^epsilon - 2) times the reference 0-sample. **Not a bound
    everywhere**: it fails for one person (n = m = 1: with two cells, e^epsilon = 1000 and alpha =
    0.000386 it says 0.004 where every output discloses), and where more people are drawn than there
    are (m > n). It is not known to fail for n = m >= 2.

    >>> round(printed_delta(1, 0.000386, 2 * 0.000386, 2, 1000), 4)
    0.004
    """
    if ratio <= 3:
        return None
    sample = reference_sample(
        people, people if drawn is None else drawn, least, mass - least, ratio - 1
    )
    return 2 * cells * ratio / (ratio - 2) * sample


def printed_alpha(people: int, cells: int, ratio: float, delta: float) -> float | None:
    """Algorithm 4: the least uniform noise per cell that Theorem 4.2 lets pass;
    None where epsilon is not above ln 3.

    Run as printed it stops as soon as the delta reached is at most 0.0001 below the one asked for:
    with a lesser delta at the first step, at half the noise of Theorem 4.1. So alpha itself is
    bisected, between 0 and Theorem 4.1's. Fails where Theorem 4.2 does, which may even ask for no
    noise at all: then the answer is 0.

    >>> round(printed_alpha(10**6, 10**4, 50, 1e-6), 4)
    0.7418
    """
    if ratio <= 3:
        return None
    low, high = 0.0, pure_alpha(people, ratio)
    while high - low > EXACT * high and high > math.ulp(0.0) / EXACT:
        middle = (low + high) / 2
        reached = printed_delta(people, middle, cells * middle, cells, ratio)
        assert reached is not None
        low, high = (middle, high) if reached > delta else (low, middle)
    return high if low else 0.0


def accepted_epsilon(gamma: float, missed: float) -> float:
    """Lemma 4.3: epsilon of probabilistic dp where outputs that are not gamma-Good are drawn again:
    ln((gamma + 1) / (1 - p)).

    `missed` (p) is the greatest probability, over all tables, of an output outside gamma-Rep, and
    delta too. The lemma is right; it needs a bound on p that is one.

    >>> round(accepted_epsilon(49, 1e-6) - math.log(50), 8)
    1e-06
    """
    return math.log(gamma + 1) - math.log1p(-missed)


def accepted_epsilon_from_delta(epsilon: float, delta: float) -> float:
    """Theorem 4.3: the same from the delta of the mechanism without drawing again:
    epsilon - ln(1 - delta).

    **Fails**: outputs outside gamma-Rep include all that disclose, so delta may be far below the p
    that Lemma 4.3 needs. With three people in two cells, alpha = 1/2 and gamma = 3, delta is 7/64,
    and 11/32 after accepting at the epsilon of the theorem.

    >>> round(accepted_epsilon_from_delta(3, 0.1), 4)
    3.1054
    """
    return epsilon - math.log1p(-delta)


def shrunk_epsilon(epsilon: float, least_keep: float, most_alpha: float) -> float:
    """Theorem 4.5: epsilon where empty cells are kept with a chance:
    epsilon + ln(1 / min f) + max ceil(alpha) ln 2, at the same delta.

    **Fails**: its proof takes the reference 0-sample to be independent of the domain, but delta
    grows as the prior mass that is kept falls. The same delta does not hold after shrinking.

    >>> round(shrunk_epsilon(4.6, 0.0378, 0.01245), 2)
    8.57
    """
    return epsilon + math.log(1 / least_keep) + math.ceil(most_alpha) * math.log(2)


def reference_sample(people: int, drawn: int, first: float, second: float, factor: float) -> float:
    """The reference 0-sample rho(n, m, alpha_1, alpha_2, c) of Definition 4.7;
    0 where no output is unrepresentative.

    The probability of the output that is just unrepresentative, f(x) = c (alpha_1 + [x - 1]^+) of
    `drawn` people in a cell of x, as the greatest over x. f(x) is no whole number: the Gamma
    functions run through.

    >>> round(
    ...     reference_sample(1, 2, 1.0, 1.0, 1.0), 6
    ... )  # one of two drawn in either cell: x = 0 and x = 1 agree
    0.333333
    """
    sample = Sample(people, drawn, first, second, factor)
    return math.exp(sample.greatest) if sample.last >= 0 else 0.0


@dataclass(frozen=True)
class Sample:
    """The probabilities that the reference 0-sample is the greatest of, as logarithms."""

    people: int
    drawn: int
    first: float
    second: float
    factor: float

    def output(self, x: int) -> float:
        """The output that is just unrepresentative of x people."""
        return self.factor * (self.first + max(x - 1, 0))

    @cached_property
    def last(self) -> int:
        """The last x whose output is below `drawn`; -1 where there is none."""
        if self.output(0) >= self.drawn:
            return -1
        last = min(self.people, int(self.drawn / self.factor - self.first) + 2)
        while self.output(last) >= self.drawn:
            last -= 1
        return last

    @cached_property
    def _whole(self) -> float:
        mass = self.people + self.first + self.second
        return math.lgamma(self.drawn + 1) + math.lgamma(mass) - math.lgamma(self.drawn + mass)

    def log(self, x: int) -> float:
        """The logarithm at x."""
        output, one, rest = self.output(x), x + self.first, self.people - x + self.second
        return (
            self._whole
            - math.lgamma(output + 1)
            - math.lgamma(self.drawn - output + 1)
            - math.lgamma(one)
            - math.lgamma(rest)
            + math.lgamma(one + output)
            + math.lgamma(rest + self.drawn - output)
        )

    @cached_property
    def greatest(self) -> float:
        """The greatest logarithm over all x."""
        dense = min(self.last, DENSE)
        best = max(map(self.log, range(dense + 1)))
        return most(self.log, self.bend, dense, self.last, best)

    def bend(self, low: int, high: int) -> float:
        """How strongly the logarithm bends downwards at most, from low >= 1 to high:
        a bound on minus its second derivative.

        The trigamma function falls, and lies between 1/z + 1/(2 z^2) and 1/z + 1/z^2.
        """
        near, far, slope = self.output(low), self.output(high), self.factor
        down = (
            slope**2 * (above(near + 1) + above(self.drawn - far + 1))
            + above(low + self.first)
            + above(self.people - high + self.second)
        )
        up = below(high + self.first + far) + below(
            self.people - low + self.second + self.drawn - near
        )
        return max(0.0, down - (1 + slope) ** 2 * up)


def above(z: float) -> float:
    """More than the trigamma function of z."""
    return 1 / z + 1 / z**2


def below(z: float) -> float:
    """Less than the trigamma function of z."""
    return 1 / z + 1 / (2 * z**2)


def most(
    log: Callable[[int], float], bend: Callable[[int, int], float], low: int, high: int, best: float
) -> float:
    """The greatest of `best` and log over low..high, leaving out stretches that cannot reach it.

    Over a stretch of length h a function that bends down by at most b exceeds its ends by at most b
    h^2 / 8.
    """
    stretches = [(low, high, log(low), log(high))] if high > low else []
    while stretches:
        start, end, left, right = stretches.pop()
        best = max(best, left, right)
        if end - start <= DENSE:
            best = max(best, max(map(log, range(start, end + 1))))
        elif max(left, right) + bend(start, end) * (end - start) ** 2 / 8 > best:
            middle = (start + end) // 2
            at = log(middle)
            stretches += [(middle, end, at, right), (start, middle, left, at)]
    return best
