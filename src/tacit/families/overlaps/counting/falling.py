"""Passing residues from class to class in falling powers: a weight that hangs on the sum of two
numbers of people becomes two triangular matrices.

Where a view shows two shared classes and people of its own, x people of the one and y of the other
with a value leave N - x - y, and the weight of these is

    1 / (N - x - y)!  =  (sum over k of (-1)^k C(x, k) C(y, k) k! (N - k)!) / ((N - x)! (N - y)!)

(both sides are 0 where x + y > N). As k is never above x nor y, a state of the one class is turned
value by value into numbers k, and these into a state of the other, and all that is held in between
adds up to no more people than a class has. Without it, what is held is a state of the one class
for some values and one of the other for the rest: a hundred times as many. There are signs, so it
is no use for rounded numbers.

What else counts exactly was looked at: lattice points by Barvinok's cones (LattE) take time
exponential in the number of cells, of which a few hundred are free here; model counters and
compiled forms (ganak, d-DNNF) need a formula with a variable for each person and value, and do not
see that people of a class are alike. The tests compare with ganak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np

from tacit.families.overlaps.counting.arithmetic import Array, ScaledNumbers
from tacit.families.overlaps.counting.axis_parts import Shared
from tacit.families.overlaps.counting.expectations import CountingCost
from tacit.families.overlaps.counting.residues import Modulo
from tacit.families.overlaps.counting.state_products import ClassStates, Pieces, state_counts
from tacit.families.overlaps.overlap import Integers
from tacit.model.deadline import look

Edge = tuple[int, int]
MOST_PEOPLE = 40  # of a class: then all binomials are exact in a float
MOST_NUMBERS = 4_000_000
PIECE = 3  # values that are turned at once
STEPS = 400.0  # what one number takes in a pass, in multiplications of a matrix product


@dataclass(frozen=True, slots=True)
class EdgeCells:
    """For each value: N and the highest number of the people whom a view shows of neither of two
    axes; None where the value has none such.
    """

    cells: tuple[tuple[int, int] | None, ...]


def edges_of(shared: Shared, edges: Sequence[Edge]) -> dict[Edge, EdgeCells] | None:
    """What each edge hangs on; None where some value's weight is of another kind."""
    found = {}
    for edge in edges:
        cells: list[tuple[int, int] | None] = []
        for column in shared.columns:
            bounds = shared.bounds(column)
            own = [(cell, one) for cell, one in column.following if set(one.axes) == set(edge)]
            if any(set(one.axes) == set(edge) for one in column.zero) or len(own) > 1:
                return None
            if not own:
                cells.append(None)
                continue
            ((cell, one),) = own
            if any(times != -1 for _, times in one.factors):
                return None
            people = one.constant - sum(bounds[axis][0] for axis in edge)
            least = max(0, one.constant - sum(bounds[axis][1] for axis in edge))
            if shared.part.low[cell] > least or shared.part.high[cell] < people:
                return None  # the weight is 0 beyond bounds that do not follow from the edge
            cells.append((people, int(shared.part.high[cell])))
        found[edge] = EdgeCells(tuple(cells))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """All numbers with one piece of the values on the inside: a matrix for each total of the
    others, with so many rows and columns.
    """

    blocks: tuple[tuple[slice, int, int], ...]
    codes: Integers


class Falling:
    """Numbers k for each value, that add up to no more people than the largest axis has."""

    def __init__(
        self, edges: Mapping[Edge, EdgeCells], layouts: Sequence[ClassStates], values: int
    ) -> None:
        self.edges = edges
        self.total = max(one.total for one in layouts)
        self.wide = tuple(max(one.wide[value] for one in layouts) for value in range(values))
        pieces: Pieces = tuple(
            tuple(range(start, min(start + PIECE, values))) for start in range(0, values, PIECE)
        )
        known = [cell for one in edges.values() for cell in one.cells if cell is not None]
        self.most = 1 + self.total + max((high for _, high in known), default=0)
        unit = [(self.total + 1) ** value for value in range(values)]
        self.states = [self._states(piece) for piece in pieces]
        own = [
            states @ np.array([unit[value] for value in piece], dtype=np.int64)
            for piece, states in zip(pieces, self.states, strict=True)
        ]
        self.pieces = pieces
        self.binomials = [_binomials(states) for states in self.states]
        self.turns = [self._turn(own, number) for number in range(len(pieces))]
        self.onward = [
            _places(one.codes, other.codes)
            for one, other in zip(self.turns, self.turns[1:], strict=False)
        ]
        self.back = [
            _places(other.codes, one.codes)
            for one, other in zip(self.turns, self.turns[1:], strict=False)
        ]
        self.at = [_places(self.turns[0].codes, _codes(one, unit)) for one in layouts]

    def _states(self, piece: Sequence[int]) -> Integers:
        """The numbers of a piece, by their total."""
        rows = np.zeros((1, 0), dtype=np.int64)
        for value in piece:
            more = np.arange(min(self.wide[value], self.total) + 1)
            rows = np.column_stack([np.repeat(rows, len(more), axis=0), np.tile(more, len(rows))])
            rows = rows[rows.sum(axis=1) <= self.total]
        return np.asarray(rows[np.argsort(rows.sum(axis=1), kind="stable")], dtype=np.int64)

    def _turn(self, own: Sequence[Integers], inside: int) -> _Turn:
        codes, totals = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for number, states in enumerate(self.states):
            look()
            if number != inside:
                codes = np.add.outer(codes, own[number]).reshape(-1)
                totals = np.add.outer(totals, states.sum(axis=1)).reshape(-1)
                codes, totals = codes[totals <= self.total], totals[totals <= self.total]
        order = np.argsort(totals, kind="stable")
        codes, totals = codes[order], totals[order]
        inner = self.states[inside].sum(axis=1)
        blocks, found, start = [], [], 0
        for total in range(self.total + 1):
            rest = codes[totals == total]
            upto = int(np.searchsorted(inner, self.total - total, side="right"))
            found.append(np.add.outer(rest, own[inside][:upto]).reshape(-1))
            if len(rest):
                stop = start + len(rest) * upto
                blocks.append((slice(start, stop), len(rest), upto))
                start = stop
        return _Turn(tuple(blocks), np.concatenate(found))

    def passed(self, state: ScaledNumbers, edge: Edge, modulo: Modulo) -> ScaledNumbers:
        """What the weight of the states of one axis says about those of another."""
        look()
        down, up = self._matrices(edge, modulo)
        now = np.zeros(len(self.turns[0].codes))
        now[self.at[edge[0]]] = state.part
        last = len(self.pieces) - 1
        for number in range(last + 1):
            now = self._turned(now, number, down[number], modulo)
            now = now[self.onward[number]] if number < last else now
        for number in range(last, -1, -1):
            now = self._turned(now, number, up[number], modulo)
            now = now[self.back[number - 1]] if number else now
        return ScaledNumbers(now[self.at[edge[1]]])

    def _turned(self, now: Array, number: int, by: Array, modulo: Modulo) -> Array:
        found = np.empty_like(now)
        for place, rows, upto in self.turns[number].blocks:
            np.matmul(
                now[place].reshape(rows, upto),
                by[:upto, :upto],
                out=found[place].reshape(rows, upto),
            )
        return modulo.tidy(found)

    def _matrices(self, edge: Edge, modulo: Modulo) -> tuple[list[Array], list[Array]]:
        """For each piece: from x to k, and from k to y."""
        own = [self._factors(one, modulo.prime) for one in self.edges[edge].cells]
        down, up = [], []
        for piece, states, binomial in zip(self.pieces, self.states, self.binomials, strict=True):
            ends, middle = np.ones(len(states)), np.ones(len(states))
            for at, value in enumerate(piece):
                ends = modulo.tidy(ends * own[value][0][states[:, at]])
                middle = modulo.tidy(middle * own[value][1][states[:, at]])
            there = modulo.tidy(modulo.tidy(binomial.copy()) * ends[:, None])
            up.append(np.ascontiguousarray(there.T))
            down.append(modulo.tidy(there * middle))
        return down, up

    def _factors(self, cell: tuple[int, int] | None, prime: int) -> tuple[Array, Array]:
        """For x from 0 on: 1 / (N - x)!, and (-1)^x x! (N - x)! high!, modulo a prime."""
        found = np.zeros((2, self.total + 1), dtype=np.int64)
        if cell is None:
            found[0], found[1, 0] = 1, 1  # the same for all x and y
        else:
            people, high = cell
            factorial = _factorials(prime, self.most)
            for x in range(min(people, self.total) + 1):
                rest = factorial[people - x]
                found[0, x] = pow(rest, -1, prime)
                sign = -1 if x % 2 else 1
                found[1, x] = sign * factorial[x] * rest % prime * factorial[high] % prime
        found = np.where(found > prime // 2, found - prime, found)
        return found[0].astype(np.float64), found[1].astype(np.float64)


@lru_cache(maxsize=4)
def _factorials(prime: int, many: int) -> list[int]:
    """From 0! on, modulo a prime."""
    found = [1]
    for x in range(1, many):
        found.append(found[-1] * x % prime)
    return found


def _binomials(states: Integers) -> Array:
    """The product over the values of C(x, k), for each state x (row) and k (column)."""
    most = int(states.max(initial=0))
    table = np.array([[comb(x, k) for k in range(most + 1)] for x in range(most + 1)], dtype=float)
    found = np.ones((len(states), len(states)))
    for at in range(states.shape[1]):
        found *= table[states[:, at][:, None], states[:, at][None, :]]
    return found


def _places(codes: Integers, wanted: Integers) -> Integers:
    """Where some codes stand among all."""
    order = np.argsort(codes, kind="stable")
    return np.asarray(order[np.searchsorted(codes, wanted, sorter=order)], dtype=np.int64)


def _codes(layout: ClassStates, unit: Sequence[int]) -> Integers:
    """The code of each state of a class, in the order of the class."""
    own = [
        states @ np.array([unit[value] for value in piece], dtype=np.int64)
        for piece, states in zip(layout.pieces, layout.states, strict=True)
    ]
    last = len(own) - 1
    rest = [own[last][layout.own(last, total)] for total in range(layout.total + 1)]
    for piece in range(last - 1, -1, -1):
        rest = [
            np.concatenate(
                [
                    np.zeros(0, dtype=np.int64),
                    *(
                        np.add.outer(own[piece][layout.own(piece, one)], rest[total - one]).reshape(
                            -1
                        )
                        for one, _ in layout.cut(piece, total)
                    ),
                ]
            )
            for total in range(layout.total + 1)
        ]
    return rest[-1]


def falling_cost(layouts: Sequence[ClassStates], passes: int) -> CountingCost | None:
    """What so many passes take modulo one prime; None where there is too much to hold."""
    total = max(one.total for one in layouts)
    values = len(layouts[0].wide)
    wide = [max(one.wide[value] for one in layouts) for value in range(values)]
    many = float(state_counts(wide, total).sum())
    if total > MOST_PEOPLE or many > MOST_NUMBERS or (total + 1) ** values >= 1 << 62:
        return None
    return CountingCost(STEPS * passes * many, 8.0 * many * (2 * values + len(layouts)))
