"""Notices: what went wrong, at its line and with what to do; and other words to the reader."""

from __future__ import annotations

from nicegui import ui

from tacit.errors import Mark, TacitError


def show_error(error: TacitError) -> ui.element:
    """An error in words: every problem that it holds, where it is, and what to write instead."""
    with (
        ui.element("div").classes("notice error").props('role="alert" data-testid="error"') as shown
    ):
        for one in error:
            with ui.element("div").classes("stack").style("gap: .25rem"):
                if one.mark and one.mark.line:
                    ui.label(place_of(one.mark)).classes("fine")
                ui.label(one.message)
                if one.hint:
                    ui.label(one.hint).classes("muted")
                if one.mark and one.mark.text is not None:
                    code_line(one.mark)
    return shown


def code_line(mark: Mark) -> ui.label:
    """The line of a file that an error is about, with a caret below."""
    caret = "\n" + " " * (mark.column - 1) + "^" if mark.column else ""
    return (
        ui.label(f"{mark.text}{caret}")
        .classes("mono codeline")
        .props('tabindex="0" role="group" aria-label="The line"')
    )


def place_of(mark: Mark) -> str:
    """Where something is, for a reader.

    >>> place_of(Mark("plans/tacit.yaml", 3, 7))
    'tacit.yaml, line 3, column 7'
    """
    file = mark.file.replace("\\", "/").rsplit("/", 1)[-1]
    return ", ".join(
        [
            file,
            *([f"line {mark.line}"] if mark.line else []),
            *([f"column {mark.column}"] if mark.column else []),
        ]
    )


def notice(text: str, kind: str = "info") -> ui.element:
    """Words to the reader: info, good or warn."""
    with ui.element("div").classes(f"notice {kind}").props('role="status"') as shown:
        ui.label(text)
    return shown
