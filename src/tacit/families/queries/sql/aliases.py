"""Aliases: what a bare name means that SELECT gives and a table has too, clause by clause and
engine by engine.

`tests/conformance/test_aliases.py` executes every line on the engines.
What is not said here is refused (`ambiguous-column`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Place = Literal[
    "select",
    "where",
    "group by",
    "group by, inside",
    "having",
    "having, inside an aggregate",
    "qualify",
    "order by",
    "order by, inside",
    "distinct on",
    "distinct on, inside",
]
Meaning = Literal["column", "alias"]

# Where a name is looked up, first place first. "inside": in an expression, not as the whole of it.
# HAVING: by the alias where the column is no grouping key.
# A key that is also an alias is not said: versions differ.
_COMMON: Mapping[Place, tuple[Meaning, ...]] = {
    "group by": ("column", "alias"),
    "group by, inside": ("column",),
    "having, inside an aggregate": ("column",),
    "order by": ("alias", "column"),
}
RULES: Mapping[str, Mapping[Place, tuple[Meaning, ...]]] = {
    "duckdb": {
        **_COMMON,
        "select": ("column", "alias"),  # only of items before
        "where": ("column", "alias"),
        "having": ("alias", "column"),
        "qualify": ("column", "alias"),
        "order by, inside": ("column", "alias"),
        "distinct on": ("alias", "column"),
        "distinct on, inside": ("column", "alias"),
    },
    "postgres": {
        **_COMMON,
        "select": ("column",),
        "where": ("column",),
        "having": ("column",),
        "order by, inside": ("column",),
        "distinct on": ("alias", "column"),
        "distinct on, inside": ("column",),
    },
    "spark": {
        **_COMMON,
        "select": ("column", "alias"),
        "where": ("column",),
        "having": ("alias", "column"),
        "qualify": ("column", "alias"),
        "order by, inside": ("alias", "column"),
    },
}
# Here a subquery that names a column of the query around it means the
# column, whatever SELECT calls so.
PLAIN_INSIDE: frozenset[Place] = frozenset({"select", "where", "group by", "group by, inside"})
GROUPS: frozenset[Place] = frozenset({"having"})  # a grouping key that is an alias too is refused


@dataclass(frozen=True, slots=True)
class DialectClause:
    """A clause of a query in one dialect: the order in which it looks up names;
    () where nothing is known.
    """

    dialect: str
    place: Place

    @property
    def rule(self) -> tuple[Meaning, ...]:
        """Where names are looked up.

        >>> DialectClause("duckdb", "order by").rule
        ('alias', 'column')
        """
        return RULES[self.dialect].get(self.place, ())

    @property
    def knows_aliases(self) -> bool:
        """Can a name be an alias here?"""
        return self.rule != ("column",)

    @property
    def inside(self) -> DialectClause:
        """The same clause, inside of an expression."""
        return DialectClause(self.dialect, INSIDE.get(self.place, self.place))


INSIDE: Mapping[Place, Place] = {
    "group by": "group by, inside",
    "order by": "order by, inside",
    "distinct on": "distinct on, inside",
}
