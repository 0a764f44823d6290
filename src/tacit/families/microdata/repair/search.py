"""Search: the nodes of a lattice where the checks hold at the least cost, and all minimal ones.

Three facts spare most nodes. What passes makes all nodes above pass, what fails all nodes below
(for monotone definitions). What fails for some of the columns fails for all of them. And only nodes
that cost less than the best so far matter: if the highest of these fail, all of them do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from tacit.families.microdata.groups import Mask
from tacit.families.microdata.lattice import (
    FAILS,
    PASSES,
    Lattice,
    Node,
    Tags,
    maximal,
    minimal,
    undominated,
)
from tacit.families.microdata.repair.node_judge import NodeJudge, NodeOutcome
from tacit.model.deadline import OutOfTime, look, until
from tacit.model.jobs import Job

CLOSE = 1e-9  # costs are floats: a bound that is so little above the best is looked at
LARGEST = 2_000_000  # lattices with more nodes are not searched as a whole


class NodeCost(Protocol):
    """What a node costs. Nodes above another never cost less, as long as no rows are suppressed."""

    def bounds(self, lattice: Lattice) -> Any | None:
        """A cost for every node that the node has at least, as an array;
        None where that is not cheap.
        """

    def of(self, outcome: NodeOutcome) -> float:
        """What a node costs that was looked at, with the rows that must go."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    `best` is the node of least cost (None: none was found); `proved`: that is certain. `minimal`
    are nodes that pass while none was found below them that does; `all_minimal`: there are no
    others.
    """

    best: Node | None
    cost: float | None
    proved: bool
    minimal: tuple[Node, ...]
    all_minimal: bool
    asked: int


def search(
    judge: NodeJudge,
    cost: NodeCost,
    *,
    every: bool = True,
    seconds: float | None = None,
    patience: float | None = None,
    job: Job | None = None,
) -> SearchResult:
    """Find the node of least cost where the checks hold and, where `every`, all minimal nodes.

    Without `seconds` the search for the least cost takes as long as it needs, unless the lattice is
    too large for that; `patience` limits the search for the other minimal nodes.
    """
    job = job or Job()
    if len(judge.lattice) > LARGEST:
        from tacit.families.microdata.repair.best_first import SECONDS, best_first

        return best_first(judge, cost, seconds or SECONDS, job)
    hunt = Hunt(judge, cost, job)
    try:
        with until(seconds):
            best = hunt.optimum()
    except OutOfTime:
        return hunt.found(proved=False, all_minimal=False)
    try:
        if every and best is not None:
            with until(patience):
                hunt.all_minimal()
    except OutOfTime:
        return hunt.found(proved=True, all_minimal=False)
    return hunt.found(proved=True, all_minimal=every or best is None)


class Hunt:
    """One search: what is known of the nodes, and the best so far."""

    def __init__(self, judge: NodeJudge, cost: NodeCost, job: Job) -> None:
        self.judge, self.cost, self.job = judge, cost, job
        self.lattice = judge.lattice
        self.tags = Tags(self.lattice)
        self.passing: list[Node] = []
        self.best: tuple[float, int, Node] | None = None

    def found(self, *, proved: bool, all_minimal: bool) -> SearchResult:
        """What was found so far."""
        best, cost = (self.best[2], self.best[0]) if self.best else (None, None)
        return SearchResult(
            best, cost, proved, tuple(undominated(self.passing)), all_minimal, self.judge.asked
        )

    def optimum(self) -> Node | None:
        """The node of least cost; among equals the lowest."""
        # First of all the coarsest: something is found even where time is short, and often it
        # settles the matter.
        if not self._passes(self.lattice.top) and self.judge.is_monotone:
            return None
        bounds = self.cost.bounds(self.lattice)
        if self.judge.is_monotone and not self.judge.suppress and bounds is not None:
            self._highest_first(order(bounds))
        elif self.judge.is_monotone and not self.judge.suppress:
            # The cost is monotone too: nothing costs less than the cheapest of the minimal nodes.
            self.all_minimal()
        elif self.judge.is_monotone and bounds is not None:
            self._while_cheaper(bounds)
        else:
            self._one_by_one(bounds)
        return self.best[2] if self.best else None

    def all_minimal(self) -> None:
        """Find every node that passes while none below does."""
        if not self.judge.is_monotone:
            self._one_by_one(None, every=True)
            return
        self._by_columns(self._passes)
        self._by_chains(self._passes)
        for node in nodes_of(minimal(np.asarray(self.tags.known == PASSES))):
            self._passes(node)

    # -- ways to search ----------------------------------------------------------------------------

    def _highest_first(self, ranks: Any) -> None:
        """Of the nodes that would be better than the best so far, look
        at those that have none above.

        If one fails, all below fail. If it passes, all that cost more are ruled out.
        So the antichain is small, and its nodes are coarse, which makes them cheap to count.
        """
        least = np.iinfo(np.int64).max
        while True:
            candidates = self.tags.unknown & (ranks < least)
            number = int(candidates.sum())
            if not number:
                return
            self._step("looking for the least loss", 1 - number / len(self.lattice))
            tops = maximal(candidates)
            node = node_at(np.where(tops, ranks, np.iinfo(np.int64).max).argmin(), self.lattice)
            if self._passes(node):
                self.tags.passes(node)
                least = int(ranks[node])
            else:
                self.tags.fails(node)

    def _while_cheaper(self, bounds: Any) -> None:
        """The same where rows are dropped: a node then costs its bound or more, and one above that
        passes may cost less. So each that passes is looked at, unless its bound is too much.
        """
        ranks, fresh = order(bounds), np.ones(self.lattice.shape, dtype=bool)
        if self.best is not None:
            fresh[self.best[2]] = False
        while True:
            least = self.best[0] + CLOSE if self.best is not None else np.inf
            candidates = fresh & (self.tags.known != FAILS) & (bounds <= least)
            number = int(candidates.sum())
            if not number:
                return
            self._step("looking for the least loss", 1 - number / len(self.lattice))
            tops = maximal(candidates)
            node = node_at(np.where(tops, ranks, np.iinfo(np.int64).max).argmin(), self.lattice)
            fresh[node] = False
            if self._passes(node):
                self.tags.passes(node)
            else:
                self.tags.fails(node)

    def _by_columns(self, passes: Callable[[Node], bool]) -> None:
        """Look at single columns and pairs: what fails for these fails whatever the others are."""
        places = [place for place, height in enumerate(self.lattice.heights) if height]
        sets = [
            chosen for size in (1, 2) if size < len(places) for chosen in combinations(places, size)
        ]
        for number, chosen in enumerate(sets):
            self._step("looking at pairs of columns", number / len(sets))
            others = tuple(
                place for place in range(len(self.lattice.heights)) if place not in chosen
            )
            met = np.zeros([self.lattice.shape[place] for place in chosen], dtype=bool)
            while True:
                look()
                open_ = np.asarray(self.tags.unknown.any(axis=others)) & ~met
                if not open_.any():
                    break
                node = list(self.lattice.top)
                levels = node_of(np.argwhere(maximal(open_))[0])
                for place, level in zip(chosen, levels, strict=True):
                    node[place] = level
                if passes(tuple(node)):
                    met[tuple(slice(level, None) for level in levels)] = True
                    self.tags.passes(tuple(node))
                else:
                    self.tags.fails(tuple(node), chosen)

    def _by_chains(self, passes: Callable[[Node], bool]) -> None:
        """Bisect chains of nodes that are still unknown, from a lowest to a highest."""
        while True:
            unknown = self.tags.unknown
            number = int(unknown.sum())
            if not number:
                return
            self._step("looking for all minimal solutions", 1 - number / len(self.lattice))
            chain = list(climb(node_at(unknown.argmax(), self.lattice), unknown))
            low, high = 0, len(chain)
            while low < high:
                look()
                middle = (low + high) // 2
                if passes(chain[middle]):
                    self.tags.passes(chain[middle])
                    high = middle
                else:
                    self.tags.fails(chain[middle])
                    low = middle + 1

    def _one_by_one(self, bounds: Any | None, *, every: bool = False) -> None:
        """Look at every node that may pass, the cheapest first, until no cheaper one can come.

        Where nodes above one that passes may fail, only a necessary condition is monotone: that few
        people are in groups too small for any check.
        """
        necessary = Tags(self.lattice)
        mine, self.tags = self.tags, necessary
        passes = self._passes if self.judge.is_monotone else self.judge.enough_people
        self._by_columns(passes)
        self._by_chains(passes)
        self.tags = mine
        open_ = np.asarray(necessary.known == PASSES)
        ranks = order(bounds) if bounds is not None else order(heights(self.lattice))
        nodes = sorted(nodes_of(open_), key=lambda node: int(ranks[node]))
        for number, node in enumerate(nodes):
            self._step("looking at every node that may pass", number / len(nodes))
            if (
                not every
                and bounds is not None
                and self.best
                and float(bounds[node]) > self.best[0]
            ):
                return
            self._passes(node)

    # -- one node ----------------------------------------------------------------------------------

    def _passes(self, node: Node) -> bool:
        outcome = self.judge.outcome(node)
        if outcome.holds:
            self.passing.append(node)
            mark = (self.cost.of(outcome), sum(node), node)
            if self.best is None or mark < self.best:
                self.best = mark
        return outcome.holds

    def _step(self, words: str, share: float) -> None:
        self.job.step(f"{words} ({self.judge.asked:,} nodes asked)", share)
        look()


def order(costs: Any) -> Any:
    """The rank of every node by cost, then by height:
    an order in which no node comes before one below.

    >>> order(np.array([[0.0, 0.5], [0.0, 0.5]])).tolist()
    [[0, 2], [1, 3]]
    """
    # Costs that differ by less than this are equal: they are products of the same fractions.
    rounded = np.round(costs, 12)
    height = np.indices(costs.shape).sum(axis=0)
    ranked = np.lexsort((height.ravel(), rounded.ravel()))
    ranks = np.empty(costs.size, dtype=np.int64)
    ranks[ranked] = np.arange(costs.size)
    return ranks.reshape(costs.shape)


def heights(lattice: Lattice) -> Any:
    """How high each node is."""
    return np.indices(lattice.shape).sum(axis=0).astype(float)


def node_of(levels: Any) -> Node:
    """Levels from an array as a node."""
    return tuple(int(level) for level in levels)


def node_at(place: Any, lattice: Lattice) -> Node:
    """The node at a place of the flattened array."""
    return node_of(np.unravel_index(int(place), lattice.shape))


def nodes_of(chosen: Mask) -> Iterator[Node]:
    """The chosen nodes."""
    return map(node_of, np.argwhere(chosen))


def climb(node: Node, chosen: Mask) -> Iterator[Node]:
    """A chain of chosen nodes upwards, one column one level at a time."""
    step: Node | None = node
    while step is not None:
        yield step
        step = next((above for above in steps_up(step, chosen.shape) if chosen[above]), None)


def steps_up(node: Node, shape: tuple[int, ...]) -> Iterator[Node]:
    """The nodes directly above."""
    for place, level in enumerate(node):
        if level + 1 < shape[place]:
            yield (*node[:place], level + 1, *node[place + 1 :])
