"""Weights: how much each quasi-identifier matters, as exact numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from tacit.errors import ParameterError, did_you_mean
from tacit.model.numbers import exact

LARGEST = (
    10_000  # the sum of whole weights: losses are compared exactly as products with these exponents
)


def read_weights(columns: Sequence[str], weights: Mapping[str, Any] | None) -> dict[str, Fraction]:
    """The weight of every column: 1 unless it is given; 0 means that the column does not matter.

    >>> read_weights(["age", "zip"], {"age": 2.5})
    {'age': Fraction(5, 2), 'zip': Fraction(1, 1)}
    """
    given = weights or {}
    for column in given:
        if column not in columns:
            raise wrong(
                f"weights name {column!r}, which is no quasi-identifier.",
                did_you_mean(column, columns),
            )
    found = {column: read_weight(column, given.get(column, 1)) for column in columns}
    if found and not any(found.values()):
        raise wrong(
            "all weights are 0: then no release is better than another.",
            "Give some column a weight above 0.",
        )
    return found


def read_weight(column: str, value: Any) -> Fraction:
    """One weight."""
    try:
        weight = exact(value)
    except ValueError as error:
        raise wrong(
            f"the weight of {column!r}: {error}.", "Write numbers such as 1, 2 or 0.5."
        ) from None
    if weight < 0:
        raise wrong(
            f"the weight of {column!r} is negative: {value}.",
            "Use 0 for a column that does not matter.",
        )
    return weight


def whole_weights(columns: Sequence[str], weights: Mapping[str, Any] | None) -> dict[str, int]:
    """The weights as the smallest whole numbers in the same proportion.

    >>> whole_weights(["age", "zip"], {"age": 2.5, "zip": 0.5})
    {'age': 5, 'zip': 1}
    """
    found = read_weights(columns, weights)
    scale = lcm(*(weight.denominator for weight in found.values()))
    whole = {column: int(weight * scale) for column, weight in found.items()}
    common = gcd(*whole.values()) or 1
    whole = {column: weight // common for column, weight in whole.items()}
    if sum(whole.values()) > LARGEST:
        raise wrong(
            f"the weights are in a proportion of numbers that add up to {sum(whole.values())}; "
            f"up to {LARGEST} they can be compared exactly.",
            "Write short numbers such as 1, 2 or 0.5.",
        )
    return whole


def refuse_weights(measure: str, weights: Mapping[str, Any] | None) -> None:
    """Some measures look at groups, not at columns."""
    if weights:
        raise wrong(
            f"{measure} has no weights: it counts groups, not columns.",
            "Use loss or height, or leave weights out.",
        )


def wrong(message: str, hint: str) -> ParameterError:
    """An error about weights."""
    return ParameterError(message, parameter="weights", hint=hint)
