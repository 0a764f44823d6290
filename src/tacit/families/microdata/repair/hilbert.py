"""The Hilbert curve: a line through all cells of a grid on which
neighbours are neighbours in space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers

BITS = 62  # of a position on the curve
FINEST = 16  # bits of one axis: finer differences do not change who is near whom


def hilbert_order(places: Integers, sizes: Sequence[int], zone: Integers | None = None) -> Integers:
    """The order of points along the Hilbert curve, by zones where they are given.

    `places` has a row for each axis, `sizes` how many places an axis has; axes are stretched to the
    same length. Points in one cell of the grid follow in the order of their places. Of more than 62
    axes the first 62 make the curve.

    >>> hilbert_order(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), [2, 2]).tolist()
    [0, 1, 3, 2]
    """
    axes = min(len(places), BITS)
    bits = (
        min(FINEST, BITS // max(1, axes), max((size - 1).bit_length() for size in sizes) or 1)
        if axes
        else 0
    )
    top = (1 << bits) - 1
    grid = np.array(
        [place * top // max(1, size - 1) for place, size in zip(places[:axes], sizes, strict=False)]
    )
    position = hilbert_positions(grid, bits) if axes else np.zeros(places.shape[1], dtype=np.int64)
    keys = [*places[::-1], position]
    order: Integers = np.lexsort(keys if zone is None else [*keys, zone])
    return order


def hilbert_positions(grid: Integers, bits: int) -> Integers:
    """Where points of a grid with 2**bits cells on each axis stand on the Hilbert curve.

    Skilling's transform (2004): undo the excess work of the axes, then encode by a Gray code.
    Every step is done for all points at once.

    >>> hilbert_positions(np.array([[0, 0, 1, 1], [0, 1, 1, 0]]), 1).tolist()
    [0, 1, 2, 3]
    """
    axes = [axis.copy() for axis in grid]
    for bit in range(bits - 1, 0, -1):
        low = (1 << bit) - 1
        for number, axis in enumerate(axes):
            inverted = (axis >> bit & 1).astype(bool)
            swapped = np.where(inverted, 0, (axes[0] ^ axis) & low)
            axes[0] = np.where(inverted, axes[0] ^ low, axes[0] ^ swapped)
            if number:
                axes[number] = axis ^ swapped
    for number in range(1, len(axes)):
        axes[number] = axes[number] ^ axes[number - 1]
    turn = np.zeros_like(axes[0])
    for bit in range(bits - 1, 0, -1):
        turn ^= np.where(axes[-1] >> bit & 1, (1 << bit) - 1, 0)
    position: Integers = np.zeros_like(axes[0])
    for bit in range(bits - 1, -1, -1):
        for axis in axes:
            position = position << 1 | ((axis ^ turn) >> bit & 1)
    return position
