"""Checks that judge a table's copy as views:
no search for levels asks them, and nothing is claimed of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import PlanError
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.families.microdata.runs.repair_results import Repaired
from tacit.plan.read.load import load_plan

PLAN = """\
version: 1
tables:
  patients:
    columns: [name, sex, age, condition]
    rows: [[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS],
           [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]
    key: [name]
    identifiers: [name]
    quasi-identifiers: [sex, age]
    sensitive: [condition]
    hierarchies: {sex: "*", age: {ranges: [5, 10]}}
releases:
  copy: {table: patients}
  insurer: {query: "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28"}
checks:
  - k-anonymity: {release: copy, k: 2}
  - CHECK
"""
TOGETHER = "gamma-privacy: {releases: [copy, insurer], gamma: 0.5, name: both}"
AS_VIEWS = (
    TOGETHER,
    "k-sind: {release: copy, k: 2}",
    "k-rsind: {release: copy, k: 2}",
    "gamma-privacy: {release: copy, gamma: 0.5}",
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(check: str, name: str = "tacit.yaml") -> Path:
    Path(name).write_text(PLAN.replace("CHECK", check), "utf-8")
    return Path(name)


@pytest.mark.parametrize("check", AS_VIEWS)
def test_a_check_of_views_is_named_as_not_asked(check: str) -> None:
    found = anonymize(load_plan(written(check)), "copy")
    assert isinstance(found, Repaired)
    assert [verdict.check for verdict in found.verdicts] == ["k-anonymity"]
    assert len(found.not_asked) == 1 and check.split(":")[0] in found.not_asked[0]
    assert found.to_json()["not_asked"] == list(found.not_asked)


def test_a_release_is_not_said_to_meet_what_was_not_asked(tacit: Any) -> None:
    written(TOGETHER)
    ran = tacit("anonymize", "copy", "-o", "copy.csv", "--report", "r.html")
    page, said = Path("r.html").read_text("utf-8"), re.sub(r"\s+", " ", ran.out)
    assert ran.status == 0
    for text in (said, page):
        assert (
            "meets the checks of this plan" not in text
            and "meets the checks that were asked" in text
        )
        assert "The search does not ask both (gamma-privacy of copy and insurer)." in text
    explored = re.sub(r"\s+", " ", tacit("anonymize", "copy", "--explore").out)
    assert "Not asked: both (gamma-privacy of copy and insurer). Ask with tacit check." in explored


def test_the_lines_for_the_plan_ask_about_the_file_what_was_not_asked(tacit: Any) -> None:
    written(TOGETHER)
    ran = tacit("anonymize", "copy", "-o", "copy.csv")
    lines = [line.strip() for line in ran.out.splitlines()]
    joint = next(line for line in lines if line.startswith("- gamma-privacy"))
    assert joint == "- gamma-privacy: {releases: [copy-written, insurer], gamma: 0.5}"
    release = next(line for line in lines if line.startswith("copy-written:"))
    text = PLAN.replace("  - CHECK", f"  {joint}").replace("checks:", f"  {release}\nchecks:")
    Path("again.yaml").write_text(text, "utf-8")
    assert (
        tacit("check", "again.yaml", "--only", "copy-written").status == 1
    )  # together with the insurer's list


def test_where_nothing_can_be_asked_that_is_said(tacit: Any) -> None:
    plan = written(TOGETHER)
    plan.write_text(
        plan.read_text("utf-8").replace("  - k-anonymity: {release: copy, k: 2}\n", ""), "utf-8"
    )
    with pytest.raises(PlanError, match=r"cannot ask both \(gamma-privacy of copy and insurer\)"):
        anonymize(load_plan(plan), "copy")
    for command in (("anonymize", "copy", "-o", "c.csv"), ("attack", "copy", "--all-minimal")):
        ran = tacit(*command)
        assert ran.status == 2 and "afterwards with tacit check" in ran.err
    assert not Path("c.csv").exists()


def test_every_minimal_table_is_attacked_by_the_checks_that_can_be_asked(tacit: Any) -> None:
    written(TOGETHER)
    ran = tacit("attack", "copy", "--all-minimal")
    assert ran.status == 0 and "for 2-anonymity" in ran.out


def test_a_check_of_views_alone_names_no_search_as_the_next_step(tacit: Any) -> None:
    plan = written("k-sind: {release: copy, k: 5}")
    plan.write_text(
        plan.read_text("utf-8")
        .replace("k-anonymity: {release: copy, k: 2}", "k-anonymity: {release: insurer-copy, k: 2}")
        .replace(
            "checks:",
            "  insurer-copy: {table: patients, generalization: {age: 3, sex: 1}}\nchecks:",
        ),
        "utf-8",
    )
    ran = tacit("check")
    assert ran.status == 1 and "tacit anonymize" not in ran.out


@pytest.mark.slow
@pytest.mark.parametrize("way", ["published: [insurer]", "published: [ledger]", ""])
def test_beside_what_is_out_nothing_is_written_unless_somebody_insists(
    tacit: Any, way: str
) -> None:
    plan = written("k-anonymity: {release: copy, k: 2}")
    text = plan.read_text("utf-8")
    assert tacit("anonymize", "copy", "-o", "before.csv").status == 0
    if way != "published: [insurer]":
        assert (
            tacit("ledger", "record", "insurer", "--public", "--out-already").status == 0
        )  # and a ledger lies beside the plan
    plan.write_text(text.replace("checks:", f"{way}\nchecks:"), "utf-8")
    ran = tacit("anonymize", "copy", "-o", "copy.csv", "--report", "r.html")
    said, page = re.sub(r"\s+", " ", ran.out), Path("r.html").read_text("utf-8")
    assert ran.status == 3 and not Path("copy.csv").exists()
    assert (
        "not decided" in said
        and "does-not-compose" in said
        and "It was not written" in page
        and "meets the checks of this plan" not in said + page
    )
    found = json.loads(tacit("anonymize", "copy", "-o", "copy.csv", "--json").out)
    assert (
        found["output"] is None
        and found["unjudged"] is True
        and {one["status"] for one in found["verdicts"]} == {"undecided"}
    )
    insisted = tacit("anonymize", "copy", "-o", "copy.csv", "--unjudged", "--json")
    found = json.loads(insisted.out)
    assert (
        insisted.status == 0
        and found["output"] == "copy.csv"
        and found["unjudged"] is True
        and Path("copy.csv").exists()
    )
    assert "because you insisted (--unjudged)" in re.sub(
        r"\s+", " ", tacit("anonymize", "copy", "-o", "again.csv", "--unjudged").out
    )
    assert "beside what is published" in re.sub(
        r"\s+", " ", tacit("anonymize", "copy", "--explore").out
    )


def test_what_is_out_about_others_or_for_others_keeps_nobody_from_writing(tacit: Any) -> None:
    plan = written("k-anonymity: {release: copy, k: 2}")
    text = (
        plan.read_text("utf-8")
        .replace("copy: {table: patients}", "copy: {table: patients, to: [bank]}")
        .replace('BETWEEN 26 AND 28"}', 'BETWEEN 26 AND 28", to: [press]}')
    )
    plan.write_text(text.replace("checks:", "published: [insurer]\nchecks:"), "utf-8")
    ran = tacit("anonymize", "copy", "-o", "copy.csv")
    assert (
        ran.status == 0 and "meets the checks of this plan" in ran.out and Path("copy.csv").exists()
    )


@pytest.mark.parametrize("method", ["lattice", "mondrian"])
def test_what_went_out_under_the_same_name_at_other_levels_counts(tacit: Any, method: str) -> None:
    plan = written("k-anonymity: {release: copy, k: 2}")
    assert (
        tacit("ledger", "record", "copy", "--public", "--out-already").status == 0
    )  # the table as it is
    ran = tacit("anonymize", "copy", "-o", "copy.csv", "--method", method)
    assert ran.status == 1 and not Path("copy.csv").exists(), ran.out + ran.err
    plan.write_text(
        plan.read_text("utf-8").replace(
            "checks:", "published: [copy]\nledger: none.sqlite\nchecks:"
        ),
        "utf-8",
    )
    Path("tacit-ledger.key").unlink()
    assert tacit("anonymize", "copy", "-o", "copy.csv", "--method", method).status == 1
