"""Synthetic data on the page Start: which releases of made-up people there are, and a form for
one more or for another text of one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from html import escape
from posixpath import normpath
from typing import Any

from nicegui import ui

from tacit.errors import Problems, TacitError
from tacit.plan.edit.wishes.release_wishes import RemoveRelease
from tacit.workbench import drafts
from tacit.workbench.app import uploads
from tacit.workbench.bench import Visit
from tacit.workbench.drafts import PlanDraft
from tacit.workbench.pages.repair.synthesize import GUARANTEES
from tacit.workbench.pages.start.fields import choice, entry, html, set_value, word, writing
from tacit.workbench.pages.start.latest import Latest
from tacit.workbench.pages.start.synthetic_fields import (
    EMPTY,
    Fields,
    doubt,
    fields_of,
    in_words,
    listed,
    refused,
    wishes_of,
)
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.terms import headed

MECHANISMS = {
    "dirichlet": "Dirichlet: people are drawn",
    "geometric": "geometric: counts with noise",
}
OPTIONS = (
    "coarsen",
    "prior",
    "accept",
    "shrink",
    "shrink-file",
    "miles",
    "beyond",
)  # folded until they are used
DOMAINS = {
    "file": "a public file",
    "list": "a list that I write here",
    "none": "none: the values of the table",
}
OUTSIDE = {"error": "is an error", "drop": "is left out"}
SHRINKS = {"": "all of them", "miles": "by distance, in miles", "file": "by the chances in a file"}
SAFE = (
    "The domain has every value that there could be, also those that nobody has. It must be "
    "public and not made from this table: the values that the table has are no domain that "
    "protects, for they tell what nobody has."
)
OUT = (
    "Left out means that it is no secret who is outside: the published size of their group "
    "tells it."
)
KEPT_WITH = (
    "One value on each line. The list is kept with the table, as its domains: checks of views "
    "and of copies of the table read it too."
)


class SyntheticReleases:
    """The section. What stands in the form becomes a wish when its button is pressed, and
    follows the text meanwhile.
    """

    def __init__(
        self, visit: Visit, draft: PlanDraft, table: str, wish: Callable[..., Any]
    ) -> None:
        self.visit, self.draft, self.table, self.wish = visit, draft, table, wish
        self._changing: str | None = None  # the release that the form is about; None: a new one
        self._was = self._fields = self._blank()
        self._files: list[str] = []
        self._shown: object = None
        self._built: object = None
        self._is_tried = False
        self._judge = Latest(self._mark_faults)
        self._wrong: dict[str, list[TacitError]] = {}
        self._inputs: dict[str, ui.element] = {}
        self._boxes: dict[str, ui.element] = {}
        self._said: dict[str, ui.element] = {}

    def _blank(self) -> Fields:
        return {**EMPTY, "table": self.table}

    async def show(self) -> None:
        """The whole section."""
        with ui.element("section").classes("card").props('aria-labelledby="synthetic-title"'):
            headed(
                "Synthetic data", "synthetic-title", "synthetic data", "epsilon and delta", "domain"
            )
            ui.label(
                "Made-up people instead of true ones, with a proof of how little one true person "
                "changes them. They are drawn on the page Repair."
            ).classes("muted")
            self._list = (
                ui.element("div").classes("stack").props('data-testid="synthetic-releases"')
            )
            self._done = ui.element("div").classes("said").props('aria-live="polite"')
            with (
                ui.element("div").classes("panels"),
                ui.element("details")
                .classes("panel")
                .props('data-testid="panel-synthetic"') as self._panel,
            ):
                with ui.element("summary"):
                    self._title = html("span", "New synthetic release").classes("name")
                self._body = ui.element("div").classes("stack inside")
            self._panel.on(
                "toggle",
                lambda event: self._panel.props.update({"open": bool(event.args)}),
                js_handler="(event) => emit(event.target.open)",
            )
        await self.sync()

    async def sync(self) -> None:
        """Show what the text says now. What somebody has written in the form stays."""
        entries, tables = self.draft.synthetic(), self.draft.tables()
        now = repr((entries, {one: self.draft.table(one).get("domains") for one in tables}))
        if now != self._shown:
            self._shown = now
            self._list.clear()
            with self._list:
                for name, one in entries.items():
                    self._row(name, one["synthetic"])
            self._follow()
        if self._built != self._surroundings():
            await self._build()

    def _surroundings(self) -> object:
        """What the form is built from, besides what is written in it."""
        return self._changing, {one: columns_of(self.draft, one) for one in self.draft.tables()}

    def _follow(self) -> None:
        """The form with what the text says by now, where nobody has written something else."""
        if self._changing is None:
            return
        new = fields_of(self.draft, self._changing)
        if new is None:
            self._tell(
                f"{self._changing} is not in the plan any more, or not as this form could show it. "
                "What you wrote would be a new release.",
                "warn",
            )
            self._changing, self._was, self._built = None, self._blank(), None
            return
        merged = {
            key: new[key] if self._fields[key] == self._was[key] else self._fields[key]
            for key in new
        }
        if merged != self._fields:
            self._built = None
        self._was, self._fields = new, merged

    def _row(self, name: str, keys: Mapping[Any, Any]) -> None:
        with ui.element("div").classes("check-row"):
            with ui.element("span"):
                html("strong", name)
            html(
                "span",
                f"each person's {word(keys.get('value'))} is protected, by "
                f"{word(keys.get('group'))}; epsilon {word(keys.get('epsilon'))}, delta "
                f"{word(keys.get('delta'))}",
            ).classes("muted given")
            if fields_of(self.draft, name) is None:
                html(
                    "span", "written in a way that the form does not have: change it in the text"
                ).classes("fine")
            else:
                ui.button("Change", on_click=partial(self._open, name)).props(
                    "flat dense no-caps"
                ).props["aria-label"] = f"Change {name}"
            ui.button("Remove", on_click=partial(self._remove, name)).props(
                "flat dense no-caps"
            ).props["aria-label"] = f"Remove {name}"

    async def _open(self, name: str | None) -> None:
        """The form about a release, or about a new one."""
        fields = fields_of(self.draft, name) if name else self._blank()
        if fields is None:
            return
        self._changing, self._was, self._fields = name, fields, dict(fields)
        self._done.clear()
        self._panel.props["open"] = True
        self._panel.update()
        await self._build()
        self._focus("name")

    async def _remove(self, name: str) -> None:
        if self._changing == name:
            self._close()
        await self.wish(RemoveRelease(name))

    def _close(self) -> None:
        """The form empty, and folded."""
        self._changing, self._built = None, None
        self._was = self._fields = self._blank()
        self._panel.props["open"] = False
        self._panel.update()

    # -- the form ----------------------------------------------------------------------------------

    async def _build(self) -> None:
        self._files = await asyncio.to_thread(
            drafts.data_files, self.visit.bench, self.visit.book.folder, uploads.KINDS
        )
        self._is_tried = False
        self._built = self._surroundings()
        self._title.set_content(
            "New synthetic release"
            if self._changing is None
            else f"Change {escape(self._changing)}"
        )
        self._inputs, self._boxes, self._said = {}, {}, {}
        self._body.clear()
        with self._body:
            with ui.element("div").classes("form-grid"):
                self._entry("name", "Name of the release", placeholder="homes")
                self._choice("table", "Table", {one: one for one in self.draft.tables()})
            with ui.element("div").classes("form-grid"):
                self._columns()
            self._words = (
                ui.element("div")
                .classes("notice info")
                .props('data-testid="synthetic-words" aria-live="polite"')
            )
            with ui.element("div").classes("form-grid"):
                self._promise()
            with ui.element("div").classes("form-grid"):
                self._domain()
            with ui.element("details").classes("legend") as self._more:
                html("summary", "Options")
                with ui.element("div").classes("form-grid"):
                    self._options()
            if any(self._fields[key] != EMPTY[key] for key in OPTIONS):
                self._more.props["open"] = True
            with ui.element("div").classes("toolbar"):
                words = "Add the release" if self._changing is None else f"Change {self._changing}"
                ui.button(words, on_click=self._press).props(
                    'outline no-caps data-testid="add-synthetic"'
                )
                if self._changing is not None:
                    ui.button("Leave it as it is", on_click=self._leave).props("flat no-caps")
            self._said[""] = ui.element("div").classes("said").props('aria-live="polite"')
        self._refresh()

    def _columns(self) -> None:
        columns = columns_of(self.draft, self._fields["table"])
        self._column(
            "value",
            "Protected: the private column",
            columns,
            "choose a column",
            "Such as where somebody lives.",
        )
        self._column(
            "group",
            "Groups: a public column",
            columns,
            "choose a column",
            "Such as where they work. Each group is drawn by itself.",
        )
        self._column(
            "count",
            "People per row",
            columns,
            "each row is one person",
            "Or the column that has their number.",
        )

    def _promise(self) -> None:
        self._choice(
            "guarantee",
            "Guarantee",
            GUARANTEES,
            "The second one takes more noise, and what is computed from the output need not "
            "keep it.",
        )
        self._entry(
            "epsilon",
            "Epsilon",
            "How much surer somebody may become. Smaller is more private; from 0.1 to 10 is usual.",
            placeholder="2, or ln(50)",
        )
        self._entry(
            "delta",
            "Delta",
            "How far that may fail: far below one in the number of people.",
            placeholder="1e-5, or 0",
        )
        self._choice(
            "mechanism",
            "Mechanism",
            MECHANISMS,
            "The first draws people from the group mixed with invented ones. The second leaves "
            "small counts out.",
        )

    def _domain(self) -> None:
        html("p", SAFE).classes("fine wide")
        self._choice("domain", "Domain: possible values", DOMAINS)
        self._file(
            "file",
            "File with the values",
            "Its column that is called like the private one, else its first.",
        )
        with self._line("values", "Values", KEPT_WITH):
            self._inputs["values"] = writing(
                self._fields["values"],
                "Values",
                partial(self._enter, "values"),
                testid="synthetic-values",
                placeholder="Harbour\nOld Town",
            )
        self._entry(
            "within",
            "Miles from the group, at most",
            "Needs latitude and longitude in the file. Empty: however far.",
            placeholder="any distance",
            inputmode="decimal",
        )
        self._choice("outside", "Somebody with another value", OUTSIDE, OUT)
        self._doubt = (
            ui.element("div")
            .classes("said wide")
            .props('data-testid="synthetic-doubt" aria-live="polite"')
        )

    def _options(self) -> None:
        self._file(
            "coarsen",
            "Coarsen by a file",
            "Regions are drawn first. It has the region of each value, and may have a density.",
            none="values as they are",
        )
        self._file(
            "prior",
            "Prior by a file",
            "Where made-up people are. It has a weight for each value.",
            none="everywhere alike",
            of_none="uniform",
        )
        self._entry(
            "accept",
            "Accept up to",
            "A cell may have so many times its share; other outputs are drawn again. Needs a "
            "delta above 0.",
            placeholder="any output",
            inputmode="decimal",
        )
        self._choice(
            "shrink",
            "Shrink: empty cells kept",
            SHRINKS,
            "Fewer made-up people far off. It costs epsilon: compare first.",
        )
        self._file(
            "shrink-file", "File with the chances", "A chance above 0 and up to 1 for each value."
        )
        self._entry("miles", "Miles and chances up to there", placeholder="2: 1, 5: 0.5, 10: 0.2")
        self._entry("beyond", "The chance beyond", placeholder="0.05", inputmode="decimal")

    @contextmanager
    def _line(self, key: str, title: str, fine: str = "") -> Iterator[None]:
        """A field with its name, what it means, and the place for what is wrong with it."""
        with ui.element("div").classes("form-field") as self._boxes[key]:
            html("span", title).classes("label")
            yield
            if fine:
                html("span", fine, id=f"synthetic-{key}-fine").classes("fine")
                self._inputs[key].props["aria-describedby"] = (
                    f"synthetic-{key}-fine synthetic-{key}-said"
                )
            self._said[key] = (
                ui.element("div")
                .classes("said")
                .props(f'id="synthetic-{key}-said" aria-live="polite"')
            )

    def _entry(
        self, key: str, title: str, fine: str = "", *, placeholder: str, inputmode: str = "text"
    ) -> None:
        with self._line(key, title, fine):
            self._inputs[key] = entry(
                self._fields[key],
                title,
                partial(self._enter, key),
                testid=f"synthetic-{key}",
                at_once=True,
                placeholder=placeholder,
                inputmode=inputmode,
            )

    def _choice(self, key: str, title: str, options: Mapping[str, str], fine: str = "") -> None:
        now = self._fields[key]
        with self._line(key, title, fine):
            self._inputs[key] = choice(
                {**options, **({} if now in options else {now: now})},
                now,
                title,
                partial(self._enter, key),
                testid=f"synthetic-{key}",
            )

    def _column(self, key: str, title: str, columns: list[str], none: str, fine: str) -> None:
        if columns:
            self._choice(key, title, {"": none, **{one: one for one in columns}}, fine)
        else:
            self._entry(key, title, fine, placeholder="name of a column")

    def _file(
        self, key: str, title: str, fine: str, *, none: str = "choose a file", of_none: str = ""
    ) -> None:
        own = self.draft.files()
        self._choice(
            key,
            title,
            {of_none: none, **{one: one for one in self._files if normpath(one) not in own}},
            fine,
        )

    # -- what is written in it ---------------------------------------------------------------------

    async def _enter(self, key: str, text: str) -> None:
        before = listed(self.draft, self._fields["table"], self._fields["value"])
        self._fields = {**self._fields, key: text}
        if key in ("table", "value") and self._fields["values"] in ("", before):
            self._fields["values"] = listed(
                self.draft, self._fields["table"], self._fields["value"]
            )
            set_value(self._inputs["values"], self._fields["values"])
        if key == "table":  # it has other columns
            await self._build()
            self._focus("table")
            return
        self._refresh()
        if self._is_tried:
            await self._judge()

    def _focus(self, key: str) -> None:
        ui.run_javascript(f"getHtmlElement({self._inputs[key].id}).focus();")

    def _refresh(self) -> None:
        """What is said about the fields, and which of them count now."""
        fields = self._fields
        shown = {
            "file": fields["domain"] == "file",
            "within": fields["domain"] == "file",
            "values": fields["domain"] == "list",
            "shrink-file": fields["shrink"] == "file",
            "miles": fields["shrink"] == "miles",
            "beyond": fields["shrink"] == "miles",
        }
        for key, is_shown in shown.items():
            self._boxes[key].set_visibility(is_shown)
        self._words.clear()
        with self._words:
            for words in in_words(fields):
                ui.label(words)
        self._doubt.clear()
        if words := doubt(self.draft, fields):
            with self._doubt:
                notice(words, "warn")

    async def _mark_faults(self) -> None:
        """Say at each field what is wrong with it."""
        self._wrong = await asyncio.to_thread(
            refused, self.draft, self.visit.book, self.visit.bench, self._fields, self._changing
        )
        if not self._wrong.keys().isdisjoint(OPTIONS):
            ui.run_javascript(f"getHtmlElement({self._more.id}).open = true;")
        for key, place in self._said.items():
            problems = self._wrong.get(key, [])
            if key in self._inputs:
                self._inputs[key].props["aria-invalid"] = "true" if problems else "false"
                self._inputs[key].update()
            place.clear()
            with place:
                if problems:
                    show_error(Problems(problems))

    async def _press(self) -> None:
        self._is_tried = True
        await self._mark_faults()
        if self._wrong:
            if wrong := [key for key in self._inputs if key in self._wrong]:
                self._focus(wrong[0])
            return
        try:
            wishes = wishes_of(self.draft, self._fields, self._changing)
        except TacitError as error:  # it was changed in another tab just now
            with self._said[""]:
                show_error(error)
            return
        name, is_new = " ".join(self._fields["name"].split()), self._changing is None
        self._close()
        await self.wish(*wishes)
        self._tell(
            (
                f"{name} is in the plan now, with the check of its promise. Save the plan, "
                "then draw it on the page Repair."
            )
            if is_new
            else f"{name} was changed in the plan. Save it below.",
            "good",
        )

    async def _leave(self) -> None:
        self._close()
        await self._build()

    def _tell(self, words: str, kind: str) -> None:
        self._done.clear()
        with self._done:
            notice(words, kind)


def columns_of(draft: PlanDraft, table: str) -> list[str]:
    """The columns of a table: those that were found in it, else those that the plan names;
    none where neither is known.

    >>> from tacit.workbench.drafts import PlanDraft
    >>> columns_of(
    ...     PlanDraft("tables: {jobs: {columns: [home, work]}, other: {sensitive: flu}}", None),
    ...     "jobs",
    ... )
    ['home', 'work']
    """
    profile = draft.profiles.get(table)
    if profile is not None:
        return [one.name for one in profile.look.columns]
    declared = draft.table(table).get("columns")
    return [str(one) for one in declared] if isinstance(declared, list | dict) else []
