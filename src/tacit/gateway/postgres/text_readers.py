"""Text readers: threads in which long texts are read, so that nobody waits for those of others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tacit.gateway.turns import Turns

Found = TypeVar("Found")

AT_ONCE, WAIT_SECONDS = 2, 30.0
LONG = 2_000  # letters: what is shorter takes no longer than a change of threads


class TextReaders:
    """A few threads, of which a user has one at a time."""

    def __init__(self) -> None:
        self._turns: Turns[int] = Turns("readers of long texts", 1)
        for place in range(AT_ONCE):
            self._turns.add(place)

    async def read(self, user: str, read: Callable[[], Found]) -> Found:
        """What a function makes of a text, when it is the user's turn."""
        place = await self._turns.take(user, WAIT_SECONDS)
        try:
            return await asyncio.shield(asyncio.ensure_future(asyncio.to_thread(read)))
        finally:
            self._turns.give(user, place)

    async def read_if_long(self, user: str, text: str, read: Callable[[], Found]) -> Found:
        """The same, at once where the text is short."""
        return read() if len(text) < LONG else await self.read(user, read)
