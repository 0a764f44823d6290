"""What the pages of views ask: how a verdict's queries were read, a change of a view as text,
and the worlds of a check.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.families.catalog import define, kinds_of
from tacit.model.jobs import Job
from tacit.model.release import View
from tacit.workbench.app.reach import load_within

if TYPE_CHECKING:
    from tacit.families.microdata.reading.source import MicrodataSource
    from tacit.families.queries.definitions.changed_views import ChangedView
    from tacit.plan.plan import Check, Plan
    from tacit.report.charts.portrait_chart import Chart
    from tacit.report.explained_worlds import WorldLine

STAYS, RULED_OUT = "stays", "ruled out"
SAMPLE, LEAST_SAMPLE, MOST_SAMPLE = 500, 8, 5_000


@dataclass(frozen=True, slots=True)
class QueryReading:
    """How a query was read, as lines."""

    role: str
    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryEvidence:
    """The queries behind a verdict: how they were read, and the view
    changed so that it would hold.
    """

    read: tuple[QueryReading, ...]
    changes: tuple[ChangedView, ...]


@dataclass(frozen=True, slots=True)
class ShownWorlds:
    """The worlds of a check as its page shows them.
    `cases` are its adversaries and values of parameters; `case` is the one that is shown.
    """

    title: str
    case: int
    cases: int
    case_told: str
    numbers: tuple[tuple[str, str], ...]
    charts: tuple[Chart, ...]
    worlds_title: str
    compared: bool
    lines: tuple[WorldLine, ...]
    secret: str
    secrets: tuple[tuple[str, str, str, bool], ...]
    notes: tuple[str, ...]


# -- which check -----------------------------------------------------------------------------------


def subject_of(verdict: Mapping[str, Any]) -> list[str]:
    """The releases that a verdict is about.

    >>> subject_of({"subject": {"release": "a"}}), subject_of({"subject": {"releases": ["a", "b"]}})
    (['a'], ['a', 'b'])
    """
    subject = verdict["subject"]
    return list(subject["releases"]) if "releases" in subject else [subject["release"]]


def of_section(
    checked: Mapping[str, Any], section: Mapping[str, Any], kinds: Collection[str] | None = None
) -> list[tuple[str, Mapping[str, Any], str]]:
    """The verdicts of a section that are of some kinds: the key of each, itself, and its card."""
    verdicts = dict(zip(checked["keys"], checked["verdicts"], strict=True))
    found = [
        (key, verdicts[key], card)
        for key, card in zip(section["keys"], section["cards"], strict=True)
        if key in verdicts
    ]
    return [one for one in found if kinds is None or one[1]["check"] in kinds]


def check_at(plan: Plan, number: int, verdict: Mapping[str, Any]) -> Check:
    """The check that a verdict answered; an InputError where the plan has another one there now."""
    found = plan.checks[number] if number < len(plan.checks) else None
    if found is None or (found.kind, found.secret) != (
        verdict["check"],
        verdict["subject"].get("secret"),
    ):
        raise InputError(
            "the plan was changed after this verdict.", hint="Check again on the Overview page."
        )
    return found


# -- queries ---------------------------------------------------------------------------------------


def query_evidence(
    source: MicrodataSource, number: int, verdict: Mapping[str, Any]
) -> QueryEvidence:
    """The queries behind a verdict of perfect privacy."""
    from tacit.families.queries.definitions.changed_views import changed_views
    from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
    from tacit.families.queries.reading.readings import Readings

    check = check_at(source.plan, number, verdict)
    definition = define(check.kind, check.parameters)
    assert check.kind in kinds_of("queries") and isinstance(definition, PerfectPrivacy)
    readings = Readings(source.plan, lambda: source.engine)
    views = tuple(
        name for name in subject_of(verdict) if isinstance(source.plan.releases.get(name), View)
    )
    question = readings.question(replace(check, releases=views))
    facts = verdict.get("witness") or verdict.get("certificate") or {}
    read = [("secret", str(check.secret)), *(("view", name) for name in views)]
    return QueryEvidence(
        tuple(
            QueryReading(role, name, tuple(readings.explained(name).lines())) for role, name in read
        ),
        tuple(changed_views(definition, question, facts.get("view", ""), facts.get("changes", ()))),
    )


def plan_text(plan: Plan, change: ChangedView) -> tuple[str, str]:
    r"""Where a changed view belongs, and the lines to put there."""
    release = plan.releases[change.view]
    if isinstance(release, View) and release.query_file:
        return f"In the file {release.query_file}, in the place of its query:", change.text
    import yaml

    name = (
        yaml.safe_dump(change.view, default_flow_style=True, width=1_000)
        .removesuffix("\n")
        .removesuffix("\n...")
    )
    lines = [f"  {name}:", "    query: |-", *(f"      {line}" for line in change.text.splitlines())]
    return f"In the plan below releases, in the place of {change.view}'s query:", "\n".join(lines)


# -- worlds ----------------------------------------------------------------------------------------


def can_list(verdict: Mapping[str, Any]) -> bool:
    """Are there worlds to list? Those of one database are."""
    return (
        verdict["check"] in kinds_of("worlds")
        and verdict["required"].get("over", "instance") == "instance"
    )


def list_worlds(
    job: Job,
    path: str,
    reach: str,
    number: int,
    verdict: Mapping[str, Any],
    sample: int,
    case: int | None,
) -> ShownWorlds:
    """The worlds of a check, all or a sample of them;
    as `tacit explain CHECK --worlds --sample N --case N`.
    """
    from tacit.families.worlds.runs.explain import explain_worlds
    from tacit.report import explained_worlds as told
    from tacit.report.world_evidence import title

    plan = load_within(path, reach)
    check = check_at(plan, number, verdict)
    # By itself its kind says which check is meant.
    found = explain_worlds(
        replace(plan, checks=(check,)), check.kind, sample=clamped(sample), case=case, job=job
    )
    shown = found.listing
    assert shown is not None
    words = told.which_case(found, owner=True).replace(" Another one: --case N.", "")
    return ShownWorlds(
        title(found.verdict, owner=True),
        found.number,
        found.cases,
        words,
        tuple(told.numbers(shown)),
        tuple(told.charts(found, owner=True)),
        told.which_worlds(shown),
        found.setting.instance is not None,
        tuple(told.lines(found)),
        str(found.verdict.subject["secret"]),
        tuple(told.secret_rows(found)),
        (*found.notes, *([told.fresh_words(found)] if told.has_fresh(found) else [])),
    )


def clamped(sample: int) -> int:
    """A number of worlds that a page can show.

    >>> clamped(1), clamped(100), clamped(10**9)
    (8, 100, 5000)
    """
    return min(max(sample, LEAST_SAMPLE), MOST_SAMPLE)


def world_rows(shown: ShownWorlds, fate: str = "") -> list[tuple[str, ...]]:
    """The worlds as rows of a table: number, fate, secret, and the rows in which each differs
    from the data. `fate` picks some of them.
    """
    found = [
        (
            str(line.number),
            STAYS if line.after else RULED_OUT,
            line.secret,
            differences(line, compared=shown.compared),
        )
        for line in shown.lines
    ]
    return [row for row in found if fate in ("", row[1])]


def differences(line: WorldLine, *, compared: bool) -> str:
    """What a world has and lacks beside the data; or its rows, where the data are not known.

    >>> from tacit.report.explained_worlds import WorldLine
    >>> differences(WorldLine(1, False, False, "{}", ("R(a)",), ("R(b)",), 3), compared=True)
    '+ R(a), - R(b), and 3 more'
    """
    if line.is_data:
        return "the data"
    more = [f"+ {one}" if compared else one for one in line.more]
    rest = [f"and {line.left_out:,} more"] if line.left_out else []
    return ", ".join([*more, *(f"- {one}" for one in line.less), *rest]) or "no rows"
