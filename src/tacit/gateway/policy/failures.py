"""Failures: can a query fail on rows that its answer does not depend on?

A database may compute an expression for rows that a condition excludes, in whichever order it
likes. `1 / (age - 30)` beside `ward = 'A'` can then fail because of somebody in ward B: the error
would say something about rows that were never judged. What stands in SELECT over one table, behind
conditions that cannot fail, is computed for the rows that are left, and may fail: these rows are
judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from tacit.families.queries.kinds import day, moment

# Nodes that never fail, whatever values their parts have. What is not here may.
NEVER = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Null,
    exp.Boolean,
    exp.RawString,
    exp.Star,
    exp.Var,
    exp.Alias,
    exp.TableAlias,
    exp.Paren,
    exp.Tuple,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.Exists,
    exp.Count,
    exp.Min,
    exp.Max,
    exp.Filter,
    exp.RowNumber,
    exp.Rank,
    exp.DenseRank,
    exp.Select,
    exp.Union,
    exp.Intersect,
    exp.Except,
    exp.Subquery,
    exp.Values,
    exp.With,
    exp.CTE,
    exp.From,
    exp.Join,
    exp.Table,
    exp.Where,
    exp.Group,
    exp.Rollup,
    exp.Cube,
    exp.GroupingSets,
    exp.Having,
    exp.Order,
    exp.Ordered,
    exp.Limit,
    exp.Offset,
    exp.Fetch,
    exp.LimitOptions,
    exp.Distinct,
    exp.Window,
    exp.Qualify,
)
# These compare, and never fail as conditions:
# there the reader has looked at the types of both sides.
COMPARE = (
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Between,
    exp.In,
)
# A constant that fails, fails where a row reaches it: then the error tells whether one does.
# So only those that never do.
CONSTANT = (exp.Literal, exp.Null, exp.Boolean, exp.RawString)
COUNTED = (exp.Count, exp.Literal, exp.Star, exp.Column, exp.Identifier, exp.Distinct, *COMPARE)
MOST_DIGITS = 18
# Every time has these, also the first and the last that there are; date_trunc of them can fail.
PARTS_OF_TIME = frozenset({"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE"})
CONNECT = (exp.And, exp.Or, exp.Not, exp.Paren)


def may_fail(tree: exp.Query, *, converts: bool = False) -> str | None:
    """The part of a query that could fail on rows that are not judged, as text;
    None where there is none.

    `converts`: the database would convert some value by itself, and conversions fail.

    >>> from sqlglot import parse_one
    >>> may_fail(parse_one("SELECT age / 0 FROM t WHERE ward = 'A'"))
    >>> may_fail(parse_one("SELECT ward FROM t WHERE 1 / age = 1"))
    '1 / age'
    """
    last = _computed_last(tree)
    for node in _nodes(tree, last):
        if not _never_fails(node):
            return node.sql()
    return "a value that the database converts" if converts else None


def _never_fails(node: exp.Expr) -> bool:
    if (
        isinstance(node, exp.Literal)
        and not node.is_string
        and sum(one.isdigit() for one in node.name) > MOST_DIGITS
    ):
        return False  # what is brought to so many digits may not fit any more
    if _is_constant(node):
        return True
    if isinstance(node, COMPARE):
        return _is_condition(node)
    if isinstance(node, exp.Like | exp.ILike):
        pattern = node.expression
        return (
            isinstance(pattern, exp.Literal)
            and not str(pattern.this).endswith("\\")
            and _is_condition(node)
        )
    if isinstance(node, exp.Extract):
        return node.name.upper() in PARTS_OF_TIME
    return isinstance(node, NEVER) and not _is_one_value(node)


def _computed_last(tree: exp.Query) -> list[exp.Expr]:
    """The expressions of SELECT over one table, which are computed
    for the rows that WHERE leaves.
    """
    if not isinstance(tree, exp.Select) or any(
        tree.args.get(one) for one in ("joins", "with_", "having", "qualify")
    ):
        return []
    first = tree.args.get("from_")
    if first is None or not isinstance(first.this, exp.Table) or first.this.args.get("joins"):
        return []
    where = tree.args.get("where")
    # DuckDB knows the names that SELECT gives in WHERE too: such an expression is a condition.
    used = {one.name.lower() for one in where.find_all(exp.Column)} if where is not None else set()
    return [
        one
        for one in tree.expressions
        if one.find(exp.Query, exp.Filter) is None and one.alias.lower() not in used
    ]


def _nodes(tree: exp.Expr, without: list[exp.Expr]) -> Iterator[exp.Expr]:
    """All nodes outside of some parts; what a constant is made of is not looked at again."""
    pending: list[exp.Expr] = [tree]
    while pending:
        node = pending.pop()
        if any(node is one for one in without):
            continue
        yield node
        if not _is_constant(node):
            pending += list(node.iter_expressions())


def _is_constant(node: exp.Expr) -> bool:
    """Is it a value that is the same on all rows, and always there?"""
    if isinstance(node, exp.Neg | exp.Paren):
        return isinstance(node.this, CONSTANT)
    if (
        isinstance(node, exp.Cast)
        and not isinstance(node, exp.TryCast)
        and isinstance(node.this, exp.Literal)
        and node.this.is_string
    ):
        return (node.is_type("date") and day(node.this.name) is not None) or (
            node.is_type("timestamp") and moment(node.this.name) is not None
        )
    return isinstance(node, CONSTANT)


def _is_condition(node: exp.Expr) -> bool:
    """Does a comparison choose rows in WHERE or ON, or groups by how many rows they have?"""
    above = node.parent
    while isinstance(above, CONNECT):
        above = above.parent
    if isinstance(above, exp.Having):
        return isinstance(node.this, exp.Count) and all(
            isinstance(one, COUNTED) for one in node.walk()
        )
    return isinstance(above, exp.Where | exp.Join)


def _is_one_value(node: exp.Expr) -> bool:
    """A subquery used as a value: it fails where it has two rows."""
    if not isinstance(node, exp.Subquery) or node.parent is None or _has_one_row(node.this):
        return False
    places = exp.From | exp.Join | exp.SetOperation | exp.Exists | exp.Subquery | exp.CTE
    return not isinstance(node.parent, places) and not (
        isinstance(node.parent, exp.In) and node.arg_key == "query"
    )


def _has_one_row(query: exp.Expr) -> bool:
    """Does a query put all its rows together, and so have one row, however many there are?"""
    together = (exp.Count, exp.Min, exp.Max)
    return (
        isinstance(query, exp.Select)
        and not any(query.args.get(one) for one in ("group", "having", "qualify"))
        and any(isinstance(one.unalias(), together) for one in query.expressions)
    )
