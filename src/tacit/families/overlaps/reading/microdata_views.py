"""Microdata as a view: it shows everybody's private value beside what
levels make of the quasi-identifiers.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any

from sqlglot import exp

from tacit.engines.sql import shapes, shapes_coded, shapes_stored
from tacit.errors import DataError, did_you_mean
from tacit.families.microdata.hierarchy import Hierarchy, HierarchyLevel, value_text
from tacit.families.microdata.reading.source import read_hierarchy
from tacit.families.microdata.repair.release_statement import codes_and_labels, missing_label
from tacit.families.overlaps.reading.answer_rows import FileRows, cell_key, read_answer
from tacit.families.overlaps.reading.view_tables import KeyedTable
from tacit.families.overlaps.reading.views import OverlapView, ShownColumn
from tacit.model.release import Microdata
from tacit.plan.plan import Plan


class MicrodataViews:
    """Releases of one table that are microdata. A level's labels are handed to the engine once."""

    def __init__(self, plan: Plan, people: KeyedTable) -> None:
        self.plan = plan
        self.people = people
        self._trees: dict[str, Hierarchy] = {}
        self._maps: dict[tuple[str, int], str] = {}

    def read(self, release: Microdata) -> OverlapView:
        """A release as a view: of the levels that the plan names, or of those that a file made
        by someone else fits.
        """
        levels = self._found(release) if release.file else self._named(release)
        columns: list[ShownColumn] = []
        labels: dict[str, tuple[exp.Select, exp.Expr]] = {}
        for name in (
            levels
            if release.file
            else (*levels, self.people.sensitive, *self.people.table.insensitive)
        ):
            if name == self.people.sensitive:
                columns.append(ShownColumn(name))
                continue
            shown, joined = self._shown(name, levels.get(name, 0))
            columns.append(shown)
            labels |= joined
        return OverlapView(release.name, tuple(columns), labels=labels, file=release.file)

    def _named(self, release: Microdata) -> dict[str, int]:
        """The level of each quasi-identifier as the plan has it."""
        table = self.people.table
        for role, names in (
            ("quasi-identifiers", table.quasi_identifiers),
            ("insensitive", table.insensitive),
        ):
            for at, name in enumerate(names):
                if name not in self.people.native:
                    raise DataError(
                        f"table {table.name} has no column {name!r}.",
                        hint=did_you_mean(name, self.people.native),
                        mark=self.plan.mark("tables", table.name, role, at),
                    )
        levels = {name: release.generalization.get(name, 0) for name in table.quasi_identifiers}
        for name, height in levels.items():
            try:
                self._tree(name).level(height)
            except DataError as error:
                raise error.at(
                    self.plan.mark("releases", release.name, "generalization", name)
                ) from None
        return levels

    # -- what a level shows ------------------------------------------------------------------------

    def _shown(
        self, name: str, height: int
    ) -> tuple[ShownColumn, dict[str, tuple[exp.Select, exp.Expr]]]:
        level = self._level(name, height)
        if level is None:
            return ShownColumn(
                name,
                shapes.column(name, "t"),
                self.people.engine.meaning(self.people.native[name]).kind,
            ), {}
        if len(level.labels) == 1:  # suppressed, also where a value is missing
            return ShownColumn(name, shapes.literal(value_text(level.labels[0])), "text"), {}
        alias = self._put(name, height, level)
        missing, _ = missing_label(level)
        label = shapes_stored.label_of(alias, self.people.read(name), missing)
        relation = shapes_coded.labelled(
            self.people.name,
            name,
            self._relation(name, height),
            self.people.engine.collations(self.people.name),
        )
        return ShownColumn(name, label, "text"), {alias: (relation, self.people.read(name))}

    def _level(self, name: str, height: int) -> HierarchyLevel | None:
        """A level of a column; None where it shows the values as they are."""
        if height == 0:
            return None
        tree = self._tree(name)
        level = tree.level(height)
        return None if level.is_identity and level.labels == (*tree.values, None) else level

    def _put(self, name: str, height: int, level: HierarchyLevel) -> str:
        if (name, height) not in self._maps:
            alias = f"d{len(self._maps)}"
            self.people.engine.drop_map(
                self._relation(name, height)
            )  # of another question, which had the same
            self.people.engine.put_map(
                self._relation(name, height), codes_and_labels(level, shown=True)
            )
            self._maps[name, height] = alias
        return self._maps[name, height]

    def _relation(self, name: str, height: int) -> str:
        """The name under which the engine has a level's labels;
        a dot would be read as a schema's.
        """
        place = list(self.people.native).index(name)
        return f"tacit labels {place} {height} of {self.people.name.replace('.', ' ')}"

    def _tree(self, name: str) -> Hierarchy:
        if name not in self._trees:
            table, engine = self.people.table, self.people.engine
            query = shapes.dictionary(table.name, [name], engine.collations(table.name))
            values = tuple(row[0] for row in engine.rows(query) if row[0] is not None)
            self._trees[name] = read_hierarchy(table, name, values, self.plan)
        return self._trees[name]

    # -- microdata from elsewhere ------------------------------------------------------------------

    def _found(self, release: Microdata) -> dict[str, int]:
        """The level of each column of a file, found by its labels; the private column has none."""
        assert release.file is not None
        mark = self.plan.mark("releases", release.name, "file")
        given = read_answer(self.plan.folder, release.file)
        if given.rows != self._rows:
            raise DataError(
                f"{release.file} has {given.rows:,} rows, and table {self.people.name} "
                f"{self._rows:,}: who was left out is not known.",
                hint="Write it as a view that says in WHERE who is in it, with answer: FILE.",
                mark=mark,
            )
        levels: dict[str, int] = {}
        for at, name in enumerate(given.header):
            if name not in self.people.columns:
                hint = did_you_mean(name, self.people.columns)
                raise DataError(
                    f"{release.file} has a column {name!r}, and table {self.people.name} has not.",
                    hint=hint,
                    mark=mark,
                )
            if name in self.people.table.identifiers:
                raise DataError(
                    f"{release.file} contains {name!r}, an identifier.",
                    hint="Remove the column before you release it.",
                    mark=mark,
                )
            levels[name] = (
                0 if name == self.people.sensitive else self._fitting(name, given, at, release.name)
            )
        return levels

    @cached_property
    def _rows(self) -> int:
        return int(self.people.engine.value(shapes.row_count(self.people.name)))

    def _fitting(self, name: str, given: FileRows, at: int, release: str) -> int:
        """The lowest level that shows as many people with each label as the file has."""
        engine = self.people.engine
        query = shapes.tallied(shapes.columns_of(self.people.name, [name]), [name])
        people: dict[Any, int] = dict(engine.rows(query))
        kind = engine.meaning(self.people.native[name]).kind
        tree = self._tree(name)
        heights = range(tree.height + 1)
        labels = [
            dict(zip((*tree.values, None), tree.level(height).by_value(), strict=True))
            for height in heights
        ]
        for height in heights:
            wanted: Counter[Any] = Counter()
            for value, many in people.items():
                label = labels[height][value]
                wanted[
                    cell_key(
                        None if label is None else value_text(label),
                        kind if height == 0 else "text",
                    )
                ] += many
            found: Counter[Any] = Counter()
            for cells, many in given.cells.items():
                found[cell_key(cells[at], kind if height == 0 else "text")] += many
            if wanted == found:
                return height
        known = {value_text(label) for one in labels for label in one.values() if label is not None}
        strange = sorted(
            {cells[at] for cells in given.cells if cells[at] is not None and cells[at] not in known}
        )
        why = (
            f"{strange[0]!r} is a label of no level"
            if strange
            else "no level has these labels as often"
        )
        raise DataError(
            f"{given.file} does not show {name} as a level of its hierarchy would: {why}.",
            hint=f"Describe how {name} was generalized under hierarchies of {self.people.name}.",
            mark=self.plan.mark("releases", release, "file"),
        )
