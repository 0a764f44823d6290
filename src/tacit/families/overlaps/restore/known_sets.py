"""Known sets: people whose values together are known, whoever of them has which.
If one is not diverse, no further view helps.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.families.overlaps.overlap import NOTHING, Integers
from tacit.families.overlaps.restore.disclosed_views import DisclosedViews, Flags
from tacit.model.deadline import look

MOST_SETS = 400


@dataclass(frozen=True, slots=True)
class Stuck:
    """Why no further view helps: `people` of whom `count` have the value numbered `value` in every
    table that fits.

    Where `possible` is set, it is somebody who can have only so few values. Without people it is
    that the sums of all views together leave no shares of at most gamma for everybody.
    """

    people: tuple[int, ...] = ()
    value: int | None = None
    count: int = 0
    possible: int | None = None


def known_classes(out: DisclosedViews) -> Flags:
    """Sets of classes, one in a row, whose values together are shown by a view."""
    found: dict[bytes, Flags] = {}
    for view in range(out.overlap.outputs.shape[1]):
        outputs = out.overlap.outputs[:, view]
        ordered = np.sort(outputs, axis=1)
        shows = (ordered[:, 0] != NOTHING) & (np.diff(ordered, axis=1) != 0).all(axis=1)
        for first in np.unique(outputs[shows], axis=0):
            same: Flags = (outputs == first).all(axis=1)
            found.setdefault(same.tobytes(), same)
    return np.array(list(found.values()), dtype=bool).reshape(len(found), len(out.overlap.sizes))


def known_views(out: DisclosedViews) -> list[Flags]:
    """The people of each known set of classes, the larger sets first."""
    sets = known_classes(out)
    padded = np.hstack(
        [sets, np.zeros((len(sets), 1), dtype=bool)]
    )  # the last place is that of people in no view
    order = np.argsort(-(sets @ out.overlap.sizes), kind="stable")
    return [padded[one][out.class_of] for one in order.tolist()]


def known_set(out: DisclosedViews, classes: Integers) -> Stuck | None:
    """The smallest set among some classes, of those that follow from the views by taking one
    from another, that is not diverse.
    """
    best: Stuck | None = None
    for value in range(out.overlap.outputs.shape[2]):
        known: dict[frozenset[int], int] = {}
        column = out.overlap.outputs[classes, :, value]
        others = np.delete(out.overlap.outputs[classes], value, axis=2)
        for row in np.unique(column[column != NOTHING]).tolist():
            if not (others == row).any():
                members = frozenset(classes[(column == row).any(axis=1)].tolist())
                known[members] = int(out.true_rows[sorted(members), value].sum())
        for members, count in closed(known).items():
            size = int(out.overlap.sizes[sorted(members)].sum())
            if count > out.gamma * size and (best is None or size < len(best.people)):
                best = Stuck(
                    tuple(np.flatnonzero(np.isin(out.class_of, sorted(members))).tolist()),
                    value,
                    count,
                )
    return best


def closed(known: dict[frozenset[int], int], most: int = MOST_SETS) -> dict[frozenset[int], int]:
    """Sets with their counts, and what is left when one is taken
    from a larger one, again and again.

    >>> found = closed({frozenset("abc"): 2, frozenset("ab"): 1, frozenset("a"): 1})
    >>> found[frozenset("c")], found[frozenset("b")], found[frozenset("bc")]
    (1, 0, 1)
    """
    found = dict(known)
    waiting = list(found)
    while waiting and len(found) < most:
        look()
        one = waiting.pop()
        for other in list(found):
            small, large = (one, other) if one < other else (other, one)
            if small < large and large - small not in found:
                found[large - small] = found[large] - found[small]
                waiting.append(large - small)
    return found


def independent(known: Flags) -> list[int]:
    """Which columns have to be known one by one, so that with the known sums of rows all columns
    are: as few as possible.

    >>> independent(np.array([[True, True, False], [False, True, True]]))
    [2]
    """
    rows = [[Fraction(int(cell)) for cell in row] for row in known.tolist()]
    pivots: list[int] = []
    for column in range(known.shape[1]):
        at = len(pivots)
        pivot = next((row for row in range(at, len(rows)) if rows[row][column]), None)
        if pivot is None:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(at + 1, len(rows)):
            if rows[row][column]:
                factor = rows[row][column] / rows[at][column]
                rows[row] = [
                    cell - factor * other for cell, other in zip(rows[row], rows[at], strict=True)
                ]
        pivots.append(column)
    return [column for column in range(known.shape[1]) if column not in pivots]
