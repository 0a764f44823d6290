"""What is tried on releases for a report: the checks of their tables as they are, how easily a row
is found before and after, and attacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from typing import Any

from tacit.checking.assess import Assessment, assess
from tacit.errors import TacitError
from tacit.families.catalog import CHECKS
from tacit.families.family import Answered, Question
from tacit.families.microdata.attacks.stories import Attack
from tacit.families.microdata.runs.attack import attack
from tacit.model.jobs import Job
from tacit.model.release import Microdata
from tacit.model.verdict import Verdict
from tacit.plan.plan import Check, Plan

RISK = "risk"
ANY_RISK = {"at-most": 1}  # measured, not limited


@dataclass(frozen=True, slots=True)
class ReleaseRisk:
    """How easily the rows of a release are found: the greatest risk of a person, the mean of all,
    and how many of the people are alone with their quasi-identifiers.
    """

    greatest: Fraction
    mean: Fraction
    alone: int
    people: int


@dataclass(frozen=True, slots=True)
class Tested:
    """What was measured `before`, by the place of the answer: what the same check finds in the
    table as it is. `risks` are those of each release by itself, before and after. `attacks` are
    those that were run, `not_run` says of a release why none was.
    """

    before: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    risks: Mapping[str, tuple[ReleaseRisk | None, ReleaseRisk]] = field(default_factory=dict)
    attacks: Sequence[Attack] = ()
    not_run: Mapping[str, str] = field(default_factory=dict)


def tried_on(
    plan: Plan, assessment: Assessment, job: Job | None = None, today: date | None = None
) -> Tested:
    """Measure the tables before they are generalized, and attack every generalized copy that was
    judged.
    """
    judged = list(dict.fromkeys(name for one in assessment.answered for name in one.check.releases))
    attacks: list[Attack] = []
    not_run: dict[str, str] = {}
    for name in judged:
        if not isinstance(plan.releases.get(name), Microdata):
            not_run[name] = "there are attacks on generalized copies only"
            continue
        try:
            attacks.append(attack(plan, name, job=job))
        except TacitError as error:
            not_run[name] = error.message.removesuffix(".")
    before = measured_before(plan, assessment.answered, job, today)
    return Tested(before, measured_risks(plan, judged, job, today), attacks, not_run)


def measured_before(
    plan: Plan,
    answered: Sequence[Answered[Question]],
    job: Job | None = None,
    today: date | None = None,
) -> dict[int, Mapping[str, Any]]:
    """What the checks of generalized copies measure in the table as it is, with nothing else out;
    nothing where that cannot be asked.
    """
    places = [place for place, one in enumerate(answered) if is_generalized(plan, one)]
    checks = [answered[place].check for place in places]
    found = asked_alone(as_they_are(plan), checks, job, today)
    return {place: one.measured for place, one in zip(places, found, strict=False)}


def measured_risks(
    plan: Plan, names: Sequence[str], job: Job | None = None, today: date | None = None
) -> dict[str, tuple[ReleaseRisk | None, ReleaseRisk]]:
    """How easily rows are found in the table as it is, and in each generalized copy; of a copy
    that was made elsewhere only the second is known.
    """
    made = plan.of(Microdata)
    copies = [name for name in names if name in made]
    by_levels = [name for name in copies if made[name].file is None]
    before = risks_of_copies(as_they_are(plan), by_levels, job, today)
    after = risks_of_copies(plan, copies, job, today)
    return {name: (before.get(name), risk) for name, risk in after.items()}


def risks_of_copies(
    plan: Plan, names: Sequence[str], job: Job | None, today: date | None
) -> dict[str, ReleaseRisk]:
    """How easily rows are found in each of these copies by itself."""
    checks = [Check(RISK, ANY_RISK, releases=(name,), path=("checks", name)) for name in names]
    verdicts = asked_alone(plan, checks, job, today)
    found = {name: risk_of(one) for name, one in zip(names, verdicts, strict=False)}
    return {name: risk for name, risk in found.items() if risk is not None}


def risk_of(verdict: Verdict) -> ReleaseRisk | None:
    """What a verdict about any risk measured; nothing where it is undecided."""
    if verdict.certificate is None or verdict.certificate.kind != "groups":
        return None
    facts = verdict.certificate.facts
    return ReleaseRisk(
        verdict.measured["risk"], facts["average_risk"], facts["uniques"], facts["people"]
    )


def as_they_are(plan: Plan) -> Plan:
    """The plan with its generalized copies not generalized."""
    raw = {name: replace(one, generalization={}) for name, one in plan.of(Microdata).items()}
    return replace(plan, releases={**plan.releases, **raw})


def asked_alone(
    plan: Plan, checks: Sequence[Check], job: Job | None, today: date | None
) -> Sequence[Verdict]:
    """The verdicts of checks with nothing else out; none where they cannot be asked."""
    if not checks:
        return ()
    asked = tuple(replace(one, given=(), collude=()) for one in checks)
    try:
        found = assess(replace(plan, checks=asked, published=(), waive=()), job=job, today=today)
    except TacitError:
        return ()
    return found.verdicts


def is_generalized(plan: Plan, answered: Answered[Question]) -> bool:
    """Is it about copies that the plan makes by levels?"""
    made = plan.of(Microdata)
    return not CHECKS[answered.check.kind].many and all(
        name in made and made[name].file is None for name in answered.check.releases
    )
