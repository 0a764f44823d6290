"""Tables as the engine has them: read in the form that all engines share, or asked as a user's
own SQL means them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp, parse_one

from tacit.engines.sql.shapes import column, count_where, table_of


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


def lost_counts(table: str, lost: Mapping[str, str], dialect: str) -> exp.Select:
    """How many values of each column meet a condition on the column as the engine has it, in its
    own SQL with `{c}` for the column.

    >>> lost_counts("t", {"born": "NOT ISFINITE({c})"}, "duckdb").sql(dialect="duckdb")
    'SELECT COUNT(CASE WHEN NOT ISFINITE("t"."born") THEN 1 END) AS c0 FROM "t" AS t'
    """
    conditions = [as_read(column(name, "t"), sql, dialect) for name, sql in lost.items()]
    return stored_rows(table, {f"c{i}": count_where(one) for i, one in enumerate(conditions)})


def read_through(query: exp.Expression, readings: Mapping[str, exp.Select]) -> exp.Expression:
    """A query that reads the named tables through the given ones.

    >>> zips = reading("t", {"zip": "UPPER({c})"}, "duckdb")
    >>> from tacit.engines.sql.shapes import row_count
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
    """Which of the names, as given to `table_of`, a query means;
    without quotes case does not matter.
    """
    name = f"{table.db}.{table.name}" if table.db else table.name
    if table.this.args.get("quoted"):
        return name
    return next((known for known in names if known.lower() == name.lower()), name)


def missing_rows(
    table: str, columns: Sequence[str], other: str, others: Sequence[str]
) -> exp.Expression:
    """A row of a table, all its values as text, that another table has not, or not as often;
    nothing where all are there.

    >>> missing_rows("t", ["zip"], "u", ["Zip"]).sql()
    'SELECT CAST("zip" AS TEXT) AS c0 FROM "t" EXCEPT ALL SELECT CAST("Zip" AS TEXT) AS c0 FROM "u" LIMIT 1'
    """  # noqa: E501

    def texts(name: str, some: Sequence[str]) -> exp.Select:
        return exp.select(
            *(exp.alias_(exp.cast(column(one), "TEXT"), f"c{at}") for at, one in enumerate(some))
        ).from_(table_of(name))

    return exp.except_(texts(table, columns), texts(other, others), distinct=False).limit(1)


def as_read(one: exp.Expr, how: str, dialect: str) -> exp.Expr:
    """A column read as `how` says, which is the engine's own SQL with `{c}` for the column.

    >>> as_read(column("id", "t"), "CAST({c} AS TEXT)", "postgres").sql()
    'CAST("t"."id" AS TEXT)'
    """
    return (
        one if how == "{c}" else parse_one(how.format(c=one.sql(dialect=dialect)), dialect=dialect)
    )


def stored_rows(
    table: str,
    outputs: Mapping[str, exp.Expr],
    *,
    labels: Mapping[str, tuple[exp.Select, exp.Expr]] | None = None,
    over: Mapping[str, exp.Expr] | None = None,
    where: exp.Expr | None = None,
) -> exp.Select:
    """Expressions over the columns of a table as the engine itself has
    them, not as other shapes read them.

    What a user's own SQL says is meant for these columns, here those of `t`. `labels` are relations
    to join with, by alias: each with the expression that is to equal its column v0; a row without a
    partner stays. With `over`, `t` has only the distinct combinations of some expressions, by the
    names of the columns that they stand for.

    >>> from tacit.engines.sql.shapes import literal
    >>> stored_rows("s.people", {"b0": bits([column("age", "t").eq(literal(28))])}).sql()
    'SELECT CAST(0 AS BIGINT) + CASE WHEN "t"."age" = 28 THEN 1 ELSE 0 END AS b0 FROM "s"."people" AS t'
    """  # noqa: E501
    parts = [exp.to_identifier(part, quoted=True) for part in table.split(".")[-2:]]
    # No exp.Table: that is what engines look for when they put the reading of a table in its place.
    name = exp.Dot(this=parts[0], expression=parts[1]) if len(parts) > 1 else parts[0]
    source: exp.Expr = exp.alias_(name, "t")
    if over:
        inner = exp.select(
            *(exp.alias_(one, alias, quoted=True) for alias, one in over.items())
        ).from_(source, copy=False)
        source = inner.distinct(copy=False).subquery("t", copy=False)
    # Expressions can be thousands of conditions: what is built from them is
    # copied once, when it is written out.
    query = exp.select(
        *(exp.alias_(one, alias, copy=False) for alias, one in outputs.items()), copy=False
    ).from_(source, copy=False)
    for alias, (relation, value) in (labels or {}).items():
        same = value.eq(exp.column("v0", table=alias))
        query = query.join(relation.subquery(alias), on=same, join_type="left", copy=False)
    return query if where is None else query.where(where, copy=False)


def values_where(table: str, value: exp.Expr, where: exp.Expr) -> exp.Select:
    """The different values of an expression over the rows of `t` that meet a condition.

    >>> values_where("t", column("ill", "t"), column("age", "t").is_(exp.null())).sql()
    'SELECT DISTINCT "t"."ill" AS v FROM "t" AS t WHERE "t"."age" IS NULL'
    """
    return stored_rows(table, {"v": value}, where=where).distinct()


def unread_value(table: str, name: str, read: exp.Expr) -> exp.Select:
    """A row that has a value in a column and none as the column is read; nothing where there is
    none.
    """
    lost = exp.and_(column(name, "t").is_(exp.null()).not_(), read.is_(exp.null()))
    return stored_rows(table, {"v": read}, where=lost).limit(1)


def one_value(value: exp.Expr) -> exp.Select:
    """A value, as the engine has it."""
    return exp.select(exp.alias_(value, "v"))


def nothing_like(name: str) -> exp.Expr:
    """A value of `t` that is always missing, and has the type and the collation of a column.

    >>> nothing_like("ill").sql()
    'NULLIF("t"."ill", "t"."ill")'
    """
    return exp.Nullif(this=column(name, "t"), expression=column(name, "t"))


def typed_text(
    text: str | None, sql_type: str, dialect: str | None = None, *, like: str | None = None
) -> exp.Expr:
    """A constant of a type of some dialect, compared by the rules of a column where one is named.

    >>> typed_text("5", "BIGINT").sql(), typed_text(None, "int8", "postgres", like="n").sql()
    ("CAST('5' AS BIGINT)", 'COALESCE(NULLIF("t"."n", "t"."n"), CAST(NULL AS BIGINT))')
    """
    to = exp.DataType.build(sql_type, dialect=dialect)
    typed = exp.cast(exp.null() if text is None else exp.Literal.string(text), to)
    if like is None:
        return typed
    return exp.Coalesce(this=nothing_like(like), expressions=[typed])


def label_of(alias: str, value: exp.Expr, missing: str | None) -> exp.Expr:
    """The label that a relation has for a row; where the value is missing, a label of its own.

    >>> print(label_of("d0", column("zip", "t"), "*").sql())
    CASE WHEN "t"."zip" IS NULL THEN '*' ELSE d0.label END
    """
    label: exp.Expr = exp.column("label", table=alias)
    if missing is None:
        return label
    return exp.Case().when(value.is_(exp.null()), exp.Literal.string(missing)).else_(label)


def bits(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Which of up to 60 conditions are true of a row, in one
    integer, the first in the lowest bit.
    """
    total: exp.Expr = exp.cast(exp.Literal.number(0), "BIGINT")
    for place, condition in enumerate(conditions):
        true = exp.If(this=condition, true=exp.Literal.number(1 << place))
        total = exp.Add(this=total, expression=exp.Case(ifs=[true], default=exp.Literal.number(0)))
    return total


def text_where(condition: exp.Expr, shown: exp.Expr, collation: str | None = None) -> exp.Expr:
    """What a row shows where a condition is true of it, as text that is the same only if it is
    written the same; else NULL.

    >>> from tacit.engines.sql.shapes import literal
    >>> text_where(column("age", "t").eq(literal(28)), column("zip", "t"), "C").sql()
    'CASE WHEN "t"."age" = 28 THEN CAST("t"."zip" AS TEXT) COLLATE "C" END'
    """
    text: exp.Expr = exp.cast(shown, "TEXT")
    if collation is not None:
        text = exp.Collate(this=text, expression=exp.to_identifier(collation, quoted=True))
    return exp.Case().when(condition, text)
