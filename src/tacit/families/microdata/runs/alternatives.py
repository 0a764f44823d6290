"""Alternatives to what a repair found: the release as the plan has it, and one from which a few
rows are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from tacit.families.microdata.repair.best_first import best_first
from tacit.families.microdata.repair.costs import cost_by
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.search import SearchResult, search
from tacit.families.microdata.runs.choice import choice_at
from tacit.families.microdata.runs.repair_results import Choice, Dropping
from tacit.families.microdata.runs.task import RepairTask
from tacit.model.jobs import Job

SHARE = Fraction(1, 100)  # of the rows, that a search drops to see whether it is worth it
SECONDS = 2.0  # that each way to search may take
WORTH = 0.9  # of the cost: what saves less is not mentioned


def draft_of(task: RepairTask, judge: NodeJudge) -> Choice | None:
    """What the release as the plan has it costs and risks; None where its checks hold, or where
    it has higher levels than may be searched.
    """
    levels: Mapping[str, int] = task.planned
    lattice = judge.lattice
    if any(
        levels.get(name, 0) > most
        for name, most in zip(lattice.columns, lattice.heights, strict=True)
    ):
        return None
    whole = replace(task, repair=replace(task.repair, suppress=Fraction(0)), beside=None)
    judge, node = whole.judge(), lattice.node(levels)
    if judge.holds(node):
        return None
    cost = cost_by(judge, task.repair.utility, task.repair.weights)
    return choice_at(judge, cost, node, chosen=False)


def worth_dropping(task: RepairTask, cost: float, job: Job) -> Dropping | None:
    """What a release costs from which a few rows may be dropped, as far as it is found in a moment;
    None where that saves little, or where rows may be dropped already.
    """
    if task.repair.suppress or task.aware or task.beside is not None or not 0 < cost < math.inf:
        return None
    dropping = replace(task, repair=replace(task.repair, suppress=SHARE))
    if not dropping.suppress:
        return None
    judge = dropping.judge()
    job.step("asking what a few dropped rows would save", 0.8)
    costs = cost_by(judge, task.repair.utility, task.repair.weights)
    found = search(judge, costs, every=False, seconds=SECONDS, job=job)
    if not found.proved:  # it rules levels out, which takes long; going down finds some at once
        found = min(found, best_first(judge, costs, SECONDS, job), key=cost_found)
    if found.best is None or found.cost is None or found.cost > WORTH * cost:
        return None
    return Dropping(
        SHARE, judge.outcome(found.best).suppressed, task.raw.base.rows, cost, found.cost
    )


def cost_found(found: SearchResult) -> float:
    """The cost of what a search found; infinite where it found nothing."""
    return math.inf if found.cost is None else found.cost
