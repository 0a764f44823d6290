"""Ledger: what is published, to whom, when, by whom and under which verdict;
what each recipient and each coalition holds; record and withdraw.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.checking.holdings.ledgers import begin, is_begun, ledger_of
from tacit.errors import InputError, TacitError
from tacit.ledger.key import key_file
from tacit.ledger.paging import page, size
from tacit.report.terminal.ledger import when
from tacit.workbench.bench import Visit
from tacit.workbench.pages.ledger import entries as ledger_entries
from tacit.workbench.pages.ledger import holders as ledger_holders
from tacit.workbench.pages.ledger import recording_form as ledger_record
from tacit.workbench.parts.fields import whole
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import ledger as tasks_ledger

if TYPE_CHECKING:
    from tacit.ledger.entries import Entry
    from tacit.ledger.verify import Verified
    from tacit.plan.plan import Plan
    from tacit.workbench.work import Work


@dataclass(frozen=True, slots=True)
class Summary:
    """How long the ledger is, its last entry, and the hash of that (or of the empty ledger)."""

    entries: int
    last: Entry | None
    head: str


def summary(plan: Plan) -> Summary:
    """A look at the ledger's end. Blocks."""
    with ledger_of(plan) as ledger:
        many = size(ledger)
        return Summary(many, page(ledger, 0, 1)[0] if many else None, ledger.head())


async def show(visit: Visit) -> None:
    """The page."""
    plan = await asyncio.to_thread(visit.book.plan)
    heading()
    try:
        begun = await asyncio.to_thread(is_begun, plan)
    except InputError as error:  # a key without its ledger: it may only have been moved
        show_error(error)
        not_begun(visit, plan, again=True)
        return
    if not begun:
        not_begun(visit, plan)
        return
    try:
        found = await asyncio.to_thread(summary, plan)
    except TacitError as error:
        show_error(error)
        await verifying(visit)
        return
    sentence = ui.label(describe_ledger(found)).classes("muted").props('data-testid="summary"')
    table = ledger_entries.Entries(visit, plan, found.entries)

    def know(clients: Collection[str]) -> None:
        table.know(clients)
        if record is not None:
            record.know(clients)

    holders = ledger_holders.Holders(visit, plan, found.head, know)

    async def changed() -> None:
        now = await asyncio.to_thread(summary, plan)
        sentence.set_text(describe_ledger(now))
        await table.restart(now.entries)
        await holders.restart(now.head)

    table.changed = changed
    await table.show()
    record = await ledger_record.form(visit, plan, changed)
    await holders.show()
    await verifying(visit)


def heading() -> None:
    """What this page is."""
    ui.html("Ledger", tag="h1", sanitize=False)
    ui.label(
        "Every release, to whom, when, by whom and under which verdict. Entries are "
        "only ever added, and each is bound to those before it by your key."
    ).classes("muted")


def describe_ledger(found: Summary) -> str:
    """The ledger in one sentence."""
    if found.last is None:
        return "The ledger is empty: nothing was recorded yet."
    many = "1 entry" if found.entries == 1 else f"{found.entries:,} entries"
    return (
        f"{many}; the last one on {when(found.last.at)} (UTC) about {found.last.release}, by "
        f"{found.last.by}."
    )


def not_begun(visit: Visit, plan: Plan, *, again: bool = False) -> None:
    """Where there is no ledger: what one is, what to keep, and a button that begins it."""
    key = key_file(plan.folder)
    with (
        ui.element("section")
        .classes("card")
        .props('aria-label="Begin the ledger" data-testid="not-begun"')
    ):
        ui.html("Nothing was recorded yet", tag="h2", sanitize=False)
        ui.label(
            "The ledger remembers what you gave to whom, so that the next release is judged "
            "together with it: two releases that are harmless alone may tell something together."
        )
        with ui.element("ul"):
            for text in (
                f"It is kept in {shown_place(plan)}.",
                (
                    f"Its key is {'already in' if key.exists() else 'made in'} "
                    f"{key.name}{' beside the plan' if key.parent == plan.folder else ''}. "
                    "Only you may read it."
                ),
                (
                    "Keep a copy of the key elsewhere: without it the ledger can be neither "
                    "checked nor continued. Who has read it can forge entries and guess "
                    "small answers."
                ),
            ):
                with ui.element("li"):
                    ui.label(text)

        async def press() -> None:
            try:
                head = await asyncio.to_thread(begin, plan)
            except TacitError as error:
                show_error(error)
                return
            with place:
                place.clear()
                notice(
                    f"The ledger was begun. Back up {key.name} now. Hash of the empty "
                    f"ledger: {head}",
                    "good",
                )
                with ui.element("div").classes("toolbar"):
                    ui.button("Go on", on_click=ui.navigate.reload).props("unelevated")

        place = ui.element("div").classes("stack")
        with place, ui.element("div").classes("toolbar"):
            label = "Begin a new ledger with this key" if again else "Begin the ledger"
            ui.button(label, on_click=press).props('unelevated data-testid="begin"')


def shown_place(plan: Plan) -> str:
    """Where the ledger is, as a page says it: a database without its address."""
    return (
        "a PostgreSQL database, as the plan says"
        if "://" in plan.ledger
        else f"{plan.ledger} beside the plan"
    )


# -- was anything changed? -------------------------------------------------------------------------


async def verifying(visit: Visit) -> None:
    """A button that checks all entries, and what came of it."""
    with ui.element("section").classes("card").props('aria-label="Verify"'):
        ui.html("Has anybody changed it?", tag="h2", sanitize=False)
        ui.label(
            "Checks every entry against your key and the one before it. That the whole ledger was "
            "put back to an older copy can only be seen with a hash, and a version of the list of "
            "users, that you keep elsewhere."
        ).classes("muted")
        with ui.element("div").classes("row led-fields"):
            expect = (
                ui.input("Hash that you noted (optional)")
                .props('outlined dense autocomplete=off data-testid="expect"')
                .classes("grow mono")
            )
            users = (
                ui.number("Version of the list of users (optional)", min=0, precision=0)
                .props("outlined dense")
                .style("width: 18rem")
            )
        place = ui.element("div").classes("stack").props('data-testid="verified"')

        def press() -> None:
            work = visit.book.works.start(
                "verify",
                "Verifying the ledger",
                tasks_ledger.verify,
                visit.book.path,
                visit.book.reach,
                (expect.value or "").strip() or None,
                whole(users.value),
            )
            follow(work)

        def follow(work: Work) -> None:
            place.clear()
            with place:
                show_work(work, done)

        def done(work: Work) -> None:
            if work.state == "done":
                place.clear()
                with place:
                    verified(visit, work.result)

        with ui.element("div").classes("toolbar"):
            ui.button("Verify", on_click=press).props('outline data-testid="verify"')
        before = visit.book.works.latest("verify")
        if before is not None and not before.over:
            follow(before)


def verified(visit: Visit, found: Verified) -> None:
    """Whether anybody changed the ledger, and what."""
    if found.intact:
        many = "1 entry was" if found.entries == 1 else f"{found.entries:,} entries were"
        with ui.element("div").classes("notice good").props('role="status"'):
            ui.label(f"Nothing was changed. {many} checked.")
            ui.label(f"Hash of the last entry: {found.head}").classes("mono")
            if found.expected is not None:
                ui.label(
                    "The hash that you noted is that of "
                    f"{f'entry {found.expected}' if found.expected else 'the empty ledger'}."
                )
            ui.label(
                f"Version of the list of users: {found.users}. Note the hash and the version "
                "somewhere else."
            ).classes("fine")
            with ui.element("div").classes("toolbar"):
                save_button(
                    visit,
                    "Save both as a file",
                    "ledger-head.txt",
                    lambda: f"{found.head}\nusers {found.users}\n",
                )
    else:
        with ui.element("div").classes("notice error").props('role="alert"'):
            ui.label(
                "It was changed. Do not rely on it: put back a copy that is whole, and find out "
                "who can write to it."
            )
            with ui.element("ul"):
                for fault in found.faults:
                    with ui.element("li"):
                        ui.label(fault.message)
    for one in found.notes[:20]:
        notice(f"{one[:1].upper()}{one[1:]}.", "info")


def owner_name(visit: Any) -> str:
    """Who records, unless they say another name:
    who signed in, or else the user of this machine.
    """
    from tacit.checking.recording.record import user
    from tacit.workbench.app.workbench_sessions import OWNER

    return user() if visit.session.user == OWNER else str(visit.session.user)
