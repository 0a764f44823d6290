"""Verdicts for adversaries: a gamma-privacy check for everybody who gets its releases, each with
what they hold; further views have to do for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.checking.advice import advice
from tacit.checking.assess import question_alone
from tacit.checking.holdings.holdings import holdings_of
from tacit.checking.verdicts import ORDER, verdict_with_holders, with_left_out
from tacit.errors import InputError, TacitError
from tacit.families.overlaps.definitions.gamma_privacy import GammaPrivacy
from tacit.families.overlaps.family import FAMILY
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.runs.restore_results import FurtherView
from tacit.families.words import listed
from tacit.model.holdings import Hand, in_words
from tacit.model.release import View
from tacit.model.verdict import Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan

Views = frozenset[str]


@dataclass(frozen=True, slots=True)
class AdversaryView:
    """What one adversary sees, with what they hold; and the verdict about that.
    `hand` is None where a check looks at its releases alone.
    """

    question: OverlapQuestion
    verdict: Verdict
    hand: Hand | None = None

    @property
    def views(self) -> Views:
        """The releases that they see."""
        return frozenset(self.question.releases)

    @property
    def called(self) -> str:
        """Who that is, in words."""
        return "anyone" if self.hand is None else self.hand.adversary.called


@dataclass(frozen=True, slots=True)
class OverlapAnswer:
    """The verdict of a check, and what it was asked about:
    a Seen for each different set of views, the most exposed first.
    """

    verdict: Verdict
    seen: tuple[AdversaryView, ...]


def answer_for_adversaries(
    opened: OpenPlan, check: Check, definition: GammaPrivacy, like: Views = frozenset()
) -> OverlapAnswer:
    """Ask a check for every adversary. Of those who are exposed the same,
    the one who sees `like` comes first.

    What is published and cannot be judged with the releases is refused:
    nobody could say whether further views hold beside it.
    """
    if not holdings_of(opened).has_beside(check):
        question = question_alone(FAMILY, check, opened, holdings_of(opened))
        verdict = FAMILY.answer(check, definition, question, opened)
        alone = AdversaryView(question, _named(verdict, check, opened))
        return OverlapAnswer(alone.verdict, (alone,))
    hands = holdings_of(opened).hands(check)
    found: dict[Views, AdversaryView] = {}
    for hand in hands:
        views = frozenset([*hand.names, *hand.new])
        if hand.problems or views not in found:
            found[views] = _adversary_view(opened, check, definition, hand)
    order = sorted(
        found.values(),
        key=lambda one: (
            ORDER.index(one.verdict.status),
            one.verdict.vacuous,
            FAMILY.closeness(one.verdict),
            one.views != like,
            -len(one.views),
        ),
    )
    first = order[0]
    assert first.hand is not None
    decided = hands if first.verdict.status == "holds" else [first.hand]
    held = [one for hand in hands for one in hand.adversary.held]
    verdict = verdict_with_holders(
        check, first.verdict, first.hand, decided, holdings_of(opened), held
    )
    return OverlapAnswer(_named(verdict, check, opened), tuple(order))


def verdict_about(opened: OpenPlan, check: Check, one: AdversaryView) -> Verdict:
    """The verdict about one adversary, which says who they are and what they hold."""
    if one.hand is None:
        return one.verdict
    return _named(
        verdict_with_holders(
            check, one.verdict, one.hand, [one.hand], holdings_of(opened), one.hand.adversary.held
        ),
        check,
        opened,
    )


def _adversary_view(
    opened: OpenPlan, check: Check, definition: GammaPrivacy, hand: Hand
) -> AdversaryView:
    if hand.problems:
        raise _not_with(
            opened.plan,
            check,
            " ".join([hand.problems[0].text, *advice(check, hand, holdings_of(opened))]),
            "tacit check says more.",
        )
    try:
        question = FAMILY.question(check, hand, opened)
        return AdversaryView(question, FAMILY.answer(check, definition, question, opened), hand)
    except TacitError as error:
        if not hand.joined:
            raise
        raise _not_with(
            opened.plan, check, f"{in_words(hand.joined)}: {error.message}", error.hint
        ) from None


def _not_with(plan: Plan, check: Check, why: str, hint: str | None) -> InputError:
    return InputError(
        f"what is published cannot be judged with {listed(check.releases)}: {why}",
        hint=hint,
        mark=plan.mark(*check.path),
    )


def _named(verdict: Verdict, check: Check, opened: OpenPlan) -> Verdict:
    return with_left_out(check, replace(verdict, name=check.name), holdings_of(opened))


# -- with further views ----------------------------------------------------------------------------


def recipients(plan: Plan, check: Check) -> tuple[str, ...]:
    """Who gets further views: all who get some release of the check, so that each adversary has all
    of them; nobody means everybody.

    >>> from pathlib import Path
    >>> from tacit.plan.plan import Check, Plan
    >>> some = {
    ...     "a": View("a", "", to=("bank",)),
    ...     "b": View("b", "", to=("clinic", "bank")),
    ...     "c": View("c", ""),
    ... }
    >>> plan = Plan("", Path(), mark=lambda *_: None, releases=some)
    >>> (
    ...     recipients(plan, Check("gamma-privacy", releases=("a", "b"))),
    ...     recipients(plan, Check("gamma-privacy", releases=("a", "c"))),
    ... )
    (('bank', 'clinic'), ())
    """
    to = [plan.releases[name].to for name in check.releases]
    return tuple(dict.fromkeys(client for some in to for client in some)) if all(to) else ()


def extended(plan: Plan, check: Check, views: Sequence[FurtherView]) -> tuple[Plan, Check]:
    """The plan and the check with further views, as the draft says it."""
    more = {one.name: View(one.name, one.query, to=one.to) for one in views}
    return replace(plan, releases={**plan.releases, **more}), replace(
        check, releases=(*check.releases, *more)
    )
