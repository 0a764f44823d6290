"""The frame of every page: where one is, which plan it is about, what
is being worked on, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files

from nicegui import ui

import tacit
from tacit.workbench.app.sockets import WHEN_LOST
from tacit.workbench.bench import PREFIX, Visit
from tacit.workbench.parts.work_progress import LOOK_SECONDS, done_part, time_left

PAGES = {
    "": "Start",
    "overview": "Overview",
    "repair": "Repair",
    "ledger": "Ledger",
    "try": "Try a query",
    "help": "Help",
}
THEMES: dict[bool | None, tuple[str, str]] = {
    None: ("As the system", "brightness_auto"),
    False: ("Light", "light_mode"),
    True: ("Dark", "dark_mode"),
}


@contextmanager
def frame(visit: Visit, current: str, title: str, sheets: tuple[str, ...] = ()) -> Iterator[None]:
    """Everything around a page; what is built inside is its content.
    `sheets` are the beginnings of its own styles' names.
    """
    ui.add_css(styles(sheets))
    ui.add_head_html(f"<script>{WHEN_LOST}</script>")
    ui.page_title(f"{title} · Tacit")
    dark = ui.dark_mode(visit.bench.themes.get(visit.session.id))
    ui.colors(primary="#35618f", negative="#b3360a", positive="#0b6b57", warning="#7a5600")
    with ui.element("header").classes("topbar"), ui.element("div").classes("inside"):
        ui.link("Skip to the content", "#content").classes("skip")
        ui.link("Tacit", visit.link("overview")).classes("brand")
        navigation(visit, current)
        ui.label(visit.book.name).classes("planname")
        theme_button(visit, dark)
        with ui.element("form").props(f'method="post" action="{PREFIX}/sign-out"'):
            ui.element("input").props(f'type="hidden" name="csrf" value="{visit.session.csrf}"')
            ui.button("Sign out").props("flat dense no-caps type=submit")
    with (
        ui.element("div").classes("page").props('id="content" tabindex="-1"')
    ):  # inside Quasar's own <main>
        running(visit)
        with ui.element("div").classes("stack").style("gap: 1.25rem"):
            yield
    with ui.element("footer").classes("foot"):
        ui.label(f"Tacit {tacit.__version__}. Owner's pages: they contain personal values.")


def navigation(visit: Visit, current: str) -> None:
    """The links to all pages."""
    with ui.element("nav").props('aria-label="Pages"'):
        for page, title in PAGES.items():
            link = ui.link(title, visit.link(page))
            if page == current:
                link.props('aria-current="page"')


def theme_button(visit: Visit, dark: ui.dark_mode) -> None:
    """A button that goes through the themes; the choice stays for the session."""

    def press() -> None:
        order = list(THEMES)
        chosen = order[(order.index(visit.bench.themes.get(visit.session.id)) + 1) % len(order)]
        if visit.session.id not in visit.bench.themes:
            visit.session.on_end.append(forget)
        visit.bench.themes[visit.session.id] = dark.value = chosen
        label()

    def forget() -> None:
        visit.bench.themes.pop(visit.session.id, None)

    def label() -> None:
        words, icon = THEMES[visit.bench.themes.get(visit.session.id)]
        button.props(
            f'icon={icon} aria-label="Theme: {words}. Press to change." title="Theme: {words}"'
        )

    button = ui.button(on_click=press).props("flat dense round")
    label()


def running(visit: Visit) -> None:
    """One line for each piece of work that runs, whichever page started it."""
    line = ui.label().classes("fine").props('role="status" data-testid="running"')

    def look() -> None:
        found = visit.book.works.running()
        told = [
            f"{one.title}: {'stopping' if one.stops else done_part(one)}"
            + (f", {time_left(one.left)}" if one.left is not None else "")
            for one in found
        ]
        text = " · ".join(told)
        if line.text != text:
            line.set_text(text)
        line.set_visibility(bool(found))

    look()
    ui.timer(4 * LOOK_SECONDS, look)


@cache
def styles(sheets: tuple[str, ...]) -> str:
    """The style of the workbench and its pictures, of the report's cards in it, and of a page."""
    from tacit.report.html.pages import style

    here = files("tacit.workbench")
    own = sorted(
        (
            one
            for sheet in sheets
            for one in here.joinpath("pages", sheet).iterdir()
            if one.name.endswith(".css")
        ),
        key=lambda one: one.name,
    )
    return "\n".join(
        [
            style(".report", ".body--dark"),
            *(one.read_text("utf-8") for one in (here / "style.css", here / "pictures.css", *own)),
        ]
    )
