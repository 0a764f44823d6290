"""Repair a table: how it may be made coarser, all minimal solutions, one of them beside the
table, and writing it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from nicegui import ui

from tacit.errors import TacitError
from tacit.families.catalog import kinds_of
from tacit.families.microdata.runs.alternatives import SHARE as DROPPED
from tacit.families.microdata.runs.preview import PreviewRow
from tacit.families.microdata.runs.task import not_asked
from tacit.families.microdata.utility.measures import measure
from tacit.families.words import listed
from tacit.model.numbers import percent
from tacit.model.release import Microdata
from tacit.plan.plan import Plan
from tacit.workbench.bench import Visit
from tacit.workbench.pages.repair.ladder import show_explored
from tacit.workbench.pages.repair.picks import Picks
from tacit.workbench.pages.repair.repair_answers import (
    heading,
    level_steps,
    show_answers,
    show_columns,
    show_figures,
)
from tacit.workbench.pages.repair.repair_work import follow, last_work, show_stopped
from tacit.workbench.pages.repair.rows_beside import RowsBeside
from tacit.workbench.pages.repair.scatter import Scatter, describe_choice
from tacit.workbench.pages.repair.slider import RangeSlider
from tacit.workbench.pages.repair.write import WritePage
from tacit.workbench.parts.folds import expert_fold
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import generalize as tasks
from tacit.workbench.tasks import solution
from tacit.workbench.tasks.generalize import RepairText, Solved, Unsolved, Wanted
from tacit.workbench.work import Work

METHODS = {
    "lattice": "Whole columns, level by level",
    "mondrian": "Flexible groups, by splitting (Mondrian)",
    "window": "Flexible groups, by sorting (window)",
}
UTILITIES = {
    "loss": "Detail that is lost",
    "average-group": "Size of groups on average",
    "height": "Steps of generalization (height)",
    "discernibility": "Pairs of rows that look alike (discernibility)",
    "kl": "Distance from the table (KL divergence)",
}
HOW_STRICT = "How strict can the checks be?"
MOST_DROPPED = 50  # percent, of the slider
MOST_WEIGHT = 10
BESIDE = 3  # quasi-identifiers for which the table of solutions has room beside the picture


async def show_microdata(visit: Visit, plan: Plan, release: Microdata) -> None:
    """The page of one table that is released."""
    with ui.element("div").classes("stack").style("gap: .2rem"):
        heading(f"Repair {release.name}", "h1")
        ui.label(
            f"Make the values of {release.table} coarser until all checks of {release.name} hold, "
            "and lose as little as possible."
        ).classes("muted")
    if release.file is not None:
        show_file(visit, plan, release)
        return
    if not any(release.name in check.releases for check in plan.checks):
        notice(
            f"The plan has no check of {release.name}, so there is nothing to reach. Add one on "
            "the page Start, for example k-anonymity with k: 5.",
            "warn",
        )
        ui.link("Add a check on the page Start", visit.link())
        return
    if left := not_asked(plan, release.name):
        only = not any(
            release.name in check.releases and check.kind in kinds_of("microdata")
            for check in plan.checks
        )
        notice(not_asked_words(left, only=only), "warn").props('data-testid="not-asked"')
        ui.link("The last verdicts, on the page Overview", visit.link("overview"))
        if only:
            return
    page = Repairing(visit, plan, release)
    with ui.element("div").classes("stack") as waiting:
        ui.label("Reading the table …").classes("muted").props('role="status"')
    # The first look counts the whole table: the page is there before it has ended.
    ui.timer(0.05, lambda: page.open(waiting), once=True)


def show_file(visit: Visit, plan: Plan, release: Microdata) -> None:
    """A file is not changed: what can be made coarser in its place is the table itself."""
    drafts = [
        one.name
        for one in plan.of(Microdata).values()
        if one.table == release.table and one.file is None
    ]
    notice(
        f"{release.name} is the file {release.file}, which is there already and is not changed. "
        + (
            "Repair a draft of the same table, and write it under a name of its own."
            if drafts
            else f"Add a release of table {release.table} on the page Start to generalize the "
            "table itself."
        ),
        "warn",
    )
    if not drafts:
        ui.link("Add a release on the page Start", visit.link())
    for name in drafts:
        ui.link(f"Repair {name}", visit.link("repair", name)).classes("go").style(
            "align-self: flex-start"
        )


def not_asked_words(left: Sequence[str], *, only: bool) -> str:
    """Which checks a search does not ask, and what to do about them.

    >>> not_asked_words(["k-sind of copy"], only=False)
    'The search does not ask k-sind of copy. What it finds may breach that: check the plan again before anything leaves.'
    """  # noqa: E501
    that = "that" if len(left) == 1 else "them"
    words = f"The search does not ask {listed(left)}."
    if only:
        return (
            f"{words} The plan has no other check of this release, so there is nothing to "
            "reach. Add one on the page Start, for example k-anonymity with k: 5."
        )
    return f"{words} What it finds may breach {that}: check the plan again before anything leaves."


class Repairing:
    """The page while it is open. What was asked and picked last is kept with the book, for a
    reload and other tabs.
    """

    def __init__(self, visit: Visit, plan: Plan, release: Microdata) -> None:
        self.visit, self.plan, self.release, self.name = visit, plan, release, release.name
        repair = release.repair
        known = self._kept.get("wanted")
        self.wanted = known or Wanted(
            repair.method,
            repair.suppress,
            repair.utility,
            dict(repair.weights),
            dict(repair.at_most),
        )
        self.weights, self.at_most = dict(self.wanted.weights), dict(self.wanted.at_most)
        self.ladders: tuple[solution.Ladder, ...] = ()
        self.rows = 0
        self.scatter: Scatter | None = None
        self.table: Picks | None = None
        self.writing: WritePage | None = None
        self._turn = 0

    @property
    def _kept(self) -> dict[str, Any]:
        found: dict[str, Any] = self.visit.book.kept.setdefault(f"repair {self.name}", {})
        return found

    async def open(self, waiting: ui.element) -> None:
        """Read the columns, and show the controls and what was found before."""
        try:
            self.ladders, self.rows = await self.visit.book.ask(solution.ladders, self.name)
        except TacitError as error:
            with waiting:
                waiting.clear()
                show_error(error)
            return
        with waiting:
            waiting.clear()
            self._controls()
            self.working = ui.element("div").classes("stack")
            self.exploring = ui.element("div").classes("stack")
            self.found = ui.element("div").classes("stack").style("gap: 1.25rem")
            self.picked = ui.element("div").classes("stack").style("gap: 1.25rem")
            self.writing = WritePage(self.visit, self.plan, self.release)
        self._resume()

    def _resume(self) -> None:
        works = self.visit.book.works
        if (work := last_work(works, "repair-search", self.name)) is not None:
            self._follow(work)
        if (work := last_work(works, "repair-explore", self.name)) is not None:
            self._follow_explore(work)
        assert self.writing is not None
        self.writing.resume()

    # -- controls ----------------------------------------------------------------------------------

    def _controls(self) -> None:
        with ui.element("section").classes("card").props('aria-label="How to repair"'):
            heading("How", "h2")
            with ui.element("div").classes("controls"):
                with ui.element("div").classes("control"):
                    ui.label("Method").classes("name")
                    self.method = ui.radio(
                        METHODS, value=self.wanted.method, on_change=self._method_changed
                    ).props('aria-label="Method" dense')
                    self.relaxed = ui.checkbox(
                        "Rows with equal values may come into different groups",
                        value=self.wanted.relaxed,
                    ).props("dense")
                self._suppress_control()
                with expert_fold(
                    is_open=self.wanted.utility != "loss" or self.wanted.aware
                ) as self.experts:
                    self.utility = ui.select(
                        UTILITIES,
                        value=self.wanted.utility,
                        label="What is kept small",
                        on_change=self._method_changed,
                    ).props("dense outlined")
                    self.aware = ui.checkbox(
                        "Only levels from which one who knows how they are chosen learns "
                        "nothing more",
                        value=self.wanted.aware,
                    ).props("dense")
            self._column_controls()
            with ui.element("div").classes("toolbar"):
                ui.button("Search", on_click=self._search).props(
                    'unelevated no-caps data-testid="search"'
                )
                self.explore = ui.button(HOW_STRICT, on_click=self._explore).props(
                    'flat no-caps data-testid="explore"'
                )
            ui.label("A search writes nothing.").classes("fine")
        self._method_changed()

    def _suppress_control(self) -> None:
        with ui.element("div").classes("control"):
            said = ui.label().classes("name")

            def tell(share: float) -> None:
                said.set_text(
                    f"Rows that may be dropped: {share:g} % "
                    f"({int(Fraction(str(share)) * self.rows / 100):,} of {self.rows:,})"
                )

            now = float(self.wanted.suppress * 100)
            self.suppress = RangeSlider(
                "Rows that may be dropped",
                0,
                MOST_DROPPED,
                0.5,
                min(now, MOST_DROPPED),
                name="suppress",
                words="{:g} %".format,
                on_change=tell,
            )
            tell(now)
            self.tell_dropped = tell
            ui.label(
                "People who stand out are left out, instead of making everybody coarser."
            ).classes("fine")

    def _column_controls(self) -> None:
        with (
            ui.element("div")
            .classes("scroll")
            .props('tabindex="0" role="region" aria-label="Columns"'),
            ui.element("table").classes("plain columns stacked"),
        ):
            with ui.element("thead"), ui.element("tr"):
                for head in (
                    "Column",
                    "Its levels, for example",
                    "Highest level allowed",
                    "How much it matters",
                ):
                    with ui.element("th").props('scope="col"'):
                        ui.label(head)
            with ui.element("tbody"):
                self.weight_sliders = [self._column(one) for one in self.ladders]

    def _column(self, ladder: solution.Ladder) -> RangeSlider:
        name, height = ladder.column, ladder.height
        with ui.element("tr"):
            with ui.element("td"):
                ui.label(name).style("font-weight: 600")
            with ui.element("td"):
                ui.label(" → ".join(ladder.labels)).classes("ladder")
            with ui.element("td").classes("wide"):
                said = ui.label().classes("fine")
                now = self.at_most.get(name, height)
                level = RangeSlider(
                    f"Highest level allowed for {name}",
                    0,
                    max(height, 1),
                    1,
                    now,
                    name=f"at-most-{name}",
                    words=lambda at: level_text(ladder, int(at)),
                    on_change=lambda at: self._limit(ladder, int(at), said),
                )
                level.set_enabled(height > 0)
                self._limit(ladder, now, said)
            with ui.element("td").classes("wide"):
                counts = ui.label().classes("fine")
                counts_now = self.weights.get(name, Fraction(1))
                weight = RangeSlider(
                    f"How much {name} matters",
                    0,
                    max(MOST_WEIGHT, float(counts_now)),
                    0.5,
                    float(counts_now),
                    name=f"weight-{name}",
                    words=lambda value: weight_text(Fraction(str(value))),
                    on_change=lambda value: self._weigh(name, value, counts),
                )
                counts.set_text(weight_text(counts_now))
        return weight

    def _limit(self, ladder: solution.Ladder, level: int, said: ui.label) -> None:
        if level >= ladder.height:
            self.at_most.pop(ladder.column, None)
        else:
            self.at_most[ladder.column] = level
        said.set_text(level_text(ladder, level))

    def _weigh(self, name: str, value: float, said: ui.label) -> None:
        weight = Fraction(str(value))
        self.weights[name] = weight
        if weight == 1:
            del self.weights[name]
        said.set_text(weight_text(weight))

    def _method_changed(self) -> None:
        lattice = self.method.value == "lattice"
        self.relaxed.set_visibility(self.method.value == "mondrian")
        self.experts.set_visibility(lattice)
        self.explore.set_visibility(lattice)
        takes = measure(self.utility.value).weighted if lattice else self.method.value == "mondrian"
        for slider in self.weight_sliders:
            slider.set_enabled(takes)

    def _wanted_search(self) -> Wanted:
        lattice = self.method.value == "lattice"
        weighted = (
            measure(self.utility.value).weighted if lattice else self.method.value == "mondrian"
        )
        return Wanted(
            self.method.value,
            Fraction(str(self.suppress.value)) / 100,
            self.utility.value,
            dict(self.weights) if weighted else {},
            dict(self.at_most),
            bool(self.aware.value) and lattice,
            bool(self.relaxed.value) and self.method.value == "mondrian",
        )

    # -- searching ---------------------------------------------------------------------------------

    def _search(self) -> None:
        if (unfit := self._unfit()) and self.method.value != "lattice":
            self.working.clear()
            with self.working:
                notice(
                    f"Flexible groups have labels of their own: {listed(unfit)} can be left as "
                    "it is or not limited, and nothing between.",
                    "warn",
                )
            return
        self.wanted = self._kept["wanted"] = self._wanted_search()
        self._kept.pop("picked", None)
        book = self.visit.book
        work = book.works.start(
            "repair-search",
            f"Searching releases of {self.release.table} for {self.name}",
            tasks.search,
            str(book.path),
            str(book.reach),
            self.name,
            self.wanted,
            book.digest(),
            key=self.name,
        )
        self._follow(work)

    def _unfit(self) -> list[str]:
        """Columns whose highest level is neither their own values nor the top."""
        return [
            one.column
            for one in self.ladders
            if 0 < self.at_most.get(one.column, one.height) < one.height
        ]

    def _follow(self, work: Work) -> None:
        for area in (self.working, self.found, self.picked):
            area.clear()
        assert self.writing is not None
        self.writing.close()
        with self.working:
            shown = show_work(work, then=lambda ended: self._ended(ended, shown))

    async def _ended(self, work: Work, shown: ui.element) -> None:
        if work.state == "cancelled":
            self.working.clear()
            with self.working:
                show_stopped(work, "Search again", self._search)
        if work.state != "done":
            return
        self.working.remove(shown)
        result = work.result
        with self.found:
            if result.digest != self.visit.book.digest():
                notice(
                    "The plan has changed since this search. Search again before you write "
                    "anything.",
                    "warn",
                )
            self._unsolved(result) if isinstance(result, Unsolved) else self._solved(result)
        if isinstance(result, Solved):
            picked = self._kept.get("picked")
            await self._pick_levels(result, picked if picked is not None else result.told.levels)

    def _solved(self, found: Solved) -> None:
        with ui.element("section").classes("card holds").props('data-testid="solved"'):
            several = len(found.choices)
            asked = (
                "The checks that were asked" if not_asked(self.plan, self.name) else "The checks"
            )
            asked = (
                "By itself: the checks"
                if any(one.status != "holds" for one in found.told.answers)
                else asked
            )
            heading(
                f"{asked} can be met" + (f": {several:,} solutions" if several > 1 else ""), "h2"
            )
            for text in (
                found.told.proof,
                found.said,
                found.told.rows[:1].upper() + found.told.rows[1:] + ".",
                *found.knows,
            ):
                if text:
                    ui.label(text)
            if found.dropping:
                self._offer_dropping(found.dropping)
        if found.choices:
            wide = len(self.ladders) > BESIDE
            with ui.element("div").classes("solutions wide" if wide else "solutions"):
                self.scatter = Scatter(
                    self.visit, found, self.name, lambda number: self._pick(found, number)
                )
                self.table = Picks(
                    self.visit,
                    found,
                    self.ladders,
                    self.name,
                    lambda number: self._pick(found, number),
                )
        else:
            self.scatter = self.table = None

    def _offer_dropping(self, words: str) -> None:
        """Say what a few dropped rows would save, with a button that searches so."""

        def search() -> None:
            self.suppress.set_value(float(100 * DROPPED))
            self.tell_dropped(self.suppress.value)
            self._search()

        with ui.element("div").classes("notice info").props('data-testid="dropping"'):
            ui.label(words)
            ui.label(
                "Later copies of the table may then not be judged together with this one: who was "
                "left out is not known."
            ).classes("fine")
            ui.button(f"Search with {percent(DROPPED)} dropped", on_click=search).props(
                'outline dense no-caps data-testid="search-dropping"'
            ).style("align-self: flex-start")

    def _unsolved(self, found: Unsolved) -> None:
        with (
            ui.element("section")
            .classes("card breached" if found.proved else "card undecided")
            .props('data-testid="unsolved"')
        ):
            heading("The checks cannot be met" if found.proved else "Nothing was found", "h2")
            ui.label(f"{found.because[:1].upper()}{found.because[1:]}. Nothing was written.")
            if found.nodes[1]:
                proof = "This is proved" if found.proved else "This is no proof"
                ui.label(
                    f"{proof}: {found.nodes[0]:,} of {found.nodes[1]:,} ways to choose levels "
                    "were asked."
                ).classes("muted")
            if found.advice:
                heading("What would have to give, one of these", "h3")
                with ui.element("ul").style("margin: 0; padding-left: 1.2rem"):
                    for line in found.advice:
                        with ui.element("li"):
                            ui.label(f"{line}.")
                ui.link("Change roles, hierarchies and checks on the page Start", self.visit.link())
            if found.wanted.method == "lattice":
                ui.button(HOW_STRICT, on_click=self._explore).props(
                    'outline no-caps data-testid="explore-after"'
                ).style("align-self: flex-start")
        if found.answers:
            with ui.element("section").classes("card"):
                heading("The coarsest release, every column at its highest level", "h3")
                show_answers(found.answers)

    # -- how strict the checks can be --------------------------------------------------------------

    def _explore(self) -> None:
        book = self.visit.book
        work = book.works.start(
            "repair-explore",
            f"How strict the checks of {self.name} can be",
            tasks.explore,
            str(book.path),
            str(book.reach),
            self.name,
            self._wanted_search(),
            key=self.name,
        )
        self._follow_explore(work)

    def _follow_explore(self, work: Work) -> None:
        follow(
            work,
            self.exploring,
            lambda found: show_explored(self.visit, found),
            "Ask again",
            self._explore,
        )

    # -- one solution ------------------------------------------------------------------------------

    async def _pick(self, found: Solved, number: int) -> None:
        await self._pick_levels(found, found.choices[number - 1].generalization)

    async def _pick_levels(self, found: Solved, levels: Mapping[str, int] | None) -> None:
        """Show the release at some levels; None is the one that was
        found, with groups of its own.
        """
        self._turn += 1
        turn = self._turn
        self._kept["picked"] = dict(levels) if levels is not None else None
        number = next(
            (
                place
                for place, choice in enumerate(found.choices, 1)
                if levels is not None and dict(choice.generalization) == dict(levels)
            ),
            None,
        )
        for part in (self.scatter, self.table):
            if part is not None:
                part.mark(number)
        self.picked.clear()
        assert self.writing is not None
        self.writing.close()
        with self.picked:
            with (
                ui.element("section")
                .classes("card")
                .props('data-testid="solution" aria-live="polite"') as card
            ):
                heading(title_of(number, levels), "h2")
                ui.label("Asking the checks …").classes("muted")
            with ui.element("section").classes("card"):
                heading("Row by row", "h2")
                rows = ui.element("div").classes("stack")
        beside = await self._rows(found, levels)
        if turn != self._turn:
            return  # another one was pressed meanwhile
        with rows:
            await beside()
        try:
            told = await self._looked_at(found, levels)
        except TacitError as error:
            if turn == self._turn:
                with card:
                    show_error(error)
            return
        if turn == self._turn:
            card.clear()
            with card:
                self._solution(found, levels, told, number)

    async def _looked_at(
        self, found: Solved, levels: Mapping[str, int] | None
    ) -> RepairText | Unsolved:
        """What the checks say there, and what it costs;
        of the best solution the search has said it.
        """
        if levels is None or found.told.levels == dict(levels):
            return found.told
        return await self.visit.book.ask(solution.look, self.name, found.wanted, levels)

    def _solution(
        self,
        found: Solved,
        levels: Mapping[str, int] | None,
        told: RepairText | Unsolved,
        number: int | None,
    ) -> None:
        assert self.writing is not None
        heading(title_of(number, levels), "h2")
        if isinstance(told, RepairText):
            if told.choice is not None:
                ui.label(
                    describe_choice(number or 0, told.choice, found.measure)
                    .split(": ", 1)[1]
                    .capitalize()
                    + "."
                ).classes("muted")
            show_columns(
                told,
                None
                if levels is None
                else lambda column, by: self._step(found, levels, column, by),
                self._limits(found),
            )
            if told.example is not None:
                ui.label(f"For example: {told.example[0]} → {told.example[1]}")
        else:
            ui.label(
                f"{told.because[:1].upper()}{told.because[1:]}. It cannot be written."
            ).classes("notice warn").props('data-testid="fails"')
            self._steppers(found, levels or {})
        heading("What the checks say", "h3")
        show_answers(told.answers)
        if isinstance(told, RepairText):
            show_figures(self.visit, told, f"{self.name}-utility")
            self.writing.offer(found, None if levels is None else dict(levels), told)

    def _limits(self, found: Solved) -> dict[str, int]:
        return {
            one.column: found.wanted.at_most.get(one.column, one.height) for one in self.ladders
        }

    async def _step(self, found: Solved, levels: Mapping[str, int], column: str, by: int) -> None:
        level = min(max(0, levels[column] + by), self._limits(found)[column])
        await self._pick_levels(found, {**levels, column: level})

    def _steppers(self, found: Solved, levels: Mapping[str, int]) -> None:
        """The levels alone, where nothing can be said of what they cost."""
        with ui.element("div").classes("row"):
            for name, level in levels.items():
                with ui.element("div").classes("row").style("gap: .3rem"):
                    ui.label(name).style("font-weight: 600")
                    level_steps(
                        name,
                        level,
                        self._limits(found)[name],
                        lambda by, name=name: self._step(found, levels, name, by),  # type: ignore[misc]
                    )

    async def _rows(
        self, found: Solved, levels: Mapping[str, int] | None
    ) -> Callable[[], Awaitable[None]]:
        """What shows the rows of the table beside those of the
        release, once there is a place for it.
        """
        if levels is None:
            note = (
                f"The first {len(found.lines):,} rows are shown."
                if len(found.lines) < self.rows
                else ""
            )
            return lambda: RowsBeside(
                *found.heads, stored(found.lines), total=len(found.lines), note=note
            ).show()
        try:
            lens, (heads, columns) = await self.visit.book.ask(
                solution.lens, self.name, found.wanted, levels
            )
        except TacitError:
            return not_known

        async def fetched(offset: int, limit: int) -> list[PreviewRow]:
            return await self.visit.book.ask(solution.page, lens, offset, limit)

        return lambda: RowsBeside(heads, columns, fetched, total=self.rows).show()


def stored(lines: Sequence[PreviewRow]) -> Callable[[int, int], Awaitable[list[PreviewRow]]]:
    """Rows that the search has left."""

    async def fetched(offset: int, limit: int) -> list[PreviewRow]:
        return list(lines[offset : offset + limit])

    return fetched


async def not_known() -> None:
    """Instead of rows, where it is not known which of them go."""
    ui.label("Which rows would have to go is not known where the checks cannot be met.").classes(
        "muted"
    )


def title_of(number: int | None, levels: Mapping[str, int] | None) -> str:
    """What the release that is looked at is called.

    >>> title_of(3, {"zip": 1}), title_of(None, {"zip": 1}), title_of(None, None)
    ('Solution 3', 'Other levels', 'The release that was found')
    """
    if levels is None:
        return "The release that was found"
    return f"Solution {number}" if number is not None else "Other levels"


def level_text(ladder: solution.Ladder, level: int) -> str:
    """The highest level that a column may have, in words.

    >>> (
    ...     level_text(solution.Ladder("zip", ("13053", "1305*", "*")), 1),
    ...     level_text(solution.Ladder("sex", ("f",)), 0),
    ... )
    ('up to level 1 of 2: 1305*', 'no levels')
    """
    if not ladder.height:
        return "no levels"
    return (
        "only as it is"
        if not level
        else f"up to level {level} of {ladder.height}: {ladder.labels[min(level, ladder.height)]}"
    )


def weight_text(weight: Fraction) -> str:
    """How much a column matters, in words.

    >>> weight_text(Fraction(1)), weight_text(Fraction(0)), weight_text(Fraction(5, 2))
    ('normal importance', 'does not matter', 'counts 2.5 times')
    """
    if weight == 1:
        return "normal importance"
    return "does not matter" if not weight else f"counts {float(weight):g} times"
