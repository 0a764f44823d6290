"""What is believed about one person, against brute force over all worlds and all knowledge."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from asking import as_they_are, handmade
from oracles.background import worlds
from oracles.believing import any_implications, ending_in_it, shares, under
from tacit.families.microdata.attacks.attack_beliefs import (
    Believer,
    KnowledgeAmount,
    OtherGroups,
    worst_guess,
)
from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.groups import Groups, group
from tacit.families.microdata.microdata import MicrodataQuestion, Person
from tacit.model.schema import Table

VALUES = "abcde"
Release = list[list[Any]]


def groups_of(release: Release) -> Groups:
    """The groups of a small release, each with its number as the only quasi-identifier."""
    base = handmade(
        [{"group": number, "value": one} for number, some in enumerate(release) for one in some]
    )
    return group(base, ["group"], as_they_are(base), "value")


def releases(
    number: int, *, people: int, most: int, values: int
) -> Iterator[tuple[random.Random, Release]]:
    """Random groups, with a total of people that brute force can stand."""
    for seed in range(number):
        rng = random.Random(seed)
        left, release = people, []
        while left > 0 and len(release) < 3:
            size = rng.randint(1, min(most, left))
            release.append([rng.choice(VALUES[: rng.randint(1, values)]) for _ in range(size)])
            left -= size
        yield rng, release


def test_no_implications_of_any_kind_tell_more_than_the_worst_guess() -> None:
    for rng, release in releases(250, people=4, most=3, values=3):
        every = worlds(release)
        groups = groups_of(release)
        person = rng.choice(every.people)
        for value in set(release[person[0]]):
            n, k = rng.randint(0, 2), rng.randint(0, 2 if every.everything.bit_length() <= 4 else 1)
            found = worst_guess(
                groups, person[0], value, KnowledgeAmount(n, k), OtherGroups(groups)
            )
            assert found.belief == any_implications(every, person, value, n, k), (
                release,
                person,
                value,
                n,
                k,
            )


@pytest.mark.parametrize("anywhere", [True, False])
def test_the_worst_guess_is_the_worst_of_all_atoms(anywhere: bool) -> None:
    for rng, release in releases(1500, people=7, most=5, values=4):
        every = worlds(release)
        groups, elsewhere = groups_of(release), OtherGroups(groups_of(release))
        person = rng.choice(every.people)
        for value in set(release[person[0]]):
            n, k = rng.randint(0, 3), rng.randint(0, 3)
            found = worst_guess(
                groups, person[0], value, KnowledgeAmount(n, k, anywhere), elsewhere
            )
            only = None if anywhere else [person[0]]
            assert found.belief == ending_in_it(every, person, value, n, k, only=only), (
                release,
                person,
                value,
                n,
                k,
            )


def test_larger_groups_with_frequent_values() -> None:
    for seed in range(150):
        rng = random.Random(seed)
        release = [
            [one for one in VALUES[: rng.randint(2, 4)] for _ in range(rng.choice((1, 1, 2, 3)))][
                :7
            ]
        ]
        every, groups = worlds(release), groups_of(release)
        value = rng.choice(release[0])
        n, k = rng.randint(0, 1), rng.randint(1, 3)
        found = worst_guess(groups, 0, value, KnowledgeAmount(n, k), OtherGroups(groups))
        assert found.belief == ending_in_it(every, (0, 0), value, n, k), (release, value, n, k)


def test_the_knowledge_gives_the_beliefs_it_is_said_to_give() -> None:
    for rng, release in releases(1500, people=7, most=5, values=4):
        every, groups = worlds(release), groups_of(release)
        at = rng.randrange(len(release))
        value, n, k = rng.choice(release[at]), rng.randint(0, 3), rng.randint(0, 3)
        found = worst_guess(
            groups, at, value, KnowledgeAmount(n, k, rng.random() < 0.7), OtherGroups(groups)
        )
        known = found.knowledge
        free = {number: iter(range(number == at, len(some))) for number, some in enumerate(release)}
        atoms = [
            ((where, who), one)
            for where, values in known.implied
            for who in [next(free[where])]
            for one in values
        ]
        assert len(known.negated) + len(atoms) <= n + k
        assert len(atoms) <= k
        expected = under(every, (at, 0), value, known.negated, atoms)
        beliefs = found.beliefs(groups.cells(at))
        assert {one: beliefs.get(one, 0) for one in expected} == expected, (
            release,
            value,
            n,
            k,
            known,
        )


def test_more_knowledge_never_tells_less_and_certain_is_certain() -> None:
    for rng, release in releases(300, people=12, most=8, values=5):
        groups = groups_of(release)
        elsewhere, at = OtherGroups(groups), rng.randrange(len(release))
        value, different = rng.choice(release[at]), len(set(release[at]))
        found = {
            (n, k): worst_guess(groups, at, value, KnowledgeAmount(n, k), elsewhere).belief
            for n in range(5)
            for k in range(5)
        }
        assert all(found[n, k] <= found[n + 1, k] for n in range(4) for k in range(5))
        assert all(found[n, k] <= found[n, k + 1] for n in range(5) for k in range(4))
        assert all(found[n + 1, k] <= found[n, k + 1] for n in range(4) for k in range(4)), (
            "an implication says no less than a negation"
        )
        assert all(belief == 1 for (n, k), belief in found.items() if n + k >= different - 1)
        assert found[0, 0] == Fraction(release[at].count(value), len(release[at]))


def asked(
    release: Release, names: Sequence[Sequence[str]] | None = None, *, people: int | None = None
) -> AttackScene:
    groups = groups_of(release)

    def find(values: Any, limit: int) -> list[dict[str, str]]:
        number, one = values["group"], values.get("value")
        inside = zip(release[number], (names or [])[number], strict=True) if names else ()
        return [{"name": name} for value, name in inside if value == one][:limit]

    number = people or sum(map(len, release))
    question = MicrodataQuestion(
        "r",
        Table("t"),
        ("group",),
        ("value",),
        groups.base,
        groups.levels,
        number,
        number,
        find=find,
    )
    return AttackScene(question, "value")


def test_before_and_after_are_shares_of_the_known_values() -> None:
    for rng, release in releases(200, people=9, most=6, values=4):
        with_gaps = [[None if rng.random() < 0.2 else one for one in some] for some in release]
        at = rng.randrange(len(release))
        if not any(one is not None for one in with_gaps[at]):
            continue
        true = rng.choice(with_gaps[at])
        found = Believer(asked(with_gaps)).believe(Person({}, {}), at, true)
        for belief in found.beliefs:
            assert (belief.before, belief.after) == shares(with_gaps, belief.value, at)
            assert belief.knowing == belief.at_most == belief.after
        assert found.people == len(with_gaps[at])


def test_the_knowledge_is_told_about_other_people_by_name() -> None:
    scene = asked(
        [["flu", "flu", "cold", "cough"], ["flu", "cold", "cough", "measles"]],
        [["Ann", "Bob", "Cleo", "Dan"], ["Eve", "Fay", "Gus", "Hal"]],
    )
    believer = Believer(scene)
    ann = Person({"name": "Ann"}, {"group": 0})
    found = believer.believe(ann, 0, "flu", KnowledgeAmount(negations=1))
    assert found.facts == ("Ann does not have value cold",)
    assert (
        found["flu"].knowing == Fraction(2, 3)
        and found["cold"].knowing == 0
        and found["cough"].knowing == Fraction(1, 3)
    )
    found = believer.believe(ann, 0, "flu", KnowledgeAmount(implications=1))
    assert found.facts == ("if Bob has value flu, then Ann has value flu",) and found[
        "flu"
    ].knowing == Fraction(3, 4)
    found = believer.believe(ann, 0, "flu", KnowledgeAmount(implications=1), asked="cough")
    assert found.asked == "cough" and found.facts == ("Ann does not have value flu",), (
        "an implication can say that too"
    )
    assert found["cough"].knowing == found["cough"].at_most == Fraction(1, 2)
    many = Believer(asked([["a"] * 6 + ["b", "c", "d", "e"]], [[f"p{i}" for i in range(10)]]))
    found = many.believe(
        Person({"name": "p0"}, {"group": 0}), 0, "a", KnowledgeAmount(implications=1)
    )
    assert found.facts == ("if p1 has value a, then p0 has value a",)


def test_a_group_with_one_value_lets_an_implication_say_anything() -> None:
    scene = asked(
        [["flu", "cold", "cough"], ["cancer", "cancer"]], [["Ann", "Bob", "Cleo"], ["Eve", "Fay"]]
    )
    found = Believer(scene).believe(
        Person({"name": "Ann"}, {}), 0, "cold", KnowledgeAmount(implications=1)
    )
    assert (
        found["cold"].knowing == 1
        and found.facts == ("if Eve has value cancer, then Ann has value cold",)
        and found.outright
    )
    found = Believer(scene).believe(
        Person({"name": "Ann"}, {}), 0, "cold", KnowledgeAmount(implications=1, anywhere=False)
    )
    assert found["cold"].knowing == Fraction(1, 2) and not found.outright


def test_knowledge_is_not_counted_where_people_are_in_several_groups() -> None:
    found = Believer(asked([["flu", "cold"], ["flu"]], people=2)).believe(
        Person({}, {}), 0, "flu", KnowledgeAmount(1, 1)
    )
    assert found.reason and found["flu"].knowing is None and found["flu"].after == Fraction(1, 2)


def test_a_person_without_a_value_is_believed_to_be_like_the_others() -> None:
    found = Believer(asked([["flu", "flu", None, "cold"]])).believe(
        Person({}, {}), 0, None, KnowledgeAmount(1, 0)
    )
    assert (
        found.asked == "flu"
        and found["flu"].knowing == 1
        and found.known == 3
        and found.people == 4
    )
