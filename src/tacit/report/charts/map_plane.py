"""The plane of a map: a window of the world around nearly all people, in pixels (equirectangular
at its middle latitude).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.families.synthetic.utility.flows import Floats, Integers

WIDTH, LEAST_HEIGHT, MOST_HEIGHT = 440, 220, 440
MARGIN = 10
HEXAGON = 6.5  # pixels from the middle of a hexagon to a corner
OUTSIDE = 0.005  # of the people may be outside the window, on each of its four sides


@dataclass(frozen=True, slots=True)
class Plane:
    """A window of the world in pixels."""

    west: float
    north: float
    scale: float  # pixels of a degree of latitude
    narrow: float  # how much shorter a degree of longitude is
    height: int

    @classmethod
    def around(cls, latitude: Floats, longitude: Floats, weights: Integers) -> Plane:
        """The window that holds nearly all people, with some room around them."""
        south, north = ends(latitude, weights)
        west, east = ends(longitude, weights)
        narrow = max(0.05, math.cos(math.radians((south + north) / 2)))
        across, up = max((east - west) * narrow, 0.005), max(north - south, 0.005)
        scale = min((WIDTH - 2 * MARGIN) / across, (MOST_HEIGHT - 2 * MARGIN) / up)
        height = int(max(LEAST_HEIGHT, min(MOST_HEIGHT, up * scale + 2 * MARGIN)))
        middle = (west + east) / 2, (south + north) / 2
        return cls(
            middle[0] - WIDTH / 2 / scale / narrow,
            middle[1] + height / 2 / scale,
            scale,
            narrow,
            height,
        )

    def pixels(self, latitude: Floats, longitude: Floats) -> tuple[Floats, Floats]:
        """Where places come to stand."""
        return (longitude - self.west) * self.scale * self.narrow, (
            self.north - latitude
        ) * self.scale

    def holds(self, x: Floats, y: Floats) -> Any:
        """Which pixels are inside the window, with room for a mark around them."""
        return (
            (x >= HEXAGON) & (x <= WIDTH - HEXAGON) & (y >= HEXAGON) & (y <= self.height - HEXAGON)
        )


def ends(degrees: Floats, weights: Integers) -> tuple[float, float]:
    """The range of some degrees without the few people at either end, with an eighth of it as room,
    inside the places that are known.

    >>> ends(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 1]))
    (1.0, 3.0)
    """
    some = np.flatnonzero(weights)
    order = some[np.argsort(degrees[some], kind="stable")]
    running = np.cumsum(weights[order])
    out = OUTSIDE * float(running[-1])
    low, high = (
        degrees[order[np.searchsorted(running, out, side="right")]],
        degrees[order[np.searchsorted(running, running[-1] - out)]],
    )
    room = (high - low) / 8
    return float(max(low - room, degrees.min())), float(min(high + room, degrees.max()))


def unrolled(longitude: Floats) -> Floats:
    """Longitudes that do not jump where the world is cut: the cut moves into the widest gap.

    >>> unrolled(np.array([179.0, -179.0, 178.0])).tolist()
    [179.0, 181.0, 178.0]
    """
    known = longitude[~np.isnan(longitude)]
    if not len(known) or known.max() - known.min() <= 180:
        return longitude
    ordered = np.sort(np.mod(known, 360))
    gaps = np.diff(np.concatenate([ordered, ordered[:1] + 360]))
    first = ordered[(int(gaps.argmax()) + 1) % len(ordered)]
    return np.asarray(np.mod(longitude - first, 360) + first)
