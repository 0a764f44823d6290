"""(k,e)-anonymity: are the numbers of a group different and far apart? (Zhang, Koudas,
Srivastava, Yu 2007)
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
    number_of,
    short,
)
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.neighbours import cells_of
from tacit.families.parameters import number, whole
from tacit.families.words import listed, plural, saying
from tacit.model.numbers import plain

SHOWN = 4


@dataclass(frozen=True, slots=True)
class KE(WorstGroup):
    """Every group has at least `k` different numbers, the greatest at least `e` above the least.

    >>> KE(k=3, e=5000).label
    '(k=3, e=5000)-anonymity'
    >>> KE(k=0, e=5000)
    Traceback (most recent call last):
    tacit.errors.ParameterError: k=0 is out of range. Use k >= 1.
    """

    k: int
    e: Any
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "k-e"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's number",
        against="who knows everybody's quasi-identifiers",
        measured="how many numbers, and how far apart",
        risks=("singling out", "inference"),
        disclosures=("identity", "attribute"),
    )

    def __post_init__(self) -> None:
        WorstGroup.__post_init__(self)
        object.__setattr__(self, "k", whole("k", self.k, least=1))
        object.__setattr__(self, "e", number("e", self.e, least=0, because="is no width"))

    @property
    def whole_groups_suffice(self) -> bool:
        """Fewer people never help; groups that overlap are not judged alone."""
        return self.missing != "match-any"

    @property
    def least_group(self) -> int:
        """k people."""
        return int(self.k)

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"(k={self.k}, e={plain(self.e)})-anonymity"

    @property
    def asks_together(self) -> frozenset[Needs]:
        """Which values a person can have."""
        return frozenset({"values"})

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """How many numbers a person can have, and how far apart they are."""
        numbers = {seen.about.number(code) for code in seen.values}
        wide = max(numbers) - min(numbers) if numbers else Fraction(0)
        text = f"{plural(seen.about.column, len(numbers))} left"
        yield least("k", len(numbers), self.k, text, str(self.k))
        yield least("e", wide, self.e, f"a width of {short(wide, up=False)} left", plain(self.e))

    def look(self, question: MicrodataQuestion, groups: Groups) -> GroupFinding:
        """Count the values of every group, and look at its least and greatest."""
        cells = cells_of(groups)
        line = line_of(question, groups)
        requirements = (
            number_of("k", line.different(cells), self.k),
            at_least("e", line.widths(cells), self.e),
        )
        return GroupFinding(question, groups, cells, requirements, line)

    def measure(self, column: str) -> str:
        """How much learning is too much, in words."""
        return f"how many values of {column} a group has, and how far apart they are"

    def notes(self, finding: GroupFinding) -> list[str]:
        """What a reader of the verdict should be warned of."""
        return ["every release meets k=1 with e=0"] if (self.k, self.e) == (1, 0) else []

    def because(self, finding: GroupFinding, broken: Requirement | None) -> str:
        """What was found, without naming anybody."""
        values, width = finding.requirements
        number, wide = (
            plural(finding.column, int(values.measured())),
            short(Fraction(width.measured()), up=False),
        )
        if broken is None:
            return f"at least {number} in every group, {wide} or more apart"
        if broken is values:
            return f"one group has only {number}, {self.k} required"
        return f"a group whose {finding.column} is known to within {wide}, {plain(self.e)} required"

    def learned(
        self, finding: GroupFinding, number: int, requirement: Requirement
    ) -> Claimed | None:
        """Somebody's value is one of a few, or lies between the least and the greatest."""
        line: NumberLine = finding.kept
        counts = finding.people_with(number)
        low, high = line.least(counts), line.greatest(counts)
        if requirement.name == "k":
            some = [value_text(value) for value in sorted(counts, key=line.place)][:SHOWN]
            more = len(counts) - len(some)
            words = saying(
                finding.column, listed([*some, *([f"{more} more"] if more else [])], "or")
            )
            return claimed(finding, number, counts, words, range=[low, high])
        words = saying(finding.column, between(low, high))
        return claimed(
            finding, number, counts, words, table=line.within(low, high), range=[low, high]
        )
