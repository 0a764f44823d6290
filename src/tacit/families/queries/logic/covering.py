"""Covering: a query put together from views so that every row is found as often as before.

Two conjunctive queries agree as bags exactly if they are the same but for names. So a query can be
computed from views, with all its duplicates, where its subgoals fall apart into the bodies of
views: each subgoal belongs to one of them, what a view hides is mentioned nowhere else, and all
other conditions are about what the views show. A cover that is found is right; other ways to
compute the query (`rewriting` knows some, for sets) are not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relations,
    Term,
    Variable,
)
from tacit.model.deadline import look

MOST_STEPS = 20_000
Mapped = dict[Variable, Term]


class CoveringLimit(Exception):
    """The search met its limit."""


@dataclass(frozen=True, slots=True)
class CoveringPiece:
    """A view's body found in a query: which subgoals it is, what it shows and hides of the
    query, and which conditions it has.
    """

    view: str
    places: frozenset[int]
    shown: frozenset[Term]
    hidden: frozenset[Term]
    conditions: frozenset[Comparison]


def covers(query: Query, views: Sequence[Query], relations: Relations) -> tuple[str, ...] | None:
    """The views that a query can be computed from, duplicates and all; None where no way is found.

    A view without duplicates (a set) serves only where the query has none either.

    >>> from tacit.families.queries.query import Relation
    >>> from tacit.families.queries.read import read
    >>> relations = {"R": Relation("R", ("a", "b"))}
    >>> view, asked = (
    ...     read(text, relations, name=name).exact
    ...     for name, text in (
    ...         ("v", "SELECT a, b FROM R WHERE b > 1"),
    ...         ("q", "SELECT a FROM R WHERE b > 1 AND a = 3"),
    ...     )
    ... )
    >>> (
    ...     covers(asked, [view], relations),
    ...     covers(asked, [asked], relations),
    ...     covers(view, [asked], relations),
    ... )
    (('v',), ('q',), None)
    """
    usable = [view for view in views if len(view.parts) == 1 and (view.bag or not query.bag)]
    steps = [MOST_STEPS]
    try:
        found = [_cover(part, usable, relations, steps) for part in query.parts]
    except CoveringLimit:
        return None
    if any(one is None for one in found):
        return None
    return tuple(dict.fromkeys(piece.view for one in found for piece in one or ()))


def _cover(
    part: Conjunctive, views: Sequence[Query], relations: Relations, steps: list[int]
) -> list[CoveringPiece] | None:
    """Pieces that have each subgoal once."""
    pieces = [piece for view in views for piece in _pieces(view, part, relations, steps)]

    def fill(left: frozenset[int], chosen: list[CoveringPiece]) -> list[CoveringPiece] | None:
        steps[0] -= 1
        if steps[0] < 0:
            raise CoveringLimit
        if not left:
            return chosen if _shows_all(part, chosen) else None
        first = min(left)
        for piece in pieces:
            if (
                first in piece.places
                and piece.places <= left
                and (found := fill(left - piece.places, [*chosen, piece])) is not None
            ):
                return found
        return None

    return fill(frozenset(range(len(part.atoms))), [])


def _shows_all(part: Conjunctive, chosen: Sequence[CoveringPiece]) -> bool:
    """Do the pieces show what the query shows, and all that its further conditions are about?"""
    hidden = frozenset[Term]().union(*(piece.hidden for piece in chosen))
    done = frozenset[Comparison]().union(*(piece.conditions for piece in chosen))
    further = [one for one in part.comparisons if one not in done]
    mentioned = {*part.head, *(term for one in further for term in (one.left, one.right))}
    return mentioned.isdisjoint(hidden)


def _pieces(
    view: Query, part: Conjunctive, relations: Relations, steps: list[int]
) -> Iterator[CoveringPiece]:
    """All ways in which the view's body is part of the query."""
    body = view.parts[0]
    for mapped, places in _embeddings(body, part, relations, steps):
        piece = _piece(view.name, body, part, mapped, places, relations)
        if piece is not None:
            yield piece


def _embeddings(
    body: Conjunctive, part: Conjunctive, relations: Relations, steps: list[int]
) -> Iterator[tuple[Mapped, frozenset[int]]]:
    """Each subgoal of the view on a subgoal of the query of its own."""
    pending: list[tuple[int, Mapped, tuple[int, ...]]] = [(0, {}, ())]
    while pending:
        look()
        at, mapped, places = pending.pop()
        steps[0] -= 1
        if steps[0] < 0:
            raise CoveringLimit
        if at == len(body.atoms):
            yield mapped, frozenset(places)
            continue
        for place, atom in enumerate(part.atoms):
            if place not in places and (more := _onto(body.atoms[at], atom, mapped)) is not None:
                pending.append((at + 1, more, (*places, place)))


def _onto(atom: Atom, target: Atom, mapped: Mapped) -> Mapped | None:
    if atom.relation != target.relation:
        return None
    found = dict(mapped)
    for one, other in zip(atom.terms, target.terms, strict=True):
        if isinstance(one, Constant):
            if one != other:
                return None
        elif found.setdefault(one, other) != other:
            return None
    return found


def _piece(
    name: str,
    body: Conjunctive,
    part: Conjunctive,
    mapped: Mapped,
    places: frozenset[int],
    relations: Relations,
) -> CoveringPiece | None:
    """The view at these subgoals; None where it would leave out rows of the query, or hide what
    the query needs.
    """
    heads = {term for term in body.head if isinstance(term, Variable)}
    hiding = [one for one in mapped if one not in heads]
    hidden = [mapped[one] for one in hiding]
    shown = {mapped[one] for one in heads if one in mapped}
    # What is hidden is a variable of its own, mentioned nowhere outside.
    if len(set(hidden)) < len(hidden) or any(
        isinstance(one, Constant) or one in shown for one in hidden
    ):
        return None
    outside = {
        term for place, atom in enumerate(part.atoms) if place not in places for term in atom.terms
    }
    if not outside.isdisjoint(hidden):
        return None
    if any(
        (one in body.known) != (mapped[one] in part.known) and _maybe(mapped[one], part, relations)
        for one in hiding
    ):
        return None
    # The view's conditions are the query's too.
    if any(
        one in body.known and _may_be_null(mapped[one], part, relations)
        for one in heads
        if one in mapped
    ):
        return None
    conditions = [
        Comparison(_put(one.left, mapped), one.operator, _put(one.right, mapped))
        for one in body.comparisons
    ]
    if any(one not in part.comparisons for one in conditions):
        return None
    return CoveringPiece(name, places, frozenset(shown), frozenset(hidden), frozenset(conditions))


def _put(term: Term, mapped: Mapped) -> Term:
    return mapped[term] if isinstance(term, Variable) else term


def _may_be_null(term: Term, part: Conjunctive, relations: Relations) -> bool:
    if isinstance(term, Constant):
        return term == NULL
    return term not in part.known and _maybe(term, part, relations)


def _maybe(term: Term, part: Conjunctive, relations: Relations) -> bool:
    """Could a variable be NULL, as far as its columns say?"""
    places = [
        (atom.relation, column)
        for atom in part.atoms
        for column, one in zip(relations[atom.relation].columns, atom.terms, strict=True)
        if one == term
    ]
    return all(column in relations[name].nullable for name, column in places)
