"""Levels: what each level of a column loses, and what every node of the generalization lattice
would cost, before any of them is counted.

Loss and height depend on the levels only (as long as all rows are released): the costs of the whole
lattice are one outer sum over the columns. Floats put the nodes into order, exact numbers decide
ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ParameterError, did_you_mean
from tacit.families.microdata.utility.cover import leaves_by_label, leaves_of, rows_by_leaf
from tacit.families.microdata.utility.shares import loss_of, loss_product
from tacit.families.microdata.utility.weights import read_weights, whole_weights

if TYPE_CHECKING:
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.utility.cover import Floats


def level_shares(raw: MicrodataQuestion, column: str) -> tuple[Fraction, ...]:
    """The share of a column at each level of its hierarchy, when all rows are released.

    From the counts of that column alone: no groups are made.
    """
    leaves, rows = leaves_of(raw, column), rows_by_leaf(raw, column)
    total = int(rows.sum())
    if leaves < 2 or not total:
        return (Fraction(0),) * len(raw.hierarchies[column].levels)
    found = []
    for height, level in enumerate(raw.hierarchies[column].levels):
        hidden = leaves_by_label(raw, column, height) - 1
        lost = int((hidden[level.codes[:leaves]] * rows[:leaves]).sum())
        found.append(Fraction(lost, total * (leaves - 1)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class NodeCosts:
    """The costs of all nodes by loss or height.
    `shares[c][level]` is what column c loses at a level.

    For height the share of a level is the level itself.
    """

    utility: str
    shares: tuple[tuple[Fraction, ...], ...]
    weights: tuple[Fraction, ...]

    def grid(self) -> Floats:
        """The cost of every node; axis c is the level of column c."""
        total = np.zeros(tuple(map(len, self.shares)))
        for axis, (shares, weight) in enumerate(zip(self.shares, self.weights, strict=True)):
            part = np.array([float(share) for share in shares])
            part = float(weight) * (np.log1p(part) if self.utility == "loss" else part)
            total += part.reshape([-1 if one == axis else 1 for one in range(len(self.shares))])
        if self.utility == "height":
            return total
        return np.asarray(np.expm1(total / max(float(sum(self.weights)), 1.0)))

    def cost(self, node: Sequence[int]) -> float | Fraction:
        """The cost of one node: exact for height, a float for loss."""
        if self.utility == "height":
            return self.key(node)
        return loss_of(self._at(node), [int(weight) for weight in self.weights])

    def key(self, node: Sequence[int]) -> Fraction:
        """An exact number that is larger for the node that costs more:
        for loss the product of 1 + share.
        """
        if self.utility == "height":
            return sum(
                (w * share for w, share in zip(self.weights, self._at(node), strict=True)),
                Fraction(0),
            )
        return loss_product(self._at(node), [int(weight) for weight in self.weights])

    def _at(self, node: Sequence[int]) -> list[Fraction]:
        return [shares[level] for shares, level in zip(self.shares, node, strict=True)]


def lattice_costs(
    raw: MicrodataQuestion,
    at_most: Mapping[str, int] | None = None,
    weights: Mapping[str, Any] | None = None,
    utility: str = "loss",
) -> NodeCosts:
    """What the nodes of the lattice cost by `loss` or `height`;
    `at_most` gives the highest level of a column.

    Costs are for releases of all rows. A node that drops rows costs by loss what
    `tacit.families.microdata.utility.measures.LOSS` says of it, which is never less.
    """
    limits = read_limits(raw, at_most or {})
    if utility == "height":
        numbers = read_weights(raw.quasi, weights)
        levels = tuple(tuple(map(Fraction, range(limits[column] + 1))) for column in raw.quasi)
        return NodeCosts("height", levels, tuple(numbers.values()))
    if utility != "loss":
        raise ParameterError(
            f"what a node costs by {utility!r} depends on its groups.",
            parameter="utility",
            hint="Use loss or height here; the others have cost_of_groups.",
        )
    whole = whole_weights(raw.quasi, weights)
    shares = tuple(level_shares(raw, column)[: limits[column] + 1] for column in raw.quasi)
    return NodeCosts("loss", shares, tuple(map(Fraction, whole.values())))


def read_limits(raw: MicrodataQuestion, at_most: Mapping[str, int]) -> dict[str, int]:
    """The highest level of each column: the top of its hierarchy unless a lower one is given."""
    for column, level in at_most.items():
        if column not in raw.quasi:
            raise ParameterError(
                f"at-most names {column!r}, which is no quasi-identifier.",
                parameter="at-most",
                hint=did_you_mean(column, raw.quasi),
            )
        height = raw.hierarchies[column].height
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= height:
            raise ParameterError(
                f"at-most: column {column!r} has no level {level}.",
                parameter="at-most",
                hint=f"Its hierarchy has levels 0 (as it is) to {height}.",
            )
    return {column: at_most.get(column, raw.hierarchies[column].height) for column in raw.quasi}
