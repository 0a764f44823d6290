"""Work for tests: importable, as processes need it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.model.jobs import Job


def steps(job: Job, number: int, seconds: float = 0.0) -> int:
    for one in range(number):
        job.step(f"step {one}", one / number)
        time.sleep(seconds)
    return number


def deaf(job: Job, seconds: float) -> None:
    time.sleep(seconds)


def half_written(job: Job, path: str) -> None:
    """Writes a file, and takes it away whatever happens."""
    beside = Path(path)
    try:
        beside.write_text("half")
        job.step("writing", 0.5)
        time.sleep(60)
    finally:
        beside.unlink()


def wrong(job: Job) -> None:
    raise InputError("there is no table 'x'.", hint="Add it.")


def broken(job: Job, secret: str) -> Any:
    raise ValueError(f"Bob has {secret}")


def settled(job: Job, path: str) -> str:
    """Something that is done as a whole: an entry, and then its file."""
    job.settle("recording")
    time.sleep(5)
    Path(path).write_text("whole")
    return "done"
