"""Sliders of the page Repair: the browser's own, which keyboards and screen readers know."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import Any, TypeVar

from nicegui import ui

KEEP = "(event) => { element.props.value = event.target.value; emit(event.target.valueAsNumber); }"


class RangeSlider:
    """A number between two others, in steps. `words` says a value for those who hear it."""

    def __init__(
        self,
        label: str,
        least: float,
        most: float,
        step: float,
        value: float,
        *,
        name: str,
        words: Callable[[float], str] = "{:g}".format,
        on_change: Callable[[float], Any] | None = None,
    ) -> None:
        self.value, self._words, self._on_change = value, words, on_change
        self._input = ui.element("input").classes("range")
        named(self._input, label, name).props(
            f'type="range" min="{least:g}" max="{most:g}" step="{step:g}"'
        )
        self._tell()
        # The browser keeps the value itself while it is dragged:
        # an answer that comes late must not move it back.
        self._input.on("input", self._moved, js_handler=KEEP, throttle=0.1)
        self._input.on("change", lambda event: self._tell(), js_handler="() => emit()")

    def set_value(self, value: float) -> None:
        """Move it, without telling anybody."""
        if value != self.value:
            self.value = value
            self._tell()

    def set_enabled(self, on: bool) -> None:
        """Whether it can be moved."""
        self._input.props(remove="disabled") if on else self._input.props("disabled")

    async def _moved(self, event: Any) -> None:
        self.value = float(event.args)
        if self._on_change is not None:
            found = self._on_change(self.value)
            if isawaitable(found):
                await found

    def _tell(self) -> None:
        self._input.props["value"] = f"{self.value:g}"
        self._input.props["aria-valuetext"] = self._words(self.value)


E = TypeVar("E", bound=ui.element)


def named(element: E, label: str, test: str = "") -> E:
    """Say what an element is to those who hear it; `test` is its name for tests.

    Names of columns and files come from anywhere:
    they are never made part of a text that is read as properties.
    """
    element.props["aria-label"] = label
    if test:
        element.props["data-testid"] = test
    return element
