"""Findings: which columns of a release hold one of the eighteen kinds of identifiers, and how that
is seen: by name, by the form of values, or by the rules for zip codes, dates and ages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.families.identifiers.forms import kinds_of_value
from tacit.families.identifiers.kinds import (
    AGE,
    BIRTH,
    DATES,
    OTHERS,
    PLACES,
    ZIP,
    IdentifierKind,
    is_called,
    kinds_of_name,
)
from tacit.families.identifiers.rules import (
    ages_that_stay_not,
    births_that_stay_not,
    date_may_stay,
    is_hidden,
    zip_may_stay,
)
from tacit.model.deadline import look

FLAGS = frozenset({"0", "1", "true", "false", "yes", "no", "y", "n"})
ENOUGH = 20  # rows from which texts that all differ are taken as a code


@dataclass(frozen=True, slots=True)
class IdentifierFinding:
    """A column that holds identifiers of a kind: how that is seen, and in which of its values."""

    column: str
    kind: IdentifierKind
    how: str
    values: tuple[Any, ...]


def findings(
    column: str, shown: Sequence[Any], rows: int, year: int
) -> Iterator[IdentifierFinding]:
    """What a column holds, by the different values that it shows in so many rows.

    >>> [one.kind.letter for one in findings("contact", ["ann@example.org", "*"], 2, 2026)]
    ['F']
    >>> [(one.how, one.values) for one in findings("zip", ["130**", "13053"], 2, 2026)]
    [('its zip codes', ('13053',))]
    """
    values = [one for one in shown if not is_hidden(one)]
    if not values:
        return
    found: dict[IdentifierKind, IdentifierFinding] = {}
    for one in by_rules(column, values, year):
        if one.values:
            found.setdefault(one.kind, one)
    if not is_flag(values):
        for kind in kinds_of_name(column):
            if kind is not DATES:  # of these a year may stay
                found.setdefault(kind, IdentifierFinding(column, kind, "its name", tuple(values)))
    for kind, some in by_form(values).items():
        found.setdefault(kind, IdentifierFinding(column, kind, "its values", tuple(some)))
    if not found and rows >= ENOUGH and len(values) == rows and is_text(values):
        found[OTHERS] = IdentifierFinding(column, OTHERS, "its values: all differ", tuple(values))
    yield from found.values()


def by_rules(column: str, values: Sequence[Any], year: int) -> Iterator[IdentifierFinding]:
    """What the rules for zip codes, dates and ages leave no room for."""
    if is_called(column, ZIP):
        left = tuple(one for one in values if not zip_may_stay(one))
        yield IdentifierFinding(column, PLACES, "its zip codes", left)
    if DATES in kinds_of_name(column) and not is_flag(values):
        left = tuple(one for one in values if not date_may_stay(one))
        yield IdentifierFinding(column, DATES, "its dates", left)
    if is_called(column, AGE):
        yield IdentifierFinding(column, DATES, "its ages", tuple(ages_that_stay_not(values)))
    if is_called(column, BIRTH):
        left = tuple(births_that_stay_not(values, year))
        yield IdentifierFinding(column, DATES, "its years of birth", left)


def by_form(values: Collection[Any]) -> dict[IdentifierKind, list[Any]]:
    """The values that look like an identifier, by its kind."""
    found: dict[IdentifierKind, list[Any]] = {}
    for at, value in enumerate(values):
        if at % 1000 == 0:
            look()
        for kind in kinds_of_value(value):
            found.setdefault(kind, []).append(value)
    return found


def is_flag(values: Collection[Any]) -> bool:
    """Do values only say whether something is so?"""
    return {str(one).strip().lower() for one in values} <= FLAGS


def is_text(values: Collection[Any]) -> bool:
    """Are all values texts?"""
    return all(isinstance(one, str) for one in values)
