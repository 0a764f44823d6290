"""Rollup: the counts of a table at any node of its lattice, added up
from counts that are there already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from operator import le
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import (
    ROOM,
    Counts,
    narrow,
    pack_codes,
    pack_columns,
    tally,
)
from tacit.families.microdata.hierarchy import Hierarchy
from tacit.families.microdata.lattice import Node

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers

KEPT = 64  # counts that are kept for others to start from
SMALL = 1_000_000  # combinations that are added up at once


class Rollups:
    """The counts at the nodes of a lattice. Each is made from the smallest counts that are finer.

    `columns` are recoded, `beside` (sensitive columns) stay as they are.
    """

    def __init__(
        self,
        base: Counts,
        columns: Sequence[str],
        hierarchies: Mapping[str, Hierarchy],
        beside: Sequence[str] = (),
    ) -> None:
        self.columns = tuple(columns)
        self.beside = tuple(beside)
        self.hierarchies = hierarchies
        self.base = base
        self.sizes = {name: base.size(name) for name in beside}
        self.made: dict[Node, RollupCells] = {}
        self.first = RollupCells.of(
            {name: narrow(base.codes(name), base.size(name)) for name in (*columns, *beside)},
            base.occurrences,
        )
        self._up: dict[tuple[str, int, int], Any] = {}
        self._shown: dict[tuple[str, int], tuple[Any, ...]] = {}
        self._buffers: list[Any] = [None, None]
        if len(base) <= SMALL and len(self.first.names) < len(base.dictionaries):
            # Without the columns that are not asked for, fewer combinations differ.
            bottom = (0,) * len(self.columns)
            self.first = self._raised(self.first, bottom, bottom)

    def at(self, node: Node) -> Counts:
        """The counts at a node: labels instead of values."""
        cells = self.cells(node)
        levels = dict(zip(self.columns, node, strict=True))
        dictionaries = {
            **{name: self.shown(name, level) for name, level in levels.items()},
            **{name: self.base.dictionaries[name] for name in self.beside},
        }
        sizes = {name: len(values) + 1 for name, values in dictionaries.items()}
        packing = pack_columns(sizes)
        keys = (
            (cells.keys,)
            if len(packing) == 1 and cells.keys is not None
            else tuple(
                packed({name: cells.code(name) for name in columns}, columns, sizes, len(cells))
                for columns in packing
            )
        )
        missing = frozenset(
            name
            for name in sizes
            if name in self.base.with_missing and bool((cells.code(name) == sizes[name] - 1).any())
        )
        return Counts(
            dictionaries, sizes, packing, keys, cells.counts, None, missing, raw=self.base.raw
        )

    def cells(self, node: Node) -> RollupCells:
        """The codes and counts at a node."""
        if node not in self.made:
            start = self._start(node)
            source, begin = (
                (self.first, (0,) * len(node)) if start is None else (self.made[start], start)
            )
            while len(self.made) >= KEPT:
                self.made.pop(next(iter(self.made)))
            self.made[node] = self._raised(source, begin, node)
        return self.made[node]

    def _start(self, node: Node) -> Node | None:
        """The smallest counts that are finer."""
        best, size = None, len(self.first)
        for other, cells in self.made.items():
            if len(cells) < size and all(map(le, other, node)):
                best, size = other, len(cells)
        return best

    def _raised(self, source: RollupCells, begin: Node, node: Node) -> RollupCells:
        sizes = {
            name: len(self.shown(name, high)) + 1
            for name, high in zip(self.columns, node, strict=True)
        } | self.sizes
        up = {
            name: self.up(name, low, high)
            for name, low, high in zip(self.columns, begin, node, strict=True)
        }
        up |= {name: np.arange(size) for name, size in self.sizes.items()}
        room = prod(sizes.values())
        if room > ROOM:
            return added_up_slowly(
                {name: up[name][source.code(name)] for name in sizes}, sizes, source.counts
            )
        key, more = self._buffer(len(source)), self._buffer(len(source), second=True)
        key[:] = 0
        stride = room
        for name, size in sizes.items():
            stride //= size
            if up[name].any():
                # Each label's code, times its stride, looked up at once: one pass for a column.
                np.take(up[name] * stride, source.code(name), out=more, mode="clip")
                np.add(key, more, out=key)
        keys, sums = tally(key, source.counts, room)
        # The room for keys is used again.
        return RollupCells(sums, keys.copy() if keys is key else keys, sizes)

    def _buffer(self, length: int, *, second: bool = False) -> Integers:
        """Room for a number of each combination.
        Used again and again: fresh memory costs more than the sums.
        """
        if self._buffers[second] is None or len(self._buffers[second]) < length:
            self._buffers[second] = np.empty(length, dtype=np.int64)
        buffer: Integers = self._buffers[second][:length]
        return buffer

    def up(self, name: str, low: int, high: int) -> Any:
        """For each label of a lower level the one above it."""
        if (name, low, high) not in self._up:
            below, above = (self.hierarchies[name].levels[height] for height in (low, high))
            size = len(self.shown(name, low)) + 1
            found = np.zeros(size, dtype=np.int64)
            found[below.codes] = above.codes
            self._up[name, low, high] = found
        return self._up[name, low, high]

    def shown(self, name: str, height: int) -> tuple[Any, ...]:
        """The labels of a level; where it has one for missing values,
        that is the last and left out.
        """
        if (name, height) not in self._shown:
            labels = self.hierarchies[name].levels[height].labels
            self._shown[name, height] = labels[:-1] if labels and labels[-1] is None else labels
        return self._shown[name, height]


class RollupCells:
    """Distinct combinations with how many rows each has.
    Codes are unpacked when they are asked for.
    """

    def __init__(
        self, counts: Integers, keys: Integers | None = None, sizes: Mapping[str, int] | None = None
    ) -> None:
        self.counts = counts
        self.keys = keys
        self.sizes = sizes or {}
        self._codes: dict[str, Any] = {}

    @classmethod
    def of(cls, codes: Mapping[str, Any], counts: Integers) -> RollupCells:
        """Combinations whose codes are at hand."""
        cells = cls(counts)
        cells._codes = dict(codes)
        return cells

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.sizes) or list(self._codes)

    def code(self, name: str) -> Any:
        """The code of a column in every combination."""
        if name not in self._codes and self.keys is not None:
            names = list(self.sizes)
            stride = prod(self.sizes[one] for one in names[names.index(name) + 1 :])
            codes = self.keys // stride if stride > 1 else self.keys
            self._codes[name] = narrow(
                codes % self.sizes[name] if name != names[0] else codes, self.sizes[name]
            )
        return self._codes[name]


def packed(
    codes: Mapping[str, Any], columns: Sequence[str], sizes: Mapping[str, int], length: int
) -> Integers:
    """The codes of some columns in one integer each."""
    key = np.zeros(length, dtype=np.int64)
    for name in columns:
        if sizes[name] > 1:
            key *= sizes[name]
            key += codes[name]
    return key


def added_up_slowly(
    codes: Mapping[str, Any], sizes: Mapping[str, int], counts: Integers
) -> RollupCells:
    """Counts of equal combinations where one does not fit into an integer:
    what is packed so far is renumbered.

    >>> cells = added_up_slowly({"a": np.array([1, 0, 1])}, {"a": 2}, np.array([1, 2, 3]))
    >>> cells.code("a").tolist(), cells.counts.tolist()
    ([0, 1], [2, 4])
    """
    names = list(sizes)
    key, room = pack_codes(
        [codes[name] for name in names], [sizes[name] for name in names], len(counts)
    )
    first = np.unique(key, return_index=True)[1]
    _, sums = tally(key, counts, room)
    return RollupCells.of({name: codes[name][first] for name in names}, sums)
