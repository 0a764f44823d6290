"""Lattice: all ways to generalize whole columns, and what is known of each.

A node is a tuple with a level for every column. A node is above another if no level is lower. What
is known of the nodes stands in one array with an axis for each column, so that all nodes below (or
above) one are a slice of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tacit.families.microdata.groups import Mask

Node = tuple[int, ...]
UNKNOWN, FAILS, PASSES = 0, -1, 1


@dataclass(frozen=True, slots=True)
class Lattice:
    """The columns with their highest levels.

    >>> lattice = Lattice(("zip", "age"), (2, 1))
    >>> len(lattice), lattice.top, list(lattice.below((1, 1)))
    (6, (2, 1), [(0, 1), (1, 0)])
    """

    columns: tuple[str, ...]
    heights: Node

    @property
    def shape(self) -> Node:
        """How many levels each column has."""
        return tuple(height + 1 for height in self.heights)

    def __len__(self) -> int:
        return prod(self.shape)

    def __iter__(self) -> Iterator[Node]:
        return iter(product(*(range(number) for number in self.shape)))

    @property
    def top(self) -> Node:
        """Everything at its highest level."""
        return self.heights

    @property
    def bottom(self) -> Node:
        """The table as it is."""
        return (0,) * len(self.heights)

    def below(self, node: Node) -> Iterator[Node]:
        """The nodes directly below: one column one level lower."""
        for place, level in enumerate(node):
            if level:
                yield (*node[:place], level - 1, *node[place + 1 :])

    def named(self, node: Node) -> dict[str, int]:
        """A node as a plan writes it."""
        return dict(zip(self.columns, node, strict=True))

    def node(self, levels: Mapping[str, int]) -> Node:
        """The node of some levels; columns that are not named stay as they are."""
        return tuple(levels.get(name, 0) for name in self.columns)


@dataclass(slots=True)
class Tags:
    """What is known of every node of a lattice: that it passes, that it fails, or nothing yet."""

    lattice: Lattice
    known: Any = field(init=False)

    def __post_init__(self) -> None:
        self.known = np.zeros(self.lattice.shape, dtype=np.int8)

    def fails(self, node: Node, columns: Collection[int] | None = None) -> None:
        """A node fails, and so do all below;
        where only some columns were looked at, whatever the others are.
        """
        self.known[
            tuple(
                slice(0, level + 1) if columns is None or place in columns else slice(None)
                for place, level in enumerate(node)
            )
        ] = FAILS

    def passes(self, node: Node) -> None:
        """A node passes, and so do all above."""
        self.known[tuple(slice(level, None) for level in node)] = PASSES

    @property
    def unknown(self) -> Mask:
        """The nodes of which nothing is known."""
        return np.asarray(self.known == UNKNOWN)


def maximal(chosen: Mask) -> Mask:
    """Those of the chosen nodes that have no chosen node above.
    Between two chosen nodes all must be chosen.

    >>> maximal(np.array([[True, True], [True, False]])).tolist()
    [[False, True], [True, False]]
    """
    return _extreme(chosen, up=True)


def minimal(chosen: Mask) -> Mask:
    """Those of the chosen nodes that have no chosen node below.
    Between two chosen nodes all must be chosen.

    >>> minimal(np.array([[False, True], [True, True]])).tolist()
    [[False, True], [True, False]]
    """
    return _extreme(chosen, up=False)


def _extreme(chosen: Mask, *, up: bool) -> Mask:
    # Because all nodes between two chosen ones are chosen, looking one step away is enough.
    found = chosen.copy()
    for axis in range(chosen.ndim):
        lower: list[slice] = [slice(None)] * chosen.ndim
        upper = list(lower)
        lower[axis], upper[axis] = slice(0, -1), slice(1, None)
        here, there = (lower, upper) if up else (upper, lower)
        found[tuple(here)] &= ~chosen[tuple(there)]
    return found


def undominated(nodes: Sequence[Node]) -> list[Node]:
    """Those nodes that have no other below, in order.

    >>> undominated([(1, 1), (0, 1), (2, 0)])
    [(0, 1), (2, 0)]
    """
    distinct = sorted(set(nodes), key=lambda node: (sum(node), node))
    found: list[Node] = []
    for node in distinct:
        if not any(
            all(low <= high for low, high in zip(other, node, strict=True)) for other in found
        ):
            found.append(node)
    return sorted(found)
