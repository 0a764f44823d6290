"""The SQL we send: every query shape as a function that builds a sqlglot tree.

Each shape has a line in `tests/conformance/`, run on DuckDB, PostgreSQL and Spark with equal
answers expected. Only what the three agree on is used here. Shapes over codes are in
`shapes_coded`, those about what values look like in `shapes_text`, and those about tables as the
engine has them in `shapes_stored`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

# What every engine answers, whatever tables there are.
ANYTHING = "SELECT 1 AS one"


def column(name: str, table: str | None = None) -> exp.Column:
    """A quoted column, so that any name a file can have is a name here."""
    return exp.column(name, table=table, quoted=True)


def table_of(name: str) -> exp.Table:
    """A quoted table; schema.table names both parts."""
    parts = name.split(".")
    return exp.table_(parts[-1], db=parts[-2] if len(parts) > 1 else None, quoted=True)


def literal(value: Any) -> exp.Expr:
    """A Python value as SQL.

    >>> [literal(value).sql() for value in ("it's", -5, Decimal("1E+2"), date(2024, 2, 29))]
    ["'it''s'", '-5', '100', "CAST('2024-02-29' AS DATE)"]
    """
    if isinstance(value, Decimal):
        return exp.Literal.number(f"{value:f}")
    if isinstance(value, datetime):
        return exp.cast(exp.Literal.string(value.isoformat(" ")), "TIMESTAMPNTZ")
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    return exp.convert(value)


def row_count(table: str) -> exp.Select:
    """How many rows.

    >>> row_count("t").sql()
    'SELECT COUNT(*) AS n FROM "t"'
    """
    return exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(table_of(table))


def columns_of(table: str, columns: Sequence[str]) -> exp.Select:
    """All rows, some columns.

    >>> columns_of("t", ["zip"]).sql()
    'SELECT "zip" FROM "t"'
    """
    return exp.select(*(column(name) for name in columns)).from_(table_of(table))


def whole_table(name: str) -> exp.Select:
    """All rows, all columns.

    >>> whole_table("s.t").sql()
    'SELECT * FROM "s"."t"'
    """
    return exp.select("*").from_(table_of(name))


def distinct_rows(table: str, columns: Sequence[str]) -> exp.Select:
    """The distinct combinations of some columns."""
    return columns_of(table, columns).distinct()


def distinct_count(table: str, columns: Sequence[str]) -> exp.Select:
    """How many distinct combinations, NULL counting as a value."""
    inner = distinct_rows(table, columns).subquery("d")
    return exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(inner)


def distinct_among_first(table: str, columns: Sequence[str], rows: int) -> exp.Select:
    """How many distinct combinations the first rows have that come to hand."""
    return different_rows(columns_of(table, columns).limit(rows))


def different_rows(query: exp.Select) -> exp.Select:
    """How many different rows a query has.

    >>> different_rows(columns_of("t", ["zip"])).sql()
    'SELECT COUNT(*) FROM (SELECT DISTINCT "zip" FROM "t") AS c'
    """
    return exp.select(exp.Count(this=exp.Star())).from_(query.distinct().subquery("c"))


def missing_counts(table: str, columns: Sequence[str]) -> exp.Select:
    """The number of rows, and for each column how many rows have no value.

    >>> missing_counts("t", ["zip"]).sql()
    'SELECT COUNT(*) AS n, COUNT(*) - COUNT("zip") AS m0 FROM "t"'
    """
    total = exp.Count(this=exp.Star())
    parts = [
        exp.alias_(exp.Sub(this=total.copy(), expression=exp.Count(this=column(name))), f"m{i}")
        for i, name in enumerate(columns)
    ]
    return exp.select(exp.alias_(total, "n"), *parts).from_(table_of(table))


def dictionary(
    table: str, columns: Sequence[str], collations: Mapping[str, str] | None = None
) -> exp.Select:
    """The distinct combinations of some columns in the order that gives them codes, NULL last.

    >>> dictionary("t", ["zip"]).sql(dialect="duckdb")
    'SELECT "zip" FROM (SELECT DISTINCT "zip" FROM "t") AS s ORDER BY "zip"'
    """
    return (
        exp.select(*(column(name) for name in columns))
        .from_(distinct_rows(table, columns).subquery("s"))
        .order_by(*order_by(columns, collations or {}))
    )


def order_by(columns: Sequence[str], collations: Mapping[str, str]) -> list[exp.Ordered]:
    """Columns to sort by: text by code point and NULL last, on every engine."""

    def key(name: str) -> exp.Expression:
        if name not in collations:
            return column(name)
        collation = exp.to_identifier(collations[name], quoted=True)
        return exp.Collate(this=column(name), expression=collation)

    return [exp.Ordered(this=key(name), nulls_first=False) for name in columns]


def page(
    table: str,
    columns: Sequence[str],
    *,
    by: Sequence[str],
    descending: bool = False,
    collations: Mapping[str, str] | None = None,
    offset: int,
    limit: int,
) -> exp.Select:
    """Some rows from a place on, sorted if that is said; `descending` turns the first key around.

    >>> page("t", ["zip"], by=["zip"], descending=True, offset=20, limit=10).sql(dialect="duckdb")
    'SELECT "zip" FROM "t" ORDER BY "zip" DESC LIMIT 10 OFFSET 20'
    """
    query = columns_of(table, columns)
    if by:
        keys = order_by(by, collations or {})
        keys[0].set("desc", descending)
        query = query.order_by(*keys)
    return query.limit(limit).offset(offset)


def matching(
    table: str,
    columns: Sequence[str],
    equal: Mapping[str, Any],
    *,
    collations: Mapping[str, str] | None = None,
    limit: int,
) -> exp.Select:
    """The first few rows that have the given values, sorted by the columns shown.

    >>> matching("t", ["name"], {"zip": "13053", "age": None}, limit=1).sql(dialect="duckdb")
    'SELECT "name" FROM "t" WHERE "zip" = \\'13053\\' AND "age" IS NULL ORDER BY "name" LIMIT 1'
    """
    return (
        exp.select(*(column(name) for name in columns))
        .from_(table_of(table))
        .where(*equal_to(equal))
        .order_by(*order_by(columns, collations or {}))
        .limit(limit)
    )


def equal_to(values: Mapping[str, Any]) -> list[exp.Expr]:
    """That columns have the given values, NULL among them."""
    return [
        column(name).is_(exp.null()) if value is None else column(name).eq(literal(value))
        for name, value in values.items()
    ]


def count_where(condition: exp.Expr) -> exp.Expression:
    """How many rows meet a condition, as an integer on every engine."""
    one = exp.Case().when(condition, exp.Literal.number(1))
    return exp.Count(this=one)


def declared(types: Mapping[str, str]) -> exp.Schema:
    """Columns as CREATE TABLE declares them.

    >>> declared({"zip": "TEXT", "age": "BIGINT"}).sql(dialect="duckdb")
    '("zip" TEXT, "age" BIGINT)'
    """
    return exp.Schema(
        expressions=[
            exp.ColumnDef(
                this=exp.to_identifier(name, quoted=True), kind=exp.DataType.build(sql_type)
            )
            for name, sql_type in types.items()
        ]
    )


def tallied(query: exp.Select, outputs: Sequence[str], limit: int | None = None) -> exp.Select:
    """How often each combination of columns occurs in a query, in no order;
    at most `limit` of them.

    >>> tallied(columns_of("t", ["zip"]), ["zip"]).sql()
    'SELECT "zip", COUNT(*) AS n FROM (SELECT "zip" FROM "t") AS c GROUP BY "zip"'
    """
    found = (
        exp.select(*(column(name) for name in outputs), exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(query.subquery("c", copy=False), copy=False)
        .group_by(*(column(name) for name in outputs), copy=False)
    )
    return found if limit is None else found.limit(limit, copy=False)


def grouped(query: exp.Select, outputs: Sequence[str]) -> exp.Select:
    """How often each combination of columns occurs in a query, in order."""
    return tallied(query, outputs).order_by(*(column(name) for name in outputs), copy=False)


def sorted_rows(query: exp.Select, outputs: Sequence[str]) -> exp.Select:
    """Some columns of a query, in order.

    >>> sorted_rows(columns_of("t", ["zip"]), ["zip"]).sql(dialect="duckdb")
    'SELECT "zip" FROM (SELECT "zip" FROM "t") AS c ORDER BY "zip"'
    """
    names = [column(name) for name in outputs]
    found = exp.select(*names).from_(query.subquery("c", copy=False), copy=False)
    return found.order_by(*(name.copy() for name in names), copy=False)


def ordered(
    query: exp.Select,
    outputs: Sequence[str],
    *,
    equal: Mapping[str, Any] | None = None,
    by: Sequence[str],
    collations: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> exp.Select:
    """The rows of a query that have the given values, sorted; the first `limit` of them."""
    found = (
        exp.select(*(column(name) for name in outputs))
        .from_(query.subquery("c", copy=False), copy=False)
        .where(*equal_to(equal or {}), copy=False)
        .order_by(*order_by(by, collations or {}), copy=False)
    )
    return found if limit is None else found.limit(limit, copy=False)


def amount_faults(table: str, name: str, most: int, *, whole: bool) -> exp.Select:
    """How many rows have in a column of numbers:
    none, a negative one, one above `most`, one that is not whole (unless all are).

    >>> amount_faults("t", "jobs", 9, whole=True).sql()
    'SELECT COUNT(*) - COUNT("jobs") AS f0, COUNT(CASE WHEN "jobs" < 0 THEN 1 END) AS f1, COUNT(CASE WHEN "jobs" > 9 THEN 1 END) AS f2, 0 AS f3 FROM "t"'
    """  # noqa: E501
    one = column(name)
    faults: list[exp.Expr] = [
        exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Count(this=one)),
        count_where(exp.LT(this=one.copy(), expression=exp.Literal.number(0))),
        count_where(exp.GT(this=one.copy(), expression=exp.Literal.number(most))),
        exp.Literal.number(0)
        if whole
        else count_where(exp.NEQ(this=one.copy(), expression=exp.Floor(this=one.copy()))),
    ]
    return exp.select(*(exp.alias_(fault, f"f{i}") for i, fault in enumerate(faults))).from_(
        table_of(table)
    )
