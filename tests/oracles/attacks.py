"""Every attack by brute force, written from its words.
Rows are dicts; no code is shared with src.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

Row = dict[str, Any]
Show = Callable[[Row], tuple[Any, ...]]


def grouped(rows: Sequence[Row], show: Show) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(show(row), []).append(row)
    return found


def share(rows: Sequence[Row], column: str, value: Any) -> Fraction:
    known = [row[column] for row in rows if row[column] is not None]
    return Fraction(known.count(value), len(known)) if known else Fraction(0)


def alike(
    rows: Sequence[Row], show: Show, column: str, threshold: Fraction
) -> tuple[int, int, Fraction]:
    """Groups and people where one value has that share, and the greatest share anywhere."""
    groups = people = 0
    greatest = Fraction(0)
    for members in grouped(rows, show).values():
        top = max(
            (share(members, column, row[column]) for row in members if row[column] is not None),
            default=None,
        )
        if top is not None:
            greatest = max(greatest, top)
            groups, people = (
                (groups + 1, people + len(members)) if top >= threshold else (groups, people)
            )
    return groups, people, greatest


def least_negations(rows: Sequence[Row], show: Show, column: str) -> int | None:
    """The fewest values to rule out until somebody who was not certain is: all sets are tried."""
    found = None
    for members in grouped(rows, show).values():
        values = [row[column] for row in members if row[column] is not None]
        if len(set(values)) < 2:
            continue
        for mine in set(values):
            for number in range(len(set(values))):
                for ruled_out in combinations(sorted(set(values) - {mine}), number):
                    if {one for one in values if one not in ruled_out} == {mine}:
                        found = number if found is None else min(found, number)
    return found


def best_belief(members: Sequence[Row], column: str, value: Any, number: int) -> Fraction:
    """The greatest belief in a value that ruling out so many others can give."""
    values = [row[column] for row in members if row[column] is not None]
    others = sorted(set(values) - {value})
    return max(
        Fraction(values.count(value), sum(one not in out for one in values))
        for out in combinations(others, number)
    )


def near(rows: Sequence[Row], show: Show, column: str, width: Fraction) -> Fraction:
    """The greatest share of a group around one of its values."""
    best = Fraction(0)
    for members in grouped(rows, show).values():
        values = [row[column] for row in members if row[column] is not None]
        for centre in values:
            best = max(
                best, Fraction(sum(abs(one - centre) <= width for one in values), len(values))
            )
    return best


def worlds(rows: Sequence[Row], show: Show, column: str) -> Iterator[list[Row]]:
    """Every table that gives the same release: the values of each group handed out in every way."""
    groups = list(grouped(rows, show).values())
    ways = [sorted(set(permutations([row[column] for row in members]))) for members in groups]
    for chosen in product(*ways):
        yield [
            {**row, column: value}
            for members, values in zip(groups, chosen, strict=True)
            for row, value in zip(members, values, strict=True)
        ]


def minimal_beliefs(
    rows: Sequence[Row],
    show: Show,
    lower: Sequence[Show],
    column: str,
    passes: Callable[[list[Any]], bool],
) -> list[tuple[str, Any, Fraction]]:
    """For each person the belief in their true value over the worlds
    in which every lower table fails.
    """

    def fails(world: list[Row], below: Show) -> bool:
        return any(
            not passes([row[column] for row in members])
            for members in grouped(world, below).values()
        )

    kept = [
        world for world in worlds(rows, show, column) if all(fails(world, below) for below in lower)
    ]
    having = Counter((row["name"], row[column]) for world in kept for row in world)
    return [
        (row["name"], row[column], Fraction(having[row["name"], row[column]], len(kept)))
        for row in rows
    ]
