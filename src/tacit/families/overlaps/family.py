"""Overlapping views as a family: several views of one table."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.families.definition import Definition
from tacit.families.family import Answered, Depth, Family, about
from tacit.families.microdata.reading.several_releases import SAME_ROWS
from tacit.families.overlaps.memberships import Seats
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.reading.questions import overlap_questions_of
from tacit.families.overlaps.stages import Stages
from tacit.families.scope import CheckScope, tied_in
from tacit.families.words import people
from tacit.model.holdings import Hand, HeldRelease
from tacit.model.jobs import Job
from tacit.model.verdict import Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check

GAMMA = "gamma-privacy"


@dataclass(frozen=True, slots=True)
class OverlapPicture:
    """Everybody's beliefs release by release, and who is in which of the releases."""

    stages: Stages | None = None
    seats: Seats | None = None


class OverlapFamily(Family[OverlapQuestion]):
    """Several views of one table, of which some may be microdata."""

    name = "overlaps"
    judges = frozenset({"view", "microdata"})
    same_people = True
    is_advised = True

    def question(self, check: Check, hand: Hand, opened: OpenPlan) -> OverlapQuestion:
        """All views together; what is published comes first."""
        return overlap_questions_of(opened).question(about(check, *hand.together))

    def looked_at(self, question: OverlapQuestion) -> Mapping[str, tuple[int, str]]:
        """How many people of the table were judged."""
        table, many = question.table, question.overlap.people
        return {table: (many, f"{table}: {people(many)} judged")}

    def pictured(
        self, answered: Sequence[Answered[OverlapQuestion]], job: Job, depth: Depth
    ) -> list[Answered[OverlapQuestion]]:
        """A page shows everybody's beliefs release by release, where gamma-privacy was asked, and
        who is in which release; the terminal the beliefs behind a breach, if that is quick.
        """
        return [
            one if one.question is None else replace(one, picture=picture(one, job, depth))
            for one in answered
        ]

    def scope(
        self,
        check: Check,
        opened: OpenPlan,
        held: Sequence[HeldRelease],
        shared: Sequence[Collection[str]],
    ) -> CheckScope:
        """The one table, and those that are tied to it."""
        own = {overlap_questions_of(opened).table_of(check.releases[0])}
        return CheckScope.of(own, [*tied_in(opened), *shared], held)

    def judges_corrected(self, check: Check) -> bool:
        """gamma-privacy and k-sind."""
        from tacit.families.overlaps.reading.corrections import JUDGED

        return check.kind in JUDGED

    def with_corrected(
        self, check: Check, definition: Definition, opened: OpenPlan, hand: Hand, verdict: Verdict
    ) -> Verdict:
        """It holds still for who is alike in all views, or is undecided."""
        from tacit.families.overlaps.reading.corrections import with_corrected

        return with_corrected(check, definition, opened, hand, verdict)

    def closeness(self, verdict: Verdict) -> Fraction:
        """The greatest belief, the smallest crowd."""
        gamma, k = verdict.measured.get("gamma"), verdict.measured.get("k")
        if isinstance(gamma, int | Fraction):
            return -Fraction(gamma)
        return Fraction(k) if isinstance(k, int) else Fraction(0)

    def cannot_judge(
        self, check: Check, hand: Hand, names: Sequence[str], opened: OpenPlan
    ) -> None:
        """All of them are views of one table."""
        overlap_questions_of(opened).read(names, GAMMA)

    def advice(self, check: Check, names: Sequence[str], new: Sequence[str]) -> str:
        """gamma-privacy or k-sind of all of them.

        >>> from tacit.plan.plan import Check
        >>> FAMILY.advice(Check("k-anonymity"), ["may", "april"], ["april"])
        'Ask gamma-privacy or k-sind of both, releases: [may, april].'
        """
        return (
            f"Ask gamma-privacy or k-sind of {'both' if len(names) == 2 else 'all'}, "
            f"releases: [{', '.join(names)}]."
        )

    def next_steps(
        self, answered: Sequence[Answered[OverlapQuestion]], plan: str, kinds: Sequence[str]
    ) -> list[str]:
        """Further views, where they may help."""
        verdicts = [one.verdict for one in answered if is_restorable(one.verdict)]
        if not verdicts:
            return []
        first = verdicts[0]
        releases = first.subject.get("releases") or [first.subject["release"]]
        name = first.name or ("" if kinds.count(first.check) == 1 else ",".join(releases))
        return [f"tacit restore {shlex.quote(name) + ' ' if name else ''}--plan {plan}"]


def is_restorable(verdict: Verdict) -> bool:
    """May `tacit restore` bring gamma-privacy back? No view makes what is certain uncertain, and
    views are found for people who are told apart.
    """
    return (
        verdict.check == GAMMA
        and SAME_ROWS.id not in [one.id for one in verdict.assumptions]
        and verdict.status == "breached"
        and verdict.measured.get("gamma") != 1
    )


def picture(one: Answered[OverlapQuestion], job: Job, depth: Depth) -> OverlapPicture | None:
    """What is drawn of one answer."""
    from tacit.families.overlaps.memberships import seats
    from tacit.families.overlaps.stages import BRIEFLY, SECONDS, stages

    assert one.question is not None
    is_gamma = one.check.kind == GAMMA
    if depth == "page":
        followed = stages(one.question, job, seconds=SECONDS) if is_gamma else None
        return OverlapPicture(followed, seats(one.question))
    if is_gamma and one.verdict.status == "breached":
        return OverlapPicture(stages(one.question, job, seconds=BRIEFLY))
    return None


FAMILY = OverlapFamily()
