"""Maps of true and synthetic people side by side: areas, hexagons or dots on the same scales, drawn without any tile server.

Places are put on a plane here (equirectangular at the map's middle latitude) and handed to the drawing as pixels.
Everything on a map, its window and its scale included, comes from the sides that it shows: the map of the synthetic
people alone tells nothing about the true ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.definitions.words import people as people_text
from tacit.errors import DataError, InputError
from tacit.report.charts import (
    EXPOSED,
    MUTED,
    SHELTERED,
    frame,
    layer,
    picture,
    raw,
    text_mark,
)
from tacit.utility.flows import Floats, Flows, Integers
from tacit.utility.positions import Positions

WIDTH, LEAST_HEIGHT, MOST_HEIGHT = 440, 220, 440
MARGIN = 10
LEGEND = 62
DOTS = 400  # from so many places on they are drawn as hexagons
HEXAGON = 6.5  # pixels from the middle to a corner
GROUPS = 3  # the largest groups have maps of their own
CLASSES = 6
MOST_AREAS = 5000  # more are drawn as hexagons
MOST_POINTS = 8_000  # corners of all areas
OUTSIDE = 0.005  # of the people may be outside the window, on each of its four sides
SMALLEST, LARGEST = 5.0, 420.0  # square pixels of a dot
COLOURS = ("#d6e4f2", "#a9c8e4", "#74a5d0", "#4480b6", "#215a92", "#0b2f5c")
GROUND = "#eef1f4"
MILE = 1 / 69.0934  # degrees of latitude

Ring = np.ndarray[Any, np.dtype[np.float64]]  # corners: longitude and latitude, or pixels


@dataclass(frozen=True, slots=True)
class Map:
    """A pair of pictures (or one) with a title and how to read it."""

    title: str
    note: str
    panels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be drawn: people by value for each side, and where the group itself is."""

    title: str
    sides: tuple[tuple[str, Integers], ...]
    here: tuple[float, float] | None = None


Areas = Mapping[str, Sequence[Sequence[Ring]]]  # the polygons of a value, each an outline and its holes


def maps(
    synthetic: Flows, positions: Positions, *, true: Flows | None = None, areas: Areas | None = None, group: str = "group", groups: int = GROUPS
) -> list[Map]:
    """Maps of all people and of the largest groups; true people only where they are given."""
    drawn = [draw(scene, synthetic.values, positions, areas) for scene in scenes(synthetic, positions, true, group, groups)]
    return [one for one in drawn if one is not None]


def scenes(synthetic: Flows, positions: Positions, true: Flows | None, group: str, groups: int) -> Iterator[Scene]:
    """Everybody, then the largest groups by how many synthetic people they have."""
    sides = [("true", true)] if true is not None else []
    named = [*sides, ("synthetic", synthetic)]
    yield Scene(f"Everybody: {people_text(synthetic.people)}", tuple((name, flows.totals) for name, flows in named))
    sizes = synthetic.sizes
    for place in np.lexsort((np.arange(len(sizes)), -sizes))[: groups if len(sizes) > 1 else 0].tolist():
        title = f"{group[:1].upper()}{group[1:]} {synthetic.groups[place]}: {people_text(int(sizes[place]))}"
        yield Scene(title, tuple((name, flows.only(place)) for name, flows in named), place_of(positions, place))


def place_of(positions: Positions, group: int) -> tuple[float, float] | None:
    """Where a group is, as latitude and longitude."""
    if positions.group_latitude is None or positions.group_longitude is None:
        return None
    found = float(positions.group_latitude[group]), float(positions.group_longitude[group])
    return None if math.isnan(sum(found)) else found


# -- the plane -------------------------------------------------------------------------------------------


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
        return cls(middle[0] - WIDTH / 2 / scale / narrow, middle[1] + height / 2 / scale, scale, narrow, height)

    def pixels(self, latitude: Floats, longitude: Floats) -> tuple[Floats, Floats]:
        """Where places come to stand."""
        return (longitude - self.west) * self.scale * self.narrow, (self.north - latitude) * self.scale

    def holds(self, x: Floats, y: Floats) -> Any:
        """Which pixels are inside the window, with room for a mark around them."""
        return (x >= HEXAGON) & (x <= WIDTH - HEXAGON) & (y >= HEXAGON) & (y <= self.height - HEXAGON)


def ends(degrees: Floats, weights: Integers) -> tuple[float, float]:
    """The range of some degrees without the few people at either end, with an eighth of it as room, inside the places that are known.

    >>> ends(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 1]))
    (1.0, 3.0)
    """
    some = np.flatnonzero(weights)
    order = some[np.argsort(degrees[some], kind="stable")]
    running = np.cumsum(weights[order])
    out = OUTSIDE * float(running[-1])
    low, high = degrees[order[np.searchsorted(running, out, side="right")]], degrees[order[np.searchsorted(running, running[-1] - out)]]
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


# -- drawing ---------------------------------------------------------------------------------------------


def draw(scene: Scene, values: Sequence[Any], positions: Positions, areas: Areas | None) -> Map | None:
    """One scene; None where no place of it is known."""
    longitude = unrolled(positions.longitude)
    placed = np.flatnonzero(~np.isnan(positions.latitude + longitude))
    counts = [count[placed] for _, count in scene.sides]
    if not sum(int(count.sum()) for count in counts):
        return None
    latitude, longitude = positions.latitude[placed], longitude[placed]
    drawn = areas if areas and len(areas) <= MOST_AREAS else {}
    names = [str(values[one]) for one in placed.tolist()] if drawn else []
    plane = Plane.around(*corners_of(drawn, names, latitude, longitude), np.tile(window_weights(counts), 2))
    x, y = plane.pixels(latitude, longitude)
    inside = plane.holds(x, y)
    marks: Marks
    if drawn:
        marks = area_marks(plane, drawn, names, counts)
    elif inside.sum() > DOTS:
        marks = hexagon_marks(x[inside], y[inside], [count[inside] for count in counts])
    else:
        marks = dot_marks(x[inside], y[inside], [count[inside] for count in counts])
    here = pixel_of(plane, scene.here, positions)
    panels = []
    for side, (name, count) in enumerate(scene.sides):
        spec = panel(plane, marks.layers(side), [*marks.legend(plane.height), *scale_bar(plane), *star(here, plane, legend=True)], star(here, plane))
        told = f"{people_text(int(count.sum()))}, {marks.told(side)}"
        panels.append((name, picture(spec, f"{scene.title}, {name}", told)))
    return Map(scene.title, note_of(marks, scene, placed, inside), tuple(panels))


def corners_of(areas: Areas, names: Sequence[str], latitude: Floats, longitude: Floats) -> tuple[Floats, Floats]:
    """The south-western and north-eastern corners of all values: of their areas, or their places themselves."""
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


def window_weights(counts: Sequence[Integers]) -> Integers:
    """Who decides on the window: the true people where they are shown, for synthetic ones may be anywhere."""
    return counts[0] if counts[0].sum() else counts[-1]


def note_of(marks: Marks, scene: Scene, placed: Integers, inside: Any) -> str:
    """How to read the map, and who is not on it."""
    parts = [marks.note]
    for name, count in scene.sides:
        here = int(count[placed[inside]].sum())
        if away := int(count.sum()) - here:
            known = int(count[placed].sum()) - here
            why = "outside the map" if known == away else "without a known place" if not known else "outside the map or without a known place"
            parts.append(f"{people_text(away)} ({name}) {'is' if away == 1 else 'are'} {why}.")
    return " ".join(parts)


def pixel_of(plane: Plane, here: tuple[float, float] | None, positions: Positions) -> tuple[float, float] | None:
    """Where the group itself is, if it is on the map."""
    if here is None:
        return None
    longitude = unrolled(np.append(positions.longitude, here[1]))[-1:]
    x, y = plane.pixels(np.array([here[0]]), longitude)
    return (float(x[0]), float(y[0])) if bool(plane.holds(x, y)[0]) else None


def panel(plane: Plane, marks: Sequence[dict[str, Any]], legend: Sequence[dict[str, Any]], above: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A map with its legend below it."""
    return {**frame(WIDTH, plane.height + LEGEND, left=0, right=0), "layer": [*marks, *above, *legend]}


def shapes(polygons: Sequence[Sequence[Ring]], colour: str) -> dict[str, Any]:
    """Polygons of one colour as one mark: a map of a thousand areas is a few marks."""
    coordinates = [[[*ring.tolist(), ring[0].tolist()] for ring in polygon] for polygon in polygons]
    feature = {"type": "Feature", "geometry": {"type": "MultiPolygon", "coordinates": coordinates}, "properties": {}}
    return {
        "data": {"values": [feature]}, "projection": {"type": "identity", "scale": 1, "translate": [0, 0]},
        "mark": {"type": "geoshape", "fill": colour, "stroke": "white", "strokeWidth": 0.5},
    }  # fmt: skip


def at(rows: Sequence[dict[str, Any]], mark: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    """Marks at pixels."""
    return layer(rows, mark, x=raw("x"), y=raw("y"), **encoding)


def scale_bar(plane: Plane) -> list[dict[str, Any]]:
    """A line of a round number of miles."""
    mile = plane.scale * MILE
    miles = max((step for step in ladder(1e-2, 1e4) if step * mile <= WIDTH / 4), default=0.01)
    y = plane.height + 52
    end = WIDTH - 4
    line = [{"x": end - miles * mile, "y": y, "to": end}]
    words = [{"x": end - miles * mile - 6, "y": y, "label": f"{miles:g} mile{'' if miles == 1 else 's'}"}]
    return [
        at(line, {"type": "rule", "color": MUTED, "strokeWidth": 2}, x2={"field": "to"}),
        at(words, small("right"), text={"field": "label"}),
    ]


def star(here: tuple[float, float] | None, plane: Plane, *, legend: bool = False) -> list[dict[str, Any]]:
    """Where the group is: a ring in the warm colour, on the map or in the legend."""
    if here is None:
        return []
    x, y = (10.0, plane.height + 52.0) if legend else here
    ring = {"type": "point", "size": 110, "fill": "white", "fillOpacity": 0.6, "strokeWidth": 2.5, "opacity": 1, "color": EXPOSED}
    rows = [{"x": x, "y": y, "label": "the group itself"}]
    return [at(rows, ring), *([at(rows, small("left", dx=12), text={"field": "label"})] if legend else [])]


def small(align: str, dx: int = 0) -> dict[str, Any]:
    """A text of the legend."""
    return {**text_mark(align, dx=dx), "fontSize": 12, "color": MUTED}


def ladder(low: float, high: float) -> list[float]:
    """Round numbers: 1, 2, 5, 10, 20, ... within a range.

    >>> ladder(2, 60)
    [2, 5, 10, 20, 50]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = [step * 10**power if power >= 0 else step / 10**-power for power in range(first, last + 1) for step in (1, 2, 5)]
    return [step for step in steps if low <= step <= high]


# -- marks -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filled:
    """Areas or hexagons, coloured by people: polygons by colour for each side, and from how many people on a colour is used."""

    breaks: tuple[int, ...]
    sides: tuple[Mapping[str, Sequence[Sequence[Ring]]], ...]
    occupied: tuple[int, ...]
    what: str

    @property
    def note(self) -> str:
        """How to read it."""
        return f"People in each {self.what}, in the same colours on both sides." if len(self.sides) > 1 else f"Synthetic people in each {self.what}."

    def layers(self, side: int) -> list[dict[str, Any]]:
        """The polygons, one mark for each colour."""
        return [shapes(polygons, colour) for colour, polygons in self.sides[side].items()]

    def legend(self, height: int) -> list[dict[str, Any]]:
        """Colours from few to many people."""
        step, labels = 56, ["none", *(f"{one:,}" for one in self.breaks)]
        colours = [GROUND, *palette(len(self.breaks))]
        rows = [
            {"x": step * place, "to": step * (place + 1) - 2, "y": height + 12, "y2": height + 22, "label": label, "colour": colour}
            for place, (label, colour) in enumerate(zip(labels, colours, strict=True))
        ]
        words = [{**row, "y": height + 32} for row in rows] + [{"x": step * len(rows) + 4, "y": height + 17, "label": "people"}]
        bar = {"type": "rect", "stroke": None}
        return [at(rows, bar, x2={"field": "to"}, y2={"field": "y2"}, color=raw("colour")), at(words, small("left"), text={"field": "label"})]

    def told(self, side: int) -> str:
        """In words."""
        return f"in {self.occupied[side]:,} {self.what}s"


@dataclass(frozen=True)
class Dots:
    """Dots whose area is the number of people."""

    x: Floats
    y: Floats
    counts: tuple[Integers, ...]
    most: int
    note = "A dot for each place; its area is the number of people."

    def layers(self, side: int) -> list[dict[str, Any]]:
        """All places, faintly, and the dots on them: large ones below small ones."""
        ground = [{"x": round(float(x), 1), "y": round(float(y), 1)} for x, y in zip(self.x, self.y, strict=True)]
        count = self.counts[side]
        order = [one for one in np.argsort(-count, kind="stable").tolist() if count[one]]
        rows = [{**ground[one], "size": self.size(int(count[one]))} for one in order]
        mark = {"type": "point", "filled": True, "opacity": 0.75, "color": SHELTERED, "stroke": "white", "strokeWidth": 0.6}
        return [at(ground, {"type": "point", "filled": True, "size": 5, "opacity": 1, "color": "#cfd6dd"}), at(rows, mark, size=raw("size"))]

    def size(self, people: int) -> float:
        """The area of a dot in pixels; the smallest can still be seen."""
        return max(SMALLEST, round(LARGEST * people / self.most, 1))

    def legend(self, height: int) -> list[dict[str, Any]]:
        """Three sizes."""
        steps = [int(one) for one in ladder(1, self.most)][-5::2]
        rows: list[dict[str, Any]] = [{"x": 16 + 74 * place, "y": height + 20, "size": self.size(one), "label": f"{one:,}"} for place, one in enumerate(steps)]
        words = [{**row, "x": 32 + 74 * place} for place, row in enumerate(rows)] + [{"x": 8 + 74 * len(rows), "y": height + 20, "label": "people"}]
        mark = {"type": "point", "filled": True, "opacity": 0.75, "color": SHELTERED}
        return [at(rows, mark, size=raw("size")), at(words, small("left"), text={"field": "label"})]

    def told(self, side: int) -> str:
        """In words."""
        return f"in {int((self.counts[side] > 0).sum()):,} places"


Marks = Filled | Dots


def dot_marks(x: Floats, y: Floats, counts: Sequence[Integers]) -> Dots:
    """Places as dots."""
    return Dots(x, y, tuple(counts), max(1, *(int(count.max(initial=0)) for count in counts)))


def hexagon_marks(x: Floats, y: Floats, counts: Sequence[Integers]) -> Filled:
    """Places gathered into hexagons."""
    column, row = hexagon_of(x, y)
    rows = MOST_HEIGHT  # a hexagon is higher than a pixel, so these are enough
    key = (column + rows) * rows + row
    used = np.flatnonzero(np.bincount(key))
    sums = [np.bincount(key, weights=count)[used].astype(np.int64) for count in counts]
    return filled(hexagons(used // rows - rows, used % rows), sums, "hexagon")


def hexagon_of(x: Floats, y: Floats) -> tuple[Integers, Integers]:
    """The hexagon of each pixel in axial coordinates: the nearest of three rounded axes wins (cube rounding)."""
    q, r = (math.sqrt(3) / 3 * x - y / 3) / HEXAGON, 2 / 3 * y / HEXAGON
    cube = np.stack([q, r, -q - r])
    near = np.round(cube)
    worst = np.abs(near - cube).argmax(axis=0)
    near[0] = np.where(worst == 0, -near[1] - near[2], near[0])
    near[1] = np.where(worst == 1, -near[0] - near[2], near[1])
    return near[0].astype(np.int64), near[1].astype(np.int64)


def hexagons(column: Integers, row: Integers) -> list[list[Ring]]:
    """The outlines of hexagons."""
    x, y = HEXAGON * math.sqrt(3) * (column + row / 2), HEXAGON * 1.5 * row
    turns = np.radians(60 * np.arange(6) - 30)
    corners = HEXAGON * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return [[np.round(corners + middle, 1)] for middle in np.stack([x, y], axis=1)]


def area_marks(plane: Plane, areas: Areas, names: Sequence[str], counts: Sequence[Integers]) -> Filled:
    """The areas of the values; those without people are drawn too."""
    sums = {name: [0] * len(counts) for name in areas}
    for place, name in enumerate(names):
        if name in sums:
            for side, count in enumerate(counts):
                sums[name][side] += int(count[place])
    polygons = fitted(plane, [areas[name] for name in sums])
    return filled(polygons, [np.array([one[side] for one in sums.values()], np.int64) for side in range(len(counts))], "area")


def filled(polygons: Sequence[Any], sums: Sequence[Integers], what: str) -> Filled:
    """Polygons by colour. Each of `polygons` is one polygon, or several where an area has parts."""
    breaks = class_breaks(np.concatenate(sums))
    colours = [GROUND, *palette(len(breaks))]
    sides = []
    for count in sums:
        by_colour: dict[str, list[Any]] = {colour: [] for colour in colours}
        for one, place in zip(polygons, np.searchsorted(breaks, count, side="right").tolist(), strict=True):
            by_colour[colours[place]] += one if what == "area" else [one]
        sides.append({colour: found for colour, found in by_colour.items() if found})
    return Filled(breaks, tuple(sides), tuple(int((count > 0).sum()) for count in sums), what)


def class_breaks(counts: Integers) -> tuple[int, ...]:
    """From how many people on each colour is used: 1, then a few round numbers up to the largest count.

    >>> class_breaks(np.array([0, 1, 3, 7])), class_breaks(np.array([0, 40, 900, 30_000]))
    ((1, 2, 5), (1, 1000, 5000, 20000))
    """
    some = counts[counts > 0]
    if not len(some):
        return (1,)
    low = max(2, int(np.quantile(some, 0.1)))
    steps = [int(one) for one in ladder(low, max(low, int(some.max())))]
    stride = max(1, math.ceil(len(steps) / (CLASSES - 1)))
    return (1, *steps[::-1][::stride][::-1])


def palette(number: int) -> list[str]:
    """So many blues from light to dark."""
    return [COLOURS[round(place * (len(COLOURS) - 1) / max(1, number - 1))] for place in range(number)] if number > 1 else [COLOURS[3]]


# -- areas -----------------------------------------------------------------------------------------------


def fitted(plane: Plane, areas: Sequence[Sequence[Sequence[Ring]]]) -> list[list[list[Ring]]]:
    """Areas in pixels, with as few corners as the size of the page asks for; what is outside the window is left out."""
    inside = [[cut for polygon in area if (cut := in_window(plane, in_pixels(plane, polygon)))] for area in areas]
    found: list[list[list[Ring]]] = []
    for apart in (0.7, 1.0, 1.5, 2.5, 4.0, 6.0):
        found = [[simplified(polygon, apart) for polygon in area] for area in inside]
        if sum(len(ring) for area in found for polygon in area for ring in polygon) <= MOST_POINTS:
            break
    return found


def in_pixels(plane: Plane, polygon: Sequence[Ring]) -> list[Ring]:
    """An outline and its holes on the plane; the outline runs one way and holes the other, so that they stay empty."""
    found = []
    for place, ring in enumerate(polygon):
        x, y = plane.pixels(*turned(ring, plane.west + WIDTH / 2 / plane.scale / plane.narrow).T[::-1])
        corners = np.stack([x, y], axis=1)
        area = float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
        found.append(corners[::-1] if (area > 0) == (place > 0) else corners)
    return found


def in_window(plane: Plane, polygon: Sequence[Ring]) -> list[Ring]:
    """An outline and its holes, cut off at the window's edges; nothing where it is outside."""
    found = []
    for place, ring in enumerate(polygon):
        for axis, end, sign in ((0, 0.0, 1), (0, float(WIDTH), -1), (1, 0.0, 1), (1, float(plane.height), -1)):
            ring = cut_off(ring, axis, end, sign)
        if len(ring) > 2:
            found.append(ring)
        elif not place:
            return []
    return found


def cut_off(ring: Ring, axis: int, end: float, sign: int) -> Ring:
    """A ring without what is beyond a line (Sutherland and Hodgman 1974); most rings are wholly on one side."""
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
    """Rings whose corners are at least so many pixels apart; a ring that vanishes becomes a small square, a hole nothing."""
    found = []
    for place, ring in enumerate(polygon):
        kept = [ring[0]]
        for corner in ring[1:]:
            if max(abs(corner - kept[-1])) >= apart:
                kept.append(corner)
        if len(kept) >= 3:
            found.append(np.round(np.array(kept), 1))
        elif not place:
            found.append(np.round(ring.mean(axis=0) + np.array([[0, 0], [1, 0], [1, 1], [0, 1]]), 1))
    return found


def read_areas(path: Path, values: Sequence[Any]) -> dict[str, list[list[Ring]]]:
    """The areas of values from a GeoJSON file, by the property (or the id) that names most of them."""
    features = read_features(path)
    known = {str(value) for value in values}
    names = {"id": [feature.get("id") for feature in features]}
    for key in dict.fromkeys(key for feature in features for key in feature.get("properties") or {}):
        names[f"properties.{key}"] = [(feature.get("properties") or {}).get(key) for feature in features]
    best = max(names, key=lambda key: len(known & {str(one) for one in names[key]}))
    found: dict[str, list[list[Ring]]] = {}
    for name, feature in zip(names[best], features, strict=True):
        if str(name) in known:
            found.setdefault(str(name), []).extend(polygons_of(feature.get("geometry"), path))
    if not found:
        raise DataError(
            f"no area of {path} is named like a value: none of its properties {', '.join(sorted(names))} matches.",
            hint="Use a GeoJSON file whose features have the values as a property or as their id.",
        )
    return found


def read_features(path: Path) -> list[dict[str, Any]]:
    """The features of a GeoJSON file."""
    try:
        document = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.", hint="Name a GeoJSON file.") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not JSON: {error}.", hint="Export the areas as GeoJSON (WGS 84 longitude and latitude).") from None
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list) or not all(isinstance(one, dict) for one in features) or not features:
        raise DataError(f"{path} has no features.", hint='GeoJSON areas are {"type": "FeatureCollection", "features": [...]}.')
    return features


def polygons_of(geometry: Any, path: Path) -> list[list[Ring]]:
    """The polygons of a geometry; each an outline and its holes."""
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("Polygon", "MultiPolygon"):
        return []
    parts = [geometry["coordinates"]] if kind == "Polygon" else geometry["coordinates"]
    try:
        found = [[np.array([corner[:2] for corner in ring], dtype=np.float64) for ring in part] for part in parts]
        bad = any(ring.ndim != 2 or ring.shape[1] != 2 or not (np.abs(ring) <= [360, 90]).all() for part in found for ring in part)
    except (TypeError, ValueError, KeyError):
        bad = True
    if bad:
        raise DataError(f"a {kind} of {path} has corners that are no longitude and latitude.", hint="Export the areas as GeoJSON in WGS 84 degrees.")
    return [[ring[:-1] if len(ring) > 1 and (ring[0] == ring[-1]).all() else ring for ring in part] for part in found if part and len(part[0]) > 2]
