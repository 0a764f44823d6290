"""Range queries on flows: random questions of how many people there are, and how far off
synthetic people answer them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.families.synthetic.utility.flows import Floats, Flows, Integers, added
from tacit.families.synthetic.utility.positions import Positions
from tacit.model.deadline import look

Mask = np.ndarray[Any, np.dtype[np.bool_]]
QUERIES = 400  # random questions about everybody
GROUP_QUERIES = 40  # random questions about every group
MOST_ASKED = 20_000  # groups that are asked, at most
FLOOR = (
    1000  # an error is a part of the truth, or of this part of all people where the truth is less
)


@dataclass(frozen=True, slots=True)
class Queries:
    """Relative errors of random questions: their median, and what nine of ten do not exceed."""

    asked: int
    median: float
    high: float


@dataclass(frozen=True)
class Questions:
    """Random questions "how many people are there?": in `boxes` of south, north, west and east,
    or in sets with some share of the values.
    """

    positions: Positions | None
    boxes: Floats
    shares: Floats
    seed: int

    @classmethod
    def of(
        cls, everywhere: Positions | None, positions: Positions | None, number: int, seed: int
    ) -> Questions:
        """So many questions about values at `positions`;
        the same ones for the same seed and the same places `everywhere`.
        """
        draw = np.random.default_rng(seed)
        shares = draw.random(number)
        if everywhere is None or positions is None:
            return cls(None, np.zeros((number, 4)), shares, seed)
        placed = np.flatnonzero(~np.isnan(everywhere.latitude + everywhere.longitude))
        if not len(placed):
            return cls(None, np.zeros((number, 4)), shares, seed)
        corners = placed[draw.integers(0, len(placed), (number, 2))]
        ends = [
            np.sort(degrees[corners], axis=1)
            for degrees in (everywhere.latitude, everywhere.longitude)
        ]
        return cls(positions, np.concatenate(ends, axis=1), shares, seed)

    def of_all(self, totals: tuple[Integers, Integers], number: int) -> Queries:
        """Errors of questions about everybody."""
        people, drawn = totals
        answers = [
            (int(people[inside].sum()), int(drawn[inside].sum()))
            for inside in self.masks(len(people), number)
        ]
        truth, answer = np.array(answers, np.int64).reshape(-1, 2).T
        return summary(relative(truth, answer, people.sum()))

    def of_groups(self, true: Flows, synthetic: Flows, number: int) -> Floats:
        """Errors of the same questions about every group:
        a row for each group, NaN for those that are not asked.
        """
        asked = np.flatnonzero(true.sizes)
        if len(asked) > MOST_ASKED:
            asked = np.sort(
                np.random.default_rng(self.seed).choice(asked, MOST_ASKED, replace=False)
            )
        sides = [flows_of(flows, asked) for flows in (true, synthetic)]
        answers = [
            [answers_of(side, inside) for side in sides]
            for inside in self.masks(len(true.values), number)
        ]
        truth, answer = (
            np.array(answers, np.int64).reshape(len(answers), 2, len(asked)).transpose(1, 2, 0)
        )
        found = np.full((len(true.groups), truth.shape[1]), np.nan)
        found[asked] = relative(truth, answer, true.sizes[asked, None])
        return found

    def masks(self, values: int, number: int) -> Iterator[Mask]:
        """For each of the first so many questions, which of the values it asks for."""
        for question in range(min(number, len(self.shares))):
            look()
            if self.positions is None:
                yield (
                    np.random.default_rng([self.seed, question]).random(values)
                    < self.shares[question]
                )
            else:
                south, north, west, east = self.boxes[question]
                latitude, longitude = self.positions.latitude, self.positions.longitude
                yield (
                    (latitude >= south)
                    & (latitude <= north)
                    & (longitude >= west)
                    & (longitude <= east)
                )


def flows_of(flows: Flows, groups: Integers) -> Flows:
    """The rows of some groups, which are numbered anew."""
    places = np.full(len(flows.groups), -1)
    places[groups] = np.arange(len(groups))
    rows = places[flows.group] >= 0
    return Flows(
        range(len(groups)),
        flows.values,
        places[flows.group[rows]],
        flows.value[rows],
        flows.count[rows],
    )


def answers_of(flows: Flows, inside: Mask) -> Integers:
    """How many people of each group have one of the values."""
    rows = np.flatnonzero(inside[flows.value])
    return added(flows.group[rows], flows.count[rows], len(flows.groups))


def relative(truth: Integers, answer: Integers, people: Any) -> Floats:
    """Errors as parts of the truth, or of a thousandth of all people (one person at least) where
    the truth is less.

    NaN where nobody is asked for on either side:
    small groups would look right wherever they are empty.
    """
    errors = np.abs(answer - truth) / np.maximum(truth, np.maximum(people / FLOOR, 1.0))
    return np.where(truth + answer > 0, errors, np.nan)


def summary(errors: Floats) -> Queries:
    """Median and ninth decile of all errors."""
    known = errors[~np.isnan(errors)]
    if not len(known):
        return Queries(0, math.nan, math.nan)
    median, high = np.quantile(known, [0.5, 0.9])
    return Queries(len(known), float(median), float(high))


def quantiles(errors: Floats) -> tuple[Floats, Floats]:
    """Median and ninth decile of the errors of every group; NaN where there are none."""
    ordered = np.sort(
        np.concatenate([errors, np.full((len(errors), 1), np.nan)], axis=1)
    )  # NaN comes last
    last = np.maximum((~np.isnan(ordered)).sum(axis=1) - 1, 0)
    rows = np.arange(len(errors))
    found = []
    for share in (0.5, 0.9):
        below = np.floor(share * last).astype(np.int64)
        above = np.minimum(below + 1, last)
        part = share * last - below
        found.append(ordered[rows, below] * (1 - part) + ordered[rows, above] * part)
    return found[0], found[1]
