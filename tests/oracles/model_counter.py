"""A second opinion on counts too large for brute force:
the tables that fit as the models of a formula, counted by Ganak.

A Boolean says that a person has a value. Everybody has exactly one, and a view that shows a value n
times has exactly n people with it. Counters are written with Booleans that their inputs determine,
so that every table is exactly one model.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any


class Formula:
    """Clauses over numbered Booleans."""

    def __init__(self) -> None:
        self.clauses: list[list[int]] = []
        self.last = 0

    def new(self) -> int:
        self.last += 1
        return self.last

    def exactly(self, literals: Sequence[int], many: int) -> None:
        """Exactly so many of the literals are true:
        reached[j] after some of them says that at least j + 1 are.
        """
        if many > len(literals):
            self.clauses.append([])
            return
        reached: list[int] = []
        for at, literal in enumerate(literals):
            now = [self.new() for _ in range(min(at + 1, many + 1))]
            for j, more in enumerate(now):
                before = reached[j] if j < len(reached) else None
                one_less = reached[j - 1] if j else None
                self.is_or_and(more, before, literal, one_less if j else None, is_first=j == 0)
            reached = now
        if many:
            self.clauses.append([reached[many - 1]])
        if len(reached) > many:
            self.clauses.append([-reached[many]])

    def is_or_and(
        self, more: int, before: int | None, literal: int, one_less: int | None, *, is_first: bool
    ) -> None:
        """more <-> before or (literal and one_less), where a missing `before` is false, and the
        first needs no `one_less`.
        """
        both = [literal] if is_first else [literal, one_less]  # type: ignore[list-item]
        if before is not None:
            self.clauses.append([-before, more])
        self.clauses.append([*(-one for one in both), more])
        for one in both:
            self.clauses.append([-more, one, *([before] if before is not None else [])])

    def count(self) -> int:
        from pyganak import Counter

        if [] in self.clauses:
            return 0
        counter = Counter()
        counter.new_vars(self.last)
        counter.add_clauses(self.clauses)
        return int(counter.count())


def tables(
    people: Sequence[Hashable],
    values: Sequence[Any],
    views: Sequence[tuple[Sequence[Hashable], Mapping[Any, int]]],
) -> int:
    """How many tables fit views, each with its members and how often it shows each value.

    >>> tables("ab", "xy", [("ab", {"x": 1, "y": 1})])
    2
    """
    formula = Formula()
    has = {(person, value): formula.new() for person in people for value in values}
    for person in people:
        formula.clauses.append([has[person, value] for value in values])
        formula.clauses += [
            [-has[person, one], -has[person, two]] for one, two in itertools.combinations(values, 2)
        ]
    for members, shown in views:
        for value in values:
            formula.exactly([has[person, value] for person in members], shown.get(value, 0))
    return formula.count()
