"""Answers: what a release shows today, or what its file says, as the keyed hash that the ledger
has of what was handed out.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.engines.sql import shapes
from tacit.errors import TacitError
from tacit.families.answer_files import arranged, read_file
from tacit.families.family import kind_of
from tacit.families.release_kind import ReleaseRows, Row
from tacit.ledger.digests import AnswerDigest
from tacit.model.schema import Table

if TYPE_CHECKING:
    from tacit.ledger.key import Key
    from tacit.plan.open_plan import OpenPlan

KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    Decimal: "decimal",
    float: "decimal",
    str: "text",
    dt.date: "date",
    dt.datetime: "timestamp",
}


@dataclass(frozen=True, slots=True)
class DigestedAnswer:
    """An answer that was read: its keyed hash, its columns, and of which kind their values are
    (None: none has any).
    """

    digest: str
    columns: tuple[str, ...]
    kinds: tuple[str | None, ...]
    rows: int


class Answers:
    """The answers of a plan's releases. Each is computed once, and only its hash is kept."""

    def __init__(self, opened: OpenPlan, key: Key) -> None:
        self.opened = opened
        self.plan = opened.plan
        self.key = key
        self._today: dict[str, DigestedAnswer | None] = {}
        self._people: dict[str, str | None] = {}

    def today(self, name: str) -> DigestedAnswer | None:
        """The answer that the data give today;
        None where they cannot tell, because they are not there.
        """
        if name not in self._today:
            try:
                self._today[name] = self.summed(self.shown(name))
            except TacitError:
                self._today[name] = (
                    None  # whatever keeps it from being computed: it cannot be compared
                )
        return self._today[name]

    def people(self, table: Table) -> str | None:
        """The keyed hash of who is in a table and what everybody knows of them;
        None without a key, or where the data cannot tell.
        """
        if table.name not in self._people:
            try:
                self._people[table.name] = self._counted(table) if table.keys else None
            except TacitError:
                self._people[table.name] = None
        return self._people[table.name]

    def _counted(self, table: Table) -> str:
        columns = sorted({*table.keys[0], *table.quasi_identifiers})
        engine, digest = self.opened.engine, AnswerDigest(self.key, columns)
        engine.attach_once(table)
        for row in engine.rows(shapes.columns_of(table.name, columns)):
            digest.add(row)
        return digest.hex()

    def fits(self, name: str, digest: str) -> bool:
        """Does the file that the plan has for a release hold the answer with this hash?"""
        file = self.plan.releases[name].answer_file
        return file is not None and self.has(self.plan.folder / file, file, name, digest)

    def has(self, path: Path, shown: str, name: str, digest: str) -> bool:
        """Does a file hold the answer of a release with this hash, in one
        of the ways to read its values?
        """
        try:
            return any(one.digest == digest for one in self.of_file(path, shown, name))
        except TacitError:
            return False

    def shown(self, name: str) -> ReleaseRows:
        """The rows of a release as the data give them today, or as its file has them where it
        was made elsewhere.
        """
        release = self.plan.releases[name]
        return kind_of(release).shown(release, self.opened)

    def summed(self, shown: ReleaseRows) -> DigestedAnswer:
        """Read an answer for its hash."""
        digest = AnswerDigest(self.key, places(len(shown.columns)))
        kinds: list[str | None] = [None] * len(shown.columns)
        for row in shown.rows:
            digest.add(row)
            noted(kinds, row)
        return DigestedAnswer(digest.hex(), shown.columns, tuple(kinds), digest.rows)

    def of_file(self, path: Path, shown: str, name: str) -> Iterator[DigestedAnswer]:
        """The answer in a file: with values of the kinds that the data give, as numbers where all
        look like numbers, as text.

        A file says less of its values than a database.
        Whichever reading has the hash, it is the same answer.
        """
        release = self.plan.releases[name]
        today = None if kind_of(release).is_file(release) else self.today(name)
        columns = today.columns if today is not None else self._columns(name)
        if today is not None and (alike := self._alike(path, shown, today)) is not None:
            yield alike
        yield self.summed(arranged(read_file(path, shown, guess=True), columns))
        yield self.summed(arranged(read_file(path, shown), columns))

    def _alike(self, path: Path, shown: str, today: DigestedAnswer) -> DigestedAnswer | None:
        """A file read with the kinds of values that the data give;
        None where some value is of no such kind.
        """
        try:
            return self.summed(
                arranged(read_file(path, shown, today.kinds, today.columns), today.columns)
            )
        except (TacitError, ValueError, ArithmeticError, LookupError):
            return None

    def _columns(self, name: str) -> tuple[str, ...]:
        """The columns of a release, where they are known."""
        release = self.plan.releases[name]
        try:
            return kind_of(release).columns(release, self.opened)
        except TacitError:
            return ()


def noted(kinds: list[str | None], row: Row) -> None:
    """Remember of which kind the values of each column are: text where it is not one."""
    for at, value in enumerate(row):
        if value is not None:
            kind = KINDS.get(type(value), "text")
            kinds[at] = (
                kind
                if kinds[at] in (None, kind)
                else "decimal"
                if {kinds[at], kind} == {"integer", "decimal"}
                else "text"
            )


def places(many: int) -> list[str]:
    """Columns by their places: how a database calls a computed column is its own affair.

    >>> places(2)
    ['1', '2']
    """
    return [str(at + 1) for at in range(many)]
