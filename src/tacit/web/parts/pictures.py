"""Pictures: a chart with its finding as a title, how to read it, and buttons that save it as SVG or PNG."""

from __future__ import annotations

import asyncio
import re

from nicegui import ui

from tacit.report.charts import Chart
from tacit.report.escaping import escaped
from tacit.web.bench import Visit
from tacit.web.parts.labels import aria
from tacit.web.parts.saving import save_button

SCALE = 2.0


def picture(visit: Visit, chart: Chart, name: str) -> ui.element:
    """A chart as a figure; `name` is what its files are called, without an ending."""
    file = re.sub(r"[^\w-]+", "-", name).strip("-") or "picture"

    async def png() -> bytes:
        return await asyncio.to_thread(png_of, as_file(chart.svg))

    with ui.element("figure").classes("picture") as shown:
        with ui.element("figcaption"):
            ui.label(chart.title).style("font-weight: 600")
            if chart.note:
                ui.label(chart.note).classes("fine")
        ui.html(chart.svg, sanitize=False)
        with ui.element("div").classes("toolbar"):
            save_button(visit, "Save SVG", f"{file}.svg", lambda: as_file(chart.svg)).props(f'aria-label="Save SVG: {aria(chart.title)}"')
            save_button(visit, "Save PNG", f"{file}.png", png).props(f'aria-label="Save PNG: {aria(chart.title)}"')
    return shown


def png_of(svg: str) -> bytes:
    """A picture in dots, twice as fine as on the screen."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(svg, scale=SCALE))


def as_file(svg: str) -> str:
    """A picture that stands in a page as a file of its own: it says of what kind it is, and has paper behind it in any viewer."""
    root, end, inside = escaped(svg).partition(">")
    if "xmlns=" not in root:
        root = root.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return f'{root}{end}<rect width="100%" height="100%" fill="#fff"/>{inside}'
