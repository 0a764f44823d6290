"""Tacit outside the server asks for nothing that only POSIX systems have."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "tacit"
ABSENT = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
SERVER = ("gateway", "workbench")
# What Windows has not: the modules, and these names of os. PATH leads to no program.
WITHOUT = f"""
import os, sys
for name in {ABSENT}:
    sys.modules[name] = None
for name in ("fork", "forkpty", "getuid", "geteuid", "getgid", "sysconf", "chown", "O_CLOEXEC",
             "O_NOFOLLOW", "O_DIRECTORY", "fchmod", "killpg", "setsid"):
    if hasattr(os, name):
        delattr(os, name)
from tacit.cli import main
main()
"""


def imported_at_the_top(tree: ast.Module) -> Iterator[str]:
    """The modules that are imported when a module is."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_no_module_outside_the_server_needs_posix_to_be_imported() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] not in SERVER:
            names = set(imported_at_the_top(ast.parse(path.read_text("utf-8"))))
            assert not names & set(ABSENT), path


def tacit(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command where nothing of POSIX can be had, and no other program."""
    kept = {name: os.environ[name] for name in ("HOME", "SYSTEMROOT") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words],
        cwd=folder,
        env={**kept, "PATH": str(folder / "empty"), "USERNAME": "ann"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_help_comes_without_java_postgresql_or_make(tmp_path: Path) -> None:
    done = tacit("--help", folder=tmp_path)
    assert done.returncode == 0 and "anonymize" in done.stdout, done.stderr


@pytest.mark.slow
def test_tables_are_checked_repaired_recorded_and_drawn_without_posix(tmp_path: Path) -> None:
    assert tacit("demo", "demo", folder=tmp_path).returncode == 0
    plan = ("--plan", "demo/tacit.yaml")
    for words, status in (
        (("check", "demo/tacit.yaml"), 1),
        (("anonymize", "april", "-o", "april.csv", *plan), 0),
        (("attack", "april", *plan), 0),
        (("ledger", "begin", *plan), 0),
        (("init", "demo/inpatients.csv", "-o", "new.yaml"), 0),
    ):
        done = tacit(*words, folder=tmp_path)
        assert done.returncode == status, (words, done.stdout, done.stderr)
    assert (tmp_path / "april.csv").exists()
