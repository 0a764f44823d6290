"""Readiness: can the gateway answer now? Part by part, and nothing about why for strangers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tacit.engines.sql import shapes
from tacit.errors import TacitError
from tacit.gateway.http.formats import JsonEncoder
from tacit.gateway.policy.refusals import Refusal
from tacit.gateway.query_runs import Unreachable

if TYPE_CHECKING:
    from tacit.gateway.gateway import Gateway, InForce

KEPT_SECONDS = 2.0  # whoever asks more often is told the same
ASK_SECONDS = 3.0
NOBODY = "nobody"


class Readiness:
    """What is ready: the plan, the audit log, the ledger, the processes that decide, the
    database.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._known: dict[str, bool] = {}
        self._until = 0.0
        self._lock = asyncio.Lock()

    async def parts(self) -> dict[str, bool]:
        """Each part, and whether it is ready."""
        async with self._lock:
            if time.monotonic() >= self._until:
                self._known = await self._look()
                self._until = time.monotonic() + KEPT_SECONDS
            return self._known

    async def _look(self) -> dict[str, bool]:
        found = {"plan": False, "audit": not self._gateway.audit.failing}
        try:
            now = self._gateway.now()
        except Refusal:
            return found | dict.fromkeys(("ledger", "deciders", "database"), False)
        return found | {
            "plan": True,
            "ledger": await works(lambda: now.door.named(NOBODY)),
            "deciders": now.workers.alive,
            "database": await works(lambda: answers(now)),
        }


async def works(ask: Callable[[], Awaitable[object]]) -> bool:
    """Does something come back, in time?"""
    try:
        await asyncio.wait_for(ask(), ASK_SECONDS)
    except (TacitError, Refusal, Unreachable, TimeoutError):
        return False
    return True


async def answers(now: InForce) -> None:
    """Ask the database for anything; where all places are taken it is at work, and so there."""
    if not now.places.free:
        return
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    answer = await now.places.begin(shapes.ANYTHING, JsonEncoder(), 1, ASK_SECONDS, gone)
    try:
        while await answer.next() is not None:
            pass
    finally:
        await now.places.end(answer)
