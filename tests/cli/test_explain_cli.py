"""`tacit explain` as a user runs it: how a query was read, what was not read exactly, and what
is wrong with it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit import cli

PLAN = """\
version: 1
tables:
  patients: {columns: {pid: integer, name: text}, key: [pid], nullable: []}
  stays: {columns: {pid: integer, diagnosis: text, ward: text, day: date}, nullable: [ward]}
secrets:
  cancer: "SELECT DISTINCT p.name FROM patients p JOIN stays s ON p.pid = s.pid WHERE s.diagnosis = 'cancer'"
  sick: "S(n) :- patients(p, n), stays(p, d, w, t), d != 'none'"
releases-from: [views/*.sql]
releases:
  names: {query: "SELECT DISTINCT name FROM patients"}
"""  # noqa: E501
STAFFING = (
    "-- how many stays began each day\nSELECT day, count(*) AS stays\nFROM stays\nGROUP BY day\n"
)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`tacit explain` with some words: its exit status, what it printed, and what it said."""
    (tmp_path / "views").mkdir()
    (tmp_path / "views" / "staffing.sql").write_text(STAFFING, "utf-8")
    (tmp_path / "tacit.yaml").write_text(PLAN, "utf-8")
    monkeypatch.chdir(tmp_path)

    def explain(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tacit", "explain", *words])
        status = cli.run()
        said = capsys.readouterr()
        return status, said.out, said.err

    return explain


def test_a_secret_is_printed_with_its_subgoals_and_class(run: Run) -> None:
    status, text, _ = run("cancer")
    assert status == 0
    assert text.startswith("cancer: SQL, read exactly.\ncolumns: name\n")
    assert "cancer, a set: acyclic, " in text
    assert (
        "    patients(pid, name)\n    stays(pid, 'cancer', ward, day)\n    may be NULL: ward\n"
        in text
    )


def test_datalog_keeps_its_names_and_comparisons(run: Run) -> None:
    _, text, _ = run("sick")
    assert "sick: Datalog, read exactly." in text
    assert "    stays(p, d, w, t)\n    d != 'none'\n" in text


def test_a_view_in_a_file_says_what_was_not_read_exactly_and_where(run: Run) -> None:
    status, text, _ = run("staffing")
    assert status == 0
    assert text.startswith("staffing: SQL, read by its supports.\ncolumns: day, stays\n")
    assert "  2:13 aggregate: COUNT(*)\n" in text
    assert "so `private` stays right" in text


def test_a_query_that_stands_nowhere_may_name_views_of_the_plan(run: Run) -> None:
    status, text, _ = run("SELECT DISTINCT name FROM names WHERE name <> 'Ann'")
    assert status == 0
    assert "    patients(pid, name)\n    name != 'Ann'\n" in text


def test_the_same_as_json(run: Run) -> None:
    status, text, said = run("staffing", "--json")
    found: dict[str, Any] = json.loads(text)
    assert status == 0 and said == ""
    assert list(found) == ["query", "language", "columns", "exact", "supports", "approximations"]
    assert found["exact"] is None
    assert found["supports"][0]["parts"][0]["subgoals"] == ["stays(pid, diagnosis, ward, day)"]
    assert found["approximations"][0] | {"text": "", "direction": ""} == {
        "code": "aggregate",
        "fragment": "COUNT(*)",
        "text": "",
        "line": 2,
        "column": 13,
        "direction": "",
    }


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("staffin", "the plan has no secret and no view 'staffin'. Did you mean 'staffing'?"),
        ("patients", "the plan has no secret and no view 'patients'."),
        (
            "SELECT wrd FROM stays",
            (
                "query:1:8: there is no column 'wrd'. Did you mean 'ward'?\n"
                "    SELECT wrd FROM "
                "stays\n           ^\n"
            ),
        ),
        ("SELECT ward FROM stay", "there is no table"),
        ("SELECT pid FROM patients, stays", "pid"),
        ("SELECT pid FROM patients WHERE pid = 'x'", "pid = 'x' compares a number with 'x'."),
        ("SELECT ward FROM stays WHERE ward = = 1", "query:1:37: this SQL does not parse"),
        ("DELETE FROM stays", "DELETE is not a query. Write a SELECT."),
        ("SELECT ward FROM stays WHERE random() < 0.5", "does not depend on the data alone"),
        ("S(x, y) :- patients(x, z)", "query:1:6: y stands in the head only."),
        ("S(x) :- patients(x)", "patients has 2 columns, and 1 stand here."),
    ],
)
def test_what_is_wrong_with_a_query_is_said_without_a_traceback(
    run: Run, query: str, told: str
) -> None:
    status, text, said = run(query)
    assert (status, text) == (2, "")
    assert said.startswith("error: ") and told in said and "Traceback" not in said


def test_errors_come_as_json_too(run: Run) -> None:
    status, text, _ = run("SELECT wrd FROM stays", "--json")
    assert status == 2
    assert json.loads(text)["error"]["hint"] == "Did you mean 'ward'?"


def test_a_mistake_in_a_file_points_into_the_file(run: Run) -> None:
    Path("views/staffing.sql").write_text(STAFFING.replace("SELECT day", "SELECT dya"), "utf-8")
    status, _, said = run("staffing")
    assert status == 2
    assert "views/staffing.sql:2:8: there is no column 'dya'. Did you mean 'day'?" in said


def test_another_plan_may_be_named(run: Run) -> None:
    Path("other.yaml").write_text(PLAN.replace("sick:", "ill:"), "utf-8")
    assert run("ill", "--plan", "other.yaml")[0] == 0
    assert run("ill", "--plan", "nowhere.yaml")[0] == 2
