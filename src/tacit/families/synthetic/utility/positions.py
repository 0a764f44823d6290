"""Positions: where values and groups are, and how many great-circle miles lie between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.families.synthetic.utility.flows import Floats, Flows

EARTH = 3958.7613  # mean radius in miles


@dataclass(frozen=True)
class Positions:
    """Where values and groups are, in degrees; NaN where nobody knows.
    Without places of the groups there are no distances.
    """

    latitude: Floats
    longitude: Floats
    group_latitude: Floats | None = None
    group_longitude: Floats | None = None

    def miles(self, flows: Flows) -> Floats:
        """How far from their group the people of each row are;
        NaN where either place is unknown.
        """
        if self.group_latitude is None or self.group_longitude is None:
            return np.full(len(flows.group), np.nan)
        return miles_between(
            self.latitude[flows.value],
            self.longitude[flows.value],
            self.group_latitude[flows.group],
            self.group_longitude[flows.group],
        )


def miles_between(
    latitude: Floats, longitude: Floats, other_latitude: Floats, other_longitude: Floats
) -> Floats:
    """Great-circle distances (haversine) in miles.

    >>> berlin, paris = (
    ...     (np.array([52.52]), np.array([13.405])),
    ...     (np.array([48.8566]), np.array([2.3522])),
    ... )
    >>> round(float(miles_between(*berlin, *paris)[0]))
    545
    """
    one, other = np.radians(latitude), np.radians(other_latitude)
    across = np.sin(np.radians(longitude - other_longitude) / 2) ** 2
    part = np.sin((one - other) / 2) ** 2 + np.cos(one) * np.cos(other) * across
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.clip(part, 0.0, 1.0))))
