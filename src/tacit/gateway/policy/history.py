"""History: what the rows that somebody got say about the tables.

A row of an answer is there because of rows of the tables: those of the query's body, with the
values that the answer shows. Whoever got it knows that they are there.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from tacit.families.queries.logic.generalization import common_body
from tacit.families.queries.query import Conjunctive, Constant, Query, Term, Variable
from tacit.gateway.policy.cores import conjuncts, puts_together

EXACT = (str, bool, int, Decimal, dt.datetime, dt.date, type(None))


def trace_of(
    tree: exp.Query, read: Callable[[exp.Select], Query | None]
) -> tuple[Conjunctive, ...]:
    """What is there for every row of an answer: one of these bodies, whose heads are the row; none
    where that is not seen. LIMIT and conditions that are not read exactly only leave rows out.
    """
    select = tree.unnest()
    if (
        not isinstance(select, exp.Select)
        or any(select.args.get(one) for one in ("group", "having", "qualify", "with_"))
        or any(puts_together(one) for node in select.expressions for one in node.walk())
    ):
        return ()
    plain = select.copy()
    for key in ("order", "limit", "offset"):
        plain.set(key, None)
    found = read(plain)
    if found is None and (where := plain.args.get("where")) is not None:
        kept = [one for one in conjuncts(where.this) if read(_only(plain, [one])) is not None]
        found = read(_only(plain, kept))
    return found.parts if found is not None else ()


def _only(select: exp.Select, conditions: Sequence[exp.Expr]) -> exp.Select:
    found = select.copy()
    found.set("where", None)
    return found.where(*(one.copy() for one in conditions), copy=False) if conditions else found


def facts(parts: Sequence[Conjunctive], rows: Iterable[Sequence[Any]]) -> Iterator[Conjunctive]:
    """The bodies of the rows that somebody got, each with its values.

    >>> from tacit.families.queries.query import Atom
    >>> x, y = Variable("x"), Variable("y")
    >>> [str(one) for one in facts([Conjunctive((y,), (Atom("R", (x, y)),))], [(7,), (8,)])]
    ['() :- R(x, 7)', '() :- R(x, 8)']
    """
    for row in rows:
        fitting = [one for one in (_fact(part, row) for part in parts) if one is not None]
        if fitting:
            yield fitting[0] if len(fitting) == 1 else common_body(fitting)


def _is_exact(value: Any) -> bool:
    if isinstance(value, dt.datetime):
        return value.tzinfo is None
    return isinstance(value, EXACT)


def _fact(part: Conjunctive, row: Sequence[Any]) -> Conjunctive | None:
    """The body where its head is the row; None where it cannot be."""
    values: dict[Variable, Term] = {}
    for term, value in zip(part.head, row, strict=True):
        if not _is_exact(value):
            continue  # a number that was rounded is not the one in the table
        constant = Constant(value)
        if isinstance(term, Constant):
            if term != constant:
                return None
        elif values.setdefault(term, constant) != constant:
            return None
    if any(one in part.known and value == Constant(None) for one, value in values.items()):
        return None
    put = part.substituted(values)
    return Conjunctive((), put.atoms, put.comparisons, put.known)
