"""The pictures of the commuters' study: mean commutes against the size of the workplace (Figures
4.1 to 4.4), and errors of all methods.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tacit.families.synthetic.utility.flow_utility import FlowUtility
from tacit.report.charts.portrait_chart import (
    EXPOSED,
    FAINT,
    FONT,
    INK,
    MUTED,
    SHELTERED,
    SIZE,
    picture,
)

FIGURES = {
    "shrunk": "figures-4.1-4.2",
    "near": "figures-4.3-4.4",
    "dp": "homes",
    "histogram": "histogram",
}
SERIES = {"true": SHELTERED, "synthetic": EXPOSED}
COLOURS = (
    "#1f4468",
    "#4a76a8",
    "#9dbbdb",
    "#3f7d58",
    "#86b594",
    "#4b4453",
    "#c2410c",
    "#f0a272",
    "#c9a227",
)
AXIS = {
    "labelColor": MUTED,
    "titleColor": MUTED,
    "titleFontWeight": 400,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "gridColor": FAINT,
    "domainColor": FAINT,
    "tickColor": FAINT,
}
LEGEND = {
    "title": None,
    "orient": "top",
    "labelColor": INK,
    "labelFontSize": 13,
    "labelLimit": 280,
    "symbolSize": 100,
    "columnPadding": 30,
}


def commutes(words: str, utility: FlowUtility, shown: Sequence[int]) -> str:
    """An SVG file: the mean commute of some workplaces, true and synthetic, of all people and of
    those who live near.
    """
    groups = utility.groups
    panels, told = [], []
    kinds = (
        (groups.mean_true, groups.mean_synthetic, "all commutes"),
        (groups.short_true, groups.short_synthetic, f"commutes under {utility.short:.1f} miles"),
    )
    for true, synthetic, name in kinds:
        rows = [
            {
                "jobs": int(groups.people[group]),
                "miles": round(float(means[group]), 3),
                "people": kind,
            }
            for kind, means in (("true", true), ("synthetic", synthetic))
            for group in shown
            if not math.isnan(means[group])
        ]
        panels.append(panel(rows, name))
        told.append(f"{name}: {len(rows)} points")
    known = [one for one in utility.bands if not math.isnan(one.error)]
    title = (
        "; ".join(
            f"the mean commute of {one.label} jobs is off by {one.error:.1f} miles"
            for one in (known[0], known[-1])
        ).capitalize()
        if known
        else words
    )
    note = (
        f"{words}; {len(shown)} workplaces at random, miles by number of jobs; all people: "
        f"{utility.mean_true:.2f} miles true, {utility.mean_synthetic:.2f} synthetic"
    )
    return whole({"hconcat": panels, "spacing": 36}, title, note, "; ".join(told))


def panel(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """Points by number of jobs and mean commute."""
    colour = {
        "field": "people",
        "type": "nominal",
        "scale": {"domain": list(SERIES), "range": list(SERIES.values())},
        "legend": LEGEND,
    }
    place = {
        "x": {
            "field": "jobs",
            "type": "quantitative",
            "scale": {"type": "log"},
            "title": "jobs",
            "axis": {"grid": False, "values": [1, 10, 100, 1000, 10000]},
        },
        "y": {"field": "miles", "type": "quantitative", "title": "miles", "scale": {"zero": True}},
        "color": colour,
    }
    heading = {"text": name, "fontSize": 12, "fontWeight": 400, "color": MUTED, "offset": 8}
    return {
        "width": 380,
        "height": 260,
        "title": heading,
        "data": {"values": list(rows)},
        "mark": {"type": "circle", "size": 26, "opacity": 0.75},
        "encoding": place,
    }


def errors(found: Sequence[tuple[str, Sequence[float | None]]], bands: Sequence[str]) -> str:
    """An SVG file: the median error of the mean commute of every method, by size of workplace."""
    names = [name for name, _ in found]
    rows = [
        {"method": name, "jobs": label, "miles": round(error, 3)}
        for name, every in found
        for label, error in zip(bands, every, strict=True)
        if error is not None
    ]
    place = {
        "x": {
            "field": "jobs",
            "type": "nominal",
            "sort": list(bands),
            "title": "jobs of the workplace",
            "axis": {"grid": False, "labelAngle": 0},
        },
        "xOffset": {"field": "method", "sort": names, "scale": {"domain": names}},
        "y": {"field": "miles", "type": "quantitative", "title": "miles"},
        "color": {
            "field": "method",
            "type": "nominal",
            "sort": names,
            "scale": {"domain": names, "range": list(COLOURS[: len(names)])},
            "legend": {**LEGEND, "columns": 5},
        },
    }
    drawn = {
        "width": 800,
        "height": 280,
        "data": {"values": rows},
        "mark": "bar",
        "encoding": place,
    }
    told = "; ".join(f"{row['method']}, {row['jobs']} jobs: {row['miles']:.2f}" for row in rows)
    worst = max((row["miles"] for row in rows if row["method"] == names[0]), default=0.0)
    note = (
        "how far the synthetic mean commute is from the true one: the median over workplaces "
        "of which something is published"
    )
    return whole(
        drawn,
        f"The mean commute of small workplaces is off by miles, by {names[0]} up to {worst:.1f}",
        note,
        told,
    )


def whole(spec: dict[str, Any], title: str, note: str, told: str) -> str:
    """A picture with its title, as a file of its own."""
    head = {
        "text": title,
        "subtitle": note,
        "anchor": "start",
        "color": INK,
        "fontSize": SIZE + 1,
        "fontWeight": 600,
        "subtitleColor": MUTED,
        "subtitleFontSize": 12,
        "offset": 14,
    }
    config = {
        "aria": False,
        "background": "white",
        "font": FONT,
        "view": {"stroke": None},
        "axis": AXIS,
    }
    drawn = picture({"title": head, "padding": 16, **spec, "config": config}, title, told)
    return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"
