"""Beliefs: the share of fitting tables in which a person has a value, part by part, each by the
cheapest way that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log2, log10
from types import ModuleType

from tacit.families.overlaps.counting import chain, layers, products
from tacit.families.overlaps.counting.expectations import MOST_STEPS, CountingCost, Expected
from tacit.families.overlaps.counting.layers import TooManyLayerStates
from tacit.families.overlaps.overlap import Overlap
from tacit.families.overlaps.system import OpenPart, System, system_of
from tacit.model.deadline import OutOfTime, begin, look
from tacit.model.jobs import Job

WAYS: tuple[ModuleType, ...] = (layers, products, chain)
EXACT_STEPS = 2e10  # up to so many steps integers are counted at once; beyond that, bounds first
A_SECOND = 1e10  # steps, at most: what would take longer than there is time is not begun
FEW_STEPS = {"cost": 1e6, "exact_cost": 8e6}
SMALL = 300  # cells of a part that may well occur again
MOST_DIGITS = 100_000  # of a number of tables that is written out
Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What an adversary believes for whom all fitting tables are equally likely.

    `found` has one entry for each part of the system, None for a part that was too large to count.
    `is_late`: there was no time to count some of them.
    """

    system: System
    found: tuple[Expected | None, ...]
    is_late: bool = False

    @property
    def is_complete(self) -> bool:
        """Was every part counted?"""
        return None not in self.found

    @cached_property
    def tables(self) -> int | None:
        """How many tables fit, where integers were counted."""
        many = self.system.settled
        for one in self.found:
            if one is None or one.tables is None:
                return None
            many *= one.tables
        return many

    @cached_property
    def digits(self) -> int | None:
        """About how many digits that number has, where integers were counted;
        it takes no long numbers.
        """
        if any(one is None or one.tables is None for one in self.found):
            return None
        known = sum(log2(one.tables) for one in self.found if one is not None and one.tables)
        return int((self.system.settled_bits + known) * log10(2)) + 1

    @cached_property
    def tables_told(self) -> int | None:
        """How many tables fit, where they were counted and the number is
        not too long to be of any use.
        """
        return self.tables if self.digits is not None and self.digits <= MOST_DIGITS else None

    @cached_property
    def cells(self) -> dict[int, Interval]:
        """The average number of people in each cell that is not settled, between two bounds;
        without parts that were not counted.
        """
        same: dict[int, Interval] = {}
        for part, one in zip(self.system.parts, self.found, strict=True):
            look()
            for number, at in enumerate(part.place.tolist()):
                if one is not None:
                    same[at] = (
                        max(one.low[number], Fraction(int(part.low[number]))),
                        min(one.high[number], Fraction(int(part.high[number]))),
                    )
        return same

    def share(self, class_: int, value: int) -> Interval | None:
        """The share of tables in which a person of a class has a value, between two bounds;
        None where it was not counted.
        """
        at, size = self.system.cell(class_, value), int(self.system.overlap.sizes[class_])
        if self.system.low[at] == self.system.high[at]:
            share = Fraction(int(self.system.low[at]), size)
            return share, share
        cell = self.cells.get(at)
        return None if cell is None else (cell[0] / size, cell[1] / size)

    def shares(self) -> Iterator[tuple[int, int, Interval]]:
        """Class, value and share, wherever it was counted."""
        for class_ in range(len(self.system.overlap.sizes)):
            for value in range(len(self.system.overlap.values)):
                share = self.share(class_, value)
                if share is not None:
                    yield class_, value, share


def beliefs(overlap: Overlap, job: Job | None = None) -> Beliefs:
    """What follows from some views about everybody, as far as there is time.
    Raises NoTable where no table fits.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> males, older = ["Heart", "SARS", "SARS", "Viral"], ["Flu", "SARS", "SARS", "Viral"]
    >>> views = overlap_of(
    ...     ["Flu", "Heart", "SARS", "Viral"],
    ...     [males, older],
    ...     [[0], [0], [0], [0, 1], [1], [1], [1]],
    ... )
    >>> found = beliefs(views)
    >>> found.tables, found.share(3, 2)[0], [str(found.share(0, value)[0]) for value in range(4)]
    (45, Fraction(4, 5), ['0', '1/3', '2/5', '4/15'])
    """
    return all_averaged(system_of(overlap), lambda part: averaged(part, job))


def all_averaged(system: System, count: Callable[[OpenPart], Expected | None]) -> Beliefs:
    """The averages of all parts, the smallest first; parts with the same sums are counted once."""
    found: list[Expected | None] = [None] * len(system.parts)
    known: dict[object, Expected | None] = {}
    is_late = False
    for number in sorted(range(len(found)), key=lambda one: (len(system.parts[one].place), one)):
        part = system.parts[number]
        try:
            look()
            key = part.key if len(part.place) <= SMALL else number
            if key not in known:
                known[key] = count(part)
            found[number] = known[key]
        except OutOfTime:
            is_late = True  # a larger part may still be one that was counted already
    return Beliefs(system, tuple(found), is_late)


def averaged(
    part: OpenPart, job: Job | None = None, *, exact_steps: float = EXACT_STEPS
) -> Expected | None:
    """The averages of a part: in integers where that is cheap, else between bounds;
    None where neither is affordable.
    """
    try:
        found = counted(part, job, exact_steps)
    except OutOfTime:
        look()  # too little time for integers is enough for bounds, at times
        if (bounds := _enclosed(part, job)) is None:
            raise
        return bounds
    return found or _enclosed(part, job)


def _enclosed(part: OpenPart, job: Job | None) -> Expected | None:
    return _first(part, "cost", lambda way: way.enclosed(part, job), MOST_STEPS)


def counted(part: OpenPart, job: Job | None = None, most: float = MOST_STEPS) -> Expected | None:
    """The averages of a part in integers; None where that takes more than so many steps."""
    return _first(part, "exact_cost", lambda way: way.count(part, job), most)


def _first(
    part: OpenPart, price: str, ask: Callable[[ModuleType], Expected], most: float
) -> Expected | None:
    """The answer of the cheapest way that has one.
    Raises OutOfTime where there was no time for one that might have had it.
    """
    if getattr(layers, price)(part).steps < FEW_STEPS[price]:
        return ask(layers)  # what others would cost takes longer to find out
    costs = [
        (cost, number)
        for number, way in enumerate(WAYS)
        if (cost := getattr(way, price)(part)) is not None
    ]
    is_late = False
    for cost, number in sorted(costs):
        # What the layers cost is estimated far too high at times: they stop by themselves.
        if WAYS[number] is layers or (cost.is_affordable and cost.steps <= most):
            try:
                begin(0.0 if WAYS[number] is layers else cost.steps / A_SECOND)
                return ask(WAYS[number])
            except TooManyLayerStates:
                continue
            except OutOfTime:
                look()  # it is not over yet: there was too little time for this way only
                is_late = True
    if is_late:
        raise OutOfTime
    return None


def least_cost(part: OpenPart) -> CountingCost:
    """What the cheapest way would take."""
    costs: list[CountingCost] = [cost for way in WAYS if (cost := way.cost(part)) is not None]
    return min(costs)
