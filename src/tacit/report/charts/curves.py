"""Curves of a synthetic release: what is promised at every epsilon, and how far distances are
off by size of group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.utility.flow_utility import Band, FlowUtility
from tacit.families.words import plural
from tacit.model.numbers import percent, plain
from tacit.model.verdict import Verdict
from tacit.report.charts.portrait_chart import (
    EXPOSED,
    FAINT,
    INK,
    MUTED,
    SHELTERED,
    SIZE,
    WIDTH,
    Chart,
    frame,
    halo,
    layer,
    picture,
    text_mark,
)

LEFT, RIGHT, TOP, BOTTOM = 58, 22, 14, 52
HEIGHT = 260
LEAST_DELTA = 1e-14  # what is below is not drawn
SHOWN = 120  # groups in a scatter, as many as in Machanavajjhala's (2008) figures
SIDES = (("true", EXPOSED), ("synthetic", SHELTERED))
BASELINE = "#9aa7b4"

Point = tuple[float, float]


def privacy_curve(
    points: Sequence[Point], epsilon: float, delta: Fraction, *, guarantee: str = "dp"
) -> Chart | None:
    """Delta at every epsilon, on a log scale, with the promise;
    None where there is nothing to draw.
    """
    drawn = sorted((float(at), float(most)) for at, most in points if most >= LEAST_DELTA)
    if len(drawn) < 2:
        return None
    title = curve_finding(epsilon, delta)
    exceptions = (
        "the chance of an output that tells more"
        if guarantee == "pdp"
        else "how much more likely than that an output may still become"
    )
    note = (
        "The same noise, read at other values of ε, in the group that needs most: δ is "
        f"{exceptions}. Further left is the stronger promise."
    )
    return Chart(
        title, note, picture(curve_spec(drawn, epsilon, float(delta)), title, describe_curve(drawn))
    )


def checked_curves(verdicts: Sequence[Verdict]) -> list[Chart]:
    """The curve of every check of a mechanism that holds, with the point that was asked."""
    found = []
    for verdict in verdicts:
        if (
            verdict.certificate is None
            or verdict.certificate.kind != "curve"
            or "curve" not in verdict.certificate.facts
        ):
            continue
        points = [(float(at), float(most)) for at, most in verdict.certificate.facts["curve"]]
        kind = "pdp" if verdict.check == "probabilistic-dp" else "dp"
        epsilon = float(Epsilon.read(verdict.required["epsilon"]))
        if chart := privacy_curve(points, epsilon, verdict.required["delta"], guarantee=kind):
            found.append(chart)
    return found


def curve_finding(epsilon: float, delta: Fraction) -> str:
    """The promise in one sentence.

    >>> curve_finding(math.log(50), Fraction("1e-5")), curve_finding(1.0, Fraction(0))
    ('No output becomes more than 50 times likelier, up to δ = 0.00001', 'No output becomes more than 2.72 times likelier')
    """  # noqa: E501
    exception = f", up to δ = {delta_text(delta)}" if delta else ""
    return f"No output becomes more than {times_text(math.exp(epsilon))} times likelier{exception}"


def times_text(number: float) -> str:
    """A ratio with three digits, rounded up.

    >>> times_text(50.0), times_text(99.484), times_text(2.71828), times_text(5431.7)
    ('50', '99.5', '2.72', '5,440')
    """
    digits = 2 - math.floor(math.log10(number))
    up = math.ceil(number * 10.0**digits - 1e-9) / 10.0**digits
    return f"{up:,.{max(0, digits)}f}".rstrip("0").rstrip(".") if digits > 0 else f"{up:,.0f}"


def delta_text(delta: Fraction | float) -> str:
    """A delta as a person reads it: a short decimal, else with an exponent, rounded up.

    >>> (
    ...     delta_text(Fraction("1e-5")),
    ...     delta_text(Fraction(0)),
    ...     delta_text(2.3456e-9),
    ...     delta_text(Fraction(1, 3)),
    ...     delta_text(1e-5),
    ... )
    ('0.00001', '0', '2.35e-9', '0.334', '0.00001')
    >>> delta_text(Fraction("2e-400")), delta_text(9.9999e-9)
    ('2e-400', '1e-8')
    """
    if not delta:
        return "0"
    if isinstance(delta, Fraction) and "/" not in plain(delta):
        return plain(delta)
    exact = Fraction(delta)
    number = Decimal(exact.numerator) / Decimal(
        exact.denominator
    )  # a float may be too coarse for it
    power = number.adjusted()
    first = math.ceil(float(number.scaleb(-power)) * 100 - 1e-9) / 100
    if power >= -6:
        return f"{first * 10.0**power:.{2 - power}f}".rstrip("0").rstrip(".")
    return f"{first:g}e{power}" if first < 10 else f"1e{power + 1}"


def curve_spec(drawn: Sequence[Point], epsilon: float, delta: float) -> dict[str, Any]:
    """The line, and the promised point with its name."""
    width = WIDTH - LEFT - RIGHT
    lowest = min([most for _, most in drawn] + ([delta] if delta else []))
    ends = (10.0 ** math.floor(math.log10(lowest)), 1.0)
    across = (min(drawn[0][0], epsilon), max(drawn[-1][0], epsilon))
    x = axis("epsilon", across, "ε →  δ upwards", ".6~g")
    y = axis("delta", ends, "", "~e", log=True)
    rows = [{"epsilon": at, "delta": most} for at, most in drawn]
    promised = [
        {
            "epsilon": epsilon,
            "delta": delta or ends[0],
            "label": f"δ = {delta_text(delta)}",
            "below": f"promised at ε = {epsilon:.4g}",
        }
    ]
    # Above the line, which falls to the right; below it where there is no room:
    # the longest words take nearly half of the width.
    free = epsilon < across[0] + 0.53 * (across[1] - across[0])
    side, away = ("left", 12) if free else ("right", -12)
    up = -32 if free or not delta else 14  # a delta of 0 stands on the axis
    labels = []
    for name, down in (("label", 0), ("below", 18)):
        mark = {**text_mark(side, dx=away, weight=600 if name == "label" else 400), "dy": up + down}
        labels += [
            layer(promised, halo(mark), x=x, y=y, text={"field": name}),
            layer(promised, mark, x=x, y=y, text={"field": name}),
        ]
    rule = {"type": "rule", "strokeDash": [4, 4], "color": MUTED}
    return {
        **frame(width, HEIGHT, left=LEFT, right=RIGHT),
        "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        "layer": [
            layer(promised, rule, x=x, y={"value": 0}, y2={"value": HEIGHT}),
            layer(rows, {"type": "line", "strokeWidth": 2.5, "color": SHELTERED}, x=x, y=y),
            layer(
                promised,
                {"type": "point", "filled": True, "size": 150, "opacity": 1, "color": INK},
                x=x,
                y=y,
            ),
            *labels,
        ],
    }


def describe_curve(drawn: Sequence[Point]) -> str:
    """Some points of the line in words."""
    some = drawn[:: max(1, len(drawn) // 6)]
    return "; ".join(f"delta {delta_text(most)} at epsilon {at:.3g}" for at, most in some)


def axis(
    field: str, ends: tuple[float, float], title: str, form: str, *, log: bool = False
) -> dict[str, Any]:
    """A scale with quiet ticks."""
    look = {
        "title": title or None,
        "titleColor": MUTED,
        "titleFontSize": SIZE,
        "titleFontWeight": 400,
        "titlePadding": 8,
        "labelColor": MUTED,
        "labelFontSize": SIZE - 1,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "gridColor": "#eef1f4",
        "tickCount": 5,
        "format": form,
        "aria": False,
        "labelOverlap": True,
        "grid": not log or field == "delta",
    }
    scale = {"type": "log" if log else "linear", "domain": list(ends), "zero": False, "nice": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": look}


# -- distances -------------------------------------------------------------------------------------


def distance_charts(utility: FlowUtility, group: str) -> list[Chart]:
    """Mean distances against sizes of groups, as in Machanavajjhala's (2008) Figures 4.1 to 4.4."""
    if not utility.has_distances:
        return []
    return [
        one
        for one in (scatter(utility, group), scatter(utility, group, short=True))
        if one is not None
    ]


def scatter(utility: FlowUtility, group: str, *, short: bool = False) -> Chart | None:
    """Mean distance against people, true and synthetic, of some groups;
    `short` leaves long distances out.
    """
    groups = utility.groups
    sides = (
        (groups.short_true, groups.short_synthetic)
        if short
        else (groups.mean_true, groups.mean_synthetic)
    )
    known = np.flatnonzero(~np.isnan(sides[0]) & ~np.isnan(sides[1]))
    if not len(known):
        return None
    some = spread(known, groups.people)
    title = scatter_finding(utility, short=short)
    which = (
        f"All {plural(group, len(some))}"
        if len(some) == len(known)
        else f"{plural(group, len(some))} of {len(known):,}, of all sizes"
    )
    kept = (
        f" Distances below {utility.short:.3g} miles only, half of all true ones." if short else ""
    )
    note = (
        "Mean distance in miles against the number of people: ring true, dot synthetic. "
        f"{which}.{kept}"
    )
    rows = [
        {
            "people": int(groups.people[one]),
            "true": float(sides[0][one]),
            "synthetic": float(sides[1][one]),
        }
        for one in some.tolist()
    ]
    return Chart(title, note, picture(scatter_spec(rows), title, describe_bands(utility.bands)))


def spread(known: Any, people: Any) -> Any:
    """At most so many groups as are drawn, evenly from the smallest to the largest."""
    ordered = known[np.lexsort((known, people[known]))]
    return ordered[
        np.unique(np.linspace(0, len(ordered) - 1, min(SHOWN, len(ordered))).astype(np.int64))
    ]


def scatter_finding(utility: FlowUtility, *, short: bool) -> str:
    """Which way the mean distance moved."""
    true, synthetic = (
        (utility.short_mean_true, utility.short_mean_synthetic)
        if short
        else (utility.mean_true, utility.mean_synthetic)
    )
    what = "Of short distances only, the" if short else "The"
    if math.isnan(synthetic):
        return f"{what} mean distance is {true:.3g} miles; no synthetic person has one"
    return f"{what} mean distance is {synthetic:.3g} miles; truly it is {true:.3g}"


def scatter_spec(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Rings and dots, each pair joined by a faint line."""
    width = WIDTH - LEFT - RIGHT
    sizes = [row["people"] for row in rows]
    highest = max(max(row["true"], row["synthetic"]) for row in rows)
    across = (min(sizes) * 0.8, max(sizes) * 1.25)
    up = (0.0, highest * 1.12 or 1.0)
    x = axis("people", across, "people in the group", "~s", log=True)
    legend = [
        {"at": width - 136 + 66 * place, "label": name} for place, (name, _) in enumerate(SIDES)
    ]
    ring = {
        "type": "point",
        "size": 42,
        "fill": "white",
        "strokeWidth": 1.6,
        "opacity": 1,
        "color": EXPOSED,
    }
    dot = {"type": "point", "size": 42, "filled": True, "opacity": 0.85, "color": SHELTERED}
    place = {"x": {"field": "at", "type": "quantitative", "scale": None}, "y": {"value": -4}}
    return {
        **frame(width, HEIGHT, left=LEFT, right=RIGHT),
        "padding": {"left": LEFT, "right": RIGHT, "top": TOP + 8, "bottom": BOTTOM},
        "layer": [
            layer(
                rows,
                {"type": "rule", "color": "#c3ccd5", "strokeWidth": 1},
                x=x,
                y=axis("true", up, "miles", ".6~g"),
                y2={"field": "synthetic"},
            ),
            layer(rows, ring, x=x, y=axis("true", up, "miles", ".6~g")),
            layer(rows, dot, x=x, y=axis("synthetic", up, "miles", ".6~g")),
            layer(legend[:1], ring, **place),
            layer(legend[1:], dot, **place),
            layer(
                legend,
                text_mark("left", dx=9),
                text={"field": "label"},
                color={"value": MUTED},
                **place,
            ),
        ],
    }


def error_charts(
    utility: FlowUtility, group: str, baseline: FlowUtility | None = None
) -> list[Chart]:
    """Errors by size of group, beside the baseline's: of the mean distance, and of the shares."""
    drawn = [
        error_chart(
            utility,
            group,
            baseline,
            "error",
            "The mean distance",
            lambda error: f"{error:.2g} miles",
        )
    ]
    drawn.append(
        error_chart(
            utility,
            group,
            baseline,
            "total_variation",
            "The share of people with a wrong value",
            percent,
        )
    )
    return [one for one in drawn if one is not None]


def error_chart(
    utility: FlowUtility,
    group: str,
    baseline: FlowUtility | None,
    name: str,
    what: str,
    text: Callable[[float], str],
) -> Chart | None:
    """The medians of one error by size of group; None where there are none."""
    bands = [band for band in utility.bands if not math.isnan(getattr(band, name))]
    if not bands:
        return None
    beside = (
        {band.least: getattr(band, name) for band in baseline.bands} if baseline is not None else {}
    )
    rows = []
    for place, band in enumerate(bands):
        for error, colour, down in (
            (getattr(band, name), SHELTERED, 14),
            (beside.get(band.least, math.nan), BASELINE, 29),
        ):
            if not math.isnan(error):
                rows.append(
                    {
                        "row": 40 * place + down,
                        "label": band.label if down == 14 else "",
                        "length": error,
                        "number": text(error),
                        "colour": colour,
                    }
                )
    first, last = bands[0], bands[-1]
    off = "is off by" if name == "error" else "is"
    title = (
        f"{what} {off} {text(getattr(first, name))} in "
        f"{plural(group, first.groups).split(' ', 1)[1]} of {first.label}"
    )
    title += f", {text(getattr(last, name))} in those of {last.label}" if last is not first else ""
    note = "Medians by people in the group." + (
        " Grey: a thresholded histogram with the same ε and δ." if beside else ""
    )
    told = "; ".join(f"{row['label']}: {row['number']}" for row in rows if row["label"])
    return Chart(title, note, picture(error_spec(rows, 40 * len(bands)), title, told))


def error_spec(rows: Sequence[dict[str, Any]], height: int) -> dict[str, Any]:
    """Thin bars with their numbers."""
    left, right = 130, 96
    width = WIDTH - left - right
    longest = max(row["length"] for row in rows) or 1.0
    x = {"field": "length", "type": "quantitative", "scale": {"domain": [0, longest]}, "axis": None}
    y = {"field": "row", "type": "quantitative", "scale": None}
    bar = {"type": "bar", "orient": "horizontal", "height": 12, "cornerRadiusEnd": 3}
    return {
        **frame(width, height, left=left, right=right),
        "layer": [
            layer(
                rows,
                bar,
                x=x,
                x2={"datum": 0},
                y=y,
                color={"field": "colour", "type": "nominal", "scale": None},
            ),
            layer(rows, text_mark("left", dx=-left), x={"value": 0}, y=y, text={"field": "label"}),
            layer(
                rows,
                text_mark("left", dx=8),
                x=x,
                y=y,
                text={"field": "number"},
                color={"value": MUTED},
            ),
        ],
    }


def describe_bands(bands: Sequence[Band]) -> str:
    """Errors by size of group in words."""
    return "; ".join(
        f"{band.label} people: off by {band.error:.2g} miles"
        for band in bands
        if not math.isnan(band.error)
    )
