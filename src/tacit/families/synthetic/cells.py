"""Cells: where the people of a group may be, each with the weight of its prior and the chance to
be kept when it is empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]
KEEP_UNITS = (
    10**9
)  # chances to be kept are whole numbers of this part, for the promise and for the draw alike
MOST_WEIGHT = 2**40  # of all cells together: what the urn counts in fits 63 bits


@dataclass(frozen=True, slots=True)
class Kind:
    """Cells that are alike: how many, their prior weight, and the
    chance that an empty one is kept.
    """

    count: int
    weight: int = 1
    keep: Fraction = Fraction(1)


@dataclass(frozen=True)
class DomainCells:
    """All cells of a group by kind: as much of a domain as a promise depends on.

    >>> DomainCells.alike(10).number, DomainCells((Kind(2, 3), Kind(5, 1))).weight
    (10, 11)
    """

    kinds: tuple[Kind, ...]

    @classmethod
    def alike(cls, number: int) -> DomainCells:
        """So many cells with a uniform prior, all kept."""
        return cls((Kind(number),))

    @cached_property
    def number(self) -> int:
        """How many cells there are."""
        return sum(kind.count for kind in self.kinds)

    @cached_property
    def weight(self) -> int:
        """The prior weight of all cells."""
        return sum(kind.count * kind.weight for kind in self.kinds)

    @cached_property
    def expected(self) -> Fraction:
        """The prior weight that is kept on average, where nobody is in any cell."""
        return sum((kind.count * kind.weight * kind.keep for kind in self.kinds), Fraction(0))

    @cached_property
    def least(self) -> tuple[int, int]:
        """The two least weights; a cell that is alone stands for both."""
        weights = sorted({kind.weight: 0 for kind in self.kinds})
        many = sum(kind.count for kind in self.kinds if kind.weight == weights[0])
        return weights[0], weights[0] if many > 1 or len(weights) == 1 else weights[1]

    @cached_property
    def shrinks(self) -> bool:
        """May empty cells be left out?"""
        return any(kind.keep < 1 for kind in self.kinds)

    @cached_property
    def least_keep(self) -> Fraction:
        """The least chance of an empty cell to be kept."""
        return min(kind.keep for kind in self.kinds)


@dataclass(frozen=True)
class Domain:
    """The cells of one group, to draw from:
    places in the release's list of values, with weights and chances.

    None stands for what is the same for all: every value of the list (`size` of them), weight 1,
    always kept. `keeps` counts in parts of KEEP_UNITS.
    """

    size: int
    places: Integers | None = None
    weights: Integers | None = None
    keeps: Integers | None = None

    @cached_property
    def cells(self) -> DomainCells:
        """The cells by kind."""
        if self.weights is None and self.keeps is None:
            return DomainCells.alike(self.size)
        if (
            self.weights is None and self.keeps is not None
        ):  # many groups with chances of their own: the quick way counts
            found, counts = np.unique(self.keeps, return_counts=True)
            return DomainCells(tuple(kinds(np.stack([np.ones_like(found), found]), counts)))
        weights = np.ones(self.size, np.int64) if self.weights is None else self.weights
        keeps = np.full(self.size, KEEP_UNITS) if self.keeps is None else self.keeps
        found, counts = np.unique(np.stack([weights, keeps]), axis=1, return_counts=True)
        return DomainCells(tuple(kinds(found, counts)))


def kinds(found: Integers, counts: Integers) -> Iterable[Kind]:
    """Kinds of cells from their distinct weights and chances."""
    for (weight, keep), count in zip(found.T.tolist(), counts.tolist(), strict=True):
        yield Kind(count, weight, Fraction(keep, KEEP_UNITS))
