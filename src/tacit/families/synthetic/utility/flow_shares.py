"""Shares of flows: people of each group and value side by side, their total variation (exact),
and the most frequent values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.synthetic.utility.flows import Floats, Flows, Integers

TOP = 10  # values with the most people


@dataclass(frozen=True)
class FlowPairs:
    """True and synthetic people side by side, for each group and value that either has;
    sorted by group.
    """

    group: Integers
    true: Integers
    synthetic: Integers
    people: Integers
    drawn: Integers
    totals: tuple[Integers, Integers]

    @classmethod
    def of(cls, true: Flows, synthetic: Flows) -> FlowPairs:
        """From flows with one row for each group and value."""
        width = max(1, len(true.values))
        keys = [flows.group * width + flows.value for flows in (true, synthetic)]
        both = np.union1d(*keys)
        counts = [np.zeros(len(both), np.int64) for _ in keys]
        for count, key, flows in zip(counts, keys, (true, synthetic), strict=True):
            count[np.searchsorted(both, key)] = flows.count
        return cls(
            both // width,
            counts[0],
            counts[1],
            true.sizes,
            synthetic.sizes,
            (true.totals, synthetic.totals),
        )

    @property
    def variation(self) -> Fraction:
        """The total variation distance of groups and values together."""
        return exact_variation(self.true, self.synthetic)

    @property
    def variations(self) -> tuple[Any, Any]:
        """Numerators and denominators of the groups' total variation distances."""
        shared = np.maximum(np.gcd(self.people, self.drawn), 1)
        # Each share over the least common multiple of both sizes:
        # with equal sizes the numbers stay as small as the counts.
        times_true, times_synthetic = self.drawn // shared, self.people // shared
        kind: Any = np.int64 if fits(self.people, times_true) else object
        differences = (
            self.true.astype(kind) * times_true[self.group]
            - self.synthetic.astype(kind) * times_synthetic[self.group]
        )
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


def top_values(
    group: Integers, true: Integers, synthetic: Integers, groups: int
) -> tuple[Floats, Integers]:
    """How many of each group's most frequent true values are among its most frequent synthetic
    values, and of how many.
    """
    both = chances(group, true, groups) * chances(group, synthetic, groups)
    occupied = np.bincount(group, weights=true > 0, minlength=groups)
    hits = np.bincount(group, weights=both, minlength=groups).astype(np.float64)
    return hits, np.minimum(occupied, TOP).astype(np.int64)


def chances(group: Integers, count: Integers, groups: int) -> Floats:
    """The chance of each row to be among its group's first TOP by count, where ties are broken
    at random. Rows are sorted by group.
    """
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
