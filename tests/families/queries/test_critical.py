"""Perfect privacy: the worked cases, the counterexamples to the printed
theorems, and what a verdict carries.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from families.queries.logic import R2, R3, random_query, read, relations
from tacit.families.queries.evaluate import answers
from tacit.families.queries.logic.critical import (
    Disclosed,
    Fact,
    NotDecided,
    Private,
    SecretJudge,
    Verdict,
    is_empty,
    judge,
)
from tacit.families.queries.query import (
    Atom,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Relations,
    Variable,
)

CASES = (
    Path(os.environ.get("TACIT_CASES") or Path(__file__).parents[4] / "shared" / "cases")
    / "perfect.json"
)


def schema(case: dict[str, Any]) -> Relations:
    keys: dict[str, list[tuple[str, ...]]] = {}
    for key in case["keys"]:
        keys.setdefault(key["relation"], []).append(tuple(key["columns"]))
    return {
        name: Relation(
            name,
            tuple(column for column, _ in columns),
            tuple(keys.get(name, ())),
            {column: tuple(domain) for column, domain in columns if domain != "infinite"},
        )
        for name, columns in case["schema"].items()
    }


def status(verdict: Verdict) -> str:
    return type(verdict).__name__.lower()


def assert_replays(verdict: Verdict, secret: Query, views: list[Query], known: Relations) -> None:
    """The tuples change the answers, the instances satisfy keys
    and domains, and the path is one.
    """
    assert isinstance(verdict, Disclosed)
    view = views[verdict.view]
    for query, instance, added in (
        (secret, verdict.instance_secret, verdict.secret_tuple),
        (view, verdict.instance_view, verdict.view_tuple),
    ):
        assert answers(query, instance) != answers(query, [*instance, added])
        for fact in (*instance, added):
            described = known[fact.relation]
            for column, value in zip(described.columns, fact.values, strict=True):
                allowed = described.domains.get(column)
                assert value in allowed if allowed and value is not None else True
                assert value is not None or column in described.nullable
            assert not any(
                fact != other and share_a_key(fact, other, described)
                for other in (*instance, added)
            )
    for one, two in zip(verdict.path, verdict.path[1:], strict=False):
        assert share_a_key(one, two, known[one.relation])
    if verdict.path:
        assert (verdict.path[0], verdict.path[-1]) == (verdict.secret_tuple, verdict.view_tuple)


def share_a_key(one: Fact, two: Fact, relation: Relation) -> bool:
    if one.relation != two.relation or one.relation != relation.name:
        return False
    places = [[relation.columns.index(column) for column in key] for key in relation.keys]
    return any(all(one.values[place] == two.values[place] for place in key) for key in places)


def ask(secret: str, view: str, known: Relations = R2, *, bag: bool = False) -> str:
    queries = read(secret, known, bag=bag), [read(view, known, bag=bag)]
    verdict = judge(*queries, known)
    if isinstance(verdict, Disclosed):
        assert_replays(verdict, *queries, known)
    return status(verdict)


def worked_cases() -> list[dict[str, Any]]:
    """Cases computed by others, where there are any."""
    found: list[dict[str, Any]] = (
        json.loads(CASES.read_text("utf-8"))["cases"] if CASES.exists() else []
    )
    return found


@pytest.mark.parametrize("case", worked_cases(), ids=lambda case: case["id"])
@pytest.mark.parametrize("semantics", ["expected", "expected_bag_semantics"])
def test_worked_cases(case: dict[str, Any], semantics: str) -> None:
    if semantics not in case:
        pytest.skip("the case is about sets only")
    known, bag = schema(case), semantics != "expected"
    secret = read(case["secret"], known, bag=bag)
    views = [read(view, known, bag=bag) for view in (case["view"], *case.get("more_views", []))]
    verdict = judge(secret, views, known)
    assert status(verdict) == case[semantics]
    if isinstance(verdict, Disclosed):
        assert_replays(verdict, secret, views, known)


# -- where the printed theorems fail --------------------------------------------------------------


def test_domains_must_be_large_for_both_queries_jointly() -> None:
    secret, view = (
        "S(a) :- R(a, b, 'n0'), R('p', 'm0', 'n0')",
        "V(a) :- R(a, 'm1', b), R('q', 'm1', 'n1')",
    )
    small = relations(
        Relation("R", tuple("abc"), (), {"a": ("p", "q"), "b": ("m0", "m1"), "c": ("n0", "n1")})
    )
    assert ask(secret, view, small) == "private"
    larger = relations(
        Relation(
            "R", tuple("abc"), (), {"a": ("p", "q", "r"), "b": ("m0", "m1"), "c": ("n0", "n1")}
        )
    )
    assert ask(secret, view, larger) == ask(secret, view, R3) == "disclosed"


def test_subgoals_are_compatible_only_under_one_valuation() -> None:
    assert ask("S() :- R(x, x, x)", "V() :- R(1, 0, u)", R3) == "private"


def test_a_union_of_subgoals_can_be_the_tuple_though_one_alone_cannot() -> None:
    assert ask("S() :- R(x), R(z)", "V() :- R(1)", relations(Relation("R", ("a",)))) == "disclosed"


def test_with_a_key_queries_are_chased_first() -> None:
    keyed = relations(Relation("R", ("a", "b", "c"), (("a",),)))
    # with the key both subgoals are the row R(x, 1, 0); without it they are two rows
    assert ask("S(x) :- R(x, y, 0), R(x, 1, z)", "V() :- R(2, 1, 5)", keyed) == "disclosed"
    assert ask("S() :- R(1, y, 0), R(1, 1, z)", "V() :- R(2, 1, 5)", keyed) == "private"
    assert (
        ask("S() :- R(x, 1, y)", "V() :- R(x, 0, y), R(x, 1, z)", keyed) == "private"
    )  # the view is empty


def test_two_candidate_keys_connect_tuples_that_share_no_value() -> None:
    two = relations(Relation("R", ("a", "b"), (("a",), ("b",))))
    secret, view = read("S() :- R(1, 1)", two), read("V() :- R(2, 2)", two)
    verdict = judge(secret, [view], two)
    assert_replays(verdict, secret, [view], two)
    assert isinstance(verdict, Disclosed) and len(verdict.path) == 3
    one = relations(Relation("R", ("a", "b"), (("a",),)))
    assert ask("S() :- R(1, 1)", "V() :- R(2, 2)", one) == "private"


def test_a_column_in_every_key_keeps_tuples_apart() -> None:
    known = relations(Relation("R", ("a", "b", "c"), (("a", "b"), ("a", "c"))))
    assert ask("S() :- R(1, 1, 1)", "V() :- R(2, 1, 1)", known) == "private"
    assert ask("S() :- R(1, 1, 1)", "V() :- R(1, 2, 2)", known) == "disclosed"


def test_unequal_may_not_be_dropped() -> None:
    assert ask("S(x) :- R(x, y), R(x, 'c'), y != 'c'", "V() :- R(1, 'd')") == "disclosed"
    assert ask("S(x) :- R(x, y), R(x, 'c')", "V() :- R(1, 'd')") == "private"
    assert ask("S() :- R(x, x)", "V() :- R(x, y), x != y") == "private"


def test_views_of_the_hospital_are_each_disclosed() -> None:
    known = relations(Relation("P", ("pid", "name")), Relation("D", ("pid", "diag", "med", "ward")))
    secret = "S(n) :- P(i, n), D(i, 'cancer', m, w)"
    for view in (
        "V(n) :- P(i, n), D(i, d, m, w), d != 'cancer'",
        "V(n) :- P(i, n), D(i, 'cancer', m, 1212)",
        "V(n) :- P(i, n), D(i, d, m, w)",
    ):
        assert ask(secret, view, known) == "disclosed"


# -- NULL -----------------------------------------------------------------------------------------


def nullable(*columns: str) -> Relations:
    return relations(Relation("R", ("x", "y"), nullable=frozenset(columns)))


def some_join() -> Query:
    """SELECT DISTINCT 1 FROM R a, R b, R c WHERE a.y = b.y AND c.x = 'c'."""
    a, b, y, z = map(Variable, "abyz")
    atoms = Atom("R", (a, y)), Atom("R", (b, y)), Atom("R", (Constant("c"), z))
    return Query("S", (Conjunctive((), atoms, known=frozenset({y})),))


def test_a_join_column_that_may_be_null_discloses() -> None:
    view = Query("V", (Conjunctive((), (Atom("R", (Constant("d"), Variable("w"))),)),))
    assert isinstance(judge(some_join(), [view], nullable()), Private)
    verdict = judge(some_join(), [view], nullable("y"))
    assert_replays(verdict, some_join(), [view], nullable("y"))


def test_null_meets_null_only() -> None:
    x, y = Variable("x"), Variable("y")
    missing = Query("S", (Conjunctive((x,), (Atom("R", (x, Constant(None))),)),))
    there = Query("V", (Conjunctive((x,), (Atom("R", (x, y)),), known=frozenset({y})),))
    anything = Query("V", (Conjunctive((x,), (Atom("R", (x, y)),)),))
    assert isinstance(judge(missing, [there], nullable("y")), Private)
    assert isinstance(judge(missing, [anything], nullable("y")), Disclosed)
    assert is_empty(missing, nullable()) and not is_empty(missing, nullable("y"))


def test_a_key_column_is_never_null() -> None:
    keyed = relations(Relation("R", ("x", "y"), (("x",),), nullable=frozenset({"x", "y"})))
    query = Query("S", (Conjunctive((), (Atom("R", (Constant(None), Variable("y"))),)),))
    assert is_empty(query, keyed)


# -- comparisons and domains -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("secret", "view", "expected"),
    [
        ("S(i) :- R(i, s), s >= 30", "V(i) :- R(i, s), s < 30", "private"),
        ("S(i) :- R(i, s), s >= 30", "V(i) :- R(i, s), s <= 30", "disclosed"),
        ("S(i) :- R(i, s), s > 4, s < 5", "V(i) :- R(i, s)", "disclosed"),
        ("S() :- R(x, y), R(z, w), x < y", "V() :- R(2, 1)", "private"),
        ("S() :- R(x, y), x < y; S() :- R(x, y), y <= x", "V() :- R(2, 1)", "disclosed"),
        ("S() :- R(x, y), x < y, R(1, 2)", "V() :- R(3, 4)", "private"),
        ("S() :- R(x, y), x <= y, y <= x", "V() :- R(x, y), x != y", "private"),
        ("S(i) :- R(i, d), d < '2024'", "V(i) :- R(i, d), d > '1990'", "disclosed"),
    ],
)
def test_order(secret: str, view: str, expected: str) -> None:
    assert ask(secret, view) == expected


def test_a_value_that_no_text_has_is_not_decided() -> None:
    verdict = judge(read("S() :- R(x, y), y < ''"), [read("V() :- R(x, y)")], R2)
    assert isinstance(verdict, NotDecided) and verdict.code == "no-value-between"


def test_finite_and_open_columns_together() -> None:
    known = relations(Relation("R", ("a", "b"), (), {"a": (1, 2)}))
    assert (
        ask("S() :- R(x, y), R(z, w), x < z", "V() :- R(2, u), R(2, v), u != v", known)
        == "disclosed"
    )
    assert ask("S() :- R(x, y), 2 < x", "V() :- R(x, y)", known) == "private"
    assert ask("S() :- R(1, y), R(2, y)", "V() :- R(x, 7)", known) == "disclosed"


def falsified(clauses: list[dict[int, int]], size: int, tail: tuple[int, int]) -> list[Atom]:
    """A row for each clause: all assignments that falsify it (Theorem 2.6, where deciding is as
    hard as SAT).
    """
    return [
        Atom(
            "R",
            (
                *(Constant(clause[n]) if n in clause else Variable(f"a{n}") for n in range(size)),
                *map(Constant, tail),
            ),
        )
        for clause in clauses
    ]


def test_two_values_per_column_are_decided_exactly() -> None:
    rng = random.Random(11)
    size, seen = 7, set()
    columns = tuple(f"c{number}" for number in range(size + 2))
    known = relations(Relation("R", columns, (), dict.fromkeys(columns, (0, 1))))
    head = tuple(Variable(f"a{number}") for number in range(size))
    for _ in range(12):
        clauses = [{n: rng.randrange(2) for n in rng.sample(range(size), 3)} for _ in range(32)]
        first = (
            Atom("R", (*head, Variable("b"), Constant(0))),
            *falsified(clauses[:16], size, (0, 0)),
        )
        second = (
            Atom("R", (*head, Constant(1), Variable("b"))),
            *falsified(clauses[16:], size, (1, 1)),
        )
        queries = Query("S", (Conjunctive(head, first),)), Query("V", (Conjunctive(head, second),))
        satisfiable = any(
            not any(all(row[n] == value for n, value in clause.items()) for clause in clauses)
            for row in itertools.product((0, 1), repeat=size)
        )
        assert status(judge(queries[0], [queries[1]], known)) == (
            "disclosed" if satisfiable else "private"
        )
        seen.add(satisfiable)
    assert seen == {True, False}


# -- unions, bags, several views -------------------------------------------------------------------


def test_another_part_of_a_union_may_absorb() -> None:
    assert ask("S(x) :- R(x, 'a'); S(x) :- R(x, y)", "V() :- R(1, 'a')") == "disclosed"
    assert ask("S() :- R(x, 'a'), R(x, 'b'); S() :- R(x, 'b')", "V() :- R(1, 'a')") == "private"
    assert (
        ask("S() :- R(x, 'a'), R(x, 'b'); S() :- R(x, 'b')", "V() :- R(1, 'a')", bag=True)
        == "disclosed"
    )


def test_views_are_judged_together_and_the_guilty_one_is_named() -> None:
    secret = read("S(x) :- R(x, 'a')")
    views = [read("V(x) :- R(x, 'b')"), read("W(x) :- R(x, 'a')")]
    verdict = judge(secret, views, R2)
    assert isinstance(verdict, Disclosed) and verdict.view == 1
    assert_replays(verdict, secret, views, R2)


def test_a_bag_and_a_set_can_meet() -> None:
    secret, view = read("S(x) :- R(x, y), R(x, 'c')"), read("V() :- R(1, 'd')")
    assert isinstance(judge(secret, [view], R2), Private)
    assert isinstance(judge(read("S(x) :- R(x, y), R(x, 'c')", bag=True), [view], R2), Disclosed)


# -- what a verdict carries ------------------------------------------------------------------------


def test_a_private_verdict_names_each_pair_and_the_homomorphism() -> None:
    verdict = judge(
        read("S(x) :- R(x, 1, y), R(x, z, 2), R(x, 1, 2)", R3), [read("V() :- R(5, 1, 3)", R3)], R3
    )
    assert isinstance(verdict, Private) and not verdict.gate_only
    assert [str(pair) for pair in verdict.pairs] == [
        "R(x, 1, y) and R(5, 1, 3): the secret does without by x -> x, y -> 2, z -> 1"
    ]


def test_no_pair_that_unifies_is_a_private_verdict_of_the_gate() -> None:
    verdict = judge(read("S(x) :- R(x, 'a')"), [read("V(x) :- R(x, 'b')")], R2)
    assert verdict == Private((), gate_only=True)


def test_witnesses_are_small() -> None:
    verdict = judge(read("S(a) :- R(a,b), R(b,c), R(c,d), R(d,a)"), [read("V(x) :- R(x, x)")], R2)
    assert isinstance(verdict, Disclosed)
    assert verdict.instance_secret == verdict.instance_view == ()


def test_new_values_do_not_look_like_constants() -> None:
    verdict = judge(read("S(x) :- R(x, '_fresh1')"), [read("V(x) :- R(x, y)")], R2)
    assert isinstance(verdict, Disclosed)
    assert verdict.secret_tuple == Fact("R", ("_fresh2", "_fresh1"))


def test_a_time_limit_is_never_a_guess() -> None:
    grid = grid_query("S", 7)
    verdict = judge(grid, [read("V() :- R(1, 2)")], R2, seconds=0.0)
    assert isinstance(verdict, NotDecided) and verdict.code == "time-limit"


def test_an_empty_secret_is_found() -> None:
    assert is_empty(read("S(x) :- R(x, y), x < y, y < x"), R2)
    keyed = relations(Relation("R", ("a", "b"), (("a",),)))
    assert is_empty(read("S() :- R(x, 1), R(x, 2)", keyed), keyed)
    assert not is_empty(read("S() :- R(x, 1), R(x, 2)"), R2)


# -- what may not change a verdict -----------------------------------------------------------------


def test_redundant_subgoals_renaming_and_order_change_nothing() -> None:
    rng = random.Random(4)
    for _ in range(150):
        secret, view = (random_query(rng, name, R3, comparisons=True) for name in "SV")
        before = status(judge(secret, [view], R3))
        part = secret.parts[0]
        atoms = list(part.atoms)
        rng.shuffle(atoms)
        copy = part.atoms[0]
        fresh = Atom(
            copy.relation, tuple(Variable(f"new{place}") for place in range(len(copy.terms)))
        )
        names = {variable: Variable(f"other_{variable.name}") for variable in part.variables()}
        changed = Conjunctive(part.head, (*atoms, fresh), part.comparisons, part.known).substituted(
            names
        )
        assert status(judge(Query("S", (changed,)), [view], R3)) == before, f"{secret}\n{view}"
        assert status(judge(view, [secret], R3)) == before, f"{secret}\n{view}"


def test_one_more_value_in_a_large_domain_changes_nothing() -> None:
    rng = random.Random(5)
    for _ in range(60):
        secret, view = (random_query(rng, name, R3) for name in "SV")
        seen = set()
        for size in (12, 13):
            domain = tuple(range(1, size))
            listed = relations(Relation("R", ("a", "b", "c"), (), dict.fromkeys("abc", domain)))
            seen.add(status(judge(secret, [view], listed)))
        assert seen == {status(judge(secret, [view], R3))}, f"{secret}\n{view}"


def test_a_remembered_query_gets_the_same_verdict() -> None:
    rng = random.Random(6)
    remembering = SecretJudge(R3)
    for _ in range(60):
        secret, view = (random_query(rng, name, R3) for name in "SV")
        assert remembering.judge(secret, [view]) == remembering.judge(secret, [view])
        assert status(remembering.judge(secret, [view])) == status(judge(secret, [view], R3))


# -- size ------------------------------------------------------------------------------------------


def grid_query(name: str, size: int) -> Query:
    node = {(i, j): Variable(f"g{i}_{j}") for i in range(size) for j in range(size)}
    right = [Atom("R", (node[i, j], node[i, j + 1])) for i in range(size) for j in range(size - 1)]
    down = [Atom("R", (node[i, j], node[i + 1, j])) for i in range(size - 1) for j in range(size)]
    return Query(name, (Conjunctive((), (*right, *down)),))


def chain(length: int) -> tuple[Atom, ...]:
    nodes = [Variable(f"x{number}") for number in range(length + 1)]
    return tuple(Atom("R", pair) for pair in itertools.pairwise(nodes))


def tree(size: int) -> tuple[Atom, ...]:
    nodes = [Variable(f"t{number}") for number in range(size + 1)]
    return tuple(
        Atom("R", (nodes[(number - 1) // 2], nodes[number])) for number in range(1, size + 1)
    )


def twice(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Each atom once more, with other variables: all of it folds."""
    return (
        *atoms,
        *(Atom("R", tuple(Variable(f"{term}_again") for term in atom.terms)) for atom in atoms),
    )


LOOP = Atom("R", (Variable("w"), Variable("w")))
X = Variable("x")
STAR = tuple(Atom("R", (X, Variable(f"y{number}"))) for number in range(200))


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        (Query("S", (Conjunctive((X,), (*STAR, Atom("R", (X, Constant("c"))))),)), "private"),
        (Query("S", (Conjunctive((), chain(400)),)), "disclosed"),
        (Query("S", (Conjunctive((Variable("x0"),), chain(400)),)), "disclosed"),
        (Query("S", (Conjunctive((), (*chain(400), LOOP)),)), "private"),
        (Query("S", (Conjunctive((), tree(200)),)), "disclosed"),
        (Query("S", (Conjunctive((), twice(tree(200))),)), "disclosed"),
        (grid_query("S", 8), "disclosed"),
        (Query("S", (Conjunctive((), (*grid_query("S", 8).parts[0].atoms, LOOP)),)), "private"),
    ],
    ids=[
        "star",
        "chain",
        "chain from the head",
        "chain and loop",
        "tree",
        "tree that folds",
        "grid",
        "grid and loop",
    ],
)
def test_large_queries_are_decided(secret: Query, expected: str) -> None:
    """Backtracking would take hours here; how fast we are is in the benchmarks."""
    assert status(judge(secret, [read("V() :- R(1, 2)")], R2, seconds=60)) == expected
