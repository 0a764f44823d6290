"""Everybody: a file with the people of some overlapping views and their classes, of which pages
are read in any order.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from tacit.engines.sql import shapes_paged
from tacit.errors import InputError
from tacit.families.microdata.hierarchy import value_text
from tacit.model.jobs import Job

BATCH = 20_000
ENDING = ".people"
Person = tuple[
    tuple[str | None, ...], int, int | None
]  # key, class, and the number of the value in the data


def write_people(
    path: Path,
    people: Iterable[tuple[Sequence[Any], int, int | None]],
    wide: int,
    many: int,
    job: Job,
) -> int:
    """Write everybody in their order, for the owner's eyes only; how many there are.
    `wide` is how many columns the key has.
    """
    part = path.with_suffix(".part")
    with suppress(FileNotFoundError):
        part.unlink()
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    written, rows = 0, iter(people)
    try:
        with closing(sqlite3.connect(part)) as file:
            for sql in (*shapes_paged.UNGUARDED, shapes_paged.people_table(wide)):
                file.execute(sql)
            while batch := list(islice(rows, BATCH)):
                job.step(f"writing down {many:,} people", min(1.0, written / max(1, many)))
                lines = [
                    (
                        written + at,
                        class_,
                        value,
                        *(None if one is None else value_text(one) for one in key),
                    )
                    for at, (key, class_, value) in enumerate(batch)
                ]
                file.executemany(shapes_paged.one_person(wide), lines)
                written += len(batch)
            file.execute(shapes_paged.BY_CLASS)
            file.commit()
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    return written


class PeopleFile:
    """The people of a file, read page by page: in their own order, or class by class."""

    def __init__(self, path: Path, wide: int, sizes: Sequence[int]) -> None:
        self.path = path
        self._wide = wide
        self._sizes = dict(enumerate(sizes))
        self._found: tuple[str, dict[int, int]] = "", self._sizes

    def count(self, search: str = "") -> int:
        """How many people there are whose key has some text in it."""
        return sum(self._counts(search).values())

    def page(
        self,
        offset: int,
        limit: int,
        classes: Sequence[int] | None = None,
        search: str = "",
        backwards: bool = False,
    ) -> list[Person]:
        """Some people: in the order of their keys, `backwards` perhaps, or with `classes` in the
        order of these.
        """
        with self._opened() as file:
            if classes is None:
                query = shapes_paged.page(self._wide, search=bool(search), backwards=backwards)
                values = [*wanted(search), limit, offset]
                return [person(row) for row in file.execute(query, values)]
            return list(islice(self._by_class(file, offset, limit, classes, search), limit))

    def _by_class(
        self, file: sqlite3.Connection, offset: int, limit: int, classes: Sequence[int], search: str
    ) -> Iterator[Person]:
        counts = self._counts(search)
        query = shapes_paged.page(self._wide, search=bool(search), of_class=True)
        for class_ in classes:
            many = counts.get(class_, 0)
            if offset >= many:
                offset -= many
                continue
            for row in file.execute(query, [class_, *wanted(search), limit, offset]):
                yield person(row)
            limit, offset = limit - (many - offset), 0
            if limit <= 0:
                return

    def _counts(self, search: str) -> dict[int, int]:
        """How many people of each class are looked for; the last answer is kept."""
        if not search:
            return self._sizes
        if self._found[0] != search:
            with self._opened() as file:
                rows = file.execute(shapes_paged.class_sizes(self._wide), wanted(search))
                self._found = search, dict(rows)
        return self._found[1]

    def _opened(self) -> closing[sqlite3.Connection]:
        try:
            return closing(sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True))
        except sqlite3.Error:
            raise InputError(
                "these people were looked up again meanwhile.", hint="Load the page again."
            ) from None


def wanted(search: str) -> list[str]:
    """The values of a query for keys with some text in them, whatever its case."""
    return [shapes_paged.pattern(search)] if search else []


def person(row: Sequence[Any]) -> Person:
    """A row of the file: key, class, value."""
    return tuple(row[2:]), row[0], row[1]


def forget_others(path: Path, stem: str) -> None:
    """Remove the files of earlier looks at the same releases."""
    for other in path.parent.glob(f"{stem}.*{ENDING}"):
        if other != path:
            with suppress(OSError):
                other.unlink()
