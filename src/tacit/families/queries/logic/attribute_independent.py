"""Attribute-independent: a milder model, in which the attributes of a row are separate facts.

With a key, two queries on one table whose keys can coincide always depend on each other: to know that
somebody's row has ward 3 is to know that there is a row, and that it is no other row. Owners who take
the rows as known, and only their attributes as secret, may split a relation R(key, a, b) into
R_a(key, a) and R_b(key, b), which are independent of each other. R_exists(key) stands for a row of
which a query asks nothing but that it is there; with `existence="secret"` every subgoal asks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from tacit.queries.query import (
    Atom,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Relations,
    Term,
    Variable,
)


def split_attributes(
    query: Query, relations: Relations, *, existence: Literal["public", "secret"] = "public"
) -> tuple[Query, Relations]:
    """The query over relations of one attribute each, and those relations.

    Only attributes that the query constrains or returns are asked for. The first key identifies rows;
    a relation without a key has no rows to speak of apart from their values, and stays as it is.

    >>> n, w, d = map(Variable, "nwd")
    >>> beds = {"D": Relation("D", ("name", "illness", "ward"), keys=(("name",),))}
    >>> query, relations = split_attributes(
    ...     Query("V", (Conjunctive((w,), (Atom("D", (n, d, w)),)),)), beds
    ... )
    >>> print(query)
    V(w) :- D_ward(n, w)
    >>> sorted(relations)
    ['D_exists', 'D_illness', 'D_ward']
    """
    parts = tuple(_split_part(part, relations, existence) for part in query.parts)
    return replace(query, parts=parts), split_relations(relations)


def tied(query: Query, relations: Relations) -> str | None:
    """A relation whose attributes cannot be independent: another key ties several of them together."""
    used = dict.fromkeys(atom.relation for part in query.parts for atom in part.atoms)
    return next(
        (
            name
            for name in used
            if any(len(set(key) - set(relations[name].keys[0])) > 1 for key in relations[name].keys)
        ),
        None,
    )


def split_relations(relations: Relations) -> dict[str, Relation]:
    """The relations of one attribute each."""
    return {one.name: one for relation in relations.values() for one in _split_relation(relation)}


def _split_relation(relation: Relation) -> Iterator[Relation]:
    if not relation.keys:
        yield relation
        return
    key = relation.keys[0]
    yield _kept(relation, f"{relation.name}_exists", key)
    for column in relation.columns:
        if column not in key:
            yield _kept(relation, f"{relation.name}_{column}", (*key, column))


def _kept(relation: Relation, name: str, columns: tuple[str, ...]) -> Relation:
    """The relation with some of its columns, and the keys that lie within them."""
    return Relation(
        name,
        columns,
        tuple(key for key in relation.keys if set(key) <= set(columns)),
        {column: values for column, values in relation.domains.items() if column in columns},
        relation.nullable & set(columns),
        {column: kind for column, kind in relation.kinds.items() if column in columns},
    )


def _split_part(part: Conjunctive, relations: Relations, existence: str) -> Conjunctive:
    uses = Counter(term for atom in part.atoms for term in atom.terms)
    uses.update(part.head)
    uses.update(term for one in part.comparisons for term in (one.left, one.right))
    atoms: list[Atom] = []
    for atom in part.atoms:
        atoms += _split_atom(atom, relations[atom.relation], part, uses, existence)
    left = {term for atom in atoms for term in atom.terms}
    return replace(part, atoms=tuple(dict.fromkeys(atoms)), known=frozenset(part.known & left))


def _split_atom(
    atom: Atom, relation: Relation, part: Conjunctive, uses: Counter[Term], existence: str
) -> Iterator[Atom]:
    if not relation.keys:
        yield atom
        return
    key = relation.keys[0]
    terms = dict(zip(relation.columns, atom.terms, strict=True))
    identity = tuple(terms[column] for column in key)
    asked = [
        column
        for column in relation.columns
        if column not in key and _asked(column, terms, relation, part, uses)
    ]
    if not asked or existence == "secret":
        yield Atom(f"{relation.name}_exists", identity)
    for column in asked:
        yield Atom(f"{relation.name}_{column}", (*identity, terms[column]))


def _asked(
    column: str, terms: dict[str, Term], relation: Relation, part: Conjunctive, uses: Counter[Term]
) -> bool:
    """Does the query constrain or return a column: by a constant, by a variable used again, or by IS NOT NULL?"""
    term = terms[column]
    if isinstance(term, Constant) or uses[term] > 1:
        return True
    return isinstance(term, Variable) and term in part.known and column in relation.nullable
