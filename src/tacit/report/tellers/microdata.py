"""How answers about microdata are told."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.families.family import Answered, Question
from tacit.families.microdata.portrait import Portrait
from tacit.model.numbers import percent
from tacit.model.verdict import Audience
from tacit.report.charts.portrait import Chart, charts, noun
from tacit.report.tellers.teller import VERDICT_WORDS, Teller

MICRODATA_WORDS = {
    "release": (
        "What leaves the house: here a copy of a table in which some values are made coarser."
    ),
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

    def figures(self, answered: Sequence[Answered[Question]]) -> list[tuple[str, str]]:
        """People, groups, and beliefs."""
        portrait = portrait_of(answered)
        return figures(portrait) if portrait else []

    def charts(self, answered: Sequence[Answered[Question]], audience: Audience) -> list[Chart]:
        """The sizes of groups, and the beliefs of their people."""
        portrait = portrait_of(answered)
        verdicts = [one.verdict for one in answered]
        return charts(portrait, verdicts, audience) if portrait else []


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
