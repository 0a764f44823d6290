"""Impossibility: no release meets the checks; the proof, and what would have to give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.search import SearchResult
from tacit.families.microdata.runs.ladders import ladder
from tacit.families.microdata.runs.repair_results import NotRepaired
from tacit.families.microdata.runs.task import RepairTask
from tacit.families.words import listed, plural
from tacit.model.deadline import OutOfTime, look, until
from tacit.model.jobs import Job
from tacit.model.numbers import percent, plain

LARGEST = 20_000  # nodes of a lattice that is looked at for the least suppression
SECONDS = 5.0  # for that


def not_possible(task: RepairTask, judge: NodeJudge, found: SearchResult, job: Job) -> NotRepaired:
    """Why nothing was found: the verdicts of the coarsest release, and what would have to give."""
    answers = task.verdicts_at(judge, judge.lattice.top)
    failed = [answer.label for answer in answers if answer.status != "holds"]
    because = (
        f"even the coarsest release fails {' and '.join(failed)}{judged_publications(task)}"
        if failed and judge.is_monotone
        else (
            f"none of the {len(judge.lattice):,} ways to generalize meets all "
            f"checks{dropping(judge)}"
        )
    )
    if not found.proved:
        because = "nothing was found in the time allowed"
    all_asked = task.beside is None or not (task.beside.counts_worlds or task.beside.open_)
    proved = found.proved and judge.is_thorough and all_asked
    told = tuple(advice(task, judge, job)) if found.proved else ("allow more time (--seconds)",)
    return NotRepaired(
        task.release, because, proved, answers, told, task.repair, (judge.asked, len(judge.lattice))
    )


def judged_publications(task: RepairTask) -> str:
    """What is published and was judged too."""
    if task.beside is None:
        return ""
    return f" together with {listed(task.beside.names)}, so that no level helps"


def dropping(judge: NodeJudge) -> str:
    """Which rows were dropped, where some may be."""
    return ", also without the groups that fail" if judge.suppress else ""


def advice(task: RepairTask, judge: NodeJudge, job: Job) -> Iterator[str]:
    """What would have to give: higher levels, more suppression, or a parameter."""
    low = [
        name
        for name, level in task.repair.at_most.items()
        if level < task.raw.hierarchies[name].height
    ]
    if low:
        yield f"allow higher levels of {', '.join(low)} (at-most)"
    flat = [name for name in task.raw.quasi if not task.raw.hierarchies[name].height]
    if flat:
        yield f"give {', '.join(flat)} a hierarchy: without one it cannot be generalized"
    job.step("looking for what could be met instead", 0.9)
    yield from could_be_met(task, judge)
    if share := least_suppression(task, judge):
        yield share


def could_be_met(task: RepairTask, judge: NodeJudge) -> Iterator[str]:
    """For each check that fails at the top of the lattice:
    the nearest parameter that would be met there.
    """
    top = judge.recoded_whole(judge.lattice.top).question()
    for place, one in enumerate(task.required):
        if one.ask(top).status == "holds":
            continue
        met: dict[str, list[Any]] = {}
        for _, name, value, required in ladder(task.required, place, also=one.ask(top).measured):
            if required[place].ask(top).status == "holds":
                met.setdefault(name, []).append(value)
        for name, values in met.items():
            now = getattr(one.definition, name)
            nearest = min(values, key=lambda value: abs(Fraction(value) - Fraction(now)))
            word = name.replace("_", "-")
            yield (
                f"{one.definition.check_name} with {word}: {plain(Fraction(nearest))} instead "
                f"of {plain(Fraction(now))} would be met"
            )


def least_suppression(task: RepairTask, judge: NodeJudge) -> str | None:
    """How many rows would have to go so that some node passes:
    the least that was found in a few seconds.
    """
    lattice = judge.lattice
    rows = task.raw.base.rows
    if len(lattice) > LARGEST:
        return None
    free = NodeJudge(task.raw, task.required, lattice, suppress=rows - 1)
    gone = []
    with suppress(OutOfTime), until(SECONDS):
        for node in sorted(lattice, key=sum, reverse=True):
            look()
            if (outcome := free.outcome(node)).holds:
                gone.append(outcome.suppressed)
    if not gone or not 0 < min(gone) < rows:
        return None
    least = min(gone)
    share = percent(Fraction(-(-least * 100 // rows), 100))
    return (
        f"allow {plural('row', least)} of {rows:,} to be dropped (suppress: "
        f"{share.replace(' ', '')})"
    )
