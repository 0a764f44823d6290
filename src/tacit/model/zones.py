"""Time zones by the name that the world gives them."""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo


def time_zone(name: str) -> tzinfo:
    """The zone of a name such as Europe/Paris.

    >>> time_zone("UTC")
    datetime.timezone.utc
    >>> time_zone("Europe/Pari")
    Traceback (most recent call last):
    ValueError: there is no time zone 'Europe/Pari'
    """
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        raise ValueError(f"there is no time zone {name!r}") from None
