"""Unasked: what a ledger beside the plan says about recipients of a release, where the plan does not ask it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.definitions.registry import OF_OVERLAPS, OF_SYNTHETIC, OF_WORLDS
from tacit.errors import TacitError
from tacit.holdings.adversaries import adversaries
from tacit.holdings.concerning import out_already
from tacit.holdings.holdings import Hand
from tacit.holdings.judging import who_holds
from tacit.plan.references import LEDGER

if TYPE_CHECKING:
    from tacit.holdings.held import Held
    from tacit.holdings.holdings import Holdings
    from tacit.plan.plan import Check, Plan


def unasked(check: Check, holdings: Holdings) -> tuple[str, ...]:
    """A warning where somebody who gets a release has others by the ledger, and these were not judged with it.

    A check that names what is given says so on purpose. A ledger that cannot be read is no reason to fail: it was not asked.
    """
    plan = holdings.plan
    if check.given is not None or LEDGER in plan.published:
        return ()
    asked = replace(check, given=(*out_already(check, plan), LEDGER))
    with suppress(TacitError):
        if words := known_by_ledger(asked, holdings):
            return (
                f"the ledger {plan.ledger} says that {words}, and this plan does not ask it: what both tell together was not judged. Add to the plan: {published(plan)}",
            )
        if words := drawn_before(asked, holdings):
            return (
                f"the ledger {plan.ledger} has {words} already, and this plan does not ask it: another output would spend once more. Add to the plan: {published(plan)}",
            )
    return ()


def drawn_before(check: Check, holdings: Holdings) -> str:
    """What of the synthetic releases that a check names is out by the ledger, in words: each output spends by itself."""
    if check.kind not in OF_SYNTHETIC:
        return ""
    return ", ".join(
        one.told
        for one in holdings.held(check)
        if one.entry is not None and one.release in check.releases
    )


def published(plan: Plan) -> str:
    """What a plan has to say so that its checks ask the ledger."""
    return f"published: [{', '.join([*plan.published, LEDGER])}]"


def is_judged(held: Held, check: Check, plan: Plan) -> bool:
    """Is it judged in any case, since the plan says by name that it is out, and to all of these at least?"""
    if check.kind not in (*OF_WORLDS, *OF_OVERLAPS) or held.release not in plan.published:
        return False
    said = plan.releases[held.release].to
    return not said or (bool(held.to) and set(held.to) <= set(said))


def known_by_ledger(check: Check, holdings: Holdings) -> str:
    """Who has what by the ledger of those who get what a check names, in words."""
    held = [
        one
        for one in holdings.held(check)
        if one.entry is not None and not is_judged(one, check, holdings.plan)
    ]
    return who_holds(
        [
            Hand(one)
            for one in adversaries(check, holdings.plan, held, together=check.kind not in OF_WORLDS)
        ]
    )
