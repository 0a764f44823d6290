"""Sums of columns: the law of how many people several columns have in each class together, and
columns drawn given that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.families.overlaps.counting.digits import Digits
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.sampling.urns import UNIT, Floats, Urns, WeightedUrn
from tacit.families.overlaps.sampling.walks import PointLaw, points_of
from tacit.families.overlaps.system import NoTable
from tacit.model.deadline import look

MOST_BOX = (
    1 << 24
)  # combinations of digits up to which sums are gathered in an array with a place for each
MOST_SORTED = 40_000_000  # sums that are sorted where there are more
AT_ONCE = 1 << 20  # sums that are formed at a time
ROUNDS = 24  # draws after which a column is chosen by looking at all its points


@dataclass(frozen=True, slots=True, eq=False)
class SumTable:
    """Packed digits in increasing order, and the probability of each."""

    keys: Integers
    weights: Floats

    def at(self, keys: Integers) -> Floats:
        """The probabilities of some digits; 0 where they are impossible."""
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: Floats = np.where(self.keys.take(place) == keys, self.weights.take(place), 0.0)
        return found


class DigitColumn:
    """One column by its digits: how many people it has in each of the
    classes that `digits` is about.

    `members[j, i]` says whether cell j of the column is in the class of digit i.
    All points of the column are listed.
    """

    def __init__(self, law: PointLaw, digits: Digits, members: Integers) -> None:
        points = points_of(law.lattice)
        counts = points @ members
        possible = (counts <= np.array(digits.totals, dtype=np.int64)).all(axis=1)
        points, counts = points[possible], counts[possible]
        if not len(points):
            raise NoTable
        [keys] = digits.packed(counts)
        order = np.argsort(keys, kind="stable")
        self.cells = law.lattice.column.cells
        self.points = points[order]
        weights = law.weights(self.points)
        found, starts = np.unique(keys[order], return_index=True)
        sums = np.add.reduceat(weights, starts)
        self.table = SumTable(found, sums / sums.sum())
        self.is_plain = len(found) == len(points)
        self._within = None if self.is_plain else Urns(weights, np.append(starts, len(points)))
        self.average = self.table.weights @ (first := counts[order][starts])
        self.spread = (first * self.table.weights[:, None]).T @ first - np.outer(
            self.average, self.average
        )
        self.relative = 2 * law.error + (len(points) + 4) * UNIT
        self.relative += self._within.relative + self._within.absolute if self._within else 0.0

    @cached_property
    def urn(self) -> WeightedUrn:
        """For drawing digits."""
        return WeightedUrn(self.table.weights, self.table.keys)

    def people(self, keys: Integers, rng: np.random.Generator) -> Integers:
        """A point for each of some digits."""
        place = np.searchsorted(self.table.keys, keys)
        found: Integers = self.points[
            place if self._within is None else self._within.draw(rng, place)
        ]
        return found


class ColumnGroup:
    """The law of the sum of some columns, and of the sums of the first few of them."""

    def __init__(
        self, digits: Digits, columns: Sequence[DigitColumn], tables: Sequence[SumTable]
    ) -> None:
        self.digits = digits
        self.columns = tuple(columns)
        self.tables = tuple(tables)
        self.table = tables[-1]
        self.peak = float(self.table.weights.max())
        # A sum over at most as many terms as the column has digits has a relative error of as many
        # units. To choose a column given the sum costs as much again, and every draw of it what an
        # urn costs. All that is for accepted tables only, of which each differs from what it should
        # be with at most this probability.
        self.relative = sum(column.relative for column in columns)
        self.relative += sum(8 * (len(column.table.keys) + 4) * UNIT for column in columns[1:])
        self.relative += sum(
            ROUNDS * (len(column.table.keys) * 2.0**-61 + 16 * UNIT) for column in columns[1:]
        )

    def pairs(self, column: DigitColumn) -> int:
        """How many sums are formed to add a column."""
        return len(self.table.keys) * len(column.table.keys)

    def can_add(self, column: DigitColumn, most: float) -> bool:
        """Is it affordable to add a column?"""
        pairs = self.pairs(column)
        return pairs <= most and (pairs <= MOST_SORTED or _box(self.digits) <= MOST_BOX)

    def with_column(self, column: DigitColumn) -> ColumnGroup:
        """The group with one column more."""
        table = _added(self.digits, self.table, column.table)
        return ColumnGroup(self.digits, [*self.columns, column], [*self.tables, table])

    def people(self, keys: Integers, rng: np.random.Generator) -> list[tuple[Integers, Integers]]:
        """The columns given their sum: cells, and how many people each
        has, one row for each of `keys`.
        """
        found = []
        for number in range(len(self.columns) - 1, 0, -1):
            column = self.columns[number]
            chosen = self._chosen(column, self.tables[number - 1], keys, rng)
            found.append((column.cells, column.people(chosen, rng)))
            keys = keys - chosen
        found.append((self.columns[0].cells, self.columns[0].people(keys, rng)))
        return found

    def _chosen(
        self, column: DigitColumn, rest: SumTable, keys: Integers, rng: np.random.Generator
    ) -> Integers:
        """The digits of a column given its sum with the rest:
        by rejection, and where that fails often, from all there are.

        Either way has the same law, so it does not matter which of the two answers first.
        """
        chosen = np.zeros_like(keys)
        waiting = np.arange(len(keys))
        largest = float(rest.weights.max())
        for _ in range(ROUNDS):
            tried = column.urn.draw(rng, len(waiting))
            good = rng.random(len(waiting)) * largest < self._of_rest(rest, keys[waiting], tried)
            chosen[waiting[good]] = tried[good]
            waiting = waiting[~good]
            if not len(waiting):
                return chosen
        own = column.table
        for some in np.array_split(waiting, 1 + len(waiting) * len(own.keys) // AT_ONCE):
            weight = self._of_rest(rest, keys[some][:, None], own.keys) * own.weights
            up_to = np.cumsum(weight, axis=1)
            aim = (
                np.minimum(rng.random(len(some)), 1 - 4 * UNIT) * up_to[:, -1]
            )  # less than the sum, also when rounded
            place = (up_to <= aim[:, None]).sum(axis=1)
            chosen[some] = own.keys[place]
        return chosen

    def _of_rest(self, rest: SumTable, keys: Integers, chosen: Integers) -> Floats:
        """The probability that the rest has what is left of `keys` without `chosen`."""
        [guard] = self.digits.guard
        fits, [left] = self.digits.without([keys | guard], [chosen])
        return np.where(fits, rest.at(left ^ guard), 0.0)


def group_of(digits: Digits, column: DigitColumn) -> ColumnGroup:
    """A group of one column."""
    return ColumnGroup(digits, [column], [column.table])


def _box(digits: Digits) -> float:
    """How many combinations of digits there are."""
    return float(np.prod([total + 1.0 for total in digits.totals]))


def _added(digits: Digits, one: SumTable, other: SumTable) -> SumTable:
    """The law of the sum of two independent numbers, without sums over
    the totals, which no table has.
    """
    [whole] = digits.whole
    in_box = _box(digits) <= MOST_BOX
    sizes = np.array([total + 1 for total in digits.totals], dtype=np.int64)
    strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)[: len(sizes)]
    places = [digits.unpacked([table.keys]) @ strides for table in (one, other)] if in_box else []
    dense = np.zeros(round(_box(digits)) if in_box else 0)
    loose: list[tuple[Integers, Floats]] = []
    for some in np.array_split(
        np.arange(len(other.keys)), 1 + len(one.keys) * len(other.keys) // AT_ONCE
    ):
        look()
        fits = digits.without([whole - one.keys[:, None]], [other.keys[some]])[0].ravel()
        weights = (one.weights[:, None] * other.weights[some]).ravel()[fits]
        if in_box:
            dense += np.bincount(
                (places[0][:, None] + places[1][some]).ravel()[fits], weights, len(dense)
            )
        else:
            loose.append(_gathered((one.keys[:, None] + other.keys[some]).ravel()[fits], weights))
    if in_box:
        place = np.flatnonzero(dense)
        counts = place[:, None] // strides % sizes
        [keys] = digits.packed(counts)
        weights = dense[place]
    else:
        keys, weights = _gathered(
            np.concatenate([one for one, _ in loose]), np.concatenate([one for _, one in loose])
        )
    return SumTable(keys, weights / weights.sum())


def _gathered(keys: Integers, weights: Floats) -> tuple[Integers, Floats]:
    """Every key once, with the sum of its weights."""
    found, inverse = np.unique(keys, return_inverse=True)
    return found, np.bincount(inverse.reshape(-1), weights, len(found)).astype(np.float64)
