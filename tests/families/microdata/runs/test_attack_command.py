"""`tacit attack` as a user runs it:
the demo's stories, one person's story, errors, and what is left out.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit import cli, demo
from tacit.errors import InputError
from tacit.families.microdata.runs.attack import attack
from tacit.plan.read.load import load_plan

PERSONAL = (
    "Bruce",
    "Umeko",
    "Tom",
    "Cancer",
    "Heart",
    "Viral",
    "13053",
    "13068",
    "American",
    "Japanese",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    demo.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["tacit", *arguments])
    return cli.run()


def test_bruce_is_in_a_group_of_one_condition(folder: Path) -> None:
    story = attack(load_plan("tacit.yaml"), "april")["homogeneity"]
    assert story.person and story.person.identity == {"name": "Bruce"}
    assert (story.value, story.before, story.after, story.people) == (
        "Cancer",
        Fraction(5, 12),
        1,
        4,
    )


def test_umeko_is_known_to_whoever_rules_out_heart_disease(folder: Path) -> None:
    story = attack(load_plan("tacit.yaml"), "april", target="Umeko")["background knowledge"]
    assert (story.value, story.facts["negations"]) == ("Viral Infection", 1)
    assert [step.belief for step in story.steps] == [Fraction(1, 3), Fraction(1, 2), 1]
    assert story.steps[-1].knowing == "ruling out that Umeko has Heart Disease"


def test_may_needs_two_negations_and_its_levels_give_nothing_away(folder: Path) -> None:
    found = attack(load_plan("tacit.yaml"), "may")
    assert found["background knowledge"].facts["negations"] == 2
    assert found["minimality"].reason is None
    assert found["minimality"].before == found["minimality"].after == Fraction(1, 2)


def test_the_json_has_the_stories(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "attack", "april", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["release"] == "april" and document["seconds"] >= 0
    first = document["stories"][0]
    assert (first["attack"], first["person"], first["value"]) == (
        "homogeneity",
        {"name": "Bruce"},
        "Cancer",
    )
    assert (first["before"], first["after"], first["people"]) == ("5/12", "1", "4")
    assert [one["attack"] for one in document["stories"]] == [
        "homogeneity",
        "background knowledge",
        "linking",
        "minimality",
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("more", [(), ("--target", "Umeko"), ("--link", "voters.csv")])
@pytest.mark.parametrize("as_json", [True, False])
def test_a_shared_audience_sees_no_personal_values(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    as_json: bool,
) -> None:
    (folder / "voters.csv").write_text("name,zip,age\nBruce,13053,31\nTom,13068,21\n", "utf-8")
    page = folder / "attack.html"
    form = ("--json",) if as_json else ()
    for release in ("april", "may"):
        assert (
            run(
                monkeypatch,
                "attack",
                release,
                "--audience",
                "shared",
                "--report",
                str(page),
                *form,
                *more,
            )
            == 0
        )
        text = capsys.readouterr().out + page.read_text("utf-8")
        assert not [word for word in PERSONAL if word in text]


def test_the_page_tells_the_stories_and_loads_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "attack", "april", "--target", "Umeko", "--report", "attack.html") == 0
    text = Path("attack.html").read_text("utf-8")
    assert "ruling out that Umeko has Heart Disease" in text and "Owner's view" in text
    assert "<script" not in text and not re.search(r'(?:src|href)="(?!#)', text)


def test_the_outside_table_is_matched_with_fewer_columns(folder: Path) -> None:
    Path("voters.csv").write_text(
        "voter,zip,age\nBob,13053,31\nZoe,14853,50\nAmy,99999,3\n", "utf-8"
    )
    story = attack(load_plan("tacit.yaml"), "april", link=Path("voters.csv"))["linking"]
    assert story.facts["matched"] == 2 and story.facts["unlisted"] == 1
    assert story.person and story.person.identity == {"voter": "Bob"}
    assert (story.value, story.before, story.after, story.facts["certain"]) == (
        "Cancer",
        Fraction(5, 12),
        1,
        1,
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"release": "apri"}, "no release 'apri'. Did you mean 'april'"),
        (
            {"target": "Nobody"},
            "none of the 12 people of table inpatients has this value. It is looked up by name",
        ),
        ({"sensitive": "conditon"}, "no such sensitive column. Did you mean 'condition'"),
        ({"link": Path("none.csv")}, "there is no file none.csv"),
        ({"link": Path("zip.csv")}, "none of the quasi-identifiers"),
    ],
)
def test_wrong_input_says_what_to_write(folder: Path, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        attack(load_plan("tacit.yaml"), arguments.pop("release", "april"), **arguments)
    assert said in str(error.value)
    assert not [word for word in PERSONAL if word in str(error.value)]


@pytest.mark.parametrize(
    "wrong", [("apri",), ("april", "--target", "Nobody"), ("april", "--threshold", "7")]
)
def test_wrong_input_exits_with_two(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wrong: tuple[str, ...],
) -> None:
    assert run(monkeypatch, "attack", *wrong, "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["message"]


def test_salaries_are_nearly_known(tmp_path: Path) -> None:
    rows = [
        ["a", 30, 100000],
        ["b", 30, 99000],
        ["c", 31, 101500],
        ["d", 32, 100500],
        ["e", 33, 40000],
        ["f", 50, 0],
    ]
    plan = tmp_path / "tacit.yaml"
    plan.write_text(
        json.dumps(
            {
                "version": 1,
                "tables": {
                    "staff": {
                        "columns": ["name", "age", "salary"],
                        "rows": rows,
                        "person": ["name"],
                        "identifiers": ["name"],
                        "quasi-identifiers": ["age"],
                        "sensitive": ["salary"],
                        "hierarchies": {"age": {"ranges": [10]}},
                    }
                },
                "releases": {"r": {"table": "staff", "generalization": {"age": 1}}},
                "checks": [{"eps-m": {"release": "r", "epsilon": 2000, "m": 1}}],
            }
        ),
        "utf-8",
    )
    story = attack(load_plan(plan), "r", target="a")["proximity"]
    assert (story.before, story.after, story.facts["within"]) == (
        Fraction(4, 6),
        Fraction(4, 5),
        2000,
    )
    assert story.text and "earns 100,000 give or take 2,000" in story.text


def test_somebody_without_a_value_has_no_true_value_to_believe_in(tmp_path: Path) -> None:
    plan = tmp_path / "tacit.yaml"
    plan.write_text(
        "version: 1\n"
        "tables: {t: {columns: [name, age, illness], rows: [[a, 30, flu], [b, 30, null], [c, 40, "
        "cold]],\n"
        "  person: [name], identifiers: [name], quasi-identifiers: [age], sensitive: [illness]}}\n"
        "releases: {r: {table: t}, f: {table: t, file: released.csv}}\n",
        "utf-8",
    )
    found = attack(load_plan(plan), "r", target="b")
    assert found["homogeneity"].text and "has no illness of b" in found["homogeneity"].text
    assert not found.path("illness")
    (tmp_path / "released.csv").write_text("age,illness\n30-39,flu\n30-39,cold\n", "utf-8")
    story = attack(load_plan(plan), "f")["minimality"]
    assert story.reason == "the release is a file, and its levels are not known"
    with pytest.raises(InputError, match="nobody can be looked up"):
        attack(load_plan(plan), "f", target="a")
