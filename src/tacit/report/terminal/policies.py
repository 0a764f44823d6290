"""Policy packs as a person reads them in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from tacit.plan.read.policies import PolicyPack, check_text
from tacit.report.terminal.text_parts import hanging, put

NO_PROMISE = "These checks are all that is asked. Whether the release may go out, you decide."


def show_policies(found: Sequence[PolicyPack], console: Console) -> None:
    """All packs, a line each."""
    grid = Grid.grid(padding=(0, 3, 0, 0))
    for one in found:
        grid.add_row(Text(one.name, style="bold"), Text(one.title))
    console.print(grid)
    console.print()
    console.print(hanging("Next:", "tacit policies NAME", 2))


def show_policy(policy: PolicyPack, console: Console) -> None:
    """A pack, clause by clause."""
    put(console, Text(policy.name, style="bold").append(f"  {policy.title}", style="not bold"), 0)
    console.print(hanging("Source", policy.source, 9))
    console.print(hanging("Seen", policy.seen, 9))
    console.print(hanging("Checks", "; ".join(map(check_text, policy.checks)), 9))
    console.print()
    put(console, Text("Covers", style="bold"), 0)
    for one in policy.covers:
        put(console, f"{one.clause}. By {one.by}: {one.how}.")
    console.print()
    put(console, Text("Does not cover", style="bold"), 0)
    for text in policy.not_covered:
        put(console, f"{text}.")
    console.print()
    put(console, Text(NO_PROMISE, style="dim"), 0)
