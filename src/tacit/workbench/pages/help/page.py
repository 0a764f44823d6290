"""Help: a page of the documentation, with the way to the others."""

from __future__ import annotations

import asyncio

from nicegui import ui

from tacit.workbench import documentation
from tacit.workbench.bench import PREFIX, Visit

FIRST = {
    "README.md": "All pages",
    "how-to/workbench.md": "The workbench",
    "guide.md": "Guide",
    "glossary.md": "Glossary",
    "definitions/README.md": "Definitions",
}


async def show(visit: Visit, name: str = "") -> None:
    """The page that is named, else the list of all."""
    page = name or documentation.FIRST
    text = await asyncio.to_thread(documentation.as_html, page, f"{PREFIX}/help")
    with ui.element("nav").classes("row help-pages").props('aria-label="Documentation"'):
        for other, title in FIRST.items():
            link = ui.link(title, f"/help/{other}")
            if other == page:
                link.props('aria-current="page"')
    with ui.element("article").classes("card documentation").props('data-testid="documentation"'):
        ui.html(text, sanitize=False)
