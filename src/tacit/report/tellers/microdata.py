"""How answers about microdata are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tacit.families.family import Answered, Question
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.hierarchy import SUPPRESSED
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.portrait import Portrait
from tacit.model.numbers import percent
from tacit.model.verdict import Audience, Verdict
from tacit.plan.edit.notes import SUPPRESSED_NOTE, level_note
from tacit.report.charts.portrait_chart import Chart, charts, noun
from tacit.report.html.cards import HtmlGrid, shown
from tacit.report.query_evidence import MarkedRows
from tacit.report.tellers.teller import VERDICT_WORDS, PagePart, Teller

if TYPE_CHECKING:
    from rich.console import Console

PRINTED = 4  # kinds of people in the terminal
LISTED = 4  # values in a cell
AS_IT_IS = "as it is"

MICRODATA_WORDS = {
    "release": ("What goes out: here a copy of a table in which some values are made coarser."),
    "quasi-identifiers": (
        "Columns that a neighbour, a colleague or another list may know about a person, such "
        "as zip and age."
    ),
    "sensitive": "A column whose value nobody may learn about a person.",
    "group": (
        "All people whose quasi-identifiers look the same in the release. Nobody can tell "
        "them apart by these."
    ),
    "belief": (
        "How likely a person's value is to somebody who counts. Before: the share of it in "
        "the whole table. After: its share in the person's group."
    ),
    **VERDICT_WORDS,
}


class MicrodataTeller(Teller):
    """Groups of people who look the same, and who is exposed in them."""

    words = MICRODATA_WORDS

    def show(
        self, answered: Answered[Question], console: Console, owner: bool, before: Verdict | None
    ) -> None:
        """Print the story, and of several releases what they leave the people with fewest."""
        from tacit.report.terminal.text_parts import below, small_table

        super().show(answered, console, owner, before)
        found = left_grid(answered.verdict, PRINTED, joined=True) if owner else None
        if found is not None and answered.verdict.status == "breached":
            rows = tuple(map(tuple, found.rows))
            table = MarkedRows(found.caption, tuple(found.head), rows, ("",) * len(rows))
            below(small_table(table), console, space=1)

    def treated(self, answered: Answered[Question]) -> Mapping[str, Mapping[str, str]]:
        """Which columns are left out, generalized, or released as they are."""
        asked = answered.question
        alone = asked.asked if isinstance(asked, JointQuestion) else asked
        return {alone.release: treated(alone)} if isinstance(alone, MicrodataQuestion) else {}

    def evidence(self, verdict: Verdict, owner: bool) -> list[PagePart]:
        """What several releases leave people, each alone and together."""
        found = left_grid(verdict) if owner else None
        return [PagePart("all_grids", [found])] if found is not None else []

    def figures(self, answered: Sequence[Answered[Question]]) -> list[tuple[str, str]]:
        """People, groups, and beliefs."""
        portrait = portrait_of(answered)
        return figures(portrait) if portrait else []

    def charts(self, answered: Sequence[Answered[Question]], audience: Audience) -> list[Chart]:
        """The sizes of groups, and the beliefs of their people."""
        portrait = portrait_of(answered)
        verdicts = [one.verdict for one in answered]
        return charts(portrait, verdicts, audience) if portrait else []


def treated(question: MicrodataQuestion) -> dict[str, str]:
    """What is done with each column of a generalized copy, as far as it has a role."""
    table = question.table
    return {
        **dict.fromkeys(table.identifiers, "not released"),
        **{name: level_in_words(question, name) for name in question.quasi},
        **dict.fromkeys((*table.sensitive, *table.insensitive), AS_IT_IS),
    }


def level_in_words(question: MicrodataQuestion, column: str) -> str:
    """How far a quasi-identifier is generalized."""
    tree, shown = question.hierarchies[column], question.levels[column]
    at = next((at for at, level in enumerate(tree.levels) if level is shown), None)
    if at is None:
        return "generalized"
    if not at:
        return AS_IT_IS
    spec, level = question.table.hierarchies.get(column), f"level {at}"
    note = level_note(spec, at) if spec is not None else level
    if set(shown.labels) == {SUPPRESSED}:
        note = SUPPRESSED_NOTE
    return f"{level} of {tree.height}" + (f": {note}" if note != level else "")


def left_grid(
    verdict: Verdict, most: int | None = None, *, joined: bool = False
) -> HtmlGrid | None:
    """The values that are left for people: before, by each release alone, and by all together.

    What is known of them has a column for each attribute, or is `joined` in one for a terminal.
    """
    evidence = verdict.witness or verdict.certificate
    if evidence is None or "left" not in evidence.personal:
        return None
    left, every = evidence.personal["left"], evidence.facts["kinds"]
    kinds = left["kinds"][:most]
    names = evidence.facts["releases"]
    columns = [] if joined else list(dict.fromkeys(name for one in kinds for name in one["known"]))
    rows = [
        (
            *(
                [shown(one["known"][name]) if name in one["known"] else "" for name in columns]
                or [shown(one["known"])]
            ),
            f"{one['people']:,}",
            f"{left['before']:,} values",
            *(some_values(one["alone"].get(name)) for name in names),
            some_values(one["together"]),
        )
        for one in kinds
    ]
    few = f": {len(kinds):,} of {every:,} kinds of people, with the fewest"
    caption = f"Values that are left{few if len(kinds) < every else ''}"
    head = (*(columns or ["people who"]), "people", "before", *names, "together")
    return HtmlGrid(caption, head, rows)


def some_values(found: Mapping[str, Any] | None) -> str:
    """Values in a cell; of many only how many.

    >>> some_values({"number": 2, "values": ["flu", "gout"]}), some_values(None)
    ('2: flu, gout', '(not in it)')
    >>> some_values({"number": 14, "values": ["flu", "gout"]})
    '14 values'
    """
    if found is None:
        return "(not in it)"
    if found["number"] > LISTED:
        return f"{found['number']:,} values"
    told = ", ".join(map(shown, found["values"]))
    return f"{found['number']:,}: {told}" if told else "0"


def portrait_of(answered: Sequence[Answered[Question]]) -> Portrait | None:
    """What is drawn of a release, where it was asked for."""
    return next((one.picture for one in answered if isinstance(one.picture, Portrait)), None)


def figures(portrait: Portrait) -> list[tuple[str, str]]:
    """The release in a few numbers."""
    found = [
        (f"{portrait.people:,}", "people"),
        (f"{portrait.groups:,}", "groups" if portrait.groups > 1 else "group"),
        (f"{portrait.smallest:,}", "in the smallest group"),
    ]
    for exposure in portrait.exposures:
        found.append(
            (percent(exposure.greatest), f"greatest belief in anybody's {noun(exposure.sensitive)}")
        )
        found.append((f"{exposure.certain:,}", f"whose {noun(exposure.sensitive)} is certain"))
    return found


TELLER = MicrodataTeller()
