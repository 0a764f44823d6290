"""Turns: a few things that many want to use, given fairly by user, never all of them to one."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict, deque
from typing import Any, Generic, TypeVar

from tacit.gateway.policy.refusals import Refusal, busy

Thing = TypeVar("Thing")

MOST_WAITING = 1_000
MOST_OF_ONE = 100  # that one user may have waiting
NOBODY = ""  # the gateway itself, for which no limit of users holds


class Turns(Generic[Thing]):
    """Things of which each is with one user at a time. `each` is the most that one user has at
    once; `of` says in words what they are.

    Of those who wait, the user who has the fewest is next; among equals, who was served longest
    ago. So somebody who asks for much waits for their own, and keeps nobody else waiting.
    """

    def __init__(self, of: str, each: int) -> None:
        self._of = of
        self._each = each
        self._free: deque[Thing] = deque()
        self._had: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[Thing]]] = OrderedDict()

    @property
    def free(self) -> int:
        """How many things nobody has."""
        return len(self._free)

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(len(line) for line in self._waiting.values())

    def add(self, thing: Thing) -> None:
        """There is one more."""
        self._free.append(thing)
        self._serve()

    async def take(
        self,
        user: str,
        seconds: float | None = None,
        gone: asyncio.Future[None] | None = None,
    ) -> Thing | None:
        """A thing for a user, when it is their turn: within `seconds`, else a Refusal; None where
        `gone` was done first. Whoever has one calls `give`.
        """
        turn: asyncio.Future[Thing] = asyncio.get_running_loop().create_future()
        line = self._waiting.setdefault(user, deque())
        if user != NOBODY and len(line) >= MOST_OF_ONE:
            raise TooMuch("waiting", f"{MOST_OF_ONE} of your requests wait for {self._of}.", 5)
        if self.waiting >= MOST_WAITING:
            raise busy("busy", f"too many requests wait for {self._of}.")
        line.append(turn)
        self._serve()
        both: set[asyncio.Future[Any]] = {turn} if gone is None else {turn, gone}
        try:
            if not turn.done():
                await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._leave(user, turn)
            raise
        if gone is not None and gone.done():
            self._leave(user, turn)
            return None
        if turn.done():
            return turn.result()
        self._leave(user, turn)
        if self._free:  # for others
            raise TooMuch("at-once", f"you have {self._each} of {self._of} already.", 5)
        raise busy("busy", f"all {self._of} are taken.", 5)

    def give(self, user: str, thing: Thing | None) -> None:
        """A user is done with a thing; None where it cannot be used again."""
        self._had[user] -= 1
        if not self._had[user]:
            del self._had[user]
        if thing is not None:
            self._free.append(thing)
        self._serve()

    def _serve(self) -> None:
        """Give what is free to whose turn it is."""
        while self._free:
            mine = [
                user
                for user, line in self._waiting.items()
                if line and (user == NOBODY or self._had[user] < self._each)
            ]
            if not mine:
                break
            user = min(mine, key=lambda one: self._had[one])
            self._had[user] += 1
            self._waiting[user].popleft().set_result(self._free.popleft())
            self._waiting.move_to_end(user)
        for user in [one for one, line in self._waiting.items() if not line]:
            del self._waiting[user]

    def _leave(self, user: str, turn: asyncio.Future[Thing]) -> None:
        """Somebody waits no more; what they have got meanwhile goes to the next."""
        if turn.done():
            self.give(user, turn.result())
        else:
            self._waiting[user].remove(turn)
            self._serve()


class TooMuch(Refusal):
    """One user asks for more than their share; `limit` names it in the counters.

    >>> TooMuch("requests", "too many.", 12.3).headers
    {'Retry-After': '13'}
    """

    def __init__(self, limit: str, message: str, seconds: float) -> None:
        after = str(max(1, math.ceil(seconds)))
        hint = f"Ask again in {after} s."
        super().__init__(429, "limit", message, hint=hint, headers={"Retry-After": after})
        self.limit = limit
