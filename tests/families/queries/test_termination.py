"""Constraints that ask for ever new values are found, and the others
never ask for more than the bound.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tacit.errors import QueryError
from tacit.families.queries.datalog.dependencies import read_constraint
from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.logic.disjunctive_chase import Chase, LimitMet, rules_of
from tacit.families.queries.logic.termination import (
    endless,
    new_values,
    refuse_endless,
    terminating,
)
from tacit.families.queries.query import Atom, Comparison, Constant, Relation, Term, Variable

RELATIONS = {
    "R": Relation("R", ("a", "b")),
    "S": Relation("S", ("a", "b")),
    "T": Relation("T", ("a",)),
}


def constraints(*texts: str) -> list[Dependency]:
    return [one for text in texts for one in read_constraint(text, RELATIONS)]


# -- by hand ---------------------------------------------------------------------------------------


def test_the_cycle_is_shown_with_the_constraints_that_make_it() -> None:
    cycle = endless(
        constraints("R(x, y) -> T(y)", "T(x) -> S(x, z)", "S(x, y) -> R(x, y)"), RELATIONS
    )
    assert str(cycle) == (
        "S.b -> R.b (by `S(x, y) -> R(x, y)`) -> T.a (by `R(x, y) -> T(y)`) -> S.b (new "
        "value, by `T(x) -> S(x, z)`)"
    )


def test_the_error_says_what_to_do() -> None:
    with pytest.raises(QueryError) as found:
        refuse_endless(constraints("R(x, y) -> R(y, z)"), RELATIONS)
    assert found.value.code == "endless"
    assert "R.b -> R.b (new value, by `R(x, y) -> R(y, z)`)" in str(found.value)
    assert "`domains:`" in str(found.value)
    refuse_endless(constraints("R(x, y) -> R(y, x)"), RELATIONS)


@pytest.mark.parametrize(
    "texts",
    [
        ["R(x, y) -> R(y, x)"],  # no new values
        ["R(x, y) -> S(y, z)", "S(x, y) -> T(x)"],
        ["R[a] in S[b]", "S[b] in T[a]"],
        ["R(x, y) -> R(x, z)"],  # always true
        ["R(x, y) -> R(z, z)"],  # one row is enough for all
        ["R(x, y), T(y) -> R(y, z)"],  # new values are not in T
        ["R(x, y) -> x = y | S(x, y)", "S(x, y), x != y -> T(y)"],
        ["each T.a has at least 2 R.b by a", "each T.a has at most 2 R.b by a"],
    ],
)
def test_these_end(texts: list[str]) -> None:
    assert endless(constraints(*texts), RELATIONS) is None


@pytest.mark.parametrize(
    "texts",
    [
        ["R(x, y) -> R(y, z)"],
        ["R(x, y) -> x = y | R(y, z)"],
        ["R(x, y), x != y -> R(y, z), z != x"],
        ["T(x) -> R(x, y)", "R(x, y) -> T(y)"],
        [
            "R(x, y) -> S(z, z), z != y",
            "S(x, y) -> R(x, y)",
        ],  # the new value depends on y, which stands in no row
    ],
)
def test_these_may_not_end(texts: list[str]) -> None:
    found = constraints(*texts)
    assert endless(found, RELATIONS) is not None
    assert new_values(found, RELATIONS, 1) is None
    assert endless(terminating(found, RELATIONS), RELATIONS) is None


def test_a_listed_column_has_no_new_values() -> None:
    found = constraints("T(x) -> R(x, y)", "R(x, y) -> T(y)")
    assert endless(found, RELATIONS, closed=[("R", "b")]) is None
    assert endless(found, RELATIONS, closed=[("T", "a")]) is None
    assert endless(found, RELATIONS, closed=[("R", "a")]) is None  # T(x) must go to R.a
    listed = RELATIONS | {"R": Relation("R", ("a", "b"), domains={"b": (1, 2)})}
    assert endless(found, listed) is None and new_values(found, listed, 3) == 0


def test_bounds_by_hand() -> None:
    assert new_values(constraints("T(x) -> R(x, y)"), RELATIONS, 3) == 3
    assert new_values(constraints("T(x) -> R(x, y), S(y, z)"), RELATIONS, 3) == 6
    assert new_values(constraints("T(x) -> R(x, y)", "R(x, y) -> S(y, z)"), RELATIONS, 2) == 2 + 4
    assert new_values(constraints("true -> T(x)"), RELATIONS, 0) == 1
    assert new_values([], RELATIONS, 7) == 0
    many = constraints("R(x, y), R(z, u) -> S(v, w), v != x, v != y, w != z, w != u")
    assert new_values(many, RELATIONS, 10**6) == 10**9


# -- random constraints ----------------------------------------------------------------------------


def random_dependency(rng: random.Random, number: int) -> Dependency:
    def atoms(variables: Sequence[Variable], count: int) -> tuple[Atom, ...]:
        chosen = [rng.choice(list(RELATIONS.values())) for _ in range(count)]
        return tuple(
            Atom(
                one.name,
                tuple(
                    Constant(1) if rng.random() < 0.1 else rng.choice(variables)
                    for _ in one.columns
                ),
            )
            for one in chosen
        )

    def of(found: Sequence[Atom]) -> list[Variable]:
        return list(
            dict.fromkeys(
                term for atom in found for term in atom.terms if isinstance(term, Variable)
            )
        )

    body = atoms([Variable(name) for name in "xyz"], rng.choice([1, 1, 2]))
    universal = of(body) or [Variable("x")]
    ways = []
    for _ in range(rng.choice([1, 1, 2])):
        if rng.random() < 0.15 and len(of(body)) > 1:
            ways.append(Alternative((), ((universal[0], universal[1]),)))
            continue
        head = atoms([*of(body), Variable("u"), Variable("v")], rng.choice([1, 1, 2]))
        there = [*of(body), *(one for one in of(head) if one not in of(body))]
        apart: tuple[Comparison, ...] = ()
        if len(there) > 1 and rng.random() < 0.2:
            one, two = rng.sample(there, 2)
            apart = (Comparison(one, "!=", two),)
        ways.append(Alternative(head, (), apart))
    return Dependency(f"constraint {number}", body, (), tuple(ways))


def textbook(dependencies: Sequence[Dependency]) -> bool:
    """Weakly acyclic as it is usually defined, one edge per pair of places."""
    edges: set[tuple[Any, Any, bool]] = set()
    for one in dependencies:
        for way in one.alternatives:
            named = {term for atom in way.atoms for term in atom.terms} | {
                term for each in way.comparisons for term in (each.left, each.right)
            }
            for atom in one.atoms:
                for place, term in enumerate(atom.terms):
                    if not isinstance(term, Variable) or term not in named:
                        continue
                    for target in way.atoms:
                        for there, goal in enumerate(target.terms):
                            if goal == term:
                                edges.add(((atom.relation, place), (target.relation, there), False))
                            elif isinstance(goal, Variable) and goal not in one.universal():
                                edges.add(((atom.relation, place), (target.relation, there), True))
    reach = {(start, end) for start, end, _ in edges}
    while True:
        more = {(a, d) for a, b in reach for c, d in reach if b == c} - reach
        if not more:
            return not any(
                special and (start == end or (end, start) in reach) for start, end, special in edges
            )
        reach |= more


class Impossible(Exception):
    """No alternative can hold: such a world does not exist."""


class Adversary:
    """Chooses rows of a world that does not exist yet:
    where a constraint asks for a value, mostly a new one.
    """

    def __init__(self, rng: random.Random, start: int, closed: set[tuple[str, str]]) -> None:
        self.rng = rng
        self.start = list(range(1, start + 1))
        self.closed = closed
        self.values = list(self.start)
        self.chosen: dict[Any, list[tuple[str, tuple[int, ...]]]] = {}

    def close(self, dependencies: Sequence[Dependency], rows: int) -> int | None:
        """How many values are new in the end;
        None where it does not end in time, -1 where no such world is.
        """
        relations = list(RELATIONS.values())
        facts = {
            (one.name, tuple(self.rng.choice(self.start) for _ in one.columns))
            for one in self.rng.choices(relations, k=rows)
        }
        try:
            for _ in range(40):
                more = {
                    fact
                    for number, one in enumerate(dependencies)
                    for fact in self._asked(number, one, facts)
                } - facts
                if not more:
                    return len(self.values) - len(self.start)
                facts |= more
                if len(facts) > 40:
                    return None
        except Impossible:
            return -1
        return None

    def _asked(self, number: int, one: Dependency, facts: set[Any]) -> Iterator[Any]:
        for values in list(matches(one.atoms, facts, {})):
            if not any(self._holds(way, values, facts) for way in one.alternatives):
                yield from self._witness(number, one, values, facts)

    def _holds(self, way: Alternative, values: dict[Any, int], facts: set[Any]) -> bool:
        if any(value(left, values) != value(right, values) for left, right in way.equalities):
            return False
        return any(
            all(value(each.left, found) != value(each.right, found) for each in way.comparisons)
            for found in matches(way.atoms, facts, values)
        )

    def _witness(
        self, number: int, one: Dependency, values: dict[Any, int], facts: set[Any]
    ) -> list[Any]:
        order = list(enumerate(one.alternatives))
        self.rng.shuffle(order)
        for at, way in order:
            if any(value(left, values) != value(right, values) for left, right in way.equalities):
                continue
            named = tuple((term, values[term]) for term in way.variables() if term in values)
            found = self.chosen.get((number, at, named)) or self._choose(one, way, values)
            if found is not None:
                self.chosen[number, at, named] = found
                return found
        raise Impossible

    def _choose(
        self, one: Dependency, way: Alternative, values: dict[Any, int]
    ) -> list[Any] | None:
        for _ in range(10):
            put = dict(values)
            limited = {
                term
                for atom in way.atoms
                for column, term in zip(RELATIONS[atom.relation].columns, atom.terms, strict=True)
                if (atom.relation, column) in self.closed
            }
            fresh = []
            for term in one.existential(way):
                old = term in limited or self.rng.random() < 0.2
                pool = self.start if term in limited else self.values
                put[term] = (
                    self.rng.choice(pool) if old and pool else len(self.values) + 1 + len(fresh)
                )
                if put[term] > len(self.values):
                    fresh.append(put[term])
            if any(value(term, put) not in self.start for term in limited):
                continue
            if all(value(each.left, put) != value(each.right, put) for each in way.comparisons):
                self.values += fresh
                return [
                    (atom.relation, tuple(value(term, put) for term in atom.terms))
                    for atom in way.atoms
                ]
        return None


def value(term: Term, values: dict[Any, int]) -> int:
    return term.value if isinstance(term, Constant) else values[term]


def matches(
    atoms: Sequence[Atom], facts: set[Any], values: dict[Any, int]
) -> Iterator[dict[Any, int]]:
    if not atoms:
        yield values
        return
    for relation, row in facts:
        if relation == atoms[0].relation:
            found = dict(values)
            if all(
                term.value == here
                if isinstance(term, Constant)
                else found.setdefault(term, here) == here
                for term, here in zip(atoms[0].terms, row, strict=True)
            ):
                yield from matches(atoms[1:], facts, found)


def test_no_world_needs_more_new_values_than_the_bound() -> None:
    rng = random.Random(6)
    ended = bounded = finer = 0
    columns = [(name, column) for name, one in RELATIONS.items() for column in one.columns]
    for _ in range(10_000):
        found = [random_dependency(rng, number) for number in range(rng.choice([1, 2, 2, 3]))]
        closed = set(rng.sample(columns, rng.choice([0, 0, 1, 2])))
        start = rng.choice([1, 2, 3])
        bound = new_values(found, RELATIONS, start, closed)
        cycle = endless(found, RELATIONS, closed)
        assert (cycle is None) == (bound is not None)
        if not closed:
            assert cycle is None or not textbook(found)
            finer += cycle is None and not textbook(found)
        if bound is not None:
            adversary = Adversary(rng, start, closed)
            count = adversary.close(found, rng.choice([1, 2, 3]))
            bounded += 1
            ended += count is not None and count > 0
            assert len(adversary.values) - start <= bound
    assert bounded > 5000 and ended > 1000 and finer > 80


def test_the_chase_ends_where_it_is_promised() -> None:
    rng = random.Random(8)
    x, y = Variable("x"), Variable("y")
    ended = 0
    for _ in range(400):
        found = [random_dependency(rng, number) for number in range(rng.choice([1, 2, 3]))]
        if endless(found, RELATIONS) is not None:
            continue
        chase = Chase(rules_of(found), RELATIONS)
        next(
            chase.branches(chase.tableau([Atom("R", (x, y)), Atom("S", (y, x))]), 3000), None
        )  # LimitMet would say that it does not
        ended += 1
    assert ended > 150


def test_an_endless_chase_stops_at_the_limit() -> None:
    chase = Chase(rules_of(constraints("R(x, y) -> R(y, z)")), RELATIONS)
    with pytest.raises(LimitMet):
        list(chase.branches(chase.tableau([Atom("R", (Variable("x"), Variable("y")))]), 30))


def test_cycles_are_the_same_on_every_run() -> None:
    found = constraints(
        "T(x) -> R(x, y)", "R(x, y) -> T(y)", "S(x, y) -> S(y, z)", "T(x) -> S(x, y)"
    )
    shown = {str(endless(list(order), RELATIONS)) for order in itertools.permutations(found)}
    assert shown == {"S.b -> S.b (new value, by `S(x, y) -> S(y, z)`)"}
