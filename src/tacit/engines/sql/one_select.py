"""One SELECT: a query of the gateway as the ledger keeps it: without the views that stand in it as
subqueries, where that is plain.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp

CLAUSES = ("expressions", "from_", "where")  # of a SELECT that looks at each row by itself


def one_select(sql: str, dialect: str) -> str:
    """The same query with the conditions of plain subqueries in its own WHERE, and in no order:
    the ledger keeps rows without one. Both have the same rows, each as often.

    >>> one_select(
    ...     'SELECT "b"."x" AS "x" FROM (SELECT "a"."y" AS "x" FROM "t" AS "a" '
    ...     'WHERE "a"."z" > 1) AS "b" WHERE "b"."x" < 5 ORDER BY 1',
    ...     "duckdb",
    ... )
    'SELECT "a"."y" AS "x" FROM "t" AS "a" WHERE ("a"."z" > 1) AND ("a"."y" < 5)'
    """
    tree = sqlglot.parse_one(sql, read=dialect)
    if isinstance(tree, exp.Select) and not tree.args.get("limit") and not tree.args.get("offset"):
        tree.set("order", None)
    while isinstance(tree, exp.Select) and (inner := _plain_source(tree)) is not None:
        tree = _merged(tree, *inner)
    return tree.sql(dialect=dialect, comments=False)


def tables_in(sql: str, dialect: str) -> set[str]:
    """The tables that a judged query reads, as the plan names them."""
    return {
        f"{node.db}.{node.name}" if node.db else node.name
        for node in sqlglot.parse_one(sql, read=dialect).find_all(exp.Table)
    }


def _plain_source(tree: exp.Select) -> tuple[exp.Select, str] | None:
    """The subquery that a plain SELECT reads alone, where it is plain itself, and its name."""
    source = tree.args["from_"].this if tree.args.get("from_") else None
    if not isinstance(source, exp.Subquery) or not _is_plain(tree):
        return None
    inner = source.this
    others = {key for key, value in source.args.items() if value} - {"this", "alias"}
    if others or not isinstance(inner, exp.Select) or not _is_plain(inner):
        return None
    named = all(isinstance(one, exp.Alias | exp.Column) for one in inner.expressions)
    return (inner, source.alias) if named and source.alias else None


def _is_plain(tree: exp.Select) -> bool:
    """Is each of its rows computed from one row, without a query inside?"""
    if {key for key, value in tree.args.items() if value} - set(CLAUSES):
        return False
    parts = [*tree.expressions, *([tree.args["where"]] if tree.args.get("where") else ())]
    strange = (exp.Query, exp.AggFunc, exp.Window, exp.UDTF, exp.Star)
    return not any(part.find(*strange) for part in parts)


def _merged(tree: exp.Select, inner: exp.Select, alias: str) -> exp.Select:
    """The outer SELECT over what the inner one reads."""
    means = {one.alias_or_name: one.unalias() for one in inner.expressions}

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.table == alias:
            found = means[node.name].copy()
            return found if isinstance(found, exp.Column | exp.Literal) else exp.Paren(this=found)
        return node

    outer = tree.transform(put)
    assert isinstance(outer, exp.Select)
    conditions = [
        exp.Paren(this=one.args["where"].this.copy())
        for one in (inner, outer)
        if one.args.get("where")
    ]
    outer.set("from_", inner.args["from_"].copy())
    outer.set("where", exp.Where(this=exp.and_(*conditions, copy=False)) if conditions else None)
    return outer
