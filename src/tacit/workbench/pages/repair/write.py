"""Writing a repaired table to a file below the plan's folder, and what comes after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any

from nicegui import ui

from tacit.checking.holdings.ledgers import released_names
from tacit.errors import InputError, TacitError
from tacit.families.words import plural
from tacit.ledger.entries import check_name
from tacit.model.release import Microdata
from tacit.plan.edit.editing import Wish, edited
from tacit.plan.edit.wishes.check_wishes import AddCheck
from tacit.plan.edit.wishes.release_wishes import AddRelease, SetLevels
from tacit.plan.plan import Plan
from tacit.workbench.bench import Book, Visit
from tacit.workbench.pages.repair.repair_answers import heading, show_answers
from tacit.workbench.pages.repair.repair_work import follow, last_work, record_button
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.targets import refuse_owned, target
from tacit.workbench.tasks import generalize as tasks
from tacit.workbench.tasks.generalize import RepairText, Solved, Unsolved, WrittenRelease
from tacit.workbench.work import Work

FORMATS = {".csv": "CSV", ".parquet": "Parquet"}


def free_name(folder: Path, name: str, ending: str = ".csv") -> str:
    """A name for a file that is not there yet."""
    tries = [
        f"{name}{ending}",
        f"{name}-released{ending}",
        *(f"{name}-released-{number}{ending}" for number in range(2, 100)),
    ]
    return next((one for one in tries if not (folder / one).exists()), tries[-1])


def free_release(taken: Collection[str], name: str) -> str:
    """A name for what is written of a release that stands for nothing yet.

    >>> free_release({"april"}, "april"), free_release({"april", "april-written"}, "april")
    ('april-written', 'april-written-2')
    """
    first = f"{name}-written"
    others = (f"{first}-{number}" for number in count(2))
    return next(one for one in chain([first], others) if one not in taken)


def taken_names(plan: Plan) -> set[str]:
    """The names that releases of the plan or entries of the ledger have. Blocks."""
    return {*plan.releases, *released(plan)}


def refuse_released(plan: Plan, place: Path) -> None:
    """Raise an error where a file went out already: it stays what the ledger says of it."""
    out = released_names(plan)
    for one in plan.releases.values():
        if (
            one.answer_file
            and one.name in out
            and (plan.folder / one.answer_file).resolve() == place
        ):
            raise InputError(
                f"{one.answer_file} is recorded in the ledger as {one.name}.",
                hint="What went out stays as it is: choose another name for the new file.",
            )


class FileName:
    """The name of a file to write: its ending by a choice, and
    whether a file of that name may go.
    """

    def __init__(self, book: Book, name: str) -> None:
        self._book = book
        with ui.element("div").classes("row").style("align-items: flex-start"):
            self.name = ui.input(
                "File, below the folder of the plan",
                value=free_name(book.folder, safe(name)),
                on_change=self._looked_at,
            )
            self.name.props('outlined dense data-testid="file-name"').style(
                "min-width: min(100%, 22rem)"
            )
            self.kind = ui.radio(FORMATS, value=".csv", on_change=self._turned).props(
                'inline dense aria-label="Format of the file"'
            )
        self.may_replace = ui.checkbox("Replace the file that is there").props(
            'dense data-testid="replace"'
        )
        self._looked_at()

    def follow(self, before: str, now: str) -> None:
        """Call the file after the release, as long as nobody has called it otherwise."""
        if self.name.value == free_name(self._book.folder, safe(before), self.kind.value):
            self.name.set_value(free_name(self._book.folder, safe(now), self.kind.value))

    def _turned(self) -> None:
        stem, dot, ending = self.name.value.rpartition(".")
        self.name.set_value(
            (stem if dot and f".{ending.lower()}" in FORMATS else self.name.value) + self.kind.value
        )

    def _looked_at(self) -> None:
        text = (self.name.value or "").strip()
        self.may_replace.set_visibility(bool(text) and is_file(self._book.folder, text))

    def checked(self) -> tuple[str, bool]:
        """The name, and whether a file of that name may be replaced;
        a TacitError where nothing can be written there.
        """
        replaces = bool(self.may_replace.value) and self.may_replace.visible
        place = target(self._book.folder, self.name.value or "", replace_file=replaces)
        plan = self._book.plan()
        refuse_owned(plan, place)
        refuse_released(plan, place)
        return self.name.value.strip(), replaces

    def button(self, label: str, mark: str, go: Callable[[str, bool], None]) -> None:
        """A button that goes on with the name, and whether it replaces a file;
        or says above it why nothing can be written there.
        """
        problem = ui.element("div")

        def pressed() -> None:
            problem.clear()
            try:
                name, replaces = self.checked()
            except TacitError as error:
                with problem:
                    show_error(error)
                return
            go(name, replaces)

        ui.button(label, on_click=pressed).props(
            f'unelevated no-caps data-testid="{aria(mark)}"'
        ).style("align-self: flex-start")


def is_file(folder: Path, name: str) -> bool:
    """Is there such a file below the folder? Nothing is told of other places."""
    try:
        place = (folder / name).resolve()
        return place.is_relative_to(folder.resolve()) and place.is_file()
    except (OSError, ValueError):
        return False


def safe(name: str) -> str:
    """A release's name as the name of a file.

    >>> safe("april"), safe("north/east: 1")
    ('april', 'north-east-1')
    """
    return (
        "-".join(
            part
            for part in "".join(
                letter if letter.isalnum() or letter in "-_" else " " for letter in name
            ).split()
        )
        or "release"
    )


class WritePage:
    """Where a release is written, how far that is, and what to do with the file."""

    def __init__(self, visit: Visit, plan: Plan, release: Microdata) -> None:
        self.visit, self.plan, self.release, self.name = visit, plan, release, release.name
        self.form = ui.element("div").classes("stack")
        self.done = ui.element("div").classes("stack")

    def close(self) -> None:
        """Offer nothing."""
        self.form.clear()

    def resume(self) -> None:
        """Show what was written last, or is being written."""
        if (work := last_work(self.visit.book.works, "repair-write", self.name)) is not None:
            self._follow(work)

    def offer(self, found: Solved, levels: Mapping[str, int] | None, told: RepairText) -> None:
        """Offer to write a release."""
        self.form.clear()
        if found.digest != self.visit.book.digest():
            with self.form:
                notice(
                    "The plan has changed since this search. Search again to write one of its "
                    "solutions.",
                    "warn",
                )
            return
        with self.form, ui.element("section").classes("card").props('aria-label="Write it"'):
            heading("Write it", "h2")
            ui.label(
                "The checks are asked once more of exactly what is written, and the file is read "
                "back. If anything differs, there is no file."
            ).classes("muted")
            called = ui.input(
                "Name of the new release", value=free_release(self._names_in_use(), self.name)
            ).props('outlined dense data-testid="release-name"')
            called.style("max-width: 22rem")
            file = FileName(self.visit.book, called.value)
            called.on_value_change(
                lambda event: file.follow(event.previous_value or "", event.value or "")
            )
            insists = ui.checkbox(
                "Write it all the same: a check cannot judge it together with what is published."
            ).props('dense data-testid="unjudged"')
            insists.set_visibility(any(one.status == "undecided" for one in told.answers))

            said = ui.element("div")

            def write(name: str, replaces: bool) -> None:
                book = self.visit.book
                own = (called.value or "").strip()
                if problem := wrong_name(own, self._names_in_use()):
                    said.clear()
                    with said:
                        show_error(problem)
                    return
                said.clear()
                work = book.works.start(
                    "repair-write",
                    f"Writing {name}",
                    tasks.write,
                    str(book.path),
                    str(book.reach),
                    self.name,
                    found.wanted,
                    levels,
                    name,
                    replaces,
                    book.digest(),
                    bool(insists.value),
                    own,
                    key=self.name,
                )
                self._follow(work)

            file.button("Write it", "write", write)

    def _names_in_use(self) -> set[str]:
        try:
            return taken_names(self.visit.book.plan())
        except TacitError:  # somebody has just made it wrong: what it said before
            return taken_names(self.plan)

    def _follow(self, work: Work) -> None:
        follow(work, self.done, self._ended, "Press Write it to begin again.")

    def _ended(self, found: WrittenRelease | Unsolved) -> None:
        self._unwritten(found) if isinstance(found, Unsolved) else self._written(found)

    def _unwritten(self, found: Unsolved) -> None:
        with ui.element("section").classes("card breached"):
            heading("Nothing was written", "h2")
            ui.label(f"{found.because[:1].upper()}{found.because[1:]}.")
            show_answers(found.answers)

    def _written(self, found: WrittenRelease) -> None:
        book = self.visit.book
        place = book.folder / found.output
        book.kept.setdefault("written", {})[self.name] = found.output
        undecided = any(one.status == "undecided" for one in found.told.answers)
        with (
            ui.element("section")
            .classes("card undecided" if undecided else "card holds")
            .props('data-testid="written"')
        ):
            heading(f"Written: {found.output}", "h2")
            if undecided:
                notice(
                    "You insisted: what it tells together with what is published is not known.",
                    "warn",
                )
            gone = f"; {plural('row', found.suppressed)} dropped" if found.suppressed else ""
            ui.label(
                f"{plural('row', found.released)} in random order{gone}, with "
                f"{', '.join(found.columns)}."
            )
            if found.not_written:
                ui.label(f"Not in it: {found.not_written}.").classes("muted")
            with ui.element("div").classes("toolbar"):
                save_button(self.visit, "Download the file", place.name, lambda: place).props(
                    'outline data-testid="download"'
                )
                save_button(
                    self.visit,
                    "Save the report (HTML)",
                    f"{safe(self.name)}-repair.html",
                    lambda: found.html,
                ).props('outline data-testid="report"')
            heading("Next", "h3")
            self.next = ui.element("div").classes("stack")
            said = ui.element("div").classes("stack")
            self._next(found, said)

    def _next(self, found: WrittenRelease, said: ui.element) -> None:
        """What to do with the file, by what the plan says of it now."""
        releases = releases_now(self.visit.book)
        ready = in_plan(releases, self.name, found)
        is_out = ready is not None and ready in released(self.plan)
        self.next.clear()
        with self.next:
            ui.label(next_words(ready, is_out=is_out)).classes("muted").props('data-testid="next"')
            with ui.element("div").classes("toolbar"):
                levels_say_it = found.told.levels is not None and not found.suppressed
                if ready is None and levels_say_it and self.name not in released(self.plan):
                    ui.button(
                        "Put these levels into the plan",
                        on_click=lambda: self._into_plan(found, said),
                    ).props('outline no-caps data-testid="into-plan"')
                if ready is None or releases[ready].file is None:
                    ui.button(
                        "Add the file to the plan, with the same checks",
                        on_click=lambda: self._as_release(found, said),
                    ).props(
                        f"{'unelevated' if ready is None else 'outline'} no-caps "
                        'data-testid="as-release"'
                    )
                if ready is not None:
                    if is_out:
                        ui.link("The ledger", self.visit.link("ledger"))
                    else:
                        record_button(self.visit, lambda: (ready, found.output))
                    ui.link("Check it on the page Overview", self.visit.link("overview"))
            if found.suppressed and ready is None:
                ui.label(
                    "Levels alone do not say which rows were dropped, so they are not put into the "
                    "plan: add the file itself."
                ).classes("fine")

    async def _into_plan(self, found: WrittenRelease, said: ui.element) -> None:
        words = f"The plan now releases {self.name} at these levels. Check it on the page Overview."
        if await change_plan(self.visit.book, [SetLevels(self.name, raised(found))], said, words):
            self._next(found, said)

    async def _as_release(self, found: WrittenRelease, said: ui.element) -> None:
        taken = self._names_in_use()  # somebody may have used the name since it was written
        wanted = found.called and found.called not in taken
        name = found.called if wanted else free_release(taken, self.name)
        own = [check for check in self.plan.checks if self.name in check.releases]
        wishes: list[Wish] = [
            AddRelease(name, {"table": found.table, "file": found.output}),
            *(AddCheck(check.kind, about(check, name, self.name)) for check in own),
        ]
        if await change_plan(
            self.visit.book,
            wishes,
            said,
            f"The plan has the file as release {name}, with the checks of {self.name}. Check it on "
            "the page Overview.",
        ):
            self._next(found, said)


def releases_now(book: Book) -> dict[str, Microdata]:
    """The tables that the plan releases now; none where it cannot be read."""
    try:
        return book.plan().of(Microdata)
    except TacitError:
        return {}


def released(plan: Plan) -> set[str]:
    """The names that the ledger has; none where it cannot be read."""
    try:
        return released_names(plan)
    except TacitError:
        return set()


def wrong_name(name: str, taken: Collection[str]) -> InputError | None:
    """Why a release cannot have a name; None where it can."""
    if not name:
        return InputError("the new release has no name.", hint="Write one, such as june.")
    try:
        check_name("release", name)
    except InputError as error:
        return error
    if name in taken:
        return InputError(
            f"there is a release {name} already, in the plan or in the ledger.",
            hint="What went out stays as it is: write another name.",
        )
    return None


def in_plan(releases: Mapping[str, Microdata], name: str, found: WrittenRelease) -> str | None:
    """The release of the plan that a written file is:
    one that names it, or else the one at whose levels it was written.
    """
    by_file = next((one.name for one in releases.values() if one.file == found.output), None)
    own = releases.get(name)
    levels = (
        None
        if own is None or own.file is not None
        else {column: level for column, level in own.generalization.items() if level}
    )
    is_own = found.told.levels is not None and not found.suppressed and levels == raised(found)
    return by_file or (name if is_own else None)


def raised(found: WrittenRelease) -> dict[str, int]:
    """The levels of a file that was written, of the columns that are coarser in it."""
    return {column: level for column, level in (found.told.levels or {}).items() if level}


def next_words(ready: str | None, *, is_out: bool = False) -> str:
    """What to do with a file, by the release of the plan that it is.

    >>> next_words("april")
    'It is release april of the plan. Record it in the ledger when it goes out.'
    >>> next_words("april", is_out=True)
    'It is release april of the plan, and recorded in the ledger.'
    """
    if ready is not None and is_out:
        return f"It is release {ready} of the plan, and recorded in the ledger."
    if ready is None:
        return (
            "The ledger records what the plan says: first put the levels, or the file, into "
            "the plan."
        )
    return f"It is release {ready} of the plan. Record it in the ledger when it goes out."


def about(check: Any, release: str, before: str) -> dict[str, Any]:
    """The parameters of the same check about another release in place of the one `before`.

    >>> from tacit.plan.plan import Check
    >>> about(Check("k-sind", {"k": 2}, releases=("copy", "insurer")), "copy-written", "copy")
    {'releases': ['copy-written', 'insurer'], 'k': 2}
    """
    several = [release if name == before else name for name in check.releases]
    judged: dict[str, Any] = {"releases": several} if len(several) > 1 else {"release": release}
    return {
        **judged,
        **check.parameters,
        **({"sensitive": check.sensitive} if check.sensitive else {}),
    }


async def change_plan(book: Book, wishes: list[Wish], said: ui.element, words: str) -> bool:
    """Change the plan's text, and say so; or why it cannot be changed. Was it changed?"""

    def changed() -> None:
        was = book.text()
        book.save(edited(was, *wishes, file=book.path.name, folder=book.folder), was=was)

    try:
        await asyncio.to_thread(changed)
    except TacitError as error:
        said.clear()
        with said:
            show_error(error)
        return False
    said.clear()
    with said:
        notice(words, "good")
    return True
