"""Start: open a plan, or begin one from a file or a database; say what each column is;
get a plan that the command line reads too.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from nicegui import ui
from nicegui.events import MultiUploadEventArguments

from tacit.engines.formats import IN_WORDS, LAST_ENDINGS
from tacit.engines.open import DATABASE_FILES
from tacit.errors import InputError, TacitError
from tacit.plan.edit.editing import Wish
from tacit.starter.profile import Profile
from tacit.starter.survey import is_postgres, without_password
from tacit.workbench import drafts
from tacit.workbench.app import uploads
from tacit.workbench.bench import Visit
from tacit.workbench.drafts import PlanDraft
from tacit.workbench.pages.start.checks import Checks
from tacit.workbench.pages.start.columns import Columns
from tacit.workbench.pages.start.dropping import drop_zone
from tacit.workbench.pages.start.fields import choice, entry, html
from tacit.workbench.pages.start.hierarchies import Hierarchies
from tacit.workbench.pages.start.latest import Latest
from tacit.workbench.pages.start.packs import Packs
from tacit.workbench.pages.start.steps import Steps
from tacit.workbench.pages.start.synthetic import SyntheticReleases
from tacit.workbench.pages.start.text import PlanText
from tacit.workbench.pages.start.views import ViewsSection
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import start as tasks_start
from tacit.workbench.work import Work

LOOK = "look"
TABLES = "tables"
NEW, ADD, REPLACE = (
    "new",
    "add",
    "replace",
    # what becomes of a table: a new plan, one table more, a new plan
    # instead of one that was never saved
)
FOLLOW_SECONDS = (
    1.5  # until another tab shows what was changed here, or this one what was changed in the file
)


async def show(visit: Visit) -> None:
    """The page."""
    html("h1", "Start")
    draft = await asyncio.to_thread(drafts.draft_of, visit.book)
    await Opening(visit, draft).show()
    if draft is None:
        notice("There is no plan here yet. Open one above, or begin with a file or a database.")
        return
    await PlanDesk(visit, draft).show()


class Opening:
    """Where to begin: plans that are there, files, databases."""

    def __init__(self, visit: Visit, draft: PlanDraft | None) -> None:
        self.visit, self.draft = visit, draft
        self._into = NEW
        self._address, self._password = "", ""

    async def show(self) -> None:
        """The whole section; folded where a plan is open."""
        plans = await asyncio.to_thread(self.visit.bench.plans)
        files = await asyncio.to_thread(
            drafts.data_files,
            self.visit.bench,
            self.visit.book.folder,
            (*uploads.KINDS, *DATABASE_FILES),
        )
        with (
            ui.element("details").classes("card opening").props('data-testid="opening"') as details
        ):
            looking = self._unfinished()
            if self.draft is None or looking:
                details.props["open"] = True
            html("summary", "Open a plan, a file or a database")
            if self.draft is not None:
                with ui.element("div").classes("row into"):
                    html("span", "The table of a file or a database").classes("label")
                    choice(
                        {NEW: "begins a new plan", ADD: f"is added to {self.visit.book.path.name}"},
                        self._into,
                        "The table of a file or a database",
                        lambda one: setattr(self, "_into", one),
                        testid="into",
                    )
            with ui.element("div").classes("grid-3"):
                self._plans(plans)
                self._files(files)
                self._database()
            self._said = ui.element("div").classes("stack said").props('aria-live="polite"')
        if looking:
            self._follow(looking)

    def _plans(self, there: list[Path]) -> None:
        unsaved = drafts.unsaved(self.visit.bench)
        plans = sorted({*there, *unsaved})
        with ui.element("div").classes("stack"):
            html("h2", "A plan")
            ui.label(
                "Plans below this folder:" if plans else "There is no plan below this folder yet."
            ).classes("fine")
            with ui.element("ul").classes("plans"):
                for path in plans:
                    with ui.element("li"):
                        name = self.visit.bench.name(path)
                        button = ui.button(
                            f"{name} (not saved)" if path in unsaved else name,
                            on_click=lambda path=path: self._open_plan(path),
                        ).props("flat dense no-caps align=left")
                        if path == self.visit.book.path:
                            button.props["aria-current"] = "true"

    def _open_plan(self, path: Path) -> None:
        try:
            self.visit.session.plan = self.visit.bench.inside(path)
        except TacitError as error:
            self._fail(error)
            return
        ui.navigate.reload()

    def _files(self, files: list[str]) -> None:
        with ui.element("div").classes("stack"):
            html("h2", "A file")
            ui.label(
                "CSV, Excel, Parquet, JSON lines, Arrow, SPSS, Stata or SAS, up to "
                f"{uploads.in_words(uploads.MOST_BYTES)}. It is stored beside the plan."
            ).classes("fine")
            self._upload = drop_zone(
                "Drop a file here",
                coming=self._coming,
                uploaded=self._uploaded,
                rejected=self._rejected,
                endings=LAST_ENDINGS,
                testid="drop",
            )
            if files:
                with ui.element("div").classes("row"):
                    html("span", "Or one that is there:").classes("fine")
                    choice(
                        {"": "choose a file", **{one: one for one in files}},
                        "",
                        "File below this folder",
                        self._chose_file,
                        testid="file",
                    )

    def _coming(self) -> None:
        self._said.clear()
        with self._said:
            notice("The file is on its way.")

    async def _uploaded(self, event: MultiUploadEventArguments) -> None:
        file = event.files[0]
        try:
            if self._into == ADD:
                self._refuse_apart(".")
            stored = await uploads.store(file.iterate(), file.name, self._folder())
        except TacitError as error:
            self._fail(error)
            return
        finally:
            self._upload.reset()
        self._begin(os.path.relpath(stored.path, self.visit.book.folder), fresh=stored.is_new)

    def _folder(self) -> Path:
        """Where a file is stored: beside the plan, or beside the tables that it joins."""
        folder = self.visit.book.folder
        return (
            self.visit.bench.inside(drafts.folder_of_tables(self.draft, folder))
            if self._into == ADD and self.draft
            else folder
        )

    def _rejected(self) -> None:
        kinds = (
            f"It must be a file as {IN_WORDS}, of at most {uploads.in_words(uploads.MOST_BYTES)}."
        )
        self._fail(InputError("this file was not taken.", hint=kinds))

    def _chose_file(self, file: str) -> None:
        if not file:
            return
        try:
            place = self.visit.bench.inside(self.visit.book.folder / file)
        except TacitError as error:
            self._fail(error)
            return
        if place.suffix.lower() in DATABASE_FILES:
            self._list_tables(file)
        else:
            self._begin(file)

    def _database(self) -> None:
        with ui.element("div").classes("stack"):
            html("h2", "A database")
            ui.label("PostgreSQL. The password is used to look, and is written nowhere.").classes(
                "fine"
            )
            self._address_field = entry(
                "",
                "Address of the database",
                lambda text: setattr(self, "_address", text.strip()),
                testid="address",
                size=28,
                placeholder="postgresql://user@host/database",
            )
            self._password_field = entry(
                "",
                "Password",
                lambda text: setattr(self, "_password", text),
                testid="password",
                kind="password",
                size=28,
                placeholder="password, if it needs one",
            )
            ui.button("Show its tables", on_click=self._connect).props(
                'outline no-caps data-testid="connect"'
            )

    def _connect(self) -> None:
        url = tasks_start.with_password(self._address, self._password)
        self._address = without_password(self._address)
        self._password = ""
        for field, value in ((self._address_field, self._address), (self._password_field, "")):
            field.props["value"] = value
            field.update()
        if not is_postgres(url):
            self._fail(
                InputError(
                    "this is no address of a PostgreSQL database.",
                    hint="Write postgresql://user@host/database",
                )
            )
            return
        self._list_tables(url)

    def _list_tables(self, data: str) -> None:
        shown = without_password(data) if is_postgres(data) else data
        work = self.visit.book.works.start(
            TABLES,
            f"Asking {shown} for its tables",
            tasks_start.list_tables,
            data,
            str(self.visit.book.path),
        )

        def listed(work: Work) -> None:
            if work.state == "done":
                with self._said:
                    self._pick_table(data, shown, work.result)

        self._said.clear()
        with self._said:
            show_work(work, listed)

    def _pick_table(self, data: str, shown: str, names: list[str]) -> None:
        if not names:
            show_error(
                InputError(
                    f"{shown} has no tables that can be seen.",
                    hint="Has the user the right to read them?",
                )
            )
            return
        with ui.element("div").classes("row"):
            html("span", f"Table of {shown}").classes("label")
            choice(
                {"": f"choose one of {len(names)}", **{one: one for one in names}},
                "",
                "Table of the database",
                lambda name: self._begin(data, table=name) if name else None,
                testid="table",
            )

    def _begin(self, data: str, *, table: str | None = None, fresh: bool = False) -> None:
        """Look at a table for which a new plan will be written, or
        which will be added to this one.
        """
        if self._into == NEW and self.draft is not None and self.draft.was is None:
            self._ask(data, table=table, fresh=fresh)
        else:
            self._look(self._into, data, table=table, fresh=fresh)

    def _ask(self, data: str, *, table: str | None, fresh: bool) -> None:
        """Nobody has saved the plan that is open: is it to go?"""
        plan, name = self.visit.book.path.name, table or Path(data).name

        def leave() -> None:
            self._said.clear()
            self._remove(data, fresh)

        self._said.clear()
        with (
            self._said,
            notice(
                f"{plan} is not saved yet. Is {name} to be added to it, or to begin a new plan in "
                "its place?",
                "warn",
            ) as shown,
        ):
            shown.props["data-testid"] = "unsaved"
            with ui.element("div").classes("toolbar"):
                ui.button(
                    f"Add it to {plan}",
                    on_click=lambda: self._look(ADD, data, table=table, fresh=fresh),
                ).props("outline no-caps")
                ui.button(
                    "Begin anew and drop what is not saved",
                    on_click=lambda: self._look(REPLACE, data, table=table, fresh=fresh),
                ).props("outline no-caps")
                ui.button(f"Leave {name} out", on_click=leave).props("flat no-caps")

    def _remove(self, data: str, fresh: bool) -> None:
        """Take away a file that has just come, and that nobody wants."""
        if fresh:
            (self.visit.book.folder / data).unlink(missing_ok=True)

    def _look(self, into: str, data: str, *, table: str | None, fresh: bool) -> None:
        """Look at a table. Only when that is done something becomes of it:
        until then, and where it fails, all stays as it is.
        """
        book = self.visit.book
        try:
            if into == ADD:
                self._refuse_apart(
                    without_password(data) if is_postgres(data) else data if table else "."
                )
        except TacitError as error:
            self._remove(data, fresh)
            self._fail(error)
            return
        self._follow(
            book.works.start(
                into,
                f"Looking at {table or Path(data).name}",
                tasks_start.look_at_data,
                data,
                str(book.path),
                table,
                fresh,
                key=self._key(into),
            )
        )

    def _key(self, into: str) -> str:
        """All who work on a plan see what is added to it; a new plan is opened by who began it."""
        return "" if into == ADD else self.visit.session.id

    def _refuse_apart(self, source: str) -> None:
        if self.draft is not None:
            drafts.refuse_apart(self.draft, self.visit.book.folder, source)

    def _unfinished(self) -> Work | None:
        """The table that is being looked at, and of which nothing has become yet:
        the page was loaded again meanwhile.
        """
        works = (
            self.visit.book.works.latest(into, self._key(into)) for into in (ADD, NEW, REPLACE)
        )
        return max(
            (one for one in works if one is not None and not one.taken),
            key=lambda one: one.began,
            default=None,
        )

    def _follow(self, work: Work) -> None:
        async def looked(work: Work) -> None:
            is_first, work.taken = not work.taken, True  # else another tab has done it
            if work.state != "done":
                return
            try:
                if is_first:
                    await asyncio.to_thread(self._take, work.kind, work.result)
            except TacitError as error:
                self._fail(error)
                return
            ui.navigate.reload()

        self._said.clear()
        with self._said:
            show_work(work, looked)

    def _take(self, into: str, profile: Profile) -> None:
        """Make of a table that was looked at what was chosen."""
        bench, book = self.visit.bench, self.visit.book
        draft = drafts.draft_of(book)
        if into == ADD and draft is not None:
            drafts.add_table(draft, book.folder, profile)
            return
        path = (
            book.path
            if into == REPLACE and draft is not None and draft.was is None
            else drafts.new_plan(bench, book.folder, profile.look.table)
        )
        drafts.begin(bench.book(path), profile)
        self.visit.session.plan = path

    def _fail(self, error: TacitError) -> None:
        self._said.clear()
        with self._said:
            show_error(error)


class PlanDesk:
    """A plan that is worked on:
    columns, hierarchies, checks and text, all showing the same draft.
    """

    def __init__(self, visit: Visit, draft: PlanDraft) -> None:
        self.visit, self.draft = visit, draft
        self.table = next(
            (one for one in (draft.chosen, *draft.tables()) if one in draft.tables()), ""
        )
        self._parts: list[Any] = []
        self._seen: object = None
        self._there: str | None = (
            None  # the file's text, where it is another one and something is unsaved here
        )
        self._sync = Latest(self._sync_now)

    async def show(self) -> None:
        """Everything; columns come when they have been looked at."""
        self._unsaved = notice(
            "This plan is not saved yet. Correct the roles, look at the hierarchies, say what to "
            "protect against, then save it under First look."
        )
        self._unsaved.set_visibility(self.draft.was is None)
        self._said = ui.element("div").classes("said").props('aria-live="polite"')
        self._both = ui.element("div").classes("said").props('aria-live="polite"')
        tables = self.draft.tables()
        if len(tables) > 1:
            with ui.element("div").classes("row"):
                html("span", "Table").classes("label")
                choice(
                    {one: one for one in tables},
                    self.table,
                    "Table",
                    self._chose_table,
                    testid="which-table",
                )
        self._waiting = ui.element("div").classes("stack").style("gap: 1.25rem")
        self._steps = Steps(self.visit.session, self.visit.session.step)
        self._steps.show()
        self._text = PlanText(self.visit, self.draft, self._typed, self._saved)
        with self._steps.places["plan"]:
            await self._text.show()
        await self._fill()
        self._seen = self._now()
        await self._follow()
        ui.timer(FOLLOW_SECONDS, self._follow)

    def _conflict(self) -> None:
        """The file was changed by somebody else while there is something unsaved here:
        which of the two counts?
        """
        self._both.clear()
        if (there := self._there) is None:
            return

        async def take(*, mine: bool) -> None:
            drafts.settle(self.draft, there, mine=mine)
            await self._follow()

        with (
            self._both,
            notice(
                "The file was changed meanwhile, by hand or on another page, and your changes here "
                "are not saved.",
                "warn",
            ) as shown,
        ):
            shown.props["data-testid"] = "conflict"
            with ui.element("div").classes("toolbar"):
                ui.button("Take the file's text", on_click=lambda: take(mine=False)).props(
                    "outline no-caps"
                )
                ui.button("Keep mine", on_click=lambda: take(mine=True)).props("flat no-caps")

    async def _chose_table(self, table: str) -> None:
        self.table = self.draft.chosen = table
        await self._fill()

    async def _fill(self, *, again: bool = False) -> None:
        """The sections about a table, or the work that they wait for."""
        self._waiting.clear()
        for step in ("columns", "hierarchies", "checks"):
            self._steps.places[step].clear()
        self._parts = []
        if not self.table:
            return
        with self._waiting:
            profile = self.draft.profiles.get(self.table)
            if profile is None and await self._is_broken():
                notice(
                    "The plan's tables are shown here once it can be read: correct its text below, "
                    "and save it.",
                    "warn",
                )
                return
            if profile is None:
                self._look(again=again)
                return
            for note in profile.look.notes:
                notice(note[:1].upper() + note[1:], "warn")
        parts: list[tuple[str, Any]] = [
            (
                "columns",
                Columns(self.visit, self.draft, profile, self.table, self._wish, self._look_again),
            ),
            (
                "hierarchies",
                Hierarchies(self.visit, self.draft, profile, self.table, self._wish),
            ),
            ("checks", Checks(self.draft, self.table, self._wish)),
            ("checks", Packs(self.draft, self.table, self._wish)),
            ("checks", ViewsSection(self.visit, self.draft, self._wish)),
            ("checks", SyntheticReleases(self.visit, self.draft, self.table, self._wish)),
        ]
        self._parts = [part for _, part in parts]
        for step, part in parts:
            with self._steps.places[step]:
                await part.show()

    async def _is_broken(self) -> bool:
        """Whether the plan as it was saved cannot be read; the text below says why."""
        book = self.visit.book
        return (
            book.exists
            and await asyncio.to_thread(drafts.problems, book.text(), book, self.visit.bench)
            is not None
        )

    def _look(self, *, again: bool) -> None:
        table, works = self.table, self.visit.book.works
        work = works.latest(LOOK, table)
        if work is None or (work.over and (again or work.state != "done")):
            if not self.visit.book.exists:
                return
            work = works.start(
                LOOK,
                f"Looking at {table}",
                tasks_start.look_at_table,
                str(self.visit.book.path),
                str(self.visit.bench.folder),
                table,
                key=table,
            )

        async def looked(work: Work) -> None:
            if work.state == "done" and isinstance(work.result, Profile):
                self.draft.profiles[table] = work.result
                if table == self.table:
                    await self._fill()

        show_work(work, looked)

    async def _wish(self, *wishes: Wish) -> None:
        self._said.clear()
        try:
            self.draft.wish(*wishes)
        except TacitError as error:
            with self._said:
                show_error(error)
        await self._sync()

    async def _typed(self) -> None:
        await asyncio.to_thread(self.draft.values)
        tables = self.draft.tables()
        if tables and self.table not in tables:
            self.table = tables[0]
            await self._fill()
        await self._sync()

    async def _saved(self) -> None:
        if not self._parts:  # it could not be looked at before: perhaps now
            await self._fill()
        await self._sync()

    async def _look_again(self) -> None:
        self.draft.profiles.pop(self.table, None)
        await self._fill(again=True)

    async def _sync_now(self) -> None:
        await asyncio.to_thread(
            self.draft.values
        )  # read here, a long text would keep all pages waiting
        self._seen = self._now()
        self._unsaved.set_visibility(self.draft.was is None)
        for part in self._parts:
            await part.sync()
        await self._text.sync()

    def _now(self) -> object:
        return self.draft.version, self.draft.was

    async def _follow(self) -> None:
        """Show what was changed in another tab, or in the file."""
        book = self.visit.book
        try:
            there = await asyncio.to_thread(book.text) if book.exists else None
        except TacitError:
            return  # it cannot be read just now; saving it says so
        was = self.draft.was
        both = there if drafts.follow(self.draft, there) else None
        if both != self._there:
            self._there = both
            self._conflict()
        if self._seen != self._now():
            await self._typed()
            if self.draft.was != was and not self._parts:  # perhaps it can be looked at now
                await self._fill()
