"""Determinacy: what views, keys, constraints and rows that were got decide."""

from __future__ import annotations

import pytest

from tacit.families.queries.datalog.dependencies import read_constraint
from tacit.families.queries.logic.determinacy import ShownBodies, is_determined, with_keys
from tacit.families.queries.logic.tableau import rules_of
from tacit.families.queries.query import Atom, Conjunctive, Constant, Query, Relation, Variable
from tacit.families.queries.read import read

RELATIONS = {
    "P": Relation("P", ("id", "a", "t"), keys=(("id",),)),
    "S": Relation("S", ("p", "u"), nullable=frozenset({"u"})),
}


def query(text: str) -> Query:
    found = read(text, RELATIONS, name="q").exact
    assert found is not None
    return found


def determined(
    text: str, *views: str, constraints: tuple[str, ...] = (), got: tuple[Atom, ...] = ()
) -> bool:
    rules = rules_of(
        [one for text in constraints for one in read_constraint(text, RELATIONS)], RELATIONS
    )
    facts = tuple(Conjunctive((), (one,)) for one in got)
    shown = ShownBodies(tuple(map(query, views)), facts)
    return all(is_determined(part, shown, rules) for part in query(text).parts)


@pytest.mark.parametrize(
    ("asked", "views", "constraints", "expected"),
    [
        ("Q(t) :- P(1, a, t)", ["V(i, t) :- P(i, a, t)"], (), True),
        ("Q(a) :- P(1, a, t)", ["V(i, t) :- P(i, a, t)"], (), False),
        # A key puts two views together.
        ("Q(a, t) :- P(1, a, t)", ["V(i, t) :- P(i, a, t)", "W(i, a) :- P(i, a, t)"], (), True),
        ("Q(p) :- S(p, 7)", ["V(p) :- S(p, 7), P(p, a, t)"], (), False),
        ("Q(p) :- S(p, 7)", ["V(p) :- S(p, 7), P(p, a, t)"], ("S[p] in P[id]",), True),
        # Of a union nobody says from which part a row comes.
        ("Q(p) :- S(p, 7)", ["V(p) :- S(p, 7)\nV(p) :- S(p, 8)"], (), False),
        ("Q(p) :- S(p, u)", ["V(p) :- S(p, u)\nV(p) :- S(p, 8)"], (), True),
        # Comparisons; of texts only the database knows the order.
        ("Q(i) :- P(i, a, t), a < 3", ["V(i, a) :- P(i, a, t), a < 5"], (), True),
        ("Q(i) :- P(i, a, t), a < 6", ["V(i, a) :- P(i, a, t), a < 5"], (), False),
        ("Q(i) :- P(i, a, t), a < 3", ["V(i) :- P(i, a, t), a < 5"], (), False),
        ("Q(i) :- P(i, a, t), t < 'b'", ["V(i, t) :- P(i, a, t), t < 'c'"], (), False),
        # A constraint with alternatives: whichever holds, a view shows it.
        (
            "Q(i) :- P(i, a, t)",
            ["V(i) :- P(i, 1, t)", "W(i) :- P(i, 2, t)"],
            ("P(i, a, t) -> a = 1 | a = 2",),
            True,
        ),
        ("Q(i) :- P(i, a, t)", ["V(i) :- P(i, 1, t)"], ("P(i, a, t) -> a = 1 | a = 2",), False),
    ],
)
def test_what_views_decide(
    asked: str, views: list[str], constraints: tuple[str, ...], expected: bool
) -> None:
    assert determined(asked, *views, constraints=constraints) == expected


def test_rows_that_were_got_say_that_they_are_there_and_no_more() -> None:
    view = "V(i, a, t) :- P(i, a, t), S(i, 7)"
    got = (Atom("S", (Constant(1), Constant(7))),)
    assert determined("Q(t) :- P(1, a, t)", view, got=got)
    assert not determined("Q(t) :- P(2, a, t)", view, got=got)
    assert not determined("Q(p) :- S(p, 7)", view, got=got)


def test_what_a_row_did_not_show_is_not_known() -> None:
    got = (Atom("P", (Constant(1), Variable("a"), Variable("t"))),)
    assert not determined("Q(t) :- P(1, a, t)", "V(i) :- P(i, a, t)", got=got)


def test_rows_that_changed_since_they_were_got_prove_nothing() -> None:
    before, after = (Atom("P", (Constant(1), Constant(a), Variable("t"))) for a in (2, 3))
    assert not determined("Q(t) :- P(5, a, t)", "V(i) :- P(i, 9, t)", got=(before, after))
    assert not determined("Q(t) :- P(1, 3, t)", "V(i) :- P(i, 9, t)", got=(before,))


def test_a_table_without_a_key_tells_no_rows_apart() -> None:
    assert with_keys(query("Q(p) :- S(p, u)").parts[0], RELATIONS) is None
    part = with_keys(query("Q(t) :- P(i, a, t)").parts[0], RELATIONS)
    assert part is not None and len(part.head) == 2
