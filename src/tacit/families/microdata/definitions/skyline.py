"""Privacy skyline: how sure can somebody become who knows this much of
three kinds? (Chen and others 2007)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.beliefs.family_knowledge import (
    FamilyAmount,
    WorstFamily,
    worst_family,
)
from tacit.families.microdata.definitions.beliefs.worst_knowledge import (
    BackgroundDefinition,
    GreatestBelief,
    GroupKnowledge,
)
from tacit.families.microdata.definitions.together.person_view import Needs
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import Missing
from tacit.families.parameters import whole
from tacit.families.words import listed, people, plural, spoken
from tacit.model.numbers import plain


@dataclass(frozen=True, slots=True)
class Skyline(BackgroundDefinition):
    """Nobody who knows (`l`, `k`, `m`) believes any value of anyone with `c` or more.

    They know up to l values that the person does not have, the values of up to k others, and up to
    m further people of whom they know: if one has the value, so has the person. All these people
    are different, and may be in the person's group or in others.

    Chen, LeFevre and Ramakrishnan, VLDB 2007: one point of their skyline.
    A few passes over the values of the groups.

    >>> Skyline(l=1, k=2, m=1, c="0.75").label
    'skyline (1,2,1) at 0.75'
    >>> Skyline(l=1, k=-2, m=1, c="0.75")
    Traceback (most recent call last):
    tacit.errors.ParameterError: k=-2 is out of range. Use k >= 0.
    """

    l: int  # noqa: E741  (the literature's own names)
    k: int
    m: int
    c: Any
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "skyline"
    monotone: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value",
        against="who also rules out l values, knows k people, and a family of m",
        measured="how sure somebody can become",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        BackgroundDefinition.__post_init__(self)
        for name in ("l", "k", "m"):
            object.__setattr__(self, name, whole(name, getattr(self, name), least=0))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"skyline ({self.l},{self.k},{self.m}) at {plain(self.c)}"

    @property
    def only_greatest(self) -> bool:
        """It limits every belief alike."""
        return True

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely each value is; what further knowledge adds is defined for one release."""
        return frozenset() if self.l or self.k or self.m else frozenset({"beliefs"})

    @property
    def alone_because(self) -> str:
        """Why it judges one release alone."""
        return "what further knowledge adds is counted for one release; ask it with 0, 0, 0"

    @property
    def copies(self) -> int:
        """As many as the people that the knowledge is about."""
        return self.l + self.k + self.m + 1

    def knows(self, column: str) -> str:
        """What the other side may know beside the release, in words."""
        parts = []
        if self.l:
            parts.append(f"can rule out {plural(column, self.l)} for a person")
        if self.k:
            others = "1 other" if self.k == 1 else f"{self.k} others"
            parts.append(f"knows the {spoken(column)} of {others}")
        if self.m:
            parts.append(
                f"knows {people(self.m)} with whom a person would share the {spoken(column)}"
            )
        return listed(parts)

    def worst(self, groups: Groups) -> GreatestBelief:
        """The greatest belief that such knowledge can give."""
        found = worst_family(groups, FamilyAmount(self.l, self.k, self.m), self.c)
        return GreatestBelief(found.belief, knowledge_of(groups, found), found.below)


def knowledge_of(groups: Groups, found: WorstFamily) -> GroupKnowledge:
    """The knowledge itself: who is ruled out, known, and in the family."""
    value, amount = groups.dictionary[found.value], found.amount
    others = (one for one in groups.cells(found.group) if one != value)
    negated = tuple(islice(others, amount.l))
    spared = {value, *negated} if found.known == found.group else {value}
    known = tuple(islice(everybody_but(groups, found.known, spared), amount.k))
    return GroupKnowledge(
        found.group,
        value,
        negated=negated,
        known=tuple((found.known, one) for one in known),
        implied=((found.family, (value,)),) * amount.m,
    )


def everybody_but(groups: Groups, group: int, spared: Collection[Any]) -> Iterator[Any]:
    """The values of the people of a group who have none of some values, one after the other."""
    for value, number_of_people in groups.cells(group).items():
        if value not in spared:
            yield from [value] * number_of_people
