"""Swaps: may two people exchange their values without any view noticing? The swap equation, for
many pairs at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import NOTHING, Integers, Overlap
from tacit.families.overlaps.system import Flags

MOST_EFFECTS = 1 << 24  # numbers of effects that are kept; beyond, rows are compared each time
FULL = 1 << 62

Places = int | Integers | np.ndarray[Any, np.dtype[np.intp]]


def swap_equation(
    overlap: Overlap, class_1: Places, value_1: Places, class_2: Places, value_2: Places
) -> Flags:
    """Do people of two classes, with these values, put the same rows into every view if they
    exchange their values?

    The swap equation of Yao and others (Proposition 4): for every view the two rows that they put
    into it with (value_1, value_2) are those that they put into it with (value_2, value_1), as
    multisets. The arguments are numbers, or arrays of them that go together.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> views = overlap_of("xy", ["xy", "y"], [[0], [0], [0, 1]])
    >>> swap_equation(views, 0, 0, np.array([1, 2]), 1).tolist()
    [True, False]
    """
    kept_1, kept_2 = _rows(overlap, class_1, value_1), _rows(overlap, class_2, value_2)
    new_1, new_2 = _rows(overlap, class_1, value_2), _rows(overlap, class_2, value_1)
    same = (kept_1 == new_1) & (kept_2 == new_2) | (kept_1 == new_2) & (kept_2 == new_1)
    found: Flags = same.all(axis=-1)
    return found


def _rows(overlap: Overlap, class_: Places, value: Places) -> Integers:
    """What they put into each view: the views are the last axis."""
    classes, values = np.broadcast_arrays(np.asarray(class_), np.asarray(value))
    found: Integers = overlap.outputs[classes, :, values]
    return found


class Swaps:
    """The swap equation of one overlap, prepared.

    If a person's value changes from p to q, each view loses one row and gains another, or does not
    notice. Call that the effect of {p, q} on a class. Two people may exchange p and q exactly if
    the effect is the same for both: if a view notices for one of them, its multiset of rows stays
    the same only if both put the same row with p, and the same with q. So the effects are numbered,
    and the equation is an equality of two numbers.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> swaps = Swaps(overlap_of("xy", ["xy", "y"], [[0], [0], [0, 1]]))
    >>> swaps.equation(0, 0, np.array([1, 2]), 1).tolist()
    [True, False]
    """

    def __init__(self, overlap: Overlap) -> None:
        self.overlap = overlap
        classes, _, values = overlap.outputs.shape
        self._effects = effects_of(overlap) if classes * values**2 <= MOST_EFFECTS else None

    def equation(self, class_1: Places, value_1: Places, class_2: Places, value_2: Places) -> Flags:
        """May people of two classes exchange these values? Arguments as in `swap_equation`."""
        if self._effects is None:
            return swap_equation(self.overlap, class_1, value_1, class_2, value_2)
        found: Flags = (
            self._effects[class_1, value_1, value_2] == self._effects[class_2, value_1, value_2]
        )
        return found

    def kinds(self) -> Integers:
        """A number for each class, the same for two whose people may exchange any two values.

        They are those with the same output map, when views that show the same row of a person
        whatever their value are left out.
        """
        rows = self.overlap.outputs
        moved = np.where((rows == rows[:, :, :1]).all(axis=2, keepdims=True), NOTHING, rows)
        _, kinds = np.unique(moved.reshape(len(rows), -1), axis=0, return_inverse=True)
        found: Integers = kinds.reshape(-1)
        return found


def effects_of(overlap: Overlap) -> Integers:
    """The effect of each two values on each class, [class, value, value], as a number.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> effects_of(overlap_of("xy", ["xy"], [[0], [0], []]))[:, 0, 1].tolist()
    [1, 1, 0]
    """
    classes, views, values = overlap.outputs.shape
    found = np.zeros((classes, values, values), dtype=np.int64)
    # Few rows of a view differ from class to class: effects are numbered for those.
    patterns = [
        np.unique(overlap.outputs[:, view, :], axis=0, return_inverse=True) for view in range(views)
    ]
    for one in range(values):
        for other in range(one + 1, values):
            number, size = np.zeros(classes, dtype=np.int64), 1
            for rows, pattern in patterns:
                _, effect = np.unique(
                    _noticed(rows[:, one], rows[:, other]), axis=0, return_inverse=True
                )
                wide = int(effect.max(initial=0)) + 1
                if size > FULL // wide:
                    _, number = np.unique(number, return_inverse=True)
                    size = classes
                number = number * wide + effect.reshape(-1)[pattern.reshape(-1)]
                size *= wide
            found[:, one, other] = found[:, other, one] = number
    return found


def _noticed(one: Integers, other: Integers) -> Integers:
    """Two rows, or nothing where they are the same; nothing sorts first."""
    pairs = np.stack([one, other], axis=1)
    pairs[one == other] = -1
    return pairs
