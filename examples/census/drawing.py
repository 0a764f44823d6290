"""The figures of the study as SVG files: running times as lines, utility as bars side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from measuring import KINDS, SIX, Times, Utility

from tacit.errors import MissingExtra
from tacit.report.charts.portrait_chart import EXPOSED, FAINT, FONT, INK, MUTED

# Light blue, vermilion and dark blue differ in lightness too, so that they stay apart in grey.
COLOURS = ("#9dbbdb", EXPOSED, "#1f4468")
NEARLY = 1.1  # a divergence that is at most so many times another is near it
AXES = {
    "height": "generalization height",
    "average-group": "average group size",
    "discernibility": "discernibility",
    "kl": "KL-divergence (nats)",
}
NAMES = {
    "sex": "gender",
    "marital_status": "marital status",
    "native_country": "native country",
    "workclass": "work class",
}


def drawn(spec: dict[str, Any], title: str) -> str:
    """A spec as an SVG file with its title for a screen reader."""
    try:
        from vl_convert import vegalite_to_svg
    except ImportError:
        raise MissingExtra("vl-convert-python", extra="report", purpose="the figures") from None
    root, inside = vegalite_to_svg({**spec, "config": config()}, allowed_base_urls=[]).split(">", 1)
    return (
        f'{root} role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>{inside}\n'
    )


def config() -> dict[str, Any]:
    """The look of all figures."""
    axis = {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": 400,
        "labelFontSize": 12,
        "titleFontSize": 12,
    }
    return {
        "aria": False,
        "background": "white",
        "font": FONT,
        "padding": 16,
        "view": {"stroke": None},
        "axis": {
            **axis,
            "gridColor": FAINT,
            "domainColor": FAINT,
            "tickColor": FAINT,
            "labelAngle": 0,
        },
        "title": {
            "anchor": "start",
            "color": INK,
            "fontSize": 15,
            "fontWeight": 600,
            "subtitleColor": MUTED,
            "subtitleFontSize": 12,
            "offset": 14,
        },
        "legend": {
            "orient": "top",
            "title": None,
            "labelColor": INK,
            "labelFontSize": 12,
            "symbolSize": 120,
            "offset": 6,
        },
    }


def colour(names: Sequence[str], colours: Sequence[str]) -> dict[str, Any]:
    """One colour for each name, in this order."""
    return {
        "field": "kind",
        "type": "nominal",
        "sort": list(names),
        "scale": {"domain": list(names), "range": list(colours)},
    }


def running_times(found: Sequence[Times], table: str, number: str) -> str:
    """Figures 3.1 and 3.2: CPU seconds by the size of the quasi-identifier."""
    names = (f"all {SIX}-anonymous tables", f"all entropy {SIX}-diverse tables")
    rows = [
        {"columns": one.columns, "seconds": one.counting + seconds, "kind": name}
        for one in found
        for name, seconds in zip(names, (one.anonymous, one.diverse), strict=True)
    ]
    ratios = [one.ratio for one in found]
    title = f"Figure {number}: diversity takes {min(ratios):.2f} to {max(ratios):.2f} times as long"
    spec = {
        "title": {
            "text": title,
            "subtitle": f"CPU seconds to find all tables, counting the raw one included; {table}",
        },
        "width": 560,
        "height": 220,
        "data": {"values": rows},
        "mark": {
            "type": "line",
            "point": {"size": 60, "filled": True, "opacity": 1},
            "strokeWidth": 2.5,
        },
        "encoding": {
            "x": {
                "field": "columns",
                "type": "ordinal",
                "title": "columns of the quasi-identifier",
                "scale": {"padding": 0.3},
                "axis": {"grid": False},
            },
            "y": {
                "field": "seconds",
                "type": "quantitative",
                "title": "CPU seconds",
                "scale": {"zero": True},
                "axis": {"tickCount": 5},
            },
            "color": colour(names, (COLOURS[0], COLOURS[1])),
            "strokeDash": {"field": "kind", "type": "nominal", "sort": list(names), "legend": None},
        },
    }
    return drawn(spec, title)


def costs(found: Sequence[Utility], number: str, measures: Sequence[str], sample: str) -> str:
    """Figures 3.3 to 3.6: the least height, average group and
    discernibility for one quasi-identifier.
    """
    title = f"Figure {number}: diversity takes {more_steps(found)} than k-anonymity"
    note = [
        f"Q = {{{spoken(found[0].quasi)}}}",
        f"Adult, {sample}; k = l on the horizontal axis{crosses(found)}",
    ]
    panels = [panel(found, name, AXES[name]) for name in measures]
    return drawn(
        {"title": {"text": title, "subtitle": note}, "hconcat": panels, "spacing": 36}, title
    )


def divergences(found: Sequence[Sequence[Utility]], number: str, sample: str) -> str:
    """Figures 3.7 and 3.8: the least divergence for each quasi-identifier,
    and that of the suppressed table.
    """
    title = f"Figure {number}: {how_near(found)}"
    missing = next((text for text in map(crosses, found) if text), "")
    note = (
        f"KL-divergence to the best table; Adult, {sample}; k = l on the horizontal axis; "
        f"dashed: all of Q suppressed{missing}"
    )
    panels = [
        {**panel(one, "kl", AXES["kl"], one[0].base), "title": small(spoken(one[0].quasi))}
        for one in found
    ]
    return drawn(
        {"title": {"text": title, "subtitle": note}, "hconcat": panels, "spacing": 36}, title
    )


def crosses(found: Sequence[Utility]) -> str:
    """What a cross means, where there is one."""
    return "" if all(one.least for one in found) else "; × where no table meets the definition"


def by_kind(found: Sequence[Utility], name: str) -> dict[tuple[str, int], float]:
    """A cost by definition and l, where there is one."""
    return {(one.kind, one.degree): one.least[name] for one in found if one.least}


def more_steps(found: Sequence[Utility]) -> str:
    """How many steps of generalization more than k-anonymity the diverse tables need, in words."""
    heights = by_kind(found, "height")
    more = [
        int(height - heights[KINDS[0], degree])
        for (kind, degree), height in heights.items()
        if kind != KINDS[0]
    ]
    low, high = min(more, default=0), max(more, default=0)
    steps = "step" if high == 1 else "steps"
    return f"{high} {steps} more" if low == high else f"{low} to {high} {steps} more"


def how_near(found: Sequence[Sequence[Utility]]) -> str:
    """Up to which l the best diverse table is nearly as good as the
    best k-anonymous one, in words.
    """
    within = []
    costs = [by_kind(part, "kl") for part in found]
    for degree in sorted({one.degree for part in found for one in part}):
        if not all(
            (kind, degree) in one and one[kind, degree] <= NEARLY * one[KINDS[0], degree]
            for one in costs
            for kind in KINDS
        ):
            break
        within.append(degree)
    best = f"up to l = {within[-1]} " if within else "at no l "
    return f"{best}the best diverse table is within 10 % of the best k-anonymous one"


def small(text: str) -> dict[str, Any]:
    """The title of a panel."""
    return {"text": text, "fontSize": 12, "fontWeight": 400, "color": MUTED, "offset": 8}


def spoken(quasi: Sequence[str]) -> str:
    """The columns as Machanavajjhala (2008) calls them.

    >>> spoken(["age", "sex"])
    'age, gender'
    """
    return ", ".join(NAMES.get(name, name) for name in quasi)


def panel(
    found: Sequence[Utility], name: str, title: str, base: float | None = None
) -> dict[str, Any]:
    """Bars side by side for each l; where nothing meets a definition, a cross instead of a bar."""
    rows = [
        {"l": one.degree, "kind": one.kind, "cost": one.least[name]} for one in found if one.least
    ]
    without = [{"l": one.degree, "kind": one.kind, "cost": 0} for one in found if not one.least]
    place = {
        "x": {
            "field": "l",
            "type": "ordinal",
            "title": None,
            "scale": {"paddingInner": 0.25},
            "axis": {"grid": False},
        },
        "xOffset": {"field": "kind", "sort": list(KINDS), "scale": {"domain": list(KINDS)}},
        "y": {
            "field": "cost",
            "type": "quantitative",
            "title": title,
            "axis": {"tickCount": 5, "format": "~s"},
        },
        "color": colour(KINDS, COLOURS),
    }
    layers: list[dict[str, Any]] = [{"data": {"values": rows}, "mark": "bar", "encoding": place}]
    cross = {"type": "text", "text": "×", "dy": -8, "fontSize": 14}
    layers.append({"data": {"values": without}, "mark": cross, "encoding": place})
    if base is not None:
        line = {"type": "rule", "strokeDash": [4, 4], "color": INK}
        layers.append(
            {"data": {"values": [{"cost": base}]}, "mark": line, "encoding": {"y": place["y"]}}
        )
    return {"width": 250, "height": 180, "layer": layers}
