"""Waiting in tests: until something is so, and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable


def soon(question: Callable[[], object], seconds: float = 15.0) -> bool:
    """Whether the answer is yes within that time; asked often, and once more at the end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if question():
            return True
        time.sleep(0.02)
    return bool(question())
