"""Which values the parameters of a secret are asked for:
all that are known, and new ones where a column is open.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count, islice, product
from math import prod
from typing import Any

from tacit.errors import InputError, TacitError
from tacit.families.queries.query import Constant
from tacit.families.queries.query_parameters import parameters, places
from tacit.families.worlds.reading.data import ViewData
from tacit.families.worlds.reading.world_statements import Statements
from tacit.families.worlds.universe import UNSEEN, universe_of
from tacit.families.worlds.world_setting import WorldSetting

MOST_CASES = 2_000
FIRST = dt.datetime(1777, 7, 7)

Places = Mapping[
    str, Sequence[tuple[str, str]]
]  # the columns, as table and name, in which a parameter's values stand


class SecretValues:
    """The values for the parameters of one secret; it may have none."""

    def __init__(self, secret: str, stated: Statements, data: ViewData) -> None:
        self.secret = secret
        self.stated = stated
        self.data = data

    def cases(self, base: WorldSetting) -> list[dict[str, Any]]:
        """Every value that is known in the parameters' columns, or their domains, and new ones
        where these are open.

        With several open parameters as many new values are tried: they may be the same, or differ.
        """
        where = self._places
        if not where:
            return [{}]
        relations = self.stated.readings.relations()
        found = self._found(base)
        is_open = {
            name: any(column not in relations[table].domains for table, column in columns)
            for name, columns in where.items()
        }
        kinds = {
            name: relations[columns[0][0]].kinds.get(columns[0][1])
            for name, columns in where.items()
        }
        taken = [value for values in found.values() for value in values]
        new = {kind: beyond(taken, kind, sum(is_open.values())) for kind in kinds.values()}
        choices = [
            [*values, *(new[kinds[name]] if is_open[name] else ())]
            for name, values in found.items()
        ]
        if prod(map(len, choices)) > MOST_CASES:
            raise InputError(
                f"the parameters of {self.secret!r} have {prod(map(len, choices)):,} values; up to "
                f"{MOST_CASES:,} are asked.",
                hint="Write a constant for one of them.",
            )
        many = [values for values in product(*choices) if is_first(values, new.values())]
        if not many:
            raise InputError(
                f"there is no value to ask {self.secret!r} for: a domain is empty.",
                hint="Add values to the domain.",
            )
        return [dict(zip(found, values, strict=True)) for values in many]

    def in_columns(self, cases: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str, Any], ...]:
        """The values of all cases with their columns, so that the worlds of all cases are over
        the same values.
        """
        return tuple(
            (table, column, one[name])
            for one in cases
            for name, columns in self._places.items()
            for table, column in columns
        )

    @cached_property
    def _places(self) -> Places:
        readings, text = self.stated.readings, self.stated.plan.secrets[self.secret]
        if not parameters(text):
            return {}
        try:
            return places(
                text, readings.relations(), lambda one: readings.read_as(one, self.secret)
            )
        except TacitError as error:
            raise error.at(self.stated.plan.mark("secrets", self.secret)) from None

    def _found(self, base: WorldSetting) -> dict[str, list[Any]]:
        """The values of each parameter that are in the data or in a domain."""
        relations = self.stated.readings.relations()
        stored = tuple(
            (table, column, fact.values[relations[table].columns.index(column)])
            for columns in self._places.values()
            for table, column in columns
            if not self.data.is_empty(self.stated.plan.tables[table])
            for fact in self.data.facts(table)
        )
        known = universe_of(
            replace(base, secret=self.stated.example(self.secret), values=stored), 0
        )

        def values(columns: Sequence[tuple[str, str]]) -> list[Any]:
            spots = [(table, relations[table].columns.index(column)) for table, column in columns]
            return list(
                dict.fromkeys(
                    value
                    for spot in spots
                    for value in known.numbering.plain(known.columns[spot])
                    if value is not None
                )
            )

        return {name: values(columns) for name, columns in self._places.items()}


def beyond(values: Sequence[Any], kind: str | None, many: int) -> list[Any]:
    """Values that are none of some values of a column.

    >>> beyond(["p1", "_fresh1"], "text", 2), beyond([1, 7, 0], "integer", 1)
    (['_fresh0', '_fresh2'], [2])
    """
    taken = set(map(Constant, values))
    tried = (new_value(at, kind) for at in count())
    return list(islice((value for value in tried if Constant(value) not in taken), many))


def new_value(at: int, kind: str | None) -> Any:
    """One of many values of a type."""
    if kind in ("integer", "decimal"):
        return at
    if kind in ("date", "timestamp"):
        later = FIRST + dt.timedelta(days=at)
        return later if kind == "timestamp" else later.date()
    return f"{UNSEEN}{at}"


def is_first(values: Sequence[Any], new: Iterable[Sequence[Any]]) -> bool:
    """Of cases that differ only in which new values are which, is this the first?

    >>> (
    ...     is_first(("a", "_fresh0"), [["_fresh0", "_fresh1"]]),
    ...     is_first(("_fresh1", "a"), [["_fresh0", "_fresh1"]]),
    ... )
    (True, False)
    """
    for some in new:
        seen = [some.index(value) for value in dict.fromkeys(values) if value in some]
        if seen != list(range(len(seen))):
            return False
    return True
