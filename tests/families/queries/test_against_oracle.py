"""Perfect privacy as Tacit decides it against brute force, on thousands of small random cases.

First the ways to decide by brute force are held against each other, beginning with the definition
itself: independence under random priors, in integers. Then Tacit is held against the last of them.
A failure prints the case; `case(kind, number)` makes it again.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from oracles import perfect as oracle
from oracles.perfect import Asked, Rule, Table, Var
from oracles.perfect_cases import (
    BINARY,
    CHAINS,
    KINDS,
    POINTED,
    WIDE,
    Case,
    Kind,
    as_query,
    as_relations,
    assert_replays,
    case,
    cases,
    judged,
    possible_tuples,
    read_query,
)
from tacit.families.queries.logic.critical import Disclosed, NotDecided, Private, is_empty, judge
from tacit.families.queries.read import read
from thorough import THOROUGH

FINITE = tuple(kind for kind in KINDS if kind.domains == "finite")
OPEN = tuple(kind for kind in KINDS if kind.domains != "finite")
each_kind = pytest.mark.parametrize(
    "kind", (*KINDS, *WIDE, *POINTED, *BINARY, *CHAINS), ids=lambda kind: kind.name
)


# -- the ways to decide by brute force ----------------------------------------------------------


def assert_all_ways_agree(one: Case, number: int) -> None:
    asked = one.secret, one.views, one.schema
    by_definition = oracle.disclosed_by_definition(*asked, random.Random(number))
    assert oracle.disclosed_by_critical_tuples(*asked) == by_definition, str(one)
    assert oracle.disclosed_in_images(*asked) == by_definition, str(one)
    assert oracle.disclosed(*asked) == by_definition, str(one)


@pytest.mark.parametrize("kind", FINITE, ids=lambda kind: kind.name)
def test_critical_tuples_decide_independence(kind: Kind) -> None:
    """Small domains: independence, all instances, instances that matter, patterns."""
    for number in range(40):
        assert_all_ways_agree(case(kind, number), number)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FINITE, ids=lambda kind: kind.name)
def test_critical_tuples_decide_independence_in_many_cases(kind: Kind) -> None:
    larger = replace(kind, tuples=12)
    for number in range(2000, 2000 + 50 * THOROUGH):
        assert_all_ways_agree(case(larger, number), number)


def test_the_instances_that_matter_show_every_critical_tuple() -> None:
    for one in cases(range(100, 130), FINITE):
        space = oracle.Space(one.schema)
        for query in one.queries:
            assert oracle.critical_in_images(query, one.schema) == space.critical(query), str(one)


def test_tuples_joined_by_keys_are_those_that_agree_where_all_keys_meet() -> None:
    for one in cases(range(100, 120), FINITE):
        parts = oracle.components(one.schema)
        places = {fact: oracle.place(fact, one.schema) for fact in parts}
        for fact in parts:
            for other in parts:
                assert (parts[fact] == parts[other]) == (places[fact] == places[other])


def test_patterns_decide_open_columns_as_a_list_of_enough_values_does() -> None:
    tried = 0
    for one in cases(range(9), OPEN):
        small = oracle.closed(one.schema, one.queries)
        longest = max(len(listed) for table in small.values() for listed in table.columns if listed)
        most = max(len(rule.variables) for query in one.queries for rule in query.rules)
        if longest**most <= 1500:
            tried += 1
            expected = oracle.disclosed_in_images(one.secret, one.views, small)
            assert oracle.disclosed(one.secret, one.views, one.schema) == expected, str(one)
            if possible_tuples(small) <= 10:
                assert_all_ways_agree(replace(one, schema=small), tried)
    assert tried > 180


def test_one_value_more_than_enough_changes_nothing() -> None:
    for one in cases(range(20, 24), tuple(kind for kind in OPEN if "<" not in kind.signs)):
        most = max(len(rule.variables) for query in one.queries for rule in query.rules)
        if most <= 2:
            verdicts = {
                oracle.disclosed_in_images(
                    one.secret, one.views, oracle.closed(one.schema, one.queries, most + extra)
                )
                for extra in (0, 1)
            }
            assert len(verdicts) == 1, str(one)


def test_views_together_tell_no_more_than_each_where_only_keys_are_known() -> None:
    """Collusion: also with two keys, because a connected part that none of them touches is
    touched by none.
    """
    rng = random.Random(9)
    for one in cases(range(200, 240), FINITE):
        views = [random_view(one, rng) for _ in range(2)]
        together = oracle.disclosed_by_definition(one.secret, views, one.schema, rng, priors=1)
        alone = [
            oracle.disclosed_by_definition(one.secret, [view], one.schema, rng, priors=1)
            for view in views
        ]
        assert together == any(alone), str(replace(one, views=tuple(views)))


def random_view(one: Case, rng: random.Random) -> Asked:
    """One of the case's queries with its constants exchanged: another view over the same schema."""
    query = rng.choice(one.queries)
    named = oracle.named_values(one.schema, one.queries)
    exchanged = {value: rng.choice(named) for value in named}

    def put(term: object) -> object:
        return exchanged.get(term, term)

    rules = tuple(
        replace(
            rule,
            body=tuple((name, tuple(map(put, terms))) for name, terms in rule.body),
            where=tuple((put(a), sign, put(b)) for a, sign, b in rule.where),
        )
        for rule in query.rules
    )
    return replace(query, rules=rules)


# -- Tacit --------------------------------------------------------------------------------------


def assert_as_brute_force(one: Case) -> None:
    """The verdict is the oracle's, none is left open, and evidence replays."""
    verdict = judged(one)
    expected = Disclosed if oracle.disclosed(one.secret, one.views, one.schema) else Private
    assert isinstance(verdict, expected), f"expected {expected.__name__}\n{one}\n{verdict}"
    if isinstance(verdict, Disclosed):
        assert_replays(one, verdict)


@pytest.mark.sampled
@each_kind
def test_tacit_decides_as_brute_force_does(kind: Kind) -> None:
    for number in range(40):
        assert_as_brute_force(case(kind, number))


@pytest.mark.slow
@each_kind
def test_tacit_decides_as_brute_force_does_in_many_cases(kind: Kind) -> None:
    for number in range(1000, 1000 + 25 * THOROUGH):
        assert_as_brute_force(case(kind, number))


def test_no_subgoals_that_meet_means_private_for_bags_too() -> None:
    for one in cases(range(500, 510), (*KINDS, *POINTED)):
        verdict = judged(one)
        if isinstance(verdict, Private) and verdict.gate_only:
            bags = [replace(query, bag=True) for query in one.queries]
            assert not oracle.disclosed(bags[0], bags[1:], one.schema), str(one)


def test_without_time_nothing_is_guessed() -> None:
    for one in cases(range(510, 514), (*KINDS, *POINTED)):
        verdict = judged(one, seconds=0)
        if not isinstance(verdict, NotDecided):
            expected = oracle.disclosed(one.secret, one.views, one.schema)
            assert isinstance(verdict, Disclosed) == expected, str(one)


def test_a_query_is_empty_just_when_no_instance_answers_it() -> None:
    found = {True: 0, False: 0}
    for one in cases(range(520, 530), (*KINDS, *WIDE)):
        for query in one.queries:
            expected = oracle.is_empty(query, one.schema)
            assert is_empty(as_query("Q", query), as_relations(one.schema)) == expected, str(one)
            found[expected] += 1
    assert min(found.values()) > 100


@pytest.mark.parametrize(
    "secret",
    [
        "S() :- R(x), x < 2; S() :- R(x)",
        "S(x) :- R(x), x != 2; S(x) :- R(x), 2 < x",
        "S() :- R(x), R(y), x < y; S() :- R(x), R(y), y <= x",
    ],
)
def test_new_values_can_be_compared_where_some_rule_compares(secret: str) -> None:
    schema = {"R": Table((None,))}
    assert_as_brute_force(Case(secret, schema, read_query(secret), (read_query("V() :- R(z)"),)))


def test_null_is_not_even_compared_with_itself() -> None:
    schema = {"R": Table((None,), (), frozenset({0}))}
    null = Asked((Rule((), (("R", (None,)),)),))
    assert_as_brute_force(Case("x <= x", schema, read_query("S() :- R(x), x <= x"), (null,)))
    assert_as_brute_force(Case("x", schema, read_query("S() :- R(x)"), (null,)))


@pytest.mark.parametrize(
    ("secret", "view"),
    [
        ("S() :- R(y), T(x), x <= y, y <= 1", "V() :- R(z), z != 1"),
        ("S() :- R(y), y <= 1", "V() :- R(z), T(x), x <= z, z != 1"),
        ("S(y) :- R(y), y <= 1", "V() :- R(z), T(x), x <= z"),
        ("S() :- R(y), T(x), T(u), x <= y, y <= u, u <= 1", "V() :- R(z), z != 1"),
        ("S() :- R(y), R(w), T(x), x <= y, y <= w, w <= 1", "V() :- R(z), z != 1"),
    ],
)
def test_a_value_between_equal_bounds_is_that_value(secret: str, view: str) -> None:
    """A choice from a list can leave one value to a variable of an open column."""
    schema = {"R": Table((None,)), "T": Table(((1, 2),))}
    assert_as_brute_force(Case(secret, schema, read_query(secret), (read_query(view),)))


def as_text(name: str, query: Asked) -> str:
    """The query in Datalog."""

    def goal(relation: str, terms: tuple[object, ...]) -> str:
        return f"{relation}({', '.join(map(repr, terms))})"

    return "; ".join(
        f"{goal(name, rule.head)} :- "
        + ", ".join(
            [goal(*atom) for atom in rule.body]
            + [f"{a!r} {sign} {b!r}" for a, sign, b in rule.where]
        )
        for rule in query.rules
    )


def as_datalog_means(query: Asked) -> Asked:
    """A variable that joins or is compared is not NULL; Datalog is about sets."""
    rules = []
    for rule in query.rules:
        terms = [term for _, terms in rule.body for term in terms]
        compared = {term for a, _, b in rule.where for term in (a, b)}
        known = {one for one in rule.variables if terms.count(one) > 1 or one in compared}
        rules.append(replace(rule, known=frozenset(known)))
    return Asked(tuple(rules))


def test_datalog_is_read_as_it_is_written() -> None:
    tried = 0
    for one in cases(range(540, 547), (*KINDS, *POINTED)):
        queries = [as_datalog_means(query) for query in one.queries]
        bodies = [rule.body for query in queries for rule in query.rules]
        kinds = {type(value) for value in oracle.named_values(one.schema, queries)}
        if (
            not all(bodies)
            or any(None in terms for body in bodies for _, terms in body)
            or len(kinds) > 1
        ):
            continue  # not to be written, or text beside numbers, which reading refuses
        tried += 1
        relations = as_relations(one.schema)
        secret, *views = (
            read(as_text(name, query), relations, name=name).exact
            for name, query in zip("SVWX", queries, strict=False)
        )
        verdict = judge(secret, views, relations)
        expected = oracle.disclosed(queries[0], queries[1:], one.schema)
        assert isinstance(verdict, Disclosed if expected else Private), f"{one}\n{verdict}"
    assert tried > 250


# -- what must not change a verdict -------------------------------------------------------------

some_kinds = (*KINDS[::2], *WIDE[::3], *POINTED[::3], *BINARY[::3], *CHAINS[::2])


def is_disclosed(one: Case) -> bool:
    verdict = judged(one)
    assert isinstance(verdict, Disclosed | Private), f"{one}\n{verdict}"
    return isinstance(verdict, Disclosed)


def changed(one: Case, change: object, rng: random.Random) -> Case:
    """The case with every rule of every query changed."""
    queries = [
        replace(query, rules=tuple(change(rule, rng) for rule in query.rules))  # type: ignore[operator]
        for query in one.queries
    ]
    return replace(one, secret=queries[0], views=tuple(queries[1:]))


def renamed(rule: Rule, rng: random.Random) -> Rule:
    names = [f"v{number}" for number in range(len(rule.variables))]
    rng.shuffle(names)
    new = dict(zip(rule.variables, map(Var, names), strict=True))

    def put(term: object) -> object:
        return new[term] if isinstance(term, Var) else term

    return Rule(
        tuple(map(put, rule.head)),
        tuple((name, tuple(map(put, terms))) for name, terms in rule.body),
        tuple((put(a), sign, put(b)) for a, sign, b in rule.where),
        frozenset(new[one] for one in rule.known),
    )


def permuted(rule: Rule, rng: random.Random) -> Rule:
    body, where = list(rule.body), list(rule.where)
    rng.shuffle(body)
    rng.shuffle(where)
    return replace(rule, body=tuple(body), where=tuple(where))


def with_redundant_subgoals(rule: Rule, rng: random.Random) -> Rule:
    """A subgoal again, with new variables in some places: nothing that was not asked already."""
    if not rule.body:
        return rule
    name, terms = rng.choice(rule.body)
    again = tuple(
        Var(f"n{column}") if rng.random() < 0.5 else term for column, term in enumerate(terms)
    )
    return replace(rule, body=(*rule.body, (name, again)))


@pytest.mark.parametrize("change", [renamed, permuted], ids=lambda change: change.__name__)
def test_names_and_order_do_not_matter(change: object) -> None:
    rng = random.Random(1)
    for one in cases(range(300, 306), some_kinds):
        other = changed(one, change, rng)
        other = replace(
            other,
            secret=replace(other.secret, rules=other.secret.rules[::-1]),
            views=other.views[::-1],
        )
        assert is_disclosed(one) == is_disclosed(other), f"{one}\n{other}"


def test_redundant_subgoals_do_not_matter_to_sets() -> None:
    rng = random.Random(2)
    for one in cases(range(320, 328), some_kinds):
        sets = [replace(query, bag=False) for query in one.queries]
        one = replace(one, secret=sets[0], views=tuple(sets[1:]))
        other = changed(one, with_redundant_subgoals, rng)
        assert is_disclosed(one) == is_disclosed(other), f"{one}\n{other}"


def test_each_rule_of_a_bag_alone_tells_what_the_union_tells() -> None:
    """A bag of two rules changes just when one of them does;
    a set may hide it, so it tells no more.
    """
    for one in cases(range(340, 360), some_kinds):
        if all(len(view.rules) == 1 for view in one.views):
            continue
        for bag in (True, False):
            union = replace(one, views=tuple(replace(view, bag=bag) for view in one.views))
            parts = tuple(Asked((rule,), bag) for view in one.views for rule in view.rules)
            split = is_disclosed(replace(one, views=parts))
            assert is_disclosed(union) == split if bag else is_disclosed(union) <= split, str(union)


def test_several_views_are_judged_as_one_by_one() -> None:
    for one in cases(range(400, 420), some_kinds):
        if len(one.views) > 1:
            alone = [is_disclosed(replace(one, views=(view,))) for view in one.views]
            assert is_disclosed(one) == any(alone), str(one)


def test_secret_and_view_may_change_places() -> None:
    for one in cases(range(440, 446), some_kinds):
        one = replace(one, views=one.views[:1])
        other = replace(one, secret=one.views[0], views=(one.secret,))
        assert is_disclosed(one) == is_disclosed(other), str(one)


def test_a_long_list_of_values_is_as_good_as_an_open_column() -> None:
    """One value more changes nothing where enough are unnamed;
    with an order only open columns are dense.
    """
    kinds = tuple(kind for kind in some_kinds if kind.domains == "large" and "<" not in kind.signs)
    for one in cases(range(460, 480), kinds):
        named = oracle.named_values(one.schema, one.queries)
        most = max(len(rule.variables) for query in one.queries for rule in query.rules)
        verdicts = {is_disclosed(one)}
        for extra in (most, most + 1, most + 5):
            listed = (*named, *range(10, 10 + extra))
            schema = {
                name: Table((listed,) * len(table.columns), table.keys, table.nullable)
                for name, table in one.schema.items()
            }
            verdicts.add(is_disclosed(replace(one, schema=schema)))
        assert len(verdicts) == 1, str(one)
