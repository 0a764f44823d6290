"""Checks are answered one by one: a mistake of ours in one of
them leaves the others as they are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tacit.checking.assess import assess
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.model.jobs import Cancelled
from tacit.plan.read.load import load_plan

PLAN = """version: 1
tables:
  people: {columns: {zip: text, age: integer, ill: text}, rows: [["1", 30, flu], ["1", 30, cold]], quasi-identifiers: [zip, age], sensitive: [ill]}
releases: {april: {table: people}}
checks:
- l-diversity: {release: april, kind: distinct, l: 2}
- k-anonymity: {release: april, k: 2, name: broken}
- l-diversity: {release: april, kind: distinct, l: LEAST, name: last}
"""  # noqa: E501


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError("the secret value 4711")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("TACIT_DEBUG", raising=False)
    path = tmp_path / "tacit.yaml"
    path.write_text(PLAN.replace("LEAST", "3"))
    return path


def test_a_check_that_goes_wrong_inside_is_undecided_and_the_others_are_answered(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KAnonymity, "check", broken)
    found = assess(load_plan(plan))
    assert [one.status for one in found] == ["holds", "undecided", "breached"]
    assert found["broken"].reason is not None and found["broken"].reason.code == "internal"
    assert found["broken"].subject == {"release": "april"} and "4711" not in json.dumps(
        found.to_json()
    )
    assert found.exit_status == 70


def test_70_wins_over_1_and_3_and_json_has_every_verdict(
    tacit: Any, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KAnonymity, "check", broken)
    for least, status in (("3", "breached"), ("2", "holds")):
        plan.write_text(PLAN.replace("LEAST", least))
        ran = tacit("check", str(plan), "--json")
        assert ran.status == 70
        assert [one["status"] for one in json.loads(ran.out)["verdicts"]] == [
            "holds",
            "undecided",
            status,
        ]
    ran = tacit("check", str(plan))
    assert ran.status == 70 and "Tacit itself went wrong: ZeroDivisionError" in " ".join(
        ran.out.split()
    )


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt, Cancelled, OSError("the disk is full"), RuntimeError("Query interrupted")],
)
def test_who_stops_the_work_stops_all_of_it(
    error: Any, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(KAnonymity, "check", stopped)
    with pytest.raises(error if isinstance(error, type) else type(error)):
        assess(load_plan(plan))
