"""Randomness: whole numbers and coin tosses with exactly the chance they should have, from the
operating system or from a seed.

No floating-point number takes part in a draw: its rounding would show in the output, and what the
proofs promise is about the exact law. Uniform numbers come from 64 random bits with the few that
would favour small numbers drawn again. A coin whose chance is no fraction compares random bits with
bounds of the chance, and more bits with closer bounds while they do not decide.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.synthetic.cells import KEEP_UNITS
from tacit.families.synthetic.occupied_cells import Integers
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.probability_bounds import ball, module

if TYPE_CHECKING:
    from flint import arb

Booleans = np.ndarray[Any, np.dtype[np.bool_]]
Numbers = np.ndarray[
    Any, np.dtype[Any]
]  # of 64 bits, or Python's integers (dtype object) where they are larger
BLOCK = 1 << 18  # numbers drawn at once: their words stay in the processor's cache
TOSS = 16  # random bits of a coin, of which one toss in 30,000 needs more
MORE = 64  # bits it then takes at a time
GUARD = 64  # bits of precision beyond those asked for
# binary digits of a waiting time stop where few (e^-8) go on beyond;
# for those, digits are drawn anew
ENOUGH = 8
LARGEST = 1 << 61  # counts from here on are one: sums of two and a number of people fit 63 bits


@dataclass(frozen=True)
class Randomness:
    """Where random bytes come from, and the exact draws made of them.

    Bytes are read when they are needed and never kept:
    a process that forks must not share its future draws with its child.

    >>> one, other = Randomness.seeded(7), Randomness.seeded(7)
    >>> one.below(10, 5).tolist() == other.below(10, 5).tolist()
    True
    """

    read: Callable[[int], bytes]

    @classmethod
    def system(cls) -> Randomness:
        """The operating system's generator: the only one that a release may use."""
        return cls(os.urandom)

    @classmethod
    def seeded(cls, seed: int, name: str = "") -> Randomness:
        """Always the same draws: to repeat an experiment.
        Whoever knows the seed can undo the noise.

        `name` says what is drawn, for example a group: other names give other draws.
        """
        return cls(ByteStream(f"{seed} {name}".encode()).read)

    # -- whole numbers -----------------------------------------------------------------------------

    def below(self, limit: int, size: int) -> Numbers:
        """So many numbers, each uniform on 0 to limit - 1."""
        return self.below_each(np.broadcast_to(numbers([limit]), size))

    def below_each(self, limits: Numbers) -> Numbers:
        """A number for each limit, uniform on 0 to limit - 1;
        Python's integers where the limits are.
        """
        if len(limits) and limits.min() < 1:
            raise ValueError("nothing is below 1: every limit must be at least 1")
        if limits.dtype == object:
            return np.array([self._one_below(limit) for limit in limits], dtype=object)
        found = np.empty(len(limits), np.int64)
        for block in blocks(len(limits)):
            found[block] = self._few_below(limits[block].astype(np.uint64))
        return found

    def _few_below(self, limits: Numbers) -> Numbers:
        found, fair = folded(self._words(len(limits), "<u8"), limits)
        while not fair.all():
            again = np.flatnonzero(~fair)
            found[again], fair[again] = folded(self._words(len(again), "<u8"), limits[again])
        return found

    def _one_below(self, limit: int) -> int:
        bits = (limit - 1).bit_length()
        while True:
            found = int.from_bytes(self.read(-(-bits // 8)), "big") >> (-bits % 8)
            if found < limit:
                return found

    # -- coins -------------------------------------------------------------------------------------

    def chances(self, keeps: Integers) -> Booleans:
        """True with a chance of keep in KEEP_UNITS, for each."""
        found = np.empty(len(keeps), np.bool_)
        for block in blocks(len(keeps)):
            # The first digits of a uniform number against those of the chance, in base 2^TOSS;
            # equal ones leave it to the rest.
            digits, rest = np.divmod(keeps[block] << TOSS, KEEP_UNITS)
            words = self._words(len(digits), "<u2")
            found[block] = words < digits
            equal = np.flatnonzero((words == digits) & (rest > 0))
            if len(equal):
                found[block.start + equal] = self.chances(rest[equal])
        return found

    def coins(self, chance: Chance, size: int) -> Booleans:
        """So many tosses that are true with this chance."""
        low, high = chance.between(TOSS)
        words = self._words(size, "<u2")
        found = words < low
        for place in np.flatnonzero((words >= low) & (words < high)).tolist():
            found[place] = self._decided(chance, int(words[place]))
        return found

    def _decided(self, chance: Chance, word: int) -> bool:
        bits = TOSS
        while True:
            bits += MORE
            word = word << MORE | int.from_bytes(self.read(MORE // 8), "big")
            low, high = chance.between(bits)
            if word < low or word >= high:
                return word < low

    # -- counts ------------------------------------------------------------------------------------

    def geometric(self, epsilon: Epsilon, size: int) -> Integers:
        """Two-sided geometric noise: z has a chance proportional to e^(-|z| epsilon/2).

        The difference of two waiting times that go on with e^(-epsilon/2).
        Noise beyond 2^61 counts as 2^61.
        """
        waiting = WaitingTime(epsilon)
        return self.waits(waiting, size) - self.waits(waiting, size)

    def waits(self, waiting: WaitingTime, size: int, most: int = LARGEST) -> Integers:
        """How often something goes on before it stops, so many times;
        `most` stands for that and more.

        r^w is the product of r^(2^b) over the binary digits b of w. So the digits of a waiting time
        are independent coins, and what lies beyond a power of two is a waiting time again.
        """
        found = np.zeros(size, np.int64)
        digits = waiting.digits(most)
        for block in blocks(size):
            part = found[block]
            for digit in range(digits):
                part += (
                    self.coins(Chance(waiting, digit, "digit"), len(part)).astype(np.int64) << digit
                )
            longer = np.arange(len(part))
            while len(longer):
                longer = longer[
                    self.coins(Chance(waiting, digits, "beyond"), len(longer))
                    & (part[longer] < most)
                ]
                part[longer] += 1 << digits
        return np.minimum(found, most)

    def reached(self, epsilon: Epsilon, threshold: int, number: int) -> Integers:
        """Which of so many numbers 0 with two-sided geometric noise reach a threshold of at
        least 1; draws only those that do.
        """
        waiting, last, size, found = WaitingTime(epsilon, threshold), -1, 64, []
        while last < number:
            # A wait of `number` ends beyond the last one, and so do all that follow.
            places = last + np.cumsum(self.waits(waiting, min(size, BLOCK), number) + 1)
            found.append(places[places < number])
            last, size = int(places[-1]), size * 2
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _words(self, size: int, kind: str) -> Numbers:
        return np.frombuffer(self.read(size * np.dtype(kind).itemsize), kind)


@dataclass
class ByteStream:
    """Bytes that follow from a key: the extendable hash SHAKE128 of the
    key and of how often it was asked.
    """

    key: bytes
    asked: int = 0

    def read(self, size: int) -> bytes:
        """The next bytes."""
        self.asked += 1
        return hashlib.shake_128(
            hashlib.sha256(self.key).digest() + self.asked.to_bytes(8, "big")
        ).digest(size)


@dataclass(frozen=True, slots=True)
class WaitingTime:
    """A geometric law: something goes on with a chance of e^-rate, again and again, until it stops.

    The rate is epsilon/2, that of the noise; or, with a threshold, going on means that noise does
    not reach it: e^-rate = 1 - r^threshold/(1 + r), r = e^(-epsilon/2).
    """

    epsilon: Epsilon
    threshold: int | None = None

    def rate(self) -> arb:
        """The rate, as closely as the precision of ball arithmetic is set."""
        if self.epsilon.argument is not None:
            noise = ball(self.epsilon.argument).log() / 2
        else:
            noise = ball((self.epsilon.value or Fraction(0)) / 2)
        if self.threshold is None:
            return noise
        reached = (-noise * self.threshold).exp() / (1 + (-noise).exp())
        return -(-reached).log1p()

    def digits(self, most: int) -> int:
        """How many binary digits of a waiting time are drawn:
        few go on beyond, or they need not be told apart.
        """
        with module().ctx.workprec(GUARD):
            rate = float(self.rate())
        return next(
            digits for digits in range(64) if rate * 2**digits >= ENOUGH or 1 << digits >= most
        )


@dataclass(frozen=True, slots=True)
class Chance:
    """That the binary digit 2^b of a waiting time is 1;
    or that it goes on to 2^b at least (`beyond`).
    """

    waiting: WaitingTime
    digit: int
    of: str

    def value(self) -> arb:
        """The chance, as closely as the precision of ball arithmetic is set."""
        on = (-self.waiting.rate() * (1 << self.digit)).exp()
        return on if self.of == "beyond" else on / (1 + on)

    def between(self, bits: int) -> tuple[int, int]:
        """Two whole numbers around the chance times 2^bits.

        >>> Chance(WaitingTime(Epsilon.read("ln(9)")), 0, "digit").between(8)
        (63, 65)
        """
        return enclosed(self, bits)


@lru_cache(maxsize=4096)
def enclosed(chance: Chance, bits: int) -> tuple[int, int]:
    """Whole numbers below and above a chance times 2^bits."""
    with module().ctx.workprec(bits + GUARD):
        scaled = chance.value() * (1 << bits)
        return max(rounded_down(scaled), 0), min(-rounded_down(-scaled), 1 << bits)


def rounded_down(number: arb) -> int:
    """A whole number that is not more than any in a ball, whatever the precision."""
    mantissa, exponent = (int(part) for part in number.lower().man_exp())
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent


def folded(words: Numbers, limits: Numbers) -> tuple[Numbers, Booleans]:
    """Words modulo limits, and which are fair: the others lie in the last, incomplete run of 0 to
    limit - 1.

    >>> found, fair = folded(np.array([7, 254, 255], np.uint8), np.array([5, 5, 5], np.uint8))
    >>> found.tolist(), fair.tolist()
    ([2, 4, 0], [True, True, False])
    """
    found = words % limits
    # A run that starts after 2^bits - limit does not end before 2^bits;
    # unsigned numbers wrap around to say so.
    return found, words - found <= -limits


def numbers(values: Any) -> Numbers:
    """Whole numbers in 64 bits where all of them fit, else as Python's own.

    >>> numbers([1, 2**62]).dtype.name, numbers([1, 2**63]).dtype.name
    ('int64', 'object')
    """
    return np.array(values, dtype=object if max(values, default=0) >= 2**63 else np.int64)


def blocks(size: int) -> Iterator[slice]:
    """Slices that together are all of so many."""
    return (slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK))
