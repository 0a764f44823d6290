"""The question about several releases of one table: their groups, and the tuples behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from tacit.families.microdata.counts import Counts, pack_codes
from tacit.families.microdata.definitions.together.class_worlds import (
    ClassWorlds,
    counted_worlds,
    fewest_rows,
    possible_worlds,
)
from tacit.families.microdata.definitions.together.joined_releases import (
    ABSENT,
    Releases,
    releases_of,
)
from tacit.families.microdata.groups import Mask, group_keys
from tacit.families.microdata.hierarchy import HierarchyLevel
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.overlaps.counting.expectations import MOST_STEPS
from tacit.families.overlaps.overlap import Integers
from tacit.model.deadline import Deadline
from tacit.model.jobs import Job
from tacit.model.verdict import Assumption

SECONDS = 60.0  # for the worlds of one question


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """One release: the level of each quasi-identifier that it shows, and the columns that it
    shows as they are. `inside` are the combinations of the table that are in it, None for all.
    `called` has the names of columns that only this release has, as it shows them.
    """

    name: str
    levels: Mapping[str, HierarchyLevel]
    columns: frozenset[str]
    inside: Mask | None = None
    called: Mapping[str, str] = field(default_factory=dict)

    def has(self, row: int) -> bool:
        """Is a combination of the table in it?"""
        return self.inside is None or bool(self.inside[row])

    def labels(self, base: Counts, row: int) -> dict[str, Any]:
        """What it shows of a combination's quasi-identifiers."""
        return {
            self.called.get(name, name): level.labels[int(level.codes[base.codes(name)[row]])]
            for name, level in self.levels.items()
        }


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """The releases that are published, and what they leave everybody."""

    releases: Releases
    possible: ClassWorlds

    def values(self, row: int, value_of: Integers) -> frozenset[int] | None:
        """The values that somebody of a combination could have; None where that is not known."""
        class_ = int(self.releases.class_of[row])
        if class_ == ABSENT:
            return frozenset()
        if not self.possible.known[class_]:
            return None
        tuples = self.possible.tuples[self.possible.of(class_)]
        return frozenset(value_of[tuples].tolist()) - {-1}


@dataclass(frozen=True, eq=False)
class JointQuestion:
    """What is asked about a release and those that are published beside it.

    `asked` is the question about the release alone, the last of `copies`. `base` counts the
    combinations of all quasi-identifiers and all `columns` that a release shows as they are, with
    the values as they are written. `who` names the person of a combination, where each is one
    person; else somebody with its values is looked up in the table. `earlier` is what was left
    before, where it was looked at already.
    """

    asked: MicrodataQuestion
    copies: Sequence[Copy]
    base: Counts
    columns: tuple[str, ...]
    assumptions: tuple[Assumption, ...] = ()
    seconds: float = SECONDS
    job: Job = field(default_factory=Job)
    who: Callable[[int], Mapping[str, Any]] | None = None
    earlier: Earlier | None = None
    _values: dict[tuple[int, str], tuple[MicrodataQuestion, Integers]] = field(
        default_factory=dict, init=False, repr=False
    )

    def closed(self) -> Self:
        """The question once the source is closed: nobody can be looked up any more."""
        return replace(self, asked=self.asked.closed())

    @property
    def names(self) -> list[str]:
        """The releases, those that are published first."""
        return [one.name for one in self.copies]

    def known(self, row: int) -> dict[str, Any]:
        """What everybody knows of a combination: its quasi-identifiers, or what a release shows of
        them where the person left before the one that is asked about.
        """
        if self.copies[-1].has(row):
            return {name: self.base.value(name, row) for name in self.asked.quasi}
        return next(one.labels(self.base, row) for one in self.copies if one.has(row))

    @cached_property
    def releases(self) -> Releases:
        """The releases as groups and tuples."""
        return releases_of(
            [self._groups(one) for one in self.copies],
            self.tuple_of,
            self.base.occurrences,
            [self._shown(one) for one in self.copies],
        )

    @cached_property
    def possible(self) -> ClassWorlds:
        """Which tuples everybody can have."""
        return possible_worlds(self.releases, Deadline(self.seconds), self.job)

    @cached_property
    def fewest_possible_rows(self) -> list[int]:
        """For each class the fewest rows that can be a person's."""
        found: list[int] = fewest_rows(self.releases, self.possible).tolist()
        return found

    @cached_property
    def counted(self) -> ClassWorlds:
        """How likely each tuple is, between bounds where integers would take long."""
        return counted_worlds(self.releases, Deadline(self.seconds), self.job)

    @cached_property
    def counted_exactly(self) -> ClassWorlds:
        """The same in integers, as far as there is time."""
        if self.counted.is_exact:
            return self.counted
        deadline = Deadline(self.seconds)
        return counted_worlds(self.releases, deadline, self.job, exact_steps=MOST_STEPS)

    @cached_property
    def before(self) -> Earlier | None:
        """What was left before the release that is asked about; None where nothing is published."""
        if self.earlier is None and len(self.copies) > 1:
            out = replace(self, copies=self.copies[:-1])
            return Earlier(out.releases, out.possible)
        return self.earlier

    def with_last(self, copy: Copy, seconds: float) -> Self:
        """The same with another release to ask about, beside those that are published."""
        copies = [*self.copies[:-1], copy]
        return replace(self, copies=copies, seconds=seconds, earlier=self.before)

    @property
    def tuple_of(self) -> Integers:
        """The tuple of each combination."""
        return self._tuples[0]

    @cached_property
    def _tuples(self) -> tuple[Integers, Integers]:
        """The tuple of each combination, and a combination that has it."""
        packed, _ = pack_codes(
            [self.base.codes(name) for name in self.columns],
            [self.base.size(name) for name in self.columns],
            len(self.base),
        )
        _, first, which = np.unique(packed, return_index=True, return_inverse=True)
        return which.reshape(-1), first

    def _groups(self, copy: Copy) -> Integers:
        key, _ = group_keys(self.base, list(copy.levels), copy.levels)
        found = np.unique(key, return_inverse=True)[1].reshape(-1)
        return found if copy.inside is None else np.where(copy.inside, found, ABSENT)

    def _shown(self, copy: Copy) -> Integers:
        """What a release shows of each tuple."""
        names, first = [one for one in self.columns if one in copy.columns], self._tuples[1]
        packed, _ = pack_codes(
            [self.base.codes(name)[first] for name in names],
            [self.base.size(name) for name in names],
            len(first),
        )
        found: Integers = np.unique(packed, return_inverse=True)[1].reshape(-1)
        return found

    def values(self, reading: MicrodataQuestion, column: str) -> Integers:
        """The code of each tuple's sensitive value as a reading takes it; -1 for no value."""
        key = id(reading), column
        if key not in self._values:  # the reading is kept, so that no other gets its id
            self._values[key] = reading, self._read_values(reading, column)
        return self._values[key][1]

    def _read_values(self, reading: MicrodataQuestion, column: str) -> Integers:
        meant = {value: value for value in self.asked.base.dictionaries[column]}
        told = self.asked.base.raw.get(column)
        written = reading.base.raw.get(column)
        if told is not None:
            meant = {raw: value for value, some in told.items() for raw in some}
        if written is not None and written is not told:
            again = {raw: value for value, some in written.items() for raw in some}
            meant = {raw: again[value] for raw, value in meant.items() if value in again}
        codes = {value: code for code, value in enumerate(reading.base.dictionaries[column])}
        by_code = [
            codes[meant[value]] if value in meant else -1
            for value in self.base.dictionaries[column]
        ]
        found: Integers = np.array([*by_code, -1], dtype=np.int64)[
            self.base.codes(column)[self._tuples[1]]
        ]
        return found
