"""A question about queries: a secret, the views that are shown together, and what everybody
knows of the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from tacit.families.queries.logic.known_keys import KnownKeys
from tacit.families.queries.query import Relations
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.model.verdict import Assumption


@dataclass(frozen=True, slots=True)
class QueryQuestion:
    """What a definition needs to judge views against a secret. No rows are needed.

    `dialect` is the SQL that the texts are written in. `tied` are groups of relations whose rows
    depend on each other by constraints and foreign keys that everybody knows. `others` are views
    that the texts may name. `known` are the tables of which everybody knows which keys there are:
    foreign keys into these tie nothing. `derived` are the tables whose rows may depend on all rows
    of others, with these.
    """

    secret: QueryUnderstanding
    views: tuple[QueryUnderstanding, ...]
    relations: Relations
    dialect: str = "duckdb"
    tied: tuple[frozenset[str], ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    known: KnownKeys = field(default_factory=KnownKeys)
    derived: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def closed(self) -> Self:
        """The question itself: it looks nobody up."""
        return self
