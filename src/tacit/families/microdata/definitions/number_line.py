"""A sensitive column of numbers: its values as integers, and what
can be said of a group's numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.distances import scaled
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.neighbours import NeighbourCells
from tacit.families.microdata.ratios import SAFE, Ratios, largest, room_for

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers


@dataclass(frozen=True, slots=True)
class NumberLine:
    """The values of a column by code, as integers of 1/`scale` each."""

    values: tuple[Any, ...]
    places: Any
    scale: int
    codes: Mapping[Any, int]

    def place(self, value: Any) -> int:
        """The integer of a value."""
        return int(self.places[self.codes[value]])

    def number(self, value: Any) -> Fraction:
        """A value as an exact number."""
        return Fraction(self.place(value), self.scale)

    def least(self, values: Collection[Any]) -> Any:
        """The least of some values."""
        return min(values, key=self.place)

    def greatest(self, values: Collection[Any]) -> Any:
        """The greatest of some values."""
        return max(values, key=self.place)

    def within(self, low: Any, high: Any) -> list[Any]:
        """The values of the table from one to another."""
        inside = (self.places >= self.place(low)) & (self.places <= self.place(high))
        return [self.values[code] for code in np.flatnonzero(inside).tolist()]

    def mean(self, counts: Mapping[Any, int]) -> Fraction:
        """The mean of a group's values."""
        total = sum(self.place(value) * count for value, count in counts.items())
        return Fraction(total, self.scale * sum(counts.values()))

    def widths(self, cells: NeighbourCells) -> Ratios:
        """How far the greatest number of each group is from the least; 0 where nothing is known."""
        low, high = (np.zeros(len(cells.known), dtype=self.places.dtype) for _ in range(2))
        filled, begins = filled_groups(cells)
        if len(begins):
            low[filled] = np.minimum.reduceat(self.places[cells.values], begins)
            high[filled] = np.maximum.reduceat(self.places[cells.values], begins)
        return Ratios(high - low, room_for(np.ones_like(cells.known), self.scale) * self.scale)

    def different(self, cells: NeighbourCells) -> Integers:
        """How many different numbers each group has; 1 and 1.0 are one."""
        if len(set(self.places.tolist())) == len(self.places):
            return np.diff(cells.starts)
        line, place = np.unique(self.places, return_inverse=True)
        pairs = np.unique(cells.owner * len(line) + place[cells.values])
        return np.bincount(pairs // len(line), minlength=len(cells.known))

    def variances(self, cells: NeighbourCells) -> Ratios:
        """The variance of each group: (n sum x^2 - (sum x)^2) / n^2; 0 where nothing is known."""
        places = self.places - (int(self.places.max()) + int(self.places.min())) // 2
        most, everybody = largest(places), int(cells.known.max())
        if everybody**2 * most**2 > SAFE or everybody**2 * self.scale**2 > SAFE:
            return self._large_variances(cells, places)
        return variances(cells, places, cells.counts, cells.known, self.scale)

    def _large_variances(self, cells: NeighbourCells, places: Any) -> Ratios:
        unlimited = cells.counts.astype(object), cells.known.astype(object)
        return variances(cells, places.astype(object), *unlimited, self.scale)


def variances(cells: NeighbourCells, places: Any, counts: Any, known: Any, scale: int) -> Ratios:
    """The variances by one pass over the cells, in the integers that are given."""
    filled, begins = filled_groups(cells)
    numbers = places[cells.values]
    sums, squares = (np.zeros(len(known), dtype=known.dtype) for _ in range(2))
    if len(begins):
        sums[filled] = np.add.reduceat(counts * numbers, begins)
        squares[filled] = np.add.reduceat(counts * numbers * numbers, begins)
    bottoms = np.where(cells.known > 0, known * known * (scale * scale), 1)
    return Ratios(known * squares - sums * sums, bottoms)


def filled_groups(cells: NeighbourCells) -> tuple[Integers, Integers]:
    """The groups with a known value, and where their cells begin."""
    filled = np.flatnonzero(np.diff(cells.starts))
    return filled, cells.starts[filled]


def line_of(question: MicrodataQuestion, groups: Groups) -> NumberLine:
    """The values of the sensitive column, which have to be numbers."""
    values = question.base.dictionaries[str(groups.sensitive)]
    codes = {value: code for code, value in enumerate(values)}
    return NumberLine(values, *scaled(str(groups.sensitive), values), codes)


def between(low: Any, high: Any) -> str:
    """A range in words.

    >>> between(3, 5), between(3, 3)
    ('between 3 and 5', '3')
    """
    return value_text(low) if low == high else f"between {value_text(low)} and {value_text(high)}"
