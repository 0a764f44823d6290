"""Fair shares: whether values can be spread so that nobody has more than a share gamma of any.
If not, no further view helps.

Beliefs are averages over the tables that fit, so they have the sums that the views show. Where no
numbers between 0 and gamma have these sums, somebody's belief is above gamma, and stays so whatever
else is published: more views only add sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import OpenPart, System
from tacit.model.deadline import look

Floats = np.ndarray[Any, np.dtype[np.float64]]
STEPS = 60
LONGEST = 4.0  # how far a step may move a cell's logarithm
CLOSE = 1e-9  # people
ROUNDED = 1 << 24  # multipliers are rounded to this many parts of the largest
MOST_SUMS = 600


def is_unfair(system: System, gamma: Fraction) -> bool:
    """Is it proved that no averages of at most gamma for everybody have the sums of a system?

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> is_unfair(
    ...     system_of(overlap_of("xyz", ["xxyz", "xyz"], [[0], [0], [0], [0, 1], [1], [1]])),
    ...     Fraction(1, 2),
    ... )
    False
    >>> is_unfair(
    ...     system_of(overlap_of("xyz", ["xxyz", "xy"], [[0, 1], [0, 1], [0], [0]])), Fraction(2, 5)
    ... )
    True
    """
    sizes = np.repeat(system.overlap.sizes, len(system.overlap.values))
    if bool((system.low * gamma.denominator > sizes * gamma.numerator).any()):
        return True
    return any(unfair_part(part, sizes[part.place], gamma) is not None for part in system.parts)


def unfair_part(part: OpenPart, sizes: Integers, gamma: Fraction) -> tuple[int, ...] | None:
    """Multipliers of the sums (classes, then rows) that prove it;
    None where there may be such averages.

    `sizes` has for each cell how many people its class has. For any averages x between the bounds l
    and u that have the sums b, and any multipliers y with z = the total of y over the sums that
    hold a cell: y.b = z.x <= sum of max(z l, z u). Multipliers for which y.b is larger are a proof,
    and are looked for by Newton's method on a smooth concave function that is unbounded exactly
    where they exist.
    """
    sums = [*part.classes, *part.rows]
    low = part.low * gamma.denominator
    high = np.minimum(part.high * gamma.denominator, sizes * gamma.numerator)
    if bool((low > high).any()):
        return tuple([0] * len(sums))
    if len(sums) > MOST_SUMS:
        return None
    matrix = np.zeros((len(sums), len(part.place)))
    for number, one in enumerate(sums):
        matrix[number, one.cells] = 1.0
    totals = np.array([one.total for one in sums], dtype=np.float64)
    found = _climbed(matrix, totals, low / gamma.denominator, high / gamma.denominator)
    if found is None:
        return None
    whole = np.rint(found * (ROUNDED / np.abs(found).max())).astype(np.int64).tolist()
    return (
        tuple(whole)
        if _proves(whole, part, low.tolist(), high.tolist(), gamma.denominator)
        else None
    )


def _proves(
    multipliers: Sequence[int], part: OpenPart, low: Sequence[int], high: Sequence[int], scale: int
) -> bool:
    """Is it so, in whole numbers? The bounds are given times `scale`."""
    cells = [0] * len(low)
    total = 0
    for one, times in zip((*part.classes, *part.rows), multipliers, strict=True):
        total += one.total * times * scale
        for cell in one.cells.tolist():
            cells[cell] += times
    return total > sum(
        max(times * least, times * most)
        for times, least, most in zip(cells, low, high, strict=True)
    )


def _climbed(matrix: Floats, totals: Floats, low: Floats, high: Floats) -> Floats | None:
    """Multipliers y with y.b above what averages between the bounds can have;
    None where the climb ends without.
    """
    wide = high - low
    at = np.zeros(len(totals))

    def height(multipliers: Floats) -> float:
        cells = multipliers @ matrix
        return float(multipliers @ totals - cells @ low - wide @ np.logaddexp(0.0, cells))

    now = height(at)
    for _ in range(STEPS):
        look()
        cells = at @ matrix
        if at @ totals - cells @ low - wide @ np.maximum(cells, 0.0) > 1e-7 * np.abs(at).max(
            initial=0.0
        ):
            return at if at.any() else None
        share = 0.5 + 0.5 * np.tanh(cells / 2)
        missing = totals - matrix @ (low + wide * share)
        if np.abs(missing).max(initial=0.0) < CLOSE:
            return None
        curve = (matrix * (wide * share * (1 - share))) @ matrix.T
        curve[np.diag_indices_from(curve)] += 1e-9 * (1.0 + curve.trace() / len(curve))
        step = np.linalg.solve(curve, missing)
        step *= min(1.0, LONGEST / max(float(np.abs(step @ matrix).max()), 1e-300))
        part = 1.0
        while (then := height(at + part * step)) < now + 1e-4 * part * float(missing @ step):
            part /= 2
            if part < 1e-6:
                return None
        at, now = at + part * step, then
    return None
