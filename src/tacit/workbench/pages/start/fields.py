"""Plain fields of the page Start: the browser's own, so that keyboard,
screen reader and phone know them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from html import escape
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments


def html(tag: str, text: str, **attributes: str) -> ui.html:
    """An element with a text."""
    made = ui.html(escape(text), tag=tag, sanitize=False)
    for name, value in attributes.items():
        made.props[name] = value
    return made


def choice(
    options: Mapping[str, str] | Mapping[str, Mapping[str, str]],
    value: str,
    label: str,
    chosen: Callable[[str], Any],
    *,
    testid: str = "",
) -> ui.element:
    """A list to choose from: what each option stands for, and what it is called; or several such
    lists by the heading above them.
    """
    with ui.element("select").classes("field") as made:
        for key, words in options.items():
            if isinstance(words, str):
                html("option", words, value=key)
                continue
            with ui.element("optgroup") as group:
                group.props["label"] = key
                for one, said in words.items():
                    html("option", said, value=one)
    made.props["aria-label"] = label
    made.props["value"] = value
    if testid:
        made.props["data-testid"] = testid

    def changed(event: GenericEventArguments) -> Any:
        made.props["value"] = str(event.args)  # what the browser shows already
        return chosen(str(event.args))

    made.on("change", changed, js_handler="(event) => emit(event.target.value)")
    return made


def entry(
    value: str,
    label: str,
    entered: Callable[[str], Any],
    *,
    testid: str = "",
    kind: str = "text",
    size: int = 12,
    at_once: bool = False,
    **more: str,
) -> ui.element:
    """A line to write in; `entered` is told when one leaves it or
    presses Enter, or at every key.
    """
    made = ui.element("input").classes("field")
    made.props["type"], made.props["aria-label"], made.props["value"] = kind, label, value
    made.props["size"], made.props["autocomplete"] = str(size), "off"
    for name, one in more.items():
        made.props[name] = one
    if testid:
        made.props["data-testid"] = testid

    def changed(event: GenericEventArguments) -> Any:
        if kind != "password":  # what is kept here is sent to the browser again
            made.props["value"] = str(event.args)
        return entered(str(event.args))

    made.on(
        "input" if at_once else "change", changed, js_handler="(event) => emit(event.target.value)"
    )
    return made


def writing(
    value: str,
    label: str,
    entered: Callable[[str], Any],
    *,
    testid: str = "",
    placeholder: str = "",
) -> ui.element:
    """A few lines to write in; `entered` is told at every key."""
    made = ui.element("textarea").classes("field mono writing")
    made.props.update(
        {
            "aria-label": label,
            "value": value,
            "rows": "3",
            "spellcheck": "false",
            "autocapitalize": "off",
            "placeholder": placeholder,
            "data-testid": testid,
        }
    )

    def changed(event: GenericEventArguments) -> Any:
        made.props["value"] = str(event.args)
        return entered(str(event.args))

    made.on("input", changed, js_handler="(event) => emit(event.target.value)")
    return made


def ticks(
    names: Iterable[str],
    ticked: Collection[str],
    label: str,
    changed: Callable[[str, bool], Any],
    *,
    testid: str = "",
) -> ui.element:
    """Boxes to tick, any number of them; `changed` is told which, and whether it is ticked now."""
    with ui.element("fieldset").classes("ticks") as made:
        html("legend", label).classes("label")
        for at, name in enumerate(names):
            with ui.element("label"):
                box = ui.element("input").props(f'type="checkbox" data-testid="{testid}-{at}"')
                if name in ticked:
                    box.props["checked"] = True
                box.on(
                    "change",
                    lambda event, name=name: changed(name, bool(event.args)),
                    js_handler="(event) => emit(event.target.checked)",
                )
                html("span", name)
    return made


def word(value: Any) -> str:
    """A value as somebody writes it into a field.

    >>> from decimal import Decimal
    >>> word(None), word(Decimal("0.00001")), word(Decimal("2.50")), word("ln(50)")
    ('', '1e-5', '2.50', 'ln(50)')
    """
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    small = re.fullmatch(r"0\.0{3,}([1-9])", text) or re.fullmatch(r"(\d)E-(\d+)", text)
    if small is None:
        return text
    return f"{small[1]}e-{small[2]}" if small.lastindex == 2 else f"{small[1]}e-{len(text) - 2}"


def set_value(field: ui.element, value: str) -> None:
    """Another value in a field."""
    if field.props.get("value") != value:
        field.props["value"] = value
        field.update()
