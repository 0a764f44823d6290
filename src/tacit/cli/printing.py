"""Where answers, messages and progress go, and for whom they are."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.model.verdict import Audience


def chosen(audience: str | None) -> Audience:
    """Who will read this: as asked, else the owner; in CI logs nobody's personal values."""
    if audience is None:
        return "shared" if os.environ.get("CI") else "owner"
    return "owner" if audience == "owner" else "shared"


def screen() -> Console:
    """Standard output; as wide as the terminal, 100 columns where there is none."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 100)


def messages() -> Console:
    """Standard error, for progress and messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A bar with the time left, on standard error, where somebody is watching."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    console = messages()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading the table", total=1.0)
        yield lambda text, share: bar.update(task, description=text, completed=share)


def print_json(document: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
