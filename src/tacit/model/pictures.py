"""Pictures of results: bars with the border of what is required, as HTML and as an Altair chart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any, Literal

from tacit.errors import MissingExtra

Tone = Literal["holds", "breached", "undecided", "plain"]
COLOURS = {"holds": "#1a7f4b", "breached": "#b3261e", "undecided": "#8a6100", "plain": "#4a76a8"}
INK = "#566370"
WIDTH, STEP, LABEL = 160, 22, 190  # pixels of a bar, of a line and of its label


@dataclass(frozen=True, slots=True)
class Gauge:
    """A line of a picture: a number, and the border that it is compared with where it has one."""

    label: str
    value: float
    border: float | None = None
    tone: Tone = "plain"
    compared: str = "asked"  # what the border is

    @property
    def text(self) -> str:
        """The number, and what it is compared with.

        >>> Gauge("k", 1, 4).text
        '1 (asked: 4)'
        """
        border = "" if self.border is None else f" ({self.compared}: {self.border:.3g})"
        return f"{self.value:.3g}{border}"

    def length(self, whole: float | None, number: float | None) -> float:
        """How long a bar is, from 0 to 1: of `whole`, else of the larger of its two numbers."""
        most = whole or max(self.value, self.border or 0)
        return min(max((number or 0) / most, 0.0), 1.0) if most > 0 else 0.0


def gauges_html(gauges: Sequence[Gauge], whole: float | None = None) -> str:
    """The bars as inline SVG: no script, nothing is loaded.

    >>> gauges_html([]), gauges_html([Gauge("k", 1, 4)]).count("<rect")
    ('', 2)
    """
    if not gauges:
        return ""
    lines = []
    for place, one in enumerate(gauges):
        top, middle = place * STEP + 4, place * STEP + 15
        long = WIDTH * one.length(whole, one.value)
        lines.append(f'<text x="0" y="{middle}">{escape(shortened(one.label))}</text>')
        lines.append(rectangle(LABEL, top, long, 14, COLOURS[one.tone]))
        if one.border is not None:
            at = LABEL + WIDTH * one.length(whole, one.border)
            lines.append(rectangle(at - 1, top - 2, 2, 18, INK))
        lines.append(f'<text x="{LABEL + WIDTH + 8}" y="{middle}">{escape(one.text)}</text>')
    told = "; ".join(f"{one.label}: {one.text}" for one in gauges)
    return (
        f'<svg role="img" aria-label="{escape(told)}" width="{LABEL + WIDTH + 150}" '
        f'height="{len(gauges) * STEP + 4}" font-family="system-ui, sans-serif" font-size="12" '
        f'fill="currentColor">{"".join(lines)}</svg>'
    )


def rectangle(x: float, y: float, width: float, height: float, colour: str) -> str:
    """A bar, or the border of what is required."""
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}"/>'


def shortened(text: str, most: int = 27) -> str:
    """A label that fits before its bar."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def gauges_chart(gauges: Sequence[Gauge], title: str, whole: float | None = None) -> Any:
    """The same as an Altair chart, whose lines tell their numbers."""
    try:
        altair = import_module("altair")  # by name: this layer stands on the standard library
    except ImportError:
        raise MissingExtra("altair", extra="notebook", purpose="charts") from None
    rows = [
        {
            "place": place,
            "label": one.label,
            "share": one.length(whole, one.value),
            "border": None if one.border is None else one.length(whole, one.border),
            "text": one.text,
            "colour": COLOURS[one.tone],
        }
        for place, one in enumerate(gauges)
    ]
    named = altair.Axis(labelExpr=f"{json.dumps([one.label for one in gauges])}[datum.value]")
    base = altair.Chart(altair.Data(values=rows)).encode(
        y=altair.Y("place:O", axis=named, title=None),  # labels may stand twice
        tooltip=["label:N", "text:N"],
    )
    across = altair.Scale(domain=[0, 1])
    bars = base.mark_bar(height=14).encode(
        x=altair.X("share:Q", scale=across, axis=None),
        color=altair.Color("colour:N", scale=None),
    )
    borders = base.transform_filter("datum.border !== null").mark_tick(
        thickness=2, size=20, color=INK
    )
    ticks = borders.encode(x=altair.X("border:Q", scale=across, axis=None))
    numbers = base.mark_text(align="left", dx=6).encode(x=altair.value(320), text="text:N")
    return (bars + ticks + numbers).properties(title=title, width=320)
