"""Ranking: all worlds of a formula in a fixed order: how many there are, and the n-th of them.

A number drawn uniformly is a world drawn uniformly. Tuples that no condition connects are ranked
apart; few tuples are enumerated, more are followed one by one, where all partial worlds that leave
the same conditions open are one node of a diagram.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Protocol

import numpy as np

from tacit.families.worlds.counting import CHUNK, chunks, satisfying_worlds, split
from tacit.families.worlds.formula import Condition, Impossible, Propagation
from tacit.families.worlds.states import TooManyStates, ordered

ENUMERATED = 18  # tuples that are enumerated; more are followed one by one
LAST_RESORT = 22  # tuples that are enumerated where a diagram is too large
DEAD, TRUE = (
    -1,
    -2,
)  # what is left of a condition: it cannot hold any more, or it holds whatever follows

Node = frozenset[int]


class Ranked(Protocol):
    """Worlds in a fixed order."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def world(self, number: int) -> frozenset[int]:
        """One of them, counted from 0."""
        ...


@dataclass(frozen=True, slots=True)
class Space:
    """Tuples that are there for sure, parts that do not depend on each other, and tuples that
    may be there or not.
    """

    sure: frozenset[int]
    parts: tuple[Ranked, ...]
    free: tuple[int, ...]

    @property
    def count(self) -> int:
        """All worlds."""
        return prod(part.count for part in self.parts) << len(self.free)

    def world(self, number: int) -> frozenset[int]:
        """The n-th world."""
        found = set(self.sure)
        for one in self.free:
            number, there = divmod(number, 2)
            if there:
                found.add(one)
        for part in self.parts:
            number, mine = divmod(number, part.count)
            found |= part.world(mine)
        return frozenset(found)


def space(
    tuples: Iterable[int], sure: frozenset[int], conditions: Sequence[Condition], *, most: int
) -> Space | None:
    """The worlds over some tuples; None where a part of them is too large to be ranked.

    >>> found = space([1, 2, 3], frozenset({9}), [Condition(((1,), (2,)))], most=99)
    >>> found.count, sorted({tuple(sorted(found.world(number))) for number in range(found.count)})
    (6, [(1, 2, 3, 9), (1, 2, 9), (1, 3, 9), (1, 9), (2, 3, 9), (2, 9)])
    """
    parts = split(conditions, (), {})
    try:
        ranked = tuple(_ranked(part.tuples, part.before, most) for part in parts)
    except TooManyStates:
        return None
    bound = {one for part in parts for one in part.tuples}
    return Space(sure, ranked, tuple(one for one in tuples if one not in bound))


def _ranked(tuples: Sequence[int], conditions: Sequence[Condition], most: int) -> Ranked:
    if len(tuples) <= ENUMERATED:
        return Enumerated(tuple(tuples), _codes(tuples, conditions))
    try:
        return Diagram.of(tuples, conditions, most)
    except TooManyStates:
        if len(tuples) > LAST_RESORT:
            raise
        return Enumerated(tuple(tuples), _codes(tuples, conditions))


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Worlds one by one, each a number whose bits say which tuples are there."""

    tuples: tuple[int, ...]
    codes: Any

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.codes)

    def world(self, number: int) -> frozenset[int]:
        """The n-th world."""
        code = int(self.codes[number])
        return frozenset(one for at, one in enumerate(self.tuples) if code >> at & 1)


def _codes(tuples: Sequence[int], conditions: Sequence[Condition]) -> Any:
    low = min(len(tuples), CHUNK)
    found = [
        np.flatnonzero(satisfying_worlds(chunk, conditions)) + (high << low)
        for high, chunk in enumerate(chunks(tuples))
    ]
    return np.concatenate(found)


@dataclass(slots=True)
class Diagram:
    """Worlds as paths: at each tuple a node leads on without it and with
    it, and knows how many worlds follow.
    """

    order: list[int]
    layers: list[dict[Node, tuple[Node | None, Node | None]]] = field(default_factory=list)
    follow: list[dict[Node, int]] = field(default_factory=list)

    @classmethod
    def of(cls, tuples: Sequence[int], conditions: Sequence[Condition], most: int) -> Diagram:
        """Follow the tuples; TooManyStates where there are more than `most` nodes."""
        found = cls(ordered(tuples, [list(one.tuples()) for one in conditions]))
        left = _Left()
        begins: dict[int, list[int]] = {}
        place = {one: at for at, one in enumerate(found.order)}
        for condition in conditions:
            begins.setdefault(min(place[one] for one in condition.tuples()), []).append(
                left.number(condition)
            )
        nodes, size = {frozenset[int]()}, 0
        for at, one in enumerate(found.order):
            start = frozenset(begins.get(at, ()))
            layer = {
                node: (left.after(node | start, one, False), left.after(node | start, one, True))
                for node in nodes
            }
            found.layers.append(layer)
            nodes = {
                child for children in layer.values() for child in children if child is not None
            }
            size += len(nodes)
            if size > most:
                raise TooManyStates
        found._count()
        return found

    def _count(self) -> None:
        below: dict[Node, int] = {frozenset(): 1}
        self.follow = [below]
        for layer in reversed(self.layers):
            below = {
                node: sum(below[child] for child in children if child is not None)
                for node, children in layer.items()
            }
            self.follow.append(below)
        self.follow.reverse()

    @property
    def count(self) -> int:
        """How many worlds there are."""
        return self.follow[0][frozenset()]

    def world(self, number: int) -> frozenset[int]:
        """The n-th world."""
        node: Node = frozenset()
        found = set()
        for one, layer, below in zip(self.order, self.layers, self.follow[1:], strict=True):
            without, with_ = layer[node]
            skipped = 0 if without is None else below[without]
            if number < skipped:
                assert without is not None
                node = without
                continue
            assert with_ is not None
            number, node = number - skipped, with_
            found.add(one)
        return frozenset(found)


@dataclass(slots=True)
class _Left:
    """What is left of conditions, each with a number."""

    conditions: list[Condition] = field(default_factory=list)
    numbers: dict[Condition, int] = field(default_factory=dict)
    known: dict[tuple[int, int, bool], int] = field(default_factory=dict)

    def number(self, condition: Condition) -> int:
        """The number of a condition."""
        found = self.numbers.get(condition)
        if found is None:
            found = self.numbers[condition] = len(self.conditions)
            self.conditions.append(condition)
        return found

    def after(self, node: Node, one: int, there: bool) -> Node | None:
        """The conditions that are open when a tuple is there, or is not;
        None where one of them is broken.
        """
        found = set()
        for number in node:
            left = self.known.get((number, one, there))
            if left is None:
                left = self.known[number, one, there] = self._after(number, one, there)
            if left == DEAD:
                return None
            if left != TRUE:
                found.add(left)
        return frozenset(found)

    def _after(self, number: int, one: int, there: bool) -> int:
        try:
            left = Propagation([], {one: there}).simplified(self.conditions[number])
        except Impossible:
            return DEAD
        return TRUE if left is None else self.number(left)
