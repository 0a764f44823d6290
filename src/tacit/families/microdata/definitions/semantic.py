"""Semantic definitions: what is protected, against whom, measured how? (Machanavajjhala 2008,
3.7)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.beliefs.background_adversary import (
    BackgroundAdversary,
    with_prior,
)
from tacit.families.microdata.definitions.beliefs.belief_evidence import BeliefCase, find
from tacit.families.microdata.definitions.beliefs.beliefs import BeliefTarget, number_of_choices
from tacit.families.microdata.definitions.beliefs.crowd import crowd
from tacit.families.microdata.definitions.beliefs.disclosure import Secrets, WorstBelief, worst
from tacit.families.microdata.definitions.beliefs.disclosure_measures import Positive
from tacit.families.microdata.definitions.beliefs.predicates import Protect
from tacit.families.microdata.definitions.beliefs.prior import FilePrior, Rows, own_distribution
from tacit.families.microdata.definitions.beliefs.semantic_keys import (
    read_adversaries,
    read_measures,
    read_protect,
)
from tacit.families.microdata.definitions.c_k_safety import CKSafety
from tacit.families.microdata.definitions.microdata_definition import (
    MicrodataDefinition,
    exposed,
    group_facts,
    one_column,
)
from tacit.families.microdata.definitions.together.person_view import Needs, PersonView, Score
from tacit.families.microdata.groups import Groups, Mask
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.words import listed
from tacit.model.verdict import Certificate, Reason, Verdict, Witness

EVERY_VALUE = Protect()
NOTHING_ELSE = BackgroundAdversary()
MOST_BELIEFS = 5_000_000  # some minutes of exact arithmetic
WORST_FIRST = ("breached", "undecided", "holds")


@dataclass(frozen=True, slots=True)
class Semantic(MicrodataDefinition):
    """No adversary of a kind learns too much about any secret: three values make the definition.

    `protect` says which statements about a person's value are secret, `against` what the other side
    may know, `measure` how much they may learn; all as a plan writes them. Decided by counting the
    possible worlds of every group, in exact numbers. Machanavajjhala 2008, section 3.7 and Definition 3.12.

    >>> Semantic(measure={"positive": "3/4"}, against={"negations": 1}).label
    'belief below 75 %'
    >>> Semantic(measure={"positive": 2})
    Traceback (most recent call last):
    tacit.errors.ParameterError: positive=2 is no limit: no belief is below 0 or above 1. Use 0 < positive <= 1.
    """  # noqa: E501

    measure: Any
    against: Any = ()
    protect: Any = EVERY_VALUE
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "semantic"
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="statements about each person's value: values, sets, ranges, neighbourhoods",
        against="negations, known people, implications, priors",
        measured="how sure somebody can become, or how far a belief moves",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        MicrodataDefinition.__post_init__(self)
        object.__setattr__(self, "protect", read_protect(self.protect))
        object.__setattr__(self, "against", read_adversaries(self.against))
        object.__setattr__(self, "measure", read_measures(self.measure))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return listed([measure.label for measure in self.measure])

    def with_files(self, read: Callable[[str], Rows]) -> Semantic:
        """The same definition with the priors that it names read."""
        return replace(self, against=tuple(with_prior(one, read) for one in self.against))

    def is_monotone_for(self, question: MicrodataQuestion) -> bool:
        """Yes, unless a prior tells people apart (Theorem 3.2):
        the belief in a merged group lies between.
        """
        apart = any(
            one.prior.tells_apart if isinstance(one.prior, FilePrior) else one.prior is not None
            for one in self.against
        )
        return not apart and question.base.persons is None and self.missing != "match-any"

    @property
    def looks_up(self) -> bool:
        """Yes, where somebody has a prior."""
        return any(one.prior is not None for one in self.against)

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely each value is; what priors and further knowledge add is defined for one
        release.
        """
        return frozenset({"beliefs"} if self.against == (NOTHING_ELSE,) else ())

    @property
    def alone_because(self) -> str:
        """Why it judges one release alone."""
        return "what a prior or further knowledge adds is counted for one release"

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """The worst belief by each measure."""
        if not seen.weights:
            return
        prior = own_distribution(seen.about.question, seen.about.column)
        predicates = self.protect.predicates(seen.about.column, prior.domain)
        target = BeliefTarget(seen.weights, prior.joint[()])
        for measure in self.measure:
            found = Secrets(predicates, NOTHING_ELSE, measure).worst_about(target)
            if found is not None:
                [(name, value)] = measure.measured(found[0]).items()
                too_much = measure.is_too_much(found[0])
                yield Score(name, value, too_much, found[0], measure.because(found[0]), "")

    @property
    def copies(self) -> int:
        """As many as the people that implications are about."""
        return 1 + int(max(one.implications for one in self.against))

    def failing(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask | None:
        """The groups in which somebody can learn too much; implications reach across groups."""
        if any(adversary.implications for adversary in self.against):
            return None
        groups = question.groups(one_column(question, sensitive, self.check_name), self.missing)
        cases = [self._case(question, groups, adversary) for adversary in self.against]
        if any(self._undecidable(case) for case in cases):
            return None
        found = np.zeros(len(groups), dtype=bool)
        for measure in self.measure:
            for case in cases:
                if one := worst(case.crowd, case.predicates, case.adversary, measure):
                    found |= one.below
        return found

    def check(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Verdict:
        """Look for the worst belief by every measure and of every kind of adversary."""
        column = one_column(question, sensitive, self.check_name)
        verdicts = [
            self._with_implications(question, column, adversary)
            for adversary in self.against
            if adversary.implications
        ]
        others = tuple(adversary for adversary in self.against if not adversary.implications)
        if others:
            verdicts.append(replace(self, against=others)._counted(question, column))
        verdict = min(verdicts, key=lambda one: WORST_FIRST.index(one.status))
        return replace(verdict, required=self._required()) if len(self.against) > 1 else verdict

    def _with_implications(
        self, question: MicrodataQuestion, column: str, adversary: BackgroundAdversary
    ) -> Verdict:
        """Implications are the business of (c,k)-safety, as far as that goes."""
        limit = self.measure[0]
        one = replace(self, against=(adversary,))
        if (
            adversary != BackgroundAdversary(implications=adversary.implications)
            or self.protect != EVERY_VALUE
            or len(self.measure) > 1
            or not isinstance(limit, Positive)
        ):
            groups = question.groups(column, self.missing)
            reason = Reason(
                "implications",
                "Implications are counted where every value is secret, the measure is positive, "
                "and nothing else is known.",
            )
            said = one._constant_parts(question, groups, ())
            return Verdict(
                status="undecided", because="this cannot be counted", evidence=reason, **said
            )
        definition = CKSafety(c=limit.c, k=adversary.implications, missing=self.missing)
        verdict = definition.check(question, sensitive=column)
        measured = {"positive": verdict.measured["belief"]} if verdict.measured else {}
        return replace(
            verdict,
            check=self.check_name,
            label=self.label,
            measured=measured,
            required=one._required(),
        )

    def _counted(self, question: MicrodataQuestion, column: str) -> Verdict:
        """The verdict about adversaries who know no implications."""
        groups = question.groups(column, self.missing)
        cases = [self._case(question, groups, adversary) for adversary in self.against]
        said = self._constant_parts(question, groups, cases)
        reason = next((why for case in cases if (why := self._undecidable(case))), None)
        if reason is not None:
            because = "this cannot be counted"
            return Verdict(status="undecided", because=because, evidence=reason, **said)
        found = [
            (case, one)
            for measure in self.measure
            for case in cases
            if (one := worst(case.crowd, case.predicates, case.adversary, measure))
        ]
        said["measured"] = self._measured([one for _, one in found])
        for case, one in found:
            if one.is_breach:
                return self._breached(case, one, said)
        return self._holds(question, groups, found, said)

    def _case(
        self, question: MicrodataQuestion, groups: Groups, adversary: BackgroundAdversary
    ) -> BeliefCase:
        column = str(groups.sensitive)
        prior = adversary.fitted(question, column)
        predicates = self.protect.predicates(column, prior.domain)
        return BeliefCase(question, groups, adversary, prior, predicates, crowd(groups, prior))

    def _undecidable(self, case: BeliefCase) -> Reason | None:
        """Why a question cannot be decided by counting the worlds of each group, if so."""
        if case.groups.several and not self._is_majorized(case):
            return Reason(
                "several-values",
                f"Some people have several values of {case.column} in a group, and beliefs are "
                "about one value each. Keep one row for each person, or leave person: out to "
                "judge rows.",
            )
        base, columns = case.question.base, case.prior.columns
        if self.missing == "match-any" and any(base.missing(name) for name in columns):
            return Reason(
                "missing-in-prior",
                "A missing value that matches any other has no probability before the release. "
                "Use missing: own-group, and give missing values a line in the prior.",
            )
        if (number := self._beliefs(case)) > MOST_BELIEFS:
            return Reason(
                "too-many-beliefs",
                f"{number:,} beliefs would have to be compared one by one. Allow fewer negations, "
                "or protect fewer values.",
            )
        return None

    def _is_majorized(self, case: BeliefCase) -> bool:
        """With the most concentrated counts every single value is at
        least as likely as with any others.
        """
        return (
            all(isinstance(measure, Positive) for measure in self.measure)
            and self.protect == EVERY_VALUE
            and not case.prior.columns
        )

    def _beliefs(self, case: BeliefCase) -> int:
        """How many beliefs have to be compared one by one."""
        choices = number_of_choices(len(case.prior.domain), case.adversary.negations)
        asked = len(case.crowd) * len(case.predicates)
        slow = (
            measure
            for measure in self.measure
            if not Secrets(case.predicates, case.adversary, measure).are_simple(case.crowd)
        )
        return sum(asked * (choices if measure.compares else 1) for measure in slow)

    def _constant_parts(
        self, question: MicrodataQuestion, groups: Groups, cases: list[BeliefCase] | tuple[()]
    ) -> dict[str, Any]:
        column = str(groups.sensitive)
        compares = any(measure.compares for measure in self.measure)
        assumptions = [
            one
            for adversary in self.against
            for one in adversary.assumptions(question, compares=compares)
        ]
        said = self.said(
            question,
            protects=self.protect.said(column),
            measure="how far a belief may move" if compares else "how certain someone can become",
            measured={},
            required={},
            assumptions=tuple(dict.fromkeys(assumptions)),
            several=groups.several,
        )
        domain = dict.fromkeys(value for case in cases for value in case.prior.domain)
        return said | {
            "against": ", or ".join(one.said(question, column) for one in self.against),
            "required": self._required(),
            "warnings": (*said["warnings"], *(self.protect.absent([*domain]) if cases else ())),
        }

    def _required(self) -> dict[str, Any]:
        """The three values, as a plan writes them."""
        against = [adversary.required() for adversary in self.against]
        required: dict[str, Any] = {}
        for measure in self.measure:
            required |= measure.required()
        required |= {"protect": self.protect.required()}
        required |= {"against": against[0] if len(against) == 1 else against}
        return required | ({"missing": self.missing} if self.missing != "own-group" else {})

    def _measured(self, found: list[WorstBelief]) -> dict[str, Any]:
        """The worst score by every measure."""
        scores: dict[str, Any] = {}
        for measure in self.measure:
            own = [one.score for one in found if one.measure == measure]
            scores |= measure.measured(max(own, default=Fraction(0)))
        return scores

    def _holds(
        self,
        question: MicrodataQuestion,
        groups: Groups,
        found: list[tuple[BeliefCase, WorstBelief]],
        said: dict[str, Any],
    ) -> Verdict:
        column = str(groups.sensitive)
        facts = {"groups": groups.number, "people": question.people, "sensitive": [column]}
        if not found:
            because = "nobody in the table has what is protected"
            evidence = Certificate("groups", facts)
            return Verdict(status="holds", because=because, evidence=evidence, vacuous=True, **said)
        worst_of = {one.measure: one for _, one in sorted(found, key=lambda pair: pair[1].score)}
        told = find(*next(pair for pair in found if pair[1] is worst_of[pair[1].measure]))
        return Verdict(
            status="holds",
            because=listed([m.because(worst_of[m].score) for m in self.measure if m in worst_of]),
            evidence=Certificate("groups", facts, told.personal()),
            story=told.remainder(),
            **said,
        )

    def _breached(self, case: BeliefCase, found: WorstBelief, said: dict[str, Any]) -> Verdict:
        group = int(case.crowd.group[found.kind])
        facts = group_facts(case.question, case.groups, group, found.below)
        facts["sensitive"] = case.column
        told = find(case, found)
        return Verdict(
            status="breached",
            because=found.measure.because(found.score),
            evidence=Witness("person", facts, told.personal()),
            story=f"{told.attack()} {exposed(facts, 'this check')}",
            **said,
        )
