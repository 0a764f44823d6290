"""Statements for a DuckDB of our own, in its words: empty tables that are filled with a few rows
or with the parts of an output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.engines.sql import shapes


def settings(memory: str, spill: str) -> str:
    """How much memory may be used, and the folder for what does not fit; '' for none.

    >>> settings("512MB", "")
    "SET temp_directory = ''; SET memory_limit = '512MB'"
    """
    return f"SET temp_directory = {_text(spill)}; SET memory_limit = {_text(memory)}"


def empty_schema(name: str) -> str:
    """Make a schema, unless it is there."""
    return f"CREATE SCHEMA IF NOT EXISTS {_table(name)}"


def empty_table(name: str, types: Mapping[str, str], *, replace: bool = False) -> str:
    """Make a table without rows; the types are in DuckDB's words.

    >>> empty_table("s.t", {"zip": "VARCHAR"}, replace=True)
    'CREATE OR REPLACE TABLE "s"."t" ("zip" VARCHAR)'
    """
    columns = ", ".join(
        f"{shapes.column(column).sql(dialect='duckdb')} {kind}" for column, kind in types.items()
    )
    return f"CREATE {'OR REPLACE ' if replace else ''}TABLE {_table(name)} ({columns})"


def view(name: str, query: str) -> str:
    """Make a view."""
    return f"CREATE VIEW {_table(name)} AS {query}"


def no_rows(table: str) -> str:
    """Take all rows out of a table."""
    return f"DELETE FROM {_table(table)}"


def one_row(table: str, values: Sequence[object]) -> str:
    """Put a row into a table, its values as parameters.

    >>> one_row("t", ["a", 1])
    'INSERT INTO "t" VALUES (?, ?)'
    """
    return f"INSERT INTO {_table(table)} VALUES ({', '.join('?' for _ in values)})"


def rows_from(table: str, other: str) -> str:
    """Put the rows of another table into a table."""
    return f"INSERT INTO {_table(table)} FROM {_table(other)}"


def _table(name: str) -> str:
    return shapes.table_of(name).sql(dialect="duckdb")


def _text(value: str) -> str:
    return shapes.literal(value).sql(dialect="duckdb")
