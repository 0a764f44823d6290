"""Variance control: do the numbers of a group vary enough?
(LeFevre, DeWitt and Ramakrishnan 2006)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.number_line import NumberLine, between, line_of
from tacit.families.microdata.definitions.together.person_view import (
    Needs,
    PersonView,
    Score,
    least,
)
from tacit.families.microdata.definitions.worst_group import (
    Claimed,
    GroupFinding,
    Requirement,
    WorstGroup,
    at_least,
    claimed,
    short,
)
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.neighbours import cells_of
from tacit.families.parameters import number
from tacit.families.words import saying
from tacit.model.numbers import plain


@dataclass(frozen=True, slots=True)
class Variance(WorstGroup):
    """The variance of the sensitive numbers is at least `v` in every group.

    The population variance: the mean of the squared differences from the group's mean.

    >>> Variance(v=100).label
    'a variance of at least 100'
    >>> Variance(v=-1)
    Traceback (most recent call last):
    tacit.errors.ParameterError: v=-1 is no variance. Use v >= 0.
    """

    v: Any
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "variance"
    monotone: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's number",
        against="who knows everybody's quasi-identifiers",
        measured="how far the numbers of a group are spread",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        WorstGroup.__post_init__(self)
        object.__setattr__(self, "v", number("v", self.v, least=0, because="is no variance"))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"a variance of at least {plain(self.v)}"

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely each value is."""
        return frozenset({"beliefs"})

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """The variance of the person's number over all worlds."""
        numbers = {code: seen.about.number(code) for code in seen.weights}
        mean, square = (
            sum((seen.share(code) * one**power for code, one in numbers.items()), Fraction(0))
            for power in (1, 2)
        )
        found = square - mean**2
        text = f"a variance of {short(found, up=False)}"
        yield least("v", found, self.v, text, plain(self.v))

    def look(self, question: MicrodataQuestion, groups: Groups) -> GroupFinding:
        """Compute the variance of every group."""
        cells, line = cells_of(groups), line_of(question, groups)
        return GroupFinding(
            question, groups, cells, (at_least("v", line.variances(cells), self.v),), line
        )

    def measure(self, column: str) -> str:
        """How much learning is too much, in words."""
        return f"how much {column} varies within a group"

    def notes(self, finding: GroupFinding) -> list[str]:
        """What a reader of the verdict should be warned of."""
        return ["every release meets v=0"] if self.v == 0 else []

    def because(self, finding: GroupFinding, broken: Requirement | None) -> str:
        """What was found, without naming anybody."""
        found = f"a variance of {short(Fraction(finding.requirements[0].measured()), up=False)}"
        return (
            f"{found} in a group, {plain(self.v)} required"
            if broken
            else f"{found} or more in every group"
        )

    def learned(
        self, finding: GroupFinding, number: int, requirement: Requirement
    ) -> Claimed | None:
        """Somebody's value is near the group's mean:
        at most one standard deviation, as required, away.

        By Chebyshev's inequality there are such values wherever the variance is below v.
        """
        line: NumberLine = finding.kept
        counts = finding.people_with(number)
        mean = line.mean(counts)
        spread = max(self.v, requirement.numbers[number])
        near = {
            value: count
            for value, count in counts.items()
            if (line.number(value) - mean) ** 2 <= spread
        }
        low, high = line.least(near), line.greatest(near)
        words = saying(finding.column, between(low, high))
        return claimed(
            finding, number, near, words, table=line.within(low, high), range=[low, high]
        )
