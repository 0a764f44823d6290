"""(c,k)-safety: how sure can somebody become who knows any k
implications? (Martin and others 2007)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.beliefs.implications import (
    WorstImplications,
    least,
    worst_implications,
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
from tacit.families.words import plural, spoken
from tacit.model.numbers import plain


@dataclass(frozen=True, slots=True)
class CKSafety(BackgroundDefinition):
    """Nobody who knows `k` implications about people's values believes any
    value of anyone with `c` or more.

    An implication is "if Ann has flu and Bob has a cold, then Cleo has flu or Dan has a cough":
    atoms joined by and, then atoms joined by or. Any k of them may be known, and the belief stays
    below c. Two kinds of fact are implications too: "Ann has no flu", and "if Ann has flu, so has
    Bob".

    Martin, Kifer, Machanavajjhala, Gehrke and Halpern, ICDE 2007. One pass over the groups for each
    pair of numbers up to k.

    >>> CKSafety(c="0.75", k=2).label
    '(0.75,2)-safety'
    >>> CKSafety(c=2, k=1)
    Traceback (most recent call last):
    tacit.errors.ParameterError: c=2 is no limit: no belief is below 0 or above 1. Use 0 < c <= 1.
    """

    c: Any
    k: int
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "c-k-safety"
    monotone: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value",
        against="who knows everybody's quasi-identifiers and k implications",
        measured="how sure somebody can become",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        BackgroundDefinition.__post_init__(self)
        object.__setattr__(self, "k", whole("k", self.k, least=0))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"({plain(self.c)},{self.k})-safety"

    @property
    def only_greatest(self) -> bool:
        """It limits every belief alike."""
        return True

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely each value is; what implications add is defined for one release."""
        return frozenset() if self.k else frozenset({"beliefs"})

    @property
    def alone_because(self) -> str:
        """Why it judges one release alone."""
        return "what implications add is counted for one release; ask it with k: 0"

    @property
    def copies(self) -> int:
        """As many as the people that the knowledge is about."""
        return self.k + 1

    def knows(self, column: str) -> str:
        """What the other side may know beside the release, in words."""
        if not self.k:
            return ""
        return f"knows {plural('implication', self.k)} between people's {spoken(column)}"

    def worst(self, groups: Groups) -> GreatestBelief:
        """The greatest belief that k implications can give."""
        found = worst_implications(groups, self.k, self.c)
        return GreatestBelief(found.belief, knowledge_of(groups, found), found.below)


def knowledge_of(groups: Groups, found: WorstImplications) -> GroupKnowledge:
    """The implications themselves: each atom that is to be avoided implies the one that is asked.

    The person with the most atoms is the one who is asked about. For this person the atom of the
    most frequent value is the one that is asked, and the others say: the person does not have that
    value.
    """
    avoided = {group: ways_to_avoid(groups, group, atoms) for group, atoms in found.atoms.items()}
    own, *others = avoided.pop(found.group)
    implied = [(found.group, values) for values in others]
    implied += [(group, values) for group, people in avoided.items() for values in people]
    return GroupKnowledge(found.group, own[0], negated=own[1:], implied=tuple(implied))


def ways_to_avoid(groups: Groups, group: int, atoms: int) -> list[tuple[Any, ...]]:
    """The values that each person of a group avoids: the most frequent ones."""
    cells = groups.cells(group)
    _, sizes = least(sum(cells.values()), tuple(accumulate(cells.values())), atoms)
    return [tuple(cells)[:size] for size in sizes]
