"""Tableau: rows with unknown values that some database has for sure, and what must be there too.

A chase (Maier, Mendelzon, Sagiv 1979; Beeri and Vardi 1984) with keys, inclusions and other
constraints that have one alternative. It may stop at any time: what it found holds all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from tacit.families.queries.dependency import Dependency
from tacit.families.queries.logic.comparisons import contradictory, order_key, paths
from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Relations,
    Term,
    Variable,
)
from tacit.model.deadline import Deadline, OutOfTime, look

MOST_ROWS = 1_500
ROUNDS = 3  # of adding rows that constraints ask for: each may ask for others
FEW = 3  # rows that are looked at one by one
COMPARED = "<"  # no table has this name
ORDERED = (1, 3)  # numbers and moments: of texts the database alone knows the order
NAMES = count(1)  # of new variables: no two have the same, in whatever tableaux
Values = dict[Variable, Term]
Row = tuple[Term, ...]


class TooMuchWork(Exception):
    """The search met its limit, so nothing was found out."""


class Budget:
    """Steps and seconds that one decision may take."""

    def __init__(self, steps: int, deadline: Deadline) -> None:
        self.steps = steps
        self.deadline = deadline

    def spend(self) -> None:
        """Take one step."""
        self.steps -= 1
        if self.steps < 0:
            raise TooMuchWork
        if self.steps % 256 == 0:
            look()
            if self.deadline.is_past():
                raise OutOfTime


@dataclass(frozen=True, slots=True)
class Rules:
    """What every database satisfies; `splitting` constraints have several alternatives."""

    relations: Relations
    plain: tuple[Dependency, ...]
    splitting: tuple[Dependency, ...]
    keys: Mapping[str, tuple[tuple[int, ...], ...]]


def rules_of(dependencies: Sequence[Dependency], relations: Relations) -> Rules:
    """The constraints, sorted by how they are used. Keys are read off the relations."""
    return Rules(
        relations,
        tuple(one for one in dependencies if len(one.alternatives) < 2),
        tuple(one for one in dependencies if len(one.alternatives) > 1),
        {
            name: tuple(
                tuple(map(one.columns.index, key))
                for key in dict.fromkeys((*one.keys, *one.uniques))
            )
            for name, one in relations.items()
        },
    )


class RowTableau:
    """Rows that are there, with what is known of their values.

    `broken`: no database is like that.
    """

    def __init__(self, rules: Rules, budget: Budget) -> None:
        self.rules = rules
        self.relations = rules.relations
        self.budget = budget
        self.broken = False
        self._equal: Values = {}
        self._rows: dict[str, dict[Row, None]] = {}
        self._places: dict[tuple[str, int, Term], dict[Row, None]] = {}
        self._uses: dict[Variable, dict[tuple[str, Row], None]] = {}
        self._comparisons: set[Comparison] = set()
        self._known: set[Variable] = set()
        self._order: _Order | None = None
        # What a chase has not looked at yet: rows, by their keys; and when tables and comparisons
        # last changed, beside when each rule was last applied.
        self._unmerged: dict[tuple[str, Row], None] = {}
        self._by_key: dict[tuple[str, tuple[int, ...], Row], Row] = {}
        self._now = 0
        self._changed: dict[str, int] = {}
        self._applied: dict[int, int] = {}

    def copy(self, budget: Budget | None = None) -> RowTableau:
        """The same rows, to be changed apart."""
        other = RowTableau(self.rules, budget or self.budget)
        other.broken = self.broken
        other._equal = dict(self._equal)
        other._rows = {name: dict(rows) for name, rows in self._rows.items()}
        other._places = {place: dict(rows) for place, rows in self._places.items()}
        other._uses = {term: dict(rows) for term, rows in self._uses.items()}
        other._comparisons, other._known = set(self._comparisons), set(self._known)
        other._unmerged, other._by_key = dict(self._unmerged), dict(self._by_key)
        other._now, other._changed = self._now, dict(self._changed)
        other._applied = dict(self._applied)
        return other

    # -- what is known -----------------------------------------------------------------------------

    def value(self, term: Term) -> Term:
        """What a term stands for, as far as that is known."""
        while isinstance(term, Variable) and term in self._equal:
            term = self._equal[term]
        return term

    def is_known(self, term: Term) -> bool:
        """Is a term certainly not NULL?"""
        found = self.value(term)
        return found != NULL if isinstance(found, Constant) else found in self._known

    def implies(self, one: Comparison) -> bool:
        """Does a comparison certainly hold?"""
        if self._order is None:
            self._order = _Order(list(self.comparisons()))
        left, right = self.value(one.left), self.value(one.right)
        if not (self.is_known(left) and self.is_known(right)):
            return False
        return self._order.implies(left, one.operator, right)

    def comparisons(self) -> Iterator[Comparison]:
        """The comparisons that hold."""
        for one in self._comparisons:
            yield Comparison(self.value(one.left), one.operator, self.value(one.right))

    # -- putting in --------------------------------------------------------------------------------

    def fresh(self, variables: Iterable[Variable]) -> Values:
        """New variables in the place of others."""
        return {one: Variable(f"{one.name}#{next(NAMES)}") for one in variables}

    def put(
        self,
        atoms: Iterable[Atom],
        comparisons: Iterable[Comparison] = (),
        known: Iterable[Term] = (),
    ) -> None:
        """These rows are there too."""
        for atom in atoms:
            self._put_row(atom.relation, tuple(map(self.value, atom.terms)))
        for one in comparisons:
            self._comparisons.add(
                Comparison(self.value(one.left), one.operator, self.value(one.right))
            )
            self._now_known((one.left, one.right))
            self._order = None
            self._has_changed(COMPARED)
        self._now_known(known)

    def put_copy(self, body: Conjunctive, values: Values) -> None:
        """The rows of a body are there, with `values` for some of its variables and new ones for
        the others.
        """
        rest = self.fresh(one for one in body.variables() if one not in values)
        put = body.substituted({**rest, **values})
        self.put(put.atoms, put.comparisons)
        self._now_known({**rest, **values}[one] for one in body.known)

    def equate(self, *pairs: tuple[Term, Term]) -> None:
        """The terms of each pair are the same value."""
        moved: list[Variable] = []
        for one, other in pairs:
            left, right = self.value(one), self.value(other)
            if left == right:
                continue
            if isinstance(left, Constant):
                left, right = right, left
            if isinstance(left, Constant):
                self.broken = True
                return
            if left in self._known:
                self._now_known((right,))
            self._equal[left] = right
            moved.append(left)
        if moved:
            self._order = None
            self._has_changed(COMPARED)
            self._rewrite(moved)

    def _rewrite(self, moved: Sequence[Variable]) -> None:
        """Write the rows with these variables anew."""
        places = dict.fromkeys(place for one in moved for place in self._uses.pop(one, ()))
        for name, row in places:
            del self._rows[name][row]
            for at, term in enumerate(row):
                del self._places[name, at, term][row]
                if isinstance(term, Variable) and term in self._uses:
                    self._uses[term].pop((name, row), None)
        for name, row in places:
            self._put_row(name, tuple(map(self.value, row)))

    def _put_row(self, name: str, row: Row) -> None:
        rows = self._rows.setdefault(name, {})
        if row in rows:
            return
        if len(rows) > MOST_ROWS:
            raise TooMuchWork
        rows[row] = None
        self._unmerged[name, row] = None
        self._has_changed(name)
        relation = self.relations[name]
        for at, (column, term) in enumerate(zip(relation.columns, row, strict=True)):
            self._places.setdefault((name, at, term), {})[row] = None
            if isinstance(term, Variable):
                self._uses.setdefault(term, {})[name, row] = None
            if column not in relation.nullable:
                self._now_known((term,))

    def _now_known(self, terms: Iterable[Term]) -> None:
        for term in map(self.value, terms):
            if term == NULL:
                self.broken = True
            elif isinstance(term, Variable) and term not in self._known:
                self._known.add(term)
                for name, row in self._uses.get(term, ()):
                    self._unmerged[name, row] = None
                    self._has_changed(name)

    def _has_changed(self, what: str) -> None:
        self._now += 1
        self._changed[what] = self._now

    # -- what follows ------------------------------------------------------------------------------

    def chase(self) -> None:
        """Put in what keys and constraints ask for."""
        self._merge_by_keys()
        for _ in range(ROUNDS):
            if self.broken:
                break
            changed = [self._apply(rule) for rule in self.rules.plain if self._is_due(rule)]
            if not any(changed):
                break
            self._merge_by_keys()
        if not self.broken:
            self._order = _Order(list(self.comparisons()))
            self.broken = self._order.is_broken

    def _merge_by_keys(self) -> None:
        """Rows of a table that agree on a key are one row."""
        while self._unmerged and not self.broken:
            name, row = next(iter(self._unmerged))
            del self._unmerged[name, row]
            if row not in self._rows[name]:
                continue
            for key in self.rules.keys[name]:
                self.budget.spend()
                at = tuple(row[place] for place in key)
                if not all(map(self.is_known, at)):
                    continue
                other = self._by_key.get((name, key, at))
                self._by_key[name, key, at] = row
                if other is not None and other != row and other in self._rows[name]:
                    self.equate(*zip(other, row, strict=True))
                    self._unmerged.update(
                        ((name, one), None) for one in (row, other) if one in self._rows[name]
                    )
                    break

    def _is_due(self, rule: Dependency) -> bool:
        """Has something changed that a rule speaks of since it was applied?"""
        before = self._applied.get(id(rule), -1)
        names = [*(atom.relation for atom in rule.atoms), *([COMPARED] if rule.comparisons else [])]
        return before < 0 or any(self._changed.get(name, 0) > before for name in names)

    def _apply(self, rule: Dependency) -> bool:
        self._applied[id(rule)] = self._now
        changed = False
        for values in list(self.matches(rule.atoms, rule.comparisons, rule.known)):
            if not rule.alternatives:
                self.broken = True
                return True
            changed |= self.satisfy(rule, 0, values)
        return changed

    def satisfy(self, rule: Dependency, at: int, values: Values) -> bool:
        """A constraint's alternative holds for a match; whether that says anything new."""
        if self.is_satisfied(rule, at, values):
            return False
        way = rule.alternatives[at]
        new = {**self.fresh(rule.existential(way)), **values}
        put = way.substituted(new)
        self.put(put.atoms, put.comparisons)
        self.equate(*put.equalities)
        return True

    def is_satisfied(self, rule: Dependency, at: int, values: Values) -> bool:
        """Does an alternative hold already?"""
        way = rule.alternatives[at]
        if any(
            self.value(_put(left, values)) != self.value(_put(right, values))
            for left, right in way.equalities
        ):
            return False
        return next(self.matches(way.atoms, way.comparisons, (), values), None) is not None

    def matches(
        self,
        atoms: Sequence[Atom],
        comparisons: Sequence[Comparison] = (),
        known: Iterable[Variable] = (),
        given: Mapping[Variable, Term] | None = None,
    ) -> Iterator[Values]:
        """All ways to find a body among these rows for sure; `given` are values of some of its
        variables.
        """
        if not all(self._rows.get(atom.relation) for atom in atoms):
            return
        start = {one: self.value(term) for one, term in (given or {}).items()}
        known = tuple(known)
        for found in self._found(list(atoms), start):
            if all(self.is_known(found.get(one, NULL)) for one in known) and all(
                self.implies(
                    Comparison(_put(one.left, found), one.operator, _put(one.right, found))
                )
                for one in comparisons
            ):
                yield found

    def _found(self, atoms: list[Atom], values: Values) -> Iterator[Values]:
        self.budget.spend()
        if not atoms:
            yield values
            return
        at, rows = 0, self._candidates(atoms[0], values)
        for other in range(1, len(atoms)):
            if len(rows) <= 1:
                break
            fewer = self._candidates(atoms[other], values)
            if len(fewer) < len(rows):
                at, rows = other, fewer
        rest = [*atoms[:at], *atoms[at + 1 :]]
        for row in list(rows):
            more = _onto(atoms[at].terms, row, values)
            if more is not None:
                yield from self._found(rest, more)

    def _candidates(self, atom: Atom, values: Values) -> Mapping[Row, None]:
        """The rows that an atom can stand for, or more."""
        rows = self._rows.get(atom.relation, {})
        if len(rows) <= FEW:
            return rows
        for at, term in enumerate(atom.terms):
            bound = values.get(term) if isinstance(term, Variable) else term
            if bound is not None:
                some = self._places.get((atom.relation, at, bound), {})
                if len(some) < len(rows):
                    rows = some
        return rows


def _put(term: Term, values: Mapping[Variable, Term]) -> Term:
    return values.get(term, term) if isinstance(term, Variable) else term


def _onto(terms: Row, row: Row, values: Values) -> Values | None:
    found = values
    for term, value in zip(terms, row, strict=True):
        if isinstance(term, Constant):
            if term != value:
                return None
        elif term in found:
            if found[term] != value:
                return None
        else:
            if found is values:
                found = dict(values)
            found[term] = value
    return found


class _Order:
    """What comparisons say together."""

    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        self._apart = {
            frozenset((one.left, one.right)) for one in comparisons if one.operator == "!="
        }
        self._edges = [
            (one.left, one.right, one.operator == "<")
            for one in comparisons
            if one.operator != "!="
        ]
        numbers: dict[Term, int] = {}
        for left, right, _ in self._edges:
            numbers.setdefault(left, len(numbers))
            numbers.setdefault(right, len(numbers))
        edges = [(numbers[left], numbers[right], strict) for left, right, strict in self._edges]
        edges += [
            (numbers[one], numbers[two], True)
            for one in numbers
            for two in numbers
            if _is_less(one, two)
        ]
        self._numbers = numbers
        self._reached = paths(edges)
        self.is_broken = contradictory(self._reached) or any(len(one) < 2 for one in self._apart)

    def implies(self, left: Term, operator: str, right: Term) -> bool:
        if operator == "<=":
            return left == right or self._below(left, right, strict=False)
        if operator == "<":
            return self._below(left, right, strict=True)
        if isinstance(left, Constant) and isinstance(right, Constant):
            return left != right and order_key(left.value)[0] == order_key(right.value)[0]
        return (
            frozenset((left, right)) in self._apart
            or self._below(left, right, strict=True)
            or self._below(right, left, strict=True)
        )

    def _below(self, left: Term, right: Term, *, strict: bool) -> bool:
        """Is one smaller? Constants that no comparison names lie between those that some do."""
        if _is_less(left, right):
            return True
        for low in self._like(left, below=False):
            reached = self._reached.get(self._numbers[low], {})
            for high in self._like(right, below=True):
                further = reached.get(self._numbers[high])
                beyond = _is_less(left, low) or _is_less(high, right)
                if low == high and (beyond or not strict):
                    return True
                if further is not None and (further or beyond or not strict):
                    return True
        return False

    def _like(self, term: Term, *, below: bool) -> list[Term]:
        """The term, or for a constant those at most as large (`below`) or at least as large."""
        if term in self._numbers:
            return [term]
        return [
            one for one in self._numbers if (_is_less(one, term) if below else _is_less(term, one))
        ]


def may_hold(one: Comparison) -> bool:
    """Is a comparison not certainly false, by its constants alone?"""
    if not (isinstance(one.left, Constant) and isinstance(one.right, Constant)):
        return True
    if one.operator == "!=":
        return one.left != one.right
    return not _is_less(one.right, one.left) and (one.operator == "<=" or one.left != one.right)


def _is_less(one: Term, two: Term) -> bool:
    """Is a constant smaller than another one, in every database?"""
    if not (isinstance(one, Constant) and isinstance(two, Constant)):
        return False
    if NULL in (one, two):
        return False
    (kind, left), (other, right) = order_key(one.value), order_key(two.value)
    same = type(one.value) is type(two.value) or kind == 1
    return same and kind == other and kind in ORDERED and bool(left < right)
