"""Domains against the data: a value that a closed domain does not have makes it false."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.engines.sql import shapes
from tacit.errors import DataError

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.families.queries.query import Relation
    from tacit.model.schema import Table
    from tacit.plan.plan import Plan


def check_domains(plan: Plan, engine: Engine, table: Table, relation: Relation) -> None:
    """Raise DataError where a column has values that its domain does not have: what is impossible
    by the plan would be there.
    """
    for column, values in table.domains.items():
        seen = {value for (value,) in engine.rows(shapes.distinct_rows(table.name, [column]))}
        if not seen <= {None, *relation.domains[column], *values}:
            raise DataError(
                f"column {column} of table {table.name} has values that its domain does not have.",
                hint="Add them to the domain, or leave the domain out.",
                mark=plan.mark("tables", table.name, "domains", column),
            )
