"""Watching the plan: has the owner changed it, or a query's file that it names?"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

# In lists and by themselves, where brackets are letters of a name;
# what is no file by either does no harm.
SQL_FILES = (
    re.compile(r"[^\s\"'\[\]{},]+\.sql|[\"'][^\"'\n]+\.sql[\"']"),
    re.compile(r"[^\s\"'{},]+\.sql"),
)


class Watch:
    """The plan's file, and all .sql files that it may read:
    those that its text names, patterns included.
    """

    def __init__(self, plan: Path) -> None:
        self._plan = plan
        self._glance = glance_of(plan)
        self._print = self._fingerprint()

    def glanced(self) -> bool:
        """Does the plan's file look changed? Cheap enough for every request;
        the other files are for `changed`.
        """
        return glance_of(self._plan) != self._glance

    def changed(self) -> bool:
        """Has anything changed since this was made, by content?"""
        if self._fingerprint() != self._print:
            return True
        self._glance = glance_of(self._plan)  # touched, and the same
        return False

    def _fingerprint(self) -> str:
        found = hashlib.sha256()
        text = content_of(self._plan)
        found.update(text)
        names = {
            name.strip("\"'")
            for form in SQL_FILES
            for name in form.findall(text.decode("utf-8", "replace"))
        }
        for path in sorted({path for name in names for path in files_of(self._plan.parent, name)}):
            found.update(str(path).encode() + b"\0" + hashlib.sha256(content_of(path)).digest())
        return found.hexdigest()


def files_of(folder: Path, pattern: str) -> list[Path]:
    """The files that a name or a pattern means, relative to the plan."""
    try:
        if Path(pattern).is_absolute():
            return [Path(pattern)]
        return [folder / pattern, *folder.glob(pattern)]
    except (ValueError, NotImplementedError, OSError):
        return []


def content_of(path: Path) -> bytes:
    """What is in a file; a file that cannot be read is as good as empty, and reading the plan
    will say why.
    """
    try:
        return path.read_bytes()
    except OSError:
        return b""


def glance_of(path: Path) -> tuple[int, ...]:
    """What tells a file from a changed one without reading it."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns
