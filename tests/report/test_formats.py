"""SARIF, JUnit, GitHub's log and Markdown: what other programs read of the verdicts."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands import Ran
from tacit import demo

UNDECIDED = """\
version: 1
tables: {pay: {columns: [name, dept, pay]}}
secrets: {low: "SELECT name FROM pay WHERE pay < 10"}
releases:
  "odd | <b>: name": {query: "SELECT dept, avg(pay) FROM pay GROUP BY dept"}
checks:
  - perfect-privacy: {secret: low, release: "odd | <b>: name"}
"""
Tacit = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    demo.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sarif(text: str) -> Any:
    return json.loads(text)["runs"][0]


def test_sarif_has_a_result_at_the_plan_line_of_each_check_that_does_not_hold(
    tacit: Tacit, folder: Path
) -> None:
    done = tacit("check", "--format", "sarif")
    run = sarif(done.out)
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    line = place["region"]["startLine"]
    assert done.status == 1 and result["level"] == "error"
    assert place["artifactLocation"] == {"uri": "tacit.yaml"}
    assert "l-diversity" in (folder / "tacit.yaml").read_text().splitlines()[line - 1]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_tools_count_the_findings(tacit: Tacit, folder: Path) -> None:
    loader = pytest.importorskip("sarif.loader", reason="no sarif-tools: pip install sarif-tools")
    tacit("check", "--format", "sarif=found.sarif")
    found = loader.load_sarif_file(str(folder / "found.sarif"))
    assert found.get_result_count() == 1


def test_a_fingerprint_stays_when_lines_above_it_are_added(tacit: Tacit, folder: Path) -> None:
    before = sarif(tacit("check", "--format", "sarif").out)["results"][0]
    plan = folder / "tacit.yaml"
    plan.write_text("# a comment\n\n" + plan.read_text())
    after = sarif(tacit("check", "--format", "sarif").out)["results"][0]
    assert before["partialFingerprints"] == after["partialFingerprints"]
    assert before["locations"] != after["locations"]


def test_each_check_is_a_junit_test(tacit: Tacit, folder: Path) -> None:
    junitparser = pytest.importorskip("junitparser", reason="no junitparser")
    assert tacit("check", "--format", "junit=found.xml").status == 1
    found = junitparser.JUnitXml.fromfile(str(folder / "found.xml"))
    assert (found.tests, found.failures, found.errors, found.skipped) == (3, 1, 0, 0)


def test_what_is_undecided_fails_unless_only_a_breach_should(tacit: Tacit, folder: Path) -> None:
    (folder / "tacit.yaml").write_text(UNDECIDED)
    both = tacit("check", "--format", "junit")
    breached = tacit("check", "--format", "junit", "--fail-on", "breached")
    assert (both.status, breached.status) == (3, 0)
    assert ET.fromstring(both.out).get("failures") == "1"
    assert ET.fromstring(breached.out).get("skipped") == "1"


def test_names_of_the_plan_stay_within_their_place(tacit: Tacit, folder: Path) -> None:
    (folder / "tacit.yaml").write_text(UNDECIDED)
    (annotation, _) = tacit("check", "--format", "github").out.splitlines()
    assert annotation.startswith("::warning file=tacit.yaml,line=7,col=5,title=perfect privacy")
    assert "odd | <b>%3A name" in annotation
    table = tacit("check", "--format", "markdown").out.splitlines()
    assert r"odd \| \<b\>: name" in table[-1] and table[-1].replace(r"\|", "").count("|") == 5


def test_no_format_shows_a_personal_value_whoever_reads(tacit: Tacit, folder: Path) -> None:
    people = {line.split(",")[0] for line in (folder / "inpatients.csv").read_text().split()[1:]}
    for name in ("sarif", "junit", "github", "markdown"):
        said = tacit("check", "--format", name, "--audience", "owner").out
        assert not [one for one in people if one in said], name


def test_several_formats_go_to_files_beside_the_text(tacit: Tacit, folder: Path) -> None:
    done = tacit("check", "--format", "sarif=a.sarif", "--format", "markdown=a.md")
    assert "DO NOT RELEASE" in done.out
    assert {"a.sarif", "a.md"} <= {path.name for path in folder.iterdir()}
    (beside, with_json) = (
        tacit("check", "--format", "sarif=b.sarif", "--json"),
        tacit("check", "--format", "sarif", "--json"),
    )
    assert beside.status == 1 and len(beside.json["verdicts"]) == 3
    assert with_json.status == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["sarif", "junit"], "both print to standard output"),
        (["xml"], "'xml' is none of sarif, junit, github, markdown"),
        (["sarif="], "names no file"),
        (["sarif=a", "sarif=b"], "given twice"),
        (["sarif=tacit.yaml"], "would replace tacit.yaml"),
        (["sarif=inpatients.csv"], "would replace inpatients.csv"),
        (["sarif=a", "junit=a"], "would replace a"),
        (["sarif=no/such/folder/a"], "no/such/folder"),
    ],
)
def test_a_format_that_cannot_be_written_is_refused_before_the_work(
    tacit: Tacit, folder: Path, given: list[str], said: str
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = tacit("check", *(word for one in given for word in ("--format", one)))
    assert done.status == 2 and said in done.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
