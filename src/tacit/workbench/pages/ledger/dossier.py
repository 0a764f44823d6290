"""The dossier of a release that went out, made from its entry of the ledger and saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from tacit.workbench.bench import Visit
from tacit.workbench.parts.cards import file_name
from tacit.workbench.parts.save_button import save, save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import ledger as tasks_ledger

if TYPE_CHECKING:
    from tacit.ledger.entries import Entry
    from tacit.model.verdict import Audience
    from tacit.workbench.work import Work

WORDS: dict[Audience, str] = {"owner": "Dossier for you", "shared": "Dossier to share"}


def dossier_buttons(visit: Visit, entry: Entry, place: ui.element) -> None:
    """A button for each audience; how far it is stands at a place."""
    for audience, words in WORDS.items():
        ui.button(words, on_click=lambda one=audience: make(visit, entry, one, place)).props(
            f'flat data-testid="dossier-{audience}"'
        )


def make(visit: Visit, entry: Entry, audience: Audience, place: ui.element) -> None:
    """Make the dossier, save it, and say its hash."""
    book = visit.book
    work = book.works.start(
        "dossier",
        f"{WORDS[audience]}: {entry.release}",
        tasks_ledger.dossier,
        book.path,
        book.reach,
        entry.release,
        entry.number,
        audience,
        key=f"{entry.number} {audience}",
    )
    name = f"dossier-{file_name(entry.release)}-{audience}.html"

    def done(work: Work) -> None:
        if work.state != "done":
            return
        with place:
            ui.label(f"Keyed hash: {work.result.seal}").classes("mono fine").props(
                'data-testid="dossier-hash"'
            )
            ui.label(f"Later: tacit dossier verify {name}").classes("fine")
            save_button(visit, "Save the dossier", name, lambda: work.result.text)
        save(visit, name, work.result.text)

    place.clear()
    with place:
        show_work(work, done)
