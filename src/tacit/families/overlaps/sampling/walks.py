"""The law of one column: the Poisson law of its cells given its rows, its averages, and points
drawn from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.sampling.column_states import CellLayer, PathLattice
from tacit.families.overlaps.sampling.urns import UNIT, Floats, Urns, WeightedUrn

Small = np.ndarray[Any, np.dtype[Any]]  # whole numbers of 32 bits: there may be many
MOST_BEGUN = 1 << 17  # beginnings of points that are listed; cells after them are drawn one by one


@dataclass(frozen=True, eq=False)
class PointLaw:
    """Points of a column with weights prod mean**x / x!, given for each cell as `factors`:
    1 at its most likely number.

    The mean of a cell is the exponential tilt of its class times what its rows contribute, which is
    the same for all points. Every factor is right but for a relative error of 2 * UNIT for each
    person that it is away from that number.
    """

    lattice: PathLattice
    means: Floats

    @cached_property
    def factors(self) -> tuple[Floats, ...]:
        """For each cell the weight of every number of people, from `low` to `high`."""
        column = self.lattice.column
        return tuple(
            _poisson(low, high, mean)
            for low, high, mean in zip(
                column.low.tolist(), column.high.tolist(), self.means.tolist(), strict=True
            )
        )

    @cached_property
    def error(self) -> float:
        """The relative error of a point's weight, at most."""
        column = self.lattice.column
        return 3 * UNIT * (float((column.high - column.low).sum()) + len(column.cells) + 1)

    def weights(self, points: Small) -> Floats:
        """The weight of each of some points: one row each, cells in the order of the column."""
        found = np.ones(len(points))
        for cell, (factor, low) in enumerate(
            zip(self.factors, self.lattice.column.low.tolist(), strict=True)
        ):
            found *= factor[points[:, cell] - low]
        return found

    def of_steps(self, layer: CellLayer) -> Floats:
        """The factor of each step of a layer."""
        found: Floats = self.factors[layer.cell][layer.people - self.lattice.column.low[layer.cell]]
        return found

    @cached_property
    def ahead(self) -> tuple[Floats, ...]:
        """For each layer the weight of all ways from its states to the end;
        scaled, so that the largest is about 1.
        """
        found = [np.ones(1)]
        for layer in reversed(self.lattice.layers):
            found.append(
                _scaled(
                    np.add.reduceat(
                        self.of_steps(layer) * found[-1][layer.target], layer.starts[:-1]
                    )
                )
            )
        return tuple(reversed(found))

    @property
    def averages(self) -> Floats:
        """How many people each cell has on average."""
        found = np.zeros(len(self.means))
        behind = np.ones(1)
        for number, layer in enumerate(self.lattice.layers):
            through = behind[layer.source] * self.of_steps(layer)
            share = through * self.ahead[number + 1][layer.target]
            found[layer.cell] = float(share @ layer.people) / float(share.sum())
            behind = _scaled(
                np.bincount(layer.target, through, len(self.ahead[number + 1])).astype(np.float64)
            )
        return found

    @cached_property
    def largest(self) -> float:
        """The largest weight of a point."""
        ahead = np.ones(1)
        for layer in reversed(self.lattice.layers):
            ahead = np.maximum.reduceat(
                self.of_steps(layer) * ahead[layer.target], layer.starts[:-1]
            )
        return float(ahead[0])

    @cached_property
    def peak(self) -> float:
        """The probability of the most likely point, about."""
        every, largest = np.ones(1), np.ones(1)
        for layer in reversed(self.lattice.layers):
            weights = self.of_steps(layer)
            every = np.add.reduceat(weights * every[layer.target], layer.starts[:-1])
            largest = np.maximum.reduceat(weights * largest[layer.target], layer.starts[:-1])
            scale = every.max()
            every, largest = every / scale, largest / scale
        return float(largest[0] / every[0])


def _poisson(low: int, high: int, mean: float) -> Floats:
    """mean**x / x! for all x from low to high, divided by the largest of them."""
    mode = min(max(int(mean), low), high)
    up = np.cumprod(mean / np.arange(mode + 1, high + 1))
    down = np.cumprod(np.arange(mode, low, -1) / mean)
    return np.concatenate([down[::-1], np.ones(1), up])


def _scaled(weights: Floats) -> Floats:
    """Divided by a power of two, which changes no digit."""
    found: Floats = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBeginning:
    """All ways to fill the first cells of a column:
    so many people in each, and the state one comes to.
    """

    cells: Integers
    people: Small
    state: Integers

    @property
    def layers(self) -> int:
        """How many cells are filled."""
        return len(self.cells)


def begun(lattice: PathLattice, most: float) -> ColumnBeginning:
    """As many first cells as have no more than so many ways together;
    with all cells these are the points.
    """
    state = np.zeros(1, dtype=np.int64)
    chosen: list[Small] = []
    for layer in lattice.layers:
        width = np.diff(layer.starts)[state]
        if int(width.sum()) > most:
            break
        step = np.arange(int(width.sum())) - np.repeat(
            np.cumsum(width) - width - layer.starts[state], width
        )
        chosen = [*(np.repeat(one, width) for one in chosen), layer.people[step].astype(np.int32)]
        state = layer.target[step]
    cells = np.array([layer.cell for layer in lattice.layers[: len(chosen)]], dtype=np.int64)
    people = np.stack(chosen, axis=1) if chosen else np.zeros((1, 0), dtype=np.int32)
    return ColumnBeginning(cells, people, state)


def points_of(lattice: PathLattice) -> Small:
    """All points of a column, one row each."""
    found = begun(lattice, float("inf"))
    return found.people[:, np.argsort(found.cells)]


class ColumnWalk:
    """Points of a column, drawn from its law: a beginning from one urn, then cell after cell.

    Errors are as with `WeightedUrn`: the law differs by a relative error and by a total variation.
    """

    def __init__(self, law: PointLaw, most: int = MOST_BEGUN) -> None:
        self.cells = law.lattice.column.cells
        self.begun = begun(law.lattice, most)
        behind = self.begun.layers
        first = np.ones(len(self.begun.people))
        for cell, people in zip(self.begun.cells.tolist(), self.begun.people.T, strict=True):
            first *= law.factors[cell][people - law.lattice.column.low[cell]]
        self.urn = WeightedUrn(first * law.ahead[behind][self.begun.state], np.arange(len(first)))
        self.layers = law.lattice.layers[behind:]
        self.urns = [
            Urns(law.of_steps(layer) * law.ahead[number + 1][layer.target], layer.starts)
            for number, layer in enumerate(self.layers, behind)
        ]
        # What is ahead of a state cancels out along a path but for the sums,
        # of which each adds its own error.
        sums = sum(int(np.diff(layer.starts).max()) + 4 for layer in law.lattice.layers)
        self.relative = (
            2 * law.error
            + 2 * sums * UNIT
            + self.urn.relative
            + sum(one.relative for one in self.urns)
        )
        self.absolute = self.urn.absolute + sum(one.absolute for one in self.urns)

    def draw(self, rng: np.random.Generator, count: int) -> tuple[Integers, ...]:
        """So many independent points, as the choices made:
        a beginning, and the step of every further cell.
        """
        chosen = [self.urn.draw(rng, count)]
        state = self.begun.state.take(chosen[0])
        for layer, urns in zip(self.layers, self.urns, strict=True):
            chosen.append(urns.draw(rng, state))
            state = layer.target.take(chosen[-1])
        return tuple(chosen)

    def people(self, chosen: Sequence[Integers]) -> Integers:
        """The points that were drawn, one row each."""
        found = np.zeros((len(chosen[0]), len(self.cells)), dtype=np.int64)
        found[:, self.begun.cells] = self.begun.people[chosen[0]]
        for layer, steps in zip(self.layers, chosen[1:], strict=True):
            found[:, layer.cell] = layer.people[steps]
        return found
