"""Sensitive predicates: what must not be learned about a person's value. (Machanavajjhala 2008,
3.7)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.errors import DataError
from tacit.families.microdata.hierarchy import value_text
from tacit.families.words import listed, saying
from tacit.model.numbers import exact, plain


@dataclass(frozen=True, slots=True)
class Predicate:
    """A statement about a person's value:
    the codes of the values that satisfy it, and its words.
    """

    codes: frozenset[int]
    said: str


@dataclass(frozen=True, slots=True)
class Protect:
    """Which statements about a sensitive value are secret.

    `equals`: that it is one of these values, each on its own (None: every value, but those of
    `dont_care`; empty: none). `sets` and `ranges`: that it is in one of them. `within`: for every
    value x, that it is at most that far from x.
    """

    equals: tuple[Any, ...] | None = None
    dont_care: tuple[Any, ...] = ()
    sets: tuple[tuple[Any, ...], ...] = ()
    ranges: tuple[tuple[Fraction, Fraction], ...] = ()
    within: Fraction | None = None

    def predicates(self, column: str, domain: Sequence[Any]) -> list[Predicate]:
        """The secret statements about a column with these values by code, each once.

        >>> [
        ...     one.said
        ...     for one in Protect(sets=(("flu", "cold"),)).predicates("condition", ["flu", "cold"])
        ... ]
        ['has flu', 'has cold', 'has flu or cold']
        """
        codes = {key(value): code for code, value in enumerate(domain)}
        found = [*self._values(column, domain, codes), *self._sets(column, codes)]
        if self.ranges or self.within is not None:
            found += self._intervals(column, domain)
        once: dict[frozenset[int], Predicate] = {}
        for predicate in found:
            once.setdefault(predicate.codes, predicate)
        return list(once.values())

    def _values(
        self, column: str, domain: Sequence[Any], codes: Mapping[Any, int]
    ) -> list[Predicate]:
        careless = {key(value) for value in self.dont_care}
        wanted = domain if self.equals is None else self.equals
        return [
            Predicate(present([value], codes), saying(column, value))
            for value in wanted
            if key(value) not in careless
        ]

    def _sets(self, column: str, codes: Mapping[Any, int]) -> list[Predicate]:
        return [
            Predicate(
                present(values, codes), saying(column, listed([*map(value_text, values)], "or"))
            )
            for values in self.sets
        ]

    def _intervals(self, column: str, domain: Sequence[Any]) -> list[Predicate]:
        numbers = [as_number(column, value) for value in domain]
        around = (
            [(x - self.within, x + self.within) for x in sorted(numbers)]
            if self.within is not None
            else []
        )
        return [
            Predicate(
                frozenset(code for code, x in enumerate(numbers) if low <= x <= high),
                saying(column, f"{plain(low)} to {plain(high)}"),
            )
            for low, high in (*self.ranges, *around)
        ]

    def absent(self, domain: Sequence[Any]) -> list[str]:
        """Values that are named and do not occur: probably misspelt."""
        known = {key(value) for value in domain}
        named = {
            "equals": self.equals or (),
            "dont-care": self.dont_care,
            "in": [value for values in self.sets for value in values],
        }
        return [
            f"{name} of protect names {value_text(value)!r}, which does not occur"
            for name, values in named.items()
            for value in values
            if key(value) not in known
        ]

    def said(self, column: str) -> str:
        """What is protected, in words.

        >>> Protect(dont_care=("healthy",)).said("condition")
        "each person's condition, but healthy"
        >>> Protect(equals=(), within=Fraction(500)).said("salary")
        "whether a person's salary is within 500 of any value"
        """
        parts = [self._said_of_values(column)] if self.equals != () else []
        whether = [f"is {listed([*map(value_text, values)], 'or')}" for values in self.sets]
        whether += [f"is {plain(low)} to {plain(high)}" for low, high in self.ranges]
        if self.within is not None:
            whether.append(f"is within {plain(self.within)} of any value")
        if whether:
            parts.append(f"whether a person's {column} {listed(whether, 'or')}")
        return ", and ".join(parts)

    def _said_of_values(self, column: str) -> str:
        if self.equals is not None:
            return f"whether a person's {column} is {listed([*map(value_text, self.equals)], 'or')}"
        but = f", but {listed([*map(value_text, self.dont_care)])}" if self.dont_care else ""
        return f"each person's {column}{but}"

    def required(self) -> dict[str, Any]:
        """As a verdict repeats it."""
        shown: dict[str, Any] = {
            "equals": "all" if self.equals is None else list(self.equals),
            "dont-care": list(self.dont_care),
            "in": [list(values) for values in self.sets],
            "range": [list(pair) for pair in self.ranges],
            "within": self.within,
        }
        return {name: value for name, value in shown.items() if value not in ([], None)}


def key(value: Any) -> Any:
    """What makes two values the same: numbers by their size, 1 and "1" differ.

    >>> key(0.1) == key("0.1"), key(2) == key(2.0), key(True) == key(1)
    (False, True, False)
    """
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return value_text(value)
    try:
        return exact(value)
    except (ValueError, OverflowError):  # not a number, or infinite
        return value_text(value)


def present(values: Sequence[Any], codes: Mapping[Any, int]) -> frozenset[int]:
    """The codes of those values that occur."""
    return frozenset(codes[key(value)] for value in values if key(value) in codes)


def as_number(column: str, value: Any) -> Fraction:
    """A value that is compared by size."""
    found = key(value)
    if isinstance(found, Fraction):
        return found
    raise DataError(
        f"range and within of protect need numbers, and {column} has {value_text(value)!r}.",
        hint="Use equals or in, or declare the column's type: columns: {" + column + ": decimal}.",
    )
