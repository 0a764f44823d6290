"""A person's view: what somebody who holds several releases knows of a person, and how a
definition scores it.

With one release it is what the person's group shows, so a definition says the same of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Literal

from tacit.families.microdata.definitions.number_line import NumberLine
from tacit.families.microdata.distances import scaled
from tacit.families.microdata.microdata import MicrodataQuestion

# What a definition asks about several releases: which values a person can have, which rows can be
# theirs, how likely each value is, how likely it is that a row is theirs; whether all of a person's
# groups show the same rows, how many values they lose by the release that is asked about.
Needs = Literal["values", "rows", "beliefs", "chances", "signature", "lost"]
COUNTED: frozenset[Needs] = frozenset({"beliefs", "chances"})  # for these worlds are counted
SHOWN: frozenset[Needs] = frozenset({"signature"})  # for these the releases are enough


@dataclass(frozen=True, eq=False)
class AskedRelease:
    """The release that is asked about, and its sensitive column: what beliefs are compared with."""

    question: MicrodataQuestion
    column: str

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """The values of the column, by code."""
        return self.question.base.dictionaries[self.column]

    @cached_property
    def whole(self) -> list[int]:
        """How many people of the release have each value."""
        return [int(people) for people in self.question.base.people_by_code(self.column).tolist()]

    @cached_property
    def line(self) -> NumberLine:
        """The values as numbers."""
        codes = {value: code for code, value in enumerate(self.values)}
        return NumberLine(self.values, *scaled(self.column, self.values), codes)

    def number(self, code: int) -> Fraction:
        """A value as a number."""
        return Fraction(int(self.line.places[code]), self.line.scale)


@dataclass(frozen=True, slots=True, eq=False)
class PersonView:
    """What is known of a person.

    `values` are the codes of the values that they can have, `weights` how likely each is, as whole
    numbers of a common part; `total` is the sum of these for all worlds, also those in which the
    person has no value. `rows` is the least number of rows that can be theirs in a release,
    `chance` the greatest chance that one is. `signature` is how many values all of their groups
    show, each once in the same rows, 0 where they do not; `lost` how many values they could have by
    the earlier releases alone and cannot any more, None where there are no earlier ones.
    """

    about: AskedRelease
    values: tuple[int, ...] = ()
    weights: Mapping[int, int] = field(default_factory=dict)
    total: int = 0
    rows: int = 0
    chance: Fraction = Fraction(0)
    signature: int = 0
    lost: int | None = None

    @property
    def column(self) -> str:
        """The sensitive column."""
        return self.about.column

    @property
    def is_narrow(self) -> bool:
        """Are its numbers known, or nearly?"""
        return True

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The chance, as its own bounds."""
        return self.chance, self.chance

    @property
    def key(self) -> object:
        """What a score is made of: equal ones have the same."""
        known = self.values, tuple(self.weights.items()), self.total, self.rows, self.chance
        return (*known, self.signature, self.lost)

    @property
    def known(self) -> int:
        """The weight of all worlds in which the person has a value."""
        return sum(self.weights.values())

    @property
    def greatest(self) -> Fraction:
        """The greatest belief in a value, among worlds in which there is one; 1 where in none."""
        return Fraction(max(self.weights.values()), self.known) if self.weights else Fraction(1)

    def share(self, code: int) -> Fraction:
        """The belief in a value."""
        return Fraction(self.weights.get(code, 0), self.known)


def weighed(shares: Mapping[int, Fraction]) -> dict[int, int]:
    """Shares as whole numbers of a common part.

    >>> weighed({0: Fraction(1, 2), 3: Fraction(1, 3)})
    {0: 3, 3: 2}
    """
    common = lcm(*(share.denominator for share in shares.values()))
    return {code: int(share * common) for code, share in shares.items()}


@dataclass(frozen=True, slots=True)
class Score:
    """A number that a definition gives what is known of a person.

    `name` is its key in `measured`, `text` the number as a sentence says it, `limit` what is asked,
    in words. `worse` grows where it gets worse.
    """

    name: str
    value: Any
    fails: bool
    worse: Any
    text: str
    limit: str
    at_most: bool = False


def least(name: str, value: Any, required: Any, text: str, limit: str) -> Score:
    """A number that must not be too small."""
    return Score(name, value, value < required, -value, text, f"{limit} required")


def most(name: str, value: Any, allowed: Any, text: str, limit: str) -> Score:
    """A number that must not be too great."""
    return Score(name, value, value > allowed, value, text, f"at most {limit} allowed", True)
