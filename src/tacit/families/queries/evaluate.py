"""Evaluate: the answer of a query on a handful of facts, the plain way.

It knows nothing of the machinery that finds witnesses, so that a witness can be checked by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tacit.families.queries.facts import Fact
from tacit.families.queries.logic.comparisons import order_key
from tacit.families.queries.query import (
    NULL,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Term,
    Variable,
)
from tacit.model.deadline import look

Row = tuple[Any, ...]


def answers(query: Query, facts: Iterable[Fact]) -> Counter[Row] | set[Row]:
    """The rows of the answer: a set, or a Counter where the query is read as a bag.

    >>> from tacit.families.queries.query import Atom
    >>> x, y = Variable("x"), Variable("y")
    >>> names = Query("Q", (Conjunctive((x,), (Atom("R", (x, y)),)),))
    >>> answers(names, [Fact("R", ("ann", 1)), Fact("R", ("ann", 2))])
    {('ann',)}
    >>> answers(Query("Q", names.parts, bag=True), [Fact("R", ("ann", 1)), Fact("R", ("ann", 2))])
    Counter({('ann',): 2})
    """
    tables: dict[str, list[tuple[Constant, ...]]] = {}
    for fact in dict.fromkeys(facts):
        tables.setdefault(fact.relation, []).append(tuple(map(Constant, fact.values)))
    rows = (row for part in query.parts for row in _rows(part, tables))
    return Counter(rows) if query.bag else set(rows)


def _rows(
    part: Conjunctive,
    tables: Mapping[str, Sequence[tuple[Constant, ...]]],
) -> Iterator[Row]:
    for values in _valuations(part, tables, 0, {}):
        yield tuple(_value(term, values).value for term in part.head)


def _valuations(
    part: Conjunctive,
    tables: Mapping[str, Sequence[tuple[Constant, ...]]],
    position: int,
    values: dict[Variable, Constant],
) -> Iterator[dict[Variable, Constant]]:
    if position == len(part.atoms):
        if all(holds(one, values) for one in part.comparisons):
            yield values
        return
    look()  # there may be very many steps
    atom = part.atoms[position]
    for row in tables.get(atom.relation, ()):
        extended = matched(atom.terms, row, values, part)
        if extended is not None:
            yield from _valuations(part, tables, position + 1, extended)


def matched(
    terms: Sequence[Term],
    row: Sequence[Constant],
    values: dict[Variable, Constant],
    part: Conjunctive,
) -> dict[Variable, Constant] | None:
    """The valuation with one more atom sent to a row, or None where they do not match."""
    extended = dict(values)
    for term, value in zip(terms, row, strict=True):
        if isinstance(term, Constant):
            if term != value:
                return None
        elif extended.setdefault(term, value) != value or (value == NULL and term in part.known):
            return None
    return extended


def _value(term: Term, values: Mapping[Variable, Constant]) -> Constant:
    return term if isinstance(term, Constant) else values[term]


def holds(comparison: Comparison, values: Mapping[Variable, Constant]) -> bool:
    """Is a comparison true under a valuation? With NULL on either side it is not."""
    left, right = _value(comparison.left, values), _value(comparison.right, values)
    if NULL in (left, right):
        return False
    if comparison.operator == "!=":
        return left != right
    low, high = order_key(left.value), order_key(right.value)
    return low < high if comparison.operator == "<" else low <= high
