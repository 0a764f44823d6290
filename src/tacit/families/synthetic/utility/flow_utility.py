"""What a comparison of flows found: of all people, by size of group and of every group, and all
of it as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tacit.families.synthetic.utility.flow_queries import Queries
from tacit.families.synthetic.utility.flows import Floats, Integers
from tacit.model.verdict import with_decimals

BANDS = ((1, 10), (11, 50), (51, 200), (201, 1000), (1001, None))  # sizes of groups
DIGITS = 4


@dataclass(frozen=True)
class ByGroup:
    """What became of each group, in the order of the groups.
    Distances are NaN where nobody has one.

    `moved` of `whole` is the total variation distance. `top` is how many of the group's `of_top`
    most frequent values are among the most frequent synthetic ones. `far` is the distance that 99 %
    do not exceed, `longest` the longest, both of the true people; `beyond_far` and `beyond_longest`
    count synthetic people.
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
        return (
            f"more than {self.least - 1:,}"
            if self.most is None
            else f"{self.least:,} to {self.most:,}"
        )


@dataclass(frozen=True)
class FlowUtility:
    """What is still true of synthetic flows: of all people, by size of group, and of every group.

    `total_variation` is that of groups and values together, `value_variation` of the values alone,
    whatever the group. `short` is the distance below which a distance counts as short: the true
    median where none is given. `empty` groups have people, and no synthetic ones.
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
        """As `tacit synthesize --json` has it; with the groups' `names` also every group.
        None where there is nothing to measure.
        """
        document: dict[str, Any] = {
            "people": str(self.people),
            "synthetic_people": str(self.drawn),
            "groups": str(len(self.groups.people)),
            "empty_groups": str(self.empty),
        }
        document |= with_decimals(
            {"total_variation": self.total_variation, "value_variation": self.value_variation}
        )
        document |= {
            "top_values": rounded(self.top),
            "of_top_values": str(self.of_top),
            "queries": queries_json(self.queries),
            "group_queries": queries_json(self.group_queries),
        }
        if self.has_distances:
            document["miles"] = {
                name: rounded(getattr(self, name))
                for name in (
                    "mean_true",
                    "mean_synthetic",
                    "short",
                    "short_mean_true",
                    "short_mean_synthetic",
                )
            }
            document["miles"] |= {
                name: str(getattr(self, name))
                for name in ("beyond_longest", "beyond_far", "without_place")
            }
        document["bands"] = [band_json(one) for one in self.bands]
        if names:
            document["by_group"] = [
                self.group_json(place, str(name)) for place, name in enumerate(names)
            ]
        return document

    def group_json(self, place: int, name: str) -> dict[str, Any]:
        """One group."""
        numbers = ("mean_true", "mean_synthetic", "longest", "top", "query_median", "query_high")
        counts = ("people", "drawn", "of_top", "beyond_longest", "beyond_far")
        return {
            "group": name,
            **with_decimals({"total_variation": self.groups.total_variation(place)}),
            **{one: rounded(float(getattr(self.groups, one)[place])) for one in numbers},
            **{one: str(int(getattr(self.groups, one)[place])) for one in counts},
        }


def rounded(number: float) -> float | None:
    """A number as JSON shows it, or None for NaN.

    >>> rounded(2 / 3), rounded(math.nan)
    (0.6667, None)
    """
    return None if math.isnan(number) else round(number, DIGITS)


def queries_json(found: Queries) -> dict[str, Any]:
    """Errors of random questions."""
    return {
        "asked": str(found.asked),
        "median_error": rounded(found.median),
        "ninth_decile_error": rounded(found.high),
    }


def band_json(band: Band) -> dict[str, Any]:
    """Medians of a band of group sizes."""
    counts = {
        "least": str(band.least),
        "most": None if band.most is None else str(band.most),
        "groups": str(band.groups),
        "people": str(band.people),
    }
    return counts | {
        name: rounded(getattr(band, name))
        for name in ("error", "total_variation", "query_error", "top")
    }


def bands_of(groups: ByGroup) -> tuple[Band, ...]:
    """Medians by size of group, for each band that has groups."""
    found = []
    for least, most in BANDS:
        inside = (groups.people >= least) & (groups.people <= (most or np.iinfo(np.int64).max))
        if inside.any():
            top = groups.top[inside] / groups.of_top[inside]
            errors = (
                groups.errors[inside],
                groups.variations[inside],
                groups.query_median[inside],
                top,
            )
            found.append(
                Band(
                    least,
                    most,
                    int(inside.sum()),
                    int(groups.people[inside].sum()),
                    *map(median_of, errors),
                )
            )
    return tuple(found)


def median_of(numbers: Floats) -> float:
    """The median of the numbers that are known; NaN where none is."""
    known = numbers[~np.isnan(numbers)]
    return float(np.median(known)) if len(known) else math.nan
