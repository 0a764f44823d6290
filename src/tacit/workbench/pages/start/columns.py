"""The columns of a table on the page Start:
what each is like, its role, and why it was proposed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from nicegui import ui

from tacit.model.numbers import percent
from tacit.plan.edit.editing import Wish
from tacit.plan.edit.wishes.table_wishes import SetHierarchy, SetPerson, SetRole
from tacit.starter.coarsening import coarsen
from tacit.starter.guessing import PLEASE_CHECK, ColumnGuess
from tacit.starter.histograms import IDENTIFIES
from tacit.starter.profile import Profile
from tacit.workbench.bench import Visit
from tacit.workbench.drafts import PlanDraft
from tacit.workbench.pages.start import pictures as start_pictures
from tacit.workbench.pages.start.fields import choice, html
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.pictures import picture
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.terms import headed

ROLES = {
    "identifiers": "identifier",
    "quasi-identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "": "not released",
}
MEANINGS = {
    "identifier": "says who somebody is; never released",
    "quasi-identifier": "others may know it about a person; released coarser",
    "sensitive": "nobody may learn it about a person",
    "insensitive": "nobody can look it up, everybody may learn it; released as it is",
    "not released": "stays here",
}
PAGE = 60  # columns at a time


class Columns:
    """A table's columns; roles are chosen here, and `wish` is told.
    `again` looks at the data once more.
    """

    def __init__(
        self,
        visit: Visit,
        draft: PlanDraft,
        profile: Profile,
        table: str,
        wish: Callable[..., Any],
        again: Callable[[], Any],
    ) -> None:
        self.visit, self.draft, self.profile, self.table, self.wish, self.again = (
            visit,
            draft,
            profile,
            table,
            wish,
            again,
        )
        self._fields: dict[str, ui.element] = {}
        self._cells: dict[str, ui.element] = {}
        self._roles: dict[str, str] = {}
        self._person: ui.element | None = None
        self._first = 0

    async def show(self) -> None:
        """The whole section."""
        look = self.profile.look
        with ui.element("section").classes("card").props('aria-labelledby="columns-title"'):
            with ui.element("div").classes("row between"):
                headed(
                    "What is in the table",
                    "columns-title",
                    "identifier",
                    "quasi-identifier",
                    "sensitive",
                )
                ui.label(
                    f"{counted(look.rows, 'row')}, {counted(len(look.columns), 'column')}"
                ).classes("fine")
            ui.label(
                "Each column has a role. They are proposed from names and counts, and you know "
                "better: correct them."
            ).classes("muted")
            self._legend()
            self._body = (
                ui.element("div")
                .classes("scroll")
                .props('tabindex="0" role="region" aria-label="Columns"')
            )
            self._rows()
            with ui.element("div").classes("toolbar"):
                if len(self.profile.guesses) > PAGE:
                    self._pager()
                save_button(self.visit, "Save CSV", f"{self.table}-columns.csv", self._csv)
                if self.visit.book.exists:
                    ui.button("Look again", on_click=self.again).props(
                        'flat dense no-caps title="If the data have changed"'
                    )
            self._people()

    async def sync(self) -> None:
        """Show what the text says now."""
        roles = self.draft.roles(self.table)
        for column, field in self._fields.items():
            role = roles.get(column, "")
            if self._roles.get(column) != role or field.props.get("value") != role:
                self._roles[column] = role
                field.props["value"] = role
                field.classes(replace=f"field role {ROLES[role].replace(' ', '-')}")
                field.update()
                self._show_again(column, role)
        if self._person is not None and self._person.props.get("value") != self._person_now():
            self._person.props["value"] = self._person_now()
            self._person.update()

    def _show_again(self, column: str, role: str) -> None:
        """The values of a column that has another role: those of an identifier are not shown."""
        guess = self.profile.guess(column)
        if guess is not None and column in self._cells:
            self._cells[column].clear()
            with self._cells[column]:
                self._values(guess, role)

    def _legend(self) -> None:
        with ui.element("details").classes("legend"):
            html("summary", "What the roles mean")
            with ui.element("dl"):
                for role, meaning in MEANINGS.items():
                    html("dt", role)
                    html("dd", meaning)
            ui.link("More: what columns mean", "/help/guide.md#what-columns-mean")

    def _rows(self) -> None:
        self._body.clear()
        self._fields = {}
        roles = self.draft.roles(self.table)
        with (
            self._body,
            ui.element("table")
            .classes("plain columns-table stacked")
            .props('data-testid="columns"'),
        ):
            with ui.element("thead"), ui.element("tr"):
                for name in (
                    "Column",
                    "Role",
                    "Why it was proposed",
                    "Different",
                    "Missing",
                    "Values",
                ):
                    html("th", name, scope="col")
            with ui.element("tbody"):
                for guess in self.profile.guesses[self._first : self._first + PAGE]:
                    self._row(guess, roles.get(guess.name, ""))

    def _row(self, guess: ColumnGuess, role: str) -> None:
        facts = guess.facts
        self._roles[guess.name] = role
        with ui.element("tr"):
            with ui.element("th").props('scope="row"'):
                ui.label(guess.name).classes("name")
                ui.label(facts.kind).classes("fine")
            with ui.element("td").props('data-label="Role"'):
                self._fields[guess.name] = choice(
                    ROLES,
                    role,
                    f"Role of {guess.name}",
                    partial(self._chosen, guess.name),
                    testid=f"role-{guess.name}",
                ).classes(f"role {ROLES[role].replace(' ', '-')}")
            with ui.element("td").classes("why").props('data-label="Why"'):
                ui.label(guess.why.removeprefix(PLEASE_CHECK)).classes(
                    "check" if guess.why.startswith(PLEASE_CHECK) else ""
                )
            with ui.element("td").classes("number").props('data-label="Different"'):
                ui.label(different(guess))
            with ui.element("td").classes("number").props('data-label="Missing"'):
                ui.label(part(facts.missing, facts.rows))
            with ui.element("td").props('data-label="Values"') as self._cells[guess.name]:
                self._values(guess, role)

    def _values(self, guess: ColumnGuess, role: str) -> None:
        histogram = self.profile.histograms[guess.name]
        if role == "identifiers" or not histogram.bars:
            ui.label(histogram.why or IDENTIFIES).classes("fine")
            return
        with ui.element("button").classes("bare").on("click", lambda: self._large(guess)) as button:
            ui.html(start_pictures.small(guess.name, histogram), sanitize=False)
        button.props.update(
            {
                "type": "button",
                "title": "Show them large",
                "aria-label": f"Values of {guess.name}: show them large",
            }
        )

    def _large(self, guess: ColumnGuess) -> None:
        with (
            ui.dialog() as dialog,
            ui.element("div").classes("card dialog-card").props('data-testid="values"'),
        ):
            picture(
                self.visit,
                start_pictures.large(guess, self.profile.histograms[guess.name]),
                f"{self.table}-{guess.name}",
            )
            ui.button("Close", on_click=dialog.close).props("flat no-caps autofocus")
        dialog.props["aria-label"] = f"Values of {guess.name}"
        dialog.on("hide", dialog.delete)
        dialog.open()

    def _chosen(self, column: str, role: str) -> Any:
        wishes: list[Wish] = [SetRole(self.table, column, role or None)]  # type: ignore[arg-type]
        guess = self.profile.guess(column)
        if (
            role == "quasi-identifiers"
            and guess is not None
            and column not in self.draft.hierarchies(self.table)
        ):
            wishes.append(
                SetHierarchy(self.table, column, coarsen(guess).spec)
            )  # without levels no search could make it coarser
        return self.wish(*wishes)

    def _people(self) -> None:
        """Who counts as one person."""
        names = {
            "": "each row is one person",
            **{one.name: f"people differ in {one.name}" for one in self._may_tell_people()},
        }
        now = self._person_now()
        names.setdefault(now, f"people differ in {now}")
        with ui.element("div").classes("row"):
            html("span", "Who counts as one person").classes("label")
            self._person = choice(
                names, now, "Who counts as one person", self._chosen_person, testid="person"
            )

    def _may_tell_people(self) -> list[ColumnGuess]:
        return [
            one
            for one in self.profile.guesses
            if not one.facts.missing
            and one.facts.rows
            and (one.role == "identifier" or one.facts.is_nearly_unique)
        ]

    def _person_now(self) -> str:
        person = self.draft.table(self.table).get("person")
        return ", ".join(map(str, person)) if isinstance(person, list) else str(person or "")

    def _chosen_person(self, column: str) -> Any:
        now = self.draft.table(self.table).get("person")
        names = [now] if isinstance(now, str) else list(now or ())
        wishes: list[Wish] = [
            SetPerson(self.table, str(name), on=False) for name in names if name != column
        ]
        return self.wish(*wishes, *([SetPerson(self.table, column)] if column else []))

    def _pager(self) -> None:
        def move(by: int) -> None:
            last = (len(self.profile.guesses) - 1) // PAGE * PAGE
            self._first = min(max(0, self._first + by * PAGE), last)
            self._rows()
            where.set_text(self._where())

        ui.button("Previous", on_click=lambda: move(-1)).props("flat dense no-caps")
        where = ui.label(self._where()).classes("fine").props('role="status"')
        ui.button("Next", on_click=lambda: move(1)).props("flat dense no-caps")

    def _where(self) -> str:
        many = len(self.profile.guesses)
        return f"columns {self._first + 1} to {min(self._first + PAGE, many)} of {many}"

    def _csv(self) -> bytes:
        roles = self.draft.roles(self.table)
        rows: list[tuple[Any, ...]] = [
            ("column", "type", "role", "why", "rows", "values", "different", "missing")
        ]
        for one in self.profile.guesses:
            facts = one.facts
            rows.append(
                (
                    one.name,
                    facts.kind,
                    ROLES[roles.get(one.name, "")],
                    one.why,
                    facts.rows,
                    facts.values,
                    facts.distinct,
                    facts.missing,
                )
            )
        return csv_bytes(rows)


def counted(many: int, what: str) -> str:
    """How many there are of something.

    >>> counted(1, "row"), counted(0, "row"), counted(45222, "row")
    ('1 row', '0 rows', '45,222 rows')
    """
    return f"{many:,} {what}{'s' * (many != 1)}"


def different(guess: ColumnGuess) -> str:
    """How many different values a column has, and how much that is of its rows.

    >>> from tacit.starter.survey import ColumnProfile
    >>> (
    ...     different(ColumnGuess(ColumnProfile("age", "integer", 45222, 45222, 74), None, "")),
    ...     different(ColumnGuess(ColumnProfile("id", "integer", 9, 9, 9), None, "")),
    ... )
    ('74 (0.17 %)', 'all 9')
    """
    facts = guess.facts
    if facts.is_unique:
        return f"all {facts.distinct:,}"
    return part(facts.distinct, facts.rows)


def part(some: int, of: int) -> str:
    """A number, and its share in percent.

    >>> part(0, 9), part(3, 1000), part(1, 10**6), part(399, 400)
    ('0', '3 (0.3 %)', '1 (0.0001 %)', '399 (99.8 %)')
    """
    if not some or not of:
        return f"{some:,}"
    return f"{some:,} ({percent(Fraction(some, of))})"
