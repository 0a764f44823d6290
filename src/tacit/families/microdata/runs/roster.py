"""Roster: the people of a release a page at a time, the most exposed first, or those whose key
contains a text.

Who is how exposed is a matter of groups, which are counted already: here the combinations of values
are put in order once, and the engine is asked for the people of one page only. So a million rows
are turned over as fast as a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.sql.shapes_people import containing, is_missing, people_among
from tacit.families.microdata.attacks.attack_beliefs import Believer
from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.counts import pack_codes
from tacit.families.microdata.fused_columns import apart, unfused, value_in
from tacit.families.microdata.microdata import Person
from tacit.families.microdata.reading.declared_distances import parts_of
from tacit.families.microdata.runs.attack import key_columns

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.families.microdata.counts import Counts, Integers
    from tacit.families.microdata.reading.source import MicrodataSource

MOST_ROOMS = 3
LISTED = 10_000  # people that are listed; others are found by their key
FOUND = 1_000  # people that a search finds


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """Somebody in the list: who, their value, their group, and how sure of that value one can be
    before and after the release.

    `alike` people are listed as this one, where nobody has a name.
    `after` is None where the value is missing.
    """

    person: Person
    value: Any
    group: int
    size: int
    before: Fraction | None
    after: Fraction | None
    alike: int = 1


class Roster:
    """The people of one release and one sensitive column, in order.
    `unknown` are values in the data that count as missing.
    """

    def __init__(self, scene: AttackScene, engine: Engine, unknown: Sequence[Any] = ()) -> None:
        self.scene, self.question, self.column, self._engine = (
            scene,
            scene.question,
            scene.column,
            engine,
        )
        self._unknown = tuple(unknown)  # values that are none
        base, table = self.question.base, self.question.table
        types = engine.columns(table.name)
        self._parts = parts_of(table, types)
        self.identity = tuple(name for name in key_columns(table) if name in types)
        self._names = (*self.question.quasi, self.column)
        self._sizes = [base.size(name) for name in self._names]
        # Of columns that were cleaned, spellings that are one value are one combination.
        packed, _ = pack_codes([base.codes(name) for name in self._names], self._sizes, len(base))
        _, self._first, where = np.unique(packed, return_index=True, return_inverse=True)
        self._people = self._count(where.reshape(-1))
        self._group, self._having, self._known, self._share = exposures(scene, self._first)
        self._codes = [codes_by_value(base, name) for name in self._names]
        self._packed = packed[self._first] if is_packed(self._sizes) else None
        rarity = base.people_by_code(self.column)
        value = base.codes(self.column)[self._first]
        rare = np.append(rarity, 0)[value]
        self._order = np.lexsort((rare, -self._share))
        # A line is a person, or all who are alike where nobody has a name.
        self._lines = (
            self._people[self._order]
            if self.identity
            else np.ones(len(self._order), dtype=np.int64)
        )
        self._upto = np.cumsum(self._lines)

    @property
    def total(self) -> int:
        """How many lines there are."""
        return int(self._upto[-1]) if len(self._upto) else 0

    @property
    def people(self) -> int:
        """How many people there are: who has several values has several lines."""
        base = self.question.base
        return int(base.occurrences.sum() if base.persons is None else len(np.unique(base.persons)))

    def most_exposed(self, offset: int, limit: int) -> list[ListedPerson]:
        """Some lines from the offset on; the person whose true value one
        can be surest of is the first.
        """
        end = min(offset + limit, self.total)
        if end <= offset:
            return []
        first, last = np.searchsorted(self._upto, [offset, end - 1], side="right").tolist()
        spans = []
        for place in range(first, last + 1):
            begin = int(self._upto[place] - self._lines[place])
            spans.append(
                (
                    int(self._order[place]),
                    max(0, offset - begin),
                    min(int(self._upto[place]), end) - begin,
                )
            )
        if not self.identity:
            return [self._listed(cell, {}, alike=int(self._people[cell])) for cell, _, _ in spans]
        return [self._listed(cell, who) for cell, who in self._who(spans)]

    def search(self, text: str) -> list[ListedPerson]:
        """Whose key contains a text (where nobody has a key:
        whose quasi-identifiers do), the shortest keys first; not all where there are many.
        """
        columns = unfused(self._names, self._parts)
        keys = self.identity or tuple(unfused(self.question.quasi, self._parts))
        query = containing(
            self.question.table.name,
            keys,
            [*self.identity, *columns],
            text.strip(),
            limit=FOUND,
            collations=self._engine.collations(self.question.table.name),
        )
        found: dict[Any, ListedPerson] = {}
        for row in self._engine.rows(query):
            cells = dict(zip([*self.identity, *columns], row, strict=True))
            cell = self._cell([value_in(cells, name, self._parts) for name in self._names])
            if cell is not None:
                who = {name: cells[name] for name in self.identity}
                found.setdefault(
                    (cell, *map(str, who.values())),
                    self._listed(cell, who, alike=1 if who else int(self._people[cell])),
                )
        return list(found.values())

    def some_of(self, group: int, number: int) -> list[Person]:
        """A few people of a group whose value is known, where people have names;
        found by one query.
        """
        inside = np.flatnonzero((self._group == group) & (self._share >= 0))[:number]
        spans = (
            [(cell, 0, min(number, int(self._people[cell]))) for cell in inside.tolist()]
            if self.identity
            else []
        )
        base = self.question.base
        found = {
            tuple(map(str, who.values())): Person(
                who,
                {name: base.value(name, int(self._first[cell])) for name in self.question.quasi},
            )
            for cell, who in self._who(spans)
        }
        return list(found.values())[:number]

    def _listed(self, cell: int, who: Mapping[str, Any], *, alike: int = 1) -> ListedPerson:
        base, row = self.question.base, int(self._first[cell])
        value, group = base.value(self.column, row), int(self._group[cell])
        known = {name: base.value(name, row) for name in self.question.quasi}
        after = (
            Fraction(int(self._having[cell]), int(self._known[cell])) if value is not None else None
        )
        before = self.scene.before(value) if value is not None else None
        return ListedPerson(
            Person(dict(who), known),
            value,
            group,
            int(self.scene.groups.sizes[group]),
            before,
            after,
            alike,
        )

    def _count(self, where: Integers) -> Integers:
        """How many people have each combination."""
        base = self.question.base
        if base.persons is None:
            return np.bincount(where, weights=base.occurrences).astype(np.int64)
        pairs = np.unique(np.stack((where, base.persons)), axis=1)
        return np.bincount(pairs[0])

    def _cell(self, values: Sequence[Any]) -> int | None:
        """The combination that has some values; None where the table has no such row any more."""
        codes = [
            known.get(value, size - 1)
            for known, value, size in zip(self._codes, values, self._sizes, strict=True)
        ]
        if self._packed is not None:
            key, _ = pack_codes([np.array([code]) for code in codes], self._sizes, 1)
            place = int(np.searchsorted(self._packed, key[0]))
            return place if place < len(self._packed) and self._packed[place] == key[0] else None
        base = self.question.base
        mask = np.ones(len(self._first), dtype=np.bool_)
        for name, code in zip(self._names, codes, strict=True):
            mask &= base.codes(name)[self._first] == code
        return int(found[0]) if len(found := np.flatnonzero(mask)) else None

    def _who(self, spans: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The people of some combinations, of each from one place to another:
        as many queries as there are ways to be missing.
        """
        table = self.question.table.name
        by_missing: dict[tuple[str, ...], list[tuple[dict[str, Any], tuple[int, int, int]]]] = {}
        for place, (cell, after, upto) in enumerate(spans):
            for values in self._spelled(cell):
                absent = tuple(name for name, value in values.items() if value is None)
                known = {name: value for name, value in values.items() if value is not None}
                by_missing.setdefault(absent, []).append(
                    (apart(known, self._parts), (place, after, upto))
                )
        found: list[tuple[int, Any, dict[str, Any]]] = []
        for absent, among in by_missing.items():
            missing = [
                is_missing(
                    self._parts.get(name, (name,)), self._unknown if name == self.column else ()
                )
                for name in absent
            ]
            once, collations = (
                self.question.base.persons is not None,
                self._engine.collations(table),
            )
            for place, number, *who in self._engine.rows(
                people_among(table, self.identity, among, missing, once=once, collations=collations)
            ):
                found.append((int(place), number, dict(zip(self.identity, who, strict=True))))
        for place, _, person in sorted(found, key=lambda one: one[:2]):
            yield spans[place][0], person

    def _spelled(self, cell: int) -> Iterator[dict[str, Any]]:
        """The values of a combination; the sensitive one may be
        written in the data in several ways.
        """
        base, row = self.question.base, int(self._first[cell])
        known = {name: base.value(name, row) for name in self.question.quasi}
        value = base.value(self.column, row)
        for spelling in base.raw.get(self.column, {}).get(value, (value,)):
            yield {**known, self.column: spelling}


def exposures(scene: AttackScene, rows: Integers) -> tuple[Integers, Integers, Integers, Any]:
    """For some combinations of the base: the group, its people with the same value and with any,
    and the share; -1 where the value is missing.
    """
    base, groups, cells = scene.question.base, scene.groups, scene.cells
    group = np.searchsorted(groups.keys, groups.key_of_row[rows])
    size, code = base.size(scene.column), base.codes(scene.column)[rows]
    key = cells.owner * size + cells.values
    order = np.argsort(key, kind="stable")
    place = np.clip(np.searchsorted(key[order], group * size + code), 0, max(len(key) - 1, 0))
    having = cells.counts[order][place] if len(key) else np.zeros(len(rows), dtype=np.int64)
    known = np.maximum(cells.known[group], 1)
    return group, having, known, np.where(code < size - 1, having / known, -1.0)


def codes_by_value(base: Counts, column: str) -> dict[Any, int]:
    """The code of every value as the data have it; what is in none of them is missing."""
    spellings = base.raw.get(column, {})
    return {
        one: code
        for code, value in enumerate(base.dictionaries[column])
        for one in spellings.get(value, (value,))
    }


def is_packed(sizes: Sequence[int]) -> bool:
    """Do codes of these sizes stand in one integer as they are?"""
    room = 1
    for size in sizes:
        room *= size
    return room <= 2**62


def roster_of(source: MicrodataSource, release: str, column: str) -> Roster:
    """The people of a release, by the reading of its values that trusts least."""
    given = source.question(release)
    question = given.stricter or given
    kept = codes_by_value(question.base, column)
    unknown = [
        *question.table.unknown.get(column, ()),
        *(one for one in given.base.dictionaries[column] if one not in kept),
    ]
    return Roster(AttackScene(question, column), source.engines[release], unknown)


@dataclass(frozen=True, slots=True)
class Room:
    """One sensitive column of a release with its people, ready for questions."""

    roster: Roster
    believer: Believer


def room_of(source: MicrodataSource, release: str, column: str) -> Room:
    """The same room for the same question, as long as the source is open:
    to look at a million rows again takes seconds.

    Only the last few are kept, for each holds the groups of a whole release.
    """
    rooms: dict[tuple[str, str], Room] = source.rooms
    found = rooms.pop((release, column), None)
    if found is None:
        while len(rooms) >= MOST_ROOMS:
            del rooms[next(iter(rooms))]
        roster = roster_of(source, release, column)
        found = Room(roster, Believer(roster.scene, roster.some_of))
    rooms[release, column] = found
    return found
