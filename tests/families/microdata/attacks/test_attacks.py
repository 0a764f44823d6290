"""Each attack against brute force on small random tables."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from asking import Desk, question
from oracles.attacks import (
    alike,
    best_belief,
    grouped,
    least_negations,
    minimal_beliefs,
    near,
    share,
)
from tacit.families.microdata.attacks.attack_scene import (
    AttackedCheck,
    AttackScene,
    AttackTarget,
    OutsideTable,
)
from tacit.families.microdata.attacks.background_knowledge import background
from tacit.families.microdata.attacks.homogeneity import homogeneity
from tacit.families.microdata.attacks.linking import linking
from tacit.families.microdata.attacks.minimality import lower_nodes, minimality
from tacit.families.microdata.attacks.proximity import proximity
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.families.microdata.definitions.l_diversity import LDiversity

Row = dict[str, Any]
CONDITIONS = ("cold", "cough", "flu", "measles")
HIERARCHIES = {"age": {"ranges": [2, 4]}, "sex": "*"}
WIDTHS = (1, 2, 4, None)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


def some_rows(rng: random.Random, most: int, *, missing: float = 0.0) -> list[Row]:
    def value() -> str | None:
        return None if rng.random() < missing else rng.choice(CONDITIONS[: rng.randint(1, 4)])

    return [
        {"name": f"p{i:02}", "age": rng.randrange(8), "sex": rng.choice("fm"), "condition": value()}
        for i in range(rng.randint(2, most))
    ]


def shown(levels: Mapping[str, int]) -> Callable[[Row], tuple[Any, ...]]:
    """What a release at some levels shows of a row: bands of ages, and sex or nothing."""
    width = WIDTHS[levels.get("age", 0)]

    def show(row: Row) -> tuple[Any, ...]:
        return (row["age"] // width if width else "*", row["sex"] if not levels.get("sex") else "*")

    return show


def some_levels(rng: random.Random) -> dict[str, int]:
    return {"age": rng.randrange(4), "sex": rng.randrange(2)}


class Opened:
    """A small table as a scene."""

    def __init__(self, desk: Desk, rows: list[Row], sensitive: str = "condition") -> None:
        self.desk, self.rows, self.sensitive = desk, rows, sensitive

    def __enter__(self) -> Callable[..., AttackScene]:
        self.context = self.desk.counted(
            self.rows,
            quasi=["age", "sex"],
            sensitive=[self.sensitive],
            person=["name"],
            hierarchies=HIERARCHIES,
        )
        counted = self.context.__enter__()

        def scene(levels: Mapping[str, int], **more: Any) -> AttackScene:
            return AttackScene(question(counted, levels), self.sensitive, **more)

        return scene

    def __exit__(self, *error: Any) -> None:
        self.context.__exit__(*error)


def cases(number: int) -> Iterator[random.Random]:
    return (random.Random(seed) for seed in range(number))


@pytest.mark.slow
def test_homogeneity_finds_the_groups_and_people_that_brute_force_finds(desk: Desk) -> None:
    for rng in cases(100):
        rows, levels = some_rows(rng, 14, missing=rng.choice((0, 0.2))), some_levels(rng)
        threshold = rng.choice((Fraction(1, 2), Fraction(2, 3), Fraction(95, 100), Fraction(1)))
        groups, people, greatest = alike(rows, shown(levels), "condition", threshold)
        certain, exposed, _ = alike(rows, shown(levels), "condition", Fraction(1))
        with Opened(desk, rows) as scene:
            story = homogeneity(scene(levels, threshold=threshold))
        if story is None:
            assert all(row["condition"] is None for row in rows)
            continue
        assert (story.facts["groups_near"], story.facts["people_near"]) == (groups, people)
        assert (story.facts["groups_certain"], story.facts["people_certain"]) == (certain, exposed)
        assert story.after == greatest
        assert story.before == share(rows, "condition", story.value)
        check_person(story.person, rows, story.value)


def check_person(person: Any, rows: list[Row], value: Any) -> None:
    """The person exists, looks like that, and has the value."""
    (row,) = [row for row in rows if row["name"] == person.identity["name"]]
    assert row["condition"] == value
    assert {"age": row["age"], "sex": row["sex"]} == person.known


@pytest.mark.slow
def test_background_finds_the_fewest_negations_and_the_fastest_way(desk: Desk) -> None:
    for rng in cases(100):
        rows, levels = some_rows(rng, 14, missing=rng.choice((0, 0.2))), some_levels(rng)
        with Opened(desk, rows) as scene:
            story = background(scene(levels))
        fewest = least_negations(rows, shown(levels), "condition")
        if story is None or story.before is None:
            assert fewest is None
            continue
        assert story.facts["negations"] == fewest
        assert story.after == 1 and story.before == share(rows, "condition", story.value)
        check_person(story.person, rows, story.value)
        mine = next(row for row in rows if row["name"] == story.person.identity["name"])
        members = grouped(rows, shown(levels))[shown(levels)(mine)]
        for number, step in enumerate(story.steps[1:]):
            assert step.belief == best_belief(members, "condition", story.value, number)


def test_a_target_is_told_about_by_every_attack(desk: Desk) -> None:
    for rng in cases(60):
        rows, levels = some_rows(rng, 10), some_levels(rng)
        mine = rng.choice(rows)
        members = grouped(rows, shown(levels))[shown(levels)(mine)]
        with Opened(desk, rows) as scene:
            opened = scene(levels)
            base = opened.question.base
            row = next(
                i
                for i in range(len(base))
                if all(base.value(name, i) == mine[name] for name in ("age", "sex", "condition"))
            )
            opened = scene(levels, target=AttackTarget({"name": mine["name"]}, (row,)))
            alone, known, found = homogeneity(opened), background(opened), linking(opened)
        assert alone and known and found
        assert alone.value == known.value == mine["condition"]
        assert alone.after == share(members, "condition", mine["condition"])
        assert known.facts["negations"] == len({row["condition"] for row in members}) - 1
        assert found.after == Fraction(1, len(members))
        assert [one.person.identity["name"] for one in (alone, known, found)] == [mine["name"]] * 3


@pytest.mark.slow
def test_linking_counts_who_stands_alone(desk: Desk) -> None:
    for rng in cases(80):
        rows, levels = some_rows(rng, 12), some_levels(rng)
        with Opened(desk, rows) as scene:
            story = linking(scene(levels))
        sizes = [len(members) for members in grouped(rows, shown(levels)).values()]
        assert story and story.facts["unique"] == sizes.count(1)
        raw = grouped(rows, lambda row: (row["age"], row["sex"]))
        assert story.facts["unique_raw"] == sum(len(members) == 1 for members in raw.values())
        assert (story.before, story.after) == (Fraction(1, len(rows)), Fraction(1, min(sizes)))


def test_linking_matches_an_outside_table_person_by_person(desk: Desk) -> None:
    for rng in cases(100):
        rows, levels = some_rows(rng, 12), some_levels(rng)
        columns = rng.choice((("age", "sex"), ("age",), ("sex",)))
        people = [
            {"name": f"o{i}", "age": rng.randrange(8), "sex": rng.choice("fm")}
            for i in range(rng.randint(1, 8))
        ]
        if rng.random() < 0.3:
            people[0][columns[0]] = None
        outside = OutsideTable(
            "voters.csv",
            columns,
            tuple((tuple(one[name] for name in columns), {"name": one["name"]}) for one in people),
        )

        def look(row: Row, levels: Any = levels, columns: Any = columns) -> tuple[Any, ...]:
            label = shown(levels)(row)
            return tuple(label[("age", "sex").index(name)] for name in columns)

        with Opened(desk, rows) as scene:
            story = linking(scene(levels, outside=outside))
        complete = [one for one in people if None not in [one[name] for name in columns]]
        whole = [{**one, "age": one["age"] or 0, "sex": one["sex"] or "f"} for one in complete]
        found = [[row for row in rows if look(row) == look(one)] for one in whole]
        matched = [members for members in found if members]
        tops = [
            max(share(members, "condition", row["condition"]) for row in members)
            for members in matched
        ]
        assert story and story.facts["incomplete"] == len(people) - len(complete)
        assert story.facts["matched"] == len(matched)
        assert story.facts["unique"] == sum(len(members) == 1 for members in matched)
        assert story.facts["certain"] == tops.count(1)
        assert story.after == max(tops, default=None)


@pytest.mark.slow
def test_proximity_finds_the_greatest_share_around_a_value(desk: Desk) -> None:
    for rng in cases(100):
        rows = [{**row, "salary": rng.randrange(0, 1000, 10)} for row in some_rows(rng, 14)]
        rows = [{name: row[name] for name in ("name", "age", "sex", "salary")} for row in rows]
        levels = some_levels(rng)
        salaries = [row["salary"] for row in rows]
        width = Fraction(2, 100) * (max(salaries) - min(salaries))
        with Opened(desk, rows, "salary") as scene:
            story = proximity(scene(levels))
        assert story and story.after == near(rows, shown(levels), "salary", width)
        assert story.before == Fraction(
            sum(abs(one - story.value) <= width for one in salaries), len(rows)
        )


def distinct(number: int) -> Callable[[list[Any]], bool]:
    return lambda values: len(set(values)) >= number


def recursive(c: int, number: int) -> Callable[[list[Any]], bool]:
    def passes(values: list[Any]) -> bool:
        counts = sorted(Counter(values).values(), reverse=True)
        return counts[0] < c * sum(counts[number - 1 :])

    return passes


def entropy_of(values: list[Any]) -> float:
    """e to the entropy; no count of at most seven values comes nearer
    to 2 than 1e-9 without being 2.
    """
    shares = [count / len(values) for count in Counter(values).values()]
    return math.exp(-sum(one * math.log(one) for one in shares))


RULES: list[tuple[Any, Callable[[list[Any]], bool]]] = [
    (LDiversity(kind="distinct", l=2), distinct(2)),
    (LDiversity(kind="recursive", c=2, l=2), recursive(2, 2)),
    (LDiversity(kind="entropy", l=2), lambda values: entropy_of(values) >= 2 - 1e-9),
    (KAnonymity(k=2), lambda values: len(values) >= 2),
]


def below(levels: Mapping[str, int]) -> list[dict[str, int]]:
    return [{**levels, name: height - 1} for name, height in levels.items() if height]


def holds(rows: list[Row], levels: Mapping[str, int], passes: Callable[[list[Any]], bool]) -> bool:
    return all(
        passes([row["condition"] for row in one]) for one in grouped(rows, shown(levels)).values()
    )


def minimal_levels(
    rng: random.Random, rows: list[Row], passes: Callable[[list[Any]], bool]
) -> dict[str, int]:
    """Levels that are the least that pass, where there are some, else any."""
    every = [{"age": age, "sex": sex} for age in range(4) for sex in range(2) if age or sex]
    fit = [
        one
        for one in every
        if holds(rows, one, passes) and not any(holds(rows, low, passes) for low in below(one))
    ]
    return rng.choice(fit) if fit and rng.random() < 0.8 else some_levels(rng)


def crowded_rows(rng: random.Random) -> list[Row]:
    """Few ages, so that lower levels have groups of several people."""
    values = CONDITIONS[: rng.randint(2, 4)]
    sexes = rng.choice(("f", "fm"))
    return [
        {
            "name": f"p{i}",
            "age": rng.randrange(3),
            "sex": rng.choice(sexes),
            "condition": rng.choice(values),
        }
        for i in range(rng.randint(4, 7))
    ]


@pytest.mark.slow
def test_minimality_agrees_with_the_enumeration_of_all_worlds(desk: Desk) -> None:
    computed = gained = 0
    for rng in cases(200):
        rows = crowded_rows(rng)
        picked = rng.sample(RULES, rng.choice((1, 1, 2)))

        def passes(values: list[Any], picked: Any = picked) -> bool:
            return all(rule(values) for _, rule in picked)

        levels = minimal_levels(rng, rows, passes)
        with Opened(desk, rows) as scene:
            story = minimality(scene(levels, checks=tuple(AttackedCheck(one) for one, _ in picked)))
        assert story
        lower = below(levels)
        minimal = holds(rows, levels, passes) and not any(holds(rows, one, passes) for one in lower)
        if not lower or not minimal:
            assert story.reason
            continue
        shows = [shown(one) for one in lower]
        beliefs = minimal_beliefs(rows, shown(levels), shows, "condition", passes)
        members = {row["name"]: grouped(rows, shown(levels))[shown(levels)(row)] for row in rows}
        gains = {
            name: after - share(members[name], "condition", value) for name, value, after in beliefs
        }
        assert story.reason is None
        assert story.facts["gain"] == max(gains.values())
        assert story.people == sum(gain > 0 for gain in gains.values())
        assert story.person
        name = story.person.identity["name"]
        assert (name, story.value, story.after) in beliefs
        assert story.before == share(members[name], "condition", story.value)
        computed, gained = computed + 1, gained + bool(story.people)
    assert computed > 40 and gained > 10


def test_minimality_gives_nothing_away_where_either_side_can_have_all(desk: Desk) -> None:
    """Two people of each age, and both flus may be on either side."""
    rows = [
        {"name": "ada", "age": 0, "sex": "f", "condition": "flu"},
        {"name": "bea", "age": 0, "sex": "f", "condition": "flu"},
        {"name": "cid", "age": 1, "sex": "f", "condition": "cold"},
        {"name": "dan", "age": 1, "sex": "f", "condition": "cough"},
    ]
    checks = (AttackedCheck(KAnonymity(k=2)), AttackedCheck(LDiversity(kind="distinct", l=2)))
    with Opened(desk, rows) as scene:
        opened = scene({"age": 1}, checks=checks)
        assert [node.column for node in lower_nodes(opened.question)] == ["age"]
        story = minimality(opened)
    assert story and story.value == "flu"
    assert story.person and story.person.identity["name"] in ("ada", "bea")
    # In 4 of the 12 ways to hand out the values an age has one value only;
    # in 2 of them it is age 0.
    assert (story.before, story.after) == (Fraction(1, 2), Fraction(1, 2))


def test_minimality_is_certain_where_only_one_side_can_have_all(desk: Desk) -> None:
    """As Wong et al. 2007: a lower level would fail, so one age has one
    value, and two flus fill only one.
    """
    rows = [
        {"name": "ada", "age": 0, "sex": "f", "condition": "flu"},
        {"name": "bea", "age": 0, "sex": "f", "condition": "flu"},
        {"name": "cid", "age": 1, "sex": "f", "condition": "cold"},
        {"name": "dan", "age": 1, "sex": "f", "condition": "cough"},
        {"name": "eve", "age": 1, "sex": "f", "condition": "measles"},
    ]
    checks = (AttackedCheck(KAnonymity(k=2)), AttackedCheck(LDiversity(kind="distinct", l=2)))
    with Opened(desk, rows) as scene:
        story = minimality(scene({"age": 1}, checks=checks))
    assert story and (story.value, story.before, story.after, story.people) == (
        "flu",
        Fraction(2, 5),
        Fraction(1),
        5,
    )


def test_too_many_worlds_are_not_counted(desk: Desk) -> None:
    rng = random.Random(1)
    # Every age of two has one condition, so that no lower level passes.
    rows = [
        {
            "name": f"p{i}",
            "age": i % 4,
            "sex": "f",
            "condition": CONDITIONS[i % 4] if i % 4 != 1 else rng.choice(CONDITIONS),
        }
        for i in range(200)
    ]
    with Opened(desk, rows) as scene:
        story = minimality(
            scene({"age": 2}, checks=(AttackedCheck(LDiversity(kind="distinct", l=4)),))
        )
    assert story and story.reason and "worlds" in story.reason
    assert story.before is None


def test_people_with_several_values_are_struck_once_one_is_ruled_out(desk: Desk) -> None:
    rows = [
        {"name": "ada", "age": 0, "sex": "f", "condition": "flu"},
        {"name": "bea", "age": 0, "sex": "f", "condition": "cold"},
        {"name": "bea", "age": 0, "sex": "f", "condition": "cough"},
    ]
    with Opened(desk, rows) as scene:
        opened = scene({})
        assert np.array_equal(opened.cells.known, [2])
        story = background(opened)
    assert story and story.after == 1
    assert [step.belief for step in story.steps] == [Fraction(1, 2), Fraction(1, 2), Fraction(1)]
