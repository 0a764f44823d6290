"""Witness: a small instance per query on which one tuple changes the
answer, checked before it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.families.queries.facts import Fact
from tacit.families.queries.logic.homomorphism import FactIndex, Pattern, homomorphism
from tacit.families.queries.logic.numbered_queries import (
    NUMBERED_NULL,
    NumberedAtom,
    NumberedBody,
    TermNumbering,
    compares,
)
from tacit.families.queries.logic.prepare import PreparedQuery
from tacit.families.queries.logic.term_constraints import Literal, State
from tacit.families.queries.logic.valuations import Valuation, ValuationSearch
from tacit.families.queries.query import Constant

SMALL = 12  # subgoals up to which instances are made smaller: each try is a search of its own
THE_TUPLE = "\0the tuple"  # a relation that no database has


def collapsed(question: ValuationSearch, state: State, found: Valuation) -> tuple[State, Valuation]:
    """A solution in which more atoms are the tuple, or each other,
    as long as nothing absorbs it.
    """
    for number, side in enumerate(question.sides):
        atoms = side.body.atoms
        if len(atoms) > SMALL or side.chosen is None:
            continue
        tuple_relation = atoms[side.chosen][0]
        for place, (relation, _) in enumerate(atoms):
            if place != side.chosen and relation == tuple_relation:
                state, found = _merged(question, state, found, number, side.chosen, place)
        for place, (relation, _) in enumerate(atoms):
            for other in range(place):
                if atoms[other][0] == relation:
                    state, found = _merged(question, state, found, number, other, place)
    return state, found


def _merged(
    question: ValuationSearch, state: State, found: Valuation, side: int, one: int, two: int
) -> tuple[State, Valuation]:
    atoms = question.sides[side].body.atoms
    if found.row(atoms[one][1]) == found.row(atoms[two][1]):
        return state, found
    child = state.copy()
    child.apart.clear()
    first, *rest = [
        Literal("equal", left, right)
        for left, right in zip(atoms[one][1], atoms[two][1], strict=True)
    ]
    if not all(question.add(child, literal) for literal in (first, *rest)):
        return state, found
    smaller = question.valuation(child)
    if smaller is None or question.conflict(child, smaller) is not None:
        return state, found
    return child, smaller


class Instance:
    """An instance and a tuple on which a query's answer depends, with Python values.

    `row` is the row of the answer that appears with the tuple.
    """

    def __init__(self, prepared: PreparedQuery, numbering: TermNumbering) -> None:
        self.prepared = prepared
        self.numbering = numbering

    def smallest(
        self, facts: Sequence[Fact], critical: Fact, row: tuple[Any, ...]
    ) -> tuple[Fact, ...]:
        """Drop facts while the tuple still makes the row appear;
        every fact that stays is needed.
        """
        rest = tuple(dict.fromkeys(fact for fact in facts if fact != critical))
        if not self.needs_shrinking(rest):
            return rest
        place = 0
        while place < len(rest):
            fewer = rest[:place] + rest[place + 1 :]
            rest, place = (
                (fewer, place) if self.depends(fewer, critical, row) else (rest, place + 1)
            )
        return rest

    def needs_shrinking(self, facts: Sequence[Fact]) -> bool:
        """Without self-joins and unions every fact is needed;
        large instances are shown as they are.
        """
        parts = self.prepared.raw
        joins = any(
            len({relation for relation, _ in body.atoms}) < len(body.atoms) for body in parts
        )
        return (joins or len(parts) > 1) and len(facts) <= SMALL

    def depends(self, facts: Sequence[Fact], critical: Fact, row: tuple[Any, ...]) -> bool:
        """Does adding the tuple make the row appear (in a bag: once more)?"""
        before = [self._numbered(fact) for fact in facts]
        added = self._numbered(critical)
        if added in before:
            return False
        head = tuple(self._number(value) for value in row)
        if self.prepared.query.bag:
            return self._appears_with(before, added, head)
        return not self._appears(before, head) and self._appears([added, *before], head)

    def _appears(self, facts: Sequence[NumberedAtom], head: tuple[int, ...]) -> bool:
        index = FactIndex(facts)
        return any(self._found(body, body.atoms, index, head) for body in self.prepared.raw)

    def _appears_with(
        self, facts: Sequence[NumberedAtom], added: NumberedAtom, head: tuple[int, ...]
    ) -> bool:
        index = FactIndex([added, *facts, (THE_TUPLE, added[1])])
        for body in self.prepared.raw:
            for place, (relation, terms) in enumerate(body.atoms):
                if relation == added[0]:
                    atoms = (*body.atoms[:place], (THE_TUPLE, terms), *body.atoms[place + 1 :])
                    if self._found(body, atoms, index, head):
                        return True
        return False

    def _found(
        self,
        body: NumberedBody,
        atoms: Sequence[NumberedAtom],
        facts: FactIndex,
        head: tuple[int, ...],
    ) -> bool:
        fixed: dict[int, int] = {}
        for term, value in zip(body.head, head, strict=True):
            if (term if term >= 0 else fixed.setdefault(term, value)) != value:
                return False
        pattern = Pattern(atoms, body.comparisons, body.known)
        return homomorphism(pattern, facts, fixed, compare=self._compare) is not None

    def _compare(self, operator: str, one: int, two: int) -> bool:
        if NUMBERED_NULL in (one, two):
            return False
        key = self.numbering.symbols.key
        return compares(operator, key(one), key(two), one == two)

    def _number(self, value: Any) -> int:
        return self.numbering.symbols.number(Constant(value))

    def _numbered(self, fact: Fact) -> NumberedAtom:
        return fact.relation, tuple(map(self._number, fact.values))
