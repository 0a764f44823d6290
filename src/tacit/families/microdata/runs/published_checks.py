"""Published checks: what the checks say of a release that was found, with all that is published
about the same people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.checking.holdings.holdings import holdings_of
from tacit.checking.publications import all_out
from tacit.checking.verdicts import with_left_out, worst_verdict
from tacit.families.catalog import define, kinds_of
from tacit.families.microdata.reading.several_releases import NOWHERE, joint_questions_of
from tacit.model.release import Microdata
from tacit.model.verdict import Reason, Verdict
from tacit.plan.open_plan import OpenPlan

if TYPE_CHECKING:
    from tacit.families.microdata.runs.repair_results import Repaired
    from tacit.plan.plan import Check, Plan


def beside_what_is_out(found: Repaired, plan: Plan) -> Repaired:
    """The same release, with verdicts that count with what is out:
    those that cannot judge both are undecided.
    """
    checks = [
        check
        for check in plan.checks
        if found.release in check.releases and check.kind in kinds_of("microdata")
    ]
    if not all_out(plan) and not any(check.given for check in checks):
        return found
    new = name_of(found, plan)
    with OpenPlan(
        replace(plan, releases={**plan.releases, new: as_release(found, plan, new)})
    ) as opened:
        joint_questions_of(opened).found[new] = found.recoded
        verdicts = [
            judged_beside(replace(check, releases=(new,)), one, opened)
            for check, one in zip(checks, found.verdicts, strict=True)
        ]
    return replace(
        found, verdicts=tuple(verdict_named(one, new, found.release) for one in verdicts)
    )


def judged_beside(check: Check, verdict: Verdict, opened: OpenPlan) -> Verdict:
    """A verdict that was made of a release alone, for everybody who
    would get it with what they hold.
    """
    if holdings_of(opened).has_beside(check):
        name = verdict.name
        definition = define(check.kind, check.parameters)
        verdict = worst_verdict(check, definition, holdings_of(opened), verdict).verdict
        verdict = replace(verdict, name=name)
    return with_left_out(check, verdict, holdings_of(opened))


def name_of(found: Repaired, plan: Plan) -> str:
    """What was found is what the plan calls by its name only where it has its very levels;
    under that name something else may be published.
    """
    own = plan.releases[found.release]
    assert isinstance(own, Microdata)
    is_own = (
        own.file is None
        and not found.recoded.suppressed
        and raised(own.generalization) == raised(found.recoded.generalization)
    )
    return found.release if is_own else f"{found.release} as found"


def raised(levels: object) -> object:
    """The levels of columns that are coarser; None where each group has labels of its own."""
    return (
        {column: level for column, level in levels.items() if level}
        if isinstance(levels, dict)
        else levels
    )


def as_release(found: Repaired, plan: Plan, name: str) -> Microdata:
    """What was found as a plan has it: by its levels, or else as a file that is like no other."""
    own, levels = plan.releases[found.release], found.recoded.generalization
    assert isinstance(own, Microdata)
    if levels is None or found.recoded.suppressed:
        return replace(own, name=name, generalization={}, file=NOWHERE)
    return replace(own, name=name, generalization=dict(levels), file=None)


def with_key(value: Any, old: str, key: str) -> Any:
    """The same with another key in all mappings.

    >>> with_key({"groups": [{"may as found": 1}]}, "may as found", "may")
    {'groups': [{'may': 1}]}
    """
    if isinstance(value, Mapping):
        return {key if one == old else one: with_key(some, old, key) for one, some in value.items()}
    return [with_key(one, old, key) for one in value] if isinstance(value, list) else value


def verdict_named(verdict: Verdict, new: str, release: str) -> Verdict:
    """A verdict that calls the release by its name in the plan."""
    if new == release:
        return verdict
    subject = {key: release if value == new else value for key, value in verdict.subject.items()}
    evidence = verdict.evidence
    if isinstance(evidence, Reason):
        evidence = Reason(evidence.code, evidence.text.replace(new, release))
    elif release in evidence.facts.get("releases", ()):
        return replace(
            verdict, subject=subject
        )  # at other levels that is published: both have a name
    elif new in evidence.facts.get("releases", ()):
        names = [release if one == new else one for one in evidence.facts["releases"]]
        facts = {**evidence.facts, "releases": names}
        evidence = replace(
            evidence, facts=facts, personal=with_key(evidence.personal, new, release)
        )
    return replace(
        verdict,
        subject=subject,
        evidence=evidence,
        because=verdict.because.replace(new, release),
        against=verdict.against.replace(new, release),
        story=verdict.story and verdict.story.replace(new, release),
    )
