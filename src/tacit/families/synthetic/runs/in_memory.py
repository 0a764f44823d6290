"""In memory: synthetic people of a table that was handed over, without files or parts."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from tacit.checking.holdings.holdings import holdings_of
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql.shapes_drawn import GROUPS, VALUES, ordered
from tacit.families.synthetic.reading.questions import synthetic_questions_of
from tacit.families.synthetic.runs.batch_parts import Memory
from tacit.families.synthetic.runs.drawing import draw_missing
from tacit.families.synthetic.runs.output_file import gather, labelled, read
from tacit.families.synthetic.runs.people_batches import PeopleBatches
from tacit.families.synthetic.runs.synthesis_results import Synthesized
from tacit.families.synthetic.runs.synthesize import (
    NEW,
    measure_and_check,
    measured,
    shape_of,
    the_release,
)
from tacit.model.jobs import Job
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Plan

OUTPUT = "memory"


def synthesized(
    plan: Plan, release: str, engine: DuckDB, *, seed: int | None, job: Job
) -> tuple[Synthesized, Any]:
    """What `tacit synthesize` would tell, and the rows as a DuckDB relation of the engine;
    None where a check does not hold.
    """
    begun = time.perf_counter()
    opened = OpenPlan(plan, job)
    opened.engine = engine
    holdings_of(opened, {release: NEW})  # what is drawn now is another output
    found, spending = measure_and_check(opened, the_release(plan, release), seed, job)
    if found.exit_status:
        return replace(found, seconds=time.perf_counter() - begun), None
    people, store = PeopleBatches(synthetic_questions_of(opened).scene(release), b""), Memory()
    drawing = draw_missing(people, store, spending.chooser, seed=seed, workers=1, job=job)
    found = measured(people, read(store, people.batches), found, seed, True, job)
    rows = gather(engine, store, people.batches, job)
    shape = shape_of(engine, people.scene, people.groups)
    engine.put_map(GROUPS, labelled(shape.groups))
    engine.put_map(VALUES, labelled(shape.values))
    found = replace(
        found,
        output=OUTPUT,
        drawing=replace(drawing, rows=rows),
        seconds=time.perf_counter() - begun,
    )
    return found, engine.connection.sql(engine.sql(ordered(shape, typed=True)))
