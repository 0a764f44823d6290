"""Assessments as the terminal shows them."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from tacit.checking.assess import Assessment
from tacit.report.terminal import verdict_lines as terminal


def printed(assessment: Assessment, width: int = 100, audience: Any = "owner") -> str:
    """What the terminal shows, without spaces at the ends of lines."""
    screen = io.StringIO()
    terminal.show(assessment, Console(file=screen, width=width, highlight=False), audience)
    return "\n".join(line.rstrip() for line in screen.getvalue().splitlines())
