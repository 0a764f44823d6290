"""Shares: how much of a column a release has lost, and the loss of all columns together.

The share of a column is the mean over the rows of (values under the label - 1) / (values - 1): 0
where every value is shown as it is, 1 where nothing is shown. The loss is the geometric mean of 1 +
share, less 1; it is compared exactly through the product, and never as a rounded root.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from tacit.families.microdata.recoded import Recoded
from tacit.families.microdata.utility.cover import CoveredColumn, leaves_of, shown_columns

DIGITS = 6


def column_shares(
    recoded: Recoded, columns: Mapping[str, CoveredColumn] | None = None
) -> dict[str, Fraction]:
    """The share that each quasi-identifier has lost; a row that is not released has lost all.

    A column with one value has nothing to lose: its share is 0.
    """
    known = shown_columns(recoded) if columns is None else columns
    return {column: share_of(recoded, column, one) for column, one in known.items()}


def share_of(recoded: Recoded, column: str, shown: CoveredColumn) -> Fraction:
    """The share that one column has lost."""
    leaves, rows = leaves_of(recoded.raw, column), recoded.raw.base.rows
    if leaves < 2 or not rows:
        return Fraction(0)
    lost = int(((shown.cover.sizes - 1) * shown.rows).sum())
    return Fraction(lost + recoded.suppressed * (leaves - 1), rows * (leaves - 1))


def loss_product(shares: Sequence[Fraction], weights: Sequence[int]) -> Fraction:
    """The product of (1 + share) ** weight: exact, and in the same order as the loss.

    >>> loss_product([Fraction(1, 2), Fraction(0)], [2, 1])
    Fraction(9, 4)
    """
    return math.prod(
        ((1 + share) ** weight for share, weight in zip(shares, weights, strict=True)),
        start=Fraction(1),
    )


def loss_of(shares: Sequence[Fraction], weights: Sequence[int]) -> float:
    """The loss as a float: the weighted geometric mean of 1 + share, less 1.

    >>> loss_of([Fraction(1), Fraction(0)], [1, 1])
    0.414213562373095...
    """
    total = sum(weights)
    if not total:
        return 0.0
    logs = (weight * math.log1p(share) for share, weight in zip(shares, weights, strict=True))
    return math.expm1(math.fsum(logs) / total)


def loss_text(shares: Sequence[Fraction], weights: Sequence[int], digits: int = DIGITS) -> str:
    """The loss as a decimal, rounded up by whole-number arithmetic:
    it is never more than this says.

    >>> loss_text([Fraction(1), Fraction(0)], [1, 1]), loss_text([Fraction(1, 4)], [1])
    ('0.414214', '0.25')
    """
    total, unit = sum(weights), 10**digits
    product = loss_product(shares, weights)
    number = max(0, math.ceil(loss_of(shares, weights) * unit) - 2)
    while (
        total and (unit + number) ** total * product.denominator < product.numerator * unit**total
    ):
        number += 1
    return decimal_text(number, digits)


def decimal_text(number: int, digits: int) -> str:
    """A number of units of 10 ** -digits, without zeros at the end.

    >>> decimal_text(414214, 6), decimal_text(250000, 6), decimal_text(0, 6)
    ('0.414214', '0.25', '0')
    """
    whole, rest = divmod(number, 10**digits)
    return f"{whole}.{rest:0{digits}}".rstrip("0").rstrip(".")


def rounded_up(value: float, digits: int = DIGITS) -> str:
    """A float as a decimal, rounded up;
    what floats cannot tell from a shorter decimal is that decimal.

    >>> rounded_up(0.1234561), rounded_up(0.5 + 1e-12), rounded_up(math.inf)
    ('0.123457', '0.5', 'inf')
    """
    if not math.isfinite(value):
        return str(value)
    return decimal_text(max(0, math.ceil((value - 1e-10) * 10**digits)), digits)
