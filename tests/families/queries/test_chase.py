"""Keys, comparisons and unification, piece by piece."""

from __future__ import annotations

import datetime
import itertools
import random
from decimal import Decimal

import pytest

from families.queries.logic import body, relations
from tacit.families.queries.evaluate import answers
from tacit.families.queries.facts import Fact
from tacit.families.queries.logic.chase import anchor, chase, key_places, path
from tacit.families.queries.logic.comparisons import (
    contradictory,
    forced_equal,
    order_key,
    paths,
    values_between,
)
from tacit.families.queries.logic.unify import Unifier, may_unify
from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Variable,
)


def test_the_chase_substitutes_everywhere() -> None:
    known = relations(Relation("R", ("a", "b"), (("a",),)), Relation("T", ("c",)))
    part, _ = body("S(y) :- R(x, y), R(x, z), T(z)", known)
    assert len(part.atoms) == 2 and part.atoms[1][1] == part.head


def test_a_chase_can_fail_and_can_go_on() -> None:
    keys = key_places(relations(Relation("R", ("a", "b"), (("a",), ("b",)))))
    classes = Unifier()
    # the first pair shares a, which makes the third share b with them
    assert chase([("R", (-1, 5)), ("R", (-1, -2)), ("R", (-3, -2))], keys, classes)
    assert classes.find(-3) == classes.find(-1) and classes.find(-2) == 5
    assert not chase([("R", (-1, 5)), ("R", (-1, 6))], keys, Unifier())


def test_tuples_are_connected_exactly_if_they_agree_where_all_keys_meet() -> None:
    rng = random.Random(7)
    columns = ("a", "b", "c")
    candidates = [key for size in (1, 2, 3) for key in itertools.combinations(columns, size)]
    rows = list(itertools.product((1, 2), repeat=3))
    for _ in range(40):
        relation = Relation("R", columns, tuple(rng.sample(candidates, rng.choice([1, 2, 3]))))
        places = [[columns.index(column) for column in key] for key in relation.keys]
        for start, end in itertools.product(rows, rows):
            reached, waiting = {start}, [start]
            while waiting:
                row = waiting.pop()
                for other in rows:
                    if other not in reached and any(
                        all(row[p] == other[p] for p in key) for key in places
                    ):
                        reached.add(other)
                        waiting.append(other)
            agree = all(start[place] == end[place] for place in anchor(relation))
            assert agree == (end in reached)
            if agree:
                steps = path(relation, start, end)
                assert (steps[0], steps[-1]) == (start, end)
                assert all(
                    any(all(a[p] == b[p] for p in key) for key in places)
                    for a, b in itertools.pairwise(steps)
                )


def test_a_path_between_tuples_that_no_key_connects_is_refused() -> None:
    with pytest.raises(ValueError, match="in every key"):
        path(Relation("R", ("a", "b"), (("a",),)), (1, 1), (2, 1))


# -- unification -----------------------------------------------------------------------------------


def test_a_class_keeps_to_the_values_of_all_its_columns() -> None:
    classes = Unifier()
    classes.domains = {-1: frozenset({1, 2}), -2: frozenset({2, 3})}
    assert classes.join(-1, -2) and classes.find(-1) == 2  # one value is left, and taken
    classes = Unifier()
    classes.domains = {-1: frozenset({1}), -2: frozenset({3})}
    assert not classes.join(-1, -2)


def test_null_is_a_value_only_of_what_may_be_null() -> None:
    classes = Unifier()
    classes.maybe = {-1}
    assert not classes.join(-2, 0) and classes.join(-1, 0) and not classes.never_null(-1)
    classes = Unifier()
    classes.maybe = {-1}
    assert classes.join(-1, -2) and not classes.join(-1, 0)


def test_the_quick_test_looks_at_constants_only() -> None:
    assert may_unify((-1, -1), (1, 2)) and not may_unify((1, -1), (2, 2))


# -- comparisons -----------------------------------------------------------------------------------


def test_what_an_order_forces() -> None:
    assert contradictory(paths([(1, 2, True), (2, 3, False), (3, 1, False)]))
    circle = paths([(1, 2, False), (2, 3, False), (3, 1, False)])
    assert not contradictory(circle) and (1, 3) in forced_equal(circle)


@pytest.mark.parametrize(
    ("low", "high", "count", "sort"),
    [
        (1, 2, 5, "number"),
        (Decimal("0.1"), Decimal("0.2"), 3, "number"),
        (None, 3, 2, "number"),
        (-1, None, 2, "number"),
        ("a", "b", 30, "text"),
        (None, "a", 2, "text"),
        ("z", None, 2, "text"),
        ("a", "aa", 1, "text"),
        (datetime.date(2024, 1, 1), None, 2, "date"),
        (None, datetime.date(2024, 1, 1), 2, "date"),
        (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2), 3, "date"),
    ],
)
def test_new_values_lie_between(low: object, high: object, count: int, sort: str) -> None:
    found = values_between(low, high, count, sort)
    assert found is not None and len(found) == count
    ends = ([] if low is None else [low]), ([] if high is None else [high])
    keys = [order_key(value) for value in (*ends[0], *found, *ends[1])]
    assert keys == sorted(set(keys))


def test_where_nothing_lies_between_none_is_found() -> None:
    assert values_between(None, "", 1, "text") is None
    assert values_between(datetime.date(2024, 1, 1), datetime.date(2024, 1, 2), 1, "date") is None


# -- evaluation ------------------------------------------------------------------------------------


def test_answers_treat_null_as_sql_does() -> None:
    x, y = Variable("x"), Variable("y")
    facts = [Fact("R", (1, None)), Fact("R", (2, 5)), Fact("R", (3, 5))]
    everything = Conjunctive((x,), (Atom("R", (x, y)),))
    assert answers(Query("Q", (everything,)), facts) == {(1,), (2,), (3,)}
    there = Conjunctive((x,), everything.atoms, known=frozenset({y}))
    assert answers(Query("Q", (there,)), facts) == {(2,), (3,)}
    missing = Conjunctive((x,), (Atom("R", (x, NULL)),))
    assert answers(Query("Q", (missing,)), facts) == {(1,)}
    compared = Conjunctive((x,), everything.atoms, (Comparison(y, "!=", Constant(6)),))
    assert answers(Query("Q", (compared,)), facts) == {(2,), (3,)}
    assert answers(Query("Q", (compared, there), bag=True), facts) == {(2,): 2, (3,): 2}
