"""Batches of people: the true people of batches of groups, as many at a time as memory takes, and
the digests that tell whether they changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import DataError
from tacit.families.synthetic.occupied_cells import OccupiedCells
from tacit.families.synthetic.runs.batch_parts import Digest
from tacit.families.synthetic.runs.batches import Batch, batches, members, portions

if TYPE_CHECKING:
    from tacit.families.synthetic.reading.synthetic_scene import SyntheticScene

NOBODY = OccupiedCells(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class PeopleBatches:
    """The groups of a scene in batches, and their true people.
    All of them stay in memory where they are few.
    """

    def __init__(self, scene: SyntheticScene, salt: bytes) -> None:
        self.scene = scene
        self.groups: list[Any] = list(scene.sizes)
        self.batches = batches(scene.sizes.values())
        self._digest = Digest(salt)
        self._all: dict[Batch, tuple[OccupiedCells, ...]] | None = None

    def read(self, some: Sequence[Batch]) -> Iterator[tuple[Batch, tuple[OccupiedCells, ...]]]:
        """The true people of some batches, by one query for each portion."""
        if self._all is not None:
            yield from ((one, self._all[one]) for one in some)
            return
        for portion in portions(some):
            found = self._portion(portion)
            if len(portion) == len(self.batches):
                self._all = found
            yield from found.items()

    def _portion(self, portion: Sequence[Batch]) -> dict[Batch, tuple[OccupiedCells, ...]]:
        held = dict(self.scene.held(members(portion, self.groups)))
        return {
            one: tuple(held.get(group, NOBODY) for group in members([one], self.groups))
            for one in portion
        }

    @cached_property
    def digests(self) -> dict[Batch, str]:
        """What must not change, of every batch."""
        return {one: self.digest(one, held) for one, held in self.read(self.batches)}

    def digest(self, batch: Batch, held: Iterable[OccupiedCells]) -> str:
        """Who is in which cell of the groups of a batch."""
        return self._digest.of(
            batch.name.encode(),
            *(part.astype("<i8").tobytes() for one in held for part in (one.places, one.counts)),
        )

    def unchanged(self, some: Sequence[Batch]) -> Iterator[tuple[Batch, tuple[OccupiedCells, ...]]]:
        """As `read`; people who are not those that were looked at first are an error."""
        for one, held in self.read(some):
            if self._all is None and self.digest(one, held) != self.digests[one]:
                raise DataError(
                    "the table changed while it was read: nothing was written.",
                    hint="Run the command again when nobody writes to the table, with --restart.",
                )
            yield one, held
