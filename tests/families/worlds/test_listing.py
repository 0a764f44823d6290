"""Worlds listed, counted and drawn: against all sets of tuples, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest

from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Query, Relation
from tacit.families.queries.read import read
from tacit.families.worlds import listing as module
from tacit.families.worlds.formula import Condition, Count
from tacit.families.worlds.listing import drawn, listing
from tacit.families.worlds.ranking import Diagram, Enumerated, _codes, space
from tacit.families.worlds.states import TooManyStates
from tacit.families.worlds.world_setting import PublishedView, WorldSetting
from tacit.families.worlds.worlds import SettingWorlds, answer


def random_conditions(rng: Random, size: int) -> list[Condition]:
    """Some clauses of small terms, and now and then a count."""

    def literal() -> int:
        return rng.randrange(1, size + 1) * rng.choice((1, -1))

    def condition() -> Condition:
        terms = tuple(
            tuple({literal() for _ in range(rng.randrange(1, 3))})
            for _ in range(rng.randrange(1, 4))
        )
        terms = tuple(term for term in terms if not any(-one in term for one in term)) or ((1,),)
        if rng.random() < 0.3:
            members = tuple(
                (one,) for one in rng.sample(range(1, size + 1), rng.randrange(1, min(4, size) + 1))
            )
            return Condition(terms[:1], (Count(members, 1, rng.randrange(1, len(members) + 1)),))
        return Condition(terms)

    return [condition() for _ in range(rng.randrange(1, 6))]


def every_world(tuples: list[int], conditions: list[Condition]) -> set[frozenset[int]]:
    sets = (
        frozenset(some)
        for number in range(len(tuples) + 1)
        for some in combinations(tuples, number)
    )
    return {world for world in sets if all(one.holds(world) for one in conditions)}


@pytest.mark.parametrize("seed", range(8))
def test_every_world_has_its_number(seed: int) -> None:
    rng = Random(seed)
    for _ in range(400):
        tuples = list(range(1, rng.randrange(2, 8)))
        conditions = random_conditions(rng, len(tuples))
        expected = every_world(tuples, conditions)
        found = space(tuples, frozenset({99}), conditions, most=9999)
        assert found is not None and found.count == len(expected)
        assert {found.world(number) - {99} for number in range(found.count)} == expected
        mentioned = sorted({one for condition in conditions for one in condition.tuples()})
        here = every_world(mentioned, conditions)
        for ranked in (
            Diagram.of(mentioned, conditions, 9999),
            Enumerated(tuple(mentioned), _codes(mentioned, conditions)),
        ):
            assert ranked.count == len(here)
            assert {ranked.world(number) for number in range(ranked.count)} == here


def test_hundreds_of_tuples_that_hang_together_loosely_are_ranked_exactly() -> None:
    size = 300  # neighbours are not both there: Fibonacci numbers of worlds
    found = space(
        range(1, size + 1),
        frozenset(),
        [Condition(((-one,), (-one - 1,))) for one in range(1, size)],
        most=9999,
    )
    before, count = 1, 2
    for _ in range(size - 1):
        before, count = count, before + count
    assert found is not None and found.count == count
    world = found.world(count - 1)
    assert not any(one in world and one + 1 in world for one in world)
    assert len({found.world(number) for number in drawn(count, 50, Random(2))}) == 50


def test_too_many_nodes_are_refused() -> None:
    rng = Random(5)
    tangled = [
        Condition(tuple((one * rng.choice((1, -1)),) for one in rng.sample(range(1, 41), 3)))
        for _ in range(400)
    ]
    with pytest.raises(TooManyStates):
        Diagram.of(
            sorted({one for condition in tangled for one in condition.tuples()}), tangled, 50
        )
    assert space(range(1, 41), frozenset(), tangled, most=50) is None


def test_every_world_is_drawn_equally_often() -> None:
    conditions = [Condition(((-one,), (-one - 1,))) for one in range(1, 5)]
    found = space(range(1, 7), frozenset(), conditions, most=99)
    assert found is not None and found.count == 26
    rng = Random(3)
    times = Counter(
        found.world(number) for _ in range(4000) for number in drawn(found.count, 2, rng)
    )
    assert len(times) == 26
    expected = 8000 / 26
    assert (
        sum((seen - expected) ** 2 / expected for seen in times.values()) < 52.6
    )  # chi-squared, 25 degrees, 1 in 1,000


# -- worlds of a setting ---------------------------------------------------------------------------

RELATIONS = {
    "R": Relation("R", ("a", "b"), domains={"a": ("1", "2", "3"), "b": ("x", "y")}),
    "T": Relation("T", ("c",), domains={"c": ("x", "y")}),
}
DATA = frozenset({Fact("R", ("1", "x")), Fact("R", ("2", "y")), Fact("T", ("x",))})


def query(text: str) -> Query:
    found = read(text, RELATIONS, name=text.partition("(")[0]).exact
    assert found is not None
    return found


def setting(
    published: str | None, new: str, secret: str, instance: frozenset[Fact] | None = DATA
) -> WorldSetting:
    base = WorldSetting(RELATIONS, (), (), (), query(secret), instance=DATA)
    seen = [
        PublishedView(query(text), answer(query(text), base)) for text in (published, new) if text
    ]
    first = tuple(seen[:-1])
    return WorldSetting(RELATIONS, (), first, (seen[-1],), query(secret), instance=instance)


def databases() -> Iterator[frozenset[Fact]]:
    rows = [Fact("R", (a, b)) for a in "123" for b in "xy"] + [Fact("T", (c,)) for c in "xy"]
    return (
        frozenset(some) for number in range(len(rows) + 1) for some in combinations(rows, number)
    )


def same_answers(
    asked: WorldSetting, seen: tuple[PublishedView, ...], world: frozenset[Fact]
) -> bool:
    def rows(one: Query) -> set[tuple[str, ...]]:
        (part,) = one.parts
        found: set[tuple[str, ...]] = set()
        for choice in _choices(part.atoms, world):
            values: dict[str, str] = {}
            fits = all(
                (str(term) == f"'{value}'")
                if str(term).startswith("'")
                else values.setdefault(str(term), value) == value
                for atom, fact in zip(part.atoms, choice, strict=True)
                for term, value in zip(atom.terms, fact.values, strict=True)
            )
            if fits:
                found.add(tuple(values[str(term)] for term in part.head))
        return found

    return all(rows(one.query) == set(one.rows) for one in seen)


def _choices(atoms: tuple, world: frozenset[Fact]) -> Iterator[tuple[Fact, ...]]:  # type: ignore[type-arg]
    if not atoms:
        yield ()
        return
    for fact in world:
        if fact.relation == atoms[0].relation:
            yield from ((fact, *rest) for rest in _choices(atoms[1:], world))


CASES = [
    ("V(a) :- R(a, b)", "N(b) :- R(a, b), T(b)", "S(a) :- R(a, 'x')"),
    ("V(b) :- R(a, b)", "N(a) :- R(a, b)", "S(b) :- T(b)"),
    (None, "N(a, b) :- R(a, b)", "S(a) :- R(a, b), T(b)"),
    ("V() :- T(c)", "N() :- R(a, b), T(b)", "S() :- R('1', b)"),
]


@pytest.mark.parametrize("texts", CASES, ids=lambda one: one[1])
@pytest.mark.parametrize("with_data", [True, False], ids=["data", "answers"])
def test_all_worlds_are_listed_with_their_fate(
    texts: tuple[str | None, str, str], with_data: bool
) -> None:
    asked = setting(*texts, instance=DATA if with_data else None)
    shown = listing(SettingWorlds(asked), sample=300, rng=Random(1))
    mentioned = set(asked.mentioned())
    # A relation that nothing speaks of is not looked at.
    possible = {
        frozenset(fact for fact in world if fact.relation in mentioned) for world in databases()
    }
    before = {world for world in possible if same_answers(asked, asked.published, world)}
    after = {world for world in before if same_answers(asked, asked.new, world)}
    assert (
        shown.complete
        and shown.uniform
        and (shown.before, shown.after) == (len(before), len(after))
    )
    assert {frozenset(one.facts) for one in shown.worlds} == before
    assert {frozenset(one.facts) for one in shown.worlds if one.after} == after
    assert [one.is_data for one in shown.worlds] == [with_data, *[False] * (len(before) - 1)]
    counts = Counter(one.secret for one in shown.worlds)
    left = Counter(one.secret for one in shown.worlds if one.after)
    assert {one.rows: (one.before, one.after) for one in shown.secrets} == {
        rows: (counts[rows], left[rows]) for rows in counts
    }
    assert (shown.secrets_before, shown.secrets_after) == (len(counts), len(left))
    assert sum(one.is_data for one in shown.secrets) == with_data


def test_of_many_worlds_a_few_different_ones_are_drawn() -> None:
    found = SettingWorlds(setting(*CASES[0]))
    shown = listing(found, sample=5, rng=Random(1), listed=3)
    assert len({one.facts for one in shown.worlds}) == 5 and not shown.complete and shown.uniform
    again = listing(found, sample=5, rng=Random(1), listed=3)
    assert shown == again


def test_what_cannot_be_counted_is_solved_for_and_is_no_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_space", lambda *_: None)
    monkeypatch.setattr(module, "tally", lambda *_, **__: None)
    found = SettingWorlds(setting(*CASES[0]))
    shown = listing(found, sample=6, rng=Random(1))
    assert (shown.before, shown.after, shown.uniform, shown.complete) == (None, None, False, False)
    assert len({one.facts for one in shown.worlds}) == 6 and shown.worlds[0].is_data
    assert not all(one.after for one in shown.worlds)
    assert shown.secrets == () and shown.secrets_before is None


def test_the_data_is_among_the_secrets_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_SECRETS", 1)
    shown = listing(SettingWorlds(setting(*CASES[2])), sample=1, rng=Random(1))
    assert any(one.is_data for one in shown.secrets) and len(shown.secrets) <= 2
