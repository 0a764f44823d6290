"""Drafting: further views as SQL in the words of the source, and as lines for the plan."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlglot import Dialect, exp

from tacit.engines.shapes import literal
from tacit.plan.plan import Check
from tacit.repairs.candidates import Between, Condition, OneOf
from tacit.report.telling import as_yaml, key, quoted
from tacit.restoration.results import FurtherView

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
NAME = "further"


def query(table: str, sensitive: str, condition: exp.Expr, dialect: str) -> str:
    """The SQL of a view that shows the sensitive column of some people.

    >>> query("patients", "condition", written((Between("age", 25, 26),), "duckdb"), "duckdb")
    'SELECT condition FROM patients WHERE age BETWEEN 25 AND 26'
    """
    *schema, name = table.split(".")
    source = exp.Table(
        this=identifier(name, dialect), db=identifier(schema[-1], dialect) if schema else None
    )
    return exp.select(named(sensitive, dialect)).from_(source).where(condition).sql(dialect=dialect)


def written(condition: Condition, dialect: str) -> exp.Expr:
    """A condition as SQL.

    >>> written((Between("age", 25, 25), OneOf("Zip Code", ("a", "b"))), "duckdb").sql("duckdb")
    'age = 25 AND "Zip Code" IN (\\'a\\', \\'b\\')'
    """
    return exp.and_(*(_written(one, dialect) for one in condition))


def _written(one: Between | OneOf, dialect: str) -> exp.Expr:
    column = named(one.column, dialect)
    if isinstance(one, Between):
        return (
            column.eq(literal(one.low))
            if one.low == one.high
            else exp.Between(this=column, low=literal(one.low), high=literal(one.high))
        )
    return (
        column.eq(literal(one.values[0]))
        if len(one.values) == 1
        else column.isin(*(literal(value) for value in one.values))
    )


def of_class(
    conditions: Mapping[str, exp.Expr],
    signs: Mapping[str, bool],
    missing: Collection[str],
    dialect: str,
) -> exp.Expr:
    """Those whom some releases select and others do not, by the conditions of these.

    `missing` are columns in which values are missing: a condition on them may be neither true nor false.
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


def draft(check: Check, views: Sequence[FurtherView]) -> str:
    """Lines for the plan: the further views, and the check with all of them.

    >>> check = Check(
    ...     "gamma-privacy", {"gamma": 1}, releases=("a",), given=(), collude=(("x", "y"),)
    ... )
    >>> print(draft(check, [FurtherView("further-1", "SELECT x FROM t", 2, to=("x",))]), end="")
    releases:
      further-1: {query: "SELECT x FROM t", to: [x]}
    checks:
      - gamma-privacy: {releases: [a, further-1], gamma: 1, given: [], collude: [[x, y]]}
    """
    told: dict[str, Any] = {
        "releases": [*check.releases, *(one.name for one in views)],
        **check.parameters,
    }
    told |= {} if check.given is None else {"given": check.given}
    told |= {"collude": check.collude} if check.collude else {}
    told |= {"name": check.name} if check.name else {}
    to = [f", to: {as_yaml(one.to)}" if one.to else "" for one in views]
    lines = [
        "releases:",
        *(
            f"  {key(one.name)}: {{query: {quoted(one.query)}{some}}}"
            for one, some in zip(views, to, strict=True)
        ),
    ]
    return "\n".join([*lines, "checks:", f"  - {check.kind}: {as_yaml(told)}", ""])


def free_names(taken: Collection[str], many: int) -> list[str]:
    """Names for further views that no release has yet.

    >>> free_names({"further-1"}, 2)
    ['further-2', 'further-3']
    """
    found: list[str] = []
    number = 1
    while len(found) < many:
        if f"{NAME}-{number}" not in taken:
            found.append(f"{NAME}-{number}")
        number += 1
    return found
