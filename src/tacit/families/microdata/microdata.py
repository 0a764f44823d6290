"""A microdata release as a question: its groups, its people, and what the attacker knows before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import DataError
from tacit.families.microdata.counts import Counts, too_large
from tacit.families.microdata.distances import Distance, usual
from tacit.families.microdata.groups import Groups, group
from tacit.families.microdata.hierarchy import Hierarchy, HierarchyLevel
from tacit.families.microdata.value_readings import AS_WRITTEN, Untried, ValueReading
from tacit.model.schema import Table
from tacit.model.verdict import Assumption

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.streamed import GroupAsker, StreamedCells

Missing = Literal["own-group", "match-any", "error"]
Find = Callable[
    [Mapping[str, Any], int], list[Mapping[str, Any]]
]  # the first few who have given values
Population = Callable[
    [str, Groups], "Integers"
]  # how many people of another table fall into each group


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in the table: who it is (empty where nobody can
    say), and what is known about them.
    """

    identity: Mapping[str, Any]
    known: Mapping[str, Any]


def no_population(table: str, groups: Groups) -> Integers:
    """There is no other table to look into."""
    raise DataError(
        f"there is no table {table!r} to take as the population.", hint="Put it into the plan."
    )


def as_they_are(column: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values of a column that is released as it is."""
    return values


@dataclass(frozen=True, slots=True)
class MicrodataQuestion:
    """What a definition needs to judge one microdata release.

    `levels` has, for every quasi-identifier, the level it is released at. `find` looks up who has
    given values in the table itself; it is asked for a witness only. `readings` are the same
    question with values that may mean unknown, or differ only in spelling, taken as no diversity,
    the strictest last; `reading` says how this one takes them, `untried` which doubts were taken
    alike. `population` counts how many people of another table fall into each group. `hierarchies`
    has all levels of the columns, `measure` makes the distance that a column declares for the
    values it has. `label_more` says what the release would show of values of a column that the
    table does not have. Where the combinations do not fit into memory `base` has only the sensitive
    columns, `cells` the groups a part at a time, and `asker` is the definition that passes over
    them.
    """

    release: str
    table: Table
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    base: Counts
    levels: Mapping[str, HierarchyLevel]
    rows: int
    people: int
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[str, ...] = ()
    find: Find = lambda values, limit: []
    reading: ValueReading = AS_WRITTEN
    readings: tuple[MicrodataQuestion, ...] = ()
    untried: Untried = ""
    population: Population = no_population
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    measure: Callable[[str, tuple[Any, ...]], Distance] = usual
    label_more: Callable[[str, tuple[Any, ...]], tuple[Any, ...]] = as_they_are
    cells: StreamedCells | None = None
    asker: GroupAsker | None = None
    _cache: dict[Any, Groups] = field(default_factory=dict, repr=False)
    _before: dict[str, dict[Any, int]] = field(default_factory=dict, repr=False)

    def closed(self) -> MicrodataQuestion:
        """The question once the source is closed: nobody can be looked up any more."""
        return replace(self, find=lambda values, limit: [])

    def asked_by(self, definition: Any) -> MicrodataQuestion:
        """The question for one definition: of streamed cells it keeps what this one needs."""
        if self.cells is None:
            return self
        if not definition.folds:
            raise too_large(definition.check_name)
        return replace(self, asker=definition, readings=(), _cache={})

    @property
    def stricter(self) -> MicrodataQuestion | None:
        """The reading that trusts the least, where there are several."""
        return self.readings[-1] if self.readings else None

    def groups(self, sensitive: str | None = None, missing: Missing = "own-group") -> Groups:
        """The groups that share what the attacker can look up; other sensitive columns left out."""
        if sensitive is None and len(self.sensitive) == 1:
            # The same groups serve the checks that look into them: they are counted once.
            sensitive = self.sensitive[0]
        return self._groups(self.quasi, sensitive, missing)

    def groups_knowing_the_rest(self, sensitive: str, missing: Missing = "own-group") -> Groups:
        """The groups when the other sensitive columns are known too
        (Machanavajjhala 2008, Definition 3.11).
        """
        others = tuple(name for name in self.sensitive if name != sensitive)
        return self._groups(self.quasi + others, sensitive, missing)

    def before(self, sensitive: str) -> dict[Any, int]:
        """How many people of the whole table have each value:
        what is believed without the release.
        """
        if sensitive not in self._before:
            values = self.base.dictionaries[sensitive]
            self._before[sensitive] = dict(
                zip(values, self.base.people_by_code(sensitive).tolist(), strict=True)
            )
        return self._before[sensitive]

    def known_people(self, sensitive: str) -> int:
        """How many people have a value at all; people with several values count once."""
        if self.base.persons is None:
            return sum(self.before(sensitive).values())
        return self.base.people(
            np.flatnonzero(self.base.codes(sensitive) < self.base.size(sensitive) - 1)
        )

    def labels(self, column: str, values: Sequence[Any]) -> tuple[Any, ...]:
        """What the release shows of some values of a column, also of
        some that the table does not have.
        """
        shown = dict(
            zip(
                (*self.base.dictionaries[column], None), self.levels[column].by_value(), strict=True
            )
        )
        more = tuple(value for value in values if value not in shown)
        if more:
            shown |= dict(zip(more, self.label_more(column, more), strict=True))
        return tuple(shown[value] for value in values)

    def person(self, groups: Groups, number: int, value: Any = None) -> Person:
        """The first person of a group (who has a sensitive value), to tell the story about."""
        if self.cells is not None:
            codes = None if value is None else [groups.dictionary.index(value)]
            known, _ = self.cells.first(self, groups, number, codes)[0]
            return self.somebody(known, None if value is None else groups.sensitive, value)
        row = groups.member(number, value)
        known = {name: groups.base.value(name, row) for name in groups.columns}
        if (
            value is None
            or groups.sensitive is None
            or groups.base.value(groups.sensitive, row) != value
        ):
            return self.somebody(known)
        return self.somebody(known, groups.sensitive, value)

    def persons(self, groups: Groups, number: int, limit: int, value: Any = None) -> list[Person]:
        """The first few different people of a group with a known value (or
        this one), where they have names.
        """
        column = str(groups.sensitive)
        if self.cells is not None:
            return self._first_persons(groups, number, limit, value)
        inside = np.flatnonzero(groups.key_of_row == groups.keys[number])
        has = groups.base.codes_at(column, inside)
        wanted = (
            has < len(groups.dictionary) if value is None else has == groups.dictionary.index(value)
        )
        found: dict[Any, Person] = {}
        for row in inside[wanted].tolist():
            if len(found) >= limit:
                break
            known = {name: groups.base.value(name, row) for name in groups.columns}
            for one in self._several(known, column, groups.base.value(column, row), limit):
                found.setdefault(tuple(one.identity.values()), one)
        return list(found.values())[:limit]

    def _first_persons(self, groups: Groups, number: int, limit: int, value: Any) -> list[Person]:
        """The same from the table itself: more and more combinations, until there are enough."""
        assert self.cells is not None
        column, many = str(groups.sensitive), limit
        wanted = (
            range(len(groups.dictionary)) if value is None else [groups.dictionary.index(value)]
        )
        while True:
            rows = self.cells.first(self, groups, number, wanted, many)
            found: dict[Any, Person] = {}
            for known, has in rows:
                for one in self._several(known, column, has, limit):
                    found.setdefault(tuple(one.identity.values()), one)
            if len(found) >= limit or len(rows) < many:
                return list(found.values())[:limit]
            many *= 8

    def somebody(
        self, known: Mapping[str, Any], sensitive: str | None = None, value: Any = None
    ) -> Person:
        """Who has these values in the table;
        the sensitive one may be written there in several ways.
        """
        if sensitive is None:
            return Person(next(iter(self.find(known, 1)), {}), known)
        return next(iter(self._several(known, sensitive, value, 1)), Person({}, known))

    def _several(
        self, known: Mapping[str, Any], sensitive: str, value: Any, limit: int
    ) -> list[Person]:
        """The first few who have these values, each once."""
        spellings = self.base.raw.get(sensitive, {}).get(value, (value,))
        found = (
            one
            for spelling in spellings
            for one in self.find({**known, sensitive: spelling}, limit)
        )
        different = {tuple(one.values()): one for one in found}
        return [Person(identity, known) for identity in list(different.values())[:limit]]

    def _groups(self, quasi: tuple[str, ...], sensitive: str | None, missing: Missing) -> Groups:
        key = (quasi, sensitive, missing)
        if key not in self._cache:
            if missing == "error":
                self._refuse_missing(quasi)
            if self.cells is not None:
                if self.asker is None or missing == "match-any":
                    raise too_large(f"what is asked about {self.release}")
                self._cache[key] = self.cells.groups(self, quasi, sensitive, self.asker)
                return self._cache[key]
            self._cache[key] = group(
                self.base, quasi, self.levels, sensitive, match_any=missing == "match-any"
            )
        return self._cache[key]

    def _refuse_missing(self, quasi: tuple[str, ...]) -> None:
        for name in quasi:
            if absent := self.base.missing(name):
                raise DataError(
                    f"column {name!r} of table {self.table.name} is missing in {absent} rows, "
                    "and the check says missing: error.",
                    hint="Fill them in, or say missing: own-group or missing: match-any.",
                )
