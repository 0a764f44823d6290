"""Utility by hand: expanded rows, every value that a label may stand for, plain fractions and sums.

A release is a list as long as the table: what row i shows (a tuple of labels), or None where it is
dropped. `meaning[column, label]` is the set of values that the label may stand for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Row = tuple[Any, ...]  # quasi-identifiers, then sensitive values
Shown = tuple[Any, ...] | None
Meaning = Mapping[tuple[int, Any], frozenset[Any]]


def domain(table: Sequence[Row], column: int) -> set[Any]:
    """The different values of a column."""
    return {row[column] for row in table}


def share(
    table: Sequence[Row], release: Sequence[Shown], column: int, meaning: Meaning
) -> Fraction:
    """The mean over the rows of (values under the label - 1) / (values - 1)."""
    values = len(domain(table, column))
    if values == 1:
        return Fraction(0)
    lost = [
        Fraction(1)
        if shown is None
        else Fraction(len(meaning[column, shown[column]]) - 1, values - 1)
        for shown in release
    ]
    return sum(lost, Fraction(0)) / len(table)


def loss(shares: Sequence[Fraction], weights: Sequence[float]) -> float:
    """The weighted geometric mean of 1 + share, less 1."""
    return (
        math.prod(float(1 + one) ** weight for one, weight in zip(shares, weights, strict=True))
        ** (1 / sum(weights))
        - 1
    )


def discernibility(release: Sequence[Shown]) -> int:
    """Each row costs as many rows as look like it; a dropped one the whole table."""
    return sum(len(release) if shown is None else release.count(shown) for shown in release)


def average_group(release: Sequence[Shown]) -> Fraction:
    """Released rows per different thing that is shown."""
    released = [shown for shown in release if shown is not None]
    return Fraction(len(released), len(set(released))) if released else Fraction(len(release))


def cells(
    table: Sequence[Row], release: Sequence[Shown], quasi: int, meaning: Meaning
) -> list[tuple[list[frozenset[Any]], int]]:
    """For each row the box of combinations that it may stand for,
    and how many rows show the same.
    """
    found = []
    seen = [
        None if shown is None else (shown, row[quasi:])
        for row, shown in zip(table, release, strict=True)
    ]
    for one in seen:
        if one is None:
            box = [frozenset(domain(table, column)) for column in range(len(table[0]))]
        else:
            box = [meaning[column, label] for column, label in enumerate(one[0])]
            box += [frozenset([value]) for value in one[1]]
        found.append((box, seen.count(one)))
    return found


def divergence(
    table: Sequence[Row], release: Sequence[Shown], quasi: int, meaning: Meaning
) -> float:
    """Section 3.6: every row has F* of the cell it is shown in."""
    total = 0.0
    for row, (box, alike) in zip(table, cells(table, release, quasi, meaning), strict=True):
        empirical = Fraction(table.count(row), len(table))
        guessed = Fraction(alike, len(table) * math.prod(map(len, box)))
        total += math.log(empirical / guessed) / len(table)
    return total


def divergence_from_mixture(
    table: Sequence[Row], release: Sequence[Shown], quasi: int, meaning: Meaning
) -> float:
    """The divergence from the distribution that spreads every row
    over its box, all boxes together.
    """
    boxes = [box for box, _ in cells(table, release, quasi, meaning)]
    guessed: dict[Row, Fraction] = {}
    for box in boxes:
        for combination in product(*box):
            part = Fraction(1, len(table) * math.prod(map(len, box)))
            guessed[combination] = guessed.get(combination, Fraction(0)) + part
    assert sum(guessed.values()) == 1
    return sum(
        table.count(row)
        / len(table)
        * math.log(Fraction(table.count(row), len(table)) / guessed[row])
        for row in set(table)
    )


def moved(
    table: Sequence[Row], release: Sequence[Shown], column: int, meaning: Meaning
) -> Fraction:
    """Half the sum of the differences of a column's distribution."""
    released = [meaning[column, shown[column]] for shown in release if shown is not None]
    if not released:
        return Fraction(1)
    total = Fraction(0)
    for value in domain(table, column):
        before = Fraction(sum(row[column] == value for row in table), len(table))
        after = sum((Fraction(1, len(box)) for box in released if value in box), Fraction(0)) / len(
            released
        )
        total += abs(before - after)
    return total / 2


def truth(table: Sequence[Row], conditions: Mapping[int, set[Any]]) -> int:
    """How many rows meet all conditions."""
    return sum(all(row[column] in wanted for column, wanted in conditions.items()) for row in table)


def answer(
    table: Sequence[Row],
    release: Sequence[Shown],
    quasi: int,
    meaning: Meaning,
    conditions: Mapping[int, set[Any]],
) -> Fraction:
    """How many the release says: each released row counts by the
    part of its box that meets them.
    """
    total = Fraction(0)
    for (box, _), shown in zip(cells(table, release, quasi, meaning), release, strict=True):
        if shown is not None:
            parts = [
                Fraction(len(box[column] & wanted), len(box[column]))
                for column, wanted in conditions.items()
            ]
            total += math.prod(parts, start=Fraction(1))
    return total
