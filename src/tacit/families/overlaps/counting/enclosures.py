"""Averages between bounds that are certain: rounded numbers with a count of roundings, and what
became too small to keep.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import frexp, ldexp

import numpy as np

from tacit.families.overlaps.counting.arithmetic import Array, Marginal, ScaledNumbers, multiplied
from tacit.families.overlaps.counting.axis_parts import Factor, Shared
from tacit.families.overlaps.counting.expectations import Expected
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import OpenPart, Sum
from tacit.model.deadline import look

SWEEPS = 60  # a tilt need not be good: bounds are right with any
TILT_BITS = 12  # short, so that a product of tilts is exact
TABLE_BITS = 128  # of a power over a factorial before it is rounded once
ROUNDED = 1 << 53
MOST_ROUNDINGS = 1 << 46  # which is less than 1 %
MOST_LOST = 2.0**-20
Interval = tuple[Fraction, Fraction]


@lru_cache(maxsize=64)
def tilts(part: OpenPart) -> tuple[tuple[Sum, Fraction], ...]:
    """A factor for each sum such that independent Poisson numbers, with the product of its sums'
    factors for the average of a cell, would give each sum about its total.

    Multiplying the weight of a table by prod(factor ** x) over the cells of a sum multiplies all
    tables alike, for x adds up to the total. With these factors the tables that count are where the
    weights are large.
    """
    sums = (*part.classes, *part.rows)
    factors, now = np.ones(len(sums)), np.ones(len(part.place))
    for _ in range(SWEEPS):
        before = now.copy()
        for number, one in enumerate(sums):
            look()
            by = min(max(max(one.total, 0.01) / float(now[one.cells].sum()), 1e-30), 1e30)
            if 1e-60 < factors[number] * by < 1e60:
                factors[number] *= by
                now[one.cells] *= by
        if np.allclose(now, before, rtol=1e-3):
            break
    return tuple((one, short(float(by))) for one, by in zip(sums, factors, strict=True))


def short(number: float) -> Fraction:
    """A nearby number with few binary digits.

    >>> short(1 / 3)
    Fraction(2731, 8192)
    """
    mantissa, exponent = frexp(number)
    return Fraction(round(mantissa * (1 << TILT_BITS))) * Fraction(2) ** (exponent - TILT_BITS)


@lru_cache(maxsize=64)
def cell_tilts(part: OpenPart) -> list[Fraction]:
    """The product of the factors of each cell's sums."""
    found = [Fraction(1)] * len(part.place)
    for one, by in tilts(part):
        look()
        for cell in one.cells.tolist():
            found[cell] *= by
    return found


def powers(ratio: Fraction, low: int, high: int) -> tuple[Array, Integers]:
    """ratio^x / x! for x from low to high, up to a common factor, as numbers from 1/2 to 1 and
    powers of two.

    The numbers are off by less than two roundings:
    integers of 128 digits are cut at each step, and rounded at the end.

    >>> powers(Fraction(3), 0, 3)[0].tolist(), powers(Fraction(3), 0, 3)[1].tolist()
    ([0.5, 0.75, 0.5625, 0.5625], [1, 2, 3, 3])
    """
    mantissas, exponents = np.empty(high - low + 1), np.empty(high - low + 1, dtype=np.int64)
    number, exponent = 1 << (TABLE_BITS - 1), 1 - TABLE_BITS
    for x in range(low, high + 1):
        look()
        if x > low:
            below = ratio.denominator * x
            number = (number * ratio.numerator << below.bit_length()) // below
            extra = number.bit_length() - TABLE_BITS
            number = number >> extra if extra > 0 else number << -extra
            exponent += extra - below.bit_length()
        mantissas[x - low], shift = frexp(number)
        exponents[x - low] = exponent + shift
    return mantissas, exponents


@lru_cache(maxsize=4)
def _tables(part: OpenPart) -> list[tuple[Array, Integers]]:
    """The tilted weights of every cell, from its least to its largest number of people."""
    return [
        powers(*one)
        for one in zip(cell_tilts(part), part.low.tolist(), part.high.tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """Rounded arithmetic of non-negative numbers: what is below `floor`
    is set to 0 and remembered as lost.

    The floor is such that a product of as many tidy numbers as are multiplied before the next
    `tidy` does not underflow: at least 2^-500 for two.
    """

    part: OpenPart
    floor: float = 2.0**-500

    def dot(self, one: Array, other: Array, out: Array | None = None) -> Array:
        """The matrix product."""
        return multiplied(one, other, out)

    def tidy(self, raw: Array) -> Array:
        """Nothing below the floor."""
        raw[raw < self.floor] = 0.0
        return raw

    def made(
        self, raw: Array, of: Sequence[ScaledNumbers], terms: int, roundings: int
    ) -> ScaledNumbers:
        """Scaled by a power of two so that the largest is between 1/2 and 1.

        A true number of `of` is at most 1.01 + lost. So one product of one of each misses at most 2
        * sum(lost), if there are few of them and lost is small; once it is not, nothing is known
        any more.
        """
        look()
        roundings += sum(one.roundings for one in of)
        largest = float(raw.max(initial=0.0))
        up = -frexp(largest)[1] if largest > 0.0 else 0
        lost = max(one.lost for one in of)
        if lost > MOST_LOST or roundings > MOST_ROUNDINGS:
            lost = float("inf")
        else:
            # 3 for 2: this sum is rounded too.
            # The floor twice, for the true number may be a little above it.
            lost = ldexp(3.0 * terms * len(of) * lost, up) + 2 * self.floor
        return ScaledNumbers(self.tidy(np.ldexp(raw, up)), roundings, lost)

    def weights(self, factor: Factor) -> ScaledNumbers:
        """The tilted weights of a factor on its box."""
        tables = _tables(self.part)
        mantissa, exponent = (
            np.ones(factor.allowed.shape),
            np.zeros(factor.allowed.shape, dtype=np.int64),
        )
        for cell, above in factor.cells:
            mantissa = mantissa * tables[cell][0][above]
            exponent = exponent + tables[cell][1][above]
        exponent = exponent - exponent[factor.allowed].max(initial=-(1 << 40))
        # 2^-1000 of the largest is far below the floor, also when it
        # grows by a digit for each cell.
        kept = factor.allowed & (exponent > -1000)
        raw = np.ldexp(np.where(kept, mantissa, 0.0), np.where(kept, exponent, 0).astype(np.int32))
        return self.made(raw, [ScaledNumbers(raw, 3 * len(factor.cells))], 1, 0)


def averages(part: OpenPart, marginals: Iterable[Marginal]) -> dict[int, Interval]:
    """The average number of people in the cells of some marginals, between bounds."""
    found = {}
    for one in marginals:
        weight, size = one.weight.part.reshape(-1), one.weight.part.size
        # Adding rounds each number as often as there are numbers, multiplying by x once more.
        slack = 1 - Fraction(one.weight.roundings + size + 1, ROUNDED)
        all_ = Fraction(float(weight.sum()))
        for cell, people in one.cells:
            look()
            low, high = Fraction(int(part.low[cell])), Fraction(int(part.high[cell]))
            found[cell] = low, high
            if all_ and one.weight.lost <= MOST_LOST:
                lost = Fraction(one.weight.lost) * size
                x = np.broadcast_to(people, one.weight.part.shape).reshape(-1)
                some = Fraction(float(np.dot(weight, x.astype(np.float64))))
                least = some * slack / (all_ / slack + lost)
                most = (some / slack + lost * int(x.max())) / (all_ * slack)
                found[cell] = max(low, least), min(high, most)
    return found


def following(shared: Shared, found: dict[int, Interval]) -> dict[int, Interval]:
    """The averages of the cells that follow from those in the axes."""
    part, more = shared.part, {}
    for column in shared.columns:
        for cell, linear in column.following:
            low = high = Fraction(linear.constant)
            for axis, times in linear.factors:
                own = column.axes[axis]
                assert own is not None
                ends = [times * end for end in found[own]]
                low, high = low + min(ends), high + max(ends)
            more[cell] = (
                max(low, Fraction(int(part.low[cell]))),
                min(high, Fraction(int(part.high[cell]))),
            )
    return more


def enclosed(found: dict[int, Interval]) -> Expected:
    """The averages of all cells of a part."""
    pairs = [found[cell] for cell in range(len(found))]
    return Expected(tuple(low for low, _ in pairs), tuple(high for _, high in pairs))
