"""What a person reads of an attack: stories in the terminal and as a
page, each with its beliefs as bars.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tacit.families.microdata.attacks.stories import Attack, Story, StoryStep
from tacit.families.words import people, spoken
from tacit.model.numbers import percents
from tacit.model.verdict import Audience
from tacit.report.charts.portrait_chart import (
    EXPOSED,
    FAINT,
    MUTED,
    ROW,
    SHELTERED,
    Chart,
    frame,
    layer,
    picture,
    raw,
    shortened,
    text_mark,
)
from tacit.report.html.pages import render_page, write_page
from tacit.report.terminal.text_parts import gauge, two_sides

BAR = 24  # letters of a bar in the terminal
MOST_STEPS = 8  # of a story; one person's own chart has them all
WIDTH, RIGHT = 340, 60


def show(attack: Attack, console: Console, audience: Audience = "owner") -> None:
    """Print every story: the finding, for the owner the story itself, and its beliefs as bars."""
    note = (
        "owner's view: contains personal values"
        if audience == "owner"
        else "no personal values shown"
    )
    console.print(two_sides(title(attack, audience), Text(note, style="dim")))
    several = len({story.sensitive for story in attack.stories} - {None}) > 1
    for story in attack.stories:
        console.print()
        which = f" of {spoken(story.sensitive)}" if several and story.sensitive else ""
        console.print(Padding(Text(story.attack + which, style="bold"), (0, 0, 0, 2)))
        console.print(Padding(Text(f"{story.headline}."), (0, 4, 0, 4)))
        if story.text and audience == "owner":
            console.print(Padding(Text(story.text), (0, 4, 0, 4)))
        for line in () if attack.target is not None else bars(steps_of(story, audience)):
            console.print(Padding(line, (0, 0, 0, 4)))
    for column in columns(attack) if attack.target is not None else ():
        console.print()
        console.print(
            Padding(Text(path_title(attack, column, audience), style="bold"), (0, 0, 0, 2))
        )
        for line in bars(path(attack, column, audience)):
            console.print(Padding(line, (0, 0, 0, 4)))
    for warning in attack.warnings:
        console.print(Text(f"Note: {warning}."))


def title(attack: Attack, audience: Audience) -> Text:
    """What was attacked."""
    text = Text(attack.release, style="bold").append(
        f"   {people(attack.people)}", style="not bold"
    )
    if attack.target is not None:
        text.append(f"   target: {who(attack, audience)}", style="not bold")
    return text


def who(attack: Attack, audience: Audience) -> str:
    """The target by name, for the owner."""
    return (
        " ".join(str(one) for one in (attack.target or {}).values())
        if audience == "owner"
        else "one person"
    )


def columns(attack: Attack) -> list[str | None]:
    """The sensitive columns of which stories are told."""
    return [
        one
        for one in dict.fromkeys(story.sensitive for story in attack.stories)
        if attack.path(one)
    ]


def path_title(attack: Attack, column: str | None, audience: Audience) -> str:
    """Whose belief a path shows."""
    return f"belief in the true {spoken(str(column))} of {who(attack, audience)}, step by step"


def path(attack: Attack, column: str | None, audience: Audience) -> Sequence[StoryStep]:
    """The path of a target's belief; for others than the owner without what is ruled out."""
    steps = attack.path(column)
    return (
        steps
        if audience == "owner"
        else [*steps[:2], *(StoryStep("and knowing more", one.belief) for one in steps[2:])]
    )


def steps_of(story: Story, audience: Audience) -> Sequence[StoryStep]:
    """The beliefs of a story: each step for the owner, else before and after."""
    if story.before is None or story.after is None:
        return ()
    if audience != "owner" or not story.steps:
        return (StoryStep("before", story.before), StoryStep("after", story.after))
    if len(story.steps) <= MOST_STEPS:
        return story.steps
    left = len(story.steps) - MOST_STEPS
    return (
        *story.steps[: MOST_STEPS - 1],
        StoryStep(f"... ({left} more), and {story.steps[-1].knowing}", story.steps[-1].belief),
    )


def bars(steps: Sequence[StoryStep]) -> Iterator[Text]:
    """Beliefs as bars, from before the release on.

    >>> from fractions import Fraction
    >>> [line.plain for line in bars([StoryStep("with the release", Fraction(1, 2))])]
    ['████████████░░░░░░░░░░░░   50 %  with the release']
    """
    for step, number in zip(steps, numbers(steps), strict=True):
        text = gauge(step.belief, BAR, "red" if step.belief == 1 else "")
        yield text.append(f"  {number:>5}  ", style="bold").append(step.knowing, style="not bold")


def numbers(steps: Sequence[StoryStep]) -> tuple[str, ...]:
    """The beliefs in percent."""
    return percents(*(step.belief for step in steps)) if steps else ()


@dataclass(frozen=True, slots=True)
class Card:
    """One story as the page shows it."""

    story: Story
    chart: Chart | None


def write_attack(attack: Attack, file: Path, audience: Audience) -> None:
    """Write the page to a file: whole, or not at all."""
    write_page(render(attack, audience), file)


def render(attack: Attack, audience: Audience) -> str:
    """The page as text; for a `shared` audience without any personal value."""
    paths = (
        [path_chart(attack, column, audience) for column in columns(attack)]
        if attack.target is not None
        else []
    )
    cards = [
        Card(story, story_chart(story, audience) if attack.target is None else None)
        for story in attack.stories
    ]
    return render_page(
        "attack_page.html",
        audience,
        attack=attack,
        everybody=people(attack.people),
        who=who(attack, audience),
        cards=cards,
        paths=paths,
    )


def story_chart(story: Story, audience: Audience) -> Chart | None:
    """A story's beliefs as bars."""
    steps = steps_of(story, audience)
    if not steps:
        return None
    before, after = percents(steps[0].belief, steps[-1].belief)
    return belief_chart(steps, f"{before} before, {after} after")


def path_chart(attack: Attack, column: str | None, audience: Audience) -> Chart:
    """The path of a target's belief as bars."""
    found = path_title(attack, column, audience)
    return belief_chart(path(attack, column, audience), found[0].upper() + found[1:])


def belief_chart(steps: Sequence[StoryStep], title: str) -> Chart:
    """Bars for beliefs, from the least knowledge to the most."""
    rows = [
        {
            "row": ROW * place + 32,
            "head": ROW * place + 13,
            "knowing": shortened(step.knowing, 52),
            "length": float(step.belief) * WIDTH,
            "number": number,
            "colour": EXPOSED if place and step.belief > steps[0].belief else SHELTERED,
        }
        for place, (step, number) in enumerate(zip(steps, numbers(steps), strict=True))
    ]
    ground: dict[str, Any] = {"type": "rule", "color": FAINT, "strokeWidth": 10}
    start = {"value": 0}
    spec = {
        **frame(WIDTH, ROW * len(rows), left=0, right=RIGHT),
        "layer": [
            layer(
                rows,
                text_mark("left"),
                x=start,
                y=raw("head"),
                text={"field": "knowing"},
                color={"value": MUTED},
            ),
            layer(rows, ground, x=start, x2={"value": WIDTH}, y=raw("row")),
            layer(
                rows,
                {"type": "rule", "strokeWidth": 10},
                x=start,
                x2=raw("length"),
                y=raw("row"),
                color=raw("colour"),
            ),
            layer(
                rows,
                text_mark("left", dx=10, weight=600),
                x={"value": WIDTH},
                y=raw("row"),
                text={"field": "number"},
            ),
        ],
    }
    told = "; ".join(
        f"{step.knowing}: {number}" for step, number in zip(steps, numbers(steps), strict=True)
    )
    note = "How sure somebody can be, from the least knowledge to the most."
    return Chart(title, note, picture(spec, title, told))
