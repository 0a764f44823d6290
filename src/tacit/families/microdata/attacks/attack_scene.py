"""Scene: what every attack looks at, and the sums that several of them need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tacit.families.definition import Definition
from tacit.families.microdata.counts import Counts
from tacit.families.microdata.definitions.microdata_definition import Learned
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import MicrodataQuestion, Person
from tacit.families.microdata.neighbours import NeighbourCells, cells_of

NINETY_FIVE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class AttackedCheck:
    """A check of the plan about this release: its definition, and the column it names."""

    definition: Definition
    sensitive: str | None = None


@dataclass(frozen=True, slots=True)
class AttackTarget:
    """The person of whom the story is told:
    who, what can be looked up, and the rows of the base.
    """

    identity: Mapping[str, Any]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OutsideTable:
    """A table that the attacker has: some quasi-identifiers as they are, and who has them.

    Each row is a person: `known` in the order of `columns`, and
    what else the table says about them.
    """

    file: str
    columns: tuple[str, ...]
    people: tuple[tuple[tuple[Any, ...], Mapping[str, Any]], ...]


@dataclass(frozen=True)
class AttackScene:
    """One release and one sensitive column, and what the attacker brings along.

    `column` is empty where the release has no sensitive column. `levels_known`: the release was
    made by levels of this plan. `doubtful`: some values may mean unknown, and are taken as no
    diversity here.
    """

    question: MicrodataQuestion
    column: str
    threshold: Fraction = NINETY_FIVE
    checks: tuple[AttackedCheck, ...] = ()
    outside: OutsideTable | None = None
    target: AttackTarget | None = None
    levels_known: bool = True
    doubtful: bool = False

    @cached_property
    def groups(self) -> Groups:
        """The groups of the release with the column's values."""
        return self.question.groups(self.column or None)

    @cached_property
    def cells(self) -> NeighbourCells:
        """People by group and value; who has several values counts in each."""
        return cells_of(self.groups)

    @cached_property
    def place(self) -> TargetPlace | None:
        """Where the target stands: the first of their rows that has a value, else the first."""
        if self.target is None:
            return None
        base, column = self.question.base, self.column
        row = min(
            self.target.rows, key=lambda row: bool(column) and base.value(column, row) is None
        )
        number = int(np.searchsorted(self.groups.keys, self.groups.key_of_row[row]))
        known = {name: base.value(name, row) for name in self.question.quasi}
        return TargetPlace(
            row,
            number,
            Person(self.target.identity, known),
            base.value(column, row) if column else None,
        )

    def before(self, value: Any) -> Fraction:
        """The share of a value in the whole table: what is believed without the release."""
        return Fraction(*self.before_counts(value))

    def before_counts(self, value: Any) -> tuple[int, int]:
        """How many people of the whole table have a value, and how many have any."""
        return self.question.before(self.column).get(value, 0), max(
            1, self.question.known_people(self.column)
        )

    def shares(self, number: int) -> dict[Any, int]:
        """A group's values with how many people have each, most frequent first."""
        span = self.cells.of(number)
        pairs = zip(self.cells.values[span].tolist(), self.cells.counts[span].tolist(), strict=True)
        dictionary = self.groups.dictionary
        return {
            dictionary[code]: count
            for code, count in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
        }

    def crowd(self, number: int) -> dict[frozenset[Any], int]:
        """A group's people by the values they have: one each, or several."""
        if not self.groups.several:
            return {frozenset([value]): count for value, count in self.shares(number).items()}
        base = self.question.base
        assert base.persons is not None
        having: dict[int, set[Any]] = {}
        for row in np.flatnonzero(self.groups.key_of_row == self.groups.keys[number]).tolist():
            value = base.value(self.column, row)
            if value is not None:
                having.setdefault(int(base.persons[row]), set()).add(value)
        crowd: dict[frozenset[Any], int] = {}
        for values in having.values():
            crowd[frozenset(values)] = crowd.get(frozenset(values), 0) + 1
        return crowd

    def values_of_target(self, number: int) -> frozenset[Any] | None:
        """All values that the target has in a group; None where there is no target."""
        if self.target is None:
            return None
        base, key = self.question.base, self.groups.keys[number]
        rows = (row for row in self.target.rows if self.groups.key_of_row[row] == key)
        return frozenset(base.value(self.column, row) for row in rows) - {None}

    def learned(self, number: int, value: Any, person: Person | None = None) -> Learned:
        """What the release tells of a person in a group."""
        known = int(self.cells.known[number])
        return Learned(
            person or self.question.person(self.groups, number, value),
            self.column,
            value,
            self.before_counts(value),
            (self.shares(number).get(value, 0), max(1, known)),
            unknown=int(self.groups.sizes[number]) - known,
        )


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """Where the target stands in the release; `value` is None where the table has none."""

    row: int
    number: int
    person: Person
    value: Any


def rows_with(base: Counts, values: Mapping[str, Any]) -> tuple[int, ...]:
    """The combinations of the base that have some values; None is a missing one."""
    mask = np.ones(len(base), dtype=np.bool_)
    for name, value in values.items():
        mask &= base.codes(name) == code_of(base, name, value)
    return tuple(np.flatnonzero(mask).tolist())


def code_of(base: Counts, column: str, value: Any) -> int:
    """The code of a value as the table has it:
    spelling variants may have become one, and unknown missing.
    """
    dictionary = base.dictionaries[column]
    for clean, spellings in base.raw.get(column, {}).items():
        if value in spellings and clean in dictionary:
            return dictionary.index(clean)
    return dictionary.index(value) if value in dictionary else len(dictionary)
