"""A release: the verdict in one sentence, what can be done, and the evidence by kind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from nicegui import ui

from tacit.errors import InputError, TacitError, did_you_mean
from tacit.families.catalog import FAMILIES, FAMILY_OF
from tacit.families.family import families, kind_of
from tacit.families.words import listed
from tacit.model.release import Release
from tacit.model.verdict import Audience
from tacit.plan.plan import Plan
from tacit.report.query_evidence import value_words
from tacit.workbench.bench import Visit
from tacit.workbench.check_states import (
    CheckState,
    State,
    adopt,
    answers,
    checking,
    sections_of,
    start,
    state_of,
    unwatched,
)
from tacit.workbench.pages.overview.page import (
    WORDS,
    ReleaseHistory,
    answer_line,
    can_be_repaired,
    check_text,
    decided_then,
    given_of,
    in_short,
    planned_for,
    then_words,
    time_text,
    what_it_is,
)
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.cards import file_name, show_card, show_pictures
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.save_button import save, save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks.check import report
from tacit.workbench.work import Work

REPORT = "report"
SILENT = (
    "Do not announce that you withheld this: the refusal depends on the rows, and would "
    "itself tell something about them."
)


@cache
def evidence(family: str) -> Any:
    """The module beside this one that shows the evidence of a kind of release; None where it has
    no more to show than cards.

    It has `show(visit, name, section)`, and says whether it shows the cards of its verdicts itself
    (HAS_CARDS), and whether it has something to show where nothing was checked (IS_ALWAYS_SHOWN).
    """
    name = f"{__package__}.{family}"
    return import_module(name) if find_spec(name) is not None else None


async def show(visit: Visit, name: str) -> None:
    """The page of one release."""
    visit.book.kept["last release"] = name  # the ledger page begins with it
    await adopt(visit.book)
    ui.link("Overview", visit.link("overview")).classes("fine")
    ui.html(escape(name), tag="h1", sanitize=False)
    try:
        plan = await asyncio.to_thread(visit.book.plan)
    except TacitError as error:
        show_error(error)
        ui.link("Correct it on the page Start", visit.link(""))
        return
    if name not in plan.releases:
        raise InputError(
            f"the plan has no release {name!r}.", hint=did_you_mean(name, list(plan.releases))
        )
    await Page(visit, plan, plan.releases[name]).show()


class Page:
    """The page of a release. It is built again when verdicts come in."""

    def __init__(self, visit: Visit, plan: Plan, release: Release) -> None:
        self.visit, self.plan, self.release, self.name = visit, plan, release, release.name

    async def show(self) -> None:
        """Everything."""
        self._head = ui.element("section").classes("stack").props('aria-label="Verdict"')
        self._working = ui.element("div").classes("stack")
        self._body = ui.element("div").classes("stack").style("gap: 1.25rem")
        for work in checking(self.visit.book):
            if not work.key or self.name in work.key.split(", "):
                self._follow(work)
        for audience in ("owner", "shared"):
            made = self.visit.book.works.latest(REPORT, f"{self.name} {audience}")
            if made is not None and (not made.over or made.state == "done"):
                self._follow_report(made, audience, at_once=False)
        await self._build()

    async def _build(self) -> None:
        book = self.visit.book
        found, checked = await asyncio.to_thread(
            lambda: (answers(self.plan, book.checked), book.checked)
        )
        mine = [one for one in found if self.name in one.check.releases]
        given = await asyncio.to_thread(self._history)
        self._head.clear()
        with self._head:
            self._verdict(mine, given)
            self._buttons(mine, given)
        self._body.clear()
        with self._body:
            await self._evidence(sections_of(checked, self.name))

    # -- the head ----------------------------------------------------------------------------------

    def _history(self) -> ReleaseHistory | None:
        """What the ledger says of it; nothing where it cannot be read. Blocks."""
        try:
            return given_of(self.plan).get(self.name)
        except TacitError:
            return None

    def _verdict(self, found: Sequence[CheckState], given: ReleaseHistory | None) -> None:
        """What it is, for whom, what somebody learns about a person, and the verdict."""
        state = state_of(found)
        ui.label(
            f"{what_it_is(self.release, self.plan)} · "
            f"{given.words if given else planned_for(self.release)}"
        ).classes("muted")
        with ui.element("div").classes(f"card verdict {state}"):
            if story := story_of(found):
                ui.label(story).classes("story").props('data-testid="story"')
            with ui.element("div").classes("row"):
                if given and state in ("unchecked", "stale"):
                    badge(given.status, then_words(given))
                    said = now_words(state)
                else:
                    badge(state, WORDS.get(state, ""))
                    said = sentence(found)
                ui.html(escape(said), tag="h2", sanitize=False).props('data-testid="verdict"')
            with ui.element("ul").classes("checks"):
                known = {self.name: given} if given else {}
                for one in found:
                    answer_line(one, self.name, decided_then(one, known))
            if not found:
                ui.link("Add a check on the page Start", self.visit.link("")).mark("add-check")
            if times := sorted({one.when for one in found if one.when}):
                ui.label(f"Checked {time_text(times[0])}. {unwatched(self.plan)}".strip()).classes(
                    "fine"
                )

    def _buttons(self, found: Sequence[CheckState], given: ReleaseHistory | None) -> None:
        """What can be done; the step that is due is the one that stands out."""
        state = state_of(found)
        repairable = can_be_repaired(self.plan, self.release, state)
        due = next_step(state, repairable, recorded=given is not None)
        with ui.element("div").classes("toolbar actions-bar"):
            if repairable:
                ui.link("Repair it", self.visit.link("repair", self.name)).classes(
                    "go" if due == "repair" else ""
                ).mark("repair")
            whom = "Record it for others, too" if given else "Record it in the ledger"
            ui.link(whom, self.visit.link("ledger")).classes("go" if due == "record" else "").mark(
                "record"
            )
            if found:
                ui.button("Check", on_click=self._start).props(
                    f"{'unelevated' if due == 'check' else 'outline'} no-caps"
                ).mark("check")
                ui.button("Report for you", on_click=lambda: self._report("owner")).props(
                    "outline no-caps"
                ).mark("report-owner")
                ui.button("Report to share", on_click=lambda: self._report("shared")).props(
                    "outline no-caps"
                ).mark("report-shared")

    # -- the evidence ------------------------------------------------------------------------------

    async def _evidence(self, sections: Sequence[Mapping[str, Any]]) -> None:
        """Section by section: the cards, then what the kinds of its checks have to show."""
        for section in sections:
            if len(sections) > 1 or len(section["releases"]) > 1:
                ui.html(escape(section["name"]), tag="h2", sanitize=False)
            if section["silent"]:
                notice(SILENT, "warn")
            figures(section["figures"])
            self._cards(section)
            await self._by_kind(section)
        # a release that no check was asked about has its own kind's evidence all the same
        own = next(one for one in families() if kind_of(self.release) in one.releases)
        shown = {FAMILY_OF[kind] for section in sections for kind in section["kinds"]}
        if own.name not in shown and (module := evidence(own.name)) and module.IS_ALWAYS_SHOWN:
            await self._module(own.name, {})

    def _cards(self, section: Mapping[str, Any]) -> None:
        """The cards of those verdicts that no module shows by itself."""
        for key, card in zip(section["keys"], section["cards"], strict=True):
            module = evidence(FAMILY_OF[key.split(" | ")[0]])
            if module is None or not module.HAS_CARDS:
                show_pictures(
                    self.visit,
                    show_card(self.visit, card, f"{self.name} {key.split(' | ')[0]}"),
                    self.name,
                )

    async def _by_kind(self, section: Mapping[str, Any]) -> None:
        """What every module has to show; the pictures of a section are shown once."""
        asked = {FAMILY_OF[kind] for kind in section["kinds"]}
        for name in (one for one in FAMILIES if one in asked):
            if evidence(name) is not None:
                await self._module(name, section)
                section = {**section, "charts": []}

    async def _module(self, name: str, section: Mapping[str, Any]) -> None:
        module = evidence(name)
        assert module is not None
        try:
            await module.show(self.visit, self.name, section)
        except TacitError as error:
            show_error(error)

    # -- work --------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._working.clear()
        self._follow(start(self.visit.book, (self.name,)))

    def _follow(self, work: Work) -> None:
        async def ended(work: Work) -> None:
            await adopt(self.visit.book)
            if work.state == "done":
                shown.delete()
                await self._build()

        with self._working:
            shown = show_work(work, ended)

    def _report(self, audience: Audience) -> None:
        book = self.visit.book
        title = (
            f"Report on {self.name}, {'with' if audience == 'owner' else 'without'} personal values"
        )
        work = book.works.start(
            REPORT,
            title,
            report,
            str(book.path),
            str(book.reach),
            (self.name,),
            audience,
            key=f"{self.name} {audience}",
        )
        self._follow_report(work, audience, at_once=True)

    def _follow_report(self, work: Work, audience: str, *, at_once: bool) -> None:
        """Follow the making of a report; where this page asked for it, it is saved at once, else
        there is a button.
        """
        file = f"{file_name(self.name)}-{audience}.html"

        def ended(work: Work) -> None:
            if work.state == "done":
                with shown:
                    save_button(self.visit, "Save the report", file, lambda: work.result).mark(
                        f"save-report-{audience}"
                    )
                if at_once:
                    save(self.visit, file, work.result)

        with self._working:
            shown = show_work(work, ended)


def next_step(
    state: State, is_repairable: bool, *, recorded: bool
) -> Literal["check", "repair", "record", ""]:
    """What to do next with a release.

    >>> next_step("breached", True, recorded=False), next_step("holds", True, recorded=False)
    ('repair', 'record')
    """
    if state in ("unchecked", "stale"):
        return "check"
    if state == "holds":
        return "" if recorded else "record"
    return "repair" if is_repairable and state != "none" else ""


def story_of(found: Sequence[CheckState]) -> str:
    """What somebody learns about a person, by the first check that is breached."""
    stories = (
        story_in(one.verdict["because"])
        for one in found
        if one.state == "breached" and one.verdict is not None
    )
    return next(filter(None, stories), "")


def story_in(because: str) -> str:
    """What follows the reason of a verdict: what it means for a person, or for some row.

    >>> story_in("a group of 1 person, 4 required. Anyone who knows that Bruce is 31 ...")
    'Anyone who knows that Bruce is 31 ...'
    >>> story_in("a row matters. The row stays('_fresh1', 'cancer') changes the answer ...")
    "The row stays(value 1, 'cancer') changes the answer ..."
    """
    return value_words(because.partition(". ")[2])


def sentence(found: Sequence[CheckState]) -> str:
    """The verdict on a release in one sentence."""
    state = state_of(found)
    those = [one for one in found if one.state == state]
    if state == "none":
        return "Nothing is asked about this release."
    if state == "unchecked":
        return "Not everything was checked yet: press Check."
    if state == "stale":
        return "The plan or the data changed since this was checked: press Check."
    first = check_text(those[0].check)
    if state == "holds":
        return (
            f"It meets the checks of this plan: {listed([check_text(one.check) for one in those])} "
            f"{'hold' if len(those) > 1 else 'holds'}."
        )
    because = in_short(those[0].verdict["because"]) if those[0].verdict is not None else ""
    which = (
        f"{first} is {state}"
        if len(those) == 1
        else f"{len(those)} of {len(found)} checks are {state}, such as {first}"
    )
    return (
        f"{'Not ready to release' if state == 'breached' else 'Not decided'}: {which}: {because}."
    )


def now_words(state: State) -> str:
    """What is known of a release that went out since: its verdicts then are not those of today.

    >>> now_words("unchecked")
    'It is published. Press Check to ask the same of the data of today.'
    """
    moved = " The plan or the data changed since it was checked." if state == "stale" else ""
    return f"It is published.{moved} Press Check to ask the same of the data of today."


def figures(numbers: Sequence[Sequence[str]]) -> None:
    """A release in a few numbers."""
    if numbers:
        with ui.element("dl").classes("figures-row"):
            for number, meaning in numbers:
                with ui.element("div"):
                    ui.html(escape(meaning), tag="dt", sanitize=False)
                    ui.html(escape(number), tag="dd", sanitize=False)
