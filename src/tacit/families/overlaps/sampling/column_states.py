"""Columns: the cells of a part that rows hold together, as a rule those of one value, and all
points that the rows allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import Flags, NoTable, OpenPart
from tacit.model.deadline import begin, look

MOST_STEPS = (
    200_000,
    2_000_000,
    12_000_000,
)  # steps from state to state that a column may have, at the first try and later
A_SECOND = 3_000_000  # steps
FEW_STATES = 2000.0  # an order with so few states in all is good enough
Array = np.ndarray[Any, np.dtype[Any]]
STARTS, SWEEPS = (
    8,
    6,
)  # for the order: first cells that are tried, and how often every cell is moved


class CannotSample(Exception):
    """No table of a part can be drawn in reasonable time; it says why."""


@dataclass(frozen=True, slots=True, eq=False)
class SampledColumn:
    """Cells that rows hold together: cell `cells[j]` of the part has
    between `low[j]` and `high[j]` people.

    `rows` are places in `cells`, with how many people they have together.
    """

    cells: Integers
    low: Integers
    high: Integers
    rows: tuple[tuple[Integers, int], ...]


def columns_of(part: OpenPart) -> tuple[SampledColumn, ...]:
    """The cells of a part, taken apart where nothing but classes joins them.

    Where every row has cells of one value only, so has every column.
    Columns meet nowhere but in the sums of classes.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> [part] = system_of(
    ...     overlap_of("xyz", ["xxyz", "xyz"], [[0], [0], [0, 1], [0, 1], [1]])
    ... ).parts
    >>> [part.value[column.cells].tolist() for column in columns_of(part)]
    [[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [2, 2, 2, 2, 2]]
    """
    parent = list(range(len(part.place)))

    def top(cell: int) -> int:
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    for row in part.rows:
        first, *others = row.cells.tolist()
        for cell in others:
            parent[top(cell)] = top(first)
    tops = np.array([top(cell) for cell in range(len(parent))], dtype=np.int64)
    found = []
    for one in dict.fromkeys(tops.tolist()):
        cells = np.flatnonzero(tops == one)
        rows = tuple(
            (np.searchsorted(cells, row.cells), row.total)
            for row in part.rows
            if tops[row.cells[0]] == one
        )
        found.append(SampledColumn(cells, part.low[cells], part.high[cells], rows))
    return tuple(found)


# -- all points, cell by cell ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class CellLayer:
    """The steps that fill one cell: with so many `people` in it one comes
    from state `source` to state `target`.

    Steps are ordered by their source; `starts` has the first step of each source, and one place
    more for the end.
    """

    cell: int
    source: Integers
    people: Integers
    target: Integers
    starts: Integers


@dataclass(frozen=True, slots=True, eq=False)
class PathLattice:
    """All points of a column, as the paths from its first state to its last.

    A state is what is left of the rows that have some of their cells behind and some ahead.
    Only states on a whole path are there, so every walk from the first state ends in a point.
    """

    column: SampledColumn
    layers: tuple[CellLayer, ...]

    @property
    def steps(self) -> int:
        """How many steps from state to state there are in all."""
        return sum(len(layer.source) for layer in self.layers)

    @property
    def points(self) -> float:
        """How many points there are (rounded, where they are very many)."""
        ahead = np.ones(1)
        for layer in reversed(self.layers):
            ahead = np.add.reduceat(ahead[layer.target], layer.starts[:-1])
        return float(ahead[0])


def lattice_of(
    column: SampledColumn,
    *,
    like: Sequence[int] | None = None,
    most: Sequence[int] = MOST_STEPS,
) -> PathLattice:
    """The points of a column; raises NoTable where there is none, and CannotSample where its states
    are too many.

    The states on whole paths are the same from either end, but those that lead nowhere are not:
    both ways are tried.

    >>> both = SampledColumn(
    ...     np.arange(3),
    ...     np.zeros(3, int),
    ...     np.array([2, 2, 2]),
    ...     ((np.array([0, 1]), 2), (np.array([1, 2]), 2)),
    ... )
    >>> lattice_of(both).points
    3.0
    """
    order = order_of(column, like)
    for limit in most:
        for direction in (order, order[::-1]):
            layers = _built(column, direction, limit)
            if layers is not None:
                return PathLattice(column, _on_whole_paths(layers))
    raise CannotSample(f"a column of {len(column.cells)} cells has too many states")


def _built(
    column: SampledColumn, order: Sequence[int], most: int
) -> list[tuple[CellLayer, int]] | None:
    """The layers in an order, each with the number of its states;
    None where there are too many steps.
    """
    building = _Building(column, order)
    layers: list[tuple[CellLayer, int]] = []
    for cell in order:
        look()
        look()
        before = len(building.states)
        layer = building.layer(cell, most)
        if layer is None:
            return None
        layers.append((layer, before))
        most -= len(layer.source)
        if not len(building.states):
            raise NoTable
    return layers


class _Building:
    """States of a column with some cells behind:
    what is left of each of the open rows, one state a line.
    """

    def __init__(self, column: SampledColumn, order: Sequence[int]) -> None:
        self.column = column
        self.members = [frozenset(cells.tolist()) for cells, _ in column.rows]
        self.waiting = set(order)
        self.open: list[int] = []
        self.kind = (
            np.int16 if max((total for _, total in column.rows), default=0) < 1 << 15 else np.int32
        )
        self.states: Array = np.zeros((1, 0), dtype=self.kind)
        self.rng = np.random.default_rng(20)

    def ahead(self, cells: frozenset[int]) -> tuple[int, int]:
        """How many people at least and at most those cells have
        together that are not filled yet.
        """
        waiting = list(cells & self.waiting)
        return int(self.column.low[waiting].sum()), int(self.column.high[waiting].sum())

    def layer(self, cell: int, most: int) -> CellLayer | None:
        """All ways to fill a cell; None where they are more than so many."""
        self.waiting.discard(cell)
        for row, (_, total) in enumerate(self.column.rows):
            if cell in self.members[row] and row not in self.open:
                self.open.append(row)
                self.states = np.concatenate(
                    [self.states, np.full((len(self.states), 1), total, self.kind)], axis=1
                )
        before = self.states
        least: Integers = np.full(len(before), self.column.low[cell])
        largest = np.full(len(before), self.column.high[cell])
        mine = np.array([cell in self.members[row] for row in self.open], dtype=bool)
        for at in np.flatnonzero(mine).tolist():
            low, high = self.ahead(self.members[self.open[at]])
            left = before[:, at].astype(np.int64)
            np.maximum(least, left - high, out=least)
            np.minimum(largest, left - low, out=largest)
        width = np.maximum(largest - least + 1, 0)
        if int(width.sum()) > most:
            return None
        begin(int(width.sum()) / A_SECOND)
        source = np.repeat(np.arange(len(before)), width)
        people = np.arange(len(source)) - np.repeat(np.cumsum(width) - width, width) + least[source]
        after = before[source] - people.astype(self.kind)[:, None] * mine
        kept = self.can_go_on(after)
        look()
        still = [at for at, row in enumerate(self.open) if self.members[row] & self.waiting]
        self.open = [self.open[at] for at in still]
        self.states, target = self.distinct(after[kept][:, still])
        return CellLayer(cell, source[kept], people[kept], target, np.zeros(0, dtype=np.int64))

    def can_go_on(self, states: Array) -> Flags:
        """Whether the difference of each two open rows is one that the cells ahead can make.

        Without it most states lead nowhere where rows overlap much:
        their number falls by factors of hundreds.
        """
        good = np.ones(len(states), dtype=bool)
        for at, one in enumerate(self.open):
            for place, other in enumerate(self.open[:at]):
                look()
                more = self.ahead(self.members[one] - self.members[other])
                less = self.ahead(self.members[other] - self.members[one])
                difference = states[:, at].astype(np.int32) - states[:, place]
                good &= (difference >= more[0] - less[1]) & (difference <= more[1] - less[0])
        return good

    def distinct(self, states: Array) -> tuple[Array, Integers]:
        """Every state once, and which of them each one is:
        told apart by a random sum of its digits, which is looked at.
        """
        while True:
            factors = self.rng.integers(1, 1 << 63, states.shape[1], dtype=np.int64) | 1
            _, first, target = np.unique(states @ factors, return_index=True, return_inverse=True)
            target = target.reshape(-1)
            if (states[first][target] == states).all():
                return states[first], target


def _on_whole_paths(layers: Sequence[tuple[CellLayer, int]]) -> tuple[CellLayer, ...]:
    """The layers without states from which the end is not reached."""
    alive = np.ones(1, dtype=bool)
    found: list[CellLayer] = []
    for layer, states in reversed(layers):
        kept = alive[layer.target]
        target = (np.cumsum(alive) - 1)[layer.target[kept]]
        alive = np.zeros(states, dtype=bool)
        alive[layer.source[kept]] = True
        source = (np.cumsum(alive) - 1)[layer.source[kept]]
        starts = np.searchsorted(source, np.arange(int(alive.sum()) + 1))
        found.append(CellLayer(layer.cell, source, layer.people[kept], target, starts))
    return tuple(reversed(found))


# -- the order of the cells -----------------------------------------------------------------------


def order_of(column: SampledColumn, like: Sequence[int] | None = None) -> list[int]:
    """An order of the cells with few states in between:
    greedy from some first cells, then one cell moved at a time.

    `like` is an order that was good for a similar column.
    """
    size = len(column.cells)
    width = _Width(column)
    best, cost = list(range(size)), float("inf")
    tried = (
        [list(like)]
        if like is not None
        else (_greedy(size, first, width.after) for first in range(0, size, -(-size // STARTS)))
    )
    for order in tried:
        if (then := width.cost(order)) < cost:
            best, cost = order, then
        if cost < FEW_STATES:
            return best
    for _ in range(SWEEPS if like is None else 1):
        moved = best
        for cell in range(size):
            look()
            moved = _moved(moved, cell, width.after)
        if width.cost(moved) > 0.99 * cost:
            break
        best, cost = moved, width.cost(moved)
    return best


def _greedy(size: int, first: int, after: Callable[[int], float]) -> list[int]:
    """An order from a first cell on;
    next comes the cell after which there are the fewest states.
    """
    order, behind = [first], 1 << first
    waiting = set(range(size)) - {first}
    while waiting:
        look()
        cell = min(waiting, key=lambda one: (after(behind | 1 << one), one))
        order.append(cell)
        behind |= 1 << cell
        waiting.discard(cell)
    return order


def _moved(order: list[int], cell: int, after: Callable[[int], float]) -> list[int]:
    """The order with one cell at its best place.
    To move it by one place changes the states at one place.
    """
    others = [one for one in order if one != cell]
    behind = [0]
    for one in others:
        behind.append(behind[-1] | 1 << one)
    # With the cell at place j, the states after it are those without it up to j, and those with it
    # from j on.
    without = [after(one) for one in behind[1:]]
    with_it = [after(one | 1 << cell) for one in behind]
    cost = [sum(with_it)]
    for place in range(len(others)):
        cost.append(cost[-1] + without[place] - with_it[place])
    place = cost.index(min(cost))
    return [*others[:place], cell, *others[place:]]


class _Width:
    """About how many states there are after some cells, which are given as the bits of a number.

    An open row multiplies states by the range of what is left of it, or of the difference to a row
    counted before, whichever is less.
    """

    def __init__(self, column: SampledColumn) -> None:
        self.members = [sum(1 << cell for cell in cells.tolist()) for cells, _ in column.rows]
        self.totals = [total for _, total in column.rows]
        self.free = (column.high - column.low).tolist()
        self.all = (1 << len(column.cells)) - 1
        self.known: dict[int, float] = {}
        self.ranges: dict[int, int] = {}

    def cost(self, order: Sequence[int]) -> float:
        """The states of all layers."""
        behind, cost = 0, 0.0
        for cell in order:
            behind |= 1 << cell
            cost += self.after(behind)
        return cost

    def after(self, behind: int) -> float:
        """The states between the cells behind and those ahead."""
        if behind not in self.known:
            self.known[behind] = self._after(behind)
        return self.known[behind]

    def _after(self, behind: int) -> float:
        ahead = self.all & ~behind
        rows = [
            row for row, members in enumerate(self.members) if members & behind and members & ahead
        ]
        rows.sort(key=lambda row: self.range(self.members[row] & ahead))
        states = 0.0
        counted: list[int] = []
        for row in rows:
            mine = self.members[row]
            least = min(self.totals[row], self.range(mine & behind), self.range(mine & ahead))
            for other in counted:
                least = min(
                    least, self.range((mine ^ other) & ahead), self.range((mine ^ other) & behind)
                )
            counted.append(mine)
            states += log(least + 1)
        return exp(min(states, 300.0))

    def range(self, cells: int) -> int:
        """By how much the number of people in some cells can vary."""
        found = self.ranges.get(cells)
        if found is None:
            found, left = 0, cells
            while left:
                found += self.free[(left & -left).bit_length() - 1]
                left &= left - 1
            self.ranges[cells] = found
        return found
