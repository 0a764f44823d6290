"""Possible or not: which values somebody of a class can have in some table, with a table as
proof for each that can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from tacit.families.overlaps.counting.filling import TableFilling, solution
from tacit.families.overlaps.overlap import NOTHING, Integers, Overlap, merged
from tacit.families.overlaps.system import Flags, NoTable, OpenPart, Sum, System, system_of
from tacit.model.deadline import OutOfTime
from tacit.model.jobs import Job

TOGETHER = 1500  # small parts are searched together, up to so many cells
MOST_BYTES = 1 << 29  # of tables that are kept

Cell = tuple[int, int]  # a class and a value
Table = np.ndarray[
    Any, np.dtype[Any]
]  # the people of each cell of a piece, in as few bytes as will do


@dataclass(frozen=True, slots=True, eq=False)
class PossiblePiece:
    """A part, or several small ones, with tables of it that were found."""

    part: OpenPart
    tables: list[Table]

    def keep(self, table: Integers) -> None:
        """Remember a table; where they take too much room, only those
        that show what no later one shows.
        """
        self.tables.append(table.astype(np.min_scalar_type(int(self.part.high.max()))))
        if sum(one.nbytes for one in self.tables) > MOST_BYTES:
            self._thin()

    def _thin(self) -> None:
        seen = np.zeros(len(self.part.place), dtype=bool)
        kept = []
        for one in reversed(self.tables):
            if ((one > 0) & ~seen).any():
                kept.append(one)
                seen |= one > 0
        self.tables[:] = reversed(kept)
        if sum(one.nbytes for one in kept) > MOST_BYTES // 2:
            raise OutOfTime  # there is no room for the proofs

    def table_with(self, cell: int) -> Table | None:
        """A table that was found in which a cell of the part has somebody."""
        return next((one for one in self.tables if one[cell]), None)


@dataclass(frozen=True, eq=False)
class PossibleCells:
    """Which cells can have somebody, `can[class, value]`, and tables that show it."""

    system: System
    can: Flags
    pieces: tuple[PossiblePiece, ...]

    @property
    def instances(self) -> list[Integers]:
        """Whole tables; every cell that can have somebody has in one of them."""
        many = max((len(piece.tables) for piece in self.pieces), default=1)
        chosen = (
            [piece.tables[min(at, len(piece.tables) - 1)] for piece in self.pieces]
            for at in range(many)
        )
        return [self._whole(tables) for tables in chosen]

    def instance_with(self, class_: int, value: int) -> Integers | None:
        """A table in which somebody of the class has the value; None where there is none."""
        if not self.can[class_, value]:
            return None
        return next(
            self.tables_with(class_, value), self._whole([piece.tables[0] for piece in self.pieces])
        )

    def together(self, class_: int, value: int, others: Flags, job: Job | None = None) -> Flags:
        """Which of some cells can have somebody in a table in which
        somebody of the class has the value.

        The tables found on the way are kept: they may answer the next question. Raises OutOfTime.
        """
        found: Flags = others & self.can & self.can[class_, value]
        is_open: Flags = found & ~self.is_apart(class_, value)

        def still() -> Flags:
            return is_open

        if is_open.any():
            for table in self.tables_with(class_, value):
                is_open &= table == 0
        for table in self.searched(class_, value, still, job):
            is_open &= table == 0
        return found & ~is_open

    def is_apart(self, class_: int, value: int) -> Flags:
        """The cells on which this one does not depend: settled ones and those of other parts."""
        own = self.part_of[self.system.cell(class_, value)]
        apart: Flags = ((self.part_of < 0) | (self.part_of != own)).reshape(self.can.shape)
        return apart

    def tables_with(self, class_: int, value: int) -> Iterator[Integers]:
        """The tables found so far in which somebody of a class has a value;
        other parts are as in the first one.
        """
        cell = self.system.cell(class_, value)
        number, spot = int(self._piece[cell]), int(self._spot[cell])
        if number >= 0:
            for table in [one for one in self.pieces[number].tables if one[spot]]:
                yield self._with(number, table)

    def searched(
        self,
        class_: int,
        value: int,
        wanted: Callable[[], Flags],
        job: Job | None = None,
    ) -> Iterator[Integers]:
        """New tables in which somebody of a class has a value, and
        somebody is in one of the wanted cells.

        What is wanted, all in the same part, is asked for again after each table. It ends where
        there is no such table: the cells that are still wanted are not possible together with the
        value. Raises OutOfTime.
        """
        cell = self.system.cell(class_, value)
        number, spot = int(self._piece[cell]), int(self._spot[cell])
        if number < 0 or not wanted().any():
            return
        piece = self.pieces[number]
        start = piece.table_with(spot)
        assert start is not None
        filling = TableFilling(with_people(piece.part, spot, 1), start.astype(np.int64))
        while (cells := wanted().reshape(-1)[piece.part.place]).any():
            table = filling.more(cells, job)
            if table is None:
                return
            piece.keep(table)
            yield self._with(number, table)

    def _with(self, number: int, table: Table) -> Integers:
        """The first table, with another one of a piece."""
        return self._whole(
            [table if at == number else piece.tables[0] for at, piece in enumerate(self.pieces)]
        )

    def jointly(self, one: Cell, other: Cell, job: Job | None = None) -> bool:
        """Is there a table where somebody of a class has a value, and
        somebody else of a class a value?

        The cells may be the same one: then it needs two people. Raises OutOfTime.
        """
        if one != other:
            asked = np.zeros_like(self.can)
            asked[other] = True
            return bool(self.together(*one, asked, job)[other])
        cell = self.system.cell(*one)
        if self.system.low[cell] >= 2 or self.system.high[cell] < 2:
            return bool(self.system.low[cell] >= 2)
        piece, spot = self.pieces[int(self._piece[cell])], int(self._spot[cell])
        if any(table[spot] >= 2 for table in piece.tables):
            return True
        found = solution(with_people(piece.part, spot, 2), like=piece.tables[0].astype(np.int64))
        if found is not None:
            piece.keep(found)
        return found is not None

    @cached_property
    def part_of(self) -> Integers:
        """The part of each cell of the system, or -1 for a settled one."""
        found = np.full(len(self.system.low), -1, dtype=np.int64)
        for number, part in enumerate(self.system.parts):
            found[part.place] = number
        return found

    @cached_property
    def _piece(self) -> Integers:
        found = np.full(len(self.system.low), -1, dtype=np.int64)
        for number, piece in enumerate(self.pieces):
            found[piece.part.place] = number
        return found

    @cached_property
    def _spot(self) -> Integers:
        found = np.full(len(self.system.low), -1, dtype=np.int64)
        for piece in self.pieces:
            found[piece.part.place] = np.arange(len(piece.part.place))
        return found

    def _whole(self, tables: Sequence[Table]) -> Integers:
        found = self.system.low.copy()
        for piece, table in zip(self.pieces, tables, strict=True):
            found[piece.part.place] = table
        return found.reshape(self.can.shape)


def possible(
    overlap: Overlap,
    job: Job | None = None,
    *,
    asked: Flags | None = None,
    tables: Sequence[Integers] = (),
    system: System | None = None,
) -> PossibleCells:
    """Which values can somebody of each class have, in some table that fits the views?

    Deciding one cell is NP-hard (Yao and others, Theorem 1). A table found proves many cells at
    once; `TableFilling` says how they are found; `tables` are some that fit and are known already,
    as the `system` may be. Where only some cells are asked for, the others are possible as far as a
    table has shown it. Raises NoTable where no table fits, OutOfTime at the deadline.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> found = possible(overlap_of("xyz", ["xy", "xy"], [[0], [0, 1], [1]]))
    >>> found.can.tolist()
    [[True, True, False], [True, True, False], [True, True, False]]
    >>> found.instance_with(1, 0).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    """
    job = job or Job()
    system = system or system_of(overlap)
    if not tables and overlap.current is not None and fits(overlap, overlap.current):
        tables = [overlap.current]
    can: Flags = system.low > 0
    pieces = []
    wide = sum(len(part.place) for part in system.parts)
    done = 0
    for part in pieces_of(system.parts):
        job.step("which values are possible", done / wide)
        piece = PossiblePiece(part, [])
        for table in [one.reshape(-1)[part.place] for one in tables] or [_first(part)]:
            piece.keep(table)
            can[part.place] |= table > 0
        filling = TableFilling(part, piece.tables[-1].astype(np.int64), is_explored=len(tables) > 1)
        wanted = (system.high[part.place] > 0) & (
            True if asked is None else asked.reshape(-1)[part.place]
        )
        while (wanted & ~can[part.place]).any():
            found = filling.more(wanted & ~can[part.place], job)
            if found is None:
                break
            piece.keep(found)
            can[part.place] |= found > 0
        pieces.append(piece)
        done += len(part.place)
    return PossibleCells(
        system, can.reshape(len(overlap.sizes), len(overlap.values)), tuple(pieces)
    )


def jointly(overlap: Overlap, one: Cell, other: Cell) -> bool:
    """Is there a table where somebody of class one[0] has value one[1], and somebody else of
    other[0] has other[1]?

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> chain = overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])
    >>> jointly(chain, (0, 0), (2, 0)), jointly(chain, (0, 0), (2, 1))
    (True, False)
    """
    asked = np.zeros((len(overlap.sizes), len(overlap.values)), dtype=bool)
    asked[one] = asked[other] = True
    return possible(overlap, asked=asked).jointly(one, other)


def first_table(overlap: Overlap) -> Integers | None:
    """A table that fits the views, the people of each class with each value; None if there is none.
    Raises OutOfTime.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> first_table(overlap_of("xyz", ["xy", "yz"], [[0], [0, 1], [1]])).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> first_table(overlap_of("xy", ["xy", "xy", "xy"], [[0, 2], [0, 1], [1, 2]]))
    """
    if overlap.current is not None and fits(overlap, overlap.current):
        return overlap.current
    try:
        system = system_of(overlap)
        found = system.low.copy()
        for part in pieces_of(system.parts):
            found[part.place] = _first(part)
    except NoTable:
        return None
    return found.reshape(len(overlap.sizes), len(overlap.values))


def fits(overlap: Overlap, table: Integers) -> bool:
    """Does a table give every class its people and every view its answer?

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> views = overlap_of("xy", ["xy"], [[0], [0]])
    >>> fits(views, np.array([[1, 0], [0, 1]])), fits(views, np.array([[1, 0], [1, 0]]))
    (True, False)
    """
    rows = np.zeros(len(overlap.shown), dtype=np.int64)
    np.add.at(rows, overlap.outputs, table[:, None, :])
    rows[NOTHING] = overlap.shown[NOTHING]
    return bool(
        (table >= 0).all()
        and (table.sum(axis=1) == overlap.sizes).all()
        and (rows == overlap.shown).all()
    )


def contradiction(overlap: Overlap, first: Sequence[int] | None = None) -> tuple[str, ...]:
    """Views whose answers contradict each other, where no table fits them all.

    One view if there is such a one, else two, else a set of which none can be left out. Empty where
    some table fits. At the deadline all are named, which contradict each other too. `first` is the
    number of the first row of each view; without it, a row that nobody can put into a view is taken
    to follow those of its view.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> contradiction(overlap_of("xyz", ["xy", "zz", "xx"], [[0], [0, 1], [1], [2], [2]]))
    ('view 1', 'view 2')
    """
    everything = tuple(range(len(overlap.views)))
    owners = (
        _owners(overlap)
        if first is None
        else np.searchsorted(first, np.arange(len(overlap.shown)), side="right") - 1
    )

    def fails(chosen: tuple[int, ...]) -> bool:
        return first_table(_only(overlap, owners, chosen)) is None

    if not fails(everything):
        return ()
    try:
        small = next(
            (some for size in (1, 2) for some in combinations(everything, size) if fails(some)),
            None,
        )
        if small is None:
            small = everything
            for one in everything:
                fewer = tuple(view for view in small if view != one)
                small = fewer if fails(fewer) else small
        return tuple(overlap.views[one] for one in small)
    except OutOfTime:
        return overlap.views


def _owners(overlap: Overlap) -> Integers:
    """The view of each row; of a row that nobody can put into a view, that of the row before."""
    found = np.full(len(overlap.shown), -1, dtype=np.int64)
    for view in range(len(overlap.views)):
        found[overlap.outputs[:, view, :]] = view
    found[NOTHING] = -1
    for row in range(1, len(found)):
        if found[row] < 0:
            found[row] = max(found[row - 1], 0)
    return found


def _only(overlap: Overlap, owners: Integers, chosen: tuple[int, ...]) -> Overlap:
    """The same people, some of the views."""
    shown = np.where(np.isin(owners, chosen), overlap.shown, 0)
    names = tuple(overlap.views[one] for one in chosen)
    return merged(
        Overlap(overlap.values, names, overlap.outputs[:, list(chosen), :], overlap.sizes, shown)
    )


def _first(part: OpenPart) -> Integers:
    """A table of a part; raises NoTable."""
    table = solution(part)
    if table is None:
        raise NoTable
    return table


def with_people(part: OpenPart, cell: int, least: int) -> OpenPart:
    """The same part with at least so many people in a cell."""
    low = part.low.copy()
    low[cell] = max(int(low[cell]), least)
    return replace(part, low=low)


def pieces_of(parts: Sequence[OpenPart]) -> Iterable[OpenPart]:
    """The parts, small ones joined: a search costs some time to begin with."""
    waiting: list[OpenPart] = []
    room = TOGETHER
    for part in sorted(parts, key=lambda one: len(one.place)):
        if waiting and len(part.place) > room:
            yield _joined(waiting)
            waiting, room = [], TOGETHER
        waiting.append(part)
        room -= len(part.place)
    if waiting:
        yield _joined(waiting)


def _joined(parts: Sequence[OpenPart]) -> OpenPart:
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.place) for part in parts)]).tolist()

    def moved(name: str) -> tuple[Sum, ...]:
        return tuple(
            Sum(one.cells + start, one.total)
            for part, start in zip(parts, starts, strict=False)
            for one in getattr(part, name)
        )

    def all_(name: str) -> Integers:
        found: Integers = np.concatenate([getattr(part, name) for part in parts])
        return found

    return OpenPart(
        all_("place"), all_("value"), all_("low"), all_("high"), moved("classes"), moved("rows")
    )
