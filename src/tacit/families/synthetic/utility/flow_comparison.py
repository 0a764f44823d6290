"""Flows compared, true against synthetic: distances, shares, most frequent values, range queries
and far-off people in one answer.

Counts and total variation are exact; distances are great-circle miles in floating point.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from tacit.errors import DataError
from tacit.families.synthetic.utility.flow_distances import Distances
from tacit.families.synthetic.utility.flow_queries import (
    GROUP_QUERIES,
    QUERIES,
    Questions,
    quantiles,
    summary,
)
from tacit.families.synthetic.utility.flow_shares import FlowPairs, exact_variation, top_values
from tacit.families.synthetic.utility.flow_utility import ByGroup, FlowUtility, bands_of
from tacit.families.synthetic.utility.flows import Floats, Flows
from tacit.families.synthetic.utility.positions import Positions


def compare(
    true: Flows,
    synthetic: Flows,
    positions: Positions | None = None,
    *,
    short: float | None = None,
    queries: int = QUERIES,
    group_queries: int = GROUP_QUERIES,
    seed: int = 0,
) -> FlowUtility:
    """What is still true of synthetic flows?

    Both are over the same groups and values. Mean distances leave out who has no place. Total
    variation is half the sum of the differences of the shares; it is 1 for a group that has people
    on one side only. Ties at the end of the most frequent values count in part: by their chance if
    ties are broken at random. Range queries count people in rectangles between two random values
    (in random sets of values where there are no places); they are the same for the same `seed`, and
    left out where nobody is there on either side. One pass over the rows for each question and some
    sorts.

    >>> true = Flows.of([("mill", "north", 3), ("mill", "south", 1)])
    >>> drawn = Flows.of([("mill", "north", 2), ("mill", "south", 2)], true.groups, true.values)
    >>> compare(true, drawn).total_variation
    Fraction(1, 4)
    """
    for here, there, what in (
        (true.groups, synthetic.groups, "groups"),
        (true.values, synthetic.values, "values"),
    ):
        if len(here) != len(there):
            raise DataError(
                f"true and synthetic flows are over {len(here):,} and {len(there):,} {what}.",
                hint="Number both by one list.",
            )
    ours, drawn, places = with_people(true.summed, synthetic.summed, positions)
    pairs = FlowPairs.of(ours, drawn)
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
        without_place=int(drawn.count[np.isnan(far.synthetic)].sum())
        if positions is not None
        else 0,
        empty=int(((pairs.people > 0) & (pairs.drawn == 0)).sum()),
        top=float(top[0]),
        of_top=int(of_top[0]),
        queries=asked.of_all(pairs.totals, queries),
        group_queries=summary(per_group),
        bands=bands_of(groups),
        groups=groups,
    )


def with_people(
    true: Flows, synthetic: Flows, positions: Positions | None
) -> tuple[Flows, Flows, Positions | None]:
    """The same over the values that have people on either side:
    of millions of values most have none.
    """
    kept = np.flatnonzero(true.totals + synthetic.totals)
    places = np.zeros(len(true.values), np.int64)
    places[kept] = np.arange(len(kept))
    sides = [
        replace(flows, values=range(len(kept)), value=places[flows.value])
        for flows in (true, synthetic)
    ]
    if positions is None:
        return sides[0], sides[1], None
    return (
        sides[0],
        sides[1],
        replace(positions, latitude=positions.latitude[kept], longitude=positions.longitude[kept]),
    )


def by_group(pairs: FlowPairs, far: Distances, asked: Floats) -> ByGroup:
    """Everything that is said of every group."""
    moved, whole = pairs.variations
    top, of_top = top_values(pairs.group, pairs.true, pairs.synthetic, len(pairs.people))
    median, high = quantiles(asked)
    measured = {
        one.name: getattr(far, one.name)
        for one in fields(far)
        if one.name not in ("true", "synthetic", "short")
    }
    return ByGroup(
        pairs.people,
        pairs.drawn,
        moved,
        whole,
        **measured,
        top=top,
        of_top=of_top,
        query_median=median,
        query_high=high,
    )
