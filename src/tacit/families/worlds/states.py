"""States: counting worlds tuple by tuple, where all partial worlds
with the same future are one state.

A state says what is left open of every condition and row that is begun and not ended. Few are open
at a time where tuples hang together loosely, and then parts of hundreds of tuples can be counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from tacit.families.worlds.formula import Condition, Count, Term
from tacit.families.worlds.matching import Tuple
from tacit.model.deadline import look

# what is open of a condition: nothing, it holds; 0: it can no more hold;
# else the terms that are left, as bits
TRUE = -1

State = tuple[int | tuple[int, ...], ...]


class TooManyStates(Exception):
    """More states than were allowed."""


@dataclass(slots=True)
class _OpenTerms:
    """A disjunction of terms, read off tuple by tuple."""

    start: int
    kills: dict[int, tuple[int, int]] = field(
        default_factory=dict
    )  # by tuple: terms lost when absent, when present
    ends: dict[int, int] = field(default_factory=dict)  # by tuple: terms that are complete with it

    @classmethod
    def of(cls, terms: Sequence[Term], place: Mapping[int, int]) -> _OpenTerms:
        found = cls((1 << len(terms)) - 1)
        for at, term in enumerate(terms):
            for literal in term:
                absent, present = found.kills.get(abs(literal), (0, 0))
                bit = 1 << at
                found.kills[abs(literal)] = (
                    (absent | bit, present) if literal > 0 else (absent, present | bit)
                )
            last = max((abs(literal) for literal in term), key=place.__getitem__)
            found.ends[last] = found.ends.get(last, 0) | 1 << at
        return found

    def step(self, open_: int, one: int, there: bool) -> int:
        if open_ == TRUE or one not in self.kills:
            return open_
        left = open_ & ~self.kills[one][there]
        return TRUE if left & self.ends.get(one, 0) else left


@dataclass(slots=True)
class _Counter:
    """A count: which members are there so far, as bits."""

    count: Count
    members: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)

    @classmethod
    def of(cls, count: Count) -> _Counter:
        found = cls(count)
        for at, member in enumerate(count.members):
            for literal in member:
                found.members.setdefault(abs(literal), []).append((1 << at, literal > 0))
        return found

    @property
    def is_plain(self) -> bool:
        """Is every member one tuple? Then only their number matters."""
        return all(len(member) == 1 for member in self.count.members)

    def step(self, there: int, one: int, value: bool) -> int:
        for bit, wanted in self.members.get(one, ()):
            if wanted == value:
                there = min(there + 1, self.count.high + 1) if self.is_plain else there | bit
        return there

    def right(self, there: int) -> bool:
        number = there if self.is_plain else there.bit_count()
        return self.count.low <= number <= self.count.high


@dataclass(slots=True)
class _Watched:
    """A condition, or a row of the secret, with the first and last tuple it speaks of."""

    terms: _OpenTerms
    counts: list[_Counter]
    first: int
    last: int
    role: str
    bit: int = 0

    def speaks_of(self, one: int) -> bool:
        """Does a tuple matter to it?"""
        return one in self.terms.kills or any(one in count.members for count in self.counts)

    def begin(self) -> int | tuple[int, ...]:
        return (self.terms.start, *([0] * len(self.counts))) if self.counts else self.terms.start

    def step(self, open_: int | tuple[int, ...], one: int, there: bool) -> int | tuple[int, ...]:
        if isinstance(open_, int):
            return self.terms.step(open_, one, there)
        left = self.terms.step(open_[0], one, there)
        if left == TRUE:
            return TRUE
        return (
            left,
            *(
                count.step(value, one, there)
                for count, value in zip(self.counts, open_[1:], strict=True)
            ),
        )

    def ended(self, open_: int | tuple[int, ...]) -> bool:
        """Is it true, now that all its tuples are decided?"""
        if isinstance(open_, int):
            return open_ == TRUE
        return any(count.right(value) for count, value in zip(self.counts, open_[1:], strict=True))


def by_states(
    tuples: Sequence[int],
    before: Sequence[Condition],
    after: Sequence[Condition],
    secret: Sequence[tuple[Tuple, tuple[Term, ...]]],
    *,
    most: int,
) -> dict[frozenset[Tuple], tuple[int, int]]:
    """The number of worlds before and after by secret;
    TooManyStates where more than `most` states are met.
    """
    order = ordered(
        tuples,
        [list(one.tuples()) for one in (*before, *after)]
        + [[abs(lit) for way in ways for lit in way] for _, ways in secret],
    )
    place = {one: at for at, one in enumerate(order)}
    watched = [_watched(one, "before", place) for one in before] + [
        _watched(one, "after", place) for one in after
    ]
    watched += [
        _watched(Condition(ways), "secret", place, 1 << at) for at, (_, ways) in enumerate(secret)
    ]
    begins: dict[int, list[_Watched]] = {}
    for each in watched:
        begins.setdefault(each.first, []).append(each)
    active: list[_Watched] = []
    # Beside what is open: whether the world is still one of those after;
    # then how often, by the rows of the secret so far.
    states: dict[tuple[State, bool], dict[int, int]] = {((), True): {0: 1}}
    for at, one in enumerate(order):
        new = begins.get(at, [])
        active += new
        start = tuple(one_new.begin() for one_new in new)
        look()
        states = _stepped(states, _TupleStep.of(active, one, at), start, most)
        active = [still for still in active if still.last > at]
    rows = [row for row, _ in secret]
    found: dict[frozenset[Tuple], list[int]] = {}
    for (_, is_after), counts in states.items():
        for bits, number in counts.items():
            total = found.setdefault(
                frozenset(row for at, row in enumerate(rows) if bits >> at & 1), [0, 0]
            )
            total[0] += number
            total[1] += number if is_after else 0
    return {name: (first, second) for name, (first, second) in found.items()}


def _watched(condition: Condition, role: str, place: Mapping[int, int], bit: int = 0) -> _Watched:
    places = [place[one] for one in condition.tuples()]
    return _Watched(
        _OpenTerms.of(condition.terms, place),
        [_Counter.of(one) for one in condition.counts],
        min(places),
        max(places),
        role,
        bit,
    )


@dataclass(slots=True)
class _TupleStep:
    """What one tuple decides: which of the open conditions it touches,
    which of them end, which stay open.
    """

    one: int
    touched: list[tuple[int, _Watched, bool]]
    kept: list[int]
    kept_after: list[int]

    @classmethod
    def of(cls, active: Sequence[_Watched], one: int, at: int) -> _TupleStep:
        touched = [
            (number, each, each.last == at)
            for number, each in enumerate(active)
            if each.speaks_of(one)
        ]
        kept = [number for number, each in enumerate(active) if each.last > at]
        return cls(
            one,
            touched,
            kept,
            [place for place, number in enumerate(kept) if active[number].role == "after"],
        )

    def after(
        self, state: State, is_after: bool, there: bool
    ) -> tuple[tuple[State, bool], int] | None:
        """The state after the tuple, and the rows of the secret that it settles;
        None where a condition is broken.
        """
        values = list(state)
        bits = 0
        for number, each, ends in self.touched:
            now = values[number] = each.step(values[number], self.one, there)
            if ends and each.role == "secret":
                bits |= each.bit if each.ended(now) else 0
            elif now == 0 or (ends and not each.ended(now)):
                if each.role == "before":
                    return None
                is_after = is_after and each.role != "after"
        left = [values[number] for number in self.kept]
        if not is_after:
            # What comes after is no more asked, so that more states are the same.
            for place in self.kept_after:
                left[place] = TRUE
        return (tuple(left), is_after), bits


def _stepped(
    states: dict[tuple[State, bool], dict[int, int]], step: _TupleStep, start: State, most: int
) -> dict[tuple[State, bool], dict[int, int]]:
    found: dict[tuple[State, bool], dict[int, int]] = {}
    size = 0
    for (state, is_after), counts in states.items():
        for there in (False, True):
            following = step.after(state + start, is_after, there)
            if following is None:
                continue
            key, bits = following
            into = found.setdefault(key, {})
            size -= len(into)
            for secret, number in counts.items():
                into[secret | bits] = into.get(secret | bits, 0) + number
            size += len(into)
        if size > most:
            raise TooManyStates
    return found


def ordered(tuples: Sequence[int], groups: Sequence[Sequence[int]]) -> list[int]:
    """An order in which few groups are open at a time:
    always the tuple that ends the most and begins the fewest.
    """
    of: dict[int, list[int]] = {one: [] for one in tuples}
    members = [set(group) for group in groups]
    left = [len(group) for group in members]
    for number, group in enumerate(members):
        for one in group:
            of[one].append(number)
    # What a tuple would begin, less what it would end, kept up to date:
    # looking at all of them anew takes the square of the time.
    begins = {
        one: len(numbers) - sum(left[number] == 1 for number in numbers)
        for one, numbers in of.items()
    }
    begun = [False] * len(groups)
    order: list[int] = []
    rest = sorted(tuples, key=lambda one: (begins[one], len(of[one]), one), reverse=True)
    near: list[tuple[int, int, int, int]] = []
    reached: dict[int, int] = {}
    done: set[int] = set()

    def better(one: int) -> None:
        begins[one] -= 1
        if one not in done:
            heappush(near, (begins[one], len(of[one]), reached.setdefault(one, len(reached)), one))

    while len(order) < len(tuples):
        if near:
            score, _, _, one = heappop(near)
            if one in done or score != begins[one]:
                continue
        else:
            one = rest.pop()
            if one in done:
                continue
        order.append(one)
        done.add(one)
        for number in of[one]:
            left[number] -= 1
            if not begun[number]:
                begun[number] = True
                for each in members[number]:
                    better(each)
            if left[number] == 1:
                for each in members[number] - done:
                    better(each)
    return order
