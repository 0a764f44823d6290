"""Scene: a synthetic release with the data behind it:
its groups, their cells, and who is truly where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tacit.engines.base import Engine
from tacit.errors import DataError
from tacit.families.synthetic.cells import Domain
from tacit.families.synthetic.drawing.randomness import Randomness
from tacit.families.synthetic.occupied_cells import Integers, OccupiedCells
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.terms import Terms
from tacit.families.synthetic.reading.labels import Labels, Spelling
from tacit.families.synthetic.reading.people import PeoplePairs, SyntheticPeople, at, people_of
from tacit.families.synthetic.reading.public import Public, public_of
from tacit.families.synthetic.reading.public_files import shortened
from tacit.families.synthetic.utility.flows import Flows, added
from tacit.families.synthetic.utility.positions import Positions
from tacit.families.words import people as some_people
from tacit.model.jobs import Job
from tacit.model.numbers import plain
from tacit.model.release import Synthetic
from tacit.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class DroppedPeople:
    """People whose value is none of their group's cells, dropped, and how many pairs of group
    and value they had.
    """

    people: int = 0
    pairs: int = 0


@dataclass(frozen=True, eq=False)
class SyntheticScene:
    """A synthetic release with the data behind it.

    `values` are the labels of all cells (regions where it is coarsened), `labels` those of the
    output (the values themselves), both in a fixed public order. `sizes` has for each group that
    has people how many are inside its domain, sorted by group.
    """

    release: Synthetic
    terms: Terms
    sizes: Mapping[Any, int]
    outside: DroppedPeople
    public: Public
    true: SyntheticPeople = field(repr=False)
    place_of: Integers = field(repr=False)  # of each value of the data in `labels`; -1 outside

    @property
    def values(self) -> Labels:
        """The labels of all cells."""
        return self.public.cells

    @property
    def labels(self) -> Labels:
        """The labels that the output has."""
        return self.public.labels

    @property
    def people(self) -> int:
        """How many people the output has."""
        return sum(self.sizes.values())

    @cached_property
    def _number(self) -> dict[Any, int]:
        return {group: number for number, group in enumerate(self.true.groups)}

    def domain(self, group: Any) -> Domain:
        """The cells of a group; one object where all groups share them."""
        return self.public.domain(self._number[group])

    def held(self, groups: Sequence[Any]) -> Iterator[tuple[Any, OccupiedCells]]:
        """Who of these groups is truly where, in their order;
        one query where the groups follow each other.
        """
        for number, pairs in self.true.by_group(sorted({self._number[group] for group in groups})):
            yield self.true.groups[number], self.held_of(number, pairs)

    def held_of(self, group: int, pairs: PeoplePairs) -> OccupiedCells:
        """The people of one group, of pairs of groups and values that were read."""
        inside = self._inside(group, pairs)
        places, counts = self.place_of[pairs.value[inside]], pairs.count[inside]
        if self.public.region is not None:
            places = self.public.region[places]
        found, number = np.unique(places, return_inverse=True)
        counts = added(number, counts, len(found))
        own = self.public.domain(group).places
        return OccupiedCells(
            np.asarray(found if own is None else np.searchsorted(own, found), np.int64), counts
        )

    def _inside(self, group: int, pairs: PeoplePairs) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return inside(self.public, group, self.place_of[pairs.value])

    def placed(
        self, group: Any, held: OccupiedCells, randomness: Randomness
    ) -> tuple[list[Any], Integers]:
        """The output of a group: labels and counts.
        People of a region are placed in it by the public density, exactly.
        """
        places, counts = self.spread(group, held, randomness)
        return self.labels.take(places), counts

    def spread(
        self, group: Any, held: OccupiedCells, randomness: Randomness
    ) -> tuple[Integers, Integers]:
        """As `placed`, with places in `labels`, sorted, instead of labels."""
        number = self._number[group]
        domain = self.public.domain(number)
        cells = held.places if domain.places is None else domain.places[held.places]
        return (
            (cells, held.counts)
            if self.public.region is None
            else self._within(number, cells, held.counts, randomness)
        )

    def _within(
        self, group: int, cells: Integers, counts: Integers, randomness: Randomness
    ) -> tuple[Integers, Integers]:
        """The people of some regions, each put on a value of its region."""
        region, near = self.public.region, self.public.near(group)
        assert region is not None
        values = np.arange(len(region)) if near is None else near
        values = values[np.isin(region[values], cells)]
        values = values[np.argsort(region[values], kind="stable")]
        weight = (
            np.ones(len(values), np.int64)
            if self.public.density is None
            else self.public.density[values]
        )
        cell = np.searchsorted(cells, region[values])
        # What is near of a region may be all empty land: then its people are spread evenly there.
        empty = added(cell, weight, len(cells)) == 0
        weight = np.where(empty[cell], 1, weight)
        upto = np.cumsum(weight)
        total = added(cell, weight, len(cells))
        draws = randomness.below_each(np.repeat(total, counts)) + np.repeat(
            np.cumsum(total) - total, counts
        )
        found, many = np.unique(np.searchsorted(upto, draws, side="right"), return_counts=True)
        places = values[found]
        order = np.argsort(places)
        return places[order], many[order].astype(np.int64)

    def flows(self, groups: Sequence[Any] | None = None) -> Flows:
        """Who is truly where, by the labels of the output, without those outside:
        for the owner's eyes.
        """
        numbers = sorted(
            {self._number[group] for group in (self.sizes if groups is None else groups)}
        )
        parts: list[tuple[Integers, ...]] = [(np.zeros(0, np.int64),) * 3]
        for place, (number, pairs) in enumerate(self.true.by_group(numbers)):
            kept = self._inside(number, pairs)
            parts.append(
                (
                    np.full(int(kept.sum()), place),
                    self.place_of[pairs.value[kept]],
                    pairs.count[kept],
                )
            )
        group, value, count = (np.concatenate(one) for one in zip(*parts, strict=True))
        return Flows(
            tuple(self.true.groups[number] for number in numbers), self.labels, group, value, count
        )

    def positions(self) -> Positions | None:
        """Where the labels of the output and the groups of `sizes` are;
        NaN where nobody knows, None where no file says.
        """
        known = self.public.positions
        if known is None:
            return None
        numbers = np.array([self._number[group] for group in self.sizes], np.int64)
        assert known.group_latitude is not None and known.group_longitude is not None
        return Positions(
            known.latitude,
            known.longitude,
            known.group_latitude[numbers],
            known.group_longitude[numbers],
        )


def scene_of(release: Synthetic, plan: Plan, engine: Engine, job: Job) -> SyntheticScene:
    """Read the public files of a release, have the engine count its
    groups, and see who is inside.
    """
    job.step(f"reading the files of {release.name}", 0.0)
    people = people_of(release, plan, engine)
    public, place_of = public_of(release, people, plan)
    terms = Terms(
        Epsilon.read(release.epsilon),
        release.delta,
        release.guarantee,
        release.mechanism,
        release.accept,
    )
    if release.outside == "error":
        check_listed(people, public, place_of, plan)
    sizes, outside = count_inside(people, public, place_of, plan, job)
    if not sizes and not outside.people:
        raise DataError(
            f"{release.count} is 0 in every row of table {release.table}: there is nobody.",
            hint="There is nothing to release.",
            mark=at(plan, release, "count"),
        )
    if not sizes:
        raise DataError(
            f"nobody in table {release.table} is inside the domain of {release.name}.",
            hint="Look whether the domain is that of the table's column.",
            mark=at(plan, release, "domain"),
        )
    return SyntheticScene(release, terms, sizes, outside, public, people, place_of)


def check_listed(people: SyntheticPeople, public: Public, place_of: Integers, plan: Plan) -> None:
    """Every value of the data is listed."""
    strange = np.flatnonzero(place_of < 0)
    if not len(strange):
        return
    lost = 0
    for first, last in people.spans(range(len(people.groups))):
        pairs = people.pairs(first, last)
        lost += int(pairs.count[place_of[pairs.value] < 0].sum())
    if lost:
        where = public.origin if public.origin != "domains" else "its domain"
        name = shortened(Spelling.text(people.values[int(strange[0])]))
        more = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
        raise DataError(
            f"{people.release.value} of {some_people(lost)} in table {people.table.name} is not in "
            f"{where}: {name}{more}.",
            hint="Add the values to the domain, or write outside: drop to leave these people out.",
            mark=at(plan, people.release, "value"),
        )


def count_inside(
    people: SyntheticPeople, public: Public, place_of: Integers, plan: Plan, job: Job
) -> tuple[dict[Any, int], DroppedPeople]:
    """How many people of each group are inside its domain, for groups that have some;
    and how many are not.
    """
    release, sizes = people.release, {}
    lost = pairs_lost = done = 0
    example: tuple[int, int] | None = None
    for first, last in people.spans(range(len(people.groups))):
        job.step(f"counting the people of {release.name}", done / max(1, len(people.groups)))
        pairs, done = people.pairs(first, last), last + 1
        kept = place_of[pairs.value] >= 0
        if public.within is not None:
            starts = np.searchsorted(pairs.group, np.arange(first, last + 2))
            for group, (low, high) in enumerate(
                zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True), first
            ):
                kept[low:high] = inside(public, group, place_of[pairs.value[low:high]])
        inner = added(pairs.group[kept] - first, pairs.count[kept], last - first + 1)
        sizes.update(
            {people.groups[first + at]: many for at, many in enumerate(inner.tolist()) if many}
        )
        lost, pairs_lost = lost + int(pairs.count[~kept].sum()), pairs_lost + int((~kept).sum())
        if example is None and not kept.all():
            row = int(np.argmin(kept))
            example = int(pairs.group[row]), int(pairs.value[row])
    if example is not None and release.outside == "error":
        of, value = (
            shortened(Spelling.text(one))
            for one in (people.groups[example[0]], people.values[example[1]])
        )
        assert release.domain is not None and release.domain.within is not None
        raise DataError(
            f"{release.value} of {some_people(lost)} in table {people.table.name} is more than "
            f"{plain(release.domain.within)} miles from their {release.group}, the first {value} "
            f"of {of}.",
            hint="Write outside: drop to leave them out, or a greater within.",
            mark=at(plan, release, "domain", "within"),
        )
    return sizes, DroppedPeople(lost, pairs_lost)


def inside(public: Public, group: int, places: Integers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which values, by place (-1: not listed), are among those of a group."""
    near = public.near(group)
    if near is None:
        return places >= 0
    position = np.searchsorted(near, places)
    return (
        (position < len(near)) & (near[np.minimum(position, max(len(near) - 1, 0))] == places)
        if len(near)
        else places < -1
    )
