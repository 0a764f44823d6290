"""Proximity as a rule that a partitioner can keep:
how many of a group may be near one of its values.

Dissimilarity, (alpha,k)- and (epsilon,m)-anonymity are such rules: around every value of a group
lie at most `fixed + share * size` of its people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from tacit.families.microdata.definitions.alpha_k import AlphaK
from tacit.families.microdata.definitions.dissimilarity import Dissimilarity
from tacit.families.microdata.definitions.eps_m import EpsM
from tacit.families.microdata.definitions.microdata_definition import one_column
from tacit.families.microdata.definitions.neighbourhood import NeighbourhoodDefinition
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.neighbours import Nearness, Windows
from tacit.families.microdata.repair.requirements import Required

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers


@dataclass(frozen=True, slots=True)
class ProximityRule:
    """Around every known value of a group lie at most `fixed + share *
    size` of those whose value is known.

    `codes` has the value of each combination of the table; `missing` is the code of no value.
    """

    label: str
    codes: Integers
    missing: int
    nearness: Nearness
    fixed: Fraction
    share: Fraction

    def conflicts(self, size: int) -> int:
        """How many others may be near anyone in a group of some size;
        below 0 where none is allowed.

        >>> ProximityRule(
        ...     "", np.zeros(0), 0, Windows(*[np.zeros(0)] * 3), Fraction(17, 20), Fraction(3, 20)
        ... ).conflicts(10)
        1
        """
        return floor(self.fixed + self.share * size) - 1

    @property
    def least_size(self) -> int:
        """The smallest group in which the rule can hold:
        with one person, everybody is near everybody.
        """
        if self.fixed + self.share >= 1 and self.share == 1:
            return 1
        return max(2, ceil((1 - self.fixed) / self.share)) if self.share else 2


def rule(raw: MicrodataQuestion, required: Required) -> ProximityRule | None:
    """The rule of a check, under the reading that trusts the least;
    None where it is about something else.
    """
    definition = required.definition
    if not isinstance(definition, NeighbourhoodDefinition):
        return None
    if isinstance(definition, Dissimilarity):
        fixed, share = Fraction(definition.delta), 1 - Fraction(definition.delta)
    elif isinstance(definition, AlphaK):
        fixed, share = Fraction(0), Fraction(definition.alpha)
    elif isinstance(definition, EpsM):
        fixed, share = Fraction(0), 1 / Fraction(definition.m)
    else:
        return None
    reading = raw.stricter or raw
    column = one_column(reading, required.sensitive, definition.check_name)
    nearness = definition.distance(reading, column).within(definition.radius)
    base = reading.base
    return ProximityRule(
        required.label, base.codes(column), base.size(column) - 1, nearness, fixed, share
    )


def rules(raw: MicrodataQuestion, required: Sequence[Required]) -> list[ProximityRule]:
    """The rules among the checks."""
    return [found for one in required if (found := rule(raw, one)) is not None]


def least_size(required: Sequence[Required], found: Sequence[ProximityRule]) -> int:
    """The smallest group in which all checks can hold."""
    return max(
        (1, *(one.definition.least_group for one in required), *(one.least_size for one in found))
    )


def crowded(
    raw: MicrodataQuestion,
    required: Sequence[Required],
    found: Sequence[ProximityRule],
    *,
    suppress: int = 0,
) -> str | None:
    """Why no groups whatever can meet a rule, if that shows at once; else None.

    People who are all near each other are spread over at most n/k groups, each with at most `fixed
    + share * size` of them: n(1 - delta + delta/k) for dissimilarity. `suppress` of them may be
    left out. Only where every row is a person and in one group.
    """
    overlapping = any(one.definition.missing == "match-any" for one in required)
    if raw.base.persons is not None or (
        overlapping and any(raw.base.missing(name) for name in raw.quasi)
    ):
        return None
    least = least_size(required, found)
    for one in found:
        people = np.bincount(
            one.codes, weights=raw.base.occurrences, minlength=one.missing + 1
        ).astype(np.int64)
        alike = largest_clique(one.nearness, people[: one.missing]) - suppress
        known, rows = int(people[: one.missing].sum()) - suppress, raw.base.rows - suppress
        most = floor(one.fixed * (max(0, rows) // least) + one.share * max(0, known))
        if alike > most:
            return (
                f"{one.label} cannot hold: {alike + suppress:,} of {raw.base.rows:,} rows are "
                f"alike, and groups of {least} or more have room for {most + suppress:,} of them"
            )
    return None


def largest_clique(nearness: Nearness, people: Integers) -> int:
    """The most people with values that are all near each other;
    where nearness is asked pair by pair, one value.
    """
    if not isinstance(nearness, Windows):
        return int(people.max(initial=0))
    number = int(nearness.place.max(initial=-1)) + 1
    at_place = np.bincount(nearness.place, weights=people, minlength=number).astype(np.int64)
    sums = np.concatenate(([0], np.cumsum(at_place)))
    # All from a value up to the last that is near it lie within epsilon of each other.
    return int((sums[nearness.last + 1] - sums[nearness.place]).max(initial=0))
