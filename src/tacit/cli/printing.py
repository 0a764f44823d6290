"""Where answers, messages and progress go, and for whom they are."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from tacit.report.escaping import escaped

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.errors import TacitError
    from tacit.model.jobs import Job
    from tacit.model.verdict import Audience


class Unheard(Exception):
    """Standard output takes no more, so nobody can be told there; `error` says why."""

    def __init__(self, error: TacitError) -> None:
        super().__init__(str(error))
        self.error = error


def chosen(audience: str | None) -> Audience:
    """Who will read this: as asked, else the owner; in CI logs nobody's personal values."""
    if audience is None:
        return "shared" if os.environ.get("CI") else "owner"
    return "owner" if audience == "owner" else "shared"


def screen() -> Console:
    """Standard output; as wide as the terminal, 100 columns where there is none."""
    from tacit.cli.console import CarefulConsole

    return CarefulConsole(width=None if sys.stdout.isatty() else 100)


def messages() -> Console:
    """Standard error, for progress and messages."""
    from tacit.cli.console import CarefulConsole

    return CarefulConsole(stderr=True)


@contextmanager
def waiting(doing: str) -> Iterator[Callable[[str], None]]:
    """A line that says what is being done, on standard error, where somebody is watching."""
    from rich.text import Text

    with messages().status(Text(doing)) as status:
        yield lambda text: status.update(Text(text))  # brackets in a name are no markup


@contextmanager
def progress() -> Iterator[Job]:
    """A job whose progress is a bar with the time left, on standard error, where somebody is
    watching.
    """
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    from tacit.model.jobs import Job

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    console = messages()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("reading the table", total=1.0)
        yield Job(lambda text, share: bar.update(task, description=text, completed=share))


def print_json(document: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    write_out(json.dumps(document, ensure_ascii=False, indent=2))


def write_out(text: str) -> None:
    """A text for programs on standard output, exactly as it is."""
    with arriving(sys.stdout):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def say(text: str) -> None:
    """A text for people on standard output."""
    write_out(escaped(text))


def warn(text: str, label: str = "") -> None:
    """A message on standard error, after its label; that nobody may hear it stops nothing."""
    with suppress(OSError):
        click.echo(label + escaped(text), err=True)


@contextmanager
def arriving(stream: IO[str]) -> Iterator[None]:
    """Write to a stream. A reader that has left (`| head -1`) stops nothing;
    Unheard where the disk is full.
    """
    try:
        yield
    except BrokenPipeError:
        hang_up(stream)
    except OSError as error:
        from tacit.engines.output import cannot_write

        hang_up(stream)
        raise Unheard(cannot_write(Path("standard output"), error)) from None


def hang_up(stream: IO[str]) -> None:
    """Send the rest of a stream nowhere, also what Python still
    holds and would write when it ends.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
