"""Judging views: the largest belief with some further views, from lists where tables are few,
else counted part by part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import inf, prod
from typing import Any

import numpy as np

from tacit.families.overlaps.counting.average_beliefs import Beliefs, averaged, counted, least_cost
from tacit.families.overlaps.counting.entropy import fitted
from tacit.families.overlaps.counting.expectations import Expected
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.restore.disclosed_views import (
    DisclosedViews,
    Extended,
    Flags,
    extended,
)
from tacit.families.overlaps.restore.fair_shares import is_unfair
from tacit.families.overlaps.restore.table_listing import (
    Lists,
    ListVerdict,
    TableListing,
    is_exact,
    judge_listed,
    judged_masks,
    narrowed,
)
from tacit.families.overlaps.system import OpenPart, System, system_of
from tacit.model.deadline import look
from tacit.model.jobs import Job

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Set = tuple[int, ...]  # further views, by their places among the candidates
MOST_STEPS = (
    3e9  # multiplications after which a count is not begun here: many sets are to be judged
)
LOT = 2_000
MOST_NODES = 400  # lists that are kept
MOST_MASKED = (
    3_000  # tables of a list up to which sets are judged by what each of their views keeps
)
MOST_FOLLOWED = 20_000_000  # beliefs, of all candidates
MOST_FOCUS = 240  # people whose beliefs are followed


@dataclass(frozen=True, slots=True)
class CandidateOutcome:
    """What holds with some further views.

    `worst` is the largest belief of all whom the views touch, or at least that where it is above
    gamma; None where it could not be counted. `tables` is how many tables fit, where they were
    counted, in the pieces that are touched. `hopeless`: more views cannot bring it to gamma.
    `unfair`: that was found without counting.
    """

    worst: Fraction | None
    tables: int | None
    hopeless: bool
    unfair: bool = False


NOT_COUNTED = CandidateOutcome(None, None, False)
UNFAIR = CandidateOutcome(None, None, True, True)


class CandidateJudge:
    """Judges sets of candidates. `members` has a row for each candidate: whom it shows."""

    def __init__(
        self,
        out: DisclosedViews,
        members: Flags,
        lists: Lists | None = None,
        job: Job | None = None,
        *,
        facts: bool = True,
    ) -> None:
        self.out = out
        self.facts = facts  # whether fair shares are looked for before counting
        self.members = members
        self.lists = lists or Lists(out)
        self.job = job
        self.focus = _focus(out, len(members))
        self._nodes: dict[Set, TableListing | None] = {}
        self._masks: dict[frozenset[int], tuple[TableListing | None, dict[int, Flags]]] = {}
        self.adds = members[:, ~out.is_covered].any(axis=1)
        self._cache: dict[bytes, tuple[CandidateOutcome, Beliefs | None]] = {}
        self.counts = 0
        self.pieces = _touched(out, members)
        self.before = [self._piece(number) for number in range(len(out.pieces))]
        self.above = [
            number
            for number, (one, _) in enumerate(self.before)
            if one.worst is None or one.worst > out.gamma
        ]  # pieces with somebody above gamma

    # -- what is published ---------------------------------------------------------------------

    def _piece(self, piece: int) -> tuple[CandidateOutcome, Floats | None]:
        """A piece as it is, and the beliefs of those of its people who are followed."""
        listing = self.lists.joined(self.lists.start(), frozenset([piece]))
        if listing is not None:
            # The view of nobody rules nothing out.
            found = judge_listed(self.out, listing, np.zeros((1, self.out.people), dtype=bool))
            return _outcome(self.out, found, 0), self._followed(listing.people, found.beliefs[0])
        # What is published has to be known, whatever it takes.
        outcome, beliefs, there = self._counted([piece], [], most=inf)
        return outcome, None if beliefs is None else self._followed(
            there.people, shares_of(self.out, beliefs)[there.class_of]
        )

    def _followed(self, people: Integers, beliefs: Floats) -> Floats:
        """The beliefs of the people who are followed, by place;
        those who are not among the people have none.
        """
        place = np.full(self.out.people, -1, dtype=np.int64)
        place[people] = np.arange(len(people))
        found = np.full((len(self.focus), beliefs.shape[1]), np.nan)
        here = place[self.focus]
        found[here >= 0] = beliefs[here[here >= 0]]
        return found

    def followed_before(self) -> Floats:
        """The beliefs that are followed, as they are."""
        found = np.full((len(self.focus), len(self.out.meanings)), np.nan)
        for _, followed in self.before:
            if followed is not None:
                found = np.where(np.isnan(followed), found, followed)
        return found

    def tables(self, touched: frozenset[int], many: int | None) -> int | None:
        """How many tables fit in all, from how many fit in the pieces that are touched."""
        others = [
            one.tables for number, (one, _) in enumerate(self.before) if number not in touched
        ]
        if many is None or None in others:
            return None
        return many * prod(one for one in others if one is not None)

    def touched(self, views: Set) -> frozenset[int]:
        """The pieces that some views touch."""
        return frozenset().union(*(self.pieces[one] for one in views))

    def touched_by(self, shown: Sequence[Flags]) -> frozenset[int]:
        """The pieces that views touch which are no candidates, by whom they show."""
        return frozenset().union(*map(self.out.touched, shown))

    # -- by lists --------------------------------------------------------------------------------

    def node(self, views: Set) -> TableListing | None:
        """The list of the tables that fit some further views; None where it is too long."""
        if views not in self._nodes:
            if len(self._nodes) > MOST_NODES:
                self._nodes.clear()
            self._nodes[views] = self._node(views)
        return self._nodes[views]

    def _node(self, views: Set) -> TableListing | None:
        if not views:
            return self.lists.start()
        before = self.node(views[:-1])
        view = self.members[views[-1]]
        joined = self.lists.joined(before, self.pieces[views[-1]]) if before is not None else None
        if joined is None or not is_exact(int(view.sum() - view[joined.people].sum())):
            return None
        return narrowed(self.out, joined, view, self.lists.most)

    def by_list(
        self, views: Set, last: Integers, *, follow: bool = False
    ) -> tuple[list[CandidateOutcome | None], Floats | None, list[bytes | None]]:
        """Judge some views with each of `last` in addition; None for those that cannot be listed.

        With `follow` also the beliefs of those who are followed, and a mark that is equal for views
        that rule out the same tables and add nobody.
        """
        found: list[CandidateOutcome | None] = [None] * len(last)
        marks: list[bytes | None] = [None] * len(last)
        followed = (
            np.full((len(last), len(self.focus), len(self.out.meanings)), np.nan, dtype=np.float32)
            if follow
            else None
        )
        node = self.node(views)
        if node is None:
            return found, followed, marks
        groups: dict[frozenset[int], list[int]] = {}
        for at, one in enumerate(last.tolist()):
            groups.setdefault(self.pieces[one] - node.pieces, []).append(at)
        for pieces, places in groups.items():
            look()
            listing = self.lists.joined(node, pieces)
            if listing is None:
                continue
            added = self.members[last[places]].sum(axis=1) - self.members[
                np.ix_(last[places], listing.people)
            ].sum(axis=1)
            some = [
                place for place, more in zip(places, added.tolist(), strict=True) if is_exact(more)
            ]
            if not some:
                continue
            result = judge_listed(self.out, listing, self.members[last[some]], keep=follow)
            for number, place in enumerate(some):
                found[place] = _outcome(self.out, result, number)
                if followed is not None and result.kept is not None:
                    followed[place] = self._followed(listing.people, result.beliefs[number])
                    if (
                        self.members[last[place]].sum()
                        == self.members[last[place], listing.people].sum()
                    ):
                        marks[place] = (
                            repr(sorted(pieces)).encode()
                            + np.packbits(result.kept[number]).tobytes()
                        )
        return found, followed, marks

    def by_masks(self, sets: Sequence[Set]) -> list[CandidateOutcome | None]:
        """Judge sets of views that add nobody, all at once;
        None for those that are not of this kind, or have too many tables.
        """
        found: list[CandidateOutcome | None] = [None] * len(sets)
        groups: dict[frozenset[int], list[int]] = {}
        for at, views in enumerate(sets):
            if not self.adds[list(views)].any():
                groups.setdefault(self.touched(views), []).append(at)
        for pieces, places in groups.items():
            look()
            listing, masks = self._masked(pieces, {view for at in places for view in sets[at]})
            if listing is None:
                continue
            for start in range(0, len(places), LOT):
                look()
                some = places[start : start + LOT]
                kept = np.logical_and.reduce(
                    [
                        [masks[sets[at][number]] for at in some]
                        for number in range(len(sets[some[0]]))
                    ]
                )
                result = judged_masks(self.out, listing, kept)
                for number, at in enumerate(some):
                    found[at] = _outcome(self.out, result, number)
        return found

    def _masked(
        self, pieces: frozenset[int], views: set[int]
    ) -> tuple[TableListing | None, dict[int, Flags]]:
        """The list of some pieces, and which of its tables each view keeps."""
        if pieces not in self._masks:
            listing = self.lists.joined(self.lists.start(), pieces)
            self._masks[pieces] = (
                (listing if listing is not None and len(listing.tables) <= MOST_MASKED else None),
                {},
            )
        listing, masks = self._masks[pieces]
        missing = sorted(views - set(masks))
        if listing is not None and missing:
            kept = judge_listed(self.out, listing, self.members[missing], keep=True).kept
            assert kept is not None
            masks.update(zip(missing, kept, strict=True))
        return listing, masks

    # -- by counting -----------------------------------------------------------------------------

    def by_count(self, views: Set) -> tuple[CandidateOutcome, Floats | None]:
        """Judge some views by counting, and the beliefs of those who are followed."""
        outcome, beliefs, there = self._counted(
            self.touched(views), [self.members[one] for one in views]
        )
        return outcome, None if beliefs is None else self._followed(
            there.people, shares_of(self.out, beliefs)[there.class_of]
        )

    def of_views(self, shown: Sequence[Flags]) -> CandidateOutcome:
        """Judge views that are no candidates, by whom they show."""
        return self._counted(self.touched_by(shown), shown)[0]

    def _counted(
        self, pieces: Collection[int], views: Sequence[Flags], most: float = MOST_STEPS
    ) -> tuple[CandidateOutcome, Beliefs | None, Extended]:
        there = extended(self.out, pieces, views)
        system = system_of(there.overlap)
        key = mark_of(there, system)
        if key not in self._cache:
            self.counts += 1
            self._cache[key] = self._count(system, most)
        return (*self._cache[key], there)

    def _count(self, system: System, most: float) -> tuple[CandidateOutcome, Beliefs | None]:
        if self.facts and most < inf and is_unfair(system, self.out.gamma):
            return UNFAIR, None
        if any(least_cost(part).steps > most for part in system.parts):
            return NOT_COUNTED, None
        found = Beliefs(system, tuple(averaged(part, self.job) for part in system.parts))
        if not found.is_complete:
            return NOT_COUNTED, None
        if not any(low > self.out.gamma for low, _ in bounds_of(self.out, found)):
            # Where bounds leave it open, whole numbers tell;
            # and they tell how many tables there are.
            found = Beliefs(
                system,
                tuple(
                    _integers(part, one, self.job)
                    for part, one in zip(system.parts, found.found, strict=True)
                ),
            )
        bounds = list(bounds_of(self.out, found))
        low, high = max(low for low, _ in bounds), max(high for _, high in bounds)
        if low <= self.out.gamma < high:
            return NOT_COUNTED, found
        many = len(self.out.meanings)
        few = min(
            sum(high > 0 for _, high in bounds[at : at + many])
            for at in range(0, len(bounds), many)
        )
        hopeless = low >= 1 or few * self.out.gamma < 1
        return CandidateOutcome(
            low if low > self.out.gamma else high, found.tables, hopeless
        ), found

    def guessed(self, views: Set) -> tuple[float, Floats, bytes]:
        """About how large the largest belief is, by maximum entropy;
        those of the people who are followed; and a mark.

        Views with the same mark leave the same tables.
        """
        there = extended(self.out, self.touched(views), [self.members[one] for one in views])
        system = system_of(there.overlap)
        people = system.low.astype(np.float64)
        for part in system.parts:
            people[part.place] = fitted(part).people
        shares = people.reshape(len(there.overlap.sizes), -1) / there.overlap.sizes[:, None]
        beliefs = _by_meaning(self.out, there.overlap.values, shares)
        return (
            float(beliefs.max(initial=0.0)),
            self._followed(there.people, beliefs[there.class_of]),
            mark_of(there, system),
        )

    def few_values(self, piece: int) -> tuple[int, int]:
        """Somebody of a piece who may have the fewest values, and how many: by their meanings."""
        listing = self.lists.joined(self.lists.start(), frozenset([piece]))
        if listing is not None:
            many = np.stack(
                [np.isin(listing.tables, same).any(axis=0) for same in self.out.meanings]
            ).sum(axis=0)
            return int(listing.people[many.argmin()]), int(many.min())
        _, beliefs, there = self._counted([piece], [], most=inf)
        if beliefs is None:
            return int(there.people[0]), len(self.out.meanings)
        bounds, wide = list(bounds_of(self.out, beliefs)), len(self.out.meanings)
        of_class = [
            sum(high > 0 for _, high in bounds[at : at + wide])
            for at in range(0, len(bounds), wide)
        ]
        fewest = min(range(len(of_class)), key=lambda one: of_class[one])
        return int(there.people[there.class_of == fewest][0]), of_class[fewest]

    def is_unfair_piece(self, piece: int) -> bool:
        """Is it proved that no further views bring a piece to gamma?"""
        return is_unfair(system_of(extended(self.out, [piece], []).overlap), self.out.gamma)

    def is_unfair(self, views: Set) -> bool:
        """Is it proved that no further views bring these to gamma?"""
        return is_unfair(
            system_of(
                extended(
                    self.out, self.touched(views), [self.members[one] for one in views]
                ).overlap
            ),
            self.out.gamma,
        )


def mark_of(there: Extended, system: System) -> bytes:
    """What is the same for further views that leave the same tables:
    of the same people in the same classes, with the same sums.

    A view and what it leaves of a known set say the same, and lead to the same sums where one is
    taken from the other.
    """
    rows = sorted(
        (tuple(part.place[row.cells].tolist()), row.total)
        for part in system.parts
        for row in part.rows
    )
    parts = (
        there.people.tobytes(),
        there.class_of.tobytes(),
        system.low.tobytes(),
        system.high.tobytes(),
        repr((there.overlap.values, rows)).encode(),
    )
    return sha256(b"|".join(parts)).digest()


def _focus(out: DisclosedViews, candidates: int) -> Integers:
    """The people who are followed: all in a view, or some of each class where they are many."""
    most = max(20, min(MOST_FOCUS, MOST_FOLLOWED // max(1, candidates * len(out.meanings))))
    covered = np.flatnonzero(out.is_covered)
    if len(covered) <= most:
        return covered
    order = covered[np.argsort(out.class_of[covered], kind="stable")]
    return np.sort(order[np.linspace(0, len(order) - 1, most).astype(np.int64)])


def _touched(out: DisclosedViews, members: Flags) -> list[frozenset[int]]:
    """The pieces that each candidate touches."""
    order = np.argsort(out.piece_of, kind="stable")
    order = order[out.is_covered[order]]
    pieces, starts = np.unique(out.piece_of[order], return_index=True)
    if not len(pieces):
        return [frozenset()] * len(members)
    touches = np.logical_or.reduceat(members[:, order], starts, axis=1)
    return [frozenset(pieces[one].tolist()) for one in touches]


def _outcome(out: DisclosedViews, found: ListVerdict, place: int) -> CandidateOutcome:
    top, of, few = int(found.top[place]), int(found.of[place]), int(found.few[place])
    return CandidateOutcome(
        Fraction(top, of), int(found.tables[place]), top == of or few * out.gamma < 1
    )


def _integers(part: OpenPart, one: Expected | None, job: Job | None) -> Expected | None:
    return one if one is None or one.is_exact else counted(part, job) or one


def meanings_in(out: DisclosedViews, values: Sequence[int]) -> list[list[int]]:
    """The meanings, by the places of those of the values that are there."""
    place = {value: at for at, value in enumerate(values)}
    return [[place[one] for one in same if one in place] for same in out.meanings]


def bounds_of(out: DisclosedViews, found: Beliefs) -> Iterator[tuple[Fraction, Fraction]]:
    """Every belief, class by class and meaning by meaning, between two bounds."""
    for class_ in range(len(found.system.overlap.sizes)):
        shares = [found.share(class_, value) for value in range(len(found.system.overlap.values))]
        known = [one for one in shares if one is not None]
        for same in meanings_in(out, found.system.overlap.values):
            low, high = (
                sum((known[one][0] for one in same), Fraction(0)),
                sum((known[one][1] for one in same), Fraction(0)),
            )
            yield low, min(high, Fraction(1))


def shares_of(out: DisclosedViews, found: Beliefs) -> Floats:
    """Beliefs by class and meaning, as floats."""
    wide = len(found.system.overlap.values)
    is_settled = found.system.low == found.system.high
    shares = np.where(is_settled, found.system.low, 0).astype(np.float64).reshape(-1, wide)
    for at, (low, high) in found.cells.items():
        shares[at // wide, at % wide] = float(low + high) / 2
    shares /= found.system.overlap.sizes[:, None]
    return _by_meaning(out, found.system.overlap.values, shares)


def _by_meaning(out: DisclosedViews, values: Sequence[int], shares: Floats) -> Floats:
    """Shares of values as shares of meanings."""
    return np.stack([shares[:, same].sum(axis=1) for same in meanings_in(out, values)], axis=1)
