"""Current verdicts: the plan's checks asked again of what is published, for everybody, each
recipient and each group that colludes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from tacit.checking.holdings.adversaries import spellings_of
from tacit.checking.holdings.holdings import Holdings
from tacit.checking.holdings.ledgers import is_begun, ledger_of
from tacit.checking.holdings.shares import coalitions, worst
from tacit.checking.verdicts import judged_each
from tacit.errors import TacitError
from tacit.families.catalog import define
from tacit.model.holdings import in_words
from tacit.model.jobs import Job
from tacit.model.recipients import have_common
from tacit.model.verdict import Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.read.references import LEDGER

if TYPE_CHECKING:
    from tacit.ledger.held_releases import Holding
    from tacit.model.holdings import Hand
    from tacit.plan.plan import Check, Plan

Who = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LedgerStanding:
    """What a check says today about what some hold together.
    `verdict` is None where it could not be asked, and `because` says why.

    `who` names those who were judged: of a group that colludes, the part of it that learns the
    most. `releases` are those that the check is about and that they have; `together` says what else
    of theirs was judged with these.
    """

    holder: Who
    who: Who
    check: str
    name: str | None
    label: str
    releases: tuple[str, ...]
    status: Literal["holds", "breached", "undecided", "not asked"]
    because: str
    together: str = ""
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Standings:
    """All standings, and the releases that are published and that no check of the plan asks
    about."""

    found: tuple[LedgerStanding, ...]
    unasked: tuple[str, ...] = ()

    def of(self, holder: Who) -> tuple[LedgerStanding, ...]:
        """What the checks say about one holder."""
        return tuple(one for one in self.found if one.holder == holder)

    def status(self, holder: Who) -> str:
        """The worst verdict about one holder; nothing where no check asks."""
        return worst(
            "undecided" if one.status == "not asked" else one.status for one in self.of(holder)
        )


def standings(plan: Plan, job: Job | None = None) -> Standings:
    """Ask every check of the plan about what is published of its releases, for all who have some
    of it, with all else that they hold.

    It is the question that was asked when each release went out, asked again with all that went out
    later and with the data of today. A check of a release that is not out is left out.
    """
    job = job or Job()
    held = what_is_out(plan)
    out = as_it_is_out(plan, held)
    asked = {name for check in out.checks for name in check.releases}
    unasked = tuple(dict.fromkeys(one.release for one in held if one.release not in asked))
    found: list[LedgerStanding] = []
    with OpenPlan(out, job) as opened:
        holdings = Holdings(opened)
        for number, check in enumerate(out.checks):
            job.step(f"{check.kind} of {', '.join(check.releases)}", number / len(out.checks))
            found += asked_for_all(check, holdings, holders_of(out, held))
    job.step("done", 1.0)
    return Standings(tuple(found), unasked)


def what_is_out(plan: Plan) -> list[Holding]:
    """All that the ledger says is published, with recipients as the plan writes them;
    nothing where none was begun.
    """
    if not is_begun(plan):
        return []
    spellings = spellings_of(plan)
    with ledger_of(plan) as ledger:
        return [replace(one, to=spellings.each(one.to)) for one in ledger.held()]


def as_it_is_out(plan: Plan, held: Sequence[Holding]) -> Plan:
    """The plan with the recipients of the ledger, and the checks of what is published only, each
    asked with the ledger.
    """
    to: dict[str, tuple[str, ...] | None] = {}
    for one in held:
        if one.release in plan.releases:
            before = to.get(one.release, ())
            to[one.release] = (
                None if before is None or not one.to else tuple(sorted({*before, *one.to}))
            )
    releases = {
        name: one.given_to(to[name] or ()) if name in to else one
        for name, one in plan.releases.items()
    }
    checks = [
        replace(check, releases=own)
        for check in plan.checks
        if (own := tuple(name for name in check.releases if name in to))
    ]
    given = tuple(
        replace(check, given=tuple(dict.fromkeys([*plan.published, *(check.given or ()), LEDGER])))
        for check in checks
    )
    published = plan.published if LEDGER in plan.published else (*plan.published, LEDGER)
    return replace(plan, releases=releases, checks=given, published=published)


def holders_of(plan: Plan, held: Sequence[Holding]) -> list[Who]:
    """Everybody, all who have something, and those who collude."""
    clients = {client for one in held for client in one.to}
    return [(), *((client,) for client in sorted(clients)), *coalitions(plan)]


def asked_for_all(
    check: Check, holdings: Holdings, holders: Sequence[Who]
) -> Iterator[LedgerStanding]:
    """A check asked for every holder that has some of what it is about."""
    try:
        found = judged_each(check, define(check.kind, check.parameters), holdings)
        held = holdings.held(check)
    except TacitError as error:
        said = " ".join(part for part in (error.message, error.hint) if part)
        for holder in holders:
            if own := theirs(check, holdings.plan, holder):
                yield LedgerStanding(
                    holder, holder, check.kind, check.name, check.kind, own, "not asked", said
                )
        return
    by_hand = {
        (frozenset(hand.adversary.held), hand.new): (verdict, hand) for verdict, hand in found
    }
    for holder in holders:
        parts = [
            (part, *by_hand[key])
            for part in parts_of(holder, check)
            if (
                key := (
                    frozenset(one for one in held if one.known_to(part)),
                    theirs(check, holdings.plan, part),
                )
            )
            in by_hand
        ]
        if parts:
            yield standing(
                check,
                holder,
                *min(
                    parts, key=lambda one: ("breached", "undecided", "holds").index(one[1].status)
                ),
            )


def parts_of(holder: Who, check: Check) -> list[Who]:
    """Of a group those parts that learn something by telling each other, the whole group first;
    others are asked about as they are.

    >>> from tacit.plan.plan import Check
    >>> parts_of(("a", "b", "c"), Check("k-sind", collude=(("a", "b", "c"),)))
    [('a', 'b', 'c'), ('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> parts_of(("a", "b"), Check("k-sind"))
    []
    """
    if len(holder) < 2:
        return [holder]
    if not any(set(holder) <= set(group) for group in check.collude):
        return []
    return [part for many in range(len(holder), 1, -1) for part in combinations(holder, many)]


def theirs(check: Check, plan: Plan, who: Who) -> tuple[str, ...]:
    """The releases of a check that some have."""
    return tuple(
        name
        for name in check.releases
        if not plan.releases[name].to or have_common(plan.releases[name].to, who)
    )


def standing(check: Check, holder: Who, who: Who, verdict: Verdict, hand: Hand) -> LedgerStanding:
    """What was found for one holder."""
    together = in_words([one for one in hand.joined if one.release not in hand.new])
    return LedgerStanding(
        holder,
        who,
        check.kind,
        check.name,
        verdict.label,
        hand.new,
        verdict.status,
        verdict.because,
        together,
        replace(verdict, name=check.name),
    )
