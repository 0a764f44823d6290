"""Public order: by what a query sorts rows that everybody knows, where the order then tells more
than they do.
"""

from __future__ import annotations

from sqlglot import exp, parse_one

from tacit.families.queries.sql.order import hidden_order, outermost


def order_beyond_rows(text: str, dialect: str) -> str | None:
    """What some ORDER BY of a query sorts by and the answer does not show;
    None where there is nothing.

    Where a row is one fact, rows that count may be sorted by all that is in them. Where its
    attributes are facts of their own, only by what is shown. Engines keep the order of inner
    queries as a rule, so it counts too.

    >>> [
    ...     order_beyond_rows(f"SELECT name FROM {rest}", "duckdb")
    ...     for rest in (
    ...         "emp ORDER BY salary",
    ...         "(SELECT * FROM emp ORDER BY dept)",
    ...         "emp ORDER BY name",
    ...     )
    ... ]
    ['salary', 'dept', None]
    """
    return beyond_rows(parse_one(text, dialect=dialect), dialect)


def beyond_rows(query: exp.Expr, dialect: str) -> str | None:
    """The same of a query that is parsed."""
    if query.find(exp.Order) is None:
        return None
    tree = query.copy()
    seen = list(outermost(tree))
    for part in seen:
        if isinstance(part, exp.Select):
            part.set(
                "distinct", exp.Distinct()
            )  # rows that are there once may be sorted by what they show alone
    if (hidden := hidden_order(tree)) is not None:
        return str(hidden.sql(dialect=dialect))
    inner = next((order for order in tree.find_all(exp.Order) if order.parent not in seen), None)
    return (
        None if inner is None else ", ".join(one.sql(dialect=dialect) for one in inner.expressions)
    )
