"""The hospital's gateway and ledger: their page prints what a reader gets, and the service file
fits the command.

`python tests/examples/test_gateway.py` writes into the page what its commands print today.
Read the diff afterwards.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "docs")]

from served import read, reading  # noqa: E402
from snippets import agrees, blocks, plain_environment  # noqa: E402

HERE = ROOT / "examples" / "gateway"
PAGE = HERE / "README.md"


def copied(folder: Path) -> Path:
    """The example as it is in a fresh clone, without what earlier runs left."""
    left = shutil.ignore_patterns("*.sqlite*", "*.key", "*.jsonl", "men.csv", "older.csv")
    return Path(shutil.copytree(HERE, folder / "gateway", ignore=left))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, without what would change the output."""
    monkeypatch.chdir(copied(tmp_path))
    for name in set(os.environ) - set(plain_environment()):
        monkeypatch.delenv(name)
    return tmp_path / "gateway"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: apt install curl")
def test_the_page_shows_what_a_reader_gets(here: Path) -> None:
    pytest.importorskip("fastapi")
    shown = 0
    for block, command, expected, printed in read(blocks(PAGE), here):
        if expected:
            assert agrees(printed, expected), f"{block.name}: {command}"
            shown += 1
    assert shown >= 5
    assert (here / "men.csv").read_text() == "condition\nHeart\nSARS\nSARS\nViral\n"
    assert not (here / "older.csv").exists(), "what was refused was written"


def test_the_service_starts_a_command_that_there_is() -> None:
    from tacit.cli import cli

    unit = (HERE / "tacit-gateway.service").read_text("utf-8")
    program, command, *words = shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1])  # type: ignore[index]
    known = {
        option
        for one in cli.commands[command].params
        for option in (*one.opts, *one.secondary_opts)
    }
    assert program.endswith("/tacit") and command == "serve"
    assert [word for word in words if word.startswith("--")] and not [
        word for word in words if word.startswith("--") and word not in known
    ]


def main() -> None:
    """Write into the page what its commands print today."""
    import tempfile
    from unittest.mock import patch

    from refresh import refreshed

    with (
        patch.dict(os.environ, plain_environment(), clear=True),
        tempfile.TemporaryDirectory() as folder,
        reading(pages=False) as reader,
    ):
        os.chdir(copied(Path(folder)))
        text = refreshed(PAGE, Path(folder), reader)
        os.chdir(ROOT)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
