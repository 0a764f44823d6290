"""What a way of counting finds: how many people each cell has on
average, and how many tables there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tacit.model.deadline import look

MOST_BYTES = 2 << 30  # what a count may hold in memory
MOST_STEPS = 4e11  # multiplications after which a count is not begun


@dataclass(frozen=True, slots=True)
class Expected:
    """The average number of people in each cell of a part over all its tables:
    between `low` and `high`, equal where exact.

    `tables` is how many tables the part has, where that was counted.
    """

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    tables: int | None = None

    @property
    def is_exact(self) -> bool:
        """Were integers counted?"""
        return self.tables is not None


def exactly(totals: Sequence[int], tables: int) -> Expected:
    """The averages, from the number of people in each cell summed over all tables.

    >>> exactly([3, 6], 9).low
    (Fraction(1, 3), Fraction(2, 3))
    """
    found = []
    for total in totals:
        look()  # long numbers have long fractions
        found.append(Fraction(total, tables))
    return Expected(tuple(found), tuple(found), tables)


@dataclass(frozen=True, slots=True, order=True)
class CountingCost:
    """What a count would take: multiplications, and bytes held at once."""

    steps: float
    bytes: float

    @property
    def is_affordable(self) -> bool:
        """Is it worth beginning?"""
        return self.steps <= MOST_STEPS and self.bytes <= MOST_BYTES
