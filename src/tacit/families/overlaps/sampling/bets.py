"""Bets: bounds of the average share of a cell that hold at every look, however often one looks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.sampling.urns import Floats
from tacit.families.overlaps.system import Flags

STAKES = 0.95 * 0.6 ** np.arange(16)  # shares of what can be lost
SLACK = 1e-5  # more than floats lose in the logarithm of a capital
FINEST = 16  # bits of a bound


@dataclass(frozen=True, eq=False)
class SampleCounts:
    """In how many tables each cell had how many people: `seen[j, x - low[j]]`;
    `sizes[j]` is how many its class has.
    """

    low: Integers
    high: Integers
    sizes: Integers
    seen: Integers

    @property
    def draws(self) -> int:
        """How many tables were drawn."""
        return int(self.seen[0].sum())

    @cached_property
    def people(self) -> Integers:
        """How many people each cell had in all tables together."""
        found: Integers = self.seen @ np.arange(self.seen.shape[1]) + self.low * self.draws
        return found

    def with_tables(self, tables: Integers) -> SampleCounts:
        """The counts with more tables, one row each."""
        wide = self.seen.shape[1]
        place = (tables - self.low + np.arange(len(self.low)) * wide).ravel()
        more = np.bincount(place, minlength=self.seen.size).reshape(self.seen.shape)
        return SampleCounts(self.low, self.high, self.sizes, self.seen + more)

    def turned(self) -> SampleCounts:
        """The people outside each cell instead of those in it, so that
        lower bounds become upper ones.
        """
        place = (self.high - self.low)[:, None] - np.arange(self.seen.shape[1])
        seen = np.where(place >= 0, np.take_along_axis(self.seen, np.maximum(place, 0), axis=1), 0)
        return SampleCounts(self.sizes - self.high, self.sizes - self.low, self.sizes, seen)


def no_counts(low: Integers, high: Integers, sizes: Integers) -> SampleCounts:
    """Before the first table."""
    return SampleCounts(
        low, high, sizes, np.zeros((len(low), int((high - low).max()) + 1), dtype=np.int64)
    )


class Bets:
    """Somebody bets, table after table, that the share of each cell is below a limit on average.

    With the share X in [low, high] and the limit m, a stake b in (0, 1) turns a capital of 1 into 1
    + b (m - X) / (high - m), which is never negative. If the average is m or more, the capital is a
    supermartingale; it ever comes to 1/a with probability at most a (Ville 1939). So a capital of
    1/a refutes that the average is m or more, at any time and however often one looks. The capital
    here is the mean over several stakes, which is a supermartingale too, and does nearly as well as
    the best of them, whatever the spread of X. (Waudby-Smith and Ramdas, Estimating means of
    bounded random variables by betting, 2024.)

    Only how often each number was seen matters, not in which order.

    >>> coin = no_counts(np.array([0]), np.array([1]), np.array([1])).with_tables(
    ...     np.zeros((9, 1), dtype=np.int64)
    ... )
    >>> Bets(coin, Fraction(1, 2)).refuted(coin, log_needed=3.0).tolist()
    [True]
    """

    def __init__(self, counts: SampleCounts, limit: Fraction, *, below: bool = False) -> None:
        """`below` asks for averages below the limit;
        else those that cannot be above it need no bet.
        """
        gain = np.zeros(counts.seen.shape)
        is_sure = []
        for cell, (low, high, size) in enumerate(
            zip(counts.low.tolist(), counts.high.tolist(), counts.sizes.tolist(), strict=True)
        ):
            room = Fraction(high, size) - limit
            if room > 0:
                gain[cell, : high - low + 1] = [
                    float((limit - Fraction(x, size)) / room) for x in range(low, high + 1)
                ]
            is_sure.append(room < 0 or (room == 0 and not below))
        self.is_sure: Flags = np.array(is_sure, dtype=bool)
        self.logs: Floats = np.log1p(STAKES[:, None, None] * gain)

    def refuted(self, counts: SampleCounts, log_needed: float) -> Flags:
        """For which cells it is refuted that the average share is the limit or more."""
        found: Flags = self.is_sure | (_log_capital(self.logs, counts.seen) >= log_needed + SLACK)
        return found


def _log_capital(logs: Floats, seen: Integers) -> Floats:
    """The logarithm of the mean capital over all stakes, for each cell."""
    each = np.einsum("bkx,kx->bk", logs, seen.astype(np.float64))
    top = each.max(axis=0)
    found: Floats = top + np.log(np.exp(each - top).mean(axis=0))
    return found


def upper_bounds(counts: SampleCounts, log_needed: float) -> list[Fraction]:
    """For each cell the least limit, a multiple of 2**-16, that its
    average share is shown to be below.

    The capital grows with the limit, so the limits that are refuted
    begin somewhere, and halving finds it.
    """
    x = np.minimum(counts.low[:, None] + np.arange(counts.seen.shape[1]), counts.high[:, None])
    shares = x / counts.sizes[:, None]
    highest = counts.high / counts.sizes
    low = np.floor(counts.low / counts.sizes * 2.0**FINEST).astype(np.int64)
    high = np.ceil(highest * 2.0**FINEST).astype(np.int64)
    for _ in range(FINEST + 1):
        middle = (low + high) >> 1
        limit = middle / 2.0**FINEST
        room = highest - limit
        gain = np.where(
            (room > 0)[:, None],
            (limit[:, None] - shares) / np.where(room > 0, room, 1.0)[:, None],
            0.0,
        )
        capital = _log_capital(
            np.log1p(STAKES[:, None, None] * np.maximum(gain, -1.0)), counts.seen
        )
        is_shown = (room <= 0) | (capital >= log_needed + SLACK)
        high = np.where(is_shown, middle, high)
        low = np.where(is_shown, low, np.minimum(middle + 1, high))
    ends = zip(high.tolist(), counts.high.tolist(), counts.sizes.tolist(), strict=True)
    return [min(Fraction(one, 1 << FINEST), Fraction(most, size)) for one, most, size in ends]
