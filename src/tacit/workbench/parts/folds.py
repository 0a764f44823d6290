"""Folds: what only experts look for, out of the way until somebody opens it."""

from __future__ import annotations

from nicegui import ui


def expert_fold(*, is_open: bool = False) -> ui.element:
    """A place that is folded until somebody opens it."""
    with ui.element("details").classes("more control") as fold:
        ui.html("For experts", tag="summary", sanitize=False)
    if is_open:
        fold.props("open")
    return fold
