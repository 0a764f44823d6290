"""Query classes, and the attribute-independent model."""

from __future__ import annotations

import pytest

from families.queries.logic import R2, R3, read, relations
from tacit.families.queries.logic.attribute_independent import split_attributes
from tacit.families.queries.logic.critical import Disclosed, Private, judge
from tacit.families.queries.query import (
    Atom,
    Conjunctive,
    Query,
    Relation,
    Variable,
)
from tacit.families.queries.query_classes import GENERAL, bound, classes_of

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
