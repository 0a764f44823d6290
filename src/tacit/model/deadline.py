"""Deadline: a time limit that several questions share."""

from __future__ import annotations

import time


class OutOfTime(Exception):
    """The solver met its limit; nothing is decided."""


class Deadline:
    """A time limit for several questions."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left; raises OutOfTime when there are none."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left
