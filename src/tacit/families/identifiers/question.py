"""The question about direct identifiers: every column of a release with what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tacit.model.deadline import look


@dataclass(frozen=True, slots=True)
class IdentifierQuestion:
    """What a release shows: its rows, and the different values of each column, in a fixed order.
    `about` is the table that it is a copy of, or itself; `year` that of the question.
    """

    release: str
    columns: Mapping[str, tuple[Any, ...]]
    rows: int
    year: int
    about: str = ""

    def closed(self) -> Self:
        """The question itself: it looks nothing up."""
        return self


def question_of(
    release: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], year: int, about: str = ""
) -> IdentifierQuestion:
    """The question about rows that are read once.

    >>> question_of("r", ["zip"], [("13068",), ("13053",), ("13068",)], 2026).columns
    {'zip': ('13053', '13068')}
    """
    seen: list[dict[tuple[type, str], Any]] = [{} for _ in columns]
    many = 0
    for row in rows:
        if many % 1000 == 0:
            look()
        many += 1
        for values, value in zip(seen, row, strict=True):
            values.setdefault((type(value), str(value)), value)
    found = {
        name: tuple(values[key] for key in sorted(values, key=lambda one: (one[1], str(one[0]))))
        for name, values in zip(columns, seen, strict=True)
    }
    return IdentifierQuestion(release, found, many, year, about)
