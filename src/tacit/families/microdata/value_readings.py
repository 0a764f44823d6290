"""The readings of a table: what values that may mean unknown, or that differ only in spelling,
can be taken for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Literal, get_args

from tacit.families.microdata.cleaning import cleaned
from tacit.families.microdata.counts import Counts
from tacit.model.text import folded

Meant = Literal[
    "apart", "one", "missing"
]  # the spellings are values of their own, one value, or no value
Untried = Literal["", "spellings", "words"]  # which doubts were taken alike and not each for itself
MOST_READINGS = 16  # each is counted and judged for itself


@dataclass(frozen=True, slots=True)
class Doubt:
    """Spellings of one word in a column, and what they may be taken for, the strictest last."""

    column: str
    spellings: tuple[Any, ...]
    options: tuple[Meant, ...]


@dataclass(frozen=True, slots=True)
class ValueReading:
    """One way to take everything that is in doubt."""

    meant: Mapping[Doubt, Meant] = field(default_factory=dict)

    def counts(self, base: Counts) -> Counts:
        """The counts of the table, read this way."""
        for column in dict.fromkeys(doubt.column for doubt in self.meant):
            unknown = [one for doubt in self._meaning("missing", column) for one in doubt.spellings]
            merged = [folded(doubt.spellings[0]) for doubt in self._meaning("one", column)]
            if unknown or merged:
                base = cleaned(
                    base, column, unknown=unknown, merge_spelling=bool(merged), merged=merged
                )
        return base

    def text(self) -> str:
        """How the values are read, without naming any.

        >>> word, pair = (
        ...     Doubt("c", ("?",), ("apart", "missing")),
        ...     Doubt("c", ("Flu", "flu"), ("apart", "one")),
        ... )
        >>> (
        ...     ValueReading({word: "missing", pair: "apart"}).text(),
        ...     ValueReading({word: "apart", pair: "apart"}).text(),
        ... )
        ('words for unknown as no value', 'values as written')
        >>> ValueReading(
        ...     {word: "missing", Doubt("c", ("n/a",), ("apart", "missing")): "apart"}
        ... ).text()
        'some of the words for unknown as no value'
        """
        said = [
            *self._share("missing", "words for unknown", "as no value"),
            *self._share("one", "spelling variants", "as one value"),
        ]
        return " and ".join(said) or "values as written"

    def values(self) -> dict[str, dict[str, list[Any]]]:
        """By column, the values that are read otherwise than as written; for the owner."""
        found: dict[str, dict[str, list[Any]]] = {}
        for doubt, meant in self.meant.items():
            if meant != "apart":
                shown = list(doubt.spellings) if meant == "missing" else [list(doubt.spellings)]
                found.setdefault(doubt.column, {}).setdefault(meant, []).extend(shown)
        return found

    def _meaning(self, meant: Meant, column: str) -> list[Doubt]:
        return [
            doubt for doubt, one in self.meant.items() if one == meant and doubt.column == column
        ]

    def _share(self, meant: Meant, things: str, read: str) -> Iterator[str]:
        possible = [one for doubt, one in self.meant.items() if meant in doubt.options]
        so = [one for one in possible if one == meant or (meant == "one" and one == "missing")]
        if meant in so:
            yield f"{things} {read}" if len(so) == len(possible) else f"some of the {things} {read}"


AS_WRITTEN = ValueReading()


def doubts_of(
    column: str, words: Collection[Any], variants: Collection[Any], values: Sequence[Any]
) -> list[Doubt]:
    """What is in doubt about a column:
    `words` that may mean unknown, `variants` that may be spellings of another value.

    >>> doubts_of("c", ["?"], ["flu"], ["Flu", "flu", "?", "Cold"])
    [Doubt(column='c', spellings=('?',), options=('apart', 'missing')), Doubt(column='c', spellings=('Flu', 'flu'), options=('apart', 'one'))]
    """  # noqa: E501
    found = []
    for some, last in ((words, ("missing",)), (variants, ())):
        for name in dict.fromkeys(map(folded, some)):
            spellings = tuple(value for value in values if folded(value) == name)
            one: tuple[Meant, ...] = ("one",) if len(spellings) > 1 else ()
            found.append(Doubt(column, spellings, ("apart", *one, *last)))
    return found


def other_readings(doubts: Sequence[Doubt]) -> tuple[list[ValueReading], Untried]:
    """All readings but the values as written, the strictest last; and what they leave untried.

    Each word may be a value or none, and the spellings of each value one or several, whatever the
    others are. Where this gives too many readings, all spellings are taken alike; where it still
    does, all words too.
    """
    words = [doubt for doubt in doubts if "missing" in doubt.options]
    variants = [doubt for doubt in doubts if doubt not in words]
    groups: tuple[tuple[Untried, list[list[Doubt]]], ...] = (
        ("", [[doubt] for doubt in doubts]),
        ("spellings", [*([doubt] for doubt in words), variants]),
        ("words", [words, variants]),
    )
    untried, together = next(
        one for one in groups if one[0] == "words" or _number(one[1]) <= MOST_READINGS
    )
    ways = [_ways(some) for some in together if some]
    readings = [
        ValueReading({doubt: meant for way in chosen for doubt, meant in way.items()})
        for chosen in product(*ways)
    ]
    return readings[1:], untried


def _ways(doubts: Sequence[Doubt]) -> list[dict[Doubt, Meant]]:
    """The ways to take some doubts alike."""
    meant = [one for one in get_args(Meant) if any(one in doubt.options for doubt in doubts)]
    return [{doubt: one if one in doubt.options else "apart" for doubt in doubts} for one in meant]


def _number(groups: Sequence[Sequence[Doubt]]) -> int:
    return prod(len(_ways(some)) for some in groups if some)
