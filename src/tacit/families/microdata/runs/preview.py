"""Preview: rows of a table beside what a release would show of them, page by page and before
anything is written.

For the owner's eyes: the rows stand in the table's own order, in which nobody may get the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from tacit.engines.base import Engine
from tacit.engines.sql import shapes
from tacit.errors import InputError
from tacit.families.microdata.fused_columns import value_in
from tacit.families.microdata.hierarchy import HierarchyLevel
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.reading.declared_distances import parts_of
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.recoded import Recoded
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.release_statement import columns_of, left_out, text
from tacit.families.microdata.runs.chosen_levels import not_at, picked_node
from tacit.families.microdata.runs.task import task_of

Cells = tuple[str | None, ...]
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A row of the table, and what the release shows of it: None where it is dropped.

    `one_of_several`: rows that are alike go to several groups, dealt at random;
    what one of them gets is shown.
    """

    before: Cells
    after: Cells | None
    one_of_several: bool = False


class Showing(Protocol):
    """What a release shows of rows in its quasi-identifiers."""

    def show(self, rows: Sequence[Row]) -> list[tuple[Mapping[str, str | None] | None, bool]]:
        """For each row its labels by column, None where it is dropped;
        and whether others of its like get others.
        """


@dataclass(frozen=True, eq=False)
class Lens:
    """A release as it would be, through which the rows of the table can be looked at."""

    raw: MicrodataQuestion
    showing: Showing

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.raw.base.rows

    @property
    def columns(self) -> list[str]:
        """The columns of the release."""
        return columns_of(self.raw)

    def heads(self, engine: Engine) -> list[str]:
        """The columns of the table: who it is about, then those of the release, then others that
        are not released.
        """
        raw, released = self.raw, self.columns
        others = [name for name in engine.columns(raw.table.name) if name not in released]
        first = [name for name in others if name in (*raw.table.identifiers, *raw.table.person)]
        return [*first, *released, *(name for name in others if name not in first)]

    def page(
        self,
        engine: Engine,
        offset: int,
        limit: int,
        *,
        sort: str | None = None,
        descending: bool = False,
    ) -> list[PreviewRow]:
        """Some rows of the table, in its order or by a column;
        values stand in the order of `heads`, labels in that of `columns`.
        """
        names = self.heads(engine)
        order = [sort] if sort in names else steady(self.raw, engine)
        query = shapes.page(
            self.raw.table.name,
            names,
            by=order,
            descending=descending and sort in names,
            collations=engine.collations(self.raw.table.name),
            offset=offset,
            limit=limit,
        )
        found = [dict(zip(names, row, strict=True)) for row in engine.rows(query)]
        return [
            self._line(row, labels, several)
            for row, (labels, several) in zip(found, self.showing.show(found), strict=True)
        ]

    def _line(self, row: Row, labels: Mapping[str, str | None] | None, several: bool) -> PreviewRow:
        before = tuple(text(value) for value in row.values())
        after = (
            None
            if labels is None
            else tuple(labels[name] if name in labels else text(row[name]) for name in self.columns)
        )
        return PreviewRow(before, after, several)


def lens_at(
    source: MicrodataSource,
    release: str,
    levels: Mapping[str, int],
    *,
    options: Mapping[str, Any] | None = None,
) -> Lens:
    """The release at some levels; where rows may be dropped, without those that must go for its
    checks to hold.

    `options` are those of `anonymize`. Levels at which the checks do not hold even so are an
    InputError: where nothing would be released, it cannot be said what is dropped. Without
    suppression the checks are not asked.
    """
    task = task_of(
        source.plan, release, source, options or {}, aware=False, relaxed=False, seconds=None
    )
    node = picked_node(task, levels)
    lattice = task.lattice()
    whole = {
        name: task.raw.hierarchies[name].level(level) for name, level in lattice.named(node).items()
    }
    if not task.suppress:
        return Lens(task.raw, ByColumn(task.raw, whole, (), frozenset()))
    judge = NodeJudge(task.raw, task.required, lattice, suppress=task.suppress)
    if not judge.holds(node):
        raise InputError(
            f"{not_at(task, judge, judge.outcome(node)).because}.",
            hint="Pick one of the solutions.",
        )
    return lens_of(judge.recoded(node))


def lens_of(recoded: Recoded) -> Lens:
    """A release that was found."""
    raw, dropped = recoded.raw, left_out(recoded)
    if dropped is None:
        return Lens(raw, ByCell(recoded))
    levels = {
        name: raw.hierarchies[name].level((recoded.generalization or {})[name])
        for name in raw.quasi
    }
    gone = frozenset(zip(*(codes.tolist() for codes in dropped.values()), strict=True))
    return Lens(raw, ByColumn(raw, levels, tuple(dropped), gone))


@dataclass(frozen=True, eq=False)
class ByColumn:
    """Whole columns are recoded: each value has its label;
    groups in `dropped` (numbers of labels in `names`) are left out.
    """

    raw: MicrodataQuestion
    levels: Mapping[str, HierarchyLevel]
    names: tuple[str, ...]
    dropped: frozenset[tuple[int, ...]]

    @cached_property
    def _numbers(self) -> dict[str, dict[Any, int]]:
        """The number of each value's label."""
        return {
            name: dict(
                zip((*self.raw.base.dictionaries[name], None), level.codes.tolist(), strict=True)
            )
            for name, level in self.levels.items()
        }

    def show(self, rows: Sequence[Row]) -> list[tuple[Mapping[str, str | None] | None, bool]]:
        """For each row its labels."""
        found: list[tuple[Mapping[str, str | None] | None, bool]] = []
        for row in rows:
            numbers = {name: self._numbers[name][row[name]] for name in self.levels}
            gone = (
                bool(self.dropped) and tuple(numbers[name] for name in self.names) in self.dropped
            )
            found.append(
                (
                    None
                    if gone
                    else {
                        name: text(self.levels[name].labels[number])
                        for name, number in numbers.items()
                    },
                    False,
                )
            )
        return found


@dataclass(frozen=True, eq=False)
class ByCell:
    """Each group has labels of its own: a row is looked up by its combination of values."""

    recoded: Recoded

    @property
    def _columns(self) -> tuple[str, ...]:
        return (*self.recoded.raw.quasi, *self.recoded.raw.sensitive)

    @cached_property
    def _codes(self) -> dict[str, dict[Any, int]]:
        """The code of each value, as it stands in the table;
        spellings that count as one value have one code.
        """
        base, found = self.recoded.raw.base, {}
        for name in self._columns:
            values = base.dictionaries[name]
            found[name] = {
                raw: code
                for code, value in enumerate(values)
                for raw in base.raw.get(name, {}).get(value, (value,))
            }
        return found

    @cached_property
    def _by_row(self) -> tuple[Any, Any]:
        """The cells in the order of their combinations, and these."""
        order = np.argsort(self.recoded.rows, kind="stable")
        return order, self.recoded.rows[order]

    def show(self, rows: Sequence[Row]) -> list[tuple[Mapping[str, str | None] | None, bool]]:
        """For each row the labels of its group."""
        wanted = [self._key(row) for row in rows]
        places = self._places(wanted)
        return [self._shown(places.get(key, [])) for key in wanted]

    def _key(self, row: Row) -> tuple[int, ...]:
        base, table = self.recoded.raw.base, self.recoded.raw.table
        parts = parts_of(table, row)
        return tuple(
            self._codes[name].get(value_in(row, name, parts), len(base.dictionaries[name]))
            for name in self._columns
        )

    def _places(self, wanted: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], list[int]]:
        """Where some combinations stand among all."""
        base = self.recoded.raw.base
        some = np.arange(len(base))
        for name, codes in zip(self._columns, zip(*wanted, strict=True), strict=True):
            some = some[np.isin(base.codes(name)[some], np.unique(codes))]
        found: dict[tuple[int, ...], list[int]] = {}
        for place, key in zip(
            some.tolist(),
            zip(*(base.codes(name)[some].tolist() for name in self._columns), strict=True),
            strict=True,
        ):
            found.setdefault(key, []).append(place)
        return found

    def _shown(self, places: Sequence[int]) -> tuple[Mapping[str, str | None] | None, bool]:
        recoded = self.recoded
        order, rows = self._by_row
        cells = [
            cell
            for place in places
            for cell in order[slice(*np.searchsorted(rows, [place, place + 1]))].tolist()
        ]
        ways = list(
            dict.fromkeys(
                tuple(int(recoded.codes[name][cell]) for name in recoded.raw.quasi)
                for cell in cells
            )
        )
        some_go = (
            int(recoded.counts[cells].sum()) < int(recoded.raw.base.occurrences[list(places)].sum())
            if cells
            else False
        )
        if not ways:
            return None, False
        labels = {
            name: text(recoded.labels[name][code])
            for name, code in zip(recoded.raw.quasi, ways[0], strict=True)
        }
        return labels, some_go or len(ways) > 1


def steady(raw: MicrodataQuestion, engine: Engine) -> list[str]:
    """The columns that keep rows in one order from page to page;
    none where the engine keeps them in the order of the file.
    """
    if engine.dialect == "duckdb":
        return []
    table = raw.table
    return list(table.keys[0] if table.keys else table.person or columns_of(raw))
