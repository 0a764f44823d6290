"""Parts of what a person reads in the terminal: tables, gauges, and texts beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tacit.model.verdict import Audience
from tacit.report import query_evidence

STYLES = {"holds": "green", "breached": "bold red", "undecided": "yellow"}
WORDS = {"holds": "holds", "breached": "BREACHED", "undecided": "undecided"}
INDENT = 13
MARKS = {"+": "bold red", "-": "bold red", "": ""}


def below(what: str | RenderableType, console: Console, space: int = 0) -> None:
    """Print something below a verdict, after so many empty lines."""
    console.print(Padding(Text(what) if isinstance(what, str) else what, (space, 4, 0, INDENT)))


def two_instances(blocks: Sequence[RenderableType], width: int, console: Console) -> RenderableType:
    """Two blocks side by side where they fit, else one below the other."""
    wide = sum(Measurement.get(console, console.options, block).maximum for block in blocks) + 4
    if wide > width:
        return Group(blocks[0], "", blocks[1])
    grid = Grid.grid(padding=(0, 4, 0, 0))
    grid.add_row(*blocks)
    return grid


def small_table(rows: query_evidence.MarkedRows) -> Group:
    """A few rows below their caption and column names, with a mark
    before those that are added or go.
    """
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=1)
    if rows.head:
        grid.add_row("", *(Text(name, style="dim") for name in rows.head))
    for row, mark in zip(rows.rows, rows.marks, strict=True):
        grid.add_row(
            Text(mark, style=MARKS[mark]), *(Text(cell, style=MARKS[mark]) for cell in row)
        )
    return Group(Text(rows.caption, style="dim" if not rows.head else ""), grid)


def gauge(share: float | Fraction, letters: int, style: str = "") -> Text:
    """A share as a bar of so many letters.

    >>> gauge(Fraction(1, 2), 6).plain
    '███░░░'
    """
    filled = min(letters, int(share * letters))
    return Text("█" * filled, style=style).append("░" * (letters - filled), style="dim")


def two_sides(left: str | Text, right: Text) -> Grid:
    """Two texts at the two ends of a line."""
    grid = Grid.grid(expand=True, padding=(0, 1, 0, 0))
    grid.add_column(ratio=1)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(left, right)
    return grid


def hanging(label: str, text: str, indent: int) -> Grid | Padding:
    """A bold label and a text; the text's further lines are indented."""
    if len(label) < indent:
        grid = Grid.grid()
        grid.add_column(width=indent, no_wrap=True)
        grid.add_column()
        grid.add_row(Text(label, style="bold"), Text(text))  # square brackets in it are no markup
        return grid
    return Padding(Text(label + " ", style="bold").append(text, style="not bold"), (0, 0, 0, 0))


def personal(audience: Audience) -> Text:
    """Whether personal values are shown."""
    said = (
        "owner's view: contains personal values"
        if audience == "owner"
        else "no personal values shown"
    )
    return Text(said, style="dim")


def headed(head: str, rest: str) -> Text:
    """A bold beginning and the rest of a line."""
    return Text(head, style="bold").append(rest, style="not bold")


def show_advice(advice: Sequence[str], console: Console) -> None:
    """What would have to give where nothing was found."""
    if advice:
        console.print()
        put(console, headed("What would have to give, one of these:", ""))
    for line in advice:
        put(console, f"- {line}", 4)


def put(console: Console, text: str | Text, indent: int = 2) -> None:
    """Print a text some letters from the edge."""
    console.print(Padding(Text(text) if isinstance(text, str) else text, (0, 0, 0, indent)))
