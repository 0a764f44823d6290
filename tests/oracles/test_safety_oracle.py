"""Is the brute force for view safety right? It is held against the
definitions, the paper, and itself.

Answers are compared with all assignments of values to variables, worlds with all sets of tuples,
and both verdicts with Definitions 1 and 2 under many priors, in fractions. `safety_cases.json`
beside the papers' other cases has values that others computed; more are read from the folder that
TACIT_CASES names.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from oracles import safety
from oracles.safety import (
    Answer,
    Fact,
    Instance,
    Part,
    Space,
    Var,
    answer,
    judge,
    read_constraint,
    read_query,
)
from oracles.safety_cases import (
    AIMS,
    KINDS,
    PLAIN,
    Case,
    Columns,
    Kind,
    case,
    cases,
    changed_case,
    judged_case,
)
from oracles.safety_variants import variants

HERE = Path(__file__).parent
COPY = HERE.parent / "papers" / "safety_cases.json"
SHARED = Path(os.environ.get("TACIT_CASES") or HERE.parents[2] / "shared" / "cases") / "safety.json"
TINY = (
    Kind(tuples=4),
    Kind(tuples=5),
    Kind(tuples=4, constraints=0),
    Kind(tuples=5, nullary=True),
    Kind(tuples=5, mixed=True),
)


# -- answers, row by row ------------------------------------------------------------------------


def texts(one: Case) -> tuple[list[str], list[str]]:
    """The queries and the constraints of a case."""
    queries = [*one.views, one.secret, *(text for kind, text in one.new if kind == "view")]
    return queries, [*one.constraints, *(text for kind, text in one.new if kind == "constraint")]


def all_values(schema: safety.Schema, parts: Iterable[Part]) -> list[Any]:
    found = {value for columns in schema.values() for _, values in columns for value in values}
    for part in parts:
        terms = [term for _, terms in part.atoms for term in terms]
        terms += [term for left, _, right in part.where for term in (left, right)]
        found |= {term for term in terms if not isinstance(term, Var)}
    return sorted(found, key=repr)


def is_true(part: Part, instance: Instance, values: dict[Var, Any]) -> bool:
    def of(term: Any) -> Any:
        return values[term] if isinstance(term, Var) else term

    return all((name, tuple(map(of, terms))) in instance for name, terms in part.atoms) and all(
        (of(left) == of(right)) == (sign == "=") for left, sign, right in part.where
    )


def assignments(variables: Iterable[Var], values: list[Any]) -> Iterator[dict[Var, Any]]:
    names = list(variables)
    for chosen in itertools.product(values, repeat=len(names)):
        yield dict(zip(names, chosen, strict=True))


def plain_answer(text: str, instance: Instance, schema: safety.Schema) -> Answer:
    """Every assignment of any values to the variables of a rule is tried."""
    found = set()
    for rule in read_query(text).rules:
        for values in assignments(rule.body.variables, all_values(schema, [rule.body])):
            if is_true(rule.body, instance, values):
                found.add(
                    tuple(values[term] if isinstance(term, Var) else term for term in rule.head)
                )
    return frozenset(found)


def plainly_satisfies(text: str, instance: Instance, schema: safety.Schema) -> bool:
    """For all values of the variables on the left there are values of those on the right only."""
    constraint = read_constraint(text)
    values = all_values(schema, [*constraint.premises, *constraint.conclusions])
    for premise in constraint.premises:
        for left in assignments(premise.variables, values):
            if is_true(premise, instance, left) and not any(
                is_true(part, instance, left | more)
                for part in constraint.conclusions
                for more in assignments([one for one in part.variables if one not in left], values)
            ):
                return False
    return True


def few_variables(one: Case) -> bool:
    queries, constraints = texts(one)
    parts = [rule.body for text in queries for rule in read_query(text).rules]
    for text in constraints:
        read = read_constraint(text)
        parts += [Part((*a.atoms, *b.atoms)) for a in read.premises for b in read.conclusions]
    return all(len(all_values(one.schema, parts)) ** len(part.variables) <= 400 for part in parts)


def test_answers_are_what_all_assignments_give() -> None:
    rng = random.Random(1)
    compared = 0
    for one, _ in cases(KINDS, 300):
        if not few_variables(one):
            continue
        space = Space(one.schema)
        queries, constraints = texts(one)
        for mask in (rng.randrange(1 << len(space.facts)) for _ in range(3)):
            instance = space.instance(mask)
            compared += 1
            for text in queries:
                expected = plain_answer(text, instance, one.schema)
                assert answer(text, instance) == space.answer(text, mask) == expected, (
                    f"{text} on {instance}\n{one}"
                )
            for text in constraints:
                lawful = plainly_satisfies(text, instance, one.schema)
                assert safety.satisfies(text, instance) == lawful, f"{text} on {instance}\n{one}"
                assert (mask in space.satisfying([text])) == lawful, f"{text} on {instance}\n{one}"
    assert compared > 300


def subsets(schema: safety.Schema) -> Iterator[Instance]:
    facts = safety.possible_facts(schema)
    for size in range(len(facts) + 1):
        yield from map(frozenset, itertools.combinations(facts, size))


def plain_worlds(one: Case) -> tuple[list[Instance], list[Instance], list[Instance]]:
    """The instances that satisfy the constraints; the worlds before; the worlds after."""
    lawful = [
        world
        for world in subsets(one.schema)
        if all(safety.satisfies(text, world) for text in one.constraints)
    ]
    before = [
        world
        for world in lawful
        if all(answer(text, world) == answer(text, one.instance) for text in one.views)
    ]
    after = [
        world
        for world in before
        if all(
            answer(text, world) == answer(text, one.instance)
            if kind == "view"
            else safety.satisfies(text, world)
            for kind, text in one.new
        )
    ]
    return lawful, before, after


def test_worlds_are_those_of_all_sets_of_tuples() -> None:
    for one, judged in cases((*TINY, Kind(tuples=7)), 250):
        _, before, after = plain_worlds(one)
        space = judged.space
        assert {space.instance(mask) for mask in judged.before} == set(before), str(one)
        assert {space.instance(mask) for mask in judged.after} == set(after), str(one)
        assert judged.ruled_out == set(before) - set(after), str(one)
        assert judged.worlds_equal == (set(before) == set(after)), str(one)
        was, now = (
            Counter(answer(one.secret, world) for world in worlds) for worlds in (before, after)
        )
        assert judged.multiplicities == {
            secret: (count, now[secret]) for secret, count in was.items()
        }, str(one)
        extents = [answer(text, one.instance) for text in one.views]
        assert set(safety.worlds(one.schema, one.constraints, one.views, extents)) == set(before), (
            str(one)
        )


# -- the definitions, with priors ---------------------------------------------------------------

Prior = dict[Any, Fraction]
WEIGHTS: dict[int, list[tuple[int, ...]]] = {
    1: [(1,)],
    2: [(1, 1), (1, 3), (5, 2)],
    3: [(1, 1, 1), (1, 2, 5)],
}


def priors(outcomes: list[Any], rng: random.Random) -> Iterator[Prior]:
    """On every one, every two and some three outcomes."""
    for size in (1, 2, 3):
        supports = list(itertools.combinations(outcomes, size))
        for support in rng.sample(supports, min(len(supports), 150)) if size == 3 else supports:
            for weights in WEIGHTS[size]:
                total = sum(weights)
                yield {
                    one: Fraction(weight, total)
                    for one, weight in zip(support, weights, strict=True)
                }


def changes_belief(one: Case, prior: Prior, before: set[Instance], after: set[Instance]) -> bool:
    """Is P(s | E) != P(s | E') for some s, for a prior on instances with P(E') > 0?"""
    mass = [sum(p for world, p in prior.items() if world in worlds) for worlds in (before, after)]
    if not mass[1]:
        return False
    belief: list[Counter[Answer]] = [Counter(), Counter()]
    for world, p in prior.items():
        for number, worlds in enumerate((before, after)):
            if world in worlds:
                belief[number][answer(one.secret, world)] += p / mass[number]  # type: ignore[assignment]
    return belief[0] != belief[1]


def test_g_safety_is_definition_2() -> None:
    """A prior on secrets with all it may induce:
    any prior on the instances that satisfy the constraints.
    """
    rng = random.Random(2)
    for one, judged in cases(TINY, 60):
        lawful, before, after = plain_worlds(one)
        changed = any(
            changes_belief(one, prior, set(before), set(after)) for prior in priors(lawful, rng)
        )
        assert judged.gsafe == (not changed), str(one)


def test_e_safety_is_definition_1() -> None:
    """A prior on secrets, shared evenly among the instances that satisfy the constraints and
    have that secret.
    """
    rng = random.Random(3)
    for one, judged in cases((*TINY, Kind(tuples=6)), 150):
        lawful, before, after = plain_worlds(one)
        witnesses: dict[Answer, list[Instance]] = {}
        for world in lawful:
            witnesses.setdefault(answer(one.secret, world), []).append(world)
        changed = False
        for prior in priors(list(witnesses), rng):
            even = {
                world: p / len(witnesses[secret])
                for secret, p in prior.items()
                for world in witnesses[secret]
            }
            changed = changed or changes_belief(one, even, set(before), set(after))
        assert judged.esafe == (not changed), str(one)


def test_lemma_2_compares_all_pairs() -> None:
    for one, judged in cases(PLAIN, 200):
        pairs = list(judged.multiplicities.values())
        kept = all(after for _, after in pairs) and all(
            Fraction(a, b) == Fraction(c, d) for (a, c), (b, d) in itertools.permutations(pairs, 2)
        )
        assert judged.esafe == kept, str(one)
        assert judged.esafe or not judged.gsafe, str(one)


def test_the_numbers_of_the_discussion() -> None:
    """Section 6: 100 worlds for each of two secrets."""
    first, second = frozenset({(1,)}), frozenset({(2,)})
    assert not safety.keeps_odds({first: (100, 0), second: (100, 100)})
    assert not safety.keeps_odds({first: (100, 1), second: (100, 100)})
    assert safety.keeps_odds({first: (100, 50), second: (100, 50)})


# -- over a domain ------------------------------------------------------------------------------


def test_over_a_domain_is_on_every_instance_of_it() -> None:
    kinds = (Kind(tuples=6), *TINY)
    for one, _ in cases(kinds, 120):
        found = one.over_domain()
        space = Space(one.schema)
        news = [text for kind, text in one.new if kind == "constraint"]
        instances = [
            space.instance(int(mask)) for mask in space.satisfying([*one.constraints, *news])
        ]
        judged = {instance: replace(one, instance=instance).judge() for instance in instances}
        assert found.instances == len(instances)
        for name in ("gsafe", "esafe", "worlds_equal"):
            against = [instance for instance, each in judged.items() if not getattr(each, name)]
            assert getattr(found, name) == (not against), f"{name}\n{one}"
            shown = getattr(found, f"against_{name}")
            assert shown in against if against else shown is None, f"{name}\n{one}"
            assert shown is None or len(shown) == min(map(len, against)), f"{name}\n{one}"


# -- values that others computed ----------------------------------------------------------------


def listed(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cases"]
    return found


def shared_entries() -> list[Any]:
    if not SHARED.is_file():
        reason = (
            f"no {SHARED.name} in {SHARED.parent}: put the cases there, or name their folder "
            "in TACIT_CASES"
        )
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    known = listed(COPY)
    return [pytest.param(one, id=one["id"]) for one in listed(SHARED) if one not in known] or [
        pytest.param(
            None, marks=pytest.mark.skip(reason=f"{SHARED.name} has no more cases than {COPY.name}")
        )
    ]


def facts(rows: Iterable[Any]) -> frozenset[Fact]:
    return frozenset((one["relation"], tuple(one["values"])) for one in rows)


def listed_case(entry: dict[str, Any]) -> Case:
    schema = {
        name: tuple((column, tuple(values)) for column, values in columns)
        for name, columns in entry["schema"].items()
    }
    return Case(
        entry["id"],
        schema,
        tuple(entry["constraints"]),
        facts(entry["instance"]),
        tuple(entry["views"]),
        (("view", entry["new_view"]),),
        entry["secret"],
    )


def assert_as_listed(entry: dict[str, Any]) -> None:
    judged = listed_case(entry).judge()
    expected = entry["expected"]
    assert judged.worlds_equal == expected["gsafe_worlds_equal"]
    assert judged.gsafe == expected["gsafe_definition2"]
    assert judged.esafe == expected["esafe"]
    assert (judged.worlds_before, judged.worlds_after) == (
        entry["worlds_before"],
        entry["worlds_after"],
    )
    assert judged.secrets_before == entry["plausible_secrets_before"]
    assert judged.secrets_after == entry["plausible_secrets_after"]
    assert judged.multiplicities == {
        frozenset(map(tuple, one["secret"])): (one["before"], one["after"])
        for one in entry["multiplicities"]
    }
    if entry["eliminated_world"] is None:
        assert not judged.ruled_out
    else:
        assert facts(entry["eliminated_world"]) in judged.ruled_out


@pytest.mark.parametrize("entry", listed(COPY), ids=[one["id"] for one in listed(COPY)])
def test_brute_force_gives_the_listed_values(entry: dict[str, Any]) -> None:
    assert_as_listed(entry)


@pytest.mark.parametrize("entry", shared_entries())
def test_brute_force_gives_the_shared_values(entry: dict[str, Any]) -> None:
    assert_as_listed(entry)


# -- the paper's examples, as corrected ---------------------------------------------------------

REVIEWERS = ("r1", "r2", "r3", "r4")
C1 = "RP(r, p) -> RS(r, c)"
C2 = "RP(r, p) -> SP(c, p)"
C3 = "RP(r, p) -> RS(r, c), SP(c, p)"
C4_PRINTED = "RP(r1, p), RP(r2, p), RP(r, p) -> r = r1 | r = r2"
C4 = "RP(r1, p), RP(r2, p), RP(r, p), r1 != r2 -> r = r1 | r = r2"
C5 = "SP(c, p) -> RP(r1, p), RP(r2, p), r1 != r2"
V_R, V_S = "VR(r) :- RS(r, s)", "VS(s) :- RS(r, s)"
V_RS: safety.New = ("view", "VRS(r, s) :- RS(r, s)")
V_SP: safety.New = ("view", "VSP(s, p) :- SP(s, p)")
SECRET = "S(r) :- RP(r, 'p1')"


def conference(
    reviews: dict[str, str],
    *,
    papers: tuple[str, ...] = ("p1",),
    reviewers: tuple[str, ...] = REVIEWERS,
    committees: tuple[str, ...] = ("c1", "c2"),
    constraints: tuple[str, ...] = (C1, C2, C3),
    of: str = "",
) -> Case:
    """Reviewers r1, r2 are in c1, others in c2 (all in c1 with one committee);
    so papers p1, p2 and others.
    """
    schema: dict[str, Columns] = {
        "RS": (("reviewer", reviewers), ("subcom", committees)),
        "SP": (("subcom", committees), ("paper", papers)),
        "RP": (("reviewer", reviewers), ("paper", papers)),
    }
    instance: set[Fact] = {("RS", (one, committees[0 if one < "r3" else -1])) for one in reviewers}
    instance |= {("SP", (committees[0 if one < "p3" else -1], one)) for one in papers}
    instance |= {("RP", (one, paper)) for paper, names in reviews.items() for one in names.split()}
    return Case(
        "conference", schema, constraints, frozenset(instance), (V_R, V_S), (V_RS, V_SP), SECRET
    )


def secrets(*names: str) -> set[Answer]:
    return {frozenset((one,) for one in each.split()) for each in names}


def after(judged: safety.Judgement) -> set[Answer]:
    return {secret for secret, (_, count) in judged.multiplicities.items() if count}


def test_example_1() -> None:
    """Publishing V_RS and V_SP: nobody believes any longer that r3 or r4 reviewed p1."""
    judged = conference({"p1": "r1"}).judge()
    assert (judged.worlds_before, judged.worlds_after) == (2559, 4)
    assert judged.secrets_before == 16
    assert after(judged) == secrets("", "r1", "r2", "r1 r2")
    assert (judged.worlds_equal, judged.gsafe, judged.esafe) == (False, False, False)
    # C3 alone says what C1 and C2 say.
    assert (
        conference({"p1": "r1"}, constraints=(C3,)).judge().multiplicities == judged.multiplicities
    )


def test_example_1_without_constraints() -> None:
    """If the attacker did not know them, the odds of the secrets would not change."""
    judged = conference({"p1": "r1"}, constraints=()).judge()
    assert (judged.gsafe, judged.esafe) == (False, True)


def test_example_1_with_two_papers() -> None:
    """2^20 instances. What is said about p1 is the same; p2 adds worlds."""
    judged = conference({"p1": "r1", "p2": "r2"}, papers=("p1", "p2")).judge()
    assert judged.worlds_after == 16
    assert judged.secrets_before == 16
    assert after(judged) == secrets("", "r1", "r2", "r1 r2")
    assert not judged.esafe


def test_example_2_is_not_safe_as_printed() -> None:
    """One committee: the empty secret was twice as likely as others and no longer is."""
    case = conference(
        {"p1": "r1", "p2": "r2"}, papers=("p1", "p2"), reviewers=("r1", "r2"), committees=("c0",)
    )
    judged = case.judge()
    assert judged.multiplicities[frozenset()] == (10, 4)
    assert {pair for secret, pair in judged.multiplicities.items() if secret} == {(5, 4)}
    assert (judged.gsafe, judged.esafe) == (False, False)
    only_rs = replace(case, new=(V_RS,)).judge()
    assert only_rs.worlds_equal
    assert only_rs.gsafe


def test_example_3_has_16_and_4_possibilities() -> None:
    judged = conference({"p1": "r1 r2"}).judge()
    assert (judged.secrets_before, judged.secrets_after) == (16, 4)


def test_example_3_with_exactly_two_reviewers() -> None:
    """C4 with r1 != r2, and C5: the secret is fully exposed."""
    judged = conference({"p1": "r1 r2"}, constraints=(C3, C4, C5)).judge()
    pairs = [" ".join(pair) for pair in itertools.combinations(REVIEWERS, 2)]
    assert set(judged.multiplicities) == secrets("", *pairs)
    assert after(judged) == secrets("r1 r2")
    assert judged.worlds_after == 1
    assert not judged.esafe


def test_example_3_publishing_that_each_paper_has_two_reviewers() -> None:
    """The constraints as new information, when V_RS and V_SP are published."""
    out = conference({"p1": "r1 r2"})
    case = replace(
        out, views=(V_R, V_S, V_RS[1], V_SP[1]), new=(("constraint", C4), ("constraint", C5))
    )
    judged = case.judge()
    assert (judged.worlds_before, judged.worlds_after) == (4, 1)
    assert after(judged) == secrets("r1 r2")
    assert (judged.gsafe, judged.esafe) == (False, False)


def test_c4_as_printed_contradicts_c5() -> None:
    """r1 and r2 may be the same: one reviewer for a paper, so no paper at all with C5."""
    case = conference({"p1": "r1 r2"}, constraints=(C3, C4_PRINTED))
    with pytest.raises(ValueError, match="violates a constraint"):
        case.judge()
    space = Space(case.schema)
    for mask in space.satisfying([C4_PRINTED]):
        assert len(answer(SECRET, space.instance(int(mask)))) <= 1
    for mask in space.satisfying([C3, C4_PRINTED, C5]):
        assert {name for name, _ in space.instance(int(mask))} <= {"RS"}


def test_example_4_is_read_as_a_disjunction() -> None:
    text = "T(x, y) -> R(x, z) | x != y"
    assert safety.satisfies(text, {("T", (1, 2))})
    assert not safety.satisfies(text, {("T", (1, 1))})
    assert safety.satisfies(text, {("T", (1, 1)), ("R", (1, 5))})
    assert safety.violations(text, {("T", (1, 1)), ("T", (1, 2))}) == [frozenset({("T", (1, 1))})]


def test_example_5_has_7_worlds_of_which_2_are_minimal() -> None:
    schema = {"R": [("A", ["a1", "a2"]), ("B", ["b1", "b2"]), ("C", ["c1", "c2"])]}
    views = ["V(a, c) :- R(a, b, c)", "W(b) :- R(a, b, c)"]
    extents = [frozenset({("a1", "c1"), ("a2", "c2")}), frozenset({("b1",), ("b2",)})]
    assert len(safety.worlds(schema, [], views[:1], extents[:1])) == 9
    worlds = safety.worlds(schema, [], views, extents)
    assert len(worlds) == 7
    straight = frozenset({("R", ("a1", "b1", "c1")), ("R", ("a2", "b2", "c2"))})
    crossed = frozenset({("R", ("a1", "b2", "c1")), ("R", ("a2", "b1", "c2"))})
    assert {world for world in worlds if not any(other < world for other in worlds)} == {
        straight,
        crossed,
    }
    printed = frozenset({("R", ("a1", "b1", "c1")), ("R", ("a1", "b2", "c2"))})
    assert printed not in worlds


def test_extents_that_no_instance_gives_leave_no_world() -> None:
    schema = {"R": [("x", ["a", "b"])]}
    assert safety.worlds(schema, [], ["V(x) :- R(x)"], [frozenset({("c",)})]) == []
    assert (
        safety.worlds(
            schema, [], ["V(x) :- R(x)", "W() :- R('a')"], [frozenset({("a",)}), frozenset()]
        )
        == []
    )


def test_a_secret_with_a_parameter_is_asked_for_every_value() -> None:
    case = conference({"p1": "r1"}, papers=("p1", "p2"), reviewers=("r1", "r2"), committees=("c0",))
    asked = safety.parameterised("S(r) :- RP(r, $paper)", {"paper": ["p1", "p2", "p3"]})
    judged = {value: replace(case, secret=text).judge() for (value,), text in asked.items()}
    assert not judged["p1"].esafe
    assert not judged["p2"].esafe
    assert judged["p3"].secrets_before == 1


def test_colluding_clients_have_the_views_of_both() -> None:
    schema: safety.Schema = {"R": [("x", ["a", "b"]), ("y", [1, 2])]}
    instance = frozenset({("R", ("a", 1)), ("R", ("b", 2))})
    views = ["V(x) :- R(x, y)", "W(y) :- R(x, y)"]
    key = ["R(x, y), R(x, z) -> y = z", "R(x, y), R(z, y) -> x = z"]
    new: list[safety.New] = [("view", "N() :- R('a', 1)")]
    assert safety.plausible(schema, key, instance, views, "S(x, y) :- R(x, y)") == {
        frozenset({("a", 1), ("b", 2)}),
        frozenset({("a", 2), ("b", 1)}),
    }
    assert judge(schema, key, instance, views, new, "S() :- R('b', 2)").secrets_after == 1


def test_a_dictionary_is_a_projection() -> None:
    schema = conference({"p1": "r1"}).schema
    assert safety.dictionary(schema, "RS", "reviewer") == "D(x0) :- RS(x0, x1)"
    assert safety.dictionary(schema, "RS", "subcom", "reviewer") == "D(x1, x0) :- RS(x0, x1)"


# -- input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "S(x) :- R(y)",
        "S() :- R(x), y != x",
        "S(x) :- R(x); S() :- R(x)",
        "S(x)",
        "S(x) :- R(x",
        "S(x) :- R(x) T(x)",
        "S(x) :- R($p), T(x)",
        "S(x) :- R(x), x < 2",
        "S(x) :- R(y), x = z, z = x",
    ],
)
def test_what_is_no_query_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_query(text)


@pytest.mark.parametrize(
    "text",
    [
        "R(x)",
        "R(x) -> y != x",
        "x = y -> R(x)",
        "R(x) | T(y) -> U(x)",
        "R(x) -> T(x) -> U(x)",
        "R(x) -> true, T(x)",
    ],
)
def test_what_is_no_constraint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_constraint(text)


def test_queries_are_read_as_written() -> None:
    two = read_query('S(x) :- R(x, _, _)\nS("it") :- T(1, -2, 2.5), y = x, x = 1')
    assert [len(rule.body.variables) for rule in two.rules] == [3, 2]
    assert two.rules[1].head == ("it",)
    assert two.rules[1].body.atoms == (("T", (1, -2, 2.5)),)
    assert answer("S(y) :- R(x), y = x, x != 'a'", {("R", ("a",)), ("R", ("b",))}) == {("b",)}
    assert answer("S() :- R('1')", {("R", (1,))}) == frozenset()
    assert read_constraint("true -> P() | false").conclusions == (Part((("P", ()),)),)
    assert read_constraint("R(x) -> false").conclusions == ()


def test_an_instance_outside_is_refused() -> None:
    schema = {"R": [("x", ["a", "b"])]}
    with pytest.raises(ValueError, match="does not allow"):
        judge(schema, [], {("R", ("c",))}, [], [], "S(x) :- R(x)")
    with pytest.raises(ValueError, match="does not hold"):
        judge(schema, [], set(), [], [("constraint", "true -> R(x)")], "S(x) :- R(x)")
    with pytest.raises(ValueError, match="with 2 columns"):
        judge(schema, [], set(), [], [], "S(x) :- R(x, y)")
    with pytest.raises(ValueError, match="too many"):
        judge({"R": [("x", list(range(30)))]}, [], set(), [], [], "S(x) :- R(x)")


def test_answers_of_many_possible_rows_are_told_apart() -> None:
    """More rows than an integer has bits."""
    schema = {"R": [("x", list(range(4)))]}
    space = Space(schema)
    masks = space.satisfying([])
    for text in (
        "S(a, b, c) :- R(a), R(b), R(c), a != b",
        "S(a, b, c, d) :- R(a), R(b), R(c), R(d)",
    ):
        labels = space.groups(text, masks).tolist()
        found = {
            (label, space.answer(text, int(mask)))
            for label, mask in zip(labels, masks, strict=True)
        }
        assert len(found) == len({label for label, _ in found}) == len({rows for _, rows in found})


# -- the cases themselves -----------------------------------------------------------------------


def test_all_four_outcomes_are_common() -> None:
    found = list(cases(PLAIN, 600))
    mix = Counter(judged.kind for _, judged in found)
    assert all(mix[aim] >= 0.15 * len(found) for aim in AIMS), mix
    moved = [judged for _, judged in found if judged.kind == "odds moved"]
    assert sum(judged.secrets_after == judged.secrets_before for judged in moved) >= 0.05 * len(
        found
    )
    assert len({str(one).partition("\n")[2] for one, _ in found}) > 0.98 * len(found)


def test_a_case_is_made_from_its_kind_and_number() -> None:
    for kind in KINDS:
        one, judged = judged_case(kind, 7)
        assert case(kind, 7) == judged_case.__wrapped__(kind, 7)[0] == one
        again = one.judge()
        assert (again.before, again.after, again.multiplicities) == (
            judged.before,
            judged.after,
            judged.multiplicities,
        )
        assert one.tuples <= kind.tuples


def test_texts_are_written_as_they_are_read() -> None:
    """Reading and writing again changes nothing but the numbers of unnamed variables."""
    for one, _ in cases(KINDS, 200):
        assert changed_case(one, lambda query: query, lambda constraint: constraint) == one


def test_variants_are_judged_alike() -> None:
    seen = set()
    for number, (one, judged) in enumerate(cases(KINDS, 150)):
        for variant in variants(one, number):
            seen.add(variant.name)
            again = variant.case.judge()
            text = f"{variant.name}\n{one}\n{variant.case}"
            assert again.kind == judged.kind, text
            assert again.worlds_before == variant.factor * judged.worlds_before, text
            assert again.worlds_after == variant.factor * judged.worlds_after, text
            pairs = [
                [tuple(count * factor for count in pair) for pair in each.multiplicities.values()]
                for each, factor in ((judged, variant.factor), (again, 1))
            ]
            assert Counter(pairs[0]) == Counter(pairs[1]), text
    assert len(seen) == 11


def test_variants_are_judged_alike_over_a_domain() -> None:
    for number, (one, _) in enumerate(cases((Kind(tuples=7),), 40)):
        found = one.over_domain()
        for variant in variants(one, number):
            again = variant.case.over_domain()
            assert (again.gsafe, again.esafe, again.worlds_equal) == (
                found.gsafe,
                found.esafe,
                found.worlds_equal,
            ), f"{variant.name}\n{one}\n{variant.case}"


def test_a_plan_says_all_of_a_case() -> None:
    for one, _ in cases(PLAIN, 50):
        plan = yaml.safe_load(yaml.safe_dump(one.to_plan(over="domain"), sort_keys=False))
        rows = {
            (name, tuple(row)) for name, table in plan["tables"].items() for row in table["rows"]
        }
        schema = {
            name: tuple((column, tuple(table["domains"][column])) for column in table["columns"])
            for name, table in plan["tables"].items()
        }
        out = plan.get("published", [])
        views = [plan["releases"][name]["query"] for name in out]
        new = [
            ("view" if "query" in release else "constraint", *release.values())
            for name, release in plan["releases"].items()
            if name not in out
        ]
        constraints = tuple(plan.get("constraints", ()))
        again = Case(
            one.name,
            schema,
            constraints,
            frozenset(rows),
            tuple(views),
            tuple(new),
            plan["secrets"]["hidden"],
        )
        assert again == one
        assert [next(iter(check)) for check in plan["checks"]] == ["g-safety", "e-safety"]
        for check in plan["checks"]:
            (asked,) = check.values()
            assert asked["over"] == "domain"
            assert asked["release"] == [name for name in plan["releases"] if name not in out]


@pytest.mark.parametrize("name", ["safety.py", "safety_cases.py", "safety_variants.py"])
def test_the_oracle_shares_no_code_with_tacit(name: str) -> None:
    for node in ast.walk(ast.parse((HERE / name).read_text("utf-8"))):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not any(one.split(".")[0] == "tacit" for one in names)
