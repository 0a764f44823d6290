"""Terms: what a synthetic release promises and by which mechanism, after all its options."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tacit.families.synthetic.promise.losses import Epsilon

Guarantee = Literal["dp", "pdp"]
Mechanism = Literal["dirichlet", "geometric"]


@dataclass(frozen=True, slots=True)
class Terms:
    """Epsilon and delta are totals: what is spent after accepting, coarsening and shrinking.

    `accept` is the gamma of gamma-Good: outputs in which a cell has more than gamma times its share
    are drawn again.
    """

    epsilon: Epsilon
    delta: Fraction
    guarantee: Guarantee = "dp"
    mechanism: Mechanism = "dirichlet"
    accept: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of one group.

    Dirichlet: `alpha` people of the prior per unit of a cell's weight. Geometric: every occupied
    cell (`everywhere`: every cell) gets two-sided geometric noise that falls by e^(-epsilon/2) a
    step, and is published where it reaches `threshold`.
    """

    alpha: Fraction | None = None
    threshold: int | None = None
    everywhere: bool = False


@dataclass(frozen=True)
class CannotPromise(Exception):
    """No amount of noise keeps the terms; with what to write instead."""

    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.message} {self.hint}"
