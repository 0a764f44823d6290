"""The checks of a plan on the page Start: which there are, their thresholds, and one more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.errors import InputError, TacitError
from tacit.model.numbers import exact
from tacit.plan.edit.wishes.check_wishes import RemoveCheck, SetCheck
from tacit.plan.edit.wishes.release_wishes import AddRelease
from tacit.plan.read.policies import INCLUDE
from tacit.plan.read.values import is_short_number
from tacit.workbench.pages.start.fields import choice, entry, html, ticks, word
from tacit.workbench.pages.start.offers import OFFERED, by_worry, offer_of
from tacit.workbench.parts.notices import show_error
from tacit.workbench.parts.terms import headed, tell

if TYPE_CHECKING:
    from tacit.workbench.drafts import PlanDraft


LOGARITHM = re.compile(r"ln\([0-9./]{1,40}\)")
THRESHOLDS = (
    "k",
    "l",
    "c",
    "t",
    "e",
    "m",
    "v",
    "alpha",
    "epsilon",
    "delta",
    "rho1",
    "rho2",
    "gamma",
    "at-most",
)


def read_number(text: str) -> int | Fraction | str:
    """A threshold as somebody writes it; a logarithm, as an epsilon can be, stays a text.

    >>> read_number("4"), read_number("2.8"), read_number("1/3"), read_number("ln(50)")
    (4, Fraction(14, 5), Fraction(1, 3), 'ln(50)')
    """
    written = text.strip().replace(",", ".")
    if LOGARITHM.fullmatch(written):
        return written
    try:
        found = exact(written) if is_short_number(written) else None
    except (ValueError, ArithmeticError):
        found = None
    if found is None:
        raise InputError(
            f"{text[:30]!r} is no number.", hint="Write it with digits, such as 4 or 2.8."
        )
    return int(found) if found.denominator == 1 else found


class Checks:
    """The checks of a plan; thresholds are changed here, and `wish` is told."""

    def __init__(self, draft: PlanDraft, table: str, wish: Callable[..., Any]) -> None:
        self.draft, self.table, self.wish = draft, table, wish
        self._shown: object = None
        self._kind = "k"
        self._release = self._secret = ""
        self._together: list[str] = []

    async def show(self) -> None:
        """The whole section."""
        with ui.element("section").classes("card").props('aria-labelledby="checks-title"'):
            headed("What to protect against", "checks-title", "check", "release")
            ui.label(
                "A check asks whether a release tells too much. Begin with these, and add others "
                "on the way."
            ).classes("muted")
            self._list = ui.element("div").classes("stack").props('data-testid="checks"')
            self._add = ui.element("div").classes("row")
            self._said = ui.element("div").classes("said").props('aria-live="polite"')
        await self.sync()

    async def sync(self) -> None:
        """Show what the text says now."""
        checks, releases = self.draft.values().get("checks"), list(self.draft.releases(self.table))
        now = repr(
            (
                checks,
                releases,
                list(self.draft.views()),
                list(self.draft.synthetic(self.table)),
                self.draft.names("secrets"),
            )
        )
        if now == self._shown:
            return
        self._shown = now
        self._said.clear()
        self._list.clear()
        with self._list:
            listed = checks if isinstance(checks, list) else []
            for at, check in enumerate(listed):
                if isinstance(check, dict) and len(check) == 1:
                    self._check(at, *next(iter(check.items())))
            if not listed:
                ui.label("Nothing yet: without checks nothing is known about a release.").classes(
                    "muted"
                )
        self._add.clear()
        with self._add:
            self._adding(releases)

    def _check(self, at: int, kind: str, keys: Any) -> None:
        keys = keys if isinstance(keys, Mapping) else {}
        about = keys.get("release", keys.get("releases", ""))
        of = ", ".join(map(str, about)) if isinstance(about, list) else str(about)
        of += f", about {keys['secret']}" if "secret" in keys else ""
        kind = f"policy pack {keys.get('policy', '')}" if kind == INCLUDE else kind
        with ui.element("div").classes("check-row") as row:
            row.props.update({"role": "group", "aria-label": f"Check {at + 1}: {kind} of {of}"})
            with ui.element("span"):
                html("strong", str(kind))
                html("span", f" of {of}" + (f", {keys['kind']}" if "kind" in keys else "")).classes(
                    "muted"
                )
                if found := offer_of(str(kind), keys):
                    text = f"{found.worry}: if it holds, {found.sentence}."
                    tell(str(kind), text, str(kind), f"definitions/{kind}.md")
            for name in THRESHOLDS:
                if isinstance(keys.get(name), int | Decimal | str) and not isinstance(
                    keys.get(name), bool
                ):
                    html("span", f"{name} =").classes("label")
                    entry(
                        word(keys[name]),
                        f"{name} of check {at + 1}, {kind}",
                        partial(self._enter, at, name),
                        testid=f"check-{at}-{name}",
                        size=5,
                        inputmode="decimal",
                    )
            remove = ui.button("Remove", on_click=lambda: self.wish(RemoveCheck(at))).props(
                "flat dense no-caps"
            )
            remove.props["aria-label"] = f"Remove check {at + 1}: {kind} of {of}"

    def _enter(self, at: int, name: str, text: str) -> Any:
        try:
            return self.wish(SetCheck(at, {name: read_number(text)}))
        except TacitError as error:
            self._fail(error)

    def _adding(self, releases: list[str]) -> None:
        known = {
            "copies": releases,
            "views": list(self.draft.views()),
            "synthetic": list(self.draft.synthetic(self.table)),
        }
        secrets = self.draft.names("secrets")
        if not releases:
            ui.label("There is no copy of the table to be released yet.").classes("muted")
            ui.button(
                "Add a release",
                on_click=lambda: self.wish(AddRelease(self._free_name(), {"table": self.table})),
            ).props("outline no-caps")
        offered = {
            key
            for key, one in OFFERED.items()
            if len(known[one.of]) >= one.fewest and (secrets or not one.about_secret)
        }
        if not offered:
            return
        self._kind = (
            self._kind if self._kind in offered else next(one for one in OFFERED if one in offered)
        )
        offer = OFFERED[self._kind]
        choice(by_worry(offered), self._kind, "Check to add", self._chose_kind, testid="add-kind")
        self._ask_of(known[offer.of], several=offer.several)
        if offer.about_secret:
            self._secret = self._secret if self._secret in secrets else secrets[0]
            html("span", "about").classes("label")
            choice(
                {one: one for one in secrets},
                self._secret,
                "Secret",
                lambda one: setattr(self, "_secret", one),
                testid="add-secret-of-check",
            )
        ui.button("Add this check", on_click=self._added).props(
            'outline no-caps data-testid="add-check"'
        )

    def _ask_of(self, names: list[str], *, several: bool) -> None:
        """Which release, or which ones together."""
        if several:
            self._together = [one for one in self._together if one in names] or list(names)
            ticks(names, self._together, "of", self._tick, testid="add-together")
            return
        self._release = (
            self._release
            if self._release in names
            else next((one for one in names if one != "raw"), names[0])
        )
        html("span", "of").classes("label")
        choice(
            {one: one for one in names},
            self._release,
            "Release to check",
            lambda one: setattr(self, "_release", one),
            testid="add-release",
        )

    async def _chose_kind(self, kind: str) -> None:
        self._kind = kind
        self._shown = None
        await self.sync()

    def _tick(self, name: str, on: bool) -> None:
        self._together = [one for one in self._together if one != name] + [name] * on

    async def _added(self) -> None:
        offer = OFFERED[self._kind]
        try:
            wish = offer.wish(self._together if offer.several else [self._release], self._secret)
        except TacitError as error:
            self._fail(error)
            return
        await self.wish(wish)

    def _free_name(self) -> str:
        taken = set(self.draft.names("releases"))
        return next(
            name
            for name in ("generalized", *(f"generalized{number}" for number in range(2, 1000)))
            if name not in taken
        )

    def _fail(self, error: TacitError) -> None:
        self._said.clear()
        with self._said:
            show_error(error)
