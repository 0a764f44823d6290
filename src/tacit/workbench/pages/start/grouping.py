"""Values put together by hand: tick some, name the group, go on; then the groups, a level up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from tacit.errors import TacitError
from tacit.starter.grouping import Item, ValueGroups
from tacit.workbench.pages.start.fields import choice, entry, html
from tacit.workbench.parts.notices import show_error


class GroupMaker:
    """The groups of a column as they are being made; `made` gets the text of the file."""

    def __init__(
        self, column: str, groups: ValueGroups, made: Callable[[str], Awaitable[None]]
    ) -> None:
        self.column, self.groups, self.made = column, groups, made
        self._level = 1
        self._ticked: set[str] = set()
        self._name = ""
        self._before: list[ValueGroups] = []

    def show(self, place: ui.element) -> None:
        """The table of values, in the place of what was there."""
        place.clear()
        with place:
            self._box = ui.element("div").classes("stack grouping")
            self._box.props["data-testid"] = f"grouping-{self.column}"
        self._fill()

    def _fill(self) -> None:
        self._box.clear()
        with self._box:
            ui.label(
                "Tick what belongs together, give it a name, and group it. The next level groups "
                "the groups. At the top stands * for all."
            ).classes("muted")
            self._tools()
            self._said = ui.element("div").classes("said").props('aria-live="polite"')
            self._table()
            with ui.element("div").classes("toolbar"):
                ui.button("Use these levels", on_click=self._finish).props(
                    'unelevated no-caps data-testid="use-groups"'
                )

    def _tools(self) -> None:
        with ui.element("div").classes("row"):
            html("span", "Level").classes("label")
            levels = {str(at): f"level {at}" for at in range(1, max(1, self.groups.height) + 1)}
            if self.groups.height:
                levels[str(self.groups.height + 1)] = f"level {self.groups.height + 1} (new)"
            choice(
                levels,
                str(self._level),
                f"Level of {self.column} that is grouped",
                self._chose_level,
                testid="group-level",
            )
            html("span", "Name of the group").classes("label")
            entry(
                self._name,
                "Name of the group",
                lambda text: setattr(self, "_name", text),
                testid="group-name",
                size=18,
                at_once=True,
            )
            ui.button("Group what is ticked", on_click=self._group).props(
                'outline no-caps data-testid="group"'
            )
            undo = ui.button("Undo", on_click=self._undo)
            undo.props('flat no-caps data-testid="group-undo"')
            undo.set_enabled(bool(self._before))

    def _table(self) -> None:
        items = self.groups.items(self._level)
        sizes: dict[str, list[int]] = {}
        for item in items:
            size = sizes.setdefault(item.group, [0, 0])
            size[0] += item.values
            size[1] += item.rows
        order = list(sizes)
        with (
            ui.element("div")
            .classes("scroll group-table")
            .props(f'tabindex="0" role="region" aria-label="Values of {self.column}"'),
            ui.element("table").classes("plain"),
        ):
            with ui.element("thead"), ui.element("tr"):
                for head in ("", "Value", "Rows", f"Label at level {self._level}", "It has"):
                    html("th", head, scope="col")
            with ui.element("tbody"):
                for item in sorted(items, key=lambda one: order.index(one.group)):
                    self._row(item, *sizes[item.group])

    def _row(self, item: Item, values: int, rows: int) -> None:
        with ui.element("tr"):
            with ui.element("td"):
                box = ui.element("input").props('type="checkbox"')
                box.props["aria-label"] = f"Tick {item.name}"
                box.props["data-testid"] = f"tick-{item.name}"
                if item.name in self._ticked:
                    box.props["checked"] = True
                box.on(
                    "change",
                    partial(self._tick, item.name),
                    js_handler="(event) => emit(event.target.checked)",
                )
            html("td", item.name)
            html("td", f"{item.rows:,}").classes("number")
            html("td", item.group if item.group != item.name else "")
            many = f"{values:,} value{'s' * (values != 1)}, {rows:,} row{'s' * (rows != 1)}"
            html("td", many if item.group != item.name else "").classes("fine")

    def _tick(self, name: str, event: object) -> None:
        (self._ticked.add if bool(getattr(event, "args", False)) else self._ticked.discard)(name)

    def _chose_level(self, level: str) -> None:
        self._level, self._ticked = int(level), set()
        if self._level > self.groups.height:
            self._change(self.groups.with_level())
        self._fill()

    def _change(self, groups: ValueGroups) -> None:
        self._before.append(self.groups)
        self.groups = groups

    def _group(self) -> None:
        try:
            found = self.groups.grouped(self._level, self._ticked, self._name)
        except TacitError as error:
            self._said.clear()
            with self._said:
                show_error(error)
            return
        self._change(found)
        self._ticked, self._name = set(), ""
        self._fill()

    def _undo(self) -> None:
        self.groups = self._before.pop()
        self._level = max(1, min(self._level, self.groups.height))
        self._ticked = set()
        self._fill()

    async def _finish(self) -> None:
        await self.made(self.groups.text())
