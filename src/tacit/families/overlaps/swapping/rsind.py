"""RSIND: the largest crowds of people who can exchange the values that the crowd has now (Yao
and others, Definition 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from tacit.families.overlaps.counting.possible_cells import PossibleCells, fits, possible
from tacit.families.overlaps.overlap import Integers, Overlap
from tacit.families.overlaps.swapping.allowed_sets import Exchanges, Type, allowed_sets, bits, bound
from tacit.families.overlaps.swapping.crowd_division import Crowd, Division, largest
from tacit.families.overlaps.swapping.swaps import Swaps
from tacit.families.overlaps.system import Flags, NoTable
from tacit.model.deadline import OutOfTime, left, look, until
from tacit.model.jobs import Job

Variant = Literal["diverse", "literal"]
# with more, all pairs of them do not fit into memory, and only the plain divisions are looked at
MOST_KINDS = 4_000
MOST_SETS = 50_000  # allowed sets that are looked at
FEW_SETS = 2_000  # and before any table but the present one was looked for
QUICK_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class RestrictedCrowds:
    """A division of the people into crowds, and how large the smallest can be.

    Each of `sets` says how many people of which class, with which value now, are in it: (class,
    value, people). All have at least `level` people. No division has more than `most` in its
    smallest crowd; where the time was enough that is the level. Without a division the level is 0.
    """

    sets: tuple[tuple[tuple[int, int, int], ...], ...]
    level: int
    most: int

    @property
    def is_exact(self) -> bool:
        """Is the level the largest that there is?"""
        return self.level == self.most


def rsind_level(
    overlap: Overlap,
    variant: Variant,
    job: Job | None = None,
    at_least: int | None = None,
    meant: Sequence[int | None] | None = None,
) -> RestrictedCrowds:
    """How large can the smallest crowd be, if people are divided into crowds
    who can exchange their present values?

    Some people are such a crowd if every two of them, in every table that fits and in which they
    have two of the values that the crowd has now, can exchange these (Definitions 3 and 4,
    Proposition 3). In the `diverse` variant each crowd has two values at least; the `literal` one
    is as printed, where all who have the same value are a crowd. Where several values are meant to
    be one, `meant` has a number for each value, None for one that may mean anything: two values
    differ if their numbers do. With `at_least` it stops as soon as it is settled whether that level
    is reached. At the deadline the answer is not exact: `level` is proved by the sets, and `most`
    is as far as it was settled. Raises NoTable if the present table does not fit.

    >>> from dataclasses import replace
    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> views = replace(
    ...     overlap_of("xy", ["xyy", "xy"], [[0], [0], [0, 1], [1]]),
    ...     current=np.array([[1, 0], [0, 1], [0, 1], [1, 0]]),
    ... )
    >>> rsind_level(views, "literal").sets
    (((0, 0, 1), (3, 0, 1)), ((1, 1, 1), (2, 1, 1)))
    >>> rsind_level(views, "diverse").level
    0
    """
    if overlap.current is None or not fits(overlap, overlap.current):
        raise NoTable
    search = _Search(overlap, variant == "diverse", job or Job(), at_least, meant)
    if len(search.classes) <= MOST_KINDS:
        with suppress(OutOfTime):
            search.run()
    return RestrictedCrowds(search.sets(), search.best.level, max(search.most, search.best.level))


class _Search:
    """Closes in on the level from both sides.

    Below: crowds that are certain, because the swap equation holds or it is known that people never
    have the two values at once. Above: crowds that are not excluded, because no table is known in
    which people have two values that they cannot exchange. Where these differ, what the better
    division relies on is searched for.
    """

    def __init__(
        self,
        overlap: Overlap,
        diverse: bool,
        job: Job,
        at_least: int | None,
        meant: Sequence[int | None] | None,
    ) -> None:
        assert overlap.current is not None
        self.meant = range(len(overlap.values)) if meant is None else meant
        self.overlap, self.diverse, self.job, self.at_least = (
            overlap,
            diverse,
            job,
            at_least,
        )
        self.swaps = Swaps(overlap)
        self.kinds = self.swaps.kinds()
        _, self.classes = np.unique(self.kinds, return_index=True)
        self.now = self._by_kind(overlap.current)
        self.people: dict[Type, int] = {
            (kind, value): int(self.now[kind, value])
            for kind, value in np.argwhere(self.now > 0).tolist()
        }
        self.values: tuple[int, ...] = tuple(np.nonzero(self.now.any(axis=0))[0].tolist())
        self.sure = Exchanges(len(self.classes), self.values)
        self.maybe = Exchanges(len(self.classes), self.values)
        self.settled: dict[tuple[tuple[int, int], tuple[int, int]], bool] = {}
        self.best = self._plain()
        self.most = overlap.people

    def _by_kind(self, table: Integers) -> Integers:
        found = np.zeros((len(self.classes), table.shape[1]), dtype=np.int64)
        np.add.at(found, self.kinds, table)
        return found

    def _plain(self) -> Division:
        """By kind, or by value where that is allowed, whichever is better."""
        rows = [
            [(kind, value) for value in self.values if self.now[kind, value]]
            for kind in range(len(self.classes))
        ]
        ways = (
            [rows]
            if not self.diverse
            or all(len({self.meant[value] for _, value in row} - {None}) > 1 for row in rows)
            else []
        )
        if not self.diverse:
            kinds = range(len(self.classes))
            ways.append(
                [
                    [(kind, value) for kind in kinds if self.now[kind, value]]
                    for value in self.values
                ]
            )
        found = [tuple({one: self.people[one] for one in some} for some in way) for way in ways]
        divisions = [
            Division(crowds, min((sum(crowd.values()) for crowd in crowds), default=0), 0)
            for crowds in found
        ]
        return max(divisions, key=lambda one: one.level, default=Division((), 0, 0))

    @property
    def _is_done(self) -> bool:
        enough = self.at_least is not None and (
            self.best.level >= self.at_least or self.most < self.at_least
        )
        return enough or self.best.level >= self.most

    def run(self) -> None:
        """Look until the level is settled."""
        self._set_exchanges(None)
        if not self._is_done:
            self._below()
        if not self._is_done:
            with suppress(OutOfTime), until(QUICK_SECONDS):
                self._above(FEW_SETS)
        if self._is_done:
            return
        known = possible(self.overlap, self.job, asked=self._cells_that_matter())
        while True:
            self._set_exchanges(known)
            if not self._is_done:
                self._below()
            better = None if self._is_done else self._above(MOST_SETS)
            if better is not None and self._holds(better, known):
                self.best = better
            if self._is_done:
                return
            if better is None:
                self._settle_all(known)

    def _set_exchanges(self, known: PossibleCells | None) -> None:
        """Which kinds may exchange two values for certain, and perhaps,
        as far as the known tables tell.
        """
        tables = [self.now] if known is None else [self._by_kind(one) for one in known.instances]
        shown = np.stack(tables).transpose(2, 0, 1) > 0  # [value, table, kind]
        can = (
            shown.any(axis=1).T if known is None else self._by_kind(known.can.astype(np.int64)) > 0
        )
        for one, other in combinations(self.values, 2):
            look()
            self.job.step("who can exchange which values", 0.5)
            same = self.swaps.equation(self.classes[:, None], one, self.classes[None, :], other)
            meet = (shown[one].T.astype(np.float32) @ shown[other].astype(np.float32)) > 0
            never = np.zeros_like(same)
            if known is not None:
                both = can[:, None, one] & can[None, :, other]
                meet |= both & self._are_apart(known, one, other)
                never = ~both & ~both.T
            meet |= meet.T
            self.sure.set(one, other, same | never & ~meet)
            self.maybe.set(one, other, same | ~meet)
        for (values, kinds), may in self.settled.items():
            self.sure.decide(*values, kinds, may)
            self.maybe.decide(*values, kinds, may)
        self.most = min(
            self.most,
            max(bound(self.maybe, self.now, diverse=self.diverse), self.best.level),
        )

    def _are_apart(self, known: PossibleCells, one: int, other: int) -> Flags:
        """Kinds for which it does not depend on each other whether they have these two values."""
        parts = known.part_of.reshape(known.can.shape)[self.classes]
        first, second = parts[:, None, one], parts[None, :, other]
        found: Flags = (first != second) | (first < 0)
        return found

    def _cells_that_matter(self) -> Flags:
        """The cells on which it depends who may exchange which values."""
        found = np.zeros((len(self.overlap.sizes), len(self.overlap.values)), dtype=bool)
        for one, other in combinations(self.values, 2):
            sure, maybe = self.sure.with_whom[one][other], self.maybe.with_whom[one][other]
            unclear = [
                int(self.classes[kind])
                for kind in range(len(self.classes))
                if sure[kind] != maybe[kind]
            ]
            found[unclear, one] = found[unclear, other] = True
        return found

    def _below(self) -> None:
        """A better division that is certain, if there is one."""
        found, is_all = self._division(self.sure, MOST_SETS)
        if found.level > self.best.level:
            self.best = found
        if is_all and self.sure.with_whom == self.maybe.with_whom:
            self.most = min(self.most, max(found.most, self.best.level))

    def _above(self, sets: int) -> Division | None:
        """How good a division is not excluded, and one that is better than what is certain."""
        found, is_all = self._division(self.maybe, sets)
        if is_all:
            self.most = min(self.most, max(found.most, self.best.level))
        return found if found.level > self.best.level else None

    def _division(self, exchanges: Exchanges, most: int) -> tuple[Division, bool]:
        """The best division into allowed sets, and whether all of them were looked at."""
        self.job.step("dividing people into crowds", 0.7)
        with until(left() / 3):
            sets, is_all = allowed_sets(exchanges, self.now, diverse=self.diverse, most=most)
        found = largest(
            sets,
            self.people,
            diverse=self.diverse,
            meant=self.meant,
            least=self.best.level,
            at_least=self.at_least,
        )
        return found, is_all

    def _holds(self, division: Division, known: PossibleCells) -> bool:
        """Can the crowds of a division really exchange their values?
        What is not sure is searched for.
        """
        unsure = [
            (values, kinds)
            for crowd in division.crowds
            for kinds, values in _pairs(crowd)
            if not self.sure.may(*values, kinds)
        ]
        settled = [
            self._settle(values, kinds, known) for values, kinds in unsure
        ]  # all of them, also after one that fails
        return all(settled)

    def _settle_all(self, known: PossibleCells) -> None:
        """Search for all that is not sure: there is too much of it to look at the divisions."""
        for one, other in combinations(self.values, 2):
            for kind, (sure, maybe) in enumerate(
                zip(self.sure.with_whom[one][other], self.maybe.with_whom[one][other], strict=True)
            ):
                for their in bits(maybe & ~sure):
                    if their > kind:
                        self._settle((one, other), (kind, their), known)
        self._set_exchanges(known)
        self._below()
        if not self._is_done:
            raise OutOfTime  # there are too many sets

    def _settle(
        self, values: tuple[int, int], kinds: tuple[int, int], known: PossibleCells
    ) -> bool:
        """May two kinds exchange two values, although the swap equation fails:
        do they never have them at once?
        """
        if (values, kinds) not in self.settled:
            self.settled[values, kinds] = not self._meet(kinds, values, known)
        return self.settled[values, kinds]

    def _meet(self, kinds: tuple[int, int], values: tuple[int, int], known: PossibleCells) -> bool:
        """Can people of two kinds have two values at once, either way?"""
        one, other = (int(self.classes[kind]) for kind in kinds)
        ways = (values, values[::-1])
        return any(known.jointly((one, first), (other, second), self.job) for first, second in ways)

    def sets(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """The best division by classes instead of kinds."""
        assert self.overlap.current is not None
        left = self.overlap.current.copy()
        members: dict[int, list[int]] = {}
        for class_, kind in enumerate(self.kinds.tolist()):
            members.setdefault(kind, []).append(class_)
        found = []
        for crowd in self.best.crowds:
            own = []
            for (kind, value), many in sorted(crowd.items()):
                for class_ in members[kind]:
                    some = min(many, int(left[class_, value]))
                    if some:
                        own.append((class_, value, some))
                        left[class_, value] -= some
                        many -= some
            found.append(tuple(sorted(own)))
        return tuple(sorted(found))


def _pairs(crowd: Crowd) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Each two kinds with each two values of a crowd."""
    kinds, values = sorted({kind for kind, _ in crowd}), sorted({value for _, value in crowd})
    for pair in combinations(kinds, 2):
        for two in combinations(values, 2):
            yield pair, two
