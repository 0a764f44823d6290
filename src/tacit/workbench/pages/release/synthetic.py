"""A synthetic release: what it promises and spends, the noise of every group, and what is still
true of an output that was written.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from typing import Any

from nicegui import ui

from tacit.errors import TacitError
from tacit.families.synthetic.runs.comparison import GroupNoise, is_output
from tacit.families.synthetic.runs.synthesis_results import Synthesized
from tacit.families.words import plural, spoken
from tacit.model.release import Synthetic
from tacit.plan.owned_files import owners_files
from tacit.report.charts.portrait_chart import Chart
from tacit.report.html.cards import HtmlGrid as Cells
from tacit.report.synthesis import (
    BOTH,
    budget_grid,
    describe_budget,
    describe_noise,
    meaning,
    not_protected,
    number,
    protected,
    steps_grid,
    unit,
)
from tacit.workbench.bench import Visit, walk
from tacit.workbench.pages.release.overlaps import charts_of, heading, small_table, stamp_of
from tacit.workbench.parts.cards import show_pictures
from tacit.workbench.parts.grids import Row, Sort, grid
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.pictures import picture
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks.overlaps import OutputComparison, compare_output, promise
from tacit.workbench.work import Work

HAS_CARDS = False  # of its verdicts, between its pictures
IS_ALWAYS_SHOWN = False  # also where nothing was checked
PROMISE, COMPARE = "promise", "compare"
DRAW = "repair-draw"  # what the Repair page calls drawing and writing
ENDINGS = (".csv", ".parquet")
MOST_FILES, MOST_SHOWN = 2_000, 30
PAGE = 12
OWNER = (
    "What compares with the true people is for you alone: the promise covers the file, and "
    "not how far it is off. Do not pass it on."
)


async def show(visit: Visit, name: str, section: Mapping[str, Any]) -> None:
    """The curves of the last check, what is promised and spent, the noise, and a written output
    beside the true people.
    """
    checked = visit.book.checked
    if checked is None:
        notice("This release was not checked yet. Press Check on the Overview page.")
        return
    with ui.element("div").props('data-testid="synthetic-pictures"'):
        show_pictures(visit, charts_of(section), name)
    plan = visit.book.plan()
    for one in section["releases"]:
        release = plan.releases.get(one)
        if isinstance(release, Synthetic):
            await of_release(visit, release, stamp_of(checked, section))


async def of_release(visit: Visit, release: Synthetic, stamp: str) -> None:
    """One synthetic release."""
    with (
        ui.element("section")
        .classes("card")
        .props(f'aria-label="What {aria(release.name)} promises"')
    ):
        heading("What is protected, and what not", "h2")
        for term, text in (
            ("Protected", protected(release)),
            ("Not protected", not_protected(release)),
            ("One person", unit(release)),
        ):
            with ui.element("div"):
                ui.label(term).classes("fine")
                ui.label(f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}")
        noise = Worked(
            visit,
            PROMISE,
            f"The noise of {release.name}",
            promise,
            (release.name,),
            stamp,
            lambda work: promised(visit, release, *work.result),
        )
        await noise.show()
    with (
        ui.element("section")
        .classes("card")
        .props(f'aria-label="A written output of {aria(release.name)}" data-testid="utility"')
    ):
        heading("True and synthetic people", "h2")
        await Comparing(visit, release, stamp).show()


class Worked:
    """A part of the page that a piece of work makes;
    a reload finds the work again, and what it found.
    """

    def __init__(
        self,
        visit: Visit,
        kind: str,
        title: str,
        function: Callable[..., Any],
        arguments: tuple[str, ...],
        stamp: str,
        build: Callable[[Work], Any],
    ) -> None:
        self.visit, self.kind, self.title, self.function, self.arguments, self.build = (
            visit,
            kind,
            title,
            function,
            arguments,
            build,
        )
        self.key = " ".join([visit.book.digest(), stamp, *arguments])

    async def show(self, *, start: bool = True) -> None:
        """What was found, or the work that looks for it;
        without `start` only what is there already.
        """
        work = self.visit.book.works.latest(self.kind, self.key)
        self.body = ui.element("div").classes("stack")
        with self.body:
            if work is not None and work.state == "done":
                await self.build(work)
            elif work is not None or start:
                self._follow(work or self._started())

    def repeat(self) -> None:
        """Do the work once more."""
        self.body.clear()
        with self.body:
            self._follow(self._started())

    def _started(self) -> Work:
        book = self.visit.book
        return book.works.start(
            self.kind,
            self.title,
            self.function,
            str(book.path),
            str(book.reach),
            *self.arguments,
            key=self.key,
        )

    def _follow(self, work: Work) -> None:
        async def over(work: Work) -> None:
            with self.body:
                if work.state == "done":
                    shown.delete()
                    await self.build(work)
                else:
                    with ui.element("div").classes("toolbar"):
                        ui.button("Try again", on_click=self.repeat).props("flat dense no-caps")

        shown = show_work(work, over)


# -- what is promised ------------------------------------------------------------------------------


async def promised(
    visit: Visit, release: Synthetic, found: Synthesized, noises: Sequence[GroupNoise]
) -> None:
    """The promise and what it costs: noise, options, and further releases."""
    for warning in found.warnings:
        notice(warning, "warn")
    ui.label(f"{BOTH[found.terms.guarantee].capitalize()}: {meaning(found, release)}")
    with ui.element("div").classes("grid-2"):
        with ui.element("div").classes("stack"):
            heading("What is spent", "h3")
            if steps := steps_grid(found):
                cells_table(visit, steps, "what-is-spent")
        with ui.element("div").classes("stack"):
            heading("The budget", "h3")
            if again := budget_grid(found):
                ui.label(describe_budget(found)).classes("muted")
                cells_table(visit, again, "budget")
    heading("The noise", "h3")
    told = describe_noise(found.noise, found.groups)
    ui.label(f"{told[:1].upper()}{told[1:]}.")
    await noise_table(visit, release, noises)


async def noise_table(visit: Visit, release: Synthetic, noises: Sequence[GroupNoise]) -> None:
    """The noise of every group, a page at a time, searched by the name of the group."""
    columns = noise_columns(release, noises)
    shown: list[Sequence[GroupNoise]] = [noises]

    def fetch(offset: int, limit: int, sort: Sort) -> list[Row]:
        return [
            noise_row(one)
            for one in islice(in_order(shown[0], columns, sort), offset, offset + limit)
        ]

    search = (
        ui.input(f"Search by {spoken(release.group)}")
        .props("dense outlined clearable debounce=300")
        .style("max-width: 20rem")
        .mark("search-groups")
    )
    caption = f"The noise of {plural(spoken(release.group), len(noises))}"
    made = await grid(
        visit,
        columns,
        fetch,
        name="noise",
        caption=caption,
        total=len(noises),
        page=PAGE,
        sortable=columns,
        sort=(columns[1], True),
    )

    async def searched(text: str | None) -> None:
        shown[0] = [
            one for one in noises if (text or "").strip().casefold() in one.group.casefold()
        ]
        await made.restart(total=len(shown[0]))

    search.on_value_change(lambda event: searched(event.value))


def noise_columns(release: Synthetic, noises: Sequence[GroupNoise]) -> list[str]:
    """The columns of the table of noise."""
    by_threshold = any(one.threshold is not None for one in noises)
    return [
        spoken(release.group),
        "people",
        "cells",
        *(["published from"] if by_threshold else ["alpha", "prior people", "per person"]),
    ]


def noise_row(one: GroupNoise) -> Row:
    """A group with its noise."""
    if one.threshold is not None:
        return one.group, f"{one.people:,}", f"{one.cells:,}", f"{one.threshold:,}"
    return (
        one.group,
        f"{one.people:,}",
        f"{one.cells:,}",
        number(one.alpha or Fraction(0)),
        number(one.prior),
        f"{float(one.prior / one.people):.2g}",
    )


def in_order(
    noises: Sequence[GroupNoise], columns: Sequence[str], sort: Sort
) -> Sequence[GroupNoise]:
    """The groups by a column."""
    if sort is None:
        return noises
    by: tuple[Callable[[GroupNoise], Any], ...] = (
        lambda one: one.group,
        lambda one: one.people,
        lambda one: one.cells,
        lambda one: (one.threshold or 0, one.alpha or 0),
        lambda one: one.prior,
        lambda one: one.prior / one.people,
    )
    return sorted(noises, key=by[columns.index(sort[0])], reverse=sort[1])


def cells_table(visit: Visit, cells: Cells, name: str) -> None:
    """A table of the report."""
    small_table(visit, cells.head, cells.rows, name)


# -- a written output ------------------------------------------------------------------------------


class Comparing:
    """Which output is compared with the true people, and how it compares."""

    def __init__(self, visit: Visit, release: Synthetic, stamp: str) -> None:
        self.visit, self.release, self.stamp = visit, release, stamp

    async def show(self) -> None:
        """A choice of files that may be outputs of the release, the last one written first."""
        ui.label(OWNER).classes("muted")
        files = await to_thread(outputs, self.visit, self.release)
        if not files:
            notice(
                f"There is no output of {self.release.name} yet below the folder of the plan.",
                "info",
            )
            ui.link(
                "Repair: draw synthetic people and write them",
                self.visit.link("repair", self.release.name),
            ).mark("synthesize")
            return
        with ui.element("div").classes("toolbar"):
            chosen = (
                ui.select(files, value=files[0], label="The written file")
                .props("dense outlined")
                .style("min-width: 16rem")
                .mark("output")
            )
            ui.button("Compare", on_click=lambda: self._compare(chosen.value)).props(
                "no-caps unelevated"
            ).mark("compare")
        self._body = ui.element("div").classes("stack")
        for file in files:
            if self.visit.book.works.latest(COMPARE, self._worked(file).key) is not None:
                await self._show(file, start=False)
                break

    def _worked(self, file: str) -> Worked:
        place = self.visit.bench.inside(file)
        title, written = (
            f"{place.name} beside the true people",
            place.stat().st_mtime_ns if place.exists() else 0,
        )
        return Worked(
            self.visit,
            COMPARE,
            title,
            compare_output,
            (self.release.name, str(place)),
            f"{self.stamp} {written}",
            lambda work: compared(self.visit, self.release, work.result),
        )

    async def _compare(self, file: str) -> None:
        try:
            await self._show(file, start=True)
        except TacitError as error:
            show_error(error)

    async def _show(self, file: str, *, start: bool) -> None:
        self._body.clear()
        with self._body:
            await self._worked(file).show(start=start)


def outputs(visit: Visit, release: Synthetic) -> list[str]:
    """Files below the folder that have the columns of a release's output:
    the one written last by the Repair page, then the newest.
    """
    bench, own = visit.bench, owners_files(visit.book.plan())
    found: dict[str, float] = {}
    for place in islice(
        (one for one in walk(bench.folder) if one.suffix.lower() in ENDINGS), MOST_FILES
    ):
        with suppress(TacitError, OSError):
            inside = bench.inside(place)
            if inside not in own and is_output(release, inside):
                found[bench.name(place)] = inside.stat().st_mtime
    newest = sorted(found, key=lambda name: (-found[name], name))[:MOST_SHOWN]
    drawn = visit.book.works.latest(DRAW, release.name)
    last = (
        bench.name(visit.book.folder / drawn.result.output)
        if drawn is not None and drawn.result is not None and drawn.result.output
        else ""
    )
    return list(dict.fromkeys([*([last] if last in found else []), *newest]))


async def compared(visit: Visit, release: Synthetic, found: OutputComparison) -> None:
    """How an output compares: numbers, tables, charts, and maps side by side."""
    with ui.element("dl").classes("row").style("gap: .5rem 2rem; margin: 0"):
        for value, term in found.figures:
            with ui.element("div").style("display: flex; flex-direction: column-reverse"):
                with ui.element("dt"):
                    ui.label(term).classes("fine")
                with ui.element("dd").style("margin: 0"):
                    ui.label(value).style("font-size: 1.5rem; font-weight: 650; line-height: 1.2")
    for cells in found.grids:
        heading(cells.caption, "h3")
        cells_table(visit, cells, cells.caption.lower().replace(" ", "-"))
    if found.better:
        ui.label(found.better).classes("muted")
    with ui.element("div").classes("grid-2"):
        for place, chart in enumerate(found.charts, 1):
            picture(visit, chart, f"{release.name} utility {place}")
    for place, one in enumerate(found.maps, 1):
        with ui.element("div").classes("stack").props('data-testid="map"'):
            ui.label(one.title).style("font-weight: 600")
            ui.label(one.note).classes("fine")
            with ui.element("div").classes("grid-2"):
                for side, svg in one.panels:
                    picture(
                        visit,
                        Chart(side.capitalize(), "", svg),
                        f"{release.name} map {place} {side}",
                    )
