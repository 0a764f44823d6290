"""The data behind questions of view safety: rows, with each value as its column's type has it,
and answers from files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tacit.engines.base import Engine
from tacit.engines.files import csv_shape, read_rows
from tacit.errors import DataError, EngineError, Mark
from tacit.families.queries.dependency import Dependency
from tacit.families.queries.facts import Fact
from tacit.families.queries.kinds import Clash, fitted
from tacit.families.queries.query import Constant, Query, Relation, Variable
from tacit.families.queries.reading.readings import Readings
from tacit.families.words import listed
from tacit.families.worlds.possible_tuples import MOST_TUPLES
from tacit.families.worlds.world_setting import Row
from tacit.model.release import View
from tacit.model.schema import Table
from tacit.plan.known_tables import has_file, is_folder
from tacit.plan.plan import Plan


class ViewData:
    """The tables of a plan. Each is read once, and only when it is asked for."""

    def __init__(self, plan: Plan, readings: Readings, engine: Callable[[], Engine]) -> None:
        self.plan = plan
        self.readings = readings
        self._engine = engine
        self._rows: dict[str, tuple[Fact, ...]] = {}

    def is_empty(self, table: Table) -> bool:
        """Are only its columns known?"""
        return (
            table.rows is None
            and is_folder(self.plan)
            and bool(table.columns)
            and not has_file(self.plan, table)
        )

    def facts(self, name: str) -> tuple[Fact, ...]:
        """The rows of a table, each once, checked against its domains."""
        if name not in self._rows:
            table, relation = self.plan.tables[name], self.readings.relations()[name]
            rows = table.rows if table.rows is not None else self._loaded(table, relation)
            order = (
                [list(table.columns).index(column) for column in relation.columns]
                if table.rows is not None
                else None
            )
            fitted_rows = [
                plain(row if order is None else [row[at] for at in order], relation) for row in rows
            ]
            self._check_values(relation, fitted_rows)
            self._rows[name] = tuple(
                Fact(name, row)
                for row in {tuple(map(Constant, row)): row for row in fitted_rows}.values()
            )
        return self._rows[name]

    def _loaded(self, table: Table, relation: Relation) -> list[tuple[Any, ...]]:
        from tacit.engines.sql import shapes

        engine = self._engine()
        try:
            engine.attach(table)
            engine.refuse_losses(table.name, relation.columns)
        except (DataError, EngineError) as error:
            raise error.at(self.plan.mark("tables", table.name)) from None
        many = engine.value(shapes.row_count(table.name))
        if many > MOST_TUPLES:
            raise DataError(
                f"table {table.name!r} has {many:,} rows, and view safety looks at up to "
                f"{MOST_TUPLES:,} possible rows.",
                hint="Ask about a part of it, or ask perfect-privacy, which needs no rows.",
                mark=self.plan.mark("tables", table.name),
            )
        return list(engine.rows(shapes.distinct_rows(table.name, relation.columns)))

    def _check_values(self, relation: Relation, rows: Sequence[Row]) -> None:
        """Every value is one of its column's domain, and is there unless the column is nullable."""
        domains = {
            at: set(map(Constant, relation.domains[name]))
            for at, name in enumerate(relation.columns)
            if name in relation.domains
        }
        for number, row in enumerate(rows, 1):
            for at, value in enumerate(row):
                column = relation.columns[at]
                if value is None and column not in relation.nullable:
                    raise DataError(
                        f"row {number} of table {relation.name!r} has no {column}.",
                        hint=f"Fill it in, or say nullable: [{column}].",
                        mark=self.plan.mark("tables", relation.name),
                    )
                if at in domains and value is not None and Constant(value) not in domains[at]:
                    raise DataError(
                        f"row {number} of table {relation.name!r} has {value!r} in {column}, which "
                        "its domain does not have.",
                        hint="Add the value to the domain, or correct the row.",
                        mark=self.plan.mark("tables", relation.name, "domains", column),
                    )

    def answer(self, release: View, query: Query) -> frozenset[Row]:
        """The answer of a view, from its file."""
        assert release.answer is not None
        path, relations = self.plan.folder / release.answer, self.readings.relations()
        shape = csv_shape(path, release.answer)
        wide = len(query.parts[0].head) if query.parts else len(shape.header)
        if len(shape.header) != wide and wide:
            raise DataError(
                f"{release.answer} has {len(shape.header)} columns, and {release.name!r} "
                f"has {wide}.",
                hint="Write a header and one line per row of the view.",
                mark=self.plan.mark("releases", release.name, "answer"),
            )
        kinds = [head_kind(query, at, relations) for at in range(wide)]
        found = []
        for line, cells in read_rows(path, release.answer)[1:]:
            if len(cells) != len(shape.header):
                raise DataError(
                    f"{release.answer}, line {line}: {len(cells)} cells for "
                    f"{len(shape.header)} columns.",
                    hint="Write one value per column; quote commas.",
                )
            try:
                found.append(
                    tuple(
                        fitted(cell, kind)[1] if cell != "" else None
                        for cell, kind in zip(cells, kinds, strict=False)
                    )
                )
            except Clash as clash:
                raise DataError(
                    f"{release.answer}, line {line}: {clash}.",
                    hint="Write a value of the column's type.",
                ) from None
        return frozenset(found) if wide else frozenset({()} if found else ())


def violated(
    dependency: Dependency, broken: Sequence[Sequence[Fact]], mark: Mark | None
) -> DataError:
    """The data do not satisfy a constraint: which rows."""
    rows = [listed([str(fact) for fact in facts]) or "there is no such row" for facts in broken[:3]]
    more = " and more" if len(broken) > 3 else ""
    return DataError(
        f"the data violate {dependency.text!r}: {'; '.join(rows)}{more}.",
        hint="Correct the rows, or the constraint.",
        mark=mark,
    )


def plain(row: Sequence[Any], relation: Relation) -> Row:
    """A row with each value as its column's type has it."""
    found = []
    for column, value in zip(relation.columns, row, strict=True):
        try:
            fits, fit = fitted(value, relation.kinds.get(column))
        except Clash as clash:
            raise DataError(
                f"table {relation.name!r}: {clash}, and column {column} is "
                f"{relation.kinds.get(column)}."
            ) from None
        if not fits:
            kind = relation.kinds.get(column)
            hint = (
                f"Put it in quotes: '{value}'."
                if kind == "text"
                else f"Write a value that is {kind}."
            )
            raise DataError(
                f"table {relation.name!r} has {value!r} in {column}, which is {kind}.", hint=hint
            )
        found.append(fit)
    return tuple(found)


def head_kind(query: Query, at: int, relations: Mapping[str, Relation]) -> str | None:
    """The type of a column of a view, where a table's column tells."""
    for part in query.parts:
        for atom in part.atoms:
            for column, term in zip(relations[atom.relation].columns, atom.terms, strict=True):
                if term == part.head[at] and isinstance(term, Variable):
                    return relations[atom.relation].kinds.get(column)
    return None
