"""Shapes of synthetic people: drawn as numbers of groups and values, written with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from tacit.engines.base import SQL_TYPES
from tacit.engines.sql import shapes
from tacit.engines.sql.shapes import column, table_of

ROWS, GROUPS, VALUES = "tacit_rows", "tacit_groups", "tacit_values"


@dataclass(frozen=True, slots=True)
class OutputShape:
    """The columns of the output: their names (no `count`:
    one row for each person), kinds, and the labels that parts have the places of.
    """

    group: str
    value: str
    count: str | None
    groups: Sequence[Any]
    values: Sequence[Any]
    group_kind: str = "text"
    value_kind: str = "text"

    @property
    def names(self) -> list[str]:
        """The columns in their order."""
        return [self.group, self.value, *([self.count] if self.count is not None else [])]


def ordered(shape: OutputShape, *, typed: bool) -> exp.Select:
    """The rows of the output, in the random order that was drawn with them.

    >>> ordered(OutputShape("work", "home", None, [], []), typed=False).sql()[:58]
    'SELECT "tacit_groups"."label" AS "work", "tacit_values"."l'
    """

    def shown(relation: str, name: str, kind: str) -> exp.Expr:
        label: exp.Expr = column("label", relation)
        if typed and kind != "text":
            label = exp.cast(label, SQL_TYPES.get(kind, "TEXT"))
        return exp.alias_(label, name, quoted=True)

    columns = [
        shown(GROUPS, shape.group, shape.group_kind),
        shown(VALUES, shape.value, shape.value_kind),
    ]
    if shape.count is not None:
        columns.append(exp.alias_(column("count", ROWS), shape.count, quoted=True))
    return (
        exp.select(*columns)
        .from_(table_of(ROWS))
        .join(table_of(GROUPS), on=column("group", ROWS).eq(column("number", GROUPS)))
        .join(table_of(VALUES), on=column("value", ROWS).eq(column("number", VALUES)))
        .order_by(*(column(name, ROWS) for name in ("order", "group", "value")))
    )


def totals() -> exp.Select:
    """How many rows and people were drawn, and how often."""
    whole = [
        exp.Count(this=exp.Star()),
        *(
            exp.Coalesce(this=one, expressions=[exp.Literal.number(0)])
            for one in (
                exp.Sum(this=shapes.column("count")),
                exp.Sum(this=shapes.column("tries")),
                exp.Max(this=shapes.column("tries")),
            )
        ),
    ]
    return exp.select(*(exp.alias_(one, f"t{at}") for at, one in enumerate(whole))).from_(
        shapes.table_of(ROWS)
    )
