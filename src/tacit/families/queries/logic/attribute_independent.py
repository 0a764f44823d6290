"""Attribute-independent: a milder model, in which the attributes of a row are separate facts.

With a key, two queries on one table whose keys can coincide always depend on each other: to know
that somebody's row has ward 3 is to know that there is a row, and that it is no other row. Owners
who take the rows as known, and only their attributes as secret, may split a relation R(key, a, b)
into R_a(key, a) and R_b(key, b), which are independent of each other. R_exists(key) stands for a
row of which a view asks nothing but that it is there. That is public, so it is no fact that a
secret shares with a view: in secrets it has a name of its own. With `existence="secret"` it is one,
and every subgoal asks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, get_args

from tacit.families.queries.query import (
    Atom,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Relations,
    Term,
    Variable,
)

Role = Literal["view", "secret"]


def split_attributes(
    query: Query,
    relations: Relations,
    *,
    existence: Literal["public", "secret"] = "public",
    role: Role = "view",
) -> tuple[Query, Relations]:
    """The query over relations of one attribute each, and those relations.

    Only attributes that the query constrains or returns are asked for. The first key identifies
    rows; a relation without a key has no rows to speak of apart from their values, and stays as it
    is.

    >>> n, w, d = map(Variable, "nwd")
    >>> beds = {"D": Relation("D", ("name", "illness", "ward"), keys=(("name",),))}
    >>> query, relations = split_attributes(
    ...     Query("V", (Conjunctive((w,), (Atom("D", (n, d, w)),)),)), beds
    ... )
    >>> print(query)
    V(w) :- D_ward(n, w)
    >>> sorted(relations)
    ['D_exists', 'D_exists_in_secret', 'D_illness', 'D_ward']
    """
    role = "view" if existence == "secret" else role
    parts = tuple(_split_part(part, relations, existence, role) for part in query.parts)
    return replace(query, parts=parts), split_relations(relations)


def tied(query: Query, relations: Relations) -> str | None:
    """A relation whose attributes cannot be independent:
    another key ties several of them together.
    """
    used = dict.fromkeys(atom.relation for part in query.parts for atom in part.atoms)
    return next(
        (
            name
            for name in used
            if any(len(set(key) - set(relations[name].keys[0])) > 1 for key in relations[name].keys)
        ),
        None,
    )


def asks_existence(secret: Query, relations: Relations) -> str | None:
    """A relation of which some part of a secret asks nothing but which rows there are, and nothing
    of others either: that is public.

    >>> n, d = Variable("n"), Variable("d")
    >>> beds = {"D": Relation("D", ("name", "illness"), keys=(("name",),))}
    >>> asks_existence(Query("S", (Conjunctive((n,), (Atom("D", (n, d)),)),)), beds)
    'D'
    >>> asks_existence(Query("S", (Conjunctive((n, d), (Atom("D", (n, d)),)),)), beds)
    """
    for part in secret.parts:
        found = [
            (atom, list(split)) for atom, split in _split_atoms(part, relations, "public", "secret")
        ]
        if found and all(
            relations[atom.relation].keys and _is_existence(atom, split) for atom, split in found
        ):
            return found[0][0].relation
    return None


def _is_existence(atom: Atom, split: Sequence[Atom]) -> bool:
    return [one.relation for one in split] == [_existence(atom.relation, "secret")]


def _existence(relation: str, role: Role) -> str:
    return f"{relation}_exists" if role == "view" else f"{relation}_exists_in_secret"


def split_relations(relations: Relations) -> dict[str, Relation]:
    """The relations of one attribute each."""
    return {one.name: one for relation in relations.values() for one in _split_relation(relation)}


def _split_relation(relation: Relation) -> Iterator[Relation]:
    if not relation.keys:
        yield relation
        return
    key = relation.keys[0]
    for role in get_args(Role):
        yield _kept(relation, _existence(relation.name, role), key)
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


def _split_part(part: Conjunctive, relations: Relations, existence: str, role: Role) -> Conjunctive:
    atoms = [one for _, split in _split_atoms(part, relations, existence, role) for one in split]
    left = {term for atom in atoms for term in atom.terms}
    return replace(part, atoms=tuple(dict.fromkeys(atoms)), known=frozenset(part.known & left))


def _split_atoms(
    part: Conjunctive, relations: Relations, existence: str, role: Role
) -> Iterator[tuple[Atom, Iterator[Atom]]]:
    uses = Counter(term for atom in part.atoms for term in atom.terms)
    uses.update(part.head)
    uses.update(term for one in part.comparisons for term in (one.left, one.right))
    for atom in part.atoms:
        yield atom, _split_atom(atom, relations[atom.relation], part, uses, existence, role)


def _split_atom(
    atom: Atom,
    relation: Relation,
    part: Conjunctive,
    uses: Counter[Term],
    existence: str,
    role: Role,
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
        if column not in key and _uses_column(column, terms, relation, part, uses)
    ]
    if not asked or existence == "secret":
        yield Atom(_existence(relation.name, role), identity)
    for column in asked:
        yield Atom(f"{relation.name}_{column}", (*identity, terms[column]))


def _uses_column(
    column: str, terms: dict[str, Term], relation: Relation, part: Conjunctive, uses: Counter[Term]
) -> bool:
    """Does the query constrain or return a column:
    by a constant, by a variable used again, or by IS NOT NULL?
    """
    term = terms[column]
    if isinstance(term, Constant) or uses[term] > 1:
        return True
    return isinstance(term, Variable) and term in part.known and column in relation.nullable
