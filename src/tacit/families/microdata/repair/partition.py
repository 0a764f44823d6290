"""Partitions: the rows of a table in groups that are each recoded on
their own, and whether they pass.

What Mondrian and the window have in common: the groups are judged by one question about all of
them, get labels, are settled (groups that look the same are one, those that fail join a neighbour
or are suppressed), and what is handed back was asked once more as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import pack_codes, run_starts
from tacit.families.microdata.hierarchy import SUPPRESSED
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.recoded import Recoded
from tacit.families.microdata.repair.boxes import BoxAxis, axes_of, places_of
from tacit.families.microdata.repair.hilbert import hilbert_order
from tacit.families.microdata.repair.node_judge import FailsBeside, PublishedJudge
from tacit.families.microdata.repair.requirements import Required, all_hold, failing_groups
from tacit.families.words import listed
from tacit.model.deadline import look
from tacit.model.jobs import Job

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.groups import Mask

SCATTER = 40  # groups that a row of a failing group asks to take it
STEPS = (
    1,
    -1,
    2,
    -2,
    3,
    -3,
    4,
    -4,
)  # the neighbours along the curve that a failing group tries to join


@dataclass(frozen=True, slots=True)
class Grouping:
    """What a local recoding found. Without a release `because` says why,
    and `proved` that there is none.

    `proved` speaks of all recodings that keep every row, or all but those that may be suppressed.
    """

    recoded: Recoded | None
    because: str
    proved: bool = False


@dataclass(frozen=True, slots=True)
class RowPartition:
    """Rows of a table in groups 0, 1, ...:
    `counts[i]` rows of combination `rows[i]` are in group `owner[i]`.

    `owner` ascends, and every group has rows.
    """

    rows: Integers
    counts: Integers
    owner: Integers

    def __len__(self) -> int:
        return int(self.owner[-1]) + 1 if len(self.owner) else 0

    @property
    def starts(self) -> Integers:
        """Where each group begins."""
        return run_starts(self.owner)

    @property
    def sizes(self) -> Integers:
        """How many rows each group has."""
        return np.add.reduceat(self.counts, self.starts) if len(self.owner) else self.counts

    def bounds(self, places: Integers) -> tuple[Integers, Integers]:
        """The first and last place of each group on each axis, a row for each axis."""
        if not len(self.owner):
            return places[:, :0], places[:, :0]
        starts = self.starts
        first, last = (np.empty((len(places), len(starts)), dtype=places.dtype) for _ in range(2))
        for number, axis in enumerate(places):  # one at a time: it stays near the processor
            there = axis[self.rows]
            np.minimum.reduceat(there, starts, out=first[number])
            np.maximum.reduceat(there, starts, out=last[number])
        return first, last

    def only(self, chosen: Mask) -> RowPartition:
        """Some of the groups."""
        return partition(
            *(part[chosen[self.owner]] for part in (self.rows, self.counts, self.owner))
        )

    def joined(self, into: Integers) -> RowPartition:
        """Groups put together: `into` has the new group of each."""
        return partition(self.rows, self.counts, into[self.owner])


def partition(rows: Integers, counts: Integers, owner: Integers) -> RowPartition:
    """The partition in which each row has an owner, whatever the owners' numbers are."""
    if len(owner) and (owner[1:] < owner[:-1]).any():
        order = np.argsort(owner, kind="stable")
        rows, counts, owner = rows[order], counts[order], owner[order]
    starts = run_starts(owner)
    lengths = np.diff(np.append(starts, len(owner)))
    return RowPartition(rows, counts, np.repeat(np.arange(len(starts)), lengths))


def compact(groups: RowPartition, combinations: int) -> RowPartition:
    """The same groups with every combination once in each."""
    key = groups.owner * combinations + groups.rows
    if len(np.unique(key)) == len(key):
        return groups
    found, place = np.unique(key, return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=groups.counts).astype(np.int64)
    return RowPartition(found % combinations, counts, found // combinations)


@dataclass(frozen=True, slots=True)
class GroupJudge:
    """Asks the required checks about groups, many at a time.

    Checks may compare a group with the whole table. So a question always has all rows:
    those of groups that are not asked about are put into one group more, by their sensitive values.
    """

    raw: MicrodataQuestion
    required: Sequence[Required]
    secret: Integers = field(repr=False)
    example: Integers = field(repr=False)

    def failing(self, asked: RowPartition, rest: Sequence[RowPartition] = ()) -> Mask:
        """Which groups fail some check, where the `rest` of the table is in other groups."""
        rows, counts = self._lump(rest)
        number = len(asked)
        whole = RowPartition(
            np.concatenate((asked.rows, rows)),
            np.concatenate((asked.counts, counts)),
            np.concatenate((asked.owner, np.full(len(rows), number))),
        )
        return failing_groups(self._question(whole), self.required)[:number]

    def holds(self, whole: RowPartition) -> bool:
        """Do all checks hold for a partition of the whole table?"""
        return all_hold(self._question(whole), self.required)

    def failed(self, whole: RowPartition) -> str:
        """The first check that fails."""
        question = self._question(whole)
        return next((one.label for one in self.required if not one.holds(question)), "some check")

    def monotone(self) -> bool:
        """Do groups that are put together pass whenever both did?"""
        return all(one.definition.is_monotone_for(self.raw) for one in self.required)

    def _lump(self, rest: Sequence[RowPartition]) -> tuple[Integers, Integers]:
        """The rows of other groups: one for each combination of
        sensitive values where rows are people.
        """
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in rest)])
        counts = np.concatenate([np.zeros(0, dtype=np.int64), *(part.counts for part in rest)])
        if self.raw.base.persons is not None:
            return rows, counts
        sums = np.bincount(self.secret[rows], weights=counts, minlength=len(self.example)).astype(
            np.int64
        )
        found = np.flatnonzero(sums)
        return self.example[found], sums[found]

    def _question(self, whole: RowPartition) -> MicrodataQuestion:
        """The question in which groups are told apart by their number."""
        first, *others = self.raw.quasi
        nothing = np.zeros(len(whole.rows), dtype=np.int64)
        labels: dict[str, tuple[Any, ...]] = {first: tuple(range(len(whole)))}
        codes = {first: whole.owner}
        for name in others:
            labels[name], codes[name] = (SUPPRESSED,), nothing
        return Recoded(self.raw, whole.rows, whole.counts, labels, codes).question()


def judge(raw: MicrodataQuestion, required: Sequence[Required]) -> GroupJudge:
    """The judge of a table's partitions."""
    codes = [raw.base.codes(name) for name in raw.sensitive]
    key, _ = pack_codes(codes, [raw.base.size(name) for name in raw.sensitive], len(raw.base))
    _, example, secret = np.unique(key, return_index=True, return_inverse=True)
    return GroupJudge(raw, tuple(required), secret.reshape(-1), example)


@dataclass(frozen=True, slots=True)
class RecodingGround:
    """A table laid out for local recoding:
    its axes, where its rows stand, and who judges the groups.

    Only combinations of one `zone` may be grouped: where some columns are left as they are, there
    are several. `spare` rows may be suppressed. `beside` is what is published.
    """

    raw: MicrodataQuestion
    judge: GroupJudge
    axes: tuple[BoxAxis, ...]
    places: Integers
    zone: Integers
    spare: int
    job: Job
    beside: PublishedJudge | None = None

    def fails_beside(self, groups: RowPartition) -> FailsBeside | None:
        """What does not hold together with what is published; its cells are those of the compact
        groups.
        """
        return None if self.beside is None else self.beside.failing(self.recoded(groups))

    def failed(self, groups: RowPartition) -> str:
        """The first check that fails, also with what is published."""
        if self.beside is not None and self.judge.holds(groups):
            failing = self.fails_beside(groups)
            if failing is not None:
                return f"{failing.required.label} together with {listed(self.beside.names)}"
        return self.judge.failed(groups)

    def everybody(self) -> RowPartition:
        """The coarsest groups that are allowed."""
        return partition(np.arange(len(self.raw.base)), self.raw.base.occurrences, self.zone)

    def recoded(self, groups: RowPartition) -> Recoded:
        """The release in which every group shows its own labels."""
        groups = compact(groups, len(self.raw.base))
        first, last = groups.bounds(self.places)
        labels, codes = {}, {}
        for number, one in enumerate(self.axes):
            labels[one.column], code = one.labels(first[number], last[number])
            codes[one.column] = code[groups.owner]
        return Recoded(self.raw, groups.rows, groups.counts, labels, codes)


def ground(
    raw: MicrodataQuestion,
    required: Sequence[Required],
    *,
    at_most: Mapping[str, int] | None = None,
    suppress: int = 0,
    job: Job | None = None,
    beside: PublishedJudge | None = None,
) -> RecodingGround:
    """Lay out a table. Columns that `at_most` gives 0 levels are left as they are."""
    hide = any(one.definition.missing != "own-group" for one in required)
    axes = axes_of(raw, hide_missing=hide)
    places = places_of(raw, axes)
    kept = [number for number, one in enumerate(axes) if (at_most or {}).get(one.column) == 0]
    zone, _ = pack_codes(
        [places[number] for number in kept],
        [axes[number].last + 1 for number in kept],
        len(raw.base),
    )
    judging = judge(raw, required)
    return RecodingGround(raw, judging, axes, places, zone, suppress, job or Job(), beside)


def refusal(laid: RecodingGround) -> Grouping | None:
    """Why local recoding cannot begin, or what needs none."""
    looking = [one.label for one in laid.judge.required if one.definition.looks_up]
    if looking:
        return Grouping(
            None,
            f"{looking[0]} looks up the values behind the labels of whole columns, which groups of "
            "their own do not have",
        )
    nothing_to_choose = not laid.axes or not len(laid.raw.base)
    if laid.beside is not None and (
        nothing_to_choose or (laid.beside.is_monotone and not laid.spare)
    ):
        failing = laid.fails_beside(laid.everybody())
        if failing is not None:
            out = listed(laid.beside.names)
            return Grouping(
                None,
                f"even the coarsest groups fail {failing.required.label} together with {out}",
                proved=laid.beside.is_monotone and not laid.spare and not laid.beside.open_,
            )
    return checked(laid, laid.everybody()) if nothing_to_choose else None


def checked(laid: RecodingGround, groups: RowPartition) -> Grouping:
    """Hand a partition back if its release, as a reader sees it, meets all checks."""
    recoded = laid.recoded(groups)
    question = recoded.question()
    if all_hold(question, laid.judge.required):
        return Grouping(recoded, f"{len(groups):,} groups of their own")
    failed = next(
        (one.label for one in laid.judge.required if one.ask(question).status != "holds"),
        "some check",
    )
    return Grouping(None, f"no groups were found for which {failed} holds")


# -- settling -------------------------------------------------------------------------------------


def settled(laid: RecodingGround, groups: RowPartition) -> Grouping:
    """Make a release of groups of which some may fail, or look the same as others.

    To a reader groups with the same labels are one group. A group that fails joins the first
    neighbour along the Hilbert curve with which it passes; else its rows are spread over groups
    nearby that take them; else it is suppressed if so many rows may be; else it joins its
    neighbours, twice as many each time. A group of people who fail together with what is published
    joins groups that share one that is published, twice as many each time, if it may not be
    suppressed. Each step leaves fewer groups, or fewer rows in groups that fail.
    """
    spare = laid.spare
    reach = wide = 1
    while len(groups):
        laid.job.step("settling groups", 0.9)
        groups = groups.joined(label_numbers(laid, groups))
        failing = laid.judge.failing(groups)
        if failing.any():
            groups, failing = neighbours_joined(laid, groups, failing)
            if failing.any() and not failing.all():
                groups, failing = scattered(laid, groups, failing)
            if not failing.any():
                continue
        else:
            groups = compact(groups, len(laid.raw.base))
            found = laid.fails_beside(groups)
            if found is None:
                return checked(laid, groups)
            failing = np.zeros(len(groups), dtype=bool)
            failing[groups.owner[found.cells]] = True
            coarser = beside_joined(laid, groups, failing, found.near, wide)
            if int(groups.sizes[failing].sum()) > spare and len(coarser) < len(groups):
                groups, wide = coarser, 2 * wide
                continue
        lost = int(groups.sizes[failing].sum())
        if lost <= spare:
            groups, spare = groups.only(~failing), spare - lost
            continue
        coarser = forced(laid, groups, failing, reach)
        if len(coarser) == len(groups):
            break
        groups, reach = coarser, 2 * reach
    if not len(groups):
        return Grouping(None, "no row would be left")
    return Grouping(None, f"no groups were found for which {laid.failed(groups)} holds")


def label_numbers(laid: RecodingGround, groups: RowPartition) -> Integers:
    """For each group the number of its labels: groups that look the same have the same."""
    first, last = groups.bounds(laid.places)
    shown = [one.labels(first[number], last[number]) for number, one in enumerate(laid.axes)]
    key, _ = pack_codes(
        [code for _, code in shown], [len(labels) for labels, _ in shown], len(groups)
    )
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def along_curve(laid: RecodingGround, groups: RowPartition) -> tuple[Integers, Integers]:
    """The groups in the order of the curve through the middles of their boxes, and their zones
    in that order.
    """
    first, last = groups.bounds(laid.places)
    zone = laid.zone[groups.rows[groups.starts]]
    order = hilbert_order((first + last) // 2, [one.last + 1 for one in laid.axes], zone)
    return order, zone[order]


def neighbours_joined(
    laid: RecodingGround, groups: RowPartition, failing: Mask
) -> tuple[RowPartition, Mask]:
    """Let each failing group join the first near one with which it passes."""
    order, zone = along_curve(laid, groups)
    into = np.arange(len(groups))
    failing = failing.copy()
    taken = np.zeros(len(groups), dtype=bool)
    for step in STEPS:
        look()
        pairs = matched(order, zone, failing, taken, step)
        if not len(pairs):
            continue
        joined = into.copy()
        joined[pairs[:, 0]] = pairs[:, 1]
        concerned = np.isin(joined, pairs[:, 1])
        tried = groups.only(concerned)
        numbers = np.flatnonzero(concerned)
        names, local = np.unique(joined[numbers], return_inverse=True)
        bad = laid.judge.failing(tried.joined(local.reshape(-1)), [groups.only(~concerned)])
        passed = ~bad[np.searchsorted(names, pairs[:, 1])]
        good = pairs[passed]
        into[good[:, 0]] = good[:, 1]
        failing[good.reshape(-1)] = False
        taken[good.reshape(-1)] = True
    kept, new = np.unique(into, return_inverse=True)
    return groups.joined(new.reshape(-1)), failing[kept]


def matched(order: Integers, zone: Integers, failing: Mask, taken: Mask, step: int) -> Integers:
    """Pairs of a failing group and the one that stands some steps further, each group in one
    pair at most.
    """
    here = np.flatnonzero(failing[order] & ~taken[order])
    there = here + step
    inside = (there >= 0) & (there < len(order))
    here, there = here[inside], there[inside]
    inside = (zone[here] == zone[there]) & ~taken[order[there]]
    used: set[int] = set()
    pairs = []
    for one, other in zip(here[inside].tolist(), there[inside].tolist(), strict=True):
        if one not in used and other not in used:
            used |= {one, other}
            pairs.append((int(order[one]), int(order[other])))
    return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)


def scattered(
    laid: RecodingGround, groups: RowPartition, failing: Mask
) -> tuple[RowPartition, Mask]:
    """Spread the rows of failing groups over passing ones near them
    that still pass with one row more.
    """
    cells = np.flatnonzero(failing[groups.owner])
    rows = np.repeat(groups.rows[cells], groups.counts[cells])
    home = np.repeat(groups.owner[cells], groups.counts[cells])
    hosts = near_hosts(laid, groups, failing, home)
    ones = np.ones(len(rows), dtype=np.int64)
    kept, names = groups.only(~failing), np.flatnonzero(~failing)
    owner = names[kept.owner]
    there = home.copy()
    for host in hosts:
        look()
        asking = np.flatnonzero((there == home) & (host >= 0))
        target, first = np.unique(host[asking], return_index=True)  # each host takes one at a time
        if not len(target):
            continue
        joined = there.copy()
        joined[asking[first]] = target
        into = np.concatenate((owner, joined))
        inside = np.isin(into, target)
        every_row, counts = np.concatenate((kept.rows, rows)), np.concatenate((kept.counts, ones))
        asked, rest = (
            partition(every_row[some], counts[some], into[some]) for some in (inside, ~inside)
        )
        good = ~laid.judge.failing(asked, [rest])
        there[asking[first][good]] = target[good]
    into = np.concatenate((owner, there))
    whole = partition(np.concatenate((kept.rows, rows)), np.concatenate((kept.counts, ones)), into)
    return compact(whole, len(laid.raw.base)), failing[np.unique(into)]


def near_hosts(
    laid: RecodingGround, groups: RowPartition, failing: Mask, home: Integers
) -> Iterator[Integers]:
    """For each row of the failing groups `home` a passing group of its zone to ask, the nearest
    first; -1 for none.

    The rows of a group begin with different neighbours, so that they do not all ask the same one.
    """
    order, zone = along_curve(laid, groups)
    passing = np.flatnonzero(~failing[order])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    starts = run_starts(home)
    nth = np.arange(len(home)) - np.repeat(starts, np.diff(np.append(starts, len(home))))
    begin = np.searchsorted(passing, place[home])
    for step in range(SCATTER):
        look()
        shift = nth + step
        at = begin + np.where(shift % 2 == 1, -(shift + 1) // 2, shift // 2)
        inside = (at >= 0) & (at < len(passing))
        host = passing[np.clip(at, 0, len(passing) - 1)]
        yield np.where(inside & (zone[host] == zone[place[home]]), order[host], -1)


def beside_joined(
    laid: RecodingGround, groups: RowPartition, failing: Mask, near: Integers, reach: int
) -> RowPartition:
    """Join each failing group with those up to `reach` places before and behind it along the curve,
    among those that share a group that is published with it.
    """
    order, _ = along_curve(laid, groups)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    owner, cell = groups.owner[near[1]], near[1]
    run = near[0] * (int(laid.zone.max(initial=0)) + 1) + laid.zone[groups.rows[cell]]
    run, at = np.unique(np.stack((run, place[owner])), axis=1)
    number = np.arange(len(run))
    first = np.searchsorted(run, run)
    last = np.searchsorted(run, run, side="right") - 1
    bad = np.append(0, np.cumsum(failing[order[at]]))
    low, high = np.maximum(number - reach, first), np.minimum(number + reach - 1, last)
    glued = np.flatnonzero((number > first) & (bad[high + 1] > bad[low]))
    into = np.arange(len(groups))
    while True:  # the least number of each part that hangs together
        before = into.copy()
        one, other = order[at[glued - 1]], order[at[glued]]
        least = np.minimum(into[one], into[other])
        np.minimum.at(into, one, least)
        np.minimum.at(into, other, least)
        into = into[into]
        if (into == before).all():
            return groups.joined(into)


def forced(laid: RecodingGround, groups: RowPartition, failing: Mask, reach: int) -> RowPartition:
    """Join each failing group with those up to `reach` places behind it, or before it at the end
    of a zone.
    """
    order, zone = along_curve(laid, groups)
    bad = failing[order]
    glued = np.zeros(len(order), dtype=bool)  # is the one at this place joined with the one before?
    for place in np.flatnonzero(bad).tolist():
        look()
        stop = min(place + reach, len(order) - 1)
        if zone[stop] != zone[place]:
            stop = int(np.searchsorted(zone[place : stop + 1] != zone[place], True)) + place - 1
        begin = place if stop > place else max(place - 1, 0)
        if zone[begin] == zone[place]:
            glued[begin + 1 : stop + 1] = True
    into = np.empty(len(order), dtype=np.int64)
    into[order] = np.cumsum(~glued)
    return groups.joined(into)
