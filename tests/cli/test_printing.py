"""What goes to the terminal: nothing in the data is obeyed, and
whoever stops reading changes no answer.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from commands import tacit as tacit  # the fixture
from tacit.cli.console import CarefulConsole
from tacit.cli.printing import waiting
from tacit.report.escaping import escaped

ROWS = "name,age,condition\n\x1b[31mAnn\x1b[0m,23,\x1b]0;pwned\x07Flu\nBob\x9b2K,24,Co\u202eld\n"
PLAN = """\
version: 1
tables: {t: {person: [name], identifiers: [name], quasi-identifiers: [age], sensitive: [condition], hierarchies: {age: "*"}}}
releases: {fine: {table: t}, coarse: {table: t, generalization: {age: 1}}}
checks:
"""  # noqa: E501
HOLDS, BREACHED = (
    f"{PLAN}  - k-anonymity: {{release: {name}, k: 2}}\n" for name in ("coarse", "fine")
)
NO_ROOM = (
    "sh",
    "-c",
    'ulimit -f 0; exec "$@"',
    "sh",
)  # for a program it looks like a disk that is full


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "t.csv").write_text(ROWS, "utf-8")
    (tmp_path / "tacit.yaml").write_text(BREACHED, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- control characters ----------------------------------------------------------------------------


def is_harmless(text: str) -> bool:
    return text == escaped(text)


@pytest.mark.parametrize(
    "command",
    [
        ("check",),
        ("attack", "fine"),
        ("check", "\x1b[2J.yaml"),
        ("explain", "SELECT '\x1b[2J' FROM x"),
    ],
    ids=lambda one: one[0],
)
def test_no_command_prints_what_a_terminal_obeys(tacit: Any, command: tuple[str, ...]) -> None:
    ran = tacit(*command)
    assert is_harmless(ran.out) and is_harmless(ran.err)
    assert "\\u001b[" in ran.out + ran.err


def test_a_value_is_shown_with_its_control_characters_escaped(tacit: Any) -> None:
    assert r"Anyone who knows that \u001b[31mAnn\u001b[0m is 23" in tacit("check").out


def test_json_keeps_values_as_they_are(tacit: Any) -> None:
    ran = tacit("check", "--json")
    assert "\x1b" not in ran.out
    assert "\x1b[31mAnn\x1b[0m" in json.dumps(json.loads(ran.out), ensure_ascii=False).replace(
        "\\u001b", "\x1b"
    )


def shown(what: Any, *, width: int = 40) -> str:
    file = io.StringIO()
    CarefulConsole(file=file, width=width, force_terminal=True, color_system="standard").print(what)
    return file.getvalue()


def test_styles_of_ours_stay_and_those_of_the_data_do_not() -> None:
    text = shown(Text("holds", style="green").append(" \x1b[31mAnn", style="bold"))
    assert "\x1b[32mholds" in text and "\x1b[31m" not in text
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == "holds \\u001b[31mAnn\n"


def test_texts_are_escaped_wherever_they_stand_and_lines_keep_to_the_width() -> None:
    grid = Grid.grid()
    grid.add_row("\x1b[2K" * 9, Text("\x9b1A" * 9))
    for what in (grid, Padding(Text("\x00" * 30), (0, 0, 0, 4)), "\x1b[1A"):
        text = shown(what)
        assert is_harmless(text) and max(map(len, text.splitlines())) <= 40


def test_brackets_and_colons_of_the_data_are_no_markup() -> None:
    grid = Grid.grid()
    grid.add_row("[/red]:smile:[bold]")
    assert "[/red]:smile:[bold]" in shown(grid)


def test_names_with_brackets_are_told_while_somebody_watches(
    folder: Path, tacit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.StringIO()
    monkeypatch.setattr(
        "tacit.cli.printing.messages", lambda: CarefulConsole(file=file, force_terminal=True)
    )
    Path("tacit.yaml").write_text(HOLDS.replace("coarse", '"[/r]"'), "utf-8")
    assert (
        tacit("check").status
        == tacit("attack", "[/r]").status
        == tacit("anonymize", "[/r]", "-o", "out.csv").status
        == 0
    )
    with waiting("k-anonymity of [/r]"):
        pass
    assert "k-anonymity of [/r]" in file.getvalue()


def test_letters_of_all_scripts_are_printed_as_they_are() -> None:
    text = "Zoë\tعلی\n80\N{NO-BREAK SPACE}% \N{FAMILY}\N{ZERO WIDTH JOINER}"
    assert escaped(text) == text


# -- readers that leave, and disks that are full ---------------------------------------------------


def ended(
    *arguments: str, before: tuple[str, ...] = (), **options: Any
) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-m", "tacit", *arguments]
    return subprocess.run(
        command, stderr=subprocess.PIPE, text=True, check=False, timeout=60, **options
    )


def unread(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command whose standard output nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return ended(*arguments, stdout=writer)
    finally:
        os.close(writer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "options", "status"),
    [(HOLDS, (), 0), (BREACHED, ("--json",), 1)],
    ids=["holds", "breached, as JSON"],
)
def test_a_reader_that_leaves_changes_neither_the_report_nor_the_exit_status(
    folder: Path, plan: str, options: tuple[str, ...], status: int
) -> None:
    Path("tacit.yaml").write_text(plan, "utf-8")
    done = unread("check", "--report", "report.html", *options)
    assert (done.returncode, done.stderr) == (status, "")
    page = Path("report.html").read_text("utf-8")
    assert page.rstrip().endswith("</html>") and is_harmless(page)
    assert r"\u001b[31mAnn" in page  # in charts too: their library would end the process


def test_help_that_nobody_reads_does_not_end_as_a_breach(folder: Path) -> None:
    done = unread("--help")
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["words", "JSON"])
def test_a_full_disk_under_standard_output_is_said(folder: Path, options: tuple[str, ...]) -> None:
    with open("out", "w") as out:
        done = ended("check", *options, before=NO_ROOM, stdout=out)
    assert (done.returncode, done.stderr) == (
        2,
        (
            "error: standard output cannot be written: the disk is full. Free space, or write "
            "to another disk.\n"
        ),
    )


def test_an_error_of_the_system_that_is_no_interrupt_is_told_without_a_traceback(
    tacit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr("tacit.checking.assess.assess", broken)
    ran = tacit("check")
    assert ran.status == 70 and "Tacit itself went wrong: RuntimeError: oops" in ran.err
