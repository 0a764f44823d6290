"""A view and perfect privacy: the verdict, both queries as pictures, the row that matters,
changes that help, and how the queries were read.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from tacit.errors import TacitError
from tacit.families.catalog import kinds_of
from tacit.workbench.bench import Visit
from tacit.workbench.check_states import answers
from tacit.workbench.parts.cards import show_card
from tacit.workbench.parts.folds import expert_fold
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.tasks.views import (
    QueryEvidence,
    QueryReading,
    of_section,
    plan_text,
    query_evidence,
)

HAS_CARDS = True  # of its verdicts, between its pictures
IS_ALWAYS_SHOWN = False  # also where nothing was checked
READ = (
    "What is judged is what was read of the query, not its text. Where something was not read "
    "exactly it is said, and “holds” stays right."
)

ONE_CHANGE = "With this change it does: the changed view was judged, and the check holds for it."
SOME_CHANGES = (
    "Each of these changes alone is enough: every changed view was judged, and the check "
    "holds for it."
)


async def show(visit: Visit, name: str, section: Mapping[str, Any]) -> None:
    """Every verdict of perfect privacy about a view, with its evidence."""
    checked = visit.book.checked
    if checked is None:
        return
    asked = await asked_now(visit)
    read: dict[str, QueryReading] = {}
    for key, verdict, card in of_section(checked, section, kinds_of("queries")):
        with (
            ui.element("section")
            .classes("stack")
            .props(f'aria-label="{aria(title_of(verdict))}" data-testid="perfect-privacy"')
        ):
            found = await of_verdict(visit, name, asked.get(key), verdict, card)
            read |= {one.name: one for one in found.read} if found else {}
    if read:
        how_read(list(read.values()))


async def asked_now(visit: Visit) -> dict[str, int]:
    """The places, in the plan as it is now, of the checks whose verdicts still speak of it."""

    def look() -> dict[str, int]:
        return {
            one.key: place
            for place, one in enumerate(answers(visit.book.plan(), visit.book.checked))
            if one.state not in ("stale", "unchecked")
        }

    return await to_thread(look)


def title_of(verdict: Mapping[str, Any]) -> str:
    """What was asked."""
    return f"perfect privacy of {verdict['subject']['secret']}"


async def of_verdict(
    visit: Visit, name: str, place: int | None, verdict: Mapping[str, Any], card: str
) -> QueryEvidence | None:
    """One verdict: its card with the queries side by side, and what would help.
    Without a place the plan has changed since.
    """
    show_card(visit, card, f"{name} {verdict['subject']['secret']}")
    if place is None:
        notice(
            "The plan or its data were changed after this verdict. Check again to see how the "
            "queries are read now.",
            "warn",
        )
        return None
    try:
        found = await visit.book.ask(query_evidence, place, verdict)
    except TacitError as error:
        show_error(error)
        return None
    if found.changes:
        changes(visit, found)
    return found


# -- what would help -------------------------------------------------------------------------------


def changes(visit: Visit, found: QueryEvidence) -> None:
    """Changes after which it would hold, each with a button that
    shows the text to put into the plan.
    """
    plan = visit.book.plan()
    with (
        ui.element("section")
        .classes("card")
        .props('aria-label="Changes that help" data-testid="changes"')
    ):
        heading("To make it hold", "h2")
        ui.label(ONE_CHANGE if len(found.changes) == 1 else SOME_CHANGES).classes("muted")
        for change in found.changes:
            where, text = plan_text(plan, change)
            with ui.element("div").classes("stack change-row"):
                with ui.element("div").classes("row between"):
                    ui.label(f"{change.words[:1].upper()}{change.words[1:]}").style(
                        "font-weight: 600"
                    )
                    button = (
                        ui.button("Show the text for the plan")
                        .props("flat dense no-caps aria-expanded=false")
                        .mark("show-change")
                    )
                shown = ui.element("div").classes("stack").props('role="status"')
            button.on_click(
                lambda shown=shown, where=where, text=text, button=button: toggle(
                    visit, button, shown, where, text
                )
            )


def toggle(visit: Visit, button: ui.button, place: ui.element, where: str, text: str) -> None:
    """Show the text of a change with a button to copy it, or take it away again."""
    is_open = bool(place.default_slot.children)
    place.clear()
    button.set_text("Show the text for the plan" if is_open else "Hide the text")
    button.props(f"aria-expanded={'false' if is_open else 'true'}")
    if is_open:
        return

    def copy() -> None:
        ui.clipboard.write(text)
        ui.notify("Copied. Put it into the plan on the Start page.")

    with place:
        ui.label(where).classes("fine")
        ui.label(text).classes("mono codeline plan-lines").props(
            'tabindex="0" role="region" aria-label="Text for the plan" data-testid="plan-lines"'
        )
        with ui.element("div").classes("toolbar"):
            ui.button("Copy", on_click=copy).props("flat dense no-caps").mark("copy-change")
            ui.link("Open the plan on the Start page", visit.link(""))


# -- how it was read -------------------------------------------------------------------------------


def how_read(read: list[QueryReading]) -> None:
    """How each query was read, as `tacit explain` tells it."""
    with (
        ui.element("section")
        .classes("card")
        .props('aria-label="How the queries were read" data-testid="how-read"')
    ):
        heading("How the queries were read", "h2")
        ui.label(READ).classes("muted")
        with expert_fold(), ui.element("div").classes("query-texts"):
            for one in read:
                with ui.element("div").classes("stack"):
                    heading(f"{one.role} {one.name}", "h3")
                    ui.label("\n".join(one.lines)).classes("mono codeline read-lines").props(
                        f'tabindex="0" role="region" aria-label="How {aria(one.name)} was read"'
                    )


def heading(text: str, tag: str) -> None:
    """A heading of a page."""
    with ui.element(tag):
        ui.label(text)
