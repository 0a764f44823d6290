"""Explained worlds: which databases are possible before and after a check's release, which
secrets they make plausible, and their templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tacit.checking.assess import question_alone
from tacit.checking.holdings.holdings import holdings_of
from tacit.errors import DataError, InputError, TacitError, did_you_mean
from tacit.families.catalog import define, kinds_of
from tacit.families.words import listed, plural
from tacit.families.worlds.definitions.view_safety import SECONDS, fact_json
from tacit.families.worlds.family import FAMILY
from tacit.families.worlds.listing import WorldListing, listing
from tacit.families.worlds.matching import TooManyWays
from tacit.families.worlds.question import SafetyCase, SafetyQuestion
from tacit.families.worlds.templates import Templates, templates
from tacit.families.worlds.universe import unbounded
from tacit.families.worlds.unseen_values import chosen
from tacit.families.worlds.world_setting import WorldSetting
from tacit.families.worlds.world_solver import NoWorld
from tacit.families.worlds.worlds import SettingWorlds
from tacit.model.deadline import OutOfTime, until
from tacit.model.jobs import Job
from tacit.model.verdict import Audience, Verdict, as_json
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan

SAMPLE = 8
SEED = 1  # the same question has the same sample
TEMPLATES_EXPLAIN = (
    "Templates are the smallest shapes of the possible databases: each of these contains one of "
    "them. They explain and do not decide, because what a view says by absence is not seen in "
    "them."
)


@dataclass(frozen=True, slots=True)
class TemplatesShown:
    """The templates before and after."""

    before: Templates
    after: Templates

    def to_json(self) -> dict[str, Any]:
        """As text; `complete` is false where a limit was met."""
        return {
            name: {"found": list(map(str, one.found)), "complete": one.complete}
            for name, one in (("before", self.before), ("after", self.after))
        }


@dataclass(frozen=True, slots=True)
class ExplainedWorlds:
    """A case of a check, its verdict, and what its worlds are.
    `number` of `cases` is the case that is shown, `picked` by the user or not.

    `setting` is what was looked at: the case with as many unseen values as the verdict speaks of.
    """

    check: str
    verdict: Verdict
    case: SafetyCase
    number: int
    cases: int
    picked: bool
    setting: WorldSetting
    listing: WorldListing | None = None
    templates: TemplatesShown | None = None
    notes: tuple[str, ...] = ()

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit explain CHECK --worlds --json` prints;
        `shared` has numbers only.
        """
        owner, shown = audience == "owner", self.listing
        document: dict[str, Any] = {
            "check": self.check,
            "status": self.verdict.status,
            "case": {
                "number": str(self.number),
                "of": str(self.cases),
                "who": list(self.case.who),
                "given": list(self.case.given),
                "new": list(self.case.new),
                **({"parameters": as_json(self.case.values)} if owner and self.case.values else {}),
            },
        }
        if shown is not None:
            document |= {
                "worlds_before": number_text(shown.before),
                "worlds_after": number_text(shown.after),
                "secrets_before": number_text(shown.secrets_before),
                "secrets_after": number_text(shown.secrets_after),
                "complete": shown.complete and owner,
                "uniform": shown.uniform,
                "listed": list(self._worlds(shown)) if owner else [],
                "secrets": [
                    {
                        "rows": as_json([list(row) for row in one.rows]),
                        "before": str(one.before),
                        "after": str(one.after),
                    }
                    for one in shown.secrets
                ]
                if owner
                else [],
            }
        document["templates"] = self.templates.to_json() if self.templates and owner else None
        document["notes"] = list(self.notes)
        return document

    def _worlds(self, shown: WorldListing) -> Iterator[dict[str, Any]]:
        for one in shown.worlds:
            facts = [fact_json(fact, self.setting.relations) for fact in one.facts]
            yield {
                "world": as_json(facts),
                "after": one.after,
                "secret": as_json([list(row) for row in one.secret]),
            }


def number_text(number: int | None) -> str | None:
    """An exact number as JSON has it."""
    return None if number is None else str(number)


def explain_worlds(
    plan: Plan,
    name: str,
    *,
    worlds: bool = True,
    with_templates: bool = False,
    sample: int = SAMPLE,
    case: int | None = None,
    job: Job | None = None,
) -> ExplainedWorlds:
    """Which worlds are possible before and after what a check asks about.

    `name` is the check's name, its kind, its release or its secret, as long as that means one
    check. `case` picks one of its adversaries and values of parameters, from 1 on; by default the
    first that is breached is shown. Raises TacitError.
    """
    job = job or Job()
    check = named(plan, name)
    refuse_other_scopes(plan, check)
    with OpenPlan(plan) as opened:
        job.step("reading the tables", 0.0)
        question = question_alone(FAMILY, check, opened, holdings_of(opened))
        number, verdict = decided_case(check, question, case, job)
    shown = question.cases[number - 1]
    setting = looked_at(shown, question, verdict)
    try:
        job.step("looking at the databases", 0.5)
        listed_worlds = list_worlds(check, setting, sample) if worlds else None
        job.step("looking for templates", 0.9)
        found_templates = templates_of(setting) if with_templates else None
    except TacitError as error:
        raise error.at(plan.mark(*check.path)) from None
    return ExplainedWorlds(
        check.name or check.kind,
        replace(verdict, name=check.name),
        shown,
        number,
        len(question.cases),
        case is not None,
        setting,
        listed_worlds,
        found_templates,
        tuple(notes(setting, listed_worlds, found_templates)),
    )


# -- which check, which case -----------------------------------------------------------------------


def named(plan: Plan, name: str) -> Check:
    """The check of view safety that is meant; InputError where that is none or several."""
    every = [check for check in plan.checks if check.kind in kinds_of("worlds")]
    if not every:
        raise InputError(
            "the plan has no check of view safety.",
            hint="Add one under checks, such as g-safety: {secret: NAME, release: NAME}.",
        )
    for found in (
        [check for check in every if check.name == name],
        [check for check in every if check.kind == name],
        # Where others have names of their own, the kind stands for the one that has none.
        [check for check in every if check.kind == name and not check.name],
        [check for check in every if check.releases == (name,) or check.secret == name],
    ):
        if len(found) == 1:
            return found[0]
    meant = [check for check in every if name in (check.kind, check.secret, *check.releases)]
    if not meant:
        known = [
            word for check in every for word in (check.name, check.kind, *check.releases) if word
        ]
        raise InputError(
            f"the plan has no check {name!r} of view safety.",
            hint=did_you_mean(name, known) or f"There are {listed(sayings(every))}.",
        )
    raise InputError(
        f"{name!r} may mean {len(meant)} checks: {'; '.join(sayings(meant))}.",
        hint=(
            "Say the name of one; a check without gets one by `name:` in the plan, such as "
            "g-safety: {secret: ..., release: ..., name: mine}."
        ),
    )


def sayings(checks: Sequence[Check]) -> list[str]:
    """How to call checks.

    >>> from tacit.plan.plan import Check
    >>> sayings(
    ...     [
    ...         Check("g-safety", secret="s", releases=("v",)),
    ...         Check("e-safety", name="any", secret="s", releases=("v",)),
    ...     ]
    ... )
    ['g-safety of s after v (no name)', 'any (e-safety of s after v)']
    """
    texts = [
        (check, f"{check.kind} of {check.secret} after {listed(check.releases)}")
        for check in checks
    ]
    return [
        f"{check.name} ({text})" if check.name else f"{text} (no name)" for check, text in texts
    ]


def refuse_other_scopes(plan: Plan, check: Check) -> None:
    """Worlds are those of one database."""
    over = check.parameters.get("over", "instance")
    if over != "instance":
        raise InputError(
            f"the possible databases are those of one database, and {check.name or check.kind} "
            f"asks over: {over}.",
            hint=(
                "Explain a check with over: instance (or without over); `tacit check` shows a "
                "database on which this one is breached."
            ),
            mark=plan.mark(*check.path, "over"),
        )


def decided_case(
    check: Check, question: SafetyQuestion, case: int | None, job: Job
) -> tuple[int, Verdict]:
    """The case that was asked for, or the first that is breached, else the first undecided one,
    else the first; with its verdict.
    """
    many = len(question.cases)
    if case is not None and not 1 <= case <= many:
        raise InputError(
            f"there is no case {case}.",
            hint="There is one case: leave --case out."
            if many == 1
            else f"There are {many}: --case 1 to --case {many}.",
        )
    definition = define(check.kind, check.parameters)
    found: list[tuple[int, Verdict]] = []
    for number, one in enumerate(question.cases, 1):
        if case in (None, number):
            job.step(f"case {number} of {many}", 0.4 * number / many)
            verdict = definition.check(replace(question, cases=(one,)))
            found.append((number, verdict))
            if verdict.status == "breached":
                break
    order = ("breached", "undecided", "holds")
    return min(found, key=lambda one: (order.index(one[1].status), one[0]))


def looked_at(case: SafetyCase, question: SafetyQuestion, verdict: Verdict) -> WorldSetting:
    """The case with as many unseen values as its verdict speaks of."""
    settings = [setting for setting, _ in chosen(case.setting, question.fresh)]
    wanted = verdict.measured.get("fresh", 0)
    return next((setting for setting in settings if setting.fresh == wanted), settings[0])


# -- worlds and templates --------------------------------------------------------------------------


def list_worlds(check: Check, setting: WorldSetting, sample: int) -> WorldListing:
    """The worlds of a setting, with the limits that a check has."""
    seconds = float(check.parameters.get("seconds", SECONDS))
    try:
        with until(seconds):
            return listing(SettingWorlds(setting), sample=sample, rng=Random(SEED))
    except TooManyWays as error:
        text = error.what.rstrip(".")
        raise InputError(
            f"the possible databases are too many to look at: {text}.",
            hint=(
                "Close columns with domains:, publish a column's values with dictionary:, or "
                "ask about fewer tables."
            ),
        ) from None
    except OutOfTime:
        raise InputError(
            f"{seconds:g} seconds were not enough to look at the possible databases.",
            hint="Allow more with seconds: in the check.",
        ) from None
    except NoWorld:
        raise DataError(
            "no database satisfies the constraints and gives the views these answers.",
            hint="Correct the answer files, the constraints or the domains.",
        ) from None


def templates_of(setting: WorldSetting) -> TemplatesShown:
    """The templates of a setting before and after."""
    relations: Mapping[str, Any] = {name: setting.relations[name] for name in setting.mentioned()}
    asked = [*(seen.query for seen in setting.new), setting.secret]
    before = templates(
        relations,
        setting.dependencies,
        [(seen.query, seen.rows) for seen in setting.published],
        asked=asked,
    )
    views = [(seen.query, seen.rows) for seen in (*setting.published, *setting.new)]
    return TemplatesShown(
        before, templates(relations, setting.all_dependencies(), views, asked=asked)
    )


def notes(
    setting: WorldSetting, shown: WorldListing | None, found: TemplatesShown | None
) -> Iterator[str]:
    """How far was looked, and what could not be counted."""
    open_ = sorted(
        f"{name}.{setting.relations[name].columns[at]}" for name, at in unbounded(setting)
    )
    if shown is not None and open_:
        beside = f" and {plural('other', setting.fresh)} (_fresh1, ...)" if setting.fresh else ""
        yield (
            f"{listed(open_)} may hold any value; looked at are those that are seen{beside}, "
            "and fresh: in the plan allows more"
        )
    if shown is not None and shown.before is None:
        yield (
            "The databases are too many to be counted. Those shown were found by the solver: "
            "no fair sample"
        )
    elif shown is not None and shown.after is None:
        yield "The databases that are left are too many to be counted"
    if shown is not None and shown.secrets_before is None:
        yield (
            "The plausible secrets could not be counted: too many tuples hang together. Close "
            "columns with domains: of fewer values"
        )
    if found is not None and not (found.before.complete and found.after.complete):
        yield "Not all templates were found before the limit was met"
