"""The SQL we send: every query shape as a function that builds a sqlglot tree.

Each shape has a line in `tests/conformance/`, run on DuckDB, PostgreSQL and Spark with equal
answers expected. Only what the three agree on is used here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp, parse_one

# Numbers as text. A mark is put behind each value to find its end: Java's $ would also match
# before a last line feed. Up to 18 digits fit BIGINT; 18 and 20 behind the point DECIMAL(38, 20).
END = ";"
INTEGER = rf"^(0|-?[1-9][0-9]{{0,17}}){END}$"
DECIMAL = rf"^-?(0|[1-9][0-9]{{0,17}})([.][0-9]{{1,20}})?{END}$"
DIGITS = rf"^[0-9]+{END}$"
TIME = r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
ISO_DATE = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}({TIME})?{END}$"


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


def distinct_rows(table: str, columns: Sequence[str]) -> exp.Select:
    """The distinct combinations of some columns."""
    return columns_of(table, columns).distinct()


def distinct_count(table: str, columns: Sequence[str]) -> exp.Select:
    """How many distinct combinations, NULL counting as a value."""
    inner = distinct_rows(table, columns).subquery("d")
    return exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(inner)


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


def known_rows(table: str, columns: Sequence[str]) -> exp.Subquery:
    """The distinct combinations without NULL, to select from."""
    known = exp.and_(*(column(name).is_(exp.null()).not_() for name in columns))
    return distinct_rows(table, columns).where(known).subquery("s")


def order_by(columns: Sequence[str], collations: Mapping[str, str]) -> list[exp.Ordered]:
    """Columns to sort by: text by code point and NULL last, on every engine."""

    def key(name: str) -> exp.Expression:
        if name not in collations:
            return column(name)
        collation = exp.to_identifier(collations[name], quoted=True)
        return exp.Collate(this=column(name), expression=collation)

    return [exp.Ordered(this=key(name), nulls_first=False) for name in columns]


def coded_counts(
    table: str,
    sizes: Mapping[str, int],
    *,
    keys: Sequence[Sequence[str]],
    person: Sequence[str] = (),
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """Count rows by combination, with every combination packed into a few integers.

    A value's code is its position in `dictionary`; NULL has the last code, `sizes[column] - 1`.
    Each list of columns in `keys` becomes one integer in mixed radix (the caller sees to it that
    it fits into 63 bits). So a single GROUP BY over integers does the work, and what comes back
    are numbers, sorted. With `person` columns the person's code is one more number; rows without
    a person are left out.
    """
    collations = collations or {}
    names = [name for key in keys for name in key]
    alias = {name: f"d{i}" for i, name in enumerate(names)}
    query = exp.select(
        *(exp.alias_(packed(key, sizes, alias), f"k{i}") for i, key in enumerate(keys))
    ).from_(exp.alias_(table_of(table), "t", table=True))
    for name in names:
        query = query.join(
            numbered(table, [name], collations).subquery(alias[name], copy=False),
            on=column(name, "t").eq(exp.column("v0", table=alias[name])),
            join_type="left",
            copy=False,
        )
    outputs = [f"k{i}" for i in range(len(keys))]
    if person:
        people = numbered(table, person, collations).subquery("p")
        query = query.join(people, on=exp.and_(*same_person(person)), join_type="inner").select(
            exp.alias_(exp.column("code", table="p"), "person")
        )
        outputs.append("person")
    return grouped(query, outputs)


def grouped(query: exp.Select, outputs: Sequence[str]) -> exp.Select:
    """Count the rows of a query by all its columns, in order."""
    return (
        exp.select(*(exp.column(name) for name in outputs), exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(query.subquery("c", copy=False), copy=False)
        .group_by(*(exp.column(name) for name in outputs), copy=False)
        .order_by(*(exp.column(name) for name in outputs), copy=False)
    )


def numbered(table: str, columns: Sequence[str], collations: Mapping[str, str]) -> exp.Select:
    """The dictionary with its codes: v0, v1, ... and code."""
    rank = exp.Window(
        this=exp.RowNumber(), order=exp.Order(expressions=order_by(columns, collations))
    )
    code = exp.Sub(this=exp.cast(rank, "BIGINT"), expression=exp.Literal.number(1))
    return exp.select(
        *(exp.alias_(column(name), f"v{i}") for i, name in enumerate(columns)),
        exp.alias_(code, "code"),
    ).from_(known_rows(table, columns))


def packed(key: Sequence[str], sizes: Mapping[str, int], alias: Mapping[str, str]) -> exp.Expression:
    """Codes in mixed radix, the first column the most significant."""
    total: exp.Expression = exp.cast(exp.Literal.number(0), "BIGINT")
    for name in key:
        code = exp.Coalesce(
            this=exp.column("code", table=alias[name]),
            expressions=[exp.Literal.number(sizes[name] - 1)],
        )
        total = exp.Add(
            this=exp.Mul(this=exp.paren(total), expression=exp.Literal.number(sizes[name])),
            expression=code,
        )
    return total


def same_person(person: Sequence[str]) -> list[exp.Expression]:
    """The join of a row with its person."""
    return [
        column(name, "t").eq(exp.column(f"v{i}", table="p")) for i, name in enumerate(person)
    ]


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
    conditions = [
        column(name).is_(exp.null()) if value is None else column(name).eq(literal(value))
        for name, value in equal.items()
    ]
    return (
        exp.select(*(column(name) for name in columns))
        .from_(table_of(table))
        .where(*conditions)
        .order_by(*order_by(columns, collations or {}))
        .limit(limit)
    )


def kinds_of_text(table: str, columns: Sequence[str]) -> exp.Select:
    """For each text column: how many values, how many look like integers, like decimals, and the
    most digits after the point."""
    parts: list[exp.Expr] = []
    for i, name in enumerate(columns):
        parts += [
            exp.alias_(exp.Count(this=column(name)), f"n{i}"),
            exp.alias_(count_where(looks_like(name, INTEGER)), f"i{i}"),
            exp.alias_(count_where(looks_like(name, DECIMAL)), f"d{i}"),
            exp.alias_(exp.Max(this=digits_after_point(name)), f"s{i}"),
        ]
    return exp.select(*parts).from_(table_of(table))


def column_facts(table: str, columns: Mapping[str, str]) -> exp.Select:
    """The number of rows, and for each column (given with its type) seven facts.

    How many values, how many different ones; the least and the greatest of numbers, the fewest and
    the most characters of text; how many texts are all digits, numbers, ISO dates. NULL elsewhere.

    >>> column_facts("t", {"born": "date"}).sql()
    'SELECT COUNT(*) AS n, COUNT("born") AS f0, COUNT(DISTINCT "born") AS f1, NULL AS f2, NULL AS f3, NULL AS f4, NULL AS f5, NULL AS f6 FROM "t"'
    """
    facts: list[exp.Expr] = []
    for name, kind in columns.items():
        facts += [exp.Count(this=column(name)), exp.Count(this=exp.Distinct(expressions=[column(name)]))]
        size = {"text": exp.Length(this=column(name)), "integer": column(name), "decimal": column(name)}.get(kind)
        facts += [exp.Min(this=size.copy()), exp.Max(this=size)] if size else [exp.null(), exp.null()]
        for pattern in (DIGITS, DECIMAL, ISO_DATE):
            facts.append(count_where(looks_like(name, pattern)) if kind == "text" else exp.null())
    rows = exp.alias_(exp.Count(this=exp.Star()), "n")
    return exp.select(rows, *(exp.alias_(fact, f"f{i}") for i, fact in enumerate(facts))).from_(table_of(table))


def looks_like(name: str, pattern: str) -> exp.Expression:
    """Whether a text column's value, with the end mark behind it, fits a pattern."""
    marked = exp.DPipe(this=column(name), expression=exp.Literal.string(END), safe=True)
    return exp.RegexpLike(this=exp.paren(marked), expression=exp.Literal.string(pattern))


def count_where(condition: exp.Expression) -> exp.Expression:
    """How many rows meet a condition, as an integer on every engine."""
    one = exp.Case().when(condition, exp.Literal.number(1))
    return exp.Count(this=one)


def digits_after_point(name: str) -> exp.Expression:
    """The digits after the point of a number written as text, counted by position."""
    point = exp.StrPosition(this=column(name), substr=exp.Literal.string("."))
    length = exp.Length(this=column(name))
    return exp.Case().when(
        point.copy().eq(exp.Literal.number(0)), exp.Literal.number(0)
    ).else_(exp.Sub(this=length, expression=point))


def typed(table: str, types: Mapping[str, str]) -> exp.Select:
    """A table of text with its columns cast to the given SQL types."""
    return exp.select(
        *(
            exp.alias_(
                column(name) if sql_type == "TEXT" else exp.cast(column(name), sql_type), name, quoted=True
            )
            for name, sql_type in types.items()
        )
    ).from_(table_of(table))


def declared(types: Mapping[str, str]) -> exp.Schema:
    """Columns as CREATE TABLE declares them.

    >>> declared({"zip": "TEXT", "age": "BIGINT"}).sql(dialect="duckdb")
    '("zip" TEXT, "age" BIGINT)'
    """
    return exp.Schema(
        expressions=[
            exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=exp.DataType.build(sql_type))
            for name, sql_type in types.items()
        ]
    )


def reading(table: str, how: Mapping[str, str], dialect: str) -> exp.Select:
    """A table with each column read as `how` says: the engine's own SQL, `{c}` for the column.

    >>> reading("t", {"zip": "{c}", "id": "CAST({c} AS TEXT)"}, "postgres").sql()
    'SELECT "zip" AS "zip", CAST("id" AS TEXT) AS "id" FROM "t"'
    """
    return exp.select(
        *(
            exp.alias_(
                parse_one(sql.format(c=column(name).sql(dialect=dialect)), dialect=dialect),
                name,
                quoted=True,
            )
            for name, sql in how.items()
        )
    ).from_(table_of(table))


def read_through(query: exp.Expression, readings: Mapping[str, exp.Select]) -> exp.Expression:
    """A query that reads the named tables through the given ones.

    >>> zips = reading("t", {"zip": "UPPER({c})"}, "duckdb")
    >>> read_through(row_count("t"), {"t": zips}).sql()
    'SELECT COUNT(*) AS n FROM (SELECT UPPER("zip") AS "zip" FROM "t") AS "t"'
    """
    if not readings:
        return query
    local = {cte.alias for cte in query.find_all(exp.CTE)}

    def replaced(node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Table) or node.name in local:
            return node
        found = readings.get(attached_name(node, readings))
        if found is None:
            return node
        alias = node.args.get("alias") or exp.TableAlias(this=node.this.copy())
        return exp.Subquery(this=found.copy(), alias=alias)

    return query.transform(replaced)


def attached_name(table: exp.Table, names: Iterable[str]) -> str:
    """Which of the names, as given to `table_of`, a query means; without quotes case does not matter."""
    name = f"{table.db}.{table.name}" if table.db else table.name
    if table.this.args.get("quoted"):
        return name
    return next((known for known in names if known.lower() == name.lower()), name)
