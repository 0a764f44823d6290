"""Candidates: conditions on public columns for further views, and whom each of them selects.

Ranges of ordered columns (numbers and dates), values of others, and any two of these on different
columns. Conditions that select the same people are one candidate; the simplest of them is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.restore.disclosed_views import Flags
from tacit.model.deadline import look

MOST_CONDITIONS = 20_000
MOST_CELLS = 100_000_000  # conditions times people
MOST_STEPS = 40  # steps that a column is divided into
FEW = 5  # values of a column of which all sets are tried
SEVERAL = 40  # values of a column of which the most frequent are tried


@dataclass(frozen=True, slots=True)
class Between:
    """Column between two values, both included.

    >>> Between("age", 25, 26).selects([24, 25, None]).tolist()
    [False, True, False]
    """

    column: str
    low: Any
    high: Any

    def selects(self, values: Sequence[Any]) -> Flags:
        """Whom it selects, from everybody's values of the column; nobody whose value is missing."""
        return np.array(
            [value is not None and self.low <= value <= self.high for value in values], dtype=bool
        )


@dataclass(frozen=True, slots=True)
class OneOf:
    """Column one of some values."""

    column: str
    values: tuple[Any, ...]

    def selects(self, values: Sequence[Any]) -> Flags:
        """Whom it selects, from everybody's values of the column; nobody whose value is missing."""
        return np.array(
            [value is not None and value in self.values for value in values], dtype=bool
        )


Condition = tuple[Between | OneOf, ...]  # all of them


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Conditions with the people whom they select, one row each; the simplest first.
    `considered` is how many were looked at.
    """

    conditions: tuple[Condition, ...]
    members: Flags
    considered: int
    thinned: tuple[str, ...] = ()  # columns of which not all ends or values were tried


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column as codes: `values` in their order, `code` of each person (-1 where it is
    missing), and how it is divided.
    """

    name: str
    values: tuple[Any, ...]
    code: Integers
    is_ordered: bool


def candidates(
    columns: Mapping[str, Sequence[Any]], *, focus: Flags | None = None, most: int = MOST_CONDITIONS
) -> Candidates:
    """Conditions on some columns, each given as everybody's values.

    Where a column has many values, ranges begin and end at steps that have about as many people
    each, of `focus` (those whom a view should touch) or of all. There are fewer steps for two
    conditions together, so that all in all no more than `most` conditions are looked at.

    >>> found = candidates({"age": [25, 26, 27], "sex": ["M", "M", "F"]})
    >>> found.conditions[0], found.members[0].tolist(), len(found.conditions), found.considered
    ((Between(column='age', low=25, high=25),), [True, False, False], 6, 20)
    """
    people = len(next(iter(columns.values()), ()))
    weigh = np.ones(people, dtype=bool) if focus is None or not focus.any() else focus
    coded = [
        column
        for name, values in columns.items()
        if len((column := coded_column(name, values)).values) > 1
    ]
    most = max(200, min(most, MOST_CELLS // max(people, 1)))
    steps = largest(lambda many: sum(how_many(one, many) for one in coded) <= most // 2, MOST_STEPS)
    alone = [list(simple(one, steps, weigh)) for one in coded]
    left = most - sum(map(len, alone))
    fewer = largest(
        lambda many: (
            sum(
                how_many(one, many) * how_many(other, many) for one, other in combinations(coded, 2)
            )
            <= left
        ),
        steps,
    )
    coarse = [list(simple(one, fewer, weigh)) for one in coded] if fewer < steps else alone
    found: dict[bytes, tuple[Condition, Flags]] = {}
    considered = 0
    for condition, selected in (
        *((one, flags) for some in alone for one, flags in some),
        *pairs(coarse),
    ):
        considered += 1
        found.setdefault(np.packbits(selected).tobytes(), (condition, selected))
    found.pop(np.packbits(np.zeros(people, dtype=bool)).tobytes(), None)
    thinned = [
        one.name
        for one in coded
        if len(one.values) > (min(steps, fewer) if one.is_ordered else FEW)
    ]
    rows = [flags for _, flags in found.values()]
    return Candidates(
        tuple(condition for condition, _ in found.values()),
        np.array(rows, dtype=bool).reshape(len(rows), people),
        considered,
        tuple(thinned),
    )


def largest(fits: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` that fits, at least 2."""
    return next((many for many in range(most, 2, -1) if fits(many)), 2)


def coded_column(name: str, values: Sequence[Any]) -> CodedColumn:
    """A column by codes. Values that do not compare, such as text, have no ranges:
    their order is a matter of language.
    """
    known = set(values) - {None}
    ordered = is_ordered(known)
    order = (
        tuple(sorted(known))
        if ordered
        else tuple(sorted(known, key=lambda value: (type(value).__name__, str(value))))
    )
    place = {value: at for at, value in enumerate(order)}
    return CodedColumn(
        name,
        order,
        np.array([-1 if value is None else place[value] for value in values], dtype=np.int64),
        ordered,
    )


def is_ordered(values: set[Any]) -> bool:
    """Are these numbers, or dates?

    >>> (
    ...     is_ordered({1, 2.5}),
    ...     is_ordered({"a"}),
    ...     is_ordered({True, False}),
    ...     is_ordered({date(2024, 1, 1)}),
    ... )
    (True, False, False, True)
    """
    if all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) and value == value
        for value in values
    ):
        return True
    return all(
        isinstance(value, date) and not isinstance(value, datetime) for value in values
    ) or all(isinstance(value, datetime) for value in values)


def how_many(column: CodedColumn, steps: int) -> int:
    """How many conditions on one column there are at most."""
    many = len(column.values)
    if column.is_ordered:
        steps = min(many, steps)
        return steps * (steps + 1) // 2
    return (
        2**many - 2
        if many <= FEW
        else min(many, SEVERAL)
        + (many if many <= SEVERAL else 0)
        + (many * (many - 1) // 2 if many <= steps else 0)
    )


def simple(column: CodedColumn, steps: int, focus: Flags) -> Iterator[tuple[Condition, Flags]]:
    """The conditions on one column, with whom they select."""
    if column.is_ordered:
        ends = divided(column, steps, focus)
        for first, (low, _) in enumerate(ends):
            for _, high in ends[first:]:
                yield (
                    (Between(column.name, column.values[low], column.values[high]),),
                    (column.code >= low) & (column.code <= high),
                )
    else:
        for codes in chosen(column, steps):
            yield (
                (OneOf(column.name, tuple(column.values[code] for code in codes)),),
                np.isin(column.code, codes),
            )


def divided(column: CodedColumn, steps: int, focus: Flags) -> list[tuple[int, int]]:
    """The values of a column in steps of about as many people: the first and last code of each."""
    many = len(column.values)
    if many <= steps:
        return [(code, code) for code in range(many)]
    # Everybody counts a little, so that values of nobody in focus are divided too.
    weight = 1 + many * np.bincount(column.code[focus & (column.code >= 0)], minlength=many)
    behind = np.cumsum(weight) - weight / 2
    step = np.minimum((behind * steps / weight.sum()).astype(np.int64), steps - 1)
    return [
        (int(codes[0]), int(codes[-1]))
        for codes in np.split(np.arange(many), np.flatnonzero(np.diff(step)) + 1)
    ]


def chosen(column: CodedColumn, steps: int) -> Iterator[tuple[int, ...]]:
    """Sets of values: all where they are few, else single ones, all but one, and pairs."""
    many = len(column.values)
    if many <= FEW:
        for size in range(1, many):
            yield from combinations(range(many), size)
        return
    frequent = np.argsort(
        -np.bincount(column.code[column.code >= 0], minlength=many), kind="stable"
    )[:SEVERAL]
    yield from ((code,) for code in sorted(frequent.tolist()))
    if many <= steps:
        yield from combinations(range(many), 2)
    if many <= SEVERAL:
        yield from (
            tuple(code for code in range(many) if code != without) for without in range(many)
        )


def pairs(
    conditions: Sequence[Sequence[tuple[Condition, Flags]]],
) -> Iterator[tuple[Condition, Flags]]:
    """Two conditions on different columns."""
    for some, others in combinations(conditions, 2):
        for one, selected in some:
            look()
            for other, too in others:
                yield one + other, selected & too
