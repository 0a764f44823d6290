"""Grids: a table of which only one page is fetched at a time, with sorting where it makes sense,
and all of it as CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from functools import partial
from inspect import isawaitable
from typing import Any

from nicegui import ui

from tacit.errors import TacitError
from tacit.families.microdata.hierarchy import SUPPRESSED
from tacit.workbench.bench import Visit
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import show_error
from tacit.workbench.parts.save_button import save_button

PAGE = 25
CSV_ROWS = 5_000

Row = Sequence[Any]
Sort = tuple[str, bool] | None  # a column, and whether the greatest comes first
Fetch = Callable[[int, int, Sort], list[Row] | Awaitable[list[Row]]]


class PageGrid:
    """A table on a page. `fetch(offset, limit, sort)` gives rows;
    `pick` is called with a row whose first shown value is pressed; `called` names it in full.
    """

    def __init__(
        self,
        visit: Visit,
        columns: Sequence[str],
        fetch: Fetch,
        *,
        name: str,
        caption: str,
        total: int | None = None,
        page: int = PAGE,
        sortable: Collection[str] = (),
        sort: Sort = None,
        pick: Callable[[Row], Any] | None = None,
        called: Callable[[Row], str] | None = None,
        can_save: bool = True,
        marked: Callable[[Row], bool] = lambda row: False,
    ) -> None:
        self._columns, self._fetch, self._caption, self._total, self._page = (
            tuple(columns),
            fetch,
            caption,
            total,
            page,
        )
        self._sortable, self._sort, self._pick, self._marked = set(sortable), sort, pick, marked
        self._called = called
        self._offset = 0
        with ui.element("div").classes("stack").props(f'data-testid="grid-{aria(name)}"'):
            self._body = (
                ui.element("div")
                .classes("scroll")
                .props(f'tabindex="0" role="region" aria-label="{aria(caption)}"')
            )
            with ui.element("div").classes("toolbar"):
                self._back = ui.button("Previous", on_click=lambda: self._move(-1)).props(
                    "flat dense no-caps"
                )
                self._where = ui.label().classes("fine").props('role="status"')
                self._next = ui.button("Next", on_click=lambda: self._move(1)).props(
                    "flat dense no-caps"
                )
                if can_save:
                    save_button(visit, "Save CSV", f"{name}.csv", lambda: self._csv)

    async def show(self) -> None:
        """Fetch and show the page that is due."""
        try:
            rows = await self._rows(self._offset, self._page + 1)
        except TacitError as error:
            self._body.clear()
            with self._body:
                show_error(error)
            return
        more, rows = len(rows) > self._page, rows[: self._page]
        self._body.clear()
        with self._body, ui.element("table").classes("plain"):
            self._head()
            with ui.element("tbody"):
                for row in rows:
                    self._row(row)
        of = f" of {self._total:,}" if self._total is not None else ""
        self._where.set_text(
            f"{self._offset + 1:,} to {self._offset + len(rows):,}{of}"
            if rows
            else "Nothing to show"
        )
        self._back.set_enabled(self._offset > 0)
        self._next.set_enabled(more)

    async def restart(self, *, total: int | None = None) -> None:
        """Show the first page again, after what is fetched has changed."""
        self._offset, self._total = 0, total
        await self.show()

    def _head(self) -> None:
        ui.html(f"{escaped(self._caption)}", tag="caption", sanitize=False).classes("fine").style(
            "text-align: left"
        )
        with ui.element("thead"), ui.element("tr"):
            for column in self._columns:
                with ui.element("th").props('scope="col"') as cell:
                    if column in self._sortable:
                        is_by = self._sort is not None and self._sort[0] == column
                        sign = "" if not is_by else " ↓" if self._sort and self._sort[1] else " ↑"
                        cell.props(
                            f'aria-sort="{"none" if not sign else "descending" if sign == " ↓" else "ascending"}'  # noqa: E501
                            '"'
                        )
                        ui.button(
                            f"{column}{sign}", on_click=lambda column=column: self._sort_by(column)
                        ).props("flat dense no-caps")
                    else:
                        ui.label(column)

    def _row(self, row: Row) -> None:
        with ui.element("tr").classes("marked" if self._marked(row) else ""):
            pick = self._pick
            # A value that is not shown says of nobody who it is.
            first = next((at for at, value in enumerate(row) if value != SUPPRESSED), 0)
            for number, value in enumerate(row):
                with ui.element("td"):
                    if number == first and pick is not None:
                        button = ui.button(cell_text(value), on_click=partial(pick, row)).props(
                            "flat dense no-caps align=left"
                        )
                        if self._called is not None:
                            button.props["aria-label"] = self._called(row)
                    else:
                        ui.label(cell_text(value))

    async def _move(self, pages: int) -> None:
        self._offset = max(0, self._offset + pages * self._page)
        await self.show()

    async def _sort_by(self, column: str) -> None:
        self._sort = (
            (column, not self._sort[1])
            if self._sort and self._sort[0] == column
            else (column, True)
        )
        self._offset = 0
        await self.show()

    async def _rows(self, offset: int, limit: int) -> list[Row]:
        found = self._fetch(offset, limit, self._sort)
        return await found if isawaitable(found) else found

    async def _csv(self) -> AsyncIterator[bytes]:
        yield csv_bytes([self._columns])
        offset = 0
        while rows := await self._rows(offset, CSV_ROWS):
            yield csv_bytes(rows)
            offset += len(rows)
            if len(rows) < CSV_ROWS:
                return


async def grid(
    visit: Visit, columns: Sequence[str], fetch: Fetch, *, name: str, caption: str, **options: Any
) -> PageGrid:
    """Build a grid and show its first page."""
    made = PageGrid(visit, columns, fetch, name=name, caption=caption, **options)
    await made.show()
    return made


def cell_text(value: Any) -> str:
    """A value as a cell shows it.

    >>> cell_text(None), cell_text(13053), cell_text("flu")
    ('(missing)', '13053', 'flu')
    """
    return "(missing)" if value is None else str(value)


def csv_bytes(rows: Sequence[Row]) -> bytes:
    """Rows as lines of CSV. A text that a spreadsheet would run as a formula is made harmless.

    >>> csv_bytes([("a", None, "=1+1")])
    b"a,,'=1+1\\r\\n"
    """
    text = io.StringIO()
    csv.writer(text).writerows(
        [["" if value is None else harmless(str(value)) for value in row] for row in rows]
    )
    return text.getvalue().encode()


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula; numbers stay numbers.

    >>> harmless("-5"), harmless("@SUM(A1)")
    ('-5', "'@SUM(A1)")
    """
    if text[:1] in ("=", "@", "\t", "\r"):
        return f"'{text}"
    if text[:1] in ("+", "-"):
        try:
            float(text)
        except ValueError:
            return f"'{text}"
    return text


def escaped(text: str) -> str:
    """A text for HTML."""
    from html import escape

    return escape(text)
