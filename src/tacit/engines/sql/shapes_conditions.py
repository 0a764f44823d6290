"""Shapes of conditions: many at once, as wide expressions and as the bits of integers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tacit.engines.sql import shapes_stored

BITS = 60  # in one integer


def any_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Is one of them true? Not by OR: engines limit how deep an expression goes, not how wide."""
    return (
        exp.Case(
            ifs=[exp.If(this=one.copy(), true=exp.true()) for one in conditions],
            default=exp.false(),
        )
        if conditions
        else exp.false()
    )


def in_words(name: str, conditions: Sequence[exp.Expr]) -> dict[str, exp.Expr]:
    """Conditions as the bits of a few integers."""
    return {
        f"{name}{at // BITS}": shapes_stored.bits(conditions[at : at + BITS])
        for at in range(0, len(conditions), BITS)
    }


def with_value(expression: exp.Expr, column: str, value: exp.Expr) -> exp.Expr:
    """An expression with a constant in the place of a column."""
    return expression.transform(
        lambda node: value.copy() if isinstance(node, exp.Column) and node.name == column else node
    )
