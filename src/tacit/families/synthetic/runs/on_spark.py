"""On Spark: each partition draws the groups that are in it, and the rows stay with the cluster
until they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.sql import shapes, shapes_coded
from tacit.engines.sql.shapes_drawn import GROUPS, ROWS, VALUES, OutputShape, totals
from tacit.families.synthetic.drawing.group_drawing import draw
from tacit.families.synthetic.reading.people import PeoplePairs
from tacit.families.synthetic.runs.batch_parts import BatchPart, Integers
from tacit.families.synthetic.runs.batch_workers import BatchSetting, randomness_for
from tacit.families.synthetic.runs.drawing import DRAW, ORDERS
from tacit.families.synthetic.runs.measurement import MOST
from tacit.families.synthetic.runs.output_file import write
from tacit.families.synthetic.runs.synthesis_results import Drawing, Synthesized
from tacit.model.jobs import Job

if TYPE_CHECKING:
    from tacit.engines.spark.engine import Spark
    from tacit.families.synthetic.promise.noise import Chooser
    from tacit.families.synthetic.promise.terms import Noise
    from tacit.families.synthetic.reading.synthetic_scene import SyntheticScene

COLUMNS = {
    "order": "BIGINT",
    "group": "BIGINT",
    "value": "BIGINT",
    "count": "BIGINT",
    "tries": "BIGINT",
}
Counted = tuple[
    Integers, Integers, Integers
]  # groups, values and how many, by the codes that the engine counts with


@dataclass(frozen=True, slots=True)
class SparkPartition:
    """What it takes to draw the groups of a partition: sent to every process that does.

    `place` has for each group of the table its place in the output, -1 for groups with nobody
    inside; `noise` its kind of noise.
    """

    setting: BatchSetting
    place: Integers
    noise: Integers
    noises: tuple[Noise, ...]
    each: bool  # one row for each person

    @classmethod
    def of(cls, scene: SyntheticScene, chooser: Chooser, seed: int | None) -> SparkPartition:
        """From a scene and the noise of its groups."""
        kinds: dict[Noise, int] = {}
        place, noise = (np.full(len(scene.true.groups), -1, dtype=np.int64) for _ in range(2))
        number = {group: at for at, group in enumerate(scene.true.groups)}
        for at, (group, people) in enumerate(scene.sizes.items()):
            place[number[group]] = at
            noise[number[group]] = kinds.setdefault(
                chooser.noise(people, scene.domain(group).cells), len(kinds)
            )
        return cls(
            BatchSetting.of(scene, scene.terms, seed),
            place,
            noise,
            tuple(kinds),
            scene.release.count is None,
        )

    def drawn(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Draw the groups of a partition. Its rows come sorted by group, in batches that may end
        within a group.
        """
        import pyarrow as pa

        for counted in whole_groups(arrays(batch) for batch in batches):
            numbers, starts = np.unique(counted[0], return_index=True)
            for number, low, high in zip(
                numbers.tolist(),
                starts.tolist(),
                [*starts[1:].tolist(), len(counted[0])],
                strict=True,
            ):
                if self.place[number] >= 0:
                    part = self.group(
                        number, PeoplePairs(*(column[low:high] for column in counted))
                    )
                    tries = np.zeros(part.rows, dtype=np.int64)
                    tries[:1] = part.tries
                    columns = [part.order, part.group, part.value, part.count, tries]
                    yield pa.RecordBatch.from_arrays(
                        [pa.array(one) for one in columns], names=list(COLUMNS)
                    )

    def group(self, number: int, pairs: PeoplePairs) -> BatchPart:
        """Draw one group."""
        scene, seed = self.setting.scene, self.setting.seed
        label = scene.true.groups[number]
        randomness = randomness_for(seed, "group", str(number))
        found = draw(
            scene.held_of(number, pairs),
            scene.domain(label),
            self.setting.terms,
            self.noises[self.noise[number]],
            randomness,
        )
        value, count = scene.spread(label, found.held, randomness)
        if self.each:
            value, count = np.repeat(value, count), np.ones(int(count.sum()), dtype=np.int64)
        group = np.full(len(value), self.place[number], dtype=np.int64)
        return BatchPart(
            randomness.below(ORDERS, len(value)),
            group,
            value,
            count,
            tries=found.tries,
            most=found.tries,
        )


def arrays(batch: Any) -> Counted:
    """A record batch as arrays."""
    group, value, count = (column.to_numpy() for column in batch.columns)
    return group, value, count


def whole_groups(batches: Iterator[Counted]) -> Iterator[Counted]:
    """Rows that are sorted by group, in pieces that end where a group does.

    >>> batches = [
    ...     (np.array(one), np.array(one), np.array(one)) for one in ([1, 1], [1, 2, 3], [3, 3])
    ... ]
    >>> [piece[0].tolist() for piece in whole_groups(iter(batches))]
    [[1, 1, 1, 2], [3, 3, 3]]
    """
    begun: list[Counted] = []  # of a group that may go on
    for batch in batches:
        if not len(batch[0]):
            continue
        begun.append(batch)
        if begun[0][0][0] != batch[0][-1]:
            whole = merged_piece(begun)
            last = int(np.searchsorted(whole[0], batch[0][-1]))
            yield whole[0][:last], whole[1][:last], whole[2][:last]
            begun = [(whole[0][last:], whole[1][last:], whole[2][last:])]
    if begun:
        yield merged_piece(begun)


def merged_piece(pieces: list[Counted]) -> Counted:
    """One piece of several."""
    groups, values, counts = (np.concatenate(one) for one in zip(*pieces, strict=True))
    return groups, values, counts


def drawn_by_spark(
    engine: Spark,
    scene: SyntheticScene,
    chooser: Chooser,
    found: Synthesized,
    output: str,
    *,
    seed: int | None,
    job: Job,
) -> tuple[Synthesized, list[BatchPart] | None]:
    """Draw every group where Spark has it, and have Spark write the output;
    also the people, where they are few enough to compare.
    """
    job.step("drawing on Spark", DRAW)
    partition, true = SparkPartition.of(scene, chooser, seed), scene.true
    release = scene.release
    kinds = engine.columns(release.table)
    shape = OutputShape(
        release.group,
        release.value,
        release.count,
        list(scene.sizes),
        scene.labels,
        kinds[release.group],
        kinds[release.value],
    )
    sizes = {release.group: len(true.groups) + 1, release.value: len(true.values) + 1}
    counted = shapes_coded.coded_sums(
        true.table.name,
        sizes,
        keys=[[release.group], [release.value]],
        amount=release.count,
        collations=true.collations,
    )
    counted.set("order", None)  # each partition sorts its own
    try:
        engine.map_groups(ROWS, counted, "k0", partition.drawn, COLUMNS)
        rows, people, tries, most = next(engine.rows(totals()))
        job.step("writing the output", 0.9)
        write(engine, shape, output, int(rows), typed=not output.lower().endswith(".csv"))
        parts = [gathered(engine)] if scene.people <= MOST // 10 else None
    finally:
        for name in (ROWS, GROUPS, VALUES):
            engine.drop_map(name)
    drawing = Drawing(int(people), int(rows), int(tries), int(most), batches=1, workers=0)
    return replace(found, output=output, drawing=drawing), parts


def gathered(engine: Spark) -> BatchPart:
    """The rows that were drawn, here."""
    order, group, value, count = engine.numbers(shapes.columns_of(ROWS, list(COLUMNS)[:4]))
    return BatchPart(order, group, value, count)
