"""Task: a table as it is, what must hold of its release, and how that is to be reached."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.definitions.microdata import MicrodataDefinition
from tacit.definitions.registry import MICRODATA, define
from tacit.definitions.words import listed
from tacit.errors import PlanError, did_you_mean, raise_all
from tacit.holdings.concerning import concerns, out_already
from tacit.holdings.ledgers import is_begun
from tacit.model.release import Microdata, Repair, Synthetic
from tacit.model.verdict import Verdict
from tacit.plan.load import not_built
from tacit.plan.references import LEDGER
from tacit.repairs.required import Required
from tacit.source import Source
from tacit.tables.lattice import Lattice
from tacit.tables.microdata import MicrodataQuestion
from tacit.utility.levels import read_limits

if TYPE_CHECKING:
    from tacit.plan.plan import Check, Plan


@dataclass(frozen=True, slots=True)
class Task:
    """A table as it is, what must hold of its release, and how that is to be reached."""

    release: str
    raw: MicrodataQuestion
    required: tuple[Required, ...]
    repair: Repair
    names: tuple[str | None, ...] = ()  # of the checks
    aware: bool = False
    relaxed: bool = False
    seconds: float | None = None
    choices: bool = True  # also look for other solutions
    not_asked: tuple[str, ...] = ()  # what a search cannot ask of this release, in words

    @property
    def suppress(self) -> int:
        """How many rows may go."""
        return int(self.repair.suppress * self.raw.base.rows)

    def verdicts(self, question: MicrodataQuestion) -> tuple[Verdict, ...]:
        """The checks' own verdicts about a release, under their names."""
        names = self.names or (None,) * len(self.required)
        found = []
        for one, name in zip(self.required, names, strict=True):
            begun = time.perf_counter()
            found.append(replace(one.ask(question), name=name, seconds=time.perf_counter() - begun))
        return tuple(found)

    def lattice(self) -> Lattice:
        """The levels that may be chosen."""
        limits = read_limits(self.raw, self.repair.at_most)
        return Lattice(self.raw.quasi, tuple(limits[name] for name in self.raw.quasi))


def task_of(
    plan: Plan,
    release: str,
    source: Source,
    options: Mapping[str, Any],
    *,
    aware: bool,
    relaxed: bool,
    seconds: float | None,
) -> Task:
    """What the plan and the options ask for."""
    microdata = plan.releases.get(release)
    if not isinstance(microdata, Microdata):
        if isinstance(microdata, Synthetic):
            raise PlanError(
                f"{release} is synthetic data, which is drawn and not generalized.",
                hint=f"Write tacit synthesize {release} -o FILE.",
            )
        known = [one.name for one in plan.releases.values() if isinstance(one, Microdata)]
        hint = did_you_mean(release, known) or "Add one under releases: {table: NAME}."
        raise PlanError(f"the plan has no microdata release {release!r}.", hint=hint)
    if microdata.file is not None:
        raise PlanError(
            f"release {release!r} is a file that is there already.",
            mark=plan.mark("releases", release, "file"),
            hint=f"Add a release {{table: {microdata.table}}} to generalize the table itself.",
        )
    checks = [check for check in plan.checks if release in check.releases]
    raise_all(not_built(plan, checks))
    if not checks:
        raise PlanError(
            f"the plan has no check of release {release!r}, so there is nothing to reach.",
            mark=plan.mark("releases", release),
            hint=f"Add one, for example - k-anonymity: {{release: {release}, k: 5}}",
        )
    left = not_asked(plan, release)
    checks = [check for check in checks if check.kind in MICRODATA]
    if not checks:
        raise PlanError(
            f"the search for levels cannot ask {listed(left)}, and the plan has no other check of release {release!r}.",
            mark=plan.mark("releases", release),
            hint=f"Add one that it can, for example - k-anonymity: {{release: {release}, k: 5}}, and ask the others afterwards with tacit check.",
        )
    required = tuple(
        Required(microdata_definition(check.kind, check.parameters, source), check.sensitive)
        for check in checks
    )
    repair = replace(microdata.repair, **options)
    raw = source.raw(release)
    return Task(
        release,
        raw,
        required,
        repair,
        tuple(check.name for check in checks),
        aware,
        relaxed,
        seconds,
        not_asked=left,
    )


def not_asked(plan: Plan, release: str) -> tuple[str, ...]:
    """What a search for levels cannot ask of a release, in words: checks that judge it as views, and all of them beside what is out.

    The search counts groups; these questions need the whole table and every other release, again for each choice of levels.
    """
    checks = [check for check in plan.checks if release in check.releases]
    as_views = [called(check) for check in checks if check.kind not in MICRODATA]
    return (
        *as_views,
        *(
            f"{called(check)} beside what is out already"
            for check in checks
            if check.kind in MICRODATA and has_beside(check, plan)
        ),
    )


def has_beside(check: Check, plan: Plan) -> bool:
    """Is a check judged together with what is out, by the ledger or by its `given`?"""
    out = out_already(check, plan)
    return concerns(check, plan) and bool(out) and (set(out) != {LEDGER} or is_begun(plan))


def called(check: Check) -> str:
    """A check in words.

    >>> from tacit.plan.plan import Check
    >>> called(Check("gamma-privacy", name="both", releases=("copy", "insurer")))
    'both (gamma-privacy of copy and insurer)'
    """
    told = f"{check.kind} of {listed(check.releases)}"
    return f"{check.name} ({told})" if check.name else told


def microdata_definition(
    kind: str, parameters: Mapping[str, Any], source: Source
) -> MicrodataDefinition:
    """The definition of a check of microdata, with the files that it names."""
    assert kind in MICRODATA
    definition = define(kind, parameters).with_files(source.lines)
    assert isinstance(definition, MicrodataDefinition)
    return definition
