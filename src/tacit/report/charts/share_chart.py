"""Charts of shares: in how many fitting tables the most exposed people have each value, and how
large crowds are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.portrait import EDGES, FEW, PortraitBar, trimmed
from tacit.families.words import people, saying, spoken
from tacit.model.numbers import percent, percent_exactly
from tacit.report.charts.portrait_chart import (
    EXPOSED,
    INK,
    LETTER,
    MUTED,
    SHELTERED,
    STEP,
    WIDTH,
    Chart,
    bar_chart,
    bar_lines,
    belief_axis,
    frame,
    halo,
    layer,
    of_people,
    picture,
    raw,
    shortened,
    span,
    text_mark,
    with_border,
)

if TYPE_CHECKING:
    from tacit.families.overlaps.stages import Stages

MOST_PEOPLE, MOST_CERTAIN = 4, 2  # in the chart of shares
MOST_VALUES = 5


# -- what the most exposed may have ----------------------------------------------------------------


def shares_chart(stages: Stages, gamma: Fraction) -> Chart | None:
    """For the most exposed people the share of tables in which they have each value;
    it names them. None where nobody is above gamma.
    """
    shown = most_exposed(stages, gamma)
    if not shown:
        return None
    rows: list[dict[str, Any]] = []
    for class_ in shown:
        rows += share_rows(stages, class_, gamma, len(rows))
    heads, bars = [row for row in rows if row["head"]], [row for row in rows if not row["head"]]
    left = LETTER * max(len(row["label"]) for row in bars) + 24
    right = LETTER * max(len(row["number"]) for row in bars) + 12
    width = WIDTH - left - right
    limit = [
        {"share": float(gamma), "y": row["row"] - STEP // 2, "y2": row["row"] + STEP // 2}
        for row in bars
    ]
    title = shares_finding(stages, shown[0], gamma)
    x = belief_axis("share")
    spec = {
        **frame(width, STEP * len(rows), left=left, right=right),
        "encoding": {"y": raw("row")},
        "layer": [
            layer(
                heads,
                text_mark("left", dx=-left, weight=600),
                x={"value": 0},
                text={"field": "label"},
            ),
            layer(bars, text_mark("left", dx=-left + 12), x={"value": 0}, text={"field": "label"}),
            layer(
                bars,
                {"type": "bar", "orient": "horizontal", "height": 18, "cornerRadiusEnd": 3},
                x=x,
                x2={"datum": 0},
                color=raw("colour"),
            ),
            layer(
                limit,
                {"type": "rule", "strokeDash": [4, 4], "color": INK},
                x=x,
                y=raw("y"),
                y2=raw("y2"),
            ),
            layer(bars, halo(text_mark("left", dx=8)), x=x, text={"field": "number"}),
            layer(
                bars, text_mark("left", dx=8), x=x, text={"field": "number"}, color={"value": MUTED}
            ),
        ],
    }
    note = (
        f"The share of fitting tables in which they have each {spoken(stages.sensitive)}; the "
        f"most exposed people first. The dashed line is gamma, {percent_exactly(gamma)}."
    )
    told = "; ".join(
        row["label"] if row["head"] else f"{row['label']}: {row['number']}" for row in rows
    )
    return Chart(unbroken(title), unbroken(note), picture(spec, title, told))


def most_exposed(stages: Stages, gamma: Fraction) -> list[int]:
    """The classes to show; where there are others, only a few whose value is certain:
    there is little to see.
    """
    above = [
        one
        for one in stages.exposed
        if one in stages.shares and stages.last.largest[one].least > gamma
    ]
    certain = [one for one in above if stages.last.largest[one].least == 1]
    others = above[len(certain) :]
    kept = certain[: max(MOST_CERTAIN, MOST_PEOPLE - len(others))]
    return [*kept, *others][:MOST_PEOPLE]


def share_rows(stages: Stages, class_: int, gamma: Fraction, before: int) -> list[dict[str, Any]]:
    """A person, or some who are alike, and the values that they may have."""
    largest = stages.last.largest[class_]
    same = next((one for one in stages.meanings if one[0] == largest.value), (largest.value,))
    possible = [(share, value) for value, share in enumerate(stages.shares[class_]) if share]
    ordered = sorted(possible, key=lambda one: (-one[0], one[1]))
    found = [
        {
            "head": True,
            "label": shortened(group_name(stages, class_), WIDTH // LETTER),
            "number": "",
            "share": 0.0,
            "colour": INK,
        }
    ]
    for share, value in ordered[:MOST_VALUES]:
        colour = EXPOSED if value in same or share > gamma else SHELTERED
        text = shortened(value_words(stages.values[value]), 22)
        found.append(
            {
                "head": False,
                "label": text,
                "number": percent(share, beside=gamma),
                "share": float(share),
                "colour": colour,
            }
        )
    if rest := ordered[MOST_VALUES:]:
        share = sum((one for one, _ in rest), Fraction(0))
        label = f"{len(rest)} others" if len(rest) > 1 else value_words(stages.values[rest[0][1]])
        found.append(
            {
                "head": False,
                "label": label,
                "number": percent(share, beside=gamma),
                "share": float(share),
                "colour": SHELTERED,
            }
        )
    return [
        {**row, "row": STEP * (before + number) + STEP // 2} for number, row in enumerate(found)
    ]


def group_name(stages: Stages, class_: int) -> str:
    """The people of a class by name."""
    names, many = (
        [person_by_key(key) for key in stages.members.get(class_, ())],
        stages.sizes[class_],
    )
    if not names:
        return people(many)
    shown = names[:2]
    return ", ".join(shown) + (f" and {many - len(shown):,} more" if many > len(shown) else "")


def shares_finding(stages: Stages, class_: int, gamma: Fraction) -> str:
    """What is believed most, and about whom."""
    one = stages.last.largest[class_]
    who = (
        f"{'each of ' if stages.sizes[class_] > 1 else ''}"
        f"{shortened(group_name(stages, class_), 40)}"
    )
    share = "every table" if one.least == 1 else f"{percent(one.least, beside=gamma)} of the tables"
    return (
        f"In {share} that fit{'s' if one.least == 1 else ''} {who} "
        f"{shortened(saying(stages.sensitive, stages.values[one.value]), 40)}"
    )


def unbroken(text: str) -> str:
    """A text that is not broken before a percent sign."""
    return text.replace(" %", "\u00a0%")


def person_by_key(key: Sequence[Any]) -> str:
    """A person by the values of the key."""
    return " ".join(value_text(one) for one in key)


def value_words(value: Any) -> str:
    """A value as a reader sees it."""
    return "(missing)" if value is None else value_text(value)


# -- crowds ----------------------------------------------------------------------------------------


def crowds_chart(sizes: Mapping[int, int], k: int, asked: str) -> Chart | None:
    """People by the size of their crowd; `sizes` says how many crowds have so many people,
    `asked` what crowds these are.
    """
    if not sizes:
        return None
    everybody = sum(size * many for size, many in sizes.items())
    below = sum(size * many for size, many in sizes.items() if size < k)
    smallest = min(sizes)
    title = (
        f"{of_people(below, everybody)} in a crowd smaller than {k:,}"
        if below
        else f"Everybody is in a crowd of {smallest:,} or more"
    )
    bars = size_bars(sizes, k)
    lines = with_border(
        bar_lines(bars, lambda bar: f"{'crowd' if bar.high == 1 else 'crowds'} of {span(bar)}", k),
        bars,
        k,
    )
    note = (
        f"{asked}: people by the size of their crowd, those who could swap their values "
        "without anybody noticing."
    )
    return Chart(title, note, bar_chart(lines, everybody, title))


def size_bars(sizes: Mapping[int, int], k: int) -> tuple[PortraitBar, ...]:
    """People by the size of their crowd: a bar for each size, or ranges where there are many.

    >>> size_bars({1: 2, 3: 4}, 2)
    (PortraitBar(low=1, high=1, people=2), PortraitBar(low=3, high=3, people=12))
    """
    if len(sizes) <= FEW:
        return tuple(PortraitBar(size, size, size * sizes[size]) for size in sorted(sizes))
    edges = sorted({*EDGES, k})
    inside: Counter[int] = Counter()
    for size, many in sizes.items():
        inside[int(np.searchsorted(edges, size, side="right")) - 1] += size * many
    return trimmed(
        PortraitBar(low, above - 1, inside[number])
        for number, (low, above) in enumerate(pairwise(edges))
    )
