"""Corrections: what somebody can learn who has a release both as it
was wrong and as it was corrected.

Nobody can say which tables fit both: the old answer was not true. But whoever compares them cannot
tell apart the people who are alike in all views, the old and the new ones: if these exchange what
was said of them and what is true, both answers are the same. So each of them is believed to have a
value with the same chance, whatever is thought of how the mistake came about; and that is at most
the number of them who can have it by what is published now, divided by how many they are.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.composition import answer_changed
from tacit.families.definition import Definition
from tacit.families.overlaps.overlap import NOTHING, Overlap, merged
from tacit.families.queries.reading.readings import readings_of
from tacit.model.holdings import Hand, in_words
from tacit.model.numbers import plain
from tacit.model.release import View
from tacit.model.verdict import Assumption, Certificate, Reason, Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check

GAMMA, SIND = "gamma-privacy", "k-sind"
JUDGED = (GAMMA, SIND)


def with_corrected(
    check: Check, definition: Definition, opened: OpenPlan, hand: Hand, verdict: Verdict
) -> Verdict:
    """A verdict about what is true, made one about who has the wrong answers too:
    it holds still, or is undecided.
    """
    if not hand.corrected or verdict.status != "holds":
        return verdict
    overlap = both(check, opened, hand)
    limits: dict[str, Any] = (
        {}
        if overlap is None
        else {"gamma": largest(overlap, len(hand.names) + len(hand.new))}
        if check.kind == GAMMA
        else {"k": smallest(overlap)}
    )
    told = in_words(hand.corrected)
    if overlap is not None and is_met(definition, limits):
        said = (
            f"no belief about anybody is above {plain(limits['gamma'])}"
            if "gamma" in limits
            else f"the smallest crowd has {limits['k']} people"
        )
        because = f"{said}, also for whoever compares it with {told}, which was wrong"
        domain = Assumption(
            "old-in-domain", f"what {told} said of people are values of the domain too", "no"
        )
        return replace(
            verdict,
            certainty="conservative",
            because=because,
            evidence=Certificate("crowds", {}),
            measured=limits,
            assumptions=(*verdict.assumptions, domain),
            story=None,
        )
    because = (
        f"by itself it holds; together with {told}, which was wrong, this could not be decided"
    )
    text = " ".join(answer_changed(one, hand.new, is_corrected=True).text for one in hand.corrected)
    return replace(
        verdict,
        status="undecided",
        because=because,
        evidence=Reason("answer-changed", text),
        story=None,
        vacuous=False,
    )


def both(check: Check, opened: OpenPlan, hand: Hand) -> Overlap | None:
    """Who is alike in all views, those that are true first;
    None where the values that people can have are not declared.
    """
    from tacit.families.overlaps.reading.questions import OverlapQuestions

    names = tuple(dict.fromkeys([*hand.names, *hand.new, *(one.release for one in hand.corrected)]))
    wrong = [name for name in names if name not in (*hand.names, *hand.new)]
    # Whom a wrong answer was about is known by its query; the answer itself does not fit the data.
    bare = {
        name: replace(one, answer=None)
        for name in wrong
        if isinstance(one := opened.plan.releases[name], View)
    }
    if len(bare) != len(wrong):
        return (
            None  # microdata that were wrong: who was in which group is in a file that is not true
        )
    plan = replace(opened.plan, releases={**opened.plan.releases, **bare})
    question = OverlapQuestions(plan, readings_of(opened), lambda: opened.engine).question(
        replace(check, releases=names)
    )
    table = plan.tables[question.table]
    naming = table.keys[0] if table.keys else ()
    if not {*naming, *table.quasi_identifiers}.issuperset(question.public):
        return None  # the ledger does not compare all that everybody knows
    has_one_meaning = all(
        len(one) == 1 for one in question.meanings
    )  # no unknown words, no variants
    return merged(question.overlap) if question.is_declared_domain and has_one_meaning else None


def largest(overlap: Overlap, true: int) -> Fraction:
    """The most that anybody can be believed to have a value:
    by how often the true views show it, of people who are alike in all views.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> largest(merged(overlap_of(["x", "y"], [["x", "y", "y", "y"]], [[0], [0], [0], [0]])), 1)
    Fraction(3, 4)
    """
    found = Fraction(0)
    for outputs, size in zip(overlap.outputs[:, :true], overlap.sizes.tolist(), strict=True):
        shown = np.where(outputs == NOTHING, size, overlap.shown[outputs]).min(
            axis=0
        )  # by value: what a view leaves out may be anybody's
        found = max(found, Fraction(min(int(shown.max()), size), size))
    return found


def smallest(overlap: Overlap) -> int:
    """How many people the smallest crowd has: those who are alike in all views."""
    return int(overlap.sizes.min()) if len(overlap.sizes) else 0


def is_met(definition: Definition, limits: dict[str, Any]) -> bool:
    """Is what can be learned at most what is allowed?"""
    gamma, k = getattr(definition, "gamma", None), getattr(definition, "k", None)
    return (
        limits["gamma"] <= gamma
        if gamma is not None and "gamma" in limits
        else k is not None and limits.get("k", 0) >= k
    )
