"""Definitions that give every group some numbers and ask that the worst are good enough.

Each says how a group is measured and what somebody learns in the worst one;
the verdict is made here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.families.microdata.definitions.microdata_definition import (
    Learned,
    MicrodataDefinition,
    exposed,
    group_facts,
    one_column,
)
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.neighbours import NeighbourCells
from tacit.families.microdata.ratios import Ratios
from tacit.families.microdata.streamed import GroupTelling
from tacit.families.words import change, known_facts, mention, name_of, people
from tacit.model.numbers import plain
from tacit.model.verdict import Assumption, Certificate, Reason, Verdict, Witness

if TYPE_CHECKING:
    from tacit.families.microdata.ratios import Mask

EVERY_VALUE = Assumption(
    "several-values",
    "people with several values in a group count with each of them, which may refuse what "
    "is private",
    "yes",
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A number of each group and its limit; `name` is its key in `measured`.

    `counts` says that it is a number of things and no fraction, `narrows` that it is how many
    people somebody can be narrowed down to.
    """

    name: str
    numbers: Ratios
    limit: Fraction
    at_most: bool
    counts: bool = False
    narrows: bool = False

    def failing(self) -> Mask:
        """Which groups are beyond the limit."""
        return self.numbers.above(self.limit) if self.at_most else self.numbers.below(self.limit)

    def worst(self) -> int:
        """The first group with the worst number."""
        return self.numbers.greatest() if self.at_most else self.numbers.least()

    def measured(self) -> int | Fraction:
        """The worst number: the least limit that holds, or the greatest."""
        value = self.numbers[self.worst()]
        return int(value) if self.counts else value


def at_most(name: str, numbers: Ratios, limit: Fraction) -> Requirement:
    """A number that must not be too great."""
    return Requirement(name, numbers, limit, at_most=True)


def at_least(name: str, numbers: Ratios, limit: Fraction) -> Requirement:
    """A number that must not be too small."""
    return Requirement(name, numbers, limit, at_most=False)


def number_of(name: str, numbers: Any, limit: int, *, narrows: bool = False) -> Requirement:
    """A count that must not be too small."""
    ones = np.ones(len(numbers), dtype=np.int64)
    return Requirement(
        name, Ratios(numbers, ones), Fraction(limit), False, counts=True, narrows=narrows
    )


@dataclass(frozen=True, slots=True)
class GroupFinding:
    """What was measured: the groups with their cells, and the
    requirements in the order of their weight.

    `kept` is what the definition wants to remember for its words.
    """

    question: MicrodataQuestion
    groups: Groups
    cells: NeighbourCells
    requirements: tuple[Requirement, ...]
    kept: Any = None

    @property
    def column(self) -> str:
        """The sensitive column."""
        return str(self.groups.sensitive)

    def people_with(self, number: int) -> dict[Any, int]:
        """A group's values with how many people have each, most frequent first."""
        span = self.cells.of(number)
        pairs = zip(self.cells.values[span].tolist(), self.cells.counts[span].tolist(), strict=True)
        found = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
        return {self.groups.dictionary[code]: count for code, count in found}


@dataclass(frozen=True, slots=True)
class Claimed(Learned):
    """Something that is learned in words of its own; `more` goes into the evidence."""

    words: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def claim(self) -> str:
        """What is believed of the person."""
        return self.words

    def personal(self) -> dict[str, Any]:
        """As evidence, with the claim in words."""
        return {**Learned.personal(self), "claim": self.words, **self.more}

    def remainder(self) -> str:
        """What is still learned where nothing is breached."""
        return (
            f"Still learned: {name_of(self.person)} {self.claim()}, "
            f"{change(Fraction(*self.before), Fraction(*self.after))}."
        )


class WorstGroup(MicrodataDefinition):
    """A definition about the worst group.
    `takes_several`: people with several values can be judged.
    """

    __slots__ = ()
    takes_several: ClassVar[bool] = False

    @abstractmethod
    def look(self, question: MicrodataQuestion, groups: Groups) -> GroupFinding:
        """Measure every group."""

    @abstractmethod
    def because(self, finding: GroupFinding, broken: Requirement | None) -> str:
        """What was found, without naming anybody."""

    @abstractmethod
    def measure(self, column: str) -> str:
        """How much learning is too much, in words."""

    @abstractmethod
    def learned(
        self, finding: GroupFinding, number: int, requirement: Requirement
    ) -> Claimed | None:
        """What somebody learns in a group that has known values."""

    def notes(self, finding: GroupFinding) -> list[str]:
        """What a reader of the verdict should be warned of."""
        return []

    def facts(self, finding: GroupFinding) -> dict[str, Any]:
        """What else the evidence has to say to anyone."""
        return {}

    def failing(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask | None:
        """The groups that are beyond some limit."""
        groups = question.groups(one_column(question, sensitive, self.check_name), self.missing)
        if self.undecidable(question, groups):
            return None
        found = np.zeros(len(groups), dtype=bool)
        for one in self.look(question, groups).requirements:
            found |= one.failing()
        return found

    def telling(self, question: MicrodataQuestion, groups: Groups) -> GroupTelling:
        """The worst by each requirement, the smallest; how many the others are, and which fail."""
        asked = self.look(question, groups).requirements
        named = {one.worst() for one in asked} | {int(np.argmin(groups.sizes))}
        return GroupTelling(named, (groups.sizes, *(one.failing() for one in asked)))

    def check(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Verdict:
        """Measure every group and look at the worst."""
        groups = question.groups(one_column(question, sensitive, self.check_name), self.missing)
        if self.undecidable(question, groups):
            return self._undecided(question, groups)
        finding = self.look(question, groups)
        failing = [one.failing() for one in finding.requirements]
        broken = [
            one for one, mask in zip(finding.requirements, failing, strict=True) if mask.any()
        ]
        if broken:
            return self._breached(finding, broken[0], np.logical_or.reduce(failing))
        return self._holds(finding)

    def undecidable(self, question: MicrodataQuestion, groups: Groups) -> bool:
        """Whether people have several values in a way that cannot be judged."""
        return groups.several and (groups.overlapping or not self.takes_several)

    def _constant_parts(self, finding: GroupFinding) -> dict[str, Any]:
        said = self.said_of_values(
            finding.question,
            [finding.groups],
            measure=self.measure(finding.column),
            measured={one.name: one.measured() for one in finding.requirements},
            required=self.required(),
        )
        said["warnings"] = (*said["warnings"], *self.notes(finding))
        said["assumptions"] = tuple(
            EVERY_VALUE if one.id == EVERY_VALUE.id else one for one in said["assumptions"]
        )
        return said

    def _holds(self, finding: GroupFinding) -> Verdict:
        first = finding.requirements[0]
        found = self._claim(finding, first.worst(), first)
        facts = {
            "groups": finding.groups.number,
            "people": finding.question.people,
            "sensitive": [finding.column],
            **self.facts(finding),
        }
        return Verdict(
            status="holds",
            because=self.because(finding, None),
            evidence=Certificate("groups", facts, found.personal() if found else {}),
            story=found.remainder() if found else None,
            **self._constant_parts(finding),
        )

    def _breached(self, finding: GroupFinding, broken: Requirement, below: Any) -> Verdict:
        question, groups, number = finding.question, finding.groups, broken.worst()
        facts = {
            **group_facts(question, groups, number, below),
            "sensitive": finding.column,
            "fails": broken.name,
            **self.facts(finding),
        }
        personal = {"values": groups.label(number), "counts": finding.people_with(number)}
        if broken.narrows:
            story, more = self._narrowed(finding, number)
        else:
            found = self._claim(finding, number, broken)
            story, more = (found.attack(), found.personal()) if found else ("", {})
        unknown = not int(finding.cells.known[number]) and not broken.narrows
        return Verdict(
            status="breached",
            because=f"a group in which no {finding.column} is known"
            if unknown
            else self.because(finding, broken),
            evidence=Witness("group", facts, {**personal, **more}),
            story=f"{story} {exposed(facts, self.label)}".strip(),
            **self._constant_parts(finding),
        )

    def _claim(
        self, finding: GroupFinding, number: int, requirement: Requirement
    ) -> Claimed | None:
        return (
            self.learned(finding, number, requirement) if int(finding.cells.known[number]) else None
        )

    def _narrowed(self, finding: GroupFinding, number: int) -> tuple[str, dict[str, Any]]:
        person = finding.question.person(finding.groups, number)
        size, name = int(finding.groups.sizes[number]), mention(person)
        found = (
            f"knows which row is {name}'s"
            if size == 1
            else f"can narrow {name} down to {size} rows"
        )
        story = f"Anyone who knows that {name_of(person)} {known_facts(person.known)} {found}."
        return story, {"person": dict(person.identity), "known": dict(person.known)}

    def _undecided(self, question: MicrodataQuestion, groups: Groups) -> Verdict:
        text = (
            f"Some people have several values of {groups.sensitive} in a group, and "
            f"{self.check_name} is defined for one value each. Keep one row for each person, or "
            "leave person: out to judge rows."
        )
        said = self.said(
            question,
            protects=f"each person's {groups.sensitive}",
            measure=self.measure(str(groups.sensitive)),
            measured={},
            required=self.required(),
        )
        return Verdict(
            status="undecided",
            because="people have several values",
            evidence=Reason("several-values", text),
            **said,
        )


def claimed(
    finding: GroupFinding,
    number: int,
    values: Mapping[Any, int],
    words: str,
    *,
    table: Collection[Any] | None = None,
    first: Any = None,
    **more: Any,
) -> Claimed:
    """The claim that a person of a group has one of some values, believed as often as they occur.

    `values` are the group's, with how many people have each; `table` are those of the whole table
    of which the claim is true. The person is one who has the value `first`, or the most frequent
    one.
    """
    question, column = finding.question, finding.column
    ranked = sorted(values, key=lambda one: (one != first, -values[one]))
    theirs = own_value(finding, number, ranked)
    known, everybody = int(finding.cells.known[number]), question.known_people(column)
    there = sum(question.before(column)[one] for one in (values if table is None else table))
    return Claimed(
        question.person(finding.groups, number, theirs),
        column,
        ranked[0] if theirs is None or first is not None else theirs,
        (min(there, everybody), everybody),
        (min(sum(values.values()), known), known),
        words,
        more,
        unknown=int(finding.groups.sizes[number]) - known,
    )


def own_value(finding: GroupFinding, number: int, ranked: Sequence[Any]) -> Any:
    """The first of some values that somebody of the group has;
    where groups overlap all may be others'.
    """
    groups, column = finding.groups, finding.column
    rows = np.flatnonzero(groups.key_of_row == groups.keys[number])
    own = {
        groups.dictionary[code]
        for code in np.unique(groups.base.codes_at(column, rows)).tolist()
        if code < len(groups.dictionary)
    }
    return next((one for one in ranked if one in own), None)


def short(value: Fraction, *, up: bool) -> str:
    """A number as a sentence shows it:
    exactly where that is short, else rounded to the unsafe side.

    >>> (
    ...     short(Fraction(3, 4), up=True),
    ...     short(Fraction(1, 3), up=True),
    ...     short(Fraction(12345, 99999), up=True),
    ... )
    ('0.75', '1/3', '0.124')
    >>> short(Fraction(1234567, 1000), up=False), short(Fraction(10**9, 7), up=False)
    ('1234.56', '142857142.85')
    """
    text = plain(value)
    if value.denominator == 1 or (len(text) <= 6 and ("/" not in text or value.denominator < 10)):
        return text
    digits = max(0, Decimal(int(abs(value))).adjusted()) + 3
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.divide(Decimal(value.numerator), Decimal(value.denominator)):f}"


def smallest_group(finding: GroupFinding) -> str:
    """How big the smallest group is."""
    return f"the smallest group has {people(int(finding.groups.sizes.min()))}"
