"""Several releases of one table: every definition says of both what all worlds say."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from asking import as_they_are, handmade
from oracles import together as oracle
from tacit.errors import DataError, ParameterError
from tacit.families.catalog import define, kinds_of
from tacit.families.microdata.definitions.replay.replay import replay
from tacit.families.microdata.definitions.together import class_worlds
from tacit.families.microdata.definitions.together.class_scores import answer_together
from tacit.families.microdata.definitions.together.class_worlds import (
    counted_worlds,
    fewest_rows,
    greatest_chances,
    possible_worlds,
)
from tacit.families.microdata.definitions.together.decision import holds_together
from tacit.families.microdata.definitions.together.joined_releases import releases_of
from tacit.families.microdata.definitions.together.question import Copy, JointQuestion
from tacit.families.microdata.hierarchy import HierarchyLevel, hierarchy
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.overlaps.counting import average_beliefs
from tacit.families.overlaps.counting.expectations import Expected
from tacit.families.overlaps.system import OpenPart
from tacit.model.deadline import Deadline
from tacit.model.jobs import Job
from tacit.model.schema import Table
from tacit.model.verdict import Certificate, Reason, Verdict, Witness
from thorough import THOROUGH

TABLES = 400 if THOROUGH == 1 else 1_000 * THOROUGH


class Drawn:
    """A random table of few people, with two or three releases of it."""

    def __init__(self, rng: random.Random, most: int = 8) -> None:
        many, few = rng.randint(2, most), rng.random() < 0.5
        if few:  # groups: then most people hang together, and little is settled
            many = rng.randint(min(5, most), most)
        values = [*range(1, rng.randint(2, 4) + 1), *([None] if rng.random() < 0.4 else [])]
        extra = ["x", "y"] if rng.random() < 0.3 else ["x"]
        self.people = [(rng.choice(values), rng.choice(extra)) for _ in range(many)]
        self.releases = []
        for _ in range(rng.choice([2, 2, 2, 3])):
            parts = 2 if few else rng.randint(1, max(1, many // 2))
            groups: list[Any] = [rng.randrange(parts) for _ in range(many)]
            if rng.random() < 0.25:
                groups = [None if rng.random() < 0.2 else one for one in groups]
            shown = [0, 1] if rng.random() < 0.85 else rng.choice([[0], [1]])
            self.releases.append(oracle.Release(groups, shown))
        last = self.releases[-1]
        last.groups = [0 if one is None else one for one in last.groups]  # it has a whole table
        last.columns = [0, 1]
        self.known = oracle.known(self.people, self.releases)

    def joint(self) -> JointQuestion:
        """The same, put to Tacit."""
        rows = [
            {
                "value": value,
                "extra": extra,
                **{
                    f"r{at}": -1 if one.groups[person] is None else one.groups[person]
                    for at, one in enumerate(self.releases)
                },
            }
            for person, (value, extra) in enumerate(self.people)
        ]
        base = handmade(rows)
        quasi = tuple(f"r{at}" for at in range(len(self.releases)))
        levels = as_they_are(base)
        copies = [
            Copy(
                f"release {at}",
                {f"r{at}": levels[f"r{at}"]},
                frozenset(["value", "extra"][place] for place in one.columns),
                np.array([group is not None for group in one.groups]),
            )
            for at, one in enumerate(self.releases)
        ]
        asked = MicrodataQuestion(
            copies[-1].name,
            Table("t", quasi_identifiers=quasi, sensitive=("value",)),
            quasi,
            ("value",),
            base,
            {**{name: flat(levels[name]) for name in quasi[:-1]}, quasi[-1]: levels[quasi[-1]]}
            | {"value": levels["value"]},
            len(rows),
            len(rows),
            hierarchies={"value": hierarchy("value", base.dictionaries["value"])},
        )
        return JointQuestion(asked, copies, base, ("value", "extra"))

    def rows(self) -> list[list[dict[str, Any] | None]]:
        """The released rows of each release, person by person."""
        return [
            [
                None
                if release.groups[person] is None
                else {
                    f"r{at}": release.groups[person],
                    **{["value", "extra"][place]: one[place] for place in release.columns},
                }
                for person, one in enumerate(self.people)
            ]
            for at, release in enumerate(self.releases)
        ]


def flat(level: HierarchyLevel) -> HierarchyLevel:
    """The level that shows nothing."""
    return HierarchyLevel(("*",), np.zeros(len(level.codes), dtype=np.int64))


def drawn(seed: int, many: int, most: int = 8) -> Iterator[Drawn]:
    rng = random.Random(seed)
    while many:
        one = Drawn(rng, most)
        if any(value is not None for value, _ in one.people):
            many -= 1
            yield one


def test_what_everybody_can_have_and_how_likely_it_is_are_counts_of_all_worlds() -> None:
    for one in drawn(1, TABLES * 3):
        tuples = sorted(set(one.people), key=repr)
        shown = [
            [sorted({r.shows(t) for t in tuples}, key=repr).index(r.shows(t)) for t in tuples]
            for r in one.releases
        ]
        both = releases_of(
            [[-1 if g is None else g for g in r.groups] for r in one.releases],
            [tuples.index(t) for t in one.people],
            shown=shown,
        )
        possible = possible_worlds(both, Deadline(60))
        counted = counted_worlds(both, Deadline(60))
        rows, chances = fewest_rows(both, possible), greatest_chances(both, counted)
        assert possible.known.all() and counted.known.all()
        assert int(both.sizes.sum()) == len(one.people)
        for person, class_ in enumerate(both.class_of.tolist()):
            right = one.known[person]
            span = counted.of(class_)
            assert counted.shares is not None
            shares = {
                tuples[t]: share
                for t, share in zip(counted.tuples[span], counted.shares[span], strict=True)
            }
            total = sum(right.tuples.values())
            assert shares == {t: (Fraction(n, total),) * 2 for t, n in right.tuples.items()}
            assert {tuples[t] for t in possible.tuples[possible.of(class_)]} == set(right.tuples)
            assert (rows[class_], chances[class_]) == (right.rows, (right.chance,) * 2)


def parameters(kind: str, rng: random.Random) -> dict[str, Any]:
    """Parameters of a definition that can be asked about several releases."""
    third = rng.choice(["1/3", "0.5", "0.6", "0.75", "0.9"])
    if kind == "l-diversity":
        way = rng.choice(["distinct", "entropy", "recursive", "recursive"])
        found: dict[str, Any] = {"kind": way, "l": rng.choice([2, 2, 3])}
        if way == "entropy":
            found["l"] = rng.choice([1.5, 1.8, 2, 2.5])
        if way == "recursive":
            found["c"] = rng.choice([1, 2, 3, 0.5])
            if rng.random() < 0.4:
                found["dont_care"] = [rng.randint(1, 3)]
            if rng.random() < 0.4:
                found |= {"negative": [rng.randint(1, 3)], "c2": rng.choice([10, 25, 40])}
        return found
    return {
        "k-anonymity": {"k": rng.randint(2, 4)},
        "m-invariance": {"m": rng.randint(1, 3), "kind": "values"},
        "alpha-k": {"alpha": Fraction(third), "k": rng.randint(1, 3)},
        "k-e": {"k": rng.randint(1, 3), "e": rng.randint(0, 3)},
        "eps-m": {"epsilon": rng.randint(0, 2), "m": rng.choice([1, 1.5, 2])},
        "variance": {"v": rng.choice([0.1, 0.25, 0.5, 1])},
        "t-closeness": {"t": Fraction(third), "distance": rng.choice(["equal", "ordered"])},
        "c-k-safety": {"c": Fraction(third), "k": 0},
        "skyline": {"l": 0, "k": 0, "m": 0, "c": Fraction(third)},
        "rho1-rho2": {"rho1": Fraction(1, rng.randint(2, 4)), "rho2": Fraction(third)},
        "semantic": {"measure": {"positive": Fraction(third)}},
        "risk": {"at_most": Fraction(third), "attacker": rng.choice(["prosecutor", "marketer"])},
    }[kind]


ASKED = sorted(set(kinds_of("microdata")) - {"dissimilarity"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ASKED)
def test_a_definition_says_of_several_releases_what_all_worlds_say(kind: str) -> None:
    rng, seen = random.Random(len(kind)), Counter[str]()
    for one in drawn(ASKED.index(kind) + 2, TABLES):
        found = parameters(kind, rng)
        if kind == "rho1-rho2" and found["rho1"] >= found["rho2"]:
            continue
        table = Counter(value for value, _ in one.people if value is not None)
        exact = {key: Fraction(str(x)) if isinstance(x, float) else x for key, x in found.items()}
        verdict = answer_together(define(kind, found), one.joint(), "value")  # type: ignore[arg-type]
        breaks = fails_exactly(kind, exact, table)
        if found.get("attacker") == "marketer":
            mean = sum((person.chance for person in one.known), Fraction(0)) / len(one.known)
            breached = mean > found["at_most"]
            assert verdict.measured["risk"] == mean
        else:
            breached = any(breaks(person) for person in one.known)
        assert verdict.status == ("breached" if breached else "holds"), (
            one.people,
            one.releases,
            found,
            str(verdict),
        )
        seen[verdict.status] += 1
        if verdict.witness is not None and "known" in verdict.witness.personal:
            whom = verdict.witness.personal["known"]
            person = next(
                person
                for person in range(len(one.people))
                if all(
                    whom[f"r{at}"] == (-1 if r.groups[person] is None else r.groups[person])
                    for at, r in enumerate(one.releases)
                )
            )
            assert breaks(one.known[person])
            assert verdict.witness.facts["people_below"] == sum(map(breaks, one.known))
            assert set(verdict.witness.personal["possible"]) == set(one.known[person].values)
    assert min(seen["breached"], seen["holds"]) > TABLES / 50, seen


def with_bounds(rng: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing counted exactly: bounds as rounded numbers give them, wider ones, or none."""

    def averaged(part: OpenPart, job: Job, *, exact_steps: float) -> Expected | None:
        found = average_beliefs.counted(part, job)
        if rng.random() < 0.2:
            return None
        wide = Fraction(rng.choice([0, 1, 10**3, 10**6, 10**7]), 10**9)
        if found is None or not wide:
            return average_beliefs.averaged(part, job, exact_steps=0)
        return Expected(
            tuple(max(x - wide * rng.randint(0, 2), Fraction(0)) for x in found.low),
            tuple(x + wide * rng.randint(0, 2) for x in found.high),
        )

    monkeypatch.setattr(class_worlds, "averaged", averaged)
    monkeypatch.setattr(JointQuestion, "counted_exactly", property(lambda one: one.counted))


BELIEVED = [one for one in ASKED if one not in ("k-anonymity", "m-invariance", "k-e")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", BELIEVED)
def test_bounds_of_beliefs_say_nothing_that_all_worlds_do_not_say(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, seen = random.Random(len(kind)), Counter[str]()
    with_bounds(rng, monkeypatch)
    for one in drawn(ASKED.index(kind) + 60, TABLES):
        found = parameters(kind, rng)
        if (kind == "rho1-rho2" and found["rho1"] >= found["rho2"]) or found.get(
            "kind"
        ) == "distinct":
            continue
        table = Counter(value for value, _ in one.people if value is not None)
        exact = {key: Fraction(str(x)) if isinstance(x, float) else x for key, x in found.items()}
        definition: Any = define(kind, found)
        verdict = answer_together(definition, one.joint(), "value")
        quick = holds_together(definition, one.joint(), "value")
        if found.get("attacker") == "marketer":
            mean = sum((person.chance for person in one.known), Fraction(0)) / len(one.known)
            breached = mean > found["at_most"]
        else:
            breached = any(map(fails_exactly(kind, exact, table), one.known))
        assert verdict.status in ("undecided", "breached" if breached else "holds"), (
            one.people,
            one.releases,
            found,
            str(verdict),
        )
        assert quick in (None, not breached), (one.people, one.releases, found)
        seen[verdict.status] += 1
        seen[str(quick)] += 1
    assert min(seen["breached"], seen["holds"]) > TABLES / 50, seen
    assert seen["undecided"] < (seen["breached"] + seen["holds"]) / 2, seen


@pytest.mark.parametrize("kind", ASKED)
def test_evidence_about_several_releases_is_replayed_from_their_rows(kind: str) -> None:
    rng, seen = random.Random(5), Counter[str]()
    for one in drawn(ASKED.index(kind) + 40, TABLES // 10, most=6):
        found = parameters(kind, rng)
        if kind == "rho1-rho2" and found["rho1"] >= found["rho2"]:
            continue
        verdict = answer_together(define(kind, found), one.joint(), "value")  # type: ignore[arg-type]
        *others, rows = one.rows()
        published = {f"release {at}": some for at, some in enumerate(others)}
        quasi = [f"r{at}" for at in range(len(one.releases))]
        assert replay(verdict, rows, quasi, published=published), (one.people, one.releases, found)
        other = replace(verdict, status="holds", evidence=Certificate("worlds", facts(verdict)))
        if verdict.status == "breached" and found.get("attacker") != "marketer":
            assert not replay(other, rows, quasi, published=published)
        if verdict.status == "breached" and "possible" in (told := verdict.witness.personal):  # type: ignore[union-attr]
            wrong = Witness("person", facts(verdict), {**told, "possible": [*told["possible"], 9]})
            assert not replay(
                replace(verdict, evidence=wrong), rows, quasi, published=published
            ) or "sensitive" not in facts(verdict)
        seen[verdict.status] += 1
    assert min(seen["breached"], seen["holds"]), seen


def invariant(seed: int, many: int) -> Iterator[Drawn]:
    """Tables whose releases often keep the rows of everybody's groups."""
    rng = random.Random(seed)
    for one in drawn(seed, many):
        size = rng.randint(2, 4)
        values = [*range(1, size), rng.choice([size, size, size, None, 1])]
        one.people = [(value, rng.choice("xxxy")) for value in values] * 2
        swapped = [at if rng.random() < 0.5 else at + size for at in range(size)]
        april = [0] * size + [1] * size
        may = [int(at not in swapped) for at in range(size)]
        may += [1 - group for group in may]
        if rng.random() < 0.3:
            rng.shuffle(may)
        one.releases = [oracle.Release(april, [0, 1]), oracle.Release(may, [0, 1])]
        if rng.random() < 0.2:
            one.releases[0].groups = [None, *april[1:]]
        one.known = oracle.known(one.people, one.releases)
        yield one


def test_m_invariance_is_what_the_groups_show_and_leaves_m_values_equally_likely() -> None:
    seen = Counter[str]()
    for one in invariant(17, TABLES * 2):
        m, joint = 2, one.joint()
        definition = define("m-invariance", {"m": m, "kind": "unique"})
        verdict = answer_together(definition, joint, "value")  # type: ignore[arg-type]
        holds = all(person.signature >= m for person in one.known)
        assert verdict.status == ("holds" if holds else "breached"), (one.people, one.releases)
        assert verdict.measured["m"] == min(person.signature for person in one.known)
        assert holds_together(definition, joint, "value") == holds  # type: ignore[arg-type]
        *others, rows = one.rows()
        published = {f"release {at}": some for at, some in enumerate(others)}
        quasi = [f"r{at}" for at in range(len(one.releases))]
        assert replay(verdict, rows, quasi, published=published)
        if holds:
            for person in one.known:
                assert len(set(person.values.values())) == 1 and len(person.values) >= m
        seen[verdict.status] += 1
    assert min(seen["breached"], seen["holds"]) > TABLES / 5, seen


def test_m_invariance_compares_whole_rows() -> None:
    one = next(
        one
        for one in drawn(19, 99)
        if len({one.releases[0].shows(person) for person in one.people}) < len({*one.people})
    )
    with pytest.raises(DataError, match="whole rows"):
        answer_together(define("m-invariance", {"m": 2}), one.joint(), "value")  # type: ignore[arg-type]


def facts(verdict: Verdict) -> Mapping[str, Any]:
    assert not isinstance(verdict.evidence, Reason)
    return verdict.evidence.facts


def test_rows_that_are_not_of_the_same_people_are_an_error() -> None:
    [one] = drawn(3, 1)
    verdict = answer_together(define("k-anonymity", {"k": 2}), one.joint(), "value")  # type: ignore[arg-type]
    first, *_, rows = one.rows()
    quasi, names = [f"r{at}" for at in range(len(one.releases))], facts(verdict)["releases"][:-1]
    with pytest.raises(ParameterError, match="the rows of release 0 are not given"):
        replay(verdict, rows, quasi)
    with pytest.raises(ParameterError, match="different numbers of people"):
        replay(verdict, rows[1:], quasi, published=dict.fromkeys(names, first))
    other = [{**row, "value": 77} if row else row for row in first]
    with pytest.raises(ParameterError, match="another value in one release"):
        replay(verdict, rows, quasi, published=dict.fromkeys(names, other))


def fails_exactly(kind: str, found: Mapping[str, Any], table: Mapping[Any, int]) -> Any:
    """The oracle with exact parameters."""
    given = {key: x for key, x in found.items() if not isinstance(x, Fraction)}
    shares = {key: x for key, x in found.items() if isinstance(x, Fraction)}
    if "measure" in found:
        shares["c"] = found["measure"]["positive"]
    return oracle.fails(kind, {**given, **shares}, table)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ASKED)
def test_of_one_release_both_ways_to_ask_say_the_same(kind: str) -> None:
    rng = random.Random(7)
    for one in drawn(99, TABLES // 2):
        found = parameters(kind, rng)
        if kind == "rho1-rho2" and found["rho1"] >= found["rho2"]:
            continue
        joint = one.joint()
        alone = JointQuestion(joint.asked, joint.copies[-1:], joint.base, joint.columns)
        definition = define(kind, found)
        expected = definition.check(alone.asked, sensitive="value")
        verdict = answer_together(definition, alone, "value")  # type: ignore[arg-type]
        assert verdict.status == expected.status
        if not expected.vacuous and not verdict.vacuous:
            assert dict(verdict.measured) == dict(expected.measured), (found, one.people)


def of(groups: Sequence[Sequence[int]], values: Sequence[str]) -> Any:
    """Releases by their groups of people, who have these values."""
    numbered = [
        [next(at for at, members in enumerate(release) if person in members) for person in range(8)]
        for release in groups  # type: ignore[union-attr]
    ]
    return releases_of(numbered, [sorted(set(values)).index(value) for value in values])


def test_matching_people_to_rows_is_not_enough_for_k_anonymity() -> None:
    april = [{0, 2, 6}, {1, 3, 4, 5, 7}]
    may = [{0, 2, 4}, {1, 3, 5, 6, 7}]
    both = of([april, may], ["b", "b", "a", "b", "a", "c", "b", "a"])  # type: ignore[list-item]
    rows = fewest_rows(both, possible_worlds(both, Deadline(60)))
    assert [person + 1 for person in range(8) if rows[both.class_of[person]] == 2] == [5, 7]
    assert rows.min() == 2


@pytest.mark.parametrize(
    ("kind", "found", "why"),
    [
        ("dissimilarity", {"epsilon": 1, "delta": 0.1, "k": 1}, "others of one group"),
        ("c-k-safety", {"c": 0.5, "k": 1}, "implications"),
        ("skyline", {"l": 1, "k": 0, "m": 0, "c": 0.5}, "further knowledge"),
        ("semantic", {"measure": {"positive": 0.5}, "against": {"negations": 1}}, "knowledge"),
        ("risk", {"at_most": 0.5, "attacker": "journalist", "population": "p"}, "population"),
        ("k-anonymity", {"k": 2, "missing": "match-any"}, "overlap"),
    ],
)
def test_what_is_not_defined_for_several_releases_says_why(
    kind: str, found: dict[str, Any], why: str
) -> None:
    [one] = drawn(5, 1)
    with pytest.raises(DataError, match=why):
        answer_together(define(kind, found), one.joint(), "value")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ASKED)
def test_a_search_decides_as_the_verdict_does(kind: str) -> None:
    rng = random.Random(3)
    for one in drawn(77, TABLES // 2):
        found = parameters(kind, rng)
        if kind == "rho1-rho2" and found["rho1"] >= found["rho2"]:
            continue
        definition, joint = define(kind, found), one.joint()
        expected = answer_together(definition, joint, "value")  # type: ignore[arg-type]
        decided = holds_together(definition, joint, "value")  # type: ignore[arg-type]
        assert decided == (expected.status == "holds")


@pytest.mark.parametrize("kind", ["l-diversity", "alpha-k", "t-closeness", "risk", "c-k-safety"])
def test_where_worlds_are_not_counted_nothing_is_claimed_that_is_not_so(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tacit.families.microdata.definitions.together.class_worlds.averaged",
        lambda part, job, exact_steps: None,
    )
    rng, seen = random.Random(11), Counter[str]()
    for one in drawn(41, 200):
        found = parameters(kind, rng)
        if found.get("attacker") == "marketer" or found.get("kind") == "distinct":
            continue
        table = Counter(value for value, _ in one.people if value is not None)
        exact = {key: Fraction(str(x)) if isinstance(x, float) else x for key, x in found.items()}
        breached = any(map(fails_exactly(kind, exact, table), one.known))
        verdict = answer_together(define(kind, found), one.joint(), "value")  # type: ignore[arg-type]
        assert verdict.status in ("undecided", "breached" if breached else "holds")
        assert verdict.reason is None or verdict.reason.code == "too-many"
        seen[verdict.status] += 1
    # In so small tables most that fail by both copies fail by one of them, too.
    assert seen["undecided"] or kind in ("l-diversity", "c-k-safety"), seen
    assert seen["breached"] or kind == "risk", seen


@pytest.mark.parametrize("kind", ["l-diversity", "k-anonymity", "alpha-k"])
def test_what_is_too_large_to_look_at_is_undecided_or_right(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("joined_releases", "decision"):
        monkeypatch.setattr(
            f"tacit.families.microdata.definitions.together.{module}.MOST_CELLS", 20
        )
    rng, seen = random.Random(13), Counter[str]()
    for one in drawn(43, 200):
        found = parameters(kind, rng)
        table = Counter(value for value, _ in one.people if value is not None)
        exact = {key: Fraction(str(x)) if isinstance(x, float) else x for key, x in found.items()}
        right = "breached" if any(map(fails_exactly(kind, exact, table), one.known)) else "holds"
        definition, joint = define(kind, found), one.joint()
        verdict = answer_together(definition, joint, "value")  # type: ignore[arg-type]
        assert verdict.status in ("undecided", right)
        decided = holds_together(definition, joint, "value")  # type: ignore[arg-type]
        assert decided in (None, right == "holds")
        seen[verdict.status] += 1
    assert all(seen[status] for status in ("undecided", "holds", "breached")), seen
