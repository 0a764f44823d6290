"""Tilted rejection: tables drawn uniformly from all that fit, without counting them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.families.overlaps.counting.digits import Digits
from tacit.families.overlaps.counting.layers import TooManyLayerStates, tables_of
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.sampling.column_states import CannotSample, columns_of
from tacit.families.overlaps.sampling.column_sums import (
    ColumnGroup,
    DigitColumn,
    SumTable,
    group_of,
)
from tacit.families.overlaps.sampling.tilts import is_simple, members_of, tilted
from tacit.families.overlaps.sampling.urns import UNIT, Floats, WeightedUrn
from tacit.families.overlaps.sampling.walks import ColumnWalk, PointLaw
from tacit.families.overlaps.system import Flags, NoTable, OpenPart
from tacit.model.deadline import look
from tacit.model.jobs import Job

MOST_LISTED = (
    1 << 18
)  # points of a column up to which all are listed, and of all columns four times as many
MOST_PAIRS = 4e8  # sums that are formed to join columns
FEW_PAIRS = 1 << 16  # columns that are joined because that is nearly free
USUAL = 20_000  # tables that one expects to draw
PAIR, DRAW, LOOK = (
    12.0,
    20.0,
    60.0,
)  # nanoseconds for a sum, for a column's draw, for a proposal's end
FEW = 0.6  # with fewer proposals than this share still good, the others are dropped
FIRST, BATCH = 1 << 10, 1 << 17  # proposals at a time


class Proposals(Protocol):
    """A way to draw tables: what it proposes is accepted at times, and then it is a uniform table.

    `absolute` is the total variation of the law of one proposal from what it should be, and
    `relative` of that of an accepted table: small relative errors of all probabilities are still
    small among the few that are accepted.
    """

    relative: float
    absolute: float

    def accepted(self, rng: np.random.Generator, count: int) -> Integers:
        """The tables among so many proposals: how many people each cell has, one row each."""


# -- proposals from tables of sums ----------------------------------------------------------------


def free_classes(part: OpenPart) -> list[int]:
    """Classes from whose sizes, with the rows, all sizes follow; small ones are preferred.

    Nothing rests on it but speed: all sizes of an accepted table are looked at.
    """
    basis: list[Floats] = []

    def is_new(vector: Floats) -> bool:
        for _ in range(2):
            for one in basis:
                vector = vector - one * (vector @ one)
        length = float(np.linalg.norm(vector))
        if length > 1e-6:
            basis.append(vector / length)
        return length > 1e-6

    for row in part.rows:
        vector = np.zeros(len(part.place))
        vector[row.cells] = 1.0
        is_new(vector)
    members = members_of(part)
    return [
        one
        for one in np.argsort([one.total for one in part.classes], kind="stable").tolist()
        if is_new(members[one])
    ]


class Joined:
    """Proposals from the laws of sums of columns, which are listed.

    Groups of columns are drawn by their sums; what the classes have left is for the last group, and
    is accepted with its probability there, in proportion to the largest. With a single group to
    draw, that is drawn right away with the probability that it and what is left have together. Then
    every proposal is a table.
    """

    def __init__(self, part: OpenPart, drawn: Sequence[ColumnGroup], last: ColumnGroup) -> None:
        self.part = part
        self.digits = last.digits
        self.last = last
        self.drawn = list(drawn)
        self.is_certain = len(self.drawn) <= 1
        self.relative = 2 * sum(one.relative for one in (*drawn, last)) + 16 * UNIT
        self.absolute = 4 * UNIT
        if (
            not self.drawn
            and not last.table.at(np.array([self.digits.whole[0] ^ self.digits.guard[0]]))[0]
        ):
            raise NoTable
        self.urns: list[WeightedUrn] = []
        for one in self.drawn:
            table = self._fitting(one.table) if self.is_certain else one.table
            self.urns.append(WeightedUrn(table.weights, table.keys))
        self.relative += sum(urn.relative for urn in self.urns)
        self.absolute += sum(urn.absolute for urn in self.urns)

    def _fitting(self, table: SumTable) -> SumTable:
        """The law of the only group that is drawn, given that all classes are right."""
        fits, [left] = self.digits.without(self.digits.whole, [table.keys])
        weights = table.weights * np.where(
            fits, self.last.table.at(left ^ self.digits.guard[0]), 0.0
        )
        some = np.flatnonzero(weights)
        if not len(some):
            raise NoTable
        return SumTable(table.keys[some], weights[some])

    def accepted(self, rng: np.random.Generator, count: int) -> Integers:
        """The tables among so many proposals."""
        left = np.full(count, self.digits.whole[0])
        is_good = np.ones(count, dtype=bool)
        keys: list[Integers] = []
        for urn in self.urns:
            keys.append(urn.draw(rng, len(left)))
            fits, [left] = self.digits.without([left], [keys[-1]])
            is_good &= fits
            if np.count_nonzero(is_good) < FEW * len(is_good):
                some = np.flatnonzero(is_good)
                left, keys, is_good = left[some], [one[some] for one in keys], is_good[some]
        left ^= self.digits.guard[0]
        some = np.flatnonzero(is_good)
        if not self.is_certain:
            aim = rng.random(len(some)) * self.last.peak
            some = some[aim < self.last.table.at(left[some])]
        found = np.zeros((len(some), len(self.part.place)), dtype=np.int64)
        for group, mine in zip((*self.drawn, self.last), (*keys, left), strict=True):
            for cells, people in group.people(mine[some], rng):
                found[:, cells] = people
        return _checked(self.part, found)


def _checked(part: OpenPart, tables: Integers) -> Integers:
    """Tables without those that miss the size of a class:
    none, unless rounding hid that a class is free.
    """
    sizes = np.array([one.total for one in part.classes], dtype=np.int64)
    right: Flags = (tables @ members_of(part).T.astype(np.int64) == sizes).all(axis=1)
    found: Integers = tables[right]
    return found


def joined(part: OpenPart, laws: Sequence[PointLaw]) -> Joined:
    """Proposals from tables of sums, with as many columns joined as pays off."""
    free = free_classes(part)
    members = members_of(part)[free].T.astype(np.int64)
    digits = _digits(part, free)
    columns = [DigitColumn(law, digits, members[law.lattice.column.cells]) for law in laws]
    columns.sort(key=lambda column: float(column.table.weights.max()))
    last, *others = (group_of(digits, column) for column in columns)
    log_right = _log_density(np.array(digits.totals), columns)
    budget = MOST_PAIRS
    while len(others) > 1:
        proposals = USUAL * np.exp(min(np.log(last.peak) - log_right, 60.0))
        cost = proposals * (DRAW * len(others) + LOOK)
        able = [
            one for one in others if last.can_add(one.columns[0], min(budget, 0.3 * cost / PAIR))
        ]
        if not able:
            break
        budget -= last.pairs(able[0].columns[0])
        last = last.with_column(able[0].columns[0])
        others.remove(able[0])
    return Joined(part, _together(others), last)


def _digits(part: OpenPart, classes: Sequence[int]) -> Digits:
    """One digit for each of some classes."""
    totals = [part.classes[one].total for one in classes]
    return Digits(totals, totals)


def _together(groups: Sequence[ColumnGroup]) -> list[ColumnGroup]:
    """The groups to draw, with small ones joined: fewer to draw."""
    found: list[ColumnGroup] = []
    for one in sorted(groups, key=lambda group: len(group.table.keys)):
        if found and found[-1].can_add(one.columns[0], FEW_PAIRS):
            found[-1] = found[-1].with_column(one.columns[0])
        else:
            found.append(one)
    return found


def _log_density(sizes: Integers, columns: Sequence[DigitColumn]) -> float:
    """About the logarithm of the probability that all sizes are right, as
    if they were normally distributed.
    """
    wrong = sizes - sum(column.average for column in columns)
    spread = sum(column.spread for column in columns) + 0.08 * np.eye(
        len(sizes)
    )  # 1/12: a whole number is spread out
    return (
        float(
            -0.5 * wrong @ np.linalg.solve(spread, wrong)
            - 0.5 * np.linalg.slogdet(2 * np.pi * spread)[1]
        )
        if len(sizes)
        else 0.0
    )


# -- proposals cell by cell -----------------------------------------------------------------------


class Stepwise:
    """Proposals from columns with too many points to list them: all but one are drawn cell by cell.

    What the classes have left is the last column.
    It is accepted with its weight in proportion to the largest.
    """

    def __init__(self, part: OpenPart, laws: Sequence[PointLaw]) -> None:
        self.part = part
        self.last = min(
            (law for law in laws if is_simple(part, law.lattice.column)), key=lambda law: law.peak
        )
        if not self.last.largest > 1e-250:
            raise CannotSample("the weights of a column are too small to be told from nothing")
        self.walks = [ColumnWalk(law) for law in laws if law is not self.last]
        most = np.zeros(len(part.classes), dtype=np.int64)
        for walk in self.walks:
            np.maximum(
                most,
                np.bincount(part.class_of[walk.cells], part.high[walk.cells], len(most)).astype(
                    np.int64
                ),
                out=most,
            )
        self.digits = Digits([one.total for one in part.classes], most.tolist())
        self.packed = [self._packed(walk) for walk in self.walks]
        self.relative = (
            2 * (sum(walk.relative for walk in self.walks) + 2 * self.last.error) + 16 * UNIT
        )
        self.absolute = sum(walk.absolute for walk in self.walks) + 4 * UNIT

    def _packed(self, walk: ColumnWalk) -> list[list[tuple[int, Integers]]]:
        """What each choice of a walk adds to which word."""
        first = np.zeros((len(walk.begun.people), len(self.part.classes)), dtype=np.int64)
        for at, cell in enumerate(walk.begun.cells.tolist()):
            first[:, self.part.class_of[walk.cells[cell]]] += walk.begun.people[:, at]
        found = [list(enumerate(self.digits.packed(first)))]
        for layer in walk.layers:
            class_ = int(self.part.class_of[walk.cells[layer.cell]])
            found.append([(self.digits.word[class_], layer.people << self.digits.shift[class_])])
        return found

    def accepted(self, rng: np.random.Generator, count: int) -> Integers:
        """The tables among so many proposals."""
        left: list[Integers] = [np.full(count, one) for one in self.digits.whole]
        is_good = np.ones(count, dtype=bool)
        chosen: list[tuple[Integers, ...]] = []
        for walk, packed in zip(self.walks, self.packed, strict=True):
            chosen.append(walk.draw(rng, len(is_good)))
            taken = [np.zeros(len(is_good), dtype=np.int64) for _ in left]
            for choice, words in zip(chosen[-1], packed, strict=True):
                for word, values in words:
                    taken[word] += values.take(choice)
            fits, left = self.digits.without(left, taken)
            is_good &= fits
            if np.count_nonzero(is_good) < FEW * len(is_good):
                some = np.flatnonzero(is_good)
                left, is_good = [one[some] for one in left], is_good[some]
                chosen = [tuple(choice[some] for choice in choices) for choices in chosen]
        some = np.flatnonzero(is_good)
        rest = self.digits.unpacked([one[some] for one in left])
        column = self.last.lattice.column
        people = rest[:, self.part.class_of[column.cells]]
        good = ((people >= column.low) & (people <= column.high)).all(axis=1)
        for cells, total in column.rows:
            good &= people[:, cells].sum(axis=1) == total
        some, people = some[good], people[good]
        good = rng.random(len(some)) * self.last.largest < self.last.weights(people)
        some, people = some[good], people[good]
        found = np.zeros((len(some), len(self.part.place)), dtype=np.int64)
        found[:, column.cells] = people
        for walk, choices in zip(self.walks, chosen, strict=True):
            found[:, walk.cells] = walk.people([choice[some] for choice in choices])
        return _checked(self.part, found)


# -- proposals from the layers of counting --------------------------------------------------------


class LayerSampler:
    """Tables from the layers of the count: each proposal is one, and whole numbers of any size
    leave nothing to rounding.
    """

    relative = 2.0**-60
    absolute = 0.0

    def __init__(self, part: OpenPart) -> None:
        self.part = part
        self.accepted(np.random.default_rng(0), 1)

    def accepted(self, rng: np.random.Generator, count: int) -> Integers:
        """So many tables."""
        try:
            return tables_of(self.part, count, rng)
        except TooManyLayerStates as error:
            raise CannotSample(
                "there are too many states to count, and no columns to draw one by one"
            ) from error


# -- the sampler ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Sampler:
    """Independent uniform tables of a part, as many as one likes.

    Tables are solutions: how many people each cell has. A solution stands for prod(class.total! /
    prod x!) tables, and is drawn with the probability that one of them has.
    """

    proposals: Proposals
    rng: np.random.Generator
    proposed: int = 0
    found: int = 0
    seconds: float = 0.0

    @property
    def error(self) -> float:
        """The probability, at most, that rounding changed any of the tables drawn so far.

        Each proposal can be coupled with an ideal one so that they differ with probability
        `absolute` only, and each accepted table with a uniform one so that they differ with
        probability `relative`.
        """
        return self.proposed * self.proposals.absolute + self.found * self.proposals.relative

    def batch(self, wanted: int) -> Integers:
        """The tables among some proposals: about as many as wanted, or as
        few as there are among 131,072.
        """
        start = time.perf_counter()
        likely = (self.found + 1) / (self.proposed + 1)
        count = (
            FIRST
            if not self.proposed
            else int(min(max(1.1 * wanted / likely, FIRST), BATCH, 16 * self.proposed))
        )
        tables = self.proposals.accepted(self.rng, count)
        self.proposed += count
        self.found += len(tables)
        self.seconds += time.perf_counter() - start
        return tables

    def forecast(self, wanted: int) -> float:
        """About how many seconds it takes to draw so many tables, judged by those drawn so far."""
        return self.seconds * wanted / max(self.found, 0.5) if self.proposed else float("inf")

    def draw(self, wanted: int, *, job: Job | None = None) -> Iterator[Integers]:
        """Tables in batches until there are as many as wanted, or a few more;
        raises OutOfTime at the deadline.
        """
        found = 0
        while found < wanted:
            look()
            tables = self.batch(wanted - found)
            found += len(tables)
            if job is not None:
                job.step(
                    f"{min(found, wanted):,} of {wanted:,} tables drawn", min(found / wanted, 1.0)
                )
            yield tables


def sampler_of(part: OpenPart, rng: np.random.Generator) -> Sampler:
    """A sampler of the tables of a part;
    raises CannotSample where its columns have too many states.

    The columns of a part are independent but for the sizes of classes. Each is drawn from its own
    law, exponentially tilted, among the points that its rows allow; all but the last, which the
    sizes of classes determine and which is accepted with its weight, in proportion to the largest
    weight. A table is then proposed with the probability prod tilt**x / x!, which is the same for
    all tables of one solution up to their number, and so the accepted tables are uniform. About
    d**(-f/2) of the proposals are accepted, with d columns and f free classes.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> [part] = system_of(
    ...     overlap_of("xyz", ["xxyz", "xyz"], [[0], [0], [0, 1], [0, 1], [1]])
    ... ).parts
    >>> sampler = sampler_of(part, np.random.default_rng(1))
    >>> tables = np.concatenate(list(sampler.draw(1000)))
    >>> np.unique(tables, axis=0).shape
    (10, 15)
    """
    laws = tilted(part, columns_of(part))
    points = [law.lattice.points for law in laws]
    if (
        max(points) <= MOST_LISTED
        and sum(points) <= 4 * MOST_LISTED
        and _digits(part, free_classes(part)).words == 1
    ):
        return Sampler(joined(part, laws), rng)
    is_able = any(is_simple(part, law.lattice.column) for law in laws)
    return Sampler(Stepwise(part, laws) if is_able else LayerSampler(part), rng)
