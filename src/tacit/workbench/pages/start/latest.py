"""Coalesces calls: while one runs, any number of further requests become one more run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable


class Latest:
    """A function that follows something that changes faster than it can be followed.

    >>> import asyncio
    >>> seen = []
    >>> async def look() -> None:
    ...     seen.append(len(seen))
    ...     await asyncio.sleep(0)
    >>> async def type_fast() -> None:
    ...     latest = Latest(look)
    ...     await asyncio.gather(*(latest() for _ in range(9)))
    >>> asyncio.run(type_fast())
    >>> len(seen)
    2
    """

    def __init__(self, function: Callable[[], Awaitable[None]]) -> None:
        self._function = function
        self._is_running = self._is_wanted = False

    async def __call__(self) -> None:
        """Run now, or once more as soon as the run that is under way has ended."""
        self._is_wanted = True
        if self._is_running:
            return
        self._is_running = True
        try:
            while self._is_wanted:
                self._is_wanted = False
                await self._function()
        finally:
            self._is_running = False
