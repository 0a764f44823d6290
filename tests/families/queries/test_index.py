"""Many secrets and views, query classes, and the attribute-independent model."""

from __future__ import annotations

import random

import pytest

from families.queries.logic import R2, R3, random_query, read, relations
from tacit.families.queries.classes import GENERAL, bound, classes_of
from tacit.families.queries.logic.attribute_independent import split_attributes
from tacit.families.queries.logic.critical import Disclosed, Private, judge
from tacit.families.queries.logic.index import Hit, SecretIndex
from tacit.families.queries.query import (
    Atom,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Relations,
    Variable,
)

KINDS: dict[str, Relations] = {
    "plain": R3,
    "one key": relations(Relation("R", ("a", "b", "c"), (("a",),)), Relation("T", ("d",))),
    "two keys": relations(
        Relation("R", ("a", "b", "c"), (("a", "b"), ("a", "c"))),
        Relation("T", ("d", "e"), (("d",),)),
    ),
    "domains": relations(
        Relation("R", ("a", "b"), (), {"a": (1, 2)}), Relation("T", ("d",), nullable=frozenset("d"))
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("comparisons", [False, True])
def test_the_index_says_what_each_question_says(kind: str, comparisons: bool) -> None:
    rng, known = random.Random(8), KINDS[kind]
    secrets = [
        random_query(rng, "S", known, comparisons=comparisons, atoms=(1, 2, 3, 4))
        for _ in range(25)
    ]
    views = [
        random_query(rng, "V", known, comparisons=comparisons, atoms=(1, 2, 3)) for _ in range(12)
    ]
    index = SecretIndex(secrets, known)
    for view in views:
        hits = {hit.secret: hit.status for hit in index.against(view)}
        for number, secret in enumerate(secrets):
            verdict = judge(secret, [view], known)
            assert hits.get(number, "private") == type(verdict).__name__.lower(), (
                f"{secret}\n{view}"
            )


def test_a_secret_that_cannot_meet_a_view_is_not_touched() -> None:
    secrets = [read(f"S(x) :- R(x, '{letter}')") for letter in "abc"]
    index = SecretIndex(secrets, R2)
    assert index.against(read("V(x) :- R(x, 'b')")) == [Hit(1, "disclosed")]
    assert isinstance(index.verdict(0, read("V(x) :- R(x, 'b')")), Private)


def random_join(rng: random.Random, name: str, relations_: int) -> Query:
    variables = [Variable(f"{name}{number}") for number in range(6)]
    atoms = []
    for place in range(5):
        second = Constant(rng.randrange(20)) if rng.random() < 0.4 else variables[place + 1]
        atoms.append(
            Atom(
                f"R{rng.randrange(relations_)}",
                (variables[place], second, rng.choice(variables[: place + 1])),
            )
        )
    return Query(name, (Conjunctive((variables[0],), tuple(atoms)),))


def test_a_new_view_against_a_thousand_secrets() -> None:
    rng = random.Random(1)
    known = relations(*(Relation(f"R{number}", ("a", "b", "c")) for number in range(12)))
    index = SecretIndex([random_join(rng, "S", 12) for _ in range(1000)], known)
    hits = sum(len(index.against(random_join(rng, "V", 12))) for _ in range(20))
    assert hits > 5000


# -- classes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "S(x) :- R(x, y, z)",
            {
                "no self-join",
                "at most one self-join per relation",
                "maximal-row tableau",
                "simple tableau",
                "acyclic",
            },
        ),
        ("S(x) :- R(x, y, 0), R(y, z, 1)", {"at most one self-join per relation", "acyclic"}),
        ("S(x) :- R(x, y, 0), R(z, y, 0), R(z, w, 0)", {"simple tableau", "acyclic"}),
        ("S(x) :- R(x, y, 0), R(z, y, 0), R(z, w, 0), R(u, w, 0)", {"acyclic"}),
        ("S(x) :- R(x, 1, y), R(x, z, 2), R(x, 1, 2)", {"simple tableau", "acyclic"}),
        ("S() :- R(x, y, 1), R(y, z, 1), R(z, x, 1)", {"bounded query-width"}),
        ("S(x) :- R(x, y, 1), R(y, z, 1), R(z, x, 1)", {"acyclic"}),
    ],
)
def test_classes(text: str, names: set[str]) -> None:
    found = classes_of(read(text, R3))
    assert found is not None and found.names == names


def test_classes_are_for_single_rules_without_comparisons() -> None:
    assert classes_of(read("S(x) :- R(x, y), x != y")) is None
    assert classes_of(read("S(x) :- R(x, y); S(x) :- R(y, x)")) is None


@pytest.mark.parametrize(
    ("secret", "view", "formula"),
    [
        ("S(x) :- R(x, y, z)", "V(x) :- R(x, y, z)", "O(n r)"),
        ("S() :- R(x, 1, y), R(z, 2, w)", "V() :- R(x, 1, y), R(z, 2, w)", "O(n^2 r)"),
        ("S() :- R(x, 1, y), R(z, 2, w)", "V() :- R(x, y, z), R(y, z, w)", "O(n * n^2 r)"),
        ("S() :- R(x, y, z), R(y, z, w)", "V() :- R(x, y, z), R(y, z, w)", "O(n^3 r)"),
        (
            "S() :- R(x, y, 1), R(y, z, 1), R(z, x, 1)",
            "V() :- R(x, y, z), R(y, z, w)",
            "O(m 2^(2k) * c^2 r n^(c+1) log n), c = 2",
        ),
    ],
)
def test_bounds_of_pairs(secret: str, view: str, formula: str) -> None:
    assert bound(read(secret, R3), read(view, R3), R3).formula == formula
    assert bound(read(view, R3), read(secret, R3), R3).formula == formula


def test_bounds_need_large_domains() -> None:
    small = relations(Relation("R", ("a", "b", "c"), (), {"a": (1, 2)}))
    query = read("S() :- R(x, y, z), R(y, z, w)", small)
    assert bound(query, query, small) == GENERAL


# -- attributes as separate facts ------------------------------------------------------------------


BEDS = relations(
    Relation("D", ("name", "illness", "ward"), (("name",),), nullable=frozenset({"ward"}))
)


def split(text: str, **options: str) -> str:
    return str(split_attributes(read(text, BEDS), BEDS, **options)[0])  # type: ignore[arg-type]


def test_attributes_are_split_where_they_are_asked_for() -> None:
    assert split("S(n) :- D(n, 'cancer', w)") == "S(n) :- D_illness(n, 'cancer')"
    assert split("S(n) :- D(n, i, w)") == "S(n) :- D_exists(n)"
    assert split("S(n) :- D(n, i, w), i != 'flu'") == "S(n) :- D_illness(n, i), i != 'flu'"
    assert (
        split("S(n) :- D(n, 'flu', w)", existence="secret")
        == "S(n) :- D_exists(n), D_illness(n, 'flu')"
    )
    n, i, w = map(Variable, "niw")
    there = Query("S", (Conjunctive((n,), (Atom("D", (n, i, w)),), known=frozenset({w, i})),))
    assert str(split_attributes(there, BEDS)[0]) == "S(n) :- D_ward(n, w)"


def test_the_milder_model_keeps_attributes_apart_and_values_together() -> None:
    secret, wards, healthy = (
        read(text, BEDS)
        for text in ("S(n) :- D(n, 'cancer', w)", "V(n, w) :- D(n, i, w)", "V(n) :- D(n, 'flu', w)")
    )
    assert isinstance(judge(secret, [wards], BEDS), Disclosed)
    (hidden, known), (shown, _), (other, _) = (
        split_attributes(query, BEDS) for query in (secret, wards, healthy)
    )
    assert isinstance(judge(hidden, [shown], known), Private)
    assert isinstance(judge(hidden, [other], known), Disclosed)


def test_relations_without_a_key_stay() -> None:
    query = read("S(x) :- R(x, y)")
    assert split_attributes(query, R2) == (query, R2)
