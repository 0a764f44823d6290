"""Who sees what: the releases that are out, and clients, alone or together, with what a check would show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from tacit.errors import PlanError
from tacit.model.release import Constraint, View
from tacit.plan.references import LEDGER

if TYPE_CHECKING:
    from tacit.plan.plan import Check, Plan

MOST_TOGETHER = 6  # clients in a group that colludes

Sees = tuple[
    tuple[str, ...], list[str], list[str]
]  # clients, what they have seen, what they would see


def given(plan: Plan, check: Check) -> list[str]:
    """The views and constraints that are out before those that a check asks about."""
    named = plan.published if check.given is None else check.given
    for name in named:
        if name == LEDGER:
            raise PlanError(
                "what the ledger holds is not looked at here.",
                hint="Ask tacit check, or name the releases that are out.",
                mark=plan.mark("published"),
            )
        if not isinstance(plan.releases[name], View | Constraint):
            hint = "Name views and constraints; leave microdata and synthetic data out."
            raise PlanError(
                f"{check.kind} takes views and constraints as published, and {name!r} is neither.",
                hint=hint,
                mark=plan.mark(*check.path),
            )
    # What is asked about is not out yet.
    return [name for name in named if name not in check.releases]


def adversaries(plan: Plan, check: Check, given: Sequence[str]) -> Iterator[Sees]:
    """Clients, alone or together, with what they have seen and what they would see; the public is nobody."""
    to = {name: set(plan.releases[name].to) for name in (*given, *check.releases)}
    clients = sorted(set().union(*to.values())) if to else []
    refuse_collusion(plan, check, clients)
    # Who may collude may also not: knowing more can make a release harmless that tells some of them something.
    parts = [
        part
        for group in check.collude
        for many in range(len(group), 1, -1)
        for part in combinations(group, many)
    ]
    groups = [(), *dict.fromkeys(parts), *((client,) for client in clients)]
    for group in groups:
        seen = [name for name in given if not to[name] or to[name] & set(group)]
        new = [name for name in check.releases if not to[name] or to[name] & set(group)]
        if new:
            yield tuple(group), seen, new


def refuse_collusion(plan: Plan, check: Check, clients: Sequence[str]) -> None:
    """A PlanError where somebody colludes who gets nothing, or where too many do."""
    mark = plan.mark(*check.path, "collude")
    for client in (client for group in check.collude for client in group):
        if client not in clients:
            known = ", ".join(clients) or "none: add `to:` to releases"
            raise PlanError(
                f"no release goes to {client!r}.", hint=f"Clients are {known}.", mark=mark
            )
    if any(len(group) > MOST_TOGETHER for group in check.collude):
        raise PlanError(
            f"more than {MOST_TOGETHER} clients collude.",
            hint="Name smaller groups: all parts of a group are asked about.",
            mark=mark,
        )
