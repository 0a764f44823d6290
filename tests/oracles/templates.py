"""All databases over a few values at once, straight from the definitions;
shares no code with the package.

A database is a number: bit i says whether tuple i is there. What holds of a database is an array of
truth values, one for each of them, so that a query or a constraint is evaluated on thousands of
databases in one go. Queries, constraints and templates are read by their attributes only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

Row = tuple[Any, ...]
Truth = np.ndarray[Any, np.dtype[np.bool_]]
Presence = Mapping[tuple[str, Row], Truth]
Answers = dict[Row, Truth]


def is_variable(term: Any) -> bool:
    return type(term).__name__ in ("Variable", "Slot")


class Space:
    """All databases over the given values; None stands in nullable columns only."""

    def __init__(self, relations: Mapping[str, Any], values: Sequence[Any]) -> None:
        self.relations = relations
        self.values = tuple(values)
        self.tuples = [
            (name, row) for name, relation in relations.items() for row in self._rows(relation)
        ]
        numbers = np.arange(1 << len(self.tuples), dtype=np.int64)
        self.size = len(numbers)
        self.presence: dict[tuple[str, Row], Truth] = {
            fact: (numbers >> place) & 1 == 1 for place, fact in enumerate(self.tuples)
        }

    def _rows(self, relation: Any) -> Iterator[Row]:
        choices = []
        for column in relation.columns:
            values = [
                value
                for value in self.values
                if value in dict(relation.domains).get(column, self.values)
            ]
            choices.append([*values, *([None] if column in relation.nullable else [])])
        return product(*choices)

    def world(self, number: int) -> frozenset[tuple[str, Row]]:
        return frozenset(fact for place, fact in enumerate(self.tuples) if number >> place & 1)

    def number(self, world: Collection[tuple[str, Row]]) -> int:
        return sum(1 << place for place, fact in enumerate(self.tuples) if fact in world)

    def valuations(
        self, variables: Sequence[Any], fixed: Mapping[Any, Any] | None = None
    ) -> Iterator[dict[Any, Any]]:
        free = [one for one in dict.fromkeys(variables) if one not in (fixed or {})]
        for values in product((*self.values, None), repeat=len(free)):
            yield {**(fixed or {}), **dict(zip(free, values, strict=True))}

    def nothing(self) -> Truth:
        return np.zeros(self.size, dtype=bool)

    def satisfied(
        self,
        atoms: Sequence[Any],
        comparisons: Sequence[Any],
        known: Collection[Any],
        values: Mapping[Any, Any],
        presence: Presence,
    ) -> Truth:
        """Where are all atoms there, under a valuation that satisfies the rest?"""
        for one in comparisons:
            left, right = value_of(one.left, values), value_of(one.right, values)
            assert one.operator == "!="
            if left is None or right is None or left == right:
                return self.nothing()
        if any(values.get(one) is None for one in known if one in values):
            return self.nothing()
        found = ~self.nothing()
        for atom in atoms:
            there = presence.get(
                (atom.relation, tuple(value_of(term, values) for term in atom.terms))
            )
            if there is None:
                return self.nothing()
            found = found & there
        return found

    def answers(self, query: Any, presence: Presence | None = None) -> Answers:
        """For each row that a query can have the databases in which it has it."""
        found: Answers = {}
        for part in query.parts:
            for values in self.valuations(variables_of(part.atoms)):
                here = self.satisfied(
                    part.atoms,
                    part.comparisons,
                    part.known,
                    values,
                    self.presence if presence is None else presence,
                )
                if here.any():
                    row = tuple(value_of(term, values) for term in part.head)
                    found[row] = found.get(row, self.nothing()) | here
        return found

    def legal(self, dependencies: Sequence[Any]) -> Truth:
        """The databases that satisfy all constraints."""
        found = ~self.nothing()
        for one in dependencies:
            for values in self.valuations(variables_of(one.atoms)):
                body = self.satisfied(one.atoms, one.comparisons, one.known, values, self.presence)
                if body.any():
                    found &= ~body | self._one_of(one.alternatives, values)
        return found

    def _one_of(self, alternatives: Sequence[Any], values: Mapping[Any, Any]) -> Truth:
        found = self.nothing()
        for one in alternatives:
            if all(
                value_of(left, values) == value_of(right, values) for left, right in one.equalities
            ):
                for extended in self.valuations(variables_of(one.atoms), values):
                    found |= self.satisfied(one.atoms, one.comparisons, (), extended, self.presence)
        return found

    def shows(self, query: Any, rows: Collection[Row]) -> Truth:
        """The databases on which a view has exactly these rows."""
        found = ~self.nothing()
        answers = self.answers(query)
        for row, here in answers.items():
            found &= here if row in rows else ~here
        return found if all(row in answers for row in rows) else self.nothing()


def value_of(term: Any, values: Mapping[Any, Any]) -> Any:
    return values[term] if is_variable(term) else term.value


def variables_of(atoms: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys(term for atom in atoms for term in atom.terms if is_variable(term)))


def same(one: Answers, two: Answers, where: Truth) -> bool:
    """Are two answers the same on all these databases?"""
    nothing = np.zeros(len(where), dtype=bool)
    return all(
        not ((one.get(row, nothing) ^ two.get(row, nothing)) & where).any() for row in {*one, *two}
    )


def determined(new: Answers, views: Sequence[Answers], where: Truth) -> bool:
    """Do databases on which all views are the same agree on another query?"""

    def code(answers: Sequence[Answers]) -> Any:
        columns = [here[where] for one in answers for here in one.values()]
        return np.stack(columns, axis=1) if columns else np.zeros((int(where.sum()), 1), dtype=bool)

    seen, whole = code(views), code([*views, new])
    return len(np.unique(seen, axis=0)) == len(np.unique(whole, axis=0))


# -- templates -------------------------------------------------------------------------------------


def instantiations(template: Any, values: Sequence[Any]) -> Iterator[dict[Any, Any]]:
    """All ways to send different variables to different values
    under the template's inequalities.
    """
    variables = variables_of(template.facts)
    for chosen in product(values, repeat=len(variables)):
        if len(set(chosen)) == len(chosen):
            put = dict(zip(variables, chosen, strict=True))
            pairs = [
                (value_of(one.left, put), value_of(one.right, put)) for one in template.comparisons
            ]
            if all(left != right for left, right in pairs) and all(
                put[one] is not None for one in template.known
            ):
                yield put


def instance(template: Any, values: Mapping[Any, Any]) -> frozenset[tuple[str, Row]]:
    return frozenset(
        (atom.relation, tuple(value_of(term, values) for term in atom.terms))
        for atom in template.facts
    )
