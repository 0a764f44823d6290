"""Acceptance: is an output gamma-Good, so that no cell has more than
gamma times its share (section 4.5.1)?

It is representative of a table D where every cell i has at most gamma (alpha_i + [n_i - 1]^+)
synthetic people, and good where it is representative of the true table or of one in which a single
person's value is another. The alphas are those of the whole domain: what is good must not depend on
the cells that were kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.families.synthetic.cells import Domain
from tacit.families.synthetic.drawing.randomness import Numbers
from tacit.families.synthetic.occupied_cells import Integers, OccupiedCells

WORD = 2**63  # products from here on are Python's integers


@dataclass(frozen=True)
class Good:
    """What is good for one group with these true people."""

    true: OccupiedCells
    domain: Domain
    alpha: Fraction
    gamma: Fraction

    def accepts(self, drawn: OccupiedCells) -> bool:
        """Is this output representative of the true table, or of a neighbour of it?

        >>> good = Good(OccupiedCells.of([0, 0, 1]), Domain(2), Fraction(1), Fraction(1))
        >>> (
        ...     good.accepts(OccupiedCells.of([0, 0, 1])),
        ...     good.accepts(OccupiedCells.of([0, 1, 1])),
        ...     good.accepts(OccupiedCells.of([1, 1, 1])),
        ... )
        (True, True, False)
        """
        share = self._share(drawn.places, at(self.true, drawn.places) - 1)
        over = np.flatnonzero(drawn.counts > share)
        if len(over) != 1:  # one other value of one person gives more room to one cell only
            return not len(over)
        return self._one_more(drawn, int(over[0]))

    def _one_more(self, drawn: OccupiedCells, cell: int) -> bool:
        """Would the only cell with too many have room for them, if somebody
        were there instead of elsewhere?
        """
        place = drawn.places[cell : cell + 1]
        if (drawn.counts[cell] > self._share(place, at(self.true, place))).any():
            return False
        # The cell itself is none of these: it has too many for one person less already.
        places = self.true.places
        return bool((at(drawn, places) <= self._share(places, self.true.counts - 2)).any())

    def _share(self, places: Integers, people: Integers) -> Numbers:
        """The most synthetic people that these cells may have:
        gamma (alpha_i + [people]^+), rounded down.
        """
        weights = (
            np.ones(len(places), np.int64)
            if self.domain.weights is None
            else self.domain.weights[places]
        )
        people = np.maximum(people, 0)
        (p, q), (g, h) = self.alpha.as_integer_ratio(), self.gamma.as_integer_ratio()
        most = p * int(weights.max(initial=1)) + q * (int(people.max(initial=0)) + 1)
        if max(g * most, h * q) >= WORD:
            weights, people = weights.astype(object), people.astype(object)
        found: Numbers = g * (p * weights + q * people) // (h * q)
        return found


def at(held: OccupiedCells, places: Integers) -> Integers:
    """How many people are at each of these places.

    >>> at(OccupiedCells.of([1, 1, 4]), np.array([0, 1, 4, 9])).tolist()
    [0, 2, 1, 0]
    """
    if not len(held.places):
        return np.zeros(len(places), np.int64)
    near = np.minimum(np.searchsorted(held.places, places), len(held.places) - 1)
    return np.where(held.places[near] == places, held.counts[near], 0)
