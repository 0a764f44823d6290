"""Curve: delta of the Dirichlet-multinomial mechanism at an epsilon, exact between two floats.

Somebody knows everybody in a group but one person, who is in cell i or in cell j. The output is
likelier by r_i = 1 + m_i/alpha_i where the person is in i, so delta = E[(1 - e^epsilon r_j/r_i)^+].
It is convex in the ratios, and where known people stand in a cell its ratio is the mean of one
without them: nobody else in i and j is the worst case, and the two cells of least prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tacit.families.synthetic.promise.probability_bounds import (
    SLACK,
    STEPS,
    TINY,
    Bounds,
    chance,
    float_above,
    float_below,
    upper_tail,
)
from tacit.model.deadline import look

Floats = np.ndarray[Any, np.dtype[np.float64]]
ROUNDING = 2.0**-48  # of 1 - e^epsilon r_j/r_i: ten operations of error 2^-53, and more
WHOLE = 256  # so few people are summed over without leaving any out
ROWS = 2_000_000  # cells of a table of counts that are held at once
STRETCH = 1.3  # how a window grows until what it leaves out is negligible


@dataclass(frozen=True)
class Rivals:
    """The two cells in one of which somebody is, and all the rest.

    `drawn` synthetic people; the priors `first` and `second` of the two cells, nobody else in them;
    `rest` is everybody else and the prior of all other cells.

    >>> Rivals(1, Fraction(1), Fraction(1), Fraction(0)).delta(Fraction(1))
    Bounds(low=0.3333..., high=0.3333...)
    """

    drawn: int
    first: Fraction
    second: Fraction
    rest: Fraction

    def delta(self, ratio: Fraction, negligible: float = 1e-24) -> Bounds:
        """Delta at a likelihood ratio e^epsilon; what is less likely than `negligible` is not
        looked at, but added.
        """
        if (
            ratio * self.first >= self.drawn + self.first
        ):  # no output is likelier by more (Theorem 4.1)
            return Bounds(0.0, 0.0)
        if not self.rest:
            return self._on_a_line(ratio)
        try:
            return self._summed(ratio, negligible)
        except OverflowError:  # not summed: nothing is claimed
            return Bounds(0.0, 1.0)

    def _on_a_line(self, ratio: Fraction) -> Bounds:
        """Where there is nothing else: what is not in one cell is in the other."""
        low = high = 0.0
        for there in range(self.drawn + 1):
            one = 1 - ratio * self.ratio(self.drawn - there, self.second) / self.ratio(
                there, self.first
            )
            if one > 0:
                found = chance((there, self.drawn - there), (1 + self.first, self.second))
                low, high = low + found.low * float_below(one), high + found.high * float_above(one)
        return Bounds(low * (1 - SLACK), min(1.0, high * (1 + SLACK)))

    @staticmethod
    def ratio(count: int, prior: Fraction) -> Fraction:
        """How much likelier so many in a cell become by somebody who is there."""
        return 1 + count / prior

    def _summed(self, ratio: Fraction, negligible: float) -> Bounds:
        here = self._window(1 + self.first, self.second + self.rest, negligible)
        there = self._window(self.second, 1 + self.first + self.rest, negligible)
        # Below this many the output is likelier elsewhere.
        start = max(here.start, int((ratio - 1) * self.first))
        missed = here.missed + there.missed
        if start > here.stop or start + there.start > self.drawn:
            return Bounds(0.0, missed)
        law = JointLaw(self, CountWindow(start, here.stop), CountWindow(there.start, there.stop))
        # The ratio is rounded down, which makes delta larger by less than the rounding of one term.
        total, weight = law.excess(float_below(ratio))
        high = total * (1 + SLACK) + weight * ROUNDING + missed + TINY * max(1.0, law.peak)
        low = total * (1 - SLACK) - 2 * weight * ROUNDING if law.anchor > TINY else 0.0
        return Bounds(max(0.0, low), min(1.0, high))

    def _window(self, inside: Fraction, outside: Fraction, negligible: float) -> CountWindow:
        """Where the count of a cell almost surely is."""
        drawn = self.drawn
        if drawn <= WHOLE or outside < 1:
            return CountWindow(0, drawn)
        stop, after = self._reach(inside, outside, negligible)
        if inside < 1:
            return CountWindow(0, stop, after)
        other, before = self._reach(outside, inside, negligible)
        return CountWindow(drawn - other, stop, after + before)

    def _reach(self, inside: Fraction, outside: Fraction, negligible: float) -> tuple[int, float]:
        """A count that is almost never exceeded, and the chance that it is."""
        a, b = float(inside), float(outside)
        mean = self.drawn * a / (a + b)
        spread = (mean * b / (a + b) * (a + b + self.drawn) / (a + b + 1)) ** 0.5
        # Far out the chance falls by a constant factor a step, near the
        # mean like that of a normal law.
        nats = -math.log(negligible) + 3
        step = math.log1p(b / self.drawn)
        far = (
            min(nats / step + 2 * spread, math.sqrt(2 * nats) * spread * 1.5 + nats / step / 2) + 2
        )
        while mean + far < self.drawn:
            found = upper_tail(self.drawn, inside, outside, int(mean + far) + 1)
            if found <= negligible:
                return int(mean + far), found
            far *= STRETCH
        return self.drawn, 0.0


@dataclass(frozen=True, slots=True)
class CountWindow:
    """Counts from `start` to `stop`; others have at most the chance `missed`."""

    start: int
    stop: int
    missed: float = 0.0

    def __len__(self) -> int:
        return self.stop - self.start + 1


class JointLaw:
    """The joint law of the two counts in a window, as a product of three sequences.

    The chance of (i, j) is B u[i] v[j] g[i + j]; each sequence is 1 at the middle, where B is
    computed in balls, and goes on by its quotients. All are tilted by one factor, so that none
    leaves the range of floats.
    """

    def __init__(self, rivals: Rivals, here: CountWindow, there: CountWindow) -> None:
        self.rivals, self.here, self.there = rivals, here, there
        if 2 * (len(here) + len(there)) > STEPS:
            raise OverflowError("too many counts to sum over")
        drawn, priors = rivals.drawn, (1 + rivals.first, rivals.second, rivals.rest)
        at, beside = self._middle()
        self.anchor = chance((at, beside, drawn - at - beside), priors).high
        rest = float(rivals.rest)
        sums = np.arange(
            here.start + there.start, min(here.stop + there.stop, drawn) + 1, dtype=np.float64
        )
        middle = at + beside
        last = min(middle, drawn - 1)
        tilt = (drawn - last) / (drawn - last - 1 + rest)
        step = (drawn - sums[:-1]) / (drawn - sums[:-1] - 1 + rest)
        self.g = walked(step / tilt, middle - int(sums[0]))
        self.u = walked(growth(here, float(priors[0])) * tilt, at - here.start)
        self.v = walked(growth(there, float(priors[1])) * tilt, beside - there.start)
        with np.errstate(over="ignore"):
            self.peak = float(self.u.max() * self.v.max() * self.g.max())
        if not self.peak < 1e250:
            raise OverflowError("the counts are too far apart")

    def _middle(self) -> tuple[int, int]:
        """A likely point of the window."""
        one, total = (
            self.rivals,
            float(1 + self.rivals.first + self.rivals.second + self.rivals.rest),
        )
        at = int(one.drawn * float(1 + one.first) / total)
        at = min(max(at, self.here.start), self.here.stop, one.drawn - self.there.start)
        beside = int((one.drawn - at) * float(one.second) / float(one.second + one.rest))
        beside = min(max(beside, self.there.start), self.there.stop, one.drawn - at)
        return at, beside

    @cached_property
    def ratios(self) -> tuple[Floats, Floats]:
        """r_i and r_j of every count."""
        one = self.rivals
        here = 1 + np.arange(self.here.start, self.here.stop + 1) / float(one.first)
        there = 1 + np.arange(self.there.start, self.there.stop + 1) / float(one.second)
        return here, there

    def excess(self, ratio: float) -> tuple[float, float]:
        """E[(1 - ratio r_j/r_i)^+], and the chance of the outputs that count in it."""
        here, there = self.ratios
        total = weight = 0.0
        # v[j] g[i + j] for a row i is a slice of g;
        # rows are taken in blocks, so that memory stays small.
        padded = np.concatenate(
            [self.g, np.zeros(max(0, len(here) + len(there) - 1 - len(self.g)))]
        )
        for block in blocks(len(here), len(there)):
            look()
            reach = int(np.searchsorted(there, here[block][-1] / ratio * (1 + SLACK), side="right"))
            if not reach:
                continue
            slices = np.lib.stride_tricks.sliding_window_view(padded, reach)[block]
            excess = 1 - ratio * there[:reach] / here[block][:, None]
            law = slices * self.v[:reach]
            total += float(self.u[block] @ (law * np.maximum(excess, 0.0)).sum(axis=1))
            weight += float(self.u[block] @ (law * (excess > -ROUNDING)).sum(axis=1))
        return total * self.anchor, weight * self.anchor


def blocks(rows: int, columns: int) -> Sequence[slice]:
    """Rows in blocks that hold a bounded number of cells."""
    size = max(1, ROWS // max(columns, 1))
    return [slice(begin, min(begin + size, rows)) for begin in range(0, rows, size)]


def growth(window: CountWindow, prior: float) -> Floats:
    """From each count of a cell to the next: the quotient of their weights."""
    counts = np.arange(window.start, window.stop, dtype=np.float64)
    return (counts + prior) / (counts + 1)


def walked(steps: Floats, at: int) -> Floats:
    """The sequence with these quotients that is 1 at a place.

    >>> walked(np.array([2.0, 3.0]), 1).tolist()
    [0.5, 1.0, 3.0]
    """
    after = np.cumprod(steps[at:])
    before = np.cumprod(1 / steps[:at][::-1])[::-1]
    return np.concatenate([before, [1.0], after])
