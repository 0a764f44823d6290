"""Nearby: a world in which some condition is broken, looked for
from a world that is known outwards.

Most of a database has nothing to do with a question. So only what is in the way is looked at: a
condition is broken, and then those conditions are taken in that the world so found would violate,
until it violates none or there is none. A world that is found this way is as close to the known one
as the solver makes it; where there is none, few conditions say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tacit.families.worlds.formula import Condition, Term
from tacit.families.worlds.world_solver import find
from tacit.model.deadline import look

ROUNDS = 40  # then everything that is known is taken in
AROUND = 4000  # conditions that one round may take in
AT_ONCE = 400  # conditions that are asked about one by one; of the others any one is asked for
EASY = 2000  # conditions that are broken and mended, before anything else is tried
TRIED = 50  # worlds that are compared to find a close one
MENDED = 12  # conditions that are mended one by one, before the solver is asked
STEPS = 50_000  # terms that are looked at to see that a condition follows


@dataclass(slots=True)
class Index:
    """Conditions by the literals that would help to satisfy them."""

    conditions: list[Condition]
    helped: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, conditions: list[Condition]) -> Index:
        """Note for each literal where it stands; tuples that are counted stand there both ways."""
        found = cls(conditions)
        for number, condition in enumerate(conditions):
            literals = {literal for term in condition.terms for literal in term}
            literals.update(
                sign * literal
                for count in condition.counts
                for member in count.members
                for literal in member
                for sign in (1, -1)
            )
            for literal in literals:
                found.helped.setdefault(literal, []).append(number)
        return found

    def hurt(self, literal: int) -> Sequence[int]:
        """The conditions that may become false when a literal becomes true."""
        return self.helped.get(-literal, ())


@dataclass(slots=True)
class Nearby:
    """Conditions, and a world that satisfies them all."""

    index: Index
    world: frozenset[int]

    def breaking(self, broken: Sequence[Condition]) -> frozenset[int] | None:
        """A world that satisfies everything but one of `broken`; None where there is none.

        >>> known = Nearby(Index.of([Condition(((1,), (2,)))]), frozenset({1}))
        >>> sorted(known.breaking([Condition(((1,),))]))
        [2]
        >>> known.breaking([Condition(((1,), (2,), (3,)))]) is None
        True
        """
        look()
        if (close := self._closest(broken[:EASY])) is not None:
            return close
        left = [one for one in broken if not follows(one, self.index)]
        for one in left[:AT_ONCE]:
            look()
            if (found := self._outwards(one)) is not None:
                return found
        return self._everywhere(left[AT_ONCE:]) if len(left) > AT_ONCE else None

    def _everywhere(self, broken: Sequence[Condition]) -> frozenset[int] | None:
        """The same by one question about all conditions."""
        found = find(self.index.conditions, broken, like=self.world)
        spoken = {one for each in (*self.index.conditions, *broken) for one in each.tuples()}
        return None if found is None else self.world - spoken | found

    def _closest(self, broken: Sequence[Condition]) -> frozenset[int] | None:
        """Of the worlds that are easily found the one with the fewest changes:
        it is easier to follow.
        """
        best: frozenset[int] | None = None
        tried = 0
        for one in broken:
            look()
            found = self._mended(one)
            if found is None:
                continue
            tried += 1
            if best is None or len(found ^ self.world) < len(best ^ self.world):
                best = found
            if tried == TRIED or len(best ^ self.world) == 1:
                break
        return best

    def _mended(self, condition: Condition) -> frozenset[int] | None:
        """The known world with a condition broken, and what this violates mended one by one;
        None where that does not come to an end.
        """
        literals = _against(condition, self.world)
        if literals is None:
            return None
        fixed = set(literals)  # what was changed stays so
        other = changed(self.world, fixed)
        for _ in range(MENDED):
            number = next(self._violated(other), None)
            if number is None:
                return None if condition.holds(other) else self._closer(other, condition)
            more = _for(self.index.conditions[number], other, fixed)
            if more is None:
                return None
            fixed.update(more)
            other = changed(other, more)
        return None

    def _closer(self, other: frozenset[int], condition: Condition) -> frozenset[int]:
        """Without the changes that are not needed."""
        for one in sorted(other ^ self.world):
            fewer = other ^ {one}
            if not condition.holds(fewer) and next(self._violated(fewer), None) is None:
                other = fewer
        return other

    def _violated(self, other: frozenset[int]) -> Iterator[int]:
        """The conditions that another world violates."""
        seen: set[int] = set()
        for one in sorted(other ^ self.world):
            for number in self.index.hurt(one if one in other else -one):
                if number not in seen:
                    seen.add(number)
                    if not self.index.conditions[number].holds(other):
                        yield number

    def _outwards(self, condition: Condition) -> frozenset[int] | None:
        taken: dict[int, None] = {}
        conditions = self.index.conditions
        for _ in range(ROUNDS):
            known = [conditions[number] for number in taken]
            found = find(known, [condition], like=self.world)
            if found is None:
                return None
            spoken = {one for each in (*known, condition) for one in each.tuples()}
            other = self.world - spoken | found
            violated = list(self._violated(other))
            if not violated:
                return other
            taken.update(dict.fromkeys(violated))
            taken.update(dict.fromkeys(self._around(violated, taken)))
        return self._everywhere([condition])

    def _around(self, numbers: Iterable[int], taken: dict[int, None]) -> Iterator[int]:
        """What a tuple may hurt that would help one of some conditions:
        the next round would meet it.
        """
        left = AROUND
        for number in numbers:
            for term in self.index.conditions[number].terms:
                for literal in term:
                    for other in self.index.hurt(literal):
                        if other not in taken:
                            left -= 1
                            if left < 0:
                                return
                            yield other


def _against(condition: Condition, world: frozenset[int]) -> list[int] | None:
    """Literals that break a condition when they are true; None where that is not easily said."""
    if condition.counts:
        return None
    found: list[int] = []
    for term in condition.terms:
        if not any(-literal in found for literal in term) and all(
            _is_true(literal, world) or len(term) == 1 for literal in term
        ):
            found.append(-term[0])
    return None if any(-literal in found for literal in found) else found


def _for(condition: Condition, world: frozenset[int], fixed: set[int]) -> list[int] | None:
    """The fewest literals that satisfy a condition when they are made true, without undoing what
    is fixed; None where there are none.
    """
    ways = [
        [literal for literal in term if not _is_true(literal, world)] for term in condition.terms
    ]
    for count in condition.counts:
        there = [
            member
            for member in count.members
            if any(_is_true(literal, world) for literal in member)
        ]
        if len(there) > count.high:
            free = [member for member in there if not any(literal in fixed for literal in member)]
            ways.append(
                [-literal for member in free[: len(there) - count.high] for literal in member]
            )
        else:
            free = [
                member
                for member in count.members
                if member not in there and -member[0] not in fixed
            ]
            ways.append([member[0] for member in free[: count.low - len(there)]])
    kept = [way for way in ways if way and not any(-literal in fixed for literal in way)]
    return min(kept, key=len, default=None)


def _is_true(literal: int, world: frozenset[int]) -> bool:
    return literal in world if literal > 0 else -literal not in world


def changed(world: frozenset[int], literals: Iterable[int]) -> frozenset[int]:
    """A world with some literals made true."""
    found = set(world)
    for literal in literals:
        if literal > 0:
            found.add(literal)
        else:
            found.discard(-literal)
    return frozenset(found)


# -- what follows ----------------------------------------------------------------------------------


def follows(condition: Condition, index: Index) -> bool:
    """Does a condition follow from others, as far as can be seen at once? Suppose it is broken, and
    one tuple is there or not.

    >>> index = Index.of([Condition(((-1,), (2, 3), (2, 4))), Condition(((1,), (5,)))])
    >>> (
    ...     follows(Condition(((1, 2, 3), (1, 2, 4), (5,))), index),
    ...     follows(Condition(((1, 2, 3), (5,))), index),
    ... )
    (True, False)
    """
    return _Supposed(index, condition).is_contradiction()


@dataclass(slots=True)
class _Supposed:
    """A condition is supposed to be broken:
    what is true then, and which literals are never true together.
    """

    index: Index
    condition: Condition
    true: set[int] = field(default_factory=set)
    left: int = STEPS

    def is_contradiction(self) -> bool:
        """Does that contradict the other conditions?"""
        alone = [-term[0] for term in self.condition.terms if len(term) == 1]
        together: dict[int, list[Term]] = {}
        for term in self.condition.terms:
            if len(term) > 1:
                for literal in term:
                    together.setdefault(literal, []).append(term)
        if self._fixed(alone):
            return True
        while self.left > 0:
            never = [
                literal
                for literal, terms in together.items()
                if -literal not in self.true and self._never(literal, terms)
            ]
            if not never:
                return False
            if self._fixed([-literal for literal in never]):
                return True
        return False

    def _fixed(self, literals: Iterable[int]) -> bool:
        """Make literals true, and all that follows from single conditions;
        True where that is a contradiction.
        """
        queue = list(literals)
        touched: dict[int, None] = {}
        while queue or touched:
            for literal in queue:
                if -literal in self.true:
                    return True
                if literal not in self.true:
                    self.true.add(literal)
                    touched.update(dict.fromkeys(self.index.hurt(literal)))
            queue = []
            if touched:
                number = next(iter(touched))
                del touched[number]
                alive = self._alive(self.index.conditions[number])
                if alive == []:
                    return True
                queue = list(alive[0]) if alive is not None and len(alive) == 1 else []
        return False

    def _alive(self, condition: Condition) -> list[Term] | None:
        """The terms that may be true, two at most;
        None where one is, where something is counted, or where enough was looked at.
        """
        if condition.counts:
            return None
        alive: list[Term] = []
        for term in condition.terms:
            self.left -= 1
            if not any(-literal in self.true for literal in term):
                if all(literal in self.true for literal in term) or self.left < 0:
                    return None
                alive.append(term)
                if len(alive) > 1:
                    return alive
        return alive

    def _never(self, literal: int, terms: Sequence[Term]) -> bool:
        """Would a literal leave some condition without a term, because it must not meet what the
        other terms ask for?
        """
        hurt = self.index.hurt(literal)
        if not hurt:
            return False
        rest: dict[int, list[Term]] = {}
        for term in terms:
            others = tuple(one for one in term if one != literal and one not in self.true)
            if any(-one in self.true for one in others):
                continue
            if not others:
                return True
            rest.setdefault(others[0], []).append(others)
        return any(
            self._leaves_none(self.index.conditions[number], literal, rest) for number in hurt
        )

    def _leaves_none(self, condition: Condition, literal: int, rest: dict[int, list[Term]]) -> bool:
        if condition.counts:
            return False
        for term in condition.terms:
            self.left -= 1
            if self.left < 0:
                return False
            if -literal in term or any(-one in self.true for one in term):
                continue
            if not any(
                all(other in term for other in others)
                for one in term
                for others in rest.get(one, ())
            ):
                return False
        return True
