"""Hierarchies on the page Start: how the values of each quasi-identifier become coarser, with a
tree to look at before.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui
from nicegui.events import MultiUploadEventArguments

from tacit.engines.files import read_rows
from tacit.engines.formats import TEXT
from tacit.errors import DataError, InputError, TacitError
from tacit.families.microdata.hierarchy import SUPPRESSED, value_text
from tacit.families.words import listed
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.plan.edit.lookup import spec_at
from tacit.plan.edit.notes import SUPPRESSED_NOTE, described, level_note
from tacit.plan.edit.wishes.release_wishes import SetLevels
from tacit.plan.edit.wishes.table_wishes import SetHierarchy
from tacit.plan.read.hierarchies import UNITS, height
from tacit.plan.read.values import is_short_number
from tacit.starter.coarsening import widths
from tacit.starter.grouping import groups_of
from tacit.starter.hierarchy_files import is_called, matches, oddities
from tacit.starter.previews import Branch, Preview, file_height, order, preview
from tacit.workbench.app import uploads
from tacit.workbench.app.uploads import in_page_words
from tacit.workbench.drafts import data_files
from tacit.workbench.pages.start.dropping import drop_zone
from tacit.workbench.pages.start.fields import choice, entry, html
from tacit.workbench.pages.start.grouping import GroupMaker
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.terms import headed

if TYPE_CHECKING:
    from tacit.starter.guessing import ColumnGuess
    from tacit.starter.profile import Profile
    from tacit.workbench.bench import Visit
    from tacit.workbench.drafts import PlanDraft

GROUPS = "groups"  # a way that becomes a file
WAYS = {
    "": "none: released as it is",
    "*": "suppress: one step to *",
    "ranges": "bands of numbers",
    "dates": "months and years",
    "mask": "hide characters",
    "file": "a file with levels",
    GROUPS: "groups of values, made here",
}
SIDES = {"right": "from the right (prefixes stay)", "left": "from the left"}
MOST_LEVELS = 20


def way_of(spec: HierarchySpec | None) -> str:
    """Which of the ways a hierarchy is.

    >>> way_of(MaskHierarchy("right")), way_of(None)
    ('mask', '')
    """
    kinds = {
        FlatHierarchy: "*",
        RangeHierarchy: "ranges",
        DateHierarchy: "dates",
        MaskHierarchy: "mask",
        CsvHierarchy: "file",
    }
    return kinds[type(spec)] if spec else ""


def read_widths(text: str) -> RangeHierarchy:
    """The widths of bands as somebody writes them.

    >>> read_widths("5, 10 20").widths
    (Decimal('5'), Decimal('10'), Decimal('20'))
    >>> read_widths("five")
    Traceback (most recent call last):
    tacit.errors.InputError: 'five' is no number. Write the widths from fine to coarse, such as 5, 10, 20.
    """  # noqa: E501
    found = []
    for one in text.replace(",", " ").replace(";", " ").split():
        try:
            found.append(Decimal(one if is_short_number(one) else "?"))
        except InvalidOperation:
            raise InputError(
                f"{one[:30]!r} is no number.",
                hint="Write the widths from fine to coarse, such as 5, 10, 20.",
            ) from None
    if not found or not all(one.is_finite() and one > 0 for one in found):
        raise InputError(
            "bands need widths above 0.",
            hint="Write the widths from fine to coarse, such as 5, 10, 20.",
        )
    return RangeHierarchy(tuple(found))


def read_units(text: str) -> DateHierarchy:
    """Units of the calendar as somebody writes them.

    >>> read_units("month, year").units
    ('month', 'year')
    """
    found = text.lower().replace(",", " ").split()
    strange = [one for one in found if one not in UNITS]
    if strange or not found:
        raise InputError(
            f"{strange[0][:30]!r} is no unit." if strange else "no unit is named.",
            hint=f"Write some of {', '.join(UNITS)}, from fine to coarse.",
        )
    return DateHierarchy(tuple(found))  # type: ignore[arg-type]


def look_over(part: Path, name: str) -> None:
    """Whether a file that came can be a hierarchy."""
    rows = read_rows(part, name)
    if not rows or len(rows[0][1]) < 2:
        raise DataError(
            f"{name} has no levels.", hint="Each line of it says: value;level 1;level 2;*"
        )


def fits_none(file: str, others: Sequence[str]) -> InputError:
    """Why a file with levels is for no quasi-identifier; `others` are columns that it would fit.

    >>> fits_none("jobs.csv", ["occupation"]).message
    'jobs.csv has the values of occupation, which is no quasi-identifier: it is not made coarser.'
    """
    if others:
        which = (
            "which is no quasi-identifier: it is"
            if len(others) == 1
            else "which are no quasi-identifiers: they are"
        )
        return InputError(
            f"{file} has the values of {listed(others)}, {which} not made coarser.",
            hint="Change the role under Columns, and drop the file again.",
        )
    return InputError(
        f"{file} fits no column: no quasi-identifier has all its values in the first column of "
        "this file.",
        hint="Every value of the data needs a line.",
    )


class Hierarchies:
    """The hierarchies of a table's quasi-identifiers."""

    def __init__(
        self, visit: Visit, draft: PlanDraft, profile: Profile, table: str, wish: Callable[..., Any]
    ) -> None:
        self.visit, self.draft, self.profile, self.table, self.wish = (
            visit,
            draft,
            profile,
            table,
            wish,
        )
        self._panels: dict[str, Panel] = {}

    async def show(self) -> None:
        """The whole section."""
        with ui.element("section").classes("card").props('aria-labelledby="hierarchies-title"'):
            headed("How values become coarser", "hierarchies-title", "hierarchy", "level")
            ui.label(
                "Quasi-identifiers are released level by level coarser. Open one to see its "
                "levels, and to choose another way."
            ).classes("muted")
            with ui.element("div").classes("row hierarchy-files"):
                self._upload = drop_zone(
                    "Drop files of hierarchies here",
                    coming=lambda: None,
                    uploaded=self._uploaded,
                    rejected=lambda: self._fail(
                        InputError("this file was not taken.", hint="It must be a CSV file.")
                    ),
                    endings=TEXT,
                    testid="drop-hierarchies",
                    several=True,
                )
                ui.label(
                    "Each line of a file says: value;level 1;level 2;*. A file goes to the column "
                    "whose values it has."
                ).classes("fine")
                self._undo = ui.button("Undo the last change", on_click=self._undone).props(
                    'outline no-caps data-testid="undo"'
                )
            self._said = (
                ui.element("div")
                .classes("said stack")
                .props('aria-live="polite" data-testid="hierarchies-said"')
            )
            self._none = ui.label(
                "No column is a quasi-identifier yet. Give what others may know about a person "
                "that role, above."
            ).props('data-testid="no-quasi"')
            self._list = ui.element("div").classes("panels").props('data-testid="hierarchies"')
        await self.sync()

    async def sync(self) -> None:
        """Show what the text says now; panels that are open stay open."""
        roles = self.draft.roles(self.table)
        quasi = [column for column, role in roles.items() if role == "quasi-identifiers"]
        self._none.set_visibility(not quasi)
        self._undo.set_enabled(bool(self.draft.before))
        if list(self._panels) != quasi:
            self._rebuild(quasi)
        for panel in self._panels.values():
            await panel.sync()

    async def _uploaded(self, event: MultiUploadEventArguments) -> None:
        """Files that came: for which columns are they?"""
        self._said.clear()
        found: dict[str, str] = {}
        for one in event.files:
            try:
                found |= dict.fromkeys(*await self._stored(one))
            except TacitError as error:
                self._fail(error)
        self._upload.reset()
        if not found:
            return
        await self.wish(
            *(
                SetHierarchy(self.table, column, CsvHierarchy(file))
                for column, file in found.items()
            )
        )
        with self._said:
            names = ", ".join(f"{column}: {file}" for column, file in found.items())
            notice(f"Matched by their values: {names}.", "good")

    async def _stored(self, one: Any) -> tuple[list[str], str]:
        """The columns that a file is for, and its name; it goes where there are none."""
        folder = self.visit.book.folder
        stored = await uploads.store(one.iterate(), one.name, folder, check=look_over)
        file = os.path.relpath(stored.path, folder)
        columns = await asyncio.to_thread(self._columns_of, file, stored.path)
        if not columns:
            others = await asyncio.to_thread(self._columns_of, file, stored.path, quasi=False)
            if stored.is_new:
                stored.path.unlink(missing_ok=True)
            raise fits_none(uploads.shortened(one.name), others)
        return columns, file

    def _columns_of(self, file: str, path: Path, *, quasi: bool = True) -> list[str]:
        """The quasi-identifiers that a file has levels for, or the other columns;
        those it is called after, if there are such.
        """
        found = list(matches({file: path}, self._values(quasi=quasi)))
        return [one for one in found if is_called(one, file)] or found

    def _values(self, *, quasi: bool) -> dict[str, list[Any]]:
        """The values of the quasi-identifiers, or of the others, as far as they were kept."""
        roles = self.draft.roles(self.table)
        return {
            column: [value for value, _ in counted]
            for column, counted in self.profile.values.items()
            if (roles.get(column) == "quasi-identifiers") == quasi
            and self.profile.has_all_values(column)
        }

    async def _undone(self) -> None:
        self.draft.undo()
        await self.wish()

    def _fail(self, error: TacitError) -> None:
        with self._said:
            show_error(error)

    def _rebuild(self, quasi: list[str]) -> None:
        for name in [name for name in self._panels if name not in quasi]:
            self._panels.pop(name).element.delete()
        with self._list:
            for name in quasi:
                if name not in self._panels:
                    self._panels[name] = Panel(self, name)
        self._panels = {name: self._panels[name] for name in quasi}
        for at, name in enumerate(quasi):
            self._panels[name].element.move(target_index=at)


class Panel:
    """One column: its hierarchy in words, and when it is opened the tree and other ways."""

    def __init__(self, section: Hierarchies, column: str) -> None:
        self.section, self.column = section, column
        self.spec: HierarchySpec | None = None
        self._shown: object = None
        self._open = False
        with ui.element("details").classes("panel") as self.element:
            self.element.props["data-testid"] = f"hierarchy-{column}"
            with ui.element("summary"):
                html("span", column).classes("name")
                self._words = ui.label().classes("muted")
            self._body = ui.element("div").classes("stack inside")
        self.element.on("toggle", self._toggled, js_handler="(event) => emit(event.target.open)")

    async def sync(self) -> None:
        """Show what the text says now."""
        draft, table = self.section.draft, self.section.table
        try:
            self.spec = spec_at(draft.text, table, self.column)
        except TacitError:
            return
        words = described(self.spec) if self.spec else "no hierarchy: released as it is"
        levels = ", ".join(
            f"in {name}: {level_note(self.spec, level) if self.spec else f'level {level}'}"
            for name, level in self._levels().items()
        )
        self._words.set_text(f"{words}{f' · {levels}' if levels else ''}")
        if self._open and self._shown != (self.spec, self._levels()):
            await self._fill()

    async def _toggled(self, event: Any) -> None:
        self._open = bool(event.args)
        if self._open:
            await self._fill()

    async def _fill(self) -> None:
        if self._shown == (self.spec, self._levels()):
            return
        self._shown = (self.spec, self._levels())
        self._body.clear()
        with self._body:
            with ui.element("div").classes("row"):
                self._ways()
            if self.spec is not None:
                fields = ui.element("div").classes("row")
                found = await self._preview(self.spec)
                top = await asyncio.to_thread(self._top, found)
                with fields:
                    self._level_fields(top, found)

    def _ways(self) -> None:
        guess = self.section.profile.guess(self.column)
        way = way_of(self.spec)
        offered = {key: words for key, words in WAYS.items() if key == way or fits(key, guess)}
        choice(offered, way, f"Way for {self.column}", self._chose_way, testid=f"way-{self.column}")
        match self.spec:
            case RangeHierarchy(steps):
                text = ", ".join(
                    f"{Decimal(one.numerator) / Decimal(one.denominator):f}"
                    if hasattr(one, "denominator")
                    else str(one)
                    for one in steps
                )
                entry(
                    text,
                    f"Widths of the bands of {self.column}",
                    lambda text: self._enter(read_widths, text),
                    testid=f"widths-{self.column}",
                    size=18,
                )
            case DateHierarchy(units, zone):
                entry(
                    ", ".join(units),
                    f"Units for {self.column}",
                    lambda text: self._enter(lambda one: replace(read_units(one), zone=zone), text),
                    size=18,
                )
            case MaskHierarchy(side):
                choice(
                    SIDES,
                    side,
                    f"Side from which {self.column} is hidden",
                    lambda one: self._set(MaskHierarchy(one)),  # type: ignore[arg-type]
                )
            case CsvHierarchy(file):
                files = self._files()
                choice(
                    dict(zip([file, *files], [file, *files], strict=True)),
                    file,
                    f"File with the levels of {self.column}",
                    lambda one: self._set(CsvHierarchy(one)),
                    testid=f"file-{self.column}",
                )

    def _files(self) -> list[str]:
        book = self.section.visit.book
        return data_files(self.section.visit.bench, book.folder, (".csv", ".txt"))

    def _chose_way(self, way: str) -> Any:
        guess = self.section.profile.guess(self.column)
        specs: dict[str, Callable[[], HierarchySpec | None]] = {
            "": lambda: None,
            "*": FlatHierarchy,
            "ranges": lambda: RangeHierarchy(
                widths(guess.facts, guess.family) if guess else (Decimal(10),)
            ),
            "dates": lambda: DateHierarchy(("month", "year")),
            "mask": lambda: MaskHierarchy("right"),
            "file": self._likely_file,
        }
        if way == GROUPS:
            return self._group()
        try:
            return self._set(specs[way]())
        except TacitError as error:
            self._fail(error)

    def _group(self) -> None:
        """Put values together by hand, from where the hierarchy is now."""
        counted = self.section.profile.values.get(self.column, ())
        if not counted or not self.section.profile.has_all_values(self.column):
            self._fail(
                InputError(
                    f"{self.column} has too many different values to group them by hand.",
                    hint="Choose bands, months and years, hidden characters, or a file.",
                )
            )
            return
        values = [(value_text(value), rows) for value, rows in sorted(counted, key=order)]
        GroupMaker(self.column, groups_of(values, self._lines()), self._made).show(self._body)

    def _lines(self) -> list[list[str]]:
        """The lines of the file that is the hierarchy now."""
        if not isinstance(self.spec, CsvHierarchy):
            return []
        visit = self.section.visit
        try:
            place = visit.bench.inside(visit.book.folder / self.spec.file)
            return [row for _, row in read_rows(place, self.spec.file)]
        except (TacitError, OSError):
            return []

    async def _made(self, text: str) -> None:
        """A hierarchy that was made by hand becomes a file."""
        folder = self.section.visit.book.folder

        async def pieces() -> AsyncIterator[bytes]:
            yield text.encode()

        try:
            stored = await uploads.store(
                pieces(), f"hierarchy_{self.column}.csv", folder, check=look_over
            )
        except TacitError as error:
            self._fail(error)
            return
        self._shown = None
        await self._set(CsvHierarchy(os.path.relpath(stored.path, folder)))

    def _likely_file(self) -> CsvHierarchy:
        files = self._files()
        own = {one.file for table in (self.section.profile.look,) if (one := table).file}
        named = [
            file
            for file in files
            if self.column.lower() in Path(file).stem.lower() and file not in own
        ]
        others = [file for file in files if file not in own]
        if not named and not others:
            raise InputError(
                "there is no CSV file below the plan's folder.",
                hint=(
                    f"Put one there, such as {self.column}.csv, with a line for every value: "
                    "value;level 1;level 2;*"
                ),
            )
        return CsvHierarchy((named or others)[0])

    def _enter(self, read: Callable[[str], HierarchySpec], text: str) -> Any:
        try:
            return self._set(read(text))
        except TacitError as error:
            self._fail(error)

    def _set(self, spec: HierarchySpec | None) -> Any:
        return self.section.wish(SetHierarchy(self.section.table, self.column, spec))

    def _fail(self, error: TacitError) -> None:
        with self._body:
            show_error(error)

    def _levels(self) -> dict[str, int]:
        found = {}
        for name, release in self.section.draft.releases(self.section.table).items():
            levels = release.get("generalization")
            level = levels.get(self.column) if isinstance(levels, dict) else None
            if isinstance(level, int):
                found[name] = level
        return found

    def _top(self, found: Preview | None) -> int:
        """The highest level: of the hierarchy itself, of its file, or as its values showed it."""
        known = height(self.spec) if self.spec else 0
        if known is not None:
            return known
        now = max(self._levels().values(), default=0)
        if isinstance(self.spec, CsvHierarchy):
            visit = self.section.visit
            try:
                visit.bench.inside(visit.book.folder / self.spec.file)
                return file_height(visit.book.folder / self.spec.file, self.spec.file)
            except (TacitError, OSError):
                return now
        if found is not None and self.section.profile.has_all_values(self.column):
            return found.steps[-1].height
        return max(now, MOST_LEVELS)

    def _level_fields(self, top: int, found: Preview | None) -> None:
        if self.spec is None:
            return
        seen = {step.height: step.examples for step in found.steps} if found is not None else {}
        for name, release in self.section.draft.releases(self.section.table).items():
            if isinstance(self.spec, CsvHierarchy | MaskHierarchy):
                options = {
                    str(level): f"level {level}{example_of(seen.get(level, ()))}"
                    for level in range(top + 1)
                }
            else:
                options = {
                    str(level): f"level {level}: {level_note(self.spec, level)}"
                    for level in range(top + 1)
                }
            options["0"] = "level 0: as it is"
            now = self._levels().get(name, 0)
            options.setdefault(str(now), f"level {now}: it has none such")
            html("span", f"In {name}").classes("label")
            choice(
                options,
                str(now),
                f"Level of {self.column} in {name}",
                partial(self._set_level, name, release),
            )

    def _set_level(self, name: str, release: dict[Any, Any], level: str) -> Any:
        now = release.get("generalization")
        levels = {**(now if isinstance(now, dict) else {}), self.column: int(level)}
        return self.section.wish(SetLevels(name, levels))

    async def _preview(self, spec: HierarchySpec) -> Preview | None:
        """Show what the hierarchy does, where that can be shown."""
        profile, visit = self.section.profile, self.section.visit
        counted = profile.values.get(self.column)
        if (
            not counted
            or self.section.draft.roles(self.section.table).get(self.column) == "identifiers"
        ):
            ui.label(
                "There are too many different values, or none that may be shown, for a tree."
            ).classes("fine")
            return None
        try:
            if isinstance(spec, CsvHierarchy):
                visit.bench.inside(visit.book.folder / spec.file)
            found = await asyncio.to_thread(
                preview, self.column, counted, spec, folder=visit.book.folder
            )
        except TacitError as error:
            show_error(in_page_words(error))
            return None
        except OSError:
            show_error(
                DataError(
                    f"there is no file {spec.file}."
                    if isinstance(spec, CsvHierarchy)
                    else "it cannot be read."
                )
            )
            return None
        if isinstance(spec, CsvHierarchy) and profile.has_all_values(self.column):
            rows = await asyncio.to_thread(read_rows, visit.book.folder / spec.file, spec.file)
            for odd in oddities([value for value, _ in counted], rows):
                notice(odd, "warn")
        show_tree(found, self.column, is_whole=profile.has_all_values(self.column))
        return found


def example_of(labels: Sequence[str]) -> str:
    """What a level shows for example, behind its number.

    >>> example_of(["20-29", "30-39", "40-49"]), example_of(["*"]), example_of([])
    (': such as 20-29', ': suppressed', '')
    """
    if not labels:
        return ""
    return f": {SUPPRESSED_NOTE}" if labels[0] == SUPPRESSED else f": such as {labels[0]}"


def fits(way: str, guess: ColumnGuess | None) -> bool:
    """Whether a way makes sense for a kind of column."""
    if guess is None:
        return True
    facts = guess.facts
    needs = {
        "ranges": facts.is_number,
        "dates": facts.is_date,
        "mask": facts.kind in ("text", "integer"),
    }
    return needs.get(way, True)


def show_tree(found: Preview, column: str, *, is_whole: bool) -> None:
    """The levels in a table, and below them the tree that they make;
    in one piece, for a tree can have a thousand labels.
    """
    name = escape(column, quote=True)
    heads = "".join(
        f'<th scope="col">{head}</th>'
        for head in ("Level", "Labels", "Smallest group at this level", "For example")
    )
    rows = "".join(
        f"<tr><td>{step.height}</td><td>{step.labels:,}</td><td>{step.fewest:,}</td>"
        f"<td>{escape(', '.join(step.examples))}"
        f"{', ...' if step.labels > len(step.examples) else ''}</td></tr>"
        for step in found.steps
    )
    ui.html(
        f'<div class="scroll" tabindex="0" role="region" aria-label="Levels of {name}"><table '
        f'class="plain levels"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>",
        sanitize=False,
    )
    if not is_whole:
        ui.label(f"Made of the {found.values:,} most frequent values.").classes("fine")
    branches = "".join(branch_html(branch, is_open=len(found.trees) == 1) for branch in found.trees)
    ui.html(
        f'<ul class="tree" aria-label="Tree of {name}" '
        f'data-testid="tree-{name}">{branches}{left_out(found.more)}</ul>',
        sanitize=False,
    )


def branch_html(branch: Branch, *, is_open: bool) -> str:
    """A label with what is below it; those with one part only are opened at once.

    >>> branch_html(Branch("17", 0, 1, 493), is_open=False)
    '<li><span class="label">17</span> <span class="fine">493 rows</span></li>'
    """
    rows = f"{branch.rows:,} row{'s' * (branch.rows != 1)}"
    label = f'<span class="label">{escape(branch.label)}</span>'
    if not branch.parts:
        return f'<li>{label} <span class="fine">{rows}</span></li>'
    values = f"{branch.values:,} value{'s' * (branch.values != 1)}"
    parts = "".join(branch_html(part, is_open=len(branch.parts) == 1) for part in branch.parts)
    head = f'<summary>{label} <span class="fine">{values}, {rows}</span></summary>'
    return (
        f"<li><details{' open' * is_open}>{head}<ul>{parts}{left_out(branch.more)}"
        "</ul></details></li>"
    )


def left_out(many: int) -> str:
    """How many branches are not shown."""
    return f'<li class="fine">and {many:,} more</li>' if many else ""
