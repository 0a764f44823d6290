"""Pictures: a chart with its finding as a title, how to read it, and
buttons that save it as SVG or PNG.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from nicegui import ui

from tacit.report.charts.portrait_chart import Chart
from tacit.report.escaping import escaped
from tacit.workbench.bench import Visit
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.save_button import save_button

SCALE = 2.0


def picture(visit: Visit, chart: Chart, name: str) -> ui.element:
    """A chart as a figure; `name` is what its files are called, without an ending."""
    file = re.sub(r"[^\w-]+", "-", name).strip("-") or "picture"
    with ui.element("figure").classes("picture") as shown:
        with ui.element("figcaption"):
            ui.label(chart.title).style("font-weight: 600")
            if chart.note:
                ui.label(chart.note).classes("fine")
        ui.html(chart.svg, sanitize=False)
        with ui.element("div").classes("toolbar"):
            for button in save_picture(visit, lambda: chart.svg, file):
                button.props(f'aria-label="{aria(f"{button.text}: {chart.title}")}"')
    return shown


def save_picture(
    visit: Visit,
    svg: Callable[[], str],
    file: str,
    labels: tuple[str, str] = ("Save SVG", "Save PNG"),
) -> list[ui.button]:
    """Two buttons that save a picture; `svg` is asked for it when one is pressed."""

    async def png() -> bytes:
        return await asyncio.to_thread(png_of, svg())

    return [
        save_button(visit, labels[0], f"{file}.svg", lambda: as_file(svg())),
        save_button(visit, labels[1], f"{file}.png", png),
    ]


def png_of(svg: str) -> bytes:
    """A picture of a page in dots, twice as fine as on the screen."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(as_file(svg), scale=SCALE))


def as_file(svg: str) -> str:
    """A picture that stands in a page as a file of its own:
    it says of what kind it is, and has paper behind it in any viewer.
    """
    root, end, inside = escaped(svg).partition(">")
    if "xmlns=" not in root:
        root = root.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return f'{root}{end}<rect width="100%" height="100%" fill="#fff"/>{inside}'
