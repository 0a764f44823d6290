"""The story of a copy together with what is published, told in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.families.microdata.attacks.stories import Story
from tacit.families.microdata.runs.attack import named_release
from tacit.families.microdata.runs.several_copies import second_release
from tacit.model.jobs import Job
from tacit.workbench.app.reach import load_within


def tell_together(job: Job, path: Path, reach: Path, release: str) -> tuple[Story, ...]:
    """What is left of everybody's values for who has the most of what is published, by sensitive
    column; nothing where no other copy of the table is published, or none that can be judged with
    this one.
    """
    os.chdir(path.parent)  # so that messages name files as the page does
    plan = load_within(path, reach)
    job.step("looking for worlds", 0.3)
    columns = plan.tables[named_release(plan, release).table].sensitive
    return tuple(second_release(plan, release, columns, job=job))
