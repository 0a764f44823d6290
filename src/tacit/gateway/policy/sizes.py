"""Sizes: functions that make a long text of a short one, by a number in the query. What they
make is in the engine's memory before a byte of it is sent, and its limits do not count it.
"""

from __future__ import annotations

import re

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.understanding import QueryText

MOST_TIMES = 10_000  # letters of one, in a few thousand rows at a time
MAKERS = {exp.Repeat: ("repeat", "times"), exp.Pad: ("lpad and rpad", "expression")}


FILLED = ("char", "nchar", "bpchar", "bit")  # types that fill a value up to their length
WIDTH = re.compile(r"\d{5,}|\*|\{[^}]*\{")  # of a format: a long one, or one from an argument


def check_sizes(tree: exp.Expr, source: QueryText) -> None:
    """Raise a QueryError where texts are repeated or padded to more than 10,000 letters, all
    numbers of `repeat` taken together, or by a number that stands in a row.
    """
    for wide in tree.find_all(exp.Format, exp.DataType):
        if makes_wide(wide):
            raise too_wide(wide, source)
    times = 1
    for node in tree.find_all(*MAKERS):
        name, where = MAKERS[type(node)]
        count = node.args.get(where)
        if not isinstance(count, exp.Literal) or count.is_string or not str(count.this).isdigit():
            raise QueryError(
                f"{name} takes a constant number here, for what it makes must fit into memory",
                code="too-large",
                hint=f"Write a number of up to {MOST_TIMES}.",
                mark=source.mark(start_of(node)),
            )
        number = int(str(count.this)[:9])
        times = times * max(1, number) if isinstance(node, exp.Repeat) else times
        if max(times, number) > MOST_TIMES:
            raise too_wide(node, source)


def makes_wide(node: exp.Expr) -> bool:
    """Does a format or a type CHAR(n) fill texts up to a width that is large, or not known?"""
    if isinstance(node, exp.Format):
        said = node.this
        return not isinstance(said, exp.Literal) or WIDTH.search(str(said.this)) is not None
    sizes = [one.name for one in node.expressions] if node.is_type(*FILLED) else []
    return any(not one.isdigit() or int(one[:9]) > MOST_TIMES for one in sizes)


def too_wide(node: exp.Expr, source: QueryText) -> QueryError:
    """A text that is not made."""
    return QueryError(
        f"this makes texts of more than {MOST_TIMES} letters",
        code="too-large",
        hint="Ask for shorter ones.",
        mark=source.mark(start_of(node)),
    )
