"""Small changes of a view after which it would say nothing about the secret:
a column less, or a condition more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tacit.families.queries.query import (
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relations,
    Variable,
)

MOST = 3  # changes that are proposed


def changes(
    secret: Query,
    view: Query,
    columns: tuple[str, ...],
    relations: Relations,
    is_private: Callable[[Query], bool],
) -> list[str]:
    """The first few changes that help, in words."""
    found = []
    for words, changed in (
        *without_a_column(view, columns),
        *with_a_condition(secret, view, relations),
    ):
        if is_private(changed):
            found.append(words)
        if len(found) == MOST:
            break
    return found


def without_a_column(view: Query, columns: tuple[str, ...]) -> Iterator[tuple[str, Query]]:
    """The view with one column less; where rows are counted that changes nothing."""
    if view.bag or len(columns) < 2:
        return
    for place, name in enumerate(columns):
        parts = tuple(
            replace(part, head=(*part.head[:place], *part.head[place + 1 :])) for part in view.parts
        )
        yield f"leave out the column {name}", replace(view, parts=parts)


def with_a_condition(
    secret: Query, view: Query, relations: Relations
) -> Iterator[tuple[str, Query]]:
    """The view without the rows that have a constant which the secret asks for."""
    asked = {
        (atom.relation, place, term)
        for part in secret.parts
        for atom in part.atoms
        for place, term in enumerate(atom.terms)
        if isinstance(term, Constant) and term.value is not None
    }
    for relation, place, constant in sorted(asked, key=str):
        parts = tuple(_without(part, relation, place, constant) for part in view.parts)
        if parts != view.parts:
            column = relations[relation].columns[place]
            yield f"add the condition {relation}.{column} <> {constant}", replace(view, parts=parts)


def _without(part: Conjunctive, relation: str, place: int, constant: Constant) -> Conjunctive:
    terms = {_term(atom, relation, place) for atom in part.atoms} - {None}
    more = tuple(
        Comparison(term, "!=", constant)
        for term in sorted(terms, key=str)
        if isinstance(term, Variable)
    )
    known = part.known | {one.left for one in more if isinstance(one.left, Variable)}
    return replace(part, comparisons=(*part.comparisons, *more), known=known)


def _term(atom: Atom, relation: str, place: int) -> object:
    return atom.terms[place] if atom.relation == relation else None
