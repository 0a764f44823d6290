"""What somebody may see decides an answer, or it does not: by running all of it on every small
database.

From the definition, sharing no code with `tacit`: tables are bags of rows over few values; two
databases are alike for somebody if all views that they may see, and all answers that they got, have
the same rows in them, each as often. A query is covered if its answer, with the order of its rows
where it asks for one, is the same on all databases that are alike. Views are judged as SQL texts
that SQLite runs.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

Row = tuple[int | None, ...]
Database = dict[str, tuple[Row, ...]]


@dataclass(frozen=True)
class Small:
    """A table: columns with their values, the key (() for none), and how many rows it may have."""

    name: str
    columns: dict[str, tuple[int | None, ...]]
    key: tuple[str, ...] = ()
    most: int = 2

    def bags(self) -> Iterator[tuple[Row, ...]]:
        """Everything that can be in it; rows may be there twice where there is no key."""
        rows = list(itertools.product(*self.columns.values()))
        places = [list(self.columns).index(name) for name in self.key]
        for number in range(self.most + 1):
            for bag in itertools.combinations_with_replacement(rows, number):
                keys = [tuple(row[place] for place in places) for row in bag]
                if not places or len(set(keys)) == len(keys):
                    yield bag


class Worlds:
    """All databases over some tables that satisfy a condition, each in SQLite."""

    def __init__(
        self, tables: Sequence[Small], holds: Callable[[Database], bool] = lambda one: True
    ) -> None:
        self.databases: list[sqlite3.Connection] = []
        names = [one.name for one in tables]
        for bags in itertools.product(*(one.bags() for one in tables)):
            if not holds(dict(zip(names, bags, strict=True))):
                continue
            database = sqlite3.connect(":memory:")
            for table, bag in zip(tables, bags, strict=True):
                columns = ", ".join(f"{name} INTEGER" for name in table.columns)
                database.execute(f"CREATE TABLE {table.name} ({columns})")
                marks = ", ".join("?" * len(table.columns))
                database.executemany(f"INSERT INTO {table.name} VALUES ({marks})", bag)
            self.databases.append(database)

    def answers(self, sql: str, *, in_order: bool = False) -> list[Hashable]:
        """The answer on each database."""
        found: list[Hashable] = []
        for one in self.databases:
            rows = one.execute(sql).fetchall()
            found.append(tuple(rows) if in_order else tuple(sorted(rows, key=repr)))
        return found

    def is_covered(
        self, query: str, views: Sequence[str], past: Sequence[tuple[str, Hashable]] = ()
    ) -> bool:
        """Is the answer the same wherever the views show the same, on databases that gave the
        answers of the past?
        """
        shown = list(zip(*(self.answers(view) for view in views), strict=True))
        told = list(zip(*(self.answers(sql, in_order=True) for sql, _ in past), strict=True))
        got = tuple(answer for _, answer in past)
        seen: dict[Hashable, Hashable] = {}
        for at, answer in enumerate(self.answers(query, in_order=True)):
            if past and told[at] != got:
                continue
            if seen.setdefault(shown[at] if shown else (), answer) != answer:
                return False
        return True
