"""Parquet files: what becomes of each type that a file's own schema
names, and which names its columns have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tacit.engines.duckdb.reserved_words import first_line, sql_file
from tacit.engines.files import check_names
from tacit.errors import DataError, Mark

Engine = Literal["duckdb", "spark"]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A type of Parquet that engines cannot read exactly:
    a pattern for it as DuckDB's `parquet_schema` writes it, why, and what to do.

    What is not listed is read by an engine's own type for it, whose
    table says what becomes of its values.
    """

    pattern: str
    engines: tuple[Engine, ...]
    why: str
    instead: str


UNREADABLE = (
    Unreadable(
        r"DecimalType.*precision=(39|[4-9][0-9]|[0-9]{3,})\b.*",
        ("duckdb", "spark"),
        "numbers of more than 38 digits",
        "Write it with at most 38 digits, for example as decimal(38, 20), or as text.",
    ),
    Unreadable(
        r"Float16Type.*",
        ("duckdb", "spark"),
        "floats of 16 bits",
        "Write it as double precision (float64).",
    ),
    Unreadable(
        r"TimestampType.*NANOS=Nano.*",
        ("spark",),
        "times in nanoseconds, which Spark cannot read",
        "Write it in microseconds.",
    ),
    Unreadable(
        r"TimeType.*", ("spark",), "times of day, which Spark cannot read", "Write it as text."
    ),
)


def unreadable_columns(path: Path, shown: str, engine: Engine) -> dict[str, tuple[str, str]]:
    """The columns that an engine cannot read exactly, each with what it has and what to do;
    two columns of one name are an error.
    """
    import duckdb

    try:
        with duckdb.connect() as connection:
            cursor = connection.execute(f"SELECT * FROM parquet_schema({sql_file(path)})")
            heads = [str(one[0]) for one in cursor.description]
            rows = [dict(zip(heads, row, strict=True)) for row in cursor.fetchall()]
    except duckdb.Error as error:
        raise DataError(f"{shown} cannot be read: {first_line(error)}", mark=Mark(shown)) from None
    columns = list(top_level(rows))
    check_names([str(one[0]["name"]) for one in columns], shown, "Give every column a name.")
    return {
        str(one[0]["name"]): found
        for one in columns
        if (found := next(filter(None, (why_not(part, engine) for part in one)), None)) is not None
    }


def why_not(column: Mapping[str, Any], engine: Engine) -> tuple[str, str] | None:
    """What a column, or a part of one, has that an engine cannot read, and what to do."""
    meant = str(column["logical_type"] or "")
    if not meant and column["converted_type"] == "DECIMAL":  # as older writers have it
        meant = f"DecimalType(precision={column['precision']})"
    return next(
        (
            (one.why, one.instead)
            for one in UNREADABLE
            if engine in one.engines and re.fullmatch(one.pattern, meant)
        ),
        None,
    )


def top_level(rows: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """The columns of a schema that is written depth first, the root before them;
    each with the parts that it is made of.

    >>> root, pair = {"name": "root", "num_children": 2}, {"name": "pair", "num_children": 1}
    >>> found = top_level(
    ...     [root, pair, {"name": "x", "num_children": None}, {"name": "age", "num_children": None}]
    ... )
    >>> [[one["name"] for one in column] for column in found]
    [['pair', 'x'], ['age']]
    """
    at = 1
    while at < len(rows):
        first, pending = at, 1
        while pending:
            pending += int(rows[at]["num_children"] or 0) - 1
            at += 1
        yield rows[first:at]
