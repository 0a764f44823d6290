"""Restore: further views with which a gamma-privacy check of views holds again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from tacit.errors import TacitError
from tacit.families.overlaps.runs.restore import MOST_VIEWS, SECONDS, VIEWS
from tacit.families.words import listed
from tacit.model.numbers import plain
from tacit.plan.edit.editing import Wish
from tacit.plan.edit.wishes.check_wishes import SetCheck
from tacit.plan.edit.wishes.release_wishes import AddRelease
from tacit.plan.plan import Check, Plan
from tacit.workbench.bench import Visit
from tacit.workbench.pages.repair.repair_answers import (
    heading,
    plain_table,
    show_answers,
    show_numbers,
)
from tacit.workbench.pages.repair.repair_work import follow, last_work
from tacit.workbench.pages.repair.slider import RangeSlider
from tacit.workbench.pages.repair.write import change_plan, safe
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.pictures import picture
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.tasks import restore as tasks
from tacit.workbench.tasks.restore import Restoring
from tacit.workbench.work import Work

MOST_SECONDS = 600


async def show_views(visit: Visit, plan: Plan, name: str, places: Sequence[int]) -> None:
    """The page of views that are asked about together;
    `places` are those of the checks in the plan.
    """
    with ui.element("div").classes("stack").style("gap: .2rem"):
        heading(f"Restore {name}", "h1")
        ui.label(
            "Look for further true views that bring every belief down again. To publish more can "
            "tell less about the one who is most exposed."
        ).classes("muted")
    page = RestorePage(visit, plan, places)
    with ui.element("div").classes("stack") as area:
        ui.label("Reading the tables …").classes("muted").props('role="status"')
    ui.timer(0.05, lambda: page.open(area), once=True)


class RestorePage:
    """The page while it is open."""

    def __init__(self, visit: Visit, plan: Plan, places: Sequence[int]) -> None:
        self.visit, self.plan, self.places = visit, plan, list(places)
        # Where several checks ask about the view, the one with the most
        # releases is most likely meant.
        self.at = max(self.places, key=lambda at: len(plan.checks[at].releases))

    @property
    def check(self) -> Check:
        """The check that is to hold."""
        return self.plan.checks[self.at]

    async def open(self, area: ui.element) -> None:
        """Show the controls and what was found before."""
        try:
            columns = await self.visit.book.ask(tasks.public_columns, self.check.releases)
        except TacitError as error:
            area.clear()
            with area:
                show_error(error)
            return
        area.clear()
        with area:
            self._controls(columns)
            self.working = ui.element("div").classes("stack")
            self.found = ui.element("div").classes("stack").style("gap: 1.25rem")
        self._resume()

    def _key(self) -> str:
        return check_key(self.check)

    def _resume(self) -> None:
        self.working.clear()
        self.found.clear()
        if (work := last_work(self.visit.book.works, "repair-restore", self._key())) is not None:
            self._follow(work)

    def _controls(self, columns: Sequence[str]) -> None:
        with ui.element("section").classes("card").props('aria-label="How to search"'):
            heading("How", "h2")
            if len(self.places) > 1:
                ui.select(
                    {at: describe_check(self.plan.checks[at]) for at in self.places},
                    value=self.at,
                    label="The check that is to hold",
                    on_change=self._turned,
                ).props('outlined dense data-testid="check"')
            else:
                ui.label(f"The check that is to hold: {describe_check(self.check)}")
            with ui.element("div").classes("controls"):
                self.views = self._slider(
                    "Further views: up to {:g}", 1, MOST_VIEWS, 1, VIEWS, "views"
                )
                self.seconds = self._slider(
                    "Search for up to {:g} seconds", 10, MOST_SECONDS, 10, SECONDS, "seconds"
                )
                with ui.element("div").classes("control"):
                    self.columns = ui.select(
                        list(columns), multiple=True, label="Conditions may be on"
                    ).props('outlined dense use-chips data-testid="columns"')
                    ui.label(
                        "Choose none for all public columns but keys and identifiers."
                    ).classes("fine")
                    self.aware = ui.checkbox(
                        "Also ask what somebody believes who knows how the views are chosen"
                    ).props("dense")
            ui.button("Search", on_click=self._search).props(
                'unelevated no-caps data-testid="search"'
            ).style("align-self: flex-start")
            ui.label("A search publishes and writes nothing.").classes("fine")

    def _slider(
        self, words: str, least: float, most: float, step: float, value: float, name: str
    ) -> RangeSlider:
        with ui.element("div").classes("control"):
            said = ui.label(words.format(value)).classes("name")
            return RangeSlider(
                words.split("{")[0].strip(),
                least,
                most,
                step,
                value,
                name=name,
                words=words.format,
                on_change=lambda at: said.set_text(words.format(at)),
            )

    def _turned(self, event: Any) -> None:
        self.at = event.value
        self._resume()

    def _search(self) -> None:
        book = self.visit.book
        work = book.works.start(
            "repair-restore",
            f"Searching further views for {listed(self.check.releases)}",
            tasks.restore,
            str(book.path),
            str(book.reach),
            self.at,
            int(self.views.value),
            tuple(self.columns.value or ()),
            float(self.seconds.value),
            bool(self.aware.value),
            book.digest(),
            key=self._key(),
        )
        self._follow(work)

    def _follow(self, work: Work) -> None:
        self.found.clear()
        follow(work, self.working, self._ended, "Search again", self._search)

    def _ended(self, found: Restoring) -> None:
        with self.found:
            self._result(found)

    def _result(self, found: Restoring) -> None:
        fresh = found.digest == self.visit.book.digest()
        if not fresh:
            notice(
                "The plan has changed since this search. Search again before you change it.", "warn"
            )
        kind = (
            "holds"
            if found.is_done
            else "breached"
            if found.status in ("impossible", "none")
            else "undecided"
        )
        with ui.element("section").classes(f"card {kind}").props('data-testid="restored"'):
            heading(found.headline, "h2")
            show_numbers(found.numbers)
            for name, text in found.told:
                with ui.element("div"):
                    ui.label(name).style("font-weight: 600")
                    ui.label(f"{text[:1].upper()}{text[1:]}")
            for line in found.advice:
                ui.label(f"– {line}")
            if found.views:
                heading("The further views", "h3")
                rows = [(name, query, f"{many:,}") for name, query, many in found.views]
                plain_table(
                    self.visit,
                    ("View", "Query", "Rows"),
                    rows,
                    name="further-views",
                    caption="The further views",
                )
            self._draft(found, fresh)
            save_button(
                self.visit,
                "Save the report (HTML)",
                f"{safe('-'.join(found.releases))}-restored.html",
                lambda: found.html,
            ).props("outline").style("align-self: flex-start")
        if found.charts:
            with ui.element("div").classes("grid-2"):
                for number, chart in enumerate(found.charts, 1):
                    picture(self.visit, chart, f"restored-{number}")
        with ui.element("section").classes("card"):
            heading("Before and after" if len(found.answers) > 1 else "What the check says", "h3")
            show_answers(found.answers)
            for line in found.tally:
                ui.label(line).classes("fine")

    def _draft(self, found: Restoring, fresh: bool) -> None:
        if not found.draft:
            return
        heading("Lines for the plan", "h3")
        ui.label(found.draft.rstrip()).classes("mono draft").props('data-testid="draft"')
        said = ui.element("div").classes("stack")
        with ui.element("div").classes("toolbar"):
            if fresh:
                put = ui.button("Put them into the plan").props(
                    'unelevated no-caps data-testid="into-plan"'
                )
                put.on_click(lambda: self._into_plan(found, said, put))
            save_button(self.visit, "Save the draft", "restored.yaml", lambda: found.draft).props(
                "outline"
            )

    async def _into_plan(self, found: Restoring, said: ui.element, put: ui.button) -> None:
        words = (
            f"The plan has {listed([name for name, _, _ in found.views])}, and its check asks "
            "about all of them together. Check it on the page Overview."
        )
        put.set_visibility(not await change_plan(self.visit.book, wishes(found), said, words))


def wishes(found: Restoring) -> list[Wish]:
    """What the draft says, as changes of the plan:
    the further views, and the check about all of them.
    """
    to = {"to": list(found.to)} if found.to else {}
    names = [*found.releases, *(name for name, _, _ in found.views)]
    return [
        *(AddRelease(name, {"query": query, **to}) for name, query, _ in found.views),
        SetCheck(found.at, {"release": None, "releases": names}),
    ]


def describe_check(check: Check) -> str:
    """A check in words.

    >>> describe_check(Check("gamma-privacy", {"gamma": 1}, "both", ("a", "b")))
    'both: gamma-privacy of a and b, gamma 1'
    """
    name = f"{check.name}: " if check.name else ""
    gamma = check.parameters.get("gamma")
    return f"{name}{check.kind} of {listed(check.releases)}" + (
        f", gamma {plain(gamma)}" if gamma is not None else ""
    )


def check_key(check: Check) -> str:
    """What the work for a check is found by again."""
    return check.name or ",".join(check.releases)
