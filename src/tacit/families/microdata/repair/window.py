"""The window: fill groups along the Hilbert curve so that nobody has too many like him in his own.

Made for proximity, which Mondrian's boxes meet badly:
it is not monotone, and the whole table may fail it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import run_starts
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.neighbours import Nearness, Windows
from tacit.families.microdata.repair.hilbert import hilbert_order
from tacit.families.microdata.repair.mondrian import coarsest_groups, order_by_splits
from tacit.families.microdata.repair.node_judge import PublishedJudge
from tacit.families.microdata.repair.partition import (
    Grouping,
    RecodingGround,
    RowPartition,
    ground,
    label_numbers,
    partition,
    refusal,
    settled,
)
from tacit.families.microdata.repair.proximity_rule import ProximityRule, crowded, least_size, rules
from tacit.families.microdata.repair.requirements import NotOneByOne, Required
from tacit.model.deadline import look
from tacit.model.jobs import Job

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers

TRIES = 64  # open groups that a person tries before a new one is opened
VALUES = 5_000  # values that are compared each with each
ROUNDS = 20  # how often groups that look alike are spread over others
BUDGET = 10  # groups that those who are left over try, for each row of the table


def window(
    raw: MicrodataQuestion,
    required: Sequence[Required],
    *,
    k: int | None = None,
    at_most: Mapping[str, int] | None = None,
    suppress: int = 0,
    job: Job | None = None,
    beside: PublishedJudge | None = None,
) -> Grouping:
    """The groups that the window finds, or why there are none (`proved` if nobody can find any).

    Rows come in the order of the Hilbert curve through the quasi-identifiers, or of a tree of
    splits where that keeps like rows closer together. Each joins the oldest open group in which
    nobody then has more near others than a group of `k` allows; a group of `k` is closed. Groups
    that a reader could not tell apart, and that together fail, are spread over others. Who is left
    over joins the nearest group that stays valid. For checks other than proximity the groups are
    runs of `k` rows along the curve, and those that fail are joined with their neighbours. `k` is
    at least what the checks require. A row is a person; a person with several rows is at most once
    in a group. One pass over the rows, after sorting them.
    """
    laid = ground(raw, required, at_most=at_most, suppress=suppress, job=job, beside=beside)
    if refused := refusal(laid):
        return refused
    found = rules(raw, required)
    if reason := crowded(raw, required, found, suppress=suppress):
        return Grouping(None, reason, proved=True)
    try:
        return along(laid, found, max(k or 1, least_size(required, found)))
    except NotOneByOne as error:
        return Grouping(
            None, f"{error.required.label} does not judge groups one by one; the window needs that"
        )


def along(laid: RecodingGround, found: Sequence[ProximityRule], size: int) -> Grouping:
    """Groups of some size along a curve, settled."""
    whole = laid.everybody()
    if laid.judge.monotone() and not laid.spare and laid.judge.failing(whole).any():
        return Grouping(
            None, f"{laid.judge.failed(whole)} fails with {coarsest_groups(laid)}", proved=True
        )
    units = in_line(laid, size)
    # Nearness that is no window on a line is asked for every two values.
    quick = all(isinstance(rule.nearness, Windows) or rule.missing <= VALUES for rule in found)
    if not found or not quick:
        return settled(laid, passing_runs(laid, units, size))
    return settled(laid, filled(laid, found, units, size))


def in_line(laid: RecodingGround, size: int) -> Integers:
    """The rows along a curve on which neighbours are much alike.

    The Hilbert curve is one; where columns are skewed or have few values, as hierarchies have, the
    order of a tree of splits is often better. We take the one whose runs of `size` rows cover less.
    """
    found: list[tuple[float, int, Integers]] = []
    curve = hilbert_order(laid.places, [one.last + 1 for one in laid.axes], laid.zone)
    for order in (curve, order_by_splits(laid)):
        units = np.repeat(order, laid.raw.base.occurrences[order])
        first, last = runs(laid, units, size).bounds(laid.places)
        covered = sum(
            float(axis.widths(a, b).sum())
            for axis, a, b in zip(laid.axes, first, last, strict=True)
        )
        found.append((covered, len(found), units))
    return min(found)[2]


def runs(laid: RecodingGround, units: Integers, size: int) -> RowPartition:
    """Runs of some rows along the curve; a run ends with its zone."""
    zone = laid.zone[units]
    begins = np.flatnonzero(np.append(True, zone[1:] != zone[:-1]))
    lengths = np.diff(np.append(begins, len(units)))
    within = np.arange(len(units)) - np.repeat(begins, lengths)
    # The last run of a zone takes the rest, which alone would be too small.
    run = np.minimum(within // size, np.maximum(np.repeat(lengths, lengths) // size - 1, 0))
    starts = np.append(True, (run[1:] != run[:-1]) | (zone[1:] != zone[:-1]))
    return partition(units, np.ones(len(units), dtype=np.int64), np.cumsum(starts))


def passing_runs(laid: RecodingGround, units: Integers, size: int) -> RowPartition:
    """Runs of some rows along the curve; where one fails it is joined with the other half of a
    run twice as long.
    """
    groups = runs(laid, units, size)
    zone = laid.zone[groups.rows[groups.starts]]
    begins = run_starts(zone)
    lengths = np.diff(np.append(begins, len(zone)))
    begin = np.repeat(begins, lengths)
    into = np.arange(len(zone))
    width = 1
    while width < int(lengths.max()):
        laid.job.step("filling groups", 0.5)
        _, number = np.unique(into, return_inverse=True)
        failing = laid.judge.failing(groups.joined(number.reshape(-1)))[number.reshape(-1)]
        if not failing.any():
            break
        width *= 2
        longer = begin + (np.arange(len(zone)) - begin) // width * width
        joined = np.isin(longer, longer[failing])
        into[joined] = longer[joined]
    return groups.joined(into)


# -- filling groups -------------------------------------------------------------------------------

Near = Callable[[int], Any]  # a value's neighbours: a container of values


def neighbours_of(nearness: Nearness, number: int) -> tuple[Near, list[int]]:
    """What is near a value, to be asked very often, and what each value counts as.

    Windows on a line are ranges of places;
    all other nearness is asked once for each value that occurs.
    """
    if isinstance(nearness, Windows):
        reach = [
            range(a, b + 1)
            for a, b in zip(nearness.first.tolist(), nearness.last.tolist(), strict=True)
        ]
        return reach.__getitem__, nearness.place.tolist()
    everything = np.arange(number)
    known: dict[int, Any] = {}

    def near(code: int) -> Any:
        if code not in known:
            known[code] = frozenset(np.flatnonzero(nearness.near(code, everything)).tolist())
        return known[code]

    return near, list(range(number))


@dataclass(slots=True)
class OpenGroup:
    """A group that is being filled: its rows, and for each rule its values with how many near
    others they have.
    """

    units: list[int] = field(default_factory=list)
    values: tuple[list[int], ...] = ()
    conflicts: tuple[list[int], ...] = ()
    people: set[int] = field(default_factory=set)

    def takes(self, near: Sequence[Any], allowed: Sequence[int]) -> bool:
        """Does nobody have too many near others if somebody with these neighbours joins?"""
        for rule, around in enumerate(near):
            most, number = allowed[rule], 0
            for value, has in zip(self.values[rule], self.conflicts[rule], strict=True):
                if value in around:
                    number += 1
                    if has >= most or number > most:
                        return False
        return True

    def add(
        self, unit: int, values: Sequence[int], near: Sequence[Any], person: int | None
    ) -> None:
        """Somebody joins."""
        self.units.append(unit)
        if person is not None:
            self.people.add(person)
        for rule, around in enumerate(near):
            conflicts, number = self.conflicts[rule], 0
            for place, value in enumerate(self.values[rule]):
                if value in around:
                    conflicts[place] += 1
                    number += 1
            self.values[rule].append(values[rule])
            conflicts.append(number)


class CurveWindow:
    """The scan along the curve. A value that a group has refused once it
    refuses for good, until it is closed.

    So each value remembers the oldest group that may still take it, and no group is asked twice.
    """

    def __init__(
        self, laid: RecodingGround, found: Sequence[ProximityRule], units: Integers, size: int
    ) -> None:
        self.units = units
        self.zone = laid.zone[units]
        self.size = size
        self.rules = found
        self.limits: dict[int, list[int]] = {}
        self.allowed = self.conflicts(size)
        asked = [neighbours_of(rule.nearness, rule.missing) for rule in found]
        self.near = [near for near, _ in asked]
        self.counts_as = [counts_as for _, counts_as in asked]
        codes = np.stack([rule.codes for rule in found])
        self.unknown = (codes == np.array([[rule.missing] for rule in found])).any(axis=0)
        kinds, kind = np.unique(codes, axis=1, return_inverse=True)
        self.kinds = kind.reshape(-1)[units].tolist()
        self.codes = kinds.T.tolist()
        self.persons = laid.raw.base.persons
        self.known: dict[int, tuple[list[int], list[Any]]] = {}

    def around(self, kind: int) -> tuple[list[int], list[Any]]:
        """The values of a kind of people, and what is near them."""
        if kind not in self.known:
            codes = self.codes[kind]
            self.known[kind] = (
                [self.counts_as[rule][code] for rule, code in enumerate(codes)],
                [self.near[rule](code) for rule, code in enumerate(codes)],
            )
        return self.known[kind]

    def conflicts(self, size: int) -> list[int]:
        """How many near others a group of some size allows, by each rule."""
        if size not in self.limits:
            self.limits[size] = [rule.conflicts(size) for rule in self.rules]
        return self.limits[size]

    def person(self, unit: int) -> int | None:
        """Whose row it is, where people have several."""
        return None if self.persons is None else int(self.persons[self.units[unit]])

    def scan(self, begin: int, end: int, job: Job, share: float) -> list[OpenGroup]:
        """Put the rows of a zone whose values are known into groups;
        some groups may stay too small.
        """
        groups: list[OpenGroup] = []
        later: list[int] = []  # the next group at or after each that is open
        oldest: dict[int, int] = {}
        unknown = self.unknown[self.units[begin:end]].tolist()
        for unit in range(begin, end):
            look()
            if not unit & 0x3FFF:
                job.step("filling groups", share)
            if unknown[unit - begin]:
                continue
            kind = self.kinds[unit]
            values, near = self.around(kind)
            person = self.person(unit)
            place = self._oldest(groups, later, oldest, kind, near, person)
            if place == len(groups):
                groups.append(OpenGroup([], tuple([] for _ in near), tuple([] for _ in near)))
                later.append(place)
            groups[place].add(unit, values, near, person)
            if len(groups[place].units) == self.size:
                later[place] = place + 1
        return groups

    def _oldest(
        self,
        groups: list[OpenGroup],
        later: list[int],
        oldest: dict[int, int],
        kind: int,
        near: Any,
        person: int | None,
    ) -> int:
        """The oldest open group that takes somebody, or a new one."""
        place = first_open(later, oldest.get(kind, 0))
        met = False  # the person is in a group that takes the value: another may still take it
        for _ in range(TRIES):
            if not met:
                oldest[kind] = place
            if place >= len(groups):
                return place
            if groups[place].takes(near, self.allowed):
                if person is None or person not in groups[place].people:
                    return place
                met = True
            place = first_open(later, place + 1)
        return len(groups)


def first_open(later: list[int], place: int) -> int:
    """The first open group at or after a place; the way is made shorter for those who come later.

    >>> first_open([1, 2, 2], 0)
    2
    """
    end = place
    while end < len(later) and later[end] != end:
        end = later[end]
    while place < len(later) and later[place] != end and place != end:
        later[place], place = end, later[place]
    return end


def filled(
    laid: RecodingGround, found: Sequence[ProximityRule], units: Integers, size: int
) -> RowPartition:
    """Groups in which nobody has too many near others, and who was left over alone."""
    scan = CurveWindow(laid, found, units, size)
    zone = laid.zone[units]
    begins = np.flatnonzero(np.append(True, zone[1:] != zone[:-1])).tolist()
    zones = []
    for begin, end in zip(begins, [*begins[1:], len(units)], strict=True):
        groups = scan.scan(begin, end, laid.job, 0.8 * begin / len(units))
        small = [unit for group in groups if len(group.units) < size for unit in group.units]
        full = Full([group for group in groups if len(group.units) >= size], BUDGET * (end - begin))
        zones.append(full)
        full.take(scan, small)
    for _ in range(ROUNDS):
        look()
        whole = gathered(scan, zones)
        looking_alike = doubles(laid, whole)
        if not len(looking_alike):
            break
        for full, begin in zip(
            zones, np.cumsum([0, *(len(full.parts()) for full in zones)]), strict=False
        ):
            full.dissolve(scan, looking_alike - begin)
    return gathered(scan, zones)


def gathered(scan: CurveWindow, zones: Sequence[Full]) -> RowPartition:
    """The groups of all zones. Whose value is not known is nobody's
    neighbour, and joins the nearest group.
    """
    owner = np.full(len(scan.units), -1, dtype=np.int64)
    number = 0
    for full in zones:
        for part in full.parts():
            owner[part] = number
            number += 1
    known = np.flatnonzero(owner >= 0)
    rest = np.flatnonzero(owner < 0)
    zone = scan.zone
    if len(rest):
        near = np.searchsorted(known, rest)
        after, before = np.minimum(near, len(known) - 1), np.maximum(near - 1, 0)
        if len(known):
            same = zone[known[after]] == zone[rest]
            chosen = np.where(same, known[after], known[before])
            fits = zone[chosen] == zone[rest]
            owner[rest[fits]] = owner[chosen[fits]]
        lost = owner < 0
        owner[lost] = number + zone[lost]
    return partition(scan.units, np.ones(len(owner), dtype=np.int64), owner)


def doubles(laid: RecodingGround, groups: RowPartition) -> Integers:
    """Groups that look like another before them, where both together fail:
    a reader takes them for one.
    """
    into = label_numbers(laid, groups)
    several = np.bincount(into)[into] > 1
    if not several.any():
        return np.zeros(0, dtype=np.int64)
    names, local = np.unique(into[several], return_inverse=True)
    asked = groups.only(several).joined(local.reshape(-1))
    failing = laid.judge.failing(asked, [groups.only(~several)])
    again = several
    again[np.unique(into, return_index=True)[1]] = False
    chosen: Integers = np.flatnonzero(again)[failing[np.searchsorted(names, into[again])]]
    return chosen


class Full:
    """The full groups of a zone along the curve, who may take others as long as they stay valid."""

    def __init__(self, groups: list[OpenGroup], budget: int) -> None:
        self.groups = sorted(groups, key=middle)
        self.middles = [middle(group) for group in self.groups]
        self.budget = budget
        self.alone: list[int] = []

    def parts(self) -> list[list[int]]:
        """The rows of each group, then those who are alone."""
        return [*(group.units for group in self.groups), *([unit] for unit in self.alone)]

    def take(self, scan: CurveWindow, over: list[int]) -> None:
        """Who is left over joins the nearest group that stays valid, or is alone."""
        for unit in sorted(over):
            look()
            if not self._take(scan, unit):
                self.alone.append(unit)

    def _take(self, scan: CurveWindow, unit: int) -> bool:
        values, near = scan.around(scan.kinds[unit])
        person = scan.person(unit)
        for place in outward(bisect_left(self.middles, unit), len(self.groups)):
            self.budget -= 1
            group = self.groups[place]
            if self.budget < 0:
                return False
            if (
                group.takes(near, scan.conflicts(len(group.units) + 1))
                and person not in group.people
            ):
                group.add(unit, values, near, person)
                return True
        return False

    def dissolve(self, scan: CurveWindow, numbers: Integers) -> None:
        """Spread the rows of some groups over the others."""
        wanted = {number for number in numbers.tolist() if 0 <= number < len(self.groups)}
        if not wanted:
            return
        over = [unit for number in wanted for unit in self.groups[number].units]
        self.groups = [group for number, group in enumerate(self.groups) if number not in wanted]
        self.middles = [middle(group) for group in self.groups]
        self.take(scan, over)


def middle(group: OpenGroup) -> int:
    """Where a group stands along the curve."""
    return sorted(group.units)[len(group.units) // 2]


def outward(place: int, number: int) -> Iterator[int]:
    """All places, the nearest first.

    >>> list(outward(2, 4))
    [2, 1, 3, 0]
    """
    for step in range(number + 1):
        if 0 <= place + step < number:
            yield place + step
        if 0 <= place - step - 1 < number:
            yield place - step - 1
