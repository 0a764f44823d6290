"""Occupied cells: how many people are in which cells; of a group's true people, or of the
synthetic ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class OccupiedCells:
    """The occupied cells of a group, by their place in its domain,
    sorted, and how many people each holds.

    >>> OccupiedCells.of([4, 1, 4]).counts.tolist()
    [1, 2]
    """

    places: Integers
    counts: Integers

    @classmethod
    def of(cls, people: Any) -> OccupiedCells:
        """From the place of every single person."""
        places, counts = np.unique(np.asarray(people, dtype=np.int64), return_counts=True)
        return cls(places, counts.astype(np.int64))

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.counts.sum())
