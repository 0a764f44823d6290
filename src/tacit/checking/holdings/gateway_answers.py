"""Gateway answers: what users got from the gateway, as releases that are published.

A role with `record: answers` has each answer in the ledger with its query. No plan lists these
releases, so they are added to the plan that is asked: then they are judged like all that is
published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tacit.checking.holdings.ledgers import is_begun, ledger_of
from tacit.errors import TacitError
from tacit.model.release import View

if TYPE_CHECKING:
    from tacit.ledger.key import Key
    from tacit.plan.plan import Plan

START = "gateway-answer-"


def answer_name(user: str, query: str, key: Key) -> str:
    """What an answer is called: the same for a user who asks the same again."""
    return START + key.mac("gateway answer", f"{user}\0{query}".encode())[:16]


def gateway_answers(plan: Plan) -> Mapping[str, View]:
    """The answers of the gateway that the ledger has; none where it cannot be read, which is told
    where its entries are looked up.
    """
    if "://" not in plan.ledger and not (plan.folder / plan.ledger).exists():
        return {}  # before anything of the ledger is loaded
    try:
        if not is_begun(plan):
            return {}
        with ledger_of(plan) as ledger:
            return {
                one.release: View(one.release, one.query, to=one.to)
                for one in ledger.named(START)
                if one.query
            }
    except TacitError:
        return {}


def answer_view(user: str, query: str, key: Key) -> View:
    """An answer as a release to its user."""
    return View(answer_name(user, query, key), query, to=(user,))
