"""The scatter of a repair: every minimal solution by what it costs and what it risks;
each dot is a button.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from nicegui import ui

from tacit.families.microdata.runs.repair_results import Choice
from tacit.model.numbers import percent
from tacit.report import repair_words
from tacit.report.charts.portrait_chart import Chart
from tacit.workbench.bench import Visit
from tacit.workbench.pages.repair.slider import named
from tacit.workbench.parts.pictures import save_picture
from tacit.workbench.tasks.generalize import Solved

ROOM = 0.08  # of an axis, left free at both ends
DRAFT = " The ring is the release as the plan has it, which fails."


@dataclass(frozen=True, slots=True)
class ScatterAxis:
    """A scale from `low` to `high` with its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Where a value stands, in percent of the scale."""
        return round(100 * (value - self.low) / (self.high - self.low), 3)


def axis(
    values: Sequence[float], *, most: float | None = None, from_zero: bool = False
) -> ScatterAxis:
    """A scale that holds some values with room around them.

    >>> axis([0.2, 0.4]).ticks, axis([0.0, 0.5], most=1.0, from_zero=True).ticks
    ((0.2, 0.25, 0.3, 0.35, 0.4), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5))
    """
    low, high = (0.0 if from_zero else min(values)), max(values)
    room = ROOM * (high - low) or 0.1 * abs(high) or 1.0
    low, high = max(0.0, low - (0 if from_zero else room)), high + room
    if most is not None:
        high = max(min(high, most), max(values))
    step = tick_step(high - low)
    first = math.ceil(low / step - 1e-9)
    return ScatterAxis(
        low,
        high,
        tuple(
            round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)
        ),
    )


def tick_step(span: float) -> float:
    """A round distance of ticks, of which some four to eight fit into a span.

    >>> tick_step(0.23), tick_step(900)
    (0.05, 200.0)
    """
    size = 10.0 ** math.floor(math.log10(span / 4))
    return next(size * times for times in (1, 2, 5, 10) if span / (size * times) <= 6)


def describe_choice(number: int, choice: Choice, measure: str) -> str:
    """A solution in a line.

    >>> describe_choice(2, Choice({"zip": 1}, 0.25, Fraction(1, 4), Fraction(1, 2), 0), "loss")
    'Solution 2: loss 0.25, smallest group 4, greatest belief 50 %'
    """
    belief = f", greatest belief {percent(choice.belief)}" if choice.belief is not None else ""
    gone = f", {choice.suppressed:,} rows dropped" if choice.suppressed else ""
    return (
        f"Solution {number}: {measure} {repair_words.number(choice.cost)}, smallest group "
        f"{int(1 / choice.risk):,}{belief}{gone}"
    )


class Scatter:
    """The dots. `pick` is called with the number of the one that is pressed."""

    def __init__(self, visit: Visit, found: Solved, name: str, pick: Callable[[int], Any]) -> None:
        self._found, self._pick = found, pick
        self._chosen: int | None = None
        self._by = found.risks[0]
        self._dots: dict[int, ui.element] = {}
        with (
            ui.element("figure")
            .classes("card scatter")
            .props('aria-label="Solutions by what they cost and what they risk"')
        ):
            with ui.element("figcaption").classes("row between"):
                ui.html("Risk against utility", tag="h3", sanitize=False)
                if len(found.risks) > 1:
                    ui.toggle(
                        {kind: repair_words.RISKS[kind] for kind in found.risks},
                        value=self._by,
                        on_change=self._turn,
                    ).props('no-caps dense unelevated aria-label="What counts as the risk"')
            self._area = ui.element("div").classes("plot")
            ui.label(
                "Each dot is a solution: further left more is kept, further down less is told. "
                f"Press one to see it.{DRAFT if found.draft else ''}"
            ).classes("fine")
            if found.charts:
                with ui.element("div").classes("toolbar"):
                    self._save_buttons(visit, found.charts, name)
        self._draw()

    def mark(self, number: int | None) -> None:
        """Show which solution is looked at; None where it is none of them."""
        for one, dot in self._dots.items():
            dot.classes(add="picked") if one == number else dot.classes(remove="picked")
            dot.props["aria-pressed"] = "true" if one == number else "false"
        self._chosen = number

    def _turn(self, event: Any) -> None:
        self._by = event.value
        self._draw()
        self.mark(self._chosen)

    def _draw(self) -> None:
        found, by = self._found, self._by
        risks = [repair_words.risk_by(by, choice, found.rows) for choice in found.choices]
        allowed = self._allowed()
        draft = found.draft
        costs = [choice.cost for choice in (*found.choices, *([draft] if draft else []))]
        across = axis(costs, most=1.0 if found.measure == "loss" else None)
        scaled = [*risks, *([allowed] if allowed else [])]
        stands = repair_words.risk_by(by, draft, found.rows) if draft else Fraction(0)
        far = bool(draft) and repair_words.is_far(stands, scaled)
        drawn = [float(risk) for risk in (scaled if far else [*scaled, stands])]
        up = axis(drawn, most=1.0 if max(drawn) > 0.9 else None, from_zero=True)
        self._area.clear()
        self._dots = {}
        with self._area:
            ui.html(
                ground(
                    across, up, found.measure, repair_words.RISKS[by], told_allowed(by, allowed)
                ),
                sanitize=False,
            ).props('aria-hidden="true"')
            with ui.element("div").classes("dots"):
                if draft:
                    place = 0.0 if far else 100 - up.place(float(stands))
                    show_draft(across.place(draft.cost), place, percent(stands), far=far)
                for number, (choice, risk) in enumerate(zip(found.choices, risks, strict=True), 1):
                    self._dots[number] = self._dot(
                        number, choice, across.place(choice.cost), 100 - up.place(float(risk))
                    )

    def _allowed(self) -> Fraction | None:
        """The most that is allowed of the risk that is drawn."""
        if self._by == "risk":
            return self._found.allowed
        return self._found.wanted.suppress or None if self._by == "dropped" else None

    def _dot(self, number: int, choice: Choice, left: float, top: float) -> ui.element:
        words = describe_choice(number, choice, self._found.measure)
        dot = (
            ui.element("button")
            .classes("dot best" if choice.chosen else "dot")
            .style(f"left: {left}%; top: {top}%")
        )
        named(dot, words, f"dot-{number}").props('type="button" aria-pressed="false"').props[
            "title"
        ] = words
        return dot.on("click", lambda number=number: self._pick(number))

    def _save_buttons(self, visit: Visit, charts: Sequence[Chart], name: str) -> None:
        def shown() -> str:
            return charts[self._found.risks.index(self._by)].svg

        for button in save_picture(visit, shown, f"{name}-solutions"):
            button.props(f'aria-label="{button.text}: the scatter"')


def show_draft(left: float, top: float, risk: str, *, far: bool) -> None:
    """The release as the plan has it: a ring, at the upper end where it belongs far above."""
    words = f"draft: {risk} ↑" if far else "draft"
    side = "right" if left > 60 else "left"  # the label must not leave the picture
    ui.html(
        f'<div class="draft-dot {side}" style="left: {left}%; top: {top}%" '
        f'data-testid="draft-dot"><span>{words}</span></div>',
        sanitize=False,
    )


def told_allowed(kind: str, allowed: Fraction | None) -> tuple[Fraction, str] | None:
    """The most that is allowed, and how the picture says it.

    >>> told_allowed("risk", Fraction(1, 5))[1], told_allowed("dropped", Fraction(1, 100))[1]
    ('allowed: 1 in 5', 'allowed: 1 %')
    """
    if allowed is None:
        return None
    most = f"1 in {int(1 / allowed):,}" if kind == "risk" else percent(allowed)
    return allowed, f"allowed: {most}"


def ground(
    across: ScatterAxis,
    up: ScatterAxis,
    measure: str,
    title: str,
    allowed: tuple[Fraction, str] | None,
) -> str:
    """Grid lines, ticks and titles, as HTML that screen readers skip: the buttons say all of it."""
    lines = [
        (
            '<div class="tick-y" style="top: '
            f'{100 - up.place(tick)}%"><span>{percent(tick)}</span></div>'
        )
        for tick in up.ticks
    ]
    lines += [
        (
            '<div class="tick-x" style="left: '
            f'{across.place(tick)}%"><span>{number(tick, across)}</span></div>'
        )
        for tick in across.ticks
    ]
    if allowed is not None and float(allowed[0]) <= up.high:
        lines.append(
            f'<div class="allowed" style="top: {100 - up.place(float(allowed[0]))}%">'
            f"<span>{escape(allowed[1])}</span></div>"
        )
    titles = (
        f'<div class="title-y">{escape(title)} ↑</div><div class="title-x">{escape(measure)} '
        "→ less is kept</div>"
    )
    return f'<div class="ground">{"".join(lines)}</div>{titles}'


def number(value: float, scale: ScatterAxis) -> str:
    """A tick of a cost: as many digits as tell it from the next.

    >>> number(0.25, axis([0.2, 0.4])), number(2e6, axis([1e6, 4e6]))
    ('0.25', '2 M')
    """
    for size, word in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if scale.high >= size:
            value, span = (
                value / (1e3 if word == " k" else size),
                (scale.high - scale.low) / (1e3 if word == " k" else size),
            )
            return f"{value:.{digits(span)}f}{word}"
    return f"{value:.{digits(scale.high - scale.low)}f}"


def digits(span: float) -> int:
    """Digits behind the point for ticks of a scale."""
    return max(0, -math.floor(math.log10(tick_step(span)) + 1e-9))
