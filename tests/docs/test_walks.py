"""The walks of CONTRIBUTING.md are true: each hop is there, in the order of the calls."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tacit.cli import main

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tacit"
HOP = re.compile(r"^\d+\. `([\w/]+\.py)` `(\w+)` ", re.MULTILINE)
VIEWS = """version: 1
tables:
  patients: {columns: [name, sex, ill], key: [name], sensitive: [ill],
             rows: [[Al, M, flu], [Bo, M, cold], [Cy, F, flu], [Di, F, cold]]}
releases:
  men: {query: "SELECT ill FROM patients WHERE sex = 'M'"}
  all: {query: "SELECT ill FROM patients"}
checks:
- gamma-privacy: {release: men, gamma: 0.5}
- gamma-privacy: {release: all, gamma: 0.5, name: late}
"""


def walks() -> list[list[tuple[str, str]]]:
    """The hops of each walk: file and function."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    part = text.split("## Three requests", 1)[1].split("\n## ", 1)[0]
    return [found for block in part.split("\n\n") if (found := HOP.findall(block))]


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[tuple[str, str]]:
    """The functions that a command calls, in the order of their first calls."""
    called: dict[tuple[str, str], None] = {}

    def noted(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(PACKAGE)):
            name = Path(path).relative_to(PACKAGE).as_posix()
            called.setdefault((name, frame.f_code.co_name))

    monkeypatch.setattr(sys, "argv", ["tacit", *words])
    sys.setprofile(noted)
    try:
        with pytest.raises(SystemExit):
            main()
    finally:
        sys.setprofile(None)
    return list(called)


def test_every_hop_is_there() -> None:
    found = walks()
    assert len(found) == 3
    for file, function in (hop for walk in found for hop in walk):
        tree = ast.parse((PACKAGE / file).read_text("utf-8"))
        kinds = ast.FunctionDef | ast.AsyncFunctionDef
        names = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
        assert function in names, f"{file} has no {function}"


def test_a_check_takes_its_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit import demo

    demo.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    called = run(monkeypatch, "check", "--only", "k-anonymity")
    assert [hop for hop in called if hop in walks()[0]] == walks()[0]


def test_a_check_with_a_ledger_takes_its_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tacit.yaml").write_text(VIEWS, "utf-8")
    monkeypatch.chdir(tmp_path)
    run(monkeypatch, "ledger", "record", "men")
    called = run(monkeypatch, "check", "--only", "late")
    assert [hop for hop in called if hop in walks()[1]] == walks()[1]


def test_a_check_without_a_ledger_loads_no_ledger_and_no_other_family(tmp_path: Path) -> None:
    import subprocess

    from tacit import demo

    demo.write(tmp_path)
    code = (
        "import sys; sys.argv = ['tacit', 'check']; from tacit.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "assert not [one for one in sys.modules if one.startswith('tacit.ledger')]\n"
        "loaded = [one for one in sys.modules if one.endswith('.family')]\n"
        "assert set(loaded) == {'tacit.families.family', 'tacit.families.microdata.family'}"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_where_a_change_goes_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = text.split("## Where a change goes", 1)[1].split("\n## ", 1)[0]
    places = re.findall(r"`(src/[^`]+)`", table)
    assert len(places) >= 10
    assert not [place for place in places if not (ROOT / place).exists()]
