"""Quotas: how much of the gateway one user may have in a minute and in a day."""

from __future__ import annotations

import time
from collections import Counter

from tacit.gateway.options import Options
from tacit.gateway.turns import TooMuch

MINUTE, DAY = 60, 86_400


class Quotas:
    """What users had of the gateway since it began: requests in this minute, seconds and bytes in
    this day, both of the clock in UTC. A limit of None is none.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._requests = QuotaWindow(MINUTE)
        self._seconds = QuotaWindow(DAY)
        self._bytes = QuotaWindow(DAY)

    def enter(self, user: str) -> None:
        """Count a request of a user; TooMuch where they had their share."""
        options = self._options
        if (most := options.user_requests) is not None:
            self._requests.check(user, most, "requests", f"you asked {most} times in this minute.")
            self._requests.add(user, 1)
        for limit, window, share in (
            ("seconds", self._seconds, options.user_seconds),
            ("bytes", self._bytes, options.user_bytes),
        ):
            if share is not None:
                said = f"your queries had their {share:g} {limit} of this day."
                window.check(user, share, limit, said)

    def spent(self, user: str, seconds: float, size: int) -> None:
        """A query of a user ended, after so long, with so many bytes."""
        self._seconds.add(user, seconds)
        self._bytes.add(user, size)


class QuotaWindow:
    """Sums by user in the current stretch of so many seconds."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._number = -1
        self._sums: Counter[str] = Counter()

    def add(self, user: str, amount: float) -> None:
        """Count something."""
        self._follow()
        self._sums[user] += amount  # type: ignore[assignment]

    def check(self, user: str, most: float, limit: str, message: str) -> None:
        """Raise TooMuch, with when to come back, where the sum has reached `most`."""
        left = self._follow()
        if self._sums[user] >= most:
            raise TooMuch(limit, message, left)

    def _follow(self) -> float:
        """Begin anew where the stretch is over; the seconds that are left of it."""
        now = time.time()
        number = int(now // self._length)
        if number != self._number:
            self._number, self._sums = number, Counter()
        return (number + 1) * self._length - now
