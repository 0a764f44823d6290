"""What a person reads of possible worlds: how many, which secrets they have, some or all of
them, and their templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tacit.families.queries.facts import Fact
from tacit.families.words import listed, plural
from tacit.families.worlds.listing import ListedWorld, Plausible, WorldListing
from tacit.families.worlds.runs.explain import TEMPLATES_EXPLAIN, ExplainedWorlds
from tacit.families.worlds.templates import Templates
from tacit.model.numbers import percents
from tacit.model.verdict import Audience
from tacit.report import world_evidence
from tacit.report.charts.portrait_chart import Chart
from tacit.report.charts.world_chart import SecretShare, counts_chart, secrets_chart, share
from tacit.report.html.pages import render_page, write_page
from tacit.report.query_evidence import NEW, text_row
from tacit.report.terminal.text_parts import STYLES, WORDS, gauge, hanging, two_sides

BAR = 12  # letters of a bar
WIDE = 80  # columns of a terminal in which before and after stand side by side
MOST_SECRETS = 12
MOST_TEMPLATES = 20
MOST_ROWS = 12  # of a world
SHARED = "Which databases and secrets these are is for the owner: ask with --audience owner."
THE_DATA = "the data"


@dataclass(frozen=True, slots=True)
class WorldLine:
    """A world as a line: whether it stays, its secret, and the rows that it has (+) or lacks (-)
    beside the data.
    """

    number: int
    after: bool
    is_data: bool
    secret: str
    more: tuple[str, ...]
    less: tuple[str, ...]
    left_out: int = 0


def show(found: ExplainedWorlds, console: Console, audience: Audience = "owner") -> None:
    """Print what is asked: worlds and secrets, templates."""
    owner = audience == "owner"
    note = "owner's view: contains personal values" if owner else "no personal values shown"
    console.print(
        two_sides(
            Text(world_evidence.title(found.verdict, owner), style="bold"), Text(note, style="dim")
        )
    )
    if case := which_case(found, owner):
        console.print(Text(case))
    status = found.verdict.status
    why = found.verdict.reason.text if found.verdict.reason else f"{found.verdict.because}."
    console.print(
        Text(WORDS[status], style=STYLES[status]).append(f"  {why}", style="not bold default")
    )
    if found.listing is not None:
        console.print()
        for label, text in numbers(found.listing):
            console.print(hanging(label, text, 11))
        if owner:
            show_secrets(found, console)
            show_listed(found, console)
    if owner and found.templates is not None:
        show_templates(found, console)
    last = [
        *([] if owner else [SHARED]),
        *(f"Note: {note}." for note in found.notes),
        *([fresh_words(found)] if owner and has_fresh(found) else []),
    ]
    if last:
        console.print()
    for line in last:
        console.print(Text(line))


def which_case(found: ExplainedWorlds, owner: bool) -> str:
    """Which of several adversaries and values of parameters is shown, and why."""
    if found.cases == 1:
        return ""
    values = f", {found.case.parameters}" if owner and found.case.values else ""
    who = listed(found.case.who) or "everybody"
    why = {
        "breached": "the first that is breached",
        "undecided": "the first that is not decided",
    }.get(found.verdict.status, "and all of them hold")
    return (
        f"Case {found.number} of {found.cases} "
        f"({who}{values}){'' if found.picked else f', {why}'}. Another one: --case N."
    )


def numbers(shown: WorldListing) -> list[tuple[str, str]]:
    """How many worlds and secrets there are before and after."""
    return [
        ("Databases", _counted(shown.before, shown.after, "too many to be counted")),
        ("Secrets", _counted(shown.secrets_before, shown.secrets_after, "not counted")),
    ]


def _counted(before: int | None, after: int | None, unknown: str) -> str:
    if before is None and after is None:
        return f"{unknown}."
    first, second = (unknown if one is None else f"{one:,}" for one in (before, after))
    return f"{first} before, {second} after."


# -- secrets ---------------------------------------------------------------------------------------


def is_boolean(found: ExplainedWorlds) -> bool:
    """Is the secret a yes/no question?"""
    return all(not part.head for part in found.setting.secret.parts)


def secrets_shown(shown: WorldListing) -> list[Plausible]:
    """The secrets with the most worlds, and the one of the data."""
    first = list(shown.secrets[:MOST_SECRETS])
    return first + [one for one in shown.secrets[MOST_SECRETS:] if one.is_data]


def show_secrets(found: ExplainedWorlds, console: Console) -> None:
    """The plausible secrets, with their numbers of worlds and shares of all worlds as bars."""
    shown = found.listing
    assert shown is not None
    if (
        not shown.secrets
        or shown.before is None
        or shown.after is None
        or shown.secrets_before is None
    ):
        return
    console.print()
    console.print(
        Text(f"Databases by the answer of {found.verdict.subject['secret']}", style="bold")
    )
    some = secrets_shown(shown)
    shares = [(share(one.before, shown.before), share(one.after, shown.after)) for one in some]
    widest = max(max(pair) for pair in shares)
    texts = [world_evidence.secret_text(one.rows, boolean=is_boolean(found)) for one in some]
    grid = Grid.grid(padding=(0, 2, 0, 0))
    if console.width >= WIDE:
        grid.add_row("", Text("before", style="dim"), "", Text("after", style="dim"), "")
        for one, text, (before, after) in zip(some, texts, shares, strict=True):
            grid.add_row(
                Text(text),
                *_bar(one.before, before, widest, after),
                *_bar(one.after, after, widest, before, new=True),
                _data_mark(one.is_data),
            )
    else:
        for one, text, (before, after) in zip(some, texts, shares, strict=True):
            grid.add_row(Text(text).append_text(_data_mark(one.is_data, "  ")))
            grid.add_row(
                Padding(
                    Text("before ", style="dim").append_text(
                        _line(one.before, before, widest, after)
                    ),
                    (0, 0, 0, 2),
                )
            )
            grid.add_row(
                Padding(
                    Text("after  ", style="dim").append_text(
                        _line(one.after, after, widest, before, new=True)
                    ),
                    (0, 0, 0, 2),
                )
            )
    console.print(Padding(grid, (0, 0, 0, 2)))
    if left := shown.secrets_before - len(some):
        console.print(
            Padding(Text(f"and {plural('other secret', left)}", style="dim"), (0, 0, 0, 2))
        )


def _bar(
    number: int, part: Fraction, widest: Fraction, other: Fraction, *, new: bool = False
) -> tuple[Text, Text]:
    style = "red" if new and other != part else ""
    text = percents(other, part)[1] if new else percents(part, other)[0]
    return Text(f"{number:,}", justify="right"), gauge(part / widest, BAR, style).append(
        f" {text}", style="not bold"
    )


def _line(
    number: int, part: Fraction, widest: Fraction, other: Fraction, *, new: bool = False
) -> Text:
    figure, bar = _bar(number, part, widest, other, new=new)
    return bar.append(f"  {figure.plain}")


def _data_mark(is_data: bool, space: str = "") -> Text:
    return Text(f"{space}{THE_DATA}" if is_data else "", style="dim")


# -- worlds ----------------------------------------------------------------------------------------


def which_worlds(shown: WorldListing) -> str:
    """What the listed worlds are."""
    if shown.complete:
        return "All possible databases before"
    if shown.uniform and shown.before is not None:
        return (
            f"{len(shown.worlds)} of {shown.before:,} possible databases before, drawn with "
            "the same chance"
        )
    return (
        f"{plural('possible database', len(shown.worlds))} before, as the solver found them: "
        "no fair sample"
    )


def lines(found: ExplainedWorlds) -> list[WorldLine]:
    """The listed worlds as lines."""
    shown, data = found.listing, found.setting.instance
    boolean = is_boolean(found)
    return [
        _line_of(number, one, data, boolean)
        for number, one in enumerate(shown.worlds if shown else (), 1)
    ]


def _line_of(
    number: int, one: ListedWorld, data: frozenset[Fact] | None, boolean: bool
) -> WorldLine:
    here, there = set(one.facts), data or frozenset()
    mentioned = {fact.relation for fact in one.facts} | {fact.relation for fact in there}
    more = sorted(fact_text(fact) for fact in one.facts if fact not in there)
    less = sorted(
        fact_text(fact) for fact in there if fact not in here and fact.relation in mentioned
    )
    kept = more[:MOST_ROWS]
    fewer = less[: MOST_ROWS - len(kept)]
    left = len(more) + len(less) - len(kept) - len(fewer)
    return WorldLine(
        number,
        one.after,
        one.is_data,
        world_evidence.secret_text(one.secret, boolean=boolean),
        tuple(kept),
        tuple(fewer),
        left,
    )


def fact_text(fact: Fact) -> str:
    """A row as a person writes it.

    >>> fact_text(Fact("RS", ("r1", None)))
    'RS(r1,NULL)'
    """
    # without spaces, at which lines would break
    return f"{fact.relation}({','.join(text_row(fact.values))})"


def show_listed(found: ExplainedWorlds, console: Console) -> None:
    """The worlds, each with its fate, its secret and its differences from the data."""
    shown = found.listing
    assert shown is not None
    console.print()
    console.print(Text(which_worlds(shown), style="bold"))
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(max_width=max(12, console.width // 4))
    grid.add_column(ratio=1)
    compared = (
        "beside the data it has (+) and lacks (-)"
        if found.setting.instance is not None
        else "its rows"
    )
    grid.add_row("", *(Text(text, style="dim") for text in ("after", "secret", compared)))
    for line in lines(found):
        fate = (
            Text("stays", style=STYLES["holds"])
            if line.after
            else Text("ruled out", style=STYLES["breached"])
        )
        grid.add_row(
            str(line.number),
            fate,
            Text(line.secret),
            rows_text(line, found.setting.instance is not None),
        )
    console.print(Padding(grid, (0, 0, 0, 2)))


def rows_text(line: WorldLine, compared: bool) -> Text:
    """The rows of a world that differ from the data."""
    if line.is_data:
        return Text(THE_DATA, style="dim")
    text = Text("  ").join(
        [
            Text(f"{'+' if compared else ''}{one}", style="red" if compared else "")
            for one in line.more
        ]
        + [Text(f"-{one}", style="dim") for one in line.less]
    )
    if line.left_out:
        text.append(f"  and {line.left_out:,} more", style="dim")
    return text if text else Text("no rows", style="dim")


# -- templates -------------------------------------------------------------------------------------


def show_templates(found: ExplainedWorlds, console: Console) -> None:
    """The templates before and after."""
    assert found.templates is not None
    for when, one in (("before", found.templates.before), ("after", found.templates.after)):
        console.print()
        console.print(Text(templates_title(one, when), style="bold"))
        for text in templates_text(one):
            console.print(Padding(Text(text), (0, 0, 0, 2)))
    console.print()
    console.print(Text(TEMPLATES_EXPLAIN))


def templates_title(one: Templates, when: str) -> str:
    """How many templates there are."""
    many = plural("template", len(one.found))
    return f"{many} {when}" if one.complete else f"{many} {when}, and there may be more"


def templates_text(one: Templates) -> list[str]:
    """Some templates as text."""
    shown = [str(each) for each in one.found[:MOST_TEMPLATES]]
    return shown + (
        [f"and {len(one.found) - MOST_TEMPLATES} more, see --json"]
        if len(one.found) > MOST_TEMPLATES
        else []
    )


def has_fresh(found: ExplainedWorlds) -> bool:
    """Is there a value that stands for others?"""
    rows = [
        row
        for one in (found.listing.worlds if found.listing else ())
        for row in (*(fact.values for fact in one.facts), *one.secret)
    ]
    values = [*(value for row in rows for value in row), *found.case.values.values()]
    return any(isinstance(value, str) and value.startswith(NEW) for value in values)


def fresh_words(found: ExplainedWorlds) -> str:
    """What new values stand for."""
    return "_fresh0, _fresh1, ... stand for any other value."


# -- the page --------------------------------------------------------------------------------------


def write_worlds(found: ExplainedWorlds, file: Path, audience: Audience) -> None:
    """Write the page to a file: whole, or not at all."""
    write_page(render(found, audience), file)


def render(found: ExplainedWorlds, audience: Audience) -> str:
    """The page as text; for a `shared` audience without any personal value."""
    owner = audience == "owner"
    shown = found.listing
    return render_page(
        "explained_worlds_page.html",
        audience,
        found=found,
        title=world_evidence.title(found.verdict, owner),
        case=which_case(found, owner),
        numbers=numbers(shown) if shown else [],
        charts=charts(found, owner),
        worlds_title=which_worlds(shown) if shown else "",
        secrets=secret_rows(found) if owner else [],
        lines=lines(found) if owner else [],
        templates=[
            (templates_title(one, when), templates_text(one))
            for when, one in (("before", found.templates.before), ("after", found.templates.after))
        ]
        if found.templates and owner
        else [],
        explain=TEMPLATES_EXPLAIN,
        shared=SHARED,
        fresh=fresh_words(found) if owner and has_fresh(found) else "",
    )


def charts(found: ExplainedWorlds, owner: bool) -> list[Chart]:
    """How many worlds and secrets stay, and for the owner the worlds by secret."""
    shown = found.listing
    if shown is None:
        return []
    pairs = [
        ("database", shown.before, shown.after),
        ("secret", shown.secrets_before, shown.secrets_after),
    ]
    counted = [
        (word, before, after)
        for word, before, after in pairs
        if before is not None and after is not None
    ]
    drawn = [counts_chart(counted)]
    if owner and shown.secrets and shown.before is not None and shown.after is not None:
        some = [
            SecretShare(
                world_evidence.secret_text(one.rows, boolean=is_boolean(found)),
                one.before,
                one.after,
            )
            for one in secrets_shown(shown)
        ]
        drawn.append(secrets_chart(some, shown.before, shown.after))
    return [one for one in drawn if one is not None]


def secret_rows(found: ExplainedWorlds) -> Sequence[tuple[str, str, str, bool]]:
    """The plausible secrets that are shown: each with its numbers of worlds before and after,
    and whether it is that of the data.
    """
    shown = found.listing
    if shown is None:
        return []
    boolean = is_boolean(found)
    return [
        (
            world_evidence.secret_text(one.rows, boolean=boolean),
            f"{one.before:,}",
            f"{one.after:,}",
            one.is_data,
        )
        for one in secrets_shown(shown)
    ]
