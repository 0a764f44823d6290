"""Counting class by class: where each view joins two shared classes
at most, and no views close a ring.

A state of a class is how many of its people have each value. What one side of a class says about
its state is passed on to the next class through the view that joins them, as in any tree: the
weight of a state x here and y there is a product over the values, so the values are converted piece
by piece and a pass is a few products of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite

from tacit.families.overlaps.counting.arithmetic import Arithmetic, Marginal, ScaledNumbers
from tacit.families.overlaps.counting.axis_parts import (
    Factor,
    Linear,
    Shared,
    ValueColumn,
    common,
    factor,
    smallest,
)
from tacit.families.overlaps.counting.enclosures import Rounded, averages, following
from tacit.families.overlaps.counting.enclosures import enclosed as all_enclosed
from tacit.families.overlaps.counting.expectations import MOST_BYTES, CountingCost, Expected
from tacit.families.overlaps.counting.falling import Falling, edges_of, falling_cost
from tacit.families.overlaps.counting.residues import Modulo, counted, needed
from tacit.families.overlaps.counting.state_products import (
    ClassStates,
    Pieces,
    kernels,
    pass_cost,
    passed,
    shares,
    state_cost,
    state_counts,
    unary,
)
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.overlap_cores import CORES, one_core_each
from tacit.families.overlaps.system import NoTable, OpenPart
from tacit.model.deadline import look
from tacit.model.jobs import Job

MOST_PIECES = 6
MOST_STATES = 1e9
LONG = 1e7  # steps from which on work is divided among cores
Edge = tuple[int, int]
On = Callable[[ScaledNumbers, Edge], ScaledNumbers]  # passes a weight on from axis to axis


@dataclass(frozen=True, eq=False)
class AxisTree:
    """Axes as nodes, joined where cells of a value follow from two of them; no rings."""

    shared: Shared
    layouts: tuple[ClassStates, ...]
    order: tuple[Edge, ...]  # every edge in both directions, such that what is passed on is known

    def near(self, node: int) -> list[int]:
        """The nodes that are joined to one."""
        return [source for source, target in self.order if target == node]


@lru_cache(maxsize=64)
def _priced(part: OpenPart) -> tuple[CountingCost, AxisTree] | None:
    """The cheapest tree, and what one count along it takes."""
    ways = {way.axes: way for way in (smallest(part), common(part)) if way is not None}
    found = []
    for one in ways.values():
        edges = _order(one)
        if edges is not None and _can_be_listed(one):
            found += [_cost_of(one, edges, pieces) for pieces in _cuts(_rare_first(one))]
    finite = [pair for pair in found if isfinite(pair[0].steps)]
    # What does not fit in memory is no use, however few steps it takes.
    return min(finite, key=lambda pair: (pair[0].bytes > MOST_BYTES, pair[0].steps), default=None)


def _can_be_listed(shared: Shared) -> bool:
    """Has no axis too many states? Raises NoTable where one has none."""
    for total, wide in _rooms(shared):
        if not 0 <= total <= sum(wide):
            raise NoTable
        many = state_counts(wide, total)
        if not (many[-1] <= MOST_STATES and many.sum() < 2.0**52):
            return False
    return True


def _rooms(shared: Shared) -> list[tuple[int, tuple[int, ...]]]:
    """For each axis: its people beyond the least number of each value, and how many more of each
    value there may be.
    """
    bounds = [shared.bounds(column) for column in shared.columns]
    return [
        (
            total - sum(pairs[axis][0] for pairs in bounds),
            tuple(pairs[axis][1] - pairs[axis][0] for pairs in bounds),
        )
        for axis, total in enumerate(shared.totals())
    ]


def _order(shared: Shared) -> tuple[Edge, ...] | None:
    """All edges, from the leaves to the root and back;
    None where three axes hang together, there is a ring, or there are several trees.

    What is passed on in one tree says nothing of how many ways there are in another.
    """
    joined = {one.axes for column in shared.columns for one in _linears(column)}
    edges = [axes for axes in joined if len(axes) > 1]
    if not shared.axes or any(len(axes) > 2 for axes in edges):
        return None
    down: list[Edge] = []
    seen: set[int] = set()
    for root in range(len(shared.axes)):
        waiting = [] if root in seen else [root]
        seen.add(root)
        while waiting:
            node = waiting.pop()
            near = [
                other
                for edge in sorted(edges)
                if node in edge
                for other in edge
                if other != node and other not in seen
            ]
            seen.update(near)
            waiting += near
            down += [(node, other) for other in near]
    if len(down) < len(edges) or len(down) < len(shared.axes) - 1:
        return None
    return tuple((target, source) for source, target in reversed(down)) + tuple(down)


def _linears(column: ValueColumn) -> list[Linear]:
    return [*(one for _, one in column.following), *column.zero]


def _rare_first(shared: Shared) -> list[int]:
    """The values, those first of which few people can have each:
    in this order passes were measured to take least.
    """
    many = [sum(wide[value] for _, wide in _rooms(shared)) for value in range(len(shared.columns))]
    return sorted(range(len(many)), key=lambda value: (many[value], value))


def _cuts(values: Sequence[int]) -> Iterator[Pieces]:
    """Ways to cut some values into pieces:
    into three with about equal ends, and evenly into any number.
    """
    many = len(values)
    ends = [
        [round(many * number / count) for number in range(1, count)]
        for count in range(1, min(many, MOST_PIECES) + 1)
    ]
    firsts = range(1, many // 2 + 1, max(1, many // 24))
    ends += [
        [first, many - last]
        for first in firsts
        for last in (first - 1, first)
        if last and first + last < many
    ]
    for some in sorted({tuple(one) for one in ends}):
        yield tuple(
            tuple(values[start:stop]) for start, stop in zip([0, *some], [*some, many], strict=True)
        )


def _cost_of(
    shared: Shared, order: tuple[Edge, ...], pieces: Pieces
) -> tuple[CountingCost, AxisTree]:
    look()
    layouts = tuple(ClassStates(total, wide, pieces) for total, wide in _rooms(shared))
    passes = [pass_cost(layouts[source], layouts[target]) for source, target in order]
    states = [state_cost(one) for one in layouts]
    held = (
        sum(one.bytes for one in states)
        + 2 * max(one.bytes for one in states)
        + max((one.bytes for one in passes), default=0.0)
    )
    return CountingCost(sum(one.steps for one in (*passes, *states)), held), AxisTree(
        shared, layouts, order
    )


def cost(part: OpenPart) -> CountingCost | None:
    """What `enclosed` takes; None where it cannot be done."""
    found = _priced(part)
    return None if found is None else found[0]


def exact_cost(part: OpenPart) -> CountingCost | None:
    """What `count` takes; None where it cannot be done."""
    found = _priced(part)
    many = None if found is None else needed(found[1].shared)
    if found is None or many is None:
        return None
    once, tree = found
    falls = _falls_at(part)
    states = sum(state_cost(one).steps for one in tree.layouts)
    if falls is not None:
        once = CountingCost(falls.steps + states, falls.bytes + once.bytes)
    return CountingCost(1.5 * once.steps * many, once.bytes * CORES)


@lru_cache(maxsize=64)
def _falls_at(part: OpenPart) -> CountingCost | None:
    """What passing on in falling powers takes, where it can be done and takes less."""
    found = _priced(part)
    if found is None:
        return None
    once, tree = found
    price = falling_cost(tree.layouts, len(tree.order))
    passes = once.steps - sum(state_cost(one).steps for one in tree.layouts)
    if price is None or price.steps >= passes or edges_of(tree.shared, tree.order) is None:
        return None
    return price


@lru_cache(maxsize=2)
def _falling(part: OpenPart) -> Falling | None:
    if _falls_at(part) is None:
        return None
    tree = _tree(part)
    edges = edges_of(tree.shared, tree.order)
    assert edges is not None
    return Falling(edges, tree.layouts, len(tree.shared.columns))


def enclosed(part: OpenPart, job: Job | None = None) -> Expected:
    """The averages of a part between bounds; only where `cost` is not None."""
    tree = _tree(part)
    # One state and a matrix for each piece are multiplied before small numbers are looked for.
    arithmetic = Rounded(part, 2.0 ** -(1000 // (len(tree.layouts[0].pieces) + 1)))
    with one_core_each():
        found = averages(part, marginals(tree, arithmetic, job))
    return all_enclosed({**found, **following(tree.shared, found)})


def count(part: OpenPart, job: Job | None = None) -> Expected:
    """The number of tables of a part, and the averages as fractions;
    only where `exact_cost` is not None.
    """
    tree = _tree(part)
    price, falling = exact_cost(part), _falling(part)

    def run(modulo: Modulo) -> Iterator[Marginal]:
        if falling is None:
            return marginals(tree, modulo)
        return marginals(tree, modulo, on=lambda state, edge: falling.passed(state, edge, modulo))

    return counted(
        tree.shared,
        run,
        job,
        is_long=price is not None and price.steps > LONG,
    )


def _tree(part: OpenPart) -> AxisTree:
    found = _priced(part)
    assert found is not None
    return found[1]


def marginals(
    tree: AxisTree, arithmetic: Arithmetic, job: Job | None = None, on: On | None = None
) -> Iterator[Marginal]:
    """For each axis and each piece of the values:
    the weight of all tables by how many people of it have which value.
    """
    on = on or (lambda state, edge: _by_pieces(tree, state, edge, arithmetic))
    own = [
        unary(_own_weights(tree.shared, node, arithmetic), layout, arithmetic)
        for node, layout in enumerate(tree.layouts)
    ]
    heard: dict[Edge, ScaledNumbers] = {}
    for number, (source, target) in enumerate(tree.order):
        if job is not None:
            job.step(f"passing on what class {source + 1} says", number / len(tree.order))
        state = _together(
            [own[source], *(heard[one, source] for one in tree.near(source) if one != target)],
            arithmetic,
        )
        heard[source, target] = on(state, (source, target))
    for node, layout in enumerate(tree.layouts):
        state = _together([own[node], *(heard[one, node] for one in tree.near(node))], arithmetic)
        for piece, weight in enumerate(shares(state, layout, arithmetic)):
            yield Marginal(weight, tuple(_people(tree, node, piece)))


def _by_pieces(
    tree: AxisTree, state: ScaledNumbers, edge: Edge, arithmetic: Arithmetic
) -> ScaledNumbers:
    """What the weight of the states of one axis says about those of another."""
    ends = tree.layouts[edge[0]], tree.layouts[edge[1]]
    through = kernels(_pair_weights(tree.shared, edge, arithmetic), *ends, arithmetic)
    return passed(state, through, *ends, arithmetic)


def _people(tree: AxisTree, node: int, piece: int) -> Iterator[tuple[int, Integers]]:
    """The cells of a piece in an axis, with how many people each has in each state."""
    layout = tree.layouts[node]
    for at, value in enumerate(layout.pieces[piece]):
        cell = tree.shared.columns[value].axes[node]
        if cell is not None:
            yield cell, layout.states[piece][:, at] + int(tree.shared.part.low[cell])


def _together(numbers: Sequence[ScaledNumbers], arithmetic: Arithmetic) -> ScaledNumbers:
    """The product of some weights of the same states."""
    found = numbers[0]
    for one in numbers[1:]:
        found = arithmetic.made(found.part * one.part, [found, one], 1, 1)
    return found


def _own_weights(shared: Shared, node: int, arithmetic: Arithmetic) -> list[ScaledNumbers]:
    """For each value: the weight of the number of people who have it in an axis, by what hangs
    on that alone.
    """
    return [arithmetic.weights(one) for one in _factors(shared, (node,))]


def _pair_weights(shared: Shared, edge: Edge, arithmetic: Arithmetic) -> list[ScaledNumbers]:
    """For each value: the weight of the numbers of people who have it in
    two axes, by what hangs on both.
    """
    return [arithmetic.weights(one) for one in _factors(shared, edge)]


def _factors(shared: Shared, nodes: tuple[int, ...]) -> Iterator[Factor]:
    for column in shared.columns:
        bounds = shared.bounds(column)
        cells = [
            (cell, moved)
            for cell, one in column.following
            if (moved := _moved(one, nodes)) is not None
        ]
        zero = [moved for one in column.zero if (moved := _moved(one, nodes)) is not None]
        own = column.axes[nodes[0]]
        if len(nodes) == 1 and own is not None:
            cells.append((own, Linear(0, ((0, 1),))))
        yield factor(shared.part, [bounds[node] for node in nodes], cells, zero)


def _moved(linear: Linear, nodes: tuple[int, ...]) -> Linear | None:
    """In terms of these axes, where it hangs on just them;
    what hangs on none is given to the first axis.
    """
    if set(linear.axes or (0,)) != set(nodes):
        return None
    return Linear(
        linear.constant, tuple((nodes.index(axis), times) for axis, times in linear.factors)
    )
