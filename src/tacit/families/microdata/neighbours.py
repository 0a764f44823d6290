"""Neighbours: how many people of a group have a value near one of its values.

One kernel, `largest_balls`, serves every definition about likeness: (alpha,k)-anonymity counts
equal values, (epsilon,m)-anonymity numbers within epsilon, dissimilarity whatever a distance says.
What is near is a window on a line of places (numbers; blocks of a taxonomy are windows of one
place), or is asked pair by pair.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import pack_codes, run_starts
from tacit.families.microdata.groups import Groups

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.distances import Distance
    from tacit.families.microdata.ratios import Mask

PAIRS = 1_000_000  # so many pairs of values are compared at a time


@dataclass(frozen=True, slots=True)
class NeighbourCells:
    """People by group and value: whose group a cell is in, its value's code, its people.

    `starts` has the first cell of each group and one more, `known` the people of each group whose
    value is known. Where people have several values they count in each of their cells.
    """

    owner: Integers
    values: Integers
    counts: Integers
    starts: Integers
    known: Integers

    def of(self, group: int) -> slice:
        """The cells of a group."""
        return slice(int(self.starts[group]), int(self.starts[group + 1]))


def cells_of(groups: Groups) -> NeighbourCells:
    """The cells of a release. Not for overlapping groups of people with several values."""
    if groups.several:
        return every_value(groups)
    owner = np.repeat(np.arange(len(groups)), np.diff(groups.starts))
    known = np.bincount(owner, weights=groups.counts, minlength=len(groups)).astype(np.int64)
    return NeighbourCells(owner, groups.values, groups.counts, groups.starts, known)


def every_value(groups: Groups) -> NeighbourCells:
    """People with several values in a group, counted once in each of their cells."""
    base, column = groups.base, str(groups.sensitive)
    assert base.persons is not None
    assert not groups.overlapping
    known = np.flatnonzero(base.codes(column) < base.size(column) - 1)
    owner = np.searchsorted(groups.keys, groups.key_of_row[known])
    values, people = base.codes(column)[known], base.persons[known]
    cell, _ = pack_codes([owner, values], [len(groups), base.size(column)], len(owner))
    counts = np.unique(cell[different(cell, people)], return_counts=True)[1]
    first = np.unique(cell, return_index=True)[1]
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner[first], minlength=len(groups)))))
    number = np.bincount(owner[different(owner, people)], minlength=len(groups))
    return NeighbourCells(owner[first], values[first], counts, starts, number)


def different(keys: Integers, people: Integers) -> Integers:
    """The first row of each pair of key and person."""
    pair, _ = pack_codes(
        [keys, people],
        [int(keys.max(initial=0)) + 1, int(people.max(initial=0)) + 1],
        len(keys),
    )
    return np.unique(pair, return_index=True)[1]


class Nearness(ABC):
    """Which values are near which: a distance with its epsilon."""

    @abstractmethod
    def masses(self, cells: NeighbourCells) -> Integers:
        """For each cell, how many people of its group have a value near
        the cell's, its own among them.
        """

    @abstractmethod
    def near(self, code: int, others: Integers) -> Mask:
        """Which of the other values are near a value."""


@dataclass(frozen=True, slots=True)
class Windows(Nearness):
    """Values have places on a line, and what is near lies between two places.

    >>> cells = NeighbourCells(*map(np.array, ([0, 0, 0], [0, 1, 2], [1, 1, 1], [0, 3], [3])))
    >>> Windows(np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([1, 2, 2])).masses(
    ...     cells
    ... ).tolist()
    [2, 3, 2]
    """

    place: Integers
    first: Integers
    last: Integers

    def masses(self, cells: NeighbourCells) -> Integers:
        """By sorting the cells of each group along the line, and sums up to each of them."""
        if bool(np.all(self.first == self.last)) and len(np.unique(self.place)) == len(self.place):
            return cells.counts
        room = int(self.place.max(initial=0)) + 1
        offset = cells.owner * room
        key = offset + self.place[cells.values]
        order = ascending(key)
        key, sums = key[order], np.concatenate(([0], np.cumsum(cells.counts[order])))
        above = np.searchsorted(key, offset + self.last[cells.values], side="right")
        below = np.searchsorted(key, offset + self.first[cells.values], side="left")
        return np.asarray(sums[above] - sums[below], dtype=np.int64)

    def near(self, code: int, others: Integers) -> Mask:
        """Those whose place lies in the value's window."""
        place = self.place[others]
        inside: Mask = (self.first[code] <= place) & (place <= self.last[code])
        return inside


def ascending(key: Integers) -> Any:
    """The order that sorts some keys; most raw tables are sorted
    already, and sorting is the dearest part.
    """
    return slice(None) if bool(np.all(key[1:] >= key[:-1])) else np.argsort(key, kind="stable")


@dataclass(frozen=True, slots=True)
class PairNearness(Nearness):
    """Nearness that is asked for pairs of codes, many at a time."""

    ask: Callable[[Integers, Integers], Mask]

    def masses(self, cells: NeighbourCells) -> Integers:
        """By comparing every two values of a group, in portions."""
        masses = np.zeros(len(cells.owner), dtype=np.int64)
        size = np.diff(cells.starts)[cells.owner]
        for portion in portions(size):
            number = size[portion]
            begins = np.cumsum(number) - number
            step = np.arange(int(number.sum())) - np.repeat(begins, number)
            other = np.repeat(cells.starts[cells.owner[portion]], number) + step
            one = np.repeat(cells.values[portion], number)
            near = self.ask(one, cells.values[other])
            masses[portion] = np.add.reduceat(np.where(near, cells.counts[other], 0), begins)
        return masses

    def near(self, code: int, others: Integers) -> Mask:
        """Those that are near when asked."""
        return self.ask(np.full(len(others), code), others)


def portions(work: Integers) -> Iterator[slice]:
    """Cut a list of tasks, each with its work, into runs of about PAIRS work each.

    >>> [(one.start, one.stop) for one in portions(np.array([600_000, 600_000, 1]))]
    [(0, 1), (1, 3)]
    """
    done = np.cumsum(work)
    start = 0
    while start < len(work):
        before = int(done[start]) - int(work[start])
        stop = max(start + 1, int(np.searchsorted(done, before + PAIRS, side="right")))
        yield slice(start, stop)
        start = stop


@dataclass(frozen=True, slots=True)
class Balls:
    """The largest ball of each group: `sizes` in people, 0 where no value is known.

    `masses` has the ball around each cell's value.
    """

    cells: NeighbourCells
    masses: Integers
    sizes: Integers
    nearness: Nearness

    def centre(self, group: int) -> int:
        """The first value of a group with the largest ball around it."""
        span = self.cells.of(group)
        largest = np.flatnonzero(self.masses[span] == self.sizes[group])
        return int(self.cells.values[span][largest].min())

    def around(self, group: int) -> Integers:
        """The codes of the group's values that lie in its largest ball."""
        values = self.cells.values[self.cells.of(group)]
        return np.sort(values[self.nearness.near(self.centre(group), values)])


def largest_balls(groups: Groups, distance: Distance, epsilon: Fraction) -> Balls:
    """For each group, the most people with a value at most `epsilon` from one of its values.

    Where people have several values in a group each counts as near if one of them is, at most once:
    no way to pick one value for each has a larger ball.
    """
    cells = cells_of(groups)
    nearness = distance.within(epsilon)
    masses = np.minimum(nearness.masses(cells), cells.known[cells.owner])
    sizes = np.zeros(len(groups), dtype=np.int64)
    begins = run_starts(cells.owner)
    if len(begins):
        sizes[cells.owner[begins]] = np.maximum.reduceat(masses, begins)
    return Balls(cells, masses, sizes, nearness)
