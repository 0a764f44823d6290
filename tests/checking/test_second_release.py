"""A second generalized copy of one table, judged for those who have the first."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit
from checking.keeping import plan_of
from tacit.checking.assess import assess
from tacit.errors import ParameterError
from tacit.families.microdata.definitions.replay.replay import replay
from tacit.model.verdict import Verdict

PLAN: dict[str, Any] = {
    "version": 1,
    "tables": {
        "patients": {
            "columns": ["name", "age", "zone", "condition", "ward"],
            "rows": [
                ["Ann", 21, "A1", "flu", 1],
                ["Bob", 24, "A2", "asthma", 1],
                ["Cat", 22, "B1", "asthma", 1],
                ["Dan", 27, "B2", "asthma", 1],
                ["Eve", 33, "A1", "gout", 1],
                ["Fay", 38, "A2", "flu", 1],
                ["Gus", 31, "B1", "gout", 1],
                ["Hal", 36, "B2", "asthma", 1],
            ],
            "identifiers": ["name"],
            "quasi-identifiers": ["age", "zone"],
            "sensitive": ["condition"],
            "hierarchies": {"age": {"ranges": [10]}, "zone": {"mask": "right"}},
        }
    },
    "releases": {
        "april": {"table": "patients", "generalization": {"age": 1, "zone": 2}},
        "may": {"table": "patients", "generalization": {"age": 2, "zone": 1}},
    },
    "published": ["april"],
    "checks": [{"l-diversity": {"release": "may", "kind": "distinct", "l": 2}}],
}
APRIL = "age,zone,condition\n" + "".join(
    f"{'20-29' if age < 30 else '30-39'},*,{condition}\n"
    for _, age, _, condition, _ in PLAN["tables"]["patients"]["rows"]
)
Judge = Callable[..., Verdict]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """The verdict of the plan with something changed, and files beside it."""

    def judged(change: Callable[[dict[str, Any]], None] = lambda plan: None, **files: str) -> Any:
        plan = copy.deepcopy(PLAN)
        change(plan)
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text, "utf-8")
        [found] = assess(plan_of(plan, tmp_path)).verdicts
        return found

    return judged


def test_a_breach_names_the_person_the_groups_and_what_is_left(judge: Judge) -> None:
    found = judge()
    assert found.status == "breached" and found.measured == {"l": 1}
    assert found.subject == {"release": "may", "given": ["april"]}
    assert found.witness is not None and found.witness.facts["people_below"] == 2
    assert found.witness.personal["possible"] == ["asthma"]
    assert found.witness.personal["groups"] == {
        "april": {"age": "20-29", "zone": "*"},
        "may": {"age": "*", "zone": "B*"},
    }
    assert found.story is not None and "Cat" in found.story and "april and may" in found.story
    assert "Cat" not in str(found.to_json("shared"))


def test_without_a_key_a_row_is_one_person_in_every_release_and_the_verdict_says_so(
    judge: Judge,
) -> None:
    def with_key(plan: dict[str, Any]) -> None:
        plan["tables"]["patients"]["key"] = ["name"]

    assert "same-rows" in [one.id for one in judge().assumptions]
    assert "same-rows" not in [one.id for one in judge(with_key).assumptions]


def test_what_was_published_may_be_a_file_whose_levels_are_found(judge: Judge) -> None:
    def as_file(plan: dict[str, Any]) -> None:
        plan["releases"]["april"] = {"table": "patients", "file": "april.csv"}

    found = judge(as_file, april=APRIL)
    assert found.status == "breached" and found.measured == {"l": 1}
    assert found.witness is not None and found.witness.facts["people_below"] == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (APRIL.replace("20-29,*,flu", "20-29,*,gout"), "stands once in the file and 0 times"),
        (APRIL.replace("20-29", "20s"), "'20s' is a label of no level"),
        ("\n".join(APRIL.splitlines()[:-1]), "has 7 rows, and table patients 8"),
        (APRIL.replace("age,", "name,"), "has a column 'name'"),
    ],
)
def test_a_published_file_that_does_not_fit_the_table_is_said_to(
    judge: Judge, text: str, why: str
) -> None:
    def as_file(plan: dict[str, Any]) -> None:
        plan["releases"]["april"] = {"table": "patients", "file": "april.csv"}

    found = judge(as_file, april=text)
    assert found.status == "undecided" and found.reason is not None
    assert found.reason.code == "does-not-compose" and why in found.reason.text


def test_a_copy_of_another_table_whose_rows_are_tied_to_these_is_not_taken_for_one(
    judge: Judge,
) -> None:
    def tied(plan: dict[str, Any]) -> None:
        plan["tables"]["visits"] = {
            "columns": ["name", "day"],
            "rows": [["Ann", 1], ["Bob", 2]],
            "quasi-identifiers": ["name"],
            "sensitive": ["day"],
        }
        plan["constraints"] = ["visits(n, d) -> patients(n, a, z, c, w)"]
        plan["releases"]["april"] = {"table": "visits"}
        plan["checks"] = [{"k-anonymity": {"release": "may", "k": 2}}]

    found = judge(tied)
    assert found.status == "undecided" and found.reason is not None
    assert "it is a release of visits, not of patients" in found.reason.text


def test_values_that_may_mean_unknown_are_judged_under_every_reading(judge: Judge) -> None:
    def unsure(plan: dict[str, Any]) -> None:
        for row in plan["tables"]["patients"]["rows"]:
            row[3] = {"gout": "?"}.get(row[3], row[3])
        plan["published"] = []
        plan["releases"]["april"]["generalization"] = {"age": 2, "zone": 2}

    def told(plan: dict[str, Any]) -> None:
        unsure(plan)
        plan["published"] = ["april"]

    alone, found = judge(unsure), judge(told)
    assert (found.status, found.measured) == (alone.status, alone.measured)
    assert "of 2 readings" in found.because


def test_a_finer_second_release_says_all_that_both_say(judge: Judge) -> None:
    def finer(plan: dict[str, Any]) -> None:
        plan["releases"]["april"]["generalization"] = {"age": 2, "zone": 2}

    def alone(plan: dict[str, Any]) -> None:
        plan["published"] = []

    for kind, asked in {
        "l-diversity": {"kind": "entropy", "l": 1.5},
        "k-anonymity": {"k": 2},
        "t-closeness": {"t": 0.5},
        "risk": {"at-most": 0.3},
    }.items():

        def both(plan: dict[str, Any], kind: str = kind, asked: Any = asked) -> None:
            finer(plan)
            plan["checks"] = [{kind: {"release": "may", **asked}}]

        def one(plan: dict[str, Any], kind: str = kind, asked: Any = asked) -> None:
            both(plan, kind, asked)
            alone(plan)

        assert judge(both).measured == judge(one).measured


def test_rows_of_one_release_do_not_replay_what_two_tell(judge: Judge) -> None:
    with pytest.raises(ParameterError, match="about several releases together"):
        replay(judge(), [], ["age", "zone"])


def test_rows_of_all_releases_replay_what_they_tell_together(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(json.dumps(PLAN), encoding="utf-8")
    plan = tacit.load(tmp_path / "plan.yaml")
    april, may = (list(plan.released(name)) for name in ("april", "may"))
    verdict = judge()
    assert verdict.status == "breached"
    assert replay(verdict, may, ["zone", "age"], published={"april": april})
    assert not replay(verdict, may, ["zone", "age"], published={"april": may})
