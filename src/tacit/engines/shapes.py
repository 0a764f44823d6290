"""The SQL we send: every query shape as a function that builds a sqlglot tree.

Each shape has a line in `tests/conformance/`, run on DuckDB, PostgreSQL and Spark with equal
answers expected. Only what the three agree on is used here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
    outputs = [f"k{i}" for i in range(len(keys))] + (["person"] if person else [])
    return grouped(coded_rows(table, sizes, keys=keys, person=person, collations=collations), outputs)


def coded_rows(
    table: str,
    sizes: Mapping[str, int],
    *,
    keys: Sequence[Sequence[str]],
    person: Sequence[str] = (),
    carried: Sequence[str] = (),
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """Every row with its packed combination k0, k1, ..., its person, and the carried columns as c0, c1, ..."""
    collations = collations or {}
    names = [name for key in keys for name in key]
    alias = {name: f"d{i}" for i, name in enumerate(names)}
    query = exp.select(
        *(exp.alias_(packed(key, sizes, alias), f"k{i}") for i, key in enumerate(keys)),
        *(exp.alias_(column(name, "t"), f"c{i}") for i, name in enumerate(carried)),
    ).from_(exp.alias_(table_of(table), "t", table=True))
    for name in names:
        query = query.join(
            numbered(table, [name], collations).subquery(alias[name], copy=False),
            on=column(name, "t").eq(exp.column("v0", table=alias[name])),
            join_type="left",
            copy=False,
        )
    if person:
        people = numbered(table, person, collations).subquery("p")
        query = query.join(people, on=exp.and_(*same_person(person)), join_type="inner").select(
            exp.alias_(exp.column("code", table="p"), "person")
        )
    return query


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


def recoded(
    table: str,
    columns: Sequence[str],
    *,
    labels: Mapping[str, str],
    missing: Mapping[str, tuple[str | None, int]],
    constants: Mapping[str, str] | None = None,
    as_is: Collection[str] = (),
    left_out: str | None = None,
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """The rows of a table in random order, each value of some columns replaced by the label of its code.

    `labels[column]` names a relation (code, label, number) of the column's codes as in `dictionary`;
    `missing` has the label and the number of NULL. `constants` are columns with one label for all.
    Columns in `as_is` have numbers, and show their values. Rows are left out whose numbers, one for each
    column of `labels` in order, stand in the relation `left_out` (n0, n1, ...).

    >>> print(recoded("t", ["sex", "ill"], labels={}, missing={}, constants={"sex": "*"}).sql())
    SELECT '*' AS "sex", "t"."ill" AS "ill" FROM "t" AS t ORDER BY RAND()
    """
    alias = {name: f"d{i}" for i, name in enumerate(labels)}
    query = exp.select(
        *(exp.alias_(shown(name, alias, missing, constants or {}, as_is), name, quoted=True) for name in columns)
    ).from_(exp.alias_(table_of(table), "t", table=True))
    for name, relation in labels.items():
        query = query.join(
            labelled(table, name, relation, collations or {}).subquery(alias[name]),
            on=column(name, "t").eq(exp.column("v0", table=alias[name])),
            join_type="left",
        )
    if left_out is not None:
        numbers = (
            exp.Coalesce(this=exp.column("number", table=alias[name]), expressions=[exp.Literal.number(missing[name][1])])
            for name in labels
        )
        same = [exp.column(f"n{i}", table="s").eq(number) for i, number in enumerate(numbers)]
        query = query.join(exp.alias_(table_of(left_out), "s", table=True), on=exp.and_(*same), join_type="left")
        query = query.where(exp.column("n0", table="s").is_(exp.null()))
    return query.order_by(exp.Rand())


def shown(
    name: str,
    alias: Mapping[str, str],
    missing: Mapping[str, tuple[str | None, int]],
    constants: Mapping[str, str],
    as_is: Collection[str],
) -> exp.Expr:
    """What a recoded table shows in a column: one label for all, the value's label, or the value."""
    if name in constants:
        return exp.Literal.string(constants[name])
    if name not in alias or name in as_is:
        return column(name, "t")
    label = exp.column("label", table=alias[name])
    if missing[name][0] is None:
        return label
    absent = column(name, "t").is_(exp.null())
    return exp.Case().when(absent, exp.Literal.string(str(missing[name][0]))).else_(label)


def labelled(table: str, name: str, relation: str, collations: Mapping[str, str]) -> exp.Select:
    """A column's values v0 with the labels and the numbers that a relation has for their codes."""
    return (
        exp.select(exp.column("v0", table="n"), exp.column("label", table="m"), exp.column("number", table="m"))
        .from_(numbered(table, [name], collations).subquery("n"))
        .join(
            exp.alias_(table_of(relation), "m", table=True),
            on=exp.column("code", table="m").eq(exp.column("code", table="n")),
        )
    )


def regrouped(
    table: str,
    columns: Sequence[str],
    *,
    sizes: Mapping[str, int],
    keys: Sequence[Sequence[str]],
    person: Sequence[str] = (),
    cells: str,
    groups: str,
    labels: Mapping[str, int],
    divided: bool,
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """The rows of a table in random order, each with the labels of the group that its combination is in.

    `cells` names a relation (k0, k1, ..., person, number): the group of a combination, packed as in
    `coded_counts`; rows without one are left out. `groups` is (number, l0, l1, ...), and `labels` says
    which of them stands in which column. Where `divided`, the rows of a combination are dealt to
    several groups at random: `cells` then has `after` and `upto`, of the rows from 1 on.
    """
    parts = [*(f"k{i}" for i in range(len(keys))), *(["person"] if person else [])]
    carried = [name for name in columns if name not in labels]
    rows = coded_rows(table, sizes, keys=keys, person=person, carried=carried, collations=collations)
    same: list[exp.Expr] = [exp.column(part, table="s").eq(exp.column(part, table="r")) for part in parts]
    if divided:
        rows = dealt(rows, parts)
        same += [
            exp.GT(this=exp.column("place", table="r"), expression=exp.column("after", table="s")),
            exp.LTE(this=exp.column("place", table="r"), expression=exp.column("upto", table="s")),
        ]
    place = {name: exp.column(f"c{i}", table="r") for i, name in enumerate(carried)}
    place |= {name: exp.column(f"l{i}", table="g") for name, i in labels.items()}
    return (
        exp.select(*(exp.alias_(place[name], name, quoted=True) for name in columns))
        .from_(rows.subquery("r"))
        .join(exp.alias_(table_of(cells), "s", table=True), on=exp.and_(*same))
        .join(
            exp.alias_(table_of(groups), "g", table=True),
            on=exp.column("number", table="g").eq(exp.column("number", table="s")),
        )
        .order_by(exp.Rand())
    )


def dealt(rows: exp.Select, parts: Sequence[str]) -> exp.Select:
    """Rows with their place, from 1 on, among those that are alike in some columns, drawn at random."""
    # The draw is a column of its own: DuckDB wants to sort a window by nothing that changes.
    drawn = exp.select(exp.Star(), exp.alias_(exp.Rand(), "draw")).from_(rows.subquery("a"))
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column(part) for part in parts],
        order=exp.Order(expressions=[exp.column("draw")]),
    )
    return exp.select(exp.Star(), exp.alias_(place, "place")).from_(drawn.subquery("b"))


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


def as_read(one: exp.Expr, how: str, dialect: str) -> exp.Expr:
    """A column read as `how` says, which is the engine's own SQL with `{c}` for the column.

    >>> as_read(column("id", "t"), "CAST({c} AS TEXT)", "postgres").sql()
    'CAST("t"."id" AS TEXT)'
    """
    return one if how == "{c}" else parse_one(how.format(c=one.sql(dialect=dialect)), dialect=dialect)


def stored_rows(
    table: str,
    outputs: Mapping[str, exp.Expr],
    *,
    labels: Mapping[str, tuple[exp.Select, exp.Expr]] | None = None,
    over: Mapping[str, exp.Expr] | None = None,
    where: exp.Expr | None = None,
) -> exp.Select:
    """Expressions over the columns of a table as the engine itself has them, not as other shapes read them.

    What a user's own SQL says is meant for these columns, here those of `t`. `labels` are relations to join with, by alias: each
    with the expression that is to equal its column v0; a row without a partner stays. With `over`, `t` has only the distinct
    combinations of some expressions, by the names of the columns that they stand for.

    >>> stored_rows("s.people", {"b0": bits([column("age", "t").eq(literal(28))])}).sql()
    'SELECT CAST(0 AS BIGINT) + CASE WHEN "t"."age" = 28 THEN 1 ELSE 0 END AS b0 FROM "s"."people" AS t'
    """
    parts = [exp.to_identifier(part, quoted=True) for part in table.split(".")[-2:]]
    # No exp.Table: that is what engines look for when they put the reading of a table in its place.
    name = exp.Dot(this=parts[0], expression=parts[1]) if len(parts) > 1 else parts[0]
    source: exp.Expr = exp.alias_(name, "t")
    if over:
        inner = exp.select(*(exp.alias_(one, alias, quoted=True) for alias, one in over.items())).from_(source, copy=False)
        source = inner.distinct(copy=False).subquery("t", copy=False)
    # Expressions can be thousands of conditions: what is built from them is copied once, when it is written out.
    query = exp.select(*(exp.alias_(one, alias, copy=False) for alias, one in outputs.items()), copy=False).from_(source, copy=False)
    for alias, (relation, value) in (labels or {}).items():
        same = value.eq(exp.column("v0", table=alias))
        query = query.join(relation.subquery(alias), on=same, join_type="left", copy=False)
    return query if where is None else query.where(where, copy=False)


def bits(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Which of up to 60 conditions are true of a row, in one integer, the first in the lowest bit."""
    total: exp.Expr = exp.cast(exp.Literal.number(0), "BIGINT")
    for place, condition in enumerate(conditions):
        true = exp.If(this=condition, true=exp.Literal.number(1 << place))
        total = exp.Add(this=total, expression=exp.Case(ifs=[true], default=exp.Literal.number(0)))
    return total


def text_where(condition: exp.Expr, shown: exp.Expr, collation: str | None = None) -> exp.Expr:
    """What a row shows where a condition is true of it, as text that is the same only if it is written the same; else NULL.

    >>> text_where(column("age", "t").eq(literal(28)), column("zip", "t"), "C").sql()
    'CASE WHEN "t"."age" = 28 THEN CAST("t"."zip" AS TEXT) COLLATE "C" END'
    """
    text: exp.Expr = exp.cast(shown, "TEXT")
    if collation is not None:
        text = exp.Collate(this=text, expression=exp.to_identifier(collation, quoted=True))
    return exp.Case().when(condition, text)


def tallied(query: exp.Select, outputs: Sequence[str], limit: int | None = None) -> exp.Select:
    """How often each combination of columns occurs in a query, in no order; at most `limit` of them.

    >>> tallied(columns_of("t", ["zip"]), ["zip"]).sql()
    'SELECT "zip", COUNT(*) AS n FROM (SELECT "zip" FROM "t") AS c GROUP BY "zip"'
    """
    found = (
        exp.select(*(column(name) for name in outputs), exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(query.subquery("c", copy=False), copy=False)
        .group_by(*(column(name) for name in outputs), copy=False)
    )
    return found if limit is None else found.limit(limit, copy=False)


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
    conditions = [
        column(name).is_(exp.null()) if value is None else column(name).eq(literal(value))
        for name, value in (equal or {}).items()
    ]
    found = (
        exp.select(*(column(name) for name in outputs))
        .from_(query.subquery("c", copy=False), copy=False)
        .where(*conditions, copy=False)
        .order_by(*order_by(by, collations or {}), copy=False)
    )
    return found if limit is None else found.limit(limit, copy=False)


def coded_sums(
    table: str,
    sizes: Mapping[str, int],
    *,
    keys: Sequence[Sequence[str]],
    amount: str | None = None,
    between: tuple[int, int] | None = None,
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """Add up a column of whole numbers by combination, packed as in `coded_counts`; without one, count rows.

    With `between`, only combinations whose first integer is from the one number to the other.
    """
    outputs = [f"k{i}" for i in range(len(keys))]
    rows = coded_rows(table, sizes, keys=keys, carried=[amount] if amount else [], collations=collations)
    many: exp.Expr = exp.Count(this=exp.Star())
    if amount:
        # Row by row first: DuckDB adds up BIGINT in wider integers, PostgreSQL in decimals.
        many = exp.cast(exp.Sum(this=exp.cast(exp.column("c0"), "BIGINT")), "BIGINT")
    query = exp.select(*(exp.column(name) for name in outputs), exp.alias_(many, "n")).from_(rows.subquery("c", copy=False), copy=False)
    if between is not None:
        low, high = (exp.Literal.number(number) for number in between)
        query = query.where(exp.Between(this=exp.column("k0"), low=low, high=high), copy=False)
    names = [exp.column(name) for name in outputs]
    return query.group_by(*names, copy=False).order_by(*(name.copy() for name in names), copy=False)


def amount_faults(table: str, name: str, most: int, *, whole: bool) -> exp.Select:
    """How many rows have in a column of numbers: none, a negative one, one above `most`, one that is not whole (unless all are).

    >>> amount_faults("t", "jobs", 9, whole=True).sql()
    'SELECT COUNT(*) - COUNT("jobs") AS f0, COUNT(CASE WHEN "jobs" < 0 THEN 1 END) AS f1, COUNT(CASE WHEN "jobs" > 9 THEN 1 END) AS f2, 0 AS f3 FROM "t"'
    """
    one = column(name)
    faults: list[exp.Expr] = [
        exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Count(this=one)),
        count_where(exp.LT(this=one.copy(), expression=exp.Literal.number(0))),
        count_where(exp.GT(this=one.copy(), expression=exp.Literal.number(most))),
        exp.Literal.number(0) if whole else count_where(exp.NEQ(this=one.copy(), expression=exp.Floor(this=one.copy()))),
    ]
    return exp.select(*(exp.alias_(fault, f"f{i}") for i, fault in enumerate(faults))).from_(table_of(table))
