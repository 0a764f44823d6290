"""Saving from a page: a button that makes a file when it is pressed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from nicegui import ui

from tacit.errors import TacitError
from tacit.workbench.bench import Visit
from tacit.workbench.parts.notices import show_error

CHUNK = 1 << 20
Content = bytes | str | Path | Callable[[], AsyncIterator[bytes]]


def save(visit: Visit, name: str, content: Content) -> None:
    """Send a file to this browser: bytes, text, a file of the
    folder, or pieces as they are made.
    """

    async def pieces() -> AsyncIterator[bytes]:
        if callable(content):
            async for piece in content():
                yield piece
        elif isinstance(content, Path):
            with content.open("rb") as file:
                while piece := await asyncio.to_thread(file.read, CHUNK):
                    yield piece
        else:
            yield content.encode() if isinstance(content, str) else content

    key = visit.bench.savings.offer(visit.session.id, name, pieces)
    ui.navigate.to(f"/saved/{key}")


def save_button(
    visit: Visit, label: str, name: str, content: Callable[[], Content | Awaitable[Content]]
) -> ui.button:
    """A button that saves a file; `content` is asked for it when the button is pressed."""

    async def pressed() -> None:
        try:
            made = content()
            save(visit, name, await made if isinstance(made, Awaitable) else made)
        except TacitError as error:
            show_error(error)

    return ui.button(label, on_click=pressed).props("flat dense no-caps")
