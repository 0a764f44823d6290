"""The audit log: who asked what and what was decided, one JSON object a
line, written before an answer leaves.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tacit.errors import EngineError
from tacit.gateway.policy.refusals import busy

MOST_WAITING = 10_000  # lines
RETRY_SECONDS = 0.5
LOOK_SECONDS = 1.0  # whether the file is still the one under its name: logrotate moves it away

NEWLINE = b"\n"

Line = tuple[bytes, "asyncio.Future[None] | None"]


class Audit:
    """A log that is appended to by a thread of its own.
    While it cannot be written the gateway must not answer.

    A line that could not be written is kept and written later, in order;
    nothing is left out in silence.
    """

    def __init__(self, path: Path, tell: Callable[[str], None] = lambda text: None) -> None:
        self._path = path
        self._tell = tell
        self._lines: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._ending = threading.Event()
        self._file = -1
        self._looked = 0.0
        self._open()
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

    def reopen(self) -> None:
        """Look for the file under its name again, with the next line."""
        self._looked = 0.0

    def close(self) -> None:
        """Write what waits, and stop."""
        self._ending.set()
        self._lines.put(None)
        self._thread.join(timeout=5)

    def _open(self) -> None:
        if self._path.is_symlink() and not self._is_device():
            raise EngineError(
                f"the audit log {self._path.name} is a symbolic link.",
                hint="Name the file itself with --audit: a link could lead to any other file.",
            )
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        if not self._is_device():
            flags |= os.O_NOFOLLOW
        try:
            self._file = os.open(self._path, flags, 0o600)
        except OSError as error:
            raise EngineError(
                f"the audit log {self._path.name} cannot be written: {error.strerror}.",
                hint="Name another file with --audit.",
            ) from None
        self._looked = time.monotonic()

    def _is_device(self) -> bool:
        """Is it one such as /dev/stdout? These are links, which only root can make."""
        return self._path.parent == Path("/dev")

    def _write_all(self) -> None:
        while True:
            lines, ending = self._next()
            if lines:
                self._write(lines)
            if ending:
                os.close(self._file)
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
        rest = b"".join(line for line, _ in lines)
        waiting = [done for _, done in lines if done is not None]
        while rest:
            try:
                self._look()
                rest = rest[os.write(self._file, rest) :]
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
                        f"The gateway ends, and {rest.count(NEWLINE)} lines of the audit log could "
                        "not be written."
                    )
                    return
        if self.failing:
            self._tell("The audit log can be written again.")
        self.failing = False
        settle(waiting, None)

    def _look(self) -> None:
        """Open the file anew if another one, or none, has its name by now."""
        if time.monotonic() < self._looked + LOOK_SECONDS:
            return
        try:
            found = os.stat(self._path, follow_symlinks=self._is_device())
            same = os.path.samestat(found, os.fstat(self._file))
        except OSError:
            same = False
        if not same:
            before = self._file
            self._open()
            os.close(before)
        self._looked = time.monotonic()


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


def encoded(event: Mapping[str, Any]) -> bytes:
    """A line of the log, with the time in UTC.

    >>> encoded({"user": "ann"}).decode()  # doctest: +ELLIPSIS
    '{"at": "...Z", "user": "ann"}\\n'
    """
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"at": at, **event}, ensure_ascii=True, default=str).encode() + b"\n"


def unwritable() -> Exception:
    """What clients are told while the log cannot be written."""
    return busy("audit", "the audit log cannot be written; nothing is answered until it can.", 10)
