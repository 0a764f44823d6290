"""The steps of the page Start: one at a time, or all of them on one page."""

from __future__ import annotations

from functools import partial

from nicegui import ui

from tacit.workbench.app.workbench_sessions import WorkbenchSession
from tacit.workbench.pages.start.fields import html

STEPS = {
    "columns": "Columns",
    "hierarchies": "Hierarchies",
    "checks": "What to protect against",
    "plan": "First look",
}


class Steps:
    """The row of steps, and a place for each; `whole` of the session says that all are shown."""

    def __init__(self, session: WorkbenchSession, current: str) -> None:
        self.session = session
        self.current = current if current in STEPS else next(iter(STEPS))
        self.places: dict[str, ui.element] = {}
        self._buttons: dict[str, ui.element] = {}

    def show(self) -> None:
        """The row, and under it the places."""
        with ui.element("nav").classes("row steps").props('aria-label="Steps" data-testid="steps"'):
            html("span", "1 Table").classes("step done")
            for number, (step, title) in enumerate(STEPS.items(), 2):
                button = ui.element("button").classes("step").props('type="button"')
                button.props["data-testid"] = f"step-{step}"
                button.on("click", partial(self.go, step))
                with button:
                    html("span", f"{number} {title}")
                self._buttons[step] = button
            self._all = ui.button(on_click=self._toggle).props(
                'flat dense no-caps data-testid="all-steps"'
            )
        for step in STEPS:
            self.places[step] = ui.element("div").classes("stack").style("gap: 1.25rem")
        with ui.element("div").classes("toolbar"):
            self._back = ui.button("Back", on_click=partial(self._move, -1)).props(
                'outline no-caps data-testid="step-back"'
            )
            self._next = ui.button(on_click=partial(self._move, 1)).props(
                'unelevated no-caps data-testid="step-next"'
            )
        self._sync()

    def go(self, step: str) -> None:
        """Show a step."""
        self.current = self.session.step = step
        self._sync()
        if self.session.whole:
            ui.run_javascript(
                f"document.getElementById('{self.places[step].html_id}').scrollIntoView()"
            )

    def _move(self, by: int) -> None:
        names = list(STEPS)
        self.go(names[min(max(0, names.index(self.current) + by), len(names) - 1)])
        ui.run_javascript("window.scrollTo(0, 0)")

    def _toggle(self) -> None:
        self.session.whole = not self.session.whole
        self._sync()

    def _sync(self) -> None:
        whole, names = self.session.whole, list(STEPS)
        for step, place in self.places.items():
            place.set_visibility(whole or step == self.current)
        for step, button in self._buttons.items():
            button.props.pop("aria-current", None)
            if step == self.current:
                button.props["aria-current"] = "step"
            button.update()
        at = names.index(self.current)
        self._all.set_text("One step at a time" if whole else "All on one page")
        self._back.set_visibility(not whole and at > 0)
        self._next.set_visibility(not whole and at < len(names) - 1)
        self._next.set_text(f"Next: {STEPS[names[min(at + 1, len(names) - 1)]]}")
