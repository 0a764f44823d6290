"""Probability bounds: probabilities of counts as floats that are certainly not too small, or not
too large.

A number that decides is computed once in ball arithmetic (python-flint's arb: every operation
carries its error), and all others from it by at most STEPS floating-point factors of relative error
2^-50 each: together less than SLACK, which is added.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.errors import MissingExtra

if TYPE_CHECKING:
    from flint import arb

BITS = 160  # of ball arithmetic: log-gamma of 10^9 keeps more than 30 digits
STEPS = 500_000  # factors between two probabilities
SLACK = 1e-9  # STEPS * 2^-50 is less than half of it; the other half is for sums
TINY = 1e-290  # what is smaller may be lost as a float; it is added once


class Bounds(NamedTuple):
    """A number between two floats."""

    low: float
    high: float


def ball(number: Fraction | int) -> arb:
    """A number in ball arithmetic."""
    flint = module()
    exact = Fraction(number)
    found: arb = flint.arb(flint.fmpq(exact.numerator, exact.denominator))
    return found


def rising(start: arb, steps: int) -> arb:
    """The logarithm of Gamma(start + steps) / Gamma(start)."""
    return (start + steps).lgamma() - start.lgamma()


def log_chance(counts: tuple[int, ...], priors: tuple[Fraction, ...]) -> arb:
    """The logarithm of the chance that a Dirichlet-multinomial law gives these counts."""
    with precise():
        drawn, balls = sum(counts), [ball(prior) for prior in priors]
        total = sum(balls[1:], balls[0])
        found = ball(drawn + 1).lgamma() - rising(total, drawn)
        for count, prior in zip(counts, balls, strict=True):
            if count:  # a part without prior can only be empty
                found += rising(prior, count) - ball(count + 1).lgamma()
        return found


def chance(counts: tuple[int, ...], priors: tuple[Fraction, ...]) -> Bounds:
    """The chance that a Dirichlet-multinomial law gives these counts.

    >>> low, high = chance((1, 1), (Fraction(1), Fraction(1)))
    >>> low <= 1 / 3 <= high, high - low < 1e-15
    (True, True)
    """
    with precise():
        return floats(log_chance(counts, priors).exp())


def floats(number: arb) -> Bounds:
    """A ball as two floats around it."""
    return Bounds(below(number), above(number))


def above(number: arb) -> float:
    """A float that is not less."""
    return 0.0 if number.is_zero() else math.nextafter(float(number.upper()), math.inf)


def below(number: arb) -> float:
    """A float that is not more."""
    return 0.0 if number.is_zero() else math.nextafter(float(number.lower()), -math.inf)


def float_below(number: Fraction) -> float:
    """The largest float that is not more than a fraction."""
    try:
        found = float(number)
    except OverflowError:
        return sys.float_info.max if number > 0 else -math.inf
    return found if Fraction(found) <= number else math.nextafter(found, -math.inf)


def float_above(number: Fraction) -> float:
    """The least float that is not less than a fraction."""
    return -float_below(-number)


def upper_tail(drawn: int, inside: Fraction, outside: Fraction, least: int) -> float:
    """At least the chance that a beta-binomial count reaches `least`;
    1 where no quick bound is found.

    From one count to the next the chance is multiplied by a factor that only falls beyond `least`,
    where the rest has a prior of at least 1: a geometric series bounds the tail.

    >>> upper_tail(10, Fraction(1), Fraction(9), 10) < 1e-4
    True
    """
    if least > drawn:
        return 0.0
    if least <= 0 or outside < 1:
        return 1.0
    if least == drawn:
        return min(1.0, chance((least, 0), (inside, outside)).high)
    a, b = float_above(inside), float_below(outside)
    growth = (
        max(1.0, (least + a) / (least + 1))
        * (drawn - least)
        / (drawn - least - 1 + b)
        * (1 + SLACK)
    )
    if growth >= 1:
        return 1.0
    return min(
        1.0, chance((least, drawn - least), (inside, outside)).high / (1 - growth) * (1 + SLACK)
    )


def precise() -> Any:
    """Ball arithmetic with enough bits."""
    return module().ctx.workprec(BITS)


def module() -> Any:
    """python-flint, where it is installed."""
    try:
        import flint
    except ImportError:
        raise MissingExtra(
            "flint", extra="synthesis", purpose="the guarantees of synthetic data"
        ) from None
    return flint
