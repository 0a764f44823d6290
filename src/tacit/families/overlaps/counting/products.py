"""Counting value by value: a polynomial for each value, with one
variable for each class that views share.

The coefficient of a value's polynomial at (x, y, ...) is the weight of x people with the value in
the first axis, y in the second, and so on. The tables are the coefficient at the sizes of the axes
in the product of all values; the average of a cell is the same with the value's own polynomial
weighted by the number of people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod

import numpy as np

from tacit.families.overlaps.counting.arithmetic import Arithmetic, Array, Marginal, ScaledNumbers
from tacit.families.overlaps.counting.axis_parts import Shared, smallest, whole
from tacit.families.overlaps.counting.enclosures import Rounded, averages
from tacit.families.overlaps.counting.enclosures import enclosed as all_enclosed
from tacit.families.overlaps.counting.expectations import CountingCost, Expected
from tacit.families.overlaps.counting.residues import counted, needed
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.overlap_cores import CORES, each, one_core_each
from tacit.families.overlaps.system import NoTable, OpenPart
from tacit.model.deadline import look
from tacit.model.jobs import Job

MOST_AXES = 12
BAND, LEFT = (
    1 << 20,
    1 << 22,
)  # most entries of band matrices side by side, and of what they are multiplied to
INNER = 2000  # most products that one matrix product adds
CALL = 1e5  # what a band matrix takes besides multiplying, in steps
LONG = 1e7  # steps from which on work is divided among cores
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PowerWindow:
    """The powers that are kept: from `start` up to but not with `stop`, in each variable."""

    start: Place
    stop: Place

    @property
    def shape(self) -> Place:
        """How many powers of each variable."""
        return tuple(stop - start for start, stop in zip(self.start, self.stop, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Polynomial:
    """Coefficients in a window."""

    window: PowerWindow
    numbers: ScaledNumbers


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """The windows of one count: those of the values, and what is needed of the products before
    and after each.
    """

    own: tuple[PowerWindow, ...]
    before: tuple[PowerWindow, ...]
    after: tuple[PowerWindow, ...]
    others: tuple[PowerWindow, ...]


def _shared(part: OpenPart) -> Shared | None:
    found = smallest(part)
    return found if found is not None and 0 < len(found.axes) <= MOST_AXES else None


def cost(part: OpenPart) -> CountingCost | None:
    """What `enclosed` takes; None where it cannot be done."""
    found = _shared(part)
    if found is None:
        return None
    plan = _plan(found)
    steps = 0.0
    for number, own in enumerate(plan.own):
        steps += _steps(plan.before[number], own) + _steps(plan.after[number], own)
        steps += _steps(plan.before[number], plan.after[number], plan.others[number])
    held = sum(prod(one.shape) for one in (*plan.own, *plan.after))
    held += (4 + 3 * CORES) * max(prod(one.shape) for one in plan.before) + CORES * (BAND + LEFT)
    return CountingCost(steps, 8.0 * held)


def _steps(one: PowerWindow, other: PowerWindow, kept: PowerWindow | None = None) -> float:
    """Multiplications of one product: see `product`."""
    kept = kept or one
    few, many = sorted((other, one), key=lambda window: prod(window.shape[:-1]))
    inner = prod(min(a, b) for a, b in zip(many.shape[:-1], kept.shape[:-1], strict=True))
    return prod(few.shape[:-1]) * (float(inner) * many.shape[-1] * kept.shape[-1] + CALL)


def exact_cost(part: OpenPart) -> CountingCost | None:
    """What `count` takes; None where it cannot be done."""
    one, found = cost(part), _shared(part)
    many = needed(found) if found is not None else None
    return (
        None
        if one is None or many is None
        else CountingCost(1.5 * one.steps * many, one.bytes * CORES)
    )


def enclosed(part: OpenPart, job: Job | None = None) -> Expected:
    """The averages of a part between bounds; only where `cost` is not None."""
    found = _shared(part)
    assert found is not None
    with one_core_each():
        return all_enclosed(averages(part, marginals(found, Rounded(part), job)))


def count(part: OpenPart, job: Job | None = None) -> Expected:
    """The number of tables of a part, and the averages as fractions;
    only where `exact_cost` is not None.
    """
    found = _shared(part)
    assert found is not None
    price = exact_cost(part)
    return counted(
        found,
        lambda modulo: marginals(found, modulo),
        job,
        is_long=price is not None and price.steps > LONG,
    )


def marginals(shared: Shared, arithmetic: Arithmetic, job: Job | None = None) -> Iterator[Marginal]:
    """For each value: the weight of all tables by how many people have it in each axis."""
    plan = _plan(shared)
    factors = [whole(shared, column) for column in shared.columns]
    own = [
        Polynomial(window, arithmetic.weights(one))
        for window, one in zip(plan.own, factors, strict=True)
    ]
    last = len(own) - 1
    one = ScaledNumbers(np.ones((1,) * len(shared.axes)))
    after = [Polynomial(plan.after[last], one)]
    for number in range(last, 0, -1):
        _tell(job, number, (last - number) / len(own) / 3)
        after.append(product(after[-1], own[number], plan.after[number - 1], arithmetic))
    before = Polynomial(plan.before[0], one)
    for number, factor in enumerate(factors):
        _tell(job, number, (1 + 2 * number / len(own)) / 3)
        others = product(before, after.pop(), plan.others[number], arithmetic).numbers
        # Where this value has x people in an axis, the others have the rest of it:
        # the same window, the other way round.
        facing = others.part[(slice(None, None, -1),) * len(shared.axes)]
        weight = arithmetic.made(
            own[number].numbers.part * facing, [own[number].numbers, others], 1, 1
        )
        yield Marginal(
            weight,
            tuple((cell, above + int(shared.part.low[cell])) for cell, above in factor.cells),
        )
        if number < last:
            before = product(before, own[number], plan.before[number + 1], arithmetic)


def _tell(job: Job | None, number: int, share: float) -> None:
    if job is not None:
        job.step(f"multiplying the weights of value {number + 1}", share)


def _plan(shared: Shared) -> WindowPlan:
    """Only powers that can still become the sizes of the axes are kept.
    Raises NoTable where there are none.
    """
    bounds = [shared.bounds(column) for column in shared.columns]
    low = np.array([[pair[0] for pair in one] for one in bounds])
    high = np.array([[pair[1] for pair in one] for one in bounds])
    total = np.array(shared.totals())
    least, most = np.cumsum(low, axis=0), np.cumsum(high, axis=0)
    before, after = [], []
    for number in range(len(bounds)):
        rest = (total - (least[-1] - least[number]), total - (most[-1] - most[number]))
        own = (low[number], high[number])
        before.append(
            _window(
                least[number] - own[0], most[number] - own[1], rest[1] - own[1], rest[0] - own[0]
            )
        )
        after.append(
            _window(
                least[-1] - least[number],
                most[-1] - most[number],
                total - most[number],
                total - least[number],
            )
        )
    return WindowPlan(
        tuple(_window(*pair, *pair) for pair in zip(low, high, strict=True)),
        tuple(before),
        tuple(after),
        tuple(_window(*pair, *pair) for pair in zip(total - high, total - low, strict=True)),
    )


def _window(low: Integers, high: Integers, least: Integers, most: Integers) -> PowerWindow:
    """The powers from low to high that are also from least to most."""
    start, stop = np.maximum(low, least), np.minimum(high, most) + 1
    if (start >= stop).any():
        raise NoTable
    return PowerWindow(tuple(start.tolist()), tuple(stop.tolist()))


def product(
    one: Polynomial, other: Polynomial, kept: PowerWindow, arithmetic: Arithmetic
) -> Polynomial:
    """The coefficients of a product in a window, by matrix products:
    never by transforms, which would drown small ones.

    For each place of the sparser one in all variables but the last, its coefficients along the last
    one are a band matrix that is multiplied to all coefficients of the other. Many are done at
    once, side by side.
    """
    few, many = sorted((one, other), key=lambda poly: prod(poly.window.shape[:-1]))
    # A coefficient is the sum of so many products at most; adding zeros does not round.
    terms = min(one.numbers.part.size, other.numbers.part.size)
    if len(kept.shape) == 1 and terms <= INNER:
        return Polynomial(
            kept,
            arithmetic.made(
                _in_one_variable(one, other, kept), [one.numbers, other.numbers], terms, terms
            ),
        )
    found = np.zeros(kept.shape)
    wide, narrow = many.window.shape[-1], kept.shape[-1]
    shift = kept.start[-1] - few.window.start[-1] - many.window.start[-1]
    step = max(1, min(wide, INNER, BAND // narrow))
    cuts = [slice(start, min(start + step, wide)) for start in range(0, wide, step)]

    def work(moves: Sequence[_Move]) -> tuple[tuple[slice, ...], Array]:
        box = _hull([move.target for move in moves])
        shape = tuple(one.stop - one.start for one in box)
        got = np.zeros((prod(shape), narrow))
        for cut in cuts:
            inner = cut.stop - cut.start
            left = np.zeros((*shape, len(moves) * inner))
            right = np.empty((len(moves) * inner, narrow))
            for number, move in enumerate(moves):
                own = slice(number * inner, (number + 1) * inner)
                place = [
                    slice(a.start - b.start, a.stop - b.start)
                    for a, b in zip(move.target, box, strict=True)
                ]
                left[(*place, own)] = many.numbers.part[(*move.source, cut)]
                right[own] = _band(few.numbers.part[move.lead], cut, narrow, shift)
            got += arithmetic.dot(left.reshape(len(got), -1), right)
        return box, got.reshape(*shape, narrow)

    at_once = min(INNER, BAND // narrow, LEFT // prod(kept.shape[:-1])) // step
    batches = _batches(_moves(few, many, kept), max(1, at_once))
    for box, got in each(
        work, batches, is_long=few.numbers.part.size * many.numbers.part.size > LONG
    ):
        found[box] += got
    return Polynomial(kept, arithmetic.made(found, [one.numbers, other.numbers], terms, terms))


def _in_one_variable(one: Polynomial, other: Polynomial, kept: PowerWindow) -> Array:
    """The same for one variable, product by product:
    there is too little to do for a matrix to be worth its making.
    """
    look()
    whole = np.convolve(one.numbers.part, other.numbers.part)
    start = one.window.start[0] + other.window.start[0]
    found = np.zeros(kept.shape)
    low, high = max(start, kept.start[0]), min(start + len(whole), kept.stop[0])
    if low < high:
        found[low - kept.start[0] : high - kept.start[0]] = whole[low - start : high - start]
    return found


@dataclass(frozen=True, slots=True)
class _Move:
    """A place in all variables but the last;
    the coefficients that are moved by it, and where they go.
    """

    lead: Place
    source: tuple[slice, ...]
    target: tuple[slice, ...]


def _moves(few: Polynomial, many: Polynomial, kept: PowerWindow) -> Iterator[_Move]:
    """All places with a coefficient that is not 0 whose moves end in the window."""
    for lead in np.argwhere(few.numbers.part.any(axis=-1)).tolist():
        look()
        source, target = [], []
        for axis, place in enumerate(lead):
            by = place + few.window.start[axis]
            start = max(many.window.start[axis], kept.start[axis] - by)
            stop = min(many.window.stop[axis], kept.stop[axis] - by)
            source.append(slice(start - many.window.start[axis], stop - many.window.start[axis]))
            target.append(slice(start + by - kept.start[axis], stop + by - kept.start[axis]))
        if all(one.start < one.stop for one in source):
            yield _Move(tuple(lead), tuple(source), tuple(target))


def _batches(moves: Iterable[_Move], size: int) -> Iterator[list[_Move]]:
    """So many at a time."""
    rest = iter(moves)
    while batch := list(islice(rest, size)):
        yield batch


def _hull(boxes: Sequence[tuple[slice, ...]]) -> tuple[slice, ...]:
    """The least box around some."""
    return tuple(
        slice(min(one.start for one in axis), max(one.stop for one in axis))
        for axis in zip(*boxes, strict=True)
    )


def _band(row: Array, cut: slice, narrow: int, shift: int) -> Array:
    """Some rows of the matrix that multiplies by a polynomial in one variable:
    entry (a, o) is row[o - a + shift].

    >>> _band(np.array([1.0, 2.0]), slice(0, 2), 3, 0).tolist()
    [[1.0, 2.0, 0.0], [0.0, 1.0, 2.0]]
    """
    # Place p of the line is row[p + first], and row a of the band begins at place cut.stop - 1 - a.
    line = np.zeros(cut.stop - cut.start + narrow - 1)
    first = shift - (cut.stop - 1)
    low, high = max(0, first), min(len(row), first + len(line))
    if low < high:
        line[low - first : high - first] = row[low:high]
    return np.lib.stride_tricks.sliding_window_view(line, narrow)[::-1]
