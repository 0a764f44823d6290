"""Group commit: what several threads want to write at once waits for the disk once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Work = TypeVar("Work")
Done = TypeVar("Done")


@dataclass(slots=True, eq=False)
class QueuedWork(Generic[Work, Done]):
    """Work that waits for its turn, and what became of it."""

    work: Work
    done: list[Done] = field(default_factory=list)
    error: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Was it tried?"""
        return bool(self.done) or self.error is not None


class GroupCommit(Generic[Work, Done]):
    """Does work in groups: whoever comes first does it for all who wait by then.

    `write` does all of it or none, in order, and returns only when it is on the disk. Where a group
    fails, each of its members is tried alone, so that nobody fails for another's sake.
    """

    def __init__(self, write: Callable[[Sequence[Work]], Sequence[Done]]) -> None:
        self._write = write
        self._turn = threading.Lock()
        self._coming = threading.Lock()
        self._waiting: list[QueuedWork[Work, Done]] = []

    def do(self, work: Work) -> Done:
        """Do some work; it is on the disk when this returns, and undone where it raises."""
        own: QueuedWork[Work, Done] = QueuedWork(work)
        with self._coming:
            self._waiting.append(own)
        try:
            with self._turn:
                if not own.is_over:
                    self._lead()
        finally:
            # Who is interrupted wants it no more, if nobody took it up.
            with self._coming:
                if own in self._waiting:
                    self._waiting.remove(own)
        if own.error is not None:
            raise own.error
        return own.done[0]

    def _lead(self) -> None:
        """Do what waits now."""
        with self._coming:
            group, self._waiting = self._waiting, []
        try:
            try:
                self._together(group)
            except Exception as error:
                if len(group) == 1:
                    group[0].error = error
                    return
                for one in group:
                    self._alone(one)
        finally:
            # Where the leader was interrupted, the others are done by the next one.
            with self._coming:
                self._waiting[:0] = [one for one in group if not one.is_over]

    def _together(self, group: Sequence[QueuedWork[Work, Done]]) -> None:
        written = self._write([one.work for one in group])
        for one, done in zip(group, written, strict=True):
            one.done.append(done)

    def _alone(self, one: QueuedWork[Work, Done]) -> None:
        try:
            self._together([one])
        except Exception as error:
            one.error = error
