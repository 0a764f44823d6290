"""The heart disease study as a reader runs it, on a few disclosures;
its page, and the plan beside it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tacit import cli

ROOT = Path(__file__).parents[2]
HEART = ROOT / "examples" / "heart"


def records() -> Path | None:
    folders = [os.environ.get("TACIT_DATA"), ROOT.parent / "shared" / "data"]
    found = [Path(folder) / "heart" / "heart_cleveland.csv" for folder in folders if folder]
    return next((path for path in found if path.is_file()), None)


needs_records = pytest.mark.skipif(
    records() is None,
    reason=(
        "the heart disease data are not here; set TACIT_DATA to the folder that has "
        "heart/heart_cleveland.csv"
    ),
)


def study(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.heart.study", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@needs_records
def test_the_study_runs_on_a_few_disclosures(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    ran = study(
        "--samples",
        "1",
        "--evaluations",
        "3",
        "--seconds",
        "0.1",
        "--longest",
        "1",
        "--out",
        tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert "| **all** | 8 |" in ran.stdout
    assert (
        ElementTree.parse(tmp_path / "restored.svg").getroot().tag
        == "{http://www.w3.org/2000/svg}svg"
    )
    for one in json.loads((tmp_path / "results.json").read_text("utf-8"))["settings"]:
        consistent(one)


def consistent(one: dict[str, object]) -> None:
    """Every disclosure has one end, and no search restores what cannot be restored."""
    ends = [
        int(str(one[kind])) for kind in ("certain", "impossible", "none", "undecided", "restorable")
    ]
    assert sum(ends) == one["compromised"]
    for kind in ("tacit", "facts", "blind", "tacit_timed", "blind_timed"):
        tried = one[kind]
        assert isinstance(tried, dict) and tried["restored"] <= ends[-1]


def test_the_page_prints_the_numbers_of_the_results() -> None:
    """The table of the page is the one that results.json has."""
    settings = json.loads((HEART / "results.json").read_text("utf-8"))["settings"]
    page = (HEART / "README.md").read_text("utf-8")
    lines = re.findall(r"^\| (?:chest pain|diagnosis), .*$", page, re.MULTILINE)
    assert len(lines) == len(settings) == 8
    for line, one in zip(lines, settings, strict=True):
        consistent(one)
        numbers = [re.sub(r"[*]| \(.*\)", "", cell.strip()) for cell in line.strip("|").split("|")][
            1:12
        ]
        counted = [
            one[kind]
            for kind in ("compromised", "certain", "impossible", "none", "undecided", "restorable")
        ]
        tried = [
            one[kind]["restored"]
            for kind in ("tacit", "facts", "blind", "tacit_timed", "blind_timed")
        ]
        assert [float(number) for number in numbers] == [
            float(number) for number in counted + tried
        ], line


@needs_records
def test_the_plan_is_breached_and_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tacit.yaml").write_bytes((HEART / "tacit.yaml").read_bytes())
    assert study("people", "--output", tmp_path / "patients.csv").returncode == 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["tacit", "check"])
    assert cli.run() == 1
    assert "In 84 of the 132 tables that fit both views" in " ".join(
        capsys.readouterr().out.split()
    )
    monkeypatch.setattr("sys.argv", ["tacit", "restore", "both", "--columns", "age,sex"])
    assert cli.run() == 0
    assert "72 tables fit where 132 did" in capsys.readouterr().out


def test_without_the_data_it_says_what_to_do(tmp_path: Path) -> None:
    ran = study("--data", tmp_path, "--out", tmp_path / "out")
    assert ran.returncode == 2
    assert "heart_cleveland.csv is not here" in ran.stderr and "Traceback" not in ran.stderr
    assert not (tmp_path / "out").exists()
