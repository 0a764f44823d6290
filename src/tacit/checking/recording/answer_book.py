"""The answer book: answers that the gateway gave, as entries of the ledger."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from tacit import __version__
from tacit.checking.holdings.gateway_answers import answer_view
from tacit.checking.holdings.holdings import Holdings
from tacit.checking.recording.answer_digests import Answers, places
from tacit.checking.recording.record import plan_hash, ties_of
from tacit.checking.recording.release_identity import definition_of
from tacit.ledger.digests import AnswerDigest
from tacit.ledger.entries import EntryDraft, Tie
from tacit.plan.open_plan import OpenPlan

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger
    from tacit.plan.plan import Plan

REMEMBERED = 100_000


class AnswerBook:
    """Writes down who was answered what, each answer once. For several threads."""

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        self._plan = plan
        self._ledger = ledger
        self._ties: dict[str, tuple[Tie, ...]] = {}
        self._written: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = Lock()

    def digest(self, columns: int) -> AnswerDigest:
        """What sums up the rows of an answer."""
        return AnswerDigest(self._ledger.key, places(columns))

    def record(self, user: str, query: str, tables: Sequence[str], digest: AnswerDigest) -> None:
        """Have in the ledger that a user was given the answer of a query. It is on the disk when
        this returns, else a TacitError says why not.
        """
        view, answer = answer_view(user, query, self._ledger.key), digest.hex()
        with self._lock:
            if (view.name, answer) in self._written:
                self._written.move_to_end((view.name, answer))
                return
            plan = replace(self._plan, releases={**self._plan.releases, view.name: view})
            self._ledger.record(
                EntryDraft(
                    kind="release",
                    release=view.name,
                    shape=view.shape,
                    tables=tuple(tables),
                    to=view.to,
                    by="the gateway",
                    plan=plan_hash(self._plan, self._ledger.key),
                    definition=definition_of(plan, view.name, self._ledger.key),
                    answer=answer,
                    version=__version__,
                    ties=tuple(tie for name in tables for tie in self._ties_of(name)),
                    query=query,
                )
            )
            self._written[view.name, answer] = None
            if len(self._written) > REMEMBERED:
                self._written.popitem(last=False)

    def _ties_of(self, table: str) -> tuple[Tie, ...]:
        """What tells a table under another name, as it was when its first answer went out."""
        if table not in self._ties:
            with OpenPlan(self._plan) as opened:
                holdings = Holdings(opened)
                self._ties[table] = ties_of(holdings, [table], Answers(opened, self._ledger.key))
        return self._ties[table]
