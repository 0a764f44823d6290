"""Cards: a verdict as the report shows it, with buttons that save its pictures and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import unescape
from html.parser import HTMLParser

from nicegui import ui

from tacit.report.charts.portrait_chart import Chart
from tacit.workbench.bench import Visit
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.pictures import picture, save_picture
from tacit.workbench.parts.save_button import save_button

FIGURE = re.compile(r"<figure>.*?</figure>\s*", re.DOTALL)
GRAPH = re.compile(r'<figure class="graph">.*?</figure>', re.DOTALL)
LETTERS = 32  # of a picture's name on a button


@dataclass(frozen=True, slots=True)
class CardTable:
    """A table of a card: its caption, and all rows with the head first."""

    caption: str
    rows: tuple[tuple[str, ...], ...]


def show_card(visit: Visit, card: str, name: str) -> list[Chart]:
    """A verdict's card with its queries, and below it buttons that save these and its tables.
    Gives its other pictures, for the page to show.

    `name` is what the files are called.
    """
    html, charts = taken_apart(card)
    ui.html(html, sanitize=False).classes("report verdict-card")
    graphs, tables, file = charts_in(html), tables_of(html), file_name(name)
    if graphs or tables:
        with ui.element("div").classes("toolbar").props('role="group" aria-label="Save"'):
            ui.label("Save:").classes("fine")
            for number, chart in enumerate(graphs, 1):
                called = short_title(chart.title, number)
                save_picture(
                    visit,
                    partial(str, chart.svg),
                    f"{file}-{number}",
                    (f"{called} (SVG)", f"{called} (PNG)"),
                )
            for number, (called, table) in enumerate(
                zip(table_names(tables), tables, strict=True), 1
            ):
                save_button(
                    visit,
                    f"{called} (CSV)",
                    f"{file}-table-{number}.csv",
                    partial(csv_bytes, table.rows),
                )
    return charts


def show_pictures(visit: Visit, charts: Sequence[Chart], name: str) -> None:
    """Pictures side by side, each with buttons to save it."""
    if charts:
        with ui.element("div").classes("grid-2"):
            for number, chart in enumerate(charts, 1):
                picture(visit, chart, f"{name} {number}")


def short_title(title: str, number: int) -> str:
    """What a picture is called on a button.

    >>> short_title("secret cancer: 2 subgoals", 1), short_title("4 of 9 databases stay", 2)
    ('Secret cancer', 'Picture 2')
    """
    first, colon, _ = title.partition(":")
    return first[:1].upper() + first[1:] if colon and len(first) <= LETTERS else f"Picture {number}"


def taken_apart(card: str) -> tuple[str, list[Chart]]:
    """A card without its charts, and these. Graphs of queries stay in it.

    >>> taken_apart(
    ...     "<p>a</p><figure><figcaption><h3>T</h3><p>N &amp; n</p></figcaption>\\n<svg><p/></svg></figure><p>b</p>"
    ... )
    ('<p>a</p><p>b</p>', [Chart(title='T', note='N & n', svg='<svg><p/></svg>')])
    """  # noqa: E501
    charts = [found for one in FIGURE.findall(card) if (found := chart_of(one)) is not None]
    return FIGURE.sub("", card), charts


def charts_in(html: str) -> list[Chart]:
    """The graphs of queries that stand in a card."""
    return [found for one in GRAPH.findall(html) if (found := chart_of(one)) is not None]


def chart_of(figure: str) -> Chart | None:
    """The chart of a figure, as the report's templates write it."""
    drawn = re.search(r"<svg.*</svg>", figure, re.DOTALL)
    if drawn is None:
        return None
    around = figure[: drawn.start()] + figure[drawn.end() :]
    title, note = (
        re.search(rf"<{tag}[^>]*>(.*?)</{tag[0]}", around, re.DOTALL) for tag in ("h[34]", "p")
    )
    return Chart(unescape(title[1]) if title else "", unescape(note[1]) if note else "", drawn[0])


class Tables(HTMLParser):
    """Finds the tables of a card."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[CardTable] = []
        self._caption, self._cell = "", None
        self._rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell."""
        if tag == "table":
            self._caption, self._rows = "", []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td", "caption"):
            self._cell = dict(attrs).get("aria-label") or ""  # a head that is not seen has a name

    def handle_data(self, data: str) -> None:
        """The text of a cell."""
        if self._cell is not None:
            self._cell += data

    def handle_endtag(self, tag: str) -> None:
        """End a cell or a table."""
        if tag == "caption":
            self._caption, self._cell = (self._cell or "").strip(), None
        elif tag in ("th", "td") and self._rows:
            self._rows[-1].append((self._cell or "").strip())
            self._cell = None
        elif tag == "table":
            self.found.append(CardTable(self._caption, tuple(map(tuple, self._rows))))

    _cell: str | None


def tables_of(html: str) -> list[CardTable]:
    """The tables of a card.

    >>> tables_of(
    ...     "<table><caption>R</caption><tr><th>a</th></tr><tr><td>1 &lt; 2</td></tr></table>"
    ... )
    [CardTable(caption='R', rows=(('a',), ('1 < 2',)))]
    """
    reader = Tables()
    reader.feed(html)
    return reader.found


def table_names(tables: Sequence[CardTable]) -> list[str]:
    """What the tables of a card are called on their buttons:
    each by its caption, where that is short; those of one caption are numbered.

    >>> table_names([CardTable("stays", ()), CardTable("", ()), CardTable("stays", ())])
    ['Stays 1', 'Table', 'Stays 2']
    """
    called = [
        one.caption[:1].upper() + one.caption[1:] if 0 < len(one.caption) <= LETTERS else "Table"
        for one in tables
    ]
    often, seen = Counter(called), Counter[str]()
    found = []
    for name in called:
        seen[name] += 1
        found.append(f"{name} {seen[name]}" if often[name] > 1 else name)
    return found


def file_name(name: str) -> str:
    """A name as a file can have it."""
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "tables"
