"""The solutions of a repair as a table, for keyboards, screen readers and spreadsheets;
a row is picked by pressing it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from tacit.families.microdata.runs.repair_results import Choice
from tacit.model.numbers import percent
from tacit.report import repair_words
from tacit.workbench.bench import Visit
from tacit.workbench.pages.repair.repair_answers import heading
from tacit.workbench.pages.repair.scatter import describe_choice
from tacit.workbench.pages.repair.slider import named
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.tasks.generalize import Solved
from tacit.workbench.tasks.solution import Ladder


class Picks:
    """The solutions as a table; a row is picked by pressing it, or its number."""

    def __init__(
        self, visit: Visit, found: Solved, ladders: Sequence[Ladder], name: str, pick: Any
    ) -> None:
        self._rows: dict[int, tuple[ui.element, ui.element]] = {}
        names = list(found.choices[0].generalization)
        labels = {one.column: one.labels for one in ladders}
        dropped = any(choice.suppressed for choice in found.choices)
        heads = [
            "Solution",
            found.measure,
            "smallest group",
            "greatest belief",
            *(["dropped"] if dropped else []),
            *names,
        ]
        with ui.element("section").classes("card").props('aria-label="Solutions as a table"'):
            heading("Solutions", "h3")
            ui.label("Each column as one of its frequent values is shown then.").classes("fine")
            area = (
                ui.element("div")
                .classes("scroll")
                .style("max-height: 24rem; overflow-y: auto")
                .props('tabindex="0" role="region" aria-label="Solutions"')
            )
            with area, ui.element("table").classes("plain picks"):
                with ui.element("thead"), ui.element("tr"):
                    for place, head in enumerate(heads):
                        with (
                            ui.element("th")
                            .props('scope="col"')
                            .classes("words" if place >= len(heads) - len(names) else "")
                        ):
                            ui.label(head)
                with ui.element("tbody"):
                    for number, choice in enumerate(found.choices, 1):
                        cells = cells_of(choice, labels, dropped)
                        self._rows[number] = self._row(
                            number,
                            cells,
                            len(cells) - len(names),
                            describe_choice(number, choice, found.measure),
                            choice.chosen,
                            pick,
                        )
            with ui.element("div").classes("toolbar"):
                lines = [
                    heads,
                    *(
                        [str(number), *cells_of(choice, labels, dropped)]
                        for number, choice in enumerate(found.choices, 1)
                    ),
                ]
                named(
                    save_button(
                        visit, "Save CSV", f"{name}-solutions.csv", lambda: csv_bytes(lines)
                    ),
                    "Save CSV: the solutions",
                )

    def mark(self, number: int | None) -> None:
        """Show which solution is looked at."""
        for one, (row, button) in self._rows.items():
            row.classes(add="picked") if one == number else row.classes(remove="picked")
            button.props["aria-pressed"] = "true" if one == number else "false"

    def _row(
        self, number: int, cells: Sequence[str], numbers: int, words: str, best: bool, pick: Any
    ) -> tuple[ui.element, ui.element]:
        row = ui.element("tr").on("click", lambda: pick(number))
        with row:
            with ui.element("td"):
                shown = f"{number}, least cost" if best else str(number)
                button = named(
                    ui.element("button")
                    .classes("pick")
                    .props('type="button" aria-pressed="false"'),
                    f"{shown}: {words}",
                    f"pick-{number}",
                )
                with button:
                    ui.label(shown)
            for place, cell in enumerate(cells):
                with ui.element("td").classes("words" if place >= numbers else ""):
                    ui.label(cell)
        return row, button


def cells_of(choice: Choice, labels: Mapping[str, Sequence[str]], dropped: bool) -> list[str]:
    """A solution as cells of a table, behind its number."""
    belief = percent(choice.belief) if choice.belief is not None else "–"
    gone = [f"{choice.suppressed:,}"] if dropped else []
    return [
        repair_words.number(choice.cost),
        f"{int(1 / choice.risk):,}",
        belief,
        *gone,
        *(
            repair_words.level_words(labels[name], level)
            for name, level in choice.generalization.items()
        ),
    ]
