"""Decisions that were made already: the ones used last, within a bound on their number and size."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.gateway.policy.decisions import Decision

Key = tuple[str, str, str]  # role, query, parameters

MOST_LETTERS = 100_000_000


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, and the query as the audit log may show it: without what it says about people."""

    decision: Decision
    redacted: str
    until: float | None = None  # by time.monotonic: one that was cut short is not kept for long


class Decisions:
    """The decisions of one policy. They depend on role, query and parameters alone, so they stay
    true as long as it does.
    """

    def __init__(self, most: int, letters: int = MOST_LETTERS) -> None:
        self._most = most
        self._room = letters
        self._kept: OrderedDict[Key, tuple[Decided, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: Key) -> Decided | None:
        """What was decided, if it is still known."""
        found = self._kept.get(key)
        if found is None:
            return None
        if found[0].until is not None and found[0].until < time.monotonic():
            self._forget(key)
            return None
        self._kept.move_to_end(key)
        return found[0]

    def keep(self, key: Key, decided: Decided) -> None:
        """Remember a decision, and forget those that were not used for
        longest where there is no room.
        """
        size = (
            1_000
            + sum(map(len, key))
            + len(decided.redacted)
            + len(decided.decision.sql or "")
            + len(decided.decision.key)
        )
        self._forget(key)
        self._kept[key] = (decided, size)
        self._room -= size
        while self._kept and (len(self._kept) > self._most or self._room < 0):
            self._forget(next(iter(self._kept)))

    def _forget(self, key: Key) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self._room += found[1]
