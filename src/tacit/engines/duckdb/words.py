"""DuckDB's words and ours: names, texts and files in its SQL, and what it says of an error."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.engines import output, shapes
from tacit.engines.attach import wrong_width
from tacit.errors import DataError, EngineError, Mark
from tacit.files import not_utf8

if TYPE_CHECKING:
    import duckdb


def sql_name(table: str) -> str:
    """A table's name in SQL.

    >>> sql_name("wards.of 2024")
    '"wards"."of 2024"'
    """
    return shapes.table_of(table).sql(dialect="duckdb")


def quoted(value: object) -> str:
    """A SQL string."""
    return "'" + str(value).replace("'", "''") + "'"


def csv_as_text(
    path: Path, columns: Iterable[str], separator: str = ",", *, empty_texts: bool = False
) -> str:
    """A CSV file to select from, its values as written: DuckDB's own guess would turn the zip code 01305 into 1305.

    What is empty is missing; with `empty_texts`, not where it stands in quotes.

    >>> print(csv_as_text(Path("t.csv"), ["zip"], ";").partition(", columns=")[2])
    {'zip': 'VARCHAR'}, delim=';', quote='"', escape='"', nullstr='', strict_mode=true)
    """
    names = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in columns)
    return (
        f"read_csv({quoted(path)}, auto_detect=false, header=true, columns={{{names}}}, delim={quoted(separator)}, "
        f"quote='\"', escape='\"', nullstr='', {'allow_quoted_nulls=false, ' if empty_texts else ''}strict_mode=true)"
    )


def csv_error(error: EngineError, path: Path, shown: str) -> DataError:
    """DuckDB's words about a CSV file, as ours with the line."""
    text = error.message
    if "unicode" in text.lower() or "utf-8" in text.lower():
        return not_utf8(path, shown)
    line = re.search(r"Line: (\d+)", text)
    mark = Mark(shown, int(line.group(1)) if line else None)
    counted = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if counted:
        return wrong_width(int(counted.group(1)), int(counted.group(2)), mark)
    return DataError(f"{shown} cannot be read as CSV: {text}", mark=mark)


def not_written(error: duckdb.Error, final: Path) -> EngineError:
    """Why DuckDB did not write a file."""
    said = first_line(error)
    if any(words in said for words in ("No space left", "quota exceeded", "File too large")):
        return output.disk_full(final)
    return EngineError(f"{final} cannot be written: {said}")


def first_line(error: BaseException) -> str:
    """The first sentence of an engine's message."""
    return re.sub(r"^[\w ]*Error: ", "", str(error).strip().split("\n\n")[0]).replace("\n", " ")
