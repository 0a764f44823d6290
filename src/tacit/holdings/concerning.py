"""Concerning: which checks are asked about what is out already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.definitions.registry import OF_OVERLAPS, OF_WORLDS
from tacit.plan.references import LEDGER

if TYPE_CHECKING:
    from tacit.plan.plan import Check, Plan


def out_already(check: Check, plan: Plan) -> tuple[str, ...]:
    """The releases that are out by the plan, as far as a check takes them; `ledger` stands for all that the ledger holds."""
    return plan.published if check.given is None else check.given


def concerns(check: Check, plan: Plan) -> bool:
    """May a check be asked about what its recipients hold? Without the ledger, view safety looks at that by itself.

    Views of one table are judged with what the plan has under `published`; other checks only where they say so themselves.
    """
    return says_so(check, plan) or (
        check.kind in OF_OVERLAPS and bool(set(out_already(check, plan)) - set(check.releases))
    )


def says_so(check: Check, plan: Plan) -> bool:
    """Is a check asked about what its recipients hold, whatever that is?"""
    if LEDGER in out_already(check, plan):
        return True
    return check.kind not in OF_WORLDS and (check.given is not None or bool(check.collude))


def lies_beside(plan: Plan) -> bool:
    """Is the plan's ledger a file that is there? A database is not called for a check that does not ask."""
    return bool(plan.file) and "://" not in plan.ledger and (plan.folder / plan.ledger).is_file()
