"""The people of a release a page at a time, against a plain walk through the rows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from asking import Desk, question
from services import ENGINES, open_kind
from tacit.engines.open import open_engine
from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.reading.source import MicrodataSource, count_table
from tacit.families.microdata.runs.roster import ListedPerson, Roster, roster_of
from tacit.model.schema import Table
from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan

Row = dict[str, Any]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


def some_rows(rng: random.Random, *, several: bool) -> list[Row]:
    def one(number: int) -> Row:
        return {
            "name": f"p{rng.randrange(8) if several else number:02}",
            "age": rng.choice((21, 22, 23, None)),
            "sex": rng.choice("fm"),
            "ill": rng.choice(("flu", "cold", "cough", None)),
        }

    return [one(number) for number in range(rng.randint(1, 25))]


def expected(rows: Sequence[Row], named: bool) -> Counter[tuple[Any, ...]]:
    """Everybody with their group's size and the shares of their value before and after;
    `sex` is not released.
    """
    people = {tuple(row.items()): row for row in rows}.values() if named else rows
    ill = (
        [
            one["ill"]
            for one in {(row["name"], row["ill"]): row for row in rows}.values()
            if one["ill"] is not None
        ]
        if named
        else [row["ill"] for row in rows if row["ill"] is not None]
    )
    known_people = (
        len({row["name"] for row in rows if row["ill"] is not None}) if named else len(ill)
    )
    found: Counter[tuple[Any, ...]] = Counter()
    for row in people:
        group = [one for one in rows if one["age"] == row["age"]]
        who = {one["name"] for one in group} if named else group
        known = (
            {one["name"] for one in group if one["ill"] is not None}
            if named
            else [one for one in group if one["ill"] is not None]
        )
        same = (
            {one["name"] for one in group if one["ill"] == row["ill"]}
            if named
            else [one for one in group if one["ill"] == row["ill"]]
        )
        gone = row["ill"] is None
        before, after = (
            (None, None)
            if gone
            else (Fraction(ill.count(row["ill"]), known_people), Fraction(len(same), len(known)))
        )
        found[row["name"], row["age"], row["sex"], row["ill"], len(who), before, after] += 1
    return found


def line(one: ListedPerson) -> tuple[Any, ...]:
    return (
        one.person.identity["name"],
        one.person.known["age"],
        one.person.known["sex"],
        one.value,
        one.size,
        one.before,
        one.after,
    )


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
def test_everybody_is_listed_once_and_the_most_exposed_first(desk: Desk, several: bool) -> None:
    for seed in range(40):
        rng = random.Random(seed)
        rows = some_rows(rng, several=several)
        with desk.counted(
            rows, quasi=["age", "sex"], sensitive=["ill"], person=["name"], hierarchies={"sex": "*"}
        ) as counted:
            if not counted.base.dictionaries["ill"]:
                continue
            # Where people have several rows a person counts once in what a group or table has.
            roster = Roster(AttackScene(question(counted, {"sex": 1}), "ill"), desk.engine)
            size = rng.randint(1, 9)
            pages = [
                roster.most_exposed(offset, size) for offset in range(0, roster.total + size, size)
            ]
            found = [one for page in pages for one in page]
            assert all(len(page) == size for page in pages[: roster.total // size])
            assert Counter(map(line, found)) == expected(
                rows, named=counted.base.persons is not None
            )
            shares = [one.after if one.after is not None else -1 for one in found]
            assert shares == sorted(shares, reverse=True)
            for group in {one.group for one in found} if not several else ():
                some = {one.identity["name"] for one in roster.some_of(group, 3)}
                known = {
                    one.person.identity["name"]
                    for one in found
                    if one.group == group and one.value is not None
                }
                assert some <= known and len(some) == min(3, len(known))
            text = rng.choice(("", "p", "P0", "1", "p03", "x"))
            matching = {one for one in map(line, found) if text.lower() in one[0]}
            assert set(map(line, roster.search(text))) == matching


def test_people_without_a_name_are_listed_by_what_is_known_of_them(desk: Desk) -> None:
    for seed in range(20):
        rng = random.Random(seed)
        rows = [
            {key: value for key, value in row.items() if key != "name"}
            for row in some_rows(rng, several=False)
        ]
        with desk.counted(rows, quasi=["age", "sex"], sensitive=["ill"]) as counted:
            if not counted.base.dictionaries["ill"]:
                continue
            roster = Roster(AttackScene(question(counted), "ill"), desk.engine)
            found = roster.most_exposed(0, 100)
            alike = Counter((row["age"], row["sex"], row["ill"]) for row in rows)
            assert {
                (one.person.known["age"], one.person.known["sex"], one.value): one.alike
                for one in found
            } == alike
            assert len(found) == roster.total
            fives = {
                (one.person.known["age"], one.person.known["sex"], one.value)
                for one in roster.search("22 f")
            }
            assert fives == {one for one in alike if one[:2] == (22, "f")}


def test_spellings_and_unknown_words_are_found_as_the_data_have_them(desk: Desk) -> None:
    rows = [
        {"name": f"p{i}", "age": 1, "sex": "f", "ill": ill}
        for i, ill in enumerate(["flu", "Flu", "cold", "?", None, "n/a"])
    ]
    with desk.counted(rows, quasi=["age", "sex"], sensitive=["ill"], person=["name"]) as counted:
        given = question(counted)
        assert given.stricter is not None
        roster = Roster(AttackScene(given.stricter, "ill"), desk.engine, ["?", "n/a"])
        assert roster.total == 6
        found = [one for at in range(6) for one in roster.most_exposed(at, 1)]
        assert [(one.person.identity["name"], one.value) for one in found] == [
            ("p0", "Flu"),
            ("p1", "Flu"),
            ("p2", "cold"),
            ("p3", None),
            ("p4", None),
            ("p5", None),
        ]
        assert found[0].after == Fraction(2, 3) and found[3].after is None
        assert [one.person.identity["name"] for one in roster.search("p")] == [
            f"p{i}" for i in range(6)
        ]


def test_a_roster_is_made_from_a_plan(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  people:\n"
        "    person: [place]\n"
        "    quasi-identifiers: [n]\n"
        "    sensitive: [key]\n"
        "    columns: [place, n, key]\n"
        "    rows: [[Ann, 1, flu], [Bob, 1, '?'], [Cleo, 2, cold], [Dan, 2, Flu]]\n"
        "releases:\n"
        "  all: {table: people, generalization: {n: 0}}\n"
        "checks:\n"
        "  - k-anonymity: {release: all, k: 2}\n"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        roster = roster_of(MicrodataSource(plan, engine), "all", "key")
        found = roster.most_exposed(0, 9)
        assert [(one.person.identity["place"], one.value, one.after) for one in found] == [
            ("Ann", "Flu", 1),
            ("Cleo", "cold", Fraction(1, 2)),
            ("Dan", "Flu", Fraction(1, 2)),
            ("Bob", None, None),
        ]
        assert [one.person.identity["place"] for one in roster.search("a")] == ["Ann", "Dan"]


ODD = Table(
    "odd",
    columns={
        "name": None,
        "born": "date",
        "paid": "decimal",
        "old": "boolean",
        "age": "integer",
        "ill": None,
    },
    rows=(
        ("it's", date(1990, 1, 2), Decimal("1.50"), True, 31, "Flu"),
        ("Äda", date(1990, 1, 2), Decimal("1.50"), True, 31, "Flu"),
        ("b\\c", None, Decimal("-2"), False, None, "?"),
        ("Zoe", None, Decimal("-2"), False, None, None),
        ("a%", date(1990, 1, 2), None, None, 7, "cold"),
    ),
    keys=(("name",),),
    identifiers=("name",),
    quasi_identifiers=("born", "paid", "old", "age"),
    sensitive=("ill",),
)


@pytest.mark.parametrize("kind", ENGINES)
def test_the_same_people_are_found_on_every_engine(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with open_kind(kind, request) as engine:
        engine.attach(ODD)
        asked = question(count_table(engine, ODD, Plan("tests", tmp_path, mark=lambda *path: None)))
        assert asked.stricter is not None
        roster = Roster(AttackScene(asked.stricter, "ill"), engine, ["?"])
        found = [one for at in range(0, 6, 2) for one in roster.most_exposed(at, 2)]
        assert [(one.person.identity["name"], one.value, one.after) for one in found] == [
            ("a%", "cold", 1),
            ("it's", "Flu", 1),
            ("Äda", "Flu", 1),
            ("Zoe", None, None),
            ("b\\c", None, None),
        ]
        assert found[1].person.known == {
            "born": date(1990, 1, 2),
            "paid": Decimal("1.50"),
            "old": True,
            "age": 31,
        }
        for text, names in {
            "'": ["it's"],
            "%": ["a%"],
            "\\": ["b\\c"],
            "ZO": ["Zoe"],
            "": ["a%", "Zoe", "b\\c", "Äda", "it's"],
        }.items():
            assert [one.person.identity["name"] for one in roster.search(text)] == names, text
        assert {one.identity["name"] for one in roster.some_of(found[1].group, 5)} == {
            "it's",
            "Äda",
        }
