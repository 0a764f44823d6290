"""Universe: the values that each column may take in a world, as numbers.

A column with a domain takes those values and no others. The other columns are open: they share what
is known of the columns that they are ever compared with (their *sort*), and some unseen values.
Columns that no query and no constraint compares have nothing in common: exchanging the values of
one of them changes no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.families.queries.dependency import Dependency
from tacit.families.queries.logic.comparisons import order_key
from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Term,
    Variable,
)
from tacit.families.worlds.world_setting import PublishedView, WorldSetting
from tacit.model.deadline import look

Place = tuple[str, int]  # a relation and the position of a column
UNSEEN = "_fresh"
MISSING = 0  # the number of NULL


@dataclass(slots=True)
class ValueNumbering:
    """Values as small integers. 1 and "1" differ; NULL is 0."""

    values: list[Any] = field(default_factory=lambda: [None])
    numbers: dict[Constant, int] = field(default_factory=lambda: {NULL: MISSING})

    def of(self, value: Any) -> int:
        """The number of a value."""
        constant = Constant(value)
        found = self.numbers.get(constant)
        if found is None:
            found = self.numbers[constant] = len(self.values)
            self.values.append(value)
        return found

    def row(self, values: Iterable[Any]) -> tuple[int, ...]:
        """A row in numbers."""
        return tuple(map(self.of, values))

    def plain(self, numbers: Iterable[int]) -> tuple[Any, ...]:
        """A row of numbers as values."""
        return tuple(self.values[one] for one in numbers)

    def holds(self, operator: str, left: int, right: int) -> bool:
        """A comparison of two numbered values; with NULL it is never true."""
        if MISSING in (left, right):
            return False
        if operator == "!=":
            return left != right
        low, high = order_key(self.values[left]), order_key(self.values[right])
        return low < high if operator == "<" else low <= high


@dataclass(slots=True)
class Universe:
    """For each column its possible values, as numbers.
    `unseen` are values that stand for any other one.
    """

    numbering: ValueNumbering
    columns: dict[Place, tuple[int, ...]]
    unseen: frozenset[int]
    open: frozenset[Place]

    def shown(self, places: Iterable[Place], setting: WorldSetting) -> list[str]:
        """Columns by their names."""
        return sorted(f"{name}.{setting.relations[name].columns[at]}" for name, at in places)


def universe_of(setting: WorldSetting, fresh: int | None = None) -> Universe:
    """The values of every column of the relations that matter."""
    numbering = ValueNumbering()
    sorts = sorts_of(setting)
    known: dict[Place, dict[int, None]] = {}
    # Sorted, because sets have no order and evidence should be the same every time.
    for place, value in sorted(_occurring(setting), key=repr):
        known.setdefault(sorts.find(place), {}).setdefault(numbering.of(value))
    columns: dict[Place, tuple[int, ...]] = {}
    places = [
        (name, at)
        for name in setting.mentioned()
        for at in range(len(setting.relations[name].columns))
    ]
    closed = {
        place: tuple(map(numbering.of, domain))
        for place in places
        if (domain := _domain(setting, place)) is not None
    }
    for place, domain in closed.items():
        for number in domain:
            known.setdefault(sorts.find(place), {}).setdefault(number)
    unseen = _unseen(numbering, setting.fresh if fresh is None else fresh)
    for place in places:
        values = closed.get(place)
        if values is None:
            values = (*(one for one in known.get(sorts.find(place), {}) if one != MISSING), *unseen)
        if setting.relations[place[0]].columns[place[1]] in setting.relations[place[0]].nullable:
            values = (*values, MISSING)
        columns[place] = values
    return Universe(numbering, columns, frozenset(unseen), frozenset(places) - set(closed))


def _domain(setting: WorldSetting, place: Place) -> Sequence[Any] | None:
    relation = setting.relations[place[0]]
    return relation.domains.get(relation.columns[place[1]])


def _unseen(numbering: ValueNumbering, count: int) -> tuple[int, ...]:
    found: list[int] = []
    name = 0
    while len(found) < count:
        name += 1
        if Constant(f"{UNSEEN}{name}") not in numbering.numbers:
            found.append(numbering.of(f"{UNSEEN}{name}"))
    return tuple(found)


# -- which columns are compared --------------------------------------------------------------------


@dataclass(slots=True)
class Sorts:
    """Columns that are compared somewhere, directly or by way of others, are of one sort."""

    parents: dict[Any, Any] = field(default_factory=dict)

    def find(self, place: Any) -> Any:
        """The column that stands for all of its sort."""
        while (above := self.parents.get(place, place)) != place:
            place = above
        return place

    def join(self, places: Iterable[Any]) -> None:
        """All of these are of one sort."""
        found = [self.find(place) for place in places]
        for place in found[1:]:
            self.parents[self.find(place)] = self.find(found[0])


def sorts_of(setting: WorldSetting) -> Sorts:
    """The sorts of a setting's columns."""
    sorts = Sorts()
    for number, query in enumerate(setting.queries()):
        for part in query.parts:
            where = _places(part.atoms, part.comparisons)
            for places in where.values():
                sorts.join(places)
            # Rows of a union are one set: whatever stands in one column of it is compared.
            for at, term in enumerate(part.head):
                if isinstance(term, Variable):
                    sorts.join([("answer", number, at), *where.get(term, ())])
    for dependency in setting.all_dependencies():
        for places in _dependency_places(dependency).values():
            sorts.join(places)
    return sorts


def _places(
    atoms: Iterable[Atom], comparisons: Iterable[Comparison]
) -> dict[Variable, list[Place]]:
    """Where each variable stands; variables that are compared share their places."""
    where: dict[Variable, list[Place]] = {}
    for atom in atoms:
        for at, term in enumerate(atom.terms):
            if isinstance(term, Variable):
                where.setdefault(term, []).append((atom.relation, at))
    for one in comparisons:
        if isinstance(one.left, Variable) and isinstance(one.right, Variable):
            where.setdefault(one.left, []).extend(where.get(one.right, ()))
    return where


def _dependency_places(dependency: Dependency) -> dict[Variable, list[Place]]:
    atoms = [*dependency.atoms, *(atom for one in dependency.alternatives for atom in one.atoms)]
    comparisons = [
        *dependency.comparisons,
        *(one for each in dependency.alternatives for one in each.comparisons),
    ]
    where = _places(atoms, comparisons)
    for each in dependency.alternatives:
        for left, right in each.equalities:
            if isinstance(left, Variable) and isinstance(right, Variable):
                where.setdefault(left, []).extend(where.get(right, ()))
    return where


# -- which values are known ------------------------------------------------------------------------


def _occurring(setting: WorldSetting) -> Iterator[tuple[Place | tuple[str, int, int], Any]]:
    """Values with the column, or the column of an answer, where they stand:
    the data's, the answers', all constants.
    """
    for fact in setting.instance or ():
        yield from (((fact.relation, at), value) for at, value in enumerate(fact.values))
    for name, column, value in setting.values:
        yield (name, setting.relations[name].columns.index(column)), value
    for number, query in enumerate(setting.queries()):
        for part in query.parts:
            yield from _constants(part.atoms, part.comparisons)
            yield from (
                (("answer", number, at), term.value)
                for at, term in enumerate(part.head)
                if isinstance(term, Constant)
            )
    for number, seen in enumerate((*setting.published, *setting.new)):
        yield from _answered(number, seen)
    for dependency in setting.all_dependencies():
        comparisons = list(dependency.comparisons)
        atoms = list(dependency.atoms)
        for one in dependency.alternatives:
            atoms += one.atoms
            comparisons += one.comparisons
            comparisons += [Comparison(left, "!=", right) for left, right in one.equalities]
        yield from _constants(atoms, comparisons)


def _answered(number: int, seen: PublishedView) -> Iterator[tuple[tuple[str, int, int], Any]]:
    for row in seen.rows:
        yield from ((("answer", number, at), value) for at, value in enumerate(row))


def _constants(
    atoms: Sequence[Atom], comparisons: Iterable[Comparison]
) -> Iterator[tuple[Place, Any]]:
    for atom in atoms:
        yield from (
            ((atom.relation, at), term.value)
            for at, term in enumerate(atom.terms)
            if isinstance(term, Constant)
        )
    where = _places(atoms, ())
    for one in comparisons:
        for here, there in ((one.left, one.right), (one.right, one.left)):
            if isinstance(here, Variable) and isinstance(there, Constant):
                yield from ((place, there.value) for place in where.get(here, ()))


# -- which columns can hold no unseen value --------------------------------------------------------


def unbounded(setting: WorldSetting) -> frozenset[Place]:
    """The columns that may hold values that nobody has seen, whatever the world.

    A column is bounded by a domain, by a published view that shows all of it, or by a constraint
    that every value of it is one of a bounded column.

    >>> from tacit.families.queries.query import Query, Relation
    >>> x, y = Variable("x"), Variable("y")
    >>> shows = PublishedView(
    ...     Query("V", (Conjunctive((x,), (Atom("R", (x, y)),)),)), frozenset({("a",)})
    ... )
    >>> setting = WorldSetting({"R": Relation("R", ("a", "b"))}, (), (shows,), (), Query("S", ()))
    >>> sorted(unbounded(setting))
    [('R', 1)]
    """
    places = {
        (name, at)
        for name in setting.mentioned()
        for at in range(len(setting.relations[name].columns))
    }
    bounded = {place for place in places if _domain(setting, place) is not None}
    bounded |= {
        place
        for seen in setting.published
        for part in seen.query.parts
        for place in _shown_places(part, setting)
    }
    grown = True
    while grown:
        look()
        more = {
            place for one in setting.dependencies for place in _included(one, bounded, setting)
        } - bounded
        bounded |= more
        grown = bool(more)
    return frozenset(places - bounded)


def any_row(
    atoms: Sequence[Atom],
    comparisons: Sequence[Comparison],
    known: frozenset[Variable],
    setting: WorldSetting,
) -> Mapping[Variable, int] | None:
    """The positions of the variables where a body is one atom that
    every row of its relation satisfies.
    """
    if len(atoms) != 1 or comparisons:
        return None
    relation = setting.relations[atoms[0].relation]
    found: dict[Variable, int] = {}
    for at, term in enumerate(atoms[0].terms):
        if not isinstance(term, Variable) or term in found:
            return None
        if term in known and relation.columns[at] in relation.nullable:
            return None
        found[term] = at
    return found


def _shown_places(part: Conjunctive, setting: WorldSetting) -> Iterator[Place]:
    where = any_row(part.atoms, part.comparisons, part.known, setting)
    if where is not None:
        yield from (
            (part.atoms[0].relation, where[term])
            for term in part.head
            if isinstance(term, Variable)
        )


def _included(
    dependency: Dependency, bounded: set[Place], setting: WorldSetting
) -> Iterator[Place]:
    """The columns of a single row that a dependency sends into
    bounded columns, in every alternative.
    """
    where = any_row(dependency.atoms, dependency.comparisons, dependency.known, setting)
    if where is None:
        return
    for variable, at in where.items():
        if all(
            _bounds(variable, one.atoms, one.equalities, bounded) for one in dependency.alternatives
        ):
            yield dependency.atoms[0].relation, at


def _bounds(
    variable: Variable,
    atoms: Sequence[Atom],
    equalities: Sequence[tuple[Term, Term]],
    bounded: set[Place],
) -> bool:
    if any(
        variable in pair and any(isinstance(term, Constant) for term in pair) for pair in equalities
    ):
        return True
    return any(
        term == variable and (atom.relation, at) in bounded
        for atom in atoms
        for at, term in enumerate(atom.terms)
    )
