"""Task: a table as it is, what must hold of its release, and how that is to be reached."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.checking.publications import out_already
from tacit.errors import DataError, PlanError, did_you_mean
from tacit.families.catalog import define, kinds_of
from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.definitions.reading_verdicts import undecidable
from tacit.families.microdata.lattice import Lattice, Node
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.requirements import Required
from tacit.families.microdata.runs.recipients_holdings import Published
from tacit.families.microdata.utility.levels import read_limits
from tacit.families.words import listed
from tacit.model.release import Microdata, Repair, Synthetic
from tacit.model.verdict import Verdict
from tacit.plan.plan import Check, Plan


@dataclass(frozen=True, slots=True)
class RepairTask:
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
    beside: Published | None = None  # what is published and judged together with it
    planned: Mapping[str, int] = field(default_factory=dict)  # levels of the release by the plan

    def __post_init__(self) -> None:
        for one in self.required:
            if (reason := undecidable(one.definition, self.raw)) is not None:
                raise DataError(
                    f"no release can be shown to meet {one.label}: the values can be read in too "
                    "many ways.",
                    hint=reason.text,
                )

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

    def verdicts_at(self, judge: NodeJudge, node: Node) -> tuple[Verdict, ...]:
        """The verdicts about the release at a node with all rows, also with what is published."""
        question = judge.recoded_whole(node).question()
        alone = self.verdicts(question)
        if self.beside is None:
            return alone
        return self.beside.verdicts(alone, question, judge.lattice.named(node))

    def judge(self) -> NodeJudge:
        """Asks the checks at levels."""
        return NodeJudge(
            self.raw, self.required, self.lattice(), suppress=self.suppress, beside=self.beside
        )

    def lattice(self) -> Lattice:
        """The levels that may be chosen."""
        limits = read_limits(self.raw, self.repair.at_most)
        return Lattice(self.raw.quasi, tuple(limits[name] for name in self.raw.quasi))


def task_of(
    plan: Plan,
    release: str,
    source: MicrodataSource,
    options: Mapping[str, Any],
    *,
    aware: bool,
    relaxed: bool,
    seconds: float | None,
) -> RepairTask:
    """What the plan and the options ask for."""
    microdata = plan.releases.get(release)
    if not isinstance(microdata, Microdata):
        if isinstance(microdata, Synthetic):
            raise PlanError(
                f"{release} is synthetic data, which is drawn and not generalized.",
                hint=f"Write tacit synthesize {release} -o FILE.",
            )
        known = list(plan.of(Microdata))
        hint = did_you_mean(release, known) or "Add one under releases: {table: NAME}."
        raise PlanError(f"the plan has no microdata release {release!r}.", hint=hint)
    if microdata.file is not None:
        raise PlanError(
            f"release {release!r} is a file that is there already.",
            mark=plan.mark("releases", release, "file"),
            hint=f"Add a release {{table: {microdata.table}}} to generalize the table itself.",
        )
    checks = [check for check in plan.checks if release in check.releases]
    if not checks:
        raise PlanError(
            f"the plan has no check of release {release!r}, so there is nothing to reach.",
            mark=plan.mark("releases", release),
            hint=f"Add one, for example - k-anonymity: {{release: {release}, k: 5}}",
        )
    left = not_asked(plan, release)
    checks = [check for check in checks if check.kind in kinds_of("microdata")]
    if not checks:
        raise PlanError(
            f"the search for levels cannot ask {listed(left)}, and the plan has no other check of "
            f"release {release!r}.",
            mark=plan.mark("releases", release),
            hint=(
                f"Add one that it can, for example - k-anonymity: {{release: {release}, k: "
                f"5}}, and ask the others afterwards with tacit check."
            ),
        )
    required = tuple(
        Required(microdata_definition(check.kind, check.parameters, source), check.sensitive)
        for check in checks
    )
    repair = replace(microdata.repair, **options)
    raw = source.raw(release)
    return RepairTask(
        release,
        raw,
        required,
        repair,
        tuple(check.name for check in checks),
        aware,
        relaxed,
        seconds,
        not_asked=left,
        planned=dict(microdata.generalization),
    )


def not_asked(plan: Plan, release: str) -> tuple[str, ...]:
    """The checks of a release that a search for levels cannot ask, in words:
    those that judge it as views.

    The search counts groups; these questions need the whole table and every other release, again
    for each choice of levels.
    """
    return tuple(
        check_words(check)
        for check in plan.checks
        if release in check.releases and check.kind not in kinds_of("microdata")
    )


def not_asked_beside(plan: Plan, release: str) -> tuple[str, ...]:
    """The checks of a release that a search asks about it alone, where something is published that
    may be about the same people.
    """
    checks = [
        check
        for check in plan.checks
        if release in check.releases and check.kind in kinds_of("microdata")
    ]
    return tuple(
        f"{check_words(check)} beside what is published"
        for check in checks
        if set(out_already(check, plan)) - {release}
    )


def check_words(check: Check) -> str:
    """A check in words.

    >>> from tacit.plan.plan import Check
    >>> check_words(Check("gamma-privacy", name="both", releases=("copy", "insurer")))
    'both (gamma-privacy of copy and insurer)'
    """
    told = f"{check.kind} of {listed(check.releases)}"
    return f"{check.name} ({told})" if check.name else told


def microdata_definition(
    kind: str, parameters: Mapping[str, Any], source: MicrodataSource
) -> MicrodataDefinition:
    """The definition of a check of microdata, with the files that it names."""
    assert kind in kinds_of("microdata")
    definition = define(kind, parameters).with_files(source.lines)
    assert isinstance(definition, MicrodataDefinition)
    return definition
