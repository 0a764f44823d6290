"""Choice: one way to release a table, with what it costs and what it risks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.microdata.lattice import Node
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.runs.repair_results import Choice


def choice_at(judge: NodeJudge, cost: Any, node: Node, *, chosen: bool) -> Choice:
    """One solution."""
    outcome = judge.outcome(node)
    question = judge.released(node)
    risk = Fraction(1, max(1, int(outcome.sizes.min(initial=question.people))))
    return Choice(
        judge.lattice.named(node),
        cost.of(outcome),
        risk,
        greatest_belief(question),
        outcome.suppressed,
        chosen,
    )


def greatest_belief(question: MicrodataQuestion) -> Fraction | None:
    """The greatest share of one sensitive value in a group, among those whose value is known."""
    greatest: Fraction | None = None
    for column in question.sensitive:
        groups = question.groups(column)
        some = np.flatnonzero(np.diff(groups.starts))
        if not len(some):
            continue
        first, known = (
            groups.counts[groups.starts[some]],
            np.add.reduceat(groups.counts, groups.starts[some]),
        )
        place = int(np.argmax(first / known))
        share = Fraction(int(first[place]), int(known[place]))
        greatest = share if greatest is None else max(greatest, share)
    return greatest
