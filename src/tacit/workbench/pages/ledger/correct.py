"""Correct a release that is published: what was wrong, who gets the new one, and what the checks
say of whoever has both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.errors import InputError, TacitError
from tacit.families.family import kind_of
from tacit.families.words import listed
from tacit.workbench.pages.ledger.recording_form import files_of, new_within, verdicts
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import ledger as tasks_ledger
from tacit.workbench.tasks.ledger import CorrectedNow, Correcting

if TYPE_CHECKING:
    from tacit.ledger.entries import Entry
    from tacit.plan.plan import Plan
    from tacit.workbench.bench import Visit
    from tacit.workbench.work import Work

CORRECT = "correct"


class CorrectionForm:
    """What the owner says about a correction;
    what came of it takes the place of the form's buttons.
    """

    def __init__(
        self,
        visit: Visit,
        plan: Plan,
        entry: Entry,
        changed: Callable[[], None],
        close: Callable[[], object],
    ) -> None:
        from tacit.workbench.pages.ledger.page import owner_name

        self.visit, self.entry, self.changed = visit, entry, changed
        self.release = plan.releases.get(entry.release)
        notice(
            f"The new {entry.release}, as the plan and the data give it today, takes the place of "
            "what went out. Whoever has the old one still knows it: the checks are asked for "
            "those who have both, with both.",
            "info",
        )
        if self.release is None:
            show_error(
                InputError(
                    f"the plan has no release {entry.release!r}.",
                    hint="Write the corrected release into the plan first, under the same name.",
                )
            )
            return
        self.fields = ui.element("div").classes("stack")
        with self.fields:
            self.wrong = ui.textarea("What was wrong (no personal values, please)").props(
                "outlined dense autogrow maxlength=2000 rows=2"
            )
            self.by = ui.input("By", value=owner_name(visit)).props("outlined dense")
            self._file(plan)
            self.unjudged = ui.checkbox(
                "Record it also where what both tell together could not be decided"
            )
            with ui.element("div").classes("toolbar"):
                ui.button(f"Check and correct {entry.release}", on_click=self._press).props(
                    'unelevated data-testid="correct-confirmed"'
                )
                ui.button("Cancel", on_click=close).props("flat")
        self.result = (
            ui.element("div").classes("stack").props('aria-live="polite" data-testid="corrected"')
        )

    def _file(self, plan: Plan) -> None:
        """Which file goes out: synthetic data and microdata made elsewhere are there already, a
        rule has none, all else is written.
        """
        self.answer: Any = None
        self.output: Any = None
        assert self.release is not None
        kind = kind_of(self.release)
        if kind.answer == "file":
            self.answer = ui.select(
                files_of(self.visit, plan),
                label="The file that goes out",
                with_input=True,
                clearable=True,
            ).props("outlined dense options-dense")
        elif kind.answer == "data" and not kind.is_file(self.release):
            name = re.sub(r"[^\w.-]+", "-", self.entry.release).strip("-.") or "release"
            self.output = ui.input("Write to", value=f"{name}-corrected.csv").props(
                'outlined dense hint="A CSV file beside the plan; nothing is written if it '
                'is refused"'
            )

    def asked(self) -> Correcting:
        """What is to be recorded; an InputError where something is missing."""
        if not (self.wrong.value or "").strip():
            raise InputError(
                "a correction says what was wrong.",
                hint="Write it in a sentence, without personal values.",
            )
        output = new_within(self.visit, self.output.value) if self.output is not None else None
        answer = self.answer.value if self.answer is not None else None
        return Correcting(
            self.entry.release,
            self.wrong.value,
            (self.by.value or "").strip(),
            answer,
            output,
            bool(self.unjudged.value),
        )

    def _press(self) -> None:
        self.result.clear()
        try:
            asked = self.asked()
        except TacitError as error:
            with self.result:
                show_error(error)
            return
        book = self.visit.book
        work = book.works.start(
            CORRECT,
            f"Checking the correction of {asked.release}",
            tasks_ledger.correct,
            book.path,
            book.reach,
            asked,
        )

        def done(work: Work) -> None:
            if work.state == "done":
                self.result.clear()
                with self.result:
                    corrected(self.visit, work.result)
                    ui.run_javascript(
                        f"getHtmlElement({self.result.id}).scrollIntoView({{block: 'start'}});"
                    )
                if work.result.entries:
                    self.fields.clear()
                    self.changed()

        with self.result:
            show_work(work, done)


def corrected(visit: Visit, found: CorrectedNow) -> None:
    """Recorded, or refused and why."""
    status = (
        "breached"
        if not found.entries
        else "holds"
        if all(one.status == "holds" for one in found.verdicts)
        else "undecided"
    )
    with (
        ui.element("div")
        .classes(f"card {status}")
        .props(f'data-testid="{"was-corrected" if found.entries else "was-not-corrected"}"')
    ):
        with ui.element("div").classes("row"):
            badge(status, "recorded" if found.entries else "refused")
            ui.label(f"{found.asked.release}: {found.because}.").style("font-weight: 600")
        ui.label(f"Who has what was wrong: {found.told}.")
        if found.entries and found.asked.output:
            path = visit.book.folder / found.asked.output
            with ui.element("div").classes("toolbar"):
                ui.label(
                    f"Written to {found.asked.output}. Give it to "
                    f"{listed(found.to) or 'everybody'}."
                )
                save_button(
                    visit, f"Save {found.asked.output}", Path(found.asked.output).name, lambda: path
                )
        verdicts(
            found.verdicts
            if found.entries
            else tuple(one for one in found.verdicts if one.status != "holds")
        )
