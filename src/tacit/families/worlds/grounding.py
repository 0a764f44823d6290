"""Grounding: what constraints and views say of the possible tuples, as conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.logic.cardinality import CardinalityBound, at_least, at_most
from tacit.families.queries.query import Constant, Query, Relations, Term, Variable
from tacit.families.worlds.formula import Condition, Count, Propagation, negated
from tacit.families.worlds.formula import Term as Literals
from tacit.families.worlds.matching import Matches, Tuple, TupleStore, matches
from tacit.families.worlds.universe import MISSING
from tacit.families.worlds.world_setting import Row

MOST_COMPARED = 3_000  # ways to have a row that are compared with each other
Answers = dict[
    Tuple, tuple[Literals, ...]
]  # each row that a query may have, with the tuples that give it


def grounded(
    dependency: Dependency, store: TupleStore, relations: Relations
) -> Iterator[Condition]:
    """A dependency as conditions on the possible tuples."""
    counted = at_most(dependency, relations)
    if counted is not None:
        yield from _at_most(counted, dependency, store)
        return
    body = matches(dependency.atoms, dependency.comparisons, dependency.known, store)
    satisfied = [
        _alternatives(one, dependency, body, store, relations) for one in dependency.alternatives
    ]
    for at, (_, used) in enumerate(body.rows):
        found = [one[at] for one in satisfied]
        if any(one is True for one in found):
            continue
        ways = [one for one in found if isinstance(one, _Ways)]
        terms = (
            ways[0].terms
            if len(ways) == 1
            else tuple(dict.fromkeys(term for one in ways for term in one.terms))
        )
        counts = tuple(one.count for one in ways if one.count is not None)
        yield Condition(negated(used) + terms, counts)


@dataclass(frozen=True, slots=True)
class _Ways:
    """How an alternative can be satisfied for one match of the body."""

    terms: tuple[Literals, ...] = ()
    count: Count | None = None


def _alternatives(
    alternative: Alternative,
    dependency: Dependency,
    body: Matches,
    store: TupleStore,
    relations: Relations,
) -> list[_Ways | bool]:
    """For each match of the body: True where an alternative is satisfied whatever the tuples, or
    the ways to satisfy it.
    """
    equal = _equal(alternative, body, store)
    universal = dependency.universal()
    shared = tuple(one for one in alternative.variables() if one in universal)
    bindings = body.values(shared, store.numbering)
    wanted = dict.fromkeys(
        binding for binding, is_equal in zip(bindings, equal, strict=True) if is_equal
    )
    start = Matches(shared, [(binding, ()) for binding in wanted])
    if not alternative.atoms:
        true = {
            values
            for values, _ in matches((), alternative.comparisons, frozenset(), store, start).rows
        }
        return [
            is_equal and binding in true for binding, is_equal in zip(bindings, equal, strict=True)
        ]
    counted = at_least(alternative, universal, relations)
    if counted is not None:
        ways = {
            binding: _Ways(count=_count(counted, dict(zip(shared, binding, strict=True)), store))
            for binding in wanted
        }
    else:
        ways = _ways(alternative, shared, start, store)
    nothing = _Ways()
    return [
        ways.get(binding, nothing) if is_equal else nothing
        for binding, is_equal in zip(bindings, equal, strict=True)
    ]


def _ways(
    alternative: Alternative, shared: tuple[Variable, ...], start: Matches, store: TupleStore
) -> dict[Tuple, _Ways]:
    found: dict[Tuple, list[Literals]] = {}
    wide = len(shared)
    rows = matches(
        alternative.atoms, alternative.comparisons, joined(alternative), store, start
    ).rows
    if len({atom.relation for atom in alternative.atoms}) == len(alternative.atoms):
        # Tuples of different relations differ, and with the values they tell the match:
        # nothing is found twice.
        for values, used in rows:
            found.setdefault(values[:wide], []).append(used)
    else:
        for values, used in rows:
            found.setdefault(values[:wide], []).append(tuple(dict.fromkeys(used)))
        found = {binding: list(dict.fromkeys(terms)) for binding, terms in found.items()}
    return {binding: _Ways(tuple(terms)) for binding, terms in found.items()}


def joined(alternative: Alternative) -> frozenset[Variable]:
    """Existential variables that stand twice: NULL joins with nothing."""
    terms = [
        term for atom in alternative.atoms for term in atom.terms if isinstance(term, Variable)
    ]
    return frozenset(term for term in terms if terms.count(term) > 1)


def _equal(alternative: Alternative, body: Matches, store: TupleStore) -> list[bool]:
    sides = [body.values(pair, store.numbering) for pair in alternative.equalities]
    return [all(side[at][0] == side[at][1] for side in sides) for at in range(len(body.rows))]


def _at_most(
    counted: CardinalityBound, dependency: Dependency, store: TupleStore
) -> Iterator[Condition]:
    guards = matches(counted.guards, (), dependency.known, store)
    inner = [
        at
        for at, term in counted.shared
        if isinstance(term, Variable) and term not in guards.variables
    ]
    for values, used in guards.rows:
        given = dict(zip(guards.variables, values, strict=True))
        for members in _grouped(counted, given, inner, dependency, store):
            if len(members) > counted.number:
                yield Condition(negated(used), (Count(members, 0, counted.number),))


def _grouped(
    counted: CardinalityBound,
    given: dict[Variable, int],
    inner: Sequence[int],
    dependency: Dependency,
    store: TupleStore,
) -> Iterator[tuple[Literals, ...]]:
    """The rows with the shared values, by the values that are told apart;
    once for each value of an inner shared variable.
    """
    groups: dict[Tuple, dict[Tuple, list[int]]] = {}
    same = _repeated(counted)
    never_null = {
        at for at, term in counted.shared if isinstance(term, Variable) and term in dependency.known
    }
    for row, number in _rows(counted, given, store):
        if any(row[one] != row[two] for one, two in same) or any(
            row[at] == MISSING for at in never_null
        ):
            continue
        value = tuple([row[at] for at in counted.places])
        if counted.null_counts or MISSING not in value:
            groups.setdefault(tuple([row[at] for at in inner]), {}).setdefault(value, []).append(
                number
            )
    for members in groups.values():
        yield tuple(map(tuple, members.values()))


def _repeated(counted: CardinalityBound) -> list[tuple[int, int]]:
    """Positions that a shared variable makes equal."""
    first: dict[Term, int] = {}
    return [(first[term], at) for at, term in counted.shared if first.setdefault(term, at) != at]


def _rows(
    counted: CardinalityBound, given: dict[Variable, int], store: TupleStore
) -> list[tuple[Tuple, int]]:
    fixed = [
        (at, store.numbering.of(term.value) if isinstance(term, Constant) else given[term])
        for at, term in counted.shared
        if isinstance(term, Constant) or term in given
    ]
    return store.having(counted.relation, tuple(at for at, _ in fixed)).get(
        tuple(value for _, value in fixed), []
    )


def _count(counted: CardinalityBound, given: dict[Variable, int], store: TupleStore) -> Count:
    members: dict[Tuple, list[int]] = {}
    for row, number in _rows(counted, given, store):
        value = tuple([row[at] for at in counted.places])
        if MISSING not in value:
            members.setdefault(value, []).append(number)
    return Count(tuple(map(tuple, members.values())), counted.number, len(members))


def answers(query: Query, store: TupleStore) -> Answers:
    """Every row that a query can have in some world, with the ways to have it."""
    found: dict[Tuple, dict[Literals, None]] = {}
    for part in query.parts:
        matched = matches(part.atoms, part.comparisons, part.known, store)
        for row, (_, used) in zip(
            matched.values(part.head, store.numbering), matched.rows, strict=True
        ):
            found.setdefault(row, {}).setdefault(tuple(sorted(set(used))))
    return {row: least(ways) for row, ways in found.items()}


def least(ways: Iterable[Literals]) -> tuple[Literals, ...]:
    """Ways without those that need more than another one: they add nothing.

    >>> least([(1, 2), (1,), (2, 3)])
    ((1,), (2, 3))
    """
    found = sorted(ways, key=len)
    if len(found) < 2 or len(found) > MOST_COMPARED or len(found[0]) == len(found[-1]):
        return tuple(found)
    kept: list[frozenset[int]] = []
    left = []
    for way in found:
        tuples = frozenset(way)
        if not any(one <= tuples for one in kept):
            kept.append(tuples)
            left.append(way)
    return tuple(left)


def answered(found: Answers, rows: Iterable[Row], store: TupleStore) -> Iterator[Condition]:
    """A query has these rows and no others."""
    given = {store.numbering.row(row) for row in rows}
    for row in given:
        yield Condition(found.get(row, ()))
    for row, ways in found.items():
        if row not in given:
            yield from (Condition(negated(way)) for way in ways)


def left_of(
    found: Answers, propagation: Propagation
) -> dict[Tuple, tuple[tuple[Literals, ...], bool]]:
    """The rows of a query after what is fixed:
    what is left of the ways to have each, and whether it is there for sure.
    """
    rows = {row: propagation.left_of(ways) for row, ways in found.items()}
    return {row: left for row, left in rows.items() if left[0] or left[1]}
