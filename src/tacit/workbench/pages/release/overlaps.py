"""A release that overlaps with others: who is in which view, what can be believed about
everybody and since when, and how small crowds are.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from nicegui import ui

from tacit.families.catalog import kinds_of
from tacit.families.overlaps.class_standing import by_belief, by_since, by_size, standing
from tacit.families.words import listed, people, spoken
from tacit.model.numbers import exact, percent, percent_exactly
from tacit.report.charts.belief_chart import above_in, beliefs_chart
from tacit.report.charts.portrait_chart import Chart
from tacit.report.charts.share_chart import value_words
from tacit.report.crowds import some_names
from tacit.workbench.bench import STATE, Visit
from tacit.workbench.check_states import answers, by_key
from tacit.workbench.everybody import PeopleFile, Person
from tacit.workbench.parts.cards import show_pictures
from tacit.workbench.parts.grids import PageGrid, Row, Sort, csv_bytes, grid
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice
from tacit.workbench.parts.pictures import picture
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks.overlaps import GAMMA, OverlapPeople, everybody
from tacit.workbench.work import Work

HAS_CARDS = False  # of its verdicts, between its pictures
IS_ALWAYS_SHOWN = False  # also where nothing was checked
KIND = "everybody"
AT_ONCE = 20_000  # people who are counted without being asked for
PEOPLE = "people in the releases"  # what the report calls them in its figures
USUAL = Fraction(1, 2)  # the limit where gamma was not asked for
MOST_CROWDS = 8
MOST_NAMES = 5  # of a crowd
SHARE, VALUE, SINCE, ALIKE = "largest share", "of value", "above since", "treated alike"
EQUALLY = (
    "A share counts tables. Give everybody in the views a value so that each view would look just "
    "as it does: that is a fitting table, and the true one is among them. A person's share is in "
    "how many of all fitting tables they have the value. It is what somebody believes to whom all "
    "fitting tables are equally likely. Who knows more, such as what is rare at some age, "
    "believes something else, and that is not judged here."
)


async def show(visit: Visit, name: str, section: Mapping[str, Any]) -> None:
    """The pictures of the last check, everybody by name, the smallest
    crowds, and what it all rests on.
    """
    checked = visit.book.checked
    if checked is None:
        notice("These releases were not checked yet. Press Check on the Overview page.")
        return
    verdicts = verdicts_of(checked, section)
    with ui.element("div").props('data-testid="overlap-pictures"'):
        show_pictures(visit, charts_of(section), name)
    for verdict in verdicts:
        if rows := crowd_rows(verdict):
            with (
                ui.element("section")
                .classes("card")
                .props('aria-label="The smallest crowds" data-testid="crowds"')
            ):
                small_crowds(visit, verdict, rows)
    with (
        ui.element("section")
        .classes("card")
        .props('aria-label="Everybody" data-testid="everybody"')
    ):
        heading(f"Everybody in {listed(section['releases'])}")
        if await to_thread(is_stale, visit, checked, section):
            notice(
                "The plan or its data changed after this verdict. Check again, and everybody "
                "is counted.",
                "warn",
            )
        else:
            await Everybody(visit, name, section, verdicts).show()
        rests_on()
    what_next(visit, name, verdicts)


def verdicts_of(checked: dict[str, Any], section: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The verdicts of a section about overlapping views."""
    found = by_key(checked)
    return [
        found[key]
        for key in section["keys"]
        if key in found and found[key]["check"] in kinds_of("overlaps")
    ]


def charts_of(section: Mapping[str, Any]) -> list[Chart]:
    """The pictures of some releases, as they were drawn with their verdicts."""
    return [Chart(one["title"], one["note"], one["svg"]) for one in section["charts"]]


def is_stale(visit: Visit, checked: dict[str, Any], section: Mapping[str, Any]) -> bool:
    """Has the plan, or what it looks at, changed since these verdicts? Blocks."""
    now = {one.key: one.state for one in answers(visit.book.plan(), checked)}
    return any(now.get(key, "unchecked") in ("stale", "unchecked") for key in section["keys"])


def stamp_of(checked: Mapping[str, Any], section: Mapping[str, Any]) -> str:
    """Something that changes when what was judged does."""
    return " ".join(checked["fingerprints"].get(key, "") for key in section["keys"])


# -- everybody -------------------------------------------------------------------------------------


class Everybody:
    """The table of everybody: counted by a piece of work, then searched, sorted and marked here."""

    def __init__(
        self,
        visit: Visit,
        name: str,
        section: Mapping[str, Any],
        verdicts: Sequence[Mapping[str, Any]],
    ) -> None:
        self.visit, self.name, self.releases = visit, name, tuple(section["releases"])
        self.limit = asked_limit(verdicts) or USUAL
        self.search = ""
        self._key = stamp_of(visit.book.checked or {"fingerprints": {}}, section)
        self._many = people_in(section, verdicts)

    async def show(self) -> None:
        """What was counted, or the work that counts it: a reload finds either again."""
        work = self.visit.book.works.latest(KIND, self._key)
        self._body = ui.element("div").classes("stack")
        with self._body:
            if work is not None and work.state == "done":
                await self._counted(work)
            elif work is not None or (self._many is not None and self._many <= AT_ONCE):
                self._follow(work or self._start())
            else:
                many = f"{people(self._many)}: it" if self._many is not None else "It"
                ui.label(
                    f"{many} may take a while to count what can be believed about each of them."
                ).classes("muted")
                self._recount("Count everybody")

    def _start(self) -> Work:
        book = self.visit.book
        folder = book.folder / STATE
        return book.works.start(
            KIND,
            f"Beliefs about everybody in {listed(self.releases)}",
            everybody,
            str(book.path),
            str(book.reach),
            self.releases,
            str(folder),
            key=self._key,
        )

    def _follow(self, work: Work) -> None:
        async def over(work: Work) -> None:
            with self._body:
                if work.state == "done":
                    shown.delete()
                    await self._counted(work)
                else:
                    self._recount("Try again")

        shown = show_work(work, over)

    def _recount(self, label: str) -> None:
        def pressed() -> None:
            self._body.clear()
            with self._body:
                self._follow(self._start())

        with ui.element("div").classes("toolbar"):
            ui.button(label, on_click=pressed).props("flat dense no-caps").mark("again")

    async def _counted(self, work: Work) -> None:
        self.looked: OverlapPeople = work.result
        stages = self.looked.stages
        self.file = PeopleFile(
            self.visit.book.folder / STATE / self.looked.file, len(self.looked.key), stages.sizes
        )
        ui.label(introduction(self.looked)).classes("muted")
        if stages.missing:
            notice(
                f"Not everything was counted: {stages.missing}. Those who are missing have no "
                "share below.",
                "warn",
            )
        with ui.element("div").classes("toolbar"):
            search = (
                ui.input(f"Search by {' and '.join(self.looked.key)}")
                .props("dense outlined clearable debounce=300")
                .style("min-width: 15rem")
                .mark("search")
            )
            limit = (
                ui.number(
                    "Mark shares above (percent)", value=float(self.limit * 100), min=0, max=100
                )
                .props("dense outlined debounce=400")
                .style("min-width: 15rem")
                .mark("limit")
            )
        self._above = ui.label().props('role="status"').mark("above")
        self._chart = ui.element("div")
        columns = columns_of(self.looked)
        self._grid: PageGrid = await grid(
            self.visit,
            columns,
            self._fetch,
            name="everybody",
            caption="Everybody whom one of the views could show",
            total=self.file.count(),
            sortable=[columns[0], SHARE, SINCE, ALIKE],
            sort=(SHARE, True),
            pick=self._pick,
            marked=lambda row: is_above(self.looked, row, self.limit),
        )
        self._course = ui.element("div").props('role="status"')
        search.on_value_change(lambda event: self._searched(event.value or ""))
        limit.on_value_change(lambda event: self._limited(event.value))
        self._tell_above()
        heading("The fewest who are treated alike", "h3")
        ui.label(
            "Whatever values these people have, each view would show the same of them: nothing "
            "tells one from the other."
        ).classes("muted")
        small_table(
            self.visit,
            ("people", "who", "could be in"),
            await smallest_classes(self.looked, self.file),
            "treated-alike",
        )
        self._recount("Count again")

    async def _fetch(self, offset: int, limit: int, sort: Sort) -> list[Row]:
        return await to_thread(self._rows, offset, limit, sort)

    def _rows(self, offset: int, limit: int, sort: Sort) -> list[Row]:
        column, backwards = sort or (SHARE, True)
        classes = order_of(self.looked, column, backwards, self.limit)
        found = self.file.page(offset, limit, classes, self.search, backwards)
        return [person_row(self.looked, one, self.limit) for one in found]

    async def _searched(self, text: str) -> None:
        self.search = text.strip()
        await self._grid.restart(total=await to_thread(self.file.count, self.search))

    async def _limited(self, percent: Any) -> None:
        found = limit_from(percent)
        if found is None or found == self.limit:
            return
        self.limit = found
        self._tell_above()
        await self._grid.restart(total=await to_thread(self.file.count, self.search))
        self._chart.clear()
        if found != self.looked.asked:
            drawn = await to_thread(beliefs_chart, self.looked.stages, found, owner=True)
            if drawn is not None:
                with self._chart:
                    picture(self.visit, drawn, f"{self.name} beliefs")

    def _tell_above(self) -> None:
        self._above.set_text(describe_exposed(self.looked, self.limit))

    def _pick(self, row: Row) -> None:
        """How the beliefs about one person went, release by release."""
        self._course.clear()
        who = " ".join(str(one) for one in row[: len(self.looked.key)])
        with self._course, ui.element("div").classes("stack"):
            ui.label(f"What can be believed about {who}, release by release").style(
                "font-weight: 600"
            )
            small_table(
                self.visit,
                ("after", SHARE, spoken(self.looked.stages.sensitive)),
                course_rows(self.looked, class_of(row)),
                "one-person",
            )
            if told := may_have(self.looked, class_of(row)):
                ui.label(told).classes("muted")


class PersonRow(tuple[Any, ...]):
    """A row of the table that knows the class of its person."""

    class_: int


def class_of(row: Row) -> int:
    """The class of the person in a row."""
    assert isinstance(row, PersonRow)
    return row.class_


def is_above(looked: OverlapPeople, row: Row, limit: Fraction) -> bool:
    """Is the person in a row above the limit?"""
    found = looked.stages.last.largest.get(class_of(row))
    return found is not None and found.least > limit


def people_in(section: Mapping[str, Any], verdicts: Sequence[Mapping[str, Any]]) -> int | None:
    """How many people the releases of a section could show, where the verdicts say so."""
    for number, meaning in section["figures"]:
        if meaning == PEOPLE:
            return int(number.replace(",", ""))
    sizes = next(
        (one["measured"]["sizes"] for one in verdicts if one["measured"].get("sizes")), None
    )
    return sum(int(size) * int(many) for size, many in sizes.items()) if sizes else None


def asked_limit(verdicts: Sequence[Mapping[str, Any]]) -> Fraction | None:
    """The smallest gamma that was asked for."""
    return min(
        (Fraction(one["required"]["gamma"]) for one in verdicts if one["check"] == GAMMA),
        default=None,
    )


def limit_from(percent: Any) -> Fraction | None:
    """A limit as it was typed in, in percent; None for what is none.

    >>> limit_from(33.3), limit_from(None), limit_from(120), limit_from(float("inf"))
    (Fraction(333, 1000), None, None, None)
    """
    try:
        found = exact(percent) / 100
    except ValueError:
        return None
    return found if 0 <= found <= 1 else None


def columns_of(looked: OverlapPeople) -> list[str]:
    """The columns of the table of everybody."""
    releases = [one.release for one in looked.stages.stages]
    before = [f"before {releases[-1]}"] if len(releases) > 1 else []
    return [
        *looked.key,
        SHARE,
        VALUE,
        *before,
        SINCE,
        "truly has",
        ALIKE,
        *(["could be in"] if len(releases) > 1 else []),
    ]


def person_row(looked: OverlapPeople, one: Person, limit: Fraction) -> PersonRow:
    """A person as the table has them."""
    key, class_, truly = one
    stages = looked.stages
    now, several = standing(stages, class_, limit), len(stages.stages) > 1
    since = (
        ""
        if now.since is None
        else f"{stages.stages[now.since].release}{'' if now.is_settled else ', or before'}"
    )
    belief = "not counted" if now.belief is None else percent(now.belief, beside=limit)
    value = "" if now.value is None else value_words(stages.values[now.value])
    before = (
        [
            ("nothing known" if class_ in stages.stages[-2].unseen else "not counted")
            if now.before is None
            else percent(
                now.before, down=now.belief is not None and now.before < now.belief, beside=limit
            )
        ]
        if several
        else []
    )
    true = "not known" if truly is None else value_words(stages.values[truly])
    inside = [", ".join(could_be_in(looked, class_))] if several else []
    row = PersonRow((*key, belief, value, *before, since, true, people(now.people), *inside))
    row.class_ = class_
    return row


def could_be_in(looked: OverlapPeople, class_: int) -> list[str]:
    """The views that could show the people of a class."""
    return [
        view
        for view, could in zip(looked.views, looked.could_be[class_].tolist(), strict=True)
        if could
    ]


def order_of(
    looked: OverlapPeople, column: str, backwards: bool, limit: Fraction
) -> list[int] | None:
    """The classes in the order of a column, the greatest first where it runs backwards;
    None for that of the keys.
    """
    stages = looked.stages
    if column == SHARE:
        found = by_belief(stages)
    elif column == SINCE:
        found = by_since(stages, limit)
    elif column == ALIKE:
        found = by_size(stages)[::-1]
    else:
        return None
    return found if backwards else found[::-1]


def introduction(looked: OverlapPeople) -> str:
    """What the table shows."""
    stages = looked.stages
    return (
        f"{people(looked.people)}, each with the largest share of fitting tables in which they "
        f"have one {spoken(stages.sensitive)}. Press a person to see how it came about, release by "
        "release."
    )


def describe_exposed(looked: OverlapPeople, limit: Fraction) -> str:
    """How many are above a limit after all releases."""
    many = above_in(looked.stages, -1, limit) if looked.stages.last.largest else 0
    return (
        f"{people(many) if many else 'Nobody'} {'is' if many < 2 else 'are'} above "
        f"{percent_exactly(limit)} after all releases."
    )


def course_rows(looked: OverlapPeople, class_: int) -> list[tuple[str, str, str]]:
    """The largest belief about the people of a class after each release, and in which value."""
    rows = []
    for stage in looked.stages.stages:
        found = stage.largest.get(class_)
        if found is not None:
            rows.append(
                (
                    stage.release,
                    percent(found.least),
                    value_words(looked.stages.values[found.value]),
                )
            )
        else:
            rows.append(
                (
                    stage.release,
                    "",
                    "nothing known: in none of the releases so far"
                    if class_ in stage.unseen
                    else f"not counted: {stage.missing}",
                )
            )
    return rows


def may_have(looked: OverlapPeople, class_: int) -> str:
    """In which share of the tables they have each value, where that was kept:
    of the most exposed.
    """
    shares = looked.stages.shares.get(class_)
    if not shares:
        return ""
    found = sorted(
        ((share, value) for value, share in enumerate(shares) if share),
        key=lambda one: (-one[0], one[1]),
    )
    return (
        "In all fitting tables: "
        + ", ".join(
            f"{value_words(looked.stages.values[value])} {percent(share)}" for share, value in found
        )
        + "."
    )


# -- crowds, and what it rests on ------------------------------------------------------------------


def crowd_rows(verdict: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The smallest crowds of a verdict about crowds:
    how many people, and who they are where that is listed.
    """
    if verdict["check"] == GAMMA:
        return []
    sets = sorted(verdict["measured"].get("sets", ()), key=len)
    if sets:
        return [(f"{len(one):,}", some_names(one)) for one in sets[:MOST_CROWDS]]
    sizes = sorted(
        (int(size), int(many)) for size, many in verdict["measured"].get("sizes", {}).items()
    )
    return [
        (f"{size:,}", f"{many:,} such crowd{'s' if many > 1 else ''}")
        for size, many in sizes[:MOST_CROWDS]
    ]


def small_crowds(visit: Visit, verdict: Mapping[str, Any], rows: Sequence[tuple[str, str]]) -> None:
    """The smallest crowds as a table."""
    required = verdict["required"]["k"]
    heading(f"The smallest crowds of {required}-{verdict['check'].partition('-')[2].upper()}")
    ui.label(
        "A crowd are people who could swap their values, and no release would look different. "
        f"Asked are {required} or more in each."
    ).classes("muted")
    small_table(visit, ("people", "who"), rows, "smallest-crowds")


async def smallest_classes(looked: OverlapPeople, file: PeopleFile) -> list[tuple[str, str, str]]:
    """The smallest classes: how many people the views treat alike, who they are, and in which
    views they could be.
    """
    rows = []
    for class_ in by_size(looked.stages)[:MOST_CROWDS]:
        found = await to_thread(file.page, 0, MOST_NAMES, [class_])
        many = looked.stages.sizes[class_]
        names = [" ".join(value_words(part) for part in key) for key, _, _ in found]
        inside = could_be_in(looked, class_)
        rows.append(
            (
                f"{many:,}",
                listed([*names, *([f"{many - len(names):,} more"] if many > len(names) else [])]),
                listed(inside) or "none",
            )
        )
    return rows


def rests_on() -> None:
    """What the shares mean, and what they rely on."""
    ui.label("These shares are beliefs for somebody to whom all fitting tables are equally likely.")
    with (
        ui.expansion("What a share is, and what that assumes")
        .props('dense data-testid="equally-likely"')
        .classes("muted")
    ):
        ui.label(EQUALLY)


def is_restorable(verdict: Mapping[str, Any]) -> bool:
    """May the page Repair bring gamma-privacy back? No view makes what is certain uncertain."""
    return bool(
        verdict["check"] == GAMMA
        and verdict["status"] == "breached"
        and verdict["measured"].get("gamma") != "1"
    )


def what_next(visit: Visit, name: str, verdicts: Sequence[Mapping[str, Any]]) -> None:
    """Where to go from here."""
    if any(map(is_restorable, verdicts)):
        with ui.element("div").classes("notice info"):
            ui.label("Further views, all of them true, may bring everybody's share down again.")
            ui.link("Repair: look for such views (restore)", visit.link("repair", name)).mark(
                "restore"
            )
    elif any(one["status"] == "breached" for one in verdicts):
        notice(
            "To make it hold: publish fewer of these releases, or give them coarser conditions.",
            "warn",
        )


def heading(text: str, tag: str = "h2") -> ui.element:
    """A heading."""
    return ui.html(escape(text), tag=tag, sanitize=False)


def small_table(
    visit: Visit, head: Sequence[str], rows: Sequence[Sequence[str]], name: str
) -> None:
    """A table of a few rows, which can be saved."""
    with ui.element("div").classes("stack").style("gap: .25rem"):
        with (
            ui.element("div")
            .classes("scroll")
            .props(f'tabindex="0" role="region" aria-label="{aria(name.replace("-", " "))}"'),
            ui.element("table").classes("plain"),
        ):
            with ui.element("thead"), ui.element("tr"):
                for one in head:
                    with ui.element("th").props('scope="col"'):
                        ui.label(one)
            with ui.element("tbody"):
                for row in rows:
                    with ui.element("tr"):
                        for cell in row:
                            with ui.element("td"):
                                ui.label(cell)
        with ui.element("div").classes("toolbar"):
            save_button(visit, "Save CSV", f"{name}.csv", lambda: csv_bytes([head, *rows])).props(
                f'aria-label="Save CSV: {aria(name.replace("-", " "))}"'
            )
