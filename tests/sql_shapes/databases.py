"""All databases of a schema in DuckDB or PostgreSQL, each with its tables where the engine looks
first, and answers on all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import duckdb

from oracles.gateway import Answers, Laboratory, PostgresLaboratory, Schema

Facts = frozenset[tuple[str, tuple[Any, ...]]]


class Databases(Laboratory):
    """All databases of a schema in DuckDB;
    `main` is the schema of each, as it is of a user's tables.
    """

    def one_by_one(
        self, sql: str, only: Sequence[int] | None = None, *, ordered: bool | None = None
    ) -> list[Hashable]:
        """Run `sql` on each database, or on some;
        where DuckDB breaks, it says where in its own code, which is no answer.
        """
        found = super().one_by_one(sql, only, ordered=ordered)
        return [
            ("error", answer[1], "") if answer[:2] == ("error", "InternalException") else answer
            for answer in found
        ]

    def _single(self, number: int, database: int) -> duckdb.DuckDBPyConnection:
        assert self._apart is not None
        cursor = self._apart.cursor()
        cursor.execute(f"ATTACH ':memory:' AS d{number}; USE d{number}")
        self._fill(cursor, database)
        return cursor

    def _fill(self, cursor: duckdb.DuckDBPyConnection, database: int) -> None:
        for table in self.schema.tables:
            columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
            cursor.execute(f'CREATE TABLE "{table.name}" ({columns})')
            for row in self.contents(database)[table.name]:
                cursor.execute(
                    f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(row))})', row
                )


def facts_of(lab: Laboratory) -> list[Facts]:
    """The rows of each database."""
    return [
        frozenset(row for at, row in enumerate(lab.possible) if database >> at & 1)
        for database in lab.databases
    ]


def bags(answers: Sequence[Hashable]) -> list[Counter[Any] | None]:
    """The rows of each answer, however they are sorted and whatever their columns are called;
    None where it failed.
    """
    return [None if answer[0] == "error" else Counter(answer[2]) for answer in answers]  # type: ignore[index]


def critical(lab: Laboratory, answers: Sequence[Hashable | None]) -> frozenset[int]:
    """The possible rows, by number, that change the answer between two databases on which there
    is one (None: there is none).
    """
    at = {database: number for number, database in enumerate(lab.databases)}
    found = set()
    for number, database in enumerate(lab.databases):
        for row in range(len(lab.possible)):
            more = at.get(database | 1 << row)
            if (
                row in found
                or database >> row & 1
                or more is None
                or answers[number] is None
                or answers[more] is None
            ):
                continue
            if answers[number] != answers[more]:
                found.add(row)
    return frozenset(found)


def disclosed(lab: Laboratory, of_secret: frozenset[int], of_view: frozenset[int]) -> bool:
    """Is a row critical for both, or is one tied by keys to one of the other?"""
    touched = {lab.component[row] for row in of_view}
    return any(lab.component[row] in touched for row in of_secret)


def shown_apart(lab: Laboratory, answers: Sequence[Hashable | None], rows: frozenset[int]) -> str:
    """Two databases that differ in one of some rows, and the answers on them."""
    at = {database: number for number, database in enumerate(lab.databases)}
    for number, database in enumerate(lab.databases):
        for row in sorted(rows):
            more = at.get(database | 1 << row)
            if (
                database >> row & 1
                or more is None
                or answers[number] is None
                or answers[more] is None
                or answers[number] == answers[more]
            ):
                continue
            return (
                f"on {lab.contents(database)}: {answers[number]}; with {lab.possible[row]}: "
                f"{answers[more]}"
            )
    return "nowhere"


def databases(schema: Schema, url: str | None = None, prefix: str = "d") -> Laboratory:
    """All databases of a schema, in DuckDB or on a PostgreSQL server."""
    settings = {"disabled_optimizers": "statistics_propagation"}  # as the gateway has it
    return (
        Databases(schema, settings=settings)
        if url is None
        else PostgresLaboratory(schema, url, prefix)
    )


__all__ = [
    "Answers",
    "Databases",
    "bags",
    "critical",
    "databases",
    "disclosed",
    "facts_of",
    "shown_apart",
]
