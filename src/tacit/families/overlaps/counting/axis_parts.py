"""Parts whose rows are each about one value:
a few classes, the *axes*, settle how many people all the others have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import Flags, NoTable, OpenPart
from tacit.model.deadline import look

MOST_WORK = 2e7  # classes * classes * cells: what looking for axes may take
TOTAL = -1  # where an equation keeps its right side; other keys are cells
Equation = dict[int, int | Fraction]


@dataclass(frozen=True, slots=True)
class Linear:
    """A number of people of one value that hangs on those in some axes:
    constant + sum(factor * people in the axis).
    """

    constant: int
    factors: tuple[tuple[int, int], ...]

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes that it hangs on."""
        return tuple(axis for axis, _ in self.factors)


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """The cells of one value: those in the axes (None where an axis has no such cell), those
    that follow, and what must be 0.
    """

    axes: tuple[int | None, ...]
    following: tuple[tuple[int, Linear], ...]
    zero: tuple[Linear, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """A part with `axes` (places in `part.classes`) whose sums imply those of all other classes,
    value by value.

    The tables of the part are prod(class.total!) times the sum, over all numbers of people in the
    cells of the axes that give every axis its total and every column its zeros, of prod(1 / x! over
    all cells).
    """

    part: OpenPart
    axes: tuple[int, ...]
    columns: tuple[ValueColumn, ...]

    def totals(self) -> tuple[int, ...]:
        """How many people each axis has."""
        return tuple(self.part.classes[axis].total for axis in self.axes)

    def bounds(self, column: ValueColumn) -> list[tuple[int, int]]:
        """The least and the largest number of people with the value in each axis."""
        low, high = self.part.low, self.part.high
        return [
            (0, 0) if cell is None else (int(low[cell]), int(high[cell])) for cell in column.axes
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A weight on a box of numbers of people:
    where it is `allowed`, prod(1 / x! over `cells`), given as x - low.
    """

    allowed: Flags
    cells: tuple[tuple[int, Integers], ...]


def shared(part: OpenPart, order: Sequence[int]) -> Shared | None:
    """The part with axes chosen among its classes in this order;
    None where its rows are not such that there are any.

    A class is an axis unless its sum follows from the rows and the sums of the axes before it.
    Raises NoTable where the sums contradict each other.

    >>> from tacit.families.overlaps.overlap import merged, overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> views = [["x", "x", "y", "z"], ["x", "y", "z", "z"]]
    >>> (part,) = system_of(
    ...     merged(overlap_of("xyz", views, [[0], [0], [0, 1], [0, 1], [1], [1]]))
    ... ).parts
    >>> found = common(part)
    >>> len(part.classes), found.totals(), found.columns[0].following[0][1]
    (3, (2,), Linear(constant=2, factors=((0, -1),)))
    """
    values = part.value.tolist()
    if len(part.classes) ** 2 * len(values) > MOST_WORK or not _is_by_value(part):
        return None
    axes = _axes(part, order)
    columns = []
    for value in sorted(set(values)):
        column = _column(part, axes, value)
        if column is None:
            return None
        columns.append(column)
    return Shared(part, axes, tuple(columns))


@lru_cache(maxsize=64)
def smallest(part: OpenPart) -> Shared | None:
    """The part with small classes for axes: no other axes have fewer points, for what follows
    from what is a matroid.
    """
    return shared(
        part,
        sorted(range(len(part.classes)), key=lambda number: (part.classes[number].total, number)),
    )


@lru_cache(maxsize=64)
def common(part: OpenPart) -> Shared | None:
    """The part with those classes for axes that most views show, so that few axes hang together."""
    seen = np.zeros(len(part.place), dtype=np.int64)
    for row in part.rows:
        seen[row.cells] += 1
    most = [int(seen[one.cells].max(initial=0)) for one in part.classes]
    return shared(
        part,
        sorted(
            range(len(most)), key=lambda number: (-most[number], part.classes[number].total, number)
        ),
    )


def _is_by_value(part: OpenPart) -> bool:
    """Is every row about one value, with one cell of it in each class at most?"""
    pairs = set(zip(part.class_of.tolist(), part.value.tolist(), strict=True))
    return len(pairs) == len(part.place) and all(
        len(set(part.value[row.cells].tolist())) == 1 for row in part.rows
    )


def _equation(cells: Integers, total: int) -> Equation:
    return {**dict.fromkeys(cells.tolist(), 1), **({TOTAL: total} if total else {})}


class _Span:
    """Equations that follow from some, in reduced form: the pivot of one is in no other."""

    def __init__(self, rank: Sequence[int]) -> None:
        self.rank = rank  # cells with a smaller rank are made pivots first
        self.rows: dict[int, Equation] = {}

    def reduced(self, equation: Equation) -> Equation:
        """What the others do not say of an equation."""
        left = dict(equation)
        for pivot in [cell for cell in equation if cell in self.rows]:
            _subtract(left, left[pivot], self.rows[pivot])
        return left

    def add(self, equation: Equation) -> bool:
        """Take an equation in; was it new? Raises NoTable where it contradicts the others."""
        look()
        left = self.reduced(equation)
        cells = [cell for cell in left if cell != TOTAL]
        if not cells:
            if left:
                raise NoTable
            return False
        pivot = min(cells, key=lambda cell: (self.rank[cell], cell))
        by = left[pivot]
        if by != 1:
            left = {
                cell: -factor if by == -1 else Fraction(factor) / by
                for cell, factor in left.items()
            }
        for row in self.rows.values():
            if pivot in row:
                _subtract(row, row[pivot], left)
        self.rows[pivot] = left
        return True


def _subtract(row: Equation, times: int | Fraction, other: Equation) -> None:
    look()
    for cell, factor in other.items():
        value = row.get(cell, 0) - times * factor
        if value:
            row[cell] = value
        else:
            row.pop(cell, None)


def _axes(part: OpenPart, order: Sequence[int]) -> tuple[int, ...]:
    """The classes whose sums do not follow from the rows and the axes before them."""
    span = _Span([0] * len(part.place))
    for row in part.rows:
        span.add(_equation(row.cells, row.total))
    return tuple(
        sorted(
            one
            for one in order
            if span.add(_equation(part.classes[one].cells, part.classes[one].total))
        )
    )


def _column(part: OpenPart, axes: Sequence[int], value: int) -> ValueColumn | None:
    """The cells of one value in terms of those in the axes;
    None where that takes more than whole numbers.
    """
    number = {class_: axis for axis, class_ in enumerate(axes)}
    axis_of = [number.get(class_) for class_ in part.class_of.tolist()]
    own = np.nonzero(part.value == value)[0].tolist()
    span = _Span([0 if axis is None else 1 for axis in axis_of])
    for row in part.rows:
        if part.value[row.cells[0]] == value:
            span.add(_equation(row.cells, row.total))
    following, zero = [], []
    for pivot, equation in span.rows.items():
        rest = [
            (axis_of[cell], -factor)
            for cell, factor in equation.items()
            if cell not in (pivot, TOTAL)
        ]
        follows = axis_of[pivot] is None
        linear = _linear(equation.get(TOTAL, 0), rest if follows else [*rest, (axis_of[pivot], -1)])
        if linear is None:
            return None
        if follows:
            following.append((pivot, linear))
        else:
            zero.append(linear)
    if any(axis_of[cell] is None and cell not in span.rows for cell in own):
        return None
    cells: list[int | None] = [None] * len(axes)
    for cell in own:
        axis = axis_of[cell]
        if axis is not None:
            cells[axis] = cell
    return ValueColumn(tuple(cells), tuple(following), tuple(zero))


def _linear(
    constant: int | Fraction, factors: Iterable[tuple[int | None, int | Fraction]]
) -> Linear | None:
    """In whole numbers, or None."""
    known = []
    for axis, factor in factors:
        if axis is None or factor != int(factor):
            return None
        known.append((axis, int(factor)))
    return None if constant != int(constant) else Linear(int(constant), tuple(sorted(known)))


def factor(
    part: OpenPart,
    bounds: Sequence[tuple[int, int]],
    cells: Sequence[tuple[int, Linear]],
    zero: Sequence[Linear],
) -> Factor:
    """The weight of some cells on the box of all numbers of people
    within some bounds of the axes.
    """
    allowed = np.ones([high - low + 1 for low, high in bounds], dtype=bool)
    for one in zero:
        allowed &= _spread(one, bounds) == 0
    found = []
    for cell, one in cells:
        above = _spread(one, bounds) - int(part.low[cell])
        wide = int(part.high[cell] - part.low[cell])
        allowed &= (above >= 0) & (above <= wide)
        found.append((cell, np.clip(above, 0, wide)))
    return Factor(allowed, tuple(found))


def _spread(linear: Linear, bounds: Sequence[tuple[int, int]]) -> Integers:
    """The number of people at every point of a box (an axis that it
    does not hang on has length 1).
    """
    found = np.full([1] * len(bounds), linear.constant, dtype=np.int64)
    for axis, times in linear.factors:
        low, high = bounds[axis]
        shape = [1] * len(bounds)
        shape[axis] = high - low + 1
        found = found + times * np.arange(low, high + 1).reshape(shape)
    return found


def whole(shared: Shared, column: ValueColumn) -> Factor:
    """The weight of all cells of a value, with one axis of the box for each axis."""
    own = [
        (cell, Linear(0, ((axis, 1),))) for axis, cell in enumerate(column.axes) if cell is not None
    ]
    return factor(shared.part, shared.bounds(column), [*own, *column.following], column.zero)
