"""Tails: how likely an output is in which some cell holds far more people than its share, at most
and at least.

For e^epsilon - 1 = c this bounds the chance of disclosure (Definition 4.6): an output tells
e^epsilon or more only where a cell of n_i people and prior a_i gets more than c (a_i + [n_i -
1]^+). The cells' chances are added up, and the table is the worst one: for every price `lam` per
person, sum_i q_i(n_i) is at most lam n + sum_i max_x (q_i(x) - lam x).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tacit.families.synthetic.cells import DomainCells
from tacit.families.synthetic.promise.probability_bounds import (
    SLACK,
    Bounds,
    chance,
    float_above,
    float_below,
    upper_tail,
)

MOST_TERMS = 200_000  # of a tail that are summed one by one
WIDEST = Fraction(21, 20)  # weights that are taken together differ by no more
PRICES = 60  # that are tried


@dataclass(frozen=True, slots=True)
class TailGroup:
    """A group as far as a tail depends on it:
    its people, those drawn, the noise and the prior mass of the cells that are kept.
    """

    people: int
    drawn: int
    cells: DomainCells
    alpha: Fraction
    mass: Fraction


def unlikely(group: TailGroup, factor: Fraction) -> float:
    """At least the chance, in the worst table, that some cell gets
    more than `factor` times its share.

    >>> cells = DomainCells.alike(10_000)
    >>> unlikely(
    ...     TailGroup(10**6, 10**6, cells, Fraction("0.735"), 10_000 * Fraction("0.735")),
    ...     Fraction(49),
    ... ) < 1e-6
    True
    """
    parts = [_Part(group, factor, *one) for one in weights(group.cells)]
    return min(1.0, least_total(parts, group.people))


def weights(cells: DomainCells) -> Iterator[tuple[int, int, tuple[tuple[int, Fraction], ...]]]:
    """Weights that are nearly alike: the least, the greatest, and how many
    cells are kept with which chance.
    """
    together: list[tuple[int, int, dict[Fraction, int]]] = []
    for kind in sorted(cells.kinds, key=lambda kind: kind.weight):
        if not together or kind.weight > WIDEST * together[-1][0]:
            together.append((kind.weight, kind.weight, {}))
        least, _, chances = together[-1]
        chances[kind.keep] = chances.get(kind.keep, 0) + kind.count
        together[-1] = (least, kind.weight, chances)
    for least, most, chances in together:
        yield least, most, tuple((count, keep) for keep, count in chances.items())


@dataclass
class _Part:
    """Cells of nearly one weight: the chance q(x) of too many in a cell of x people, from above,
    in ranges of x that are split on demand.
    """

    group: TailGroup
    factor: Fraction
    least: int
    most: int
    counts: tuple[tuple[int, Fraction], ...]
    empty: float = field(init=False)
    ranges: list[tuple[int, int, float]] = field(init=False)

    def __post_init__(self) -> None:
        self.empty = self._chance(0, 0)
        self.ranges, begin = [], 1
        while begin <= self.group.people:
            end = min(self.group.people, max(begin, 2 * begin - 2))
            self.ranges.append((begin, end, self._chance(begin, end)))
            begin = end + 1

    def _chance(self, begin: int, end: int) -> float:
        """At least q(x) for every x of a range:
        more people make a count larger, fewer a share smaller.
        """
        group = self.group
        share = self.factor * (group.alpha * self.least + max(begin - 1, 0))
        inside = end + group.alpha * self.most
        return tail(
            group.drawn,
            inside,
            max(group.people + group.mass - inside, Fraction(0)),
            math.floor(share) + 1,
        )

    def occupied(self, price: float) -> float:
        """max over x >= 1 of q(x) - price x, from above;
        ranges that decide are split until they are single counts.
        """
        while self.ranges:
            at = max(
                range(len(self.ranges)),
                key=lambda one: self.ranges[one][2] - price * self.ranges[one][0],
            )
            begin, end, found = self.ranges[at]
            value = found - price * begin
            if (
                begin == end
                or value <= min(keep for _, keep in self.counts) * self.empty
                or value <= 0
            ):
                return value
            middle = (begin + end) // 2
            self.ranges[at : at + 1] = [
                (begin, middle, self._chance(begin, middle)),
                (middle + 1, end, self._chance(middle + 1, end)),
            ]
        return -math.inf

    def total(self, price: float) -> float:
        """What all these cells add at a price per person."""
        occupied = self.occupied(price)
        return sum(
            count * max(float_above(keep) * self.empty, occupied) for count, keep in self.counts
        )


def least_total(parts: Sequence[_Part], people: int) -> float:
    """The least bound over the prices that are tried; each price gives a bound that holds."""

    cells = sum(count for part in parts for count, _ in part.counts)
    rounding = 1 + SLACK + cells * 2.0**-50

    def bound(price: float) -> float:
        return (sum(part.total(price) for part in parts) + price * people) * rounding

    # The bound is convex in the price: a golden search over its logarithm finds the best soon.
    low, high = math.log(1e-40), 0.0
    golden = (math.sqrt(5) - 1) / 2
    one, two = high - golden * (high - low), low + golden * (high - low)
    at_one, at_two = bound(math.exp(one)), bound(math.exp(two))
    best = min(at_one, at_two, bound(0.0))
    for _ in range(PRICES):
        if at_one <= at_two:
            high, two, at_two = two, one, at_one
            one = high - golden * (high - low)
            at_one = bound(math.exp(one))
        else:
            low, one, at_one = one, two, at_two
            two = low + golden * (high - low)
            at_two = bound(math.exp(two))
        best = min(best, at_one, at_two)
        if high - low < 1e-3:
            break
    return best


def tail(drawn: int, inside: Fraction, outside: Fraction, least: int) -> float:
    """At least the chance that a beta-binomial count reaches `least`, summed until the rest is
    nothing beside it.
    """
    return tail_bounds(drawn, inside, outside, least).high


def tail_bounds(drawn: int, inside: Fraction, outside: Fraction, least: int) -> Bounds:
    """The chance that a beta-binomial count reaches `least`.

    >>> low, high = tail_bounds(2, Fraction(1), Fraction(1), 1)
    >>> low <= 2 / 3 <= high, high - low < 1e-8
    (True, True)
    """
    if least > drawn:
        return Bounds(0.0, 0.0)
    if least <= 0 or not outside:
        return Bounds(1.0, 1.0)
    first = chance((least, drawn - least), (inside, outside))
    a, b = float(inside), float(outside)
    term, total, count, size = 1.0, 1.0, least, 64
    while count < drawn and count - least < MOST_TERMS:
        counts = np.arange(count, min(count + size, drawn), dtype=np.float64)
        quotients = (counts + a) * (drawn - counts) / ((counts + 1) * (drawn - counts - 1 + b))
        terms = term * np.cumprod(quotients)
        total, term, count = total + float(terms.sum()), float(terms[-1]), count + len(counts)
        if quotients[-1] < 1 and term < total * 1e-14 * (1 - quotients[-1]):
            break
        size *= 2
    rest = 0.0 if count == drawn else upper_tail(drawn, inside, outside, count + 1)
    return Bounds(
        first.low * total * (1 - SLACK), min(1.0, first.high * total * (1 + SLACK) + rest)
    )


def disclosed(group: TailGroup, ratio: Fraction) -> float:
    """At most the chance of disclosure in the worst table: that of one cell;
    0 where it is not known.

    An output with too many in a cell discloses where another cell is empty, as one surely is where
    there are more cells than people drawn.
    """
    if group.cells.number <= group.drawn or group.cells.shrinks:
        return 0.0
    share = (ratio - 1) * group.alpha * group.cells.least[0]
    found = 0.0
    for alone in (0, 1):
        inside = alone + group.alpha * group.cells.least[0]
        found = max(
            found,
            tail_bounds(
                group.drawn, inside, group.people + group.mass - inside, math.floor(share) + 1
            ).low,
        )
    return float_below(Fraction(found))
