"""Grounding against the plain evaluation of queries, also with NULL."""

from __future__ import annotations

import random
from itertools import product

from tacit.families.queries.datalog.dependencies import keys_of, read_constraint
from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.evaluate import answers as evaluated
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Conjunctive, Constant, Query, Relation
from tacit.families.queries.read import read
from tacit.families.worlds.grounding import answers, grounded, joined
from tacit.families.worlds.matching import TupleStore
from tacit.families.worlds.universe import ValueNumbering

RELATIONS = {
    "R": Relation("R", ("a", "b"), nullable=frozenset({"b"}), kinds={"a": "text", "b": "text"}),
    "T": Relation("T", ("a",), nullable=frozenset({"a"}), kinds={"a": "text"}),
    "K": Relation(
        "K",
        ("k", "v", "w"),
        keys=(("k",),),
        nullable=frozenset({"w"}),
        kinds={"k": "text", "v": "text", "w": "text"},
    ),
}
VALUES = ("x", "y", None)
QUERIES = (
    "Q(a) :- R(a, b)",
    "Q(b) :- R(a, b)",
    "Q(a) :- R(a, b), T(b)",
    "Q(a, c) :- R(a, b), R(c, b), a != c",
    "Q(b) :- R(a, b), b != 'x'",
    "Q() :- R(a, a); Q() :- T('x'), T('y')",
    "Q(b, 'k') :- R('x', b); Q('k', a) :- T(a)",
    "Q(v) :- K(k, v, w), T(w)",
)
CONSTRAINTS = (
    "R(a, b) -> T(b)",
    "R(a, b) -> T(a)",
    "R(a, b), R(a, c) -> b = c",
    "T(a), T(b), a != b -> false",
    "R(a, b) -> T(b) | b = a",
    "R(a, b) -> R(c, b), c != a | T(a)",
    "T(a) -> R(b, a), R(c, a), b != c",
    "true -> T(a) | R(b, c), b != c",
    "R(a, b), T(b) -> R(b, c)",
    "each R.a has at most 1 R.b",
    "each T.a has at least 2 R.b",
    "K[w] in T[a]",
    "R(a, b), R(c, b), R(d, b), a != c -> d = a | d = c",
)


def store_of(facts: list[Fact]) -> tuple[TupleStore, frozenset[int]]:
    """All possible tuples, and which of them are there."""
    numbering = ValueNumbering()
    store = TupleStore(numbering)
    for name, relation in RELATIONS.items():
        columns = [
            [value for value in VALUES if value is not None or column in relation.nullable]
            for column in relation.columns
        ]
        store.add(name, [numbering.row(row) for row in product(*columns)])
    return store, frozenset(
        store.numbers[fact.relation, numbering.row(fact.values)] for fact in facts
    )


def random_facts(rng: random.Random) -> list[Fact]:
    found = []
    for name, relation in RELATIONS.items():
        columns = [
            [value for value in VALUES if value is not None or column in relation.nullable]
            for column in relation.columns
        ]
        found += [Fact(name, row) for row in product(*columns) if rng.random() < 0.3]
    return found


def holds(dependency: Dependency, facts: list[Fact]) -> bool:
    """The definition, by the plain evaluator: every match of the body satisfies an alternative."""
    universal = dependency.universal()
    body = Query(
        "B", (Conjunctive(universal, dependency.atoms, dependency.comparisons, dependency.known),)
    )
    return all(
        any(
            met(way, dict(zip(universal, map(Constant, row), strict=True)), facts)
            for way in dependency.alternatives
        )
        for row in evaluated(body, facts)
    )


def met(way: Alternative, values: dict[object, Constant], facts: list[Fact]) -> bool:
    put = way.substituted(values)  # type: ignore[arg-type]
    if any(left != right for left, right in put.equalities):
        return False
    return bool(
        evaluated(Query("A", (Conjunctive((), put.atoms, put.comparisons, joined(put)),)), facts)
    )


def test_answers_are_those_of_the_plain_evaluator() -> None:
    rng = random.Random(1)
    queries = [read(text, RELATIONS, name="Q").exact for text in QUERIES]
    for _ in range(60):
        facts = random_facts(rng)
        store, world = store_of(facts)
        for query in queries:
            assert query is not None
            found = {
                store.numbering.plain(row)
                for row, ways in answers(query, store).items()
                if any(world.issuperset(way) for way in ways)
            }
            assert found == evaluated(query, facts), (query, facts)


def test_constraints_hold_where_they_say() -> None:
    rng = random.Random(2)
    dependencies = [
        *keys_of(RELATIONS),
        *(one for text in CONSTRAINTS for one in read_constraint(text, RELATIONS)),
    ]
    seen = set()
    for _ in range(250):
        facts = random_facts(rng)
        store, world = store_of(facts)
        for dependency in dependencies:
            is_met = all(
                condition.holds(world) for condition in grounded(dependency, store, RELATIONS)
            )
            assert is_met == holds(dependency, facts), (dependency, facts)
            seen.add((dependency.text, is_met))
    assert len(seen) >= 1.5 * len(dependencies)
