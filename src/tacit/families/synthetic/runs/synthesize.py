"""Synthesize: choose the noise of a synthetic release, ask its checks, draw its groups in batches,
and write the output.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tacit.checking.assess import answer
from tacit.checking.holdings.holdings import holdings_of
from tacit.engines import output as place
from tacit.engines.base import Engine
from tacit.engines.spark.engine import Spark
from tacit.engines.sql.shapes_drawn import OutputShape
from tacit.errors import InputError, ParameterError, did_you_mean
from tacit.families.catalog import kinds_of
from tacit.families.synthetic.promise.spending import Spending, SpendingStep, spending_of
from tacit.families.synthetic.promise.terms import CannotPromise
from tacit.families.synthetic.question import Sort
from tacit.families.synthetic.reading.questions import synthetic_questions_of
from tacit.families.synthetic.reading.synthetic_scene import SyntheticScene
from tacit.families.synthetic.runs.batch_parts import GO_ON, Digest, Folder, RunFacts
from tacit.families.synthetic.runs.batches import Batch
from tacit.families.synthetic.runs.budget import budget
from tacit.families.synthetic.runs.drawing import COMPARE, DRAW, draw_missing
from tacit.families.synthetic.runs.measurement import MOST, SyntheticRows, drawn_flows, histogram
from tacit.families.synthetic.runs.output_file import publish, read
from tacit.families.synthetic.runs.people_batches import PeopleBatches
from tacit.families.synthetic.runs.synthesis_results import (
    SEEDED,
    NoiseSummary,
    Picture,
    Synthesized,
)
from tacit.model.jobs import Job
from tacit.model.release import Synthetic
from tacit.model.verdict import Certificate, Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.owned_files import owners_files
from tacit.plan.plan import Check, Plan

KINDS = {"dp": "differential-privacy", "pdp": "probabilistic-dp"}
NOT_MEASURED = (
    "The utility was not measured: {people:,} people are too many to compare in the memory of "
    "this machine."
)
REPLACED = (
    "An output of that name was there and was replaced. If anybody has it, they know what "
    "both outputs tell together: see budget."
)


OUT_ALREADY = (
    "{release} is published already by the plan: a second output about the same people adds "
    "up, see budget."
)
# and is none of those that are published: it spends by itself
NEW = "an output that is yet to be drawn"
NOT_USED = 0.95  # of epsilon, below which noise is there for another reason


def synthesize(
    plan: Plan,
    release: str,
    output: str,
    *,
    seed: int | None = None,
    restart: bool = False,
    workers: int | None = None,
    compare: bool = True,
    job: Job | None = None,
) -> Synthesized:
    """Draw the synthetic people of a release and write them to `output`,
    if all checks of the release hold.

    Where the plan has no check of the release, the definition that it names (differential privacy,
    or the probabilistic kind) is asked with its own epsilon and delta. Batches that an earlier run
    had drawn are used; `restart` throws them away. With a `seed` the output can be drawn again, by
    anybody who knows it: that is for experiments. With `compare` it is measured against the true
    people, which is for the owner's eyes.
    """
    begun, job = time.perf_counter(), job or Job()
    named = the_release(plan, release)
    if workers is not None and workers < 1:
        raise ParameterError(
            f"--workers {workers}: at least one process has to draw.",
            parameter="workers",
            hint="Leave it out: one for each processor.",
        )
    with OpenPlan(plan, job) as opened:
        holdings_of(opened, {named.name: NEW})  # what is drawn now is another output
        keep = owners_files(plan)
        refuse_on_spark(opened.engine, restart, workers)
        opened.engine.check_target(output, keep=keep)
        job.step("counting the groups", 0.0)
        scene = synthetic_questions_of(opened).scene(named.name)
        opened.engine.check_target(
            output, keep=keep
        )  # once more: now the engine knows which files it reads
        found, spending = measure_and_check(opened, named, seed, job)
        if not found.exit_status:
            found = drawn_and_written(
                opened,
                scene,
                spending,
                found,
                output,
                seed=seed,
                restart=restart,
                workers=workers,
                compare=compare,
                job=job,
            )
        job.step("done", 1.0)
    return replace(found, seconds=time.perf_counter() - begun)


def the_release(plan: Plan, name: str) -> Synthetic:
    """The synthetic release of that name."""
    known = list(plan.of(Synthetic))
    found = plan.releases.get(name)
    if found is None:
        raise InputError(
            f"the plan has no release {name!r}.", hint=did_you_mean(name, known or plan.releases)
        )
    if not isinstance(found, Synthetic):
        write = (
            f"{{table: {getattr(found, 'table', 'people')}, synthetic: {{group: COLUMN, "
            f"value: COLUMN, epsilon: 1, delta: 1e-6}}}}"
        )
        hint = did_you_mean(name, known) if known else f"Write it as {name}: {write}"
        raise InputError(f"{name} is no synthetic release.", hint=hint)
    return found


# -- before anything is drawn ----------------------------------------------------------------------


def measure_and_check(
    opened: OpenPlan, release: Synthetic, seed: int | None, job: Job
) -> tuple[Synthesized, Spending]:
    """The noise of every group, what it spends, and what the checks say."""
    questions = synthetic_questions_of(opened)
    scene, planned = questions.scene(release.name), questions.planned(release.name)
    spending = spending_of(planned, job.part(0.0, DRAW))
    try:
        noise = NoiseSummary.of(spending.noises)
    except CannotPromise as error:
        raise ParameterError(
            f"release {release.name}: {error.message}", parameter="epsilon", hint=error.hint
        ).at(questions.plan.mark("releases", release.name, "synthetic")) from None
    verdicts = tuple(release_verdicts(opened, release, job))
    terms = scene.terms
    found = Synthesized(
        release.name,
        None,
        verdicts,
        terms,
        noise,
        steps(release, spending, worst(spending, verdicts)),
        len(scene.sizes),
        scene.people,
        (scene.outside.people, scene.outside.pairs),
        budget=budget(terms),
        warnings=(SEEDED,) if seed is not None else (),
    )
    return replace(found, warnings=(*found.warnings, *notes(questions.plan, found))), spending


def notes(plan: Plan, found: Synthesized) -> Iterator[str]:
    """What the owner should think about before publishing."""
    if found.release in plan.published:
        yield OUT_ALREADY.format(release=found.release)
    promised = float(found.terms.epsilon)
    if (
        found.terms.accept is not None
        and found.steps
        and found.steps[-1].epsilon < NOT_USED * promised
    ):
        yield (
            "accept, not epsilon, decides how much noise there is: only "
            f"{found.steps[-1].epsilon} of an epsilon of {found.terms.epsilon} is used."
        )


def steps(release: Synthetic, spending: Spending, sort: Sort) -> tuple[SpendingStep, ...]:
    """What is spent after each option; people who are placed inside regions by public numbers
    cost nothing (Theorem 4.4).
    """
    found = tuple(spending.steps(sort))
    if release.coarsen is None:
        return found
    return (
        *found,
        replace(found[-1], name="coarsening, and placing inside", printed=found[-1].epsilon),
    )


def worst(spending: Spending, verdicts: Sequence[Verdict]) -> Sort:
    """The sort of groups that spends the most, as a check has found it;
    else that with the most people.
    """
    sizes = [
        fact
        for one in verdicts
        if isinstance(one.evidence, Certificate)
        for fact in [one.evidence.facts.get("worst_group_size")]
        if fact
    ]
    sorts = [sort for sort, _ in spending.noises]
    return max(sorts, key=lambda sort: (sort.people in sizes, sort.people))


def release_verdicts(opened: OpenPlan, release: Synthetic, job: Job) -> Iterator[Verdict]:
    """The verdicts of the release's own checks, with what is published;
    without any, of the definition that it promises.
    """
    own = [
        check
        for check in opened.plan.checks
        if release.name in check.releases and check.kind in kinds_of("synthetic")
    ]
    path = ("releases", release.name, "synthetic")
    for check in own or [Check(KINDS[release.guarantee], releases=(release.name,), path=path)]:
        job.step(f"asking {check.kind} of {', '.join(check.releases)}", DRAW)
        yield answer(check, opened, holdings_of(opened)).verdict


# -- drawing and writing ---------------------------------------------------------------------------


def drawn_and_written(
    opened: OpenPlan,
    scene: SyntheticScene,
    spending: Spending,
    found: Synthesized,
    output: str,
    *,
    seed: int | None,
    restart: bool,
    workers: int | None,
    compare: bool,
    job: Job,
) -> Synthesized:
    """Draw what is missing, compare it with the truth, and publish it."""
    path = place.file_of(output)
    if path is not None and path.exists():
        found = replace(found, warnings=(*found.warnings, REPLACED))
    if isinstance(opened.engine, Spark):
        from tacit.families.synthetic.runs.on_spark import drawn_by_spark

        found, parts = drawn_by_spark(
            opened.engine, scene, spending.chooser, found, output, seed=seed, job=job
        )
        return measured(PeopleBatches(scene, b""), parts, found, seed, compare, job)
    with Folder(path or opened.plan.folder / output) as folder:
        if restart:
            folder.forget()
        salt = folder.salt()
        people = PeopleBatches(scene, salt)
        folder.begin(salt, facts(opened.plan, scene, people, salt, seed), people.batches)
        shape = shape_of(opened.engine, scene, people.groups)
        with explained(folder, people.batches):
            drawing = draw_missing(
                people, folder, spending.chooser, seed=seed, workers=workers, job=job
            )
            found = measured(people, read(folder, people.batches), found, seed, compare, job)
            rows = publish(folder, people.batches, shape, opened.engine, output, job=job)
        folder.remove()
    return replace(found, output=output, drawing=replace(drawing, rows=rows))


def refuse_on_spark(engine: Engine, restart: bool, workers: int | None) -> None:
    """What Spark does by itself."""
    if not isinstance(engine, Spark):
        return
    if restart:
        raise InputError(
            "on Spark a run is not kept in parts, so there is nothing to restart.",
            hint="Leave --restart out.",
        )
    if workers is not None:
        raise InputError(
            "on Spark each partition draws its own groups.",
            hint="Leave --workers out, and give Spark the cores instead.",
        )


def facts(
    plan: Plan, scene: SyntheticScene, people: PeopleBatches, salt: bytes, seed: int | None
) -> RunFacts:
    """What has to be the same for a run that goes on."""
    release, digest = scene.release, Digest(salt)
    files = [(plan.folder / name).read_bytes() for name in release.files()]
    return RunFacts(
        release={
            "table": release.table,
            "group": release.group,
            "value": release.value,
            "count": release.count,
            "epsilon": str(scene.terms.epsilon),
            "delta": str(release.delta),
            "guarantee": release.guarantee,
            "mechanism": release.mechanism,
            "accept": str(release.accept),
            "outside": release.outside,
            "options": repr((release.domain, release.prior, release.coarsen, release.shrink)),
        },
        cells=digest.of(*(str(value).encode() for value in scene.labels), *files),
        sizes=digest.of(*(f"{group} {size}".encode() for group, size in scene.sizes.items())),
        seed="none" if seed is None else digest.of(str(seed).encode()),
        counts=tuple(people.digests[one] for one in people.batches),
    )


def shape_of(engine: Engine, scene: SyntheticScene, groups: Sequence[Any]) -> OutputShape:
    """The columns of the output."""
    release, kinds = scene.release, engine.columns(scene.release.table)
    return OutputShape(
        release.group,
        release.value,
        release.count,
        groups,
        scene.labels,
        kinds[release.group],
        kinds[release.value],
    )


@contextmanager
def explained(folder: Folder, batches: Sequence[Batch]) -> Iterator[None]:
    """Ctrl-C is passed on with the word that what is drawn is kept."""
    try:
        yield
    except KeyboardInterrupt:
        kept = sum(folder.place(batch).exists() for batch in batches)
        raise KeyboardInterrupt(
            f"{kept:,} of {len(batches):,} batches are drawn. {GO_ON} With --restart they are "
            "thrown away."
        ) from None


# -- looking at it ---------------------------------------------------------------------------------


def measured(
    people: PeopleBatches,
    rows: Iterable[SyntheticRows] | None,
    found: Synthesized,
    seed: int | None,
    against: bool,
    job: Job,
) -> Synthesized:
    """With the utility, that of a histogram with the same terms, and what the report draws;
    not where there are too many people.
    """
    from tacit.families.synthetic.utility.flow_comparison import compare

    scene = people.scene
    if rows is None or found.people > MOST:
        return replace(found, warnings=(*found.warnings, NOT_MEASURED.format(people=found.people)))
    job.step("comparing with the true people", COMPARE)
    positions, true = scene.positions(), scene.flows()
    synthetic = drawn_flows(rows, people.groups, scene.labels)
    if not against:
        return replace(found, picture=Picture(true, synthetic, positions))
    utility, baseline = compare(true, synthetic, positions), None
    if scene.terms.mechanism != "geometric":
        job.step("comparing with a thresholded histogram", COMPARE + 0.03)
        other = histogram(people, seed)
        baseline = compare(true, other, positions) if other is not None else None
    return replace(
        found, utility=utility, baseline=baseline, picture=Picture(true, synthetic, positions)
    )
