"""How answers about view safety are told."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from tacit.families.family import Answered, Question
from tacit.model.numbers import percents
from tacit.model.verdict import Verdict
from tacit.report import world_evidence
from tacit.report.charts.world_chart import counts_chart
from tacit.report.html.cards import shown
from tacit.report.tellers.queries import QUERY_WORDS
from tacit.report.tellers.teller import VERDICT_WORDS, PagePart, Teller
from tacit.report.terminal.text_parts import INDENT, below, gauge, small_table

WORLD_WORDS = {
    "view": QUERY_WORDS["view"],
    "secret": "A query whose answer nobody may learn more about than is published.",
    "possible database": (
        "One that satisfies the constraints, and on which all published views have the "
        "answers that are published. The data are one of them; each new view rules some out."
    ),
    "plausible secret": "An answer that the secret has on some possible database.",
    "odds": (
        "How many possible databases have one secret, for each that has another. To somebody "
        "who takes databases with the same secret as equally likely, a view says nothing "
        "about the secret exactly if no odds change."
    ),
    "_fresh1, _fresh2, ...": (
        "Any other values: such as are neither in the data nor in a query or constraint."
    ),
    **VERDICT_WORDS,
}


class WorldsTeller(Teller):
    """Databases that a new view rules out, or odds that it changes."""

    words = WORLD_WORDS
    names_together = True
    names_plan = True

    def title(self, verdict: Verdict, owner: bool) -> str:
        """What was asked: also for which value of the secret's parameters, and against whom."""
        return world_evidence.title(verdict, owner)

    def story(self, verdict: Verdict, owner: bool) -> str:
        """What happened, unless the reasons say it."""
        return "" if world_evidence.reasons(verdict) else super().story(verdict, owner)

    def has_rows(self, verdict: Verdict) -> bool:
        """Unless all of it was made up."""
        return not world_evidence.is_fictional(verdict)

    def show(
        self, answered: Answered[Question], console: Console, owner: bool, before: Verdict | None
    ) -> None:
        """In words, then as tables; and what was counted."""
        show_worlds(answered.verdict, console, owner)

    def has_tables(self, verdict: Verdict, owner: bool) -> bool:
        """Databases and odds are."""
        return bool(world_evidence.evidence(verdict, owner))

    def legend(self, verdicts: Sequence[Verdict], owner: bool) -> str:
        """What marks and new values mean."""
        return world_evidence.legend(
            [one for each in verdicts if (one := world_evidence.evidence(each, owner))]
        )

    def facts(self, verdict: Verdict) -> list[tuple[str, str]]:
        """What was published before, asked and measured."""
        return [
            ("Already published", shown(verdict.subject.get("given", ()))),
            ("Asked", world_evidence.databases_text(verdict)),
            ("Measured", self.measured(verdict)),
        ]

    def measured(self, verdict: Verdict) -> str:
        """What was counted, in a line."""
        return world_evidence.measured(verdict)

    def evidence(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """Databases, or how it follows from what is published; and what was counted."""
        found: list[PagePart] = []
        if evidence := world_evidence.evidence(verdict, owner):
            found.append(PagePart("compared", evidence))
        elif reasons := world_evidence.reasons(verdict):
            found.append(PagePart("how", reasons))
        if counts := world_evidence.counts(verdict):
            found.append(PagePart("figure", counts_chart(counts)))
        return found

    def witness(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """The evidence has it."""
        return []


def show_worlds(verdict: Verdict, console: Console, owner: bool) -> None:
    """What a verdict about worlds rests on: in words, then as tables; and what was counted."""
    if words := world_evidence.story(verdict, owner):
        below(words, console)
    for line in world_evidence.reasons(verdict) if not words else ():
        below(f"{line}.", console)
    found = world_evidence.evidence(verdict, owner)
    if found and found.databases:
        below(databases(found.databases, console.width - INDENT - 4, console), console, space=1)
    if found and found.same:
        below(Text(f"The same in both: {found.same}.", style="dim"), console)
    for rows in found.more if found else ():
        below(small_table(rows), console, space=1)
    if found and found.odds:
        below(odds(found.odds), console, space=1)
    if numbers := world_evidence.counted(verdict):
        below(Text(f"Before -> after: {numbers}.", style="dim"), console, space=1 if found else 0)


def databases(
    found: Sequence[world_evidence.Database], width: int, console: Console
) -> RenderableType:
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


def odds(found: world_evidence.Odds) -> Group:
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


TELLER = WorldsTeller()
