"""Repair: change a release, or add to it, until its checks hold; or draw synthetic people."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import ui

from tacit.errors import InputError, did_you_mean
from tacit.families.overlaps.runs.restore import KIND
from tacit.families.words import listed
from tacit.model.release import Microdata, Release, Synthetic
from tacit.plan.plan import Check, Plan
from tacit.workbench.bench import Visit
from tacit.workbench.check_states import CheckState, State, adopt, answers, state_of
from tacit.workbench.pages.overview.page import can_be_repaired
from tacit.workbench.pages.repair.lattice import show_microdata
from tacit.workbench.pages.repair.repair_answers import heading
from tacit.workbench.pages.repair.restore import show_views
from tacit.workbench.pages.repair.slider import named
from tacit.workbench.pages.repair.synthesize import show_synthetic
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.notices import notice

NO_CHECK = "no check"
SEARCHES: Mapping[str, Callable[[Visit, Plan, Any], Awaitable[None]]] = {
    "microdata": show_microdata,
    "synthetic": show_synthetic,
}


async def show(visit: Visit, name: str = "") -> None:
    """One release, where the path names it; else all that can be repaired."""
    plan = visit.book.plan()
    if not name:
        await adopt(visit.book)
        show_all(visit, plan, await asyncio.to_thread(lambda: answers(plan, visit.book.checked)))
        return
    release = plan.releases.get(name)
    checks = restorable(plan, name)
    if release is not None and release.shape in SEARCHES:
        await SEARCHES[release.shape](visit, plan, release)
    elif checks:
        await show_views(visit, plan, name, checks)
    elif release is not None:
        show_by_hand(visit, release)
    else:
        known = [*plan.releases, *(check.name for check in plan.checks if check.name)]
        raise InputError(f"the plan has no release {name!r}.", hint=did_you_mean(name, known))


def restorable(plan: Plan, name: str) -> list[int]:
    """The places of the gamma-privacy checks that ask about a release, or have that name."""
    return [
        at
        for at, check in enumerate(plan.checks)
        if check.kind == KIND and (name in check.releases or name == check.name)
    ]


def show_by_hand(visit: Visit, release: Release) -> None:
    """What can be done for a release that nothing is searched for."""
    heading(f"Repair {release.name}", "h1")
    ui.label(
        f"{release.name} is {release.called}, and no gamma-privacy check asks about it: only for "
        "such a check are further views looked for."
    ).classes("muted")
    with (
        ui.element("section")
        .classes("card")
        .props('aria-label="What can be done" data-testid="by-hand"')
    ):
        heading("What can be done", "h2")
        ui.label(
            "Where a check does not hold, its verdict says what shows too much. Change what it "
            "shows in the plan on the page Start, or give it to fewer; then check it again."
        )
        with ui.element("div").classes("toolbar"):
            ui.link("Change it on the page Start", visit.link()).props('data-testid="to-start"')
            ui.link(f"The verdicts of {release.name}", visit.link("release", release.name))


def show_all(visit: Visit, plan: Plan, found: list[CheckState]) -> None:
    """Everything of the plan that can be repaired, by how."""
    ui.html("Repair", tag="h1", sanitize=False)
    ui.label(
        "Where a check does not hold, something can often be changed so that it does. A "
        "repair writes a file that you then look at. Nothing is sent anywhere."
    ).classes("muted")
    tables = [
        one
        for one in plan.of(Microdata).values()
        if can_be_repaired(plan, one, about(found, one.name))
    ]
    synthetic = plan.of(Synthetic).values()
    gamma = of_views(found)
    if tables:
        section("Tables: make values coarser until the checks hold")
        with ui.element("div").classes("grid-3"):
            for one in tables:
                told = (
                    f"{one.file}, which is there already" if one.file else f"from table {one.table}"
                )
                entry(visit, one.name, one.name, told, about(found, one.name))
    if gamma:
        section("Views: publish further views until nobody is believed too much")
        with ui.element("div").classes("grid-3"):
            for name, title, told, state in gamma:
                entry(visit, name, title, told, state)
    if synthetic:
        section("Synthetic people: choose the noise, and draw")
        with ui.element("div").classes("grid-3"):
            for drawn in synthetic:
                entry(
                    visit,
                    drawn.name,
                    drawn.name,
                    f"{drawn.value} by {drawn.group}, from table {drawn.table}",
                    about(found, drawn.name),
                )
    if not (tables or gamma or synthetic):
        notice(
            "The plan has nothing that can be repaired: no table to release, no gamma-privacy "
            "check of views, no synthetic release. Add one on the page Start."
        )


def of_views(found: list[CheckState]) -> list[tuple[str, str, str, str]]:
    """Each gamma-privacy check: the name of its page, its own name, what it asks, and what it
    said itself: others of the same views do not count.
    """
    asked = [one for one in found if one.check.kind == KIND]
    return [
        (
            one.check.name or one.check.releases[0],
            one.check.name or listed(one.check.releases),
            told_check(one.check),
            one.state,
        )
        for one in asked
    ]


def section(title: str) -> None:
    """A heading."""
    ui.html(title, tag="h2", sanitize=False).style("margin-top: .5rem")


def told_check(check: Check) -> str:
    """A check of views in words."""
    return f"gamma-privacy of {listed(check.releases)}"


def entry(visit: Visit, name: str, title: str, told: str, state: str) -> None:
    """One thing that can be repaired, with the last verdict about it."""
    with named(ui.element("section").classes("card"), title, f"repair-{name}"):
        with ui.element("div").classes("row between"):
            ui.link(title, visit.link("repair", name)).style("font-weight: 650")
            badge(state, NO_CHECK if state == "none" else "")
        ui.label(told).classes("muted")


def about(found: list[CheckState], release: str) -> State:
    """What the last verdicts about a release say, all its checks together."""
    return state_of(one for one in found if release in one.check.releases)
