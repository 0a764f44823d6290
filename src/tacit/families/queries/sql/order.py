"""ORDER BY: does the order of an answer say more than its rows do?"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def outermost(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The query itself, without its parentheses; whatever is inside of FROM or a condition has
    no order that is seen.
    """
    while isinstance(tree, exp.Subquery):
        yield tree
        tree = tree.this
    yield tree


def hidden_order(tree: exp.Expr) -> exp.Expr | None:
    """What an answer is sorted by and does not show, where that tells more than the rows that are
    judged; None where there is nothing.

    Rows that count may be sorted by what they were computed from: all of these rows are judged.
    Rows that are there once, and groups, only by what they show; and nothing by other rows.

    >>> from sqlglot import parse_one
    >>> [
    ...     str(hidden_order(parse_one(f"SELECT ward FROM stays {rest}")))
    ...     for rest in ("ORDER BY age", "GROUP BY ward ORDER BY COUNT(*)")
    ... ]
    ['None', 'COUNT(*)']
    """
    for part in outermost(tree):
        order = part.args.get("order")
        if order is None:
            continue
        shown = (
            {one.alias_or_name.lower() for one in part.selects}
            if isinstance(part, exp.Select)
            else set()
        )
        texts = (
            {one.unalias().sql() for one in part.selects} if isinstance(part, exp.Select) else set()
        )
        for one in order.expressions:
            item: exp.Expr = one.this
            by_output = isinstance(item, exp.Literal | exp.Var) or item.sql() in texts
            by_output |= (
                isinstance(item, exp.Column)
                and not item.table
                and (item.name.lower() in shown or isinstance(part, exp.SetOperation))
            )
            if not by_output and not (_counts(part) and item.find(exp.Query) is None):
                return item
    return None


def _counts(part: exp.Expr) -> bool:
    """Is every row of the answer a way to find it? Then all rows that
    it was computed from are judged.
    """
    if not isinstance(part, exp.Select) or part.args.get("distinct") or part.args.get("group"):
        return False
    return part.find(exp.AggFunc) is None
