"""Recipients' holdings: what the recipients of a release hold already, while its levels are
searched.

A coarser second release only leaves more worlds, so where checks ask which values or rows are left,
levels that hold make all above hold. Beliefs need not fall: there every level is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tacit.checking.holdings.holdings import holdings_of
from tacit.checking.publications import all_out
from tacit.errors import TacitError
from tacit.families.catalog import kinds_of
from tacit.families.microdata.definitions.together.class_scores import answer_together, refuse
from tacit.families.microdata.definitions.together.decision import failing_rows, holds_together
from tacit.families.microdata.definitions.together.grouped import grouped
from tacit.families.microdata.definitions.together.person_view import COUNTED
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.reading.several_releases import joint_questions_of
from tacit.families.microdata.repair.node_judge import FailsBeside
from tacit.families.microdata.repair.requirements import Required
from tacit.families.microdata.runs.published_checks import verdict_named
from tacit.model.jobs import Job
from tacit.model.release import Microdata
from tacit.model.verdict import Verdict
from tacit.plan.open_plan import OpenPlan

if TYPE_CHECKING:
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.recoded import Recoded
    from tacit.families.microdata.runs.task import RepairTask
    from tacit.plan.plan import Plan

SECONDS = 20.0  # for the worlds of one choice of levels


@dataclass(slots=True, eq=False)
class Published:
    """Checks that are judged together with other releases: each by its place among all, with the
    questions of those who hold some. `open_` counts the levels at which it was not found out
    whether one holds.
    """

    asked: Sequence[tuple[int, Required, Sequence[JointQuestion]]]
    open_: int = field(default=0)

    @property
    def names(self) -> list[str]:
        """What is published, in the order in which it went out."""
        found = [name for _, _, some in self.asked for joint in some for name in joint.names[:-1]]
        return list(dict.fromkeys(found))

    @property
    def is_monotone(self) -> bool:
        """Do levels above some that hold hold too?"""
        return all(one.definition.monotone_together for _, one, _ in self.asked)

    @property
    def counts_worlds(self) -> bool:
        """Is it asked how likely something is? Levels that fail by themselves may hold then."""
        return any(one.definition.asks_together & COUNTED for _, one, _ in self.asked)

    def stops(self, levels: Mapping[str, int]) -> Required | None:
        """The first check that is not shown to hold at some levels for who has the others too."""
        for _, one, some in self.asked:
            for joint in some:
                found = holds_together(one.definition, at_levels(joint, levels), one.sensitive)
                self.open_ += found is None
                if not found:
                    return one
        return None

    def failing(self, recoded: Recoded) -> FailsBeside | None:
        """The first check that is not shown to hold for what was found, and the groups that have
        to change; None where all hold.
        """
        for _, one, some in self.asked:
            for joint in some:
                found = grouped(replace(joint, seconds=SECONDS), recoded)
                people, is_known = failing_rows(one.definition, found.joint, one.sensitive)
                self.open_ += not is_known
                if people.any():
                    return FailsBeside(one, found.cells_with(people), found.near(people))
        return None

    def verdicts(
        self,
        alone: Sequence[Verdict],
        question: MicrodataQuestion,
        levels: Mapping[str, int],
    ) -> tuple[Verdict, ...]:
        """The verdicts about a release at some levels, with what is published; the worst counts."""
        found = list(alone)
        for at, one, some in self.asked:
            for joint in some:
                both = replace(at_levels(joint, levels), asked=question)
                verdict = answer_together(one.definition, both, one.sensitive)
                if found[at].status == "holds" and verdict.status != "holds":
                    named = verdict_named(verdict, joint.names[-1], question.release)
                    found[at] = replace(named, name=alone[at].name)
        return tuple(found)


def at_levels(joint: JointQuestion, levels: Mapping[str, int]) -> JointQuestion:
    """The question with the release that is asked about at other levels."""
    trees = joint.asked.hierarchies
    last = replace(
        joint.copies[-1],
        levels={name: trees[name].level(levels.get(name, 0)) for name in joint.asked.quasi},
    )
    return joint.with_last(last, SECONDS)


@contextmanager
def published(plan: Plan, task: RepairTask, job: Job) -> Iterator[Published | None]:
    """What is published beside a release that is searched; None where nothing is, or where
    something of it cannot be judged together.
    """
    own = plan.releases[task.release]
    assert isinstance(own, Microdata)
    checks = [
        one
        for one in plan.checks
        if task.release in one.releases and one.kind in kinds_of("microdata")
    ]
    if not all_out(plan) and not any(one.given for one in checks):
        yield None
        return
    new = f"{task.release} as found"
    made = replace(own, name=new, generalization={}, file=None)
    with OpenPlan(replace(plan, releases={**plan.releases, new: made}), job) as opened:
        asked = []
        for at, (check, one) in enumerate(zip(checks, task.required, strict=True)):
            if not holdings_of(opened).has_beside(asking := replace(check, releases=(new,))):
                continue
            hands = holdings_of(opened).hands(asking)
            if any(hand.problems or hand.corrected for hand in hands):
                break
            try:
                some = [
                    joint_questions_of(opened).question(names)
                    for names in dict.fromkeys((*hand.names, new) for hand in hands if hand.names)
                ]
                for joint in some:
                    refuse(one.definition, joint, one.sensitive)
            except TacitError:  # the verdicts say why
                break
            if some:
                asked.append((at, one, some))
        else:
            yield Published(asked) if asked else None
            return
        yield None
