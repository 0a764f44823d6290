"""The plan's text on the page Start: to read, to edit by hand, to save;
errors stand at their lines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from tacit.errors import TacitError
from tacit.workbench import drafts
from tacit.workbench.bench import Visit
from tacit.workbench.drafts import Opinion, PlanDraft
from tacit.workbench.pages.start.fields import html
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.save_button import save_button

PAUSE_SECONDS = 0.35  # after the last key until the page follows the text
LONGEST = 200_000  # characters of a plan that can be edited here


def state_of(draft: PlanDraft, opinion: Opinion) -> str:
    """Whether a text is saved, in words. Pages save no errors: those of a saved text came by hand.

    >>> from tacit.workbench.drafts import PlanDraft
    >>> error = TacitError("no.")
    >>> state_of(PlanDraft("a", "a"), Opinion()), state_of(PlanDraft("b", "a"), Opinion(error))
    ('saved', 'changed, not saved, and it has errors: correct them first')
    >>> state_of(PlanDraft("a", "a"), Opinion(error))
    'the file has errors: correct them here, and save it'
    """
    if not draft.is_changed and opinion.wrong:
        return "the file has errors: correct them here, and save it"
    state = (
        "not saved yet"
        if draft.was is None
        else "changed, not saved"
        if draft.is_changed
        else "saved"
    )
    if opinion.wrong:
        return f"{state}, and it has errors: correct them first"
    return f"{state}, and it names columns that are not there" if opinion.strange else state


class PlanText:
    """The text of a plan. `typed` is called when somebody has written
    in it, `saved` when it was saved.
    """

    def __init__(
        self, visit: Visit, draft: PlanDraft, typed: Callable[[], Any], saved: Callable[[], Any]
    ) -> None:
        self.visit, self.draft, self._typed, self._saved = visit, draft, typed, saved
        self._opinion = Opinion()
        self._pressed_at: str | None = (
            None  # the text for which Save was pressed last: what came of it is not true of others
        )

    async def show(self) -> None:
        """The whole section."""
        with ui.element("section").classes("card").props('aria-labelledby="text-title"'):
            with ui.element("div").classes("row between"):
                html("h2", "First look: the plan", id="text-title")
                ui.label(self.visit.book.name).classes("fine")
            ui.label(
                "This is what was chosen, as a file that the command line reads too. Edit it "
                "if you like: the page follows. A text with errors is not saved."
            ).classes("muted")
            self._said = ui.element("div").classes("said editor-said").props('aria-live="polite"')
            with ui.element("div").classes("editor"):
                self._lines = (
                    ui.html("", sanitize=False).classes("lines mono").props('aria-hidden="true"')
                )
                self._area = ui.element("textarea").classes("mono")
                self._area.props.update(
                    {
                        "aria-label": "Text of the plan",
                        "spellcheck": "false",
                        "wrap": "off",
                        "autocapitalize": "off",
                        "data-testid": "plan-text",
                        "maxlength": str(LONGEST),
                    }
                )
            self._area.on(
                "input",
                self._input,
                js_handler="(event) => emit(event.target.value)",
                throttle=PAUSE_SECONDS,
                leading_events=False,
            )
            with ui.element("div").classes("toolbar"):
                self._save = ui.button("Save the plan", on_click=self._press_save).props(
                    'unelevated no-caps data-testid="save-plan"'
                )
                save_button(
                    self.visit, "Download", self.visit.book.path.name, lambda: self.draft.text
                )
                self._discard = ui.button("Discard changes", on_click=self._press_discard).props(
                    "flat dense no-caps"
                )
                self._state = (
                    ui.label().classes("fine").props('role="status" data-testid="plan-state"')
                )
            self._done = ui.element("div").classes("stack said").props('aria-live="polite"')
        await self.sync()

    async def sync(self) -> None:
        """Show the text as it is now, and what is wrong with it."""
        text = self.draft.text
        found = await asyncio.to_thread(
            drafts.opinion, self.draft, self.visit.book, self.visit.bench
        )
        if text != self.draft.text:
            # somebody writes on: this text must not come over theirs, and
            # the next is asked about at once
            return
        self._opinion = found
        if self._area.props.get("value") != text:
            self._area.props["value"] = text
            self._area.update()
        self._mark()
        self._tell()

    def _mark(self) -> None:
        """The numbers of the lines; those with an error stand out."""
        wrong = set(self._opinion.lines)
        many = self.draft.text.count("\n") + 1
        self._area.props["rows"] = str(max(8, many))
        self._area.update()
        numbers = (
            f'<span class="wrong">{number}</span>' if number in wrong else f"<span>{number}</span>"
            for number in range(1, many + 1)
        )
        self._lines.set_content("".join(numbers))

    def _tell(self) -> None:
        self._said.clear()
        wrong = self._opinion.wrong or self._opinion.strange
        if wrong is not None:
            with self._said:
                show_error(wrong)
                with ui.element("div").classes("toolbar"):
                    for line in self._opinion.lines:
                        ui.button(f"Go to line {line}", on_click=partial(self._go, line)).props(
                            "flat dense no-caps"
                        )
        if self._pressed_at not in (None, self.draft.text):
            self._done.clear()
        is_new = self.draft.was is None
        self._state.set_text(f"{self.visit.book.path.name}: {state_of(self.draft, self._opinion)}")
        self._save.set_enabled(self.draft.is_changed)
        self._discard.set_visibility(self.draft.is_changed and not is_new)

    def _go(self, line: int) -> None:
        """Put the cursor on a line, and mark it."""
        lines = self.draft.text.split("\n")
        start = sum(len(one) + 1 for one in lines[: line - 1])
        stop = start + len(lines[line - 1]) if line <= len(lines) else start
        above = 1.5 * (line - 1)
        ui.run_javascript(
            f"const area = getHtmlElement({self._area.id}); area.focus({{preventScroll: true}}); "
            f"area.setSelectionRange({start}, {stop}); const rem = "
            "parseFloat(getComputedStyle(document.documentElement).fontSize); "
            f"window.scrollTo({{top: area.getBoundingClientRect().top + window.scrollY + {above} * "
            "rem - window.innerHeight / 2});"
        )

    async def _input(self, event: GenericEventArguments) -> None:
        text = str(event.args)
        self._area.props["value"] = text  # what the browser shows already
        if len(text) > LONGEST:
            return
        self.draft.change(text)
        await self._typed()

    async def _press_save(self) -> None:
        self._done.clear()
        self._pressed_at = self.draft.text
        try:
            await asyncio.to_thread(drafts.save, self.draft, self.visit.book)
        except TacitError as error:
            with self._done:
                if (
                    await asyncio.to_thread(
                        drafts.problems, self.draft.text, self.visit.book, self.visit.bench
                    )
                    is None
                ):
                    notice("Nothing was saved. Your text stays here.", "warn")
                else:
                    notice(
                        "Nothing was saved: a plan with errors would stop all answers. Your text "
                        "stays here until you correct it.",
                        "warn",
                    )
                show_error(error)
            return
        with self._done:
            notice(f"{self.visit.book.path.name} was saved.", "good")
            ui.link("Next: check it on the page Overview", self.visit.link("overview"))
        await self._saved()

    async def _press_discard(self) -> None:
        self._done.clear()
        if self.draft.was is not None:
            drafts.settle(self.draft, self.visit.book.text(), mine=False)
        await self._typed()
