"""Spelling: values that are equal and look different, such as 1.5 and 1.50, or a day and 24 hours.

Where a database shows one value for all that are equal (DISTINCT, GROUP BY, max), or sorts by them,
which one it shows and which comes first depends on how it works, and that on all rows, also on
those that the answer leaves out. Numbers are brought to one form on the way out (`compact`, and
each engine's stream): here it is refused to look at them before. Of other types nothing goes out as
it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.understanding import QueryText

Spelling = Literal["one", "float", "number", "many"]
Spellings = Mapping[
    str, Mapping[str, Spelling]
]  # by table and column, of those whose equal values can look different

NUMBERS: frozenset[Spelling] = frozenset({"float", "number"})
TEXTS = ("text", "varchar", "char", "nchar", "nvarchar")
# What gives equal numbers for equal numbers, however they are spelled.
# Others may not: the digits of a quotient depend on those that are written.
BY_VALUE = (
    exp.Query,
    exp.Subquery,
    exp.From,
    exp.Join,
    exp.With,
    exp.CTE,
    exp.Where,
    exp.Having,
    exp.Qualify,
    exp.Group,
    exp.GroupingSets,
    exp.Rollup,
    exp.Cube,
    exp.Order,
    exp.Ordered,
    exp.Distinct,
    exp.Limit,
    exp.Offset,
    exp.Lateral,
    exp.Window,
    exp.WindowSpec,
    exp.Filter,
    exp.Alias,
    exp.Paren,
    exp.Tuple,
    exp.Predicate,
    exp.Connector,
    exp.Not,
    exp.Neg,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Abs,
    exp.Round,
    exp.Floor,
    exp.Ceil,
    exp.Coalesce,
    exp.Nullif,
    exp.Case,
    exp.If,
    exp.Min,
    exp.Max,
    exp.Count,
    exp.Sum,
    exp.Avg,
    exp.Rank,
    exp.DenseRank,
    exp.PercentRank,
    exp.CumeDist,
)


def check_spelling(tree: exp.Query, spellings: Spellings, source: QueryText) -> None:
    """Refuse what shows which of equal values a database met first;
    names in `tree` are written out.
    """
    tables = {
        one.alias_or_name: f"{one.db}.{one.name}" if one.db else one.name
        for one in tree.find_all(exp.Table)
    }
    columns = [
        (one, spellings.get(tables.get(one.table, ""), {}).get(one.name, "one"))
        for one in tree.find_all(exp.Column)
    ]
    for column, spelling in columns:
        if spelling == "many" and not (
            isinstance(column.parent, exp.Predicate | exp.Count) or _is_text(column.parent)
        ):
            hint = f"Write CAST({column.name} AS TEXT)."
            raise _refused(
                f"{column.name} has values that are equal and look different: which one is shown "
                "depends on how rows are stored.",
                hint,
                column,
                source,
            )
    # What a query inside gives, a float or another number may be, where there is any.
    spelled = {spelling for _, spelling in columns if spelling in NUMBERS}
    numbers = [
        (one, {spelling} if one.table in tables and tables[one.table] in spellings else spelled)
        for one, spelling in columns
    ]
    for column in (one for one, kinds in numbers if "float" in kinds):
        if (rounded := _summed(column)) is not None:
            hint = (
                "Convert the column first, to a number with a fixed number of digits: "
                "sum(CAST(... AS DECIMAL(18, 6)))."
            )
            raise _refused(
                f"{' '.join(rounded.sql().split())} is rounded, and its last digits depend on how "
                "rows are stored.",
                hint,
                rounded,
                source,
            )
    for column in (one for one, kinds in numbers if kinds & NUMBERS and _merges(tree)):
        shows = next(_beyond_values(column), None)
        if shows is not None:
            hint = (
                "Convert the column first, to a number with a fixed number of digits: "
                "CAST(... AS DECIMAL(18, 6))."
            )
            raise _refused(
                f"{' '.join(shows.sql().split())} may show which of equal numbers the database met "
                "first, and that depends on how rows are stored.",
                hint,
                shows,
                source,
            )


def _summed(column: exp.Column) -> exp.Expr | None:
    """The sum or average that a column goes into as it is; None where there is none."""
    above = column.parent
    while above is not None and not isinstance(above, exp.Query):
        if isinstance(above, exp.Cast):
            return None
        if isinstance(above, exp.Sum | exp.Avg):
            return above
        above = above.parent
    return None


def _merges(tree: exp.Query) -> bool:
    """Does a query take some of equal values for all of them?"""
    if tree.find(exp.Distinct, exp.Group, exp.Min, exp.Max, exp.RowNumber, exp.Ntile) is not None:
        return True
    inner = (one for one in tree.find_all(exp.Query) if one is not tree)
    return isinstance(tree, exp.SetOperation) or any(
        isinstance(one, exp.SetOperation) or one.args.get("limit") or one.args.get("offset")
        for one in inner
    )


def _beyond_values(column: exp.Column) -> Iterator[exp.Expr]:
    """What is computed of a column, also around the query it stands in, and may tell equal
    numbers apart; once it has a fixed number of digits nothing can.
    """
    above = column.parent
    while above is not None:
        if isinstance(above, exp.Cast) and above.is_type(
            "decimal", "int", "bigint", "smallint", "boolean", "date", "timestamp"
        ):
            return
        if not isinstance(above, BY_VALUE):
            yield above
        above = above.parent


def _is_text(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Cast) and node.is_type(*TEXTS)


def _refused(message: str, hint: str, node: exp.Expr, source: QueryText) -> QueryError:
    return QueryError(message, code="order", hint=hint, mark=source.mark(start_of(node)))
