"""The tables that fit, as a system of sums:
cells (class, value), what is settled at once, and parts that do not touch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain, count
from typing import Any

import numpy as np

from tacit.families.overlaps.counting.factorials import bits, quotient
from tacit.families.overlaps.overlap import NOTHING, Integers, Overlap
from tacit.model.deadline import look

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Cells = frozenset[int]


class NoTable(Exception):
    """No table gives the views these answers."""


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """Some cells have so many people together: those of a class, or those whom a view shows in
    the same row.
    """

    cells: Integers
    total: int


@dataclass(frozen=True, eq=False)
class OpenPart:
    """Cells that hang together and are not settled.

    Cell j of the part is cell `place[j]` of the system, stands for the value numbered `value[j]`,
    and has between `low` and `high` people. It is in one of `classes` (`class_of[j]`) and in any
    number of `rows`. The number of tables is the sum over all solutions of prod(class.total! /
    prod(x! of its cells)).
    """

    place: Integers
    value: Integers
    low: Integers
    high: Integers
    classes: tuple[Sum, ...]
    rows: tuple[Sum, ...]

    @cached_property
    def class_of(self) -> Integers:
        """The class of each cell, as its place in `classes`."""
        found = np.zeros(len(self.place), dtype=np.int64)
        for number, one in enumerate(self.classes):
            found[one.cells] = number
        return found

    @property
    def key(self) -> bytes:
        """What is the same for parts with the same sums, whoever they are about."""
        sums = (
            [(one.cells.tolist(), one.total) for one in self.classes],
            [(one.cells.tolist(), one.total) for one in self.rows],
        )
        order = np.unique(self.value, return_inverse=True)[1].tolist()
        return repr((order, self.low.tolist(), self.high.tolist(), sums)).encode()

    @property
    def people(self) -> int:
        """How many people the part is about."""
        return sum(one.total for one in self.classes)


@dataclass(frozen=True, eq=False)
class System:
    """All cells, row by row of classes;
    those with low = high are settled, the others are in `parts`.
    """

    overlap: Overlap
    low: Integers
    high: Integers
    parts: tuple[OpenPart, ...]

    def cell(self, class_: int, value: int) -> int:
        """The number of a cell."""
        return class_ * len(self.overlap.values) + value

    @cached_property
    def settled(self) -> int:
        """In how many ways the people of each class can be divided among
        the settled cells and the rest.
        """
        return quotient(*self._divided)[0]

    @cached_property
    def settled_bits(self) -> float:
        """The logarithm of that to base 2, nearly; it takes no long numbers."""
        above, below = self._divided
        return bits(above) - bits(below)

    @cached_property
    def _divided(self) -> tuple[list[int], list[int]]:
        """How many people each class has; and how many its settled cells and the rest of it
        have. Without what cancels.
        """
        sizes = self.overlap.sizes
        fixed = np.where(self.low == self.high, self.low, 0).reshape(len(sizes), -1)
        rest = sizes - fixed.sum(axis=1)
        some = rest < sizes
        below = np.concatenate([fixed[some].reshape(-1), rest[some]])
        return sizes[some].tolist(), below[below > 1].tolist()


def system_of(overlap: Overlap) -> System:
    """The cells of the tables that fit some views;
    raises NoTable where sums alone show that there is none.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> found = system_of(overlap_of("xyz", ["xy", "yz"], [[0], [0, 1], [1]]))
    >>> found.parts, found.low.reshape(3, 3).tolist()
    ((), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    """
    wide = len(overlap.values)
    classes = [
        (np.arange(number * wide, (number + 1) * wide), size)
        for number, size in enumerate(overlap.sizes.tolist())
    ]
    rows = list(_rows(overlap))
    low = np.zeros(len(classes) * wide, dtype=np.int64)
    high = np.repeat(overlap.sizes, wide)
    _squeeze(low, high, [*classes, *rows])
    class_of = np.repeat(np.arange(len(classes)), wide)
    known = rows
    while True:
        look()
        live = low < high
        mine = list(_open_sums(classes, live, low))
        simple = _simplified(known, mine, low, high, class_of)
        before = low.copy(), high.copy()
        sums = [(one.cells, one.total) for one in mine if len(one.cells)]
        rest = [(np.array(sorted(cells), dtype=np.int64), total) for cells, total in simple]
        # What is left of nested sums may settle more.
        _squeeze(low, high, [*sums, *rest])
        if (low > before[0]).any() or (high < before[1]).any():
            known = rest  # says all that the rows do, and there is less to look at
        elif known is not rows:
            known = rows  # other sums may be nested now
        else:
            return System(overlap, low, high, tuple(_parts(mine, simple, low, high, wide)))


def _open_sums(sums: Iterable[tuple[Integers, int]], live: Flags, low: Integers) -> Iterable[Sum]:
    """The cells of some sums that are not settled, and what is left for them."""
    for cells, total in sums:
        look()
        yield Sum(cells[live[cells]], total - int(low[cells[~live[cells]]].sum()))


def _rows(overlap: Overlap) -> Iterable[tuple[Integers, int]]:
    """The cells that put the same row into a view, with how often it is shown."""
    at = np.nonzero(overlap.outputs != NOTHING)
    rows = overlap.outputs[at]
    cells = at[0] * len(overlap.values) + at[2]
    order = np.argsort(rows, kind="stable")
    rows, cells = rows[order], cells[order]
    seen, starts = np.unique(rows, return_index=True)
    missing = np.ones(len(overlap.shown), dtype=bool)
    missing[seen] = False
    missing[NOTHING] = False
    if (overlap.shown[missing] > 0).any():
        raise NoTable
    ends = [*starts[1:].tolist(), len(cells)]
    for row, start, end in zip(
        seen.tolist(), starts.tolist(), ends if len(seen) else (), strict=True
    ):
        yield cells[start:end], int(overlap.shown[row])


def _squeeze(low: Integers, high: Integers, sums: Sequence[tuple[Integers, int]]) -> None:
    """Narrow the bounds of cells, in place, until the sums narrow them no further."""
    if not sums:
        return
    number = np.repeat(np.arange(len(sums)), [len(cells) for cells, _ in sums])
    cells = np.concatenate([cells for cells, _ in sums])
    totals = np.array([total for _, total in sums], dtype=np.int64)
    while True:
        look()
        least = np.bincount(number, low[cells], len(sums)).astype(np.int64)
        most = np.bincount(number, high[cells], len(sums)).astype(np.int64)
        if (least > totals).any() or (most < totals).any():
            raise NoTable
        before = low.copy(), high.copy()
        np.minimum.at(high, cells, (totals - least)[number] + before[0][cells])
        np.maximum.at(low, cells, (totals - most)[number] + before[1][cells])
        if (low > high).any():
            raise NoTable
        if (low == before[0]).all() and (high == before[1]).all():
            return


def _simplified(
    rows: Sequence[tuple[Integers, int]],
    classes: Sequence[Sum],
    low: Integers,
    high: Integers,
    class_of: Integers,
) -> list[tuple[Cells, int]]:
    """Sums over live cells without whole classes, without the same sum twice, and without one
    sum inside another.
    """
    sizes = np.array([len(one.cells) for one in classes])
    live = low < high
    found: dict[Cells, int] = {}
    for cells, total in rows:
        look()
        is_live = live[cells]
        rest = total - int(low[cells[~is_live]].sum())
        if not rest and not is_live.any():
            continue
        own = cells[is_live]
        mine, many = np.unique(class_of[own], return_counts=True)
        kept = frozenset(own.tolist())
        for number in mine[many == sizes[mine]].tolist():
            kept -= frozenset(classes[number].cells.tolist())
            rest -= classes[number].total
        if rest < 0 or found.setdefault(kept, rest) != rest or (not kept and rest):
            raise NoTable
    found.pop(frozenset(), None)
    return list(_without_nested(found).items())


def _without_nested(sums: dict[Cells, int]) -> dict[Cells, int]:
    """What is left of the larger sum where one is inside another:
    fewer cells to look at, the same tables.
    """
    nest = _Nest(sums)
    while nest.waiting:
        look()
        size, _, inner = heappop(nest.waiting)
        if len(nest.cells[inner]) == size:  # else it is gone, or waits with fewer cells
            for outer in nest.around(inner):
                nest.take_out(inner, outer)
    return nest.left()


class _Nest:
    """Sums by number. A sum that loses cells keeps its number, so that only those cells are
    looked at: inner sums are small, outer ones large.
    """

    def __init__(self, sums: dict[Cells, int]) -> None:
        self.cells = [set(cells) for cells in sums]
        self.totals = list(sums.values())
        sizes = [len(cells) for cells in sums]
        cells = np.fromiter(chain.from_iterable(sums), dtype=np.int64, count=sum(sizes))
        numbers = np.repeat(np.arange(len(sizes)), sizes)
        order = np.argsort(cells, kind="stable")
        known, place = np.unique(cells, return_inverse=True)
        ends = np.cumsum(np.bincount(place, minlength=len(known))).tolist()
        holders = numbers[order].tolist()
        self.holding = {
            cell: set(holders[start:end])
            for cell, start, end in zip(known.tolist(), [0, *ends], ends, strict=False)
        }
        # The same cells have the same mark; whether marks are the same by chance is looked at.
        marks = np.random.default_rng(1).integers(0, 1 << 62, len(known))[place]
        firsts = np.cumsum([0, *sizes[:-1]]) if sizes else np.zeros(0, dtype=np.int64)
        self.mark = np.bitwise_xor.reduceat(marks, firsts).tolist() if sizes else []
        self.alike: dict[int, list[int]] = defaultdict(list)
        for number, mark in enumerate(self.mark):
            self.alike[mark].append(number)
        self.later = count(len(sums))  # sums of one size are taken in the order in which they came
        self.waiting = [(size, number, number) for number, size in enumerate(sizes)]
        heapify(self.waiting)

    def around(self, inner: int) -> list[int]:
        """The sums that have all cells of one, and more."""
        cells = self.cells[inner]
        fewest = min((self.holding[cell] for cell in cells), key=len, default=set[int]())
        return [one for one in sorted(fewest) if one != inner and cells < self.cells[one]]

    def take_out(self, inner: int, outer: int) -> None:
        """What is left of a sum; it goes where another one says the same."""
        self.alike[self.mark[outer]].remove(outer)
        self.totals[outer] -= self.totals[inner]
        if self.totals[outer] < 0:
            raise NoTable
        self._drop(outer, self.cells[inner])
        self.mark[outer] ^= self.mark[inner]
        for other in self.alike[self.mark[outer]]:
            if self.cells[other] == self.cells[outer]:
                if self.totals[other] != self.totals[outer]:
                    raise NoTable
                self._drop(outer, set(self.cells[outer]))
                return
        self.alike[self.mark[outer]].append(outer)
        heappush(self.waiting, (len(self.cells[outer]), next(self.later), outer))

    def _drop(self, number: int, cells: set[int]) -> None:
        for cell in cells:
            self.holding[cell].discard(number)
        self.cells[number] -= cells

    def left(self) -> dict[Cells, int]:
        """All sums that still have cells."""
        return {
            frozenset(cells): total
            for cells, total in zip(self.cells, self.totals, strict=True)
            if cells
        }


def _parts(
    classes: Sequence[Sum],
    rows: Sequence[tuple[Cells, int]],
    low: Integers,
    high: Integers,
    wide: int,
) -> Iterable[OpenPart]:
    """The live cells, taken apart where no sum joins them."""
    parent: dict[int, int] = {}

    def top(cell: int) -> int:
        while parent.setdefault(cell, cell) != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    sums: list[tuple[bool, list[int], int]] = [
        (True, one.cells.tolist(), one.total) for one in classes if len(one.cells)
    ]
    sums += [(False, sorted(cells), total) for cells, total in rows]
    for _, cells, _ in sums:
        look()
        first = top(cells[0])
        for cell in cells[1:]:
            parent[top(cell)] = first
    together: dict[int, list[tuple[bool, list[int], int]]] = defaultdict(list)
    for one in sums:
        together[top(one[1][0])].append(one)
    for own in together.values():
        look()
        place = np.array(
            sorted(cell for is_class, cells, _ in own if is_class for cell in cells), dtype=np.int64
        )
        yield OpenPart(
            place,
            place % wide,
            low[place],
            high[place],
            tuple(
                Sum(np.searchsorted(place, cells), total)
                for is_class, cells, total in own
                if is_class
            ),
            tuple(
                Sum(np.searchsorted(place, cells), total)
                for is_class, cells, total in own
                if not is_class
            ),
        )
