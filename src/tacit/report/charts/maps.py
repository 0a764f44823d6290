"""Maps of true and synthetic people side by side:
areas, hexagons or dots on the same scales, drawn without any tile server.

Places are put on a plane here and handed to the drawing as pixels. Everything on a map, its window
and its scale included, comes from the sides that it shows: the map of the synthetic people alone
tells nothing about the true ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.families.synthetic.utility.flows import Flows, Integers
from tacit.families.synthetic.utility.positions import Positions
from tacit.families.words import people as people_text
from tacit.report.charts.geojson import Areas
from tacit.report.charts.map_marks import (
    Marks,
    area_marks,
    at,
    dot_marks,
    hexagon_marks,
    ladder,
    small,
)
from tacit.report.charts.map_outlines import corners_of
from tacit.report.charts.map_plane import WIDTH, Plane, unrolled
from tacit.report.charts.portrait_chart import EXPOSED, MUTED, frame, picture

LEGEND = 62
DOTS = 400  # from so many places on they are drawn as hexagons
GROUPS = 3  # the largest groups have maps of their own
MOST_AREAS = 5000  # more are drawn as hexagons
MILE = 1 / 69.0934  # degrees of latitude


@dataclass(frozen=True, slots=True)
class Map:
    """A pair of pictures (or one) with a title and how to read it."""

    title: str
    note: str
    panels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MapScene:
    """What is to be drawn: people by value for each side, and where the group itself is."""

    title: str
    sides: tuple[tuple[str, Integers], ...]
    here: tuple[float, float] | None = None


def maps(
    synthetic: Flows,
    positions: Positions | None,
    *,
    true: Flows | None = None,
    areas: Areas | None = None,
    group: str = "group",
    groups: int = GROUPS,
) -> list[Map]:
    """Maps of all people and of the largest groups; true people only where they are given.
    Whose place is unknown is in the middle of their area.
    """
    positions = centred(positions, areas, synthetic.values) if areas else positions
    if positions is None:
        return []
    drawn = [
        draw(scene, synthetic.values, positions, areas)
        for scene in scenes(synthetic, positions, true, group, groups)
    ]
    return [one for one in drawn if one is not None]


def centred(positions: Positions | None, areas: Areas, values: Sequence[Any]) -> Positions:
    """Where values are, with the middle of the first outline where no file says it."""
    if positions is None:
        positions = Positions(np.full(len(values), np.nan), np.full(len(values), np.nan))
    latitude, longitude = positions.latitude.copy(), positions.longitude.copy()
    for place in np.flatnonzero(np.isnan(latitude + longitude)).tolist():
        if polygons := areas.get(str(values[place])):
            longitude[place], latitude[place] = polygons[0][0].mean(axis=0)
    return replace(positions, latitude=latitude, longitude=longitude)


def scenes(
    synthetic: Flows, positions: Positions, true: Flows | None, group: str, groups: int
) -> Iterator[MapScene]:
    """Everybody, then the largest groups by how many synthetic people they have."""
    sides = [("true", true)] if true is not None else []
    named = [*sides, ("synthetic", synthetic)]
    yield MapScene(
        f"Everybody: {people_text(synthetic.people)}",
        tuple((name, flows.totals) for name, flows in named),
    )
    sizes = synthetic.sizes
    for place in np.lexsort((np.arange(len(sizes)), -sizes))[
        : groups if len(sizes) > 1 else 0
    ].tolist():
        title = (
            f"{group[:1].upper()}{group[1:]} {synthetic.groups[place]}: "
            f"{people_text(int(sizes[place]))}"
        )
        yield MapScene(
            title,
            tuple((name, flows.only(place)) for name, flows in named),
            place_of(positions, place),
        )


def place_of(positions: Positions, group: int) -> tuple[float, float] | None:
    """Where a group is, as latitude and longitude."""
    if positions.group_latitude is None or positions.group_longitude is None:
        return None
    found = float(positions.group_latitude[group]), float(positions.group_longitude[group])
    return None if math.isnan(sum(found)) else found


def draw(
    scene: MapScene, values: Sequence[Any], positions: Positions, areas: Areas | None
) -> Map | None:
    """One scene; None where no place of it is known."""
    longitude = unrolled(positions.longitude)
    placed = np.flatnonzero(~np.isnan(positions.latitude + longitude))
    drawn = areas if areas and len(areas) <= MOST_AREAS else {}
    names = [str(values[one]) for one in placed.tolist()] if drawn else []
    if drawn:  # who has no area is not on the map, and is counted as such
        shown = np.array([bool(drawn.get(name)) for name in names], np.bool_)
        placed, names = (
            placed[shown],
            [name for name, one in zip(names, shown.tolist(), strict=True) if one],
        )
    counts = [count[placed] for _, count in scene.sides]
    if not sum(int(count.sum()) for count in counts):
        return None
    latitude, longitude = positions.latitude[placed], longitude[placed]
    plane = Plane.around(
        *corners_of(drawn, names, latitude, longitude), np.tile(window_weights(counts), 2)
    )
    x, y = plane.pixels(latitude, longitude)
    inside = plane.holds(x, y)
    marks: Marks
    if drawn:
        marks = area_marks(plane, drawn, names, counts)
    elif inside.sum() > DOTS:
        marks = hexagon_marks(x[inside], y[inside], [count[inside] for count in counts])
    else:
        called = [str(values[one]) for one in placed[inside].tolist()]
        marks = dot_marks(x[inside], y[inside], [count[inside] for count in counts], called)
    here = pixel_of(plane, scene.here, positions)
    panels = []
    for side, (name, count) in enumerate(scene.sides):
        spec = panel(
            plane,
            marks.layers(side),
            [*marks.legend(plane.height), *scale_bar(plane), *star(here, plane, legend=True)],
            star(here, plane),
        )
        told = f"{people_text(int(count.sum()))}, {marks.describe(side)}"
        panels.append((name, picture(spec, f"{scene.title}, {name}", told)))
    return Map(scene.title, note_of(marks, scene, placed, inside), tuple(panels))


def window_weights(counts: Sequence[Integers]) -> Integers:
    """Who decides on the window: the true people where they are shown,
    for synthetic ones may be anywhere.
    """
    return counts[0] if counts[0].sum() else counts[-1]


def note_of(marks: Marks, scene: MapScene, placed: Integers, inside: Any) -> str:
    """How to read the map, and who is not on it."""
    parts = [marks.note]
    for name, count in scene.sides:
        here = int(count[placed[inside]].sum())
        if away := int(count.sum()) - here:
            known = int(count[placed].sum()) - here
            why = (
                "outside the map"
                if known == away
                else "without a known place"
                if not known
                else "outside the map or without a known place"
            )
            parts.append(f"{people_text(away)} ({name}) {'is' if away == 1 else 'are'} {why}.")
    return " ".join(parts)


def pixel_of(
    plane: Plane, here: tuple[float, float] | None, positions: Positions
) -> tuple[float, float] | None:
    """Where the group itself is, if it is on the map."""
    if here is None:
        return None
    longitude = unrolled(np.append(positions.longitude, here[1]))[-1:]
    x, y = plane.pixels(np.array([here[0]]), longitude)
    return (float(x[0]), float(y[0])) if bool(plane.holds(x, y)[0]) else None


def panel(
    plane: Plane,
    marks: Sequence[dict[str, Any]],
    legend: Sequence[dict[str, Any]],
    above: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """A map with its legend below it."""
    return {
        **frame(WIDTH, plane.height + LEGEND, left=0, right=0),
        "layer": [*marks, *above, *legend],
    }


def scale_bar(plane: Plane) -> list[dict[str, Any]]:
    """A line of a round number of miles."""
    mile = plane.scale * MILE
    miles = max((step for step in ladder(1e-2, 1e4) if step * mile <= WIDTH / 4), default=0.01)
    y = plane.height + 52
    end = WIDTH - 4
    line = [{"x": end - miles * mile, "y": y, "to": end}]
    words = [
        {"x": end - miles * mile - 6, "y": y, "label": f"{miles:g} mile{'' if miles == 1 else 's'}"}
    ]
    return [
        at(line, {"type": "rule", "color": MUTED, "strokeWidth": 2}, x2={"field": "to"}),
        at(words, small("right"), text={"field": "label"}),
    ]


def star(
    here: tuple[float, float] | None, plane: Plane, *, legend: bool = False
) -> list[dict[str, Any]]:
    """Where the group is: a ring in the warm colour, on the map or in the legend."""
    if here is None:
        return []
    x, y = (10.0, plane.height + 52.0) if legend else here
    ring = {
        "type": "point",
        "size": 110,
        "fill": "white",
        "fillOpacity": 0.6,
        "strokeWidth": 2.5,
        "opacity": 1,
        "color": EXPOSED,
    }
    rows = [{"x": x, "y": y, "label": "the group itself"}]
    return [
        at(rows, ring),
        *([at(rows, small("left", dx=12), text={"field": "label"})] if legend else []),
    ]
