"""View drafts: further views as SQL in the words of the source, and as lines for the plan."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlglot import exp

from tacit.engines.sql.shapes_drafted import all_of, between, one_of, shown_where
from tacit.families.overlaps.restore.candidates import Between, Condition, OneOf
from tacit.families.overlaps.runs.restore_results import FurtherView
from tacit.plan.edit.spelling import scalar
from tacit.plan.edit.spelling import written as spelled
from tacit.plan.plan import Check

NAME = "further"


def query(table: str, sensitive: str, condition: exp.Expr, dialect: str) -> str:
    """The SQL of a view that shows the sensitive column of some people.

    >>> query("patients", "condition", written((Between("age", 25, 26),), "duckdb"), "duckdb")
    'SELECT condition FROM patients WHERE age BETWEEN 25 AND 26'
    """
    return shown_where(table, [sensitive], condition, dialect).sql(dialect=dialect)


def written(condition: Condition, dialect: str) -> exp.Expr:
    """A condition as SQL.

    >>> written((Between("age", 25, 25), OneOf("Zip Code", ("a", "b"))), "duckdb").sql("duckdb")
    'age = 25 AND "Zip Code" IN (\\'a\\', \\'b\\')'
    """
    return all_of(_written(one, dialect) for one in condition)


def _written(one: Between | OneOf, dialect: str) -> exp.Expr:
    if isinstance(one, Between):
        return between(one.column, one.low, one.high, dialect)
    return one_of(one.column, one.values, dialect)


def draft(check: Check, views: Sequence[FurtherView]) -> str:
    """Lines for the plan: the further views, and the check with all of them.

    >>> check = Check(
    ...     "gamma-privacy", {"gamma": 1}, releases=("a",), given=(), collude=(("x", "y"),)
    ... )
    >>> print(draft(check, [FurtherView("further-1", "SELECT x FROM t", 2, to=("x",))]), end="")
    releases:
      further-1: {query: "SELECT x FROM t", to: [x]}
    checks:
      - gamma-privacy: {releases: [a, further-1], gamma: 1, given: [], collude: [[x, "y"]]}
    """
    told: dict[str, Any] = {
        "releases": [*check.releases, *(one.name for one in views)],
        **check.parameters,
    }
    told |= {} if check.given is None else {"given": check.given}
    told |= {"collude": check.collude} if check.collude else {}
    told |= {"name": check.name} if check.name else {}
    to = [f", to: {spelled(one.to)}" if one.to else "" for one in views]
    lines = [
        "releases:",
        *(
            f"  {scalar(one.name)}: {{query: {scalar(one.query)}{some}}}"
            for one, some in zip(views, to, strict=True)
        ),
    ]
    return "\n".join([*lines, "checks:", f"  - {check.kind}: {spelled(told)}", ""])


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
