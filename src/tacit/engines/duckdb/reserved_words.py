"""DuckDB's words and ours: names, texts and files in its SQL, and what it says of an error."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.engines import output
from tacit.engines.attach import wrong_width
from tacit.engines.files import mixed_line_ends, not_utf8
from tacit.engines.sql import shapes
from tacit.errors import DataError, EngineError, Mark

if TYPE_CHECKING:
    import duckdb

PATTERN = re.compile(r"[\[*?]")
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def sql_name(table: str) -> str:
    """A table's name in SQL.

    >>> sql_name("wards.of 2024")
    '"wards"."of 2024"'
    """
    return shapes.table_of(table).sql(dialect="duckdb")


def quoted(value: object) -> str:
    """A SQL string."""
    return "'" + str(value).replace("'", "''") + "'"


def sql_file(path: Path) -> str:
    """A file for DuckDB's readers, so that its name is a name:
    `*`, `?` and `[` would make it a pattern of names.

    >>> print(sql_file(Path("/data/vendor[1].csv")))
    '/data/vendor[[]1].csv'
    """
    place = str(path.absolute())
    if "\\" in place and PATTERN.search(place):  # a backslash would divide folders there
        raise DataError(
            f"DuckDB cannot read {path.name!r}: its path has a backslash beside one of * ? [.",
            hint="Rename the file or its folder.",
            mark=Mark(path.name),
        )
    return quoted(PATTERN.sub(r"[\g<0>]", place))


def sql_place(path: Path) -> str:
    """A file for DuckDB to write or to attach:
    from the root, as `md:x` would be a service and `~x` somebody's folder.
    """
    return quoted(path.absolute())


def parquet_file(path: Path) -> str:
    """A Parquet file to select from; folders that are called year=2024 add no columns."""
    return f"read_parquet({sql_file(path)}, hive_partitioning=false)"


def csv_as_text(
    path: Path, columns: Iterable[str], separator: str = ",", *, empty_texts: bool = False
) -> str:
    """A CSV file to select from, its values as written:
    DuckDB's own guess would turn the zip code 01305 into 1305.

    What is empty is missing; with `empty_texts`, not where it stands in quotes.

    >>> print(csv_as_text(Path("t.csv"), ["zip"], ";").partition(", columns=")[2])
    {'zip': 'VARCHAR'}, delim=';', hive_partitioning=false, compression='none', quote='"', escape='"', nullstr='', strict_mode=true)
    """  # noqa: E501
    names = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in columns)
    packing = COMPRESSIONS.get(path.suffix.lower(), "none")
    return (
        f"read_csv({sql_file(path)}, auto_detect=false, header=true, columns={{{names}}}, "
        f"delim={quoted(separator)}, hive_partitioning=false, compression='{packing}', quote='\"', "
        "escape='\"', nullstr='', "
        f"{'allow_quoted_nulls=false, ' if empty_texts else ''}strict_mode=true)"
    )


def csv_error(error: EngineError, path: Path, shown: str) -> DataError:
    """DuckDB's words about a CSV file, as ours with the line."""
    text = error.message
    if "unicode" in text.lower() or "utf-8" in text.lower():
        return not_utf8(path, shown)
    if mixed := mixed_line_ends(path, shown):
        return mixed
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
