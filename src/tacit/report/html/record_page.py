"""What a report says for the record: who asks, about which files, columns and releases."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_args

import tacit
from tacit.checking.assess import Assessment
from tacit.families.catalog import risks_of
from tacit.families.definition import Risk
from tacit.families.family import kind_of
from tacit.families.microdata.definitions.risk import in_words as risk_in_words
from tacit.families.words import listed
from tacit.model.numbers import exact, percents, plain
from tacit.model.release import Microdata
from tacit.model.schema import Table
from tacit.model.verdict import Audience, Verdict
from tacit.plan.edit.notes import described
from tacit.plan.owned_files import read_files
from tacit.plan.plan import Check, Plan
from tacit.plan.read.policies import load_policy
from tacit.report.html.cards import HtmlGrid, parameters
from tacit.report.tellers import teller_of
from tacit.report.terminal.verdict_lines import by_release, heading, judged_releases, not_together
from tacit.report.trials import RISK, Tested

ROLES = {
    "identifiers": "identifier",
    "quasi_identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}


# What documents ask of such a report, and no program knows.
TO_ADD = (
    "why the release is needed, and what it would lose if it were coarser",
    "who may have it, under which contract and which controls, and for what they may use it",
    "who could want to find somebody in it, what else they could have, and what harm would follow",
    "when it is looked at again, and who is told if somebody is found in it",
    "who signs, and what makes them fit to",
)
WENT_OUT = "It went out without meeting its checks."
NOT_SAID = {  # by the key of the plan that would say it
    "organisation": "which organisation answers for it",
    "author": "who wrote the plan",
    "question": "what was asked",
}
MOST_COPIES = 4  # side by side in a table of columns
ALL_OTHERS, NOT_RELEASED = "all others", "not released"
ENGINES = ("duckdb", "sqlglot", "numpy", "ortools", "dp-accounting")  # what decides beside Tacit


@dataclass(frozen=True, slots=True)
class RecordPage:
    """The facts, the tables below them, the waivers, what was not checked, and what `to_add` who
    signs. `asked` is the question of the plan.
    """

    facts: Sequence[tuple[str, str]]
    grids: Sequence[HtmlGrid]
    waived: Sequence[str]
    asked: str
    unchecked: Sequence[str] = ()
    to_add: Sequence[str] = ()


def recorded(
    plan: Plan,
    assessment: Assessment,
    audience: Audience,
    today: date | None = None,
    tried: Tested | None = None,
    made_with: str | None = None,
    went_out: bool = False,
) -> RecordPage:
    """What is said of a plan and its verdicts; `tried` is what was tried on its releases,
    `made_with` the versions where they are not those of today, and `went_out` that it is about what
    others have.

    Hashes are for the owner only: with the hash of a small table a guess of its rows can be
    confirmed. So are the releases in words: a query may name a person.
    """
    verdicts, tried = assessment.verdicts, tried or Tested()
    day = today or datetime.now(UTC).date()
    facts = [("Date", f"{day.isoformat()} (UTC)")]
    facts += [("Organisation", plan.organisation)] if plan.organisation else []
    facts += [("Author", plan.author)] if plan.author else []
    facts.append(("Versions", made_with or versions()))
    grids = [
        recommended(assessment, went_out),
        checks_grid(verdicts, tried.before),
        risks_grid(plan, tried),
        attacks_grid(tried),
        *columns_grids(plan, assessment, audience),
        *policy_grids(plan, verdicts),
    ]
    if audience == "owner":
        grids += [
            releases_grid(plan, verdicts),
            secrets_grid(plan, assessment),
            files_grid(read_files(plan), plan.folder),
        ]
    waived = [f"{one.name}. {one.waived}" for one in verdicts if one.waived]
    return RecordPage(
        facts,
        [one for one in grids if one.rows],
        waived,
        plan.question,
        unchecked(plan, assessment, tried, audience),
        [*(why for key, why in NOT_SAID.items() if not getattr(plan, key)), *TO_ADD],
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


def recommended(assessment: Assessment, went_out: bool) -> HtmlGrid:
    """What follows from the verdicts for each release."""
    rows = []
    for name, answered in by_release(assessment.answered):
        own = [one.verdict for one in answered]
        rows.append([heading(name, own), recommendation(own, assessment.verdicts, went_out)])
    return HtmlGrid("Recommendation", ["release", "what follows from the checks"], rows)


def recommendation(own: Sequence[Verdict], every: Sequence[Verdict], went_out: bool = False) -> str:
    """What to do with a release, and because of which checks; of one that `went_out`, what it is.
    Whether it goes out is the owner's decision.
    """
    for status, words in (("breached", "Do not release it."), ("undecided", "Not yet.")):
        failing = [check_name(one) for one in own if one.status == status and one.fails]
        if failing:
            return f"{WENT_OUT if went_out else words} {status.capitalize()}: {listed(failing)}."
    if joint := not_together(own, every):
        words = WENT_OUT if went_out else "Do not release it so."
        return f"{words} It meets its own checks, {joint}."
    if waived := [check_name(one) for one in own if one.waived]:
        words = "It is out, which is right" if went_out else "Release it"
        return f"{words} only where the waivers are accepted: {listed(waived)}."
    return "It meets the checks of this plan. Read what was not checked before you sign."


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
    if "://" in plan.source:
        found.append("the rows of the source have no hash here: they are in a database")
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
    """What was asked of which releases, which risks that addresses, and what was measured in the
    table as it is and in the release.
    """
    rows = [
        [
            listed(judged_releases(one)),
            f"{one.name}: {one.label}" if one.name else one.label,
            one.check,
            ", ".join(risks_of(one.check)),
            parameters(one.required),
            measured_text(replace(one, measured=before.get(place, {}))),
            measured_text(one),
            one.status + (", waived" if one.waived else ""),
        ]
        for place, one in enumerate(verdicts)
    ]
    head = [
        "release",
        "check",
        "definition",
        "addresses",
        "required",
        "before",
        "measured",
        "found",
    ]
    return HtmlGrid("What was checked", head, rows)


def measured_text(verdict: Verdict) -> str:
    """What was measured, as far as a cell has room."""
    few = {name: value for name, value in verdict.measured.items() if not listlike(value)}
    return teller_of(verdict.check).measured(replace(verdict, measured=few)) if few else ""


def listlike(value: object) -> bool:
    """Is a value too long for a cell of a table?"""
    return isinstance(value, list | tuple | dict | set | frozenset)


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


def risks_grid(plan: Plan, tried: Tested) -> HtmlGrid:
    """How easily the rows of each generalized copy are found: before, at most allowed, after."""
    rows = []
    for name, (before, after) in tried.risks.items():
        allowed = {
            str(one.parameters.get("attacker", "prosecutor")): plain(
                exact(one.parameters["at-most"])
            )
            for one in plan.checks
            if one.kind == RISK and one.releases == (name,) and "population" not in one.parameters
        }
        alone = [f"{one.alone:,} of {one.people:,}" if one else "" for one in (before, after)]
        rows += [
            [
                name,
                "greatest, of somebody who is known to be in the table (prosecutor)",
                risk_in_words(before.greatest) if before else "",
                allowed.get("prosecutor", ""),
                risk_in_words(after.greatest),
            ],
            [
                name,
                "mean over all (marketer)",
                risk_in_words(before.mean) if before else "",
                allowed.get("marketer", ""),
                risk_in_words(after.mean),
            ],
            [name, "people alone with their quasi-identifiers", alone[0], "", alone[1]],
        ]
    head = ["release", "risk", "before", "allowed", "after"]
    return HtmlGrid("Risk of re-identification, of each release by itself", head, rows)


def policy_grids(plan: Plan, verdicts: Sequence[Verdict]) -> Iterator[HtmlGrid]:
    """What each pack covers, clause by clause, and what not, of those whose checks were asked."""
    for word in asked_packs(plan, [one.name or "" for one in verdicts]).values():
        policy = load_policy(word, plan.folder)
        rows = [
            ["source", "", policy.source],
            ["seen of it", "", policy.seen],
            *([one.clause, one.by, one.how] for one in policy.covers),
            *(["not covered", "", text] for text in policy.not_covered),
        ]
        head = ["clause", "check", "how it is covered"]
        yield HtmlGrid(f"Policy pack {policy.name}: {policy.title}", head, rows)


def asked_packs(plan: Plan, names: Sequence[str]) -> dict[str, str]:
    """The packs of a plan of which checks with these names were asked."""
    return {
        prefix: word
        for prefix, word in plan.policies.items()
        if any(name.startswith(f"{prefix}/") for name in names)
    }


def columns_grids(plan: Plan, assessment: Assessment, audience: Audience) -> Iterator[HtmlGrid]:
    """Every column that has a role, with it, its hierarchy, and what is done with it in each
    generalized copy that was judged.
    """
    made, done = plan.of(Microdata), treatments(plan, assessment)
    for name in listed_tables(plan, assessment.verdicts, audience):
        copies = [one for one in done if one in made and made[one].table == name]
        for some in [
            copies[at : at + MOST_COPIES] for at in range(0, len(copies), MOST_COPIES)
        ] or [[]]:
            yield columns_grid(plan.tables[name], {one: done[one] for one in some})


def treatments(plan: Plan, assessment: Assessment) -> dict[str, Mapping[str, str]]:
    """What is done with the columns of each generalized copy that was judged, as the tellers say
    it; one that was made elsewhere is read as it is found.
    """
    made = plan.of(Microdata)
    told: dict[str, Mapping[str, str]] = {}
    for one in assessment.answered:
        told |= teller_of(one.verdict.check).treated(one)
    found: dict[str, Mapping[str, str]] = {}
    for name in dict.fromkeys(name for one in assessment for name in judged_releases(one)):
        if name in made and (file := made[name].file) is not None:
            table = plan.tables[made[name].table]
            columns = (column for key in ROLES for column in getattr(table, key))
            found[name] = dict.fromkeys(columns, f"as found in {file}")
        elif name in made and name in told:
            found[name] = {**told[name], ALL_OTHERS: NOT_RELEASED}
    return found


def columns_grid(table: Table, copies: Mapping[str, Mapping[str, str]]) -> HtmlGrid:
    """The columns of a table; those without a role are in no copy."""
    rows = [
        [
            column,
            role,
            described(spec) if (spec := table.hierarchies.get(column)) is not None else "",
            *(done.get(column, "") for done in copies.values()),
        ]
        for key, role in ROLES.items()
        for column in getattr(table, key)
    ]
    if rows and copies:
        rows.append([ALL_OTHERS, "", "", *(done.get(ALL_OTHERS, "") for done in copies.values())])
    head = ["column", "role", "hierarchy", *(f"in {name}" for name in copies)]
    return HtmlGrid(f"Columns of {table.name}", head, rows)


def releases_grid(plan: Plan, verdicts: Iterable[Verdict]) -> HtmlGrid:
    """The releases that were judged: what each is, and to whom it goes."""
    names = dict.fromkeys(name for one in verdicts for name in judged_releases(one))
    found = [plan.releases[name] for name in names if name in plan.releases]
    rows = [[one.name, kind_of(one).in_a_line(one, plan), ", ".join(one.to)] for one in found]
    return HtmlGrid("Releases", ["release", "what it is", "to"], rows)


def secrets_grid(plan: Plan, assessment: Assessment) -> HtmlGrid:
    """The secrets that were asked about, in the plan's words."""
    names = dict.fromkeys(one.check.secret for one in assessment.answered if one.check.secret)
    rows = [[name, " ".join(plan.secrets[name].split())] for name in names if name in plan.secrets]
    return HtmlGrid("Secrets", ["secret", "query"], rows)


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
