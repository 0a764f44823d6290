"""What a person reads in the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tacit.assess import Assessment
from tacit.model.verdict import Audience, Verdict, subject_text

STYLES = {"holds": "green", "breached": "bold red", "undecided": "yellow"}
WORDS = {"holds": "holds", "breached": "BREACHED", "undecided": "undecided"}
INDENT = 13


def show(assessment: Assessment, console: Console, audience: Audience = "owner") -> None:
    """Print the verdicts, release by release, and what they rest on."""
    show_tables(assessment, console, audience)
    for release, verdicts in by_release(assessment.verdicts):
        console.print()
        console.print(headline(release, verdicts))
        for verdict in verdicts:
            show_verdict(verdict, console, audience)
    show_assumptions(assessment.verdicts, console)


def show_tables(assessment: Assessment, console: Console, audience: Audience) -> None:
    """Who is in which table, and who must not learn what."""
    told = set()
    owner = "owner's view: contains personal values" if audience == "owner" else "no personal values shown"
    for question in assessment.questions.values():
        if question.table.name in told:
            continue
        told.add(question.table.name)
        text = f"{question.table.name}: {question.rows:,} rows, {question.people:,} people"
        console.print(two_sides(text, Text(owner, style="dim")))
        owner = ""
    for name in ("protects", "against", "measure"):
        label = {"protects": "Secret", "against": "Adversary", "measure": "Measure"}[name]
        for sentence in dict.fromkeys(getattr(verdict, name) for verdict in assessment.verdicts):
            console.print(hanging(label, sentence, 11))
            label = ""


def by_release(verdicts: Iterable[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """Verdicts by what they judge, in the plan's order."""
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(subject_text(verdict.subject), []).append(verdict)
    return list(found.items())


def conclusion(verdicts: Iterable[Verdict]) -> Text:
    """What to do with a release."""
    statuses = {verdict.status for verdict in verdicts}
    if "breached" in statuses:
        return Text("DO NOT RELEASE", style=STYLES["breached"])
    if "undecided" in statuses:
        return Text("not decided", style=STYLES["undecided"])
    return Text("meets the checks of this plan", style=STYLES["holds"])


def headline(release: str, verdicts: list[Verdict]) -> Grid:
    """A release and what to do with it."""
    return two_sides(Text(release, style="bold"), conclusion(verdicts))


def show_verdict(verdict: Verdict, console: Console, audience: Audience) -> None:
    """One verdict in a line, and below it the story for the owner."""
    said = Text(f"{verdict.label}   ", style="bold").append(verdict.because, style="not bold")
    line = Grid.grid(padding=(0, 2, 0, 0), expand=True)
    line.add_column(width=INDENT - 4)
    line.add_column(ratio=1)
    line.add_column(justify="right", no_wrap=True)
    line.add_row(
        Text(WORDS[verdict.status], style=STYLES[verdict.status]), said, Text(verdict.certainty, style="dim")
    )
    console.print(Padding(line, (0, 0, 0, 2)))
    notes = [verdict.story] if verdict.story and audience == "owner" else []
    notes += [f"Reason ({verdict.reason.code}): {verdict.reason.text}"] if verdict.reason else []
    notes += [f"Note: {warning}." for warning in verdict.warnings]
    for note in notes:
        console.print(Padding(Text(note), (0, 4, 0, INDENT)))


def show_assumptions(verdicts: Iterable[Verdict], console: Console) -> None:
    """What the verdicts rely on and cannot prove."""
    found = list(dict.fromkeys(one for verdict in verdicts for one in verdict.assumptions))
    console.print()
    for label, checked in (("Assumed, not checked:", ("no", "cannot")), ("Assumed and checked:", ("yes",))):
        texts = [one.text for one in found if one.checked in checked]
        if texts:
            console.print(hanging(label, "; ".join(texts) + ".", 2))


def show_next(steps: Iterable[str], console: Console) -> None:
    """The next steps, in one line."""
    console.print(hanging("Next:", "  |  ".join(steps), 2))


def two_sides(left: str | Text, right: Text) -> Grid:
    """Two texts at the two ends of a line."""
    grid = Grid.grid(expand=True)
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
        grid.add_row(Text(label, style="bold"), text)
        return grid
    return Padding(Text(label + " ", style="bold").append(text, style="not bold"), (0, 0, 0, 0))
