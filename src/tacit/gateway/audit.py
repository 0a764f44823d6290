"""The audit log: who asked what and what was decided, one JSON object a
line, written before an answer leaves. How lines are tied together: trail.py.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tacit.errors import EngineError
from tacit.gateway.policy.refusals import busy
from tacit.gateway.shipping import Shipper
from tacit.gateway.trail import Trail, encoded
from tacit.ledger.key import Key

MOST_WAITING = 10_000  # lines
RETRY_SECONDS = 0.5

Line = tuple[bytes, "asyncio.Future[None] | None"]


class Audit:
    """A log that is appended to by a thread of its own.
    While it cannot be written the gateway must not answer.

    A line that could not be written is kept and written later, in order;
    nothing is left out in silence.
    """

    def __init__(
        self,
        path: Path,
        tell: Callable[[str], None] = lambda text: None,
        *,
        key: Key | None = None,
        most: int | None = None,
        shipper: Shipper | None = None,
    ) -> None:
        self._tell = tell
        self._shipper = shipper
        self._lines: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._ending = threading.Event()
        self._trail = Trail(path, key, most=most)
        self.failing = False
        self._thread = threading.Thread(target=self._write_all, name="tacit-audit", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise a Refusal if what is decided now could not be written."""
        if self.failing or self._lines.qsize() > MOST_WAITING:
            raise unwritable()

    def put(self, event: Mapping[str, Any]) -> None:
        """Have a line written soon."""
        self._lines.put((encoded(event), None))

    async def written(self, event: Mapping[str, Any]) -> None:
        """Have a line written, and wait until it is; a Refusal if it cannot be."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.put((encoded(event), done))
        try:
            await done
        except OSError:
            raise unwritable() from None

    def seal_with(self, key: Key) -> None:
        """Tie lines together from now on: a ledger, and so a key, may begin after the gateway."""
        self._trail.key = key

    def close(self) -> None:
        """Write what waits, and stop."""
        self._ending.set()
        self._lines.put(None)
        self._thread.join(timeout=5)
        if self._shipper is not None:
            self._shipper.close()

    def _write_all(self) -> None:
        while True:
            lines, ending = self._next()
            if lines:
                self._write(lines)
            if ending:
                self._trail.close()
                return

    def _next(self) -> tuple[list[Line], bool]:
        """The lines that wait, at least one, and whether the end was asked for."""
        found, ending = [], False
        item = self._lines.get()
        while True:
            if item is None:
                ending = True
            else:
                found.append(item)
            try:
                item = self._lines.get_nowait()
            except queue.Empty:
                return found, ending

    def _write(self, lines: list[Line]) -> None:
        waiting = [done for _, done in lines if done is not None]
        while True:
            try:
                written = self._trail.append([line for line, _ in lines])
                break
            except (OSError, EngineError) as error:
                if not self.failing:
                    self._tell(
                        "The audit log cannot be written: nothing is answered until it "
                        f"can. {error}"
                    )
                self.failing = True
                settle(waiting, OSError("the audit log cannot be written"))
                waiting = []
                if self._ending.wait(RETRY_SECONDS):
                    self._tell(
                        f"The gateway ends, and {len(lines)} lines of the audit log could "
                        "not be written."
                    )
                    return
        if self.failing:
            self._tell("The audit log can be written again.")
        self.failing = False
        settle(waiting, None)
        if self._shipper is not None:
            self._shipper.put(written.splitlines())


def settle(waiting: list[asyncio.Future[None]], error: Exception | None) -> None:
    """Tell those who wait for their line, each in its own loop."""

    def tell(done: asyncio.Future[None]) -> None:
        if not done.done():
            done.set_exception(error) if error else done.set_result(None)

    for done in waiting:
        try:
            done.get_loop().call_soon_threadsafe(tell, done)
        except RuntimeError:  # the server has ended meanwhile
            return


def unwritable() -> Exception:
    """What clients are told while the log cannot be written."""
    return busy("audit", "the audit log cannot be written; nothing is answered until it can.", 10)
