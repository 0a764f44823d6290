"""Who holds what: everybody, each recipient and each coalition, what they have together, and
what the plan's checks say of that today.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.checking.holdings.ledgers import ledger_of
from tacit.checking.holdings.shares import HeldShare, Holder, holders
from tacit.errors import TacitError
from tacit.families.words import listed
from tacit.ledger.paging import size
from tacit.report.terminal.ledger import when
from tacit.workbench.bench import Visit
from tacit.workbench.pages.ledger.matrix import MOST_HOLDERS, MOST_RELEASES, matrix
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.left import show_left
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.pictures import picture
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import ledger as tasks_ledger

if TYPE_CHECKING:
    from tacit.checking.recording.current_verdicts import LedgerStanding, Standings
    from tacit.plan.plan import Plan
    from tacit.workbench.work import Work

THEN = {"holds": "held", "breached": "was breached", "undecided": "was undecided"}

# entries of a ledger whose holders are put together at once; longer ones are work with progress
QUICKLY = 2_000
PAGE = 25
HEAD = (
    "Who",
    "Release",
    "What",
    "Since (UTC)",
    "Last (UTC)",
    "Entry",
    "Verdict then",
    "Public",
    "Withdrawn (UTC)",
)


class Holders:
    """The section, and what it shows."""

    def __init__(
        self, visit: Visit, plan: Plan, head: str, know: Callable[[Collection[str]], None]
    ) -> None:
        self.visit, self.plan, self.head, self.know = visit, plan, head, know
        self.found: tuple[Holder, ...] = ()
        self.standings: Standings | None = None
        self.shown = PAGE
        self.section: ui.element | None = None

    async def show(self) -> None:
        """Build the section."""
        with (
            ui.element("section")
            .classes("card")
            .props('aria-label="Who holds what together" data-testid="holders"')
        ):
            ui.html("Who holds what together", tag="h2", sanitize=False)
            ui.label(
                "What is public is with everybody. Those who may tell each other are named under "
                "collude in the plan's checks, and hold what each of them has."
            ).classes("muted")
            self.section = ui.element("div").classes("stack")
        await self._gather()

    async def restart(self, head: str) -> None:
        """Show it again, after something was recorded."""
        self.head = head
        await self._gather()

    async def _gather(self) -> None:
        """Find out who holds what: at once, or with progress where the ledger is long."""
        assert self.section is not None
        try:
            quick = await asyncio.to_thread(self._quickly)
        except TacitError as error:
            self.section.clear()
            with self.section:
                show_error(error)
            return
        if quick is not None:
            self.found = quick
            self._draw()
            return
        book, key = self.visit.book, f"{self.head} {self.visit.book.digest()}"
        work = book.works.latest("holders", key)
        if work is None or (work.over and work.state != "done"):
            work = book.works.start(
                "holders",
                "Putting together who holds what",
                tasks_ledger.who_holds,
                book.path,
                book.reach,
                key=key,
            )
        self.section.clear()
        with self.section:
            show_work(work, self._gathered)

    def _quickly(self) -> tuple[Holder, ...] | None:
        with ledger_of(self.plan) as ledger:
            return holders(self.plan, ledger) if size(ledger) <= QUICKLY else None

    def _gathered(self, work: Work) -> None:
        if work.state == "done":
            self.found = work.result
            self._draw()

    # -- what the checks say -----------------------------------------------------------------------

    @property
    def key(self) -> str:
        """What the standings are about: this ledger and this plan."""
        return f"{self.head} {self.visit.book.digest()}"

    def _judge(self) -> None:
        book = self.visit.book
        book.works.start(
            "standings",
            "Asking the checks of all that is published",
            tasks_ledger.judge_again,
            book.path,
            book.reach,
            key=self.key,
        )
        self._draw()

    def _show_verdicts(self, work: Work) -> None:
        if work.state == "done":
            self._draw()

    # -- drawing -----------------------------------------------------------------------------------

    def _draw(self) -> None:
        assert self.section is not None
        self.section.clear()
        self.know({client for holder in self.found for client in holder.who})
        work = self.visit.book.works.latest("standings", self.key)
        self.standings = work.result if work is not None and work.state == "done" else None
        releases = list(
            dict.fromkeys(one.release for holder in self.found for one in holder.shares)
        )
        with self.section:
            if not releases:
                notice("Nothing is recorded in the ledger yet, so nobody holds anything.", "info")
                return
            if len(self.found) <= MOST_HOLDERS and len(releases) <= MOST_RELEASES:
                picture(self.visit, matrix(self.found, self.standings), "who-holds-what")
            self._judging(work)
            self._table()
            with ui.element("div").classes("toolbar"):
                save_button(
                    self.visit,
                    "Save CSV",
                    "who-holds-what.csv",
                    lambda: csv_bytes(
                        [HEAD, *(line for holder in self.found for line in lines(holder))]
                    ),
                )

    def _judging(self, work: Work | None) -> None:
        if work is not None and not work.over:
            show_work(work, self._show_verdicts)
            return
        with ui.element("div").classes("toolbar"):
            ui.button(
                "Ask the checks again" if self.standings else "Ask the checks about all of it",
                on_click=self._judge,
            ).props('outline data-testid="judge"')
            ui.label(
                "The plan's checks, with all that each of them holds and the data of today."
            ).classes("fine")
        if work is not None and work.state == "failed" and work.error is not None:
            show_error(work.error)
        if self.standings is not None and self.standings.unasked:
            notice(
                f"No check of the plan asks about {listed(self.standings.unasked)}: add one, so "
                "that what it tells is judged.",
                "warn",
            )

    def _table(self) -> None:
        with (
            ui.element("div")
            .classes("scroll")
            .props('tabindex="0" role="region" aria-label="Who holds what"'),
            ui.element("table").classes("plain stacked led-holders"),
        ):
            with ui.element("thead"), ui.element("tr"):
                for name in ("Who", "Holds", "What the checks say of it together"):
                    with ui.element("th").props('scope="col"'):
                        ui.label(name)
            with ui.element("tbody"):
                for holder in self.found[: self.shown]:
                    self._holder(holder)
        if len(self.found) > self.shown:
            with ui.element("div").classes("toolbar"):
                ui.button(
                    f"Show more ({len(self.found) - self.shown:,})", on_click=self._more
                ).props("flat dense")

    def _more(self) -> None:
        self.shown += 4 * PAGE
        self._draw()

    def _holder(self, holder: Holder) -> None:
        with ui.element("tr"):
            with ui.element("th").props('scope="row"').classes("who"):
                ui.label(holder.called)
            with ui.element("td"):
                if not holder.shares:
                    ui.label("nothing").classes("fine")
                with ui.element("ul").classes("led-shares"):
                    for one in holder.shares:
                        with ui.element("li"):
                            self._name(one.release)
                            ui.label(describe_holding(one, holder)).classes("fine")
            with ui.element("td"):
                self._standing(holder)

    def _name(self, release: str) -> None:
        """The name of a release, as a link to its page where the plan has it."""
        if release in self.plan.releases:
            ui.link(release, self.visit.link("release", release)).style("font-weight: 600")
        else:
            ui.label(release).style("font-weight: 600")

    def _standing(self, holder: Holder) -> None:
        if self.standings is None:
            if holder.shares:
                badge("unchecked", "not asked yet")
            return
        found = self.standings.of(holder.who)
        if not found and holder.shares:
            ui.label("no check asks about this").classes("fine")
        with ui.element("ul").classes("led-shares"):
            for one in found:
                with ui.element("li"):
                    badge(
                        "unchecked" if one.status == "not asked" else one.status,
                        "could not be asked" if one.status == "not asked" else "",
                    )
                    ui.label(heading(one)).style("font-weight: 600")
                    ui.label(f"{one.because[:1].upper()}{one.because[1:]}.").classes("fine")
                    if one.status == "breached" and one.verdict is not None and one.verdict.story:
                        ui.label(one.verdict.story).classes("fine")
                        show_left(one.verdict)


def heading(one: LedgerStanding) -> str:
    """What was asked: a check of which releases, with what else, and of whom where that is only
    a part of a group.
    """
    whom = f", {listed(one.who)}" if one.who != one.holder else ""
    return (
        f"{one.name or one.label} of "
        f"{listed(one.releases)}{f' with {one.together}' if one.together else ''}{whom}"
    )


def describe_holding(share: HeldShare, holder: Holder) -> str:
    """Since when somebody has a release, how, and under which verdict it went out."""
    said = [f"since {when(share.since)[:10]}"]
    said += ["public"] if share.public and holder.who else []
    said += [f"{share.outputs} different answers"] if share.outputs > 1 else []
    said += [f"{THEN[share.status]} when it went out"] if share.status else ["went out unjudged"]
    said += [f"withdrawn {when(share.withdrawn)[:10]}, still known"] if share.withdrawn else []
    return f"{', '.join(said)} (entry {share.entry})"


def lines(holder: Holder) -> list[tuple[Any, ...]]:
    """What somebody holds, as lines of a table."""
    return [
        (
            holder.called,
            one.release,
            one.shape,
            when(one.since),
            when(one.last),
            one.entry,
            one.status or "not judged",
            "yes" if one.public else "no",
            when(one.withdrawn) if one.withdrawn else None,
        )
        for one in holder.shares
    ]
