"""Measurement: synthetic people against the true ones, and against those of a histogram that is
drawn for comparison and thrown away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from tacit.families.synthetic.promise.noise import Chooser
from tacit.families.synthetic.promise.terms import CannotPromise
from tacit.families.synthetic.runs.batch_parts import Integers, joined
from tacit.families.synthetic.runs.batch_workers import BatchSetting, BatchTask, drawn
from tacit.families.synthetic.runs.batches import Batch
from tacit.families.synthetic.runs.people_batches import PeopleBatches
from tacit.families.synthetic.utility.flows import Flows

MOST = 20_000_000  # people who are compared one table with the other in memory


class SyntheticRows(Protocol):
    """Rows of synthetic people: a part, or a batch as it was drawn."""

    @property
    def group(self) -> Integers: ...  # noqa: D102
    @property
    def value(self) -> Integers: ...  # noqa: D102
    @property
    def count(self) -> Integers: ...  # noqa: D102


def drawn_flows(
    some: Iterable[SyntheticRows], groups: Sequence[Any], values: Sequence[Any]
) -> Flows:
    """Synthetic people as flows."""
    found = list(some)
    return Flows(
        groups,
        values,
        joined([one.group for one in found]),
        joined([one.value for one in found]),
        joined([one.count for one in found]),
    )


def histogram(people: PeopleBatches, seed: int | None) -> Flows | None:
    """People by the thresholded geometric histogram with the same epsilon and delta;
    None where it cannot promise them.

    It is for the owner to compare with, and is never published:
    publishing it too would spend the budget twice.
    """
    terms = replace(people.scene.terms, mechanism="geometric", accept=None)
    chooser = Chooser(terms, groups=len(people.groups))
    setting = BatchSetting.of(people.scene, terms, seed, "histogram")
    try:
        return drawn_flows(
            (drawn(task, setting) for task in tasks(people, people.batches, chooser)),
            people.groups,
            people.scene.labels,
        )
    except CannotPromise:
        return None


def tasks(people: PeopleBatches, some: Sequence[Batch], chooser: Chooser) -> Iterator[BatchTask]:
    """Batches to draw, with all that it takes."""
    scene = people.scene
    for batch, held in people.unchanged(some):
        groups = tuple(people.groups[batch.first : batch.first + batch.groups])
        yield BatchTask(
            batch,
            groups,
            held,
            tuple(chooser.noise(scene.sizes[group], scene.domain(group).cells) for group in groups),
        )
