"""Flows: how many people of each group have which value.

A group is for example a place of work, its people are its workers, and
the value is where each of them lives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.errors import DataError

Integers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Flows:
    """How many people of which group have which value:
    parallel arrays of places in `groups` and `values`, and counts.

    >>> Flows.of([("mill", "north", 3), ("mill", "south", 1), ("yard", "north", 2)]).sizes.tolist()
    [4, 2]
    """

    groups: Sequence[Any]
    values: Sequence[Any]
    group: Integers
    value: Integers
    count: Integers

    @classmethod
    def of(
        cls,
        rows: Iterable[tuple[Any, Any, int]],
        groups: Sequence[Any] = (),
        values: Sequence[Any] = (),
    ) -> Flows:
        """From rows of group, value and count;
        groups and values that are not given are numbered as they come.
        """
        group_places = {one: place for place, one in enumerate(groups)}
        value_places = {one: place for place, one in enumerate(values)}
        found = [
            (
                group_places.setdefault(a, len(group_places)),
                value_places.setdefault(b, len(value_places)),
                n,
            )
            for a, b, n in rows
        ]
        group, value, count = np.array(found, np.int64).reshape(-1, 3).T
        return cls(tuple(group_places), tuple(value_places), group, value, count)

    @cached_property
    def summed(self) -> Flows:
        """One row for each group and value that has people, sorted by group and value."""
        if not len(self.group) == len(self.value) == len(self.count):
            raise DataError(
                "groups, values and counts of flows differ in length.",
                hint="Give one of each for every row.",
            )
        for places, known, what in (
            (self.group, self.groups, "group"),
            (self.value, self.values, "value"),
        ):
            if len(places) and not 0 <= int(places.min()) <= int(places.max()) < len(known):
                raise DataError(
                    f"a row of the flows has a {what} that is not in the list.",
                    hint=f"Number them from 0 to {len(known) - 1}.",
                )
        if len(self.count) and int(self.count.min()) < 0:
            raise DataError("a count of the flows is negative.", hint="Count people: 0, 1, 2, ...")
        key, number = np.unique(self.group * len(self.values) + self.value, return_inverse=True)
        count = added(number, self.count, len(key))
        key, count = key[count > 0], count[count > 0]
        return Flows(
            self.groups,
            self.values,
            key // max(1, len(self.values)),
            key % max(1, len(self.values)),
            count,
        )

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


def added(places: Integers, amounts: Integers, size: int) -> Integers:
    """Whole numbers summed by place, exactly."""
    found = np.zeros(size, np.int64)
    np.add.at(found, places, amounts)
    return found
