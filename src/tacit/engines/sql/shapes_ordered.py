"""Shapes in an order that says nothing more than the rows do."""

from __future__ import annotations

from sqlglot import exp


def in_order(tree: exp.Query, wide: int) -> exp.Select:
    """A query whose rows come in an order that says nothing more than they do:
    its own could be by what it does not show.
    """
    from sqlglot import exp

    inner = tree.subquery(
        "answer"
    )  # around it: ORDER BY in a query with DISTINCT or UNION may name less
    return (
        exp.select("*").from_(inner).order_by(*(exp.Literal.number(at + 1) for at in range(wide)))
    )
