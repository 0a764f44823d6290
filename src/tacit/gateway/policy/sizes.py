"""Sizes: functions that make a long text of a short one, by a number in the query. What they
make is in the engine's memory before a byte of it is sent, and its limits do not count it.
"""

from __future__ import annotations

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.sql.scope import start_of
from tacit.families.queries.understanding import Text

MOST_TIMES = 10_000  # letters of one, in a few thousand rows at a time
MAKERS = {exp.Repeat: ("repeat", "times"), exp.Pad: ("lpad and rpad", "expression")}


def check_sizes(tree: exp.Expr, source: Text) -> None:
    """Raise a QueryError where texts are repeated or padded to more than 10,000 letters, all
    numbers of `repeat` taken together, or by a number that stands in a row.
    """
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
            raise QueryError(
                f"this makes texts of more than {MOST_TIMES} letters",
                code="too-large",
                hint="Ask for shorter ones.",
                mark=source.mark(start_of(node)),
            )
