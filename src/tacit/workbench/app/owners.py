"""Owners: which users of the gateway may open the workbench;
asked anew for each request, for a token can be revoked.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tacit.errors import TacitError
from tacit.ledger.ledger import Ledger
from tacit.ledger.users import User, Users

Stamp = tuple[int, int, int]


class LedgerOwners:
    """The owners among the users of a plan's ledger.

    The plan may be broken, as plans are while somebody writes them:
    then the ledger that it named before is asked. A TacitError where the users cannot be read.
    """

    def __init__(self, plan: Path) -> None:
        self._plan = plan
        self._read: Stamp | None = None  # the plan's file when its ledger was looked up
        self._named = ("", Path())
        self._ledger: Ledger | None = None
        self._users: Users | None = None
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tacit-owners")

    async def find(self, token: str) -> User | None:
        """Whose token it is, if an owner's."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._find, token)

    async def is_still(self, account: User) -> bool:
        """Is somebody who signed in earlier still an owner, by the same token?"""
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, self._is_still, account
        )

    def close(self) -> None:
        """Let the ledger go."""
        with self._lock:
            self._drop()

    def _find(self, token: str) -> User | None:
        with self._lock:
            users = self._current()
            found = users.find(token) if users is not None else None
        return found if found is not None and found.owner else None

    def _is_still(self, account: User) -> bool:
        with self._lock:
            users = self._current()
            return users is not None and account.owner and users.has(account)

    def _current(self) -> Users | None:
        """The users of the ledger that the plan names, or named when it could be read last."""
        from tacit.checking.holdings.ledgers import is_begun, place_of
        from tacit.ledger.ledger import open_ledger
        from tacit.ledger.users import Users

        now = stamp(self._plan)
        if self._users is not None and now == self._read:
            return self._users
        try:
            place = place_of(self._plan)
        except TacitError:
            self._read = now  # it need not be read again before it changes
            return self._users
        if self._users is None or (place.ledger, place.folder) != self._named:
            self._drop()
            if not is_begun(place):
                return None
            self._ledger = open_ledger(place.ledger, place.folder)
            self._users = Users(self._ledger)
            self._named = place.ledger, place.folder
        self._read = now
        return self._users

    def _drop(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
        self._ledger = self._users = self._read = None


def stamp(path: Path) -> Stamp | None:
    """Something that changes when a file does."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
