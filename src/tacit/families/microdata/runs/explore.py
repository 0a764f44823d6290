"""Explore: which parameters can be met at which loss, before a choice is made."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tacit.engines.open import open_engine
from tacit.errors import InputError
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.repair.costs import cost_by
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.requirements import Required
from tacit.families.microdata.repair.search import search
from tacit.families.microdata.runs.ladders import ladder
from tacit.families.microdata.runs.level_labels import level_labels
from tacit.families.microdata.runs.task import RepairTask, not_asked_beside, task_of
from tacit.model.jobs import Job
from tacit.model.numbers import plain
from tacit.plan.plan import Plan

LARGE = 20_000  # nodes of a lattice from which on each step has a time limit
SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Rung:
    """One value of one parameter: the loss at which it can be met, or None where it cannot."""

    check: str
    parameter: str
    value: Any
    cost: float | None
    generalization: Mapping[str, int] | None
    suppressed: int
    asked_for: bool
    proved: bool
    label: str = ""  # the check as the plan has it, with its parameters
    name: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As `tacit anonymize --explore --json` lists it."""
        return {
            "check": self.check,
            "name": self.name,
            "parameter": self.parameter,
            "value": plain(Fraction(self.value)),
            "cost": self.cost,
            "generalization": dict(self.generalization)
            if self.generalization is not None
            else None,
            "suppressed": str(self.suppressed),
            "asked_for": self.asked_for,
            "proved": self.proved,
        }


@dataclass(frozen=True, slots=True)
class Explored:
    """What could be met at which loss:
    each parameter of each check, while all other checks stay as they are.
    """

    release: str
    utility: str
    rungs: tuple[Rung, ...]
    seconds: float = 0.0
    not_asked: tuple[str, ...] = ()  # checks of the release that no search for levels asks
    labels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # of frequent values

    exit_status = 0

    def to_json(self) -> dict[str, Any]:
        """The object that `tacit anonymize --explore --json` prints."""
        return {
            "release": self.release,
            "utility": self.utility,
            "explored": [rung.to_json() for rung in self.rungs],
            "seconds": round(self.seconds, 3),
            "not_asked": list(self.not_asked),
        }


def explore(
    plan: Plan, release: str, *, options: Mapping[str, Any] | None = None, job: Job | None = None
) -> Explored:
    """For every parameter of the release's checks: which values can be met, and at which loss."""
    begun, job = time.perf_counter(), job or Job()
    with open_engine(plan.source, plan.folder) as engine:
        job.step("counting the table", 0.0)
        task = task_of(
            plan,
            release,
            MicrodataSource(plan, engine),
            options or {},
            aware=False,
            relaxed=False,
            seconds=None,
        )
        if task.repair.method != "lattice":
            raise InputError(
                "what can be met is explored with whole columns.", hint="Add --method lattice."
            )
        steps = [
            step for number in range(len(task.required)) for step in ladder(task.required, number)
        ]
        rungs = []
        for number, (place, name, value, required) in enumerate(steps):
            label = task.required[place].definition.check_name
            job.step(f"{label} with {name}={plain(Fraction(value))}", number / len(steps))
            rungs.append(rung(task, place, name, value, required))
    return Explored(
        release,
        task.repair.utility,
        tuple(rungs),
        time.perf_counter() - begun,
        (*task.not_asked, *not_asked_beside(plan, release)),
        level_labels(task.raw),
    )


def rung(
    task: RepairTask, place: int, name: str, value: Any, required: tuple[Required, ...]
) -> Rung:
    """Search with one parameter changed."""
    lattice = task.lattice()
    judge = NodeJudge(task.raw, required, lattice, suppress=task.suppress)
    cost = cost_by(judge, task.repair.utility, task.repair.weights)
    found = search(judge, cost, every=False, seconds=SECONDS if len(lattice) > LARGE else None)
    now = getattr(task.required[place].definition, name)
    levels = lattice.named(found.best) if found.best is not None else None
    suppressed = judge.outcome(found.best).suppressed if found.best is not None else 0
    asked = task.required[place].definition
    return Rung(
        asked.check_name,
        name.replace("_", "-"),
        value,
        found.cost,
        levels,
        suppressed,
        value == now,
        found.proved and judge.is_thorough,
        asked.label,
        task.names[place] if task.names else None,
    )
