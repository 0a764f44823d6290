"""Usage: what users had of all gateways whose ledger is in one PostgreSQL, beside the ledger.

tacit_usage   for each user and kind of thing the stretch of time (its number) and the amount in it

It is no part of what is recorded: it is not sealed, and whoever may write it could only change how
much users may still ask.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tacit.ledger.store import LedgerStore

MADE = (
    'CREATE TABLE IF NOT EXISTS tacit_usage (name TEXT COLLATE "C", kind TEXT COLLATE "C", '
    "stretch BIGINT NOT NULL, amount DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, kind))"
)
ADD = (
    "INSERT INTO tacit_usage AS t (name, kind, stretch, amount) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (name, kind) DO UPDATE SET stretch = excluded.stretch, amount = excluded.amount + "
    "CASE t.stretch WHEN excluded.stretch THEN t.amount ELSE 0 END "
    "WHERE t.stretch <= excluded.stretch"  # a clock that is late adds to nothing
)
ALL = "SELECT name, amount FROM tacit_usage WHERE kind = ? AND stretch = ?"


@dataclass(frozen=True, slots=True)
class Had:
    """What users had of one kind of thing in a stretch of time."""

    kind: str
    stretch: int
    amounts: Mapping[str, float]


class SharedUsage:
    """Adds up what several gateways say. It has a connection of its own."""

    def __init__(self, store: LedgerStore) -> None:
        self._store = store
        self._made = False

    def exchange(self, had: Collection[Had]) -> list[Had]:
        """Add what this gateway's users had since the last time; what they had of all gateways."""
        with self._store.writing() as ask:
            if not self._made:
                ask(MADE)
            for one in had:
                for name, amount in sorted(one.amounts.items()):
                    ask(ADD, name, one.kind, one.stretch, amount)
            known = [
                Had(one.kind, one.stretch, dict(ask(ALL, one.kind, one.stretch))) for one in had
            ]
        self._made = True
        return known

    def close(self) -> None:
        """Let the database go."""
        self._store.close()
