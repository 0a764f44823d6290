"""The table of the ledger's entries, page by page, by release and recipient;
all that one entry says; and withdrawing.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import background_tasks, ui

from tacit.checking.holdings.ledgers import ledger_of
from tacit.checking.holdings.shares import worst
from tacit.errors import TacitError
from tacit.families.words import listed
from tacit.ledger.entries import GIVES
from tacit.ledger.paging import page, reaching, size, those
from tacit.report.terminal.ledger import spent, what_was_done, when
from tacit.workbench.bench import Visit
from tacit.workbench.pages.ledger.dossier import dossier_buttons
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.grids import PageGrid
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import ledger as tasks_ledger

if TYPE_CHECKING:
    from tacit.ledger.entries import Entry
    from tacit.plan.plan import Plan
    from tacit.workbench.work import Work

COLUMNS = ("Entry", "When (UTC)", "Release", "What", "To", "By", "Verdicts then")
NUMBER = COLUMNS[0]
# entries that are looked through at once for those of a recipient; more are work with progress
QUICKLY = 20_000
EVERYBODY = "everybody"


class Entries:
    """The table, and which of the entries it shows."""

    def __init__(self, visit: Visit, plan: Plan, total: int) -> None:
        self.visit, self.plan, self.total = visit, plan, total
        self.release: str | None = None
        self.to: str | None = None
        self.numbers: array[int] | None = None  # of the entries that reached a recipient
        self.changed: Callable[[], Coroutine[Any, Any, None]] | None = None
        self.whole = ui.element("section").classes("card").props('aria-label="Released so far"')
        self.whole.set_visibility(total > 0)  # nothing to filter, nothing to show
        with self.whole:
            ui.html("Released so far", tag="h2", sanitize=False)
            self._filters()
            self.working = ui.element("div").classes("stack")
            self.dialogs = ui.element(
                "div"
            )  # outside of the table, which is made anew when something is recorded
            self.grid = PageGrid(
                visit,
                COLUMNS,
                self._fetch,
                name="ledger",
                caption="Entries; press a number for all that it says",
                total=total,
                sortable=[NUMBER],
                sort=(NUMBER, True),
                pick=self._picked,
                marked=lambda row: str(row[-1]).endswith("breached"),
            )

    async def show(self) -> None:
        """Show the first page."""
        await self.grid.show()

    async def restart(self, total: int) -> None:
        """Show the first page again, after something was recorded."""
        self.total = total
        self.whole.set_visibility(total > 0)
        await self._filter()

    def _filters(self) -> None:
        releases = list(self.plan.releases)
        clients = sorted({client for one in self.plan.releases.values() for client in one.to})
        with ui.element("div").classes("row led-fields"):
            ui.select(
                releases,
                label="Release",
                with_input=True,
                new_value_mode="add-unique",
                clearable=True,
                on_change=self._release_chosen,
            ).props("outlined dense options-dense").classes("grow").mark("filter-release")
            self.clients = (
                ui.select(
                    clients,
                    label="Given to",
                    with_input=True,
                    new_value_mode="add-unique",
                    clearable=True,
                    on_change=self._client_chosen,
                )
                .props('outlined dense options-dense hint="Includes public releases"')
                .classes("grow")
                .mark("filter-to")
            )

    def know(self, clients: Collection[str]) -> None:
        """Offer these recipients to choose from, too."""
        self.clients.set_options(sorted({*self.clients.options, *clients}), value=self.to)

    async def _release_chosen(self, event: Any) -> None:
        self.release = event.value or None
        await self._filter()

    async def _client_chosen(self, event: Any) -> None:
        self.to = event.value or None
        await self._filter()

    async def _filter(self) -> None:
        self.working.clear()
        self.numbers = None
        if self.to is not None and self.total > QUICKLY:
            self._find(self.to)
            return
        try:
            total = await asyncio.to_thread(self._counted)
        except TacitError as error:
            with self.working:
                show_error(error)
            return
        await self.grid.restart(total=total)

    def _counted(self) -> int:
        """How many entries are to be shown; for a recipient, which ones. Blocks."""
        with ledger_of(self.plan) as ledger:
            if self.to is None:
                return size(ledger, self.release)
            self.numbers = reaching(ledger, self.to, release=self.release)
            return len(self.numbers)

    def _find(self, client: str) -> None:
        """Look through a long ledger for what reached somebody."""
        work = self.visit.book.works.start(
            "entries",
            "Looking for a recipient's entries",
            tasks_ledger.entries_of,
            self.visit.book.path,
            self.visit.book.reach,
            client,
            self.release,
        )

        def done(work: Work) -> None:
            if work.state == "done" and self.to == client:
                self.working.clear()
                self.numbers = work.result
                later(self.grid.restart(total=len(work.result)))

        with self.working:
            show_work(work, done)

    async def _fetch(self, offset: int, limit: int, sort: Any) -> list[Sequence[Any]]:
        newest = sort is None or sort[1]
        return await asyncio.to_thread(self._rows, offset, limit, newest)

    def _rows(self, offset: int, limit: int, newest: bool) -> list[Sequence[Any]]:
        """A page of the table. Blocks."""
        with ledger_of(self.plan) as ledger:
            if self.to is None:
                return [
                    row(one)
                    for one in page(ledger, offset, limit, release=self.release, newest=newest)
                ]
            if self.numbers is None:
                return []
            chosen = self.numbers[::-1] if newest else self.numbers
            return [row(one) for one in those(ledger, chosen[offset : offset + limit])]

    async def _picked(self, row: Sequence[Any]) -> None:
        try:
            entry = await asyncio.to_thread(self._entry, int(row[0]))
        except TacitError as error:
            with self.working:
                show_error(error)
            return
        Details(self, entry)

    def _entry(self, number: int) -> Entry:
        with ledger_of(self.plan) as ledger:
            return ledger.entry(number)


def later(doing: Coroutine[Any, Any, None]) -> None:
    """Do something that goes on when what started it is taken from the page:
    a timer that is deleted ends what it does.
    """
    background_tasks.create(doing)


def row(entry: Entry) -> Sequence[Any]:
    """An entry as a line of the table."""
    what = {"withdrawal": "withdrawn", "correction": f"{entry.shape}, correction"}.get(
        entry.kind, entry.shape
    )
    return (
        entry.number,
        when(entry.at),
        entry.release,
        what,
        listed(entry.to) or EVERYBODY,
        entry.by,
        verdicts_summary(entry),
    )


def verdicts_summary(entry: Entry) -> str:
    """The verdicts under which something went out, the worst of them with how many it is of."""
    found = [one.status for one in entry.verdicts]
    if not found:
        return "" if entry.kind == "withdrawal" else "not judged"
    bad = worst(found)
    return bad if len(set(found)) == 1 else f"{found.count(bad)} of {len(found)} {bad}"


class Details:
    """All that an entry says, in a dialog; from there its release can be withdrawn."""

    def __init__(self, table: Entries, entry: Entry) -> None:
        self.table, self.entry = table, entry
        with table.dialogs:
            self.dialog = ui.dialog().props(f'aria-label="Entry {entry.number}"')
        with self.dialog, ui.card().classes("led-details").props('data-testid="details"'):
            with ui.element("div").classes("row between").style("width: 100%"):
                ui.html(f"Entry {entry.number}", tag="h2", sanitize=False)
                ui.button(icon="close", on_click=self.dialog.close).props(
                    'flat dense round aria-label="Close"'
                )
            self._facts()
            self._verdicts()
            self._hashes()
            made = ui.element("div").classes("stack")
            self.place = ui.element("div").classes("stack")
            with self.place, ui.element("div").classes("toolbar"):
                ui.link(
                    "The release", table.visit.link("release", entry.release)
                ) if entry.release in table.plan.releases else None
                if entry.kind in GIVES:
                    ui.button("Withdraw ...", on_click=self._confirm).props(
                        'flat data-testid="withdraw"'
                    )
                    ui.button("Correct ...", on_click=self._correct).props(
                        'flat data-testid="correct"'
                    )
                    dossier_buttons(table.visit, entry, made)
        self.dialog.on("hide", self.dialog.delete)
        self.dialog.open()

    def _facts(self) -> None:
        entry = self.entry
        said = {
            "Release": entry.release,
            "What": what_was_done(entry),
            "Wrong was": entry.wrong,
            "When": f"{when(entry.at, exactly=True)} (UTC)",
            "By": entry.by,
            "Tables": listed(entry.tables),
            "Note": entry.note,
            "Spent": spent(entry),
            "Judged by": f"Tacit {entry.version}" if entry.version else "",
        }
        with ui.element("dl").classes("led-facts"):
            for term, text in said.items():
                if text:
                    ui.html(term, tag="dt", sanitize=False)
                    with ui.element("dd"):
                        ui.label(text)

    def _verdicts(self) -> None:
        if not self.entry.verdicts:
            return
        ui.html("Verdicts when it went out", tag="h3", sanitize=False)
        with ui.element("ul").classes("led-verdicts"):
            for one in self.entry.verdicts:
                with ui.element("li"):
                    badge(one.status)
                    ui.label(one.question_text)
                    ui.label(one.certainty).classes("fine")

    def _hashes(self) -> None:
        entry = self.entry
        hashes = {
            "Plan": entry.plan,
            "Definition": entry.definition,
            "Answer": entry.answer or "none",
            "People": entry.people or "not compared",
            "Entry before": entry.before,
            "This entry": entry.hash,
        }
        with ui.element("details").classes("more"):
            ui.html("Keyed hashes, which only your key can make", tag="summary", sanitize=False)
            with ui.element("dl").classes("led-facts"):
                for term, text in hashes.items():
                    ui.html(term, tag="dt", sanitize=False)
                    with ui.element("dd").classes("mono"):
                        ui.label(text)

    def _confirm(self) -> None:
        """Ask from whom, and say what that does."""
        from tacit.workbench.pages.ledger.page import owner_name

        entry = self.entry
        self.place.clear()
        with self.place:
            notice(
                "Withdrawing records that it is given out no more. Whoever has it still knows it, "
                "and later checks count with that. It cannot be undone.",
                "warn",
            )
            choices = list(entry.to)
            chosen = (
                ui.select(
                    choices, multiple=True, label="From whom (nobody chosen: everybody who has it)"
                ).props("outlined dense use-chips")
                if choices
                else None
            )
            by = ui.input("By", value=owner_name(self.table.visit)).props("outlined dense")
            note = ui.input("Note (no personal values, please)").props(
                "outlined dense maxlength=2000"
            )

            def press() -> None:
                to = tuple(chosen.value) if chosen is not None and chosen.value else None
                self._withdraw(to, by.value.strip(), note.value)

            with ui.element("div").classes("toolbar"):
                ui.button(f"Withdraw {entry.release}", on_click=press).props(
                    'unelevated color=negative data-testid="withdraw-confirmed"'
                )
                ui.button("Cancel", on_click=self.dialog.close).props("flat")

    def _correct(self) -> None:
        """Ask what was wrong, and give the new one in its place."""
        from tacit.workbench.pages.ledger.correct import CorrectionForm

        def changed() -> None:
            if self.table.changed is not None:
                later(self.table.changed())

        self.place.clear()
        with self.place:
            CorrectionForm(
                self.table.visit, self.table.plan, self.entry, changed, self.dialog.close
            )

    def _withdraw(self, to: tuple[str, ...] | None, by: str, note: str) -> None:
        book = self.table.visit.book
        work = book.works.start(
            "withdraw",
            f"Withdrawing {self.entry.release}",
            tasks_ledger.withdraw,
            book.path,
            book.reach,
            self.entry.release,
            to,
            by,
            note,
        )

        def done(work: Work) -> None:
            if work.state != "done":
                return
            self.place.clear()
            with self.place:
                notice(f"{work.result.release}: {work.result.because}.", "good")
            if self.table.changed is not None:
                later(self.table.changed())

        self.place.clear()
        with self.place:
            show_work(work, done)
