"""Visitors: who came in, and who was turned away, as lines of the audit log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

MINUTE = 60.0
MOST_REFUSED = 100  # lines in a minute: who tries tokens must not fill the disk
MOST_LETTERS = 200
TOKENS = "tacit_"  # what tokens begin with: one in the place of a name is not written down


class Visitors:
    """Sign-ins, and tokens that opened nothing. Beyond a hundred of these in a minute they are
    counted, and the next line says how many there were.
    """

    def __init__(
        self,
        put: Callable[[dict[str, Any]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._put = put
        self._clock = clock
        self._until = 0.0
        self._refused = 0

    def came(self, user: str, path: str, address: str | None, **more: str) -> None:
        """Somebody signed in."""
        self._put({"event": "sign-in", "path": path, "user": user, "address": address, **more})

    def refused(self, path: str, address: str | None, name: str = "") -> None:
        """A token, or a name with its token, opened nothing.

        >>> said = []
        >>> visitors = Visitors(said.append, lambda: 1.0)
        >>> for _ in range(150):
        ...     visitors.refused("/query", "::1")
        >>> len(said)
        100
        """
        now = self._clock()
        if now >= self._until:
            if (more := self._refused - MOST_REFUSED) > 0:
                self._put({"event": "sign-ins-refused", "more": more})
            self._until, self._refused = now + MINUTE, 0
        self._refused += 1
        if self._refused <= MOST_REFUSED:
            event = {"event": "sign-in-refused", "path": path, "address": address}
            said = "_" if name.startswith(TOKENS) else name[:MOST_LETTERS]
            self._put({**event, "user": said} if name else event)
