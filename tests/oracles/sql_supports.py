"""SQL by execution: what DuckDB answers on all small instances, and queries evaluated by hand.

Shares nothing with the readers: a conjunctive query is evaluated
by trying every row for every atom.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import duckdb

Row = tuple[Any, ...]
Instance = Mapping[str, frozenset[Row]]
Fact = tuple[str, Row]


class Instances:
    """Small instances of some relations, all asked at once.

    `facts` are all rows that can be; the instances are all sets of at most `most` of them that
    satisfy the keys (columns by position).
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[str]],
        facts: Sequence[Fact],
        most: int,
        keys: Mapping[str, Sequence[int]] | None = None,
        kind: str = "INTEGER",
    ) -> None:
        self.columns = columns
        self.facts = tuple(facts)
        self.sets = [
            frozenset(some)
            for size in range(most + 1)
            for some in itertools.combinations(self.facts, size)
            if fits_keys(some, keys or {})
        ]
        self.number = {facts: at for at, facts in enumerate(self.sets)}
        self.kind = kind
        self.connect()

    def connect(self) -> None:
        """Fill a new database: DuckDB closes the old one after an internal error."""
        self.connection = self.database()
        self.connection.execute("CREATE TEMP TABLE all_instances(id INTEGER)")
        numbers = ", ".join(f"({at})" for at in range(len(self.sets)))
        self.connection.execute(f"INSERT INTO all_instances VALUES {numbers}")
        for name, names in self.columns.items():
            typed = ", ".join(f"{one} {self.kind}" for one in names)
            self.connection.execute(f"CREATE TEMP TABLE all_{name}(id INTEGER, {typed})")
            rows = [
                (at, *row)
                for at, some in enumerate(self.sets)
                for relation, row in some
                if relation == name
            ]
            values = ", ".join(
                "(" + ", ".join("NULL" if v is None else repr(v) for v in row) + ")" for row in rows
            )
            self.connection.execute(f"INSERT INTO all_{name} VALUES {values}")

    def database(self) -> Any:
        """A new connection."""
        return duckdb.connect(config={"threads": 1})

    def answers(self, sql: str) -> list[Counter[Row]]:
        """What DuckDB answers on each instance."""
        tables = ", ".join(
            (
                f"{name} AS (SELECT {', '.join(names)} FROM all_{name} WHERE all_{name}.id = "
                "all_instances.id)"
            )
            for name, names in self.columns.items()
        )
        asked = (
            f"SELECT all_instances.id, answer.* FROM all_instances, LATERAL (WITH {tables} "
            f"SELECT * FROM ({sql}) AS asked) AS answer"
        )
        found: list[Counter[Row]] = [Counter() for _ in self.sets]
        for row in self.connection.execute(asked).fetchall():
            found[row[0]][tuple(row[1:])] += 1
        return found

    def answers_one_by_one(self, sql: str, most: int) -> list[Counter[Row] | None]:
        """The same for instances of at most so many facts, each asked by itself;
        None for the others.
        """
        self.connect()
        return [
            self.answer(sql, at) if len(facts) <= most else None
            for at, facts in enumerate(self.sets)
        ]

    def answer(self, sql: str, at: int) -> Counter[Row]:
        """What DuckDB answers on one instance, asked by itself."""
        for name, names in self.columns.items():
            self.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {', '.join(names)} FROM all_{name} "
                f"WHERE id = {at}"
            )
        found = Counter(self.connection.execute(sql).fetchall())
        for name in self.columns:
            self.connection.execute(f"DROP TABLE {name}")
        return found

    def critical(self, answers: Sequence[Counter[Row] | None]) -> set[Fact]:
        """The facts whose addition changes the answer on some
        instance, as far as the instances go.
        """
        found = set()
        for small, fact, large in self.steps:
            if (
                fact not in found
                and answers[large] is not None
                and answers[small] != answers[large]
            ):
                found.add(fact)
        return found

    @cached_property
    def steps(self) -> list[tuple[int, Fact, int]]:
        """Every instance with a fact that can be added and the instance that results."""
        return [
            (self.number[facts - {fact}], fact, at)
            for at, facts in enumerate(self.sets)
            for fact in sorted(facts, key=repr)
            if facts - {fact} in self.number
        ]


class PostgresInstances(Instances):
    """The same, asked of PostgreSQL."""

    def __init__(self, url: str, *given: Any) -> None:
        self.url = url
        super().__init__(*given)

    def database(self) -> Any:
        """A new connection."""
        import psycopg

        return psycopg.connect(self.url, autocommit=True)

    def connect(self) -> None:
        """Fill it, so that the rows of an instance are found without reading those of all."""
        super().connect()
        for name in self.columns:
            self.connection.execute(f"CREATE INDEX ON all_{name}(id)")
            self.connection.execute(f"ANALYZE all_{name}")


def fits_keys(facts: Sequence[Fact], keys: Mapping[str, Sequence[int]]) -> bool:
    """Do no two rows agree on a key?"""
    for name, key in keys.items():
        values = [tuple(row[at] for at in key) for relation, row in facts if relation == name]
        if len(values) != len(set(values)):
            return False
    return True


def rows_of(facts: frozenset[Fact], relation: str) -> list[Row]:
    """The rows of one relation."""
    return [row for name, row in facts if name == relation]


def valuations(part: Any, facts: frozenset[Fact]) -> Iterator[tuple[dict[Any, Any], list[Fact]]]:
    """Every way to satisfy a conjunctive query, with the facts that it uses:
    one row tried for each atom.
    """
    rows = {atom.relation: rows_of(facts, atom.relation) for atom in part.atoms}

    def further(
        at: int, values: dict[Any, Any], used: list[Fact]
    ) -> Iterator[tuple[dict[Any, Any], list[Fact]]]:
        if at == len(part.atoms):
            if holds(part, values):
                yield values, used
            return
        atom = part.atoms[at]
        for row in rows[atom.relation]:
            more = dict(values)
            if all(matches(term, value, more) for term, value in zip(atom.terms, row, strict=True)):
                yield from further(at + 1, more, [*used, (atom.relation, row)])

    yield from further(0, {}, [])


def matches(term: Any, value: Any, values: dict[Any, Any]) -> bool:
    """Can the term have the value, given what others have?"""
    if type(term).__name__ == "Constant":
        return bool(term.value == value)
    return bool(values.setdefault(term, value) == value)


def holds(part: Any, values: Mapping[Any, Any]) -> bool:
    """Do comparisons hold, and is known what must be?"""
    if any(values.get(variable, 0) is None for variable in part.known):
        return False
    for one in part.comparisons:
        left, right = (
            term.value if type(term).__name__ == "Constant" else values[term]
            for term in (one.left, one.right)
        )
        if left is None or right is None:
            return False
        if not {"!=": left != right, "<": left < right, "<=": left <= right}[one.operator]:
            return False
    return True


def evaluated(query: Any, facts: frozenset[Fact]) -> Counter[Row]:
    """The answer of a union of conjunctive queries, as a bag or a set as it says."""
    found: Counter[Row] = Counter()
    for part in query.parts:
        for values, _ in valuations(part, facts):
            found[
                tuple(
                    term.value if type(term).__name__ == "Constant" else values[term]
                    for term in part.head
                )
            ] += 1
    return found if query.bag else Counter(set(found))


def taking_part(queries: Sequence[Any], facts: Sequence[Fact]) -> set[Fact]:
    """The facts that take part in a valuation of some query, over all facts that can be.

    With keys the facts of one valuation must fit together;
    without it more facts are found, never fewer.
    """
    found: set[Fact] = set()
    for query in queries:
        for part in query.parts:
            for _, used in valuations(part, frozenset(facts)):
                found.update(used)
                if len(found) == len(facts):
                    return found
    return found
