"""Exact counts: arithmetic modulo many primes in floating-point arrays,
and the Chinese remainder theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log2, prod

import numpy as np

from tacit.families.overlaps.counting.arithmetic import Array, Marginal, ScaledNumbers, multiplied
from tacit.families.overlaps.counting.axis_parts import Factor, Shared, ValueColumn
from tacit.families.overlaps.counting.enclosures import cell_tilts, tilts
from tacit.families.overlaps.counting.expectations import Expected
from tacit.families.overlaps.counting.factorials import bits, quotient
from tacit.families.overlaps.overlap_cores import each
from tacit.families.overlaps.system import NoTable, OpenPart
from tacit.model.deadline import look
from tacit.model.jobs import Job

BITS = 22  # of a prime
# products of residues up to 2^21 whose sum a float holds exactly: 2000 * (2^21 + 8)^2 + 2^22 < 2^53
LONGEST = 2000
MOST_PRIMES = 18_000  # so many are between 2^21.9 and 2^22


@lru_cache(maxsize=4)
def primes(many: int) -> tuple[int, ...]:
    """The largest primes below 2^22.

    >>> primes(3)
    (4194301, 4194287, 4194277)
    """
    is_prime = np.ones(1 << BITS, dtype=bool)
    is_prime[:2] = False
    for one in range(2, 1 << (BITS // 2)):
        if is_prime[one]:
            is_prime[one * one :: one] = False
    found = np.nonzero(is_prime)[0][::-1][:many]
    return tuple(found.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Modulo:
    """Residues modulo a prime, as integers from about -prime/2 to prime/2 in floats."""

    prime: int
    tables: Sequence[Array]

    def dot(self, one: Array, other: Array, out: Array | None = None) -> Array:
        """The matrix product, cut along the axis that is added up."""
        found = self.tidy(multiplied(one[:, :LONGEST], other[:LONGEST], out))
        for start in range(LONGEST, one.shape[1], LONGEST):
            found += multiplied(one[:, start : start + LONGEST], other[start : start + LONGEST])
            self.tidy(found)
        return found

    def tidy(self, raw: Array) -> Array:
        """The residues nearest to 0, but for a few units where the quotient is near a half:
        see LONGEST.
        """
        quotient = raw * (1.0 / self.prime)
        np.rint(quotient, out=quotient)
        quotient *= self.prime
        raw -= quotient
        return raw

    def made(
        self, raw: Array, of: Sequence[ScaledNumbers], terms: int, roundings: int
    ) -> ScaledNumbers:
        """The residues."""
        look()
        return ScaledNumbers(self.tidy(raw))

    def weights(self, factor: Factor) -> ScaledNumbers:
        """high! / x! for all cells of a factor, multiplied."""
        found = factor.allowed.astype(np.float64)
        for cell, above in factor.cells:
            found = self.tidy(found * self.tables[cell][above])
        return ScaledNumbers(found)


Run = Callable[[Modulo], Iterable[Marginal]]  # a count modulo a prime


def counted(shared: Shared, run: Run, job: Job | None = None, *, is_long: bool = True) -> Expected:
    """The number of tables and all averages, from as many counts modulo primes as it takes, several
    at once if it is long.

    `run` gives marginals of prod(high! / x! over all cells).
    Raises NoTable where there is no table.
    """
    part, divisor = shared.part, list(_divisor(shared))
    many = needed(shared)
    assert many is not None, "counted only where enough primes are known"
    own = primes(many)
    above, below = quotient(divisor, part.high.tolist())
    found: list[list[int]] = []
    for sums in each(
        lambda modulo: _sums(part, modulo.prime, run(modulo)), _moduli(part, own), is_long=is_long
    ):
        prime = own[len(found)]
        by = above % prime * pow(below % prime, -1, prime) % prime
        found.append([one * by % prime for one in sums])
        if job is not None:
            job.step(f"counted modulo {len(found)} of {len(own)} primes", len(found) / len(own))
    all_, *cells = remainders(list(zip(*found, strict=True)), own)
    if not all_:
        raise NoTable
    above, below = quotient([one.total for one in part.classes], divisor)
    tables, left = divmod(all_ * above, below)
    assert not left, "tables are whole"
    # The weighted numbers have few digits beside those of tables, so
    # the averages are taken from them.
    averages = tuple(_share(one, all_) for one in _with_following(shared, all_, cells))
    return Expected(averages, averages, tables)


@lru_cache(maxsize=64)
def needed(shared: Shared) -> int | None:
    """How many primes tell the weighted number of tables, and that of people
    in a cell, from all smaller numbers.

    None where there are not so many primes, or more people than the least of them.
    """
    part = shared.part
    if max(one.total for one in part.classes) >= 1 << (BITS - 1):
        return None
    # One more for what the logarithms of factorials may be off by.
    weighted = ceil(bits(list(_divisor(shared))) - bits([one.total for one in part.classes])) + 1
    most = _most_tables(part) + weighted + int(part.high.max()).bit_length()
    many = max(1, ceil((most + 1) / (BITS - 0.1)))
    return many if many <= MOST_PRIMES else None


def _most_tables(part: OpenPart) -> int:
    """A bound on the number of tables, as a power of two.

    With a factor for each sum, every table has the weight prod(factor ** total), and all tables
    that only keep the sizes of the classes together have prod((sum of the weights of its cells) **
    size).
    """
    own = cell_tilts(part)
    own_bits = sum(
        one.total * _log2(sum((own[cell] for cell in one.cells.tolist()), Fraction(0)))
        for one in part.classes
    )
    # A term is off by a few units in its last place, which is far less than 1 in all.
    return ceil(own_bits - sum(one.total * _log2(by) for one, by in tilts(part))) + 1


def _log2(number: Fraction) -> float:
    return log2(number.numerator) - log2(number.denominator)


def _share(some: int, all_: int) -> Fraction:
    look()
    return Fraction(some, all_)


def _divisor(shared: Shared) -> Iterator[int]:
    """Numbers whose factorials have a product that prod(x! over all cells) divides for all
    tables, whatever they are.
    """
    for column in shared.columns:
        yield from _divisor_of(shared, column)


def _divisor_of(shared: Shared, column: ValueColumn) -> Iterator[int]:
    """The same for the cells of one value: x! y! divides (x + y)!, so cells are put together
    where their sum is bounded.
    """
    high = shared.part.high
    left = {axis: int(high[cell]) for axis, cell in enumerate(column.axes) if cell is not None}
    for cell, linear in column.following:
        most = int(high[cell])
        if all(times < 0 for _, times in linear.factors):
            most = min(
                max(linear.constant, 0), most + sum(left.pop(axis, 0) for axis in linear.axes)
            )
        yield most
    yield from left.values()


def _moduli(part: OpenPart, own: Sequence[int]) -> Iterator[Modulo]:
    """Each prime with high! / x! for all numbers of people in each cell."""
    bounds = list(zip(part.low.tolist(), part.high.tolist(), strict=True))
    for start in range(0, len(own), 64):
        some = own[start : start + 64]
        tables = {pair: _falling(*pair, some) for pair in set(bounds)}
        for number, prime in enumerate(some):
            yield Modulo(prime, [tables[pair][number] for pair in bounds])


def _falling(low: int, high: int, own: Sequence[int]) -> Array:
    """high! / x! for x from low to high, modulo each prime, between -prime/2 and prime/2.

    >>> _falling(2, 4, [4194301]).tolist()
    [[12.0, 4.0, 1.0]]
    """
    modulus = np.array(own, dtype=np.int64)
    found = np.ones((len(own), high - low + 1), dtype=np.int64)
    for x in range(high - 1, low - 1, -1):
        look()
        found[:, x - low] = found[:, x - low + 1] * (x + 1) % modulus
    found = np.where(found > modulus[:, None] // 2, found - modulus[:, None], found)
    return found.astype(np.float64)


def _sums(part: OpenPart, prime: int, marginals: Iterable[Marginal]) -> list[int]:
    """The weight of all tables, and that of the people in each cell (0 where no marginal tells),
    modulo a prime.
    """
    found = [0] * (len(part.place) + 1)
    seen = set()
    for one in marginals:
        look()
        weight = one.weight.part.astype(np.int64) % prime
        seen.add(int(weight.sum()) % prime)
        for cell, people in one.cells:
            found[cell + 1] = int((weight * people % prime).sum()) % prime
    assert len(seen) == 1, "marginals of one count have one sum"
    return [seen.pop(), *found[1:]]


def _with_following(shared: Shared, all_: int, cells: Sequence[int]) -> list[int]:
    """The sums of all cells, with those that follow from the cells in the axes."""
    found = list(cells)
    for column in shared.columns:
        for cell, linear in column.following:
            found[cell] = linear.constant * all_
            for axis, times in linear.factors:
                own = column.axes[axis]
                assert own is not None
                found[cell] += times * cells[own]
    return found


def remainders(found: Sequence[Sequence[int]], own: Sequence[int]) -> list[int]:
    """The least numbers with these residues modulo these primes.

    >>> remainders([[2, 3], [0, 1]], [5, 7])
    [17, 15]
    """
    modulus = prod(own)
    inverse = [pow(modulus // one % one, -1, one) for one in own]
    return [
        _sum_of([one * by % prime for one, by, prime in zip(some, inverse, own, strict=True)], own)[
            0
        ]
        % modulus
        for some in found
    ]


def _sum_of(above: Sequence[int], below: Sequence[int]) -> tuple[int, int]:
    """The sum of some fractions, by halves so that the numbers stay short for long."""
    if len(above) == 1:
        return above[0], below[0]
    look()
    half = len(above) // 2
    (a, b), (c, d) = _sum_of(above[:half], below[:half]), _sum_of(above[half:], below[half:])
    return a * d + c * b, b * d
