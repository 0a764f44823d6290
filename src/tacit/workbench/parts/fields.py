"""Fields: what was typed into them, as what can be worked with."""

from __future__ import annotations

import math


def whole(typed: float | None) -> int:
    """A whole number from a field; 0 where it is empty, or holds one that is too large.

    >>> whole(12.0), whole(None), whole(float("1e999")), whole(float("nan"))
    (12, 0, 0, 0)
    """
    return int(typed) if typed is not None and math.isfinite(typed) else 0
