"""Tasks of a synthetic release: the sizes of its groups, the noise of other terms, and drawing
its people in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.model.jobs import Job
from tacit.workbench.app.reach import load_within
from tacit.workbench.targets import enter_folder
from tacit.workbench.tasks.verdict_texts import VerdictText

if TYPE_CHECKING:
    from tacit.families.synthetic.question import Sort
    from tacit.families.synthetic.runs.trial_noise import SizeNoise
    from tacit.report.charts.maps import Map
    from tacit.report.charts.portrait_chart import Chart
    from tacit.report.html.cards import HtmlGrid


@dataclass(frozen=True, slots=True)
class Sizes:
    """The groups of a synthetic release, by a few of different sizes."""

    sorts: tuple[Sort, ...]
    groups: int
    people: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SynthesisOutcome:
    """What drawing ended in, in words, tables and pictures;
    `output` is None where a check does not hold.
    """

    output: str | None
    because: str
    numbers: tuple[tuple[str, str], ...]
    meaning: str
    told: tuple[tuple[str, str], ...]
    answers: tuple[VerdictText, ...]
    tables: tuple[tuple[str, HtmlGrid], ...]
    charts: tuple[Chart, ...]
    maps: tuple[Map, ...]
    warnings: tuple[str, ...]
    html: str
    digest: str


def sizes(job: Job, path: str, reach: str, release: str) -> Sizes:
    """How many people the groups of a synthetic release have."""
    from tacit.families.synthetic.reading.questions import synthetic_questions_of
    from tacit.families.synthetic.runs.synthesize import the_release
    from tacit.families.synthetic.runs.trial_noise import some_sorts
    from tacit.plan.open_plan import OpenPlan

    plan = load_within(path, reach)
    the_release(plan, release)
    with OpenPlan(plan, job) as opened:
        planned = synthetic_questions_of(opened).planned(release)
        return Sizes(some_sorts(planned.sorts), planned.groups, planned.people, planned.warnings)


def tried(
    text: str, file: str, folder: Path, release: str, terms: Mapping[str, Any], known: Sizes
) -> tuple[SizeNoise, ...]:
    """The noise that other terms of a release would need;
    a TacitError where no plan can have them.
    """
    from tacit.families.synthetic.promise.losses import Epsilon
    from tacit.families.synthetic.promise.terms import Terms
    from tacit.families.synthetic.runs.synthesize import the_release
    from tacit.families.synthetic.runs.trial_noise import SetTerms, noise_of
    from tacit.plan.edit.editing import edited, loaded

    changed = edited(text, SetTerms(release, terms), file=file, folder=folder)
    one = the_release(loaded(changed, file=file, folder=folder), release)
    asked = Terms(Epsilon.read(one.epsilon), one.delta, one.guarantee, one.mechanism, one.accept)
    return noise_of(asked, known.groups, known.sorts)


def draw(
    job: Job,
    path: str,
    reach: str,
    release: str,
    name: str,
    replace_file: bool,
    restart: bool,
    digest: str,
) -> SynthesisOutcome:
    """Draw the synthetic people of a release as the plan says, and write them to a file below
    the plan's folder.
    """
    from tacit.families.synthetic.runs.synthesize import synthesize, the_release
    from tacit.families.words import spoken
    from tacit.report import synthesis as told
    from tacit.report.charts.curves import distance_charts, error_charts, privacy_curve

    plan = load_within(path, reach)
    one = the_release(plan, release)
    shown = enter_folder(plan, path, name, replace_file=replace_file)
    found = synthesize(plan, release, shown, restart=restart, job=job.part(0.0, 0.9))
    job.step("drawing the pictures", 0.92)
    group = spoken(one.group)
    curve = privacy_curve(
        told.curve_of(found),
        float(found.terms.epsilon),
        found.terms.delta,
        guarantee=found.terms.guarantee,
    )
    measured = (
        [
            *distance_charts(found.utility, group),
            *error_charts(found.utility, group, found.baseline),
        ]
        if found.utility
        else []
    )
    grids = [
        ("What is still true", told.utility_grid(found, one)),
        (f"By size of {group}", told.bands_grid(found, one)),
        ("The largest, one by one", told.largest_grid(found, one)),
        ("Step by step", told.steps_grid(found)),
        ("Releasing again", told.budget_grid(found)),
    ]
    better = told.describe_better_values(found)
    return SynthesisOutcome(
        found.output,
        found.because,
        tuple(told.numbers(found, True)),
        told.meaning(found, one),
        (
            ("Protected", told.protected(one)),
            ("Not protected", told.not_protected(one)),
            ("Noise", told.describe_noise(found.noise, found.groups)),
            *([("Compared", better)] if better else []),
        ),
        tuple(map(VerdictText.of, found.verdicts)),
        tuple((title, grid) for title, grid in grids if grid is not None),
        (*([curve] if curve else []), *measured),
        tuple(told.drawn_maps(found, True, group, None)),
        found.warnings,
        told.render(found, "owner", one),
        digest,
    )
