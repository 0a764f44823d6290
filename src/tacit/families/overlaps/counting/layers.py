"""Counting cell by cell: a layer holds what is left of the open sums, and in how many ways one
comes to it.

It fits every part. Cells are taken in an order that keeps few sums open. The number of ways to fill
a cell with x of the r people that its class has left is C(r, x), so all weights are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, log2
from typing import Any

import numpy as np

from tacit.families.overlaps.counting.expectations import (
    MOST_BYTES,
    CountingCost,
    Expected,
    exactly,
)
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import NoTable, OpenPart, Sum
from tacit.model.deadline import begin, look
from tacit.model.jobs import Job

Array = np.ndarray[Any, np.dtype[Any]]
MOST_STEPS_HELD = 24_000_000  # ways from state to state that are kept for the way back
MOST_EXACT = 3_000_000  # as many with integers of any size
LARGEST_CLASS = 900  # C(900, x) still fits a float
UNIT = Fraction(1, 1 << 53)
TINY = 2.0**-1020  # more than a product loses that is too small for a float
PACKED = 62  # bits of a key
A_SECOND = 50_000_000  # numbers that are moved, at most
BITS_AT_ONCE = 1 << 24  # of long numbers that are multiplied between two looks at the clock
LONG = 1000.0  # bits of a number from which on its length is what it costs


class TooManyLayerStates(Exception):
    """The layers would not fit."""


@dataclass(frozen=True, slots=True)
class StateLayer:
    """From each state to the next ones: `source` and `target` are places in this layer and the
    next, `x` fills the cell.
    """

    cell: int
    source: Integers
    target: Integers
    x: Integers
    left: Integers  # people that the cell's class has left before
    states: int  # of this layer


def cost(part: OpenPart) -> CountingCost:
    """An upper estimate: it takes open sums as if they were independent."""
    bits = [(states, ways) for states, ways in _widths(part, order_of(part))]
    steps = sum(2.0 ** min(states + ways, 200) for states, ways in bits)
    return CountingCost(60 * steps, 40 * steps)


def exact_cost(part: OpenPart) -> CountingCost:
    """The same with integers of any size: as long as the number of tables may be."""
    floats, longer = cost(part), max(1.0, _most_bits(part) / LONG)
    return CountingCost(8 * longer**1.5 * floats.steps, 3 * longer * floats.bytes)


def _most_bits(part: OpenPart) -> float:
    """A bound on the number of tables, as a power of two:
    everybody has any value that somebody of the class can have.
    """
    return sum(one.total * log2(max(len(one.cells), 1)) for one in part.classes)


def count(part: OpenPart, job: Job | None = None, most: int = MOST_EXACT) -> Expected:
    """The number of tables and the average of every cell, exactly.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> males, older = ["Heart", "SARS", "SARS", "Viral"], ["Flu", "SARS", "SARS", "Viral"]
    >>> views = overlap_of(
    ...     ["Flu", "Heart", "SARS", "Viral"],
    ...     [males, older],
    ...     [[0], [0], [0], [0, 1], [1], [1], [1]],
    ... )
    >>> (part,) = system_of(views).parts
    >>> count(part).tables
    45
    """
    layers = laid_out(part, min(most, int(8 * MOST_BYTES / max(LONG, _most_bits(part)))), job)
    chosen = [_chosen(layer, object) for layer in layers]
    ahead = _ahead(layers, chosen)
    tables = int(ahead[0][0])
    if not tables:
        raise NoTable
    totals = [0] * len(part.place)
    behind: Array = np.array([1], dtype=object)
    for number, (layer, ways) in enumerate(zip(layers, chosen, strict=True)):
        through = _times(behind[layer.source], ways)
        totals[layer.cell] = int(_times(through * layer.x, ahead[number + 1][layer.target]).sum())
        behind = _gathered(through, layer.target, len(ahead[number + 1]))
    return exactly(totals, tables)


def enclosed(part: OpenPart, job: Job | None = None) -> Expected:
    """The average of every cell between two bounds, with floats whose rounding errors are counted.

    All terms are positive, so relative errors only add up; a sum of n terms has at most n of them.
    What is too small for a float is lost: `lost` bounds it.
    """
    if max(one.total for one in part.classes) > LARGEST_CLASS:
        raise TooManyLayerStates
    layers = laid_out(part, MOST_STEPS_HELD, job)
    chosen = [_chosen(layer, float) for layer in layers]
    ahead, lost_ahead, roundings = _ahead_scaled(layers, chosen)
    behind, lost = np.array([1.0]), 0.0
    low, high = [Fraction(0)] * len(part.place), [Fraction(0)] * len(part.place)
    for number, (layer, ways) in enumerate(zip(layers, chosen, strict=True)):
        look()
        through = behind[layer.source] * ways
        onward = ahead[number + 1][layer.target]
        weight = through * onward
        total = float(weight.sum())
        missing = 2 * (
            lost * float((ways * onward).sum())
            + lost_ahead[number + 1] * (float(through.sum()) + lost * float(ways.sum()))
        )
        missing += len(weight) * TINY
        if not missing <= total * 2.0**-60:
            raise TooManyLayerStates
        roundings += _longest(layer.target) + 3
        error = (2 * roundings + 2 * len(weight) + 8) * UNIT
        filled = Fraction(float((weight * layer.x).sum()))
        low[layer.cell] = filled * (1 - error) / Fraction(total)
        high[layer.cell] = (
            (filled + int(part.high[layer.cell]) * Fraction(missing))
            * (1 + 2 * error)
            / Fraction(total)
        )
        behind, lost = _scaled(
            _gathered(through, layer.target, len(ahead[number + 1])),
            _gathered(ways, layer.target, 0),
            lost,
            len(weight),
        )
    return Expected(tuple(low), tuple(high))


def tables_of(
    part: OpenPart, draws: int, rng: np.random.Generator, most: int = MOST_EXACT
) -> Integers:
    """Uniform tables: how many people each cell has, in each draw.
    They are drawn from the counted ways, so none is favoured.
    """
    layers = laid_out(part, most, None)
    ahead = _ahead(layers, [_chosen(layer, object) for layer in layers])
    if not ahead[0][0]:
        raise NoTable
    found = np.zeros((draws, len(part.place)), dtype=np.int64)
    state = np.zeros(draws, dtype=np.int64)
    for number, layer in enumerate(layers):
        weight = _times(_chosen(layer, object), ahead[number + 1][layer.target])
        starts = np.searchsorted(layer.source, np.arange(layer.states + 1))
        after = np.zeros_like(state)
        for one in np.unique(state).tolist():
            look()
            some = np.nonzero(state == one)[0]
            ways = weight[starts[one] : starts[one + 1]].tolist()
            picked = starts[one] + _picked(ways, len(some), rng)
            found[some, layer.cell] = layer.x[picked]
            after[some] = layer.target[picked]
        state = after
    return found


def _picked(weights: Sequence[int], many: int, rng: np.random.Generator) -> Integers:
    """Places drawn with probabilities proportional to whole numbers of any size."""
    sums = np.cumsum(np.array(weights, dtype=object))
    whole = int(sums[-1])
    bits = whole.bit_length() + 64
    words = -(-bits // 32)
    drawn = rng.integers(0, 1 << 32, size=(many, words), dtype=np.uint64)
    at = [
        int.from_bytes(one.astype("<u4").tobytes(), "little") * whole >> (32 * words)
        for one in drawn
    ]
    return np.searchsorted(sums, np.array(at, dtype=object), side="right").astype(np.int64)


# -- the order of the cells ------------------------------------------------------------------------


@lru_cache(maxsize=64)
def order_of(part: OpenPart) -> list[int]:
    """The cells in the order, of a few tried, that keeps the least open."""
    by_value = np.lexsort((part.class_of, part.value)).tolist()
    by_class = np.lexsort((part.value, _line(part))).tolist()
    orders = [by_value, by_class, *([_greedy(part)] if len(part.place) <= 400 else [])]
    return min(
        orders, key=lambda order: max(states + ways for states, ways in _widths(part, order))
    )


def _line(part: OpenPart) -> Integers:
    """The classes in a line, those that share rows near each other, as a place for each cell."""
    rows_of: dict[int, set[int]] = {number: set() for number in range(len(part.classes))}
    for number, row in enumerate(part.rows):
        for one in set(part.class_of[row.cells].tolist()):
            rows_of[one].add(number)
    waiting, opened = set(rows_of), set[int]()
    place: dict[int, int] = {}
    while waiting:
        # Next comes the class that opens the fewest rows, and of those the one that has the most in
        # common with what is open.
        look()
        best = min(
            waiting, key=lambda one: (len(rows_of[one] - opened), -len(rows_of[one] & opened), one)
        )
        place[best] = len(place)
        opened |= rows_of[best]
        waiting.remove(best)
    return np.array([place[one] for one in part.class_of.tolist()], dtype=np.int64)


def _greedy(part: OpenPart) -> list[int]:
    """Always the cell after which the least is open."""
    sums = [*part.classes, *part.rows]
    of_cell = _by_cell(sums, len(part.place))
    rest = [len(one.cells) for one in sums]
    size = [log2(min(one.total, int(part.high[one.cells].sum())) + 1) for one in sums]
    waiting, order = set(range(len(part.place))), []
    while waiting:
        look()
        best = min(
            waiting,
            key=lambda cell: (
                sum(_change(number, rest, sums, size) for number in of_cell[cell]),
                cell,
            ),
        )
        for number in of_cell[best]:
            rest[number] -= 1
        waiting.remove(best)
        order.append(best)
    return order


def _by_cell(sums: Sequence[Sum], cells: int) -> list[list[int]]:
    """For each cell the sums that it is in."""
    found: list[list[int]] = [[] for _ in range(cells)]
    for number, one in enumerate(sums):
        for cell in one.cells.tolist():
            found[cell].append(number)
    return found


def _change(number: int, rest: Sequence[int], sums: Sequence[Sum], size: Sequence[float]) -> float:
    """What taking one more cell of a sum adds to what is open; closing it takes that away."""
    is_open = rest[number] < len(sums[number].cells)
    closes = rest[number] == 1
    return size[number] * (int(not is_open and not closes) - int(is_open and closes))


def _widths(part: OpenPart, order: Sequence[int]) -> Iterator[tuple[float, float]]:
    """For each cell in turn: bits of the states before it, and of the ways to fill it."""
    sums = [*part.classes, *part.rows]
    of_cell = _by_cell(sums, len(part.place))
    rest = np.array([int(part.high[one.cells].sum()) for one in sums])
    done = np.zeros(len(sums), dtype=np.int64)
    open_bits: dict[int, float] = {}
    for cell in order:
        look()
        ways = int(part.high[cell] - part.low[cell])
        for number in of_cell[cell]:
            rest[number] -= part.high[cell]
            done[number] += part.high[cell]
            ways = min(ways, int(rest[number]))
        yield sum(open_bits.values()), log2(ways + 1)
        for number in of_cell[cell]:
            total = sums[number].total
            ranging = min(total, int(done[number])) - max(0, total - int(rest[number]))
            open_bits[number] = log2(max(ranging, 0) + 1)


# -- the layers ------------------------------------------------------------------------------------


def laid_out(part: OpenPart, most: int, job: Job | None) -> list[StateLayer]:
    """All layers; raises TooManyStates where more ways than `most` would be held."""
    order = order_of(part)
    walk = _Walk(part, order)
    layers, held = [], 0
    for done, cell in enumerate(order):
        look()
        if job is not None:
            job.step("counting tables", done / len(order))
        layer = walk.step(cell, most - held)
        held += len(layer.x)
        layers.append(layer)
    return layers


class _Walk:
    """The states of the current layer: what each open sum has left."""

    def __init__(self, part: OpenPart, order: Sequence[int]) -> None:
        self.part = part
        self.sums = [*part.classes, *part.rows]
        self.of_cell: list[list[int]] = [[] for _ in order]
        for number, one in enumerate(self.sums):
            for cell in one.cells.tolist():
                self.of_cell[cell].append(number)
        self.cells_left = [len(one.cells) for one in self.sums]
        self.low_left = [int(part.low[one.cells].sum()) for one in self.sums]
        self.high_left = [int(part.high[one.cells].sum()) for one in self.sums]
        self.open: list[int] = []
        self.left: Integers = np.zeros((1, 0), dtype=np.int64)

    def step(self, cell: int, most: int) -> StateLayer:
        """Fill one cell in every way that the sums allow."""
        mine = self.of_cell[cell]
        new = [number for number in mine if number not in self.open]
        self.left = np.hstack(
            [
                self.left,
                np.tile([self.sums[number].total for number in new], (len(self.left), 1)).astype(
                    np.int64
                ),
            ]
        )
        self.open += new
        low = np.full(len(self.left), self.part.low[cell])
        high = np.full(len(self.left), self.part.high[cell])
        for number in mine:
            self.cells_left[number] -= 1
            self.low_left[number] -= int(self.part.low[cell])
            self.high_left[number] -= int(self.part.high[cell])
            left = self.left[:, self.open.index(number)]
            low = np.maximum(low, left - self.high_left[number])
            high = np.minimum(high, left - self.low_left[number])
        many = np.maximum(high - low + 1, 0)
        if int(many.sum()) > most or 8 * int(many.sum()) * (len(self.open) + 5) > MOST_BYTES // 2:
            raise TooManyLayerStates
        begin(int(many.sum()) * (len(self.open) + 5) / A_SECOND)
        states = len(self.left)
        source = np.repeat(np.arange(states), many)
        x = low[source] + np.arange(len(source)) - np.repeat(np.cumsum(many) - many, many)
        class_column = self.open.index(mine[0])
        people = self.left[source, class_column]
        look()
        self.left = self.left[source]
        look()
        for number in mine:
            self.left[:, self.open.index(number)] -= x
        self._close(mine)
        self.left, target = _distinct(self.left)
        return StateLayer(cell, source, target, x, people, states)

    def _close(self, mine: Sequence[int]) -> None:
        """Sums without cells left are met; what they have left is 0."""
        closed = [number for number in mine if not self.cells_left[number]]
        kept = [at for at, number in enumerate(self.open) if number not in closed]
        self.left = self.left[:, kept]
        self.open = [self.open[at] for at in kept]


def _distinct(states: Integers) -> tuple[Integers, Integers]:
    """The different rows, and which of them each row is."""
    if not len(states) or not states.shape[1]:
        return states[:1], np.zeros(len(states), dtype=np.int64)
    order: Integers | None = None
    keys = list(_keys(states))
    for key in reversed(keys):
        look()
        order = (
            np.argsort(key, kind="stable")
            if order is None
            else order[np.argsort(key[order], kind="stable")]
        )
    assert order is not None
    is_new = np.zeros(len(order), dtype=bool)
    is_new[0] = True
    for key in keys:
        is_new[1:] |= np.diff(key[order]) != 0
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.cumsum(is_new) - 1
    return states[order[is_new]], inverse


def _keys(states: Integers) -> Iterator[Integers]:
    """Each row as a few numbers, which are ordered as the rows are."""
    least = states.min(axis=0)
    key, bits = np.zeros(len(states), dtype=np.int64), 0.0
    for at, wide in enumerate((states.max(axis=0) - least + 1).tolist()):
        look()
        if bits + log2(wide) > PACKED:
            yield key
            key, bits = np.zeros(len(states), dtype=np.int64), 0.0
        key = key * wide + (states[:, at] - least[at])
        bits += log2(wide)
    yield key


def _chosen(layer: StateLayer, kind: type) -> Array:
    """In how many ways the people of each step are chosen."""
    base = int(layer.x.max(initial=0)) + 1
    pairs, inverse = np.unique(layer.left * base + layer.x, return_inverse=True)
    ways = list(_combinations(divmod(one, base) for one in pairs.tolist()))
    number: Callable[[int], Any] = float if kind is float else int
    return (
        np.array([number(one) for one in ways], dtype=kind)[inverse.reshape(-1)]
        if ways
        else np.zeros(0, dtype=kind)
    )


def _combinations(pairs: Iterable[tuple[int, int]]) -> Iterator[int]:
    """C(n, x) for some pairs in increasing order;
    the next x costs one short multiplication and division.

    >>> list(_combinations([(4, 1), (4, 2), (4, 4), (6, 3)]))
    [4, 6, 1, 20]
    """
    before, ways = (-1, -1), 0
    for n, x in pairs:
        look()
        ways = ways * (n - x + 1) // x if before == (n, x - 1) else comb(n, x)
        before = n, x
        yield ways


def _times(one: Array, other: Array) -> Array:
    """Products of integers of any size, some at a time."""
    longest = max(
        (int(some[len(some) // 2]).bit_length() for some in (one, other) if len(some)), default=1
    )
    step = max(1, BITS_AT_ONCE // max(64, longest))
    found = np.empty(len(one), dtype=object)
    for start in range(0, len(one), step):
        look()
        found[start : start + step] = one[start : start + step] * other[start : start + step]
    return found


def _gathered(weights: Array, place: Integers, many: int) -> Array:
    """Weights summed by place."""
    if weights.dtype != object:
        return np.bincount(place, weights, many)
    found = np.zeros(many, dtype=object)
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    starts = np.nonzero(np.diff(ordered, prepend=-1))[0]
    if len(starts):
        found[ordered[starts]] = np.add.reduceat(weights[order], starts)
    return found


def _longest(place: Integers) -> int:
    """The most terms that go into one sum."""
    return int(np.bincount(place).max(initial=0))


def _ahead(layers: Sequence[StateLayer], chosen: Sequence[Array]) -> list[Array]:
    """For each layer, and the end: in how many ways each state can be completed."""
    last = int(layers[-1].target.max(initial=-1)) + 1
    found: list[Array] = [np.array([1] * last, dtype=object)]
    for layer, ways in zip(reversed(layers), reversed(chosen), strict=True):
        found.append(_gathered(_times(ways, found[-1][layer.target]), layer.source, layer.states))
    return found[::-1]


def _ahead_scaled(
    layers: Sequence[StateLayer], chosen: Sequence[Array]
) -> tuple[list[Array], list[float], int]:
    """The same with floats, each layer scaled by a power of two;
    what may be lost of a value, and how many roundings it has seen.
    """
    last = int(layers[-1].target.max(initial=-1)) + 1
    if not last:
        raise NoTable
    found: list[Array] = [np.ones(last)]
    lost, roundings = [0.0], 0
    for layer, ways in zip(reversed(layers), reversed(chosen), strict=True):
        look()
        values = _gathered(ways * found[-1][layer.target], layer.source, layer.states)
        if not values.max(initial=0) > 0:
            raise NoTable
        scaled, gone = _scaled(values, _gathered(ways, layer.source, 0), lost[-1], len(ways))
        found.append(scaled)
        lost.append(gone)
        roundings += _longest(layer.source) + 3
    return found[::-1], lost[::-1], roundings


def _scaled(values: Array, ways: Array, lost: float, terms: int) -> tuple[Array, float]:
    """Values with a greatest one near 1, and what may have been lost of any of them so far."""
    down = 2.0 ** -int(np.frexp(values.max())[1])
    # Twice, for the roundings of this bound itself.
    return values * down, 2 * (lost * float(ways.max(initial=0)) + terms * TINY) * down + TINY
