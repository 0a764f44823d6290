"""Chosen: levels that the owner picked instead of those of least cost.
The same checks are asked about them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tacit.errors import InputError, ParameterError, did_you_mean
from tacit.families.microdata.lattice import Node
from tacit.families.microdata.repair.node_judge import NodeJudge, NodeOutcome
from tacit.families.microdata.runs.repair_results import NotRepaired
from tacit.families.microdata.runs.task import RepairTask
from tacit.families.words import listed, plural
from tacit.model.verdict import Verdict

PICKED = "these levels were picked, and others may lose less"


def picked_node(task: RepairTask, levels: Mapping[str, int]) -> Node:
    """The node of some levels; columns that are not named stay as they are."""
    if task.repair.method != "lattice":
        raise InputError(
            f"groups of {task.repair.method} have labels of their own, so no levels can be picked.",
            hint="Use the method lattice.",
        )
    lattice = task.lattice()
    limits = dict(zip(lattice.columns, lattice.heights, strict=True))
    for column, level in levels.items():
        if column not in limits:
            raise ParameterError(
                f"levels name {column!r}, which is no quasi-identifier.",
                parameter="levels",
                hint=did_you_mean(column, limits),
            )
        if (
            isinstance(level, bool)
            or not isinstance(level, int)
            or not 0 <= level <= limits[column]
        ):
            raise ParameterError(
                f"column {column!r} cannot be released at level {level}.",
                parameter="levels",
                hint=f"Levels 0 (as it is) to {limits[column]} may be picked.",
            )
    return lattice.node(levels)


def not_at(task: RepairTask, judge: NodeJudge, outcome: NodeOutcome) -> NotRepaired:
    """The checks do not hold at the levels that were picked: nothing is released there."""
    answers = task.verdicts_at(judge, outcome.node)
    levels = ", ".join(
        f"{name} {level}" for name, level in judge.lattice.named(outcome.node).items() if level
    )
    where = f"at the levels {levels}" if levels else "for the table as it is"
    return NotRepaired(
        task.release,
        f"{because(answers)} {where}{dropping(task, outcome)}",
        False,
        answers,
        ("pick one of the solutions, or levels above one of them",),
        task.repair,
        (judge.asked, len(judge.lattice)),
    )


def because(answers: tuple[Verdict, ...]) -> str:
    """Which checks fail."""
    failed = [
        f"{answer.label} is {answer.status}" for answer in answers if answer.status != "holds"
    ]
    return listed(failed) if failed else "the checks do not hold"


def dropping(task: RepairTask, outcome: NodeOutcome) -> str:
    """How many rows would have to go, where some may."""
    if not task.suppress:
        return ""
    if outcome.suppressed > task.suppress:
        return (
            f", and more than the {plural('row', task.suppress)} that may be dropped would "
            "have to go"
        )
    return ", also without the groups that fail"
