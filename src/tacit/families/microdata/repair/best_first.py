"""Best-first: lattices too large to search as a whole, from the top
downwards, as far as time allows.
"""

from __future__ import annotations

from contextlib import suppress
from heapq import heappop, heappush
from typing import Any

import numpy as np

from tacit.families.microdata.lattice import Node, undominated
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.search import NodeCost, SearchResult
from tacit.model.deadline import OutOfTime, left, until
from tacit.model.jobs import Job

SECONDS = 60.0  # where nobody says how long


def best_first(judge: NodeJudge, cost: NodeCost, seconds: float, job: Job) -> SearchResult:
    """Go down from the cheapest node that passes, again and again.

    Whatever is found passes; that nothing is cheaper is proved only where the whole lattice below
    the top was seen before the time was over.
    """
    lattice = judge.lattice
    passing: dict[Node, float] = {}
    failed = Failed(len(lattice.columns), judge.is_monotone)
    seen = {lattice.top}
    queue: list[tuple[float, Node]] = []

    def visit(node: Node) -> None:
        outcome = judge.outcome(node)
        if outcome.holds:
            passing[node] = cost.of(outcome)
            heappush(queue, (passing[node], node))
        else:
            failed.add(node)
            if not judge.is_monotone:
                heappush(queue, (float("inf"), node))

    visit(lattice.top)
    is_whole = False
    with suppress(OutOfTime), until(seconds):
        while queue:
            _, node = heappop(queue)
            for lower in lattice.below(node):
                job.step(
                    f"going down the lattice ({judge.asked:,} nodes asked)", 1 - left() / seconds
                )
                if lower not in seen and not failed.covers(lower):
                    seen.add(lower)
                    visit(lower)
        is_whole = True
    best = min(passing, key=lambda node: (passing[node], sum(node), node), default=None)
    return SearchResult(
        best,
        passing.get(best) if best is not None else None,
        is_whole,
        tuple(undominated(list(passing))),
        is_whole,
        judge.asked,
    )


class Failed:
    """Nodes that fail; where the checks are monotone, so does everything below them."""

    def __init__(self, columns: int, monotone: bool) -> None:
        self.monotone = monotone
        self.nodes: Any = np.zeros((0, columns), dtype=np.int64)

    def add(self, node: Node) -> None:
        """Remember a node, and forget those below it."""
        if self.monotone:
            kept = self.nodes[~(self.nodes <= np.array(node)).all(axis=1)]
            self.nodes = np.vstack((kept, [node]))

    def covers(self, node: Node) -> bool:
        """Does a node fail because one above it does?"""
        return bool((self.nodes >= np.array(node)).all(axis=1).any())
