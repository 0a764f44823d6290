"""Beliefs: the share of fitting tables in which a person has a value, part by part, each by the cheapest way that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import ModuleType

from tacit.jobs import Job
from tacit.overlap import chain, layers, products
from tacit.overlap.expected import MOST_STEPS, Cost, Expected
from tacit.overlap.layers import TooManyStates
from tacit.overlap.setting import Overlap
from tacit.overlap.system import Part, System, system_of

WAYS: tuple[ModuleType, ...] = (layers, products, chain)
EXACT_STEPS = 2e10  # up to so many steps integers are counted at once; beyond that, bounds first
FEW_STEPS = 1e6
Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What an adversary believes for whom all fitting tables are equally likely.

    `found` has one entry for each part of the system, None for a part that was too large to count.
    """

    system: System
    found: tuple[Expected | None, ...]

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
    def cells(self) -> dict[int, Interval]:
        """The average number of people in each cell, between two bounds; cells of parts that were not counted are absent."""
        same = {int(at): (Fraction(int(x)), Fraction(int(x))) for at, x in enumerate(self.system.low.tolist())}
        for part, one in zip(self.system.parts, self.found, strict=True):
            for number, at in enumerate(part.place.tolist()):
                if one is None:
                    del same[at]
                else:
                    same[at] = (max(one.low[number], Fraction(int(part.low[number]))), min(one.high[number], Fraction(int(part.high[number]))))
        return same

    def share(self, class_: int, value: int) -> Interval | None:
        """The share of tables in which a person of a class has a value, between two bounds; None where it was not counted."""
        cell = self.cells.get(self.system.cell(class_, value))
        size = int(self.system.overlap.sizes[class_])
        return None if cell is None else (cell[0] / size, cell[1] / size)

    def shares(self) -> Iterator[tuple[int, int, Interval]]:
        """Class, value and share, wherever it was counted."""
        for class_ in range(len(self.system.overlap.sizes)):
            for value in range(len(self.system.overlap.values)):
                share = self.share(class_, value)
                if share is not None:
                    yield class_, value, share


def beliefs(overlap: Overlap, job: Job | None = None) -> Beliefs:
    """What follows from some views about everybody. Raises NoTable where no table fits.

    >>> from tacit.overlap.setting import overlap_of
    >>> males, older = ["Heart", "SARS", "SARS", "Viral"], ["Flu", "SARS", "SARS", "Viral"]
    >>> views = overlap_of(["Flu", "Heart", "SARS", "Viral"], [males, older], [[0], [0], [0], [0, 1], [1], [1], [1]])
    >>> found = beliefs(views)
    >>> found.tables, found.share(3, 2)[0], [str(found.share(0, value)[0]) for value in range(4)]
    (45, Fraction(4, 5), ['0', '1/3', '2/5', '4/15'])
    """
    system = system_of(overlap)
    return Beliefs(system, tuple(averaged(part, job) for part in system.parts))


def averaged(part: Part, job: Job | None = None, *, exact_steps: float = EXACT_STEPS) -> Expected | None:
    """The averages of a part: in integers where that is cheap, else between bounds; None where neither is affordable."""
    return counted(part, job, exact_steps) or _first(part, "cost", lambda way: way.enclosed(part, job), MOST_STEPS)


def counted(part: Part, job: Job | None = None, most: float = MOST_STEPS) -> Expected | None:
    """The averages of a part in integers; None where that takes more than so many steps."""
    return _first(part, "exact_cost", lambda way: way.count(part, job), most)


def _first(part: Part, price: str, ask: Callable[[ModuleType], Expected], most: float) -> Expected | None:
    """The answer of the cheapest way that has one."""
    if layers.cost(part).steps < FEW_STEPS:
        return ask(layers)  # what others would cost takes longer to find out
    costs = [(cost, number) for number, way in enumerate(WAYS) if (cost := getattr(way, price)(part)) is not None]
    for cost, number in sorted(costs):
        # What the layers cost is estimated far too high at times: they stop by themselves.
        if WAYS[number] is layers or (cost.is_affordable and cost.steps <= most):
            try:
                return ask(WAYS[number])
            except TooManyStates:
                continue
    return None


def least_cost(part: Part) -> Cost:
    """What the cheapest way would take."""
    costs: list[Cost] = [cost for way in WAYS if (cost := way.cost(part)) is not None]
    return min(costs)
