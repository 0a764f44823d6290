"""How answers about queries are told: none of it is anybody's value."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from tacit.families.family import Answered, Question
from tacit.families.queries.question import QueryQuestion
from tacit.model.verdict import Verdict, subject_text
from tacit.report import query_evidence
from tacit.report.charts.portrait_chart import Chart
from tacit.report.charts.query_graphs import graphs
from tacit.report.html.cards import parameters
from tacit.report.tellers.teller import VERDICT_WORDS, PagePart, Teller
from tacit.report.terminal.text_parts import INDENT, below, small_table, two_instances

MOST_PAIRS = 4
QUERY_WORDS = {
    "view": "A release that is a query: others see its answer.",
    "secret": "A query whose answer nobody may learn anything about.",
    "row that matters": (
        "A row is critical for a query if there is some database on which adding it changes "
        "the query's answer. The tables show a smallest such database, and both queries were "
        "run on it."
    ),
    "_fresh1, _fresh2, ...": (
        "New values: any that occur in neither query. Of wide tables the columns are left out "
        "(...) that have only such values, each in one place."
    ),
    "subgoal": "A table as a query uses it, such as stays(pid, 'cancer', ward).",
    **VERDICT_WORDS,
}


class QueryTeller(Teller):
    """A row that matters to the secret and to a view, or why there is none."""

    words = QUERY_WORDS
    repeats = True
    names_together = True

    def title(self, verdict: Verdict, owner: bool) -> str:
        """What was asked, with the secret: a view may be asked about several."""
        asked, bracket, model = verdict.label.partition(" (")
        return f"{asked} of {verdict.subject['secret']}{bracket}{model}"

    def because(self, verdict: Verdict) -> str:
        """Why, in a sentence."""
        return query_evidence.because(verdict)

    def story(self, verdict: Verdict, owner: bool) -> str:
        """What happened, in words."""
        return query_evidence.words(verdict) if verdict.story else ""

    def has_rows(self, verdict: Verdict) -> bool:
        """No row was looked at."""
        return False

    def show(
        self, answered: Answered[Question], console: Console, owner: bool, before: Verdict | None
    ) -> None:
        """In words, then as tables."""
        show_evidence(answered.verdict, console, before)

    def has_tables(self, verdict: Verdict, owner: bool) -> bool:
        """A disclosure is."""
        return query_evidence.disclosure(verdict) is not None

    def legend(self, verdicts: Sequence[Verdict], owner: bool) -> str:
        """What marks and new values mean."""
        found = [one for verdict in verdicts if (one := query_evidence.disclosure(verdict))]
        return query_evidence.legend(found) if found else ""

    def measured(self, verdict: Verdict) -> str:
        """Nothing: what is known of the queries stands in small print."""
        return ""

    def facts(self, verdict: Verdict) -> list[tuple[str, str]]:
        """What was asked."""
        return [("Asked", parameters(verdict.required))]

    def evidence(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """The row that matters, or the pairs of subgoals."""
        if found := query_evidence.disclosure(verdict):
            return [PagePart("disclosed", found)]
        pairs = query_evidence.subgoal_pairs(verdict)
        return [PagePart("subgoals", pairs)] if pairs else []

    def witness(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """Unless the evidence has it."""
        return [] if query_evidence.disclosure(verdict) else super().witness(verdict, owner)

    def fine(self, verdict: Verdict) -> str:
        """The query classes."""
        return query_evidence.classes_text(verdict)

    def graphs(self, answered: Answered[Question]) -> Sequence[Chart]:
        """The secret and the views, each as a picture."""
        verdict = answered.verdict
        evidence = verdict.witness or verdict.certificate
        facts = evidence.facts if evidence else {}
        model = str(verdict.required.get("model", ""))
        question = answered.question
        return graphs(question, facts, model) if isinstance(question, QueryQuestion) else ()


def show_evidence(verdict: Verdict, console: Console, before: Verdict | None) -> None:
    """What a verdict about queries rests on: in words, then as tables.
    None of it is anybody's value.
    """
    found = query_evidence.disclosure(verdict)
    if found is None:
        pairs = query_evidence.subgoal_pairs(verdict)
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
        below(query_evidence.words(verdict), console)
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


def instance(side: query_evidence.EvidenceSide) -> Group:
    """A query's instance with the row that matters, and its answers without and with that row."""
    parts: list[RenderableType] = [Text(f"{side.role} {side.name}", style="bold")]
    parts += [small_table(rows) for rows in side.tables]
    if side.without and side.with_:
        answers = Grid.grid(padding=(0, 3, 0, 0))
        answers.add_row(small_table(side.without), small_table(side.with_))
        parts.append(answers)
    return Group(*parts)


TELLER = QueryTeller()
