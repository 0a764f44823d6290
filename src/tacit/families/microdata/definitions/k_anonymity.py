"""k-anonymity: can anyone be narrowed down to fewer than k people? (Samarati 2001, Sweeney 2002)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.microdata_definition import (
    MicrodataDefinition,
    exposed,
    group_facts,
)
from tacit.families.microdata.definitions.together.person_view import (
    Needs,
    PersonView,
    Score,
    least,
)
from tacit.families.microdata.groups import Groups, Mask
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.streamed import GroupTelling
from tacit.families.parameters import whole
from tacit.families.words import known_facts, mention, name_of, people, plural
from tacit.model.verdict import Certificate, Verdict, Witness


@dataclass(frozen=True, slots=True)
class KAnonymity(MicrodataDefinition):
    """Every combination of quasi-identifiers that occurs is shared by at least `k` people.

    Machanavajjhala 2008, Definition 3.2. One pass over the groups.

    >>> KAnonymity(k=1)
    Traceback (most recent call last):
    tacit.errors.ParameterError: k=1 protects nobody: a group of one person passes. Use k >= 2.
    """

    k: int
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "k-anonymity"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="which row is whose",
        against="who knows everybody's quasi-identifiers",
        measured="how many people somebody can be narrowed down to",
        risks=("singling out",),
        disclosures=("identity",),
    )

    def __post_init__(self) -> None:
        MicrodataDefinition.__post_init__(self)
        because = "protects nobody: a group of one person passes"
        object.__setattr__(self, "k", whole("k", self.k, least=2, because=because))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"{self.k}-anonymity"

    @property
    def whole_groups_suffice(self) -> bool:
        """Fewer people never help; groups that overlap are not judged alone."""
        return self.missing != "match-any"

    @property
    def least_group(self) -> int:
        """k people."""
        return self.k

    @property
    def asks_together(self) -> frozenset[Needs]:
        """Which rows can be a person's."""
        return frozenset({"rows"})

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """How many rows of a release can be the person's."""
        text = f"{plural('row', seen.rows)} left"
        yield least("k", seen.rows, self.k, text, str(self.k))

    def failing(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask:
        """The groups that are too small."""
        return question.groups(missing=self.missing).sizes < self.k

    def telling(self, question: MicrodataQuestion, groups: Groups) -> GroupTelling:
        """How many people they have."""
        return GroupTelling((), (groups.sizes,))

    def check(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Verdict:
        """Look for the smallest group."""
        groups = question.groups(missing=self.missing)
        smallest = int(np.argmin(groups.sizes))
        k = int(groups.sizes[smallest])
        said = self.said(
            question,
            protects="which row belongs to whom",
            measure="how many people somebody can be narrowed down to",
            measured={"k": k},
            required={"k": self.k},
        )
        if k >= self.k:
            facts = {"groups": groups.number, "smallest": k, "people": question.people}
            return Verdict(
                status="holds",
                because=f"the smallest group has {people(k)}",
                evidence=Certificate("groups", facts),
                vacuous=not question.quasi,
                **said,
            )
        return Verdict(
            status="breached",
            because=f"a group of {people(k)}, {self.k} required",
            **self._breach(question, groups, smallest),
            **said,
        )

    def _breach(self, question: MicrodataQuestion, groups: Groups, smallest: int) -> dict[str, Any]:
        facts = group_facts(question, groups, smallest, groups.sizes < self.k)
        person = question.person(groups, smallest)
        name, k = mention(person), facts["size"]
        several = question.people < question.rows
        alone = f"knows which {'rows are' if several else 'row is'} {name}'s"
        found = alone if k == 1 else f"can narrow {name} down to {people(k)}"
        return {
            "evidence": Witness(
                "group",
                facts,
                {
                    "values": groups.label(smallest),
                    "counts": groups.cells(smallest) if groups.sensitive else {},
                    "person": dict(person.identity),
                    "known": dict(person.known),
                },
            ),
            "story": (
                f"Anyone who knows that {name_of(person)} {known_facts(person.known)} "
                f"{found}. {exposed(facts, self.label)}"
            ),
        }
