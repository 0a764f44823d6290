"""Comparison: a synthetic output that was written earlier, against the true people, and the noise
of every group; for the owner's eyes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.files import csv_shape
from tacit.engines.formats import PARQUET
from tacit.engines.sql import shapes
from tacit.errors import DataError, did_you_mean
from tacit.families.microdata.hierarchy import value_text
from tacit.families.synthetic.promise.spending import spending_of
from tacit.families.synthetic.reading.labels import Spelling
from tacit.families.synthetic.reading.questions import synthetic_questions_of
from tacit.families.synthetic.reading.synthetic_scene import SyntheticScene
from tacit.families.synthetic.runs.measurement import MOST, histogram
from tacit.families.synthetic.runs.people_batches import PeopleBatches
from tacit.families.synthetic.runs.synthesis_results import Drawing, Picture, Synthesized
from tacit.families.synthetic.runs.synthesize import measure_and_check
from tacit.families.synthetic.utility.flow_comparison import compare
from tacit.families.synthetic.utility.flows import Flows
from tacit.model.jobs import Job
from tacit.model.release import Synthetic
from tacit.model.schema import Table
from tacit.plan.open_plan import OpenPlan

NAME = "written"


@dataclass(frozen=True, slots=True)
class GroupNoise:
    """The noise of one group: its people and cells, how many prior people each cell has (`alpha`)
    and all of them (`prior`), or from which count on a cell is published (`threshold`).
    """

    group: str
    people: int
    cells: int
    alpha: Fraction | None
    prior: Fraction
    threshold: int | None


def promised(
    opened: OpenPlan, release: Synthetic, job: Job
) -> tuple[Synthesized, tuple[GroupNoise, ...]]:
    """What a release promises and spends before anything is drawn, and the noise of every group,
    in the order of the groups.
    """
    found, _ = measure_and_check(opened, release, None, job)
    job.step("the noise of every group", 0.95)
    return found, tuple(noises(opened, release))


def noises(opened: OpenPlan, release: Synthetic) -> Iterator[GroupNoise]:
    """The noise of every group."""
    scene = synthetic_questions_of(opened).scene(release.name)
    chooser = spending_of(synthetic_questions_of(opened).planned(release.name)).chooser
    for group, people in scene.sizes.items():
        cells = scene.domain(group).cells
        noise = chooser.noise(people, cells)
        yield GroupNoise(
            value_text(group),
            people,
            cells.number,
            noise.alpha,
            (noise.alpha or Fraction(0)) * cells.expected,
            noise.threshold,
        )


def compared(opened: OpenPlan, release: Synthetic, file: Path, job: Job) -> Synthesized:
    """A written output measured against the true people, and beside a thresholded histogram that
    is drawn and thrown away.
    """
    job.step("counting the groups", 0.0)
    scene = synthetic_questions_of(opened).scene(release.name)
    if scene.people > MOST:
        raise DataError(
            f"{scene.people:,} people are too many to compare in the memory of this machine.",
            hint=f"Up to {MOST:,} are compared.",
        )
    job.step("reading the output", 0.2)
    synthetic = written_flows(scene, file)
    found, _ = measure_and_check(opened, release, None, job.part(0.3, 0.6))
    job.step("comparing with the true people", 0.6)
    positions, true = scene.positions(), scene.flows()
    utility, baseline = compare(true, synthetic, positions), None
    if scene.terms.mechanism != "geometric":
        job.step("comparing with a thresholded histogram", 0.8)
        other = histogram(PeopleBatches(scene, b""), None)
        baseline = compare(true, other, positions) if other is not None else None
    drawing = Drawing(people=synthetic.people, rows=len(synthetic.count))
    return replace(
        found,
        output=file.name,
        drawing=drawing,
        utility=utility,
        baseline=baseline,
        picture=Picture(true, synthetic, positions),
    )


def columns_of(release: Synthetic) -> tuple[str, ...]:
    """The columns that an output of a release has."""
    return (release.group, release.value, *([release.count] if release.count else []))


def is_output(release: Synthetic, file: Path) -> bool:
    """Has a file the columns of a release's output? Only its head is read."""
    try:
        return tuple(name.casefold() for name in header_of(file)) == tuple(
            name.casefold() for name in columns_of(release)
        )
    except (DataError, OSError):
        return False


def header_of(file: Path) -> tuple[str, ...]:
    """The columns of a CSV or Parquet file."""
    if file.suffix.lower() not in PARQUET:
        return csv_shape(file, file.name).header
    with DuckDB(folder=file.parent) as engine:
        engine.attach(Table(NAME, file=file.name))
        return tuple(engine.native_types(NAME))


def written_flows(scene: SyntheticScene, file: Path) -> Flows:
    """The synthetic people of a file, by the groups and labels of the release;
    DataError where it is not such a file.
    """
    release = scene.release
    header = header_of(file)
    for name in columns_of(release):
        if name.casefold() not in [one.casefold() for one in header]:
            raise DataError(
                f"{file.name} has no column {name!r}: it is no output of {release.name}.",
                hint=did_you_mean(name, header),
            )
    groups, labels = places_of(scene.sizes), places_of(scene.labels)
    kinds = scene.true.spellings
    rows = [
        (
            placed(groups, group, kinds[0], file, release.group),
            placed(labels, value, kinds[1], file, release.value),
            whole(count, file),
        )
        for group, value, count in read_rows(release, file)
    ]
    group, value, count = np.array(rows, np.int64).reshape(-1, 3).T
    return Flows(tuple(scene.sizes), scene.labels, group, value, count)


def read_rows(release: Synthetic, file: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Groups, values and counts as the file has them;
    rows that are alike are counted where they are read.
    """
    columns = columns_of(release)
    with DuckDB(folder=file.parent) as engine:
        typed = file.suffix.lower() in PARQUET
        engine.attach(
            Table(
                NAME,
                file=file.name,
                columns={} if typed else dict.fromkeys(header_of(file), "text"),
            )
        )
        for *cells, many in engine.rows(shapes.tallied(shapes.columns_of(NAME, columns), columns)):
            count = 1 if release.count is None else whole(cells.pop(), file)
            yield cells[0], cells[1], count * many


def places_of(values: Iterable[Any]) -> dict[str | None, int]:
    """The places of values by how they are written; nothing is a value too."""
    return {spelled(value): place for place, value in enumerate(values)}


def spelled(value: Any) -> str | None:
    """The one spelling of a value."""
    return None if value is None else Spelling.text(value)


def placed(
    places: dict[str | None, int], found: Any, spelling: Spelling, file: Path, column: str
) -> int:
    """The place of a value of a file, however it is written there."""
    place = places.get(spelled(found))
    if place is None and found is not None:
        with suppress(ValueError):
            place = places.get(spelled(spelling.value(found)))
    if place is None:
        raise DataError(
            f"{file.name} has a {column} that the release cannot have.",
            hint="Was it written by another release, or from older data?",
        )
    return place


def whole(number: Any, file: Path) -> int:
    """A number of people."""
    try:
        found = int(number)
    except (TypeError, ValueError):
        found = -1
    if found < 0:
        raise DataError(
            f"{file.name} has a count that is no number of people.",
            hint="Give the file as tacit synthesize wrote it.",
        )
    return found
