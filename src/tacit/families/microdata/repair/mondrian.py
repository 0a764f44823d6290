"""Mondrian: split the table, again and again, at the widest column,
while every part passes (LeFevre 2006).

All open groups are split in the same round and judged by one question, so the cost is that of some
dozens of questions however many groups there are: n log n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import run_starts
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.repair.boxes import BoxAxis, HierarchyAxis
from tacit.families.microdata.repair.node_judge import PublishedJudge
from tacit.families.microdata.repair.partition import (
    Grouping,
    RecodingGround,
    RowPartition,
    checked,
    ground,
    partition,
    refusal,
    settled,
)
from tacit.families.microdata.repair.proximity_rule import crowded, rules
from tacit.families.microdata.repair.requirements import NotOneByOne, Required
from tacit.model.deadline import look
from tacit.model.jobs import Job

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.groups import Mask

SMALL = 2_000  # combinations of a table for which whole partitions are judged, one after the other
# columns that a group which fails itself tries before it takes a split of which no part passes
PATIENCE = 3


def mondrian(
    raw: MicrodataQuestion,
    required: Sequence[Required],
    *,
    strict: bool = True,
    weights: Mapping[str, float] | None = None,
    at_most: Mapping[str, int] | None = None,
    suppress: int = 0,
    job: Job | None = None,
    beside: PublishedJudge | None = None,
) -> Grouping:
    """The groups that Mondrian finds, or why there are none.

    Each group is split at the column of which it covers the largest share (times its weight), if
    all parts pass all checks; else at the next one. Numbers and dates are cut near the median;
    other columns fall into the labels below their common one, where those that are too small stay
    together. With `strict` equal values of a column of numbers stay in one part; else half of the
    rows go to either side. A missing value becomes a part of its own where it can. Columns with
    `at_most` 0 are left as they are.

    Where checks are not monotone a group that fails may have parts that pass (the proximity paper's
    splitting may not even start). Such groups are split too; what fails in the end joins a
    neighbour, or is suppressed if that is at most `suppress` rows. So does what fails only together
    with what is published (`beside`).
    """
    common: dict[str, Any] = {
        "at_most": at_most,
        "suppress": suppress,
        "job": job,
        "beside": beside,
    }
    laid = ground(raw, required, **common)
    if refused := refusal(laid):
        return refused
    if reason := crowded(raw, required, rules(raw, required), suppress=suppress):
        return Grouping(None, reason, proved=True)
    splitter = Splitter(
        laid, strict, tuple((weights or {}).get(one.column, 1) for one in laid.axes)
    )
    try:
        outcome = one_by_one(splitter)
    except NotOneByOne as found:
        return all_together(splitter, found)
    if outcome.recoded is None and not outcome.proved and not strict:
        # Halves of equal values may look the same later, and be one group that fails.
        return mondrian(raw, required, weights=weights, **common)
    return outcome


def one_by_one(splitter: Splitter) -> Grouping:
    """Mondrian for checks that can tell which groups fail."""
    laid = splitter.laid
    whole = laid.everybody()
    failing = laid.judge.failing(whole)
    if failing.any() and laid.judge.monotone() and not laid.spare:
        return Grouping(
            None, f"{laid.judge.failed(whole)} fails with {coarsest_groups(laid)}", proved=True
        )
    return settled(laid, split_all(splitter, whole, OneByOne(laid), failing))


def all_together(splitter: Splitter, found: NotOneByOne) -> Grouping:
    """Mondrian for checks under which one group depends on the others:
    every step asks about all of them.
    """
    laid = splitter.laid
    if len(laid.raw.base) > SMALL:
        return Grouping(
            None,
            f"{found.required.label} does not judge groups one by one, and {len(laid.raw.base):,} "
            f"different rows are too many to try one split after the other (at most {SMALL:,})",
        )
    whole = laid.everybody()
    if not laid.judge.holds(whole):
        proved = laid.judge.monotone() and not laid.spare
        return Grouping(
            None, f"{laid.judge.failed(whole)} fails with {coarsest_groups(laid)}", proved=proved
        )
    groups = split_all(splitter, whole, PartitionJudge(laid))
    if laid.fails_beside(groups) is not None:
        return Grouping(None, f"no groups were found for which {laid.failed(groups)} holds")
    return checked(laid, groups)


def coarsest_groups(laid: RecodingGround) -> str:
    """The coarsest groups in words."""
    if bool((laid.zone == laid.zone[0]).all()):
        return "everybody in one group"
    return "everybody in one group for each value of the columns that are left as they are"


# -- who accepts a split --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SplitProposal:
    """Groups with a way to split each:
    `part` numbers all parts, `parent` has the group of each part.
    """

    groups: RowPartition
    part: Integers
    parent: Integers

    def parts(self) -> RowPartition:
        """All parts as groups."""
        return RowPartition(self.groups.rows, self.groups.counts, self.part)


class OneByOne:
    """Judges the parts of all groups by one question."""

    def __init__(self, laid: RecodingGround) -> None:
        self.laid = laid

    def failing(self, proposal: SplitProposal, closed: Sequence[RowPartition]) -> Mask:
        """Which parts fail."""
        return self.laid.judge.failing(proposal.parts(), closed)


class PartitionJudge:
    """Judges whole partitions, for checks under which one group depends on the others."""

    def __init__(self, laid: RecodingGround) -> None:
        self.laid = laid

    def failing(self, proposal: SplitProposal, closed: Sequence[RowPartition]) -> Mask:
        """The smallest part of each group whose split does not pass
        together with those before it.
        """
        accepted = np.ones(len(proposal.groups), dtype=bool)
        failing = np.zeros(len(proposal.parent), dtype=bool)
        if self._holds(proposal, closed, accepted):
            return failing
        sizes = proposal.parts().sizes
        accepted[:] = False
        for group in range(len(accepted)):
            look()
            accepted[group] = True
            if not self._holds(proposal, closed, accepted):
                accepted[group] = False
                parts = np.flatnonzero(proposal.parent == group)
                failing[parts[np.argmin(sizes[parts])]] = True
        return failing

    def _holds(
        self, proposal: SplitProposal, closed: Sequence[RowPartition], accepted: Mask
    ) -> bool:
        groups = proposal.groups
        room = len(proposal.parent)
        owner = np.where(accepted[groups.owner], proposal.part, room + groups.owner)
        parts = [partition(groups.rows, groups.counts, owner), *closed]
        begins = np.cumsum([0, *(len(part) for part in parts)])
        whole = RowPartition(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate(
                [part.owner + begin for part, begin in zip(parts, begins, strict=False)]
            ),
        )
        return self.laid.judge.holds(whole)


# -- the rounds -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Open:
    """Groups that may still be split, with what was tried.

    `first` and `last` bound each group on each axis, `tried` marks the columns that did not work;
    `attempt` counts the tries with the present column, and `lumped` has the rows that stay together
    in it. `fails` marks groups that do not pass themselves.
    """

    groups: RowPartition
    first: Integers
    last: Integers
    tried: Mask
    attempt: Integers
    lumped: Mask
    fails: Mask

    def only(self, chosen: Mask) -> Open:
        """Some of the groups."""
        return Open(
            self.groups.only(chosen),
            self.first[:, chosen],
            self.last[:, chosen],
            self.tried[:, chosen],
            self.attempt[chosen],
            self.lumped[chosen[self.groups.owner]],
            self.fails[chosen],
        )


def opened(laid: RecodingGround, groups: RowPartition, fails: Mask) -> Open:
    """Groups of which nothing was tried yet."""
    first, last = groups.bounds(laid.places)
    return Open(
        groups,
        first,
        last,
        np.zeros(first.shape, dtype=bool),
        np.zeros(len(groups), dtype=np.int64),
        np.zeros(len(groups.rows), dtype=bool),
        fails,
    )


def both(one: Open, other: Open) -> Open:
    """The groups of both."""
    groups, more = one.groups, other.groups
    whole = RowPartition(
        np.concatenate((groups.rows, more.rows)),
        np.concatenate((groups.counts, more.counts)),
        np.concatenate((groups.owner, more.owner + len(groups))),
    )
    return Open(
        whole,
        np.concatenate((one.first, other.first), axis=1),
        np.concatenate((one.last, other.last), axis=1),
        np.concatenate((one.tried, other.tried), axis=1),
        np.concatenate((one.attempt, other.attempt)),
        np.concatenate((one.lumped, other.lumped)),
        np.concatenate((one.fails, other.fails)),
    )


@dataclass(frozen=True, slots=True)
class Splitter:
    """Proposes splits."""

    laid: RecodingGround
    strict: bool
    weights: tuple[float, ...]

    def columns(self, state: Open) -> tuple[Integers, Mask]:
        """The column at which each group is to be split, and which groups have none left."""
        scores = np.zeros(state.first.shape)
        for number, axis in enumerate(self.laid.axes):
            first, last = state.first[number], state.last[number]
            scores[number] = axis.widths(first, last) * self.weights[number]
            # A column of weight 0 comes last, but is split too.
            scores[number] = np.where(first < last, np.maximum(scores[number], 1e-12), 0)
        scores[state.tried] = 0
        return np.argmax(scores, axis=0), ~(scores > 0).any(axis=0)

    def propose(self, state: Open, column: Integers) -> tuple[Open, SplitProposal]:
        """Split every group at its column. Where rows of one combination go both ways the state
        has them apart.
        """
        part = np.zeros(len(state.groups.rows), dtype=np.int64)
        if not self.strict:
            state, part = self._halved(state, column)
        for number, axis in enumerate(self.laid.axes):
            chosen = (column == number)[state.groups.owner]
            if not self.strict and not isinstance(axis, HierarchyAxis):
                chosen &= ~self._cut_in_half(state, number)[state.groups.owner]
            if chosen.any():
                part[chosen] = self._parts(axis, number, state, np.flatnonzero(chosen))
        room = int(part.max(initial=0)) + 1
        found, numbers = np.unique(state.groups.owner * room + part, return_inverse=True)
        order = np.argsort(numbers.reshape(-1), kind="stable")
        groups = state.groups
        groups = RowPartition(groups.rows[order], groups.counts[order], groups.owner[order])
        state = replace(state, groups=groups, lumped=state.lumped[order])
        return state, SplitProposal(groups, numbers.reshape(-1)[order], found // room)

    def _cut_in_half(self, state: Open, number: int) -> Mask:
        """Relaxed splits are for groups without missing values in the column:
        those would show `*` on both sides.
        """
        complete: Mask = state.last[number] < self.laid.axes[number].last
        return complete

    def _parts(self, axis: BoxAxis, number: int, state: Open, cells: Integers) -> Integers:
        owner, place = state.groups.owner[cells], self.laid.places[number, state.groups.rows[cells]]
        if isinstance(axis, HierarchyAxis):
            height = axis.heights(state.first[number], state.last[number])[owner]
            children = axis.children(height, place)
            return np.where(state.lumped[cells], 0, children + 1)
        last, attempt = state.last[number][owner], state.attempt[owner]
        alone = (last == axis.last) & (state.first[number][owner] < axis.last) & (attempt == 0)
        parts: Integers = (place == axis.last).astype(np.int64)
        rest = np.flatnonzero(~alone)
        if len(rest):
            parts[rest] = near_median(
                owner[rest], place[rest], state.groups.counts[cells[rest]], axis.last + 1
            )
        return parts

    def _halved(self, state: Open, column: Integers) -> tuple[Open, Integers]:
        """Relaxed splits: half of the rows on each side, those at the median on both."""
        part = np.zeros(len(state.groups.rows), dtype=np.int64)
        groups = state.groups
        for number, axis in enumerate(self.laid.axes):
            wanted = (column == number) & self._cut_in_half(state, number)
            cells = np.flatnonzero(wanted[groups.owner])
            if isinstance(axis, HierarchyAxis) or not len(cells):
                continue
            place = self.laid.places[number, groups.rows[cells]]
            order, below = below_half(groups.owner[cells], place, groups.counts[cells])
            cells = cells[order]
            part[cells] = below == 0
            torn = cells[(below > 0) & (below < groups.counts[cells])]
            if len(torn):
                kept = below[(below > 0) & (below < groups.counts[cells])]
                groups, lumped, part = torn_apart(groups, state.lumped, part, torn, kept)
                state = replace(state, groups=groups, lumped=lumped)
        return state, part


def near_median(owner: Integers, place: Integers, counts: Integers, room: int) -> Integers:
    """1 for the rows above the cut of their group that leaves both sides as
    equal as can be, 0 for the others.

    >>> near_median(np.zeros(3, int), np.array([7, 5, 9]), np.array([1, 1, 3]), 10).tolist()
    [0, 0, 1]
    """
    order = np.argsort(owner * room + place, kind="stable")
    sorted_owner, sorted_place = owner[order], place[order]
    total, cum = running(sorted_owner, counts[order])
    ends = np.ones(len(order), dtype=bool)
    ends[:-1] = (sorted_place[1:] != sorted_place[:-1]) | (sorted_owner[1:] != sorted_owner[:-1])
    cuts = np.flatnonzero(ends & (cum < total))
    uneven = np.abs(2 * cum[cuts] - total[cuts])
    best = np.lexsort((uneven, sorted_owner[cuts]))
    best = cuts[best[run_starts(sorted_owner[cuts][best])]]
    groups, where = np.unique(sorted_owner, return_inverse=True)
    limit = np.full(len(groups), room, dtype=np.int64)
    limit[np.searchsorted(groups, sorted_owner[best])] = sorted_place[best]
    above = np.empty(len(order), dtype=np.int64)
    above[order] = sorted_place > limit[where.reshape(-1)]
    return above


def below_half(owner: Integers, place: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """An order of the rows of each group along a column, and how many of
    each cell lie in the lower half.

    >>> order, below = below_half(np.zeros(2, int), np.array([5, 4]), np.array([5, 1]))
    >>> order.tolist(), below.tolist()
    ([1, 0], [1, 2])
    """
    order = np.lexsort((place, owner))
    total, cum = running(owner[order], counts[order])
    return order, np.clip(total // 2 - (cum - counts[order]), 0, counts[order])


def running(owner: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """For rows sorted by group: the size of the group, and the sum up to each row."""
    starts = run_starts(owner)
    lengths = np.diff(np.append(starts, len(owner)))
    cum = np.cumsum(counts)
    cum = cum - np.repeat(cum[starts] - counts[starts], lengths)
    return np.repeat(np.add.reduceat(counts, starts), lengths), cum


def torn_apart(
    groups: RowPartition, lumped: Mask, part: Integers, torn: Integers, kept: Integers
) -> tuple[RowPartition, Mask, Integers]:
    """Put some of a combination's rows into a cell of their own, in the upper part."""
    counts = groups.counts.copy()
    counts[torn] = kept
    part = part.copy()
    part[torn] = 0
    order = np.argsort(np.concatenate((groups.owner, groups.owner[torn])), kind="stable")
    whole = [
        np.concatenate((groups.rows, groups.rows[torn])),
        np.concatenate((counts, groups.counts[torn] - kept)),
        np.concatenate((groups.owner, groups.owner[torn])),
    ]
    return (
        RowPartition(*(one[order] for one in whole)),
        np.concatenate((lumped, lumped[torn]))[order],
        np.concatenate((part, np.ones(len(torn), dtype=np.int64)))[order],
    )


def split_all(
    splitter: Splitter, whole: RowPartition, judge: Any, fails: Mask | None = None
) -> RowPartition:
    """Split until no group has an allowed split."""
    laid = splitter.laid
    state = opened(laid, whole, np.zeros(len(whole), dtype=bool) if fails is None else fails)
    closed: list[RowPartition] = []
    done, rows = 0, max(1, laid.raw.base.rows)
    while len(state.groups):
        laid.job.step("splitting groups", 0.9 * done / rows)
        column, finished = splitter.columns(state)
        if finished.any():
            closed.append(state.groups.only(finished))
            done += int(closed[-1].counts.sum())
            state, column = state.only(~finished), column[~finished]
            if not len(state.groups):
                break
        state, proposal = splitter.propose(state, column)
        state = open_groups(laid, state, proposal, column, judge.failing(proposal, closed))
    begins = np.cumsum([0, *(len(part) for part in closed)])
    return RowPartition(
        np.concatenate([part.rows for part in closed]),
        np.concatenate([part.counts for part in closed]),
        np.concatenate([part.owner + begin for part, begin in zip(closed, begins, strict=False)]),
    )


def order_by_splits(laid: RecodingGround) -> Integers:
    """All combinations in the order of a tree of splits down to equal ones:
    neighbours in it are much alike.

    Every second branch is turned round, so that the end of one is near the beginning of the next.
    """
    splitter = Splitter(laid, strict=True, weights=(1,) * len(laid.axes))
    groups = laid.everybody()
    begins = np.cumsum(groups.sizes) - groups.sizes
    turned = np.zeros(len(groups), dtype=bool)
    place = np.empty(len(laid.raw.base), dtype=np.int64)
    while len(groups):
        look()
        state = opened(laid, groups, turned)
        column, finished = splitter.columns(state)
        inside = finished[groups.owner]
        place[groups.rows[inside]] = begins[groups.owner[inside]]
        if finished.all():
            break
        state, column, begins, turned = (
            state.only(~finished),
            column[~finished],
            begins[~finished],
            turned[~finished],
        )
        _, proposal = splitter.propose(state, column)
        groups, parent = proposal.parts(), proposal.parent
        whole, before = running(parent, groups.sizes)
        begins = begins[parent] + np.where(turned[parent], whole - before, before - groups.sizes)
        starts = run_starts(parent)
        number = np.arange(len(parent)) - np.repeat(starts, np.diff(np.append(starts, len(parent))))
        last = np.bincount(parent)[parent] - 1
        turned = np.where(turned[parent], last - number, number) % 2 == 1
    return np.argsort(place, kind="stable")


def open_groups(
    laid: RecodingGround, state: Open, proposal: SplitProposal, column: Integers, failing: Mask
) -> Open:
    """The open groups after a round:
    parts of accepted splits, and groups that try something else.
    """
    number = len(proposal.groups)
    parts = np.bincount(proposal.parent, minlength=number)
    bad = np.bincount(proposal.parent[failing], minlength=number)
    tries = state.tried.sum(axis=0)
    left = (state.first < state.last).sum(axis=0) - tries
    hopeful = state.fails & (parts > 1) & ((bad < parts) | (tries + 1 >= PATIENCE) | (left <= 1))
    accepted = (parts > 1) & ((bad == 0) | hopeful)
    chosen = accepted[proposal.parent]
    new = opened(laid, proposal.parts().only(chosen), failing[chosen])
    rejected = retrying(laid, state, proposal, column, failing)
    return both(rejected.only(~accepted), new)


def retrying(
    laid: RecodingGround, state: Open, proposal: SplitProposal, column: Integers, failing: Mask
) -> Open:
    """What groups try next: the same column in another way, or (`tried`) the next column."""
    lumped, attempt, tried = state.lumped.copy(), state.attempt + 1, state.tried.copy()
    trees = np.array([isinstance(axis, HierarchyAxis) for axis in laid.axes])[column]
    part_lumped = np.zeros(len(failing), dtype=bool)
    part_lumped[proposal.part[state.lumped]] = True
    part_lumped = lump(proposal, part_lumped, failing, state.attempt)
    lumped |= part_lumped[proposal.part] & trees[state.groups.owner]
    apart = np.bincount(proposal.parent[~part_lumped], minlength=len(attempt))
    last = state.last[column, np.arange(len(column))]
    beyond = np.array([axis.last for axis in laid.axes])[column]
    again = np.where(trees, (apart > 0) & ~state.fails, (last == beyond) & (state.attempt == 0))
    tried[column[~again], np.flatnonzero(~again)] = True
    attempt[~again] = 0
    lumped &= again[state.groups.owner]
    return replace(state, lumped=lumped, attempt=attempt, tried=tried)


def lump(proposal: SplitProposal, lumped: Mask, failing: Mask, attempt: Integers) -> Mask:
    """Which parts of each group stay together next time:
    those that fail alone, and some small ones.

    Where only what was together failed, or one part has to join others, the smallest other parts
    come along, twice as many each time.
    """
    new = lumped | failing
    stuck = np.bincount(proposal.parent[failing & ~lumped], minlength=len(attempt)) == 0
    stuck |= np.bincount(proposal.parent[new], minlength=len(attempt)) == 1
    sizes = proposal.parts().sizes
    others = np.flatnonzero(~new & stuck[proposal.parent])
    order = others[np.lexsort((sizes[others], proposal.parent[others]))]
    starts = run_starts(proposal.parent[order])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    most = np.left_shift(1, np.minimum(attempt, 30))[proposal.parent[order]]
    new[order[rank < most]] = True
    return new
