"""A field of several names: known ones are a button each, others are written.

It is the browser's own field. A select sends its whole list, and leaves out what the page has not
yet heard back: who wrote two names at a busy server lost the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from json import dumps
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

BUTTONS = 12  # known names that are a button; more are found by writing
# What was written is gone from the field in the moment in which it is taken.
TAKE = "const name = box.value.trim(); box.value = ''; if (name) emit(name);"
# Enter also ends the writing of a word in Chinese, Japanese or Korean: that is no name yet.
ENTERED = f"""(event) => {{
  const box = event.target;
  if (event.isComposing) return;
  event.preventDefault();
  {TAKE}
}}"""
FOUND = f"""(event) => {{
  const box = event.target;
  if (event.inputType !== 'insertReplacementText') return;
  {TAKE}
}}"""
# Who leaves the field has written a name; but not who looks into another window.
LEFT = f"""(event) => {{
  const box = event.target;
  if (box === document.activeElement) return;
  {TAKE}
}}"""
# What was written to find a name is not one more.
PRESSED = """() => {
  const box = getHtmlElement(%d), name = %s;
  if (name.toLowerCase().includes(box.value.trim().toLowerCase())) box.value = '';
  box.focus();
  emit(name);
}"""
REMOVED = "() => { getHtmlElement(%d).focus(); emit(%s); }"


class Names:
    """Several names, in the order in which they were given."""

    def __init__(self, known: Iterable[str], label: str, hint: str) -> None:
        self.known, self.value = sorted(set(known)), list[str]()
        with ui.element("div").classes("names").props('data-testid="names"') as self.whole:
            with ui.element("label").classes("stack").style("gap: .2rem"):
                ui.label(label)
                self.box = ui.element("input").classes("field")
            ui.label(hint).classes("fine")
            self.chosen = ui.element("ul").props('aria-label="Chosen"')
            self.offered = ui.element("div").classes("row")
            self.listed = ui.element("datalist")
        self.box.props(f'type="text" autocomplete="off" list="{self.listed.html_id}"')
        self.box.on("keydown.enter", self._take, js_handler=ENTERED)
        self.box.on("input", self._take, js_handler=FOUND)
        self.box.on("blur", self._take, js_handler=LEFT)
        self._show()

    def know(self, names: Iterable[str]) -> None:
        """Offer these to choose from, too."""
        self.known = sorted({*self.known, *names})
        self._show()

    def _take(self, event: GenericEventArguments) -> None:
        name = str(event.args).strip()
        if name and name not in self.value:
            self.value.append(name)
            self._show()

    def _remove(self, event: GenericEventArguments) -> None:
        self.value = [one for one in self.value if one != event.args]
        self._show()

    def _show(self) -> None:
        left = [name for name in self.known if name not in self.value]
        self.chosen.clear()
        with self.chosen:
            for name in self.value:
                with ui.element("li").classes("chip"):
                    ui.label(name)
                    self._button("×", f"Remove {name}", REMOVED, name, self._remove)
        self.offered.clear()
        with self.offered:
            for name in left[:BUTTONS]:
                self._button(f"+ {name}", f"Add {name}", PRESSED, name, self._take)
        self.listed.clear()
        with self.listed:
            for name in left:
                ui.element("option").props["value"] = name

    def _button(self, text: str, label: str, script: str, name: str, then: Any) -> None:
        made = ui.html(escape(text), tag="button", sanitize=False)
        made.props["type"], made.props["aria-label"] = "button", label
        made.on(
            "mousedown", js_handler="(event) => event.preventDefault()"
        )  # nobody left the field
        made.on("click", then, js_handler=script % (self.box.id, dumps(name)))
