"""Charts: Vega-Lite specs of a release's portrait, drawn as inline SVG with a finding for a title.

Lengths are pixels that we set ourselves, so that a chart does not depend on the fonts of the
machine that draws it. Worst comes first in every chart, in the one warm colour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import Any

from tacit.errors import MissingExtra
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.portrait import Example, Exposure, Portrait, PortraitBar
from tacit.families.words import name_of, people, plural
from tacit.model.numbers import percent, percents
from tacit.model.verdict import Audience, Verdict
from tacit.report.escaping import escaped_inside

# Blue and vermilion differ in lightness too: readable for the colour blind, in grey and on paper.
INK, MUTED, FAINT = "#1c2733", "#566370", "#d5dbe1"
EXPOSED, SHELTERED = "#c2410c", "#4a76a8"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
SIZE = 14
WIDTH = 400
STEP = 30  # height of a bar with its space
LETTER = 8  # the width of a letter, in the widest of the fonts
LABEL = 25  # letters of a label: groups of 100,000–999,999
ROW = 46  # height of a person in the chart of beliefs
RIGHT = 66  # room for "100 %" behind the scale of beliefs


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its finding as a title, and how to read it."""

    title: str
    note: str
    svg: str


@dataclass(frozen=True, slots=True)
class BarLine:
    """A line of a bar chart: a bar, or (with no people) the border of what is required."""

    label: str
    people: int | None = None
    exposed: bool = False


def charts(portrait: Portrait, verdicts: Sequence[Verdict], audience: Audience) -> list[Chart]:
    """The charts of one release: sizes of groups, diversity of groups, who is exposed."""
    drawn = [sizes(portrait, required_k(verdicts))]
    for exposure in portrait.exposures:
        drawn.append(diversity(portrait, exposure, required_l(verdicts, exposure.sensitive)))
        drawn.append(beliefs(portrait, exposure))
        if audience == "owner" and exposure.examples:
            drawn.append(exposed_people(exposure))
    if any(verdict.required.get("missing") == "match-any" for verdict in verdicts):
        drawn = [
            replace(chart, note=f"{chart.note} A missing value is drawn as a value of its own.")
            for chart in drawn
        ]
    return drawn


def required_k(verdicts: Iterable[Verdict]) -> int | None:
    """The largest group that a check asks for."""
    asked = [int(one.required["k"]) for one in verdicts if one.check == "k-anonymity"]
    return max(asked, default=None)


def required_l(verdicts: Iterable[Verdict], sensitive: str) -> int | None:
    """The most values of a column that a check asks for in every group."""
    asked = [
        int(one.required["l"])
        for one in verdicts
        if one.required.get("kind") == "distinct" and sensitive in judged_columns(one)
    ]
    return max(asked, default=None)


def judged_columns(verdict: Verdict) -> tuple[str, ...]:
    """The sensitive columns that a verdict speaks of."""
    evidence = verdict.witness or verdict.certificate
    named = evidence.facts.get("sensitive", ()) if evidence else ()
    return (named,) if isinstance(named, str) else tuple(named)


def sizes(portrait: Portrait, required: int | None) -> Chart:
    """People by the size of their group."""
    least = required or 2
    title = size_finding(portrait, least)

    def label(bar: PortraitBar) -> str:
        return f"{'group' if bar.high == 1 else 'groups'} of {span(bar)}"

    lines = bar_lines(portrait.sizes, label, least)
    if required:
        lines = with_border(lines, portrait.sizes, required)
    note = (
        "People by the size of their group: how many people share what the release shows of them."
    )
    return Chart(title, note, bar_chart(lines, portrait.people, title))


def size_finding(portrait: Portrait, least: int) -> str:
    """What the sizes say in one sentence."""
    below = sum(bar.people for bar in portrait.sizes if bar.high < least)
    first, last = portrait.sizes[0], portrait.sizes[-1]
    if first.low == last.high:
        return (
            "Everybody stands alone"
            if first.low == 1
            else f"Everybody is in a group of {first.low:,}"
        )
    if not below:
        return f"Everybody is in a group of {portrait.smallest:,} or more"
    if least == 2:
        return f"{of_people(below, portrait.people)} alone in their group"
    return f"{of_people(below, portrait.people)} in groups smaller than {least:,}"


def diversity(portrait: Portrait, exposure: Exposure, required: int | None) -> Chart:
    """People by the number of sensitive values in their group."""
    column = noun(exposure.sensitive)
    title = diversity_finding(portrait, exposure, column)

    def label(bar: PortraitBar) -> str:
        return (
            f"no known {column}"
            if bar.high == 0
            else plural(column, bar.high).replace(f"{bar.high:,}", span(bar), 1)
        )

    lines = bar_lines(exposure.diversity, label, required or 2)
    if required:
        lines = with_border(lines, exposure.diversity, required)
    note = (
        f"People by how many different values of {column} their group has. Where there is "
        "one, everybody in it has it."
    )
    if exposure.several:
        note += " Of people who have several, only the most frequent are counted."
    if len(portrait.exposures) > 1:
        note += " Other sensitive columns are taken as unknown."
    return Chart(title, note, bar_chart(lines, portrait.people, title))


def diversity_finding(portrait: Portrait, exposure: Exposure, column: str) -> str:
    """What the diversity says in one sentence."""
    alike = sum(bar.people for bar in exposure.diversity if bar.low == bar.high == 1)
    if alike:
        return f"{of_people(alike, portrait.people)} in groups with one {column}"
    known = [bar.low for bar in exposure.diversity if bar.high]
    if not known:
        return f"No {column} is known"
    groups = (
        "Every group"
        if len(known) == len(exposure.diversity)
        else f"Every group with a known {column}"
    )
    return f"{groups} has at least {plural(column, min(known))}"


def beliefs(portrait: Portrait, exposure: Exposure) -> Chart:
    """People by how sure somebody can be about them."""
    column = noun(exposure.sensitive)
    title = f"Nobody's {column} can be believed with more than {percent(exposure.greatest)}"
    if exposure.certain:
        title = (
            f"The {column} of {exposure.certain:,} of {people(portrait.people)} can be known "
            "for certain"
        )
    lines = [
        BarLine(belief_range(bar.low, bar.high), bar.people, bar.low == 1)
        for bar in exposure.beliefs
    ]
    lines += [BarLine("nothing known", exposure.unknown)] if exposure.unknown else []
    note = (
        "People by the greatest belief that somebody who sees the release can have in one "
        f"{column} for them."
    )
    return Chart(title, note, bar_chart(lines, portrait.people, title))


def belief_range(low: Fraction, high: Fraction) -> str:
    """A belief, or a range of beliefs, in words.

    >>> half = Fraction(1, 2)
    >>> (
    ...     belief_range(half, half),
    ...     belief_range(half, Fraction(3, 4)),
    ...     belief_range(half, Fraction(1)),
    ... )
    ('50 %', '50 to 75 %', '50 % or more')
    """
    if low == high:
        return "certain" if low == 1 else percent(low)
    if high == 1:
        return f"{percent(low, down=True)} or more"
    return (
        f"{percent(low, down=True).removesuffix(' %')} to {percent(high)}"
        if low
        else f"under {percent(high)}"
    )


def exposed_people(exposure: Exposure) -> Chart:
    """The most exposed people: belief in their true value before and after."""
    column = noun(exposure.sensitive)
    title = example_finding(exposure, column)
    note = (
        f"How sure one can be of the true {column}: ring before the release, dot after it. "
        "The most exposed people first."
    )
    texts = [percents(one.before, one.after) for one in exposure.examples]
    told = "; ".join(
        f"{person_name(one)}, {before} before, {after} after"
        for one, (before, after) in zip(exposure.examples, texts, strict=True)
    )
    return Chart(title, note, picture(dumbbells(exposure.examples), title, told))


def example_finding(exposure: Exposure, column: str) -> str:
    """What becomes of the most exposed person."""
    first = exposure.examples[0]
    whose = f"{name_of(first.person)}'s {column}"
    certain = "is certain" if first.before == 1 else "becomes certain"
    if exposure.certain and first.person.identity:
        return f"{whose} {certain}{others(exposure.certain - 1)}"
    if exposure.certain:
        return f"The {column} of {people(exposure.certain)} {certain}"
    before, after = percents(first.before, first.after)
    return f"Belief in {whose} goes from {before} to {after}"


def others(number: int) -> str:
    """How many besides the one named.

    >>> others(0), others(1), others(3)
    ('', ', and that of 1 other', ', and that of 3 others')
    """
    return f", and that of {number:,} other{'s' if number > 1 else ''}" if number else ""


def person_name(example: Example) -> str:
    """A person by name, or else by what is known about them."""
    if example.person.identity:
        return name_of(example.person)
    return ", ".join(
        "?" if value is None else value_text(value) for value in example.person.known.values()
    )


def noun(column: str) -> str:
    """A column's name as a word of a sentence."""
    return column.replace("_", " ")


def of_people(part: int, whole: int) -> str:
    """How many of all people, with a verb.

    >>> of_people(4, 12), of_people(1, 12), of_people(12, 12)
    ('4 of 12 people are', '1 of 12 people is', 'All 12 people are')
    """
    if part == whole:
        return f"All {people(whole)} are" if whole > 1 else "The only person is"
    return f"{part:,} of {people(whole)} {'is' if part == 1 else 'are'}"


def span(bar: PortraitBar) -> str:
    """The range of a bar.

    >>> span(PortraitBar(4, 4, 1)), span(PortraitBar(1000, 9999, 1))
    ('4', '1,000–9,999')
    """
    return f"{bar.low:,}" if bar.low == bar.high else f"{bar.low:,}–{bar.high:,}"


def bar_lines(
    bars: Sequence[PortraitBar], label: Callable[[PortraitBar], str], least: int
) -> list[BarLine]:
    """Bars as lines, exposed where they stay below what is asked."""
    return [BarLine(label(bar), bar.people, bar.high < least) for bar in bars]


def with_border(lines: list[BarLine], bars: Sequence[PortraitBar], required: int) -> list[BarLine]:
    """The lines with the border between those that fail and those that meet what is required."""
    place = sum(bar.high < required for bar in bars)
    return [*lines[:place], BarLine(f"required: {required:,}"), *lines[place:]]


def bar_chart(lines: Sequence[BarLine], whole: int, title: str) -> str:
    """Horizontal bars, each with its label before it and its number behind it."""
    return draw_bars([bar_row(i, line, whole) for i, line in enumerate(lines)], title)


def share_chart(shares: Sequence[tuple[str, float, str]], title: str) -> str:
    """Bars for shares from 0 to 1, each with its label, its length and what stands behind it."""
    rows = [
        {**bar_row(place, BarLine(label, 0), 1), "length": share, "number": told}
        for place, (label, share, told) in enumerate(shares)
    ]
    return draw_bars(rows, title, widest=1.0)


def draw_bars(rows: Sequence[dict[str, Any]], title: str, *, widest: float = 0.0) -> str:
    """Draw the rows of a bar chart; the longest bar is as wide as there is room, or `widest` is."""
    left = LETTER * max(len(row["label"]) for row in rows) + 12
    right = LETTER * max(len(row["number"]) for row in rows) + 12
    width = WIDTH - left - right
    bars, borders = [row for row in rows if row["bar"]], [row for row in rows if not row["bar"]]
    widest = widest or max([row["length"] for row in bars], default=1) or 1
    x = {"field": "length", "type": "quantitative", "scale": {"domain": [0, widest]}, "axis": None}
    bar = {"type": "bar", "orient": "horizontal", "height": 18, "cornerRadiusEnd": 3}
    border = {"type": "rule", "strokeDash": [4, 4], "color": MUTED}
    spec = {
        **frame(width, STEP * len(rows), left=left, right=right),
        "encoding": {"y": raw("row")},
        "layer": [
            layer(bars, bar, x=x, x2={"datum": 0}, color=raw("colour")),
            layer(
                rows,
                text_mark("left", dx=-left),
                x={"value": 0},
                text={"field": "label"},
                color=raw("ink"),
            ),
            layer(
                bars, text_mark("left", dx=8), x=x, text={"field": "number"}, color={"value": MUTED}
            ),
            layer(borders, border, x={"value": 0}, x2={"value": width + right}),
        ],
    }
    told = "; ".join(
        f"{row['label']}: {row['number']}" if row["bar"] else row["label"] for row in rows
    )
    return picture(spec, title, told)


def bar_row(place: int, line: BarLine, whole: int) -> dict[str, Any]:
    """The data of one line."""
    bar = line.people is not None
    number = line.people or 0
    return {
        "row": STEP * place + STEP // 2,
        "bar": bar,
        "label": shortened(line.label, LABEL),
        "length": number,
        "number": f"{number:,} · {percent(Fraction(number, whole))}" if bar else "",
        "colour": EXPOSED if line.exposed else SHELTERED,
        "ink": INK if bar else MUTED,
    }


def dumbbells(examples: Sequence[Example]) -> dict[str, Any]:
    """A line per person from the belief before (ring) to the belief after (dot)."""
    rows = [dumbbell(i, example) for i, example in enumerate(examples)]
    moved = [row for row in rows if row["before"] != row["after"]]
    left = LETTER * max(len(row["before_text"]) for row in rows) + 14
    width = WIDTH - left - RIGHT
    before, after, head, middle = (
        belief_axis("before"),
        belief_axis("after"),
        raw("head"),
        raw("row"),
    )
    colour, muted = raw("colour"), {"value": MUTED}
    ring = {"type": "point", "size": 90, "fill": "white", "strokeWidth": 2, "opacity": 1}
    dot = {"type": "point", "size": 110, "filled": True, "opacity": 1}
    outward = text_mark({"expr": "datum.side"}, dx={"expr": "datum.shift"}, weight=600)
    inward = text_mark({"expr": "datum.other_side"}, dx={"expr": "-datum.shift"})
    whole = {"x": {"value": 0}, "x2": {"value": width}}
    return {
        **frame(width, ROW * len(rows), left=left, right=RIGHT),
        "layer": [
            layer(
                rows,
                text_mark("left", dx=-left, weight=600),
                x={"value": 0},
                y=head,
                text={"field": "name"},
            ),
            layer(
                rows,
                text_mark("right", dx=RIGHT),
                x={"value": width},
                y=head,
                text={"field": "value"},
                color=muted,
            ),
            layer(rows, {"type": "rule", "color": FAINT, "strokeWidth": 2}, **whole, y=middle),
            layer(
                moved,
                {"type": "rule", "strokeWidth": 4},
                x=before,
                x2={"field": "after"},
                y=middle,
                color=colour,
            ),
            layer(rows, halo(outward), x=after, y=middle, text={"field": "after_text"}),
            layer(moved, halo(inward), x=before, y=middle, text={"field": "before_text"}),
            layer(rows, ring, x=before, y=middle, color=colour),
            layer(rows, dot, x=after, y=middle, color=colour),
            layer(rows, outward, x=after, y=middle, text={"field": "after_text"}, color=colour),
            layer(moved, inward, x=before, y=middle, text={"field": "before_text"}, color=muted),
        ],
    }


def dumbbell(place: int, example: Example) -> dict[str, Any]:
    """The data of one person; numbers stand outside the line, whichever way it runs."""
    value = shortened(value_text(example.value), 24)
    rises = example.after >= example.before
    before_text, after_text = percents(example.before, example.after)
    return {
        "row": ROW * place + 32,
        "head": ROW * place + 13,
        "name": shortened(person_name(example), WIDTH // (LETTER + 1) - len(value)),
        "value": value,
        "before": float(example.before),
        "after": float(example.after),
        "before_text": before_text,
        "after_text": after_text,
        "side": "left" if rises else "right",
        "other_side": "right" if rises else "left",
        "shift": 12 if rises else -12,
        "colour": EXPOSED if example.after > example.before else SHELTERED,
    }


def belief_axis(field: str) -> dict[str, Any]:
    """A belief on a scale from impossible to certain."""
    return {"field": field, "type": "quantitative", "scale": {"domain": [0, 1]}, "axis": None}


def shortened(text: str, most: int) -> str:
    """A text that is not too long.

    >>> shortened("Viral Infection", 9)
    'Viral In…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def raw(field: str) -> dict[str, Any]:
    """A field that is a colour or a place already."""
    return {
        "field": field,
        "type": "nominal" if field in ("colour", "ink") else "quantitative",
        "scale": None,
    }


def layer(rows: Sequence[dict[str, Any]], mark: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    """Marks of one kind for some rows."""
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


def text_mark(align: Any, *, dx: Any = 0, weight: int = 400) -> dict[str, Any]:
    """A text in the charts' type."""
    return {
        "type": "text",
        "align": align,
        "baseline": "middle",
        "dx": dx,
        "fontSize": SIZE,
        "fontWeight": weight,
        "color": INK,
    }


def halo(text: dict[str, Any]) -> dict[str, Any]:
    """A white edge below a text that stands on a line."""
    return {**text, "color": "white", "stroke": "white", "strokeWidth": 6}


def frame(width: int, height: int, *, left: int, right: int) -> dict[str, Any]:
    """A drawing of a fixed size, with room for labels left and right."""
    return {
        "width": width,
        "height": height,
        "autosize": {"type": "none"},
        "padding": {"left": left, "right": right, "top": 0, "bottom": 0},
        "config": {"aria": False, "background": None, "font": FONT, "view": {"stroke": None}},
    }


def picture(spec: dict[str, Any], title: str, told: str) -> str:
    """Draw a spec as SVG to stand inside a page, with its finding and numbers for a screen reader.

    The root element is written anew: no namespaces, which a page does not need.
    """
    try:
        from vl_convert import vegalite_to_svg
    except ImportError:
        raise MissingExtra("vl-convert-python", extra="report", purpose="HTML reports") from None
    drawn = vegalite_to_svg(
        escaped_inside(spec), allowed_base_urls=[]
    )  # one control character ends the whole process
    root, inside = drawn.split(">", 1)
    inside = re.sub(
        r' (?:role|aria-roledescription|aria-label)="[^"]*"', "", inside
    )  # the root says it all, once
    size = " ".join(re.findall(r'(?:width|height|viewBox)="[\d. ]+"', root))
    return (
        f'<svg role="img" {size} '
        f'aria-label="{escape(f"{title}. {told}.")}"><title>{escape(title)}</title>{inside}'
    )
