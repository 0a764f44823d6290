"""Shapes about single people: who has some values, and whose key contains a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from tacit.engines.sql import shapes


def is_missing(columns: Sequence[str], unknown: Sequence[Any] = ()) -> exp.Expr:
    """Has a row of `t` no value in one of some columns, or one that counts as none?

    >>> print(is_missing(["ill"], ["?"]).sql())
    "t"."ill" IS NULL OR "t"."ill" IN ('?')
    """
    tests: list[exp.Expr] = [shapes.column(name, "t").is_(exp.null()) for name in columns]
    if unknown:
        tests.append(
            exp.In(
                this=shapes.column(columns[0], "t"),
                expressions=[shapes.literal(one) for one in unknown],
            )
        )
    return exp.or_(*tests)


SPAN = ("place", "after", "upto")


def people_among(
    table: str,
    identity: Sequence[str],
    among: Sequence[tuple[Mapping[str, Any], tuple[int, int, int]]],
    missing: Sequence[exp.Expr],
    *,
    once: bool,
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """Who has the values of some combinations: of each the people after one place and up to
    another, in the order of their keys.

    The combinations have the same columns, and `missing` says that others have no value. Each comes
    with a number; what is returned is that number, the place, and the key. `once`: people may have
    several rows, and count once.

    >>> print(
    ...     people_among(
    ...         "t", ["name"], [({"zip": "1"}, (0, 0, 25))], [is_missing(["age"])], once=False
    ...     ).sql(dialect="duckdb")
    ... )
    SELECT place, n, i0 FROM (SELECT place, after, upto, i0, ROW_NUMBER() OVER (PARTITION BY place ORDER BY "i0") AS n FROM (SELECT v.place, v.after, v.upto, "t"."name" AS i0 FROM "t" AS t INNER JOIN (VALUES ('1', 0, 0, 25)) AS v(c0, place, after, upto) ON "t"."zip" = v.c0 WHERE "t"."age" IS NULL) AS a) AS b WHERE n > after AND n <= upto
    """  # noqa: E501
    given = list(among[0][0])
    lines = [(*(shapes.literal(values[name]) for name in given), *span) for values, span in among]
    asked = exp.values(lines, alias="v", columns=[*(f"c{i}" for i in range(len(given))), *SPAN])
    keys = [f"i{i}" for i in range(len(identity))]
    rows = exp.select(
        *(exp.column(name, table="v") for name in SPAN),
        *(
            exp.alias_(shapes.column(name, "t"), key)
            for name, key in zip(identity, keys, strict=True)
        ),
    ).from_(exp.alias_(shapes.table_of(table), "t", table=True))
    same = [
        shapes.column(name, "t").eq(exp.column(f"c{i}", table="v")) for i, name in enumerate(given)
    ]
    rows = rows.join(asked, on=exp.and_(*same) if same else exp.true(), join_type="inner")
    if missing:
        rows = rows.where(*missing)
    if once:
        rows = rows.distinct()
    sorted_by = {
        key: (collations or {})[name]
        for name, key in zip(identity, keys, strict=True)
        if name in (collations or {})
    }
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column("place")],
        order=exp.Order(expressions=shapes.order_by(keys, sorted_by)),
    )
    numbered = exp.select(*map(exp.column, (*SPAN, *keys)), exp.alias_(place, "n")).from_(
        rows.subquery("a")
    )
    within = [
        exp.GT(this=exp.column("n"), expression=exp.column("after")),
        exp.LTE(this=exp.column("n"), expression=exp.column("upto")),
    ]
    return (
        exp.select(*map(exp.column, ("place", "n", *keys)))
        .from_(numbered.subquery("b"))
        .where(*within)
    )


def containing(
    table: str,
    keys: Sequence[str],
    columns: Sequence[str],
    text: str,
    *,
    limit: int,
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """The distinct rows whose keys, written one after the other, contain a text in any case;
    the shortest first.

    >>> print(containing("t", ["name"], ["name", "zip"], "Bo", limit=5).sql(dialect="duckdb"))
    SELECT x0, x1 FROM (SELECT DISTINCT "name" AS x0, "zip" AS x1, LENGTH(COALESCE(CAST("name" AS TEXT), '')) AS size FROM "t" WHERE STRPOS(LOWER(COALESCE(CAST("name" AS TEXT), '')), 'bo') > 0) AS f ORDER BY size, "x0", "x1" LIMIT 5
    """  # noqa: E501
    written: exp.Expr = exp.Literal.string("")
    for number, name in enumerate(keys):
        one = exp.Coalesce(
            this=exp.cast(shapes.column(name), "TEXT"), expressions=[exp.Literal.string("")]
        )
        spaced = exp.DPipe(this=written, expression=exp.Literal.string(" "), safe=True)
        written = exp.DPipe(this=spaced, expression=one, safe=True) if number else one
    place = exp.StrPosition(
        this=exp.Lower(this=written.copy()), substr=exp.Literal.string(text.lower())
    )
    names = {name: f"x{i}" for i, name in enumerate(columns)}
    found = (
        exp.select(
            *(exp.alias_(shapes.column(name), x) for name, x in names.items()),
            exp.alias_(exp.Length(this=written), "size"),
        )
        .distinct()
        .from_(shapes.table_of(table))
        .where(exp.GT(this=place, expression=exp.Literal.number(0)))
    )
    sorted_by = {
        x: (collations or {})[name] for name, x in names.items() if name in (collations or {})
    }
    return (
        exp.select(*map(exp.column, names.values()))
        .from_(found.subquery("f"))
        .order_by(exp.column("size"), *shapes.order_by(list(names.values()), sorted_by))
        .limit(limit)
    )
