"""Streamed cells: the groups of a release whose combinations do not fit into memory, a part at a
time.

The engine counts the combinations of labels at the levels of the release, and sends them in order.
They wait in a file, so that every check can pass over them. A check keeps of each part the groups
that its verdict can name, and counts the others by what it measures: what is left is a few groups
that stand for all. No float decides here; the definition judges these groups as it judges any.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np

from tacit.engines.sql import shapes, shapes_coded
from tacit.errors import DataError
from tacit.families.microdata.counts import (
    Counts,
    pack_codes,
    pack_columns,
    seem_different,
    too_large,
)
from tacit.families.microdata.groups import Groups, Mask, group
from tacit.model import memory
from tacit.model.deadline import look

if TYPE_CHECKING:
    from sqlglot import exp

    from tacit.engines.base import Engine, Numbers
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.hierarchy import HierarchyLevel
    from tacit.families.microdata.microdata import MicrodataQuestion

    Table = tuple[
        tuple[tuple[str, ...], ...], tuple[Integers, ...], Integers, Integers | None
    ]  # how combinations are packed, they, how often each occurs, for how many its group stands

CELL = 110  # bytes that a combination takes in memory while it is counted and judged
PART = 350  # the same while a part is grouped, measured and counted by what is alike
MOST_AT_ONCE = 4_000_000  # combinations of a part, however much memory there is
MOST_KEPT = 1_000_000  # groups that stand for all


@dataclass(frozen=True, slots=True)
class GroupTelling:
    """What a verdict can tell of some groups: which it may name, and the numbers by which it counts
    the others. Groups that are equal in all of them count alike.
    """

    named: Collection[int]
    alike: Sequence[Integers | Mask]


class GroupAsker(Protocol):
    """A definition that judges groups it sees a part at a time; see `MicrodataDefinition`."""

    @property
    def copies(self) -> int:
        """How many groups that are alike it has to see."""

    @property
    def looks_up(self) -> bool:
        """Does it look up the values behind the labels?"""

    def telling(self, question: MicrodataQuestion, groups: Groups) -> GroupTelling | None:
        """What of some groups its verdict tells."""


def fits(combinations: int) -> bool:
    """Is there memory for so many combinations, with as much again for the engine?"""
    return combinations * CELL <= memory.allowed() // 2


def rows_at_once() -> int:
    """How many combinations one part may have."""
    return min(MOST_AT_ONCE, memory.allowed() // 4 // PART)


@dataclass(frozen=True, slots=True)
class StreamedTable:
    """A table whose combinations stay where the rows are. `dictionaries` has the values by code."""

    engine: Engine
    table: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    dictionaries: Mapping[str, tuple[Any, ...]]
    rows: int
    _made: dict[tuple[int, ...], StreamedCells] = field(default_factory=dict, repr=False)

    def at(self, levels: Mapping[str, HierarchyLevel]) -> StreamedCells:
        """Its cells at some levels, counted once."""
        key = tuple(id(levels[name]) for name in self.quasi)
        if key not in self._made:
            self._made[key] = StreamedCells(self, {name: levels[name] for name in self.quasi})
        return self._made[key]


class StreamedCells:
    """The distinct combinations of labels and sensitive values, in order, in a file: those of all
    groups, or, where the engine can tell, of one group for all that are alike.
    """

    def __init__(self, of: StreamedTable, levels: Mapping[str, HierarchyLevel]) -> None:
        self.of = of
        self.levels = levels
        quasi = {name: len(level.labels) for name, level in levels.items()}
        values = {name: len(of.dictionaries[name]) + 1 for name in of.sensitive}
        self.sizes = quasi | values
        self.packing = pack_columns(self.sizes)
        self.apart = (pack_columns(quasi), pack_columns(values) if values else ())
        self._file: IO[bytes] | None = None
        self._alike: Numbers | None = None
        self._asked = False

    def groups(
        self,
        question: MicrodataQuestion,
        columns: tuple[str, ...],
        sensitive: str | None,
        definition: GroupAsker,
    ) -> Groups:
        """The groups that a definition needs to judge all of them."""
        fold = Fold(definition.copies)
        alone = definition.copies == 1 and not definition.looks_up
        for base, times in self._parts(question, alike=alone):
            groups = group(base, columns, question.levels, sensitive)
            fold.add(groups, definition.telling(question, groups), times)
        base, times = fold.base(), fold.times()
        return replace(group(base, columns, question.levels, sensitive), times=times)

    def first(
        self,
        question: MicrodataQuestion,
        groups: Groups,
        number: int,
        codes: Collection[int] | None = None,
        limit: int = 1,
    ) -> list[tuple[dict[str, Any], Any]]:
        """The first combinations of the table that lie in a group: what the attacker knows of them,
        and their sensitive value, where that is wanted one of some.
        """
        base, row = groups.base, groups.member(number)
        among: dict[str, Sequence[int]] = {}
        known: dict[str, Any] = {}
        for name in question.quasi:
            level = question.levels[name]
            inside = np.flatnonzero(level.codes == level.codes[int(base.codes_at(name, row))])
            if len(inside) < len(level.codes):
                among[name] = inside.tolist()
        for name in groups.columns[len(question.quasi) :]:
            known[name] = base.value(name, row)
            among[name] = self._stored_codes(base, name, {int(base.codes_at(name, row))})
        if codes is not None and groups.sensitive is not None:
            among[groups.sensitive] = self._stored_codes(base, groups.sensitive, codes)
        engine, stored = self.of.engine, (*self.of.quasi, *self.of.sensitive)
        query = shapes_coded.first_coded(
            self.of.table,
            stored,
            among,
            {name: len(values) + 1 for name, values in self.of.dictionaries.items()},
            collations=engine.collations(self.of.table),
            limit=limit,
        )
        rows = [dict(zip(stored, one, strict=True)) for one in engine.rows(query)]
        if not rows:
            raise DataError(
                f"table {self.of.table} has changed since it was counted.",
                hint="Try again when nobody writes to it.",
            )
        return [
            (
                {name: {**one, **known}[name] for name in groups.columns},
                self._read(base, groups, one),
            )
            for one in rows
        ]

    def _stored_codes(self, base: Counts, name: str, codes: Collection[int]) -> Sequence[int]:
        """The codes of the stored values that are read as values of some codes."""
        found: list[int] = np.flatnonzero(
            np.isin(self._read_codes(base, name), list(codes))
        ).tolist()
        return found

    def _read(self, base: Counts, groups: Groups, row: Mapping[str, Any]) -> Any:
        """How the sensitive value of a row is read."""
        if groups.sensitive is None:
            return None
        values = (*self.of.dictionaries[groups.sensitive], None)
        code = self._read_codes(base, groups.sensitive)[values.index(row[groups.sensitive])]
        return (*base.dictionaries[groups.sensitive], None)[int(code)]

    def _parts(
        self, question: MicrodataQuestion, *, alike: bool
    ) -> Iterator[tuple[Counts, Integers | None]]:
        """The cells as counts, whole groups at a time; where groups stand for others that are
        alike, for how many. Of the values that a label hides, the first stands for all.
        """
        codes = {name: first_codes(level) for name, level in self.levels.items()}
        codes |= {name: self._read_codes(question.base, name) for name in self.of.sensitive}
        for packing, keys, many, times in self._tables(alike=alike):
            seen = Counts({}, self.sizes, packing, keys, many)
            base = replace(
                question.base,
                keys=(),
                packing=(),
                occurrences=many,
                recoded={name: some[seen.codes(name)] for name, some in codes.items()},
            )
            yield base, times

    def _read_codes(self, base: Counts, name: str) -> Integers:
        """For each stored value's code the code of what it is read as."""
        values = self.of.dictionaries[name]
        code = {value: at for at, value in enumerate(base.dictionaries[name])}
        if name in base.raw:
            code = {one: code[value] for value, some in base.raw[name].items() for one in some}
        absent = len(base.dictionaries[name])
        return np.array([*(code.get(value, absent) for value in values), absent], dtype=np.int64)

    def _tables(self, *, alike: bool) -> Iterator[Table]:
        """Whole groups at a time: how they are packed, the packed combinations, how often each
        occurs, and for how many groups its group stands.
        """
        if alike and (found := self._stand_ins()) is not None:
            packing = (*self.apart[0], *self.apart[1])
            yield packing, found[: len(packing)], found[-2], found[-1]
            return
        if self._file is None:
            self._file = self._counted()
        self._file.seek(0)
        width, rest = len(self.packing) + 1, np.zeros((0, len(self.packing) + 1), dtype=np.int64)
        while len(read := np.fromfile(self._file, dtype=np.int64, count=rows_at_once() * width)):
            look()
            table = np.concatenate((rest, read.reshape(-1, width)))
            begins = self._begins(table)
            rest = table[begins[-1] :]
            if begins[-1]:
                yield self._table(table[: begins[-1]])
        yield self._table(rest)

    def _table(self, rows: Integers) -> Table:
        *keys, many = (np.ascontiguousarray(rows[:, at]) for at in range(rows.shape[1]))
        return self.packing, tuple(keys), many, None

    def _stand_ins(self) -> Numbers | None:
        """One group for all that are alike, if the engine finds them."""
        if not self._asked:
            quasi, values = self.apart
            with self._rows(self.of.engine, (*quasi, *values)) as query:
                names = [f"k{at}" for at in range(len(quasi) + len(values))]
                self._alike = self.of.engine.alike(
                    query, names[: len(quasi)], names[len(quasi) :], memory.allowed() // 2 // CELL
                )
            self._asked = True
        return self._alike

    def _begins(self, table: Integers) -> Integers:
        """The rows with which a group begins."""
        new = np.zeros(len(table), dtype=bool)
        new[0] = True
        for i, key in enumerate(self.packing):
            stride = prod(self.sizes[name] for name in key if name in self.of.sensitive)
            if any(name in self.levels for name in key):
                labels = table[:, i] // stride
                new[1:] |= labels[1:] != labels[:-1]
        return np.flatnonzero(new)

    def _counted(self) -> IO[bytes]:
        """Have the engine count the cells, and write them to a file that nobody else can open."""
        engine, table = self.of.engine, self.of.table
        columns = (*self.of.quasi, *self.of.sensitive)
        single = (
            engine.in_process
            and all(level.is_identity for level in self.levels.values())
            and seem_different(engine, table, columns, self.of.rows)
        )
        outputs = [f"k{at}" for at in range(len(self.packing))]
        file = tempfile.TemporaryFile(prefix="tacit-")  # noqa: SIM115, it is kept for all checks
        with self._rows(engine, self.packing) as rows:
            query = shapes.sorted_rows(rows, outputs) if single else shapes.grouped(rows, outputs)
            for found in engine.parts(query, rows_at_once()):
                look()
                ones = [np.ones(len(found[0]), dtype=np.int64)] if single else []
                np.stack((*found, *ones), axis=1).tofile(file)
        return file

    @contextmanager
    def _rows(self, engine: Engine, packing: Sequence[Sequence[str]]) -> Iterator[exp.Select]:
        """Every row of the table as its labels, packed, to select from."""
        raised = {name: one for name, one in self.levels.items() if not one.is_identity}
        relations = {name: f"tacit level {at}" for at, name in enumerate(raised)}
        for name, relation in relations.items():
            numbers = raised[name].codes[:-1].astype(np.int64)
            engine.put_map(relation, {"code": np.arange(len(numbers)), "number": numbers})
        try:
            yield shapes_coded.levelled_rows(
                self.of.table,
                self.sizes,
                keys=packing,
                levels={
                    name: (relation, int(raised[name].codes[-1]))
                    for name, relation in relations.items()
                },
                collations=engine.collations(self.of.table),
            )
        finally:
            for relation in relations.values():
                engine.drop_map(relation)


def first_codes(level: HierarchyLevel) -> Integers:
    """For each label of a level the first value's code that it hides."""
    found = np.zeros(len(level.labels), dtype=np.int64)
    found[level.codes[::-1]] = np.arange(len(level.codes))[::-1]
    return found


class Fold:
    """Groups that stand for all that were added: those that may be named, and the first few of each
    kind, of which the last stands for the others.
    """

    def __init__(self, copies: int) -> None:
        self.copies = copies
        self._bases: list[Counts] = []
        # by part, the kinds of the groups, or for how many one stands that is named
        self._kept: list[list[tuple[Any, ...] | int]] = []
        self._many: dict[tuple[Any, ...], int] = {}
        self._shown: dict[tuple[Any, ...], int] = {}

    def add(self, groups: Groups, told: GroupTelling | None, times: Integers | None = None) -> None:
        """Look at some more groups, each of which may stand for others already; `times` has for
        each combination of the base for how many its group does.
        """
        owner = np.searchsorted(groups.keys, groups.key_of_row)
        many = np.ones(len(groups), dtype=np.int64)
        if times is not None:
            many[owner] = times
        named = np.zeros(len(groups), dtype=bool)
        if told is not None:
            named[list(told.named)] = True
        kept: dict[int, tuple[Any, ...] | int] = {
            number: int(many[number]) for number in np.flatnonzero(named).tolist()
        }
        for kind, members in kinds(
            groups, np.flatnonzero(~named), None if told is None else told.alike
        ):
            self._many[kind] = self._many.get(kind, 0) + int(many[members].sum())
            more = members[: self.copies - self._shown.get(kind, 0)]
            if len(more):
                self._shown[kind] = self._shown.get(kind, 0) + len(more)
                kept |= dict.fromkeys(more.tolist(), kind)
        if not kept:
            return
        chosen = np.zeros(len(groups), dtype=bool)
        chosen[list(kept)] = True
        self._bases.append(groups.base.only(np.flatnonzero(chosen[owner])))
        self._kept.append([kept[number] for number in sorted(kept)])
        if len(self._many) + sum(map(len, self._kept)) > MOST_KEPT:
            raise too_large()

    def base(self) -> Counts:
        """The cells of the groups that are left."""
        first = self._bases[0]
        return replace(
            first,
            occurrences=np.concatenate([one.occurrences for one in self._bases]),
            recoded={
                name: np.concatenate([one.recoded[name] for one in self._bases])
                for name in first.recoded
            },
        )

    def times(self) -> Integers:
        """For how many groups each of them stands, in order."""
        times: list[int] = []
        last: dict[tuple[Any, ...], int] = {}
        for kind in (kind for part in self._kept for kind in part):
            if isinstance(kind, tuple):
                last[kind] = len(times)
            times.append(1 if isinstance(kind, tuple) else kind)
        for one, place in last.items():
            times[place] += self._many[one] - self._shown[one]
        return np.array(times, dtype=np.int64)


def kinds(
    groups: Groups, numbers: Integers, alike: Sequence[Integers | Mask] | None
) -> Iterator[tuple[tuple[Any, ...], Integers]]:
    """Some groups by what counts: the numbers that say it, and the groups that have them, in order.
    Where nothing is said it is how many people there are, and how many have which value.
    """
    if alike is not None:
        yield from equal([one[numbers] for one in alike], numbers)
        return
    lengths = np.diff(groups.starts)[numbers] if len(groups.starts) else 0 * numbers
    for length in np.unique(lengths).tolist():
        chosen = numbers[lengths == length]
        columns = [groups.sizes[chosen]]
        if length:
            span = groups.starts[chosen][:, None] + np.arange(length)
            columns += [*groups.values[span].T, *groups.counts[span].T]
        yield from equal(columns, chosen)


def equal(columns: Sequence[Any], numbers: Integers) -> Iterator[tuple[tuple[Any, ...], Integers]]:
    """Things that have equal numbers in all columns, together."""
    if not len(numbers):
        return
    whole = [np.asarray(one, dtype=np.int64) for one in columns]
    key, _ = pack_codes(
        [one - one.min() for one in whole],
        [int(one.max() - one.min()) + 1 for one in whole],
        len(numbers),
    )
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.append(True, key[order][1:] != key[order][:-1]))
    for start, stop in zip(begins.tolist(), [*begins[1:].tolist(), len(order)], strict=True):
        members = order[start:stop]
        yield tuple(int(one[members[0]]) for one in whole), numbers[members]
