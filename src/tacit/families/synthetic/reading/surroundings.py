"""Surroundings: how far the values are from a group, which are near enough, and how likely an
empty one is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.families.synthetic.occupied_cells import Integers
from tacit.families.synthetic.utility.flows import Floats
from tacit.families.synthetic.utility.positions import EARTH, Positions, miles_between

SLACK = 1e-6  # degrees by which the band of latitudes is wider than need be: rounding loses nobody


@dataclass(frozen=True)
class Surroundings:
    """Where values and groups are. Groups are given by their place in the list of groups."""

    positions: Positions

    @cached_property
    def _by_latitude(self) -> tuple[Integers, Floats]:
        order = np.argsort(self.positions.latitude, kind="stable").astype(np.int64)
        return order, self.positions.latitude[order]

    def miles(self, group: int, values: Integers | None = None) -> Floats:
        """How far some values (None: all) are from a group."""
        assert (
            self.positions.group_latitude is not None and self.positions.group_longitude is not None
        )
        latitude, longitude = self.positions.latitude, self.positions.longitude
        if values is not None:
            latitude, longitude = latitude[values], longitude[values]
        here = (
            np.full(len(latitude), one[group])
            for one in (self.positions.group_latitude, self.positions.group_longitude)
        )
        return miles_between(latitude, longitude, *here)

    def near(self, group: int, within: float) -> Integers:
        """The values that are within so many miles of a group, by their places, sorted.

        Who is within is also within that many miles of latitude:
        of a whole country only a band is looked at.
        """
        assert self.positions.group_latitude is not None
        order, latitudes = self._by_latitude
        here, reach = (
            float(self.positions.group_latitude[group]),
            float(np.degrees(within / EARTH)) + SLACK,
        )
        low, high = (
            np.searchsorted(latitudes, here - reach, "left"),
            np.searchsorted(latitudes, here + reach, "right"),
        )
        band = order[low:high]
        return np.sort(band[self.miles(group, band) <= within])


def stepped(miles: Floats, ends: Floats, chances: Integers) -> Integers:
    """A step function of distances: the chance of the first step that reaches so far, the last
    chance beyond all.

    >>> stepped(
    ...     np.array([1.0, 2.0, 2.1, 99.0]), np.array([2.0, 5.0]), np.array([10, 5, 1])
    ... ).tolist()
    [10, 10, 5, 1]
    """
    return chances[np.searchsorted(ends, miles, side="left")]
