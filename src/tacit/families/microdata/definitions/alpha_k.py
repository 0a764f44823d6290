"""(alpha,k)-anonymity: is any sensitive value too frequent in a
group? (Wong, Li, Fu and Wang 2006)
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
from tacit.families.microdata.definitions.together.person_view import (
    Needs,
    PersonView,
    Score,
    least,
    most,
)
from tacit.families.microdata.definitions.worst_group import (
    GroupFinding,
    Requirement,
    at_most,
    number_of,
    short,
    smallest_group,
)
from tacit.families.microdata.distances import Discrete
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.neighbours import Balls
from tacit.families.parameters import number, whole
from tacit.families.words import people, plural
from tacit.model.numbers import plain


@dataclass(frozen=True, slots=True)
class AlphaK(NeighbourhoodDefinition):
    """Every group has at least `k` people, and no sensitive value has a share above `alpha` in it.

    A neighbourhood of equal values: the discrete distance with epsilon 0.

    >>> AlphaK(alpha="1/2", k=4).label
    '(alpha=0.5, k=4)-anonymity'
    >>> AlphaK(alpha=2, k=4)
    Traceback (most recent call last):
    tacit.errors.ParameterError: alpha=2 is no share. Use 0 < alpha <= 1.
    """

    alpha: Any
    k: int
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "alpha-k"
    monotone: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="which row is whose, and each person's value",
        against="who knows everybody's quasi-identifiers",
        measured="how many people, and how frequent a value is among them",
        risks=("singling out", "inference"),
        disclosures=("identity", "attribute"),
    )

    def __post_init__(self) -> None:
        NeighbourhoodDefinition.__post_init__(self)
        object.__setattr__(
            self, "alpha", number("alpha", self.alpha, above=0, most=1, because="is no share")
        )
        object.__setattr__(self, "k", whole("k", self.k, least=1))

    @property
    def extreme_spellings_suffice(self) -> bool:
        """The greatest share only grows where values become one."""
        return True

    @property
    def least_group(self) -> int:
        """k people."""
        return int(self.k)

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"(alpha={plain(self.alpha)}, k={self.k})-anonymity"

    @property
    def only_greatest(self) -> bool:
        """It limits every belief alike."""
        return True

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely each value is, and which rows can be a person's."""
        return frozenset({"beliefs", "rows"})

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """The greatest belief in a value, and how many rows can be the person's."""
        text = f"a belief of {short(seen.greatest, up=True)}"
        yield most("alpha", seen.greatest, self.alpha, text, plain(self.alpha))
        text = f"{plural('row', seen.rows)} left"
        yield least("k", seen.rows, self.k, text, str(self.k))

    @property
    def radius(self) -> Fraction:
        """Only equal values are near."""
        return Fraction(0)

    def distance(self, question: MicrodataQuestion, column: str) -> Discrete:
        """Values are equal or not."""
        return Discrete(len(question.base.dictionaries[column]))

    def requirements(self, groups: Groups, balls: Balls) -> tuple[Requirement, ...]:
        """The share of the most frequent value, and the size of the group."""
        return (
            at_most("alpha", largest_share(balls), self.alpha),
            number_of("k", groups.sizes, self.k, narrows=True),
        )

    def measure(self, column: str) -> str:
        """How much learning is too much, in words."""
        return f"the share of a group that has one {column}"

    def notes(self, finding: GroupFinding) -> list[str]:
        """What a reader of the verdict should be warned of."""
        return ["every release meets alpha=1 with k=1"] if (self.alpha, self.k) == (1, 1) else []

    def because(self, finding: GroupFinding, broken: Requirement | None) -> str:
        """What was found, without naming anybody."""
        share, size = finding.requirements
        top = short(Fraction(share.measured()), up=True)
        if broken is None:
            return (
                f"at most {top} of a group have one {finding.column}, and {smallest_group(finding)}"
            )
        if broken is share and share.measured() == 1:
            return (
                f"everybody in a group has the same {finding.column}, at most "
                f"{plain(self.alpha)} allowed"
            )
        if broken is share:
            return (
                f"{top} of a group have one {finding.column}, at most {plain(self.alpha)} allowed"
            )
        return f"a group of {people(int(size.measured()))}, {self.k} required"
