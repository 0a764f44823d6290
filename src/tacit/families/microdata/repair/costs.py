"""Costs: what a node of the lattice costs by a measure of utility, for the search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.families.microdata.lattice import Lattice, Node
from tacit.families.microdata.repair.node_judge import NodeJudge, NodeOutcome
from tacit.families.microdata.utility.levels import NodeCosts, lattice_costs
from tacit.families.microdata.utility.measures import AverageGroup, Discernibility, measure
from tacit.families.microdata.utility.weights import refuse_weights

BY_LEVELS = ("loss", "height")
BY_SIZES: Mapping[str, Callable[[Any, int, int], Any]] = {
    "discernibility": Discernibility.cost_of_groups,
    "average-group": AverageGroup.cost_of_groups,
}


@dataclass(frozen=True, slots=True)
class ByLevels:
    """Loss and height: known for every node before any is counted, unless rows go."""

    costs: NodeCosts
    with_suppression: Callable[[NodeOutcome], float]

    def bounds(self, lattice: Lattice) -> Any:
        """The cost of every node when all rows are released; dropping some never costs less."""
        return self.costs.grid()

    def of(self, outcome: NodeOutcome) -> float:
        """The cost of a node that was looked at."""
        return (
            self.with_suppression(outcome)
            if outcome.suppressed
            else float(self.costs.cost(outcome.node))
        )


@dataclass(frozen=True, slots=True)
class ByGroups:
    """Measures that need the groups of a node."""

    cost: Callable[[NodeOutcome], float]

    def bounds(self, lattice: Lattice) -> None:
        """Not known before the groups are counted."""

    def of(self, outcome: NodeOutcome) -> float:
        """The cost of a node that was looked at."""
        return self.cost(outcome)


def cost_by(
    judge: NodeJudge, utility: str, weights: Mapping[str, Fraction] | None = None
) -> ByLevels | ByGroups:
    """What a node costs by a measure of utility."""
    chosen = measure(utility)
    found: dict[Node, float] = {}

    def counted(outcome: NodeOutcome) -> float:
        # A search comes back to a node: to compare it, to sort, to show it.
        if outcome.node not in found:
            cost = chosen.cost(judge.recoded(outcome.node), weights or None)
            found[outcome.node] = float(cost)
        return found[outcome.node]

    if utility in BY_LEVELS:
        limits = dict(zip(judge.lattice.columns, judge.lattice.heights, strict=True))
        return ByLevels(lattice_costs(judge.raw, limits, weights or None, utility), counted)
    if not chosen.weighted:
        refuse_weights(utility, weights or None)
    if utility in BY_SIZES and judge.raw.base.persons is None:
        by_sizes, rows = BY_SIZES[utility], judge.raw.base.rows
        return ByGroups(lambda outcome: float(by_sizes(outcome.sizes, rows, outcome.suppressed)))
    return ByGroups(counted)
