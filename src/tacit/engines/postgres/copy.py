"""What PostgreSQL sends by COPY, made into arrays and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from tacit.engines.base import NOT_INTEGERS
from tacit.engines.duckdb.reserved_words import csv_as_text, not_written, sql_place
from tacit.engines.sql import shapes
from tacit.errors import EngineError

if TYPE_CHECKING:
    from tacit.engines.base import Numbers

COPY_HEADER = 19  # bytes: signature, flags and the length of an extension that is not there
COPY_TRAILER = b"\xff\xff"
MOST_DIGITS = 38  # of a decimal, in Parquet and in Arrow

# What a file's columns become in Parquet; the rest is text.
PARQUET_TYPES = {
    "smallint": "BIGINT",
    "integer": "BIGINT",
    "bigint": "BIGINT",
    "real": "DOUBLE",
    "double precision": "DOUBLE",
    "date": "DATE",
    "timestamp without time zone": "TIMESTAMP",
    "boolean": "BOOLEAN",
}


def with_words(query: exp.Expression, types: Mapping[str, str]) -> exp.Expression:
    """A query with its truth values as the words true and false: COPY would write t and f."""
    if "boolean" not in types.values() or not isinstance(query, exp.Query):
        return query
    return exp.select(
        *(
            exp.alias_(exp.cast(shapes.column(name), "TEXT"), name, quoted=True)
            if kind == "boolean"
            else shapes.column(name)
            for name, kind in types.items()
        )
    ).from_(query.subquery("w"))


def to_parquet(written: Path, types: Mapping[str, str], place: Path, final: Path) -> None:
    """Make a Parquet file of the CSV file that the server sent;
    here NULL and the empty text still differ.
    """
    import duckdb

    from tacit.engines.duckdb.connection import begin

    with begin() as connection:
        source = csv_as_text(written, types, empty_texts=True)
        try:
            picked = ", ".join(
                f"CAST({name} AS {parquet_type(connection, source, name, kind)}) AS {name}"
                for name, kind in (
                    (shapes.column(name).sql(dialect="duckdb"), kind)
                    for name, kind in types.items()
                )
            )
            connection.execute(
                f"COPY (SELECT {picked} FROM {source}) TO {sql_place(place)} (FORMAT parquet, "
                "USE_TMP_FILE false)"
            )
        except duckdb.Error as error:
            raise not_written(error, final) from None


def parquet_type(connection: Any, source: str, name: str, kind: str) -> str:
    """The type of a column in Parquet;
    a numeric has as many digits after the point as its values need.
    """
    if kind != "numeric":
        return PARQUET_TYPES.get(kind, "VARCHAR")
    whole, part, special = connection.execute(
        f"SELECT max(length(split_part(ltrim({name}, '-'), '.', 1))), "
        f"max(length(split_part({name}, '.', 2))), "
        f"count(*) FILTER (NOT regexp_full_match({name}, '-?[0-9.]+')) FROM {source}"
    ).fetchone()
    if special or (whole or 0) + (part or 0) > MOST_DIGITS:
        return "DOUBLE"
    return f"DECIMAL(38, {part or 0})"


def integer_parts(chunks: Iterable[bytes], columns: int, rows: int) -> Iterator[Numbers]:
    """The same of data that comes in pieces: about so many rows at a time.

    >>> row = bytes([0, 1, 0, 0, 0, 4, 0, 0, 0, 7])
    >>> pieces = [bytes(19) + row[:4], row[4:] + row, row + COPY_TRAILER]
    >>> [part[0].tolist() for part in integer_parts(pieces, 1, 2)]
    [[7, 7], [7]]
    """
    header, data = b"", bytearray()
    for chunk in chunks:
        data += chunk
        if not header and len(data) > COPY_HEADER:
            header = bytes(data[:COPY_HEADER])
            del data[:COPY_HEADER]
        if header and (width := row_width(data, columns)) and len(data) >= rows * width:
            whole = len(data) // width * width  # the mark at the end is shorter than a row
            yield integers(header + bytes(data[:whole]) + COPY_TRAILER, columns)
            del data[:whole]
    if len(data) > len(COPY_TRAILER):
        yield integers(header + bytes(data), columns)


def row_width(data: bytearray, columns: int) -> int:
    """How many bytes a row takes, 0 where the first is not there yet."""
    place = 2
    for _ in range(columns):
        if len(data) < place + 4:
            return 0
        place += 4 + int.from_bytes(data[place : place + 4], "big", signed=True)
    return place if len(data) >= place else 0


def integers(data: bytes, columns: int) -> Numbers:
    """Read PostgreSQL's binary COPY format, all fields integers of fixed width.

    A row is a field count and for each field its length and its bytes, the most significant first.

    >>> row = bytes([0, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 4, 255, 255, 255, 254])
    >>> [array.tolist() for array in integers(bytes(19) + row + row + COPY_TRAILER, 2)]
    [[7, 7], [-2, -2]]
    """
    body = memoryview(data)[COPY_HEADER : -len(COPY_TRAILER)]
    if not body:
        return tuple(np.empty(0, dtype=np.int64) for _ in range(columns))
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    offset = 2
    widths = []
    for i in range(columns):
        widths.append(int.from_bytes(body[offset : offset + 4], "big", signed=True))
        fields += [(f"length{i}", ">i4"), (f"value{i}", f">i{widths[i]}")]
        offset += 4 + widths[i]
    if not set(widths) <= {2, 4, 8} or len(body) % offset:
        raise EngineError(NOT_INTEGERS)
    table = np.frombuffer(body, dtype=np.dtype(fields))
    if any((table[f"length{i}"] != width).any() for i, width in enumerate(widths)):
        raise EngineError(NOT_INTEGERS)
    return tuple(table[f"value{i}"].astype(np.int64) for i in range(columns))
