"""Drawing: every batch that has no part yet, with how long it will take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from tacit.families.synthetic.promise.noise import Chooser
from tacit.families.synthetic.runs.batch_parts import BatchPart, PartStore
from tacit.families.synthetic.runs.batch_workers import (
    ALONE,
    BatchSetting,
    DrawnBatch,
    pool,
    processors,
    randomness_for,
)
from tacit.families.synthetic.runs.batches import Batch
from tacit.families.synthetic.runs.measurement import tasks
from tacit.families.synthetic.runs.people_batches import PeopleBatches
from tacit.families.synthetic.runs.synthesis_results import Drawing
from tacit.model.jobs import Job

ORDERS = 2**62  # random numbers that rows are ordered by
DRAW, COMPARE = 0.15, 0.85  # shares of the work that lie before drawing and before comparing


def draw_missing(
    people: PeopleBatches,
    store: PartStore,
    chooser: Chooser,
    *,
    seed: int | None = None,
    workers: int | None = None,
    job: Job,
) -> Drawing:
    """Draw the batches that have no part, and keep them."""
    tally, missing = DrawingTally(people.scene.people), []
    for batch in people.batches:
        part = store.kept(batch)
        if part is None:
            missing.append(batch)
        else:
            tally.add(batch, part)
    resumed, left = len(people.batches) - len(missing), sum(batch.people for batch in missing)
    number = min(workers or (processors() if left > ALONE else 1), max(1, len(missing)))
    tally.begin()
    with pool(BatchSetting.of(people.scene, people.scene.terms, seed), number) as drawers:
        for one in drawers.drawn(tasks(people, missing, chooser)):
            part = part_of(one, each=people.scene.release.count is None, seed=seed)
            store.keep(one.batch, part)
            tally.add(one.batch, part)
            job.step(
                f"drawing {tally.groups:,} of {len(people.groups):,} groups, "
                f"{time_left(tally.left)}",
                DRAW + (COMPARE - DRAW) * tally.share,
            )
    return Drawing(tally.drawn, 0, tally.tries, tally.most, len(people.batches), resumed, number)


def part_of(drawn: DrawnBatch, *, each: bool, seed: int | None) -> BatchPart:
    """What is kept of a batch: rows of the output (one for `each` person), each with a random
    number to order it by.
    """
    group, value, count = drawn.group, drawn.value, drawn.count
    if each:
        group, value, count = (
            np.repeat(group, count),
            np.repeat(value, count),
            np.ones(int(count.sum()), dtype=np.int64),
        )
    order = randomness_for(seed, drawn.batch.name, "order").below(ORDERS, len(group))
    return BatchPart(order, group, value, count, tries=drawn.tries, most=drawn.most)


@dataclass
class DrawingTally:
    """What is drawn so far, of so many true people."""

    all: int
    groups: int = 0
    people: int = 0
    drawn: int = 0
    tries: int = 0
    most: int = 0
    _begun: tuple[float, int] = field(default=(0.0, 0), repr=False)

    def begin(self) -> None:
        """Start the clock; what is there already took no time."""
        self._begun = time.perf_counter(), self.people

    def add(self, batch: Batch, part: BatchPart) -> None:
        """One more batch."""
        self.groups += batch.groups
        self.people += batch.people
        self.drawn += int(part.count.sum())
        self.tries += part.tries
        self.most = max(self.most, part.most)

    @property
    def share(self) -> float:
        """Which share of the people is drawn."""
        return self.people / self.all if self.all else 1.0

    @property
    def left(self) -> float:
        """How many seconds the rest will take, if it goes on like this."""
        begun, before = self._begun
        return (
            (time.perf_counter() - begun) * (self.all - self.people) / max(1, self.people - before)
        )


def time_left(seconds: float) -> str:
    """A time in words.

    >>> time_left(0.4), time_left(42), time_left(100), time_left(8000)
    ('nearly done', 'about 40 seconds left', 'about 2 minutes left', 'about 2.2 hours left')
    """
    if seconds < 3:
        return "nearly done"
    if seconds < 90:
        return f"about {max(5, 5 * round(seconds / 5))} seconds left"
    return (
        f"about {seconds / 60:.0f} minutes left"
        if seconds < 5400
        else f"about {seconds / 3600:.1f} hours left"
    )
