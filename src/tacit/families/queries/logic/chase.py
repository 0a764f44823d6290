"""Chase: what keys make equal.

Two atoms of one query that agree on a key are one tuple, so all their terms are equal, everywhere
in the query. For two tuples of different instances only the *anchor* matters: the columns that are
in every key of the relation (all columns where there is no key). Tuples lie in the same part of the
conflict graph exactly if they agree there, because a column outside some key can be changed alone,
by a step between two tuples that share that key; and no step changes a column that is in all keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from tacit.families.queries.logic.numbered_queries import NumberedAtom
from tacit.families.queries.logic.unify import Unifier
from tacit.families.queries.query import Relation, Relations

Keys = Mapping[str, tuple[tuple[int, ...], ...]]


def key_places(relations: Relations) -> dict[str, tuple[tuple[int, ...], ...]]:
    """The keys of each relation as positions of columns, for relations that have any."""
    return {
        name: tuple(tuple(map(relation.columns.index, key)) for key in relation.keys)
        for name, relation in relations.items()
        if relation.keys
    }


def anchor(relation: Relation) -> tuple[int, ...]:
    """The positions on which two tuples must agree to depend on each other.

    >>> anchor(Relation("R", ("a", "b"))), anchor(Relation("R", ("a", "b"), keys=(("a",),)))
    ((0, 1), (0,))
    >>> anchor(Relation("R", ("a", "b"), keys=(("a",), ("b",))))
    ()
    """
    shared = [column for column in relation.columns if all(column in key for key in relation.keys)]
    return tuple(map(relation.columns.index, shared))


def chase(atoms: Sequence[NumberedAtom], keys: Keys, classes: Unifier) -> bool:
    """Join what the keys make equal within one query.
    False: no instance with these keys has such tuples.
    """
    if not keys:
        return True
    before = -1
    while before != classes.version:
        before = classes.version
        if not all(classes.join_all(one, two) for one, two, _ in sharing(atoms, keys, classes)):
            return False
    return True


def sharing(
    atoms: Sequence[NumberedAtom], keys: Keys, classes: Unifier
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """The pairs of atoms whose terms agree on a key, with that key."""
    first: dict[tuple[str, tuple[int, ...], tuple[int, ...]], tuple[int, ...]] = {}
    for relation, terms in atoms:
        for key in keys.get(relation, ()):
            place = relation, key, tuple(classes.find(terms[column]) for column in key)
            other = first.setdefault(place, terms)
            if other is not terms:
                yield other, terms, key


def path(
    relation: Relation, start: tuple[object, ...], end: tuple[object, ...]
) -> tuple[tuple[object, ...], ...]:
    """A shortest path between two tuples that agree on the anchor,
    each sharing a key with the next.

    >>> path(Relation("R", ("a", "b"), keys=(("a",), ("b",))), (1, 1), (2, 2))
    ((1, 1), (1, 2), (2, 2))
    """
    different = {
        column for column, one, two in zip(relation.columns, start, end, strict=True) if one != two
    }
    if not different:
        return (start,)
    for size in range(1, len(relation.keys) + 1):
        for chosen in combinations(relation.keys, size):
            if not different.intersection(*chosen):
                return _steps(relation, start, end, chosen)
    raise ValueError("the tuples differ on a column that is in every key")


def _steps(
    relation: Relation,
    start: tuple[object, ...],
    end: tuple[object, ...],
    keys: Sequence[tuple[str, ...]],
) -> tuple[tuple[object, ...], ...]:
    """Along each key in turn, every column outside it takes its last value."""
    found = [start]
    for key in keys:
        columns = zip(relation.columns, found[-1], end, strict=True)
        found.append(tuple(now if column in key else last for column, now, last in columns))
    return tuple(dict.fromkeys(found))
