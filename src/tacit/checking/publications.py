"""Publications: what is published when a check is asked; every check is asked about all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.plan.read.references import LEDGER

if TYPE_CHECKING:
    from tacit.plan.plan import Check, Plan


def out_already(check: Check, plan: Plan) -> tuple[str, ...]:
    """What is published when a check is asked, by name; `ledger` stands for all that the ledger
    holds.

    It is all that the plan says is published, and the plan's ledger, whether the plan names that or
    not. `given` in a check says otherwise, on purpose: then a note says what it leaves out.
    """
    return all_out(plan) if check.given is None else check.given


def all_out(plan: Plan) -> tuple[str, ...]:
    """All that is published by a plan."""
    return (
        (*plan.published, LEDGER)
        if LEDGER not in plan.published and has_ledger(plan)
        else plan.published
    )


def has_ledger(plan: Plan) -> bool:
    """Has a plan a ledger that can be asked:
    a file that is there, or a database that the plan names?
    """
    return bool(plan.file) and ("://" in plan.ledger or (plan.folder / plan.ledger).is_file())


def is_named(check: Check, plan: Plan) -> bool:
    """Does the plan, or the check itself, say that the ledger is to be asked? If not, one that
    cannot be read is no wrong input.
    """
    return LEDGER in (plan.published if check.given is None else check.given)


def is_alone(check: Check, plan: Plan) -> bool:
    """Is nothing out by plan or ledger, and does the check say nothing of who holds what?"""
    return not out_already(check, plan) and check.given is None and not check.collude
