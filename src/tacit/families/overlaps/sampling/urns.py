"""Urns: numbers drawn with given weights, many at a time, and by how
much that differs from the weights.
"""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers

Floats = np.ndarray[Any, np.dtype[np.float64]]
UNIT = 2.0**-53  # the relative error of one operation on floats

WHOLE = 62  # an urn has 2**62 balls
MOST_SLOTS = 20


class WeightedUrn:
    """Draws of `values` with probabilities proportional to `weights`.

    Weights become whole numbers of balls, 2**62 in all, and a draw takes one ball exactly
    uniformly. A table of slots answers most draws with one look; the balls that do not fill a slot
    are kept apart.

    The law drawn from is that of the weights but for relative errors of at most `relative`, and for
    a total variation of at most `absolute` on top.

    >>> urn = WeightedUrn(np.array([1.0, 0.0, 3.0]), np.array([7, 8, 9]))
    >>> np.unique(urn.draw(np.random.default_rng(1), 4000), return_counts=True)[1].tolist()
    [985, 3015]
    """

    relative = 4 * UNIT

    def __init__(self, weights: Floats, values: Integers) -> None:
        self.values = values
        self.absolute = len(weights) * 2.0**-61 + 8 * UNIT
        balls = _balls(weights / fsum(weights), np.zeros(1, dtype=np.int64))
        self.bits = min(max((8 * len(weights)).bit_length(), 8), MOST_SLOTS)
        in_slot = WHOLE - self.bits
        full = balls >> in_slot
        filled = np.repeat(values, full)
        self.filled = len(filled)
        self.slots: Integers = np.zeros(1 << self.bits, dtype=np.int64)
        self.slots[: self.filled] = filled
        self.loose: Integers = np.cumsum(balls - (full << in_slot))

    def draw(self, rng: np.random.Generator, count: int) -> Integers:
        """So many independent draws."""
        slot = rng.integers(0, 1 << self.bits, count, dtype=np.uint32)
        found = self.slots.take(slot)
        if self.filled < len(self.slots):
            open_ = np.flatnonzero(slot >= self.filled)
            ball = rng.integers(0, int(self.loose[-1]), len(open_))
            found[open_] = self.values[np.searchsorted(self.loose, ball, side="right")]
        return found


class Urns:
    """One urn for each of several states:
    those of state s have the weights from `starts[s]` to `starts[s + 1]`.
    """

    def __init__(self, weights: Floats, starts: Integers) -> None:
        self.starts = starts
        sizes = np.diff(starts)
        sums = np.add.reduceat(weights, starts[:-1])
        # A state of weight 0 is one that is never met: less than 2**-1000 of all.
        share = weights / np.repeat(np.where(sums > 0, sums, 1.0), sizes)
        balls = _balls(share, starts[:-1])
        up_to = np.cumsum(balls)  # it may overflow and come round again; differences are right
        self.up_to: Integers = up_to - np.repeat(up_to[starts[:-1]] - balls[starts[:-1]], sizes)
        most = int(sizes.max())
        # The sum of the shares is off by a unit for each;
        # that goes to the largest share, which is 1/most at least.
        self.relative = 2 * (most * most + 8) * UNIT
        self.absolute = most * 2.0**-61
        self.rounds = (most - 1).bit_length()

    def draw(self, rng: np.random.Generator, states: Integers) -> Integers:
        """One draw for each of these states: the place of a weight."""
        ball = rng.integers(0, 1 << WHOLE, len(states))
        low = self.starts.take(states)
        high = self.starts.take(states + 1) - 1
        for _ in range(self.rounds):
            middle = (low + high) >> 1
            is_later = self.up_to.take(middle) <= ball
            low = np.where(is_later, middle + 1, low)
            high = np.where(is_later, high, middle)
        return low


def _balls(shares: Floats, starts: Integers) -> Integers:
    """Shares as whole numbers with the sum 2**62 for each state:
    rounded down, and the rest to the first of the largest.
    """
    balls = np.floor(shares * 2.0**WHOLE).astype(np.int64)
    sizes = np.diff(starts, append=len(shares))
    largest = np.flatnonzero(balls == np.repeat(np.maximum.reduceat(balls, starts), sizes))
    state = np.searchsorted(starts, largest, side="right") - 1
    first = largest[np.searchsorted(state, np.arange(len(starts)))]
    balls[first] += (1 << WHOLE) - np.add.reduceat(balls, starts)
    found: Integers = balls
    return found
