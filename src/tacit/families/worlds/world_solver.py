"""World solver: is there a world that satisfies some conditions and
breaks one of others? Asked of CP-SAT.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tacit.families.solver import module, solve
from tacit.families.worlds.formula import Condition, Count, Term
from tacit.model.deadline import OutOfTime, left

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

NEAR = 4000  # up to so many tuples a world as close to the data as possible is looked for
NEAR_SECONDS = 1.0


class NoWorld(Exception):
    """No database satisfies the constraints and gives the views their answers."""


def find(
    conditions: Iterable[Condition],
    broken: Sequence[Condition] | None = None,
    *,
    like: frozenset[int] = frozenset(),
    assume: Iterable[int] = (),
) -> frozenset[int] | None:
    """The tuples of a world that satisfies all conditions and, where given, breaks one of `broken`;
    None if there is none.

    Tuples that no condition speaks of are left out.
    `like` is a world to stay close to, `assume` are literals that must be true.

    >>> found = find([Condition(((1,), (2,)))], [Condition(((1,),))])
    >>> sorted(found)
    [2]
    """
    model = ConditionModel()
    for condition in conditions:
        model.require(condition)
    if broken is not None:
        model.break_one(broken)
    for literal in assume:
        model.require(Condition(((literal,),)))
    return model.solved(like)


class ConditionModel:
    """Conditions as a model of CP-SAT, with a Boolean for each tuple."""

    def __init__(self) -> None:
        self._module = module()
        self.model: cp_model.CpModel = self._module.CpModel()
        self.tuples: dict[Any, Any] = {}

    def variable(self, one: Any) -> Any:
        """The Boolean of a tuple."""
        found = self.tuples.get(one)
        if found is None:
            found = self.tuples[one] = self.model.new_bool_var("")
        return found

    def literal(self, literal: int) -> Any:
        """A tuple that is there, or is not."""
        return self.variable(literal) if literal > 0 else self.variable(-literal).negated()

    def require(self, condition: Condition) -> None:
        """The condition holds."""
        self.model.add_bool_or(self._ways(condition))

    def _ways(self, condition: Condition) -> list[Any]:
        ways = [
            self.literal(term[0]) if len(term) == 1 else self._all(term) for term in condition.terms
        ]
        return ways + [self._counted(count) for count in condition.counts]

    def _all(self, term: Term) -> Any:
        """A Boolean that is true only if all literals are."""
        way = self.model.new_bool_var("")
        self.model.add_bool_and([self.literal(one) for one in term]).only_enforce_if(way)
        return way

    def is_all(self, term: Term) -> Any:
        """A Boolean that is true exactly if all literals are."""
        if len(term) == 1:
            return self.literal(term[0])
        way = self._all(term)
        self.model.add_bool_or([*(self.literal(-one) for one in term), way])
        return way

    def is_any(self, terms: Sequence[Term]) -> Any:
        """A Boolean that is true exactly if one of the terms is."""
        ways = [self.is_all(term) for term in terms]
        if len(ways) == 1:
            return ways[0]
        any_ = self.model.new_bool_var("")
        self.model.add_bool_or([*ways, any_.negated()])
        for way in ways:
            self.model.add_implication(way, any_)
        return any_

    def _member(self, member: Term) -> Any:
        return self.is_any([(literal,) for literal in member])

    def _counted(self, count: Count) -> Any:
        """A Boolean that is true only if the count is right."""
        way = self.model.new_bool_var("")
        total = sum(self._member(member) for member in count.members)
        self.model.add_linear_constraint(total, count.low, count.high).only_enforce_if(way)
        return way

    def break_one(self, conditions: Sequence[Condition]) -> None:
        """At least one of the conditions does not hold."""
        self.model.add_bool_or([self.broken(condition) for condition in conditions])

    def broken(self, condition: Condition) -> Any:
        """A Boolean that is true only if the condition does not hold."""
        if len(condition.terms) == 1 and len(condition.terms[0]) == 1 and not condition.counts:
            return self.literal(-condition.terms[0][0])
        if all(len(term) == 1 for term in condition.terms) and not condition.counts:
            return self._all(tuple(-term[0] for term in condition.terms))
        way = self.model.new_bool_var("")
        for term in condition.terms:
            self.model.add_bool_or([self.literal(-one) for one in term]).only_enforce_if(way)
        for count in condition.counts:
            self._miscounted(count, way)
        return way

    def _miscounted(self, count: Count, way: Any) -> None:
        total = sum(self._member(member) for member in count.members)
        few, many = self.model.new_bool_var(""), self.model.new_bool_var("")
        self.model.add(total <= count.low - 1).only_enforce_if(few)
        self.model.add(total >= count.high + 1).only_enforce_if(many)
        self.model.add_bool_or([few, many]).only_enforce_if(way)

    def solved(self, like: frozenset[int] = frozenset()) -> frozenset[Any] | None:
        """The tuples of a solution, close to another world where that is cheap;
        None if there is no solution.
        """
        for one, variable in self.tuples.items():
            self.model.add_hint(variable, one in like)
        found = self._solve(left())
        if found is None or len(self.tuples) > NEAR:
            return found
        away = sum(
            variable.negated() if one in like else variable for one, variable in self.tuples.items()
        )
        self.model.minimize(away)
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for one, variable in self.tuples.items():
            self.model.add_hint(variable, one in found)
        try:
            return self._solve(min(NEAR_SECONDS, left())) or found
        except OutOfTime:
            return found

    def _solve(self, seconds: float) -> frozenset[Any] | None:
        solver = self._module.CpSolver()
        solver.parameters.max_time_in_seconds = seconds
        solver.parameters.num_workers = min(8, os.cpu_count() or 1)
        solver.parameters.random_seed = 1
        status = solve(solver, self.model)
        if status == self._module.INFEASIBLE:
            return None
        if status not in (self._module.OPTIMAL, self._module.FEASIBLE):
            raise OutOfTime
        return frozenset(
            one for one, variable in self.tuples.items() if solver.boolean_value(variable)
        )
