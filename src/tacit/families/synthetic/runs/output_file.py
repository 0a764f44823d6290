"""Output file: the output from one part for every batch, in random order;
a file that is whole or not there at all, or a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines import output as place
from tacit.engines.sql import shapes_bench
from tacit.engines.sql.shapes_drawn import GROUPS, ROWS, VALUES, OutputShape, ordered
from tacit.errors import EngineError
from tacit.families.microdata.hierarchy import value_text
from tacit.families.synthetic.runs.batch_parts import (
    COLUMNS,
    BatchPart,
    Folder,
    PartStore,
    joined,
    with_word,
)
from tacit.families.synthetic.runs.batches import Batch
from tacit.model.jobs import Job

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.engines.output import Relation

MEMORY = "1GB"  # for ordering; beyond that DuckDB uses the folder of the parts


def publish(
    folder: Folder,
    batches: Sequence[Batch],
    shape: OutputShape,
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
        from tacit.engines.duckdb.engine import DuckDB

        with DuckDB() as writer:
            writer.connection.execute(
                shapes_bench.settings(MEMORY, spill=str(folder.path / "spill"))
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
    writer: Engine,
    shape: OutputShape,
    output: str,
    rows: int,
    *,
    typed: bool,
    replace: bool = False,
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


def put_rows(engine: Engine, folder: Folder, batches: Sequence[Batch]) -> int:
    """Hand the rows of all parts to the source."""
    parts = list(read(folder, batches))
    engine.put_map(
        ROWS, {name: joined([getattr(part, name) for part in parts]) for name in COLUMNS}
    )
    return sum(part.rows for part in parts)


def gather(writer: DuckDB, store: PartStore, batches: Sequence[Batch], job: Job) -> int:
    """Hand the rows of all parts to DuckDB, one after the other."""
    import duckdb

    connection, rows = writer.connection, 0
    try:
        types = dict.fromkeys(COLUMNS, "BIGINT")
        connection.execute(shapes_bench.empty_table(ROWS, types, replace=True))
        for number, part in enumerate(read(store, batches)):
            connection.register("part", {name: getattr(part, name) for name in COLUMNS})
            connection.execute(shapes_bench.rows_from(ROWS, "part"))
            connection.unregister("part")
            rows += part.rows
            job.step("putting the parts together", 0.92 + 0.05 * number / len(batches))
    except duckdb.Error as error:
        from tacit.engines.duckdb.reserved_words import not_written

        raise not_written(error, store.output) from None
    return rows


def read(store: PartStore, batches: Sequence[Batch]) -> Iterator[BatchPart]:
    """The parts of all batches."""
    for batch in batches:
        part = store.kept(batch)
        if part is None:
            raise EngineError(
                f"a part of {store.output} was there and is not any more: nothing was written.",
                hint="Run the command again; it is drawn then.",
            )
        yield part
