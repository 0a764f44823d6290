"""How answers about overlapping views are told."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group
from rich.table import Table as Grid
from rich.text import Text

from tacit.families.family import Answered, Question
from tacit.families.overlaps.family import OverlapPicture
from tacit.families.overlaps.stages import Stages
from tacit.model.verdict import Audience, Verdict
from tacit.report import crowds
from tacit.report.charts.portrait_chart import Chart
from tacit.report.tellers.teller import VERDICT_WORDS, PagePart, Teller
from tacit.report.terminal.text_parts import below, gauge, small_table

CROWD_WORDS = {**crowds.WORDS, **VERDICT_WORDS}
BAR = 20  # letters of a gauge


class OverlapTeller(Teller):
    """Who is above gamma and since when, and who is in which crowd."""

    words = CROWD_WORDS
    names_together = True

    def show(
        self, answered: Answered[Question], console: Console, owner: bool, before: Verdict | None
    ) -> None:
        """Who is above gamma, or the smallest crowds."""
        show_crowds(answered.verdict, console, owner, picture_of([answered]).stages)

    def has_tables(self, verdict: Verdict, owner: bool) -> bool:
        """Always."""
        return True

    def facts(self, verdict: Verdict) -> list[tuple[str, str]]:
        """Shares, tables and crowds."""
        return [
            ("Measured", self.measured(verdict)),
            ("Required", crowds.required(verdict)),
        ]

    def measured(self, verdict: Verdict) -> str:
        """Shares and crowds, in a line."""
        return crowds.measured(verdict, page=True)

    def evidence(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """Who is exposed, and what would help."""
        return [PagePart("exposed", verdict)] if verdict.status == "breached" else []

    def witness(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """The evidence has it."""
        return []

    def figures(self, answered: Sequence[Answered[Question]]) -> list[tuple[str, str]]:
        """People, tables and shares."""
        return crowds.figures(picture_of(answered).stages, [one.verdict for one in answered])

    def charts(self, answered: Sequence[Answered[Question]], audience: Audience) -> list[Chart]:
        """Who is in which release, and everybody's beliefs."""
        found, verdicts = picture_of(answered), [one.verdict for one in answered]
        return crowds.charts(found.stages, verdicts, audience, found.seats)

    def not_drawn(self, answered: Sequence[Answered[Question]]) -> str:
        """Why beliefs are not drawn."""
        return crowds.not_drawn(picture_of(answered).stages)


def picture_of(answered: Sequence[Answered[Question]]) -> OverlapPicture:
    """What is drawn of some releases; that of gamma-privacy before that of crowds."""
    found = [one.picture for one in answered if isinstance(one.picture, OverlapPicture)]
    return min(found, key=lambda one: one.stages is None, default=OverlapPicture())


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


TELLER = OverlapTeller()
