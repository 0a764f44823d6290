"""Sessions: who has opened the workbench, by a link that works once
or by signing in, and until when.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tacit.ledger.users import User

OWNER = "owner"  # whoever has the link can read the server's terminal
IDLE_SECONDS = 3600.0
LONGEST_SECONDS = 12 * 3600.0
LINK_SECONDS = 15 * 60.0
MOST_SESSIONS = 100
MOST_LINKS = 10
LETTERS = 43  # of 32 random bytes


@dataclass(eq=False, slots=True)
class WorkbenchSession:
    """Someone who has opened the workbench, in one browser.
    It can be found only by the cookie, which is not kept.
    """

    id: str  # a name for it, not the cookie
    user: str
    account: User | None  # who signed in with a token; None for the link
    csrf: str = field(repr=False)
    began: float
    used: float
    plan: Path | None = None  # which plan it looks at
    step: str = ""  # of the page Start, and whether all steps are shown
    whole: bool = False
    on_end: list[Callable[[], None]] = field(default_factory=list, repr=False)
    ended: bool = False


class NewSession(NamedTuple):
    """A new session, and the cookie that its browser gets."""

    cookie: str
    session: WorkbenchSession


class WorkbenchSessions:
    """All sessions of a server. They end when nobody used them for `idle` seconds, after `longest`
    seconds, and by `end`.

    Used in the server's loop alone.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        idle: float = IDLE_SECONDS,
        longest: float = LONGEST_SECONDS,
    ) -> None:
        self._clock = clock
        self._idle = idle
        self._longest = longest
        self._open: dict[str, WorkbenchSession] = {}  # by the hash of the cookie
        self._links: dict[str, float] = {}  # when they were made, by the hash of the code

    def link(self) -> str:
        """A code that opens the workbench once, within a quarter of an hour."""
        code = secrets.token_urlsafe(32)
        self._links[hashed(code)] = self._clock()
        while len(self._links) > MOST_LINKS:
            del self._links[next(iter(self._links))]
        return code

    def has_link(self) -> bool:
        """Is there a code that nobody has used and that is not too old?"""
        return any(self._clock() - made <= LINK_SECONDS for made in self._links.values())

    def enter(self, code: str) -> NewSession | None:
        """A session for whoever has the code of a link;
        None if it was used, is too old, or was never made.
        """
        made = self._links.pop(hashed(code), None) if len(code) == LETTERS else None
        if made is None or self._clock() - made > LINK_SECONDS:
            return None
        return self.begin(OWNER)

    def begin(self, user: str, account: User | None = None) -> NewSession:
        """A session for someone who was let in.
        Where there are too many, the one that was used the longest ago ends.
        """
        self.tidy()
        while len(self._open) >= MOST_SESSIONS:
            self.end(min(self._open.values(), key=lambda session: session.used))
        cookie, now = secrets.token_urlsafe(32), self._clock()
        key = hashed(cookie)
        session = WorkbenchSession(key[:16], user, account, secrets.token_urlsafe(32), now, now)
        self._open[key] = session
        return NewSession(cookie, session)

    def find(self, cookie: str, *, touch: bool = True) -> WorkbenchSession | None:
        """The session of a cookie, if it has not ended; `touch` says that it is being used.

        Looked up by its hash: how long it takes says nothing about other cookies.
        """
        session = self._open.get(hashed(cookie)) if len(cookie) == LETTERS else None
        if session is None or self.is_over(session):
            return None
        if touch:
            self.touch(session)
        return session

    def touch(self, session: WorkbenchSession) -> None:
        """Somebody uses it now."""
        session.used = self._clock()

    def is_over(self, session: WorkbenchSession) -> bool:
        """Has it ended? One whose time is up ends here."""
        now = self._clock()
        if not session.ended and (
            now - session.used > self._idle or now - session.began > self._longest
        ):
            self.end(session)
        return session.ended

    def end(self, session: WorkbenchSession) -> None:
        """End it, and tell whoever wants to know. Ending twice changes nothing."""
        if session.ended:
            return
        session.ended = True
        self._open = {key: one for key, one in self._open.items() if one is not session}
        calls, session.on_end = session.on_end, []
        for call in calls:
            with suppress(Exception):  # one that fails must not keep the others from hearing of it
                call()

    def tidy(self) -> None:
        """End all sessions whose time is up."""
        for session in list(self._open.values()):
            self.is_over(session)

    def __len__(self) -> int:
        self.tidy()
        return len(self._open)


def hashed(secret: str) -> str:
    """What is kept of a cookie or a code."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
