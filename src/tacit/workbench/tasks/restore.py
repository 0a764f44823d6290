"""Tasks of restoring privacy: the search for further views in a process of its own, and the
columns they may be about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.families.microdata.reading.source import MicrodataSource
from tacit.model.jobs import Job
from tacit.report.charts.portrait_chart import Chart
from tacit.workbench.app.reach import load_within
from tacit.workbench.tasks.verdict_texts import VerdictText


@dataclass(frozen=True, slots=True)
class Restoring:
    """What a search for further views ended in, in words."""

    status: str
    headline: str
    numbers: tuple[tuple[str, str], ...]
    answers: tuple[VerdictText, ...]
    views: tuple[tuple[str, str, int], ...]
    draft: str
    told: tuple[tuple[str, str], ...]
    advice: tuple[str, ...]
    tally: tuple[str, ...]
    charts: tuple[Chart, ...]
    html: str
    releases: tuple[str, ...]
    to: tuple[str, ...]  # who gets the further views; nobody means everybody
    at: int  # the check's place in the plan
    is_done: bool
    digest: str


def restore(
    job: Job,
    path: str,
    reach: str,
    at: int,
    views: int,
    columns: Sequence[str] | None,
    seconds: float | None,
    aware: bool,
    digest: str,
) -> Restoring:
    """Look for further views with which the gamma-privacy check at a
    place of the plan holds again.
    """
    from tacit.families.overlaps.runs.restore import restore as carry_out
    from tacit.families.overlaps.runs.restore_results import Restored
    from tacit.report import crowds, restoration

    plan = load_within(path, reach)
    check = plan.checks[at]
    # One check alone: it is found without a name then.
    found = carry_out(
        replace(plan, checks=(check,)),
        None,
        views=views,
        columns=columns or None,
        seconds=seconds,
        against_aware=aware,
        with_stages=True,
        job=job,
    )
    done = isinstance(found, Restored)
    told = []
    if isinstance(found, Restored) and found.views:
        told = [
            ("Fewest?", restoration.describe_fewest(found)),
            ("Cost", restoration.describe_cost(found)),
        ]
        told += [("Seen by", restoration.describe_adversaries(found))] if found.seen_by else []
        told += (
            [("Who knows how they were chosen", restoration.sentence(found.aware.because))]
            if found.aware
            else []
        )
    return Restoring(
        found.status,
        headline(found),
        tuple(restoration.numbers(found)),
        tuple(map(VerdictText.of, found.verdicts)),
        tuple((one.name, one.query, one.rows) for one in found.views)
        if isinstance(found, Restored)
        else (),
        found.draft if isinstance(found, Restored) and not found.exit_status else "",
        tuple(told),
        () if isinstance(found, Restored) else tuple(map(plain_words, found.advice)),
        tuple(restoration.tally_lines(found.looked)) if found.looked and not done else (),
        tuple(crowds.charts(found.stages, found.verdicts, "owner"))
        if isinstance(found, Restored)
        else (),
        restoration.render(found, "owner"),
        found.releases,
        found.views[0].to if isinstance(found, Restored) and found.views else (),
        at,
        done and not found.exit_status,
        digest,
    )


def headline(found: Any) -> str:
    """What a search for further views ended in, in a sentence."""
    from tacit.families.overlaps.runs.restore_results import Restored
    from tacit.families.words import plural
    from tacit.report.restoration import sentence

    if not isinstance(found, Restored):
        story = f" {found.story}" if found.story and found.story != found.verdicts[0].story else ""
        return f"{sentence(found.because)}{story}"
    if not found.views:
        return "The check holds already: nothing has to be restored."
    if found.exit_status:
        return "Further views were found, but not against somebody who knows how they are chosen."
    return f"The check holds again with {plural('further view', len(found.views))}."


def plain_words(advice: str) -> str:
    """An advice without the options of the command line.

    >>> plain_words("give it more time (--seconds)"), plain_words("try more views (--views 4)")
    ('give it more time', 'try more views')
    """
    return advice.split(" (--")[0]


def public_columns(source: MicrodataSource, releases: Sequence[str]) -> tuple[str, ...]:
    """The columns that conditions of further views may be about:
    those of the views' tables that are not sensitive.
    """
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    from tacit.model.release import View

    found: dict[str, None] = {}
    for name in releases:
        view = source.plan.releases[name]
        try:
            tables = (
                parse_one(view.query, dialect=source.engine.dialect).find_all(exp.Table)
                if isinstance(view, View)
                else ()
            )
        except SqlglotError:
            continue
        for table in {one.name for one in tables} & set(source.plan.tables):
            entry = source.plan.tables[table]
            source.engine.attach_once(entry)
            found |= dict.fromkeys(
                name for name in source.engine.columns(table) if name not in entry.sensitive
            )
    return tuple(found)
