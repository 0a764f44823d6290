"""Put small tables to Tacit: rows as dicts in, questions and verdicts out.
One DuckDB serves them all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tacit.engines.duckdb.engine import DuckDB
from tacit.families.microdata.counts import Counts, pack_columns
from tacit.families.microdata.hierarchy import HierarchyLevel, hierarchy
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.reading.source import CountedTable, count_table, nobody
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
    Table,
)
from tacit.plan.plan import Plan

Row = Mapping[str, Any]


class Desk:
    """Where tables are handed in. `folder` takes the hierarchy files."""

    def __init__(self, folder: Path) -> None:
        self.engine = DuckDB(folder=folder)
        self.folder = folder
        self.plan = Plan("tests", folder, mark=lambda *path: None)
        self.numbers = itertools.count()

    @contextmanager
    def counted(
        self,
        rows: Sequence[Row],
        *,
        quasi: Sequence[str],
        sensitive: Sequence[str] = (),
        person: Sequence[str] = (),
        hierarchies: Mapping[str, Any] | None = None,
        types: Mapping[str, Any] | None = None,
        distances: Mapping[str, Any] | None = None,
        declared: Mapping[str, Any] | None = None,
    ) -> Iterator[CountedTable]:
        """A table, counted by the engine; it is dropped again at the end.
        `declared` is what else `Table` takes.
        """
        name = f"t{next(self.numbers)}"
        table = self.described(
            name,
            rows,
            quasi=quasi,
            sensitive=sensitive,
            person=person,
            hierarchies=hierarchies,
            types=types,
            distances=distances,
            declared=declared,
        )
        self.engine.attach(table)
        try:
            yield count_table(self.engine, table, self.plan)
        finally:
            self.engine.connection.execute(f'DROP TABLE "{name}"')

    def described(
        self,
        name: str,
        rows: Sequence[Row],
        *,
        quasi: Sequence[str],
        sensitive: Sequence[str] = (),
        person: Sequence[str] = (),
        hierarchies: Mapping[str, Any] | None = None,
        types: Mapping[str, Any] | None = None,
        distances: Mapping[str, Any] | None = None,
        declared: Mapping[str, Any] | None = None,
    ) -> Table:
        """A table with its roles, whose rows stand in the plan."""
        columns = list(rows[0])
        return Table(
            name,
            columns={column: (types or {}).get(column) for column in columns},
            rows=tuple(tuple(row[column] for column in columns) for row in rows),
            person=tuple(person),
            quasi_identifiers=tuple(quasi),
            sensitive=tuple(sensitive),
            hierarchies={
                column: self.hierarchy(f"{name}-{column}.csv", spec)
                for column, spec in (hierarchies or {}).items()
                if spec is not None
            },
            distances=distances or {},
            **(declared or {}),
        )

    def hierarchy(self, file: str, spec: Any) -> HierarchySpec:
        """A hierarchy as a plan writes it; rows of a file are written to one."""
        if spec == "*":
            return FlatHierarchy()
        if "ranges" in spec:
            return RangeHierarchy(tuple(Fraction(width) for width in spec["ranges"]))
        if "dates" in spec:
            return DateHierarchy(tuple(spec["dates"]))
        if "mask" in spec:
            return MaskHierarchy(spec["mask"])
        lines = [";".join([str(value), *steps]) for value, steps in spec["rows"].items()]
        (self.folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return CsvHierarchy(file)


def question(
    counted: CountedTable, levels: Mapping[str, int] | None = None, *, named: bool = True
) -> MicrodataQuestion:
    """The question about one release: every column at its level, absent levels are 0.

    With `named` false nobody is looked up in the table for a witness, which saves a query.
    """
    chosen = levels or {}
    asked = counted.question(
        "release",
        {name: tree.level(chosen.get(name, 0)) for name, tree in counted.hierarchies.items()},
    )
    return asked if named else replace(asked, find=nobody)


def handmade(
    rows: Sequence[Row],
    *,
    weights: Sequence[int] | None = None,
    persons: Sequence[int] | None = None,
) -> Counts:
    """Counts without an engine: one combination for each row, which
    occurs as often as its weight says.
    """
    columns = list(rows[0])
    found = {name: {row[name] for row in rows} - {None} for name in columns}
    dictionaries = {name: tuple(sorted(values)) for name, values in found.items()}
    sizes = {name: len(values) + 1 for name, values in dictionaries.items()}
    packing = pack_columns(sizes)
    keys = []
    for packed in packing:
        key = np.zeros(len(rows), dtype=np.int64)
        for name in packed:
            codes = {value: code for code, value in enumerate((*dictionaries[name], None))}
            key = key * sizes[name] + np.array([codes[row[name]] for row in rows], dtype=np.int64)
        keys.append(key)
    return Counts(
        dictionaries,
        sizes,
        packing,
        tuple(keys),
        np.array(weights or [1] * len(rows), dtype=np.int64),
        None if persons is None else np.array(persons, dtype=np.int64),
        frozenset(name for name in columns if any(row[name] is None for row in rows)),
    )


def as_they_are(base: Counts) -> dict[str, HierarchyLevel]:
    """Level 0 of every column."""
    return {name: hierarchy(name, values).level(0) for name, values in base.dictionaries.items()}
