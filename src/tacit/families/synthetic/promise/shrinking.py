"""Shrinking: what it costs that empty cells are left out by chance (Algorithm 5), with the prior
that is kept and not the whole one.

An output with people in a cell that would otherwise be kept with chance f is likelier by 1/f where
somebody is there; and one without people in a cell is likelier by at most G where that cell was
left out, G a quotient of Gammas near (1 + m/(n + A))^alpha. Both change the ratio by the same
factor whatever else is kept, so that epsilon grows by ln(phi/f), phi = f + (1 - f) G. Delta is that
of the mechanism with the prior mass that is kept, but for the chance that less is kept. (Theorem
4.5 takes the whole mass, which is wrong.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.synthetic.cells import DomainCells
from tacit.families.synthetic.promise.probability_bounds import above, ball, precise, rising

Floats = np.ndarray[Any, np.dtype[np.float64]]
SHARE = 1000  # less than the kept prior is there with this part of delta at most
RATES = np.exp(
    np.linspace(np.log(1e-4), np.log(60.0), 120)
)  # of the exponential bound, over the mean weight
TOO_MUCH = Fraction(10) ** 400  # a price that no epsilon pays
MARGIN = 1e-9  # for the rounding of logarithms and their sums


@dataclass(frozen=True, slots=True)
class KeptWeight:
    """The prior weight that is kept at least, beside two cells, but for a small chance."""

    weight: int
    chance: float


def kept(cells: DomainCells, chance: float) -> KeptWeight:
    """By an exponential bound: P(sum w_i X_i <= W) <= exp(rate W) prod (1 - f_i + f_i exp(-rate
    w_i)), which holds for every rate.

    >>> kept(DomainCells.alike(10), 1e-9)
    KeptWeight(weight=8, chance=0.0)
    """
    if not cells.shrinks:
        return KeptWeight(cells.weight - sum(heaviest(cells)), 0.0)
    counts = np.array([kind.count for kind in cells.kinds], dtype=np.float64)
    weights = np.array([kind.weight for kind in cells.kinds], dtype=np.float64)
    keeps = np.array([float(kind.keep) for kind in cells.kinds])
    rates = RATES / (weights @ counts / counts.sum())
    falls = rates[:, None] * weights
    with np.errstate(divide="ignore"):
        logs = np.where(keeps < 1, -np.log1p(keeps * np.expm1(-falls)), falls)
    totals = logs @ counts - two_largest(logs, counts)
    best = max(0.0, float(((totals * (1 - MARGIN) + np.log(chance)) / rates).max()))
    return KeptWeight(int(best * (1 - MARGIN)), chance)


def heaviest(cells: DomainCells) -> tuple[int, int]:
    """The two greatest weights."""
    found = sorted(
        (kind.weight for kind in cells.kinds for _ in range(min(kind.count, 2))), reverse=True
    )
    return found[0], found[1] if len(found) > 1 else 0


def two_largest(values: Floats, counts: Floats) -> Floats:
    """The sum of the two largest values of every row, each there so many times."""
    order, rows = np.argsort(values, axis=1), np.arange(len(values))
    first = order[:, -1]
    second = first if len(counts) == 1 else np.where(counts[first] > 1, first, order[:, -2])
    found: Floats = values[rows, first] + values[rows, second]
    return found


def price(cells: DomainCells, alpha: Fraction, people: int, drawn: int, mass: Fraction) -> Fraction:
    """By how much a ratio of likelihoods may grow, where this much prior is kept:
    phi/f of the least chance.

    >>> from tacit.families.synthetic.cells import Kind
    >>> cells = DomainCells((Kind(100, keep=Fraction(1, 2)),))
    >>> 2 <= price(cells, Fraction(1, 100), 10, 10, Fraction(1, 2)) < 2.02
    True
    """
    least = cells.least_keep
    heavy = alpha * max(kind.weight for kind in cells.kinds)
    with precise():
        held = ball(people + mass + alpha * cells.least[0])
        gain = (rising(held + ball(heavy), drawn) - rising(held, drawn)).exp()
        phi = above(ball(least) + (1 - ball(least)) * gain)
    return Fraction(phi) / least if math.isfinite(phi) else TOO_MUCH
