"""Answer files: the rows of a CSV or Parquet file that has what was published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tacit.engines.attach import CONVERSIONS
from tacit.engines.files import csv_shape
from tacit.engines.sql import shapes
from tacit.errors import DataError
from tacit.families.release_kind import ReleaseRows
from tacit.model.schema import Table

PARQUET = (".parquet", ".pq")


def read_file(
    path: Path,
    shown: str,
    kinds: Sequence[str | None] = (),
    columns: Sequence[str] = (),
    *,
    guess: bool = False,
) -> ReleaseRows:
    """The rows of a CSV or Parquet file. Cells of CSV are text, unless `kinds` say what those of
    `columns` are, or they are to be guessed.
    """
    from tacit.engines.duckdb.engine import DuckDB

    engine = DuckDB(folder=path.parent)
    if path.suffix.lower() in PARQUET:
        engine.attach(Table("answer", file=path.name))
        header = tuple(engine.native_types("answer"))
        return ReleaseRows(header, engine.rows(shapes.columns_of("answer", header)))
    header = csv_shape(path, shown).header
    if guess:
        engine.attach(Table("answer", file=path.name))
        return ReleaseRows(header, engine.rows(shapes.columns_of("answer", header)))
    engine.attach(Table("answer", file=path.name, columns=dict.fromkeys(header, "text")))
    rows = engine.rows(shapes.columns_of("answer", header))
    if not kinds:
        return ReleaseRows(header, rows)
    if len(kinds) != len(header):
        raise DataError(f"{shown} has {len(header)} columns, and the release has {len(kinds)}.")
    order = in_places(header, columns)
    convert = [CONVERSIONS.get(kinds[at] or "text", str) for at in order]  # type: ignore[call-overload]
    return ReleaseRows(
        header,
        (
            tuple(
                None if cell is None else one(cell) for one, cell in zip(convert, row, strict=True)
            )
            for row in rows
        ),
    )


def in_places(header: Sequence[str], columns: Sequence[str]) -> list[int]:
    """For each column of a file its place in the release:
    by its name where all names are the same ones, else as it stands.

    >>> in_places(["Zip", "age"], ["age", "zip"]), in_places(["a", "b"], ["c", "d"])
    ([1, 0], [0, 1])
    """
    ours, theirs = [name.casefold() for name in columns], [name.casefold() for name in header]
    if len(set(ours)) == len(ours) and sorted(ours) == sorted(theirs):
        return [ours.index(name) for name in theirs]
    return list(range(len(header)))


def arranged(shown: ReleaseRows, columns: Sequence[str]) -> ReleaseRows:
    """The same with the columns in the order of the release."""
    order = in_places(shown.columns, columns)
    if order == list(range(len(order))):
        return shown
    back = [order.index(at) for at in range(len(order))]
    return ReleaseRows(tuple(columns), (tuple(row[at] for at in back) for row in shown.rows))
