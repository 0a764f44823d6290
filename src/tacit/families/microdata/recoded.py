"""Recoded: a table as a repair would release it, and the question what that discloses.

A repair does not touch rows. It says, for each distinct combination of the table, how many of its
rows show which labels; the rows of a combination that are in no cell are suppressed. An engine
writes the release from this, a definition judges it through `question`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import Counts, narrow, pack_codes, pack_columns
from tacit.families.microdata.hierarchy import HierarchyLevel, Labels
from tacit.families.microdata.microdata import MicrodataQuestion

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.groups import Mask


@dataclass(frozen=True, slots=True)
class Recoded:
    """What a release shows. Cell i holds `counts[i]` rows of
    combination `rows[i]` of the raw table.

    `codes[column][i]` is the place of the cell's label in `labels[column]`, for every
    quasi-identifier. `generalization` has the levels where whole columns are recoded (else None:
    each group its own). A combination is in one cell there; a local recoding may spread its rows
    over several.
    """

    raw: MicrodataQuestion
    rows: Integers
    counts: Integers
    labels: Mapping[str, Labels]
    codes: Mapping[str, Integers]
    generalization: Mapping[str, int] | None = None

    @property
    def released(self) -> int:
        """How many rows are released."""
        return int(self.counts.sum())

    @property
    def suppressed(self) -> int:
        """How many rows are not released."""
        return self.raw.base.rows - self.released

    def question(self) -> MicrodataQuestion:
        """What does this release disclose?"""
        way = self._by_labels if self.generalization is None else self._by_levels
        asked = way(self.raw)
        return replace(asked, readings=tuple(map(way, self.raw.readings)))

    def _by_levels(self, reading: MicrodataQuestion) -> MicrodataQuestion:
        """Whole columns are recoded: the raw table without what is suppressed, at other levels."""
        base = reading.base if not self.suppressed else reading.base.only(self.rows)
        levels = {
            name: self.raw.hierarchies[name].level(height)
            for name, height in (self.generalization or {}).items()
        }
        return self._replaced(reading, base, levels)

    def _by_labels(self, reading: MicrodataQuestion) -> MicrodataQuestion:
        """The same question as for the table read back from its file."""
        base = self.counted(reading.base)
        levels = {name: as_it_is(base.dictionaries[name]) for name in reading.quasi}
        return replace(self._replaced(reading, base, levels), find=nobody)

    def _replaced(
        self, reading: MicrodataQuestion, base: Counts, levels: Mapping[str, HierarchyLevel]
    ) -> MicrodataQuestion:
        own = {name: reading.levels[name] for name in reading.sensitive}
        people = base.rows if base.persons is None else base.people(np.arange(len(base)))
        return replace(
            reading,
            base=base,
            levels={**levels, **own},
            rows=base.rows,
            people=people,
            readings=(),
            _cache={},
            _before={},
        )

    def counted(self, base: Counts) -> Counts:
        """The release's own counts: labels instead of values, the sensitive values as some
        reading has them.
        """
        codes, dictionaries = {}, {}
        for name in self.raw.quasi:
            dictionaries[name], codes[name] = without_missing(self.labels[name], self.codes[name])
        for name in self.raw.sensitive:
            dictionaries[name], codes[name] = base.dictionaries[name], base.codes(name)[self.rows]
        sizes = {name: len(values) + 1 for name, values in dictionaries.items()}
        packing = pack_columns(sizes)
        keys = tuple(
            pack_codes(
                [codes[name] for name in packed], [sizes[name] for name in packed], len(self.rows)
            )[0]
            for packed in packing
        )
        missing = frozenset(name for name in codes if bool((codes[name] == sizes[name] - 1).any()))
        persons = base.persons[self.rows] if base.persons is not None else None
        return Counts(
            dictionaries, sizes, packing, keys, self.counts, persons, missing, raw=base.raw
        )


def nobody(values: Mapping[str, Any], limit: int) -> list[Mapping[str, Any]]:
    """Labels are not looked up in the raw table."""
    return []


def as_it_is(values: Labels) -> HierarchyLevel:
    """The level that leaves the labels of a column as they are."""
    return HierarchyLevel((*values, None), np.arange(len(values) + 1, dtype=np.int64))


def without_missing(labels: Labels, codes: Integers) -> tuple[Labels, Integers]:
    """Labels, equal ones as one, with the code after the last for those that are missing."""
    numbers: dict[Any, int] = {}
    for label in labels:
        if label is not None:
            numbers.setdefault(label, len(numbers))
    places = np.array(
        [len(numbers) if label is None else numbers[label] for label in labels], dtype=np.int64
    )
    return tuple(numbers), narrow(places, len(numbers) + 1)[codes]


def generalized(
    raw: MicrodataQuestion, generalization: Mapping[str, int], *, keep: Mask | None = None
) -> Recoded:
    """Whole columns recoded to levels;
    where `keep` is given, only those combinations are released.
    """
    rows = np.arange(len(raw.base)) if keep is None else np.flatnonzero(keep)
    everything = len(rows) == len(raw.base)
    levels = {name: raw.hierarchies[name].level(generalization.get(name, 0)) for name in raw.quasi}

    def shown(name: str, level: HierarchyLevel) -> Any:
        codes = raw.base.codes(name)
        return narrow(level.codes, len(level.labels))[codes if everything else codes[rows]]

    return Recoded(
        raw,
        rows,
        raw.base.occurrences if everything else raw.base.occurrences[rows],
        {name: level.labels for name, level in levels.items()},
        {name: shown(name, level) for name, level in levels.items()},
        {name: generalization.get(name, 0) for name in raw.quasi},
    )
