"""Left: the values that several releases leave people, below a verdict about all of them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from nicegui import ui

from tacit.report.tellers.microdata import left_grid

if TYPE_CHECKING:
    from tacit.model.verdict import Verdict


def show_left(verdict: Verdict) -> None:
    """The table, to be opened; nothing where the verdict is about one release."""
    found = left_grid(verdict)
    if found is None:
        return
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in found.head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in found.rows
    )
    with (
        ui.expansion(found.caption).props('dense data-testid="left"').classes("fine"),
        ui.element("div").classes("scroll").props('tabindex="0" role="region"') as around,
    ):
        around.props["aria-label"] = found.caption
        ui.html(
            f'<table class="plain"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>',
            sanitize=False,
        )
