"""Charts of a repair: risk against utility with all minimal
solutions, and what became of each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.runs.choice import greatest_belief
from tacit.families.microdata.runs.repair_results import Choice, Repaired
from tacit.families.words import plural
from tacit.model.numbers import percent
from tacit.report import repair_words
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
    noun,
    picture,
    required_k,
    share_chart,
    text_mark,
)

LEFT, RIGHT, TOP, BOTTOM = 58, 22, 12, 52
HEIGHT = 260
ROOM = 22  # pixels around a label in which no other stands
MANY = 60  # from so many dots on they are small
MOST_LISTED = 20  # solutions that the page lists, and that have numbers in the charts
TOLD = 30  # solutions that are told to a screen reader
ABOVE = Fraction(106, 100)  # of the greatest risk: where a draft stands that belongs far above
DRAFT = {"type": "point", "size": 130, "strokeWidth": 2.5, "color": EXPOSED, "opacity": 1}


@dataclass(frozen=True, slots=True)
class Dot:
    """A solution in the chart: what it costs and what it risks."""

    label: str
    cost: float
    risk: Fraction
    chosen: bool = False
    listed: bool = True
    is_draft: bool = False


def trade_offs(found: Repaired) -> list[Chart]:
    """What solutions cost against what they risk: a chart for each risk in which they differ."""
    return [risk_chart(found, kind) for kind in kinds_of(found)]


def kinds_of(found: Repaired) -> tuple[str, ...]:
    """The risks that are drawn; of one solution alone those that the table has too."""
    if len(found.choices) > 1:
        return repair_words.risks_drawn(found.choices, found.recoded.raw.base.rows)
    return ("risk", "belief") if found.recoded.raw.sensitive else ("risk",)


def risk_chart(found: Repaired, kind: str) -> Chart:
    """Cost against one of the risks: the chance to pick somebody's row out of those that look like
    it, the greatest belief in anybody's value, or the rows that are dropped.
    """
    dots = dots_of(found, kind)
    chosen = next(dot for dot in dots if dot.chosen)
    what, finding = findings(found, kind, chosen.risk)
    title = f"{cost_text(found, chosen.cost)}: {finding}"
    note = f"{what}, against the {measure_of(found)}. {how_to_read(found)}"
    return Chart(title, note, draw(dots, measure_of(found), title, allowed=allowed_by(found, kind)))


def findings(found: Repaired, kind: str, risk: Fraction) -> tuple[str, str]:
    """What a risk is, and what the chosen solution risks, in words."""
    if kind == "risk":
        return "How easily somebody's row is picked out", crowd(risk)
    if kind == "dropped":
        return "The share of the rows that are dropped", f"{percent(risk)} of the rows are dropped"
    columns = found.recoded.raw.sensitive
    whose = noun(columns[0]) if len(columns) == 1 else "sensitive value"
    sure = f"greatest belief in anybody's {whose} {percent(risk)}"
    return (
        f"How sure one can be of somebody's {whose}",
        sure if risk < 1 else f"somebody's {whose} is certain",
    )


def allowed_by(found: Repaired, kind: str) -> tuple[Fraction, str] | None:
    """The most that is allowed of a risk, and how the chart says it."""
    if kind == "risk" and (k := required_k(found.verdicts)):
        return Fraction(1, k), f"allowed: 1 in {k:,}"
    if kind == "dropped" and found.repair.suppress:
        return found.repair.suppress, f"allowed: {percent(found.repair.suppress)}"
    return None


def how_to_read(found: Repaired) -> str:
    """What the dots are."""
    if len(found.choices) < 2:
        return "From the table as it is to the release."
    which = (
        "Each dot is a minimal solution"
        if found.all_choices
        else "Each dot is a minimal solution that was seen"
    )
    draft = " The ring is the release as the plan has it, which fails." if found.draft else ""
    return (
        f"{which}: further left more is kept, further down less is told. Numbers as in the "
        f"list of solutions.{draft}"
    )


def measure_of(found: Repaired) -> str:
    """The measure that was kept small."""
    return str(found.utility["measure"])


def cost_text(found: Repaired, cost: float) -> str:
    """A cost with its name."""
    name = repair_words.NAMES[repair_words.key_of(measure_of(found))][0]
    return f"{name[0].upper()}{name[1:]} {repair_words.number(cost)}"


def crowd(risk: Fraction) -> str:
    """What the smallest group means for everybody.

    >>> crowd(Fraction(1, 1400)), crowd(Fraction(1, 2)), crowd(Fraction(1))
    ('everybody looks like 1,399 others or more', 'everybody looks like 1 other or more', 'somebody stands alone')
    """  # noqa: E501
    others = int(1 / risk) - 1
    return (
        f"everybody looks like {plural('other', others)} or more"
        if others
        else "somebody stands alone"
    )


def dots_of(found: Repaired, kind: str) -> list[Dot]:
    """The solutions and the draft that they repair; where there is one solution only, also the
    table as it is.
    """
    rows = found.recoded.raw.base.rows

    def risk(choice: Choice) -> Fraction:
        return repair_words.risk_by(kind, choice, rows)

    if len(found.choices) > 1:
        listed = {place for place, _ in repair_words.some(found.choices, MOST_LISTED)}
        draft = found.draft
        return [
            Dot(str(place), choice.cost, risk(choice), choice.chosen, place in listed)
            for place, choice in enumerate(found.choices, 1)
        ] + ([Dot("draft", draft.cost, risk(draft), is_draft=True)] if draft else [])
    key = repair_words.key_of(measure_of(found))
    question, table = found.recoded.question(), found.recoded.raw
    sides = ((table, "before", "the table as it is"), (question, "after", "the release"))
    return [
        Dot(
            label,
            decimal(found.utility[side].get(key, "0")),
            risk(as_choice(one)),
            chosen=side == "after",
        )
        for one, side, label in sides
    ]


def as_choice(question: MicrodataQuestion) -> Choice:
    """What a table risks, whatever it costs."""
    smallest = int(question.groups().sizes.min(initial=question.people))
    return Choice({}, 0.0, Fraction(1, max(1, smallest)), greatest_belief(question), 0)


def decimal(text: str) -> float:
    """A number of the utility's JSON."""
    return float(Fraction(text))


def draw(
    dots: Sequence[Dot], measure: str, title: str, *, allowed: tuple[Fraction, str] | None = None
) -> str:
    """Dots on two axes. The chosen one is dark and named;
    others have numbers where there is room. A draft far above stands at the upper end.
    """
    width = WIDTH - LEFT - RIGHT
    across = domain([dot.cost for dot in dots], most=1.0 if measure == "loss" else None)
    scaled = [dot.risk for dot in dots if not dot.is_draft] + ([allowed[0]] if allowed else [])
    said = describe_dots(dots, measure)
    dots = [at_the_end(dot, scaled) for dot in dots]
    up = (0.0, 1.12 * float(max([*scaled, *(dot.risk for dot in dots)])) or 1.0)
    x = axis("cost", across, f"{measure} →  less is kept", ".3~s" if across[1] >= 1000 else ".6~g")
    y = axis("risk", up, "", ".3~p")  # round numbers, with the digits that they have
    rows = [row_of(dot, across, up, width) for dot in dots]
    labels = with_room([row for row in rows if row["listed"]], width)
    at_right = all(row["px"] < width * 0.62 for row in rows if row["chosen"])
    end, side = (width, "right") if at_right else (0, "left")
    few = len(dots) < MANY
    line = [{"risk": float(allowed[0]), "label": allowed[1]}] if allowed else []
    spec = {
        **frame(width, HEIGHT, left=LEFT, right=RIGHT),
        "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        "layer": [
            layer(
                line,
                {"type": "rule", "strokeDash": [4, 4], "color": MUTED},
                y=y,
                x={"value": 0},
                x2={"value": width},
            ),
            layer(
                line,
                {**text_mark(side), "dy": -10},
                y=y,
                x={"value": end},
                text={"field": "label"},
                color={"value": MUTED},
            ),
            layer([row for row in rows if row["draft"]], DRAFT, x=x, y=y),
            layer(
                [row for row in rows if not row["chosen"] and not row["draft"]],
                dot_mark(SHELTERED, *((70, 0.75) if few else (34, 0.5))),
                x=x,
                y=y,
            ),
            layer([row for row in rows if row["chosen"]], dot_mark(INK, 170, 1), x=x, y=y),
            *label_layers(labels, "left", x, y),
            *label_layers(labels, "right", x, y),
        ],
    }
    return picture(spec, title, said)


def at_the_end(dot: Dot, others: Sequence[Fraction]) -> Dot:
    """A draft that would press the others together stands above them, and says where it belongs."""
    if not dot.is_draft or not repair_words.is_far(dot.risk, others):
        return dot
    return replace(dot, risk=max(others) * ABOVE, label=f"{dot.label}: {percent(dot.risk)} ↑")


def dot_mark(colour: str, size: int, opacity: float) -> dict[str, Any]:
    """A dot."""
    return {"type": "point", "filled": True, "size": size, "opacity": opacity, "color": colour}


def label_layers(
    rows: Sequence[dict[str, Any]], side: str, x: dict[str, Any], y: dict[str, Any]
) -> list[dict[str, Any]]:
    """Labels on one side of their dots, with a white edge so that
    dots below do not disturb them.
    """
    away = 12 if side == "left" else -12
    drawn = []
    for bold in (False, True):
        some = [row for row in rows if row["chosen"] == bold and row["side"] == side]
        # The chosen one's name stands above it: the dots beside it are the most interesting ones.
        mark = {
            **text_mark(side, dx=0 if bold else away, weight=600 if bold else 400),
            "dy": -18 if bold else 0,
        }
        drawn.append(layer(some, halo(mark), x=x, y=y, text={"field": "label"}))
        drawn.append(
            layer(
                some,
                mark,
                x=x,
                y=y,
                text={"field": "label"},
                color={"value": INK if bold else MUTED},
            )
        )
    return drawn


def row_of(
    dot: Dot, across: tuple[float, float], up: tuple[float, float], width: int
) -> dict[str, Any]:
    """The data of a dot, and where it comes to stand."""
    place = (dot.cost - across[0]) / (across[1] - across[0]) * width
    label = f"{dot.label}, written" if dot.chosen and dot.label.isdigit() else dot.label
    return {
        "cost": dot.cost,
        "risk": float(dot.risk),
        "chosen": dot.chosen,
        "draft": dot.is_draft,
        "listed": dot.listed,
        "label": label,
        "px": place,
        "py": HEIGHT * (1 - float(dot.risk) / up[1]),
        "side": "left" if place < width * 0.62 else "right",
    }


def with_room(rows: Sequence[dict[str, Any]], width: int) -> list[dict[str, Any]]:
    """The dots that get their label: the chosen one, then the cheapest and lowest as long as
    there is room.
    """
    kept: list[dict[str, Any]] = []
    for row in sorted(
        rows, key=lambda one: (not one["chosen"], one["px"] / width + 1 - one["py"] / HEIGHT)
    ):
        wide = 8 * len(row["label"]) + 14
        start = row["px"] if row["side"] == "left" else row["px"] - wide
        box = (start, start + wide, row["py"] - (18 if row["chosen"] else 0))
        if not any(overlaps(box, other["box"]) for other in kept):
            kept.append({**row, "box": box})
    return [{name: value for name, value in row.items() if name != "box"} for row in kept]


def overlaps(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    """Would two labels stand on each other?"""
    return one[0] < other[1] + 4 and other[0] < one[1] + 4 and abs(one[2] - other[2]) < ROOM - 4


def domain(values: Sequence[float], *, most: float | None) -> tuple[float, float]:
    """The ends of an axis, with some room around the values."""
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return max(0.0, low - room), min(
        high + room, most
    ) if most is not None and high < most else high + room


def axis(field: str, ends: tuple[float, float], title: str, form: str) -> dict[str, Any]:
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
    }
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": list(ends), "zero": False, "nice": False},
        "axis": look,
    }


def describe_dots(dots: Sequence[Dot], measure: str) -> str:
    """The dots in words, for whoever cannot see them."""
    parts = [
        (
            f"{dot.label}{' (written)' if dot.chosen else ''}: {measure} "
            f"{repair_words.number(dot.cost)}, {percent(dot.risk)}"
        )
        for dot in dots[:TOLD]
    ]
    return "; ".join(parts) + (f"; and {len(dots) - TOLD} more" if len(dots) > TOLD else "")


def loss_chart(columns: Sequence[repair_words.RecodedColumn]) -> Chart:
    """How much detail of each column is gone."""
    worst = max(columns, key=lambda one: one.loss)
    kept = sum(not one.loss for one in columns)
    title = (
        f"{noun(worst.name).capitalize()} loses most: {percent(worst.loss)}"
        if worst.loss
        else "No column loses anything"
    )
    if kept:
        stay = "stays as it is" if kept == 1 else "stay as they are"
        title += f"; {kept} of {len(columns)} columns {stay}" if worst.loss else ""
    note = (
        "Detail that is gone, by column: 0 % as it is, 100 % when all values read the same. A row "
        "that is dropped counts as 100 %."
    )
    rows = [(noun(one.name), float(one.loss), f"{percent(one.loss)}") for one in columns]
    return Chart(title, note, share_chart(rows, title))


def moved_chart(columns: Sequence[repair_words.RecodedColumn]) -> Chart:
    """How far the distribution of each column moved."""
    worst = max(columns, key=lambda one: one.moved)
    title = (
        f"Shares of {noun(worst.name)} are off by up to {percent(worst.moved)}"
        if worst.moved
        else "The distribution of every column is kept"
    )
    note = (
        "The largest error of a question such as “what share of people has one of these values”, "
        "by column, if each label is read as all values below it alike."
    )
    rows = [(noun(one.name), one.moved, percent(one.moved)) for one in columns]
    return Chart(title, note, share_chart(rows, title))
