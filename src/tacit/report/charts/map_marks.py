"""The marks of a map: areas, hexagons or dots for so many people, each with its legend."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.families.synthetic.utility.flows import Floats, Integers
from tacit.report.charts.geojson import Areas, Ring
from tacit.report.charts.map_outlines import fitted
from tacit.report.charts.map_plane import HEXAGON, MOST_HEIGHT, WIDTH, Plane
from tacit.report.charts.portrait_chart import (
    MUTED,
    SHELTERED,
    halo,
    layer,
    raw,
    shortened,
    text_mark,
)

CLASSES = 6  # colours of people, at most
SMALLEST, LARGEST = 5.0, 420.0  # square pixels of a dot
COLOURS = ("#d6e4f2", "#a9c8e4", "#74a5d0", "#4480b6", "#215a92", "#0b2f5c")
NAMED, LETTERS = 12, 18  # places that have their names on a map of dots, and how long these are
LARGE = 30  # the largest dots, on which no name stands
GROUND = "#eef1f4"


@dataclass(frozen=True)
class Filled:
    """Areas or hexagons, coloured by people: polygons by colour for each side, and from how many
    people on a colour is used.
    """

    breaks: tuple[int, ...]
    sides: tuple[Mapping[str, Sequence[Sequence[Ring]]], ...]
    occupied: tuple[int, ...]
    what: str

    @property
    def note(self) -> str:
        """How to read it."""
        return (
            f"People in each {self.what}, in the same colours on both sides."
            if len(self.sides) > 1
            else f"Synthetic people in each {self.what}."
        )

    def layers(self, side: int) -> list[dict[str, Any]]:
        """The polygons, one mark for each colour."""
        return [shapes(polygons, colour) for colour, polygons in self.sides[side].items()]

    def legend(self, height: int) -> list[dict[str, Any]]:
        """Colours from few to many people."""
        step, labels = 56, ["none", *(f"{one:,}" for one in self.breaks)]
        colours = [GROUND, *palette(len(self.breaks))]
        rows = [
            {
                "x": step * place,
                "to": step * (place + 1) - 2,
                "y": height + 12,
                "y2": height + 22,
                "label": label,
                "colour": colour,
            }
            for place, (label, colour) in enumerate(zip(labels, colours, strict=True))
        ]
        words = [{**row, "y": height + 32} for row in rows] + [
            {"x": step * len(rows) + 4, "y": height + 17, "label": "people"}
        ]
        bar = {"type": "rect", "stroke": None}
        return [
            at(rows, bar, x2={"field": "to"}, y2={"field": "y2"}, color=raw("colour")),
            at(words, small("left"), text={"field": "label"}),
        ]

    def describe(self, side: int) -> str:
        """In words."""
        return f"in {self.occupied[side]:,} {self.what}s"


@dataclass(frozen=True)
class Dots:
    """Dots whose area is the number of people; the largest of a side are named."""

    x: Floats
    y: Floats
    counts: tuple[Integers, ...]
    most: int
    names: tuple[str, ...] = ()
    note = "A dot for each place, large ones with their names; its area is the number of people."

    def layers(self, side: int) -> list[dict[str, Any]]:
        """All places, faintly, and the dots on them: large ones below small ones."""
        ground = [
            {"x": round(float(x), 1), "y": round(float(y), 1)}
            for x, y in zip(self.x, self.y, strict=True)
        ]
        count = self.counts[side]
        order = [one for one in np.argsort(-count, kind="stable").tolist() if count[one]]
        rows = [{**ground[one], "size": self.size(int(count[one]))} for one in order]
        mark = {
            "type": "point",
            "filled": True,
            "opacity": 0.75,
            "color": SHELTERED,
            "stroke": "white",
            "strokeWidth": 0.6,
        }
        return [
            at(
                ground,
                {"type": "point", "filled": True, "size": 5, "opacity": 1, "color": "#cfd6dd"},
            ),
            at(rows, mark, size=raw("size")),
            *name_layers(
                [{**ground[one], "label": self.names[one]} for one in order] if self.names else []
            ),
        ]

    def size(self, people: int) -> float:
        """The area of a dot in pixels; the smallest can still be seen."""
        return max(SMALLEST, round(LARGEST * people / self.most, 1))

    def legend(self, height: int) -> list[dict[str, Any]]:
        """Three sizes."""
        steps = [int(one) for one in ladder(1, self.most)][-5::2]
        rows: list[dict[str, Any]] = [
            {"x": 16 + 74 * place, "y": height + 20, "size": self.size(one), "label": f"{one:,}"}
            for place, one in enumerate(steps)
        ]
        words = [{**row, "x": 32 + 74 * place} for place, row in enumerate(rows)] + [
            {"x": 8 + 74 * len(rows), "y": height + 20, "label": "people"}
        ]
        mark = {"type": "point", "filled": True, "opacity": 0.75, "color": SHELTERED}
        return [at(rows, mark, size=raw("size")), at(words, small("left"), text={"field": "label"})]

    def describe(self, side: int) -> str:
        """In words."""
        return f"in {int((self.counts[side] > 0).sum()):,} places"


Marks = Filled | Dots


def dot_marks(x: Floats, y: Floats, counts: Sequence[Integers], names: Sequence[str] = ()) -> Dots:
    """Places as dots."""
    most = max(1, *(int(count.max(initial=0)) for count in counts))
    return Dots(x, y, tuple(counts), most, tuple(shortened(name, LETTERS) for name in names))


def name_layers(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The names of the first places, where they stand on no other large dot or name."""
    kept: list[dict[str, Any]] = []
    for row in rows[:LARGE]:
        for left in (row["x"] < WIDTH / 2, row["x"] >= WIDTH / 2):
            away, wide = (12, 8 * len(row["label"])) if left else (-12, -8 * len(row["label"]))
            low, high = sorted((row["x"] + away, row["x"] + away + wide))
            near = [one for one in (*rows[:LARGE], *kept) if abs(one["y"] - row["y"]) < 16]
            taken = any(
                low < one.get("high", one["x"] + 8) and one.get("low", one["x"] - 8) < high
                for one in near
            )
            if len(kept) < NAMED and low >= 0 and high <= WIDTH and not taken:
                kept.append({**row, "low": low, "high": high, "left": left})
                break
    marks = {True: small("left", dx=12), False: small("right", dx=-12)}
    return [
        at([one for one in kept if one["left"] == left], shown, text={"field": "label"})
        for left, mark in (marks.items() if kept else ())
        for shown in (halo(mark), mark)
    ]


def hexagon_marks(x: Floats, y: Floats, counts: Sequence[Integers]) -> Filled:
    """Places gathered into hexagons."""
    column, row = hexagon_of(x, y)
    rows = MOST_HEIGHT  # a hexagon is higher than a pixel, so these are enough
    key = (column + rows) * rows + row
    used = np.flatnonzero(np.bincount(key))
    sums = [np.bincount(key, weights=count)[used].astype(np.int64) for count in counts]
    return filled(hexagons(used // rows - rows, used % rows), sums, "hexagon")


def hexagon_of(x: Floats, y: Floats) -> tuple[Integers, Integers]:
    """The hexagon of each pixel in axial coordinates:
    the nearest of three rounded axes wins (cube rounding).
    """
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


def area_marks(
    plane: Plane, areas: Areas, names: Sequence[str], counts: Sequence[Integers]
) -> Filled:
    """The areas of the values; those without people are drawn too."""
    sums = {name: [0] * len(counts) for name in areas}
    for place, name in enumerate(names):
        if name in sums:
            for side, count in enumerate(counts):
                sums[name][side] += int(count[place])
    polygons = fitted(plane, [areas[name] for name in sums])
    return filled(
        polygons,
        [np.array([one[side] for one in sums.values()], np.int64) for side in range(len(counts))],
        "area",
    )


def filled(polygons: Sequence[Any], sums: Sequence[Integers], what: str) -> Filled:
    """Polygons by colour. Each of `polygons` is one polygon, or several where an area has parts."""
    breaks = class_breaks(np.concatenate(sums))
    colours = [GROUND, *palette(len(breaks))]
    sides = []
    for count in sums:
        by_colour: dict[str, list[Any]] = {colour: [] for colour in colours}
        for one, place in zip(
            polygons, np.searchsorted(breaks, count, side="right").tolist(), strict=True
        ):
            by_colour[colours[place]] += one if what == "area" else [one]
        sides.append({colour: found for colour, found in by_colour.items() if found})
    return Filled(breaks, tuple(sides), tuple(int((count > 0).sum()) for count in sums), what)


def class_breaks(counts: Integers) -> tuple[int, ...]:
    """From how many people on each colour is used:
    1, then a few round numbers up to the largest count.

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
    return (
        [COLOURS[round(place * (len(COLOURS) - 1) / max(1, number - 1))] for place in range(number)]
        if number > 1
        else [COLOURS[3]]
    )


def ladder(low: float, high: float) -> list[float]:
    """Round numbers: 1, 2, 5, 10, 20, ... within a range.

    >>> ladder(2, 60)
    [2, 5, 10, 20, 50]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = [
        step * 10**power if power >= 0 else step / 10**-power
        for power in range(first, last + 1)
        for step in (1, 2, 5)
    ]
    return [step for step in steps if low <= step <= high]


def shapes(polygons: Sequence[Sequence[Ring]], colour: str) -> dict[str, Any]:
    """Polygons of one colour as one mark: a map of a thousand areas is a few marks."""
    coordinates = [[[*ring.tolist(), ring[0].tolist()] for ring in polygon] for polygon in polygons]
    feature = {
        "type": "Feature",
        "geometry": {"type": "MultiPolygon", "coordinates": coordinates},
        "properties": {},
    }
    return {
        "data": {"values": [feature]},
        "projection": {"type": "identity", "scale": 1, "translate": [0, 0]},
        "mark": {"type": "geoshape", "fill": colour, "stroke": "white", "strokeWidth": 0.5},
    }


def at(rows: Sequence[dict[str, Any]], mark: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    """Marks at pixels."""
    return layer(rows, mark, x=raw("x"), y=raw("y"), **encoding)


def small(align: str, dx: int = 0) -> dict[str, Any]:
    """A text of the legend."""
    return {**text_mark(align, dx=dx), "fontSize": 12, "color": MUTED}
