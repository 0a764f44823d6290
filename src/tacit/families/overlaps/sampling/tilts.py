"""Tilts: the laws of the columns of a part, such that all classes
have the right size on average.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.families.overlaps.counting.entropy import fitted
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.sampling.column_states import (
    CannotSample,
    PathLattice,
    SampledColumn,
    lattice_of,
)
from tacit.families.overlaps.sampling.urns import Floats
from tacit.families.overlaps.sampling.walks import PointLaw
from tacit.families.overlaps.system import OpenPart

ROUNDS = 12  # in which the tilt is improved
CLOSE = 1e-3  # how far, in squared standard deviations, the sizes may be off
LARGEST = 60.0  # what a tilt's logarithm may be
MOST_POWER = 500  # of two, in the mean of a cell


def tilted(part: OpenPart, columns: Sequence[SampledColumn]) -> tuple[PointLaw, ...]:
    """The laws of the columns of a part, tilted so that all classes have the right size on average.

    With any tilt the accepted tables are uniform. With this one their share is largest: the
    probability that the classes are right is (number of tables) * prod tilt**size / prod
    normalizer, and its logarithm is concave in the logarithms of the tilts. Maximum entropy finds
    them nearly, and a few of Newton's steps the rest.

    The mean of a cell is a factor of its class times powers of two for its rows. Those are the same
    for all points of a column and change nothing but the size of numbers; and because they are
    powers of two, nothing is rounded.
    """
    lattices = _lattices(part, columns)
    sizes = np.array([one.total for one in part.classes], dtype=np.float64)
    classes = members_of(part)
    rows = np.zeros((len(part.rows), len(part.place)))
    for number, row in enumerate(part.rows):
        rows[number, row.cells] = 1.0
    first = fitted(part)
    most = MOST_POWER // max(int(rows.sum(axis=0).max(initial=1.0)), 1)
    power = np.clip(np.rint(first.rows / np.log(2)), -most, most).astype(np.int64) @ rows.astype(
        np.int64
    )
    tilt = first.classes
    best: tuple[float, tuple[PointLaw, ...]] | None = None
    for _ in range(ROUNDS):
        means = np.ldexp(np.exp(tilt)[part.class_of], power)
        laws = tuple(PointLaw(lattice, means[lattice.column.cells]) for lattice in lattices)
        average = np.zeros(len(part.place))
        for law in laws:
            average[law.lattice.column.cells] = law.averages
        if not np.isfinite(average).all():
            break
        wrong = sizes - classes @ average
        step = np.linalg.pinv(_spread(classes, rows, average), rcond=1e-7, hermitian=True) @ wrong
        off = float(wrong @ step)
        if best is None or off < best[0]:
            best = off, laws
        if off < CLOSE:
            break
        tilt = np.clip(tilt + np.clip(step, -1.0, 1.0), -LARGEST, LARGEST)
    if best is None:
        raise CannotSample("the weights of a column are too small to be told from nothing")
    return best[1]


def _lattices(part: OpenPart, columns: Sequence[SampledColumn]) -> list[PathLattice]:
    """The points of all columns; the classes are taken in about the same order in each."""
    found: list[PathLattice] = []
    rank: Integers | None = None
    for column in sorted(columns, key=lambda one: -len(one.cells)):
        classes = part.class_of[column.cells]
        like = (
            np.argsort(rank[classes]).tolist()
            if rank is not None and is_simple(part, column)
            else None
        )
        found.append(lattice_of(column, like=like))
        if rank is None and is_simple(part, column):
            rank = np.zeros(len(part.classes), dtype=np.int64)
            rank[classes[[layer.cell for layer in found[-1].layers]]] = np.arange(len(classes))
    return found


def _spread(classes: Floats, rows: Floats, average: Floats) -> Floats:
    """About the covariance of the sizes of classes: that of Poisson variables, given the rows."""
    across = (classes * average) @ rows.T
    among = np.linalg.pinv((rows * average) @ rows.T, rcond=1e-9, hermitian=True)
    found: Floats = np.diag(classes @ average) - across @ among @ across.T
    return found


def members_of(part: OpenPart) -> Floats:
    """Which cells each class has: one row for a class, 1 for a cell of it."""
    found = np.zeros((len(part.classes), len(part.place)))
    found[part.class_of, np.arange(len(part.place))] = 1.0
    return found


def is_simple(part: OpenPart, column: SampledColumn) -> bool:
    """Has the column one cell of each class at most?"""
    return len(np.unique(part.class_of[column.cells])) == len(column.cells)
