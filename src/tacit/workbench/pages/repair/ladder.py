"""The ladder of a repair: how strict the checks can be, and at which loss."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from itertools import groupby

from nicegui import ui

from tacit.families.microdata.runs.explore import Explored, Rung
from tacit.families.words import plural
from tacit.model.numbers import plain
from tacit.report import repair_words
from tacit.report.terminal.repair_summary import merged_neighbours, notes, rung_values
from tacit.workbench.bench import Visit
from tacit.workbench.pages.repair.repair_answers import heading
from tacit.workbench.pages.repair.slider import named
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.save_button import save_button


def show_explored(visit: Visit, found: Explored) -> None:
    """Each parameter with its values: the cost, or that it cannot be met."""
    with ui.element("section").classes("card").props('data-testid="explored"'):
        heading("How strict the checks can be", "h2")
        ui.label(
            "Each line asks for more or less in one check, and leaves all others as they are."
        ).classes("muted")
        most = max((rung.cost for rung in found.rungs if rung.cost is not None), default=0.0)
        most = max(most, 1.0) if found.utility == "loss" else most
        for (check, parameter), rungs in groupby(
            found.rungs, key=lambda one: (one.name or one.label, one.parameter)
        ):
            heading(f"{check}: {parameter}", "h3")
            table = ui.html(ladder_table(list(rungs), most, found), sanitize=False).classes(
                "scroll"
            )
            named(table.props('tabindex="0" role="region"'), f"{check}: {parameter}")
        if not found.rungs:
            ui.label("The checks of this release have no parameter to move.")
        for note in notes(found.rungs):
            ui.label(note).classes("fine")
        if found.rungs:
            with ui.element("div").classes("toolbar"):
                save_button(
                    visit,
                    "Save CSV",
                    f"{found.release}-parameters.csv",
                    lambda: csv_bytes(csv_lines(found)),
                ).props('aria-label="Save CSV: the parameters"')


def ladder_table(rungs: list[Rung], most: float, found: Explored) -> str:
    """One parameter as a table."""
    rows = []
    for together in merged_neighbours(rungs):
        rung, value = together[0], rung_values(together)
        plans = " <b>← the plan</b>" if rung.asked_for else ""
        if rung.cost is None:
            said = "cannot be met" if rung.proved else "nothing found in time"
            rows.append(f"<tr><td>{escape(value)}{plans}</td><td>–</td><td>{said}</td></tr>")
            continue
        bar = (
            '<span class="gauge" aria-hidden="true"><span style="width: '
            f'{rung.cost / most if most else 0:.1%}"></span></span>'
        )
        dropped = f", {plural('row', rung.suppressed)} dropped" if rung.suppressed else ""
        told = (
            f"{repair_words.describe_levels(rung.generalization or {}, found.labels)}{dropped}"
            f"{'' if rung.proved else ' (not proved)'}"
        )
        rows.append(
            f'<tr><td>{escape(value)}{plans}</td><td style="white-space: '
            f'nowrap">{bar}{repair_words.number(rung.cost)}</td><td>{escape(told)}</td></tr>'
        )
    heads = "".join(
        f'<th scope="col">{escape(one)}</th>' for one in ("Value", found.utility, "Levels")
    )
    return (
        "<table "
        f'class="plain"><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def csv_lines(found: Explored) -> list[list[str]]:
    """All values as lines of a table."""
    lines = [["check", "parameter", "value", found.utility, "levels", "rows dropped", "proved"]]
    for rung in found.rungs:
        levels = (
            repair_words.describe_levels(rung.generalization, found.labels)
            if rung.generalization is not None
            else "cannot be met"
            if rung.proved
            else "nothing found in time"
        )
        cost = "" if rung.cost is None else str(rung.cost)
        lines.append(
            [
                rung.name or rung.label,
                rung.parameter,
                plain(Fraction(rung.value)),
                cost,
                levels,
                str(rung.suppressed),
                str(rung.proved).lower(),
            ]
        )
    return lines
