"""Urn: synthetic people drawn one after another, exactly as the Dirichlet-multinomial law has it.

With alpha = p/q, every person of the group has q tickets in the urn and every cell p for each unit
of its prior weight. A drawn ticket says in which cell the next synthetic person is, who then gets q
tickets too (Polya's urn). A ticket of an earlier synthetic person leads to that person's cell, so
many tickets can be drawn first and followed afterwards; cells that nobody drew are not touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tacit.families.synthetic.cells import Domain
from tacit.families.synthetic.drawing.randomness import Numbers, Randomness
from tacit.families.synthetic.occupied_cells import Integers, OccupiedCells
from tacit.model.deadline import look

WORD = 2**63  # tickets from here on are Python's integers
BLOCK = 1 << 18  # people drawn at once: what is needed to follow their tickets stays small


@dataclass(frozen=True)
class UrnPrior:
    """The cells that take part, and their weights: `places` (None:
    all) and the weight up to each (None: 1 each).
    """

    weight: int
    places: Integers | None = None
    reached: Integers | None = None

    @classmethod
    def of(cls, domain: Domain, places: Integers | None = None) -> UrnPrior:
        """The cells of a domain, or those at some of its places.

        >>> UrnPrior.of(Domain(3, weights=np.array([5, 1, 2])), np.array([0, 2])).at(
        ...     np.array([4, 5, 6])
        ... ).tolist()
        [0, 2, 2]
        """
        if domain.weights is None:
            return cls(domain.size if places is None else len(places), places)
        reached = np.cumsum(domain.weights if places is None else domain.weights[places])
        return cls(int(reached[-1]) if len(reached) else 0, places, reached)

    def at(self, units: Integers) -> Integers:
        """The places of the cells that units of weight belong to, counted from 0."""
        cells = units if self.reached is None else holders(self.reached, units)
        return cells if self.places is None else self.places[cells]


@dataclass(frozen=True)
class PeopleUrn:
    """True people and a prior with `alpha` people per unit of weight.

    >>> PeopleUrn(OccupiedCells.of([3, 3, 5]), UrnPrior(10), Fraction(1, 2)).people(
    ...     4, Randomness.seeded(1)
    ... ).people
    4
    """

    held: OccupiedCells
    prior: UrnPrior
    alpha: Fraction

    def people(self, number: int, randomness: Randomness) -> OccupiedCells:
        """So many synthetic people. Time and memory grow with their
        number, not with that of the cells.
        """
        cells = np.empty(number, np.int64)
        for start in range(0, number, BLOCK):
            look()
            block = cells[start : start + BLOCK]
            block[:], repeated = self._drawn(start, len(block), randomness)
            far, near = (repeated >= 0) & (repeated < start), repeated >= start
            block[far] = cells[repeated[far]]
            block[:] = block[firsts(np.where(near, repeated - start, np.arange(len(block))))]
        return OccupiedCells.of(cells)

    def _drawn(self, start: int, size: int, randomness: Randomness) -> tuple[Integers, Integers]:
        """So many tickets after the first ones:
        the places they say, or the earlier draw that each repeats (-1: none).
        """
        true, own, unit = self._true, self.alpha.denominator, self.alpha.numerator
        fits = own * (true + start + size) + unit * self.prior.weight < WORD
        theirs = own * np.arange(
            true + start, true + start + size, dtype=np.int64 if fits else object
        )  # of people
        tickets = randomness.below_each(theirs + unit * self.prior.weight)
        fresh = tickets >= theirs
        owners = whole(np.where(fresh, 0, tickets) // own)
        real = ~fresh & (owners < true)
        places = np.zeros(size, np.int64)
        places[fresh] = self.prior.at(whole((tickets[fresh] - theirs[fresh]) // unit))
        places[real] = self.held.places[holders(self._reached, owners[real])]
        return places, np.where(fresh | real, -1, owners - true)

    @cached_property
    def _true(self) -> int:
        return self.held.people

    @cached_property
    def _reached(self) -> Integers:
        return np.cumsum(self.held.counts)


def holders(reached: Integers, units: Integers) -> Integers:
    """Which cell holds each unit, where all cells up to each hold so many.

    >>> holders(np.array([2, 2, 5]), np.array([4, 0, 2])).tolist()
    [2, 0, 2]
    """
    order = np.argsort(
        units
    )  # millions of searches in order are seven times as quick as here and there
    found = np.empty(len(units), np.int64)
    found[order] = np.searchsorted(reached, units[order], side="right")
    return found


def firsts(sources: Integers) -> Integers:
    """Where each draw ends that repeats an earlier one:
    doubling the steps, so that even long chains take few rounds.

    >>> firsts(np.array([0, 0, 1, 3, 2])).tolist()
    [0, 0, 0, 3, 0]
    """
    while True:
        further = sources[sources]
        if np.array_equal(further, sources):
            return sources
        sources = further


def whole(found: Numbers) -> Integers:
    """In 64 bits again: people, and units of weight, are never more."""
    return found.astype(np.int64, copy=False)
