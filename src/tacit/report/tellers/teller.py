"""Teller: how any verdict is told; the kinds of release that have more to show add to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.report.html.cards import grids, parameters

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.families.family import Answered, Question
    from tacit.model.verdict import Audience, Verdict
    from tacit.report.charts.portrait_chart import Chart

VERDICT_WORDS = {
    "witness": (
        "The least evidence of a breach that a person can follow and a program can check again."
    ),
    "holds, breached, undecided": "The three answers of a check. Undecided never counts as holds.",
}


@dataclass(frozen=True, slots=True)
class PagePart:
    """Something that a page shows below a verdict: `macro` of parts.html draws `value`."""

    macro: str
    value: Any


class Teller:
    """What is told of a verdict.

    `words` are those that a page explains. `repeats`: another verdict may rest on the same
    evidence, which is then told once. `names_together`: releases that are judged as one are called
    so in a heading. `names_plan`: where no table was counted, the plan stands at the top.
    """

    words: ClassVar[Mapping[str, str]] = VERDICT_WORDS
    repeats: ClassVar[bool] = False
    names_together: ClassVar[bool] = False
    names_plan: ClassVar[bool] = False

    def title(self, verdict: Verdict, owner: bool) -> str:
        """What was asked."""
        return verdict.label

    def because(self, verdict: Verdict) -> str:
        """Why, in a sentence."""
        return verdict.because

    def story(self, verdict: Verdict, owner: bool) -> str:
        """What happened, in words."""
        return (verdict.story or "") if owner else ""

    def has_rows(self, verdict: Verdict) -> bool:
        """May the verdict hold something from the owner's rows?"""
        return True

    # -- in the terminal ---------------------------------------------------------------------------

    def show(
        self, answered: Answered[Question], console: Console, owner: bool, before: Verdict | None
    ) -> None:
        """Print what a verdict rests on; `before` has told the same."""
        from tacit.report.terminal.text_parts import below

        if words := self.story(answered.verdict, owner):
            below(words, console)

    def has_tables(self, verdict: Verdict, owner: bool) -> bool:
        """Is the evidence shown as tables?"""
        return False

    def legend(self, verdicts: Sequence[Verdict], owner: bool) -> str:
        """What the tables' marks mean, told once."""
        return ""

    # -- on a page ---------------------------------------------------------------------------------

    def treated(self, answered: Answered[Question]) -> Mapping[str, Mapping[str, str]]:
        """What is done with each column of the releases that are copies of a table."""
        return {}

    def measured(self, verdict: Verdict) -> str:
        """What was measured, in a line."""
        return parameters(verdict.measured)

    def facts(self, verdict: Verdict) -> list[tuple[str, str]]:
        """What was measured and required, term by term."""
        return [
            ("Measured", self.measured(verdict)),
            ("Required", parameters(verdict.required)),
        ]

    def evidence(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """What a verdict rests on."""
        return []

    def witness(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """The witness, where the evidence does not show it."""
        if not owner or verdict.witness is None:
            return []
        return [PagePart("all_grids", grids(verdict.witness))]

    def fine(self, verdict: Verdict) -> str:
        """A line for experts, folded."""
        return ""

    def graphs(self, answered: Answered[Question]) -> Sequence[Chart]:
        """Pictures of what a verdict is about, which stand with it."""
        return ()

    def figures(self, answered: Sequence[Answered[Question]]) -> list[tuple[str, str]]:
        """A release in a few numbers."""
        return []

    def charts(self, answered: Sequence[Answered[Question]], audience: Audience) -> list[Chart]:
        """Pictures of a release."""
        return []

    def not_drawn(self, answered: Sequence[Answered[Question]]) -> str:
        """Why something is not drawn."""
        return ""
