"""Outlines of areas on a map: in pixels, cut off at the window, with
as few corners as the page asks for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.families.synthetic.utility.flows import Floats
from tacit.report.charts.geojson import Areas, Ring
from tacit.report.charts.map_plane import WIDTH, Plane

MOST_POINTS = 8_000  # corners of all areas


def corners_of(
    areas: Areas, names: Sequence[str], latitude: Floats, longitude: Floats
) -> tuple[Floats, Floats]:
    """The south-western and north-eastern corners of all values:
    of their areas, or their places themselves.
    """
    low, high = np.stack([latitude, longitude]), np.stack([latitude, longitude])
    for place, name in enumerate(names):
        for polygon in areas.get(name, ()):
            ring = turned(polygon[0], longitude[place])[:, ::-1]
            low[:, place] = np.minimum(low[:, place], ring.min(axis=0))
            high[:, place] = np.maximum(high[:, place], ring.max(axis=0))
    both = np.concatenate([low, high], axis=1)
    return both[0], both[1]


def turned(ring: Ring, longitude: float) -> Ring:
    """A ring on the turn of the world that a longitude is on."""
    return np.asarray(ring + np.array([360.0 * np.round((longitude - ring[0, 0]) / 360), 0.0]))


def fitted(plane: Plane, areas: Sequence[Sequence[Sequence[Ring]]]) -> list[list[list[Ring]]]:
    """Areas in pixels, with as few corners as the size of the page asks for;
    what is outside the window is left out.
    """
    inside = [
        [cut for polygon in area if (cut := in_window(plane, in_pixels(plane, polygon)))]
        for area in areas
    ]
    found: list[list[list[Ring]]] = []
    for apart in (0.7, 1.0, 1.5, 2.5, 4.0, 6.0):
        found = [[simplified(polygon, apart) for polygon in area] for area in inside]
        if sum(len(ring) for area in found for polygon in area for ring in polygon) <= MOST_POINTS:
            break
    return found


def in_pixels(plane: Plane, polygon: Sequence[Ring]) -> list[Ring]:
    """An outline and its holes on the plane;
    the outline runs one way and holes the other, so that they stay empty.
    """
    found = []
    for place, ring in enumerate(polygon):
        x, y = plane.pixels(
            *turned(ring, plane.west + WIDTH / 2 / plane.scale / plane.narrow).T[::-1]
        )
        corners = np.stack([x, y], axis=1)
        area = float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
        found.append(corners[::-1] if (area > 0) == (place > 0) else corners)
    return found


def in_window(plane: Plane, polygon: Sequence[Ring]) -> list[Ring]:
    """An outline and its holes, cut off at the window's edges; nothing where it is outside."""
    found = []
    for place, ring in enumerate(polygon):
        for axis, end, sign in (
            (0, 0.0, 1),
            (0, float(WIDTH), -1),
            (1, 0.0, 1),
            (1, float(plane.height), -1),
        ):
            ring = cut_off(ring, axis, end, sign)
        if len(ring) > 2:
            found.append(ring)
        elif not place:
            return []
    return found


def cut_off(ring: Ring, axis: int, end: float, sign: int) -> Ring:
    """A ring without what is beyond a line (Sutherland and Hodgman 1974);
    most rings are wholly on one side.
    """
    beyond = sign * (ring[:, axis] - end) < 0
    if not beyond.any():
        return ring
    kept = []
    for place in range(len(ring)):
        here, there = ring[place - 1], ring[place]
        if beyond[place - 1] != beyond[place]:
            kept.append(here + (there - here) * (end - here[axis]) / (there[axis] - here[axis]))
        if not beyond[place]:
            kept.append(there)
    return np.array(kept).reshape(-1, 2)


def simplified(polygon: Sequence[Ring], apart: float) -> list[Ring]:
    """Rings whose corners are at least so many pixels apart;
    a ring that vanishes becomes a small square, a hole nothing.
    """
    found = []
    for place, ring in enumerate(polygon):
        kept = [ring[0]]
        for corner in ring[1:]:
            if max(abs(corner - kept[-1])) >= apart:
                kept.append(corner)
        if len(kept) >= 3:
            found.append(np.round(np.array(kept), 1))
        elif not place:
            found.append(
                np.round(ring.mean(axis=0) + np.array([[0, 0], [1, 0], [1, 1], [0, 1]]), 1)
            )
    return found
