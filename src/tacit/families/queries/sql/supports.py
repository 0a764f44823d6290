"""Supports: bodies as conjunctive queries with readable names, and
the bags that determine an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tacit.families.queries.query import Conjunctive, Query, Term, Variable
from tacit.families.queries.sql.bodies import Opaque, QueryBody


def conjunctive(body: QueryBody) -> Conjunctive:
    """A body without opaque columns as a conjunctive query."""
    head: list[Term] = []
    for entry in body.head:
        assert not isinstance(entry, Opaque), "an exact query has no opaque column"
        head.append(entry)
    assert not body.pending, "a condition about a query around was never met"
    return named(Conjunctive(tuple(head), body.atoms, body.comparisons, body.known))


def named(query: Conjunctive) -> Conjunctive:
    """The query with its variables named by their columns: a, b, a_2, ... in order of the atoms.

    >>> print(named(Conjunctive((Variable("a~7"),), (), ())))
    (a) :- true
    """
    atoms = Conjunctive((), query.atoms, query.comparisons)
    taken: set[str] = set()
    values: dict[Variable, Term] = {}
    for variable in [*atoms.variables(), *query.variables()]:
        if variable in values:
            continue
        base = variable.name.split("~")[0]
        name, count = base, 2
        while name in taken:
            name, count = f"{base}_{count}", count + 1
        taken.add(name)
        values[variable] = Variable(name)
    occurring = frozenset(values)
    return replace(query, known=query.known & occurring).substituted(values)


def support(body: QueryBody) -> Conjunctive:
    """A body as a support: every variable is in the head, so that
    all else can be computed from it.
    """
    return named(Conjunctive(tuple(body.bound()), body.atoms, body.comparisons, body.known))


def supports(name: str, bodies: Iterable[QueryBody]) -> tuple[Query, ...]:
    """The bags that determine an answer, without those that say
    nothing or that another one encloses.
    """
    found = list(dict.fromkeys(support(body) for body in bodies if body.atoms))
    kept = [
        one
        for one in found
        if not any(_encloses(other, one) for other in found if other is not one)
    ]
    return tuple(
        Query(f"{name}.{number}", (part,), bag=True) for number, part in enumerate(kept, 1)
    )


def _encloses(wide: Conjunctive, narrow: Conjunctive) -> bool:
    """Has the first the same atoms under fewer conditions?"""
    if wide.atoms != narrow.atoms:
        return False
    return (
        set(wide.comparisons) <= set(narrow.comparisons)
        and wide.known <= narrow.known
        and wide != narrow
    )
