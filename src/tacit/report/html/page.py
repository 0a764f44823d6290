"""The report of a plan's checks as one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.checking.assess import Assessment
from tacit.families.microdata.portrait import Portrait
from tacit.families.registry import DEFINITIONS, OF_SYNTHETIC
from tacit.model.numbers import percent
from tacit.model.verdict import Audience, Verdict
from tacit.report import crowds
from tacit.report.charts.curves import checked_curves
from tacit.report.charts.portrait import Chart, charts, noun
from tacit.report.charts.query_graphs import query_graphs
from tacit.report.html.cards import CERTAINTY
from tacit.report.html.pages import render_page, write_page
from tacit.report.queries import heading, is_about_queries
from tacit.report.terminal.answers import by_release, conclusion, not_together, tables
from tacit.report.worlds import is_about_worlds, is_made_up

GLOSSARY = {
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
    "witness": (
        "The least evidence of a breach that a person can follow and a program can check again."
    ),
    "holds, breached, undecided": "The three answers of a check. Undecided never counts as holds.",
}
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
    "witness": GLOSSARY["witness"],
    "holds, breached, undecided": GLOSSARY["holds, breached, undecided"],
}
WORLD_WORDS = {
    "view": QUERY_WORDS["view"],
    "secret": "A query whose answer nobody may learn more about than is out already.",
    "possible database": (
        "One that satisfies the constraints, and on which all published views have the "
        "answers that are out. The data are one of them; each new view rules some out."
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
    "witness": GLOSSARY["witness"],
    "holds, breached, undecided": GLOSSARY["holds, breached, undecided"],
}

MECHANISM_WORDS = {
    "epsilon, e^epsilon": (
        "How much likelier an output may become by one person's value: at most e^epsilon times."
    ),
    "delta": "How far that may fail: what is spent beyond it, as a chance.",
    "alpha": "The noise: so many invented people stand in every cell before anybody is drawn.",
    "neighbouring tables": (
        "Two tables that differ in one person's value; everybody stays in their group."
    ),
    "witness": GLOSSARY["witness"],
    "holds, breached, undecided": GLOSSARY["holds, breached, undecided"],
}
CROWD_WORDS = {
    **crowds.WORDS,
    "witness": GLOSSARY["witness"],
    "holds, breached, undecided": GLOSSARY["holds, breached, undecided"],
}


@dataclass(frozen=True, slots=True)
class Section:
    """One release as the page shows it.
    `graphs` has, verdict by verdict, the queries that it is about.
    """

    name: str
    status: str
    conclusion: str
    figures: Sequence[tuple[str, str]]
    verdicts: Sequence[Verdict]
    charts: Sequence[Chart]
    silent: bool
    not_drawn: str = ""
    graphs: Sequence[Sequence[Chart]] = ()
    badge: str = ""  # the colour of its conclusion


def write_report(assessment: Assessment, path: Path, audience: Audience) -> None:
    """Write the report to a file."""
    write_page(render(assessment, audience), path)


def render(assessment: Assessment, audience: Audience) -> str:
    """The page as text; for a `shared` audience without any personal value."""
    assumptions = tuple(dict.fromkeys(one for verdict in assessment for one in verdict.assumptions))
    return render_page(
        "page.html",
        audience,
        plan=Path(assessment.plan).name,
        tables=tables(assessment),
        sections=[
            section(name, verdicts, assessment, audience)
            for name, verdicts in by_release(assessment)
        ],
        unproved=[one for one in assumptions if one.checked != "yes"],
        without_rows=all(
            is_about_queries(verdict) or is_made_up(verdict) for verdict in assessment
        ),
        glossary=glossary(assessment),
    )


def section(
    name: str, verdicts: Sequence[Verdict], assessment: Assessment, audience: Audience
) -> Section:
    """One release: what to do with it, why, and its pictures."""
    portrait, stages = assessment.portraits.get(name), assessment.stages.get(name)
    breached = [verdict for verdict in verdicts if verdict.status == "breached"]
    undecided = any(verdict.status == "undecided" for verdict in verdicts)
    return Section(
        heading(name, verdicts),
        "breached" if breached else "undecided" if undecided else "holds",
        conclusion(verdicts, assessment.verdicts).plain,
        [*(figures(portrait) if portrait else []), *crowds.figures(stages, verdicts)],
        verdicts,
        [
            *(charts(portrait, verdicts, audience) if portrait else []),
            *crowds.charts(stages, verdicts, audience, assessment.seats.get(name)),
            *checked_curves(verdicts),
        ],
        silent=audience == "owner" and not all(simulatable(verdict) for verdict in breached),
        not_drawn=crowds.not_drawn(stages),
        graphs=[query_graphs(verdict, assessment.queries) for verdict in verdicts],
        badge="breached"
        if breached
        else "undecided"
        if undecided or not_together(verdicts, assessment.verdicts)
        else "holds",
    )


def simulatable(verdict: Verdict) -> bool:
    """Could the other side compute this answer without the rows? If
    not, a refusal tells them something.
    """
    if verdict.subject.get("over") in ("domain", "all"):
        return True  # no rows were looked at
    return verdict.check in DEFINITIONS and DEFINITIONS[verdict.check].simulatable


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


def is_about_mechanisms(verdict: Verdict) -> bool:
    """Does it judge how synthetic people are drawn?"""
    return verdict.check in OF_SYNTHETIC


def glossary(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """The words of this page, and how sure its verdicts are."""
    asked = list(verdicts)
    found = dict.fromkeys(verdict.certainty for verdict in asked if verdict.status != "undecided")
    about_rows = (
        {}
        if all(
            is_about_queries(one)
            or is_about_worlds(one)
            or crowds.is_about_overlaps(one)
            or is_about_mechanisms(one)
            for one in asked
        )
        else GLOSSARY
    )
    about_queries = QUERY_WORDS if any(map(is_about_queries, asked)) else {}
    about_worlds = WORLD_WORDS if any(map(is_about_worlds, asked)) else {}
    about_overlaps = CROWD_WORDS if any(map(crowds.is_about_overlaps, asked)) else {}
    about_mechanisms = MECHANISM_WORDS if any(map(is_about_mechanisms, asked)) else {}
    return {
        **about_rows,
        **about_queries,
        **about_worlds,
        **about_overlaps,
        **about_mechanisms,
        **{word: f"Of a verdict: {CERTAINTY[word]}." for word in found},
    }
