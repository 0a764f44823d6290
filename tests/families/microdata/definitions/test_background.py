"""(c,k)-safety and the privacy skyline on thousands of tiny tables,
against all worlds and all knowledge.
"""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from asking import Desk, as_they_are, handmade, question
from oracles import background as oracle
from tacit.errors import DataError, ParameterError
from tacit.families.microdata.definitions.beliefs.worst_knowledge import BackgroundDefinition
from tacit.families.microdata.definitions.c_k_safety import CKSafety
from tacit.families.microdata.definitions.l_diversity import LDiversity
from tacit.families.microdata.definitions.replay.replay import replay
from tacit.families.microdata.definitions.skyline import Skyline
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.model.schema import Table
from tacit.model.verdict import Verdict

TABLES = int(os.environ.get("TACIT_ORACLE_TABLES", "700"))
MOST_WORK = 60_000  # steps of the oracle for one table
Release = list[list[str]]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    opened = Desk(tmp_path_factory.mktemp("background"))
    yield opened
    opened.engine.close()


# -- asking -------------------------------------------------------------------------------------


def rows_of(release: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """One row for each person; people are called by group and place."""
    return [
        {"ward": f"w{number}", "s": value, "name": f"{number}.{place}"}
        for number, group in enumerate(release)
        for place, value in enumerate(group)
    ]


def question_of(release: Sequence[Sequence[Any]], *, named: bool = True) -> MicrodataQuestion:
    rows = rows_of(release)
    counts = Counter((row["ward"], row["s"]) for row in rows)
    base = handmade([{"ward": ward, "s": s} for ward, s in counts], weights=list(counts.values()))

    def find(values: Mapping[str, Any], limit: int) -> list[Mapping[str, Any]]:
        fits = (row for row in rows if all(row[name] == value for name, value in values.items()))
        return [{"name": row["name"]} for row in itertools.islice(fits, limit)] if named else []

    table = Table("t", quasi_identifiers=("ward",), sensitive=("s",))
    return MicrodataQuestion(
        "r", table, ("ward",), ("s",), base, as_they_are(base), len(rows), len(rows), find=find
    )


def ask(definition: BackgroundDefinition, release: Sequence[Sequence[Any]]) -> Verdict:
    return definition.check(question_of(release))


def belief(definition: BackgroundDefinition, release: Sequence[Sequence[Any]]) -> Fraction:
    found = ask(definition, release).measured["belief"]
    assert isinstance(found, Fraction)
    return found


def told(verdict: Verdict) -> Mapping[str, Any]:
    evidence = verdict.witness or verdict.certificate
    assert evidence is not None
    return evidence.personal


def believed(verdict: Verdict, release: Release) -> Fraction:
    """What the knowledge of a verdict makes somebody believe, by listing the worlds;
    it must be true.
    """
    every = oracle.worlds(release)
    personal = told(verdict)
    target, value = who(personal), personal["value"]
    goal = every.atoms[target, value]
    given = every.everything
    for one in personal["negated"]:
        assert one != value
        given &= ~every.atoms[target, one]
    others = [who(one) for one in personal["others"]]
    assert len({target, *others}) == len(others) + 1, "different people"
    for person, one in zip(others, personal["others"], strict=True):
        assert one["values"] == {"ward": f"w{person[0]}"}
        if "has" in one:
            given &= every.atoms[person, one["has"]]
            assert release[person[0]][person[1]] == one["has"], "what is known is true"
        for value_of_other in one.get("if", ()):
            given &= ~every.atoms[person, value_of_other] | goal
    assert release[target[0]][target[1]] == value, "the person has the value"
    assert len(personal["knowledge"]) == len(personal["negated"]) + sum(
        len(one.get("if", [0])) for one in personal["others"]
    )
    return oracle.probability(goal, given)


def who(person: Mapping[str, Any]) -> oracle.Person:
    number, place = person["person"]["name"].split(".")
    return int(number), int(place)


# -- random releases ----------------------------------------------------------------------------


def releases(rng: random.Random, number: int, people: int, most_people: int) -> Iterator[Release]:
    """Small releases of one to three groups."""
    while number:
        values = "abcde"[: rng.choice([2, 2, 3, 3, 4, 5])]
        release = [
            [rng.choice(values) for _ in range(rng.randint(1, people))]
            for _ in range(rng.choice([1, 2, 2, 3]))
        ]
        if sum(map(len, release)) <= most_people:
            number -= 1
            yield release


def is_quick(release: Release, k: int) -> bool:
    """Whether the oracle can try all implications with one consequent."""
    atoms = sum(map(len, release)) * len({value for group in release for value in group})
    worlds = 1
    for group in release:
        worlds *= len(set(itertools.permutations(group))) if len(group) < 7 else MOST_WORK
    sets = len(list(itertools.islice(itertools.combinations(range(atoms), k), MOST_WORK)))
    return worlds < 1_500 and atoms * sets < MOST_WORK


def grouped(letters: str) -> list[list[str]]:
    """All groups of up to four people with some values."""
    return [
        list(group)
        for size in range(1, 5)
        for group in itertools.combinations_with_replacement(letters, size)
    ]


# -- the theorem --------------------------------------------------------------------------------

ONE_GROUP = [[group] for group in grouped("abc")]
TWO_GROUPS = [
    [one, two]
    for one, two in itertools.combinations_with_replacement(grouped("ab"), 2)
    if len(one) + len(two) <= 5
]


@pytest.mark.parametrize("k", [1, 2])
def test_no_implications_tell_more_than_simple_ones_that_end_in_what_is_asked(k: int) -> None:
    """Theorem 9 of Martin and others, over all basic implications of tiny releases."""
    for release in ONE_GROUP + TWO_GROUPS:
        found = oracle.belief_with_basic_implications(release, k)
        assert found == oracle.belief_with_simple_implications(release, k), release
        assert found == oracle.belief_with_one_consequent(release, k), release
        assert found == belief(CKSafety(c=1, k=k), release), release


def test_no_negations_tell_more_than_those_about_the_person_who_is_asked_about() -> None:
    """Machanavajjhala 2008, 3.4.1, of l - 2 negations about anybody."""
    for release in ONE_GROUP + TWO_GROUPS:
        for number in (1, 2):
            everybody = oracle.belief_with_negations(release, number)
            assert everybody == oracle.belief_with_negations_of_the_target(release, number), release


# -- against the oracle -------------------------------------------------------------------------


@pytest.mark.slow
def test_safety_is_what_all_worlds_and_all_implications_say() -> None:
    rng = random.Random(1)
    seen: Counter[str] = Counter()
    for release in releases(rng, 2 * TABLES, people=5, most_people=8):
        k = rng.choice([0, 1, 1, 2, 2, 3])
        if not is_quick(release, k):
            continue
        beliefs = [oracle.belief_in_a_group(release, k, number) for number in range(len(release))]
        limits = {Fraction(1), *beliefs, max(beliefs) + Fraction(1, 1000), Fraction(2, 3)}
        for c in limits:
            if not 0 < c <= 1:
                continue
            verdict = ask(CKSafety(c=c, k=k), release)
            agree(verdict, release, beliefs, c)
            personal = told(verdict)
            used = len(personal["negated"]) + sum(len(one["if"]) for one in personal["others"])
            assert used <= k, release
            seen[f"{verdict.status} {'certain' if max(beliefs) == 1 else 'unsure'}"] += 1
    assert set(seen) >= {"holds unsure", "breached unsure", "breached certain"}, seen


@pytest.mark.slow
def test_the_skyline_is_what_all_worlds_and_all_such_knowledge_say() -> None:
    rng = random.Random(2)
    seen: Counter[str] = Counter()
    for release in releases(rng, 3 * TABLES, people=6, most_people=7):
        l, k, m = rng.choice([0, 0, 1, 2]), rng.choice([0, 1, 1]), rng.choice([0, 1, 1, 2])  # noqa: E741
        if l + k + m > 3 or not is_quick(release, 1):
            continue
        numbers = range(len(release))
        beliefs = [oracle.skyline_belief(release, l, k, m, number) for number in numbers]
        if max(beliefs) == 1 and rng.random() < 0.6:
            continue
        for c in {Fraction(1), max(beliefs), min(beliefs), Fraction(3, 4)}:
            verdict = ask(Skyline(l=l, k=k, m=m, c=c), release)
            agree(verdict, release, beliefs, c)
            personal = told(verdict)
            known = [one for one in personal["others"] if "has" in one]
            family = [one for one in personal["others"] if "if" in one]
            assert len(personal["negated"]) <= l and len(known) <= k and len(family) <= m
            assert all(one["if"] == [personal["value"]] for one in family)
            seen[f"{verdict.status} {'certain' if max(beliefs) == 1 else 'unsure'}"] += 1
    assert set(seen) >= {"holds unsure", "breached unsure", "breached certain"}, seen


def agree(verdict: Verdict, release: Release, beliefs: Sequence[Fraction], c: Fraction) -> None:
    """The belief, the status, the groups that fail, and the knowledge are what the oracle says."""
    assert verdict.measured == {"belief": max(beliefs)}, (release, verdict.label, beliefs)
    assert verdict.status == ("holds" if max(beliefs) < c else "breached"), (release, verdict.label)
    assert told(verdict)["after"] == max(beliefs) == believed(verdict, release), (
        release,
        verdict.label,
    )
    if verdict.witness is not None:
        failing = [number for number, one in enumerate(beliefs) if one >= c]
        assert verdict.witness.facts["groups_below"] == len(failing), (release, verdict.label)
        assert verdict.witness.facts["people_below"] == sum(len(release[one]) for one in failing)
    assert replay(verdict, rows_of(release), ["ward"]), (release, verdict.label)


# -- larger groups ------------------------------------------------------------------------------


def test_counting_worlds_is_listing_them() -> None:
    """The oracle for larger groups against the oracle for tiny ones."""
    rng = random.Random(3)
    for release in releases(rng, TABLES // 5, people=4, most_people=5):
        l, k, m = (rng.choice([0, 1, 2]) for _ in range(3))  # noqa: E741
        assert oracle.skyline_by_counting(release, l, k, m) == oracle.skyline_belief(
            release, l, k, m
        )
        if is_quick(release, k):
            assert oracle.implications_by_counting(release, k) == oracle.belief_with_one_consequent(
                release, k
            )


def large(rng: random.Random) -> Release:
    """Groups of very different size."""
    values = "abcde"[: rng.choice([2, 3, 4, 5])]
    found = []
    for _ in range(rng.choice([1, 2, 2, 3])):
        times = rng.choice([1, 1, 3, 10])
        found.append(
            [value for value in values for _ in range(rng.choice([0, 1, 1, 2, 3, 5]) * times)]
        )
    return [group for group in found if group] or [["a"]]


def test_larger_groups_are_as_the_worlds_count() -> None:
    rng = random.Random(4)
    for _ in range(TABLES):
        release, k = large(rng), rng.choice([0, 1, 2, 3, 4, 5])
        verdict = ask(CKSafety(c=1, k=k), release)
        assert verdict.measured["belief"] == oracle.implications_by_counting(release, k), (
            release,
            k,
        )
        assert replay(verdict, rows_of(release), ["ward"]), (release, k)


@pytest.mark.parametrize(
    ("counts", "k"),
    [
        ([[4, 4, 1, 1, 1], [4, 3, 1, 1, 1]], 2),
        ([[5, 5, 1, 1], [8, 5, 2, 2]], 2),
        ([[8, 8, 6, 4, 4, 4, 1], [8, 5, 5, 5, 4, 3, 2]], 3),
    ],
)
def test_implications_may_tell_most_about_people_of_another_group(
    counts: list[list[int]], k: int
) -> None:
    release = spelled(counts)
    verdict = ask(CKSafety(c=1, k=k), release)
    assert verdict.measured["belief"] == oracle.implications_by_counting(release, k)
    assert verdict.measured["belief"] > max(
        belief(CKSafety(c=1, k=k), [group]) for group in release
    )
    personal = told(verdict)
    assert all(one["values"] != {"ward": f"w{who(personal)[0]}"} for one in personal["others"])
    assert replay(verdict, rows_of(release), ["ward"])


def spelled(counts: Sequence[Sequence[int]]) -> Release:
    """A release by how many people have a, b, c, ... in each group."""
    return [[v for v, n in zip("abcdefgh", one, strict=False) for _ in range(n)] for one in counts]


def test_larger_groups_have_the_skyline_that_the_worlds_count() -> None:
    rng = random.Random(5)
    for _ in range(TABLES // 2):
        release = large(rng)
        l, k, m = rng.choice([0, 1, 1, 2]), rng.choice([0, 0, 1, 2]), rng.choice([0, 1, 2])  # noqa: E741
        if sum(len(set(group)) for group in release) > 9 and k + m > 2:
            continue
        verdict = ask(Skyline(l=l, k=k, m=m, c=1), release)
        assert verdict.measured["belief"] == oracle.skyline_by_counting(release, l, k, m), (
            release,
            l,
            k,
            m,
        )
        assert replay(verdict, rows_of(release), ["ward"]), (release, l, k, m)


@pytest.mark.parametrize(
    ("counts", "amount", "known_elsewhere", "family_elsewhere"),
    [
        ([[2, 2, 0, 0], [2, 1, 1, 0]], (0, 1, 1), False, False),
        ([[4, 9, 0, 4], [1, 4, 1, 4]], (1, 1, 1), False, True),
        ([[3, 6, 1, 6], [3, 9, 3, 3]], (1, 2, 1), False, True),
        ([[4, 3, 3, 6], [2, 6, 6, 6]], (2, 1, 1), False, True),
        ([[45, 45, 10, 0, 0, 0, 0], [5, 0, 1, 1, 1, 1, 1]], (1, 2, 1), True, True),
    ],
)
def test_known_people_and_a_family_tell_most_in_the_target_s_group_or_in_one_other(
    counts: list[list[int]],
    amount: tuple[int, int, int],
    known_elsewhere: bool,
    family_elsewhere: bool,
) -> None:
    """All three cases occur."""
    release = spelled(counts)
    l, k, m = amount  # noqa: E741
    verdict = ask(Skyline(l=l, k=k, m=m, c=1), release)
    assert verdict.measured["belief"] == oracle.skyline_by_counting(release, l, k, m)
    personal = told(verdict)
    home = {"ward": f"w{who(personal)[0]}"}
    elsewhere = {("has" in one): one["values"] != home for one in personal["others"]}
    assert elsewhere == {True: known_elsewhere, False: family_elsewhere}


# -- special cases ------------------------------------------------------------------------------


def test_one_implication_short_of_certainty_is_distinct_diversity() -> None:
    """(1,k)-safety is distinct (k+2)-diversity."""
    rng = random.Random(6)
    for release in releases(rng, TABLES, people=7, most_people=16):
        k = rng.randint(0, 4)
        diverse = LDiversity(kind="distinct", l=k + 2).check(question_of(release))
        assert ask(CKSafety(c=1, k=k), release).status == diverse.status, (release, k)


def test_ruling_out_values_only_is_recursive_diversity() -> None:
    """(l,0,0) at c is recursive (c/(1-c), l+2)-diversity."""
    rng = random.Random(7)
    seen = set()
    for release in releases(rng, TABLES, people=9, most_people=20):
        c, l = Fraction(rng.randint(1, 11), 12), rng.randint(0, 3)  # noqa: E741
        diverse = LDiversity(kind="recursive", l=l + 2, c=c / (1 - c)).check(question_of(release))
        assert ask(Skyline(l=l, k=0, m=0, c=c), release).status == diverse.status, (release, c, l)
        seen.add(diverse.status)
    assert seen == {"holds", "breached"}


def test_knowing_people_only_leaves_the_others_of_the_group() -> None:
    """(0,k,0): the most frequent value among all but k others;
    with different values k+2 people are needed.
    """
    rng = random.Random(8)
    for release in releases(rng, TABLES, people=7, most_people=16):
        k = rng.randint(0, 4)
        counts = [max(Counter(group).values()) for group in release]
        shares = [Fraction(n, max(n, len(g) - k)) for n, g in zip(counts, release, strict=True)]
        assert belief(Skyline(l=0, k=k, m=0, c=1), release) == max(shares)
    for size in range(1, 8):
        for k in range(6):
            status = ask(Skyline(l=0, k=k, m=0, c=1), [list("abcdefg"[:size])]).status
            assert status == ("holds" if size >= k + 2 else "breached")


def test_no_knowledge_is_the_share_of_the_most_frequent_value() -> None:
    for definition in (CKSafety(c=1, k=0), Skyline(l=0, k=0, m=0, c=1)):
        assert belief(definition, [list("aab"), list("abc")]) == Fraction(2, 3)


def test_negations_and_a_family_are_implications() -> None:
    """(c, l+m)-safety implies the skyline (l, 0, m) at c; known people are no implications."""
    rng = random.Random(9)
    for release in releases(rng, TABLES, people=8, most_people=16):
        l, m = rng.randint(0, 2), rng.randint(0, 2)  # noqa: E741
        families = belief(Skyline(l=l, k=0, m=m, c=1), release)
        assert families <= belief(CKSafety(c=1, k=l + m), release), (release, l, m)
    known = [list("aabbcc")]
    assert belief(Skyline(l=0, k=3, m=0, c=1), known) > belief(Skyline(l=0, k=2, m=0, c=1), known)


# -- monotone -----------------------------------------------------------------------------------

SAMPLES: list[Any] = [
    *(lambda c, k=k: CKSafety(c=c, k=k) for k in (0, 1, 2, 4)),
    *(
        lambda c, amount=amount: Skyline(l=amount[0], k=amount[1], m=amount[2], c=c)
        for amount in [(1, 0, 0), (0, 2, 0), (0, 0, 2), (1, 1, 1), (2, 1, 0), (0, 2, 1)]
    ),
]


@pytest.mark.sampled
@pytest.mark.parametrize("sample", SAMPLES)
def test_merging_groups_never_makes_anybody_surer(sample: Any) -> None:
    rng = random.Random(10)
    for release in releases(rng, TABLES // 4, people=6, most_people=16):
        before = belief(sample(1), release)
        for merged in oracle.mergers(release):
            assert belief(sample(1), merged) <= before, release


@pytest.mark.parametrize("sample", SAMPLES)
def test_where_groups_may_be_dropped_a_coarser_release_can_lose_more(sample: Any) -> None:
    """Without the second group the first one holds;
    merged with it, it fails, and everybody is lost.
    """
    good, bad = spelled([[3, 3, 3, 3, 3, 3], [40, 1, 1, 1, 1, 1]])
    c = belief(sample(1), [good]) + Fraction(1, 1000)
    assert ask(sample(c), [good]).status == "holds"
    assert ask(sample(c), [good + bad]).status == "breached"


def test_a_group_may_fail_only_because_another_one_tells_too_much() -> None:
    """Who is dropped first matters: the good group holds once the bad one is gone."""
    good, bad = spelled([[3, 3, 3, 3, 3, 3], [40, 1, 1, 1, 1, 1]])
    for definition in (CKSafety(c="0.7", k=2), Skyline(l=0, k=1, m=1, c="0.6")):
        verdict = ask(definition, [good, bad])
        assert verdict.witness is not None and verdict.witness.facts["groups_below"] == 2
        assert ask(definition, [good]).status == "holds"


# -- exactness ----------------------------------------------------------------------------------


def test_a_belief_at_the_limit_is_too_much_and_any_more_room_is_enough() -> None:
    release = [list("aaabbcde"), list("aabbcdef")]
    for definition in (lambda c: CKSafety(c=c, k=2), lambda c: Skyline(l=1, k=1, m=1, c=c)):
        found = belief(definition(1), release)
        assert ask(definition(found), release).status == "breached"
        assert ask(definition(found + Fraction(1, 10**30)), release).status == "holds"


def test_huge_groups_that_floats_cannot_tell_apart_are_told_apart() -> None:
    """Shares that differ by 1e-18, counted without listing anybody."""
    base = handmade(
        [{"ward": ward, "s": value} for ward in "xy" for value in "abc"],
        weights=[10**9 + 1, 10**9, 10**9, 10**9, 10**9, 10**9],
    )
    table = Table("t", quasi_identifiers=("ward",), sensitive=("s",))
    people = base.rows
    asked = MicrodataQuestion(
        "r", table, ("ward",), ("s",), base, as_they_are(base), people, people
    )
    verdict = CKSafety(c="0.99", k=1).check(asked)
    n, a = 3 * 10**9 + 1, 10**9 + 1
    odds = [Fraction(n - 2 * 10**9 - 1, a), Fraction((n - a) * (n - a - 1), (n - 1) * a)]
    assert verdict.measured["belief"] == 1 / (1 + min(odds))
    assert told(verdict)["known"] == {"ward": "x"}
    limit = verdict.measured["belief"]
    again = CKSafety(c=limit, k=1).check(asked)
    assert again.witness is not None and again.witness.facts["groups_below"] == 1


def test_more_implications_than_values_are_as_good_as_certainty() -> None:
    verdict = ask(CKSafety(c="0.9", k=1_000), [list("abcab"), list("abbcc")])
    assert verdict.measured["belief"] == 1
    assert len(told(verdict)["knowledge"]) == 2
    verdict = ask(Skyline(l=0, k=1_000, m=1_000, c="0.9"), [list("abcab"), list("abbcc")])
    assert verdict.measured["belief"] == 1
    assert len(told(verdict)["knowledge"]) == 3


def test_many_groups_are_no_trouble() -> None:
    rng = random.Random(11)
    release = [[rng.choice("abcdefgh") for _ in range(rng.randint(8, 16))] for _ in range(3_000)]
    release = [group for group in release if len(set(group)) > 4]
    for definition in (CKSafety(c=1, k=3), Skyline(l=1, k=1, m=1, c=1)):
        assert ask(definition, release).status == "holds"


# -- words and people ---------------------------------------------------------------------------


def test_the_knowledge_is_told_in_words() -> None:
    verdict = ask(CKSafety(c="0.5", k=1), [list("aabcd")])
    assert verdict.story == (
        "Anyone who knows that 0.0 has ward w0 and that if 0.1 has s a, then 0.0 has s a now "
        "believes with 58 % that 0.0 has s a. Belief 40 % (2/5) -> 58 % (4/7). 5 of 5 people are "
        "in groups that fail (0.5,1)-safety."
    )
    verdict = ask(Skyline(l=1, k=1, m=1, c="0.5"), [list("aabbcdef")])
    assert list(told(verdict)["knowledge"]) == [
        "0.0 does not have s b",
        "0.4 has s c",
        "if 0.1 has s a, then 0.0 has s a",
    ]


def test_people_without_names_are_told_apart_by_numbers() -> None:
    asked = question_of([list("aabbcdef")], named=False)
    verdict = Skyline(l=0, k=1, m=2, c="0.5").check(asked)
    assert list(told(verdict)["knowledge"]) == [
        "another person of the group (1) has s b",
        "if another person of the group (2) has s a, then this person has s a",
        "if another person of the group (3) has s a, then this person has s a",
    ]
    assert replay(verdict, rows_of([list("aabbcdef")]), ["ward"])


def test_names_come_from_the_table_and_are_different(desk: Desk) -> None:
    rows = [
        {"name": name, "ward": "A", "condition": condition}
        for name, condition in zip(
            ("Eve", "Ann", "Bob", "Dan", "Cleo"),
            ("flu", "flu", "cold", "cough", "cold"),
            strict=True,
        )
    ]
    with desk.counted(rows, quasi=["ward"], sensitive=["condition"], person=["name"]) as counted:
        verdict = CKSafety(c="0.5", k=1).check(question(counted))
    assert told(verdict)["knowledge"] == ["Bob does not have flu"]
    assert verdict.story == (
        "Anyone who knows that Bob has ward A and that Bob does not have flu now believes with 67 "
        "% that Bob has cold. Belief 40 % (2/5) -> 67 % (2/3). 5 of 5 people are in groups that "
        "fail (0.5,1)-safety."
    )


def test_a_tampered_witness_is_not_believed() -> None:
    release = [list("aaabbcd"), list("aabbcde")]
    for definition in (CKSafety(c="0.5", k=2), Skyline(l=1, k=1, m=1, c="0.5")):
        verdict = ask(definition, release)
        assert verdict.witness is not None
        assert replay(verdict, rows_of(release), ["ward"])
        for change in (
            {"after": told(verdict)["after"] + Fraction(1, 100)},
            {"negated": list("bcde")},
            {"value": "c"},
        ):
            personal = {**verdict.witness.personal, **change}
            other = replace(verdict, evidence=replace(verdict.witness, personal=personal))
            assert not replay(other, rows_of(release), ["ward"]), change


# -- people and values that do not fit ------------------------------------------------------------


def test_missing_values_are_left_out(desk: Desk) -> None:
    """As if it were known whose value is missing: nobody is better protected by it."""
    rows = [{"ward": "A", "s": value} for value in ("a", "a", "b", "c", None, None)]
    full = [{"ward": "A", "s": value} for value in ("a", "a", "b", "c")]
    for definition in (CKSafety(c=1, k=1), Skyline(l=0, k=1, m=0, c=1)):
        found = []
        for given in (rows, full):
            with desk.counted(given, quasi=["ward"], sensitive=["s"]) as counted:
                found.append(definition.check(question(counted)))
        assert found[0].measured == found[1].measured
        assert found[0].status == found[1].status == "holds"
        assert "missing" in " ".join(found[0].warnings)


def test_a_group_without_values_is_nobody_s_secret(desk: Desk) -> None:
    rows = [{"ward": "A", "s": value} for value in "aabbc"] + [{"ward": "B", "s": None}]
    with desk.counted(rows, quasi=["ward"], sensitive=["s"]) as counted:
        assert CKSafety(c="0.9", k=1).check(question(counted)).status == "holds"
        assert Skyline(l=1, k=0, m=0, c="0.9").check(question(counted)).status == "holds"


def test_people_with_several_values_or_in_several_groups_stay_undecided(desk: Desk) -> None:
    once = [{"p": f"P{i}", "ward": "A", "s": value} for i, value in enumerate("abcab")]
    cases = {
        "several-values": [*once, {"p": "P0", "ward": "A", "s": "b"}],
        "several-groups": [*once, {"p": "P0", "ward": "B", "s": "b"}],
    }
    for code, rows in cases.items():
        with desk.counted(rows, quasi=["ward"], sensitive=["s"], person=["p"]) as counted:
            for definition in (CKSafety(c="0.9", k=1), Skyline(l=1, k=1, m=1, c="0.9")):
                verdict = definition.check(question(counted))
                assert verdict.reason is not None and verdict.reason.code == code
    with desk.counted([*once, once[0]], quasi=["ward"], sensitive=["s"], person=["p"]) as counted:
        assert CKSafety(c="0.9", k=1).check(question(counted)).status == "holds"


def test_groups_that_overlap_stay_undecided(desk: Desk) -> None:
    rows = [{"ward": ward, "s": value} for ward, value in zip("AABB", "abab", strict=True)]
    with desk.counted(
        [*rows, {"ward": None, "s": "c"}], quasi=["ward"], sensitive=["s"]
    ) as counted:
        verdict = CKSafety(c="0.9", k=0, missing="match-any").check(question(counted))
        assert verdict.reason is not None and verdict.reason.code == "several-groups"
        assert CKSafety(c=1, k=0).check(question(counted)).status == "breached"
    with desk.counted(rows, quasi=["ward"], sensitive=["s"]) as counted:
        assert (
            CKSafety(c="0.9", k=0, missing="match-any").check(question(counted)).status == "holds"
        )


def test_a_column_without_values_is_an_error(desk: Desk) -> None:
    rows = [{"ward": "A", "s": None}]
    with desk.counted(rows, quasi=["ward"], sensitive=["s"], types={"s": "text"}) as counted:
        for definition in (CKSafety(c="0.9", k=1), Skyline(l=1, k=1, m=1, c="0.9")):
            with pytest.raises(DataError, match="no values at all"):
                definition.check(question(counted))


@pytest.mark.parametrize(
    "make",
    [
        lambda: CKSafety(c=0, k=1),
        lambda: CKSafety(c="1.2", k=1),
        lambda: CKSafety(c="0.5", k=-1),
        lambda: CKSafety(c="0.5", k="1.5"),
        lambda: CKSafety(c="much", k=1),
        lambda: CKSafety(c="0.5", k=1, missing="somehow"),  # type: ignore[arg-type]
        lambda: Skyline(l=-1, k=0, m=0, c="0.5"),
        lambda: Skyline(l=0, k=0, m="1/2", c="0.5"),  # type: ignore[arg-type]
        lambda: Skyline(l=0, k=0, m=0, c=2),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()
