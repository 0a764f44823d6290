"""What a person reads in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tacit.checking.assess import Assessment
from tacit.families.words import listed, people
from tacit.model.numbers import percents
from tacit.model.verdict import Audience, Verdict, subject_text
from tacit.report import crowds, queries, worlds

if TYPE_CHECKING:
    from tacit.families.overlaps.stages import Stages

STYLES = {"holds": "green", "breached": "bold red", "undecided": "yellow"}
WORDS = {"holds": "holds", "breached": "BREACHED", "undecided": "undecided"}
INDENT = 13
MOST_SENTENCES = 4  # about queries: many views make many adversaries
MOST_PAIRS = 4
MOST_PARTNERS = 2  # releases that a headline names
BAR = 20  # letters of a gauge
MARKS = {"+": "bold red", "-": "bold red", "": ""}


def show(assessment: Assessment, console: Console, audience: Audience = "owner") -> None:
    """Print the verdicts, release by release, and what they rest on."""
    show_tables(assessment, console, audience)
    told: dict[str, Verdict] = {}
    for release, verdicts in by_release(assessment.verdicts):
        console.print()
        console.print(headline(release, verdicts, assessment.verdicts))
        for number, verdict in enumerate(verdicts):
            if number and has_tables(verdicts[number - 1], audience):
                console.print()
            first = (
                told.setdefault(same_story(verdict), verdict)
                if queries.is_about_queries(verdict)
                else verdict
            )
            show_verdict(
                verdict,
                console,
                audience,
                first if first is not verdict else None,
                assessment.stages.get(release),
            )
    show_legend(assessment.verdicts, console, audience)
    show_assumptions(assessment.verdicts, console)


def show_tables(assessment: Assessment, console: Console, audience: Audience) -> None:
    """Who is in which table, and who must not learn what."""
    told = tables(assessment)
    owner = (
        "owner's view: contains personal values"
        if audience == "owner"
        else "no personal values shown"
    )
    for text in told:
        console.print(two_sides(text, Text(owner, style="dim")))
        owner = ""
    if not told and any(
        worlds.is_about_worlds(verdict) and not worlds.is_made_up(verdict)
        for verdict in assessment.verdicts
    ):
        console.print(two_sides(Path(assessment.plan).name, Text(owner, style="dim")))
    for name in ("protects", "against", "measure"):
        label = {"protects": "Secret", "against": "Adversary", "measure": "Measure"}[name]
        for sentence in sentences(assessment.verdicts, name):
            console.print(hanging(label, sentence, 11))
            label = ""


def tables(assessment: Assessment) -> list[str]:
    """The tables that were looked at, each in a line."""
    counted = {
        question.table.name: (
            f"{question.table.name}: {question.rows:,} rows, {people(question.people)}"
        )
        for question in assessment.questions.values()
    }
    seen = {
        name: f"{name}: {people(number)} judged"
        for name, number in assessment.people.items()
        if name not in counted
    }
    return [*counted.values(), *seen.values()]


def sentences(verdicts: Sequence[Verdict], name: str) -> list[str]:
    """What verdicts say of their secrets, adversaries or measures;
    of many views only the first few.
    """
    found = list(dict.fromkeys(getattr(verdict, name) for verdict in verdicts))
    if len(found) <= MOST_SENTENCES or not all("secret" in verdict.subject for verdict in verdicts):
        return found
    return [*found[: MOST_SENTENCES - 1], f"and {len(found) - MOST_SENTENCES + 1} more like these"]


def by_release(verdicts: Iterable[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """Verdicts by what they judge, in the plan's order."""
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(subject_text(verdict.subject), []).append(verdict)
    return list(found.items())


def conclusion(verdicts: Sequence[Verdict], every: Sequence[Verdict] = ()) -> Text:
    """What to do with a release. `every` verdict counts:
    also of a check that judges it together with others.
    """
    statuses = {verdict.status for verdict in verdicts}
    if "breached" in statuses:
        return Text("DO NOT RELEASE", style=STYLES["breached"])
    if "undecided" in statuses:
        return Text("not decided", style=STYLES["undecided"])
    if joint := not_together(verdicts, every):
        own = "meet their own checks" if len(judged(verdicts[0])) > 1 else "meets its own checks"
        return Text(f"{own}, {joint}", style=STYLES["undecided"])
    return Text("meets the checks of this plan", style=STYLES["holds"])


def not_together(verdicts: Sequence[Verdict], every: Sequence[Verdict]) -> str:
    """With which other releases what is judged here does not hold, in words;
    nothing where there are none.
    """
    own = judged(verdicts[0]) if verdicts else []
    for status, words in (
        ("breached", "not together with"),
        ("undecided", "not decided together with"),
    ):
        for one in every:
            others = [name for name in judged(one) if name not in own]
            if one.status == status and others and set(own) < set(judged(one)):
                return f"{words} {listed(others) if len(others) <= MOST_PARTNERS else 'others'}"
    return ""


def judged(verdict: Verdict) -> list[str]:
    """The releases that a verdict is about."""
    named = verdict.subject.get("releases", verdict.subject.get("release", ()))
    return [named] if isinstance(named, str) else list(named)


def headline(release: str, verdicts: list[Verdict], every: Sequence[Verdict] = ()) -> Grid:
    """A release and what to do with it."""
    return two_sides(
        Text(queries.heading(release, verdicts), style="bold"), conclusion(verdicts, every)
    )


def show_verdict(
    verdict: Verdict,
    console: Console,
    audience: Audience,
    before: Verdict | None = None,
    stages: Stages | None = None,
) -> None:
    """One verdict in a line, and below it the story for the owner;
    `before` has told the same story.
    """
    owner = audience == "owner"
    said = Text(f"{worlds.title(verdict, owner)}   ", style="bold").append(
        queries.because(verdict), style="not bold"
    )
    line = Grid.grid(padding=(0, 2, 0, 0), expand=True)
    line.add_column(width=INDENT - 4)
    line.add_column(ratio=1)
    line.add_column(justify="right", no_wrap=True)
    line.add_row(
        Text(WORDS[verdict.status], style=STYLES[verdict.status]),
        said,
        Text(verdict.certainty, style="dim"),
    )
    console.print(Padding(line, (0, 0, 0, 2)))
    if queries.is_about_queries(verdict):
        show_evidence(verdict, console, before)
    elif worlds.is_about_worlds(verdict):
        show_worlds(verdict, console, owner)
    elif crowds.is_about_overlaps(verdict):
        show_crowds(verdict, console, owner, stages)
    elif verdict.story and owner:
        below(verdict.story, console)
    notes = []
    notes += [f"Reason ({verdict.reason.code}): {verdict.reason.text}"] if verdict.reason else []
    notes += [f"Note: {warning}." for warning in verdict.warnings]
    for note in notes:
        console.print(Padding(Text(note), (0, 4, 0, INDENT)))


def has_tables(verdict: Verdict, audience: Audience) -> bool:
    """Is the verdict's evidence shown as tables?"""
    return bool(
        queries.disclosure(verdict)
        or worlds.evidence(verdict, audience == "owner")
        or crowds.is_about_overlaps(verdict)
    )


def same_story(verdict: Verdict) -> str:
    """Equal for breaches of one secret by the same evidence:
    views together disclose what one of them does.
    """
    return f"{verdict.label} {verdict.subject.get('secret')} {verdict.evidence!r}"


def show_evidence(verdict: Verdict, console: Console, before: Verdict | None) -> None:
    """What a verdict about queries rests on: in words, then as tables.
    None of it is anybody's value.
    """
    found = queries.disclosure(verdict)
    if found is None:
        pairs = queries.subgoal_pairs(verdict)
        for pair in pairs[:MOST_PAIRS]:
            below(
                f"{pair.secret} and {pair.view}: {pair.without} does without that row by "
                f"{pair.mapping}",
                console,
            )
        if len(pairs) > MOST_PAIRS:
            below(f"and {len(pairs) - MOST_PAIRS} more, see --json", console)
    elif before is not None:
        view, where = found.sides[1].name, subject_text(before.subject)
        below(
            f"{view} does so alone, see above."
            if view == where
            else f"It is {view}, see above: {where}.",
            console,
        )
    else:
        below(queries.words(verdict), console)
        below(
            two_instances(
                [instance(side) for side in found.sides], console.width - INDENT - 4, console
            ),
            console,
            space=1,
        )
        for rows in found.path:
            below(
                Group(Text("rows of which each excludes the next", style="dim"), small_table(rows)),
                console,
                space=1,
            )
        if found.changes:
            advice = Text("To make it hold: ", style="bold").append(
                f"{' or '.join(found.changes)}.", style="not bold"
            )
            below(advice, console, space=1)


def show_worlds(verdict: Verdict, console: Console, owner: bool) -> None:
    """What a verdict about worlds rests on: in words, then as tables; and what was counted."""
    if words := worlds.story(verdict, owner):
        below(words, console)
    for line in worlds.reasons(verdict) if not words else ():
        below(f"{line}.", console)
    found = worlds.evidence(verdict, owner)
    if found and found.databases:
        below(databases(found.databases, console.width - INDENT - 4, console), console, space=1)
    if found and found.same:
        below(Text(f"The same in both: {found.same}.", style="dim"), console)
    for rows in found.more if found else ():
        below(small_table(rows), console, space=1)
    if found and found.odds:
        below(odds(found.odds), console, space=1)
    if numbers := worlds.counted(verdict):
        below(Text(f"Before -> after: {numbers}.", style="dim"), console, space=1 if found else 0)


def databases(found: Sequence[worlds.Database], width: int, console: Console) -> RenderableType:
    """Databases with the secret's answers, table beside table where there is room, else one
    below the other.
    """
    columns: list[list[RenderableType]] = [
        [
            Text(one.title, style="bold"),
            *map(small_table, (*one.tables, *([one.answer] if one.answer else []))),
        ]
        for one in found
    ]
    blocks = [Group(*column) for column in columns]
    wide = sum(Measurement.get(console, console.options, block).maximum for block in blocks) + 4
    if len(blocks) == 2 and wide > width:
        return Group(blocks[0], "", blocks[1])
    grid = Grid.grid(padding=(0, 4, 0, 0))
    for row in zip(*columns, strict=True):
        grid.add_row(*row)
    return grid


def odds(found: worlds.Odds) -> Group:
    """Two secrets with their numbers of databases, and the first one's share of both."""
    parts: list[RenderableType] = [small_table(found.secrets)]
    if found.before is not None and found.after is not None:
        parts.append(Text("the first one's share of both", style="dim"))
        texts = percents(found.before, found.after)
        for when, share, text in zip(
            ("before", "after"), (found.before, found.after), texts, strict=True
        ):
            parts.append(Text(f"   {when:<7}").append_text(gauge(share, 20)).append(f" {text}"))
    return Group(*parts)


def show_crowds(verdict: Verdict, console: Console, owner: bool, stages: Stages | None) -> None:
    """What a verdict about overlapping views rests on:
    who is above gamma and since when, or the smallest crowds.
    """
    if verdict.story and owner:
        below(verdict.story, console)
    if owner and (values := crowds.may_have(verdict)):
        below(f"{values}.", console)
    if numbers := crowds.measured(verdict):
        below(Text(f"{numbers[0].upper()}{numbers[1:]}.", style="dim"), console)
    if verdict.status != "breached":
        return
    for rows in (
        crowds.above(verdict) if owner else None,
        crowds.smallest_crowds(verdict, owner=owner),
    ):
        if rows is not None:
            below(small_table(rows), console, space=1)
    if owner and (more := crowds.left_out(verdict)):
        below(f"   and {more:,} more, see --json", console)
    limit = crowds.gamma([verdict])
    if limit is not None and (course := crowds.course(stages, limit, owner=owner)):
        below(course_table(course), console, space=1)
    if words := crowds.advice(verdict):
        below(
            Text("To make it hold: ", style="bold").append(words, style="not bold"),
            console,
            space=1,
        )


def course_table(course: crowds.Course) -> Group:
    """A person's largest share after each release, as gauges."""
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for column in ({"width": 1}, {}, {"no_wrap": True}, {"justify": "right", "no_wrap": True}, {}):
        grid.add_column(**column)
    for step in course.steps:
        bar = gauge(step.share or 0, BAR, "red" if step.is_above else "")
        grid.add_row(
            "",
            f"after {step.release}",
            bar,
            Text(step.percent, style="bold" if step.is_above else ""),
            step.text,
        )
    return Group(Text(f"largest share of the tables for {course.who}"), grid)


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


def instance(side: queries.Side) -> Group:
    """A query's instance with the row that matters, and its answers without and with that row."""
    parts: list[RenderableType] = [Text(f"{side.role} {side.name}", style="bold")]
    parts += [small_table(rows) for rows in side.tables]
    if side.without and side.with_:
        answers = Grid.grid(padding=(0, 3, 0, 0))
        answers.add_row(small_table(side.without), small_table(side.with_))
        parts.append(answers)
    return Group(*parts)


def small_table(rows: queries.Rows) -> Group:
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


def show_legend(verdicts: Sequence[Verdict], console: Console, audience: Audience) -> None:
    """What the tables' marks and new values mean, once."""
    about_queries = [found for verdict in verdicts if (found := queries.disclosure(verdict))]
    about_worlds = [
        one for verdict in verdicts if (one := worlds.evidence(verdict, audience == "owner"))
    ]
    for text in (
        queries.legend(about_queries) if about_queries else "",
        worlds.legend(about_worlds),
    ):
        if text:
            console.print()
            console.print(Text(text, style="dim"))


def show_assumptions(verdicts: Iterable[Verdict], console: Console) -> None:
    """What the verdicts rely on and cannot prove."""
    found = list(dict.fromkeys(one for verdict in verdicts for one in verdict.assumptions))
    console.print()
    for label, checked in (
        ("Assumed, not checked:", ("no", "cannot")),
        ("Assumed and checked:", ("yes",)),
    ):
        texts = [one.text for one in found if one.checked in checked]
        if texts:
            console.print(hanging(label, "; ".join(texts) + ".", 2))


def show_next(steps: Iterable[str], console: Console) -> None:
    """The next steps, in one line."""
    console.print(hanging("Next:", "  |  ".join(steps), 2))


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


def put(console: Console, text: str | Text, indent: int = 2) -> None:
    """Print a text some letters from the edge."""
    console.print(Padding(Text(text) if isinstance(text, str) else text, (0, 0, 0, indent)))
