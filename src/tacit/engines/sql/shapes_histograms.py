"""Shapes of histograms: rows counted between edges, by value, and by month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import reduce

from sqlglot import exp

from tacit.engines.sql import shapes


def bin_counts(table: str, edges: Mapping[str, Sequence[Decimal]]) -> exp.Select:
    """How many rows of each column lie below its first edge, between two
    of them, and from the last one on.

    >>> bin_counts("t", {"a": [Decimal(5), Decimal(9)]}).sql()
    'SELECT COUNT(CASE WHEN "a" < 5 THEN 1 END) AS f0, COUNT(CASE WHEN "a" >= 5 AND "a" < 9 THEN 1 END) AS f1, COUNT(CASE WHEN "a" >= 9 THEN 1 END) AS f2 FROM "t"'
    """  # noqa: E501
    counts: list[exp.Expr] = []
    for name, places in edges.items():
        for low, high in zip([None, *places], [*places, None], strict=True):
            parts: list[exp.Expression] = []
            if low is not None:
                parts.append(
                    exp.GTE(this=shapes.column(name), expression=exp.Literal.number(f"{low:f}"))
                )
            if high is not None:
                parts.append(
                    exp.LT(this=shapes.column(name), expression=exp.Literal.number(f"{high:f}"))
                )
            counts.append(
                shapes.count_where(reduce(both, parts))
                if parts
                else exp.Count(this=shapes.column(name))
            )
    return exp.select(*(exp.alias_(count, f"f{i}") for i, count in enumerate(counts))).from_(
        shapes.table_of(table)
    )


def both(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    """Two conditions together."""
    return exp.And(this=one, expression=other)


def value_counts(table: str, what: exp.Expr, limit: int | None = None) -> exp.Select:
    """Values with the number of their rows, the most frequent first.

    >>> value_counts("t", shapes.column("a"), 5).sql()
    'SELECT v, COUNT(*) AS n FROM (SELECT "a" AS v FROM "t" WHERE NOT "a" IS NULL) AS c GROUP BY v ORDER BY n DESC, v LIMIT 5'
    """  # noqa: E501
    known = (
        exp.select(exp.alias_(what, "v"))
        .from_(shapes.table_of(table))
        .where(exp.not_(what.copy().is_(exp.null())))
    )
    counted = (
        exp.select("v", exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(known.subquery("c"))
        .group_by("v")
    )
    counted = counted.order_by(exp.Ordered(this=exp.column("n"), desc=True), exp.column("v"))
    return counted if limit is None else counted.limit(limit)


def month(name: str, *, is_text: bool) -> exp.Expr:
    """The month of a date: 12 times the year and the month; of one that is text, its letters.

    >>> month("born", is_text=True).sql(), month("born", is_text=False).sql()
    ('SUBSTRING("born", 1, 7)', 'CAST(EXTRACT(YEAR FROM "born") * 12 + EXTRACT(MONTH FROM "born") AS BIGINT)')
    """  # noqa: E501
    column = shapes.column(name)
    if is_text:
        return exp.Substring(this=column, start=exp.Literal.number(1), length=exp.Literal.number(7))
    year, of_year = (
        exp.Extract(this=exp.var(unit), expression=column.copy()) for unit in ("YEAR", "MONTH")
    )
    total = exp.Add(this=exp.Mul(this=year, expression=exp.Literal.number(12)), expression=of_year)
    return exp.cast(total, "BIGINT")
