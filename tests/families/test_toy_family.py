"""A kind of release that is added by its registration alone is known everywhere.

A process of its own registers it, so that no other test meets it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PLAN = """version: 1
tables:
  people: {columns: [name, town], rows: [[Ann, A], [Bob, A], [Cy, B]]}
  towns: {columns: [town], rows: [[A], [B]]}
releases:
  size: {total: people}
  again: {total: people, to: [press]}
  names: {query: "SELECT name FROM people"}
  cities: {total: towns}
checks:
- large-total: {release: size, least: 3}
- large-total: {release: again, least: 4, name: strict}
- large-total: {release: cities, least: 2}
"""
BEGIN = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from families.toy import REGISTRATION
from tacit.families.catalog import register
register(REGISTRATION)
"""
RUN = f"{BEGIN}\nfrom tacit.cli import main\nmain()"


def tacit(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command, in a process that knows the toy."""
    return subprocess.run(
        [sys.executable, "-c", RUN, *words], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tacit.yaml").write_text(PLAN, "utf-8")
    return tmp_path


def test_it_is_read_and_checked_and_told_in_terminal_and_json(folder: Path) -> None:
    ran = tacit(folder, "check")
    assert ran.returncode == 1, ran.stderr
    assert "people: 3 rows" in ran.stdout and "DO NOT RELEASE" in ran.stdout
    assert "a total of 4   the table has 3 rows" in ran.stdout
    found = json.loads(tacit(folder, "check", "--json").stdout)["verdicts"]
    assert [one["status"] for one in found] == ["holds", "breached", "holds"]
    assert found[1]["name"] == "strict" and found[1]["witness"] == {"kind": "total", "rows": "3"}


def test_what_a_plan_says_wrongly_is_told_at_its_place(folder: Path) -> None:
    for wrong, told in (
        ("{total: 3}", "is no table"),
        ("{total: people, answer: x.csv}", "'answer' does not go with 'total'"),
        ("{totl: people}", "Did you mean 'total'?"),
    ):
        (folder / "tacit.yaml").write_text(PLAN.replace("{total: people}", wrong), "utf-8")
        ran = tacit(folder, "check")
        assert ran.returncode == 2 and told in ran.stderr and "tacit.yaml:6:" in ran.stderr
    checks = PLAN.replace("size, least", "names, least")
    (folder / "tacit.yaml").write_text(checks, "utf-8")
    assert "large-total judges a total; 'names' is a view" in tacit(folder, "check").stderr


def test_it_is_judged_beside_what_is_published(folder: Path) -> None:
    (folder / "tacit.yaml").write_text(PLAN + "published: [names]\n", "utf-8")
    found = json.loads(tacit(folder, "check", "--json").stdout)["verdicts"]
    assert [one["status"] for one in found] == ["undecided", "breached", "holds"]
    assert found[0]["reason"]["code"] == "does-not-compose"
    assert found[0]["subject"] == {"release": "size", "given": ["names"]}


def test_it_is_recorded_and_written(folder: Path) -> None:
    ran = tacit(folder, "ledger", "record", "size", "-o", "size.csv")
    assert ran.returncode == 0, ran.stderr
    assert (folder / "size.csv").read_text() == "rows\n3\n"
    refused = tacit(folder, "ledger", "record", "again")
    assert refused.returncode == 1 and "nothing was written" in refused.stdout + refused.stderr
    listed = json.loads(tacit(folder, "ledger", "list", "--json").stdout)
    assert [one["shape"] for one in listed["entries"]] == ["total"]


def test_it_is_in_the_report(folder: Path) -> None:
    pytest.importorskip("vl_convert")
    tacit(folder, "check", "--report", "report.html")
    page = (folder / "report.html").read_text("utf-8")
    assert "a total of 4" in page and "the table has 3 rows" in page and "people: 3 rows" in page


def test_it_is_on_the_pages(folder: Path) -> None:
    pytest.importorskip("nicegui")
    code = f"""{BEGIN}
from tacit.model.jobs import Job
from tacit.plan.read.load import load_plan
from tacit.workbench.pages.overview.page import what_it_is
from tacit.workbench.pages.release.page import evidence
from tacit.workbench.tasks.check import check
found = check(Job(), "tacit.yaml", ".")
plan = load_plan("tacit.yaml")
assert [one["status"] for one in found["sections"]] == ["holds", "breached", "holds"]
assert "the table has 3 rows" in found["sections"][1]["cards"][0]
assert what_it_is(plan.releases["size"], plan) == "A total" and evidence("totals") is None
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
