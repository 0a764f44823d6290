"""A microdata release: its groups in pictures, the most exposed people, and what somebody
believes about one of them, knowing more and more.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any

from nicegui import ui

from tacit.errors import TacitError
from tacit.families.microdata.attacks.attack_beliefs import MOST, Believed, KnowledgeAmount
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.runs.roster import FOUND, LISTED, ListedPerson, room_of
from tacit.families.words import known_facts, mention, name_of, people, plural, saying, spoken
from tacit.model.numbers import percent, percents
from tacit.model.release import Microdata
from tacit.report.charts.person_beliefs import believed_chart
from tacit.report.charts.portrait_chart import Chart
from tacit.workbench.bench import Visit
from tacit.workbench.pages.release import together
from tacit.workbench.parts.grids import Row, Sort, csv_bytes, grid
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.pictures import picture
from tacit.workbench.parts.save_button import save_button

HAS_CARDS = False  # of its verdicts, between its pictures
IS_ALWAYS_SHOWN = True  # also where nothing was checked
PAGE = 12
BESIDE = 2  # attributes of people for which there is room beside the beliefs
PIECE = 500  # people that are looked up at a time: others want to ask too
THROTTLE = 0.12
MORE = (
    "Somebody may know more than who is in the table and what can be looked up. A negation is a "
    "value that the person does not have. An if-then fact (implication) says: if somebody has a "
    "value, the person has this one. Shown is the worst that anybody of so much knowledge can "
    "believe."
)
TOLD = (
    "Everybody in that other group has one of these values. Whoever can say such a thing has "
    "been told: ask for if-then facts about this group only."
)


async def show(visit: Visit, name: str, section: Mapping[str, Any]) -> None:
    """The pictures of the last check, and people."""
    if section.get("charts"):
        with ui.element("div").classes("columns").props('data-testid="microdata-pictures"'):
            for number, one in enumerate(section["charts"], 1):
                picture(visit, Chart(one["title"], one["note"], one["svg"]), f"{name} {number}")
    if section.get("not_drawn"):
        ui.label(section["not_drawn"]).classes("fine")
    release = (await to_thread(visit.book.plan)).releases.get(name)
    if isinstance(release, Microdata):
        await together.show(visit, release)
        PeoplePage(visit, release).show()


class PersonLine(tuple[Any, ...]):
    """A row of the table of people that remembers whom it is about."""

    listed: ListedPerson


class PeoplePage:
    """The people of a release: a list to pick from, and what is
    believed about the one that was picked.
    """

    def __init__(self, visit: Visit, release: Microdata) -> None:
        self.visit, self.release = visit, release
        self.column = ""
        self._found: list[ListedPerson] | None = None
        self._asked = 0
        self._value: int | None = None  # the place of the value in question
        self._values: list[Any] = []

    def show(self) -> None:
        """Room for both; the table is counted when the page is there."""
        with (
            ui.element("section")
            .classes("stack")
            .props('aria-label="People" data-testid="people"') as self._place
        ):
            ui.html("People", tag="h2", sanitize=False)
            self._waiting = ui.label("Counting the table …").classes("muted").props('role="status"')
        ui.timer(0.05, self._open, once=True)

    async def _open(self) -> None:
        with self._place:
            try:
                columns = await self.visit.book.ask(sensitive_of, self.release.name)
                self._waiting.delete()
                if not columns:
                    notice(
                        "The release has no sensitive column: there is nothing to believe about "
                        "anybody. Who can be found in it at all is a matter of group sizes."
                    )
                    return
                self.column = columns[0]
                if len(columns) > 1:
                    ui.select(
                        list(columns),
                        value=self.column,
                        label="Sensitive column",
                        on_change=lambda event: self._choose(event.value),
                    ).props("outlined dense").mark("column")
                with ui.element("div").classes("people-and-beliefs") as self._both:
                    self._left = (
                        ui.element("section")
                        .classes("card")
                        .props('aria-label="The most exposed people"')
                    )
                    self._right = (
                        ui.element("section")
                        .classes("card")
                        .props('aria-label="What an attacker believes" data-testid="beliefs"')
                    )
                await self._list()
            except TacitError as error:
                show_error(error)

    async def _choose(self, column: str) -> None:
        self.column, self._found = column, None
        await self._list()

    # -- the list ----------------------------------------------------------------------------------

    async def _list(self) -> None:
        """The table of people, and the first of them picked."""
        size = await self.visit.book.ask(size_of, self.release.name, self.column)
        total, names = size.lines, size.named_by
        wide = len(names or size.known) > BESIDE
        self._both.classes(add="wide") if wide else self._both.classes(remove="wide")
        self._left.clear()
        with self._left:
            ui.html("The most exposed people", tag="h3", sanitize=False)
            key = " ".join(map(spoken, names)) or "what is known of them"
            search = (
                ui.input(f"Search by {key}")
                .props("outlined dense clearable debounce=300")
                .mark("search")
            )
            self._told = ui.label().classes("fine").props('role="status"')
            caption = (
                f"How sure one can be of each person's true {spoken(self.column)}, before and "
                "with the release"
            )
            self._grid = await grid(
                self.visit,
                [
                    *map(spoken, size.named_by or size.known),
                    spoken(self.column),
                    "before",
                    "with the release",
                    "people in the group",
                    *([] if names else ["people alike"]),
                ],
                self._fetch,
                name=f"exposed-{self.release.name}",
                caption=caption,
                total=min(total, LISTED),
                page=PAGE,
                pick=lambda row: self._pick(row.listed),
                called=lambda row: called(row.listed),
                marked=lambda row: row.listed.after == 1,
            )
            self._say(size)
        search.on_value_change(lambda event: self._search(event.value or "", size))
        first = await self.visit.book.ask(lines_of, self.release.name, self.column, 0, 1)
        if first:
            await self._pick(first[0])

    def _say(self, size: Size) -> None:
        if self._found is not None:
            self._told.set_text(
                f"{len(self._found):,} found"
                + (", and perhaps more: type more of it." if len(self._found) >= FOUND else ".")
            )
        else:
            self._told.set_text(size.words)

    async def _search(self, text: str, size: Size) -> None:
        try:
            self._found = (
                await self.visit.book.ask(matching, self.release.name, self.column, text)
                if text.strip()
                else None
            )
        except TacitError as error:
            with self._left:
                show_error(error)
            return
        self._say(size)
        await self._grid.restart(
            total=len(self._found) if self._found is not None else min(size.lines, LISTED)
        )

    async def _fetch(self, offset: int, limit: int, sort: Sort) -> list[Row]:
        if self._found is not None:
            return [line(one) for one in self._found[offset : offset + limit]]
        rows: list[Row] = []
        end = min(offset + limit, LISTED)
        for begin in range(offset, end, PIECE):
            rows += map(
                line,
                await self.visit.book.ask(
                    lines_of, self.release.name, self.column, begin, min(PIECE, end - begin)
                ),
            )
        return rows

    # -- what is believed --------------------------------------------------------------------------

    async def _pick(self, one: ListedPerson) -> None:
        """Somebody was picked: the sliders start again from nothing known."""
        self._one, self._value = one, None
        self._right.clear()
        with self._right:
            ui.html(
                f"What an attacker believes about {escape(name_of(one.person))}",
                tag="h3",
                sanitize=False,
            ).props('data-testid="about"')
            ui.label(
                f"{name_of(one.person) if one.person.identity else 'A person'} "
                f"{known_facts(one.person.known)}."
            )
            self._group = ui.label().classes("muted")
            with (
                ui.element("div")
                .classes("knowledge")
                .props('role="group" aria-label="What else somebody knows"')
            ):
                self._negations = CountSlider(
                    "Values the attacker can rule out",
                    "negations",
                    self._move,
                )
                self._implications = CountSlider(
                    "If-then facts about people (implications)", "implications", self._move
                )
                self._anywhere = ui.switch(
                    "If-then facts may be about people of other groups",
                    value=True,
                    on_change=self._move,
                ).mark("anywhere")
                self._select = (
                    ui.select({}, label="Belief in", on_change=self._turn)
                    .props("outlined dense")
                    .mark("value")
                )
            self._picture = (
                ui.element("div")
                .classes("stack")
                .props('aria-live="polite" data-testid="belief-picture"')
            )
            ui.label(MORE).classes("fine")
            ui.timer(0.3, lambda: self._warm(one), once=True)
        await self._move()

    async def _warm(self, one: ListedPerson) -> None:
        """Look up before they are needed whom an implication would be about:
        the first move of the slider is then as fast as others.
        """
        with suppress(TacitError):
            await self.visit.book.ask(
                believe, self.release.name, self.column, one, KnowledgeAmount(implications=1), None
            )

    async def _turn(self) -> None:
        self._value = self._select.value
        await self._move()

    async def _move(self) -> None:
        """Ask again with what the sliders say; an answer that comes too late is not shown."""
        self._asked += 1
        mine, one = self._asked, self._one
        amount = KnowledgeAmount(
            self._negations.value, self._implications.value, bool(self._anywhere.value)
        )
        value = None if self._value is None else self._values[self._value]
        try:
            found = await self.visit.book.ask(
                believe, self.release.name, self.column, one, amount, value
            )
        except TacitError as error:
            with self._picture:
                show_error(error)
            return
        if mine == self._asked:
            self._tell(found)

    def _tell(self, found: Believed) -> None:
        self._values = [belief.value for belief in found.beliefs if belief.after]
        self._group.set_text(group_words(found))
        counted = found.reason is None and found.different > 1
        self._negations.limit(min(MOST, found.different - 1) if counted else 0)
        self._implications.limit(MOST if counted else 0)
        self._anywhere.set_enabled(counted)
        names = {
            number: value_text(value) + (" (true)" if value == found.true else "")
            for number, value in enumerate(self._values)
        }
        chosen = next(
            (number for number, value in enumerate(self._values) if value == found.asked), None
        )
        if names != self._select.options:
            self._value = chosen
            self._select.set_options(names, value=chosen)
        self._picture.clear()
        with self._picture:
            self._words(found)
            picture(self.visit, believed_chart(found), f"belief-{self.release.name}")
            with ui.element("div").classes("toolbar"):
                save_button(
                    self.visit,
                    "Save the beliefs (CSV)",
                    f"beliefs-{self.release.name}.csv",
                    lambda: beliefs_csv(found),
                )

    def _words(self, found: Believed) -> None:
        """What is known and believed, in words."""
        if found.reason:
            notice(found.reason, "warn")
        if found.asked is None:
            ui.label(f"No {spoken(self.column)} is known in this group.").classes("muted")
            return
        if found.true is None:
            ui.label(
                f"The table has no {spoken(self.column)} of this person: whoever counts believes "
                "something all the same, rightly or wrongly."
            ).classes("fine")
        belief = found[found.asked]
        claim = f"{mention(found.person)} {saying(found.column, found.asked)}"
        if not found.facts:
            before, after = percents(belief.before, belief.after)
            ui.label(
                f"Somebody who sees the release believes with {after} that {claim}; without it, "
                f"with {before}."
            ).props('data-testid="belief"')
            return
        sure = (
            "knows"
            if belief.knowing == 1
            else f"believes with {percent(belief.knowing or belief.after)}"
        )
        ui.label(
            f"Somebody who sees the release {sure} that {claim}, if they also know that"
        ).props('data-testid="belief"')
        with ui.element("ul").classes("facts-known").props('data-testid="facts"'):
            for fact in found.facts:
                ui.html(escape(fact), tag="li", sanitize=False)
        if found.outright:
            ui.label(TOLD).classes("fine")


class CountSlider:
    """A number from 0 on, moved by mouse or by the arrow keys:
    the browser's own control, which screen readers know.
    """

    def __init__(
        self, label: str, mark: str, moved: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        self.value, self._most, self._label, self._mark, self._moved = 0, MOST, label, mark, moved
        with ui.element("div").classes("slider"):
            with ui.element("div").classes("row between"):
                ui.label(label).classes("fine")
                self._shown = (
                    ui.label("0").style("font-weight: 650").props(f'data-testid="{mark}-value"')
                )
            # As HTML: an element of the page would be set back to its first value whenever
            # something else on the page changes.
            self._input = ui.html(self._html(), sanitize=False)
            self._input.on(
                "input",
                self._move,
                js_handler="(event) => emit(event.target.value)",
                throttle=THROTTLE,
                leading_events=False,
            )

    def limit(self, most: int) -> None:
        """From now on at most this. The control is drawn again only where that changes:
        a hand may be on it.
        """
        if most != self._most:
            self._most, self.value = most, max(0, min(self.value, most))
            self._input.set_content(self._html())
            self._shown.set_text(str(self.value))

    def _html(self) -> str:
        disabled = " disabled" if self._most < 1 else ""
        return (
            f'<input type="range" min="0" max="{max(1, self._most)}" step="1" value="{self.value}" '
            f'aria-label="{escape(self._label)}" '
            f'data-testid="{self._mark}"{disabled}>'
        )

    async def _move(self, event: Any) -> None:
        self.value = int(event.args)
        self._shown.set_text(str(self.value))
        await self._moved()


def group_words(found: Believed) -> str:
    """The group of a person in words."""
    if found.people == 1:
        alone = "Nobody else looks the same in the release"
        return (
            f"{alone}." if found.known else f"{alone}, and the {spoken(found.column)} is not known."
        )
    known = (
        f", and the {spoken(found.column)} of {found.known:,} of them is known"
        if found.known < found.people
        else ""
    )
    same = (
        "they all have the same value"
        if not known
        else "it is the same value each time"
        if found.known > 1
        else ""
    )
    have = (
        f"they have {found.different:,} different values"
        if found.different > 1
        else same
        if found.different == 1
        else ""
    )
    return (
        f"{people(found.people)} look the same in the release{known}{f'; {have}' if have else ''}."
    )


def line(one: ListedPerson) -> PersonLine:
    """Somebody as a row of the table: a cell for each attribute by which they are known."""
    who = one.person.identity or one.person.known
    before, after = (
        (None, None) if one.before is None or one.after is None else percents(one.before, one.after)
    )
    alike = [] if one.person.identity else [f"{one.alike:,}"]
    found = PersonLine(
        (*map(shown, who.values()), shown(one.value), before, after, f"{one.size:,}", *alike)
    )
    found.listed = one
    return found


def called(one: ListedPerson) -> str:
    """Somebody in words."""
    return name_of(one.person) if one.person.identity else known_facts(one.person.known)


def shown(value: Any) -> str | None:
    """A value of the data as a cell; None where it is missing."""
    return None if value is None else value_text(value)


def beliefs_csv(found: Believed) -> bytes:
    """The beliefs in every value, exactly."""
    head = (
        spoken(found.column),
        "true",
        "before",
        "with the release",
        "with this knowledge",
        "at most with so much knowledge",
    )
    rows = [
        (
            value_text(one.value),
            one.value == found.true,
            one.before,
            one.after,
            one.knowing,
            one.at_most,
        )
        for one in found.beliefs
    ]
    return csv_bytes([head, *rows])


# -- what is asked of the open source, in a thread -------------------------------------------------


def sensitive_of(source: MicrodataSource, release: str) -> tuple[str, ...]:
    """The sensitive columns of a release that have values."""
    question = source.question(release)
    return tuple(name for name in question.sensitive if question.base.dictionaries[name])


@dataclass(frozen=True, slots=True)
class Size:
    """How long the list of people is, by which columns they are called, and what is known of
    them.
    """

    lines: int
    people: int
    named_by: tuple[str, ...]
    known: tuple[str, ...]

    @property
    def words(self) -> str:
        """How many people the list is of, and how many of them it shows.

        >>> Size(24_766, 45_222, (), ("age",)).words
        '45,222 people in 24,766 lines: those who are alike in all of these columns share one. Listed are the 10,000 lines of the most exposed; others are found by searching.'
        >>> Size(12, 12, ("name",), ("age",)).words
        ''
        """  # noqa: E501
        said = []
        if self.lines != self.people:
            why = (
                "who has several values has several"
                if self.named_by
                else "those who are alike in all of these columns share one"
            )
            said.append(f"{people(self.people)} in {plural('line', self.lines)}: {why}.")
        if self.lines > LISTED:
            said.append(
                f"Listed are the {LISTED:,} lines of the most exposed"
                if said
                else f"The {LISTED:,} most exposed of {people(self.people)}"
            )
            said[-1] += "; others are found by searching."
        return " ".join(said)


def size_of(source: MicrodataSource, release: str, column: str) -> Size:
    """How long the list of people is."""
    roster = room_of(source, release, column).roster
    return Size(roster.total, roster.people, roster.identity, tuple(roster.question.quasi))


def lines_of(
    source: MicrodataSource, release: str, column: str, offset: int, limit: int
) -> list[ListedPerson]:
    """Some of the most exposed people."""
    return room_of(source, release, column).roster.most_exposed(offset, limit)


def matching(source: MicrodataSource, release: str, column: str, text: str) -> list[ListedPerson]:
    """The people whose key contains a text."""
    return room_of(source, release, column).roster.search(text)


def believe(
    source: MicrodataSource,
    release: str,
    column: str,
    one: ListedPerson,
    amount: KnowledgeAmount,
    value: Any,
) -> Believed:
    """What is believed about somebody."""
    return room_of(source, release, column).believer.believe(
        one.person, one.group, one.value, amount, value
    )
