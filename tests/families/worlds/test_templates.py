"""Templates: every world contains an image of one, and every image of one is a world."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pytest

from families.queries.logic import read, relations
from families.queries.test_rewriting import CONSTRAINTS, random_query
from oracles.templates import Space, instance, instantiations
from tacit.errors import QueryError
from tacit.families.queries.datalog.dependencies import read_constraint
from tacit.families.queries.dependency import Dependency
from tacit.families.queries.logic.termination import endless
from tacit.families.queries.query import Query, Relation, Relations
from tacit.families.worlds.templates import Templates, templates
from thorough import THOROUGH

R3 = relations(Relation("R", ("A", "B", "C")))
CONFERENCE = relations(
    Relation("RS", ("reviewer", "subcom")),
    Relation("SP", ("subcom", "paper")),
    Relation("RP", ("reviewer", "paper")),
)
Rows = Collection[tuple[Any, ...]]


def constraints(known: Relations, *texts: str) -> list[Dependency]:
    return [one for text in texts for one in read_constraint(text, known)]


def shown(
    known: Relations, views: Sequence[tuple[str, Rows]], *texts: str, **more: Any
) -> list[str]:
    found = templates(
        known,
        constraints(known, *texts),
        [(read(view, known), rows) for view, rows in views],
        **more,
    )
    assert found.complete
    return list(map(str, found.found))


# -- by hand ---------------------------------------------------------------------------------------

V = ("V(a, c) :- R(a, b, c)", [("a1", "c1"), ("a2", "c2")])


def test_example_5_has_two_templates() -> None:
    assert shown(R3, [V]) == [
        "R('a1', x1, 'c1'), R('a2', x1, 'c2')",
        "R('a1', x1, 'c1'), R('a2', x2, 'c2')",
    ]


def test_example_5_with_the_column_b_has_two_minimal_worlds_and_not_the_printed_four() -> None:
    assert shown(R3, [V, ("W(b) :- R(a, b, c)", [("b1",), ("b2",)])]) == [
        "R('a1', 'b1', 'c1'), R('a2', 'b2', 'c2')",
        "R('a1', 'b2', 'c1'), R('a2', 'b1', 'c2')",
    ]


def test_example_1_one_committee_for_each_reviewer_such_that_both_have_one() -> None:
    views = [
        ("VR(r) :- RS(r, s)", [("r1",), ("r2",), ("r3",), ("r4",)]),
        ("VS(s) :- RS(r, s)", [("c1",), ("c2",)]),
    ]
    before = shown(CONFERENCE, views, "RP(r, p) -> RS(r, c), SP(c, p)")
    assert (
        len(before) == 2**4 - 2
        and "RS('r1', 'c1'), RS('r2', 'c1'), RS('r3', 'c1'), RS('r4', 'c2')" in before
    )
    rows = [("r1", "c1"), ("r2", "c1"), ("r3", "c2"), ("r4", "c2")]
    new = [("N(r, s) :- RS(r, s)", rows), ("M(s, p) :- SP(s, p)", [("c1", "p1")])]
    assert len(shown(CONFERENCE, [*views, *new], "RP(r, p) -> RS(r, c), SP(c, p)")) == 1


def test_theorem_3_fails_because_absence_is_not_seen() -> None:
    known = relations(Relation("R", ("x",)), Relation("T", ("x",)))
    view = ("V(x) :- R(x)", [("a",)])
    assert shown(known, [view]) == shown(known, [view, ("N(x) :- T(x)", [])]) == ["R('a')"]


def test_inequalities_are_kept() -> None:
    known = relations(Relation("R", ("x", "y")))
    views = [("V(x) :- R(x, y)", [("a",), ("b",)]), ("N(x) :- R(x, y), x != y", [("b",)])]
    assert shown(known, views) == ["R('a', 'a'), R('b', x1), x1 != 'b'"]
    assert shown(known, [("V(x) :- R(x, y)", [("a",)]), ("W() :- R(x, 'c')", [])]) == [
        "R('a', x1), x1 != 'c'"
    ]


def test_constants_and_queries_that_are_asked_are_terms_of_the_chase() -> None:
    known = relations(Relation("R", ("x", "y")))
    view = ("V(x) :- R(x, y)", [("a",)])
    assert shown(known, [view]) == ["R('a', x1)"]
    told = ["R('a', 'c')", "R('a', x1), x1 != 'c'"]
    assert shown(known, [view], constants=["c"]) == told
    assert shown(known, [view], asked=[read("S(x) :- R(x, 'c')", known)]) == told
    assert shown(known, [view], asked=[read("S(x) :- R(x, y), y != 'c'", known)]) == told


def test_alternatives_and_nothing_at_all() -> None:
    known = relations(Relation("R", ("x",)), Relation("T", ("x",)))
    assert shown(known, [], "true -> R('a') | T('a')") == ["R('a')", "T('a')"]
    assert shown(known, []) == ["no rows"]
    assert shown(known, [("V(x) :- R(x)", [("a",)]), ("W() :- R(x)", [])]) == []  # no such world


def test_listed_values_are_enough_or_there_is_no_world() -> None:
    known = relations(Relation("R", ("x", "y"), domains={"y": ("p", "q")}))
    two = [("V(x) :- R(x, y)", [("a",), ("b",), ("c",)])]
    assert shown(known, two, "R: y -> x") == []  # three different values of two
    assert shown(known, two[:1], "R(x, y), R(z, y) -> false | x = z | x = 'c' | z = 'c'") != []


def test_null_is_a_value_that_joins_with_nothing() -> None:
    known = relations(Relation("R", ("x", "y"), nullable=frozenset({"y"})))
    views = [("V(x) :- R(x, y)", [("a",)]), ("W(x) :- R(x, y), y != 'c'", [])]
    assert shown(known, views) == ["R('a', 'c')", "R('a', NULL)"]
    assert shown(known, [("V(x, y) :- R(x, y)", [("a", None)])]) == ["R('a', NULL)"]


def test_a_limit_is_said() -> None:
    known = relations(Relation("R", ("x", "y")))
    found = templates(
        known,
        constraints(known, "R(x, y) -> R(y, z)"),
        [(read("V() :- R(x, y)", known), [()])],
        limit=40,
    )
    assert not found.complete
    assert all(str(one) for one in found.found)


def test_an_order_is_refused() -> None:
    known = relations(Relation("R", ("x", "y")))
    with pytest.raises(QueryError) as found:
        templates(known, [], [(read("V(x) :- R(x, y), y < 3", known), [])])
    assert found.value.code == "order"


# -- random ----------------------------------------------------------------------------------------


def check(space: Space, found: Templates, worlds: Any) -> int:
    """Compare with all worlds over a few values; how many there are."""
    values = [*space.values, None]
    images: list[int] = []
    for one in found.found:
        facts = [instance(one, put) for put in instantiations(one, values)]
        numbers = [
            space.number(fact) for fact in facts if all(row in space.presence for row in fact)
        ]
        assert all(worlds[number] for number in numbers), f"an image of {one} is no world"
        images += numbers
    there = np.array(sorted(set(images)), dtype=np.int64)
    numbers = np.flatnonzero(worlds)
    if found.complete:
        for number in numbers:
            assert ((there & number) == there).any(), f"{space.world(int(number))} has no template"
    return len(numbers)


def everywhere() -> list[tuple[Relations, Space]]:
    plain = relations(Relation("R", ("a", "b")), Relation("T", ("a",)))
    missing = relations(
        Relation("R", ("a", "b"), nullable=frozenset({"b"})),
        Relation("T", ("a",), nullable=frozenset({"a"})),
    )
    listed = relations(
        Relation("R", ("a", "b"), domains={"b": (1, 3)}),
        Relation("T", ("a",), domains={"a": (1, 2)}),
    )
    return [
        (plain, Space(plain, [1, 2, 3])),
        (plain, Space(plain, [1, 2, 3])),
        (missing, Space(missing, [1, 2])),
        (listed, Space(listed, [1, 2, 3])),
    ]


def random_worlds(rng: random.Random, cases: int) -> tuple[int, int, int]:
    spaces = everywhere()
    complete = worlds = most = 0
    for _ in range(cases):
        known, space = rng.choice(spaces)
        dependencies = constraints(known, *rng.sample(CONSTRAINTS, rng.choice([0, 1, 1, 2])))
        if endless(dependencies, known) is not None:
            continue
        views: list[Query] = [
            random_query(
                rng,
                f"v{at}",
                known,
                parts=rng.choice([1, 1, 2]),
                atoms=[1, 1, 2],
                arity=rng.choice([0, 1, 1, 2]),
            )
            for at in range(rng.choice([0, 1, 1, 2]))
        ]
        legal = space.legal(dependencies)
        choices = [int(number) for number in np.flatnonzero(legal)]
        if not choices:
            continue
        few = [number for number in choices if number.bit_count() <= 4]
        here = rng.choice(few or choices)
        rows = [
            frozenset(row for row, there in space.answers(view).items() if there[here])
            for view in views
        ]
        for view, extent in zip(views, rows, strict=True):
            legal &= space.shows(view, extent)
        told = [value for value in (1, 2) if rng.random() < 0.2]
        found = templates(known, dependencies, list(zip(views, rows, strict=True)), told)
        complete += found.complete
        most = max(most, len(found.found))
        worlds += check(space, found, legal)
    return complete, worlds, most


@pytest.mark.slow
def test_every_world_has_a_template_and_every_image_is_a_world() -> None:
    complete, worlds, most = random_worlds(random.Random(71), 1500)
    assert complete > 1200 and worlds > 200_000 and most > 5


@pytest.mark.slow
def test_every_world_has_a_template_and_every_image_is_a_world_at_length() -> None:
    complete, _, _ = random_worlds(random.Random(72), 1_000 * THOROUGH)
    assert complete > 800 * THOROUGH
