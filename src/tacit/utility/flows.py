"""Flows: who of each group is where, true against synthetic: distances, shares, top values, range queries, far-off people.

A group is for example a place of work, its people are its workers, and the value is where each of them lives.
Counts and total variation are exact; distances are great-circle miles in floating point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tacit.errors import DataError
from tacit.model.verdict import with_decimals

Integers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

EARTH = 3958.7613  # mean radius in miles
TOP = 10  # values with the most people
FAR = 99  # percent of a group's people who do not live farther away
QUERIES = 400  # random questions about everybody
GROUP_QUERIES = 40  # random questions about every group
MOST_ASKED = 20_000  # groups that are asked, at most
FLOOR = 1000  # an error is a part of the truth, or of this part of all people where the truth is less
BANDS = ((1, 10), (11, 50), (51, 200), (201, 1000), (1001, None))
DIGITS = 4


@dataclass(frozen=True)
class Flows:
    """How many people of which group have which value: parallel arrays of places in `groups` and `values`, and counts.

    >>> Flows.of([("mill", "north", 3), ("mill", "south", 1), ("yard", "north", 2)]).sizes.tolist()
    [4, 2]
    """

    groups: Sequence[Any]
    values: Sequence[Any]
    group: Integers
    value: Integers
    count: Integers

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, Any, int]], groups: Sequence[Any] = (), values: Sequence[Any] = ()) -> Flows:
        """From rows of group, value and count; groups and values that are not given are numbered as they come."""
        group_places = {one: place for place, one in enumerate(groups)}
        value_places = {one: place for place, one in enumerate(values)}
        found = [(group_places.setdefault(a, len(group_places)), value_places.setdefault(b, len(value_places)), n) for a, b, n in rows]
        group, value, count = np.array(found, np.int64).reshape(-1, 3).T
        return cls(tuple(group_places), tuple(value_places), group, value, count)

    @cached_property
    def summed(self) -> Flows:
        """One row for each group and value that has people, sorted by group and value."""
        if not len(self.group) == len(self.value) == len(self.count):
            raise DataError("groups, values and counts of flows differ in length.", hint="Give one of each for every row.")
        for places, known, what in ((self.group, self.groups, "group"), (self.value, self.values, "value")):
            if len(places) and not 0 <= int(places.min()) <= int(places.max()) < len(known):
                raise DataError(f"a row of the flows has a {what} that is not in the list.", hint=f"Number them from 0 to {len(known) - 1}.")
        if len(self.count) and int(self.count.min()) < 0:
            raise DataError("a count of the flows is negative.", hint="Count people: 0, 1, 2, ...")
        key, number = np.unique(self.group * len(self.values) + self.value, return_inverse=True)
        count = added(number, self.count, len(key))
        key, count = key[count > 0], count[count > 0]
        return Flows(self.groups, self.values, key // max(1, len(self.values)), key % max(1, len(self.values)), count)

    @cached_property
    def sizes(self) -> Integers:
        """How many people each group has."""
        return added(self.group, self.count, len(self.groups))

    @cached_property
    def totals(self) -> Integers:
        """How many people have each value."""
        return added(self.value, self.count, len(self.values))

    @cached_property
    def people(self) -> int:
        """How many people there are."""
        return int(self.count.sum())

    def only(self, group: int) -> Integers:
        """How many people of one group have each value."""
        rows = self.group == group
        return added(self.value[rows], self.count[rows], len(self.values))


@dataclass(frozen=True)
class Positions:
    """Where values and groups are, in degrees; NaN where nobody knows. Without places of the groups there are no distances."""

    latitude: Floats
    longitude: Floats
    group_latitude: Floats | None = None
    group_longitude: Floats | None = None

    def miles(self, flows: Flows) -> Floats:
        """How far from their group the people of each row are; NaN where either place is unknown."""
        if self.group_latitude is None or self.group_longitude is None:
            return np.full(len(flows.group), np.nan)
        return miles_between(
            self.latitude[flows.value], self.longitude[flows.value], self.group_latitude[flows.group], self.group_longitude[flows.group]
        )


def miles_between(latitude: Floats, longitude: Floats, other_latitude: Floats, other_longitude: Floats) -> Floats:
    """Great-circle distances (haversine) in miles.

    >>> berlin, paris = (np.array([52.52]), np.array([13.405])), (np.array([48.8566]), np.array([2.3522]))
    >>> round(float(miles_between(*berlin, *paris)[0]))
    545
    """
    one, other = np.radians(latitude), np.radians(other_latitude)
    across = np.sin(np.radians(longitude - other_longitude) / 2) ** 2
    part = np.sin((one - other) / 2) ** 2 + np.cos(one) * np.cos(other) * across
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.clip(part, 0.0, 1.0))))


@dataclass(frozen=True)
class ByGroup:
    """What became of each group, in the order of the groups. Distances are NaN where nobody has one.

    `moved` of `whole` is the total variation distance. `top` is how many of the group's `of_top` most frequent values are
    among the most frequent synthetic ones. `far` is the distance that 99 % do not exceed, `longest` the longest, both of the
    true people; `beyond_far` and `beyond_longest` count synthetic people.
    """

    people: Integers
    drawn: Integers
    moved: Any
    whole: Any
    mean_true: Floats
    mean_synthetic: Floats
    short_true: Floats
    short_synthetic: Floats
    longest: Floats
    far: Floats
    beyond_longest: Integers
    beyond_far: Integers
    top: Floats
    of_top: Integers
    query_median: Floats
    query_high: Floats

    def total_variation(self, group: int) -> Fraction:
        """The share of a group's people who would have to change their value, exactly."""
        return Fraction(int(self.moved[group]), int(self.whole[group]))

    @cached_property
    def variations(self) -> Floats:
        """The total variation distance of every group, rounded."""
        return np.asarray(self.moved / self.whole, dtype=np.float64)

    @cached_property
    def errors(self) -> Floats:
        """How far the synthetic mean distance is from the true one, in miles."""
        return np.asarray(np.abs(self.mean_synthetic - self.mean_true))


@dataclass(frozen=True, slots=True)
class Band:
    """Groups with `least` to `most` people: how many, and the medians of their errors."""

    least: int
    most: int | None
    groups: int
    people: int
    error: float
    total_variation: float
    query_error: float
    top: float

    @property
    def label(self) -> str:
        """The sizes in words."""
        return f"more than {self.least - 1:,}" if self.most is None else f"{self.least:,} to {self.most:,}"


@dataclass(frozen=True, slots=True)
class Queries:
    """Relative errors of random questions: their median, and what nine of ten do not exceed."""

    asked: int
    median: float
    high: float


@dataclass(frozen=True)
class FlowUtility:
    """What is still true of synthetic flows: of all people, by size of group, and of every group.

    `total_variation` is that of groups and values together, `value_variation` of the values alone, whatever the group.
    `short` is the distance below which a distance counts as short: the true median where none is given. `empty` groups have people,
    and no synthetic ones.
    """

    people: int
    drawn: int
    total_variation: Fraction
    value_variation: Fraction
    mean_true: float
    mean_synthetic: float
    short: float
    short_mean_true: float
    short_mean_synthetic: float
    beyond_longest: int
    beyond_far: int
    without_place: int
    empty: int
    top: float
    of_top: int
    queries: Queries
    group_queries: Queries
    bands: tuple[Band, ...]
    groups: ByGroup = field(repr=False)

    @property
    def has_distances(self) -> bool:
        """Are there places to measure distances between?"""
        return not math.isnan(self.mean_true)

    def to_json(self, names: Sequence[Any] = ()) -> dict[str, Any]:
        """As `tacit synthesize --json` has it; with the groups' `names` also every group. None where there is nothing to measure."""
        document: dict[str, Any] = {"people": str(self.people), "synthetic_people": str(self.drawn), "groups": str(len(self.groups.people)), "empty_groups": str(self.empty)}
        document |= with_decimals({"total_variation": self.total_variation, "value_variation": self.value_variation})
        document |= {"top_values": rounded(self.top), "of_top_values": str(self.of_top), "queries": queries_json(self.queries), "group_queries": queries_json(self.group_queries)}
        if self.has_distances:
            document["miles"] = {name: rounded(getattr(self, name)) for name in ("mean_true", "mean_synthetic", "short", "short_mean_true", "short_mean_synthetic")}
            document["miles"] |= {name: str(getattr(self, name)) for name in ("beyond_longest", "beyond_far", "without_place")}
        document["bands"] = [band_json(one) for one in self.bands]
        if names:
            document["by_group"] = [self.group_json(place, str(name)) for place, name in enumerate(names)]
        return document

    def group_json(self, place: int, name: str) -> dict[str, Any]:
        """One group."""
        numbers = ("mean_true", "mean_synthetic", "longest", "top", "query_median", "query_high")
        counts = ("people", "drawn", "of_top", "beyond_longest", "beyond_far")
        return {
            "group": name, **with_decimals({"total_variation": self.groups.total_variation(place)}),
            **{one: rounded(float(getattr(self.groups, one)[place])) for one in numbers},
            **{one: str(int(getattr(self.groups, one)[place])) for one in counts},
        }  # fmt: skip


def rounded(number: float) -> float | None:
    """A number as JSON shows it, or None for NaN.

    >>> rounded(2 / 3), rounded(math.nan)
    (0.6667, None)
    """
    return None if math.isnan(number) else round(number, DIGITS)


def queries_json(found: Queries) -> dict[str, Any]:
    """Errors of random questions."""
    return {"asked": str(found.asked), "median_error": rounded(found.median), "ninth_decile_error": rounded(found.high)}


def band_json(band: Band) -> dict[str, Any]:
    """Medians of a band of group sizes."""
    counts = {"least": str(band.least), "most": None if band.most is None else str(band.most), "groups": str(band.groups), "people": str(band.people)}
    return counts | {name: rounded(getattr(band, name)) for name in ("error", "total_variation", "query_error", "top")}


def compare(
    true: Flows, synthetic: Flows, positions: Positions | None = None, *,
    short: float | None = None, queries: int = QUERIES, group_queries: int = GROUP_QUERIES, seed: int = 0,
) -> FlowUtility:  # fmt: skip
    """What is still true of synthetic flows?

    Both are over the same groups and values. Mean distances leave out who has no place. Total variation is half the sum of the
    differences of the shares; it is 1 for a group that has people on one side only. Ties at the end of the most frequent values
    count in part: by their chance if ties are broken at random. Range queries count people in rectangles between two
    random values (in random sets of values where there are no places); they are the same for the same `seed`, and left out
    where nobody is there on either side.
    One pass over the rows for each question and some sorts.

    >>> true = Flows.of([("mill", "north", 3), ("mill", "south", 1)])
    >>> drawn = Flows.of([("mill", "north", 2), ("mill", "south", 2)], true.groups, true.values)
    >>> compare(true, drawn).total_variation
    Fraction(1, 4)
    """
    for here, there, what in ((true.groups, synthetic.groups, "groups"), (true.values, synthetic.values, "values")):
        if len(here) != len(there):
            raise DataError(f"true and synthetic flows are over {len(here):,} and {len(there):,} {what}.", hint="Number both by one list.")
    ours, drawn, places = with_people(true.summed, synthetic.summed, positions)
    pairs = Pairs.of(ours, drawn)
    far = Distances.of(ours, drawn, places, short)
    asked = Questions.of(positions, places, max(queries, group_queries), seed)
    per_group = asked.of_groups(ours, drawn, group_queries)
    groups = by_group(pairs, far, per_group)
    top, of_top = top_values(np.zeros(len(ours.values), np.int64), *pairs.totals, 1)
    return FlowUtility(
        people=true.people,
        drawn=synthetic.people,
        total_variation=pairs.variation,
        value_variation=exact_variation(*pairs.totals),
        mean_true=far.mean(far.true, ours),
        mean_synthetic=far.mean(far.synthetic, drawn),
        short=far.short,
        short_mean_true=far.mean(far.true, ours, far.short),
        short_mean_synthetic=far.mean(far.synthetic, drawn, far.short),
        beyond_longest=int(groups.beyond_longest.sum()),
        beyond_far=int(groups.beyond_far.sum()),
        without_place=int(drawn.count[np.isnan(far.synthetic)].sum()) if positions is not None else 0,
        empty=int(((pairs.people > 0) & (pairs.drawn == 0)).sum()),
        top=float(top[0]),
        of_top=int(of_top[0]),
        queries=asked.of_all(pairs.totals, queries),
        group_queries=summary(per_group),
        bands=bands_of(groups),
        groups=groups,
    )


def with_people(true: Flows, synthetic: Flows, positions: Positions | None) -> tuple[Flows, Flows, Positions | None]:
    """The same over the values that have people on either side: of millions of values most have none."""
    kept = np.flatnonzero(true.totals + synthetic.totals)
    places = np.zeros(len(true.values), np.int64)
    places[kept] = np.arange(len(kept))
    sides = [replace(flows, values=range(len(kept)), value=places[flows.value]) for flows in (true, synthetic)]
    if positions is None:
        return sides[0], sides[1], None
    return sides[0], sides[1], replace(positions, latitude=positions.latitude[kept], longitude=positions.longitude[kept])


def by_group(pairs: Pairs, far: Distances, asked: Floats) -> ByGroup:
    """Everything that is said of every group."""
    moved, whole = pairs.variations
    top, of_top = top_values(pairs.group, pairs.true, pairs.synthetic, len(pairs.people))
    median, high = quantiles(asked)
    measured = {one.name: getattr(far, one.name) for one in fields(far) if one.name not in ("true", "synthetic", "short")}
    return ByGroup(pairs.people, pairs.drawn, moved, whole, **measured, top=top, of_top=of_top, query_median=median, query_high=high)


# -- shares ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """True and synthetic people side by side, for each group and value that either has; sorted by group."""

    group: Integers
    true: Integers
    synthetic: Integers
    people: Integers
    drawn: Integers
    totals: tuple[Integers, Integers]

    @classmethod
    def of(cls, true: Flows, synthetic: Flows) -> Pairs:
        """From flows with one row for each group and value."""
        width = max(1, len(true.values))
        keys = [flows.group * width + flows.value for flows in (true, synthetic)]
        both = np.union1d(*keys)
        counts = [np.zeros(len(both), np.int64) for _ in keys]
        for count, key, flows in zip(counts, keys, (true, synthetic), strict=True):
            count[np.searchsorted(both, key)] = flows.count
        return cls(both // width, counts[0], counts[1], true.sizes, synthetic.sizes, (true.totals, synthetic.totals))

    @property
    def variation(self) -> Fraction:
        """The total variation distance of groups and values together."""
        return exact_variation(self.true, self.synthetic)

    @property
    def variations(self) -> tuple[Any, Any]:
        """Numerators and denominators of the groups' total variation distances."""
        shared = np.maximum(np.gcd(self.people, self.drawn), 1)
        # Each share over the least common multiple of both sizes: with equal sizes the numbers stay as small as the counts.
        times_true, times_synthetic = self.drawn // shared, self.people // shared
        kind: Any = np.int64 if fits(self.people, times_true) else object
        differences = self.true.astype(kind) * times_true[self.group] - self.synthetic.astype(kind) * times_synthetic[self.group]
        moved = np.zeros(len(self.people), kind)
        np.add.at(moved, self.group, np.abs(differences))
        whole = 2 * self.people.astype(kind) * times_true
        empty = (self.people == 0) | (self.drawn == 0)
        moved[empty], whole[empty] = (self.people != self.drawn)[empty].astype(kind), 1
        return moved, whole


def fits(sizes: Integers, times: Integers) -> bool:
    """Are sums of two such products whole numbers of 63 bits?"""
    return 2 * int(sizes.max(initial=0)) * int(times.max(initial=0)) < 2**62


def exact_variation(true: Integers, synthetic: Integers) -> Fraction:
    """The total variation distance of two counts over the same places, exactly.

    >>> exact_variation(np.array([1, 1]), np.array([3, 0]))
    Fraction(1, 2)
    """
    people, drawn = int(true.sum()), int(synthetic.sum())
    if not people or not drawn:
        return Fraction(int(people != drawn))
    shared = math.gcd(people, drawn)
    times = people // shared, drawn // shared
    kind: Any = np.int64 if 2 * people * times[1] < 2**62 else object
    moved = np.abs(true.astype(kind) * times[1] - synthetic.astype(kind) * times[0]).sum()
    return Fraction(int(moved), 2 * people * times[1])


def top_values(group: Integers, true: Integers, synthetic: Integers, groups: int) -> tuple[Floats, Integers]:
    """How many of each group's most frequent true values are among its most frequent synthetic values, and of how many."""
    both = chances(group, true, groups) * chances(group, synthetic, groups)
    occupied = np.bincount(group, weights=true > 0, minlength=groups)
    hits = np.bincount(group, weights=both, minlength=groups).astype(np.float64)
    return hits, np.minimum(occupied, TOP).astype(np.int64)


def chances(group: Integers, count: Integers, groups: int) -> Floats:
    """The chance of each row to be among its group's first TOP by count, where ties are broken at random. Rows are sorted by group."""
    most = int(count.max(initial=0))
    ordered = np.sort(group * (most + 1) + (most - count))
    starts = np.searchsorted(group, np.arange(groups + 1))
    last = starts[:-1] + TOP - 1
    full = last < starts[1:]
    least = np.zeros(groups, np.int64)
    least[full] = most - ordered[last[full]] % (most + 1)
    above, tied = count > least[group], (count == least[group]) & (count > 0)
    left = TOP - np.bincount(group, weights=above, minlength=groups)
    share = left / np.maximum(np.bincount(group, weights=tied, minlength=groups), 1)
    return np.where(above, 1.0, np.where(tied, share[group], 0.0))


# -- distances -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Distances:
    """How far people are from their group: of every row, and what that says of every group."""

    true: Floats
    synthetic: Floats
    short: float
    mean_true: Floats
    mean_synthetic: Floats
    short_true: Floats
    short_synthetic: Floats
    longest: Floats
    far: Floats
    beyond_longest: Integers
    beyond_far: Integers

    @classmethod
    def of(cls, true: Flows, synthetic: Flows, positions: Positions | None, short: float | None) -> Distances:
        """Measured; all NaN without places."""
        here, there = (positions.miles(flows) if positions is not None else np.full(len(flows.group), np.nan) for flows in (true, synthetic))
        everybody = Flows(("all",), true.values, np.zeros_like(true.group), true.value, true.count)
        below = float(percentiles(everybody, here, 50)[0][0]) if short is None else short
        longest, far = percentiles(true, here, 100, FAR)
        return cls(
            here, there, below, longest=longest, far=far, beyond_longest=beyond(synthetic, there, longest), beyond_far=beyond(synthetic, there, far),
            mean_true=group_means(true, here), mean_synthetic=group_means(synthetic, there),
            short_true=group_means(true, here, below), short_synthetic=group_means(synthetic, there, below),
        )  # fmt: skip

    @staticmethod
    def mean(miles: Floats, flows: Flows, below: float = math.inf) -> float:
        """The mean distance of everybody who is nearer than a limit."""
        taken = miles < below
        many = int(flows.count[taken].sum())
        return float((miles[taken] * flows.count[taken]).sum()) / many if many else math.nan


def beyond(flows: Flows, miles: Floats, limits: Floats) -> Integers:
    """How many people of each group are farther away than its limit."""
    return added(flows.group, flows.count * (miles > limits[flows.group]), len(flows.groups))


def group_means(flows: Flows, miles: Floats, below: float = math.inf) -> Floats:
    """The mean distance of each group's people who are nearer than a limit; NaN where nobody is."""
    taken = miles < below
    group, count = flows.group[taken], flows.count[taken]
    total = np.bincount(group, weights=count * miles[taken], minlength=len(flows.groups))
    many = np.bincount(group, weights=count, minlength=len(flows.groups))
    return np.divide(total, many, out=np.full(len(total), np.nan), where=many > 0)


def percentiles(flows: Flows, miles: Floats, *percents: int) -> list[Floats]:
    """The least distances that so many percent of each group's people do not exceed; NaN where nobody has one."""
    taken = np.flatnonzero(~np.isnan(miles))
    order = taken[np.lexsort((miles[taken], flows.group[taken]))]
    group, count = flows.group[order], flows.count[order]
    starts = np.searchsorted(group, np.arange(len(flows.groups) + 1))
    running = np.concatenate([[0], np.cumsum(count)])
    before, after = running[starts[:-1]], running[starts[1:]]
    some = after > before
    found = []
    for percent in percents:
        needed = before - (-percent * (after - before)) // 100  # rounded up, in whole people
        limits = np.full(len(flows.groups), np.nan)
        limits[some] = miles[order[np.searchsorted(running[1:], needed[some])]]
        found.append(limits)
    return found


# -- range queries ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Questions:
    """Random questions "how many people are there?": in `boxes` of south, north, west and east, or in sets with some share of the values."""

    positions: Positions | None
    boxes: Floats
    shares: Floats
    seed: int

    @classmethod
    def of(cls, everywhere: Positions | None, positions: Positions | None, number: int, seed: int) -> Questions:
        """So many questions about values at `positions`; the same ones for the same seed and the same places `everywhere`."""
        draw = np.random.default_rng(seed)
        shares = draw.random(number)
        if everywhere is None or positions is None:
            return cls(None, np.zeros((number, 4)), shares, seed)
        placed = np.flatnonzero(~np.isnan(everywhere.latitude + everywhere.longitude))
        if not len(placed):
            return cls(None, np.zeros((number, 4)), shares, seed)
        corners = placed[draw.integers(0, len(placed), (number, 2))]
        ends = [np.sort(degrees[corners], axis=1) for degrees in (everywhere.latitude, everywhere.longitude)]
        return cls(positions, np.concatenate(ends, axis=1), shares, seed)

    def of_all(self, totals: tuple[Integers, Integers], number: int) -> Queries:
        """Errors of questions about everybody."""
        people, drawn = totals
        answers = [(int(people[inside].sum()), int(drawn[inside].sum())) for inside in self.masks(len(people), number)]
        truth, answer = np.array(answers, np.int64).reshape(-1, 2).T
        return summary(relative(truth, answer, people.sum()))

    def of_groups(self, true: Flows, synthetic: Flows, number: int) -> Floats:
        """Errors of the same questions about every group: a row for each group, NaN for those that are not asked."""
        asked = np.flatnonzero(true.sizes)
        if len(asked) > MOST_ASKED:
            asked = np.sort(np.random.default_rng(self.seed).choice(asked, MOST_ASKED, replace=False))
        sides = [flows_of(flows, asked) for flows in (true, synthetic)]
        answers = [[answers_of(side, inside) for side in sides] for inside in self.masks(len(true.values), number)]
        truth, answer = np.array(answers, np.int64).reshape(len(answers), 2, len(asked)).transpose(1, 2, 0)
        found = np.full((len(true.groups), truth.shape[1]), np.nan)
        found[asked] = relative(truth, answer, true.sizes[asked, None])
        return found

    def masks(self, values: int, number: int) -> Iterator[Mask]:
        """For each of the first so many questions, which of the values it asks for."""
        for question in range(min(number, len(self.shares))):
            if self.positions is None:
                yield np.random.default_rng([self.seed, question]).random(values) < self.shares[question]
            else:
                south, north, west, east = self.boxes[question]
                latitude, longitude = self.positions.latitude, self.positions.longitude
                yield (latitude >= south) & (latitude <= north) & (longitude >= west) & (longitude <= east)


def flows_of(flows: Flows, groups: Integers) -> Flows:
    """The rows of some groups, which are numbered anew."""
    places = np.full(len(flows.groups), -1)
    places[groups] = np.arange(len(groups))
    rows = places[flows.group] >= 0
    return Flows(range(len(groups)), flows.values, places[flows.group[rows]], flows.value[rows], flows.count[rows])


def answers_of(flows: Flows, inside: Mask) -> Integers:
    """How many people of each group have one of the values."""
    rows = np.flatnonzero(inside[flows.value])
    return added(flows.group[rows], flows.count[rows], len(flows.groups))


def relative(truth: Integers, answer: Integers, people: Any) -> Floats:
    """Errors as parts of the truth, or of a thousandth of all people (one person at least) where the truth is less.

    NaN where nobody is asked for on either side: small groups would look right wherever they are empty.
    """
    errors = np.abs(answer - truth) / np.maximum(truth, np.maximum(people / FLOOR, 1.0))
    return np.where(truth + answer > 0, errors, np.nan)


def summary(errors: Floats) -> Queries:
    """Median and ninth decile of all errors."""
    known = errors[~np.isnan(errors)]
    if not len(known):
        return Queries(0, math.nan, math.nan)
    median, high = np.quantile(known, [0.5, 0.9])
    return Queries(len(known), float(median), float(high))


def quantiles(errors: Floats) -> tuple[Floats, Floats]:
    """Median and ninth decile of the errors of every group; NaN where there are none."""
    ordered = np.sort(np.concatenate([errors, np.full((len(errors), 1), np.nan)], axis=1))  # NaN comes last
    last = np.maximum((~np.isnan(ordered)).sum(axis=1) - 1, 0)
    rows = np.arange(len(errors))
    found = []
    for share in (0.5, 0.9):
        below = np.floor(share * last).astype(np.int64)
        above = np.minimum(below + 1, last)
        part = share * last - below
        found.append(ordered[rows, below] * (1 - part) + ordered[rows, above] * part)
    return found[0], found[1]


# -- bands of group sizes --------------------------------------------------------------------------------


def bands_of(groups: ByGroup) -> tuple[Band, ...]:
    """Medians by size of group, for each band that has groups."""
    found = []
    for least, most in BANDS:
        inside = (groups.people >= least) & (groups.people <= (most or np.iinfo(np.int64).max))
        if inside.any():
            top = groups.top[inside] / groups.of_top[inside]
            errors = (groups.errors[inside], groups.variations[inside], groups.query_median[inside], top)
            found.append(Band(least, most, int(inside.sum()), int(groups.people[inside].sum()), *map(median_of, errors)))
    return tuple(found)


def median_of(numbers: Floats) -> float:
    """The median of the numbers that are known; NaN where none is."""
    known = numbers[~np.isnan(numbers)]
    return float(np.median(known)) if len(known) else math.nan


def added(places: Integers, amounts: Integers, size: int) -> Integers:
    """Whole numbers summed by place, exactly."""
    found = np.zeros(size, np.int64)
    np.add.at(found, places, amounts)
    return found
