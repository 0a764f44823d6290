"""Last used: on which day each user was there last, written beside the users, once a day for each.

It is written by a thread of its own with a connection of its own: a ledger that somebody else is
writing to keeps no request waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from threading import Lock

from tacit.errors import TacitError
from tacit.ledger.ledger import Ledger
from tacit.ledger.users import Users


class LastUsed:
    """Whom `mark` was called for; that it cannot be written is told once, and stops nothing."""

    def __init__(self, open_ledger: Callable[[], Ledger], tell: Callable[[str], None]) -> None:
        self._open = open_ledger
        self._tell = tell
        self._day: date | None = None
        self._seen: set[str] = set()
        self._waiting: set[str] = set()
        self._told = False
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tacit-last-used")

    def mark(self, name: str) -> None:
        """A user is there now."""
        today = datetime.now(UTC).date()
        if today != self._day:
            self._day, self._seen = today, set()
        if name in self._seen:
            return
        self._seen.add(name)
        with self._lock:
            first = not self._waiting
            self._waiting.add(name)
        if first:
            self._thread.submit(self._write)

    def close(self) -> None:
        """Write what waits, and stop."""
        self._thread.shutdown()

    def _write(self) -> None:
        with self._lock:
            names, self._waiting = self._waiting, set()
        try:
            with self._open() as ledger:
                Users(ledger).mark_used(names)
        except TacitError as error:
            if not self._told:
                self._tell(f"When users were there last cannot be written down: {error}")
            self._told = True
