"""Deadline: whatever can take long looks here in every loop, and stops when the time is up or
nobody waits for the answer any more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from tacit.model.jobs import Cancelled, Job


class OutOfTime(Exception):
    """The time is up; nothing is decided."""


class Deadline:
    """So many seconds from now, for several pieces of work that share them."""

    def __init__(self, seconds: float | Fraction) -> None:
        self.begun = time.monotonic()
        self.end = self.begun + float(seconds)

    def is_past(self, share: float = 1.0) -> bool:
        """Is such a share of the time up?

        >>> Deadline(9).is_past(), Deadline(9).is_past(0)
        (False, True)
        """
        return time.monotonic() >= self.begun + share * (self.end - self.begun)


@dataclass(frozen=True, slots=True)
class _Limit:
    """When the time is up, and the jobs that may be cancelled before."""

    end: float = inf
    jobs: tuple[Job, ...] = ()


# Not an argument: costs and orders are remembered by their part, and they take time too.
_limit: ContextVar[_Limit] = ContextVar("limit", default=_Limit())  # noqa: B039, it is frozen


@contextmanager
def until(
    deadline: Deadline | float | Fraction | None = None, job: Job | None = None
) -> Iterator[None]:
    """What is done in here ends at a deadline, or after so many seconds, and when a job is
    cancelled: `look` raises OutOfTime or Cancelled then.

    Inside such a limit a further one can only be stricter.

    >>> with until(9), until(0):
    ...     try:
    ...         look()
    ...     except OutOfTime:
    ...         print("too late")
    too late
    """
    outer = _limit.get()
    ends = (
        deadline
        if isinstance(deadline, Deadline)
        else Deadline(inf if deadline is None else deadline)
    )
    jobs = outer.jobs if job is None else (*outer.jobs, job)
    before = _limit.set(_Limit(min(outer.end, ends.end), jobs))
    try:
        yield
    finally:
        _limit.reset(before)


def left() -> float:
    """The seconds that are left, infinitely many without a limit. Raises like `look`."""
    limit = _limit.get()
    for job in limit.jobs:
        if job.cancelled:
            raise Cancelled
    seconds = limit.end - time.monotonic()
    if seconds <= 0:
        raise OutOfTime
    return seconds


def look() -> None:
    """Go on, unless the time is up. It takes less than a microsecond."""
    left()


def is_over() -> bool:
    """Is the time up, or the job cancelled?"""
    try:
        look()
    except (OutOfTime, Cancelled):
        return True
    return False


def begin(seconds: float) -> None:
    """Begin something that takes so long and cannot be stopped;
    raises OutOfTime where there is less time than that.
    """
    if left() < seconds:
        raise OutOfTime
