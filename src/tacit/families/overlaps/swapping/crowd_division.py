"""Crowd division: put everybody into one of the allowed sets so that the smallest set that is used
is as large as can be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.families.overlaps.counting.filling import SMALL, WORKERS, new_model
from tacit.families.overlaps.swapping.allowed_sets import Type
from tacit.families.solver import module, solve
from tacit.model.deadline import OutOfTime, left

Crowd = dict[Type, int]  # how many people of each type


@dataclass(frozen=True, slots=True)
class Division:
    """The division into crowds of at least `level` that was found, and the most that is possible.

    They are equal where both are known. Without any division the level is 0.
    """

    crowds: tuple[Crowd, ...]
    level: int
    most: int


def largest(
    sets: Sequence[Sequence[Type]],
    people: dict[Type, int],
    *,
    diverse: bool,
    meant: Sequence[int | None] | None = None,
    least: int = 0,
    at_least: int | None = None,
) -> Division:
    """Divide people into parts of some sets, so that the smallest part
    that is used is as large as can be.

    Each set is used once at most: two parts of the same set may as well be one. In the `diverse`
    variant each part has people with two values, which are two by what they are `meant` to be
    (None: nothing for certain), where that is told. It looks for levels above `least` only; with
    `at_least` it stops at a division of that level, or at the proof that there is none. At the
    deadline it answers with what it has.

    >>> found = largest(
    ...     [[(0, 0), (0, 1)], [(0, 1), (1, 1)]],
    ...     {(0, 0): 2, (0, 1): 3, (1, 1): 2},
    ...     diverse=False,
    ... )
    >>> found.level, found.most
    (3, 3)
    >>> largest([[(0, 0), (0, 1)]], {(0, 0): 2, (0, 1): 3}, diverse=True, meant=[0, 0]).level
    0
    """
    if not people:
        return Division((), 0, 0)
    program = _Program(sets, people, diverse, meant)
    crowds: tuple[Crowd, ...] = ()
    level, most = least, program.bound()
    # The bound is often reached.
    aim = most if at_least is None else max(min(at_least, most), 1)
    try:
        while level < most:
            found = program.divided(aim)
            if found is None:
                most = aim - 1
            else:
                crowds, level = found, min(sum(crowd.values()) for crowd in found)
            if at_least is not None and (level >= at_least or most < at_least):
                break
            aim = (level + most + 1) // 2
    except OutOfTime:
        pass
    return Division(crowds, level if crowds else 0, max(most, level))


class _Program:
    """How many people of each type go into each set."""

    def __init__(
        self,
        sets: Sequence[Sequence[Type]],
        people: dict[Type, int],
        diverse: bool,
        meant: Sequence[int | None] | None,
    ) -> None:
        self.diverse = diverse
        self.people = people
        inside: dict[Type, list[int]] = defaultdict(list)
        for number, one in enumerate(sets):
            for type_ in one:
                inside[type_].append(number)
        # Types with the same value that may go into the same sets are all one.
        alike: dict[tuple[int, tuple[int, ...]], list[Type]] = defaultdict(list)
        for type_ in people:
            alike[type_[1], tuple(inside[type_])].append(type_)
        self.meant = [value if meant is None else meant[value] for value, _ in alike]
        self.places = [places for _, places in alike]
        self.types = list(alike.values())
        self.many = [sum(people[type_] for type_ in types) for types in self.types]
        self.members: list[list[int]] = [[] for _ in sets]
        for group, places in enumerate(self.places):
            for number in places:
                self.members[number].append(group)

    def bound(self) -> int:
        """No smallest part is larger: everybody must be somewhere."""
        sizes = [
            sum(self.many[group] for group in groups) if self._is_usable(groups) else 0
            for groups in self.members
        ]
        return min(max((sizes[number] for number in places), default=0) for places in self.places)

    def _is_usable(self, groups: Sequence[int]) -> bool:
        return not self.diverse or len(self._meanings(groups)) > 1

    def _meanings(self, groups: Sequence[int]) -> set[int]:
        return {meant for group in groups if (meant := self.meant[group]) is not None}

    def divided(self, level: int) -> tuple[Crowd, ...] | None:
        """A division into parts of at least so many people; None if there is none.
        Raises OutOfTime.
        """
        cp = module()
        model = new_model()()
        usable = [
            self._is_usable(groups) and sum(self.many[group] for group in groups) >= level
            for groups in self.members
        ]
        used = {
            number: model.new_bool_var("") for number, is_usable in enumerate(usable) if is_usable
        }
        put = {
            (group, number): model.new_int_var(0, many, "")
            for group, (many, places) in enumerate(zip(self.many, self.places, strict=True))
            for number in places
            if number in used
        }
        for group, (many, places) in enumerate(zip(self.many, self.places, strict=True)):
            own = [number for number in places if number in used]
            if not own:
                return None
            model.add(cp.LinearExpr.sum([put[group, number] for number in own]) == many)
            for number in own:
                model.add(put[group, number] <= many * used[number])
        for number, is_used in used.items():
            groups = self.members[number]
            model.add(
                cp.LinearExpr.sum([put[group, number] for group in groups]) >= level * is_used
            )
            if self.diverse:
                for meant in self._meanings(groups):
                    others = [
                        put[group, number]
                        for group in groups
                        if self.meant[group] not in (None, meant)
                    ]
                    model.add(cp.LinearExpr.sum(others) >= is_used)
        solver = cp.CpSolver()
        solver.parameters.max_time_in_seconds = left()
        solver.parameters.num_workers = 1 if len(put) < SMALL else WORKERS
        solver.parameters.random_seed = 1
        status = solve(solver, model)
        if status == cp.INFEASIBLE:
            return None
        if status not in (cp.OPTIMAL, cp.FEASIBLE):
            raise OutOfTime
        return self._crowds({place: solver.value(one) for place, one in put.items()})

    def _crowds(self, put: dict[tuple[int, int], int]) -> tuple[Crowd, ...]:
        """Who goes where, by type."""
        left = dict(self.people)
        crowds: dict[int, Crowd] = defaultdict(dict)
        for (group, number), many in put.items():
            for type_ in self.types[group]:
                some = min(many, left[type_])
                if some:
                    crowds[number][type_] = some
                    left[type_] -= some
                    many -= some
        return tuple(crowds[number] for number in sorted(crowds))
