"""Constraints: what a branch of the search has decided about terms, and what follows from it.

Terms are equal or not, smaller or larger, NULL or known; an atom is the tuple in question or is
not. Conclusions are drawn from keys, from the order, from domains that run out, and from conditions
that were learned: of each of those, every solution meets one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tacit.families.queries.logic.chase import Keys, chase
from tacit.families.queries.logic.comparisons import contradictory, forced_equal, paths
from tacit.families.queries.logic.numbered_queries import NUMBERED_NULL, NumberedBody, Symbols
from tacit.families.queries.logic.unify import Unifier, may_unify


@dataclass(frozen=True, slots=True)
class QuerySide:
    """One query of the question: its valuation, the atom that is the tuple (None:
    any rows), who may absorb it.

    `minimal`: there is no homomorphism from a rival to the body without one of its atoms.
    """

    body: NumberedBody
    chosen: int | None = None
    rivals: tuple[NumberedBody, ...] = ()
    minimal: bool = False


class Literal(NamedTuple):
    """A condition that a branch adds.
    `kind`: tuple, equal, unequal, less, at-most; negated by `add_opposite`.
    """

    kind: str
    one: int
    two: int


class State:
    """What a branch of the search has decided."""

    __slots__ = ("apart", "classes", "order", "reached", "unequal")

    def __init__(self, classes: Unifier) -> None:
        self.classes = classes
        self.unequal: list[tuple[int, int]] = []
        self.order: list[tuple[int, int, bool]] = []
        self.apart: set[tuple[int, int]] = set()  # (side, atom) that is not the tuple
        self.reached: dict[int, dict[int, bool]] = {}

    def copy(self) -> State:
        """The same decisions, to be continued apart."""
        other = State(self.classes.copy())
        other.unequal = self.unequal.copy()
        other.order = self.order.copy()
        other.apart = self.apart.copy()
        return other


class TermConstraints:
    """One or two queries, and what states say of their terms."""

    def __init__(
        self,
        sides: Sequence[QuerySide],
        keys: Keys,
        symbols: Symbols,
        written: Sequence[NumberedBody] = (),
    ) -> None:
        self.sides = tuple(sides)
        self.keys = keys
        self.symbols = symbols
        self.learned: list[tuple[Literal, ...]] = []
        self.root = State(Unifier())  # before anything was decided
        self.bodies = [body for side in self.sides for body in (side.body, *side.rivals)] + [
            *written
        ]
        self.ordered = any(one[1] != "!=" for body in self.bodies for one in body.comparisons)
        self._named: set[int] | None = None

    @property
    def named(self) -> set[int]:
        """The constants of all queries."""
        if self._named is None:
            self._named = set().union(*(body.constants() for body in self.bodies)) - {NUMBERED_NULL}
        return self._named

    def start(self) -> State:
        """The state in which only the queries' own comparisons are decided."""
        state = State(Unifier.of(*(side.body for side in self.sides)))
        for side in self.sides:
            for left, operator, right in side.body.comparisons:
                if operator == "!=":
                    state.unequal.append((left, right))
                else:
                    state.order.append((left, right, operator == "<"))
        return state

    def tuple_of(self, side: int) -> tuple[int, ...]:
        """The terms of the atom that is the tuple."""
        chosen = self.sides[side].chosen
        assert chosen is not None
        return self.sides[side].body.atoms[chosen][1]

    # --- what a state implies -------------------------------------------------------------------

    def propagate(self, state: State) -> bool:
        """Draw the conclusions of keys, order and disequalities. False: no valuation is left."""
        classes = state.classes
        before = -1
        while before != classes.version:
            before = classes.version
            if self.keys and not all(
                chase(side.body.atoms, self.keys, classes) for side in self.sides
            ):
                return False
            if state.order and not self._ordered(state):
                return False
            if state.unequal and not self._told_apart(state):
                return False
            if self.learned and before == classes.version and not self._units(state):
                return False
        return not any(self._is_tuple(state, side, atom) for side, atom in state.apart)

    def _ordered(self, state: State) -> bool:
        find = state.classes.find
        edges = {(find(left), find(right), strict) for left, right, strict in state.order}
        edges |= self._chain({term for one, two, _ in edges for term in (one, two) if term >= 0})
        state.reached = paths(edges)
        if contradictory(state.reached):
            return False
        return all(state.classes.join(one, two) for one, two in forced_equal(state.reached))

    def _chain(self, constants: set[int]) -> set[tuple[int, int, bool]]:
        """Constants in their order. Equal numbers have one number each, so the order is strict."""
        ordered = sorted(constants, key=self.symbols.key)
        return {(low, high, True) for low, high in pairwise(ordered)}

    def _told_apart(self, state: State) -> bool:
        classes = state.classes
        for one, two in state.unequal:
            left, right = classes.find(one), classes.find(two)
            if left == right:
                return False
            if left >= 0:
                left, right = right, left
            if left < 0 <= right and not classes.exclude(left, right):
                return False
        return True

    def _is_tuple(self, state: State, side: int, atom: int) -> bool:
        find = state.classes.find
        terms = self.sides[side].body.atoms[atom][1]
        return all(
            find(one) == find(two) for one, two in zip(terms, self.tuple_of(side), strict=True)
        )

    def add(self, state: State, literal: Literal) -> bool:
        """Decide a condition. False: that leaves no valuation."""
        return self._decide(state, literal) and self.propagate(state)

    def _decide(self, state: State, literal: Literal) -> bool:
        kind, one, two = literal
        if kind == "tuple":  # the atom `two` of side `one` is the tuple
            terms = self.sides[one].body.atoms[two][1]
            return state.classes.join_all(terms, self.tuple_of(one))
        if kind == "equal":
            return state.classes.join(one, two)
        if kind == "unequal":
            state.unequal.append((one, two))
        else:
            state.order.append((one, two, kind == "less"))
        state.classes.version += 1  # there is something to conclude
        return True

    def add_opposite(self, state: State, literal: Literal) -> bool:
        """Decide against a condition. False: that leaves no valuation."""
        kind, one, two = literal
        if kind == "tuple":
            state.apart.add((one, two))
            return self.propagate(state)
        opposite = {
            "equal": Literal("unequal", one, two),
            "unequal": Literal("equal", one, two),
            "less": Literal("at-most", two, one),
            "at-most": Literal("less", two, one),
        }
        return self.add(state, opposite[kind])

    def _is_false(self, state: State, literal: Literal) -> bool:
        """Is a condition already decided against? False also where that is not seen at once."""
        kind, one, two = literal
        find = state.classes.find
        if kind == "tuple":
            relation, terms = self.sides[one].body.atoms[two]
            chosen = self.sides[one].chosen
            assert chosen is not None
            return (
                relation != self.sides[one].body.atoms[chosen][0]
                or (one, two) in state.apart
                or not may_unify(
                    [find(term) for term in terms], [find(term) for term in self.tuple_of(one)]
                )
            )
        left, right = find(one), find(two)
        if kind == "equal":
            if left == right:
                return False
            if left >= 0:
                left, right = right, left
            return left >= 0 or (right >= 0 and not state.classes.allows(left, right))
        return left == right and kind != "at-most"

    def _is_true(self, state: State, literal: Literal) -> bool:
        """Is a condition already decided for? False also where that is not seen at once."""
        kind, one, two = literal
        find = state.classes.find
        if kind == "tuple":
            return self._is_tuple(state, one, two)
        left, right = find(one), find(two)
        if kind == "equal":
            return left == right
        if kind != "unequal":
            return (one, two, kind == "less") in state.order
        if left >= 0:
            left, right = right, left
        if left != right and (left >= 0 or (right >= 0 and not state.classes.allows(left, right))):
            return True
        return (one, two) in state.unequal or (two, one) in state.unequal

    def _units(self, state: State) -> bool:
        """Decide what the remembered conditions leave open in one way only.
        False: one is broken nowhere.
        """
        for literals in self.learned:
            left = None
            for literal in literals:
                if self._is_true(state, literal):
                    break
                if not self._is_false(state, literal):
                    if left is not None:
                        break
                    left = literal
            else:
                if left is None or not self._decide(state, left):
                    return False
        return True

    def _same(self, state: State, literal: Literal) -> bool:
        return state.classes.find(literal.one) == state.classes.find(literal.two)
