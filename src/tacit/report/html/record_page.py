"""What a report says for the record: who asks, about which files, columns and releases."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_args

import tacit
from tacit.checking.assess import Assessment
from tacit.families.catalog import risks_of
from tacit.families.definition import Risk
from tacit.families.family import kind_of
from tacit.families.words import listed
from tacit.model.numbers import percents
from tacit.model.release import Microdata
from tacit.model.schema import HierarchySpec, Table
from tacit.model.verdict import Audience, Verdict
from tacit.plan.owned_files import owners_files
from tacit.plan.plan import Check, Plan
from tacit.plan.read.policies import load_policy
from tacit.report.html.cards import HtmlGrid, parameters
from tacit.report.terminal.verdict_lines import by_release, heading, judged_releases, not_together
from tacit.report.trials import Tested

ROLES = {
    "identifiers": "identifier",
    "quasi_identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}


ENGINES = ("duckdb", "sqlglot", "numpy", "ortools", "dp-accounting")  # what decides beside Tacit


@dataclass(frozen=True, slots=True)
class RecordPage:
    """The facts, the tables below them, the waivers and what was not checked. `asked` is the
    question of the plan.
    """

    facts: Sequence[tuple[str, str]]
    grids: Sequence[HtmlGrid]
    waived: Sequence[str]
    asked: str
    unchecked: Sequence[str] = ()


def recorded(
    plan: Plan,
    assessment: Assessment,
    audience: Audience,
    today: date | None = None,
    tried: Tested | None = None,
) -> RecordPage:
    """What is said of a plan and its verdicts; `tried` is what was tried on its releases.

    Hashes are for the owner only: with the hash of a small table a guess of its rows can be
    confirmed. So are the releases in words: a query may name a person.
    """
    verdicts, tried = assessment.verdicts, tried or Tested()
    day = today or datetime.now(UTC).date()
    facts = [("Date", f"{day.isoformat()} (UTC)")]
    facts += [("Organisation", plan.organisation)] if plan.organisation else []
    facts += [("Author", plan.author)] if plan.author else []
    facts.append(("Versions", versions()))
    grids = [
        recommended(assessment),
        checks_grid(verdicts, tried.before),
        attacks_grid(tried),
        columns_grid(plan.tables[name] for name in listed_tables(plan, verdicts, audience)),
        levels_grid(plan, verdicts),
        *policy_grids(plan, verdicts),
    ]
    if audience == "owner":
        grids += [releases_grid(plan, verdicts), files_grid(owners_files(plan), plan.folder)]
    waived = [f"{one.name}. {one.waived}" for one in verdicts if one.waived]
    return RecordPage(
        facts,
        [one for one in grids if one.rows],
        waived,
        plan.question,
        unchecked(plan, assessment, tried, audience),
    )


def listed_tables(plan: Plan, verdicts: Iterable[Verdict], audience: Audience) -> list[str]:
    """The tables whose columns are listed: to others only those that the releases are copies of."""
    if audience == "owner":
        return list(plan.tables)
    names = {name for one in verdicts for name in judged_releases(one) if name in plan.releases}
    return [name for name in plan.tables if name in {plan.releases[one].of_table for one in names}]


def versions() -> str:
    """Tacit and what it decides with, as far as it is installed."""
    found = [f"Tacit {tacit.__version__}", f"Python {platform.python_version()}"]
    for name in ENGINES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def recommended(assessment: Assessment) -> HtmlGrid:
    """What follows from the verdicts for each release."""
    rows = []
    for name, answered in by_release(assessment.answered):
        own = [one.verdict for one in answered]
        rows.append([heading(name, own), recommendation(own, assessment.verdicts)])
    return HtmlGrid("Recommendation", ["release", "what follows from the checks"], rows)


def recommendation(own: Sequence[Verdict], every: Sequence[Verdict]) -> str:
    """What to do with a release, and because of which checks. Whether it goes out is the owner's
    decision.
    """
    for status, words in (("breached", "Do not release it."), ("undecided", "Not yet.")):
        failing = [check_name(one) for one in own if one.status == status and one.fails]
        if failing:
            return f"{words} {status.capitalize()}: {listed(failing)}."
    if joint := not_together(own, every):
        return f"Do not release it so: it meets its own checks, {joint}."
    if waived := [check_name(one) for one in own if one.waived]:
        return f"Release it only where the waivers are accepted: {listed(waived)}."
    return "It meets the checks of this plan. Read what was not checked before it goes out."


def check_name(verdict: Verdict) -> str:
    """A check by its name, or by what it asks."""
    return verdict.name or verdict.label


def unchecked(plan: Plan, assessment: Assessment, tried: Tested, audience: Audience) -> list[str]:
    """What no verdict speaks of: risks, attacks, and checks and releases of the plan, which others
    need not know of.
    """
    asked = [one.check for one in assessment.answered]
    risks = {risk for one in asked for risk in risks_of(one.kind)}
    found = [f"no check addresses {risk}" for risk in get_args(Risk) if risk not in risks]
    found += not_asked(plan, asked) if audience == "owner" else []
    found += [f"{name} was not attacked: {why}" for name, why in tried.not_run.items()]
    found += [
        f"{story.attack} on {one.release} was not computed: {story.reason}"
        for one in tried.attacks
        for story in one.stories
        if story.reason
    ]
    return found


def not_asked(plan: Plan, asked: Sequence[Check]) -> list[str]:
    """The checks that were left out, and the releases that none is about."""
    paths = {one.path for one in asked}
    left = [one.name or one.kind for one in plan.checks if one.path not in paths]
    found = [f"checks of the plan that were not asked: {listed(left)}"] if left else []
    about = {name for one in plan.checks for name in one.releases}
    apart = [name for name in plan.releases if name not in about]
    return [*found, *([f"no check is about {listed(apart)}"] if apart else [])]


def checks_grid(verdicts: Iterable[Verdict], before: Mapping[int, Mapping[str, Any]]) -> HtmlGrid:
    """What was asked, which risks that addresses, and what was measured in the table as it is and
    in the release.
    """
    rows = [
        [
            check_name(one),
            one.check,
            ", ".join(risks_of(one.check)),
            parameters(one.required),
            numbers(before.get(place, {})),
            numbers(one.measured),
            one.status + (", waived" if one.waived else ""),
        ]
        for place, one in enumerate(verdicts)
    ]
    head = ["check", "definition", "addresses", "required", "before", "measured", "found"]
    return HtmlGrid("What was checked", head, rows)


def numbers(measured: Mapping[str, Any]) -> str:
    """What was measured, as far as a cell has room."""
    return parameters({name: value for name, value in measured.items() if not listlike(value)})


def attacks_grid(tried: Tested) -> HtmlGrid:
    """The attacks that were run, and how sure somebody becomes by them; nobody is named."""
    rows = []
    for one in tried.attacks:
        for story in (story for story in one.stories if not story.reason):
            pair = (
                percents(story.before, story.after)
                if story.before is not None and story.after is not None
                else ("", "")
            )
            attacked = f"{one.release}, {story.sensitive}" if story.sensitive else one.release
            rows.append([story.attack, attacked, story.headline, *pair])
    head = ["attack", "on", "what it achieved", "belief before", "after"]
    return HtmlGrid("Attacks that were run", head, rows)


def policy_grids(plan: Plan, verdicts: Sequence[Verdict]) -> Iterator[HtmlGrid]:
    """What each pack covers, clause by clause, and what not, of those whose checks were asked."""
    asked = [one.name or "" for one in verdicts]
    for prefix, word in plan.policies.items():
        if not any(name.startswith(f"{prefix}/") for name in asked):
            continue
        policy = load_policy(word, plan.folder)
        rows = [
            ["source", "", policy.source],
            ["seen of it", "", policy.seen],
            *([one.clause, one.by, one.how] for one in policy.covers),
            *(["not covered", "", text] for text in policy.not_covered),
        ]
        head = ["clause", "check", "how it is covered"]
        yield HtmlGrid(f"Policy pack {policy.name}: {policy.title}", head, rows)


def levels_grid(plan: Plan, verdicts: Iterable[Verdict]) -> HtmlGrid:
    """How far each quasi-identifier of the copies that were judged is generalized."""
    names = dict.fromkeys(name for one in verdicts for name in judged_releases(one))
    made = plan.of(Microdata)
    rows = [
        [one.name, column, str(one.generalization.get(column, 0))]
        for one in (made[name] for name in names if name in made)
        if one.file is None
        for column in plan.tables[one.table].quasi_identifiers
    ]
    return HtmlGrid("Levels (0: as it is)", ["release", "column", "level"], rows)


def listlike(value: object) -> bool:
    """Is a value too long for a cell of a table?"""
    return isinstance(value, list | tuple | dict | set | frozenset)


def columns_grid(tables: Iterable[Table]) -> HtmlGrid:
    """Every column that has a role, with it and its hierarchy."""
    rows = [
        [f"{table.name}.{column}", role, in_words(table.hierarchies.get(column))]
        for table in tables
        for key, role in ROLES.items()
        for column in getattr(table, key)
    ]
    return HtmlGrid("Columns", ["column", "role", "hierarchy"], rows)


def in_words(hierarchy: HierarchySpec | None) -> str:
    """A hierarchy in a few words.

    >>> from tacit.model.schema import CsvHierarchy
    >>> in_words(CsvHierarchy("zip.csv"))
    'csv: zip.csv'
    """
    if hierarchy is None:
        return ""
    kind = type(hierarchy).__name__.removesuffix("Hierarchy").lower()
    given = [getattr(hierarchy, one.name) for one in fields(hierarchy)]
    said = [
        listed([str(part) for part in one]) if isinstance(one, tuple) else str(one)
        for one in given
        if one not in (None, (), "")
    ]
    return f"{kind}: {', '.join(said)}" if said else kind


def releases_grid(plan: Plan, verdicts: Iterable[Verdict]) -> HtmlGrid:
    """The releases that were judged: what each is, and to whom it goes."""
    names = dict.fromkeys(name for one in verdicts for name in judged_releases(one))
    found = [plan.releases[name] for name in names if name in plan.releases]
    rows = [[one.name, kind_of(one).in_a_line(one, plan), ", ".join(one.to)] for one in found]
    return HtmlGrid("Releases", ["release", "what it is", "to"], rows)


def files_grid(paths: Iterable[Path], folder: Path) -> HtmlGrid:
    """The files that the answers rest on, by their SHA-256."""
    rows = [[shown(path, folder), digest(path)] for path in paths if path.is_file()]
    return HtmlGrid("Files, by SHA-256", ["file", "hash"], rows)


def shown(path: Path, folder: Path) -> str:
    """A file as the plan names it."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
