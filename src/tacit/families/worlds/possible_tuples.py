"""Possible tuples: those that domains, published answers and constraints on single rows leave.

Thousands of combinations become hundreds: a view that shows a column bounds it, and an inclusion
bounds a table by another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from tacit.families.queries.dependency import Dependency
from tacit.families.queries.query import Conjunctive, Constant, Relations, Variable
from tacit.families.worlds.formula import Condition
from tacit.families.worlds.grounding import answers, grounded
from tacit.families.worlds.matching import Matches, TooManyWays, Tuple, TupleStore, seen_together
from tacit.families.worlds.universe import Universe, any_row
from tacit.families.worlds.world_setting import PublishedView, WorldSetting
from tacit.model.deadline import look

MOST_TUPLES = 200_000
Bound = tuple[tuple[int, ...], set[Tuple]]  # positions, and what may stand there together


@dataclass(frozen=True, slots=True)
class PossibleTuples:
    """Possible tuples, and the conditions of the dependencies that were looked at to find them."""

    store: TupleStore
    grounded: Mapping[Dependency, list[Condition]]

    def conditions(self, dependency: Dependency, relations: Relations) -> Iterable[Condition]:
        """A dependency as conditions on the possible tuples."""
        found = self.grounded.get(dependency)
        return grounded(dependency, self.store, relations) if found is None else found


def possible(
    setting: WorldSetting, universe: Universe, seen: Iterable[PublishedView] | None = None
) -> PossibleTuples:
    """The tuples that may be there in a world; raises TooMany where they are too many to look at.

    `seen` are the answers that bound them: the published ones, unless others are given.
    """
    generator = _Generator(setting, universe, tuple(setting.published if seen is None else seen))
    for name in setting.mentioned():
        generator.generate(name)
    return _filtered(generator)


@dataclass(slots=True)
class _Generator:
    setting: WorldSetting
    universe: Universe
    seen: tuple[PublishedView, ...]
    store: TupleStore = field(init=False)
    begun: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.store = TupleStore(self.universe.numbering)

    def generate(self, name: str) -> None:
        """Find the possible tuples of a relation, those of the relations that bound it first."""
        if name in self.begun:
            return
        self.begun.add(name)
        bounds = list(self._by_views(name))
        for dependency, where in self._single(name):
            others = {atom.relation for one in dependency.alternatives for atom in one.atoms}
            for other in sorted(others):
                self.generate(other)
            if all(other in self.store.rows for other in others):
                bounds.append(self._by_dependency(dependency, where))
        self.store.add(name, self._rows(name, bounds))

    def _single(self, name: str) -> Iterator[tuple[Dependency, Mapping[Variable, int]]]:
        """The dependencies that say something of every row of a relation."""
        for one in self.setting.dependencies:
            where = any_row(one.atoms, one.comparisons, one.known, self.setting)
            if where is not None and one.atoms[0].relation == name:
                yield one, where

    def _by_views(self, name: str) -> Iterator[Bound]:
        for seen in self.seen:
            for part in seen.query.parts:
                if len(part.atoms) == 1 and part.atoms[0].relation == name:
                    where = any_row(part.atoms, part.comparisons, part.known, self.setting)
                    if where is not None:
                        yield self._by_view(part, where, seen)

    def _by_view(
        self, part: Conjunctive, where: Mapping[Variable, int], seen: PublishedView
    ) -> Bound:
        numbering = self.universe.numbering
        shown = [
            (at, where[term]) for at, term in enumerate(part.head) if isinstance(term, Variable)
        ]
        fixed = [
            (at, numbering.of(term.value))
            for at, term in enumerate(part.head)
            if isinstance(term, Constant)
        ]
        rows = [numbering.row(row) for row in seen.rows]
        kept = [row for row in rows if all(row[at] == number for at, number in fixed)]
        return tuple(place for _, place in shown), {
            tuple([row[at] for at, _ in shown]) for row in kept
        }

    def _by_dependency(self, dependency: Dependency, where: Mapping[Variable, int]) -> Bound:
        """What may stand in the columns that every alternative speaks of."""
        common = [
            variable
            for variable in where
            if all(
                any(variable in atom.terms for atom in one.atoms) for one in dependency.alternatives
            )
        ]
        allowed: set[Tuple] = set()
        for one in dependency.alternatives:
            # Comparisons with values that are only asked to exist are left out:
            # more is allowed, and fewer pairs are looked at.
            compared = [
                each
                for each in one.comparisons
                if all(
                    isinstance(term, Constant) or term in common for term in (each.left, each.right)
                )
            ]
            allowed |= seen_together(one.atoms, compared, frozenset(common), self.store, common)
        return tuple(where[variable] for variable in common), allowed

    def _rows(self, name: str, bounds: list[Bound]) -> list[Tuple]:
        """The combinations that all bounds allow, with anything that a
        column may hold where no bound speaks.
        """
        wide = len(self.setting.relations[name].columns)
        columns = [set(self.universe.columns[name, at]) for at in range(wide)]
        found = Matches((), [((), ())])
        places: list[int] = []
        for positions, allowed in sorted(bounds, key=lambda one: len(one[1])):
            places, found = _joined(places, found, positions, allowed)
            found.rows = [
                row
                for row in found.rows
                if all(value in columns[at] for at, value in zip(places, row[0], strict=True))
            ]
        rest = [at for at in range(wide) if at not in places]
        many = len(found.rows) * prod(len(columns[at]) for at in rest)
        if many + len(self.store.facts) > MOST_TUPLES:
            raise TooManyWays(
                f"{many + len(self.store.facts):,} possible tuples, {many:,} of them in {name}; up "
                f"to {MOST_TUPLES:,} can be looked at"
            )
        return list(self._product([values for values, _ in found.rows], places, rest, name))

    def _product(
        self, found: list[Tuple], places: list[int], rest: list[int], name: str
    ) -> Iterator[Tuple]:
        order = [*places, *rest]
        back = [order.index(at) for at in range(len(order))]
        free = list(product(*(self.universe.columns[name, at] for at in rest)))
        for values in found:
            look()
            for more in free:
                both = values + more
                yield tuple([both[at] for at in back])


def _joined(
    places: list[int], found: Matches, positions: tuple[int, ...], allowed: set[Tuple]
) -> tuple[list[int], Matches]:
    """Partial rows with one more bound: a natural join."""
    common = [at for at in dict.fromkeys(positions) if at in places]
    new = [at for at in dict.fromkeys(positions) if at not in places]
    index: dict[Tuple, set[Tuple]] = {}
    for row in allowed:
        value = dict(zip(positions, row, strict=True))
        if all(value[at] == one for at, one in zip(positions, row, strict=True)):
            index.setdefault(tuple([value[at] for at in common]), set()).add(
                tuple([value[at] for at in new])
            )
    rows = []
    for values, used in found.rows:
        key = tuple([values[places.index(at)] for at in common])
        rows += [(values + more, used) for more in sorted(index.get(key, ()))]
        if len(rows) > MOST_TUPLES:
            raise TooManyWays(f"more than {MOST_TUPLES:,} possible tuples")
    return [*places, *new], Matches((), rows)


def _filtered(generator: _Generator) -> PossibleTuples:
    """Without the tuples that a constraint or an answer on single rows rules out."""
    setting = generator.setting
    single = [one for one in setting.dependencies if len(one.atoms) == 1]
    # An answer rules out what it rules out whatever else is possible, and that is cheap to see:
    # first.
    store = _without(generator.store, set(_alone(generator, generator.store)))
    while True:
        look()
        found = {one: list(grounded(one, store, setting.relations)) for one in single}
        gone = {
            -condition.terms[0][0]
            for conditions in found.values()
            for condition in conditions
            if _refutes(condition)
        }
        if not gone:
            return PossibleTuples(store, found)
        store = _without(store, gone)


def _without(store: TupleStore, gone: set[int]) -> TupleStore:
    if not gone:
        return store
    kept = TupleStore(store.numbering)
    for name, rows in store.rows.items():
        kept.add(name, [row for row in rows if store.numbers[name, row] not in gone])
    return kept


def _refutes(condition: Condition) -> bool:
    """Does a condition on a single tuple leave no way to have it?"""
    possible_counts = [one for one in condition.counts if len(one.members) >= one.low]
    return (
        len(condition.terms) == 1
        and len(condition.terms[0]) == 1
        and condition.terms[0][0] < 0
        and not possible_counts
    )


def _alone(generator: _Generator, store: TupleStore) -> Iterator[int]:
    """Tuples that alone would put a row into an answer that has no such row."""
    for seen in generator.seen:
        rows = {store.numbering.row(row) for row in seen.rows}
        single = tuple(part for part in seen.query.parts if len(part.atoms) == 1)
        if single:
            for row, ways in answers(replace(seen.query, parts=single), store).items():
                if row not in rows:
                    yield from (way[0] for way in ways)
