"""Privacy loss: how much likelier an output may become by one person's value, as an exact number
or its logarithm's argument.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property

from tacit.model.numbers import exact, plain

LOGARITHM = re.compile(r"ln\s*\(?\s*([^()]+?)\s*\)?", re.IGNORECASE)
DIGITS, SPARE = 50, 20  # of e^epsilon where it is no fraction
LARGEST = 700  # e^epsilon beyond this is no double, and promises nothing


@dataclass(frozen=True)
class Epsilon:
    """A bound on the logarithm of a likelihood ratio: `value`, or ln(`argument`).

    >>> low, high = Epsilon.read("4.6").ratio
    >>> round(float(low), 4), high - low < Fraction(1, 10**40)
    (99.4843, True)
    """

    value: Fraction | None = None
    argument: Fraction | None = None

    @classmethod
    def read(cls, written: object) -> Epsilon:
        """An epsilon as people write it: 4.6, or ln(50) for a ratio of at most 50.

        >>> Epsilon.read("ln(50)"), Epsilon.read(4.6)
        (Epsilon(ln(50)), Epsilon(4.6))
        >>> Epsilon.read("ln(1)")
        Traceback (most recent call last):
        ValueError: epsilon is ln(1); write a number above 0, for example 1 or ln(5)
        """
        if isinstance(written, Epsilon):
            return written
        found = LOGARITHM.fullmatch(str(written).strip())
        one = cls(argument=exact(found[1])) if found else cls(value=exact(written))
        if (one.value is not None and one.value <= 0) or (
            one.argument is not None and one.argument <= 1
        ):
            raise ValueError(f"epsilon is {one}; write a number above 0, for example 1 or ln(5)")
        if float(one) > LARGEST:
            raise ValueError(
                f"epsilon is {one}, which promises nothing; write for example 1 or ln(5)"
            )
        return one

    @cached_property
    def ratio(self) -> tuple[Fraction, Fraction]:
        """e^epsilon from below and from above; equal where it is a fraction."""
        if self.argument is not None:
            return self.argument, self.argument
        assert self.value is not None
        with localcontext() as context:
            context.prec = DIGITS + SPARE
            # The standard library divides and exponentiates correctly rounded;
            # the spare digits are far more than both errors.
            middle = Fraction(
                (Decimal(self.value.numerator) / Decimal(self.value.denominator)).exp()
            )
        margin = middle / 10**DIGITS
        return middle - margin, middle + margin

    def __float__(self) -> float:
        if self.value is not None:
            return float(self.value)
        assert self.argument is not None
        return math.log(self.argument)

    def __str__(self) -> str:
        return plain(self.value) if self.value is not None else f"ln({plain(self.argument or 1)})"

    def __repr__(self) -> str:
        return f"Epsilon({self})"
