"""The worst belief of a case, told: who it is about, what one has
to know, and the evidence for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.families.microdata.definitions.beliefs.background_adversary import BackgroundAdversary
from tacit.families.microdata.definitions.beliefs.crowd import KnownKinds
from tacit.families.microdata.definitions.beliefs.disclosure import WorstBelief
from tacit.families.microdata.definitions.beliefs.predicates import Predicate
from tacit.families.microdata.definitions.beliefs.prior import FilePrior, FittedPrior
from tacit.families.microdata.definitions.beliefs.worst_knowledge import denying
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import MicrodataQuestion, Person
from tacit.families.words import change, known_facts, listed, mention, name_of, saying
from tacit.model.numbers import percents


@dataclass(frozen=True, slots=True)
class BeliefCase:
    """One kind of adversary facing one release:
    what they believed before, and all there is to ask.
    """

    question: MicrodataQuestion
    groups: Groups
    adversary: BackgroundAdversary
    prior: FittedPrior
    predicates: list[Predicate]
    crowd: KnownKinds

    @property
    def column(self) -> str:
        """The sensitive column."""
        return str(self.groups.sensitive)


@dataclass(frozen=True, slots=True)
class BeliefFinding:
    """The worst belief in a case, and somebody it is about."""

    case: BeliefCase
    worst: WorstBelief
    person: Person

    def personal(self) -> dict[str, Any]:
        """As evidence for the owner: who, what is believed, and by whom."""
        case, belief = self.case, self.worst.belief
        group, named = int(case.crowd.group[self.worst.kind]), case.prior.domain
        believed = [named[s] for s in sorted(self.worst.predicate.codes)]
        units = case.crowd.target(self.worst.kind).units or {}
        told = {
            "values": case.groups.label(group),
            "counts": case.groups.cells(group),
            "person": dict(self.person.identity),
            "known": dict(self.person.known),
            "value": believed[0] if len(believed) == 1 else believed,
            "claim": self.worst.predicate.said,
            "before": belief.before,
            "after": belief.after,
        }
        known = {
            "negated": [named[s] for s in belief.knowledge.negated],
            "known_people": {named[s]: number for s, number in belief.knowledge.known.items()},
            "likelier": {named[s]: units[s] for s in sorted(units)},
        }
        return told | {name: value for name, value in known.items() if value}

    def attack(self) -> str:
        """The story of a breach."""
        belief, prior = self.worst.belief, self.case.adversary.prior
        believed = f"believed {prior.file} and " if isinstance(prior, FilePrior) else ""
        known = [f"that {name_of(self.person)} {known_facts(self.person.known)}", *self.facts()]
        first, second = percents(belief.before, belief.after)
        sure = f"believes with {'only ' * (belief.after < belief.before)}{second}"
        if belief.after in (0, 1):
            sure = "knows" if belief.after else "can rule out"
        return (
            f"Anyone who {believed}knows {listed(known)} now {sure} that {mention(self.person)} "
            f"{self.worst.predicate.said}. Belief {first} -> {second}."
        )

    def remainder(self) -> str:
        """What is still learned where nothing is breached."""
        belief, facts = self.worst.belief, self.facts()
        whom = f" for anyone who knows {listed(facts)}" if facts else ""
        return (
            f"Still learned: {name_of(self.person)} {self.worst.predicate.said}, "
            f"{change(belief.before, belief.after)}{whom}; nothing worse."
        )

    def facts(self) -> list[str]:
        """What one has to know beside quasi-identifiers and prior."""
        column, named = self.case.column, self.case.prior.domain
        knowledge = self.worst.belief.knowledge
        denied = [
            f"that {mention(self.person)} {denying(column, named[s])}" for s in knowledge.negated
        ]
        return denied + [
            f"{number} other{'s' * (number > 1)} of the group who {saying(column, named[s])}"
            for s, number in knowledge.known.items()
        ]


def find(case: BeliefCase, worst: WorstBelief) -> BeliefFinding:
    """Look for somebody about whom the worst belief is; if possible about whom it is right."""
    base, wanted = case.groups.base, worst.predicate.codes
    if worst.belief.after < worst.belief.before:
        wanted = frozenset(range(len(case.prior.domain))) - wanted
    if case.question.cells is not None:
        known, value = first_streamed(case, worst, wanted)
    else:
        row = case.crowd.row(worst.kind, wanted)
        known = {name: base.value(name, row) for name in case.question.quasi}
        value = base.value(case.column, row)
    return BeliefFinding(case, worst, case.question.somebody(known, case.column, value))


def first_streamed(
    case: BeliefCase, worst: WorstBelief, wanted: frozenset[int]
) -> tuple[dict[str, Any], Any]:
    """The same from the table itself: the first of the group, if possible with a wanted value."""
    groups, number = case.groups, int(case.crowd.group[worst.kind])
    cells = groups.values[groups.starts[number] : groups.starts[number + 1]].tolist()
    some = wanted if wanted & {*cells} else None
    assert case.question.cells is not None
    return case.question.cells.first(case.question, groups, number, some)[0]
