"""Quotas: how much of the gateway one user may have in a minute and in a day."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from tacit.gateway.options import Options
from tacit.gateway.turns import TooMuch
from tacit.ledger.usage import Had

MINUTE, DAY = 60, 86_400


class Quotas:
    """What users had of the gateway since it began: requests in this minute, seconds and bytes in
    this day, both of the clock in UTC. A limit of None is none. Several gateways tell each other
    by `untold` and `learn`.
    """

    def __init__(self, options: Options) -> None:
        said = "you asked {:g} times in this minute."
        self._requests = QuotaWindow("requests", MINUTE, options.user_requests, said)
        said = "your queries had their {:g} {} of this day."
        self._seconds = QuotaWindow("seconds", DAY, options.user_seconds, said)
        self._bytes = QuotaWindow("bytes", DAY, options.user_bytes, said)

    @property
    def _limited(self) -> list[QuotaWindow]:
        windows = (self._requests, self._seconds, self._bytes)
        return [one for one in windows if one.most is not None]

    @property
    def any(self) -> bool:
        """Is there a limit at all?"""
        return bool(self._limited)

    def enter(self, user: str) -> None:
        """Count a request of a user; TooMuch where they had their share."""
        for window in self._limited:
            window.check(user)
        self._requests.add(user, 1)

    def sent(self, user: str, size: int) -> None:
        """So many bytes of an answer are about to go to a user; TooMuch where they are more than
        the user's share, so that one answer cannot be many days' share.
        """
        self._bytes.add(user, size)
        self._bytes.check(user, beyond=True)

    def ran(self, user: str, seconds: float) -> None:
        """A query of a user ended, after so long."""
        self._seconds.add(user, seconds)

    def untold(self) -> list[Had]:
        """What other gateways have not been told yet, and are told now."""
        return [one.untold() for one in self._limited]

    def learn(self, known: Iterable[Had]) -> None:
        """What users had of all gateways, by what was told."""
        for had, window in zip(known, self._limited, strict=True):
            window.learn(had)

    def keep(self, untold: Iterable[Had]) -> None:
        """What was to be told could not be: it is told with the next."""
        for had, window in zip(untold, self._limited, strict=True):
            window.keep(had)


class QuotaWindow:
    """Sums by user in the current stretch of so many seconds, of which each has `most`."""

    def __init__(self, kind: str, length: int, most: float | None, said: str) -> None:
        self.most = most
        self._kind = kind
        self._length = length
        self._said = said
        self._number = -1
        self._sums: Counter[str] = Counter()
        self._untold: Counter[str] = Counter()  # of these, what other gateways do not know

    def add(self, user: str, amount: float) -> None:
        """Count something."""
        if self.most is not None:
            self._follow()
            self._sums[user] += amount  # type: ignore[assignment]
            self._untold[user] += amount  # type: ignore[assignment]

    def check(self, user: str, *, beyond: bool = False) -> None:
        """Raise TooMuch, with when to come back, where a user's sum has reached the most, or is
        `beyond` it.
        """
        left, most = self._follow(), self.most
        if most is not None and (self._sums[user] > most if beyond else self._sums[user] >= most):
            raise TooMuch(self._kind, self._said.format(most, self._kind), left)

    def untold(self) -> Had:
        """What was counted since the last time."""
        self._follow()
        told, self._untold = self._untold, Counter()
        return Had(self._kind, self._number, told)

    def learn(self, known: Had) -> None:
        """The sums of all gateways, to which comes what was counted since."""
        self._follow()
        if known.stretch == self._number:
            self._sums = Counter(known.amounts)
            self._sums.update(self._untold)

    def keep(self, untold: Had) -> None:
        """Count as untold again."""
        if untold.stretch == self._number:
            self._untold.update(untold.amounts)

    def _follow(self) -> float:
        """Begin anew where the stretch is over; the seconds that are left of it."""
        now = time.time()
        number = int(now // self._length)
        if number != self._number:
            self._number, self._sums, self._untold = number, Counter(), Counter()
        return (number + 1) * self._length - now
