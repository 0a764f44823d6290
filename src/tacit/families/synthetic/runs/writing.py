"""Writing: the output from one part for every batch, in random order; a file that is whole or not there at all, or a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from tacit.engines import output as place
from tacit.engines.base import SQL_TYPES
from tacit.engines.shapes import column, table_of
from tacit.errors import EngineError
from tacit.jobs import Job
from tacit.synthesizing.batches import Batch
from tacit.synthesizing.parts import COLUMNS, Folder, Part, Store, joined, with_word
from tacit.tables.hierarchy import value_text

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.engines.duckdb import DuckDB
    from tacit.engines.output import Relation

ROWS, GROUPS, VALUES = "tacit_rows", "tacit_groups", "tacit_values"
MEMORY = "1GB"  # for ordering; beyond that DuckDB uses the folder of the parts


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of the output: their names (no `count`: one row for each person), kinds, and the labels that parts have the places of."""

    group: str
    value: str
    count: str | None
    groups: Sequence[Any]
    values: Sequence[Any]
    group_kind: str = "text"
    value_kind: str = "text"

    @property
    def names(self) -> list[str]:
        """The columns in their order."""
        return [self.group, self.value, *([self.count] if self.count is not None else [])]


def publish(
    folder: Folder,
    batches: Sequence[Batch],
    shape: Shape,
    engine: Engine,
    output: str,
    *,
    replace: bool = False,
    job: Job,
) -> int:
    """Write the output from the parts of all batches; how many rows it has."""
    path = place.file_of(output)
    with going_on():
        if path is None:
            rows = put_rows(engine, folder, batches)
            try:
                write(engine, shape, output, rows, typed=True, replace=replace)
            finally:
                for name in (ROWS, GROUPS, VALUES):
                    engine.drop_map(name)
            return rows
        from tacit.engines.duckdb import DuckDB
        from tacit.engines.duckdb_words import quoted

        with DuckDB() as writer:
            writer.connection.execute(
                f"SET temp_directory = {quoted(folder.path / 'spill')}; SET memory_limit = '{MEMORY}'"
            )
            rows = gather(writer, folder, batches, job)
            job.step("writing the output", 0.97)
            write(writer, shape, output, rows, typed=place.format_of(path) != "csv")
        return rows


@contextmanager
def going_on() -> Iterator[None]:
    """Whatever is refused here, what is drawn is not lost."""
    try:
        yield
    except EngineError as error:
        raise with_word(error) from None


def write(
    writer: Engine, shape: Shape, output: str, rows: int, *, typed: bool, replace: bool = False
) -> None:
    """Join the rows with their labels and save them."""
    writer.put_map(GROUPS, labelled(shape.groups))
    writer.put_map(VALUES, labelled(shape.values))
    writer.save(ordered(shape, typed=typed), output, rows=rows, replace=replace)


def labelled(labels: Sequence[Any]) -> dict[str, Relation]:
    """Labels as text, by their place."""
    return {
        "number": np.arange(len(labels), dtype=np.int64),
        "label": [None if one is None else value_text(one) for one in labels],
    }


def ordered(shape: Shape, *, typed: bool) -> exp.Select:
    """The rows of the output, in the random order that was drawn with them.

    >>> ordered(Shape("work", "home", None, [], []), typed=False).sql()[:58]
    'SELECT "tacit_groups"."label" AS "work", "tacit_values"."l'
    """

    def shown(relation: str, name: str, kind: str) -> exp.Expr:
        label: exp.Expr = column("label", relation)
        if typed and kind != "text":
            label = exp.cast(label, SQL_TYPES.get(kind, "TEXT"))
        return exp.alias_(label, name, quoted=True)

    columns = [
        shown(GROUPS, shape.group, shape.group_kind),
        shown(VALUES, shape.value, shape.value_kind),
    ]
    if shape.count is not None:
        columns.append(exp.alias_(column("count", ROWS), shape.count, quoted=True))
    return (
        exp.select(*columns)
        .from_(table_of(ROWS))
        .join(table_of(GROUPS), on=column("group", ROWS).eq(column("number", GROUPS)))
        .join(table_of(VALUES), on=column("value", ROWS).eq(column("number", VALUES)))
        .order_by(*(column(name, ROWS) for name in ("order", "group", "value")))
    )


def put_rows(engine: Engine, folder: Folder, batches: Sequence[Batch]) -> int:
    """Hand the rows of all parts to the source."""
    parts = list(read(folder, batches))
    engine.put_map(
        ROWS, {name: joined([getattr(part, name) for part in parts]) for name in COLUMNS}
    )
    return sum(part.rows for part in parts)


def gather(writer: DuckDB, store: Store, batches: Sequence[Batch], job: Job) -> int:
    """Hand the rows of all parts to DuckDB, one after the other."""
    import duckdb

    connection, rows = writer.connection, 0
    try:
        connection.execute(
            f"CREATE OR REPLACE TABLE {ROWS} ({', '.join(f'{chr(34)}{name}{chr(34)} BIGINT' for name in COLUMNS)})"
        )
        for number, part in enumerate(read(store, batches)):
            connection.register("part", {name: getattr(part, name) for name in COLUMNS})
            connection.execute(f"INSERT INTO {ROWS} FROM part")
            connection.unregister("part")
            rows += part.rows
            job.step("putting the parts together", 0.92 + 0.05 * number / len(batches))
    except duckdb.Error as error:
        from tacit.engines.duckdb_words import not_written

        raise not_written(error, store.output) from None
    return rows


def read(store: Store, batches: Sequence[Batch]) -> Iterator[Part]:
    """The parts of all batches."""
    for batch in batches:
        part = store.kept(batch)
        if part is None:
            raise EngineError(
                f"a part of {store.output} was there and is not any more: nothing was written.",
                hint="Run the command again; it is drawn then.",
            )
        yield part
