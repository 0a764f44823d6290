"""A bar for long work: in a notebook below the cell, in a terminal on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from importlib import import_module
from typing import Any

from tacit.model.jobs import Job
from tacit.model.numbers import percent

LONG = 24  # letters of the bar in a terminal


def progress() -> Job:
    """A job that draws its progress; give it as `job=`. Where nobody watches it draws nothing.

    >>> import tacit
    >>> tacit.progress().step("counting", 0.5)
    """
    return Job(tell=in_notebook() or (in_terminal if sys.stderr.isatty() else silent))


def finish(job: Job | None) -> None:
    """The work is done: the bar is full, and its line ends.

    >>> finish(Job(tell=lambda text, share: print(text, share)))
    done 1.0
    """
    if job is not None:
        job.tell("done", 1.0)


def silent(text: str, share: float) -> None:
    """Nobody is watching."""


def in_terminal(text: str, share: float) -> None:
    """The same line of the terminal, written anew; the last step ends it."""
    full = round(LONG * min(max(share, 0.0), 1.0))
    end = "\n" if share >= 1 else ""
    sys.stderr.write(f"\r\x1b[K{'█' * full}{'░' * (LONG - full)} {percent(share)} {text}{end}")
    sys.stderr.flush()


def in_notebook() -> Callable[[str, float], None] | None:
    """A bar below the cell; None where this is no notebook."""
    shell = sys.modules.get("IPython")
    running: Any = shell and shell.get_ipython()
    if running is None or not hasattr(running, "kernel"):
        return None
    ipython: Any = import_module("IPython.display")
    shown = ipython.display(ipython.HTML(""), display_id=True)

    def tell(text: str, share: float) -> None:
        shown.update(ipython.HTML(f'<progress value="{share:.3f}"></progress> {escape(text)}'))

    return tell
