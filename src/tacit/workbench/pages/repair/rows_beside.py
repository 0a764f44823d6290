"""The rows of a table beside what a release shows of them, a page at a time.
They are not to be saved: their order would name people.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from html import escape

from nicegui import ui

from tacit.errors import TacitError
from tacit.families.microdata.runs.preview import PreviewRow
from tacit.workbench.pages.repair.slider import named
from tacit.workbench.parts.notices import show_error

PAGE = 15
CHANGED = ' class="changed"'
Fetch = Callable[[int, int], Awaitable[list[PreviewRow]]]


class RowsBeside:
    """Two tables with the same rows: as they are, and as they are released."""

    def __init__(
        self,
        heads: Sequence[str],
        columns: Sequence[str],
        fetch: Fetch,
        *,
        total: int,
        note: str = "",
    ) -> None:
        self._heads, self._columns, self._fetch, self._total = (
            tuple(heads),
            tuple(columns),
            fetch,
            total,
        )
        self._offset = 0
        with ui.element("div").classes("stack").props('data-testid="beside"'):
            with ui.element("div").classes("beside"):
                self._before, self._after = (
                    self._side("The table", "before"),
                    self._side("The release", "after"),
                )
            with ui.element("div").classes("toolbar"):
                self._back = ui.button("Previous rows", on_click=lambda: self._move(-1)).props(
                    "flat dense no-caps"
                )
                self._where = ui.label().classes("fine").props('role="status"')
                self._next = ui.button("Next rows", on_click=lambda: self._move(1)).props(
                    "flat dense no-caps"
                )
            ui.label(
                "For your eyes only: the file that is written has its rows in random "
                f"order.{' ' + note if note else ''}"
            ).classes("fine")

    async def show(self) -> None:
        """Fetch and show the rows that are due."""
        try:
            lines = await self._fetch(self._offset, PAGE)
        except TacitError as error:
            self._before.set_content("")
            self._after.set_content("")
            with self._before.parent_slot.parent if self._before.parent_slot else self._before:
                show_error(error)
            return
        self._before.set_content(before_table(self._heads, self._columns, lines))
        self._after.set_content(after_table(self._heads, self._columns, lines))
        last = self._offset + len(lines)
        self._where.set_text(
            f"Rows {self._offset + 1:,} to {last:,} of {self._total:,}" if lines else "No rows"
        )
        self._back.set_enabled(self._offset > 0)
        self._next.set_enabled(last < self._total)

    def _side(self, title: str, name: str) -> ui.html:
        with ui.element("div").classes("stack").style("gap: .3rem; min-width: 0"):
            ui.html(title, tag="h3", sanitize=False)
            with named(
                ui.element("div").classes("scroll").props('tabindex="0" role="region"'),
                f"{title}, row by row",
                name,
            ):
                return ui.html("", sanitize=False)

    async def _move(self, pages: int) -> None:
        self._offset = max(0, self._offset + pages * PAGE)
        await self.show()


def before_table(heads: Sequence[str], columns: Sequence[str], lines: Sequence[PreviewRow]) -> str:
    """The rows as they are; columns that are not released are marked."""
    titles = "".join(
        (
            f'<th scope="col"{withheld(name, columns)}>{escape(name)}'
            f"{note(name, heads, columns)}</th>"
        )
        for name in heads
    )
    rows = (
        (
            f"<tr{class_of(line)}"
            f">{''.join(cell(value, withheld(name, columns)) for name, value in zip(heads, line.before, strict=True))}"  # noqa: E501
            "</tr>"
        )
        for line in lines
    )
    return (
        '<table class="plain '
        f'rows"><thead><tr>{titles}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def after_table(heads: Sequence[str], columns: Sequence[str], lines: Sequence[PreviewRow]) -> str:
    """The rows as they are released; what differs is marked, and rows that are dropped say so."""
    titles = "".join(
        f'<th scope="col">{escape(name)}{note(name, heads, columns)}</th>' for name in columns
    )
    rows = []
    for line in lines:
        if line.after is None:
            rows.append(f'<tr class="gone"><td colspan="{len(columns)}">dropped</td></tr>')
            continue
        was = dict(zip(heads, line.before, strict=True))
        cells = "".join(
            cell(value, CHANGED if value != was[name] else "", line.one_of_several)
            for name, value in zip(columns, line.after, strict=True)
        )
        rows.append(f"<tr>{cells}</tr>")
    return (
        '<table class="plain '
        f'rows"><thead><tr>{titles}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def withheld(name: str, columns: Sequence[str]) -> str:
    """The mark of a column that is not released."""
    return "" if name in columns else ' class="withheld"'


def note(name: str, heads: Sequence[str], columns: Sequence[str]) -> str:
    """What stands below the name of a column: a line in all heads where one needs it, so that
    the rows of both tables stay beside each other.
    """
    if set(heads) <= set(columns):
        return ""
    return f"<br><span>{'&nbsp;' if name in columns else 'not released'}</span>"


def class_of(line: PreviewRow) -> str:
    """How a row is marked."""
    return ' class="gone"' if line.after is None else ""


def cell(value: str | None, kind: str = "", several: bool = False) -> str:
    """One value.

    >>> cell("1305*", CHANGED), cell(None)
    ('<td class="changed">1305*</td>', '<td><span class="muted">missing</span></td>')
    """
    shown = '<span class="muted">missing</span>' if value is None else escape(value)
    hint = (
        ' title="rows that are alike are dealt to several groups at random; this is one of them"'
        if kind == CHANGED and several
        else ""
    )
    return f"<td{kind}{hint}>{shown}{'…' if hint else ''}</td>"
