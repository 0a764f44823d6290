"""What a person reads after `tacit anonymize`:
the release in words, what it costs, and what to do next.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tacit.families.microdata.runs.explore import Explored, Rung
from tacit.families.microdata.runs.repair_results import Choice, NotRepaired, Repaired
from tacit.families.words import listed, plural
from tacit.model.numbers import percent, plain
from tacit.model.verdict import Audience
from tacit.plan.read.load import load_plan
from tacit.report import repair_words
from tacit.report.terminal.text_parts import (
    STYLES,
    gauge,
    hanging,
    headed,
    personal,
    put,
    show_advice,
    two_sides,
)
from tacit.report.terminal.verdict_lines import show_assumptions, show_next, show_verdict

BAR = 12  # letters of a bar
MOST_CHOICES = 8  # solutions that are listed


def show(
    found: Repaired | NotRepaired,
    console: Console,
    audience: Audience = "owner",
    plan: Path = Path("tacit.yaml"),
) -> None:
    """Print what was found: the release and what it costs, or why there is none."""
    if isinstance(found, NotRepaired):
        show_not_repaired(found, console, audience, plan)
        return
    show_headline(found, console, audience)
    show_columns(found, console, audience)
    show_utility(found, console)
    show_choices(found, console, audience)
    console.print()
    style = STYLES["undecided" if found.not_asked or not found.is_judged else "holds"]
    console.print(
        two_sides(
            Text(found.release, style="bold"),
            Text(repair_words.describe_conclusion(found), style=style),
        )
    )
    for verdict in found.verdicts:
        show_verdict(verdict, console, audience)
    if left := repair_words.describe_unasked_checks(found):
        console.print(Padding(hanging("not asked", left, 11), (0, 4, 0, 2)))
    show_assumptions(found.verdicts, console)
    show_aware(found, console, audience)
    show_output(found, console)
    show_steps(found, console, plan)


def write_page(found: Repaired | NotRepaired, report: Path | None, audience: Audience) -> None:
    """Write the page, where asked."""
    if report is not None:
        from tacit.report.html.pages import write_page as write
        from tacit.report.html.repair_page import render

        write(render(found, audience), report)


def show_headline(found: Repaired, console: Console, audience: Audience) -> None:
    """What was made, how, and whether it is the best."""
    raw = found.recoded.raw
    console.print(
        two_sides(
            headed(found.release, f"   {repair_words.describe_dropped_rows(found)}"),
            personal(audience),
        )
    )
    console.print(
        hanging("Table", f"{raw.table.name}: {raw.base.rows:,} rows, {raw.people:,} people", 9)
    )
    console.print(hanging("Method", repair_words.describe_method(found), 9))
    console.print(hanging("Best?", repair_words.proof(found), 9))
    if few := repair_words.dropping_told(found):
        console.print(hanging("Or", f"{few.removesuffix('.')} (--suppress 1%).", 9))


def show_columns(found: Repaired, console: Console, audience: Audience) -> None:
    """What became of each quasi-identifier."""
    console.print()
    grid = Grid.grid(padding=(0, 3, 0, 0))
    for told in repair_words.columns(found, audience):
        shown = " -> ".join(told.example) if told.example else ""
        lost = (
            Text("nothing lost")
            if not told.loss
            else gauge(told.loss, BAR).append(f"  {percent(told.loss)} lost")
        )
        grid.add_row(
            Text(told.name, style="bold"),
            told.steps,
            Text(shown, overflow="ellipsis", no_wrap=True),
            lost,
        )
    console.print(Padding(grid, (0, 0, 0, 2)))
    if found.recoded.generalization is None and audience == "owner":
        before, after = repair_words.example_row(found)
        put(console, f"For example: {before}  ->  {after}")


def show_utility(found: Repaired, console: Console) -> None:
    """Every measure before and after."""
    console.print()
    grid = Grid.grid(padding=(0, 3, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(style="dim")
    grid.add_row(
        Text("What it costs", style="bold"),
        Text("before", style="dim"),
        Text("after", style="dim"),
        "",
    )
    for one in repair_words.figures(found):
        says = f"{one.says} (kept small)" if one.chosen else one.says
        grid.add_row(
            Text(one.name, style="bold" if one.chosen else ""), one.before, one.after, says
        )
    console.print(Padding(grid, (0, 0, 0, 2)))


def show_choices(found: Repaired, console: Console, audience: Audience) -> None:
    """The other ways to meet the checks, with what they cost and what they risk."""
    said = repair_words.describe_choices(found)
    if not said:
        return
    console.print()
    if len(found.choices) < 2:
        put(console, said)
        return
    listed = repair_words.some(found.choices, MOST_CHOICES)
    labels = repair_words.labels_for(found, audience)
    names = list(found.recoded.raw.quasi)
    rows = choice_rows(found, listed, labels, names)
    common = ""
    if not fits(rows, console):
        first = listed[0][1].generalization
        names = [n for n in names if any(one.generalization[n] != first[n] for _, one in listed)]
        same = {name: level for name, level in first.items() if name not in names}
        common = repair_words.describe_each(same, labels)
        rows = choice_rows(found, listed, labels, names)
    if wraps := not fits(rows, console):
        rows = choice_rows(found, listed, labels, names, one_cell=True)
    if labels:
        said += " For each column: what its most frequent value becomes."
    said += (
        " Smallest: how many people the smallest group has. Belief: the greatest in "
        "anybody's value."
    )
    console.print(Padding(Text(said), (0, 4, 0, 2)))
    if common:
        console.print(Padding(Text(f"The same in all that follow: {common}."), (0, 4, 0, 2)))
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for head in rows[0]:
        told = head in (*names, "levels", "")
        grid.add_column(
            justify="left" if told else "right", no_wrap=not (wraps and head == "levels")
        )
    for place, cells in enumerate(rows):
        style = "dim" if not place else "bold" if listed[place - 1][1].chosen else ""
        grid.add_row(*map(Text, cells), style=style)  # square brackets in them are no markup
    console.print(Padding(grid, (0, 0, 0, 2)))
    if left := len(found.choices) - len(listed):
        put(
            console,
            Text(f"and {plural('other', left)}; --report has the picture of all", style="dim"),
        )


def fits(rows: Sequence[Sequence[str]], console: Console) -> bool:
    """Does a table have room in the terminal?"""
    wide = sum(max(map(cell_len, column)) + 2 for column in zip(*rows, strict=True))
    return wide <= console.width - 4


def choice_rows(
    found: Repaired,
    listed: Sequence[tuple[int, Choice]],
    labels: Mapping[str, Sequence[Any]],
    names: Sequence[str],
    *,
    one_cell: bool = False,
) -> list[list[str]]:
    """The solutions as a table with its head and the levels of some columns;
    with `one_cell` these are in one cell, the last.
    """
    dropped = any(choice.suppressed for choice in found.choices)
    costs = [found.utility["measure"], "smallest", "belief", *(["dropped"] if dropped else []), ""]
    rows = [["#", *costs, "levels"] if one_cell else ["#", *names, *costs]]
    for place, choice in listed:
        levels = {name: choice.generalization[name] for name in names}
        told = [
            repair_words.number(choice.cost),
            f"{int(1 / choice.risk):,}",
            percent(choice.belief) if choice.belief is not None else "-",
            *([f"{choice.suppressed:,}"] if dropped else []),
            ("<- written" if found.output else "<- found") if choice.chosen else "",
        ]
        each = [
            repair_words.level_words(labels.get(name, ()), level) for name, level in levels.items()
        ]
        rows.append(
            [str(place), *told, repair_words.describe_each(levels, labels)]
            if one_cell
            else [str(place), *each, *told]
        )
    return rows


def show_aware(found: Repaired, console: Console, audience: Audience) -> None:
    """What somebody would learn who knows how the levels were chosen."""
    label = "Who knows how they were chosen:"
    for place, said in enumerate(repair_words.describe_aware_attacker(found)):
        console.print(hanging(label if not place else "And:", said, 2))
        story = found.aware[place] if found.aware else None
        if story is not None and story.people and story.text and audience == "owner":
            console.print(Padding(Text(story.text), (0, 4, 0, 4)))


def show_output(found: Repaired, console: Console) -> None:
    """Where the release is, and what is not in it."""
    if found.output is None:
        if not found.is_judged:
            console.print()
            console.print(hanging("Not written", repair_words.not_judged(found), 13))
        return
    console.print()
    said = (
        f"{found.output}: {found.recoded.released:,} rows in random order; "
        f"{', '.join(repair_words.columns_written(found))}"
    )
    console.print(hanging("Written", said, 13))
    if left := repair_words.describe_unwritten_columns(found):
        console.print(hanging("Not written", left, 13))
    if not found.is_judged:
        console.print(hanging("Unjudged", repair_words.not_judged(found), 13))


def show_steps(found: Repaired, console: Console, plan: Path) -> None:
    """What to do now."""
    lines = repair_words.snippet(found, load_plan(plan))
    if lines:
        console.print(hanging("To check", f"the file by itself, add to {plan}:", 13))
        for line in lines:
            console.print(Text(" " * 15 + line), soft_wrap=True)
        name, given = shlex.quote(f"{found.release}-written"), shlex.quote(str(plan))
        show_next(
            [f"tacit check {given} --only {name}", f"tacit attack {name} --plan {given}"], console
        )
    elif found.recoded.generalization is not None:
        levels = ", ".join(
            f"{name}: {level}" for name, level in found.recoded.generalization.items() if level
        )
        then = (
            f"tacit check {shlex.quote(str(plan))}"
            if found.not_asked or not found.is_judged
            else f"tacit attack {found.release}"
        )
        step = f"write generalization: {{{levels}}} to {found.release} in {plan}, then {then}"
        show_next([step], console)


def show_not_repaired(found: NotRepaired, console: Console, audience: Audience, plan: Path) -> None:
    """Why there is no release, and what would have to give."""
    ending = (
        Text("cannot be met", style="bold red")
        if found.proved
        else Text("nothing found", style="yellow")
    )
    console.print(two_sides(Text(found.release, style="bold"), ending))
    put(console, f"{found.because[0].upper()}{found.because[1:]}. Nothing was written.")
    if found.nodes[1]:
        proof = "This is proved" if found.proved else "This is no proof"
        put(
            console,
            f"{proof}. Asked: {found.nodes[0]:,} of {plural('choice', found.nodes[1])} of levels.",
        )
    if found.verdicts:
        console.print()
        put(console, headed("The coarsest release", ", every column at its highest level:"))
    for verdict in found.verdicts:
        show_verdict(verdict, console, audience)
    show_advice(found.advice, console)
    console.print()
    look = f"tacit anonymize {shlex.quote(found.release)} --explore --plan {shlex.quote(str(plan))}"
    show_next([f"change {plan}", look], console)


def show_explored(explored: Explored, console: Console, audience: Audience = "owner") -> None:
    """Which parameters can be met at which cost."""
    measure = explored.utility
    console.print(headed(explored.release, f"   which parameters can be met, at which {measure}"))
    console.print(
        Text(
            "Each line changes one parameter and leaves all other checks as they are.", style="dim"
        )
    )
    most = max((rung.cost for rung in explored.rungs if rung.cost is not None), default=0.0)
    most = max(most, 1.0) if measure == "loss" else most
    for (check, parameter), rungs in groupby(
        explored.rungs, key=lambda one: (one.name or one.label, one.parameter)
    ):
        console.print()
        put(console, headed(check, f"   {parameter}"))
        labels = explored.labels if audience == "owner" else {}
        console.print(Padding(rung_grid(list(rungs), most, labels), (0, 0, 0, 4)))
    if not explored.rungs:
        console.print(Text("The checks of this release have no parameter to move."))
    for note in notes(explored.rungs):
        console.print(Text(note, style="dim"))
    if explored.not_asked:
        console.print(
            hanging("Not asked:", f"{listed(explored.not_asked)}. Ask with tacit check.", 2)
        )
    console.print()
    command = f"tacit anonymize {shlex.quote(explored.release)} -o FILE.csv"
    show_next([f"set the parameters in the plan, then {command}"], console)


def rung_grid(rungs: Sequence[Rung], most: float, labels: Mapping[str, Sequence[Any]]) -> Grid:
    """One parameter: each value with its cost, or that it cannot be met."""
    grid = Grid.grid(padding=(0, 3, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for together in merged_neighbours(rungs):
        rung, value = together[0], rung_values(together)
        style = "bold" if rung.asked_for else ""
        plans = "  <- the plan" if rung.asked_for else ""
        if rung.cost is None:
            said = Text("cannot be met" if rung.proved else "nothing found in time", style="yellow")
            grid.add_row(
                value, Text("-", style="dim"), "", said.append(plans, style="not bold"), style=style
            )
            continue
        dropped = f", {plural('row', rung.suppressed)} dropped" if rung.suppressed else ""
        told = (
            f"{repair_words.describe_levels(rung.generalization or {}, labels)}{dropped}"
            f"{'' if rung.proved else ' (not proved)'}{plans}"
        )
        grid.add_row(
            value,
            gauge(rung.cost / most if most else 0.0, BAR),
            repair_words.number(rung.cost),
            told,
            style=style,
        )
    return grid


def merged_neighbours(rungs: Sequence[Rung]) -> Iterator[list[Rung]]:
    """Neighbours that end the same way, and that the plan does not ask for, in one line."""
    for _, several in groupby(enumerate(rungs), key=lambda one: ending(*one)):
        yield [rung for _, rung in several]


def rung_values(together: Sequence[Rung]) -> str:
    """The values of neighbours that are one line."""
    ends = (together[0], together[-1])[: len(together)]
    return " to ".join(plain(Fraction(one.value)) for one in ends)


def ending(place: int, rung: Rung) -> tuple[object, ...]:
    """What must be equal for two lines to be one."""
    if rung.asked_for:
        return (place,)
    levels = tuple((rung.generalization or {}).items())
    return (rung.cost, levels, rung.suppressed, rung.proved)


def notes(rungs: Iterable[Rung]) -> Iterator[str]:
    """What the table's words mean."""
    if any(not rung.proved for rung in rungs):
        yield "Not proved: the time for one line was up; there may be better levels."
