"""A statement made as short as it can be while the same is wrong with it:
parts are taken out, or replaced by what is in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp

Wrong = Callable[[str], bool]


def minimised(sql: str, wrong: Wrong, dialect: str = "duckdb") -> str:
    """The shortest statement that was found with `wrong` still true of it.

    >>> minimised(
    ...     "SELECT a, b + 1 AS c FROM t WHERE a = 1 AND b = 2 ORDER BY a",
    ...     lambda sql: "b" in sql.split("FROM")[0] and "FROM t" in sql,
    ... )
    'SELECT b FROM t'
    """
    while True:
        shorter = next(
            (one for one in _shorter(sql, dialect) if len(one) < len(sql) and wrong(one)), None
        )
        if shorter is None:
            return sql
        sql = shorter


def _shorter(sql: str, dialect: str) -> Iterator[str]:
    """The statement with one part less, the largest parts first."""
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        return
    for at in range(len(list(tree.walk()))):
        for change in range(1 + len(list(_parts(list(tree.walk())[at])))):
            copy = tree.copy()
            node = list(copy.walk())[at]
            try:
                changed = (
                    _without(copy, node)
                    if change == 0
                    else _replaced(copy, node, list(_parts(node))[change - 1])
                )
                if changed is not None:
                    yield changed.sql(dialect=dialect)
            except (sqlglot.errors.SqlglotError, ValueError, TypeError, AttributeError):
                continue


def _without(tree: exp.Expr, node: exp.Expr) -> exp.Expr | None:
    if node.parent is None:
        return None
    node.pop()
    return tree


def _replaced(tree: exp.Expr, node: exp.Expr, part: exp.Expr) -> exp.Expr | None:
    if node.parent is None:
        return part.copy()
    node.replace(part.copy())
    return tree


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    yield from node.iter_expressions()
    if isinstance(node, exp.Condition) and not isinstance(
        node, exp.Literal | exp.Column | exp.Identifier
    ):
        yield exp.Literal.number(1)
        yield exp.true()
