"""Who is in which view: an UpSet picture, with a row for each view and a column for each
combination of views that somebody is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.families.overlaps.memberships import Combination, Memberships
from tacit.families.words import listed, people, spoken
from tacit.report.charts.portrait_chart import (
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

ROW, TOP, HIGH, GAP = (
    26,
    24,
    96,
    12,
)  # height of a view, of a number above the highest bar, of that bar, and below the bars
MOST_VIEWS = 12  # with a row of their own
LONGEST = 15  # letters of a view's name
LEAST_WIDE = 28  # of a column
SMALL, DIGIT = 12, 8  # size of numbers, and the width of a digit
DOT, REST = 100, "rest"
EXACTLY = 10_000  # numbers from here on are shortened above the bars
STRIPE, GREY = "#f4f6f8", "#9aa7b4"


@dataclass(frozen=True, slots=True)
class UpsetColumn:
    """A column of the picture: its people, the rows with a dot and with a ring;
    no rows for `REST`, what all further columns come to.
    """

    people: int
    dots: tuple[int, ...] = ()
    rings: tuple[int, ...] = ()
    label: str = ""


def upset_chart(found: Memberships | None) -> Chart | None:
    """The picture of who is in which view;
    None where nobody is in any, or there is one view only.
    """
    if found is None or len(found.views) < 2 or not any(one.views for one in found.combinations):
        return None
    title = finding(found)
    rows = rows_of(found)
    names = names_of(rows)
    sizes = [short_number(rows.shown_by(row)) for row in range(len(rows.views))]
    left = LETTER * max(map(len, names)) + DIGIT * max(map(len, sizes)) + 26
    wide = column_width(rows.combinations)
    columns = columns_of(rows.combinations, (WIDTH - left) // wide)
    spec = drawn(columns, names, sizes, left, wide)
    return Chart(
        title, note_of(found, rows, columns), picture(spec, title, describe_combinations(found))
    )


def finding(found: Memberships) -> str:
    """How many are in several views.

    >>> finding(Memberships(("a", "b"), (Combination((0,), (), 5), Combination((0, 1), (), 2))))
    '2 of 7 people are in both views'
    >>> finding(Memberships(("a", "b"), (Combination((0,), (), 5),)))
    'Nobody is in more than one view'
    """
    called = found.called
    sure = sum(one.people for one in found.combinations if len(one.inside) > 1)
    could = sum(one.people for one in found.combinations if one.views > 1)
    several = f"both {called}s" if len(found.views) == 2 else f"more than one {called}"
    if not could:
        return f"Nobody is in more than one {called}"
    if not sure:
        return (
            f"{of_people(could, found.people).removesuffix(' are').removesuffix(' is')} may "
            f"be in {several}"
        )
    more = f", and {could - sure:,} more may be" if could > sure else ""
    return f"{of_people(sure, found.people)} in {several}{more}"


def rows_of(found: Memberships) -> Memberships:
    """The views that have a row: all, or those with the most people, and one row for the others."""
    if len(found.views) <= MOST_VIEWS:
        return found
    largest = sorted(range(len(found.views)), key=lambda view: (-found.shown_by(view), view))[
        : MOST_VIEWS - 1
    ]
    return found.together(sorted(largest))


def names_of(rows: Memberships) -> list[str]:
    """The names of the rows; where one is too long, all have numbers, under which the note has
    them in full.
    """
    if all(len(name) <= LONGEST for name in rows.views):
        return list(rows.views)
    return [shortened(f"{number} {name}", LONGEST) for number, name in enumerate(rows.views, 1)]


def column_width(combinations: Sequence[Combination]) -> int:
    """As wide as the numbers above the bars need."""
    longest = max(len(short_number(one.people)) for one in combinations)
    return max(LEAST_WIDE, DIGIT * longest + 2)


def columns_of(combinations: Sequence[Combination], room: int) -> list[UpsetColumn]:
    """The largest combinations, as many as there is room for;
    all others together are the last column.
    """
    shown = combinations if len(combinations) <= room else combinations[: max(1, room - 1)]
    columns = [UpsetColumn(one.people, one.inside, one.perhaps) for one in shown]
    if rest := combinations[len(shown) :]:
        columns.append(UpsetColumn(sum(one.people for one in rest), label=REST))
    return columns


def short_number(number: int) -> str:
    """A number in five letters at most.

    >>> (
    ...     short_number(9_999),
    ...     short_number(12_345),
    ...     short_number(999_950),
    ...     short_number(1_234_567),
    ...     short_number(123_456_789),
    ... )
    ('9,999', '12.3k', '1M', '1.2M', '123M')
    """
    if number < EXACTLY:
        return f"{number:,}"
    for unit, letter in ((1000, "k"), (10**6, "M"), (10**9, "G")):
        tenths = (10 * number + unit // 2) // unit
        if tenths < 10_000 or letter == "G":
            return (
                f"{tenths // 10}{letter}"
                if tenths >= 1000 or tenths % 10 == 0
                else f"{tenths // 10}.{tenths % 10}{letter}"
            )
    raise AssertionError


def note_of(found: Memberships, rows: Memberships, columns: Sequence[UpsetColumn]) -> str:
    """How to read the picture, and what is not in it."""
    called = found.called
    note = (
        f"Each column is a combination of {called}s; its bar says how many people are in just "
        f"these. The number behind a {called} is all who are in it."
    )
    if not found.is_certain:
        note += (
            f" A ring: people are in that {called} or not, depending on their "
            f"{spoken(found.sensitive)}."
        )
    if any(not one.views for one in found.combinations):
        note += f" A column without a dot: people whom no {called} shows."
    if columns[-1].label == REST:
        note += (
            f" {len(rows.combinations) - len(columns) + 1:,} smaller combinations are added "
            "up in the last column."
        )
    if len(rows.views) < len(found.views):
        note += f" The {called}s with the fewest people share one row."
    cut = any(len(name) > LONGEST for name in rows.views)
    return note + (
        f" In full: {'; '.join(f'{number} {name}' for number, name in enumerate(rows.views, 1))}."
        if cut
        else ""
    )


def describe_combinations(found: Memberships) -> str:
    """The picture in words, the largest combinations."""
    parts = []
    for one in found.combinations[:MOST_VIEWS]:
        inside, perhaps = (
            [found.views[view] for view in some] for some in (one.inside, one.perhaps)
        )
        only = (
            f"in {listed(inside)} only"
            if inside and not perhaps
            else f"in {listed(inside)}"
            if inside
            else ""
        )
        may = f"perhaps in {listed(perhaps)}" if perhaps else ""
        parts.append(
            f"{people(one.people)} "
            f"{', '.join(some for some in (only, may) if some) or f'in no {found.called}'}"
        )
    left = found.combinations[MOST_VIEWS:]
    return "; ".join(
        [
            *parts,
            *(
                [f"{people(sum(one.people for one in left))} in {len(left):,} other combinations"]
                if left
                else []
            ),
        ]
    )


def drawn(
    columns: Sequence[UpsetColumn], names: Sequence[str], sizes: Sequence[str], left: int, wide: int
) -> dict[str, Any]:
    """Bars above a grid of dots; a line joins the dots of a column."""
    width = WIDTH - left
    first, most = TOP + HIGH + GAP, max(one.people for one in columns)
    y = [first + ROW * row + ROW // 2 for row in range(len(names))]
    x = [wide * at + wide // 2 for at in range(len(columns))]
    stripes = [{"y": place - ROW // 2, "y2": place + ROW // 2} for place in y[::2]]
    rows = [
        {"y": place, "name": name, "size": size}
        for place, name, size in zip(y, names, sizes, strict=True)
    ]
    bars = [
        {
            "x": at - 9,
            "x2": at + 9,
            "middle": at,
            "y": TOP + HIGH - max(1.5, HIGH * one.people / most),
            "y2": TOP + HIGH,
            "text": short_number(one.people),
            "colour": GREY if one.label else SHELTERED,
        }
        for at, one in zip(x, columns, strict=True)
    ]
    grid = [
        {"x": at, "y": place}
        for at, one in zip(x, columns, strict=True)
        if not one.label
        for place in y
    ]
    dots = [{"x": at, "y": y[row]} for at, one in zip(x, columns, strict=True) for row in one.dots]
    rings = [
        {"x": at, "y": y[row]} for at, one in zip(x, columns, strict=True) for row in one.rings
    ]
    lines = [
        {"x": at, "y": y[min(one.dots + one.rings)], "y2": y[max(one.dots + one.rings)]}
        for at, one in zip(x, columns, strict=True)
        if len(one.dots + one.rings) > 1
    ]
    rest = [
        {"x": at, "y": y[0], "text": one.label}
        for at, one in zip(x, columns, strict=True)
        if one.label
    ]
    point = {"type": "point", "filled": True, "opacity": 1, "size": DOT}
    place = {"x": raw("x"), "y": raw("y")}
    return {
        **frame(width, first + ROW * len(names) + 2, left=left, right=0),
        "layer": [
            layer(
                stripes,
                {"type": "rect", "color": STRIPE},
                x={"value": -left},
                x2={"value": width},
                y=raw("y"),
                y2=raw("y2"),
            ),
            layer(
                bars,
                {"type": "rect", "cornerRadiusTopLeft": 3, "cornerRadiusTopRight": 3},
                **place,
                x2=raw("x2"),
                y2=raw("y2"),
                color=raw("colour"),
            ),
            layer(
                bars,
                {**text_mark("center"), "dy": -10, "fontSize": SMALL},
                x=raw("middle"),
                y=raw("y"),
                text={"field": "text"},
                color={"value": MUTED},
            ),
            layer(
                rows,
                text_mark("left", dx=-left + 4),
                x={"value": 0},
                y=raw("y"),
                text={"field": "name"},
            ),
            layer(
                rows,
                {**text_mark("right", dx=-6), "fontSize": SMALL},
                x={"value": 0},
                y=raw("y"),
                text={"field": "size"},
                color={"value": MUTED},
            ),
            layer(grid, {**point, "color": FAINT}, **place),
            layer(lines, {"type": "rule", "color": INK, "strokeWidth": 2.5}, **place, y2=raw("y2")),
            layer(
                rings,
                {**point, "filled": False, "fill": "white", "stroke": INK, "strokeWidth": 2},
                **place,
            ),
            layer(dots, {**point, "color": INK}, **place),
            layer(
                rest,
                {**text_mark("center"), "fontSize": SMALL},
                **place,
                text={"field": "text"},
                color={"value": MUTED},
            ),
        ],
    }
