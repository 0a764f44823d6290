"""A waiver accepts what does not hold, for a time; it changes no status, and nothing that goes out."""  # noqa: E501

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tacit.checking.assess import assess
from tacit.errors import TacitError
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.plan.read.load import load_plan
from tacit.report.formats import FORMATS, render
from tacit.report.formats.findings import FAILS_ON, find
from tacit.report.html import page

PLAN = """version: 1
tables:
  people: {columns: {zip: text, age: integer, ill: text}, rows: [["1", 30, flu], ["1", 30, cold]], quasi-identifiers: [zip, age], sensitive: [ill]}
releases: {april: {table: people}}
checks:
- k-anonymity: {release: april, k: 2, name: twos}
- k-anonymity: {release: april, k: 3, name: threes}
waive:
- {check: threes, reason: "the board <agreed>", by: A. Bee, until: 2030-01-31}
"""  # noqa: E501
LAST, AFTER = date(2030, 1, 31), date(2030, 2, 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "tacit.yaml"
    path.write_text(PLAN)
    return path


def test_a_waived_check_keeps_its_status_and_does_not_count(plan: Path) -> None:
    found = assess(load_plan(plan), today=LAST)
    assert [one.status for one in found] == ["holds", "breached"]
    assert found.exit_status == 0
    waived = found.to_json()["verdicts"][1]["waived"]
    assert waived == {"reason": "the board <agreed>", "by": "A. Bee", "until": "2030-01-31"}
    assert "waived" not in found.to_json()["verdicts"][0]


def test_a_waiver_that_ended_counts_as_none_and_is_named(plan: Path) -> None:
    found = assess(load_plan(plan), today=AFTER)
    assert found.exit_status == 1 and found["threes"].waived is None
    assert "the waiver by A. Bee ended on 2030-01-31 and does not count" in str(found)


def test_every_format_names_a_waiver_that_ended(plan: Path) -> None:
    loaded = load_plan(plan)
    found = assess(loaded, today=LAST + timedelta(days=1))
    findings = find(loaded, loaded.checks, found.verdicts, FAILS_ON["undecided"], 0)
    for name in FORMATS:
        assert "the waiver by A. Bee ended on 2030-01-31" in render(name, findings), name


def test_a_waiver_of_what_holds_is_noted_as_not_needed(plan: Path) -> None:
    plan.write_text(PLAN.replace("check: threes", "check: twos"))
    found = assess(load_plan(plan), today=LAST)
    assert found["twos"].waived is None and "is not needed" in found["twos"].warnings[0]
    assert found.exit_status == 1


def test_nobody_waives_what_tacit_itself_got_wrong(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.delenv("TACIT_DEBUG", raising=False)
    monkeypatch.setattr(KAnonymity, "check", broken)
    assert assess(load_plan(plan), today=LAST).exit_status == 70


def test_every_output_shows_the_waiver(tacit: Any, plan: Path) -> None:
    loaded = load_plan(plan)
    found = assess(loaded, today=LAST)
    findings = find(loaded, loaded.checks, found.verdicts, FAILS_ON["undecided"], 0)
    said = {name: render(name, findings) for name in FORMATS}
    assert all("aived by A. Bee until 2030-01-31" in text for text in said.values())
    assert "suppressions" in said["sarif"] and "::notice" in said["github"]
    assert 'failures="0"' in said["junit"] and "meet the checks" not in said["markdown"]
    text = page.render(found, "shared")
    assert "breached, waived" in text and "1 check waived" in text
    assert "the board &lt;agreed&gt;" in text and "DO NOT RELEASE" not in text
    assert list(found.to_frame()["waived"]) == [
        "",
        "Waived by A. Bee until 2030-01-31: the board <agreed>",
    ]
    printed = tacit("check", str(plan))
    assert printed.status == 0 and "Waived by A. Bee until 2030-01-31" in printed.out


def test_the_ledger_ignores_waivers(tacit: Any, plan: Path) -> None:
    refused = tacit("ledger", "record", "april", "--plan", str(plan), "--to", "authors", "--json")
    assert refused.status == 1
    assert all("waived" not in one for one in refused.json["verdicts"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("check: threes", "check: thres", "no check is named 'thres'. Did you mean"),
        ("2030-01-31", "soon", "found 'soon' in 'until'"),
        ("2030-01-31", "2030-02-31", "found '2030-02-31' in 'until'"),
        (", by: A. Bee", "", "needs the key 'by'"),
        ("reason:", "why:", "unknown key 'why'"),
        (PLAN.splitlines()[-1], "\n".join([PLAN.splitlines()[-1]] * 2), "'threes' is waived twice"),
    ],
)
def test_a_wrong_waiver_is_refused_at_its_place(plan: Path, old: str, new: str, said: str) -> None:
    plan.write_text(PLAN.replace(old, new))
    with pytest.raises(TacitError) as error:
        load_plan(plan)
    assert said in str(error.value) and "tacit.yaml:9" in str(error.value).replace(":10", ":9")
