"""Policy packs on the page Start: which there are, what each covers and what not, and a button that
includes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.plan.edit.wishes.check_wishes import AddCheck
from tacit.plan.read.policies import INCLUDE, PolicyPack, built_in, check_text, load_policy
from tacit.report.terminal.policies import NO_PROMISE
from tacit.workbench.pages.start.fields import choice, html

if TYPE_CHECKING:
    from tacit.workbench.drafts import PlanDraft


class Packs:
    """The packs that come with Tacit; `wish` is told which one is included."""

    def __init__(self, draft: PlanDraft, table: str, wish: Callable[..., Any]) -> None:
        self.draft, self.table, self.wish = draft, table, wish
        self.policies = {name: load_policy(name) for name in built_in()}
        self.policy, self.release = next(iter(self.policies)), ""
        self._shown: object = None

    async def show(self) -> None:
        """The whole section."""
        with ui.element("section").classes("card").props('aria-labelledby="packs-title"'):
            html("h2", "Policy packs", id="packs-title")
            ui.label(
                "A pack is a list of checks that a document asks for, or comes close to asking for."
            ).classes("muted")
            self._choosing = ui.element("div").classes("row")
            self._told = ui.element("div").classes("stack").props('data-testid="pack"')
        await self.sync()

    async def sync(self) -> None:
        """Offer the releases that the text has now."""
        releases = list(self.draft.releases(self.table))
        if (now := (releases, self.policy)) == self._shown:
            return
        self._shown = now
        self._choosing.clear()
        with self._choosing:
            self._choices(releases)
        self._told.clear()
        with self._told:
            tell(self.policies[self.policy])

    def _choices(self, releases: Sequence[str]) -> None:
        offered = {name: f"{name}: {one.title}" for name, one in self.policies.items()}
        choice(offered, self.policy, "Policy pack", self._chose, testid="pack-name")
        if not releases:
            ui.label("Add a release above: a pack is asked of one.").classes("muted")
            return
        if self.release not in releases:
            self.release = next((one for one in releases if one != "raw"), releases[0])
        html("span", "of").classes("label")
        choice(
            {one: one for one in releases},
            self.release,
            "Release to ask the pack of",
            lambda one: setattr(self, "release", one),
            testid="pack-release",
        )
        ui.button("Include this pack", on_click=self._include).props(
            'outline no-caps data-testid="include-pack"'
        )

    async def _chose(self, name: str) -> None:
        self.policy = name
        await self.sync()

    def _include(self) -> Any:
        return self.wish(included(self.draft.values().get("checks"), self.policy, self.release))


def included(checks: Any, policy: str, release: str) -> AddCheck:
    """The wish to include a pack; one that the plan has already gets a name of its own.

    >>> included([], "wp216", "april").parameters
    {'policy': 'wp216', 'release': 'april'}
    >>> included([{"include": {"policy": "wp216", "release": "april"}}], "wp216", "may").parameters
    {'policy': 'wp216', 'release': 'may', 'name': 'wp216-may'}
    """
    written = checks if isinstance(checks, list) else []
    entries = [one[INCLUDE] for one in written if isinstance(one, dict) and INCLUDE in one]
    taken = {one.get("name", one.get("policy")) for one in entries if isinstance(one, dict)}
    keys = {"policy": policy, "release": release}
    names = (policy, f"{policy}-{release}", *(f"{policy}-{at}" for at in range(2, 1000)))
    free = next(name for name in names if name not in taken)
    return AddCheck(INCLUDE, keys if free == policy else {**keys, "name": free})


def tell(policy: PolicyPack) -> None:
    """What a pack asks, covers and does not cover."""
    ui.label(f"Source: {policy.source}").classes("fine")
    ui.label(f"Seen of it: {policy.seen}").classes("fine")
    ui.label(f"Asks: {'; '.join(map(check_text, policy.checks))}.")
    with ui.element("details").classes("more"):
        html("summary", "What it covers, and what not")
        html("h3", "Covers")
        with ui.element("ul"):
            for one in policy.covers:
                html("li", f"{one.clause}. By {one.by}: {one.how}.")
        html("h3", "Does not cover")
        with ui.element("ul"):
            for text in policy.not_covered:
                html("li", f"{text}.")
    ui.label(NO_PROMISE).classes("fine")
