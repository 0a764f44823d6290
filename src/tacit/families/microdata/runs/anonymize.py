"""Anonymize: search for a release, write it, and check what was written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.engines.open import open_engine
from tacit.errors import EngineError, InputError
from tacit.families.microdata.lattice import Node
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.repair.costs import cost_by
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.output_check import compare
from tacit.families.microdata.repair.release_statement import columns_of, write
from tacit.families.microdata.repair.search import SearchResult, search
from tacit.families.microdata.runs.alternatives import draft_of, worth_dropping
from tacit.families.microdata.runs.aware_attacker import is_silent, minimality_stories, not_aware
from tacit.families.microdata.runs.choice import choice_at
from tacit.families.microdata.runs.chosen_levels import PICKED, not_at, picked_node
from tacit.families.microdata.runs.impossibility import advice, not_possible
from tacit.families.microdata.runs.published_checks import beside_what_is_out
from tacit.families.microdata.runs.recipients_holdings import published
from tacit.families.microdata.runs.repair_results import Choice, NotRepaired, Repaired
from tacit.families.microdata.runs.task import RepairTask, task_of
from tacit.families.microdata.utility.describe import describe
from tacit.families.words import plural
from tacit.model.jobs import Job
from tacit.plan.owned_files import owners_files
from tacit.plan.plan import Plan

CHART = 200  # solutions that are drawn
CHART_CELLS = 300_000  # combinations of a table for which other solutions are measured too
CHART_SECONDS = 5.0  # that the search for other solutions may take


def anonymize(
    plan: Plan,
    release: str,
    output: str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    aware: bool = False,
    relaxed: bool = False,
    seconds: float | None = None,
    levels: Mapping[str, int] | None = None,
    replace_output: bool = False,
    unjudged: bool = False,
    portrait: bool = False,
    job: Job | None = None,
) -> Repaired | NotRepaired:
    """Generalize the table of a release until all checks of that release hold, at the least loss.

    Checks that judge the release as views (gamma-privacy, k-sind, k-rsind) are not asked: the
    result names them as `not_asked`. `options` override the release's own keys (method, suppress,
    utility, weights, at_most). Where `levels` are given nothing is searched: the release is made at
    these, if all checks hold there. Where an `output` is named, the release is written there and
    read back; but where a check cannot judge it together with what is published only if
    `unjudged`. `portrait` also looks at it for a picture.
    """
    begun, job = time.perf_counter(), job or Job()
    with open_engine(plan.source, plan.folder) as engine:
        source, keep = MicrodataSource(plan, engine), owners_files(plan)
        if output is not None:
            engine.check_target(output, replace=replace_output, keep=keep)
        job.step("counting the table", 0.0)
        task = task_of(
            plan, release, source, options or {}, aware=aware, relaxed=relaxed, seconds=seconds
        )
        if output is not None:
            # Once more: now the engine knows which files it reads.
            engine.check_target(output, replace=replace_output, keep=keep)
        found = solve_beside(plan, task, job, levels)
        if isinstance(found, Repaired):
            job.step("asking about what is published", 0.85)
            found = replace(beside_what_is_out(found, plan), not_asked=task.not_asked)
        if isinstance(found, Repaired) and output is not None and may_go_out(found, unjudged):
            write(found.recoded, source.reader, output, job=job, replace=replace_output, keep=keep)
            job.step("checking what was written", 0.95)
            compare(found.recoded, source.reader, output)
            written = columns_of(task.raw)
            left = tuple(
                name for name in engine.columns(task.raw.table.name) if name not in written
            )
            found = replace(found, output=output, not_written=left)
        if isinstance(found, Repaired) and portrait:
            found = found.with_portrait()
        job.step("done", 1.0)
    return replace(found, seconds=time.perf_counter() - begun)


def may_go_out(found: Repaired, unjudged: bool) -> bool:
    """Is a release written? Where a check could not judge it together with what is published, only
    if somebody insists; never where both together break one.
    """
    breached = any(verdict.status == "breached" for verdict in found.verdicts)
    return found.is_judged or (unjudged and not breached)


def solve_beside(
    plan: Plan, task: RepairTask, job: Job, levels: Mapping[str, int] | None = None
) -> Repaired | NotRepaired:
    """The same as `solve`, with the copies of the table that are published."""
    with published(plan, task, job) as beside:
        return solve(replace(task, beside=beside), job, levels)


def solve(
    task: RepairTask, job: Job, levels: Mapping[str, int] | None = None
) -> Repaired | NotRepaired:
    """Find the release, by the method that was asked for, or at some levels.
    The checks' own verdicts have the last word.
    """
    for one in task.required:
        if one.definition.missing == "error":
            task.raw.groups(
                missing="error"
            )  # looks at the table itself, whatever levels would hide
    if levels is not None:
        found = at_levels(task, levels, job)
    else:
        found = by_lattice(task, job) if task.repair.method == "lattice" else by_groups(task, job)
    if isinstance(found, Repaired) and any(verdict.status != "holds" for verdict in found.verdicts):
        raise EngineError(
            "the release that was found does not meet its checks.",
            hint="Nothing was written. Please report this.",
        )
    return found


def by_lattice(task: RepairTask, job: Job) -> Repaired | NotRepaired:
    """The levels of least cost."""
    judge = task.judge()
    lattice = judge.lattice
    cost = cost_by(judge, task.repair.utility, task.repair.weights)
    every = task.aware or (task.choices and len(task.raw.base) <= CHART_CELLS)
    found = search(
        judge,
        cost,
        every=every,
        seconds=task.seconds,
        patience=None if task.aware else CHART_SECONDS,
        job=job,
    )
    nodes = (judge.asked, len(lattice))
    if found.best is None:
        return not_possible(task, judge, found, job)
    best = found.best
    if task.aware:
        withstands = next(
            (node for node in by_cost(found.minimal, judge, cost) if is_silent(task, judge, node)),
            None,
        )
        if withstands is None:
            return replace(not_aware(task), nodes=nodes)
        best = withstands
    made = repaired_at(task, judge, best, why_unproved(task, judge, found))
    compares = task.choices and len(task.raw.base) <= CHART_CELLS
    return replace(
        made,
        choices=choices(task, judge, cost, found, best),
        all_choices=found.all_minimal
        and judge.is_thorough
        and not (task.beside is not None and task.beside.counts_worlds)
        and len(found.minimal) <= CHART,
        aware=minimality_stories(task, made.recoded),
        nodes=nodes,
        because_of=because_of(task, job),
        draft=draft_of(task, judge) if compares else None,
        dropping=worth_dropping(task, cost.of(judge.outcome(best)), job) if compares else None,
    )


def because_of(task: RepairTask, job: Job) -> Mapping[str, Any]:
    """What a release could be if nothing were published, and what is."""
    if task.beside is None:
        return {}
    judge = replace(task, beside=None).judge()
    cost = cost_by(judge, task.repair.utility, task.repair.weights)
    job.step("asking what would do if nothing were published", 0.8)
    alone = search(judge, cost, every=False, seconds=task.seconds, job=job)
    if alone.best is None:
        return {}
    levels = judge.lattice.named(alone.best)
    return {"given": task.beside.names, "generalization": levels, "cost": alone.cost}


def at_levels(task: RepairTask, levels: Mapping[str, int], job: Job) -> Repaired | NotRepaired:
    """The release at levels that were picked, where all checks hold there."""
    node = picked_node(task, levels)
    if task.aware:
        raise InputError(
            "levels that are picked are not the least that pass.", hint="Leave --aware out."
        )
    job.step("asking the checks", 0.3)
    judge = task.judge()
    if not judge.holds(node):
        return not_at(task, judge, judge.outcome(node))
    job.step("measuring what is lost", 0.6)
    choice = choice_at(
        judge, cost_by(judge, task.repair.utility, task.repair.weights), node, chosen=True
    )
    return replace(repaired_at(task, judge, node, PICKED), choices=(choice,))


def repaired_at(task: RepairTask, judge: NodeJudge, node: Node, unproved: str) -> Repaired:
    """The release at a node where the checks hold, with their verdicts and what it costs."""
    recoded = judge.recoded(node)
    # Names of people make the story of a small table;
    # in a large one they cost more than the search.
    asked = recoded.question() if len(task.raw.base) <= CHART_CELLS else judge.released(node)
    return Repaired(
        task.release,
        recoded,
        task.verdicts(asked),
        describe(recoded, utility=task.repair.utility, weights=task.repair.weights or None),
        task.repair,
        proved=not unproved,
        unproved=unproved,
        nodes=(judge.asked, len(judge.lattice)),
    )


def why_unproved(task: RepairTask, judge: NodeJudge, found: SearchResult) -> str:
    """Why it is not known that no other levels cost less; nothing where it is."""
    if task.aware:
        return (
            "only minimal levels were looked at that withstand somebody who knows how they "
            "are chosen"
        )
    if task.beside is not None and task.beside.open_:
        return (
            f"of {plural('choice', task.beside.open_)} of levels it could not be decided what they "
            "tell together with what is published"
        )
    if task.beside is not None and task.beside.counts_worlds:
        return (
            "levels that fail by themselves were not asked about together with what is published, "
            "which may make beliefs smaller"
        )
    if not found.proved:
        return "the search ended before all other choices of levels were ruled out"
    if not judge.is_thorough:
        return (
            "rows are dropped by whole groups, those that fail; other ways to drop rows were "
            "not tried"
        )
    if judge.suppress and task.repair.utility == "average-group":
        return (
            "rows are dropped only where a check fails; dropping others may lower the average group"
        )
    return ""


def by_cost(nodes: Sequence[Node], judge: NodeJudge, cost: Any) -> list[Node]:
    """The cheapest first."""
    return sorted(nodes, key=lambda node: (cost.of(judge.outcome(node)), sum(node), node))


def choices(
    task: RepairTask, judge: NodeJudge, cost: Any, found: SearchResult, best: Node
) -> tuple[Choice, ...]:
    """The minimal solutions with what they cost and what they risk, the cheapest first."""
    if not task.choices:
        return ()
    nodes = by_cost([*{*found.minimal, best}], judge, cost)[:CHART]
    return tuple(
        choice_at(judge, cost, node, chosen=node == best)
        for node in ([*nodes, best] if best not in nodes else nodes)
    )


def by_groups(task: RepairTask, job: Job) -> Repaired | NotRepaired:
    """The groups that Mondrian or the window finds."""
    refuse_for_groups(task)
    common: dict[str, Any] = {
        "at_most": task.repair.at_most,
        "suppress": task.suppress,
        "job": job,
        "beside": task.beside,
    }
    if task.repair.method == "mondrian":
        from tacit.families.microdata.repair.mondrian import mondrian

        weights = {name: float(weight) for name, weight in task.repair.weights.items()}
        outcome = mondrian(
            task.raw, task.required, strict=not task.relaxed, weights=weights, **common
        )
    else:
        from tacit.families.microdata.repair.window import window

        outcome = window(task.raw, task.required, **common)
    if outcome.recoded is None:
        judge = NodeJudge(task.raw, task.required, task.lattice(), suppress=task.suppress)
        return NotRepaired(
            task.release,
            outcome.because,
            outcome.proved,
            task.verdicts_at(judge, judge.lattice.top) if outcome.proved else (),
            tuple(advice(task, judge, job)),
            task.repair,
        )
    recoded = outcome.recoded
    return Repaired(
        task.release,
        recoded,
        task.verdicts(recoded.question()),
        describe(recoded, utility=task.repair.utility, weights=task.repair.weights or None),
        task.repair,
        proved=False,
        unproved="groups are found step by step, and others may lose less",
    )


def refuse_for_groups(task: RepairTask) -> None:
    """What groups of their own cannot do."""
    method = task.repair.method
    for column, level in task.repair.at_most.items():
        if 0 < level < task.raw.hierarchies[column].height:
            raise InputError(
                f"groups of {method} have labels of their own, so {column} cannot be kept at "
                f"level {level}.",
                hint=f"Use --at-most {column}=0 to leave it as it is, or --method lattice.",
            )
    if task.repair.weights and method == "window":
        raise InputError("the window takes no weights.", hint="Use --method mondrian or lattice.")
    for one in task.required:
        if one.definition.looks_up:
            raise InputError(
                f"{one.definition.check_name} looks up values in a prior or a population, and "
                f"groups of {method} have labels of their own.",
                hint="Use --method lattice.",
            )
    if task.repair.utility == "height":
        raise InputError(f"groups of {method} have no height.", hint="Use --utility loss.")
    if task.aware:
        raise InputError(
            f"what an attacker learns who knows how {method} chooses is not computed.",
            hint="Use --aware with --method lattice.",
        )
