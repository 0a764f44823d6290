"""Overlap: people in classes, what each value of theirs would put into
each view, and what the views show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]
NOTHING = 0  # the row of a person whom a view leaves out


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """Views of one table, as an adversary sees them who knows everybody's public columns.

    People with the same *output map* are one class: whatever value they have, each view would show
    the same row. `outputs[c, i, v]` is the number of the row that a person of class c puts into
    view i if their value is `values[v]`; row 0 is none, and rows of different views have different
    numbers. `shown[r]` is how many times row r stands in the answers, `sizes[c]` how many people
    class c has. `current[c, v]` is how many of them have which value in the data, where the data
    are known.

    >>> two = overlap_of(["x", "y"], [["x", "y"], ["x", "y"]], [[0], [0, 1], [1]])
    >>> two.sizes.tolist(), two.outputs[1].tolist(), two.shown.tolist()
    ([1, 1, 1], [[1, 2], [3, 4]], [0, 1, 1, 1, 1])
    """

    values: tuple[Any, ...]
    views: tuple[str, ...]
    outputs: Integers
    sizes: Integers
    shown: Integers
    current: Integers | None = None

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.sizes.sum())

    @property
    def is_covered(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which classes some view could show."""
        found: np.ndarray[Any, np.dtype[np.bool_]] = (self.outputs != NOTHING).any(axis=(1, 2))
        return found


def overlap_of(
    values: Sequence[Any], answers: Sequence[Sequence[Any]], members: Sequence[Sequence[int]]
) -> Overlap:
    """Views that show the private value of some people each:
    `members[p]` are the views that show person p.

    Each person is a class of their own here; it is how a small example is written down.
    """
    outputs = np.zeros((len(members), len(answers), len(values)), dtype=np.int64)
    shown = [0]
    for view, answer in enumerate(answers):
        for at, value in enumerate(values):
            number = len(shown)
            shown.append(sum(one == value for one in answer))
            for person, seen in enumerate(members):
                if view in seen:
                    outputs[person, view, at] = number
    names = tuple(f"view {number}" for number in range(1, len(answers) + 1))
    return Overlap(
        tuple(values),
        names,
        outputs,
        np.ones(len(members), dtype=np.int64),
        np.array(shown, dtype=np.int64),
    )


def merged(overlap: Overlap) -> Overlap:
    """The same with classes of equal output maps made one.

    >>> merged(overlap_of(["x", "y"], [["x", "x", "y"]], [[0], [0], [0]])).sizes.tolist()
    [3]
    """
    if not overlap.outputs.size:
        return overlap
    flat = overlap.outputs.reshape(len(overlap.sizes), -1)
    _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    sizes = np.zeros(len(first), dtype=np.int64)
    np.add.at(sizes, inverse, overlap.sizes)
    current = None
    if overlap.current is not None:
        current = np.zeros((len(first), len(overlap.values)), dtype=np.int64)
        np.add.at(current, inverse, overlap.current)
    return Overlap(
        overlap.values, overlap.views, overlap.outputs[first], sizes, overlap.shown, current
    )
