"""Passing a weight of states from one class to the next:
states in pieces, and products of matrices piece by piece.

A state gives each value a number of people, and all of them together a total. Values are cut into
*pieces*; the states of a piece (how many people has each of its values) are listed by their total.
With the pieces P, Q, R the states of a class are the triples of states of P, Q and R with the right
total, listed by the total of P, within that by its state, and then the same for Q and R.

To pass a weight on, the states of P are converted into those of the next class, then those of Q,
then those of R: with the number of people left to the others on either side known, each is a
product with a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from tacit.families.overlaps.counting.arithmetic import Arithmetic, Array, ScaledNumbers
from tacit.families.overlaps.counting.expectations import CountingCost
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.overlap_cores import CORES, each
from tacit.model.deadline import look

# What takes as long as so many multiplications of a matrix product:
# an entry of a matrix, a number moved, a state, a call.
MATRIX, COPY, STATE, CALL = 100.0, 25.0, 1000.0, 1e5
LARGE = 2000  # states of a class whose passes are divided among cores
Pieces = tuple[tuple[int, ...], ...]  # the values of each piece


def with_value(many: Array, wide: int) -> Array:
    """How many states have each total, with one more value that has from 0 to `wide` people.

    >>> with_value(np.array([1.0, 1.0, 0.0]), 1).tolist()
    [1.0, 2.0, 1.0]
    """
    upto = np.cumsum(many)
    upto[wide + 1 :] -= upto[: -wide - 1].copy()
    return upto


def state_counts(wide: Sequence[int], total: int) -> Array:
    """How many states some values have, by total, if value v has from 0 to wide[v] people.

    In floats, which are exact where there are fewer than 2^52 in all, and beyond that good enough
    to see that there are not.
    """
    many = np.zeros(total + 1)
    many[0] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        for one in wide:
            look()
            many = with_value(many, one)
    return many


@dataclass(frozen=True, eq=False)
class ClassStates:
    """The states of a class: `total` people, from 0 to wide[v] of them with value v (what they
    have at least is taken off).
    """

    total: int
    wide: tuple[int, ...]
    pieces: Pieces

    @cached_property
    def states(self) -> list[Integers]:
        """The states of each piece, by their total, one row each;
        of a single piece only those with the right total.
        """
        found = []
        for piece in self.pieces:
            rows = np.zeros((1, 0), dtype=np.int64)
            for value in piece[:-1]:
                more = np.arange(self.wide[value] + 1)
                rows = np.column_stack(
                    [np.repeat(rows, len(more), axis=0), np.tile(more, len(rows))]
                )
                rows = rows[rows.sum(axis=1) <= self.total]
            found.append(self._completed(rows, self.wide[piece[-1]]))
        return found

    def _completed(self, rows: Integers, wide: int) -> Integers:
        """The states of a piece, from those of all its values but the last."""
        left = self.total - rows.sum(axis=1)
        if len(self.pieces) == 1:
            found = np.column_stack([rows, left])[left <= wide]
        else:
            many = np.minimum(left, wide) + 1
            last = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            found = np.column_stack([np.repeat(rows, many, axis=0), last])
            found = found[np.argsort(found.sum(axis=1), kind="stable")]
        return np.asarray(found, dtype=np.int64)

    @cached_property
    def many(self) -> list[Array]:
        """How many states each piece has, by total."""
        found = [
            state_counts([self.wide[value] for value in piece], self.total) for piece in self.pieces
        ]
        if len(found) == 1:
            found[0][:-1] = 0.0
        return found

    @cached_property
    def starts(self) -> list[Array]:
        """Where the states of each piece with a total begin; a last entry for the end."""
        return [np.concatenate([[0], np.cumsum(one)]) for one in self.many]

    @cached_property
    def rest(self) -> list[Array]:
        """How many states each piece has together with all later ones, by total;
        a last entry for no piece.
        """
        later = [
            tuple(value for piece in self.pieces[first:] for value in piece)
            for first in range(len(self.pieces) + 1)
        ]
        return [state_counts([self.wide[value] for value in some], self.total) for some in later]

    @property
    def size(self) -> int:
        """How many states the class has."""
        return int(self.rest[0][-1])

    @cached_property
    def blocks(self) -> list[tuple[int, slice]]:
        """The totals of the first piece, each with the place of its states:
        a matrix of states of it and of the rest.
        """
        return self.cut(0, self.total)

    def cut(self, piece: int, total: int) -> list[tuple[int, slice]]:
        """The same for the states of a piece and all later ones with a total."""
        many = self.many[piece][: total + 1] * self.rest[piece + 1][total::-1]
        ends = np.cumsum(many).astype(np.int64).tolist()
        return [
            (own, slice(ends[own] - int(many[own]), ends[own]))
            for own in np.nonzero(many)[0].tolist()
        ]

    def own(self, piece: int, total: int) -> slice:
        """The states of a piece with a total."""
        return slice(int(self.starts[piece][total]), int(self.starts[piece][total + 1]))

    def upto(self, piece: int, total: int) -> int:
        """How many states of a piece have at most this total."""
        return int(self.starts[piece][total + 1])

    @cached_property
    def rest_starts(self) -> list[Array]:
        """Where the states of a piece and all later ones with a total begin, in a list of all of
        them by total.
        """
        return [np.concatenate([[0], np.cumsum(one)]) for one in self.rest]

    def later(self, piece: int, total: int) -> slice:
        """The states of a piece and all later ones with a total, in that list."""
        return slice(int(self.rest_starts[piece][total]), int(self.rest_starts[piece][total + 1]))

    def grouped(self, piece: int) -> Integers:
        """That list in the order by the total of the later pieces,
        then by the state of this one.
        """
        if piece not in self._grouped:
            blocks: list[list[Integers]] = [[] for _ in range(self.total + 1)]
            start = 0
            for total in range(self.total + 1):
                look()
                for own in range(total + 1):
                    many = int(self.many[piece][own] * self.rest[piece + 1][total - own])
                    blocks[total - own].append(np.arange(start, start + many))
                    start += many
            self._grouped[piece] = np.concatenate([one for some in blocks for one in some])
        return self._grouped[piece]

    @cached_property
    def _grouped(self) -> dict[int, Integers]:
        return {}


def unary(
    tables: Sequence[ScaledNumbers], layout: ClassStates, arithmetic: Arithmetic
) -> ScaledNumbers:
    """The weight of each state of a class: the product of the weights of its values."""
    own = [
        _of_piece([tables[value] for value in piece], states, arithmetic)
        for piece, states in zip(layout.pieces, layout.states, strict=True)
    ]
    last = len(own) - 1
    rest = [own[last].part[layout.own(last, total)] for total in range(layout.total + 1)]
    for piece in range(last - 1, -1, -1):
        now = []
        for total in range(layout.total + 1) if piece else [layout.total]:
            look()
            parts = [
                np.outer(own[piece].part[layout.own(piece, one)], rest[total - one]).reshape(-1)
                for one, _ in layout.cut(piece, total)
            ]
            now.append(arithmetic.tidy(np.concatenate([np.empty(0), *parts])))
        rest = now
    # Two for one: besides what the pieces have lost, each product was made tidy.
    return arithmetic.made(rest[-1], own, 2, len(own))


def _of_piece(
    tables: Sequence[ScaledNumbers], states: Integers, arithmetic: Arithmetic
) -> ScaledNumbers:
    found = ScaledNumbers(np.ones(len(states)))
    for at, table in enumerate(tables):
        found = arithmetic.made(found.part * table.part[states[:, at]], [found, table], 1, 1)
    return found


def kernels(
    tables: Sequence[ScaledNumbers],
    source: ClassStates,
    target: ClassStates,
    arithmetic: Arithmetic,
) -> list[ScaledNumbers]:
    """For each piece: the weight of a state of the source (row) with one of the target (column)."""
    found = []
    for piece, rows, columns in zip(source.pieces, source.states, target.states, strict=True):
        now = ScaledNumbers(np.ones((1, len(columns))))
        known = np.zeros(len(rows), dtype=np.int64)  # which row of `now` a state has so far
        for at, value in enumerate(piece):
            # States that begin alike share their product so far.
            begun, first, inverse = np.unique(
                known * (source.total + 1) + rows[:, at], return_index=True, return_inverse=True
            )
            table = ScaledNumbers(
                tables[value].part[:, columns[:, at]], tables[value].roundings, tables[value].lost
            )
            raw = now.part[begun // (source.total + 1)] * table.part[rows[first, at]]
            now, known = arithmetic.made(raw, [now, table], 1, 1), inverse.reshape(-1)
        found.append(ScaledNumbers(now.part[known], now.roundings, now.lost))
    return found


def state_cost(layout: ClassStates) -> CountingCost:
    """What it takes to weigh the states of a class, and to add up the
    weights of those of each piece.
    """
    many = len(layout.blocks) + len(layout.pieces[2:]) * layout.total**2 / 2
    return CountingCost(STATE * layout.size + CALL * many, 32.0 * layout.size)


def pass_cost(source: ClassStates, target: ClassStates) -> CountingCost:
    """What it takes to build the matrices and to pass a weight on.
    See `_Pass` for what is added up.
    """
    last = len(source.pieces) - 1
    listed = [float(one[-1]) for one in source.rest_starts]
    matrices = sum(
        float(one[-1]) * float(other[-1])
        for one, other in zip(source.starts, target.starts, strict=True)
    )
    first = float(target.starts[0][-1])
    steps = (
        first * source.size
        + float(target.size) * float(source.starts[last][-1])
        + MATRIX * matrices
    )
    moved, held = first * listed[1], float(target.many[0].max()) * listed[1]
    calls = len(target.blocks) * (len(source.blocks) + 1.0)
    done, ways = target.many[0], (target.many[0] > 0).astype(np.float64)
    for piece in range(1, last):
        upto = target.starts[piece][
            :0:-1
        ]  # how many states the piece may take, by the total of those before
        steps += float(done @ upto) * listed[piece]
        moved += float(done @ upto) * listed[piece + 1]
        held += 2.0 * float((done * upto).max()) * listed[piece + 1]
        calls += float(ways.sum()) * source.total
        done = np.convolve(done, target.many[piece])[: target.total + 1]
        ways = np.convolve(ways, target.many[piece] > 0)[: target.total + 1]
        calls += float(ways.sum())
    return CountingCost(steps + COPY * moved + CALL * calls, 8.0 * (CORES * held + 2 * matrices))


class _Pass:
    """Passes from the states of one class to those of another, in memory that is used again."""

    def __init__(
        self,
        source: ClassStates,
        target: ClassStates,
        through: Sequence[ScaledNumbers],
        arithmetic: Arithmetic,
    ) -> None:
        self.source, self.target, self.arithmetic = source, target, arithmetic
        self.kernels = [one.part for one in through]
        self.room: dict[tuple[str, int], Array] = {}

    def space(self, name: str, piece: int, *shape: int) -> Array:
        """An array of any content; the last of this name is given up for it."""
        size = prod(shape)
        if size > self.room.get((name, piece), np.empty(0)).size:
            self.room[name, piece] = np.empty(size)
        return self.room[name, piece][:size].reshape(shape)

    def block(self, state: Array, own: int) -> Array:
        """The weights of the states of the target whose first piece has a total."""
        source, target = self.source, self.target
        kernel = self.kernels[0][:, target.own(0, own)]
        rest = self.space("rest", 0, int(source.rest_starts[1][-1]), kernel.shape[1])
        if len(source.blocks) <= source.total:
            rest[:] = 0.0
        for total, place in source.blocks:
            matrix = state[place].reshape(-1, int(source.rest[1][source.total - total]))
            self.arithmetic.dot(
                matrix.T, kernel[source.own(0, total)], rest[source.later(1, source.total - total)]
            )
        return self.later(rest, 1, target.total - own).T.reshape(-1)

    def later(self, state: Array, piece: int, total: int) -> Array:
        """From rows for all states of the later pieces of the source, by total, to those of the
        target with one total.

        Columns are what does not concern these pieces:
        states of the earlier ones, already converted.
        """
        if piece == len(self.kernels):
            return state
        kernel = self.kernels[piece]
        if piece == len(self.kernels) - 1:
            return self.arithmetic.dot(kernel[:, self.target.own(piece, total)].T, state)
        source, target = self.source, self.target
        wide, many = state.shape[1], target.upto(piece, total)
        order, listed = source.grouped(piece), int(source.rest_starts[piece + 1][-1])
        grouped = np.take(
            state, order, axis=0, out=self.space("grouped", piece, len(order), wide), mode="clip"
        )
        rest = self.space("rest", piece, many, listed, wide)
        start = 0
        for after in range(source.total + 1):
            own, few = source.upto(piece, source.total - after), source.later(piece + 1, after)
            size = own * (few.stop - few.start)
            if size:
                block = grouped[start : start + size].reshape(own, -1)
                self.arithmetic.dot(
                    kernel[:own, :many].T,
                    block,
                    rest.reshape(many, -1)[:, few.start * wide : few.stop * wide],
                )
                start += size
        some = [own for own in range(total + 1) if target.many[piece][own]]
        return np.concatenate(
            [self._next(rest[target.own(piece, own)], piece, total - own) for own in some]
        )

    def _next(self, rest: Array, piece: int, total: int) -> Array:
        """Convert the later pieces, for the states of a piece with one total."""
        own, many, wide = rest.shape
        state = rest[0]
        if own > 1:
            state = self.space("next", piece, many, own * wide)
            state.reshape(many, own, wide)[:] = rest.transpose(1, 0, 2)
        found = self.later(state, piece + 1, total)
        return found.reshape(-1, own, wide).transpose(1, 0, 2).reshape(-1, wide)


def passed(
    state: ScaledNumbers,
    through: Sequence[ScaledNumbers],
    source: ClassStates,
    target: ClassStates,
    arithmetic: Arithmetic,
) -> ScaledNumbers:
    """What a weight of the states of one class says about those of another."""
    raw = np.empty(target.size)

    def work(some: Sequence[tuple[int, slice]]) -> None:
        here = _Pass(source, target, through, arithmetic)
        for own, place in some:
            raw[place] = here.block(state.part, own)

    # Neighbours take about as long as each other, so every core gets
    # every second of them, or every fourth.
    list(
        each(
            work,
            [target.blocks[first::CORES] for first in range(CORES)],
            is_long=source.size > LARGE,
        )
    )
    lengths = [int(source.many[0].max()), *(len(states) for states in source.states[1:])]
    return arithmetic.made(raw, [state, *through], source.size, sum(lengths))


def shares(
    state: ScaledNumbers, layout: ClassStates, arithmetic: Arithmetic
) -> list[ScaledNumbers]:
    """For each piece: the weight of its states, whatever the others are."""
    found = []
    rest = {layout.total: state.part}
    for piece, many in enumerate(layout.many):
        own, after = np.zeros(int(many.sum())), dict[int, Array]()
        for total, part in rest.items():
            look()
            for one, place in layout.cut(piece, total):
                block = part[place].reshape(int(many[one]), -1)
                own[layout.own(piece, one)] += block.sum(axis=1)
                after[total - one] = after.get(total - one, 0.0) + block.sum(axis=0)
        found.append(arithmetic.made(own, [state], layout.size, layout.size))
        rest = after
    return found
