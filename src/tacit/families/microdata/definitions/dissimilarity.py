"""(epsilon,delta)^k-dissimilarity: are too many values of a group alike? (Wang et al. 2009)"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.neighbourhood import NeighbourhoodDefinition
from tacit.families.microdata.definitions.worst_group import (
    GroupFinding,
    Requirement,
    at_most,
    number_of,
    short,
    smallest_group,
)
from tacit.families.microdata.distances import Distance
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.neighbours import Balls
from tacit.families.microdata.ratios import Ratios
from tacit.families.parameters import number, whole
from tacit.families.words import people
from tacit.model.numbers import plain


@dataclass(frozen=True, slots=True)
class Dissimilarity(NeighbourhoodDefinition):
    """Every value of a group is farther than `epsilon` from at least
    the share `delta` of the others.

    And every group has at least `k` people. The risk of a group is the largest (|ball| - 1) / (|G|
    - 1) over its values, 1 for a single value, and must be at most 1 - delta. The distance is what
    the table declares for the column.

    >>> Dissimilarity(epsilon="0.1", delta="0.5", k=3).label
    '(epsilon=0.1, delta=0.5)^3-dissimilarity'
    >>> Dissimilarity(epsilon=1, delta=2, k=3)
    Traceback (most recent call last):
    tacit.errors.ParameterError: delta=2 is no share. Use 0 <= delta <= 1.
    """

    epsilon: Any
    delta: Any
    k: int
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "dissimilarity"
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value, up to similarity",
        against="who knows everybody's quasi-identifiers",
        measured="how many of a group are close to a value, and of how many",
        risks=("singling out", "inference"),
        disclosures=("identity", "attribute"),
    )

    def __post_init__(self) -> None:
        NeighbourhoodDefinition.__post_init__(self)
        epsilon = number("epsilon", self.epsilon, least=0, because="is no distance")
        delta = number("delta", self.delta, least=0, most=1, because="is no share")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "k", whole("k", self.k, least=1))

    @property
    def least_group(self) -> int:
        """k people."""
        return int(self.k)

    @property
    def alone_because(self) -> str:
        """Why it judges one release alone."""
        return "it compares a person with the others of one group"

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"(epsilon={plain(self.epsilon)}, delta={plain(self.delta)})^{self.k}-dissimilarity"

    @property
    def radius(self) -> Fraction:
        """How far a similar value may be."""
        return Fraction(self.epsilon)

    def distance(self, question: MicrodataQuestion, column: str) -> Distance:
        """What the table declares; else numbers differ by their difference, and all else is
        equal or not.
        """
        return question.measure(column, question.base.dictionaries[column])

    def requirements(self, groups: Groups, balls: Balls) -> tuple[Requirement, ...]:
        """The risk of each group, and its size."""
        alone = balls.cells.known < 2
        others = np.where(alone, 1, balls.cells.known - 1)
        risk = Ratios(np.where(alone, 1, balls.sizes - 1), others)
        return (
            at_most("risk", risk, 1 - self.delta),
            number_of("k", groups.sizes, self.k, narrows=True),
        )

    def measure(self, column: str) -> str:
        """How much learning is too much, in words."""
        return f"the share of the others in a group that are similar to one {column}"

    def notes(self, finding: GroupFinding) -> list[str]:
        """What a reader of the verdict should be warned of."""
        return ["every release meets delta=0 with k=1"] if (self.delta, self.k) == (0, 1) else []

    def because(self, finding: GroupFinding, broken: Requirement | None) -> str:
        """What was found, without naming anybody."""
        risk, size = finding.requirements
        greatest = short(Fraction(risk.measured()), up=True)
        if broken is None:
            return f"risk at most {greatest} in every group, and {smallest_group(finding)}"
        if broken is risk:
            return f"risk {greatest} in a group, at most {plain(1 - self.delta)} allowed"
        return f"a group of {people(int(size.measured()))}, {self.k} required"
