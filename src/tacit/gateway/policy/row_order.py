"""Row order: an answer whose order, and whose choice of rows, does
not depend on how rows are stored.
"""

from __future__ import annotations

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.query import Relations
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.sql.order import hidden_order, outermost
from tacit.families.queries.understanding import QueryText


def check_order(tree: exp.Query, source: QueryText) -> None:
    """Refuse an order that says more than the rows do:
    the client sees the order, and only the rows are judged.
    """
    item = hidden_order(tree)
    if item is not None:
        hint = "Order by columns of the result, or add the expression to SELECT."
        raise QueryError(
            "this order is not by what the answer shows.",
            code="order",
            hint=hint,
            mark=source.mark(start_of(item)),
        )


# What these give depends on which row comes first, or on which of equal rows does.
BY_STORED_ORDER = (
    exp.AnyValue,
    exp.ArgMax,
    exp.ArgMin,
    exp.First,
    exp.Last,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
    exp.Lag,
    exp.Lead,
    exp.RowNumber,
    exp.Ntile,
    exp.Mode,
)
# Some of them do not where the window's order leaves no two rows equal.
BY_TOTAL_ORDER = (exp.RowNumber, exp.Lag, exp.Lead, exp.Ntile)
# Sums of rounded numbers: their last digits depend on the order in which rows are added.
ROUNDED = (
    exp.Stddev,
    exp.StddevPop,
    exp.StddevSamp,
    exp.Variance,
    exp.VariancePop,
    exp.Corr,
    exp.CovarPop,
    exp.CovarSamp,
    exp.Skewness,
    exp.Kurtosis,
    exp.RegrAvgx,
    exp.RegrAvgy,
    exp.RegrIntercept,
    exp.RegrR2,
    exp.RegrSlope,
    exp.RegrSxx,
    exp.RegrSxy,
    exp.RegrSyy,
)
WHOLE_SUMS = (
    exp.Sum,
    exp.Avg,
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Paren,
    exp.Distinct,
)
RANKS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
LISTS = (exp.ArrayAgg, exp.GroupConcat)


# Databases that can be told the order in which to add: stddev(x ORDER BY x).
ADD_IN_ORDER = ("duckdb", "postgres")


def check_stored_order(
    tree: exp.Query, source: QueryText, relations: Relations, dialect: str
) -> None:
    """Refuse what depends on the order in which rows are stored:
    rows outside of the answer can change that.
    """
    for node in tree.walk():
        why = "depends on how rows are stored"
        if isinstance(node, LISTS) and not isinstance(node.this, exp.Order):
            hint = "Write ORDER BY inside of it, by the expression itself."
        elif isinstance(node, LISTS):
            if all(one.this == node.this.this for one in node.this.expressions):
                continue
            hint = "Order by the expression itself."
        elif _is_rounded(node):
            if _can_be_ordered(node, dialect):
                continue
            hint = "Use count, min, max, or sum and avg of columns, with + - and * only."
            why = "may be rounded, and its last digits then depend on how rows are stored"
        elif isinstance(node, BY_TOTAL_ORDER) and (
            _is_in_total_order(node, relations) or _numbers_equal_rows(node)
        ):
            continue
        elif isinstance(node, BY_TOTAL_ORDER):
            hint = "Order by a key or by all that is shown in OVER (), or use rank()."
        elif isinstance(node, BY_STORED_ORDER):
            hint = "Use min, max, rank() or dense_rank()."
        elif (
            isinstance(node, exp.Window)
            and isinstance(node.this, RANKS)
            and not node.args.get("order")
        ):
            hint = "Write ORDER BY into OVER ()."
        elif (
            isinstance(node, exp.WindowSpec) and str(node.args.get("kind") or "").upper() != "RANGE"
        ):
            hint = "Write RANGE instead of ROWS."
        elif isinstance(node, exp.Distinct) and node.args.get("on"):
            hint = "Use GROUP BY with min or max."
        else:
            continue
        raise QueryError(
            f"{' '.join(node.sql().split())} {why}.",
            code="order",
            hint=hint,
            mark=source.mark(start_of(node)),
        )


def _is_rounded(node: exp.Expr) -> bool:
    """Does an aggregate add numbers that may be rounded?"""
    return isinstance(node, ROUNDED) or (
        isinstance(node, exp.Sum | exp.Avg) and not all(_adds_exactly(one) for one in node.walk())
    )


def _can_be_ordered(node: exp.Expr, dialect: str) -> bool:
    """Can an aggregate be told the order in which it adds?"""
    return (
        dialect in ADD_IN_ORDER
        and not isinstance(node.find_ancestor(exp.Window, exp.Query), exp.Window)
        and node.find(exp.Query, exp.Distinct, exp.Order) is None
    )


def _add_in_order(tree: exp.Query, dialect: str) -> None:
    """Have rounded numbers added by size: the same numbers then give the same last digits."""
    for node in list(tree.find_all(exp.AggFunc)):
        if _is_rounded(node) and _can_be_ordered(node, dialect):
            values = list(node.iter_expressions())
            # Constants are the same in all rows, and DuckDB takes no order by them.
            by = [one for one in values if one.find(exp.Column)]
            order = [exp.Ordered(this=one.copy(), nulls_first=False) for one in by]
            last = values[-1].copy()
            if order:
                values[-1].replace(exp.Order(this=last, expressions=order))


def _is_in_total_order(node: exp.Expr, relations: Relations) -> bool:
    """Does a window tell all rows apart: by a key of every table that its SELECT is over?"""
    window, select = node.parent, node.find_ancestor(exp.Select)
    if not isinstance(window, exp.Window) or select is None or select.args.get("group"):
        return False
    order = window.args.get("order")
    by = [one.this for one in order.expressions] if order is not None else []
    by += window.args.get("partition_by") or []
    names = {(one.table, one.name) for one in by if isinstance(one, exp.Column)}
    first = select.args.get("from_")
    tables = [first.this] if first is not None else []
    tables += [one.this for one in select.args.get("joins") or ()]
    return bool(tables) and all(_has_key_in(one, names, relations) for one in tables)


def _numbers_equal_rows(node: exp.Expr) -> bool:
    """Are rows that a window's order leaves equal also equal in all that their SELECT shows? Then
    it does not matter which of them is numbered first.
    """
    window, select = node.parent, node.find_ancestor(exp.Query)
    if (
        not isinstance(node, exp.RowNumber | exp.Ntile)
        or not isinstance(window, exp.Window)
        or not isinstance(select, exp.Select)
        or any(select.args.get(one) for one in ("order", "limit", "offset", "qualify"))
    ):
        return False
    order = window.args.get("order")
    by = [
        *(order.expressions if order is not None else []),
        *(window.args.get("partition_by") or []),
    ]
    told = {(one.this if isinstance(one, exp.Ordered) else one).sql() for one in by}
    shown = [one.unalias() for one in select.expressions]
    return all(one is window or one.sql() in told or _is_alike(one) for one in shown)


def _is_alike(node: exp.Expr) -> bool:
    """Is an expression the same for all rows?"""
    if isinstance(node, exp.Subquery):
        own = {one.alias_or_name for one in node.find_all(exp.Table, exp.Subquery)}
        return all(one.table in own for one in node.find_all(exp.Column))
    return node.find(exp.Column, exp.AggFunc, exp.Window, exp.Star, exp.Query) is None


def _has_key_in(table: exp.Expr, names: set[tuple[str, str]], relations: Relations) -> bool:
    """Is a key of a table, which is never missing, among some columns?"""
    if not isinstance(table, exp.Table):
        return False
    relation = relations.get(f"{table.db}.{table.name}" if table.db else table.name)
    return relation is not None and any(
        all((table.alias_or_name, one) in names and one not in relation.nullable for one in key)
        for key in relation.keys
    )


def _adds_exactly(node: exp.Expr) -> bool:
    """Is a part of a sum such that it does not matter in which order rows are added? Columns of
    floating point are looked at in `spelling`.
    """
    if isinstance(node, exp.Cast):
        return node.is_type("decimal", "int", "bigint", "smallint")
    return isinstance(node, (*WHOLE_SUMS, exp.DataType, exp.DataTypeParam))


def without_inner_order(tree: exp.Query, source: QueryText) -> exp.Query:
    """The tree without orders that mean nothing:
    inside of a query rows have none, unless LIMIT chooses by it.

    Whoever sorts an inner query by a subquery wants something outside to
    go by that order, so it is refused.
    """
    outer = list(outermost(tree))
    for part in tree.find_all(exp.Query):
        order = part.args.get("order")
        if (
            order
            and not any(part is one for one in outer)
            and not (part.args.get("limit") or part.args.get("offset"))
        ):
            if order.find(exp.Query) is not None:
                hint = "Write ORDER BY where LIMIT stands, by columns of the result."
                raise QueryError(
                    "an inner query has no order, and this one is sorted by a subquery.",
                    code="order",
                    hint=hint,
                    mark=source.mark(start_of(order)),
                )
            part.set("order", None)
    return tree


def orders_by_result(tree: exp.Query) -> bool:
    """Is the order of the answer by its own columns only?"""
    return all(
        isinstance(one.this, exp.Literal)
        for part in outermost(tree)
        if part.args.get("order")
        for one in part.args["order"].expressions
    )


def with_total_order(
    tree: exp.Query, columns: int, source: QueryText, *, scans: bool, dialect: str
) -> exp.Query:
    """The tree with orders that do not depend on how rows are stored or joined:
    by all columns of the result, last.

    Every LIMIT gets one, and the answer itself: in which order a database finds rows can tell how
    many others there are. `scans`: rows of one table may come as they stand there.
    """
    found = tree.copy()
    _add_in_order(found, dialect)
    for part in list(found.find_all(exp.Query)):
        limited = bool(part.args.get("limit") or part.args.get("offset"))
        if not limited and (part is not found or (scans and _is_scan(part))):
            continue
        width = columns if part is found else _width(part)
        if width is None:
            raise QueryError(
                "LIMIT inside of a query needs the names of its columns.",
                code="limit-order",
                hint="Write them instead of *.",
                mark=source.mark(start_of(part)),
            )
        order = part.args.get("order")
        by_all = order is not None and any(
            isinstance(one.this, exp.Var) for one in order.expressions
        )  # ORDER BY ALL
        if by_all or (limited and _with_ties(part)):
            continue
        places = [
            exp.Ordered(this=exp.Literal.number(at), nulls_first=False)
            for at in range(1, width + 1)
        ]
        part.set(
            "order",
            exp.Order(expressions=[*(order.expressions if order is not None else ()), *places]),
        )
    return found


def _with_ties(part: exp.Expr) -> bool:
    limit = part.args.get("limit")
    return limit is not None and any(
        one.args.get("with_ties") for one in limit.find_all(exp.LimitOptions)
    )


def _is_scan(part: exp.Expr) -> bool:
    """Rows of one table as they stand there, some of them:
    DuckDB keeps their order, whichever others there are.
    """
    if not isinstance(part, exp.Select) or any(
        part.args.get(one)
        for one in ("joins", "distinct", "group", "having", "qualify", "order", "with_")
    ):
        return False
    first = part.args.get("from_")
    plain_table = (
        first is not None and isinstance(first.this, exp.Table) and not first.this.args.get("joins")
    )
    return (
        plain_table
        and part.find(exp.Subquery, exp.AggFunc, exp.Window, exp.Exists) is None
        and len(list(part.find_all(exp.Select))) == 1
    )


def _width(part: exp.Expr) -> int | None:
    """How many columns a query has, where its text says."""
    if isinstance(part, exp.SetOperation | exp.Subquery):
        return _width(part.this)
    if not isinstance(part, exp.Select) or any(
        one.find(exp.Star) and not one.find(exp.Count) for one in part.expressions
    ):
        return None
    return len(part.expressions)
