"""Asking: the question of a check for one adversary, with what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.families.queries.datalog.dependencies import read_constraint
from tacit.families.queries.dependency import joined
from tacit.families.registry import OF_OVERLAPS, OF_SYNTHETIC, OF_WORLDS
from tacit.model.release import Constraint

if TYPE_CHECKING:
    from tacit.checking.desk import Desk
    from tacit.checking.holdings.holdings import Hand, Holdings
    from tacit.families.queries.question import QueryQuestion
    from tacit.families.worlds.question import SafetyQuestion
    from tacit.plan.plan import Check


def question_for(check: Check, hand: Hand, desk: Desk) -> Any:
    """What a definition about queries, views or mechanisms is asked for one adversary:
    what is out comes first.
    """
    together = replace(check, releases=(*hand.names, *hand.new))
    if check.kind in OF_WORLDS:
        return desk.views.question(
            replace(check, releases=hand.new), (hand.who, list(hand.names), list(hand.new))
        )
    if check.kind in OF_OVERLAPS:
        return desk.overlaps.question(together)
    if check.kind in OF_SYNTHETIC:
        return desk.synthetic.question(together)
    return about_queries(together, desk)


def about_queries(check: Check, desk: Desk) -> QueryQuestion:
    """A question of perfect privacy; rules that are out tie tables
    together as those do that everybody knows.
    """
    plan = desk.plan
    rules = [name for name in check.releases if isinstance(plan.releases[name], Constraint)]
    views = tuple(name for name in check.releases if name not in rules)
    question = desk.readings.question(replace(check, releases=views))
    return (
        replace(question, tied=joined([*question.tied, *tied_by(rules, desk)]))
        if rules
        else question
    )


def tied_by(rules: list[str], desk: Desk) -> Iterator[set[str]]:
    """The tables that rules of the plan tie together."""
    for name in rules:
        release = desk.plan.releases[name]
        assert isinstance(release, Constraint)
        yield from (
            set(one.relations())
            for one in read_constraint(release.constraint, desk.readings.relations())
        )


def all_cases(check: Check, holdings: Holdings, desk: Desk) -> SafetyQuestion:
    """The question of view safety for all adversaries, as far as what they hold can be judged;
    what could not be is said.
    """
    hands = holdings.hands(check)
    questions: list[SafetyQuestion] = [question_for(check, hand, desk) for hand in hands]
    given = dict.fromkeys(name for one in questions for name in one.given)
    assumed = dict.fromkeys(
        [
            *(one for each in questions for one in each.assumptions),
            *(one for hand in hands for one in hand.assumptions),
        ]
    )
    warned = dict.fromkeys(
        [
            *desk.views.warnings([*given, *check.releases]),
            *(one.text.rstrip(".") for hand in hands for one in hand.problems),
        ]
    )
    return replace(
        questions[0],
        releases=check.releases,
        given=tuple(given),
        cases=tuple(case for one in questions for case in one.cases),
        assumptions=tuple(assumed),
        warnings=tuple(warned),
    )
