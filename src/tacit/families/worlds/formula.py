"""Formula: what worlds must satisfy, over tuples that are there (n) or not (-n);
and what follows at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Term = tuple[int, ...]  # literals that are all true


@dataclass(frozen=True, slots=True)
class Count:
    """Between `low` and `high` of the members are there;
    a member is there if any of its literals is true.
    """

    members: tuple[Term, ...]
    low: int
    high: int

    def holds(self, world: set[int] | frozenset[int]) -> bool:
        """Is the count right where these tuples are there and no others?"""
        there = sum(
            any((literal > 0) == (abs(literal) in world) for literal in member)
            for member in self.members
        )
        return self.low <= there <= self.high


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the terms is true, or one of the counts is right. No term: it cannot be satisfied.

    >>> Condition(((1, 2), (-3,))).holds({1, 3}), Condition(((1, 2), (-3,))).holds({1, 2, 3})
    (False, True)
    """

    terms: tuple[Term, ...] = ()
    counts: tuple[Count, ...] = ()

    def holds(self, world: set[int] | frozenset[int]) -> bool:
        """Is it satisfied where these tuples are there and no others?"""
        if any(
            all((literal > 0) == (abs(literal) in world) for literal in term) for term in self.terms
        ):
            return True
        return any(one.holds(world) for one in self.counts)

    def tuples(self) -> Iterator[int]:
        """The tuples it speaks of."""
        for term in self.terms:
            yield from map(abs, term)
        for count in self.counts:
            for member in count.members:
                yield from map(abs, member)


class Impossible(Exception):
    """No world satisfies the conditions."""


@dataclass(slots=True)
class Propagation:
    """Conditions with everything that follows at once worked in:
    `fixed` tuples, and what is left of the conditions.
    """

    conditions: list[Condition]
    fixed: dict[int, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, conditions: Iterable[Condition]) -> Propagation:
        """Work in what follows at once;
        raise Impossible where the conditions contradict each other.

        >>> found = Propagation.of(
        ...     [Condition(((1, 2),)), Condition(((-2,), (3,))), Condition(((4,), (5,)))]
        ... )
        >>> found.fixed, found.conditions
        ({1: True, 2: True, 3: True}, [Condition(terms=((4,), (5,)), counts=())])
        """
        found = cls([])
        todo: list[Condition | None] = list(conditions)
        where: dict[int, list[int]] | None = None
        queue = list(range(len(todo)))
        waiting = set(queue)
        while queue:
            number = queue.pop()
            waiting.discard(number)
            condition = todo[number]
            if condition is None:
                continue
            left = found.simplified(condition)
            if left is None:
                todo[number] = None
                continue
            forced = _forced(left)
            todo[number] = None if forced and len(left.terms) == 1 and not left.counts else left
            if forced and where is None:
                where = _where(todo)  # only now: often nothing follows at once
            for literal in forced:
                for other in found._fix(literal, where or {}):
                    if other not in waiting:
                        waiting.add(other)
                        queue.append(other)
        found.conditions = list(dict.fromkeys(one for one in todo if one is not None))
        return found

    def _fix(self, literal: int, where: Mapping[int, list[int]]) -> list[int]:
        one, value = abs(literal), literal > 0
        if one in self.fixed:
            if self.fixed[one] != value:
                raise Impossible
            return []
        self.fixed[one] = value
        return where.get(one, [])

    def simplified(self, condition: Condition) -> Condition | None:
        """What is left of a condition; None where it is satisfied.
        Impossible where it cannot be.
        """
        terms, is_true = self.left_of(condition.terms)
        if is_true:
            return None
        counts = []
        for count in condition.counts:
            left = self._count(count)
            if left is True:
                return None
            if left is not None:
                counts.append(left)
        if not terms and not counts:
            raise Impossible
        return Condition(terms, tuple(counts))

    def left_of(self, terms: Iterable[Term]) -> tuple[tuple[Term, ...], bool]:
        """Terms without what is fixed, and whether one of them is true already."""
        if not self.fixed:
            every = tuple(terms)
            return ((), True) if () in every else (every, False)
        fixed, found = self.fixed, []
        for term in terms:
            left = []
            for literal in term:
                value = fixed.get(abs(literal))
                if value is None:
                    left.append(literal)
                elif value != (literal > 0):
                    break
            else:
                if not left:
                    return (), True
                found.append(tuple(left))
        return tuple(found), False

    def _count(self, count: Count) -> Count | Literal[True] | None:
        """What is left of a count: True where it is right whatever
        happens, None where it never is.
        """
        members, sure = [], 0
        for member in count.members:
            left = [literal for literal in member if abs(literal) not in self.fixed]
            if any(self.fixed.get(abs(literal)) == (literal > 0) for literal in member):
                sure += 1
            elif left:
                members.append(tuple(left))
        low, high = max(count.low - sure, 0), count.high - sure
        if high < 0 or low > len(members):
            return None
        if low == 0 and high >= len(members):
            return True
        return Count(tuple(members), low, min(high, len(members)))


def _where(conditions: Sequence[Condition | None]) -> dict[int, list[int]]:
    """The conditions that speak of each tuple."""
    where: dict[int, list[int]] = {}
    for number, condition in enumerate(conditions):
        for one in set(condition.tuples()) if condition is not None else ():
            where.setdefault(one, []).append(number)
    return where


def _forced(condition: Condition) -> list[int]:
    """Literals that must be true for a condition to hold."""
    if condition.counts:
        if condition.terms or len(condition.counts) > 1:
            return []
        (count,) = condition.counts
        if count.high == 0:
            return [-literal for member in count.members for literal in member]
        if count.low == len(count.members):
            return [member[0] for member in count.members if len(member) == 1]
        return []
    if len(condition.terms) == 1:
        return list(condition.terms[0])
    common = set(condition.terms[0])
    for term in condition.terms[1:]:
        common &= set(term)
        if not common:
            return []
    return sorted(common)


def parts(groups: Iterable[Iterable[int]]) -> dict[int, int]:
    """Which tuples hang together: each with a tuple that stands for its part.

    >>> found = parts([[1, 2], [2, 3], [4]])
    >>> found[1] == found[3], found[1] == found[4]
    (True, False)
    """
    parents: dict[int, int] = {}

    def find(one: int) -> int:
        root = one
        while parents[root] != root:
            root = parents[root]
        while parents[one] != root:
            parents[one], one = root, parents[one]
        return root

    for group in groups:
        first = None
        for one in group:
            parents.setdefault(one, one)
            if first is None:
                first = find(one)
            else:
                parents[find(one)] = first
    return {one: find(one) for one in parents}


def negated(literals: Sequence[int]) -> tuple[Term, ...]:
    """Terms of which one is true unless all the literals are."""
    return tuple((-literal,) for literal in dict.fromkeys(literals))
