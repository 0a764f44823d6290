"""What the checks say of a release, what became of its columns, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from nicegui import ui

from tacit.model.numbers import percent
from tacit.report import repair_words
from tacit.report.repair_words import Figure
from tacit.workbench.bench import Visit
from tacit.workbench.pages.repair.slider import named
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.folds import expert_fold
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.tasks.generalize import RepairText
from tacit.workbench.tasks.verdict_texts import VerdictText

FIGURE_HEADS = ("Measure", "The table", "The release", "What it counts")
EXPERT = {repair_words.NAMES[key][0] for key in ("height", "discernibility", "kl")}


def heading(text: str, tag: str = "h2") -> ui.html:
    """A heading; its text is no HTML."""
    return ui.html(escape(text), tag=tag, sanitize=False)


def show_answers(answers: Sequence[VerdictText]) -> None:
    """The verdicts, each in a line or two."""
    with ui.element("div").classes("stack").props('data-testid="answers"'):
        for one in answers:
            with ui.element("div").classes("row answer"):
                badge(one.status)
                with ui.element("div").style("min-width: 0"):
                    ui.label(one.label).style("font-weight: 600")
                    ui.label(f"{one.because[:1].upper()}{one.because[1:].rstrip('.')}.").classes(
                        "muted"
                    )
                    if one.story and one.status == "breached":
                        ui.label(one.story)
                    elif one.story and one.status == "undecided":
                        with ui.element("details").classes("more"):
                            ui.html("Why", tag="summary", sanitize=False)
                            ui.label(one.story).classes("muted")


def show_columns(
    told: RepairText, step: Callable[[str, int], Any] | None, limits: Mapping[str, int]
) -> None:
    """What became of each quasi-identifier; `step` moves its level, where levels can be moved."""
    with (
        ui.element("div")
        .classes("scroll")
        .props('tabindex="0" role="region" aria-label="What became of each column"'),
        ui.element("table").classes("plain columns"),
    ):
        with ui.element("thead"), ui.element("tr"):
            for head in ("Column", "Level", "For example", "Detail lost", "Distribution moved"):
                with ui.element("th").props('scope="col"'):
                    ui.label(head)
        with ui.element("tbody"):
            for one in told.columns:
                with ui.element("tr"):
                    with ui.element("td"):
                        ui.label(one.name).style("font-weight: 600")
                    with ui.element("td"):
                        if step is None or one.level is None:
                            ui.label(one.steps)
                        else:
                            level_steps(
                                one.name,
                                one.level,
                                limits[one.name],
                                lambda by, name=one.name: step(name, by),  # type: ignore[misc]
                                one.steps,
                            )
                    with ui.element("td"):
                        ui.label(" → ".join(one.example) if one.example else "")
                    with ui.element("td").style("white-space: nowrap"):
                        gauge(float(one.loss), percent(one.loss))
                    with ui.element("td"):
                        ui.label(percent(one.moved))


def level_steps(
    name: str, level: int, most: int, step: Callable[[int], Any], words: str = ""
) -> None:
    """A level with buttons for the one below and the one above."""
    with ui.element("span").classes("steps"):
        finer = named(
            ui.button(icon="remove", on_click=lambda: step(-1)).props("flat dense round size=sm"),
            f"{name} one level finer",
            f"finer-{name}",
        )
        ui.label(words or f"level {level}").style("min-width: 5.5rem; text-align: center")
        coarser = named(
            ui.button(icon="add", on_click=lambda: step(1)).props("flat dense round size=sm"),
            f"{name} one level coarser",
            f"coarser-{name}",
        )
    finer.set_enabled(level > 0)
    coarser.set_enabled(level < most)


def gauge(share: float, words: str) -> None:
    """A share as a bar and in words."""
    ui.html(
        '<span class="gauge" aria-hidden="true"><span style="width: '
        f'{min(max(share, 0), 1):.1%}"></span></span>{escape(words)}',
        sanitize=False,
    )


def show_figures(visit: Visit, told: RepairText, name: str) -> None:
    """Every measure of utility, before and after."""
    heading("What it costs", "h3")
    plain, expert = by_readers(told.figures)
    figures_table(plain, "What it costs")
    if expert:
        with expert_fold():
            figures_table(expert, "What it costs, for experts")
    lines = [FIGURE_HEADS, *((one.name, one.before, one.after, one.says) for one in told.figures)]
    with ui.element("div").classes("toolbar"):
        save_button(visit, "Save CSV", f"{name}.csv", lambda: csv_bytes(lines)).props(
            'aria-label="Save CSV: what it costs"'
        )


def by_readers(figures: Sequence[Figure]) -> tuple[list[Figure], list[Figure]]:
    """The measures that everybody reads, and those for experts;
    the one that was kept small is for everybody.
    """
    plain = [one for one in figures if one.chosen or one.name not in EXPERT]
    return plain, [one for one in figures if one not in plain]


def figures_table(figures: Sequence[Figure], label: str) -> None:
    """Measures, before and after."""
    with (
        named(ui.element("div").classes("scroll").props('tabindex="0" role="region"'), label),
        ui.element("table").classes("plain costs"),
    ):
        with ui.element("thead"), ui.element("tr"):
            for head in FIGURE_HEADS:
                with ui.element("th").props('scope="col"'):
                    ui.label(head)
        with ui.element("tbody"):
            for one in figures:
                with ui.element("tr"):
                    for place, cell in enumerate(
                        (
                            one.name + (" (kept small)" if one.chosen else ""),
                            one.before,
                            one.after,
                            one.says,
                        )
                    ):
                        with ui.element("td").classes("muted" if place == 3 else ""):
                            ui.label(cell)


def show_numbers(numbers: Sequence[tuple[str, str]]) -> None:
    """A few large numbers with what they mean."""
    parts = "".join(
        f"<div><dt>{escape(meaning)}</dt><dd>{escape(number)}</dd></div>"
        for number, meaning in numbers
    )
    ui.html(f'<dl class="figures-row">{parts}</dl>', sanitize=False)


def plain_table(
    visit: Visit, heads: Sequence[str], rows: Sequence[Sequence[str]], *, name: str, caption: str
) -> None:
    """A small table, with a button that saves it."""
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    with named(ui.element("div").classes("scroll").props('tabindex="0" role="region"'), caption):
        ui.html(
            f'<table class="plain"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>',
            sanitize=False,
        )
    with ui.element("div").classes("toolbar"):
        named(
            save_button(visit, "Save CSV", f"{name}.csv", lambda: csv_bytes([heads, *rows])),
            f"Save CSV: {caption}",
        )
