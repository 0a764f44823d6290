"""Progress of a piece of work on a page: what it does, how far it is, how long it will take, and a
way to stop it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from nicegui import background_tasks, ui

from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.work import Work

LOOK_SECONDS = 0.25


def show_work(work: Work, then: Callable[[Work], Any] | None = None) -> ui.element:
    """Follow a piece of work; `then` is called once on this page
    when it is over, in whichever way.
    """
    with ui.element("div").classes("work").props(f'data-testid="work-{aria(work.kind)}"') as shown:
        with ui.element("div").classes("row between"):
            ui.label(work.title).style("font-weight: 600")
            stop = ui.button("Cancel", on_click=work.cancel).props(
                f'flat dense no-caps aria-label="Cancel: {aria(work.title)}"'
            )
        with (
            ui.element("div")
            .classes("track")
            .props(
                'role="progressbar" aria-valuemin="0" aria-valuemax="100" '
                f'aria-label="{aria(work.title)}"'
            ) as track
        ):
            bar = ui.element("div")
        text = ui.label().classes("fine").props('role="status"')

    async def look() -> None:
        bar.style(f"width: {work.share:.1%}")
        track.props(f'aria-valuenow="{round(work.share * 100)}"')
        text.set_text(describe_progress(work))
        stop.set_enabled(not work.stops)
        if work.over:
            timer.cancel()
            stop.set_visibility(False)
            await ended()

    async def ended() -> None:
        with shown:
            if work.state == "failed" and work.error is not None:
                show_error(work.error)
            elif work.state == "cancelled":
                notice("It was stopped. Nothing was written.", "warn")
        if then is not None:
            found = then(work)
            if isawaitable(found):
                background_tasks.create(goes_on(found))

    async def goes_on(found: Awaitable[Any]) -> None:
        """Not in the timer's own task: what follows may clear the place where the timer is."""
        with host:
            await found

    parent = shown.parent_slot
    assert parent is not None
    host = parent.parent
    timer = ui.timer(LOOK_SECONDS, look)
    return shown


def describe_progress(work: Work) -> str:
    """How far work is, in words."""
    if work.state == "done":
        return f"Done in {duration(work.seconds)}."
    if work.over:
        return work.state.capitalize() + "."
    left = work.left
    if work.stops:
        return "Stopping."
    return f"{work.text[:1].upper()}{work.text[1:]} · {done_part(work)}" + (
        f" · {time_left(left)}" if left is not None else ""
    )


def done_part(work: Work) -> str:
    """How much of it is done."""
    return f"{100 * work.share:.0f} %"


def time_left(seconds: float) -> str:
    """How much longer something takes.

    >>> time_left(0.3), time_left(42.3)
    ('nearly done', 'about 42 s left')
    """
    return "nearly done" if seconds < 1 else f"about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(0.4), duration(42.3), duration(150), duration(7300)
    ('less than a second', '42 s', '2 min 30 s', '2 h 1 min')
    """
    if seconds < 1:
        return "less than a second"
    if seconds < 60:
        return f"{round(seconds)} s"
    minutes = int(seconds // 60)
    return (
        f"{minutes} min {round(seconds % 60)} s"
        if minutes < 60
        else f"{minutes // 60} h {minutes % 60} min"
    )
