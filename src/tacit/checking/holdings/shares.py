"""Shares: what everybody, each recipient and each group that colludes has got by the ledger,
since when, and under which verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tacit.checking.holdings.adversaries import spellings_of
from tacit.families.words import listed
from tacit.ledger.entries import Entry, identity
from tacit.ledger.paging import beginnings, those
from tacit.model.recipients import have_common

if TYPE_CHECKING:
    from tacit.ledger.entries import LedgerVerdict, Shape
    from tacit.ledger.held_releases import Holding
    from tacit.ledger.ledger import Ledger
    from tacit.plan.plan import Plan

WORST = ("breached", "undecided", "holds")


@dataclass(frozen=True, slots=True)
class HeldShare:
    """A release that somebody has. `entry` is the last one that gave it, with the verdicts of that
    day; `outputs` counts different answers.

    `public`: they have it because everybody does.
    `withdrawn`: they have it still, and get no more of it.
    """

    release: str
    shape: Shape
    tables: tuple[str, ...]
    entry: int
    since: datetime
    last: datetime
    verdicts: tuple[LedgerVerdict, ...] = ()
    entries: int = 1
    outputs: int = 1
    public: bool = False
    withdrawn: datetime | None = None

    @property
    def status(self) -> str:
        """The worst verdict of the day when it went out last; nothing where it was not judged."""
        return worst(one.status for one in self.verdicts)


@dataclass(frozen=True, slots=True)
class Holder:
    """Everybody (nobody named), a recipient, or several who tell each other what they have;
    what they hold together, the oldest first.
    """

    who: tuple[str, ...]
    shares: tuple[HeldShare, ...]

    @property
    def called(self) -> str:
        """Who that is, in words.

        >>> (
        ...     Holder((), ()).called,
        ...     Holder(("clinic",), ()).called,
        ...     Holder(("clinic", "insurer"), ()).called,
        ... )
        ('everybody', 'clinic', 'clinic and insurer together')
        """
        return (
            "everybody"
            if not self.who
            else f"{listed(self.who)}{' together' if len(self.who) > 1 else ''}"
        )

    @property
    def releases(self) -> tuple[str, ...]:
        """The names of what they hold."""
        return tuple(dict.fromkeys(one.release for one in self.shares))


@dataclass(frozen=True, slots=True)
class LedgerShare:
    """Something that is published, as the ledger tells it once:
    the last entry, the first, and how many there were.
    """

    held: Holding
    entry: Entry
    first: Entry
    entries: int


def holders(plan: Plan, ledger: Ledger) -> tuple[Holder, ...]:
    """Everybody, each recipient of the ledger or the plan, and each group that a check says may
    collude, with what they hold.

    What is public is with all of them.
    Reads one entry for each different thing that is published, not the whole ledger.
    """
    given, spellings = given_out(ledger), spellings_of(plan)
    clients = {spellings.of(client) for one in given for client in one.held.to}
    clients |= {client for release in plan.releases.values() for client in release.to}
    groups = coalitions(plan)
    clients |= {client for group in groups for client in group}
    return tuple(
        Holder(who, shares(who, given))
        for who in ((), *((one,) for one in sorted(clients)), *groups)
    )


def coalitions(plan: Plan) -> list[tuple[str, ...]]:
    """The groups that checks of the plan say may collude, each once."""
    return list(
        dict.fromkeys(
            tuple(sorted(set(group)))
            for check in plan.checks
            for group in check.collude
            if len(set(group)) > 1
        )
    )


def given_out(ledger: Ledger) -> list[LedgerShare]:
    """What is published, each different thing once, in the order in which it went out last."""
    held = ledger.held()
    last = those(ledger, [one.entry for one in held])
    found = beginnings(ledger)
    own = [found.get(identity(entry), (entry.number, 1)) for entry in last]
    first = those(ledger, [number for number, _ in own])
    return [
        LedgerShare(one, entry, begun, many)
        for one, entry, begun, (_, many) in zip(held, last, first, own, strict=True)
    ]


def shares(who: Sequence[str], given: Iterable[LedgerShare]) -> tuple[HeldShare, ...]:
    """What some clients hold together: each release once, whatever they got of it and how often."""
    found: dict[tuple[str, bool], list[LedgerShare]] = {}
    for one in given:
        if not one.held.to or have_common(one.held.to, who):
            found.setdefault((one.held.release, not one.held.to), []).append(one)
    return tuple(sorted((share(some) for some in found.values()), key=lambda one: one.since))


def share(given: Sequence[LedgerShare]) -> HeldShare:
    """One release, from all that was given of it to the same people."""
    last = max(given, key=lambda one: one.entry.number)
    ended = [one.held.withdrawn for one in given]
    return HeldShare(
        last.held.release,
        last.held.shape,
        tuple(sorted({name for one in given for name in one.held.tables})),
        last.entry.number,
        min(one.first.at for one in given),
        last.entry.at,
        last.entry.verdicts,
        sum(one.entries for one in given),
        len({(one.held.definition, one.held.answer) for one in given}),
        not last.held.to,
        max((one for one in ended if one is not None), default=None) if None not in ended else None,
    )


def worst(statuses: Iterable[str]) -> str:
    """The worst of some verdicts.

    >>> worst(["holds", "breached"]), worst([])
    ('breached', '')
    """
    found = set(statuses)
    return next((one for one in WORST if one in found), "")
