"""Canonical: one key for queries that differ only in names and order,
so that answers can be remembered.

Variables are told apart by where they stand, again and again until nothing changes; ties are broken
by trying each and keeping the smallest key. With very many ties only the first few are tried: two
equal queries may then get different keys, two different queries never get the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from tacit.families.queries.logic.numbered_queries import NumberedBody

Key = tuple[Any, ...]
TRIES = 24  # ties that are tried per query


def canonical(body: NumberedBody) -> Key:
    """The key of a conjunctive query in numbers.

    >>> from dataclasses import replace
    >>> one = NumberedBody(
    ...     (-1,), (("R", (-1, -3)), ("R", (-3, 5))), (), frozenset(), {}, frozenset(), (0, 1)
    ... )
    >>> two = replace(one, head=(-7,), atoms=(("R", (-9, 5)), ("R", (-7, -9))))
    >>> canonical(one) == canonical(two), canonical(one) == canonical(replace(one, head=(-3,)))
    (True, False)
    """
    colours: dict[int, int] = dict.fromkeys(body.variables(), 0)
    for variable in (
        *body.head,
        *(term for left, _, right in body.comparisons for term in (left, right)),
    ):
        if variable < 0:
            colours.setdefault(variable, 0)
    budget = [TRIES]
    return _smallest(body, _refined(body, colours), budget)


def canonical_query(bodies: tuple[NumberedBody, ...], bag: bool) -> Key:
    """The key of a union: its parts' keys, in a fixed order."""
    return bag, tuple(sorted(map(canonical, bodies), key=repr))


def _refined(body: NumberedBody, colours: Mapping[int, int]) -> dict[int, int]:
    """Split classes of variables by where they stand until nothing changes."""
    colours = dict(colours)
    while True:
        seen: dict[int, list[Hashable]] = {variable: [] for variable in colours}

        def colour(term: int) -> tuple[int, int]:
            return (0, term) if term >= 0 else (1, colours[term])  # noqa: B023

        for place, term in enumerate(body.head):
            if term < 0:
                seen[term].append(("head", place))
        for relation, terms in body.atoms:
            row = tuple(map(colour, terms))
            for column, term in enumerate(terms):
                if term < 0:
                    same = tuple(place for place, other in enumerate(terms) if other == term)
                    seen[term].append(("atom", relation, column, same, row))
        for left, operator, right in body.comparisons:
            for place, term in enumerate((left, right)):
                if term < 0:
                    seen[term].append(
                        ("compared", operator, place, colour((left, right)[1 - place]))
                    )
        marks = {
            variable: (
                colours[variable],
                variable in body.known,
                variable in body.maybe,
                sorted(body.domains.get(variable, ())),
                sorted(map(repr, places)),
            )
            for variable, places in seen.items()
        }
        order = {
            mark: number
            for number, mark in enumerate(sorted({repr(mark) for mark in marks.values()}))
        }
        finer = {variable: order[repr(mark)] for variable, mark in marks.items()}
        if len(order) == len(set(colours.values())):
            return finer
        colours = finer


def _smallest(body: NumberedBody, colours: dict[int, int], budget: list[int]) -> Key:
    classes: dict[int, list[int]] = {}
    for variable, colour in colours.items():
        classes.setdefault(colour, []).append(variable)
    ties = [members for _, members in sorted(classes.items()) if len(members) > 1]
    if not ties:
        return _written(body, colours)
    if budget[0] <= 0:  # break what is left by the order of the variables
        return _written(
            body, {variable: (colour, -variable) for variable, colour in colours.items()}
        )
    best: Key | None = None
    for chosen in ties[0]:
        if best is not None and budget[0] <= 0:
            break
        budget[0] -= 1
        apart = {variable: 2 * colour + 1 for variable, colour in colours.items()}
        apart[chosen] -= 1
        key = _smallest(body, _refined(body, apart), budget)
        if best is None or repr(key) < repr(best):
            best = key
    assert best is not None
    return best


def _written(body: NumberedBody, colours: Mapping[int, Any]) -> Key:
    number = {
        variable: -1 - place
        for place, variable in enumerate(sorted(colours, key=colours.__getitem__))
    }

    def put(term: int) -> int:
        return term if term >= 0 else number[term]

    atoms = sorted((relation, tuple(map(put, terms))) for relation, terms in body.atoms)
    comparisons = sorted(
        (put(left), operator, put(right)) for left, operator, right in body.comparisons
    )
    known = sorted(put(variable) for variable in body.known if variable in number)
    maybe = sorted(put(variable) for variable in body.maybe if variable in number)
    domains = sorted(
        (put(variable), tuple(sorted(values)))
        for variable, values in body.domains.items()
        if variable in number
    )
    return (
        tuple(map(put, body.head)),
        tuple(atoms),
        tuple(comparisons),
        tuple(known),
        tuple(maybe),
        tuple(domains),
    )
