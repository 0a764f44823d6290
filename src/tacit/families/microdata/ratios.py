"""Ratios: one exact fraction for each group.
Integers compare them; floats only say where to begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers

    Mask = np.ndarray[Any, np.dtype[np.bool_]]

SAFE = 2**62  # products of integers up to this fit into 64 bits, and so do their differences


def room_for(numbers: Integers, largest: int) -> Any:
    """The same numbers, as Python's unlimited ones where `largest` would not fit into 64 bits.

    >>> room_for(np.array([1, 2]), 10**6).dtype.name, room_for(np.array([1, 2]), 10**30).dtype.name
    ('int64', 'object')
    """
    return numbers if largest <= SAFE else numbers.astype(object)


@dataclass(frozen=True, slots=True)
class Ratios:
    """A fraction for each group; `bottoms` are positive, and both may be unlimited integers.

    >>> shares = Ratios(np.array([1, 2, 3]), np.array([3, 4, 6]))
    >>> shares.greatest(), shares[1], shares.above(Fraction(1, 3)).tolist()
    (1, Fraction(1, 2), [False, True, True])
    """

    tops: Any
    bottoms: Any

    def __len__(self) -> int:
        return len(self.tops)

    def __getitem__(self, number: int) -> Fraction:
        return Fraction(int(self.tops[number]), int(self.bottoms[number]))

    def above(self, limit: Fraction) -> Mask:
        """Which are greater than a limit."""
        return np.asarray(self._signs(limit) > 0, dtype=np.bool_)

    def below(self, limit: Fraction) -> Mask:
        """Which are smaller than a limit."""
        return np.asarray(self._signs(limit) < 0, dtype=np.bool_)

    def greatest(self) -> int:
        """The first that no other is above."""
        return self._extreme(1)

    def least(self) -> int:
        """The first that no other is below."""
        return self._extreme(-1)

    def _extreme(self, sign: int) -> int:
        best = int(np.argmax(sign * self._floats()))
        while len(better := np.flatnonzero(self._signs(self[best]) == sign)):
            best = int(better[0])
        return int(np.flatnonzero(self._signs(self[best]) == 0)[0])

    def _floats(self) -> Any:
        try:
            return (self.tops / self.bottoms).astype(np.float64)
        except OverflowError:
            return np.zeros(len(self))

    def _signs(self, limit: Fraction) -> Any:
        """The sign of each fraction minus the limit, in integers."""
        left, right = limit.denominator, limit.numerator
        tops = room_for(self.tops, largest(self.tops) * left)
        bottoms = room_for(self.bottoms, largest(self.bottoms) * abs(right))
        more = tops * left, bottoms * right
        return (more[0] > more[1]).astype(np.int8) - (more[0] < more[1]).astype(np.int8)


def largest(numbers: Any) -> int:
    """The largest absolute value, 0 where there is none."""
    return max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))
