"""What the pages of overlapping views and of synthetic releases
have done in processes of their own.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.checking.assess import answer
from tacit.checking.holdings.holdings import holdings_of
from tacit.errors import InputError
from tacit.families.catalog import kinds_of
from tacit.families.overlaps.family import FAMILY
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.words import plural
from tacit.model.holdings import Adversary, Hand
from tacit.model.jobs import Job
from tacit.plan.open_plan import OpenPlan
from tacit.workbench.app.reach import load_within
from tacit.workbench.everybody import ENDING, forget_others, write_people

if TYPE_CHECKING:
    from tacit.families.overlaps.memberships import Flags
    from tacit.families.overlaps.stages import Stages
    from tacit.families.synthetic.runs.comparison import GroupNoise
    from tacit.families.synthetic.runs.synthesis_results import Synthesized
    from tacit.plan.plan import Check, Plan
    from tacit.report.charts.maps import Map
    from tacit.report.charts.portrait_chart import Chart
    from tacit.report.html.cards import HtmlGrid

GAMMA = "gamma-privacy"


# -- overlapping views -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class OverlapPeople:
    """Everybody whom some views could show: their beliefs release by
    release, and the file in which they are.

    `asked` is gamma, where it was asked for.
    `could_be[class, view]` says who could be in which of the `views`.
    """

    key: tuple[str, ...]
    asked: Fraction | None
    stages: Stages
    views: tuple[str, ...]
    could_be: Flags
    file: str
    people: int


def everybody(
    job: Job, path: str, reach: str, releases: Sequence[str], folder: str
) -> OverlapPeople:
    """Count the beliefs about everybody after each of some releases, and write down who they
    are, into a file in the folder.
    """
    from tacit.families.overlaps.overlap import NOTHING
    from tacit.families.overlaps.stages import stages

    plan = load_within(path, reach)
    check = check_of(plan, releases)
    with OpenPlan(plan, job.part(0.0, 0.3)) as opened:
        question = question_of(check, opened)
        counted = stages(question, job.part(0.3, 0.6))
        file = new_file(Path(folder), path, releases)
        many = write_people(
            file,
            question.everyone(),
            len(question.key),
            question.overlap.people,
            job.part(0.6, 1.0),
        )
        forget_others(file, file.name.split(".")[0])
    could_be = (question.overlap.outputs != NOTHING).any(axis=2)
    asked = (
        Fraction(str(check.parameters["gamma"]))
        if check.kind == GAMMA and "gamma" in check.parameters
        else None
    )
    return OverlapPeople(
        question.key, asked, counted, question.overlap.views, could_be, file.name, many
    )


def check_of(plan: Plan, releases: Sequence[str]) -> Check:
    """The check that asks about just these releases together;
    gamma-privacy where there are several.
    """
    found = [
        one
        for one in plan.checks
        if one.kind in kinds_of("overlaps") and one.releases == tuple(releases)
    ]
    if not found:
        raise InputError(
            "the plan has no check of these releases together any more.",
            hint="Check the plan again.",
        )
    return min(found, key=lambda one: one.kind != GAMMA)


def question_of(check: Check, opened: OpenPlan) -> OverlapQuestion:
    """The question that was decided: together with what is published, where something is."""
    found = answer(check, opened, holdings_of(opened)).question
    if isinstance(found, OverlapQuestion):
        return found
    return FAMILY.question(check, Hand(Adversary((), (), check.releases)), opened)


def new_file(folder: Path, path: str, releases: Sequence[str]) -> Path:
    """Where the people of some releases of a plan are written to: nobody's name is in it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", "utf-8")
    stem = hashlib.sha256("\0".join([os.path.basename(path), *releases]).encode()).hexdigest()[:16]
    return folder / f"{stem}.{secrets.token_hex(6)}{ENDING}"


# -- synthetic releases ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """A written output beside the true people: how far it is off, and how that looks."""

    file: str
    figures: tuple[tuple[str, str], ...]
    grids: tuple[HtmlGrid, ...]
    better: str
    charts: tuple[Chart, ...]
    maps: tuple[Map, ...]


def promise(
    job: Job, path: str, reach: str, release: str
) -> tuple[Synthesized, tuple[GroupNoise, ...]]:
    """What a synthetic release promises and spends, and the noise of every group."""
    from tacit.families.synthetic.runs.comparison import promised
    from tacit.families.synthetic.runs.synthesize import the_release

    plan = load_within(path, reach)
    with OpenPlan(plan, job) as opened:
        return promised(opened, the_release(plan, release), job)


def compare_output(job: Job, path: str, reach: str, release: str, file: str) -> OutputComparison:
    """Compare a written output with the true people."""
    from tacit.families.synthetic.runs.comparison import compared
    from tacit.families.synthetic.runs.synthesize import the_release
    from tacit.families.words import spoken
    from tacit.report.charts.curves import distance_charts, error_charts
    from tacit.report.synthesis import (
        bands_grid,
        describe_better_values,
        drawn_maps,
        largest_grid,
        numbers,
        utility_grid,
    )

    plan = load_within(path, reach)
    named = the_release(plan, release)
    with OpenPlan(plan, job) as opened:
        found = compared(opened, named, Path(file), job)
    job.step("drawing the maps", 0.9)
    group, utility = spoken(named.group), found.utility
    captions = {
        "True and synthetic people": utility_grid(found, named),
        f"By size of {group}": bands_grid(found, named),
    }
    captions[f"The largest {plural(group, 2).split(' ', 1)[1]}"] = largest_grid(found, named)
    grids = tuple(
        replace(grid, caption=caption) for caption, grid in captions.items() if grid is not None
    )
    charts = (
        (*distance_charts(utility, group), *error_charts(utility, group, found.baseline))
        if utility is not None
        else ()
    )
    return OutputComparison(
        Path(file).name,
        tuple(numbers(found, True)),
        grids,
        describe_better_values(found),
        charts,
        tuple(drawn_maps(found, True, group, None)),
    )
