"""t-closeness: does a group tell more than the whole table? (Li, Li and Venkatasubramanian 2007)"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tacit.errors import DataError, ParameterError
from tacit.families.definition import DefinitionFacts
from tacit.families.microdata import transport
from tacit.families.microdata.definitions.together.person_view import Needs, PersonView, Score, most
from tacit.families.microdata.definitions.worst_group import (
    Claimed,
    GroupFinding,
    Requirement,
    WorstGroup,
    at_most,
    claimed,
    short,
)
from tacit.families.microdata.distances import levels_of
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.neighbours import cells_of
from tacit.families.parameters import number
from tacit.families.words import saying
from tacit.model.numbers import exact, plain

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers

Ground = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True, slots=True)
class TCloseness(WorstGroup):
    """The sensitive values of every group are distributed much as in the whole table, up to `t`.

    Measured by the earth mover's distance. Between two values it is 1 (`equal`), their difference
    in rank over m - 1 (`ordered`), or the level of their lowest common ancestor over the height of
    the column's hierarchy (`hierarchical`).

    >>> TCloseness(t="0.2", distance="ordered").label
    'ordered 0.2-closeness'
    >>> TCloseness(t=2)
    Traceback (most recent call last):
    tacit.errors.ParameterError: t=2 is out of range. Use 0 <= t <= 1.
    """

    t: Any
    distance: Ground = "equal"
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "t-closeness"
    monotone: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value",
        against="who knows everybody's quasi-identifiers and the whole table's values",
        measured="how far a group is from the whole table",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        WorstGroup.__post_init__(self)
        object.__setattr__(self, "t", number("t", self.t, least=0, most=1))
        if self.distance not in ("equal", "ordered", "hierarchical"):
            raise ParameterError(
                f"there is no distance {self.distance!r} for t-closeness.",
                parameter="distance",
                hint="Use equal, ordered or hierarchical.",
            )

    @property
    def extreme_spellings_suffice(self) -> bool:
        """Where all values are equally far apart, those that become one only bring a group
        closer to the table.
        """
        return self.distance == "equal"

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"{'' if self.distance == 'equal' else self.distance + ' '}{plain(self.t)}-closeness"

    def undecidable(self, question: MicrodataQuestion, groups: Groups) -> bool:
        """The table is a distribution only where everybody has one value, also across groups."""
        column = str(groups.sensitive)
        everybody = int(question.base.people_by_code(column).sum())
        return groups.several or everybody != question.known_people(column)

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely each value is."""
        return frozenset({"beliefs"})

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """How far the beliefs about the person are from the whole release."""
        far = self._far(seen) if seen.weights else Fraction(1)
        yield most("t", far, self.t, f"a distance of {short(far, up=True)}", plain(self.t))

    def _far(self, seen: PersonView) -> Fraction:
        """The earth mover's distance, from its closed forms; see `transport`."""
        question, column, whole = seen.about.question, seen.about.column, seen.about.whole
        everybody = sum(whole)
        more = [seen.share(code) - Fraction(people, everybody) for code, people in enumerate(whole)]
        if self.distance == "ordered":
            ranks = ranks_of(question, column).tolist()
            steps = [Fraction(0)] * (max(ranks) + 1)
            for rank, difference in zip(ranks, more, strict=True):
                steps[rank] += difference
            return sum(map(abs, accumulate(steps)), Fraction(0)) / max(1, len(steps) - 1)
        levels = [range(len(more)), [0] * len(more)]
        if self.distance == "hierarchical" and has_levels(question, column):
            levels = [one.tolist() for one in levels_of(question.hierarchies[column])]
        work = Fraction(0)
        for labels in levels[:-1]:
            excess: dict[int, Fraction] = {}
            for label, difference in zip(labels, more, strict=True):
                excess[label] = excess.get(label, Fraction(0)) + difference
            work += sum((one for one in excess.values() if one > 0), Fraction(0))
        return work / max(1, len(levels) - 1)

    def look(self, question: MicrodataQuestion, groups: Groups) -> GroupFinding:
        """Compare every group with the table."""
        cells, column = cells_of(groups), str(groups.sensitive)
        whole = question.base.people_by_code(column)
        if self.distance == "equal":
            numbers, claims = transport.equal(cells, whole), same_value
        elif self.distance == "ordered":
            ranks = ranks_of(question, column)
            numbers, claims = transport.ordered(cells, whole, ranks), on_one_side
        else:
            levels = levels_of(question.hierarchies[column]) if has_levels(question, column) else []
            numbers, claims = transport.hierarchical(cells, whole, levels), same_label
        return GroupFinding(question, groups, cells, (at_most("t", numbers, self.t),), claims)

    def measure(self, column: str) -> str:
        """How much learning is too much, in words."""
        return f"how far {column} in a group is distributed otherwise than in the whole table"

    def notes(self, finding: GroupFinding) -> list[str]:
        """What a reader of the verdict should be warned of."""
        values, listed = finding.groups.dictionary, finding.question.table.domains
        letters = (
            self.distance == "ordered"
            and isinstance(values[0], str)
            and finding.column not in listed
            and list(values) == sorted(values)
        )
        return [
            *(["every release meets t=1"] if self.t == 1 else []),
            *(
                [
                    (
                        f"{finding.column} is text, taken in the order of its letters; domains "
                        "can say another"
                    )
                ]
                if letters
                else []
            ),
        ]

    def because(self, finding: GroupFinding, broken: Requirement | None) -> str:
        """What was found, without naming anybody."""
        far = short(Fraction(finding.requirements[0].measured()), up=True)
        if broken is None:
            return f"every group is within {far} of the whole table"
        return f"a group is {far} away from the whole table, {plain(self.t)} allowed"

    def learned(
        self, finding: GroupFinding, number: int, requirement: Requirement
    ) -> Claimed | None:
        """The claim about a person that the group makes likeliest compared with the table."""
        here, there = finding.people_with(number), finding.question.before(finding.column)
        known, everybody = sum(here.values()), sum(there.values())

        def gain(claim: tuple[str, list[Any]]) -> Fraction:
            now = Fraction(sum(here.get(value, 0) for value in claim[1]), known)
            return now - Fraction(sum(there[value] for value in claim[1]), everybody)

        words, values = max(finding.kept(finding, here), key=gain)
        inside = {value: count for value, count in here.items() if value in values}
        return claimed(finding, number, inside, words, table=values)


def same_value(finding: GroupFinding, here: Mapping[Any, int]) -> Iterator[tuple[str, list[Any]]]:
    """Claims of the form: the person has this value."""
    for value in here:
        yield saying(finding.column, value), [value]


def on_one_side(finding: GroupFinding, here: Mapping[Any, int]) -> Iterator[tuple[str, list[Any]]]:
    """Claims of the form: the person has at most this value, or more than this one."""
    ranks = ranks_of(finding.question, finding.column).tolist()
    values = finding.groups.dictionary
    line = [values[code] for code in sorted(range(len(values)), key=ranks.__getitem__)]
    for place in sorted(line.index(value) for value in here):
        yield saying(finding.column, f"{value_text(line[place])} or less"), line[: place + 1]
        yield saying(finding.column, f"{value_text(line[place])} or more"), line[place:]


def same_label(finding: GroupFinding, here: Mapping[Any, int]) -> Iterator[tuple[str, list[Any]]]:
    """Claims of the form: the person's value is below this label of the hierarchy."""
    tree = finding.question.hierarchies[finding.column]
    for level in tree.levels:
        labels = dict(zip(tree.values, level.by_value(), strict=False))
        for label in dict.fromkeys(labels[value] for value in here):
            yield (
                saying(finding.column, label),
                [value for value in tree.values if labels[value] == label],
            )


def ranks_of(question: MicrodataQuestion, column: str) -> Integers:
    """The place of each value in the order:
    numbers by size, dates by time, text as its domain lists it.

    Text without a domain is taken in the order that the table has it in:
    that of an ordered type, else of its letters.
    """
    values = question.base.dictionaries[column]
    listed = question.table.domains.get(column, ())
    keys: list[Any] = [
        size(value) if isinstance(value, float | Decimal) else value for value in values
    ]
    if isinstance(values[0], str):
        place = {
            value: at for at, value in enumerate(listed if set(values) <= set(listed) else values)
        }
        keys = [place[value] for value in values]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([ranks[key] for key in keys], dtype=np.int64)


def size(number: float | Decimal) -> Fraction | float:
    """What numbers are sorted by; infinite ones are at the ends.

    >>> sorted([Decimal("Infinity"), Decimal("0.1"), float("-inf")], key=size)
    [-inf, Decimal('0.1'), Decimal('Infinity')]
    """
    return exact(number) if math.isfinite(number) else float(number)


def has_levels(question: MicrodataQuestion, column: str) -> bool:
    """Whether the column has a hierarchy; without one there is nothing to climb."""
    if column in question.hierarchies and question.hierarchies[column].height:
        return True
    raise DataError(
        f"the hierarchical distance needs a hierarchy for {column!r}, and table "
        f"{question.table.name} has none.",
        hint=f"Add hierarchies: {{{column}: {column}.csv}} to the table, or use distance: equal.",
    )
