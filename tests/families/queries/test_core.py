"""The core says the same as the query, with fewer words;
and equal queries have one canonical form.
"""

from __future__ import annotations

import random
from dataclasses import replace

from families.queries.logic import R2, R3, body, random_query, read, relations
from tacit.families.queries.evaluate import answers
from tacit.families.queries.facts import Fact
from tacit.families.queries.logic.canonical import canonical, canonical_query
from tacit.families.queries.logic.chase import key_places
from tacit.families.queries.logic.core import core, embedding, kept_only
from tacit.families.queries.logic.numbered_queries import NumberedBody, Symbols, TermNumbering
from tacit.families.queries.logic.prepare import prepare
from tacit.families.queries.query import (
    Comparison,
    Conjunctive,
    Query,
    Relation,
    Relations,
    Variable,
)


def written(part: NumberedBody, numbering: TermNumbering) -> Conjunctive:
    """A numbered query as people write it."""
    return Conjunctive(
        tuple(numbering.term(part, term) for term in part.head),
        tuple(numbering.words(part, place) for place in range(len(part.atoms))),
        tuple(
            Comparison(numbering.term(part, a), op, numbering.term(part, b))
            for a, op, b in part.comparisons
        ),  # type: ignore[arg-type]
        frozenset(Variable(part.names[term]) for term in part.known),
    )


def random_facts(rng: random.Random, known: Relations, null: float = 0.0) -> list[Fact]:
    def value(column: str, relation: Relation) -> int | None:
        return (
            None if column in relation.nullable and rng.random() < null else rng.choice([1, 2, 3])
        )

    return [
        Fact(relation.name, tuple(value(column, relation) for column in relation.columns))
        for relation in known.values()
        for _ in range(rng.randrange(5))
    ]


def test_a_core_is_as_short_as_can_be() -> None:
    for text, length in (
        ("S(x) :- R(x, y), R(x, z), R(x, 'c')", 1),
        ("S() :- R(x, y), R(y, z), R(z, w)", 3),
        ("S() :- R(x, y), R(y, x), R(u, u)", 1),
        ("S(x) :- R(x, y), R(y, z), R(x, w), R(w, z)", 2),
        ("S() :- R(x, y), R(y, z), R(z, x)", 3),
        ("S() :- R(x, y), R(x, z), y != z", 2),
        ("S() :- R(x, y), R(u, v), x < y", 1),
    ):
        part, symbols = body(text)
        assert len(core(part, symbols)[0].atoms) == length, text


def test_a_core_has_the_same_answers() -> None:
    rng = random.Random(1)
    known = relations(
        Relation("R", ("a", "b"), nullable=frozenset("b")),
        Relation("T", ("c",), nullable=frozenset("c")),
    )
    shorter = 0
    for _ in range(400):
        query = random_query(rng, "S", known, atoms=(2, 3, 4), comparisons=True)
        part = query.parts[0]
        few = frozenset(variable for variable in part.known if rng.random() < 0.4)
        compared = {
            term
            for one in part.comparisons
            for term in (one.left, one.right)
            if isinstance(term, Variable)
        }
        query = replace(query, parts=(replace(part, known=few | compared),))
        numbering = TermNumbering(known, Symbols())
        ready = prepare(query, numbering, key_places(known), 0)
        cut = Query("S", tuple(written(one, numbering) for one in ready.parts))
        shorter += sum(len(one.atoms) for one in cut.parts) < len(part.atoms)
        for _ in range(6):
            facts = random_facts(rng, known, 0.3)
            assert answers(cut, facts) == answers(query, facts), f"{query}\n{cut}\n{facts}"
    assert shorter > 100


def test_what_a_cut_subgoal_said_of_others_is_kept() -> None:
    """The middle of x < y < z goes with its subgoal; x < z stays."""
    part, _symbols = body("S() :- R(x, z), R(y, y), x < y, y < z")
    left = kept_only(part, [0])
    assert [operator for _, operator, _ in left.comparisons] == ["<"]


def test_parts_that_another_contains_are_cut() -> None:
    numbering = TermNumbering(R2, Symbols())
    query = read("S(x) :- R(x, 'a'); S(x) :- R(x, y); S(z) :- R(z, w)")
    ready = prepare(query, numbering, {}, 0)
    assert len(ready.parts) == 1 and len(ready.folded) == 2
    assert len(prepare(replace(query, bag=True), numbering, {}, 0).parts) == 3


def test_containment_is_an_embedding() -> None:
    wide, symbols = body("S(x) :- R(x, y)")
    numbering = TermNumbering(R2, symbols)
    narrow = numbering.body(read("S(x) :- R(x, y), R(y, 'a')").parts[0], 0)
    assert narrow is not None
    assert embedding(wide, narrow, symbols) is not None and embedding(narrow, wide, symbols) is None


# -- canonical forms -------------------------------------------------------------------------------


def shuffled(part: Conjunctive, rng: random.Random) -> Conjunctive:
    atoms = list(part.atoms)
    rng.shuffle(atoms)
    names = [f"z{number}" for number in range(len(list(part.variables())))]
    rng.shuffle(names)
    renamed = dict(zip(part.variables(), map(Variable, names), strict=True))
    return replace(part, atoms=tuple(atoms)).substituted(renamed)


def test_names_and_order_do_not_change_the_canonical_form() -> None:
    rng = random.Random(2)
    forms: dict[object, NumberedBody] = {}
    numbering = TermNumbering(R3, Symbols())
    for _ in range(300):
        query = random_query(rng, "S", R3, atoms=(2, 3, 4), comparisons=True)
        one, two = (
            numbering.body(part, 0) for part in (query.parts[0], shuffled(query.parts[0], rng))
        )
        if one is None or two is None:
            assert one is two
            continue
        assert canonical(one) == canonical(two)
        other = forms.setdefault(canonical(one), one)
        assert len(other.atoms) == len(one.atoms)
        assert embedding(one, other, numbering.symbols) is not None or one.comparisons


def test_very_symmetric_queries_still_have_a_form() -> None:
    part, _ = body("S() :- " + ", ".join(f"R(x{number}, y{number})" for number in range(30)))
    assert canonical(part) == canonical(part)
    assert canonical_query((part,), True) != canonical_query((part,), False)
