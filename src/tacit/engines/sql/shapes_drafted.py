"""Shapes that people read: names in quotes only where they need them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlglot import Dialect, exp

from tacit.engines.sql.shapes import literal

SIMPLE = re.compile(r"[a-z_][a-z0-9_]*")


RESERVED = frozenset(
    {
        "user",
        "current_user",
        "session_user",
        "check",
        "primary",
        "foreign",
        "to",
        "both",
        "leading",
        "trailing",
        "analyse",
    }
)


def of_class(
    conditions: Mapping[str, exp.Expr],
    signs: Mapping[str, bool],
    missing: Collection[str],
    dialect: str,
) -> exp.Expr:
    """Those whom some releases select and others do not, by the conditions of these.

    `missing` are columns in which values are missing:
    a condition on them may be neither true nor false.
    """
    parts = []
    for release, selects in signs.items():
        own = conditions[release].transform(
            lambda node: named(node.name, dialect) if isinstance(node, exp.Column) else node
        )
        if not selects and any(column.name in missing for column in own.find_all(exp.Column)):
            own = exp.Coalesce(this=exp.paren(own), expressions=[exp.false()])
        parts.append(own if selects else exp.not_(own))
    return exp.and_(*parts)


def shown_where(
    table: str, columns: Sequence[str], condition: exp.Expr | None, dialect: str
) -> exp.Select:
    """Some columns of the rows that meet a condition, or of all.

    >>> shown_where("s.Stays", ["ward"], None, "duckdb").sql()
    'SELECT ward FROM s."Stays"'
    """
    *schema, name = table.split(".")
    source = exp.Table(
        this=identifier(name, dialect), db=identifier(schema[-1], dialect) if schema else None
    )
    query = exp.select(*(named(one, dialect) for one in columns)).from_(source)
    return query if condition is None else query.where(condition)


def all_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    """All conditions together."""
    return exp.and_(*conditions)


def between(column: str, low: Any, high: Any, dialect: str) -> exp.Expr:
    """That a column lies between two values, both included."""
    if low == high:
        return named(column, dialect).eq(literal(low))
    return exp.Between(this=named(column, dialect), low=literal(low), high=literal(high))


def one_of(column: str, values: Sequence[Any], dialect: str) -> exp.Expr:
    """That a column has one of some values."""
    if len(values) == 1:
        return named(column, dialect).eq(literal(values[0]))
    return named(column, dialect).isin(*(literal(value) for value in values))


def named(column: str, dialect: str) -> exp.Column:
    """A column, in quotes where its name needs them."""
    return exp.Column(this=identifier(column, dialect))


def identifier(name: str, dialect: str) -> exp.Identifier:
    """A name, in quotes unless it is a plain word of its own."""
    words = {
        word.lower()
        for key in Dialect.get_or_raise(dialect).tokenizer_class.KEYWORDS
        for word in key.split()
    }
    return exp.to_identifier(
        name, quoted=SIMPLE.fullmatch(name) is None or name in words or name in RESERVED
    )
