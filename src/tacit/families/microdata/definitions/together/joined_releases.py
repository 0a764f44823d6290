"""Releases: several generalized copies of one table, as somebody sees them who holds all of them.

A world gives every person one tuple of all columns that are released as they are, such that every
group of every release has its tuples, as often as it shows them. Who is in which group is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tacit.families.microdata.counts import pack_codes, run_starts
from tacit.families.overlaps.overlap import Integers, Overlap
from tacit.model.deadline import look

Flags = np.ndarray[Any, np.dtype[np.bool_]]
ABSENT = -1  # the group of somebody who is not in a release
MOST_CELLS = 20_000_000  # of people alike and tuples, that are looked at together


class TooLarge(Exception):
    """People and tuples hang together in such numbers that nobody can look at them at once."""


@dataclass(frozen=True, slots=True, eq=False)
class TupleCounts:
    """How many people alike have each tuple: class, tuple and people, in that order."""

    classes: Integers
    tuples: Integers
    people: Integers


@dataclass(frozen=True, eq=False)
class Releases:
    """Several releases of one table. People who are together in all of them are one class.

    `groups[r, c]` is the group of class c in release r, ABSENT where its people are not in it.
    `shown[r, t]` is what release r shows of tuple t; equal numbers look the same there. `has` is
    the data: how many people of each class have each tuple; `class_of` is the class of each row.

    >>> april, may = [0, 0, 1, 1], [0, 1, 0, 1]
    >>> both = releases_of([april, may], [0, 1, 1, 0])
    >>> both.sizes.tolist(), both.settled.tolist()
    ([1, 1, 1, 1], [False, False, False, False])
    >>> releases_of([april, [0, 0, 1, 2]], [0, 1, 1, 0]).settled.tolist()
    [True, True, True]
    """

    groups: Integers
    shown: Integers
    has: TupleCounts
    class_of: Integers
    _rows: dict[int, tuple[Integers, Integers, int]] = field(default_factory=dict, repr=False)

    @property
    def tuples(self) -> int:
        """How many different tuples there are."""
        return int(self.shown.shape[1])

    @cached_property
    def sizes(self) -> Integers:
        """How many people each class has."""
        return total(self.has.people, self.has.classes, self.groups.shape[1])

    @cached_property
    def examples(self) -> Integers:
        """A row of each class."""
        classes, rows = np.unique(self.class_of, return_index=True)
        found: Integers = rows[classes != ABSENT]
        return found

    @cached_property
    def settled(self) -> Flags:
        """Classes whose tuples every world has as the data have them: all that is left of a group.

        Where everybody else of a group is settled, what is left of the group's rows is theirs. Only
        a release that shows the whole tuple settles anything.
        """
        found: Flags = np.zeros(self.groups.shape[1], dtype=bool)
        whole = [number for number, one in enumerate(self.shown) if is_whole(one)]
        while True:
            look()
            before = int(found.sum())
            for number in whole:
                own = self.groups[number]
                open_ = ~found & (own != ABSENT)
                left = np.bincount(own[open_], minlength=int(own.max(initial=0)) + 1)
                found[open_] = left[own[open_]] == 1
            if int(found.sum()) == before:
                return found

    def rows(self, release: int) -> tuple[Integers, Integers, int]:
        """The rows of a release, sorted: group and what it shows as one number, how many there
        are, and the factor of the group in that number.
        """
        if release not in self._rows:
            self._rows[release] = self._counted_rows(release)
        return self._rows[release]

    def _counted_rows(self, release: int) -> tuple[Integers, Integers, int]:
        group, wide = self.groups[release][self.has.classes], int(self.shown[release].max()) + 1
        inside = group != ABSENT
        key = group[inside] * wide + self.shown[release][self.has.tuples[inside]]
        keys, which = np.unique(key, return_inverse=True)
        return keys, total(self.has.people[inside], which.reshape(-1), len(keys)), wide

    def signatures(self, value_of: Integers) -> Integers:
        """For each class how many values its groups show, where all of them show the same rows and
        none a value twice, nor a missing one; else 0. `value_of` is the value of each tuple, -1 for
        none. Every release must show the whole tuple.

        Then everybody who hangs together has the same rows to choose from, each group all of them,
        and exchanging two rows everywhere makes of each world another one: all are equally likely.
        """
        numbers: dict[bytes, int] = {}
        found: Integers = np.full(len(self.sizes), np.iinfo(np.int64).max, dtype=np.int64)
        rows: Integers = np.full(len(self.sizes), -1, dtype=np.int64)
        for groups in self.groups:
            number, many = self._rows_of_groups(groups, value_of, numbers)
            inside = groups != ABSENT
            own = number[groups[inside]]
            differ = (rows[inside] >= 0) & (rows[inside] != own)
            found[inside] = np.where(differ, 0, np.minimum(found[inside], many[groups[inside]]))
            rows[inside] = own
        return found

    def _rows_of_groups(
        self, groups: Integers, value_of: Integers, numbers: dict[bytes, int]
    ) -> tuple[Integers, Integers]:
        """For each group of a release a number for its rows, and how many values these have."""
        at = groups[self.has.classes]
        key = at[at != ABSENT] * self.tuples + self.has.tuples[at != ABSENT]
        keys, which = np.unique(key, return_inverse=True)
        people = total(self.has.people[at != ABSENT], which.reshape(-1), len(keys))
        owner, starts = np.unique(keys // self.tuples, return_index=True)
        number = np.zeros(int(groups.max(initial=0)) + 1, dtype=np.int64)
        many = np.zeros(len(number), dtype=np.int64)
        ends = [*starts[1:].tolist(), len(keys)]
        for group, start, end in zip(owner.tolist(), starts.tolist(), ends, strict=True):
            rows = keys[start:end] % self.tuples
            values = np.unique(value_of[rows])
            once = len(values) == end - start and bool((people[start:end] == 1).all())
            many[group] = end - start if once and values[0] >= 0 else 0
            number[group] = numbers.setdefault(rows.tobytes(), len(numbers))
        return number, many

    @cached_property
    def are_whole(self) -> bool:
        """Does every release show whole tuples?"""
        return all(map(is_whole, self.shown))

    def connected(self) -> Iterator[Component]:
        """The classes that are not settled, taken apart where no group joins them."""
        open_ = np.flatnonzero(~self.settled)
        if not len(open_):
            return
        label = components(self.groups[:, open_])
        where = np.full(self.groups.shape[1], -1, dtype=np.int64)
        where[open_] = label
        own = np.flatnonzero(where[self.has.classes] >= 0)
        own = own[np.argsort(where[self.has.classes[own]], kind="stable")]
        order = open_[np.argsort(label, kind="stable")]
        cells = np.split(own, run_starts(where[self.has.classes[own]])[1:])
        for classes, some in zip(np.split(order, run_starts(where[order])[1:]), cells, strict=True):
            yield Component(self, classes, some)


@dataclass(frozen=True, eq=False)
class Component:
    """Classes that hang together, by their numbers, and their cells in `releases.has`."""

    releases: Releases
    classes: Integers
    cells: Integers

    @cached_property
    def tuples(self) -> Integers:
        """The tuples that its people may have: those that they have, and where a release hides
        columns of somebody whom no other release shows whole, all that look like these there.
        """
        releases = self.releases
        own: Integers = np.unique(releases.has.tuples[self.cells])
        inside = releases.groups[:, self.classes] != ABSENT
        whole = np.array([is_whole(one) for one in releases.shown])
        if inside[whole].any(axis=0).all():
            return own
        hiding = releases.shown[~whole & inside.any(axis=1)]
        like = np.array([np.isin(one, one[own]) for one in hiding]).any(axis=0)
        return np.flatnonzero(like)

    @cached_property
    def current(self) -> Integers:
        """How many people of each class have each tuple in the data. Raises TooLarge."""
        if len(self.classes) * len(self.tuples) * len(self.releases.groups) > MOST_CELLS:
            raise TooLarge
        has = self.releases.has
        found = np.zeros((len(self.classes), len(self.tuples)), dtype=np.int64)
        at = np.searchsorted(self.classes, has.classes[self.cells])
        found[at, np.searchsorted(self.tuples, has.tuples[self.cells])] = has.people[self.cells]
        return found

    def overlap(self) -> Overlap:
        """The same as views of one table, which show somebody's group and part of the tuple.

        Raises TooLarge.
        """
        groups = self.releases.groups[:, self.classes]
        current = self.current
        outputs = np.zeros((len(self.classes), len(groups), len(self.tuples)), dtype=np.int64)
        shown = [np.zeros(1, dtype=np.int64)]
        first = 1
        for number, group in enumerate(groups):
            looks = np.unique(self.releases.shown[number][self.tuples], return_inverse=True)[1]
            there, which = np.unique(group, return_inverse=True)
            key = which.reshape(-1)[:, None] * (int(looks.max()) + 1) + looks.reshape(-1)
            inside = group != ABSENT
            rows = len(there) * (int(looks.max()) + 1)
            outputs[inside, number] = first + key[inside]
            shown.append(total(current[inside], key[inside], rows))
            first += rows
        return Overlap(
            tuple(self.tuples.tolist()),
            tuple(str(number) for number in range(len(groups))),
            outputs,
            self.releases.sizes[self.classes],
            np.concatenate(shown),
            current,
        )


def releases_of(
    groups: Sequence[Any],
    tuples: Any,
    people: Any = None,
    shown: Sequence[Any] | None = None,
) -> Releases:
    """Releases by rows: the group of each row in every release, its tuple, how many people it
    stands for; and what each release shows of each tuple, all of it where nothing is said.
    """
    stacked = np.array(groups, dtype=np.int64).reshape(len(groups), -1)
    tuple_of = np.array(tuples, dtype=np.int64)
    weight = np.ones(len(tuple_of), dtype=np.int64) if people is None else np.asarray(people)
    number = int(tuple_of.max(initial=0)) + 1
    each = np.tile(np.arange(number), (len(stacked), 1)) if shown is None else np.array(shown)
    inside = (stacked != ABSENT).any(axis=0)
    class_of = np.full(len(tuple_of), ABSENT, dtype=np.int64)
    stacked, tuple_of, weight = stacked[:, inside], tuple_of[inside], weight[inside]
    key, _ = pack_codes(
        list(stacked + 1), (stacked.max(axis=1, initial=ABSENT) + 2).tolist(), stacked.shape[1]
    )
    _, first, own = np.unique(key, return_index=True, return_inverse=True)
    class_of[inside] = own.reshape(-1)
    cell, which = np.unique(class_of[inside] * number + tuple_of, return_inverse=True)
    has = TupleCounts(cell // number, cell % number, total(weight, which.reshape(-1), len(cell)))
    return Releases(stacked[:, first], each, has, class_of)


def components(groups: Integers) -> Integers:
    """A number for each class; classes that a group joins have the same one, the least of theirs.

    >>> components(np.array([[0, 0, 1, 2], [5, 6, 6, -1]])).tolist()
    [0, 0, 0, 3]
    """
    found: Integers = np.arange(groups.shape[1])
    while True:
        look()
        before = found
        for group in groups:
            inside = group != ABSENT
            least = np.full(int(group.max(initial=0)) + 1, groups.shape[1], dtype=np.int64)
            np.minimum.at(least, group[inside], found[inside])
            found = np.where(inside, np.minimum(found, least[group]), found)
        found = found[found]
        if (found == before).all():
            return found


def is_whole(shown: Integers) -> bool:
    """Does a release that shows this of each tuple tell all tuples apart?"""
    return len(np.unique(shown)) == len(shown)


def total(people: Integers, which: Integers, many: int) -> Integers:
    """People added up by a number, exactly."""
    found = np.zeros(many, dtype=np.int64)
    np.add.at(found, which, people)
    return found
