"""Tasks of generalizing a table: the search for releases, what it found in words, and writing
one, in processes of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.engines.open import open_engine
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.model.jobs import Job
from tacit.workbench.app.reach import load_within
from tacit.workbench.targets import enter_folder
from tacit.workbench.tasks.verdict_texts import VerdictText

if TYPE_CHECKING:
    from tacit.families.microdata.runs.explore import Explored
    from tacit.families.microdata.runs.preview import Lens, PreviewRow
    from tacit.families.microdata.runs.repair_results import Choice, NotRepaired, Repaired
    from tacit.report.charts.portrait_chart import Chart
    from tacit.report.repair_words import Figure, RecodedColumn

FIRST_ROWS = 200  # of a release by groups of its own, which only its search can show
NOT_JUDGED = "a check cannot judge it together with what is published"
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
        """The options of `anonymize`. Groups of their own have no measure to keep small, and the
        window takes no weights.
        """
        found: dict[str, Any] = {
            "method": self.method,
            "suppress": self.suppress,
            "utility": self.utility,
            "at_most": dict(self.at_most),
        }
        found["weights"] = dict(self.weights) if self.method != "window" else {}
        return found if self.method == "lattice" else {**found, "utility": "loss"}


@dataclass(frozen=True, slots=True)
class RepairText:
    """A release for which all checks hold, in words and numbers.
    `levels` is None where each group has labels of its own.
    """

    levels: Mapping[str, int] | None
    columns: tuple[RecodedColumn, ...]
    figures: tuple[Figure, ...]
    answers: tuple[VerdictText, ...]
    rows: str
    method: str
    proof: str
    choice: Choice | None
    example: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Solved:
    """What a search found: the best release, and all other minimal solutions. `risks` are those
    in which solutions differ, with a chart for each; `draft` is the release as the plan has it,
    where it fails; `dropping` says what a few dropped rows would save, where that is much.
    """

    told: RepairText
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
    lines: tuple[PreviewRow, ...] = ()
    rows: int = 0
    risks: tuple[str, ...] = ()
    draft: Choice | None = None
    dropping: str = ""


@dataclass(frozen=True, slots=True)
class Unsolved:
    """Why there is no release, and what would have to give."""

    because: str
    proved: bool
    answers: tuple[VerdictText, ...]
    advice: tuple[str, ...]
    nodes: tuple[int, int]
    wanted: Wanted
    digest: str = ""


@dataclass(frozen=True, slots=True)
class WrittenRelease:
    """What was written, where, and the report about it."""

    output: str
    released: int
    suppressed: int
    columns: tuple[str, ...]
    not_written: str
    told: RepairText
    html: str
    table: str
    digest: str
    called: str = ""  # the name of the release that it is to be


def search(
    job: Job, path: str, reach: str, release: str, wanted: Wanted, digest: str
) -> Solved | Unsolved:
    """All minimal solutions of a release; nothing is written."""
    from tacit.families.microdata.runs.anonymize import solve_beside
    from tacit.families.microdata.runs.published_checks import beside_what_is_out
    from tacit.families.microdata.runs.repair_results import NotRepaired
    from tacit.families.microdata.runs.task import task_of

    plan = load_within(path, reach)
    with open_engine(plan.source, plan.folder) as engine:
        job.step("counting the table", 0.0)
        source = MicrodataSource(plan, engine)
        task = task_of(
            plan,
            release,
            source,
            wanted.options(),
            aware=wanted.aware,
            relaxed=wanted.relaxed,
            seconds=None,
        )
        found = solve_beside(plan, task, job.part(0.05, SEARCHED))
        if isinstance(found, NotRepaired):
            return unsolved(found, wanted, digest)
        job.step("asking about what is published", SEARCHED)
        found = beside_what_is_out(found, plan)
        job.step("drawing what was found", 0.9)
        made = solved(found, wanted, digest)
        if made.told.levels is None:
            job.step("looking at the first rows", 0.95)
            made = with_rows(made, found, source)
    return made


def solved(found: Repaired, wanted: Wanted, digest: str) -> Solved:
    """A search that found something, as the page shows it."""
    from tacit.report import repair_words
    from tacit.report.charts.portrait_chart import required_k
    from tacit.report.charts.trade_off import kinds_of, trade_offs

    k = required_k(found.verdicts)
    return Solved(
        told_of(found),
        str(found.utility["measure"]),
        found.choices,
        repair_words.describe_choices(found),
        knowing(found),
        tuple(trade_offs(found)) if found.choices else (),
        Fraction(1, k) if k else None,
        found.recoded.raw.sensitive,
        wanted,
        digest,
        rows=found.recoded.raw.base.rows,
        risks=kinds_of(found),
        draft=found.draft,
        dropping=repair_words.dropping_told(found),
    )


def unsolved(found: NotRepaired, wanted: Wanted, digest: str = "") -> Unsolved:
    """A search that found nothing, as the page shows it."""
    answers = tuple(map(VerdictText.of, found.verdicts))
    return Unsolved(
        found.because,
        found.proved,
        answers,
        tuple(map(for_page, found.advice)),
        found.nodes,
        wanted,
        digest,
    )


def knowing(found: Repaired) -> tuple[str, ...]:
    """What somebody would learn who knows how the levels were chosen;
    where that is not computed, what is not is said with it.
    """
    from tacit.report import repair_words

    whole = "What somebody learns who knows how the levels were chosen is not computed:"
    return tuple(
        line.replace("Not computed:", whole, 1) if line.startswith("Not computed:") else line
        for line in repair_words.describe_aware_attacker(found)
    )


def for_page(advice: str) -> str:
    """An advice without the words of the command line."""
    if "--aware" in advice:
        return (
            "do without the condition about somebody who knows how levels are chosen, and "
            "read what such a one would learn"
        )
    return advice.replace(" (--seconds)", "").replace("(at-most)", "below")


def told_of(found: Repaired) -> RepairText:
    """A release in words and numbers."""
    from tacit.report import repair_words

    levels = found.recoded.generalization
    return RepairText(
        None if levels is None else dict(levels),
        tuple(repair_words.columns(found, "owner")),
        tuple(repair_words.figures(found)),
        tuple(map(VerdictText.of, found.verdicts)),
        repair_words.describe_dropped_rows(found),
        repair_words.describe_method(found),
        repair_words.proof(found),
        next((choice for choice in found.choices if choice.chosen), None),
        repair_words.example_row(found) if levels is None else None,
    )


def with_rows(made: Solved, found: Repaired, source: MicrodataSource) -> Solved:
    """The same with the first rows of the table beside what the release shows of them."""
    from tacit.families.microdata.runs.preview import lens_of

    lens = lens_of(found.recoded)
    return replace(
        made, heads=heads(lens, source), lines=tuple(lens.page(source.reader, 0, FIRST_ROWS))
    )


def heads(lens: Lens, source: MicrodataSource) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the table, and those that are released."""
    return tuple(lens.heads(source.reader)), tuple(lens.columns)


def explore(job: Job, path: str, reach: str, release: str, wanted: Wanted) -> Explored:
    """Which parameters of the checks can be met at which loss."""
    from tacit.families.microdata.runs.explore import explore as look

    return look(
        load_within(path, reach),
        release,
        options={**wanted.options(), "method": "lattice"},
        job=job,
    )


def write(
    job: Job,
    path: str,
    reach: str,
    release: str,
    wanted: Wanted,
    levels: Mapping[str, int] | None,
    name: str,
    replace_file: bool,
    digest: str,
    unjudged: bool = False,
    called: str = "",
) -> WrittenRelease | Unsolved:
    """Write a release to a file below the plan's folder: at some levels, or as its method finds it.

    Where a check cannot judge it together with what is published, only if `unjudged`.
    """
    from tacit.families.microdata.runs.anonymize import anonymize
    from tacit.families.microdata.runs.repair_results import NotRepaired
    from tacit.report.html.repair_page import render
    from tacit.report.repair_words import BREAKS, columns_written, describe_unwritten_columns

    plan = load_within(path, reach)
    shown = enter_folder(plan, path, name, replace_file=replace_file)
    found = anonymize(
        plan,
        release,
        shown,
        options=wanted.options(),
        levels=levels,
        aware=wanted.aware and levels is None,
        relaxed=wanted.relaxed,
        unjudged=unjudged,
        portrait=True,
        job=job.part(0.0, 0.95),
    )
    if isinstance(found, NotRepaired):
        return unsolved(found, wanted, digest)
    if found.output is None:
        breaks = any(verdict.status == "breached" for verdict in found.verdicts)
        because = BREAKS if breaks else NOT_JUDGED
        return Unsolved(
            because, False, tuple(map(VerdictText.of, found.verdicts)), (), (0, 0), wanted, digest
        )
    job.step("writing the report", 0.96)
    return WrittenRelease(
        shown,
        found.recoded.released,
        found.recoded.suppressed,
        tuple(columns_written(found)),
        describe_unwritten_columns(found),
        told_of(found),
        render(found, "owner"),
        found.recoded.raw.table.name,
        digest,
        called,
    )
