"""The clock: whoever counts looks at it in every loop, and stops when the time is up or nobody
waits for the answer any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tacit.model.deadline import Deadline, OutOfTime
from tacit.model.jobs import Cancelled, Job

# Not an argument: costs and orders are remembered by their part, and they take time too.
_limits: ContextVar[tuple[tuple[Deadline | None, Job | None], ...]] = ContextVar(
    "limits", default=()
)


@contextmanager
def until(deadline: Deadline | None, job: Job | None = None) -> Iterator[None]:
    """What is done in here ends at a deadline, and when a job is cancelled:
    `look` raises OutOfTime or Cancelled then.

    Inside such a limit a further one can only be stricter.

    >>> with until(Deadline(0)):
    ...     try:
    ...         look()
    ...     except OutOfTime:
    ...         print("too late")
    too late
    """
    before = _limits.set((*_limits.get(), (deadline, job)))
    try:
        yield
    finally:
        _limits.reset(before)


def look() -> None:
    """Go on, unless the time is up. It takes less than a microsecond."""
    for deadline, job in _limits.get():
        if job is not None and job.cancelled:
            raise Cancelled
        if deadline is not None:
            deadline.left()


def begin(seconds: float) -> None:
    """Begin something that takes so long and cannot be stopped;
    raises OutOfTime where there is less time than that.
    """
    look()
    for deadline, _ in _limits.get():
        if deadline is not None and deadline.left() < seconds:
            raise OutOfTime
