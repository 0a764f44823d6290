"""Overview: tables, secrets, releases and their verdicts on one board, what changed since the
last check, and a button to check.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from nicegui import ui

from tacit.checking.holdings.ledgers import is_begun, ledger_of
from tacit.checking.holdings.shares import worst
from tacit.errors import TacitError
from tacit.families.catalog import define
from tacit.families.family import kind_of
from tacit.families.overlaps.runs.restore import KIND as RESTORABLE
from tacit.families.words import listed, plural
from tacit.ledger.paging import those
from tacit.model.release import Microdata
from tacit.report.query_evidence import value_words
from tacit.report.terminal.ledger import when as time_words
from tacit.workbench.bench import Visit
from tacit.workbench.check_states import (
    CheckState,
    State,
    VerdictChange,
    adopt,
    answers,
    changes,
    checking,
    start,
    state_of,
    unwatched,
)
from tacit.workbench.parts.badges import WORDS as STATES
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.work_progress import show_work

if TYPE_CHECKING:
    from tacit.families.microdata.reading.source import MicrodataSource
    from tacit.ledger.entries import LedgerVerdict
    from tacit.model.release import Release
    from tacit.model.schema import Table
    from tacit.plan.plan import Check, Plan
    from tacit.workbench.work import Work

TILES: dict[State, str] = {
    "breached": "breached",
    "undecided": "undecided",
    "unchecked": "not yet checked",
    "holds": "hold",
}
WORDS: dict[State, str] = {"none": "no checks", "stale": "checked before the last change"}
SIGNS = {
    "worse": "▼",
    "better": "▲",
    "new": "+",
    "gone": "−",
    "asked differently": "≠",
    "changed": "=",
}
# Who has the other releases: the ledger says it.
HOLDERS = re.compile(r" \((?:[^()]|\([^()]*\))* already\)$")
COLUMNS = ("release", "check", "state", "what was found", "checked")
SHORT = 160
NAMED = 3  # releases that the headline names; more are counted
MEET = ("meets its checks", "meet their checks")
MET = ("met its checks when it went out", "met their checks when they went out")


async def show(visit: Visit) -> None:
    """The board, or what is wrong with the plan."""
    await adopt(visit.book)
    ui.html("Overview", tag="h1", sanitize=False)
    if not visit.book.exists:
        notice(
            "There is no plan yet. A plan says which tables you have, what is sensitive in them, "
            "and what you want to release."
        )
        ui.link("Begin on the page Start", visit.link(""))
        return
    try:
        plan = await asyncio.to_thread(visit.book.plan)
    except TacitError as error:
        show_error(error)
        ui.link("Correct it on the page Start", visit.link("")).mark("correct")
        return
    await Board(visit, plan).show()


class Board:
    """The board of one plan. It is built again when verdicts come in."""

    def __init__(self, visit: Visit, plan: Plan) -> None:
        self.visit, self.plan = visit, plan
        self._rows: dict[
            str, str
        ] = {}  # what is told of tables and releases as soon as it was looked up
        self._given: dict[str, ReleaseHistory] = {}
        self._labels: dict[tuple[str, str], ui.label] = {}

    async def show(self) -> None:
        """Everything; how many rows tables have comes a moment later."""
        self._working = ui.element("div").classes("stack")
        try:
            self._given = await asyncio.to_thread(given_of, self.plan)
        except TacitError as error:
            with self._working:
                show_error(error)
        self._body = ui.element("div").classes("stack board").props('data-testid="board"')
        for work in checking(self.visit.book):
            self._follow(work)
        newest = next((one for one in self.visit.book.works.all() if one.kind == "check"), None)
        if newest is not None and newest.state == "failed" and newest.error is not None:
            with self._working:
                show_error(newest.error)
        await self._build()
        ui.timer(0.05, self._look_up, once=True)

    async def _build(self) -> None:
        """The board from what is known now."""
        book = self.visit.book
        found, checked, before = await asyncio.to_thread(
            lambda: (answers(self.plan, book.checked), book.checked, book.before)
        )
        self._body.clear()
        with self._body:
            self._summary(found, checked)
            if moved := changes(checked, before):
                show_changes(moved)
            self._releases(found)
            with ui.element("div").classes("grid-2"):
                self._tables()
                self._secrets()

    def _summary(self, found: Sequence[CheckState], checked: Mapping[str, Any] | None) -> None:
        """How many checks are what, when that was found, and the button."""
        counted: Counter[str] = Counter(
            decided_then(one, self._given) or ("unchecked" if one.state == "stale" else one.state)
            for one in found
        )
        with ui.element("section").classes("card").props('aria-label="All checks"'):
            with ui.element("div").classes("row between"):
                with ui.element("div").classes("stack").style("gap: .2rem; width: auto"):
                    ui.html(
                        escape(sentence(self.plan, found, self._given)), tag="h2", sanitize=False
                    ).props('data-testid="conclusion"')
                    if checked is not None:
                        ui.label(
                            (
                                f"Last check: {time_text(checked['when'])}, in "
                                f"{checked['seconds']:.1f} s. {unwatched(self.plan)}"
                            ).strip()
                        ).classes("fine")
                if self.plan.checks:
                    due = counted["unchecked"] or not counted["breached"]
                    ui.button("Check everything", on_click=lambda: self._start()).props(
                        f"{'unelevated' if due else 'outline'} no-caps"
                    ).mark("check-all")
            if found:
                ui.label("Checks").classes("fine tiles-caption")
                with ui.element("dl").classes("tiles").props('aria-label="Checks"'):
                    for state, word in TILES.items():
                        with ui.element("div").classes(
                            f"tile {state}{'' if counted[state] else ' zero'}"
                        ):
                            ui.html(word, tag="dt", sanitize=False)
                            ui.html(f"{counted[state]:,}", tag="dd", sanitize=False).props(
                                f'data-testid="count-{state}"'
                            )
            else:
                ui.label(
                    "The plan asks nothing yet: add checks, and this page says whether they hold."
                ).classes("muted")
                ui.link("Add checks on the page Start", self.visit.link(""))

    def _releases(self, found: Sequence[CheckState]) -> None:
        """Every release in a row: what it is, what was found, what can be done."""
        with ui.element("div").classes("row between"):
            ui.html("Releases", tag="h2", sanitize=False)
            if self.plan.releases:
                save_button(
                    self.visit,
                    "Save the board (CSV)",
                    "overview.csv",
                    lambda: board_csv(self.plan, found),
                ).mark("save-board")
        if not self.plan.releases:
            ui.label("The plan has no releases yet.").classes("muted")
        with ui.element("ul").classes("releases"):
            for release in self.plan.releases.values():
                self._release(release, [one for one in found if release.name in one.check.releases])

    def _release(self, release: Release, found: Sequence[CheckState]) -> None:
        state, name = state_of(found), release.name
        given = self._given.get(name)
        row = ui.element("li").classes(f"card {state}").props(f'data-testid="release-{aria(name)}"')
        with row, ui.element("div").classes("release-row"):
            with ui.element("div").classes("stack").style("gap: .25rem"):
                with ui.element("div").classes("row"):
                    ui.link(name, self.visit.link("release", name)).classes("release-name")
                    if given and state in ("unchecked", "stale"):
                        badge(given.status, then_words(given))
                    else:
                        badge(state, WORDS.get(state, ""))
                ui.label(what_it_is(release, self.plan)).classes("fine")
                ui.label(given.words if given else planned_for(release)).classes("fine").props(
                    f'data-testid="given-{aria(name)}"'
                )
                if name in self.plan.published:
                    ui.label("Published already, by the plan").classes("fine")
            with ui.element("ul").classes("checks"):
                for one in found:
                    answer_line(one, name, decided_then(one, self._given))
                if not found:
                    with ui.element("li"):
                        ui.label("Nothing is asked about it.").classes("muted")
                        ui.link("Add a check on the page Start", self.visit.link("")).props(
                            f'aria-label="Add a check on the page Start: {aria(name)}"'
                        )
            self._actions(release, bool(found), state)

    def _actions(self, release: Release, asked: bool, state: State) -> None:
        """What can be done; the repair of what is breached stands out."""
        name = release.name
        with ui.element("div").classes("actions"):
            if asked:
                ui.button("Check", on_click=lambda: self._start(name)).props(
                    f'outline dense no-caps aria-label="Check {aria(name)}"'
                ).mark(f"check-{name}")
            ui.link("Open", self.visit.link("release", name)).props(
                f'aria-label="Open {aria(name)}"'
            )
            if can_be_repaired(self.plan, release, state):
                ui.link("Repair", self.visit.link("repair", name)).props(
                    f'aria-label="Repair {aria(name)}"'
                ).classes("go" if state == "breached" else "")

    def _tables(self) -> None:
        with ui.element("section").classes("stack").props('aria-label="Tables"'):
            ui.html("Tables", tag="h2", sanitize=False)
            for table in self.plan.tables.values():
                self._table(table)
            if not self.plan.tables:
                ui.label("The plan has no tables yet.").classes("muted")

    def _table(self, table: Table) -> None:
        with ui.element("div").classes("card").props(f'data-testid="table-{aria(table.name)}"'):
            with ui.element("div").classes("row between"):
                ui.html(escape(table.name), tag="h3", sanitize=False)
                self._room("table", table.name, self._rows)
            with ui.element("dl").classes("roles"):
                for role, columns in roles(table).items():
                    ui.html(role, tag="dt", sanitize=False)
                    ui.html(escape(", ".join(columns)), tag="dd", sanitize=False)

    def _secrets(self) -> None:
        with ui.element("section").classes("stack").props('aria-label="Secrets"'):
            ui.html("Secrets", tag="h2", sanitize=False)
            sensitive = {
                name: table.sensitive for name, table in self.plan.tables.items() if table.sensitive
            }
            with ui.element("div").classes("card"):
                for table, columns in sensitive.items():
                    ui.label(f"Who in {table} has which {listed(columns, 'or')}")
                for name, query in self.plan.secrets.items():
                    with ui.element("div"):
                        ui.label(name).style("font-weight: 600")
                        ui.label(query.strip()).classes("mono codeline").props(
                            f'tabindex="0" role="group" aria-label="Query of {aria(name)}"'
                        )
                if not sensitive and not self.plan.secrets:
                    ui.label(
                        "The plan has no secrets yet: no sensitive column, no secret query."
                    ).classes("muted")

    # -- work --------------------------------------------------------------------------------------

    def _start(self, *only: str) -> None:
        self._working.clear()
        work = start(self.visit.book, only)
        for one in {id(one): one for one in (*checking(self.visit.book), work)}.values():
            if not one.stops:
                self._follow(one)

    def _follow(self, work: Work) -> None:
        async def ended(work: Work) -> None:
            await adopt(self.visit.book)
            if work.state == "done":
                shown.delete()
            await self._build()

        with self._working:
            shown = show_work(work, ended)

    def _room(self, kind: str, name: str, known: Mapping[str, str]) -> None:
        """Room for what is looked up later; where the board is built again it is known."""
        self._labels[kind, name] = ui.label(known.get(name, "")).classes("fine")
        self._labels[kind, name].set_visibility(name in known)

    def _tell(self, kind: str, name: str, text: str) -> None:
        if label := self._labels.get((kind, name)):
            label.set_text(text)
            label.set_visibility(True)

    async def _look_up(self) -> None:
        """What has to be read from the data: how many rows."""
        for name in self.plan.tables:
            try:
                self._rows[name] = plural("row", await self.visit.book.ask(rows_of, name))
            except TacitError:  # what a check would say of it belongs to the check
                self._rows[name] = "no rows can be read here"
            self._tell("table", name, self._rows[name])


def sentence(
    plan: Plan,
    found: Sequence[CheckState],
    given: Mapping[str, ReleaseHistory] = MappingProxyType({}),
) -> str:
    """The plan in one sentence. A draft is told apart from the file that was made of it, and what
    was found when something went out from what is known now.
    """
    states = {
        name: state_of(one for one in found if name in one.check.releases) for name in plan.releases
    }
    breached = [name for name, state in states.items() if state == "breached"]
    old = [name for name, state in states.items() if state in ("unchecked", "stale")]
    held = [name for name in old if name in given and given[name].status == "holds"]
    if breached:
        made = files_of_drafts(plan, breached)
        first = ready([name for name in made if states[name] == "holds"], MEET)
        first += ready([name for name in made if name in held], MET)
        return f"{first}Not ready to release: {listed(breached)}."
    if missing := [name for name in old if name not in held]:
        return f"{ready(held, MET)}Some results are missing or out of date: {listed(missing)}."
    if held:
        return f"Not checked since it went out: {listed(held)}."
    if any(one.state == "undecided" for one in found):
        return "Nothing is breached, and not everything is decided."
    if not found:
        return "Nothing is asked yet."
    unasked = [
        name for name, state in states.items() if state == "none" and name not in plan.published
    ]
    if unasked:
        return f"What is checked holds; nothing is asked about {listed(unasked)}."
    return "All releases meet the checks of this plan."


def ready(names: Sequence[str], said: tuple[str, str]) -> str:
    """A sentence about these releases; `said` of one, and of several.

    >>> ready(["june"], MEET), ready(["june", "july"], MEET), ready([], MEET)
    ('june meets its checks. ', 'june and july meet their checks. ', '')
    """
    who = listed(names) if len(names) <= NAMED else f"{len(names)} releases"
    return f"{who} {said[len(names) > 1]}. " if names else ""


def can_be_repaired(plan: Plan, release: Release, state: State = "breached") -> bool:
    """Is there anything that the page Repair can do about a release? Further views are looked
    for only where gamma-privacy is asked. A file stays as it is: that page says what to do where
    its checks do not hold.
    """
    if isinstance(release, Microdata) and release.file and state not in ("breached", "undecided"):
        return False
    return release.of_table is not None or any(
        one.kind == RESTORABLE and release.name in one.releases for one in plan.checks
    )


def board_csv(plan: Plan, found: Sequence[CheckState]) -> bytes:
    """The board as a table: a line for every check of every release, and for every release that
    nothing is asked about.
    """
    rows: list[tuple[str, ...]] = [COLUMNS]
    for name in plan.releases:
        mine = [one for one in found if name in one.check.releases]
        rows += [(name, check_text(one.check), *found_cells(one)) for one in mine] or [
            (name, "", WORDS["none"], "", "")
        ]
    return csv_bytes(rows)


def found_cells(one: CheckState) -> tuple[str, str, str]:
    """The state of a check, what was found, and when;
    a verdict from before the last change is only named.
    """
    because = (
        ""
        if one.verdict is None
        else f"was {one.verdict['status']}"
        if one.state == "stale"
        else first_sentence(one.verdict["because"])
    )
    because = ". ".join(filter(None, (because, one.waiver)))
    return STATES.get(one.state, one.state), because, one.when or ""


def answer_line(one: CheckState, release: str, then: str | None = None) -> None:
    """One check and what was found; `then` is what the ledger says was found when it went out,
    where nothing was decided since.
    """
    with ui.element("li").props(f'data-testid="check-{aria(one.check.name or one.check.kind)}"'):
        if then is not None:
            badge(then)
        elif one.state == "stale" and one.verdict is not None:
            badge("stale", f"was {one.verdict['status']}, before the last change")
        else:
            badge(one.state)
        with ui.element("span"):
            ui.html(escape(check_text(one.check)), tag="b", sanitize=False)
            others = [name for name in one.check.releases if name != release]
            if others:
                ui.html(f" with {escape(listed(others))}", tag="span", sanitize=False)
            if then is not None:
                ui.html(" · when it went out", tag="span", sanitize=False).classes("muted")
            elif one.verdict is not None and one.state != "stale":
                ui.html(
                    escape(f" · {in_short(one.verdict['because'])}"), tag="span", sanitize=False
                ).classes("muted")
            if one.waiver:
                ui.label(f"{one.waiver.rstrip('.')}.").classes("fine").mark("waiver")


def check_text(check: Check) -> str:
    """What a check asks, in a few words.

    >>> from tacit.plan.plan import Check
    >>> (
    ...     check_text(Check("k-anonymity", {"k": 4})),
    ...     check_text(Check("e-safety", {}, secret="cancer")),
    ... )
    ('4-anonymity', 'e-safety of cancer')
    """
    try:
        label = define(check.kind, check.parameters).label
    except TacitError:
        label = check.kind
    called = f"{label} of {check.secret}" if check.secret else label
    return f"{check.name} ({called})" if check.name else called


def in_short(because: str) -> str:
    """The first sentence of a reason, not too long.

    >>> in_short("a group of 1 person, 4 required. Anyone who knows that Bruce is 31 ...")
    'a group of 1 person, 4 required'
    >>> in_short("with may (10,3)-diversity for everybody (Clinic has may (entry 2) already)")
    'with may (10,3)-diversity for everybody'
    """
    first = HOLDERS.sub("", first_sentence(because))
    return first if len(first) <= SHORT else f"{first[: SHORT - 1]}…"


def first_sentence(because: str) -> str:
    """The first sentence of a reason: those that follow may tell of people."""
    return value_words(because.split(". ")[0].rstrip("."))


def what_it_is(release: Release, plan: Plan) -> str:
    """A release in a line."""
    return kind_of(release).in_a_line(release, plan)


def roles(table: Table) -> dict[str, Sequence[str]]:
    """The columns of a table by what they are."""
    found: dict[str, Sequence[str]] = {
        "identifiers": table.identifiers,
        "quasi-identifiers": table.quasi_identifiers,
        "sensitive": table.sensitive,
        "insensitive": table.insensitive,
    }
    taken = {name for names in found.values() for name in names}
    others = [name for name in table.columns if name not in taken]
    return {
        role: names
        for role, names in {
            **found,
            "person": table.person,
            "columns" if not taken else "not released": others,
        }.items()
        if names
    }


def show_changes(moved: Sequence[VerdictChange]) -> None:
    """What changed since the check before."""
    with (
        ui.element("section")
        .classes("card")
        .props('aria-label="What changed" data-testid="changes"')
    ):
        ui.html("Since the check before", tag="h2", sanitize=False)
        with ui.element("ul").classes("changes"):
            for one in moved:
                with ui.element("li").classes(one.kind.replace(" ", "-")):
                    ui.html(
                        f'<span aria-hidden="true">{SIGNS[one.kind]}</span> {one.kind}',
                        tag="b",
                        sanitize=False,
                    )
                    ui.label(change_words(one))


def change_words(one: VerdictChange) -> str:
    r"""What became of a check, in words.

    >>> from tacit.workbench.check_states import VerdictChange
    >>> change_words(
    ...     VerdictChange("better", "k-anonymity", "april", "breached", "holds", differently=True)
    ... )
    'k-anonymity of april: breached → holds, asked differently'
    >>> found = change_words(VerdictChange("changed", "k-anonymity", "april", "holds", "holds"))
    >>> print(found.replace("; ", ";\n"))
    k-anonymity of april: holds as before;
    the release, its data or what is published beside it changed
    >>> change_words(VerdictChange("gone", "k-anonymity", "april", "holds", ""))
    'k-anonymity of april: holds, not asked any more'
    """
    about = f"{one.check} of {one.subject}"
    if one.kind == "asked differently":
        return f"{about}: {one.now} as before, but something else was asked"
    if one.kind == "changed":
        return (
            f"{about}: {one.now} as before; the release, its data or what is published "
            f"beside it changed"
        )
    went = " → ".join(state for state in (one.before, one.now) if state)
    return f"{about}: {went}" + (
        ", not asked any more"
        if one.kind == "gone"
        else ", asked differently"
        if one.differently
        else ""
    )


def rows_of(source: MicrodataSource, name: str) -> int:
    """How many rows a table has. Blocks."""
    from tacit.engines.sql import shapes

    source.engine.attach_once(source.plan.tables[name])
    return int(source.engine.value(shapes.row_count(name)))


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """What the ledger says of a release: who has it, since when, and what its checks said then."""

    to: tuple[str, ...]  # nobody: everybody
    at: datetime
    judged: tuple[str, ...]
    verdicts: tuple[LedgerVerdict, ...] = ()

    @property
    def status(self) -> Literal["holds", "breached", "undecided", "none"]:
        """The worst verdict when it went out."""
        return worst(self.judged) or "none"  # type: ignore[return-value]

    @property
    def words(self) -> str:
        """Who has it, and what was decided when.

        >>> from datetime import UTC
        >>> ReleaseHistory(
        ...     ("insurer",), datetime(2026, 4, 1, 12, 30, tzinfo=UTC), ("holds", "holds")
        ... ).words
        'Given to insurer, 2026-04-01 12:30 UTC; 2 of 2 checks held then'
        """
        held = self.judged.count("holds")
        said = f"; {held} of {plural('check', len(self.judged))} held then" if self.judged else ""
        return f"Given to {listed(self.to) or 'everybody'}, {time_words(self.at)} UTC{said}"


def given_of(plan: Plan) -> dict[str, ReleaseHistory]:
    """By release who has it by the ledger. What was withdrawn was not given. Blocks."""
    if not is_begun(plan):
        return {}
    with ledger_of(plan) as ledger:
        held = [one for one in ledger.held() if one.withdrawn is None]
        entries = {one.number: one for one in those(ledger, [one.entry for one in held])}
    found: dict[str, ReleaseHistory] = {}
    for one in sorted(held, key=lambda one: one.entry):
        before = found.get(one.release)
        public = not one.to or (before is not None and not before.to)
        to = () if public else tuple(dict.fromkeys([*(before.to if before else ()), *one.to]))
        verdicts = entries[one.entry].verdicts
        judged = tuple(verdict.status for verdict in verdicts)
        found[one.release] = ReleaseHistory(to, one.at, judged, verdicts)
    return found


def decided_then(one: CheckState, given: Mapping[str, ReleaseHistory]) -> str | None:
    """What was found of a check when its release went out, where nothing was decided since."""
    held = given.get(one.check.releases[0]) if len(one.check.releases) == 1 else None
    if held is None or one.state not in ("unchecked", "stale"):
        return None
    if one.when is not None and datetime.fromisoformat(one.when) > held.at:
        return None
    try:
        label = define(one.check.kind, one.check.parameters).label
    except TacitError:
        return None
    mine = (one.check.kind, one.check.name, label)
    return next(
        (said.status for said in held.verdicts if (said.check, said.name, said.label) == mine), None
    )


def then_words(given: ReleaseHistory) -> str:
    """What the checks said of a release when it went out.

    >>> then_words(ReleaseHistory((), datetime(2026, 4, 1), ("holds",)))
    'holds, when it went out'
    """
    if given.status == "none":
        return "went out unjudged"
    return f"{STATES[given.status]}, when it went out"


def planned_for(release: Release) -> str:
    """For whom the plan makes a release that nobody has by the ledger."""
    if not release.to:
        return "Not recorded yet. The plan names no recipient, so it is judged as public"
    return f"Not recorded yet. For {listed(release.to)}"


def files_of_drafts(plan: Plan, drafts: Sequence[str]) -> list[str]:
    """The releases that are files, made of the same tables as some drafts."""
    made = [plan.releases[name] for name in drafts]
    if any(one.of_table is None or one.answer_file is not None for one in made):
        return []
    tables = {one.of_table for one in made}
    return [
        one.name
        for one in plan.releases.values()
        if one.answer_file is not None and one.of_table in tables
    ]


def time_text(when: str) -> str:
    """A time as a reader wants it."""
    return time_words(datetime.fromisoformat(when))
