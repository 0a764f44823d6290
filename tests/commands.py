"""Running the command line in a test: what it printed, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit import cli


class Ran:
    """What a command printed, and how it ended."""

    def __init__(self, status: int, captured: Any) -> None:
        self.status, self.out, self.err = status, captured.out, captured.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def tacit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Run a command in the `folder` that a test file prepares."""

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr("sys.argv", ["tacit", *arguments])
        return Ran(cli.run(), capsys.readouterr())

    return run
