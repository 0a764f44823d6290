"""Rechecking: the checks of everything that was recorded, asked again;
and what no longer stands, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tacit import __version__
from tacit.checking.holdings.ledgers import ledger_of
from tacit.checking.holdings.shares import LedgerShare, given_out, worst
from tacit.checking.recording.answer_digests import Answers
from tacit.checking.recording.current_verdicts import LedgerStanding, standings
from tacit.checking.recording.record import people_of, plan_hash
from tacit.checking.recording.release_identity import definition_of
from tacit.families.family import kind_of
from tacit.families.words import listed
from tacit.model.jobs import Job
from tacit.model.recipients import have_common
from tacit.model.verdict import Audience
from tacit.plan.open_plan import OpenPlan

if TYPE_CHECKING:
    from tacit.ledger.entries import Entry
    from tacit.ledger.key import Key
    from tacit.plan.plan import Plan

Code = Literal[
    "did-not-hold",
    "plan-changed",
    "data-changed",
    "released-since",
    "other-version",
    "no-check",
    "nothing-changed",
]


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a release no longer stands, or may not: what changed since it went out."""

    code: Code
    text: str


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A release that is published: the verdict when it went out last, and what the checks say
    today, for all who have it.
    """

    entry: Entry
    then: str
    now: str
    standings: tuple[LedgerStanding, ...]
    causes: tuple[Cause, ...] = ()

    @property
    def stands(self) -> bool:
        """Do all its checks hold today?"""
        return self.now == "holds"

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """One line of what `tacit ledger recheck --json` prints."""
        judged = [
            {**_verdict(one, audience), "who": list(one.who), "status": _plainly(one.status)}
            for one in self.standings
        ]
        return {
            "entry": self.entry.number,
            "release": self.entry.release,
            "to": list(self.entry.to),
            "version": self.entry.version,
            "then": self.then or None,
            "now": self.now,
            "stands": self.stands,
            "causes": [{"code": one.code, "text": one.text} for one in self.causes],
            "verdicts": judged,
        }


@dataclass(frozen=True, slots=True)
class Recheck:
    """All that is published, judged again."""

    ledger: str
    found: tuple[Rechecked, ...]
    seconds: float = 0.0

    @property
    def fallen(self) -> tuple[Rechecked, ...]:
        """What does not stand."""
        return tuple(one for one in self.found if not one.stands)

    @property
    def exit_status(self) -> int:
        """As that of `tacit check`: 0 all stands, 1 something is breached, 3 something is
        undecided or has no check.
        """
        statuses = {one.now for one in self.found}
        return 1 if "breached" in statuses else 3 if "undecided" in statuses else 0

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit ledger recheck --json` prints."""
        return {
            "ledger": self.ledger,
            "version": __version__,
            "recorded": [one.to_json(audience) for one in self.found],
            "seconds": round(self.seconds, 3),
        }


def recheck(plan: Plan, job: Job | None = None) -> Recheck:
    """Ask the checks of everything that the ledger says is published, with the plan, the data and
    the Tacit of today.
    """
    begun, job = time.perf_counter(), job or Job()
    with ledger_of(plan) as ledger:
        given, key = given_out(ledger), ledger.key
    found = standings(plan, job).found
    with OpenPlan(plan, job) as opened:
        compared = LedgerComparison(opened, key, given)
        rechecked = tuple(_rechecked(one, _about(one, found), compared) for one in given)
    return Recheck(plan.ledger, rechecked, time.perf_counter() - begun)


def _about(given: LedgerShare, found: Sequence[LedgerStanding]) -> tuple[LedgerStanding, ...]:
    """The standings of those who have a release, for the checks that are about it."""
    return tuple(
        one
        for one in found
        if given.entry.release in one.releases
        and (not given.held.to or have_common(given.held.to, one.holder))
    )


def _rechecked(
    given: LedgerShare, found: tuple[LedgerStanding, ...], compared: LedgerComparison
) -> Rechecked:
    then, now = (
        worst(one.status for one in given.entry.verdicts),
        worst(_plainly(one.status) for one in found) or "undecided",
    )
    causes = tuple(compared.causes(given, found, then)) if now != "holds" else ()
    return Rechecked(given.entry, then, now, found, causes)


def _plainly(status: str) -> str:
    return "undecided" if status == "not asked" else status


def _verdict(one: LedgerStanding, audience: Audience) -> dict[str, Any]:
    if one.verdict is not None:
        return one.verdict.to_json(audience)
    return {"check": one.check, "name": one.name, "because": one.because}


class LedgerComparison:
    """What is as it was when releases went out, and what is not."""

    def __init__(self, opened: OpenPlan, key: Key, given: Sequence[LedgerShare]) -> None:
        self.plan, self.key, self.given = opened.plan, key, given
        self.answers = Answers(opened, key)

    def causes(
        self, given: LedgerShare, found: Sequence[LedgerStanding], then: str
    ) -> Iterator[Cause]:
        """What changed since a release went out, or why it never held."""
        entry, said = given.entry, False
        if then in ("breached", "undecided"):
            said = True
            yield Cause("did-not-hold", f"it was {then} when it went out")
        for cause in (
            self._plan(entry),
            self._data(entry),
            self._since(given, found),
            self._version(entry),
        ):
            if cause is not None:
                said = True
                yield cause
        if not found and entry.release in self.plan.releases:
            said = True
            yield Cause("no-check", f"no check of the plan is about {entry.release}")
        if not said:
            yield Cause(
                "nothing-changed",
                "neither plan nor data nor what else is published changed; what is not "
                "decided may have "
                "run out of time",
            )

    def changed(self, entry: Entry) -> list[Cause]:
        """What changed in plan and data since a release went out."""
        return [one for one in (self._plan(entry), self._data(entry)) if one is not None]

    def _plan(self, entry: Entry) -> Cause | None:
        if entry.release not in self.plan.releases:
            return Cause("plan-changed", f"the plan has no release {entry.release} any more")
        if definition_of(self.plan, entry.release, self.key) != entry.definition:
            return Cause(
                "plan-changed",
                f"the plan says something else under {entry.release} than what went out",
            )
        return (
            Cause("plan-changed", "the file of the plan was changed")
            if plan_hash(self.plan, self.key) != entry.plan
            else None
        )

    def _data(self, entry: Entry) -> Cause | None:
        """Do the data give another answer, or are other people in the table? Of a release that
        the plan has no more nobody can tell.
        """
        release = self.plan.releases.get(entry.release)
        if (
            release is None
            or kind_of(release).answer != "data"
            or definition_of(self.plan, entry.release, self.key) != entry.definition
        ):
            return None
        today = self.answers.today(entry.release)
        if today is not None and entry.answer is not None and today.digest != entry.answer:
            return Cause("data-changed", f"the data give {entry.release} another answer today")
        if entry.people is not None and people_of(
            entry.release, entry.tables, self.answers
        ) not in (None, entry.people):
            return Cause(
                "data-changed",
                f"the people of {listed(entry.tables)}, or what everybody knows of them, changed",
            )
        return None

    def _since(self, given: LedgerShare, found: Sequence[LedgerStanding]) -> Cause | None:
        """What else those who have it got later, as far as the checks say that it matters."""
        beside = {
            name
            for one in found
            if one.verdict is not None
            for name in (*one.verdict.subject.get("given", ()), *one.releases)
        }
        later = [
            one.entry
            for one in self.given
            if one.entry.number > given.entry.number
            and one.entry.release in beside
            and one.entry.release != given.entry.release
        ]
        words = listed([f"{one.release} (entry {one.number})" for one in later])
        return Cause("released-since", f"{words} went out since") if later else None

    def _version(self, entry: Entry) -> Cause | None:
        if entry.version == __version__:
            return None
        by = (
            f"Tacit {entry.version}"
            if entry.version
            else "an older Tacit, which did not note its version"
        )
        return Cause(
            "other-version",
            f"it was judged by {by}, and this is {__version__}: what was mended since asks more",
        )
