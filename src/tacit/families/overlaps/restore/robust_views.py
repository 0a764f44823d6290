"""Robust views: further views that hold up against an adversary who knows how they were chosen.

The choice is made for all tables that fit at once, before looking at the true one. Sets of views
are gone through in an order that depends on what is published alone. A set takes, of the tables
that no earlier set has taken, those that give its views the same answers, if among these nobody
has a value in more than a share gamma. The set that takes the true table is published. Whoever
sees it and knows the procedure is left with just the tables that it took with these answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.restore.disclosed_views import DisclosedViews, Flags
from tacit.families.overlaps.restore.table_listing import Lists, TableListing
from tacit.model.deadline import look
from tacit.model.jobs import Job

Floats = np.ndarray[Any, np.dtype[np.float32]]
MOST_TABLES = 20_000
MOST_WORK = 40_000_000  # sets of one number of views times tables


@dataclass(frozen=True, slots=True)
class Withstanding:
    """A set of views, by their places among the candidates;
    the largest belief of one who knows the procedure, and about whom.

    `same` of the `fitting` tables that fit all views lead to this set.
    """

    views: tuple[int, ...]
    worst: Fraction
    person: int
    meaning: int
    same: int
    fitting: int


def withstanding(
    out: DisclosedViews,
    members: Flags,
    pieces: Sequence[int],
    *,
    views: int,
    lists: Lists,
    job: Job | None = None,
) -> Withstanding | None:
    """The views that this procedure publishes for the true table;
    None where it publishes none, or there are too many tables.

    Only candidates count that touch nothing but `pieces`, those with somebody above gamma, and add
    nobody: what they show does not depend on anything that is not listed.
    """
    listing = lists.joined(lists.start(), frozenset(pieces))
    if listing is None or len(listing.tables) > MOST_TABLES:
        return None
    return _Procedure(out, members, listing, job or Job()).run(views)


class _Procedure:
    def __init__(
        self, out: DisclosedViews, members: Flags, listing: TableListing, job: Job
    ) -> None:
        self.out = out
        self.listing = listing
        self.job = job
        self.true = int(
            np.flatnonzero((listing.tables == out.value[listing.people]).all(axis=1))[0]
        )
        self.cells = np.concatenate(
            [np.isin(listing.tables, same) for same in out.meanings], axis=1
        ).astype(np.float32)
        self.free = np.ones(len(listing.tables), dtype=bool)
        self.views: list[int] = []
        self.codes: list[Integers] = []
        self.useful: list[Flags] = []
        self._read(members)

    def _read(self, members: Flags) -> None:
        """The candidates by how they divide the tables;
        of those that divide them alike the first.
        """
        outside = np.ones(self.out.people, dtype=bool)
        outside[self.listing.people] = False
        seen: set[bytes] = set()
        for view in np.flatnonzero(members.any(axis=1) & ~members[:, outside].any(axis=1)).tolist():
            shown = self.listing.tables[:, members[view][self.listing.people]]
            answers = np.stack(
                [(shown == value).sum(axis=1) for value in range(self.out.values)], axis=1
            )
            code = np.unique(answers, axis=0, return_inverse=True)[1].reshape(-1)
            if code.max() and code.tobytes() not in seen:
                seen.add(code.tobytes())
                self.views.append(view)
                self.codes.append(code)
                self.useful.append(~self._hopeless(code))

    def run(self, most: int) -> Withstanding | None:
        """Sets of one view, of two, and so on, until one takes the true table."""
        for size in range(1, most + 1):
            if comb(len(self.views), size) * len(self.free) > MOST_WORK:
                return None
            for places in self._ordered(size):
                look()
                code = self._code(places)
                taken = self._restored(code, self.free)
                # The tables that it takes must be safe for those too who do not know the procedure.
                taken &= self._restored(code, np.ones_like(self.free))
                if taken[self.true]:
                    return self._found(places, code, taken)
                self.free &= ~taken
        return None

    def _ordered(self, size: int) -> Iterator[tuple[int, ...]]:
        """The sets of so many views, those that restore the most tables
        first, and of these the simplest.
        """
        found = []
        for number, places in enumerate(combinations(range(len(self.views)), size)):
            look()
            if number % 500 == 0:
                self.job.step(
                    f"sets of {size} views: {number:,} of {comb(len(self.views), size):,}", 0.5
                )
            if np.logical_and.reduce([self.useful[one] for one in places]).any():
                many = int(self._restored(self._code(places), np.ones_like(self.free)).sum())
                if many:
                    found.append((-many, places))
        yield from (places for _, places in sorted(found))

    def _code(self, places: Sequence[int]) -> Integers:
        """How some views together divide the tables."""
        code = self.codes[places[0]]
        for one in places[1:]:
            code = np.unique(
                code * (int(self.codes[one].max()) + 1) + self.codes[one], return_inverse=True
            )[1].reshape(-1)
        return code

    def _sums(self, code: Integers, among: Flags) -> tuple[Integers, Integers, Floats, Integers]:
        """Of the tables that count: their places, the division's parts, the sums of the cells of
        each part, and its size.
        """
        places = np.flatnonzero(among)
        order = places[np.argsort(code[places], kind="stable")]
        parts, starts = np.unique(code[order], return_index=True)
        sums = np.add.reduceat(self.cells[order], starts, axis=0) if len(order) else self.cells[:0]
        return places, parts, sums, np.diff(np.append(starts, len(order)))

    def _restored(self, code: Integers, among: Flags) -> Flags:
        """The tables, of those that count, that are in a part where
        nobody has a value in too many.
        """
        places, parts, sums, sizes = self._sums(code, among)
        gamma = self.out.gamma
        good = (
            sums.max(axis=1, initial=0).astype(np.int64) * gamma.denominator
            <= sizes * gamma.numerator
        )
        found = np.zeros(len(among), dtype=bool)
        found[places] = np.isin(code[places], parts[good])
        return found

    def _hopeless(self, code: Integers) -> Flags:
        """The tables in parts where somebody may have too few
        values, whatever else is published.
        """
        _, parts, sums, _ = self._sums(code, np.ones(len(code), dtype=bool))
        few = (sums > 0).reshape(len(parts), len(self.out.meanings), -1).sum(axis=1).min(axis=1)
        found: Flags = np.isin(
            code, parts[few * self.out.gamma.numerator < self.out.gamma.denominator]
        )
        return found

    def _found(self, places: Sequence[int], code: Integers, taken: Flags) -> Withstanding:
        mine = taken & (code == code[self.true])
        counts = self.cells[mine].sum(axis=0)
        meaning, person = divmod(int(counts.argmax()), len(self.listing.people))
        return Withstanding(
            tuple(self.views[one] for one in places),
            Fraction(int(counts.max()), int(mine.sum())),
            int(self.listing.people[person]),
            meaning,
            int(mine.sum()),
            int((code == code[self.true]).sum()),
        )
