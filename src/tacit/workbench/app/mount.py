"""Mounting: the workbench on the gateway's application, behind its guard."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from html import escape
from importlib import import_module
from typing import Any

from fastapi import FastAPI
from nicegui import app as workbench
from nicegui import ui
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tacit.errors import TacitError
from tacit.gateway.http.app import where
from tacit.workbench.app.frame import PAGES, frame
from tacit.workbench.app.sign_in import page as plain_page
from tacit.workbench.bench import PREFIX, Bench, Visit
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.work import get_ready

ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' "
    "rx='7' fill='#35618f'/><path d='M9 9h14v4h-5v11h-4V13H9z' fill='#fff'/></svg>"
)
ROUTES = [
    ("/", "start", ""),
    ("/overview", "overview", "overview"),
    ("/release/{name:path}", "release", "overview"),
    ("/repair", "repair", "repair"),
    ("/repair/{name:path}", "repair", "repair"),
    ("/ledger", "ledger", "ledger"),
    ("/try", "trying", "try"),
    ("/help", "help", "help"),
    ("/help/{name:path}", "help", "help"),
]
SHEETS = {"release": ("release", "overview")}  # of which styles a page takes more than its own


def mount(
    app: FastAPI, bench: Bench, guarded: Callable[[Any], Any], at_end: Callable[[], None]
) -> None:
    """Put the pages below /workbench; `guarded` wraps them so that nobody else gets in, `at_end`
    is called when the server ends.
    """
    for short in ("/", PREFIX):
        app.router.routes.append(Route(short, to_the_pages, methods=["GET"]))
    for path, module, current in ROUTES:
        add_page(bench, path, module, current)
    workbench.add_route("/saved/{key}", bench.savings.send, methods=["GET"])
    workbench.add_exception_handler(404, not_found)
    workbench.on_exception(
        lambda error: bench.tell(f"Fault: {type(error).__name__} on a page.{where(error)}")
    )
    logging.getLogger("nicegui").addFilter(without_values)
    ui.run_with(
        app,
        mount_path=PREFIX,
        title="Tacit",
        favicon=ICON,
        dark=None,
        tailwind=False,
        language="en-US",
        reconnect_timeout=30.0,
        show_welcome_message=False,
        binding_refresh_interval=None,
    )
    placed = app.router.routes[-1]
    placed.app = guarded(placed.app)  # type: ignore[attr-defined]
    keep_house(app, bench, at_end)


async def to_the_pages(request: Request) -> Response:
    """Who leaves something out of the address is sent to the pages."""
    return RedirectResponse(f"{PREFIX}/", 303)


def add_page(bench: Bench, path: str, module: str, current: str) -> None:
    """One page: who visits it, the frame around it, and its errors in words."""

    async def build(request: Request, name: str = "") -> None:
        session = request.scope["tacit.session"]
        try:
            book = bench.book(session.plan)
        except TacitError:
            book = bench.book()
        visit = Visit(bench, book, session)
        show = import_module(f"tacit.workbench.pages.{module}.page").show
        with frame(visit, current, name or PAGES[current], SHEETS.get(module, (module,))):
            try:
                if not book.exists and module not in ("start", "help"):
                    nothing_yet(visit, PAGES[current])
                else:
                    await (show(visit, name) if takes_name(show) else show(visit))
            except TacitError as error:
                ui.html(escape(name or PAGES[current]), tag="h1", sanitize=False)
                show_error(error)
                ui.link("Correct it on the page Start", visit.link())

    if "{name" not in path:

        async def page(request: Request) -> None:
            await build(request)
    else:

        async def page(request: Request, name: str) -> None:  # type: ignore[misc]
            await build(request, name)

    ui.page(path, response_timeout=30.0)(page)


def nothing_yet(visit: Visit, title: str) -> None:
    """What stands on a page that needs a plan, before there is one."""
    ui.html(escape(title), tag="h1", sanitize=False)
    notice("There is no plan yet: it says which tables there are and what is to be released.")
    ui.link("Open a table or a plan on the page Start", visit.link())


def not_found(request: Request, error: Exception) -> Response:
    """A page that does not exist, with a way back."""
    return HTMLResponse(
        plain_page(
            "There is no such page", f'<p><a href="{PREFIX}/overview">Go to the overview</a></p>'
        ),
        404,
    )


def takes_name(show: Callable[..., Any]) -> bool:
    """Is a page about something that its path names?"""
    return "name" in inspect.signature(show).parameters


def keep_house(app: FastAPI, bench: Bench, at_end: Callable[[], None]) -> None:
    """Close what nobody uses while the server runs, and everything at its end."""
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def alive(app: FastAPI) -> AsyncIterator[Any]:
        housekeeping = asyncio.create_task(bench.keep_house())
        await asyncio.to_thread(get_ready)
        try:
            async with inner(app) as state:
                yield state
        finally:
            housekeeping.cancel()
            with suppress(asyncio.CancelledError):
                await housekeeping
            await asyncio.to_thread(bench.close)
            await asyncio.to_thread(at_end)

    app.router.lifespan_context = alive


def without_values(record: logging.LogRecord) -> bool:
    """Keep tracebacks and messages of NiceGUI out of the terminal:
    they may hold values of people.
    """
    return record.levelno >= logging.ERROR and not record.exc_info
