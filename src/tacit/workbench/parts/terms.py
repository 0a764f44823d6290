"""A ? beside a term that is not everyday English: two sentences, and a link."""

from __future__ import annotations

from nicegui import ui

from tacit.workbench.documentation import terms


def explain(name: str) -> None:
    """The ? of a term of the glossary; it opens by mouse, finger and keyboard."""
    term = terms()[name]
    tell(name, term.text, term.more, term.page)


def tell(name: str, text: str, more: str, page: str) -> None:
    """A ? that opens a text, and a link to a page of the documentation."""
    with ui.element("details").classes("term"):
        mark = ui.html("?", tag="summary", sanitize=False)
        mark.props["aria-label"] = f"What is: {name}?"
        with ui.element("div").classes("told"):
            ui.label(text)
            ui.link(f"More: {more}", f"/help/{page}")


def headed(title: str, anchor: str, *names: str) -> None:
    """The heading of a section, with a ? for each of its terms."""
    with ui.element("div").classes("row"):
        heading = ui.html(title, tag="h2", sanitize=False)
        heading.props["id"] = anchor
        for name in names:
            with ui.element("span").classes("fine"):
                ui.label(name).style("display: inline")
                explain(name)
