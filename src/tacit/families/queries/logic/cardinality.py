"""Cardinality: dependencies that count, found by their shape, so that they are
not written out for every combination.

"No three different reviewers of one paper" has a ground instance for every three reviewers; as a
count it has one for every paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.query import Atom, Comparison, Relations, Term, Variable

Pair = frozenset[Term]


@dataclass(frozen=True, slots=True)
class CardinalityBound:
    """At most, or at least, `number` combinations of values at `places` of
    rows with `shared` terms elsewhere.

    `guards` are the other atoms of a body, `shared` maps positions to terms;
    at all other positions anything may stand. `null_counts`: NULL is a value like any other.
    """

    relation: str
    places: tuple[int, ...]
    shared: tuple[tuple[int, Term], ...]
    number: int
    guards: tuple[Atom, ...] = ()
    null_counts: bool = False


def at_most(dependency: Dependency, relations: Relations) -> CardinalityBound | None:
    """What a dependency counts, where all it says is that there are not too many.

    >>> from tacit.families.queries.datalog.dependencies import read_constraint
    >>> from tacit.families.queries.query import Relation
    >>> relations = {"R": Relation("R", ("a", "b", "c"))}
    >>> (found,) = read_constraint(
    ...     "R(x, p, _), R(y, p, _), R(z, p, _), x != y -> z = x | z = y", relations
    ... )
    >>> counted = at_most(found, relations)
    >>> counted.number, counted.places, [str(term) for _, term in counted.shared]
    (2, (0,), ['p'])
    """
    if any(one.atoms or one.comparisons for one in dependency.alternatives):
        return None
    if (
        len(dependency.alternatives) == 1
        and len(dependency.atoms) == 2
        and not dependency.comparisons
    ):
        pairs = [frozenset(pair) for pair in dependency.alternatives[0].equalities]
        return _of_copies(dependency.atoms, (), pairs, dependency, relations, jointly=True)
    if any(len(one.equalities) != 1 for one in dependency.alternatives):
        return None
    apart = _apart(dependency.comparisons)
    if apart is None:
        return None
    pairs = [*apart, *(frozenset(one.equalities[0]) for one in dependency.alternatives)]
    for name, many in Counter(atom.relation for atom in dependency.atoms).items():
        copies = [atom for atom in dependency.atoms if atom.relation == name]
        guards = tuple(atom for atom in dependency.atoms if atom.relation != name)
        if many >= 2 and (
            found := _of_copies(copies, guards, pairs, dependency, relations, jointly=False)
        ):
            return found
    return None


def at_least(
    alternative: Alternative, given: Collection[Variable], relations: Relations
) -> CardinalityBound | None:
    """What an alternative counts, where all it says is that there are
    enough rows, different in one column.
    """
    atoms = alternative.atoms
    apart = _apart(alternative.comparisons)
    if (
        alternative.equalities
        or not apart
        or len(atoms) < 2
        or len({atom.relation for atom in atoms}) != 1
    ):
        return None
    found = _shape(atoms, [], apart, given, jointly=False)
    if found is None or any(
        isinstance(term, Variable) and term not in given for _, term in found[1]
    ):
        return None
    return CardinalityBound(atoms[0].relation, found[0], found[1], len(atoms))


def _apart(comparisons: Sequence[Comparison]) -> list[Pair] | None:
    """Pairs of variables that differ, where nothing else is compared."""
    if any(
        one.operator != "!="
        or not isinstance(one.left, Variable)
        or not isinstance(one.right, Variable)
        for one in comparisons
    ):
        return None
    return [frozenset((one.left, one.right)) for one in comparisons]


def _of_copies(
    copies: Sequence[Atom],
    guards: tuple[Atom, ...],
    pairs: Sequence[Pair],
    dependency: Dependency,
    relations: Relations,
    *,
    jointly: bool,
) -> CardinalityBound | None:
    if len({atom.relation for atom in copies}) != 1 or not pairs:
        return None
    in_guards = [term for atom in guards for term in atom.terms if isinstance(term, Variable)]
    found = _shape(copies, in_guards, pairs, (), jointly=jointly)
    if found is None:
        return None
    places, shared = found
    relation = relations[copies[0].relation]
    values = [atom.terms[at] for atom in copies for at in places]
    if any(relation.columns[at] in relation.nullable for at in places):
        # != is never true of NULL and = is: where both are meant at once the shape says too little.
        known = {term in dependency.known for term in values}
        if known != {not jointly}:
            return None
    return CardinalityBound(
        relation.name, places, shared, len(copies) - 1, guards, null_counts=jointly
    )


def _shape(
    copies: Sequence[Atom],
    elsewhere: Sequence[Variable],
    pairs: Sequence[Pair],
    given: Collection[Variable],
    *,
    jointly: bool,
) -> tuple[tuple[int, ...], tuple[tuple[int, Term], ...]] | None:
    """The positions that are told apart, and the shared terms;
    None where the atoms have another shape.
    """
    times = Counter(term for atom in copies for term in atom.terms if isinstance(term, Variable))
    times.update(elsewhere)
    compared = {term for pair in pairs for term in pair}
    places: list[int] = []
    shared: list[tuple[int, Term]] = []
    for at in range(len(copies[0].terms)):
        column = [atom.terms[at] for atom in copies]
        if len(set(column)) == 1 and column[0] not in compared:
            shared.append((at, column[0]))
        elif any(
            times[term] != 1 or term in given for term in column if isinstance(term, Variable)
        ) or not all(isinstance(term, Variable) for term in column):
            return None
        elif compared & set(column):
            if {frozenset(pair) for pair in combinations(column, 2)} - set(pairs):
                return None
            places.append(at)
    used = {
        frozenset(pair)
        for at in places
        for pair in combinations([atom.terms[at] for atom in copies], 2)
    }
    if not places or used != set(pairs) or (len(places) > 1 and not jointly):
        return None
    return tuple(places), tuple(shared)
