"""(epsilon,m)-anonymity: do too many numbers of a group lie close
together? (Li, Tao and Xiao 2008)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.neighbourhood import (
    NeighbourhoodDefinition,
    largest_share,
)
from tacit.families.microdata.definitions.together.person_view import Needs, PersonView, Score
from tacit.families.microdata.definitions.worst_group import (
    GroupFinding,
    Requirement,
    at_least,
    short,
)
from tacit.families.microdata.distances import Numeric, numeric
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.neighbours import Balls
from tacit.families.microdata.ratios import Ratios
from tacit.families.parameters import number
from tacit.model.numbers import plain


@dataclass(frozen=True, slots=True)
class EpsM(NeighbourhoodDefinition):
    """Around every value of a group at most 1/`m` of its people lie within `epsilon`.

    The neighbourhood of numbers: |x - y| <= epsilon, both ends counting.

    >>> EpsM(epsilon=1000, m=2).label
    '(epsilon=1000, m=2)-anonymity'
    >>> EpsM(epsilon=-1, m=2)
    Traceback (most recent call last):
    tacit.errors.ParameterError: epsilon=-1 is no distance. Use epsilon >= 0.
    """

    epsilon: Any
    m: Any
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "eps-m"
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's number, up to epsilon",
        against="who knows everybody's quasi-identifiers",
        measured="how many of a group are close to a number",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        NeighbourhoodDefinition.__post_init__(self)
        epsilon = number("epsilon", self.epsilon, least=0, because="is no distance")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "m", number("m", self.m, least=1))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"(epsilon={plain(self.epsilon)}, m={plain(self.m)})-anonymity"

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely each value is."""
        return frozenset({"beliefs"})

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """How likely it is that the person's number lies near one that they can have."""
        near = [
            sum(
                weight
                for other, weight in seen.weights.items()
                if abs(seen.about.number(code) - seen.about.number(other)) <= self.epsilon
            )
            for code in seen.weights
        ]
        m = Fraction(seen.known, max(near)) if near else Fraction(1)
        text = f"a belief of {short(1 / m, up=True)} within {plain(self.epsilon)} of a value"
        limit = f"at most {plain(1 / self.m)} allowed"
        yield Score("m", m, m < self.m, -m, text, limit, at_most=True)

    @property
    def radius(self) -> Fraction:
        """How far a near value may be."""
        return Fraction(self.epsilon)

    def distance(self, question: MicrodataQuestion, column: str) -> Numeric:
        """The difference of numbers, whatever else the table declares."""
        return numeric(column, question.base.dictionaries[column])

    def requirements(self, groups: Groups, balls: Balls) -> tuple[Requirement, ...]:
        """How many times the largest ball goes into the group."""
        share = largest_share(balls)
        return (at_least("m", Ratios(share.bottoms, share.tops), self.m),)

    def measure(self, column: str) -> str:
        """How much learning is too much, in words."""
        return f"the share of a group whose {column} is within {plain(self.epsilon)} of one value"

    def notes(self, finding: GroupFinding) -> list[str]:
        """What a reader of the verdict should be warned of."""
        return ["every release meets m=1"] if self.m == 1 else []

    def because(self, finding: GroupFinding, broken: Requirement | None) -> str:
        """What was found, without naming anybody."""
        share = short(1 / Fraction(finding.requirements[0].measured()), up=True)
        near = f"within {plain(self.epsilon)} of one {finding.column}"
        if broken is None:
            return f"at most {share} of a group lies {near}"
        return f"{share} of a group lies {near}, at most {plain(1 / self.m)} allowed"
