"""What is tried on releases for a report: the checks of their tables as they are, and attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from tacit.checking.assess import Assessment, assess
from tacit.errors import TacitError
from tacit.families.catalog import CHECKS
from tacit.families.family import Answered, Question
from tacit.families.microdata.attacks.stories import Attack
from tacit.families.microdata.runs.attack import attack
from tacit.model.jobs import Job
from tacit.model.release import Microdata
from tacit.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Tested:
    """What was measured `before`, by the place of the answer: what the same check finds in the
    table as it is. `attacks` are those that were run, `not_run` says of a release why none was.
    """

    before: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
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
    return Tested(measured_before(plan, assessment.answered, job, today), attacks, not_run)


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
    raw = {name: replace(one, generalization={}) for name, one in plan.of(Microdata).items()}
    checks = tuple(replace(answered[place].check, given=(), collude=()) for place in places)
    if not checks:
        return {}
    alone = replace(plan, releases={**plan.releases, **raw}, checks=checks, published=(), waive=())
    try:
        found = assess(alone, job=job, today=today).verdicts
    except TacitError:
        return {}
    return {place: one.measured for place, one in zip(places, found, strict=True)}


def is_generalized(plan: Plan, answered: Answered[Question]) -> bool:
    """Is it about copies that the plan makes by levels?"""
    made = plan.of(Microdata)
    return not CHECKS[answered.check.kind].many and all(
        name in made and made[name].file is None for name in answered.check.releases
    )
