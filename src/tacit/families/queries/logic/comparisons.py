"""Comparisons: what !=, < and <= say together, over an order that is dense and has no ends.

Constants are ordered as their type orders them. Which values a few comparisons force to be equal,
and whether they contradict each other, is read off the paths between terms; new values are then
found for terms that must lie between constants.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from numbers import Number
from typing import Any

Edge = tuple[int, int, bool]  # left, right, strictly smaller?


def order_key(value: Any) -> tuple[int, Any]:
    """Where a value stands among all values; types that do not compare are kept apart.

    >>> sorted(["b", 2, Decimal("1.5"), "a"], key=order_key)
    [Decimal('1.5'), 2, 'a', 'b']
    """
    if isinstance(value, bool):
        return 0, int(value)
    if isinstance(value, Number):
        return 1, Fraction(value)  # type: ignore[call-overload]
    if isinstance(value, str):
        return 2, value
    if isinstance(value, datetime.datetime):
        return 3, value.isoformat()
    if isinstance(value, datetime.date):
        return 3, value.isoformat()
    return 4, (type(value).__name__, repr(value))


def paths(edges: Iterable[Edge]) -> dict[int, dict[int, bool]]:
    """For each term the terms that cannot be smaller, with whether they must be larger.

    >>> paths([(1, 2, False), (2, 3, True)])[1]
    {2: False, 3: True}
    """
    following: dict[int, dict[int, bool]] = {}
    for left, right, strict in edges:
        following.setdefault(left, {})
        following[left][right] = following[left].get(right, False) or strict
    reached: dict[int, dict[int, bool]] = {}
    for start in following:
        found: dict[int, bool] = {}
        waiting = list(following[start].items())
        while waiting:
            node, strict = waiting.pop()
            if node in found and (found[node] or not strict):
                continue
            found[node] = strict
            waiting += [(after, strict or more) for after, more in following.get(node, {}).items()]
        reached[start] = found
    return reached


def contradictory(reached: Mapping[int, Mapping[int, bool]]) -> bool:
    """Is a term smaller than itself?"""
    return any(found.get(node, False) for node, found in reached.items())


def forced_equal(reached: Mapping[int, Mapping[int, bool]]) -> list[tuple[int, int]]:
    """The pairs of terms that are at most each other, and therefore equal."""
    return [
        (one, two)
        for one, found in reached.items()
        for two in found
        if one != two and one in reached.get(two, {})
    ]


def values_between(low: Any, high: Any, count: int, sort: str) -> list[Any] | None:
    """`count` increasing values strictly between two others (None:
    no end there), or None if there are none.

    >>> values_between(4, 5, 2, "number")
    [Decimal('4.25'), Decimal('4.5')]
    >>> values_between(None, None, 2, "number"), values_between(10, None, 2, "number")
    ([1, 2], [11, 12])
    >>> values_between("a", "b", 2, "text")
    ['aA', 'aB']
    """
    finders = {"number": _numbers, "text": _texts, "date": _dates}
    return finders[sort](low, high, count)


def _numbers(low: Any, high: Any, count: int) -> list[Any]:
    if low is None and high is None:
        return list(range(1, count + 1))
    if low is None:
        first = _floor(high) - count
        return [first + place for place in range(count)]
    start = _floor(low) + 1
    if high is None or start + count - 1 < Fraction(high):
        return [start + place for place in range(count)]
    pieces = 1
    while pieces <= count:  # halves of halves stay finite decimals
        pieces *= 2
    width = (Fraction(high) - Fraction(low)) / pieces
    return [_plain(Fraction(low) + width * place) for place in range(1, count + 1)]


def _floor(number: Any) -> int:
    exact = Fraction(number)
    return exact.numerator // exact.denominator


def _plain(number: Fraction) -> Any:
    if number.denominator == 1:
        return number.numerator
    twos, rest = 0, number.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    fives = 0
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest != 1:  # no finite decimal: a constant was such a fraction
        return number
    digits = max(twos, fives)
    return Decimal(number.numerator * 10**digits // number.denominator).scaleb(-digits)


def _texts(low: Any, high: Any, count: int) -> list[Any] | None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    tails = (
        [*letters] if count <= len(letters) else [one + two for one in letters for two in letters]
    )
    for middle in ("", "0", " ", "\x01"):
        for start in [low] if low is not None else ["_", "A", "0", " ", "\x01"]:
            found = [start + middle + tail for tail in tails[:count]]
            if len(found) == count and _inside(found, low, high):
                return found
    return None


def _inside(found: Sequence[Any], low: Any, high: Any) -> bool:
    keys = [
        order_key(value)
        for value in ([] if low is None else [low]) + [*found] + ([] if high is None else [high])
    ]
    return all(one < two for one, two in pairwise(keys))


def _dates(low: Any, high: Any, count: int) -> list[Any] | None:
    step = datetime.timedelta(days=1)
    if isinstance(low, datetime.datetime) and isinstance(high, datetime.datetime):
        step = min(step, (high - low) / (count + 1))
    try:
        start = (
            low
            if low is not None
            else datetime.date(2000, 1, 1)
            if high is None
            else high - step * (count + 1)
        )
        found = [start + step * place for place in range(1, count + 1)]
    except OverflowError:
        return None
    return found if _inside(found, low, high) else None
