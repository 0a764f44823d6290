"""Statements about files that DuckDB reads as text, in its own words: public lists of values,
and a CSV file to be sorted.

A `relation` has the rows of a list: `place`, from 0, and `v`, the value as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tacit.engines.duckdb.reserved_words import sql_file, sql_place
from tacit.engines.sql import shapes

WHOLE = "-?[0-9]{1,18}"


def quoted(column: str) -> str:
    """A column in SQL."""
    return shapes.column(column).sql(dialect="duckdb")


def string(text: str) -> str:
    """A text in SQL."""
    return shapes.literal(text).sql(dialect="duckdb")


# -- rows of a file, as text -----------------------------------------------------------------------


def filled_lines(table: str, source: str, columns: Sequence[str]) -> str:
    """Make a table of the lines that have some value.

    >>> filled_lines("t", "read_csv('t.csv')", ["zip"])
    'CREATE TABLE t AS SELECT * FROM read_csv(\\'t.csv\\') WHERE "zip" IS NOT NULL'
    """
    return f"CREATE TABLE {table} AS SELECT * FROM {source} WHERE {_some_value(columns)}"


def filled_texts(table: str, query: str, columns: Sequence[str]) -> str:
    """Make a table of the rows of a query that have some value, all values as text."""
    texts = ", ".join(
        f"CAST({quoted(column)} AS VARCHAR) AS {quoted(column)}" for column in columns
    )
    return f"CREATE TABLE {table} AS SELECT {texts} FROM ({query}) WHERE {_some_value(columns)}"


def _some_value(columns: Sequence[str]) -> str:
    return " OR ".join(f"{quoted(column)} IS NOT NULL" for column in columns)


def many_rows(table: str) -> str:
    """How many rows."""
    return f"SELECT COUNT(*) FROM {table}"


def first_row(table: str, columns: Sequence[str], condition: str) -> str:
    """The first row of which a condition is true: its place, and its values."""
    names = ", ".join(quoted(column) for column in columns)
    return f"SELECT rowid, {names} FROM {table} WHERE {condition} ORDER BY rowid LIMIT 1"


def is_empty(column: str) -> str:
    """Has a row no value?"""
    return f"{quoted(column)} IS NULL"


def is_text(column: str, text: str) -> str:
    """Has a row this text?"""
    return f"{quoted(column)} = {string(text)}"


def is_not_whole(column: str) -> str:
    """Has a row something else than a whole number?"""
    return f"NOT regexp_full_match(trim({quoted(column)}), '{WHOLE}')"


def is_no_degree(column: str, most: int) -> str:
    """Has a row something else than a number of degrees, or too many of them?"""
    one = quoted(column)
    strange = f"TRY_CAST({one} AS DOUBLE) IS NULL OR NOT abs(TRY_CAST({one} AS DOUBLE)) <= {most}"
    return f"{one} IS NOT NULL AND ({strange})"


def texts(table: str, column: str) -> str:
    """The values of all rows."""
    return f"SELECT {quoted(column)} AS v FROM {table}"


def whole_numbers(table: str, column: str) -> str:
    """The values of all rows, which are whole numbers."""
    return f"SELECT CAST(trim({quoted(column)}) AS BIGINT) AS v FROM {table}"


def degrees(table: str, column: str) -> str:
    """The values of all rows, which are numbers or missing."""
    one = quoted(column)
    return f"SELECT COALESCE(TRY_CAST({one} AS DOUBLE), CAST('nan' AS DOUBLE)) AS v FROM {table}"


def different_texts(table: str, column: str) -> str:
    """The different values, sorted."""
    return f"SELECT DISTINCT {quoted(column)} AS v FROM {table} ORDER BY v"


def codes(table: str, column: str, known: str) -> str:
    """For each row the code of its value in `known`, which has v and code."""
    return (
        f"SELECT k.code FROM {table} t JOIN {known} k ON k.v = t.{quoted(column)} ORDER BY t.rowid"
    )


# -- relations of places and values ----------------------------------------------------------------


def listed_texts(relation: str, table: str, column: str) -> str:
    """Make a relation of a file's values as they are."""
    return _listed(relation, table, f"t.{quoted(column)}")


def listed_numbers(relation: str, table: str, column: str) -> str:
    """Make a relation of a file's whole numbers, each in one spelling."""
    return _listed(relation, table, f"CAST(CAST(trim(t.{quoted(column)}) AS BIGINT) AS VARCHAR)")


def listed_spellings(relation: str, table: str, column: str, known: str) -> str:
    """Make a relation of a file's values, spelled as `known` says, which has raw and v."""
    return f"{_listed(relation, table, 'k.v')} JOIN {known} k ON k.raw = t.{quoted(column)}"


def _listed(relation: str, table: str, value: str) -> str:
    return f"CREATE VIEW {relation} AS SELECT t.rowid AS place, {value} AS v FROM {table} t"


def value_at(relation: str, place: int) -> str:
    """The value at a place."""
    return f"SELECT v FROM {relation} WHERE place = {place}"


def places_of_texts(asked: str, relation: str) -> str:
    """For each row of a table of texts the place of its value; -1 for those that are not listed."""
    return _places(f"{asked} a LEFT JOIN {relation} l ON l.v = a.v ORDER BY a.rowid")


def places_of_listed(keys: str, relation: str) -> str:
    """For each value of a relation its place in another one; -1 for those that are not listed."""
    return _places(f"{keys} k LEFT JOIN {relation} l ON l.v = k.v ORDER BY k.place")


def _places(source: str) -> str:
    return f"SELECT COALESCE(l.place, -1) AS place FROM {source}"


def many_values(relation: str) -> str:
    """How many values a relation has, and how many different ones."""
    return f"SELECT COUNT(*) AS n, COUNT(DISTINCT v) AS d FROM {relation}"


def first_again(relation: str) -> str:
    """The first place whose value has been there before."""
    again = (
        f"SELECT place, row_number() OVER (PARTITION BY v ORDER BY place) AS nth FROM {relation}"
    )
    return f"SELECT MIN(place) AS place FROM ({again}) WHERE nth = 2"


# -- a file to be sorted ---------------------------------------------------------------------------


def sorted_csv(file: Path, place: Path) -> str:
    """Write the lines of a CSV file in order to another one."""
    read = (
        f"read_csv({sql_file(file)}, all_varchar=true, hive_partitioning=false, "
        "compression='none', header=true, delim=',', quote='\"', escape='\"', nullstr='')"
    )
    return (
        f"COPY (SELECT * FROM {read} ORDER BY ALL) TO {sql_place(place)} "
        "(FORMAT csv, HEADER true, NULLSTR '')"
    )
