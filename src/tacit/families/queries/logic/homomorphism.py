"""Homomorphism: can the atoms of a query be sent to facts, so that equal terms go to equal values?

Most atoms have one place to go once their neighbours are placed, so a search that takes the most
constrained atom first usually ends at once. When it does not, acyclic queries are decided by
semijoins, queries of small width by joining the atoms of each bag first, and only the rest by
search with propagation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tacit.families.queries.logic import acyclic
from tacit.families.queries.logic.numbered_queries import (
    NUMBERED_NULL,
    NumberedAtom,
    NumberedComparison,
)
from tacit.model.deadline import look

Compare = Callable[[str, int, int], bool]  # does the operator hold of two values?


@dataclass(slots=True)
class FactIndex:
    """Facts in numbers, found by relation, column and value; earlier ones are preferred."""

    rows: Sequence[NumberedAtom]
    by_relation: dict[str, list[int]] = field(default_factory=dict)
    _indexes: dict[tuple[str, int], dict[int, list[int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, (relation, _) in enumerate(self.rows):
            self.by_relation.setdefault(relation, []).append(number)

    def having(self, relation: str, column: int, value: int) -> list[int]:
        """The facts of a relation with a value in a column."""
        place = relation, column
        index = self._indexes.get(place)
        if index is None:
            index = self._indexes[place] = {}
            for number in self.by_relation.get(relation, ()):
                index.setdefault(self.rows[number][1][column], []).append(number)
        return index.get(value, [])


@dataclass(slots=True)
class Pattern:
    """What is to be sent: atoms, comparisons between their terms,
    variables that never go to one of `nulls`.
    """

    atoms: Sequence[NumberedAtom]
    comparisons: Sequence[NumberedComparison] = ()
    known: frozenset[int] = frozenset()
    nulls: frozenset[int] = frozenset({NUMBERED_NULL})


def homomorphism(
    pattern: Pattern,
    facts: FactIndex,
    fixed: Mapping[int, int],
    *,
    compare: Compare | None = None,
) -> list[int] | None:
    """For each atom the number of its fact, or None where there is no homomorphism.

    `fixed` says where some variables must go (those of the head).

    >>> triangle = Pattern([("R", (-1, -2)), ("R", (-2, -3)), ("R", (-3, -1))])
    >>> homomorphism(triangle, FactIndex([("R", (1, 2)), ("R", (2, 1))]), {})
    >>> homomorphism(triangle, FactIndex([("R", (1, 2)), ("R", (5, 5))]), {})
    [1, 1, 1]
    """
    task = _HomomorphismTask(pattern, facts, dict(fixed), compare or _differ)
    if not task.comparisons_hold():
        return None
    images = [-1] * len(pattern.atoms)
    for component in _components(pattern, task.binding):
        found = _solved(task, component)
        if found is None:
            return None
        for place, fact in found.items():
            images[place] = fact
    return images


class _HomomorphismTask:
    """A homomorphism being looked for: what is bound so far, undone in reverse."""

    def __init__(
        self,
        pattern: Pattern,
        facts: FactIndex,
        binding: dict[int, int],
        compare: Compare,
    ) -> None:
        self.pattern = pattern
        self.facts = facts
        self.binding = binding
        self.compare = compare
        self.comparisons_of: dict[int, list[NumberedComparison]] = {}
        for one in pattern.comparisons:
            for term in {one[0], one[2]}:
                if term < 0:
                    self.comparisons_of.setdefault(term, []).append(one)

    def value(self, term: int) -> int | None:
        return term if term >= 0 else self.binding.get(term)

    def holds(self, comparison: NumberedComparison) -> bool:
        """Is the comparison true, or not yet decided?"""
        left, right = self.value(comparison[0]), self.value(comparison[2])
        if left is None or right is None:
            return True
        return self.compare(comparison[1], left, right)

    def comparisons_hold(self) -> bool:
        known, nulls = self.pattern.known, self.pattern.nulls
        if any(value in nulls and term in known for term, value in self.binding.items()):
            return False
        return all(map(self.holds, self.pattern.comparisons))

    def candidates(self, place: int) -> list[int]:
        """The shortest list of facts that contains all where an atom can go now."""
        relation, terms = self.pattern.atoms[place]
        best: list[int] | None = None
        for column, term in enumerate(terms):
            value = term if term >= 0 else self.binding.get(term)
            if value is not None:
                found = self.facts.having(relation, column, value)
                if best is None or len(found) < len(best):
                    best = found
                    if not found:
                        return found
        return self.facts.by_relation.get(relation, []) if best is None else best

    def bind(self, place: int, fact: int) -> list[int] | None:
        """Send an atom to a fact: the variables newly bound, or None where it does not fit."""
        binding, known, nulls = self.binding, self.pattern.known, self.pattern.nulls
        new: list[int] = []
        for term, value in zip(self.pattern.atoms[place][1], self.facts.rows[fact][1], strict=True):
            if term >= 0:
                fits = term == value
            elif term in binding:
                fits = binding[term] == value
            else:
                fits = value not in nulls or term not in known
                binding[term] = value
                new.append(term)
                if fits and term in self.comparisons_of:
                    fits = all(map(self.holds, self.comparisons_of[term]))
            if not fits:
                self.release(new)
                return None
        return new

    def shape(self, place: int, scope: Sequence[int]) -> tuple[Hashable, ...]:
        """What decides where an atom can go:
        its relation, values, and what is asked of its free variables.
        """
        relation, terms = self.pattern.atoms[place]
        asked = tuple(
            (term in self.pattern.known, term if term in self.comparisons_of else 0)
            for term in scope
        )
        values = tuple(
            [
                scope.index(term) - len(scope) if term in scope else self.value(term)
                for term in terms
            ]
        )
        return relation, asked, values

    def release(self, variables: Iterable[int]) -> None:
        for variable in variables:
            del self.binding[variable]

    def fitting(self, place: int) -> list[int]:
        """All facts where an atom can go, given what is bound."""
        found = []
        for fact in self.candidates(place):
            new = self.bind(place, fact)
            if new is not None:
                self.release(new)
                found.append(fact)
        return found


def _placed_alone(task: _HomomorphismTask, place: int) -> dict[int, int] | None:
    """Where an atom goes that shares nothing with others."""
    for fact in task.candidates(place):
        new = task.bind(place, fact)
        if new is not None:
            task.release(new)
            return {place: fact}
    return None


def _components(pattern: Pattern, fixed: Mapping[int, int]) -> list[list[int]]:
    """Atoms that share a variable, or are compared, that is not fixed belong together."""
    leader: dict[int, int] = {}

    def top(term: int) -> int:
        while leader.setdefault(term, term) != term:
            leader[term] = term = leader[leader[term]]
        return term

    for _, terms in pattern.atoms:
        free = [term for term in terms if term < 0 and term not in fixed]
        for term in free[1:]:
            leader[top(term)] = top(free[0])
    for left, _, right in pattern.comparisons:
        if left < 0 and right < 0 and left not in fixed and right not in fixed:
            leader[top(left)] = top(right)
    groups: dict[int, list[int]] = {}
    for place, (_, terms) in enumerate(pattern.atoms):
        free = [term for term in terms if term < 0 and term not in fixed]
        groups.setdefault(top(free[0]) if free else place, []).append(place)
    return list(groups.values())


def _solved(task: _HomomorphismTask, places: Sequence[int]) -> dict[int, int] | None:
    """Where the atoms of one component go."""
    if len(places) == 1:
        return _placed_alone(task, places[0])
    budget = 20 + len(places)  # a descent may fail once at full length
    try:
        return _Descent(task, places, budget).run()
    except _BudgetSpent:
        pass
    look()
    return _by_structure(task, places)


class _BudgetSpent(Exception):
    pass


class _Descent:
    """Depth-first search, the most constrained atom next to what is bound first."""

    def __init__(self, task: _HomomorphismTask, places: Sequence[int], budget: int) -> None:
        self.task = task
        self.budget = budget
        self.free = set(places)
        self.images: dict[int, int] = {}
        self.atoms_of: dict[int, list[int]] = {}
        for place in places:
            for term in set(task.pattern.atoms[place][1]):
                if term < 0:
                    self.atoms_of.setdefault(term, []).append(place)

    def run(self) -> dict[int, int] | None:
        """All atoms placed, or None; raises _BudgetSpent after too many dead ends."""
        atoms = self.task.pattern.atoms
        frontier = {
            place
            for place in self.free
            if any(self.task.value(term) is not None for term in atoms[place][1])
        }
        stack = [self._level(frontier)]
        while stack:
            place, options, new, frontier = stack[-1]
            if new:
                self.task.release(new)
                new.clear()
            self.images.pop(place, None)
            fact = next(options, None)
            if fact is None:
                self.free.add(place)
                stack.pop()
                self._spend()
                continue
            bound = self.task.bind(place, fact)
            if bound is None:
                continue
            new += bound
            self.images[place] = fact
            if not self.free:
                self.task.release(
                    [variable for _, _, variables, _ in stack for variable in variables]
                )
                return self.images
            near = {
                other
                for variable in bound
                for other in self.atoms_of[variable]
                if other in self.free
            }
            stack.append(self._level((frontier | near) - {place}))
        return None

    def _level(self, frontier: set[int]) -> tuple[int, Iterator[int], list[int], set[int]]:
        best, options = -1, None
        for place in frontier or self.free:
            found = self.task.candidates(place)
            if options is None or (len(found), place) < (len(options), best):
                best, options = place, found
                if not found:
                    break
        self.free.discard(best)
        return best, iter(options or ()), [], frontier

    def _spend(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            bound = set(self.task.binding)
            self.task.release([variable for variable in self.atoms_of if variable in bound])
            raise _BudgetSpent


def _by_structure(task: _HomomorphismTask, places: Sequence[int]) -> dict[int, int] | None:
    """Decide a component that a short search did not:
    semijoins, bags, or search with propagation.
    """
    tables = _tables(task, places)
    free = {variable for table in tables for variable in table.scope}
    between = [one for one in task.pattern.comparisons if one[0] in free and one[2] in free]
    chosen = acyclic.solve(tables, [(one[0], one[2]) for one in between], _checker(task, between))
    return None if chosen is None else dict(zip(places, chosen, strict=True))


def _tables(task: _HomomorphismTask, places: Sequence[int]) -> list[acyclic.TermTable]:
    """For each atom the values that its free variables have in the facts where it can go.

    Atoms of the same shape share their rows: a chain of 400 has one list of rows, not 400.
    """
    seen: dict[tuple[Hashable, ...], dict[tuple[int, ...], int]] = {}
    tables = []
    for place in places:
        terms = task.pattern.atoms[place][1]
        scope = tuple(
            dict.fromkeys(term for term in terms if term < 0 and term not in task.binding)
        )
        shape = task.shape(place, scope)
        if shape not in seen:
            columns = [terms.index(term) for term in scope]
            rows = [(fact, task.facts.rows[fact][1]) for fact in task.fitting(place)]
            seen[shape] = {tuple([row[column] for column in columns]): fact for fact, row in rows}
        tables.append(acyclic.TermTable(scope, seen[shape]))
    return tables


def options(pattern: Pattern, facts: FactIndex, fixed: Mapping[int, int]) -> list[set[int]]:
    """For each atom the facts that propagation leaves it:
    all where a homomorphism can send it, perhaps more.

    Comparisons between variables are not looked at.

    >>> chain = Pattern([("R", (-1, -2)), ("R", (-2, -3))])
    >>> options(chain, FactIndex([("R", (1, 2)), ("R", (2, 3)), ("R", (3, 4))]), {})
    [{0, 1}, {1, 2}]
    """
    task = _HomomorphismTask(
        Pattern(pattern.atoms, (), pattern.known, pattern.nulls),
        facts,
        dict(fixed),
        _differ,
    )
    found: list[set[int]] = [set() for _ in pattern.atoms]
    for component in _components(task.pattern, task.binding):
        for place, table in zip(component, acyclic.reduced(_tables(task, component)), strict=True):
            found[place] = set(table.rows.values())
    return found


def _checker(
    task: _HomomorphismTask, between: Sequence[NumberedComparison]
) -> Callable[[int, int, int], bool]:
    """Does the comparison with a number hold of two values?"""
    return lambda number, left, right: task.compare(between[number][1], left, right)


def _differ(operator: str, left: int, right: int) -> bool:
    """The comparison of values without an order."""
    if operator == "!=":
        return left != right
    raise ValueError(f"{operator} needs an order")
