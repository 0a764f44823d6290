"""Memory: how many bytes a command may take, as it was told or as the machine has."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LEAST = 200_000_000  # Python, NumPy and DuckDB themselves take half of it
UNKNOWN_MACHINE = 4 << 30

# Not an argument: engines and counts deep inside ask for it, as for the time that is left.
_limit: ContextVar[int | None] = ContextVar("memory", default=None)


def size(text: str) -> int:
    """So many bytes; a ValueError says what is wrong.

    >>> size("2GB"), size("1.5 GiB"), size("800m")
    (2000000000, 1610612736, 800000000)
    >>> size("2 apples")
    Traceback (most recent call last):
    ValueError: '2 apples' is no size. Write for example 2GB.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if found is None or (found[3] and not found[2]):
        raise ValueError(f"{text!r} is no size. Write for example 2GB.")
    bytes_ = int(float(found[1]) * (1024 if found[3] else 1000) ** power(found[2]))
    if bytes_ < LEAST:
        raise ValueError(f"{text} is too little to work with. Give at least 200MB.")
    return bytes_


def power(unit: str) -> int:
    """How often a unit multiplies by a thousand."""
    return " kmgt".index(unit) if unit else 0


@contextmanager
def at_most(most: int) -> Iterator[None]:
    """What is done in here takes at most so many bytes."""
    before = _limit.set(most)
    try:
        yield
    finally:
        _limit.reset(before)


def told() -> int | None:
    """How many bytes the user allows, None where nobody said."""
    return _limit.get()


def allowed() -> int:
    """How many bytes may be taken: as told, else what the machine has."""
    return told() or machine()


def machine() -> int:
    """How many bytes of memory this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return UNKNOWN_MACHINE
