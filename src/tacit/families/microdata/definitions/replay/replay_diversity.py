"""Replay of l-diversity: what the counts of a group, or of worlds, must meet, word by word."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any


def recursive_holds(cells: Mapping[Any, int], required: Mapping[str, Any]) -> bool:
    """Definition 3.9, word by word: r_1, r_2, ...
    are the counts, r_y the first that is protected.
    """
    ranked = sorted(cells, key=lambda value: -cells[value])
    protected = [
        place for place, value in enumerate(ranked, 1) if value not in required.get("dont-care", ())
    ]
    if not protected:
        return bool(cells)
    r = [0, *(cells[value] for value in ranked)]
    y, l = protected[0], int(required["l"])  # noqa: E741
    tail = sum(r[l:]) if y <= l - 1 else sum(r[l - 1 : y]) + sum(r[y + 1 :])
    return bool(r[y] < required["c"] * tail)


def negative_holds(cells: Mapping[Any, int], size: int, required: Mapping[str, Any]) -> bool:
    """Definition 3.10: no value of W is rarer than c2 percent."""
    return all(
        Fraction(100 * cells.get(value, 0), size) >= required["c2"]
        for value in required.get("negative", ())
    )


def entropy_at_least(counts: Sequence[int], least: Fraction) -> bool:
    """prod(n_i^n_i) l^n <= n^n, in integers."""
    total = sum(counts)
    left = math.prod(count**count for count in counts) * least.numerator**total
    return bool(left <= total**total * least.denominator**total)
