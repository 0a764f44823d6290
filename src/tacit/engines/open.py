"""Which engine a plan's `source` means."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import DataError

if TYPE_CHECKING:
    from tacit.engines.base import Engine

DATABASE_FILES = (".duckdb", ".db")
PASSWORD = re.compile(r"://[^/?@]*:[^@]+@|[?&](ssl)?password=")
SPARK_MASTER = re.compile(r"(spark|k8s)://.+|local(\[[^\]]*\])?|yarn")


def open_engine(source: str, folder: Path) -> Engine:
    """The engine for a plan's `source`; paths are relative to `folder`, where the plan lies.

    >>> open_engine(".", Path("."))  # doctest: +ELLIPSIS
    <tacit.engines.duckdb.engine.DuckDB object at ...>
    >>> open_engine("mysql://host/db", Path("."))
    Traceback (most recent call last):
    tacit.errors.DataError: source: 'mysql://...' is not a place that Tacit knows. ...
    """
    if source.startswith(("postgresql://", "postgres://")):
        from tacit.engines.postgres.engine import Postgres

        refuse_password(source)
        return Postgres(source)
    if is_spark(source):
        from tacit.engines.spark.engine import Spark

        return Spark(None if source == "spark" else source, folder=folder)
    return open_files(source, folder)


def is_spark(source: str) -> bool:
    """Does a source mean Spark?"""
    return source == "spark" or bool(SPARK_MASTER.fullmatch(source))


def is_folder(source: str, folder: Path) -> bool:
    """Does a source mean files in a folder?

    >>> is_folder(".", Path(".")), is_folder("spark", Path("."))
    (True, False)
    """
    return not is_spark(source) and "://" not in source and (folder / source).is_dir()


def refuse_password(url: str) -> None:
    """A plan is read by many and kept in version control: no place for a password.

    >>> refuse_password("postgresql://ann@host/wards")
    >>> refuse_password("postgresql://ann:secret@host/wards")
    Traceback (most recent call last):
    tacit.errors.DataError: the source in the plan holds a password. ...
    """
    if PASSWORD.search(url):
        raise DataError(
            "the source in the plan holds a password.",
            hint=(
                "Take it out, and give it in PGPASSWORD, in ~/.pgpass or in a service file "
                "(PGSERVICE)."
            ),
        )


def open_files(source: str, folder: Path) -> Engine:
    """DuckDB over a folder of files or over its own database file."""
    from tacit.engines.duckdb.engine import DuckDB

    path = folder / source
    if path.is_dir():
        return DuckDB(folder=path)
    if path.suffix.lower() not in DATABASE_FILES:
        raise unknown_source(source)
    if not path.is_file():
        raise DataError(
            f"there is no database {source}.", hint="Check the path; it is relative to the plan."
        )
    return DuckDB(path, folder=folder)


def unknown_source(source: str) -> DataError:
    """What a source may be. A URL is cut after its scheme: the rest may hold a password."""
    shown = re.sub(r"://.*", "://...", source)
    return DataError(
        f"source: {shown!r} is not a place that Tacit knows.",
        hint=(
            "Use a folder with CSV or Parquet files (source: .), a DuckDB file (source: "
            "data.duckdb), postgresql://host/database, spark, or spark://host:7077."
        ),
    )
