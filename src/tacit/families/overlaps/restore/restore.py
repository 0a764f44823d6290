"""Restore: the fewest further views, each truthful, with which nobody is believed to have a value
with more than gamma.

Sets of views are tried by their number, the most promising first, and each is judged exactly. Facts
rule sets out before that: a set of people whose values become known and are not diverse, beliefs
that more views cannot bring down (also in every larger set), and somebody above gamma whom a set
leaves untouched. Where all sets of a number are judged or ruled out, it is proved that none of them
restores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, inf, prod
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.restore.disclosed_views import ALONE, DisclosedViews, Flags
from tacit.families.overlaps.restore.judging_views import CandidateJudge, CandidateOutcome, Set
from tacit.families.overlaps.restore.known_sets import independent, known_classes, known_views
from tacit.families.overlaps.restore.odds_promise import (
    SURE,
    Floats,
    OddsPromise,
    Sets,
    best_of,
    logit,
    promise_of,
)
from tacit.families.overlaps.restore.others import Others, considered, stuck
from tacit.families.overlaps.restore.restorations import (
    DEFAULT,
    Limits,
    Order,
    Restoration,
    RestorationLevel,
    RestorationTally,
)
from tacit.families.overlaps.restore.table_listing import Lists
from tacit.model.deadline import Deadline, look
from tacit.model.jobs import Job

LEFTOVERS = 60  # known sets from which what a view leaves over is looked at
FAIR_FROM, FAIR_UP_TO = (
    40,
    2_000,
)  # candidates among which it pays to look for fair shares before larger sets
MOST_GUESSED = 1_500  # candidates that are ranked by maximum entropy
GUESSING = 0.3  # of the time is for ranking single views
# of what is left of the time is for sets of one view, then of two, and so on; the last have all
BY_LEVEL = 0.6
MOST_RANKED, MOST_TO_COUNT = (
    3_000_000,
    200_000,
)  # sets of one number of views that are ranked, to be listed and to be counted
BLOCK = 100_000
FIRST_LOT, LOT = 2_000, 8_000
NEAR, LAST = 0.02, 100.0  # logarithms of odds
MORE = 12  # sets that are counted after one restores, for one that keeps more tables


def restored(
    out: DisclosedViews,
    members: Flags,
    *,
    limits: Limits = DEFAULT,
    order: Order = "best",
    seed: int = 0,
    pruned: bool = True,
    with_classes: bool = True,
    lists: Lists | None = None,
    others: Sequence[DisclosedViews] = (),
    job: Job | None = None,
) -> Restoration:
    """Look for the fewest of some candidate views that restore gamma-privacy.

    `members` has a row for each candidate, the simplest first: whom it shows. `order` "blind" tries
    them in a random order of the given seed; without `pruned` no fact is used before a set is
    judged. Both are there to be compared with. `with_classes` falls back on publishing whole
    classes. `others` is what other adversaries see of the same people: the views have to hold for
    them as well. Everything but a limit in seconds is deterministic.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> males, older = ["Heart", "SARS", "Viral", "SARS"], ["SARS", "Viral", "SARS", "Flu"]
    >>> views = overlap_of(
    ...     ["Flu", "Heart", "SARS", "Viral"],
    ...     [males, older],
    ...     [[0], [0], [0], [0, 1], [1], [1], [1]],
    ... )
    >>> out = DisclosedViews(
    ...     views,
    ...     np.arange(7),
    ...     np.array([1, 2, 3, 2, 3, 2, 0]),
    ...     Fraction(1, 2),
    ...     ((0,), (1,), (2,), (3,)),
    ... )
    >>> ages = np.array([23, 24, 25, 26, 27, 28, 28])
    >>> ranges = np.array(
    ...     [(ages >= low) & (ages <= high) for low in range(23, 29) for high in range(low, 29)]
    ... )
    >>> found = restored(out, ranges)
    >>> found.status, found.before, found.after, found.tables_before, found.tables_after
    ('restored', Fraction(4, 5), Fraction(1, 2), 45, 8)
    >>> [np.flatnonzero(ranges[one]).tolist() for one in found.views]
    [[2, 3], [3, 4]]
    """
    return RestoreSearch(
        out, members, limits, order, seed, pruned, with_classes, lists, others, job or Job()
    ).run()


class RestoreSearch:
    """One search."""

    def __init__(
        self,
        out: DisclosedViews,
        members: Flags,
        limits: Limits,
        order: Order,
        seed: int,
        pruned: bool,
        with_classes: bool,
        lists: Lists | None,
        others: Sequence[DisclosedViews],
        job: Job,
    ) -> None:
        self.out = out
        self.members = members
        self.limits = limits
        self.order = order
        self.rng = np.random.default_rng(seed)
        self.pruned = pruned
        self.with_classes = with_classes
        self.job = job
        self.deadline = Deadline(inf if limits.seconds is None else limits.seconds)
        self.until = 1.0  # share of the time after which the sets at hand are left
        self.judge = CandidateJudge(out, members, lists, job, facts=pruned)
        self.above = self.judge.above
        self.others = Others(others, members, job)
        self.alive = np.arange(len(members))
        self.losses: list[
            tuple[str, int, int, int]
        ] = []  # a fact, from which number of views on it counts, candidates before and after
        self.dead_pairs = np.zeros((0, 0), dtype=bool)
        self.tallies: list[RestorationTally] = []
        self.promise = OddsPromise(np.zeros(0), np.zeros((len(members), 0)))
        self.is_listed = True  # could all single views be listed?
        self.shows = members[:, self.exposed()].any(axis=1)

    def is_late(self, share: float | None = None) -> bool:
        """Is such a share of the time up, or that of the sets at hand?"""
        return self.deadline.is_past(share or self.until)

    # -- the whole -------------------------------------------------------------------------------

    def run(self) -> Restoration:
        """Facts first, then sets of one view, of two, and so on."""
        before = [one for one, _ in self.judge.before]
        worst = (
            None
            if any(one.worst is None for one in before)
            else max((one.worst or Fraction(0) for one in before), default=Fraction(0))
        )
        tables = (
            None
            if any(one.tables is None for one in before)
            else prod(one.tables or 0 for one in before)
        )
        known: dict[str, Any] = {
            "before": worst,
            "tables_before": tables,
            "above": tuple(self.above),
        }
        if not self.above:
            return Restoration("holds", after=worst, tables_after=tables, proved=True, **known)
        if (why := stuck(self.judge)) is not None:
            return Restoration("impossible", stuck=why, proved=True, **known)
        if (of_other := self.others.stuck()) is not None:
            return Restoration(
                "impossible", stuck=of_other[1], whose=of_other[0] + 1, proved=True, **known
            )
        self.prepare()
        proved = True
        for size in range(1, self.limits.views + 1):
            self.until = 1 - (1 - BY_LEVEL) ** size if size < self.limits.views else 1.0
            level = self.level(size)
            self.tallies.append(self.tally(size, level))
            if level.outcome is not None:
                return self.found(level, proved, known)
            proved = proved and not level.left
            if self.is_late(1.0):
                proved = proved and size == self.limits.views
                break
        known |= {"tallies": tuple(self.tallies), "judged": self.total(), "proved": proved}
        if self.with_classes and (classes := self.classes()):
            return Restoration("restored", classes=classes, **known)
        return Restoration("none" if proved else "not-found", **known)

    def total(self) -> int:
        """How many sets were judged."""
        return sum(one.judged for one in self.tallies)

    def found(self, level: RestorationLevel, proved: bool, known: dict[str, Any]) -> Restoration:
        """A set that restores."""
        assert level.outcome is not None
        touched = self.judge.touched(level.views)
        untouched = [
            one.worst for number, (one, _) in enumerate(self.judge.before) if number not in touched
        ]
        return Restoration(
            "restored",
            views=level.views,
            after=max(one for one in (*untouched, level.outcome.worst) if one is not None),
            tables_after=self.judge.tables(touched, level.outcome.tables),
            tallies=tuple(self.tallies),
            judged=self.total(),
            first=None if level.first is None else self.total() - level.judged + level.first,
            proved=proved,
            most_tables=not level.left and not self.others,
            **known,
        )

    def exposed(self) -> Integers:
        """The people above gamma, of those who are followed:
        of views that do the same, those that show them are easier to explain.
        """
        limit = float(self.out.gamma) + SURE
        found = [
            (np.nan_to_num(followed) > limit).any(axis=1)
            for _, followed in self.judge.before
            if followed is not None
        ]
        return self.judge.focus[np.logical_or.reduce(found)] if found else self.judge.focus[:0]

    # -- facts -----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Leave out candidates that can be in no set that restores."""
        self.keep(
            "not considered",
            np.logical_and.reduce(
                [considered(one, self.members) for one in (self.out, *self.others.outs)]
            ),
        )
        if self.pruned:
            counts = self.out.counts(self.members[self.alive])
            self.keep("not diverse", self.out.is_diverse(counts) & (counts.sum(axis=1) >= ALONE))
            self.keep("not diverse", self.leaves_diverse())

    def keep(self, fact: str, kept: Flags, since: int = 1) -> None:
        """Leave candidates out, in sets of `since` views and more;
        `kept` is about those that are there.
        """
        self.losses.append((fact, since, len(self.alive), int(kept.sum())))
        self.alive = self.alive[kept]

    def leaves_diverse(self) -> Flags:
        """Is what a candidate leaves of a known set, or has beyond it,
        diverse? It becomes known too.
        """
        members = self.members[self.alive]
        counts = self.out.counts(members)
        kept = np.ones(len(members), dtype=bool)
        for known in known_views(self.out)[:LEFTOVERS]:
            whole = self.out.counts(known[None])
            inside = ~(members & ~known).any(axis=1)
            around = (members | ~known).all(axis=1)
            kept &= ~inside | self.out.is_diverse(whole - counts)
            kept &= ~around | self.out.is_diverse(counts - whole)
        return kept

    def tally(self, size: int, level: RestorationLevel) -> RestorationTally:
        """What became of all sets of so many views."""
        ruled_out = dict(level.ruled_out)
        for fact, since, before, after in self.losses:
            if size >= since:
                ruled_out[fact] = ruled_out.get(fact, 0) + comb(before, size) - comb(after, size)
        return RestorationTally(
            size,
            comb(len(self.members), size),
            {fact: many for fact, many in ruled_out.items() if many},
            level.judged,
            level.left,
        )

    # -- single views ----------------------------------------------------------------------------

    def level(self, size: int) -> RestorationLevel:
        """Judge the sets of so many views."""
        level = RestorationLevel()
        if size == 1:
            self.singles(level)
        else:
            self.judge_all(self.sets(size, level), level)
        return level

    def singles(self, level: RestorationLevel) -> None:
        """Judge every candidate by itself; what they do to beliefs is
        what larger sets are ranked by.
        """
        order = self.alive if self.order == "best" else self.rng.permutation(self.alive)
        outcomes, followed, marks = self.judge.by_list((), order, follow=True)
        assert followed is not None
        for view, one in zip(order.tolist(), outcomes, strict=True):
            if one is not None:
                self.note(level, (view,), one)
        waiting = [at for at, one in enumerate(outcomes) if one is None]
        self.is_listed = not waiting
        ranked = self.guess(order, waiting, followed, marks)
        level.left += len(waiting) - len(ranked)
        for at, (one, beliefs) in zip(
            ranked, self.count([(int(order[at]),) for at in ranked], level), strict=False
        ):
            outcomes[at] = one
            if beliefs is not None:
                followed[at] = beliefs
        if level.outcome is None and self.limits.views > 1:
            back = np.argsort(order)  # to the order of the candidates
            self.promise = promise_of(self.judge.followed_before(), followed[back])
            if self.pruned:
                self.thin(
                    [outcomes[at] for at in back.tolist()], [marks[at] for at in back.tolist()]
                )

    def guess(
        self, order: Integers, waiting: Sequence[int], followed: Floats, marks: list[bytes | None]
    ) -> list[int]:
        """Rank the candidates at some places by maximum entropy;
        also what they do to beliefs is guessed by it, and marked.
        """
        if len(waiting) > MOST_GUESSED:
            # Small views move beliefs most, and of those the ones with
            # somebody above gamma in them.
            size = self.members.sum(axis=1)
            waiting = sorted(
                waiting, key=lambda at: (not self.shows[order[at]], size[order[at]], at)
            )[:MOST_GUESSED]
        guesses: dict[int, float] = {}
        for number, at in enumerate(waiting):
            if self.is_late(GUESSING):
                break
            self.job.step(
                f"ranking views: {number:,} of {len(waiting):,}", 0.1 * number / len(waiting)
            )
            guesses[at], followed[at], marks[at] = self.judge.guessed((int(order[at]),))
        return sorted(guesses, key=lambda at: (guesses[at] if self.order == "best" else 0.0, at))

    def thin(
        self, outcomes: Sequence[CandidateOutcome | None], marks: Sequence[bytes | None]
    ) -> None:
        """Before larger sets: leave out candidates that do the same as another, or that no
        further view can mend.
        """
        seen: set[bytes] = set()
        new = np.ones(len(marks), dtype=bool)
        # What does the same for one adversary may not for others.
        for at in (
            np.argsort(~self.shows[self.alive], kind="stable").tolist() if not self.others else ()
        ):
            mark = marks[at]
            if mark is not None:
                new[at] = mark not in seen
                seen.add(mark)
        mendable = np.array([one is None or not one.hopeless for one in outcomes], dtype=bool)
        self.keep_in_sets("the same as another", new)
        self.keep_in_sets("hopeless", mendable[new])
        if FAIR_FROM <= len(self.alive) <= FAIR_UP_TO:
            self.keep_in_sets(
                "unfair",
                np.array(
                    [not self.judge.is_unfair((one,)) for one in self.alive.tolist()], dtype=bool
                ),
            )

    def keep_in_sets(self, fact: str, kept: Flags) -> None:
        """Leave candidates out of sets of several views."""
        self.promise = self.promise.kept(kept)
        self.keep(fact, kept, since=2)

    # -- sets of several views -------------------------------------------------------------------

    def sets(self, size: int, level: RestorationLevel) -> Sets:
        """The sets of so many views that are not ruled out, the most promising first;
        the best of them where they are too many.
        """
        kept: list[tuple[Floats, Sets]] = []
        meets, most = (
            self.meets(),
            self.limits.listed
            if self.is_listed
            else min(self.limits.listed, 10 * self.limits.counted),
        )
        waiting = untouched = 0
        for block in self.blocks(self.rankable(size, meets), size, level):
            good = block[self.reach(block, meets)]
            untouched += len(block) - len(good)
            kept.append((self.ranks(good), good))
            waiting += len(good)
            if waiting > 2 * most:
                kept, waiting = [best_of(kept, most)], most
        level.ruled_out["untouched"] = untouched
        sets = best_of(kept, most)[1] if kept else np.zeros((0, size), dtype=np.int64)
        level.left += (
            comb(len(self.alive), size) - level.ruled_out["hopeless pair"] - untouched - len(sets)
        )
        return self.alive[sets]

    def ranks(self, sets: Sets) -> Floats:
        """What sets are ordered by, the smallest first.

        Those of which no more is to be hoped for than of one of their views alone, which has
        failed, come last.
        """
        if self.order == "blind":
            return self.rng.random(len(sets))
        found = self.promise.of(sets)
        alone = self.promise.of(np.arange(len(self.alive))[:, None])[sets].min(axis=1)
        limit = float(logit(np.array([float(self.out.gamma)]))[0])
        return np.where((found > limit + NEAR) & (found > alone - NEAR), found + LAST, found)

    def rankable(self, size: int, meets: Flags) -> Integers:
        """The candidates, by their places among those that are left, of which all sets are
        looked at: as many as can be ranked.
        """
        many, most = len(self.alive), MOST_RANKED if self.is_listed else MOST_TO_COUNT
        while comb(many, size) > most:
            many = many * 9 // 10
        if many == len(self.alive):
            return np.arange(many)
        alone = (
            self.promise.of(np.arange(len(self.alive))[:, None])
            if self.order == "best"
            else self.rng.random(len(self.alive))
        )
        return np.sort(np.lexsort((alone, ~meets.any(axis=1)))[:many])

    def blocks(self, chosen: Integers, size: int, level: RestorationLevel) -> Iterator[Sets]:
        """All sets of some candidates, without those that hold a pair beyond help."""
        many = len(chosen)
        dead = (
            self.dead_pairs[np.ix_(chosen, chosen)]
            if len(self.dead_pairs)
            else np.zeros((many, many), dtype=bool)
        )
        hopeless, gathered, block = 0, 0, list[Sets]()
        level.ruled_out["hopeless pair"] = 0
        for first in combinations(range(many), size - 1):
            look()
            if self.is_late():
                break
            if any(dead[pair] for pair in combinations(first, 2)):
                hopeless += many - first[-1] - 1
                continue
            last = np.arange(first[-1] + 1, many)
            fine = ~dead[list(first)][:, last].any(axis=0)
            hopeless += int((~fine).sum())
            block.append(
                np.hstack(
                    [
                        np.tile(np.array(first, dtype=np.int64), (int(fine.sum()), 1)),
                        last[fine][:, None],
                    ]
                )
            )
            gathered += len(block[-1])
            if gathered > BLOCK:
                yield chosen[np.concatenate(block)]
                gathered, block = 0, []
        if gathered:
            yield chosen[np.concatenate(block)]
        level.ruled_out["hopeless pair"] = hopeless

    def meets(self) -> Flags:
        """Which of the pieces with somebody above gamma each candidate touches."""
        pieces = [self.judge.pieces[one] for one in self.alive.tolist()]
        return np.array(
            [[piece in one for piece in self.above] for one in pieces], dtype=bool
        ).reshape(len(pieces), len(self.above))

    def reach(self, sets: Sets, meets: Flags) -> Flags:
        """Do sets touch every piece with somebody above gamma, and does
        every view hang together with one?

        A piece that is not touched stays as it is. Views that meet no such piece, and no other view
        that does, change nothing there: without them the set is smaller and does the same, and that
        one was judged. They may be there for other adversaries.
        """
        if not self.pruned:
            return np.ones(len(sets), dtype=bool)
        kept: Flags = meets[sets].any(axis=1).all(axis=1)
        if self.others:
            return kept
        lonely = ~meets.any(axis=1)
        for at in np.flatnonzero(kept & lonely[sets].any(axis=1)).tolist():
            kept[at] = self.hangs_together(self.alive[sets[at]].tolist())
        return kept

    def hangs_together(self, views: Sequence[int]) -> bool:
        """Does every view of a set meet somebody above gamma, perhaps by way of other views?"""
        reached = set(self.above)
        people = np.zeros(self.out.people, dtype=bool)
        waiting = set(views)
        while waiting:
            look()
            near = [
                one
                for one in waiting
                if self.judge.pieces[one] & reached or (self.members[one] & people).any()
            ]
            if not near:
                return False
            for one in near:
                reached |= self.judge.pieces[one]
                people |= self.members[one]
                waiting.remove(one)
        return True

    def judge_all(self, sets: Sets, level: RestorationLevel) -> None:
        """Judge sets in lots, the first ones first; those that cannot be listed are counted."""
        waiting: list[Set] = []
        at, lot = 0, FIRST_LOT
        while at < len(sets) and not self.is_late():
            some = sets[at : at + lot]
            self.job.step(
                f"sets of {sets.shape[1]} views: {at:,} of {len(sets):,}",
                0.1 + 0.8 * at / len(sets),
            )
            for views, one in zip(map(tuple, some.tolist()), self.lot(some), strict=True):
                if one is None:
                    waiting.append(views)
                else:
                    self.note(level, views, one)
            at, lot = at + lot, LOT
        level.left += max(0, len(sets) - at)
        for _ in self.count(waiting, level):
            pass

    def lot(self, sets: Sets) -> list[CandidateOutcome | None]:
        """Judge some sets from lists; where people are added, those that
        share all but the last view together.
        """
        found = self.judge.by_masks([tuple(views) for views in sets.tolist()])
        together: dict[Set, list[int]] = {}
        for at, views in enumerate(sets.tolist()):
            if found[at] is None:
                together.setdefault(tuple(views[:-1]), []).append(at)
        for views, places in sorted(together.items()):
            outcomes, _, _ = self.judge.by_list(views, sets[places, -1])
            for place, one in zip(places, outcomes, strict=True):
                found[place] = one
        return found

    def count(
        self, waiting: Sequence[Set], level: RestorationLevel
    ) -> Iterator[tuple[CandidateOutcome, Floats | None]]:
        """Count sets one by one, as far as the limits go;
        yields what was found, with the beliefs that are followed.
        """
        more, first = MORE, self.judge.counts
        for number, views in enumerate(waiting):
            if self.judge.counts - first >= self.limits.counted or self.is_late() or not more:
                level.left += len(waiting) - number
                return
            self.job.step(
                f"counting sets of {len(views)} views: {number:,} of {len(waiting):,}",
                0.1 + 0.8 * number / len(waiting),
            )
            one, beliefs = self.judge.by_count(views)
            if one.worst is None and not one.unfair:
                level.left += 1
            else:
                self.note(level, views, one)
            more -= level.outcome is not None
            yield one, beliefs

    def note(self, level: RestorationLevel, views: Set, one: CandidateOutcome) -> None:
        """Keep what was found: the set that restores and keeps the most tables, and pairs that
        are beyond help.
        """
        if one.unfair:
            level.ruled_out["unfair"] = level.ruled_out.get("unfair", 0) + 1
        else:
            level.judged += 1
        if one.hopeless and len(views) == 2 and self.pruned:
            self.bury(views)
        touched = self.judge.touched(views)
        if one.worst is None or one.worst > self.out.gamma or not touched.issuperset(self.above):
            return
        merit = (
            self.kept_tables(views, one),
            int(self.shows[list(views)].sum()),
            [-view for view in views],
        )
        if level.merit is not None and merit <= level.merit:
            return
        holds = True if not self.others else None if self.is_late() else self.others.hold(views)
        if holds is None:
            level.judged, level.left = level.judged - 1, level.left + 1
        elif holds:
            level.first = level.first or level.judged
            level.merit, level.views, level.outcome = merit, views, one

    def kept_tables(self, views: Set, one: CandidateOutcome) -> Fraction:
        """How many tables of everybody fit, over how many of those in no view:
        whom a view adds, might have had any value before.
        """
        tables = self.judge.tables(self.judge.touched(views), one.tables)
        added = int((self.members[list(views)].any(axis=0) & ~self.out.is_covered).sum())
        return Fraction(tables or 0, self.out.values**added)

    def bury(self, views: Set) -> None:
        """Remember a pair that no further view can mend."""
        if not len(self.dead_pairs):
            self.dead_pairs = np.zeros((len(self.alive), len(self.alive)), dtype=bool)
        one, other = np.searchsorted(self.alive, views).tolist()
        self.dead_pairs[one, other] = self.dead_pairs[other, one] = True

    # -- classes ---------------------------------------------------------------------------------

    def classes(self) -> tuple[int, ...]:
        """Classes to publish so that those of everybody above gamma are all known, if they are all
        diverse; else none.

        Who is in a class whose values are known has each with its share there, whatever else is
        known of others.
        """
        chosen = np.concatenate([self.out.pieces[piece] for piece in self.above])
        counts = np.zeros((len(chosen), self.out.values), dtype=np.int64)
        counts[:, : len(self.out.overlap.values)] = self.out.true_rows[chosen]
        if not bool(self.out.is_diverse(counts).all()):
            return ()
        found = tuple(int(chosen[one]) for one in independent(known_classes(self.out)[:, chosen]))
        return (
            found
            if not self.others or self.others.hold_with([self.out.class_of == one for one in found])
            else ()
        )
