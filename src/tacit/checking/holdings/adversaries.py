"""Adversaries: the public, each client, and those who collude, with
what each of them holds and would get.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from tacit.checking.publications import out_already
from tacit.errors import PlanError
from tacit.families.family import family_of
from tacit.model.holdings import Adversary, HeldRelease
from tacit.model.recipients import Spellings, have_common, is_among
from tacit.plan.read.references import LEDGER

if TYPE_CHECKING:
    from tacit.plan.plan import Check, Plan

MOST_TOGETHER = 6  # clients in a group that colludes


def adversaries(check: Check, plan: Plan, held: Sequence[HeldRelease]) -> list[Adversary]:
    """Everybody who would get something new; those who hold and get the same are one.

    What a check names is also judged as one, whoever gets which part of it, because that is what a
    list means; a family that has all adversaries in its question has them apart.
    """
    to = {name: plan.releases[name].to for name in check.releases}
    clients = sorted(
        {client for some in (*to.values(), *(one.to for one in held)) for client in some}
    )
    check_collusion(check, plan, clients)
    found: dict[tuple[frozenset[HeldRelease], tuple[str, ...]], Adversary] = {}
    for group in groups(check, clients):
        _add(found, group, check.releases, to, held)
    together = not family_of(check.kind).has_all_adversaries
    if together and not any(one.new == check.releases for one in found.values()):
        everybody = tuple(sorted({client for some in to.values() for client in some}))
        _add(found, everybody, check.releases, to, held)
    return list(found.values())


def groups(check: Check, clients: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The public, those who collude with all parts of their group, and each client alone.

    Who may collude may also not: knowing more can make a release harmless
    that tells some of them something.
    """
    yield ()
    parts = [
        tuple(sorted(part))
        for group in check.collude
        for many in range(len(group), 1, -1)
        for part in combinations(group, many)
    ]
    yield from dict.fromkeys(parts)
    yield from ((client,) for client in clients)


def check_collusion(check: Check, plan: Plan, clients: Collection[str]) -> None:
    """There are not too many who collude, and each of them is known:
    one who is not may be misspelt.

    With the ledger others may have got something that is of no matter here.
    """
    if LEDGER not in out_already(check, plan):
        for client in strangers(check, plan, clients):
            known = sorted(known_clients(plan, clients))
            hint = f"Clients are {', '.join(known) or 'none: add `to:` to releases'}."
            raise PlanError(
                f"no release goes to {client!r}.", hint=hint, mark=plan.mark(*check.path, "collude")
            )
    if any(len(group) > MOST_TOGETHER for group in check.collude):
        raise PlanError(
            f"more than {MOST_TOGETHER} clients collude.",
            hint="Name smaller groups: all parts of a group are asked about.",
            mark=plan.mark(*check.path, "collude"),
        )


def strangers(check: Check, plan: Plan, clients: Collection[str]) -> list[str]:
    """Clients who are said to collude, and to whom nothing goes or went."""
    known = known_clients(plan, clients)
    return list(
        dict.fromkeys(
            client for group in check.collude for client in group if not is_among(client, known)
        )
    )


def known_clients(plan: Plan, clients: Collection[str]) -> set[str]:
    """Some clients, and those of the plan."""
    return {
        *clients,
        *(client for release in plan.releases.values() for client in release.to),
        *plan.roles,
    }


def spellings_of(plan: Plan) -> Spellings:
    """Recipients as the plan writes them, so that those of the ledger can be compared with them."""
    written = [client for release in plan.releases.values() for client in release.to]
    return Spellings(
        [
            *written,
            *(client for check in plan.checks for group in check.collude for client in group),
        ]
    )


def _add(
    found: dict[tuple[frozenset[HeldRelease], tuple[str, ...]], Adversary],
    group: tuple[str, ...],
    releases: Sequence[str],
    to: dict[str, tuple[str, ...]],
    held: Sequence[HeldRelease],
) -> None:
    new = tuple(name for name in releases if not to[name] or have_common(to[name], group))
    if new:
        theirs = tuple(one for one in held if one.known_to(group))
        found.setdefault((frozenset(theirs), new), Adversary(group, theirs, new))
