"""Growth: measured times against sizes, both axes logarithmic:
how steep the line of each kind is, and a picture of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis: the field it shows, its title, its ends and
    the values that are named on it.
    """

    field: str
    title: str
    ends: tuple[float, float]
    values: tuple[float, ...]
    format: str = "~g"


def exponents(rows: Sequence[Mapping[str, Any]], size: str) -> dict[str, float]:
    """How steep the line of each kind is from its smallest to its largest `size`, which is a
    field of the rows.
    """
    found = {}
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name]
        found[name] = log(mine[-1]["seconds"] / mine[0]["seconds"]) / log(
            mine[-1][size] / mine[0][size]
        )
    return found


def chart(
    rows: Sequence[Mapping[str, Any]],
    colours: Mapping[str, str],
    across: Axis,
    up: Axis,
    title: str,
    told: str,
) -> str:
    """An SVG file; `colours` has the kinds in order, `told` is the picture in words."""
    from tacit.report.charts.portrait_chart import FAINT, FONT, INK, MUTED, SIZE, picture

    names = list(colours)
    legend = {
        "title": None,
        "orient": "right",
        "labelColor": INK,
        "labelFontSize": 13,
        "labelLimit": 280,
        "symbolSize": 120,
    }
    kind = {"field": "name", "type": "nominal", "sort": names, "legend": legend}
    axis = {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": 400,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": FAINT,
        "domainColor": FAINT,
        "tickColor": FAINT,
    }
    spec = {
        "title": {
            "text": title,
            "anchor": "start",
            "color": INK,
            "fontSize": SIZE + 1,
            "fontWeight": 600,
            "offset": 14,
        },
        # Names in the legend are drawn a little wider than they are measured.
        "width": 460,
        "height": 320,
        "padding": {"left": 16, "top": 16, "bottom": 16, "right": 56},
        "data": {"values": [dict(row) for row in rows]},
        "mark": {
            "type": "line",
            "point": {"size": 60, "filled": True, "opacity": 1},
            "strokeWidth": 2,
        },
        "encoding": {
            "x": encoded(across, grid=False),
            "y": encoded(up, grid=True),
            "color": {**kind, "scale": {"domain": names, "range": list(colours.values())}},
            "shape": {**kind, "scale": {"domain": names}},
        },
        "config": {
            "aria": False,
            "background": "white",
            "font": FONT,
            "view": {"stroke": None},
            "axis": axis,
        },
    }
    return (
        picture(spec, title, told).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        + "\n"
    )


def encoded(axis: Axis, *, grid: bool) -> dict[str, Any]:
    """An axis as the chart language writes it."""
    return {
        "field": axis.field,
        "type": "quantitative",
        "title": axis.title,
        "scale": {"type": "log", "domain": list(axis.ends)},
        "axis": {"grid": grid, "values": list(axis.values), "format": axis.format},
    }
