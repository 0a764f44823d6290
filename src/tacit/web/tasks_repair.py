"""What the repair page has done: searches, writing, restoring and drawing in processes of their own, looks at one solution on the open source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engines.open import open_engine
from tacit.engines.output import FORMATS
from tacit.errors import InputError
from tacit.jobs import Job
from tacit.source import Source
from tacit.web.reach import load_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.anonymization.explore import Explored
    from tacit.anonymization.preview import Lens, Line
    from tacit.anonymization.results import Choice, NotRepaired, Repaired
    from tacit.model.verdict import Verdict
    from tacit.plan.plan import Plan
    from tacit.report.cards import Grid
    from tacit.report.charts import Chart
    from tacit.report.maps import Map
    from tacit.report.telling import Column, Figure
    from tacit.synthesis.question import Sort
    from tacit.synthesizing.trying import SizeNoise

FIRST_ROWS = 200  # of a release by groups of its own, which only its search can show
SEARCHED = 0.85  # of the work: the share of the search itself


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a table is to be generalized, as the page's controls say it."""

    method: str = "lattice"
    suppress: Fraction = Fraction(0)
    utility: str = "loss"
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    aware: bool = False
    relaxed: bool = False

    def options(self) -> dict[str, Any]:
        """The options of `anonymize`. Groups of their own have no measure to keep small, and the window takes no weights."""
        found: dict[str, Any] = {"method": self.method, "suppress": self.suppress, "utility": self.utility, "at_most": dict(self.at_most)}
        found["weights"] = dict(self.weights) if self.method != "window" else {}
        return found if self.method == "lattice" else {**found, "utility": "loss"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict in words."""

    status: str
    label: str
    because: str
    story: str = ""

    @classmethod
    def of(cls, verdict: Verdict) -> Answer:
        """From a verdict, for the owner."""
        label = f"{verdict.name}: {verdict.label}" if verdict.name else verdict.label
        return cls(verdict.status, label, verdict.because, verdict.story or "")


@dataclass(frozen=True, slots=True)
class Told:
    """A release for which all checks hold, in words and numbers. `levels` is None where each group has labels of its own."""

    levels: Mapping[str, int] | None
    columns: tuple[Column, ...]
    figures: tuple[Figure, ...]
    answers: tuple[Answer, ...]
    rows: str
    method: str
    proof: str
    choice: Choice | None
    example: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Solved:
    """What a search found: the best release, and all other minimal solutions."""

    told: Told
    measure: str
    choices: tuple[Choice, ...]
    said: str
    knows: tuple[str, ...]
    charts: tuple[Chart, ...]
    allowed: Fraction | None
    sensitive: tuple[str, ...]
    wanted: Wanted
    digest: str
    heads: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsolved:
    """Why there is no release, and what would have to give."""

    because: str
    proved: bool
    answers: tuple[Answer, ...]
    advice: tuple[str, ...]
    nodes: tuple[int, int]
    wanted: Wanted
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, where, and the report about it."""

    output: str
    released: int
    suppressed: int
    columns: tuple[str, ...]
    not_written: str
    told: Told
    html: str
    table: str
    digest: str


# -- searching -------------------------------------------------------------------------------------------


def search(job: Job, path: str, reach: str, release: str, wanted: Wanted, digest: str) -> Solved | Unsolved:
    """All minimal solutions of a release; nothing is written."""
    from tacit.anonymization.results import NotRepaired
    from tacit.anonymization.run import solve
    from tacit.anonymization.task import task_of

    plan = load_within(path, reach)
    with open_engine(plan.source, plan.folder) as engine:
        job.step("counting the table", 0.0)
        source = Source(plan, engine)
        task = task_of(plan, release, source, wanted.options(), aware=wanted.aware, relaxed=wanted.relaxed, seconds=None)
        found = solve(task, part_of(job, 0.05, SEARCHED))
        if isinstance(found, NotRepaired):
            return unsolved(found, wanted, digest)
        job.step("drawing what was found", 0.9)
        made = solved(found, wanted, digest)
        if made.told.levels is None:
            job.step("looking at the first rows", 0.95)
            made = with_rows(made, found, source)
    return made


def part_of(job: Job, start: float, end: float) -> Job:
    """A job that is a part of another."""
    return Job(lambda text, share: job.step(text, start + (end - start) * min(max(share, 0.0), 1.0)))


def solved(found: Repaired, wanted: Wanted, digest: str) -> Solved:
    """A search that found something, as the page shows it."""
    from tacit.report import telling
    from tacit.report.charts import required_k
    from tacit.report.trade_off import trade_offs

    k = required_k(found.verdicts)
    return Solved(
        told_of(found), str(found.utility["measure"]), found.choices, telling.choices_told(found), tuple(telling.aware_told(found)),
        tuple(trade_offs(found)) if found.choices else (), Fraction(1, k) if k else None, found.recoded.raw.sensitive, wanted, digest,
    )  # fmt: skip


def unsolved(found: NotRepaired, wanted: Wanted, digest: str = "") -> Unsolved:
    """A search that found nothing, as the page shows it."""
    answers = tuple(map(Answer.of, found.verdicts))
    return Unsolved(found.because, found.proved, answers, tuple(map(for_page, found.advice)), found.nodes, wanted, digest)


def for_page(advice: str) -> str:
    """An advice without the words of the command line."""
    if "--aware" in advice:
        return "do without the condition about somebody who knows how levels are chosen, and read what such a one would learn"
    return advice.replace(" (--seconds)", "").replace("(at-most)", "below")


def told_of(found: Repaired) -> Told:
    """A release in words and numbers."""
    from tacit.report import telling

    levels = found.recoded.generalization
    return Told(
        None if levels is None else dict(levels), tuple(telling.columns(found, "owner")), tuple(telling.figures(found)),
        tuple(map(Answer.of, found.verdicts)), telling.rows_told(found), telling.method_told(found), telling.proof(found),
        next((choice for choice in found.choices if choice.chosen), None), telling.example_row(found) if levels is None else None,
    )  # fmt: skip


def with_rows(made: Solved, found: Repaired, source: Source) -> Solved:
    """The same with the first rows of the table beside what the release shows of them."""
    from tacit.anonymization.preview import lens_of

    lens = lens_of(found.recoded)
    return replace(made, heads=heads(lens, source), lines=tuple(lens.page(source.engine, 0, FIRST_ROWS)))


def heads(lens: Lens, source: Source) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the table, and those that are released."""
    return tuple(lens.heads(source.engine)), tuple(lens.columns)


def explore(job: Job, path: str, reach: str, release: str, wanted: Wanted) -> Explored:
    """Which parameters of the checks can be met at which loss."""
    from tacit.anonymization.explore import explore as look

    return look(load_within(path, reach), release, options={**wanted.options(), "method": "lattice"}, job=job)


# -- one solution, on the open source --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ladder:
    """A quasi-identifier with its levels, each with an example of a label."""

    column: str
    labels: tuple[str, ...]

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.labels) - 1


def ladders(source: Source, release: str) -> tuple[tuple[Ladder, ...], int]:
    """The quasi-identifiers of a release with their levels, and how many rows the table has."""
    from tacit.report.telling import written

    raw, found = source.raw(release), []
    for column in raw.quasi:
        often = int(raw.base.rows_by_code(column).argmax())
        found.append(Ladder(column, tuple(written(level.labels[int(level.codes[often])]) for level in raw.hierarchies[column].levels)))
    return tuple(found), raw.base.rows


def look(source: Source, release: str, wanted: Wanted, levels: Mapping[str, int]) -> Told | Unsolved:
    """The release at some levels: what the checks say, and what it costs."""
    from tacit.anonymization.results import NotRepaired
    from tacit.anonymization.run import solve
    from tacit.anonymization.task import task_of

    task = task_of(source.plan, release, source, wanted.options(), aware=False, relaxed=False, seconds=None)
    found = solve(task, Job(), levels)
    return unsolved(found, wanted) if isinstance(found, NotRepaired) else told_of(found)


def lens(source: Source, release: str, wanted: Wanted, levels: Mapping[str, int]) -> tuple[Lens, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The rows of the table through the release at some levels, and the columns of both."""
    from tacit.anonymization.preview import lens_at

    made = lens_at(source, release, levels, options=wanted.options())
    return made, heads(made, source)


def page(source: Source, through: Lens, offset: int, limit: int) -> list[Line]:
    """Some rows of the table, beside what the release shows of them."""
    table = through.raw.table
    if not source.engine.has(table.name):  # it was closed meanwhile
        source.engine.attach(table)
    try:
        return through.page(source.engine, offset, limit)
    except KeyError:
        raise InputError(f"table {table.name} has changed since it was read.", hint="Search again.") from None


# -- writing ---------------------------------------------------------------------------------------------


def target(folder: Path, name: str, *, replace_file: bool = False) -> Path:
    """The file that a release may be written to: below the folder, of a kind that is written, and not there yet unless it may be replaced."""
    cleaned = name.strip()
    if not cleaned or "\0" in cleaned:
        raise InputError("the file needs a name.", hint="Write for example release.csv.")
    place = (folder / cleaned).resolve()
    home = folder.resolve()
    if not place.is_relative_to(home) or any(part.startswith(".") for part in place.relative_to(home).parts):
        raise InputError(f"{Path(cleaned).name} would not lie below the plan's folder.", hint="Write a plain name such as release.csv.")
    if place.suffix.lower() not in FORMATS:
        raise InputError(f"{cleaned} is no name of a file that is written here.", hint="Let it end in .csv or .parquet.")
    if place.is_dir():
        raise InputError(f"{cleaned} is a folder.", hint="Write the name of a file in it.")
    if place.exists() and not replace_file:
        raise InputError(f"{cleaned} is there already.", hint="Choose another name, or say that it may be replaced.")
    return place


def refuse_owned(plan: Plan, place: Path) -> None:
    """Raise an error where a file belongs to the plan."""
    from tacit.engines.output import is_source
    from tacit.plan.owned import owners_files

    if any(one.resolve() == place for one in owners_files(plan)):
        raise is_source(place.name)


def write(
    job: Job, path: str, reach: str, release: str, wanted: Wanted, levels: Mapping[str, int] | None, name: str, replace_file: bool, digest: str
) -> Written | Unsolved:
    """Write a release to a file below the plan's folder: at some levels, or as its method finds it."""
    from tacit.anonymization.results import NotRepaired
    from tacit.anonymization.run import anonymize
    from tacit.report.repaired import render
    from tacit.report.telling import columns_written, not_written_told

    plan = load_within(path, reach)
    place = target(Path(path).parent, name, replace_file=replace_file)
    refuse_owned(plan, place)
    os.chdir(Path(path).parent)  # so that messages name files as the page does
    shown = place.relative_to(Path(path).parent.resolve()).as_posix()
    found = anonymize(
        plan, release, shown, options=wanted.options(), levels=levels, aware=wanted.aware and levels is None, relaxed=wanted.relaxed,
        portrait=True, job=part_of(job, 0.0, 0.95),
    )  # fmt: skip
    if isinstance(found, NotRepaired):
        return unsolved(found, wanted, digest)
    job.step("writing the report", 0.96)
    return Written(
        shown, found.recoded.released, found.recoded.suppressed, tuple(columns_written(found)), not_written_told(found), told_of(found),
        render(found, "owner"), found.recoded.raw.table.name, digest,
    )  # fmt: skip


# -- views -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restoring:
    """What a search for further views ended in, in words."""

    status: str
    headline: str
    numbers: tuple[tuple[str, str], ...]
    answers: tuple[Answer, ...]
    views: tuple[tuple[str, str, int], ...]
    draft: str
    told: tuple[tuple[str, str], ...]
    advice: tuple[str, ...]
    tally: tuple[str, ...]
    charts: tuple[Chart, ...]
    html: str
    releases: tuple[str, ...]
    at: int  # the check's place in the plan
    is_done: bool
    digest: str


def restore(
    job: Job, path: str, reach: str, at: int, views: int, columns: Sequence[str] | None, seconds: float | None, aware: bool, digest: str
) -> Restoring:
    """Look for further views with which the gamma-privacy check at a place of the plan holds again."""
    from tacit.report import crowds, restored
    from tacit.restoration.results import Restored
    from tacit.restoration.run import restore as carry_out

    plan = load_within(path, reach)
    check = plan.checks[at]
    # One check alone: it is found without a name then.
    found = carry_out(
        replace(plan, checks=(check,)), None, views=views, columns=columns or None, seconds=seconds, against_aware=aware, with_stages=True, job=job
    )
    done = isinstance(found, Restored)
    told = []
    if isinstance(found, Restored) and found.views:
        told = [("Fewest?", restored.fewest_told(found)), ("Cost", restored.cost_told(found))]
        told += [("Who knows how they were chosen", restored.sentence(found.aware.because))] if found.aware else []
    return Restoring(
        found.status, headline(found), tuple(restored.numbers(found)), tuple(map(Answer.of, found.verdicts)),
        tuple((one.name, one.query, one.rows) for one in found.views) if isinstance(found, Restored) else (),
        found.draft if isinstance(found, Restored) and not found.exit_status else "", tuple(told),
        () if isinstance(found, Restored) else tuple(map(plain_words, found.advice)),
        tuple(restored.tally_lines(found.looked)) if found.looked and not done else (),
        tuple(crowds.charts(found.stages, found.verdicts, "owner")) if isinstance(found, Restored) else (),
        restored.render(found, "owner"), found.releases, at, done and not found.exit_status, digest,
    )  # fmt: skip


def headline(found: Any) -> str:
    """What a search for further views ended in, in a sentence."""
    from tacit.definitions.words import plural
    from tacit.report.restored import sentence
    from tacit.restoration.results import Restored

    if not isinstance(found, Restored):
        story = f" {found.story}" if found.story and found.story != found.verdicts[0].story else ""
        return f"{sentence(found.because)}{story}"
    if not found.views:
        return "The check holds already: nothing has to be restored."
    if found.exit_status:
        return "Further views were found, but not against somebody who knows how they are chosen."
    return f"The check holds again with {plural('further view', len(found.views))}."


def plain_words(advice: str) -> str:
    """An advice without the options of the command line.

    >>> plain_words("give it more time (--seconds)"), plain_words("try more views (--views 4)")
    ('give it more time', 'try more views')
    """
    return advice.split(" (--")[0]


def public_columns(source: Source, releases: Sequence[str]) -> tuple[str, ...]:
    """The columns that conditions of further views may be about: those of the views' tables that are not sensitive."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    from tacit.model.release import View

    found: dict[str, None] = {}
    for name in releases:
        view = source.plan.releases[name]
        try:
            tables = parse_one(view.query, dialect=source.engine.dialect).find_all(exp.Table) if isinstance(view, View) else ()
        except SqlglotError:
            continue
        for table in {one.name for one in tables} & set(source.plan.tables):
            entry = source.plan.tables[table]
            if not source.engine.has(table):
                source.engine.attach(entry)
            found |= dict.fromkeys(name for name in source.engine.columns(table) if name not in entry.sensitive)
    return tuple(found)


# -- synthetic people ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sizes:
    """The groups of a synthetic release, by a few of different sizes."""

    sorts: tuple[Sort, ...]
    groups: int
    people: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """What drawing ended in, in words, tables and pictures; `output` is None where a check does not hold."""

    output: str | None
    because: str
    numbers: tuple[tuple[str, str], ...]
    meaning: str
    told: tuple[tuple[str, str], ...]
    answers: tuple[Answer, ...]
    tables: tuple[tuple[str, Grid], ...]
    charts: tuple[Chart, ...]
    maps: tuple[Map, ...]
    warnings: tuple[str, ...]
    html: str
    digest: str


def sizes(job: Job, path: str, reach: str, release: str) -> Sizes:
    """How many people the groups of a synthetic release have."""
    from tacit.assess import Desk
    from tacit.synthesizing.run import the_release
    from tacit.synthesizing.trying import some_sorts

    plan = load_within(path, reach)
    the_release(plan, release)
    with Desk(plan, job) as desk:
        planned = desk.synthetic.planned(release)
        return Sizes(some_sorts(planned.sorts), planned.groups, planned.people, planned.warnings)


def tried(text: str, file: str, folder: Path, release: str, terms: Mapping[str, Any], known: Sizes) -> tuple[SizeNoise, ...]:
    """The noise that other terms of a release would need; a TacitError where no plan can have them."""
    from tacit.plan.editing import edited, loaded
    from tacit.synthesis.losses import Epsilon
    from tacit.synthesis.terms import Terms
    from tacit.synthesizing.run import the_release
    from tacit.synthesizing.trying import SetTerms, noise_of

    changed = edited(text, SetTerms(release, terms), file=file, folder=folder)
    one = the_release(loaded(changed, file=file, folder=folder), release)
    asked = Terms(Epsilon.read(one.epsilon), one.delta, one.guarantee, one.mechanism, one.accept)
    return noise_of(asked, known.groups, known.sorts)


def draw(job: Job, path: str, reach: str, release: str, name: str, replace_file: bool, restart: bool, digest: str) -> Drawn:
    """Draw the synthetic people of a release as the plan says, and write them to a file below the plan's folder."""
    from tacit.definitions.words import spoken
    from tacit.report import synthesized as told
    from tacit.report.curves import distance_charts, error_charts, privacy_curve
    from tacit.synthesizing.run import synthesize, the_release

    plan = load_within(path, reach)
    one = the_release(plan, release)
    place = target(Path(path).parent, name, replace_file=replace_file)
    refuse_owned(plan, place)
    os.chdir(Path(path).parent)  # so that messages name files as the page does
    shown = place.relative_to(Path(path).parent.resolve()).as_posix()
    found = synthesize(plan, release, shown, restart=restart, job=part_of(job, 0.0, 0.9))
    job.step("drawing the pictures", 0.92)
    group = spoken(one.group)
    curve = privacy_curve(told.curve_of(found), float(found.terms.epsilon), found.terms.delta, guarantee=found.terms.guarantee)
    measured = [*distance_charts(found.utility, group), *error_charts(found.utility, group, found.baseline)] if found.utility else []
    grids = [
        ("What is still true", told.utility_grid(found, one)), (f"By size of {group}", told.bands_grid(found, one)),
        ("The largest, one by one", told.largest_grid(found, one)), ("Step by step", told.steps_grid(found)), ("Releasing again", told.budget_grid(found)),
    ]  # fmt: skip
    better = told.better_told(found)
    return Drawn(
        found.output, found.because, tuple(told.numbers(found, True)), told.meaning(found, one),
        (("Protected", told.protected(one)), ("Not protected", told.not_protected(one)), ("Noise", told.noise_told(found.noise, found.groups)),
         *([("Compared", better)] if better else [])),
        tuple(map(Answer.of, found.verdicts)), tuple((title, grid) for title, grid in grids if grid is not None),
        (*([curve] if curve else []), *measured), tuple(told.drawn_maps(found, True, group, None)), found.warnings,
        told.render(found, "owner", one), digest,
    )  # fmt: skip
