"""The examples in the documentation: found in the pages, and run
the way a reader would run them.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [page for page in ROOT.glob("*.md") if page.is_file()] + list((ROOT / "docs").rglob("*.md"))
)
# These need a server: their plans are loaded and their commands looked up, but nothing is run.
NEED_A_SERVER = ("postgresql.md", "spark.md")
# In these a server runs while the reader asks it: see served.py.
# Only who reads of the workbench has installed it.
SERVED = [page for page in PAGES if page.name in ("gateway.md", "http.md", "workbench.md")]
RUN = [page for page in PAGES if page.name not in NEED_A_SERVER and page not in SERVED]
# The line above a block names its file: "`people.csv`:", or "In `tacit.yaml`, change:".
FENCE = re.compile(
    r"(?:^(?P<change>In )?`(?P<file>[^`\n]+)`(?(change), change):\n\n)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# Two runs differ in these only, and each has something that stands for it.
SECONDS = re.compile(r'("seconds": )[0-9.]+')
STAND_INS = (
    (re.compile(r'("milliseconds": )[0-9.]+'), r"\g<1>4.2"),
    (
        re.compile(r"\btacit_[\w-]{43}(?![\w-])"),
        "tacit_mEr0nEvZ3kAs9uQx1tYbH7cWgLpD5iJfO2aVsTeXq8U",
    ),
    (re.compile(r"\bonce=[\w-]{43}(?![\w-])"), "once=Jb2Xw0dRk5vT8mYqLs4HnZ7cPgAe9uFiO1rKxVtBwQ6"),
    (re.compile(r'("id": )"[0-9a-f]{16}"'), r'\g<1>"5f0c2a9e7b14d836"'),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"), "2026-04-01T09:30:00.000000Z"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "2026-04-01T09:30:00.000Z"),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?= \(UTC\))"), "2026-04-01 09:30:00"),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b(?!:)"), "2026-04-01 09:30"),
    (re.compile(r"(\(entry \d+,\s+|withdrawn\s+on\s+)20\d\d-\d\d-\d\d"), r"\g<1>2026-04-01"),
)
HASH = re.compile(r"\b[0-9a-f]{64}\b")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    `file` is the name that the line above the fence gives it. With "change" the block has lines
    that replace others of that file: those with the same key.
    """

    page: Path
    line: int
    language: str
    text: str
    file: str | None = None
    changes: bool = False

    @property
    def name(self) -> str:
        """Where the block stands."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_plan(self) -> bool:
        """A YAML block that begins with the version is a whole plan."""
        return self.language == "yaml" and bool(re.match(r"(#.*\n)*version:", self.text))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start("language")) + 1,
            found["language"],
            found["text"],
            found["file"],
            changes=bool(found["change"]),
        )
        for found in FENCE.finditer(text)
    ]


@dataclass(frozen=True)
class Step:
    """A command of a console block and what the page says it prints; None where it says nothing."""

    command: str
    output: str | None


def steps(block: Block) -> Iterator[Step]:
    """The commands of a console block. A backslash at the end of a line continues it.

    >>> block = Block(Path("x"), 1, "console", "$ tacit check\\nholds\\n$ make test\\n")
    >>> list(steps(block))
    [Step(command='tacit check', output='holds'), Step(command='make test', output=None)]
    """
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.replace("\\\n", " ").partition("\n")
        yield Step(" ".join(command.split("#")[0].split()), tidy(output) or None)


def tidy(printed: str) -> str:
    """What was printed, without spaces at the ends of lines, and without times, tokens and hashes
    of its own.

    >>> tidy('holds   \\n"seconds": 0.433\\n')
    'holds\\n"seconds": 0.0'
    """
    printed = SECONDS.sub(r"\g<1>0.0", printed)
    for pattern, stand_in in STAND_INS:
        printed = pattern.sub(stand_in, printed)
    lines = (line.rstrip() for line in same_hashes(printed).splitlines())
    return "\n".join(lines).strip("\n")


def same_hashes(printed: str) -> str:
    """Keyed hashes differ with the key and the time: the first, the second, ...
    of a text each have one that stands for it.
    """
    seen: dict[str, str] = {}
    return HASH.sub(
        lambda found: seen.setdefault(found[0], sha256(b"%d" % len(seen)).hexdigest()), printed
    )


def agrees(printed: str, expected: str) -> bool:
    """Whether a page shows what was printed; a line `...` stands for any lines that it leaves out.

    >>> agrees("head\\nholds\\ntail", "...\\nholds\\n..."), agrees("breached", "...\\nholds")
    (True, False)
    """
    lines = expected.split("\n")
    pattern = ("(?:.*\n)*?" if line == "..." else f"{re.escape(line)}\n" for line in lines)
    return re.fullmatch("".join(pattern), f"{printed}\n") is not None


def run(command: str) -> str:
    """What a `tacit` command prints in the current folder, messages first, tidy."""
    return tidy(printed_by(command))


def printed_by(command: str) -> str:
    """What a `tacit` command prints in the current folder, messages first."""
    from tacit import cli

    program, *arguments = shlex.split(command)
    assert program == "tacit"
    printed, messages = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", [program, *arguments]),
        redirect_stdout(printed),
        redirect_stderr(messages),
    ):
        cli.run()
    return messages.getvalue() + printed.getvalue()


def is_run(command: str) -> bool:
    """Whether the tests run a command: those of ours; `cp`, `psql` and the like are only read."""
    return command.split()[0] == "tacit"


def prepare(block: Block, folder: Path) -> None:
    """Put a block's file where its page says it is."""
    if block.file is None:
        return
    path = folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        changed(path.read_text("utf-8"), block.text) if block.changes else block.text, "utf-8"
    )


def changed(text: str, lines: str) -> str:
    """A text in which each of the lines stands for the one that has its key.

    >>> changed("k: 4\\nl: 3\\n", "l: 2\\n")
    'k: 4\\nl: 2\\n'
    """
    for line in lines.splitlines():
        key = re.escape(line.partition(":")[0].strip())
        text, found = re.subn(rf"^\s*{key}:.*$", line, text, count=1, flags=re.MULTILINE)
        assert found, line
    return text


def plain_environment() -> dict[str, str]:
    """The environment without what would change the output."""
    return {
        key: value
        for key, value in os.environ.items()
        if key not in ("CI", "FORCE_COLOR", "COLUMNS")
    }
