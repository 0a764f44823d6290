"""Known keys, against brute force over every set of keys and all databases with them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from oracles.known_keys import Given, is_disclosed
from oracles.perfect import Asked, Rule, Table, Var
from oracles.perfect_cases import as_query, as_relations, column_name
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
from tacit.families.queries.logic.critical import Disclosed, Private
from tacit.families.queries.logic.known_keys import KnownKeys
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.understanding import QueryUnderstanding
from thorough import THOROUGH


def random_given(rng: random.Random) -> Given:
    """A table of known keys, and one that refers to it or whose keys are known too."""
    two, nullable = ("a", "b"), rng.random() < 0.3
    schema = {"P": Table((two, two), ((0,),), frozenset({1} if nullable else ()))}
    known, foreign = {"P"}, []
    kind = rng.choice(["set", "keyed", "known"])
    missing = frozenset({1} if rng.random() < 0.2 else ())
    schema["T"] = Table((two, two), () if kind == "set" else ((0,),), missing)
    if kind == "known":
        known.add("T")
    if rng.random() < 0.8:
        foreign.append(("T", rng.choice([0, 1, 1]), "P"))
    if rng.random() < 0.2:
        foreign.append(("P", 1, "P"))
    return Given(schema, frozenset(known), tuple(foreign))


def random_asked(rng: random.Random, given: Given) -> Asked:
    """A union of one or two rules over the tables."""
    names, width = [Var(name) for name in "xyzu"], rng.choice([0, 0, 1])
    return Asked(
        tuple(random_rule(rng, given, names, width) for _ in range(rng.choice([1, 1, 1, 2]))),
        bag=rng.random() < 0.25,
    )


def random_rule(rng: random.Random, given: Given, names: list[Var], width: int) -> Rule:
    body = tuple(
        (
            rng.choice(sorted(given.schema)),
            tuple(rng.choice(names) if rng.random() < 0.7 else rng.choice("ab") for _ in "01"),
        )
        for _ in range(rng.choice([1, 1, 2, 2, 3]))
    )
    used = Rule((), body).variables
    often = Counter(term for _, terms in body for term in terms)
    where = ((used[0], "!=", used[1]),) if len(used) > 1 and rng.random() < 0.15 else ()
    compared = {term for left, _, right in where for term in (left, right)}
    known = {one for one in used if often[one] > 1 or one in compared}
    known |= set(used[:1]) if rng.random() < 0.3 else set()
    head = tuple(rng.choice([*used, "a"]) for _ in range(width))
    return Rule(head, body, where, frozenset(known))


def judged(given: Given, secret: Asked, view: Asked) -> Any:
    """What Tacit finds."""
    known = KnownKeys(
        {name: column_name(0) for name in sorted(given.known)},
        tuple((table, column_name(column), other) for table, column, other in given.foreign),
    )
    asked = [
        QueryUnderstanding(name, "", "datalog", (), (), as_query(name, one))
        for name, one in (("S", secret), ("V", view))
    ]
    question = QueryQuestion(asked[0], (asked[1],), as_relations(given.schema), known=known)
    return PerfectPrivacy().decide(question).found


@pytest.mark.parametrize("seed", range(5))
def test_what_is_decided_given_known_keys_is_what_brute_force_finds(seed: int) -> None:
    rng = random.Random(f"known keys {seed}")
    seen: Counter[str] = Counter()
    for _ in range(60 * THOROUGH):
        given = random_given(rng)
        secret, view = random_asked(rng, given), random_asked(rng, given)
        found, truth = judged(given, secret, view), is_disclosed(given, secret, view, rng)
        seen[f"{type(found).__name__} {truth}"] += 1
        if isinstance(found, Private | Disclosed):
            assert isinstance(found, Disclosed) == truth, f"{given}\n{secret}\n{view}\n{found}"
    assert seen["Private False"] and seen["Disclosed True"], seen
