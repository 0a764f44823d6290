"""Jobs: a long piece of work with progress and cancel, the same
for a terminal bar and a web page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


class Cancelled(Exception):
    """The work was stopped on request; nothing half-done is left behind."""


@dataclass(slots=True)
class Job:
    """Work that says where it is and stops when asked.

    >>> job = Job(tell=lambda text, share: print(f"{share:.0%} {text}"))
    >>> job.step("counting april", 0.5)
    50% counting april
    >>> job.cancel()
    >>> job.step("next", 0.6)
    Traceback (most recent call last):
    tacit.model.jobs.Cancelled
    """

    tell: Callable[[str, float], None] = field(default=lambda text, share: None)
    cancelled: bool = False
    is_settled: bool = False
    settled: Callable[[], None] = field(default=lambda: None)

    def step(self, text: str, share: float) -> None:
        """Say what is being done and which share of the work is behind; stop here if cancelled."""
        if self.cancelled:
            raise Cancelled
        self.tell(text, share)

    def part(self, start: float, end: float) -> Job:
        """Work that is a part of this one, from one share of it to another, and stops with it.

        >>> Job(tell=lambda text, share: print(f"{share:.0%} {text}")).part(0.2, 0.6).step(
        ...     "half of it", 0.5
        ... )
        40% half of it
        """
        return Job(
            lambda text, share: self.step(text, start + (end - start) * min(max(share, 0.0), 1.0))
        )

    def settle(self, text: str) -> None:
        """The last step at which it can be stopped:
        what follows is done as a whole, and `settled` tells whoever could stop it.
        """
        self.step(text, 1.0)
        self.is_settled = True
        self.settled()

    def cancel(self) -> None:
        """Stop at the next step, or look at the deadline; what is settled goes on."""
        self.cancelled = not self.is_settled
