"""The report of a plan's checks as one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tacit.checking.assess import Assessment
from tacit.families.catalog import DEFINITIONS
from tacit.families.family import Answered, Question
from tacit.model.verdict import Audience, Verdict
from tacit.plan.plan import Plan
from tacit.report.charts.portrait_chart import Chart
from tacit.report.html.cards import CERTAINTY, HtmlGrid
from tacit.report.html.pages import render_page, write_page
from tacit.report.html.record_page import recorded
from tacit.report.tellers import teller_of
from tacit.report.terminal.verdict_lines import by_release, conclusion, heading, not_together
from tacit.report.trials import Tested


@dataclass(frozen=True, slots=True)
class ReleaseSection:
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


@dataclass(frozen=True, slots=True)
class Sealing:
    """What makes a page a dossier: what it was made from, for programs, and as tables; what stands
    in the place of its hash until that is known; and what it was made with.
    """

    said: str
    grids: Sequence[HtmlGrid]
    seal: str
    made_with: str


def write_report(
    assessment: Assessment,
    path: Path,
    audience: Audience,
    plan: Plan | None = None,
    tried: Tested | None = None,
) -> None:
    """Write the report to a file."""
    write_page(render(assessment, audience, plan, tried), path)


def render(
    assessment: Assessment,
    audience: Audience,
    plan: Plan | None = None,
    tried: Tested | None = None,
    today: date | None = None,
    dossier: Sealing | None = None,
) -> str:
    """The page as text; for a `shared` audience without any personal value. With the plan it also
    has what is said for the record, with what was `tried` on its releases, and a place to sign. Of
    a `dossier` it has the ledger's entry, and a place for its hash.
    """
    made_with = dossier.made_with if dossier is not None else None
    assumptions = tuple(dict.fromkeys(one for verdict in assessment for one in verdict.assumptions))
    return render_page(
        "page.html",
        audience,
        plan=Path(assessment.plan).name,
        tables=assessment.looked_at(),
        sections=[
            section(name, answered, assessment, audience)
            for name, answered in by_release(assessment.answered)
        ],
        unproved=[one for one in assumptions if one.checked != "yes"],
        without_rows=not any(teller_of(verdict.check).has_rows(verdict) for verdict in assessment),
        glossary=glossary(assessment),
        record=None
        if plan is None
        else recorded(
            plan, assessment, audience, today, tried, made_with, went_out=dossier is not None
        ),
        dossier=dossier,
    )


def section(
    name: str, answered: Sequence[Answered[Question]], assessment: Assessment, audience: Audience
) -> ReleaseSection:
    """One release: what to do with it, why, and its pictures."""
    verdicts = [one.verdict for one in answered]
    tellers = list(dict.fromkeys(teller_of(verdict.check) for verdict in verdicts))
    breached = [verdict for verdict in verdicts if verdict.status == "breached"]
    undecided = any(verdict.status == "undecided" for verdict in verdicts)
    return ReleaseSection(
        heading(name, verdicts),
        "breached" if breached else "undecided" if undecided else "holds",
        conclusion(verdicts, assessment.verdicts).plain,
        [figure for teller in tellers for figure in teller.figures(answered)],
        verdicts,
        [chart for teller in tellers for chart in teller.charts(answered, audience)],
        silent=audience == "owner" and not all(simulatable(verdict) for verdict in breached),
        not_drawn=" ".join(filter(None, (teller.not_drawn(answered) for teller in tellers))),
        graphs=[teller_of(one.verdict.check).graphs(one) for one in answered],
        badge="breached"
        if any(verdict.fails for verdict in breached)
        else "undecided"
        if breached or undecided or not_together(verdicts, assessment.verdicts)
        else "holds",
    )


def simulatable(verdict: Verdict) -> bool:
    """Could the other side compute this answer without the rows? If
    not, a refusal tells them something.
    """
    if verdict.subject.get("over") in ("domain", "all"):
        return True  # no rows were looked at
    return verdict.check in DEFINITIONS and DEFINITIONS[verdict.check].simulatable


def glossary(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """The words of this page, and how sure its verdicts are."""
    asked = list(verdicts)
    found = dict.fromkeys(verdict.certainty for verdict in asked if verdict.status != "undecided")
    words = {word: text for one in asked for word, text in teller_of(one.check).words.items()}
    return {**words, **{word: f"Of a verdict: {CERTAINTY[word]}." for word in found}}
