"""Work of the page Repair: which of it is shown when the page is opened again, how it is
followed, what stands there when it was stopped; and the way to the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tacit.workbench.bench import Visit
from tacit.workbench.pages.repair.slider import named
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.work import Work, Works

TO_RECORD = "to record"  # left with the book, for the page of the ledger


def last_work(works: Works, kind: str, key: str) -> Work | None:
    """The newest work about something that nobody has stopped:
    what was stopped is shown only where that was seen.
    """
    return next(
        (
            one
            for one in works.all()
            if (one.kind, one.key) == (kind, key) and one.state != "cancelled"
        ),
        None,
    )


def follow(
    work: Work,
    room: ui.element,
    show: Callable[[Any], None],
    again: str,
    start: Callable[[], Any] | None = None,
) -> None:
    """Show work in a part of the page: how far it is, then what it found, or how it is started
    again where it was stopped.
    """
    room.clear()

    def ended(work: Work) -> None:
        if work.state not in ("done", "cancelled"):
            return
        room.clear()
        with room:
            show(work.result) if work.state == "done" else show_stopped(work, again, start)

    with room:
        show_work(work, then=ended)


def show_stopped(work: Work, again: str, start: Callable[[], Any] | None = None) -> None:
    """Say that work was stopped, and how it is started again: by a button, or in words."""
    with named(
        ui.element("div").classes("notice warn").props('role="status"'),
        work.title,
        f"work-{work.kind}",
    ):
        ui.label("It was stopped. Nothing was written.")
        if start is None:
            ui.label(again).classes("muted")
            return
        ui.button(again, on_click=start).props('outline dense no-caps data-testid="again"').style(
            "align-self: flex-start; margin-top: .4rem"
        )


def record_button(visit: Visit, release: Callable[[], tuple[str, str | None]]) -> ui.button:
    """A button that goes to the ledger, where the release and the file that
    `release` gives are chosen already.
    """

    def press() -> None:
        name, file = release()
        visit.book.kept[TO_RECORD] = {"release": name, "file": file}
        ui.navigate.to(visit.link("ledger"))

    return ui.button("Record it in the ledger", on_click=press).props(
        'unelevated no-caps data-testid="to-ledger"'
    )
