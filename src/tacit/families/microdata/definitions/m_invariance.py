"""m-invariance: does a further release keep what an earlier one left open? (Xiao, Tao 2007)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from tacit.errors import ParameterError
from tacit.families.definition import DefinitionFacts
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
    claimed,
    number_of,
)
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.neighbours import cells_of
from tacit.families.parameters import whole
from tacit.families.words import listed, plural, saying

Kind = Literal["unique", "values"]
SHOWN = 4


@dataclass(frozen=True, slots=True)
class MInvariance(WorstGroup):
    """Every group has at least `m` values, and further releases keep them for everybody.

    `unique`: all values of a group differ, and all groups of a person show the same rows. Then all
    worlds leave everybody m values or more, all equally likely. `values`: nobody loses a value that
    the earlier releases left them, and m are left.

    >>> MInvariance(m=3).label, MInvariance(m=2, kind="values").label
    ('3-invariance', '2-invariance of values')
    >>> MInvariance(m=0)
    Traceback (most recent call last):
    tacit.errors.ParameterError: m=0 is out of range. Use m >= 1.
    """

    m: int
    kind: Kind = "unique"
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "m-invariance"
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value",
        against="who knows everybody's quasi-identifiers and has several releases",
        measured="how many values a person keeps in all of them",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        WorstGroup.__post_init__(self)
        object.__setattr__(self, "m", whole("m", self.m, least=1))
        if self.kind not in get_args(Kind):
            raise ParameterError(
                f"there is no kind {self.kind!r} of m-invariance.",
                parameter="kind",
                hint="Use unique or values.",
            )

    def is_monotone_for(self, question: MicrodataQuestion) -> bool:
        """Values that are only kept are kept by coarser releases too."""
        rows_are_people = question.base.persons is None and self.missing != "match-any"
        return self.kind == "values" and rows_are_people

    @property
    def monotone_together(self) -> bool:
        """Coarser groups show values twice, but take none away."""
        return self.kind == "values"

    @property
    def whole_groups_suffice(self) -> bool:
        """Without some rows of a group its values may differ."""
        return self.kind == "values" and self.missing != "match-any"

    @property
    def least_group(self) -> int:
        """m different values are m people."""
        return int(self.m)

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"{self.m}-invariance{' of values' if self.kind == 'values' else ''}"

    @property
    def asks_together(self) -> frozenset[Needs]:
        """What the groups of a person show; or which values worlds leave them, and left before."""
        return frozenset({"signature"} if self.kind == "unique" else {"values", "lost"})

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """How many values all groups of a person show; or how many are left, and were taken."""
        if self.kind == "unique":
            number = seen.signature
            text = (
                "somebody's groups show different rows, or a group shows a value twice"
                if not number
                else f"the groups of everybody show the same {number:,} or more values, each once"
                if number >= self.m
                else f"somebody's groups show {plural(seen.about.column, number)}, "
                f"{self.m} required"
            )
            yield Score("m", number, number < self.m, -number, text, "")
            return
        text = f"{plural(seen.about.column, len(seen.values))} left"
        yield least("m", len(seen.values), self.m, text, str(self.m))
        if seen.lost is not None:
            text = (
                f"somebody loses {plural(seen.about.column, seen.lost)} that the earlier "
                "releases left"
                if seen.lost
                else "nobody loses a value that the earlier releases left"
            )
            yield Score("lost", seen.lost, seen.lost > 0, seen.lost, text, "")

    def look(self, question: MicrodataQuestion, groups: Groups) -> GroupFinding:
        """Count the values of every group; none where one stands twice or is missing."""
        found = np.diff(groups.starts)
        if self.kind == "unique":
            found = np.where(found == groups.sizes, found, 0)
        return GroupFinding(question, groups, cells_of(groups), (number_of("m", found, self.m),))

    def measure(self, column: str) -> str:
        """How much learning is too much, in words."""
        return f"how many values of {column} a person keeps in all releases"

    def notes(self, finding: GroupFinding) -> list[str]:
        """What a reader of the verdict should be warned of."""
        return ["one value is known for certain: m=1 protects nobody"] if self.m == 1 else []

    def because(self, finding: GroupFinding, broken: Requirement | None) -> str:
        """What was found, without naming anybody."""
        number = int(finding.requirements[0].measured())
        if broken is not None and not number:
            return f"a group in which a {finding.column} stands twice, or is missing"
        told = plural(finding.column, number)
        if broken is not None:
            return f"one group has only {told}, {self.m} required"
        return f"at least {told} in every group{', each once' if self.kind == 'unique' else ''}"

    def learned(
        self, finding: GroupFinding, number: int, requirement: Requirement
    ) -> Claimed | None:
        """Somebody has one of the values of their group."""
        counts = finding.people_with(number)
        some = [value_text(value) for value in counts][:SHOWN]
        more = len(counts) - len(some)
        told = listed([*some, *([f"{more} more"] if more else [])], "or")
        return claimed(finding, number, counts, saying(finding.column, told))
