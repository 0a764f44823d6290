"""Distances of flows: how far from their group people are, true against synthetic, and who is
farther away than anybody was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.families.synthetic.utility.flows import Floats, Flows, Integers, added
from tacit.families.synthetic.utility.positions import Positions

FAR = 99  # percent of a group's people who do not live farther away


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
    def of(
        cls, true: Flows, synthetic: Flows, positions: Positions | None, short: float | None
    ) -> Distances:
        """Measured; all NaN without places."""
        here, there = (
            positions.miles(flows) if positions is not None else np.full(len(flows.group), np.nan)
            for flows in (true, synthetic)
        )
        everybody = Flows(("all",), true.values, np.zeros_like(true.group), true.value, true.count)
        below = float(percentiles(everybody, here, 50)[0][0]) if short is None else short
        longest, far = percentiles(true, here, 100, FAR)
        return cls(
            here,
            there,
            below,
            longest=longest,
            far=far,
            beyond_longest=beyond(synthetic, there, longest),
            beyond_far=beyond(synthetic, there, far),
            mean_true=group_means(true, here),
            mean_synthetic=group_means(synthetic, there),
            short_true=group_means(true, here, below),
            short_synthetic=group_means(synthetic, there, below),
        )

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
    """The least distances that so many percent of each group's people do not exceed;
    NaN where nobody has one.
    """
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
