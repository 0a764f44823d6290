"""What counting with arrays needs to know of its numbers, be they rounded
(`enclosing`) or residues (`residues`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tacit.families.overlaps.counting.axis_parts import Factor
from tacit.families.overlaps.overlap import Integers
from tacit.model.deadline import look

Array = np.ndarray[Any, np.dtype[np.float64]]
AT_ONCE = 2e9  # multiplications between two looks at the clock


@dataclass(frozen=True, slots=True, eq=False)
class ScaledNumbers:
    """An array of numbers, up to a common factor, with what is known of its errors.

    Rounded numbers are from 0 to 1, and a true one is between part * (1 - u)^roundings and
    part / (1 - u)^roundings + lost, with u = 2^-53. Residues are integers, and exact.
    """

    part: Array
    roundings: int = 0
    lost: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Marginal:
    """The weight of all tables by some detail of theirs, and how many
    people each of some cells has there.
    """

    weight: ScaledNumbers
    cells: tuple[tuple[int, Integers], ...]


class Arithmetic(Protocol):
    """A way to calculate with non-negative numbers or residues."""

    def dot(self, one: Array, other: Array, out: Array | None = None) -> Array:
        """The matrix product, perhaps into an array that is there."""

    def tidy(self, raw: Array) -> Array:
        """Sums of products, or products of two tidy numbers, made fit for further products;
        may change its argument.
        """

    def made(
        self, raw: Array, of: Sequence[ScaledNumbers], terms: int, roundings: int
    ) -> ScaledNumbers:
        """What was calculated from some numbers: each a sum of so many products of one of each,
        after so many roundings.
        """

    def weights(self, factor: Factor) -> ScaledNumbers:
        """The weights of a factor on its box."""


def multiplied(one: Array, other: Array, out: Array | None = None) -> Array:
    """The matrix product, some rows at a time where it takes long, and
    a look at the clock before each.

    >>> multiplied(np.eye(2), np.array([[1.0], [2.0]])).tolist()
    [[1.0], [2.0]]
    """
    look()
    rows = max(1, int(AT_ONCE / max(1, other.size)))
    if rows >= len(one):
        return np.asarray(np.matmul(one, other, out))
    found = np.empty((len(one), other.shape[1])) if out is None else out
    for start in range(0, len(one), rows):
        look()
        np.matmul(one[start : start + rows], other, found[start : start + rows])
    return found
