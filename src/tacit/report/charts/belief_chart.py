"""Chart of beliefs: everybody's largest share of fitting tables, release by release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.words import people, spoken
from tacit.model.numbers import percent, percent_exactly
from tacit.report.charts.portrait_chart import (
    EXPOSED,
    FAINT,
    INK,
    LETTER,
    MUTED,
    SHELTERED,
    WIDTH,
    Chart,
    frame,
    layer,
    of_people,
    picture,
    raw,
    shortened,
    text_mark,
)
from tacit.report.charts.share_chart import person_by_key, unbroken

if TYPE_CHECKING:
    from tacit.families.overlaps.stages import Stages

LEFT, LEAST_RIGHT = 56, 100  # room for the scale, and for names
BEHIND = 21  # letters of a label behind the lines
MOST_TICKS = 9
TOP, HIGH, BOTTOM = 12, 200, 46  # of the chart of beliefs: above the scale, the scale, below it
GAP = 18  # between two labels
MOST_PATHS = 12  # with a line each; more are shown as bands and the exposed ones
MOST_EXPOSED = 6
THIN, THICK = 1.5, 7.0
SCALES = tuple(
    Fraction(one, 25) for one in (1, 5, 10, 25)
)  # where a scale ends: in four steps of 1, 5, 10 or 25 percent


@dataclass(frozen=True, slots=True)
class Path:
    """People whose largest belief goes the same way;
    None where nothing is known about them, or nothing was counted.
    """

    classes: tuple[int, ...]
    people: int
    beliefs: tuple[Fraction | None, ...]
    is_exposed: bool

    @property
    def last(self) -> Fraction:
        """The largest belief after all releases."""
        return self.beliefs[-1] or Fraction(0)


@dataclass(frozen=True, slots=True)
class Label:
    """A text beside the last release, at the height of a share."""

    share: Fraction
    text: str
    colour: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Where shares and releases stand in the chart of beliefs:
    shares from 0 to `end`, `many` releases in a `width`.
    """

    end: Fraction
    many: int
    width: int

    def y(self, share: Fraction | float) -> float:
        """A share as a height in pixels, from above."""
        return TOP + HIGH * (1 - float(share) / float(self.end))

    def x(self, number: int) -> float:
        """Where a release stands."""
        return self.width * (number + 0.5) / self.many


# -- everybody's beliefs, release by release -------------------------------------------------------


def beliefs_chart(stages: Stages, gamma: Fraction, *, owner: bool) -> Chart | None:
    """Everybody's largest belief after each release; None where nothing was counted."""
    if not stages.last.largest:
        return None
    paths = paths_of(stages, gamma)
    title = beliefs_finding(stages, gamma)
    shown = (
        paths
        if len(paths) <= MOST_PATHS
        else [one for one in paths if one.is_exposed][:MOST_EXPOSED]
    )
    behind = [
        *labels_of(stages, shown, owner, gamma),
        *(band_labels(stages, paths, shown) if len(paths) > MOST_PATHS else ()),
    ]
    behind.append(Label(gamma, f"{percent_exactly(gamma)} gamma", INK))
    right = max(LEAST_RIGHT, 30 + LETTER * max(len(one.text) for one in behind))
    scale = Scale(end_of(stages, gamma), len(stages.stages), WIDTH - LEFT - right)
    drawn = beliefs_spec(stages, shown, behind, scale, gamma, is_banded=len(paths) > MOST_PATHS)
    return Chart(
        unbroken(title),
        beliefs_note(stages, paths, scale),
        picture(drawn, title, describe_beliefs(stages, gamma)),
    )


def paths_of(stages: Stages, gamma: Fraction) -> list[Path]:
    """The ways that beliefs go, the most exposed first.
    Classes that nobody could tell apart in a picture are one way.
    """
    ways: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for class_ in stages.last.largest:
        found = [one.largest.get(class_) for one in stages.stages]
        is_exposed = stages.last.largest[class_].least > gamma
        ways[(is_exposed, *(None if one is None else round(one.least, 3) for one in found))].append(
            class_
        )
    paths = []
    for (is_exposed, *_), classes in ways.items():
        shown = [one.largest.get(classes[0]) for one in stages.stages]
        beliefs = tuple(None if one is None else one.least for one in shown)
        paths.append(
            Path(
                tuple(classes), sum(stages.sizes[one] for one in classes), beliefs, bool(is_exposed)
            )
        )
    return sorted(paths, key=lambda one: (-one.last, one.classes))


def beliefs_finding(stages: Stages, gamma: Fraction) -> str:
    """Who is above gamma, and since when."""
    limit = percent_exactly(gamma)
    above = [above_in(stages, number, gamma) for number in range(len(stages.stages))]
    if not above[-1]:
        greatest = max(one.most for one in stages.last.largest.values())
        if stages.missing:
            return f"Nobody who was counted is above {limit}"
        return f"Nobody is above {limit}: the largest share is {percent(greatest, beside=gamma)}"
    found = (
        f"{of_people(above[-1], stages.people)} above {limit} after "
        f"{shortened(stages.last.release, 24)}"
    )
    counted = [number for number, one in enumerate(stages.stages[:-1]) if one.largest]
    if not counted:
        return found
    if not any(above[number] for number in counted):
        return f"{found}, nobody before"
    return (
        f"{found}, {above[counted[-1]]:,} after {shortened(stages.stages[counted[-1]].release, 24)}"
    )


def above_in(stages: Stages, number: int, gamma: Fraction) -> int:
    """How many people are above gamma after so many releases."""
    return sum(
        stages.sizes[class_]
        for class_, one in stages.stages[number].largest.items()
        if one.least > gamma
    )


def beliefs_note(stages: Stages, paths: Sequence[Path], scale: Scale) -> str:
    """How to read the chart."""
    note = (
        "Each line is one person or several who go the same way, the thicker the more: the "
        f"largest share of fitting tables in which they have one {spoken(stages.sensitive)}, after "
        "each release. Lines begin where a release first shows their people."
    )
    if len(paths) > MOST_PATHS:
        exposed = (
            ", the median (line), and the most exposed"
            if paths[0].is_exposed
            else ", and the median (line)"
        )
        note = (
            "The largest share of fitting tables in which somebody has one "
            f"{spoken(stages.sensitive)}, after each release: all people (light), the middle half "
            f"of them (dark){exposed}."
        )
    if not names_fit(stages, scale):
        note += (
            " Releases: "
            f"{'; '.join(f'{number} {one.release}' for number, one in enumerate(stages.stages, 1))}"
            "."
        )
    return unbroken(f"{note} {missing_note(stages)}".strip())


def missing_note(stages: Stages) -> str:
    """What is not in the chart, and why."""
    told = []
    for one in stages.stages:
        left = stages.people - sum(stages.sizes[class_] for class_ in (*one.largest, *one.unseen))
        if left:
            who = (
                "nobody is shown"
                if not one.largest
                else f"{people(left)} {'is' if left == 1 else 'are'} not shown"
            )
            told.append(f"{who} after {one.release}: {one.missing}")
    return ". ".join(f"{one[0].upper()}{one[1:]}" for one in told) + ("." if told else "")


def describe_beliefs(stages: Stages, gamma: Fraction) -> str:
    """The chart in words, without anybody's name."""
    parts = []
    for number, one in enumerate(stages.stages):
        if one.largest:
            known = [one.largest[class_].least for class_ in one.largest]
            above = above_in(stages, number, gamma)
            parts.append(
                f"after {one.release} the largest share is {percent(max(known), beside=gamma)}, "
                f"{above:,} above {percent_exactly(gamma)}"
            )
    return "; ".join(parts)


def names_fit(stages: Stages, scale: Scale) -> bool:
    """Is there room for the names of the releases below the scale?"""
    return max(len(one.release) for one in stages.stages) * LETTER + 6 <= scale.width / scale.many


def beliefs_spec(
    stages: Stages,
    shown: Sequence[Path],
    behind: Sequence[Label],
    scale: Scale,
    gamma: Fraction,
    *,
    is_banded: bool,
) -> dict[str, Any]:
    """Lines and dots on a scale of shares, with gamma, and names or numbers behind them."""
    thick = THIN if is_banded else THICK
    marks = [
        mark
        for path in sorted(shown, key=lambda one: -one.people)
        for mark in path_marks(path, scale, thick_of(path, shown, thick))
    ]
    lines, dots = [one for one in marks if "x2" in one], [one for one in marks if "x2" not in one]
    steps = [
        {"y": scale.y(scale.end * one / 4), "text": percent_exactly(scale.end * one / 4)}
        for one in range(5)
    ]
    ticks, labels = x_ticks(stages, scale), spread(behind, scale)
    rule, start, end = {"type": "rule"}, {"value": 0}, {"value": scale.width + 8}
    ink, muted = raw("colour"), {"value": MUTED}
    limit = {**rule, "strokeDash": [5, 4], "color": INK, "strokeWidth": 1.5}
    return {
        **frame(scale.width, TOP + HIGH + BOTTOM, left=LEFT, right=WIDTH - LEFT - scale.width),
        "layer": [
            layer(steps, {**rule, "color": FAINT}, x=start, x2=end, y=raw("y")),
            layer(
                steps,
                text_mark("right", dx=-8),
                x=start,
                y=raw("y"),
                text={"field": "text"},
                color=muted,
            ),
            *(band_layers(stages, scale) if is_banded else ()),
            layer([{"y": scale.y(gamma)}], limit, x=start, x2=end, y=raw("y")),
            layer(
                lines,
                {**rule, "strokeCap": "round", "opacity": 0.85},
                x=raw("x"),
                x2=raw("x2"),
                y=raw("y"),
                y2=raw("y2"),
                color=ink,
                strokeWidth=raw("wide"),
            ),
            layer(
                dots,
                {"type": "point", "filled": True, "opacity": 1},
                x=raw("x"),
                y=raw("y"),
                color=ink,
                size=raw("size"),
            ),
            layer(
                labels,
                text_mark("left", dx=16),
                x={"value": scale.width},
                y=raw("y"),
                text={"field": "text"},
                color=ink,
            ),
            layer(
                ticks,
                text_mark("center"),
                x=raw("x"),
                y={"value": TOP + HIGH + 16},
                text={"field": "name"},
            ),
            layer(
                ticks,
                text_mark("center"),
                x=raw("x"),
                y={"value": TOP + HIGH + 36},
                text={"field": "people"},
                color=muted,
            ),
        ],
    }


def end_of(stages: Stages, gamma: Fraction) -> Fraction:
    """Where the scale ends: small shares have a scale of their own."""
    most = max([gamma, *(one.most for stage in stages.stages for one in stage.largest.values())])
    return next(one for one in SCALES if most <= one)


def thick_of(path: Path, paths: Sequence[Path], most: float) -> float:
    """How thick a line is: the more people the thicker."""
    return THIN + (most - THIN) * sqrt(path.people / max(one.people for one in paths))


def path_marks(path: Path, scale: Scale, wide: float) -> list[dict[str, Any]]:
    """The dots of a path, and the lines between them."""
    common = {
        "colour": EXPOSED if path.is_exposed else SHELTERED,
        "wide": wide,
        "size": (wide + 5) ** 2,
    }
    points = [
        {**common, "x": scale.x(at), "y": scale.y(one)}
        for at, one in enumerate(path.beliefs)
        if one is not None
    ]
    return [*({**a, "x2": b["x"], "y2": b["y"]} for a, b in pairwise(points)), *points]


def x_ticks(stages: Stages, scale: Scale) -> list[dict[str, Any]]:
    """The releases, and how many people they have shown by then."""
    fit = names_fit(stages, scale)
    known = [
        stages.people - sum(stages.sizes[class_] for class_ in one.unseen) for one in stages.stages
    ]
    room = scale.width // scale.many // LETTER
    told = next(
        (
            some
            for some in (list(map(people, known)), [f"{one:,}" for one in known])
            if max(map(len, some)) < room
        ),
        [""] * scale.many,
    )
    each = -(-scale.many // MOST_TICKS)
    return [
        {
            "x": scale.x(number),
            "name": one.release if fit else str(number + 1),
            "people": told[number],
        }
        for number, one in enumerate(stages.stages)
        if (scale.many - 1 - number) % each == 0
    ]


def labels_of(stages: Stages, paths: Sequence[Path], owner: bool, gamma: Fraction) -> list[Label]:
    """What stands behind the lines: of one height in one label."""
    together: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for path in paths:
        together[
            percent(path.last, beside=gamma), EXPOSED if path.is_exposed else SHELTERED
        ].append(path)
    return [
        Label(
            some[0].last, f"{share} {named(stages, some, owner, BEHIND - len(share) - 1)}", colour
        )
        for (share, colour), some in together.items()
    ]


def named(stages: Stages, paths: Sequence[Path], owner: bool, room: int) -> str:
    """Those who are exposed by name, for the owner and where there is room;
    of all others how many.
    """
    many = sum(one.people for one in paths)
    names = [
        person_by_key(key)
        for path in paths
        for class_ in path.classes
        for key in stages.members.get(class_, ())
    ]
    if not owner or not names or not paths[0].is_exposed:
        return people(many)
    if many == 1:
        return shortened(names[0], room)
    text = f"{names[0]}, {many - 1:,} more"
    return text if len(text) <= room else people(many)


def spread(labels: Sequence[Label], scale: Scale) -> list[dict[str, Any]]:
    """Labels moved apart so that none stands on another."""
    found = sorted(labels, key=lambda one: -one.share)
    places = [scale.y(one.share) for one in found]
    for number in range(1, len(places)):
        places[number] = max(places[number], places[number - 1] + GAP)
    places[-1] = min(places[-1], TOP + HIGH + 4)
    for number in range(len(places) - 2, -1, -1):
        places[number] = min(places[number], places[number + 1] - GAP)
    return [
        {"y": y, "text": one.text, "colour": one.colour}
        for y, one in zip(places, found, strict=True)
    ]


# -- bands, where there are many -------------------------------------------------------------------


def quantiles(stages: Stages, number: int, at: Sequence[float]) -> list[float]:
    """The largest beliefs of some people in the order of their beliefs:
    the first, the one in the middle, ...
    """
    one = stages.stages[number].largest
    beliefs = np.array([float(found.least) for found in one.values()])
    sizes = np.array([stages.sizes[class_] for class_ in one])
    order = np.argsort(beliefs, kind="stable")
    reached = np.cumsum(sizes[order])
    return [
        float(beliefs[order][np.searchsorted(reached, share * reached[-1]).clip(0, len(order) - 1)])
        for share in at
    ]


def band_layers(stages: Stages, scale: Scale) -> list[dict[str, Any]]:
    """All people, the middle half of them, and the median."""
    rows = []
    for number, one in enumerate(stages.stages):
        if one.largest:
            least, low, middle, high, most = map(
                scale.y, quantiles(stages, number, (0, 0.25, 0.5, 0.75, 1))
            )
            rows.append(
                {
                    "x": scale.x(number),
                    "least": least,
                    "low": low,
                    "middle": middle,
                    "high": high,
                    "most": most,
                }
            )
    if len(rows) == 1:  # an area needs a width
        rows = [{**rows[0], "x": rows[0]["x"] + shift} for shift in (-20, 20)]
    area = {"type": "area", "orient": "vertical", "color": SHELTERED}
    line = {"type": "line", "color": SHELTERED, "strokeWidth": 2}
    return [
        layer(rows, {**area, "opacity": 0.18}, x=raw("x"), y=raw("least"), y2=raw("most")),
        layer(rows, {**area, "opacity": 0.3}, x=raw("x"), y=raw("low"), y2=raw("high")),
        layer(rows, line, x=raw("x"), y=raw("middle")),
    ]


def band_labels(stages: Stages, paths: Sequence[Path], shown: Sequence[Path]) -> list[Label]:
    """The median, and how many more are exposed."""
    [middle] = quantiles(stages, len(stages.stages) - 1, (0.5,))
    labels = [Label(Fraction(middle), f"{percent(middle)} median", SHELTERED)]
    more = sum(one.people for one in paths if one.is_exposed) - sum(one.people for one in shown)
    if more:
        labels.append(Label(shown[-1].last, f"and {more:,} more", EXPOSED))
    return labels
