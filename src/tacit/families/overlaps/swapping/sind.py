"""SIND: the crowds of people whom the views do not tell apart, whatever their values (Yao and
others, Definition 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.families.overlaps.counting.filling import TableFilling
from tacit.families.overlaps.counting.possible_cells import (
    PossibleCells,
    first_table,
    pieces_of,
    possible,
)
from tacit.families.overlaps.overlap import Integers, Overlap
from tacit.families.overlaps.swapping.swaps import Swaps
from tacit.families.overlaps.system import Flags, NoTable, System, system_of
from tacit.model.deadline import OutOfTime, look
from tacit.model.jobs import Job

# if one table leaves more pairs open, some more tables are looked for before the pairs are listed
FEW = 20_000
MORE_TABLES = 12
MOST_PAIRS = 3_000_000  # with more there is not enough memory
IN_VAIN = 12  # attempts after which nothing more is expected of exchanges
MOST_COMPARED = 5_000_000  # pairs of values that are compared at once


@dataclass(frozen=True, slots=True)
class ClassPartition:
    """A partition of the classes into sets, and how many people each set has."""

    sets: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    @property
    def smallest(self) -> int:
        """How many people the smallest set has: the largest k for which k-SIND holds."""
        return min(self.sizes, default=0)


def conservative_partition(overlap: Overlap) -> ClassPartition:
    """Sets of people with the same output map: they are SIND for certain, others may be.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> conservative_partition(overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])).sets
    ((0,), (1,), (2,))
    """
    _, alike = np.unique(
        overlap.outputs.reshape(len(overlap.sizes), -1), axis=0, return_inverse=True
    )
    return _crowds(overlap, alike.reshape(-1))


def sind_partition(overlap: Overlap, job: Job | None = None) -> ClassPartition:
    """The sets of people who can exchange their values in every table that fits the views.

    Two people are SIND if every two values that they have in some table satisfy the swap equation
    (Definition 1, Proposition 4); that is an equivalence, and those with the same output map are
    equivalent. One table tells most classes apart; what it leaves open is searched for: is there a
    table in which they have values that they cannot exchange? Raises NoTable where no table fits,
    OutOfTime at the deadline.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> sind_partition(overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])).sets
    ((0, 2), (1,))
    """
    swaps = Swaps(overlap)
    kinds = swaps.kinds()
    table = first_table(overlap)
    if table is None:
        raise NoTable
    if kinds.max(initial=0) == 0:
        return _crowds(overlap, kinds)
    return _crowds(overlap, _joined(overlap, swaps, kinds, table, job or Job()))


def _crowds(overlap: Overlap, alike: Integers) -> ClassPartition:
    """The sets of classes that have the same number, in the order of their first classes."""
    sets: dict[int, list[int]] = {}
    for class_, number in enumerate(alike.tolist()):
        sets.setdefault(number, []).append(class_)
    sizes = overlap.sizes.tolist()
    return ClassPartition(
        tuple(map(tuple, sets.values())),
        tuple(sum(sizes[one] for one in some) for some in sets.values()),
    )


def _joined(overlap: Overlap, swaps: Swaps, kinds: Integers, table: Integers, job: Job) -> Integers:
    """A number for each class, the same for those that are SIND, from one
    that is the same for some of them.

    It begins with a table that fits.
    """
    told = _Told(overlap, swaps, kinds, job)
    pairs = told.pairs([table], FEW)
    if pairs == []:
        return kinds
    # Those who all have the same value for certain are SIND, and may be very many pairs.
    system = system_of(overlap)
    told = _Told(overlap, swaps, _with_settled(kinds, system), job)
    tables = [table]
    pairs = told.pairs(tables, FEW)
    if pairs is None:
        tables += told.some_more(system, table)
        pairs = told.pairs(tables, None)
    open_ = _Open(told, pairs or [])
    tables += told.telling(system, open_, tables[-1])
    if open_:
        known = possible(overlap, job, asked=open_.cells(), tables=tables, system=system)
        for instance in known.instances:
            open_.hear(instance)
        _search(open_, known, job)
    return open_.joined()[told.kinds]


def _with_settled(kinds: Integers, system: System) -> Integers:
    """The kinds, with those made one whose people all have the same value in every table."""
    wide = len(system.overlap.values)
    settled = (system.low == system.high).reshape(-1, wide).all(axis=1)
    people = system.low.reshape(-1, wide)
    alone = settled & ((people > 0).sum(axis=1) == 1)
    _, number = np.unique(np.where(alone, -1 - people.argmax(axis=1), kinds), return_inverse=True)
    found: Integers = number.reshape(-1)
    return found


class _Told:
    """Which kinds of classes tables have told apart.
    A kind is represented by its class with the most people.
    """

    def __init__(self, overlap: Overlap, swaps: Swaps, kinds: Integers, job: Job) -> None:
        self.overlap, self.swaps, self.job = overlap, swaps, job
        self.kinds = kinds
        order = np.lexsort((-overlap.sizes, kinds))
        _, first = np.unique(kinds[order], return_index=True)
        self.classes: Integers = order[first]  # the representative of each kind

    def pairs(self, tables: Sequence[Integers], most: int | None) -> list[tuple[int, int]] | None:
        """The pairs of kinds that no table tells apart; None if they are more than `most`."""
        found: list[tuple[int, int]] = []
        shown = [table[self.classes] > 0 for table in tables]
        cells = [np.nonzero(one) for one in shown]
        for kind in range(len(self.classes) - 1):
            look()
            self.job.step("comparing classes", kind / len(self.classes))
            is_open = np.arange(len(self.classes)) > kind
            for one, (kinds, values) in zip(shown, cells, strict=True):
                self._close(kind, np.nonzero(one[kind])[0].tolist(), kinds, values, is_open)
                if not is_open.any():
                    break
            found.extend((kind, other) for other in np.nonzero(is_open)[0].tolist())
            if most is not None and len(found) > most:
                return None
            if len(found) > MOST_PAIRS:
                raise OutOfTime
        return found

    def _close(
        self, kind: int, own: Sequence[int], kinds: Integers, values: Integers, is_open: Flags
    ) -> None:
        """Leave out the kinds that have, in a table, a value that they cannot exchange with one
        that this kind has.
        """
        for value in own:
            chosen = is_open[kinds]
            others, theirs = kinds[chosen], values[chosen]
            same = self.swaps.equation(int(self.classes[kind]), value, self.classes[others], theirs)
            is_open[others[~same & (theirs != value)]] = False
            if not is_open.any():
                return

    def some_more(self, system: System, table: Integers) -> list[Integers]:
        """A few tables in which many people have values that they did not have before."""
        walk = _TableWalk(system, table)
        rng = np.random.default_rng(1)
        new = np.zeros_like(table, dtype=bool)
        new[self.classes] = True
        found: list[Integers] = []
        for _ in range(MORE_TABLES):
            new &= walk.table == 0
            if walk.step(new & _half(rng, len(table)), self.job):
                found.append(walk.table)
        return found

    def telling(self, system: System, open_: _Open, table: Integers) -> list[Integers]:
        """Tables that tell apart pairs that were open, as far as exchanges lead to such."""
        walk = _TableWalk(system, table)
        rng = np.random.default_rng(1)
        found: list[Integers] = []
        in_vain = 0
        while open_ and in_vain < IN_VAIN:
            many = len(open_)
            if walk.step(open_.helpful(walk.table) & _half(rng, len(table)), self.job):
                open_.hear(walk.table)
                found.append(walk.table)
            in_vain = in_vain + 1 if len(open_) == many else 0
        return found


def _half(rng: np.random.Generator, classes: int) -> Flags:
    """About half of the classes, with all values:
    if all changed to the same value they would be alike as before.
    """
    return rng.integers(2, size=(classes, 1)).astype(bool)


class _TableWalk:
    """From table to table by exchanges, in all parts at once."""

    def __init__(self, system: System, table: Integers) -> None:
        self.table = table
        flat = table.reshape(-1)
        self._fillings = [TableFilling(part, flat[part.place]) for part in pieces_of(system.parts)]

    def step(self, wanted: Flags, job: Job) -> bool:
        """Go to a table in which some of these cells, where nobody is now, have somebody.
        False: no exchange does it.
        """
        table = self.table.copy().reshape(-1)
        is_new = False
        for filling in self._fillings:
            place = filling.part.place
            if wanted.reshape(-1)[place].any():
                found = filling.exchanged(wanted.reshape(-1)[place], job)
                if found is not None:
                    table[place] = found
                    is_new = True
        self.table = table.reshape(self.table.shape)
        return is_new


class _Open:
    """Pairs of kinds that no table has told apart yet."""

    def __init__(self, told: _Told, pairs: Sequence[tuple[int, int]]) -> None:
        self.swaps, self.shape = told.swaps, (len(told.overlap.sizes), len(told.overlap.values))
        self.classes = told.classes
        self.pairs: Integers = np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self.pairs)

    def _slices(self) -> Iterator[tuple[slice, Integers, Integers, Flags]]:
        """Some pairs at a time: their classes, and the values, [of the one, of the other], that
        they cannot exchange.
        """
        mine, theirs = np.meshgrid(
            np.arange(self.shape[1]), np.arange(self.shape[1]), indexing="ij"
        )
        wide = max(1, MOST_COMPARED // self.shape[1] ** 2)
        for start in range(0, len(self.pairs), wide):
            some = slice(start, min(start + wide, len(self.pairs)))
            one, other = self.classes[self.pairs[some]].T
            same = self.swaps.equation(one[:, None, None], mine, other[:, None, None], theirs)
            yield some, one, other, ~same & (mine != theirs)

    def hear(self, table: Integers) -> None:
        """Leave out the pairs that a table tells apart."""
        kept = np.ones(len(self.pairs), dtype=bool)
        for some, one, other, failing in self._slices():
            has = table > 0
            kept[some] = ~(failing & has[one][:, :, None] & has[other][:, None, :]).any(axis=(1, 2))
        self.pairs = self.pairs[kept]

    def helpful(self, table: Integers) -> Flags:
        """The cells that would tell some pair apart, if they had somebody and the table were
        else the same.
        """
        found = np.zeros(self.shape, dtype=bool)
        has = table > 0
        for _, one, other, failing in self._slices():
            np.logical_or.at(found, other, (failing & has[one][:, :, None]).any(axis=1))
            np.logical_or.at(found, one, (failing & has[other][:, None, :]).any(axis=2))
        return found

    def cells(self) -> Flags:
        """The cells on which it depends whether the pairs are SIND."""
        found = np.zeros(self.shape, dtype=bool)
        for _, one, other, failing in self._slices():
            np.logical_or.at(found, one, failing.any(axis=2))
            np.logical_or.at(found, other, failing.any(axis=1))
        return found

    def apart(self, known: PossibleCells) -> None:
        """Leave out the pairs that have possible values, of different parts or settled, which
        they cannot exchange.
        """
        kept = np.ones(len(self.pairs), dtype=bool)
        part_of = known.part_of.reshape(self.shape)
        for some, one, other, failing in self._slices():
            mine, theirs = part_of[one][:, :, None], part_of[other][:, None, :]
            is_apart = (mine != theirs) | (mine < 0)
            meets = failing & is_apart & known.can[one][:, :, None] & known.can[other][:, None, :]
            kept[some] = ~meets.any(axis=(1, 2))
        self.pairs = self.pairs[kept]

    def against(self, kind: int, value: int) -> Flags:
        """The cells that would tell other kinds from this one, if
        somebody of this one has the value.
        """
        found = np.zeros(self.shape, dtype=bool)
        values = np.arange(self.shape[1])
        one, other = self.pairs.T
        for theirs in self.classes[
            np.concatenate([other[one == kind], one[other == kind]])
        ].tolist():
            same = self.swaps.equation(int(self.classes[kind]), value, theirs, values)
            found[theirs] = ~same & (values != value)
        return found

    def joined(self) -> Integers:
        """The kinds, with the same number for those of pairs that are still open:
        the first of them.

        Where the pairs are an equivalence each set has the pairs of its first kind with all others.
        """
        numbers = np.arange(len(self.classes))
        for one, other in self.pairs[np.lexsort((self.pairs[:, 1], self.pairs[:, 0]))].tolist():
            if numbers[one] == one:
                numbers[other] = min(numbers[other], one)
        return numbers


def _search(open_: _Open, known: PossibleCells, job: Job) -> None:
    """Tell apart all open pairs that can be: those that are left are SIND."""
    open_.apart(known)
    for kind in np.unique(open_.pairs).tolist():
        class_ = int(open_.classes[kind])
        for value in np.nonzero(known.can[class_])[0].tolist():

            def wanted(kind: int = kind, value: int = value) -> Flags:
                return open_.against(kind, value) & known.can

            for table in known.searched(class_, value, wanted, job):
                open_.hear(table)
