"""Record a release: which, to whom, by whom, and the file that goes out;
it is judged together with all that is published before it is recorded.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.errors import InputError, TacitError
from tacit.families.catalog import kinds_of
from tacit.families.family import kind_of
from tacit.families.words import listed
from tacit.plan.owned_files import owners_files
from tacit.workbench.bench import STATE, Visit, walk
from tacit.workbench.pages.ledger.entries import later
from tacit.workbench.pages.repair.repair_work import TO_RECORD
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.left import show_left
from tacit.workbench.parts.names import Names
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import ledger as tasks_ledger
from tacit.workbench.tasks.ledger import RecordedNow, Recording

if TYPE_CHECKING:
    from tacit.model.verdict import Verdict
    from tacit.plan.plan import Plan
    from tacit.workbench.work import Work

ENDINGS = (".csv", ".parquet", ".pq")
MOST_FILES = 500
AS_PLANNED, PUBLIC, THESE = "plan", "public", "these"
WAYS = {
    AS_PLANNED: "To whom the plan says",
    THESE: "To these",
    PUBLIC: "To everybody",
}
ONLY, WRITE, MADE = "only", "write", "made"
RECORD = "record"
TOGETHER = {
    "does-not-compose",
    "composition",
}  # why something cannot be judged with what is published
LAST_RELEASE = "last release"  # left with the book by the page of a release
SHOWN_SECONDS = 600.0  # how long a page that is opened again shows what came of the last one


async def form(
    visit: Visit, plan: Plan, changed: Callable[[], Coroutine[Any, Any, None]]
) -> Form | None:
    """The form, and what came of it; None where the plan has nothing to record."""
    with (
        ui.element("section")
        .classes("card")
        .props('aria-label="Record a release" data-testid="record-form"')
    ):
        ui.html("Record a release", tag="h2", sanitize=False)
        if not plan.releases:
            ui.label(
                "The plan has no releases yet. Plan one first; then it can be recorded here."
            ).classes("muted")
            ui.link("Start", visit.link(""))
            return None
        ui.label(
            "Its checks are asked together with all that is published. If all hold it is "
            "recorded, and only then written."
        ).classes("muted")
        files = await asyncio.to_thread(files_of, visit, plan)
        return Form(visit, plan, files, changed)


def files_of(visit: Visit, plan: Plan) -> list[str]:
    """Files beside the plan that could be what goes out:
    CSV and Parquet, and not the owner's own. Blocks.
    """
    own = {path.resolve() for path in owners_files(plan)}
    reached = (
        path
        for path in walk(visit.book.folder)
        if path.suffix.lower() in ENDINGS and path.resolve().is_relative_to(visit.bench.folder)
    )
    found = (path for path in reached if path.resolve() not in own)
    names = sorted(path.relative_to(visit.book.folder).as_posix() for path in found)
    return names[:MOST_FILES]


def is_still_told(work: Work, first: str | None) -> bool:
    """Does a page that is opened tell what came of the last recording? It does for a while, and not
    beside another release that somebody is about to record.
    """
    if work.state != "done" or time.monotonic() - (work.ended or 0) >= SHOWN_SECONDS:
        return False
    return first is None or first in work.result.asked.releases


def begins_with(
    kept: dict[str, Any], plan: Plan, files: Collection[str]
) -> tuple[str | None, dict[str, str]]:
    """The release that is chosen when the page opens, and the file of it:
    what the page that led here left, once; else the release looked at last.
    """
    asked, last = kept.pop(TO_RECORD, None) or {}, kept.pop(LAST_RELEASE, None)
    name = next((one for one in (asked.get("release"), last) if one in plan.releases), None)
    file = next((one for one in files if one == asked.get("file")), None)
    return name, {name: file} if name is not None and file is not None and name == asked.get(
        "release"
    ) else {}


class Form:
    """What the owner says about a release that goes out."""

    def __init__(
        self,
        visit: Visit,
        plan: Plan,
        files: list[str],
        changed: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        from tacit.workbench.pages.ledger.page import owner_name

        self.visit, self.plan, self.files, self.changed = visit, plan, files, changed
        self.upload: str | None = None
        first, self.given = begins_with(visit.book.kept, plan, files)
        clients = sorted({client for one in plan.releases.values() for client in one.to})
        with ui.element("div").classes("grid-2"):
            with ui.element("div").classes("stack"):
                self.releases = (
                    ui.select(
                        list(plan.releases),
                        value=[first] if first else [],
                        label="Release",
                        multiple=True,
                        on_change=self._chosen,
                    )
                    .props(
                        'outlined dense use-chips options-dense hint="Several go out at once: they '
                        'are judged together"'
                    )
                    .mark("record-release")
                )
                ui.label("Who gets it?")
                self.who = ui.radio(WAYS, value=None, on_change=self._who_chosen).props(
                    'dense aria-label="Who gets it?"'
                )
                self.to = Names(
                    clients, "Recipients", "Choose them, or write a name and press Enter."
                )
                self.to.whole.set_visibility(False)
                self.planned = ui.label().classes("fine")
            with ui.element("div").classes("stack"):
                self.by = ui.input("By", value=owner_name(visit)).props("outlined dense")
                self.note = ui.textarea("Note (no personal values, please)").props(
                    "outlined dense autogrow maxlength=2000 rows=2"
                )
        self.file = ui.element("div").classes("stack")
        self.how: Any = None
        self.out_already = ui.checkbox(
            "It is published already: record it even if its checks do not hold. Nothing is "
            "written.",
            on_change=self._out_already_said,
        )
        with ui.element("div").classes("toolbar"):
            ui.button("Check and record", on_click=self._press).props(
                'unelevated data-testid="record"'
            )
        self.result = (
            ui.element("div").classes("stack").props('aria-live="polite" data-testid="recorded"')
        )
        self._chosen()
        ui.context.client.on_delete(self._forget_upload)
        before = visit.book.works.latest(RECORD)
        if before is not None and (not before.over or is_still_told(before, first)):
            self._follow(before, is_new=not before.over)

    def know(self, clients: Collection[str]) -> None:
        """Offer these recipients to choose from, too."""
        self.to.know(clients)

    # -- what is chosen ----------------------------------------------------------------------------

    def _chosen(self) -> None:
        self._ask_who()
        self._tell_planned()
        self._file_choice()

    def _ask_who(self) -> None:
        """Who gets it is asked, unless the plan names them: nothing goes to everybody because
        nobody was named.
        """
        names = self.releases.value or []
        planned = bool(names) and all(self.plan.releases[name].to for name in names)
        offer_first(self.who, offered=planned)
        if planned and self.who.value is None:
            self.who.set_value(AS_PLANNED)
        elif not planned and self.who.value == AS_PLANNED:
            self.who.set_value(None)

    def _who_chosen(self) -> None:
        self.to.whole.set_visibility(self.who.value == THESE)
        self._tell_planned()

    def _tell_planned(self) -> None:
        names = self.releases.value or []
        told = [
            f"{name} goes to {listed(to)}" for name in names if (to := self.plan.releases[name].to)
        ]
        self.planned.set_text(
            f"By the plan {'; '.join(told)}." if told and self.who.value == AS_PLANNED else ""
        )

    def _file_choice(self) -> None:
        """Which file goes out: what can be said depends on what the release is."""
        self.file.clear()
        self.how = None
        self._forget_upload()
        names = self.releases.value or []
        if len(names) != 1 or kind_of(self.plan.releases[names[0]]).answer == "none":
            return
        release = self.plan.releases[names[0]]
        drawn = kind_of(release).answer == "file"
        with self.file:
            ui.html("The file that goes out", tag="h3", sanitize=False)
            if drawn:
                ui.label(
                    "Synthetic data are drawn at random: only the file itself says what goes out."
                ).classes("muted")
            else:
                has_file = kind_of(release).is_file(release)  # made elsewhere, and there
                self.how = ui.radio(
                    self._ways(),
                    value=ONLY if has_file else MADE if names[0] in self.given else WRITE,
                    on_change=self._show_file,
                ).props('dense inline aria-label="The file that goes out"')
                self._out_already_said()
            self.fields = ui.element("div").classes("stack")
        self._show_file()

    def _ways(self) -> dict[str, str]:
        """What can be done about the file."""
        release = self.plan.releases[self.releases.value[0]]
        if kind_of(release).is_file(release):
            return {
                ONLY: f"{release.answer_file}, as the plan says",
                MADE: "Another file, made already",
            }
        return {
            WRITE: "Write it here, once it is recorded",
            ONLY: "Only record it",
            MADE: "It is made already",
        }

    def _out_already_said(self) -> None:
        """What is published is recorded only: nobody is given anything."""
        if self.how is not None and WRITE in self.how.options:
            offer_first(self.how, offered=not self.out_already.value)
            if self.out_already.value and self.how.value == WRITE:
                self.how.set_value(ONLY)

    def _show_file(self) -> None:
        self.fields.clear()
        name = self.releases.value[0]
        way = MADE if self.how is None else self.how.value
        with self.fields:
            if way == WRITE:
                file = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "release"
                self.output = (
                    ui.input("Write to", value=f"{file}.csv")
                    .props(
                        'outlined dense hint="A CSV file beside the plan; its rows in an order of '
                        'their own"'
                    )
                    .style("max-width: 24rem")
                )
            elif way == MADE:
                with ui.element("div").classes("row led-fields"):
                    last = self.given.get(name) or self.visit.book.kept.get("written", {}).get(
                        name
                    )  # by the page of repairs
                    self.answer = (
                        ui.select(
                            self.files,
                            value=last if last in self.files else None,
                            label="A file beside the plan",
                            with_input=True,
                            clearable=True,
                        )
                        .props("outlined dense options-dense")
                        .classes("grow")
                        .mark("record-answer")
                    )
                    # Quasar's own field for files has no names for screen readers;
                    # a plain button opens it.
                    sent = (
                        ui.upload(
                            auto_upload=True, on_upload=self._uploaded, on_rejected=self._rejected
                        )
                        .props('accept=".csv,.parquet,.pq"')
                        .classes("hidden")
                        .mark("record-upload")
                    )
                    ui.button("Or send one from this computer").props("outline").on(
                        "click", js_handler=f"() => getElement({sent.id}).$refs.qRef.pickFiles()"
                    )

    def _forget_upload(self) -> None:
        """Remove a file that was sent and is not going to be recorded."""
        if self.upload is not None:
            path, self.upload = self.visit.book.folder / self.upload, None
            with suppress(OSError):
                path.unlink()
                path.parent.rmdir()

    def _rejected(self) -> None:
        with self.fields:
            show_error(
                InputError(
                    "this file is not taken: it is too large, or neither CSV nor Parquet.",
                    hint="Put it beside the plan by other means, and choose it there.",
                )
            )

    async def _uploaded(self, event: Any) -> None:
        name = re.sub(r"[^\w.-]+", "-", Path(event.file.name).name).strip("-.")
        if not name.lower().endswith(ENDINGS):
            self._rejected()
            return
        self._forget_upload()
        folder = self.visit.book.folder / STATE / f"answer-{secrets.token_hex(8)}"
        try:
            await asyncio.to_thread(private, folder)
            await event.file.save(folder / name)
        except OSError as error:
            with self.fields:
                show_error(
                    InputError(
                        f"the file cannot be kept: {(error.strerror or str(error)).lower()}.",
                        hint="Is there room in the plan's folder?",
                    )
                )
            return
        self.upload = (folder / name).relative_to(self.visit.book.folder).as_posix()
        with self.fields:
            notice(
                f"{name} was received. It is compared and hashed, and then removed here.", "good"
            )

    # -- recording ---------------------------------------------------------------------------------

    def asked(self) -> Recording:
        """What is to be recorded; an InputError where something is missing."""
        names = tuple(self.releases.value or ())
        if not names:
            raise InputError("no release is chosen.", hint="Choose the release that goes out.")
        planned = all(self.plan.releases[name].to for name in names)
        if (
            self.who.value is None
            or (self.who.value == THESE and not self.to.value)
            or (self.who.value == AS_PLANNED and not planned)
        ):
            raise InputError(
                "it is not said who gets it.",
                hint="Choose or write the recipients, or say that it goes to everybody.",
            )
        to = (
            None
            if self.who.value == AS_PLANNED
            else ()
            if self.who.value == PUBLIC
            else tuple(one.strip() for one in self.to.value)
        )
        answer = output = None
        way = (
            self.how.value
            if self.how is not None
            else MADE
            if len(names) == 1 and kind_of(self.plan.releases[names[0]]).answer == "file"
            else ONLY
        )
        if way == MADE:
            answer = self.upload or self.answer.value
            if not answer:
                raise InputError(
                    "no file is chosen.", hint="Choose the file that goes out, or send it."
                )
        if way == WRITE and not self.out_already.value:
            output = new_within(self.visit, self.output.value)
        return Recording(
            names,
            to,
            (self.by.value or "").strip(),
            self.note.value or "",
            answer,
            output,
            bool(self.out_already.value),
            answer is not None and answer == self.upload,
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
        self.upload = None
        self._follow(
            book.works.start(
                RECORD,
                f"Checking {listed(asked.releases)}, to record it",
                tasks_ledger.record,
                book.path,
                book.reach,
                asked,
            ),
            is_new=True,
        )

    def _follow(self, work: Work, *, is_new: bool) -> None:
        def done(work: Work) -> None:
            if work.state == "done":
                self.result.clear()
                with self.result:
                    recorded(self.visit, work.result)
                if is_new and work.result.entries:
                    later(self.changed())

        self.result.clear()
        with self.result:
            show_work(work, done)


def offer_first(choice: ui.radio, *, offered: bool) -> None:
    """Offer the first way of a choice, or hide it.

    It keeps its place: a page sends the place of what was pressed, and where that moved meanwhile,
    "To these" would become "To everybody".
    """
    choice.classes(remove="without-first") if offered else choice.classes(add="without-first")


def private(folder: Path) -> None:
    """Make a folder, and the one above it where the workbench keeps
    its things, for this user only.
    """
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    (folder.parent / ".gitignore").write_text("*\n", "utf-8")
    folder.mkdir(mode=0o700)


def within(visit: Visit, name: str | None) -> str:
    """A file beside or below the plan, as seen from its folder."""
    text = (name or "").strip()
    if not text:
        raise InputError("the file has no name.", hint="Write a name that ends in .csv.")
    place = visit.bench.inside(visit.book.folder / text)
    if not place.is_relative_to(visit.book.folder.resolve()):
        raise InputError(
            f"{text} is not below the plan's folder.", hint="Write a name without slashes."
        )
    return place.relative_to(visit.book.folder.resolve()).as_posix()


def new_within(visit: Visit, name: str | None) -> str:
    """A file below the plan that is not there yet:
    what goes out never takes the place of something else.
    """
    found = within(visit, name)
    if (visit.book.folder / found).exists():
        raise InputError(
            f"{found} is there already.", hint="Choose another name, or delete the file first."
        )
    return found


# -- what came of it -------------------------------------------------------------------------------


def recorded(visit: Visit, found: RecordedNow) -> None:
    """Recorded, or refused and why."""
    if found.entries:
        status = "holds" if not found.wrong else "undecided"
        with ui.element("div").classes(f"card {status}").props('data-testid="was-recorded"'):
            with ui.element("div").classes("row"):
                badge(status, "recorded")
                ui.label(f"{listed(found.asked.releases)}: {found.because}.").style(
                    "font-weight: 600"
                )
            ui.label(f"Hash: {found.entries[-1].hash}").classes("mono fine")
            if found.asked.output:
                path = visit.book.folder / found.asked.output
                with ui.element("div").classes("toolbar"):
                    ui.label(
                        f"Written to {found.asked.output}. Give it to "
                        f"{listed(found.to) or 'everybody'}."
                    )
                    save_button(
                        visit,
                        f"Save {found.asked.output}",
                        Path(found.asked.output).name,
                        lambda: path,
                    )
            verdicts(found.verdicts)
        return
    with ui.element("div").classes("card breached").props('data-testid="was-refused"'):
        with ui.element("div").classes("row"):
            badge("breached", "refused")
            ui.label(f"{listed(found.asked.releases)}: {found.because}.").style("font-weight: 600")
        verdicts(found.wrong)
        ui.label(f"Next: {next_steps(found)}").classes("muted").props('data-testid="next-steps"')
        with ui.element("div").classes("toolbar"):
            for name in found.asked.releases:
                ui.link(f"Look at {name}", visit.link("release", name))
            for name in beside_copies(found):
                ui.link(
                    f"Look for levels of {name} beside what is published",
                    visit.link("repair", name),
                )


def beside_copies(found: RecordedNow) -> tuple[str, ...]:
    """The releases that another copy of their table is judged with: levels can be looked for."""
    kinds = kinds_of("microdata")
    wrong = [one for one in found.wrong if one.check in kinds and one.subject.get("given")]
    return tuple(dict.fromkeys(str(one.subject["release"]) for one in wrong))


def next_steps(found: RecordedNow) -> str:
    """What can be done after a refusal: only what can work."""
    codes = {one.reason.code for one in found.wrong if one.reason is not None}
    if "answer-changed" in codes:
        return (
            "a name stands for what went out under it, and that is not changed. If the new file "
            "corrects the old one, press its entry above and correct it. Else write it on the "
            "page Repair, under a name of its own."
        )
    undecided = all(one.status == "undecided" for one in found.wrong)
    apart = bool(codes) and codes <= TOGETHER and undecided
    what = (
        "give it only to those who have nothing of what could not be judged together with it"
        if apart
        else "look at the release and repair it, or give it to others only"
    )
    return (
        f"{what}. If it is published in any case, say so above and record it again, so that later "
        "checks know."
    )


def verdicts(some: tuple[Verdict, ...]) -> None:
    """Verdicts in a few lines each: what was asked, what was found, and for whom."""
    with ui.element("ul").classes("led-verdicts"):
        for one in some:
            with ui.element("li"), ui.element("div").classes("stack").style("gap: .2rem"):
                with ui.element("div").classes("row"):
                    badge(one.status)
                    ui.label(one.label).style("font-weight: 600")
                ui.label(f"{one.because[:1].upper()}{one.because[1:]}.")
                if one.reason is not None:
                    ui.label(one.reason.text).classes("muted")
                if one.story and one.status != "holds":
                    ui.label(one.story).classes("muted")
                    show_left(one)
                if one.against and one.status != "holds":
                    ui.label(f"Against {one.against}.").classes("fine")
