"""Setting: what everybody knows, what is published, what would come out, and what must not be
learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tacit.families.queries.dependency import Dependency
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Query, Relations

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PublishedView:
    """A view and its answer, a set of rows."""

    query: Query
    rows: frozenset[Row]


@dataclass(frozen=True, slots=True)
class WorldSetting:
    """Worlds are the databases that satisfy the dependencies and give
    the published views their answers.

    `new` and `new_dependencies` would be published together; they rule out worlds. `instance` are
    the rows of the data, or None where only answers are known. `fresh` is how many values beyond
    those seen a column without a domain may have, `values` are such that a column may have as well,
    `also` are relations that count among those that worlds are made of, whether anything speaks of
    them or not.
    """

    relations: Relations
    dependencies: tuple[Dependency, ...]
    published: tuple[PublishedView, ...]
    new: tuple[PublishedView, ...]
    secret: Query
    new_dependencies: tuple[Dependency, ...] = ()
    instance: frozenset[Fact] | None = None
    fresh: int = 0
    values: tuple[tuple[str, str, Any], ...] = ()
    also: tuple[str, ...] = ()

    def queries(self) -> Iterator[Query]:
        """Every query of the setting."""
        yield from (one.query for one in (*self.published, *self.new))
        yield self.secret

    def all_dependencies(self) -> tuple[Dependency, ...]:
        """Those that are known and those that would be."""
        return (*self.dependencies, *self.new_dependencies)

    def mentioned(self) -> tuple[str, ...]:
        """The relations that anything speaks of; the others do not matter."""
        by_dependencies = [name for one in self.all_dependencies() for name in one.relations()]
        return tuple(dict.fromkeys([*relations_in(self.queries()), *by_dependencies, *self.also]))


def relations_in(queries: Iterable[Query]) -> list[str]:
    """The relations that queries speak of, each once."""
    return list(
        dict.fromkeys(
            atom.relation for query in queries for part in query.parts for atom in part.atoms
        )
    )
