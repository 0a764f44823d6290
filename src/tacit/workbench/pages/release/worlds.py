"""A view and view safety: the verdict, two databases side by side of which one dies, how many
are left, and all of them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from nicegui import ui

from tacit.families.catalog import kinds_of
from tacit.workbench.bench import Visit
from tacit.workbench.pages.release.queries import asked_now, heading
from tacit.workbench.parts.cards import show_card, show_pictures
from tacit.workbench.parts.fields import whole
from tacit.workbench.parts.grids import Row, Sort, grid
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks.views import (
    LEAST_SAMPLE,
    MOST_SAMPLE,
    RULED_OUT,
    SAMPLE,
    STAYS,
    ShownWorlds,
    can_list,
    clamped,
    list_worlds,
    of_section,
    world_rows,
)
from tacit.workbench.work import Work

HAS_CARDS = True  # of its verdicts, between its pictures
IS_ALWAYS_SHOWN = False  # also where nothing was checked
KIND = "worlds"
PAGE = 12
WHICH = (
    "A database is possible if it satisfies the constraints and all published views have on "
    "it the answers that are published. What is new rules some out."
)
NOT_HERE = (
    "This check asks about every database, not about the ones that fit these data: there is "
    "no list of them. A check with over: instance has one."
)


async def show(visit: Visit, name: str, section: Mapping[str, Any]) -> None:
    """Every verdict of view safety about a view, with its evidence and its worlds."""
    checked = visit.book.checked
    if checked is None:
        return
    asked = await asked_now(visit)
    for key, verdict, card in of_section(checked, section, kinds_of("worlds")):
        with (
            ui.element("section")
            .classes("stack")
            .props(f'aria-label="{aria(title_of(verdict))}" data-testid="view-safety"')
        ):
            charts = show_card(visit, card, title_of(verdict))
            show_pictures(visit, charts, title_of(verdict))
            if not can_list(verdict):
                ui.label(NOT_HERE).classes("fine")
            elif key not in asked:
                notice(
                    "The plan or its data were changed after this verdict. Check again before you "
                    "list its databases.",
                    "warn",
                )
            else:
                await WorldsList(visit, asked[key], verdict, {one.title for one in charts}).show()


def title_of(verdict: Mapping[str, Any]) -> str:
    """What was asked: by its name, or in words."""
    return verdict["name"] or f"{verdict['check']} of {verdict['subject']['secret']}"


class WorldsList:
    """The worlds of one check: a button that lists them as a piece of work, then a table to go
    through. A reload finds the work again.

    `drawn` are titles of pictures that the page has already.
    """

    def __init__(
        self, visit: Visit, number: int, verdict: Mapping[str, Any], drawn: Collection[str] = ()
    ) -> None:
        self.visit, self.number, self.verdict, self.drawn = visit, number, verdict, drawn
        self.sample, self.case = SAMPLE, None
        self._key = f"{visit.book.digest()} {number}"

    sample: int
    case: int | None

    async def show(self) -> None:
        """The button, or the work that it started, or what that found."""
        with (
            ui.element("section")
            .classes("card")
            .props(
                f'aria-label="Possible databases: {aria(title_of(self.verdict))}" '
                f'data-testid="worlds-{self.number}"'
            )
        ):
            heading("The possible databases", "h2")
            ui.label(WHICH).classes("muted")
            self._choices = ui.element("div").classes("toolbar")
            self._body = ui.element("div").classes("stack")
        work = self.visit.book.works.latest(KIND, self._key)
        if work is None or work.state != "done":
            self._ask()
        with self._body:
            if work is not None and work.state == "done":
                await self._show(work.result)
            elif work is not None and not work.over:
                self._follow(work)

    def _ask(self, cases: int = 1) -> None:
        """How many to list, of which case, and the button."""
        self._choices.clear()
        with self._choices:
            many = (
                ui.number(
                    "List at most",
                    value=self.sample,
                    min=LEAST_SAMPLE,
                    max=MOST_SAMPLE,
                    precision=0,
                )
                .props("dense outlined")
                .mark("sample")
            )
            one = (
                ui.number(
                    f"Case, 1 to {cases}", value=self.case, min=1, max=cases, precision=0
                ).props("dense outlined clearable")
                if cases > 1
                else None
            )
            ui.button(
                "List the databases",
                on_click=lambda: self._start(many.value, one.value if one else None),
            ).props("unelevated no-caps").mark("list-worlds")

    def _start(self, sample: float | None, case: float | None) -> None:
        self.sample, self.case = clamped(whole(sample) or SAMPLE), whole(case) or None
        book = self.visit.book
        work = book.works.start(
            KIND,
            f"The possible databases of {title_of(self.verdict)}",
            list_worlds,
            str(book.path),
            str(book.reach),
            self.number,
            dict(self.verdict),
            self.sample,
            self.case,
            key=self._key,
        )
        self._body.clear()
        with self._body:
            self._follow(work)

    def _follow(self, work: Work) -> None:
        async def over(work: Work) -> None:
            if work.state == "done":
                self._body.clear()
                with self._body:
                    await self._show(work.result)

        show_work(work, over)

    async def _show(self, found: ShownWorlds) -> None:
        self.case = found.case if found.cases > 1 else None
        self._ask(found.cases)
        if found.case_told:
            ui.label(found.case_told)
        with ui.element("dl").classes("worlds-numbers"):
            for term, text in found.numbers:
                with ui.element("div"):
                    with ui.element("dt").classes("fine"):
                        ui.label(term)
                    with ui.element("dd"):
                        ui.label(text)
        show_pictures(
            self.visit,
            [one for one in found.charts if one.title not in self.drawn],
            f"{title_of(self.verdict)} databases",
        )
        if found.secrets:
            await self._secrets(found)
        await self._worlds(found)
        for note in found.notes:
            ui.label(f"{note[:1].upper()}{note[1:].rstrip('.')}.").classes("fine")

    async def _secrets(self, found: ShownWorlds) -> None:
        rows = [
            (text, before, after, "the data" if is_data else "")
            for text, before, after, is_data in found.secrets
        ]
        columns = (f"answer of {found.secret}", "databases before", "after", "which")
        await grid(
            self.visit,
            columns,
            paged(rows),
            name=f"secrets-{self.number}",
            caption=f"Databases by the answer of {found.secret}",
            total=len(rows),
            page=PAGE,
            marked=lambda row: row[2] == "0",
        )

    async def _worlds(self, found: ShownWorlds) -> None:
        columns = (
            "number",
            "after",
            f"answer of {found.secret}",
            "beside the data it has (+) and lacks (-)" if found.compared else "its rows",
        )
        rows = world_rows(found)

        async def picked(fate: str) -> None:
            rows[:] = world_rows(found, fate)
            await shown.restart(total=len(rows))

        fates = {
            "": f"all {len(rows):,}",
            **{fate: f"{fate} ({len(world_rows(found, fate)):,})" for fate in (STAYS, RULED_OUT)},
        }
        ui.select(fates, value="", label="Show", on_change=lambda event: picked(event.value)).props(
            "dense outlined"
        ).style("width: 16rem; max-width: 100%").mark("fate")
        shown = await grid(
            self.visit,
            columns,
            paged(rows),
            name=f"databases-{self.number}",
            caption=found.worlds_title,
            total=len(rows),
            page=PAGE,
            marked=lambda row: row[1] == RULED_OUT,
        )


def paged(rows: Sequence[Row]) -> Callable[[int, int, Sort], list[Row]]:
    """What a grid fetches of rows that are all here."""

    def fetch(offset: int, limit: int, sort: Sort) -> list[Row]:
        return list(rows[offset : offset + limit])

    return fetch
