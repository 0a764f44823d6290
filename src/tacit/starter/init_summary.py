"""What a person reads in the terminal after `tacit init`."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from tacit.families.words import plural
from tacit.plan.edit.spelling import printed
from tacit.starter.guessing import PLEASE_CHECK
from tacit.starter.start import Starter

STYLES = {"identifier": "magenta", "quasi-identifier": "yellow", "sensitive": "bold red"}


def show(starter: Starter, console: Console) -> None:
    """Print every column with its role and the reason, and what to do next."""
    console.print(
        Text(
            f"{printed(starter.table)}: {plural('row', starter.rows)}, "
            f"{plural('column', len(starter.guesses))}"
        )
    )
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("column", "type", "role", "why"):
        grid.add_column(heading, overflow="fold")
    for one in starter.guesses:
        role = Text(one.role or "not released", style=STYLES.get(one.role or "", "dim"))
        why = Text(one.why, style="bold" if one.why.startswith(PLEASE_CHECK) else "")
        grid.add_row(Text(printed(one.name)), one.facts.kind, role, why)
    console.print(grid)
    console.print()
    console.print(next_step(starter))


def next_step(starter: Starter) -> Text:
    """What to do with the plan."""
    plan = printed(str(starter.plan))
    command = "tacit check" if plan == "tacit.yaml" else f"tacit check {plan}"
    return Text("Next: ", style="bold").append(
        f"read {plan}, correct the roles, then: {command}", style="not bold"
    )
