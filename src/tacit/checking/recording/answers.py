"""Answers: what a release shows today, or what its file says, as the keyed hash that the ledger
has of what was handed out.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.checking.holdings.trees import tables_of, tree_of
from tacit.engines.attach import CONVERSIONS
from tacit.engines.files import csv_shape
from tacit.engines.sql import shapes
from tacit.engines.sql.shapes_ordered import in_order
from tacit.errors import DataError, TacitError
from tacit.ledger.digests import AnswerDigest
from tacit.model.release import Microdata, View
from tacit.model.schema import Table

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.families.microdata.reading.source import Source
    from tacit.families.queries.reading.readings import Readings
    from tacit.ledger.key import Key
    from tacit.plan.plan import Plan

Row = tuple[Any, ...]
KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    Decimal: "decimal",
    float: "decimal",
    str: "text",
    dt.date: "date",
    dt.datetime: "timestamp",
}
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer to be read once: the names of its columns, and its rows in any order."""

    columns: tuple[str, ...]
    rows: Iterator[Row]


@dataclass(frozen=True, slots=True)
class Summed:
    """An answer that was read: its keyed hash, its columns, and of which kind their values are
    (None: none has any).
    """

    digest: str
    columns: tuple[str, ...]
    kinds: tuple[str | None, ...]
    rows: int


class Answers:
    """The answers of a plan's releases. Each is computed once, and only its hash is kept."""

    def __init__(
        self,
        plan: Plan,
        readings: Readings,
        engine: Callable[[], Engine],
        source: Callable[[], Source],
        key: Key,
    ) -> None:
        self.plan = plan
        self.readings = readings
        self.key = key
        self._engine = engine
        self._source = source
        self._today: dict[str, Summed | None] = {}
        self._people: dict[str, str | None] = {}

    def today(self, name: str) -> Summed | None:
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
        engine, digest = self._engine(), AnswerDigest(self.key, columns)
        if not engine.has(table.name):
            engine.attach(table)
        for row in engine.rows(shapes.columns_of(table.name, columns)):
            digest.add(row)
        return digest.hex()

    def fits(self, name: str, digest: str) -> bool:
        """Does the file that the plan has for a release hold the answer with this hash?"""
        release = self.plan.releases[name]
        file = (
            release.answer
            if isinstance(release, View)
            else release.file
            if isinstance(release, Microdata)
            else None
        )
        return file is not None and self.has(self.plan.folder / file, file, name, digest)

    def has(self, path: Path, shown: str, name: str, digest: str) -> bool:
        """Does a file hold the answer of a release with this hash, in one
        of the ways to read its values?
        """
        try:
            return any(one.digest == digest for one in self.of_file(path, shown, name))
        except TacitError:
            return False

    def shown(self, name: str) -> Shown:
        """The rows of a release as the data give them today, or as its file has them where it
        was made elsewhere.
        """
        release = self.plan.releases[name]
        if isinstance(release, View):
            return self._view(name)
        assert isinstance(release, Microdata)
        if release.file is not None:
            return read_file(self.plan.folder / release.file, release.file)
        table = self.plan.tables[release.table]
        columns = (*table.quasi_identifiers, *table.sensitive, *table.insensitive)
        return Shown(
            columns,
            (tuple(row[column] for column in columns) for row in self._source().released(name)),
        )

    def _view(self, name: str) -> Shown:
        columns = self.readings.view(name).columns
        tree = tree_of(self.plan, name, self.readings)
        if tree is None:
            return Shown(columns or ("yes",), iter(()))
        engine = self._engine()
        for table in tables_of(self.plan, tree):
            if not engine.has(table):
                engine.attach(self.plan.tables[table])
        return Shown(columns or ("yes",), engine.rows(in_order(tree, len(columns) or 1)))

    def summed(self, shown: Shown) -> Summed:
        """Read an answer for its hash."""
        digest = AnswerDigest(self.key, places(len(shown.columns)))
        kinds: list[str | None] = [None] * len(shown.columns)
        for row in shown.rows:
            digest.add(row)
            noted(kinds, row)
        return Summed(digest.hex(), shown.columns, tuple(kinds), digest.rows)

    def of_file(self, path: Path, shown: str, name: str) -> Iterator[Summed]:
        """The answer in a file: with values of the kinds that the data give, as numbers where all
        look like numbers, as text.

        A file says less of its values than a database.
        Whichever reading has the hash, it is the same answer.
        """
        today = None if self._is_file(name) else self.today(name)
        columns = today.columns if today is not None else self._columns(name)
        if today is not None and (alike := self._alike(path, shown, today)) is not None:
            yield alike
        yield self.summed(arranged(read_file(path, shown, guess=True), columns))
        yield self.summed(arranged(read_file(path, shown), columns))

    def _alike(self, path: Path, shown: str, today: Summed) -> Summed | None:
        """A file read with the kinds of values that the data give;
        None where some value is of no such kind.
        """
        try:
            return self.summed(
                arranged(read_file(path, shown, today.kinds, today.columns), today.columns)
            )
        except (TacitError, ValueError, ArithmeticError, LookupError):
            return None

    def _is_file(self, name: str) -> bool:
        release = self.plan.releases[name]
        return isinstance(release, Microdata) and release.file is not None

    def _columns(self, name: str) -> tuple[str, ...]:
        """The columns of a release, where they are known."""
        try:
            return (
                self.readings.view(name).columns
                if isinstance(self.plan.releases[name], View)
                else ()
            )
        except TacitError:
            return ()


def read_file(
    path: Path,
    shown: str,
    kinds: Sequence[str | None] = (),
    columns: Sequence[str] = (),
    *,
    guess: bool = False,
) -> Shown:
    """The rows of a CSV or Parquet file. Cells of CSV are text, unless `kinds` say what those of
    `columns` are, or they are to be guessed.
    """
    from tacit.engines.duckdb.engine import DuckDB

    engine = DuckDB(folder=path.parent)
    if path.suffix.lower() in PARQUET:
        engine.attach(Table("answer", file=path.name))
        header = tuple(engine.native_types("answer"))
        return Shown(header, engine.rows(shapes.columns_of("answer", header)))
    header = csv_shape(path, shown).header
    if guess:
        engine.attach(Table("answer", file=path.name))
        return Shown(header, engine.rows(shapes.columns_of("answer", header)))
    engine.attach(Table("answer", file=path.name, columns=dict.fromkeys(header, "text")))
    rows = engine.rows(shapes.columns_of("answer", header))
    if not kinds:
        return Shown(header, rows)
    if len(kinds) != len(header):
        raise DataError(f"{shown} has {len(header)} columns, and the release has {len(kinds)}.")
    order = in_places(header, columns)
    convert = [CONVERSIONS.get(kinds[at] or "text", str) for at in order]  # type: ignore[call-overload]
    return Shown(
        header,
        (
            tuple(
                None if cell is None else one(cell) for one, cell in zip(convert, row, strict=True)
            )
            for row in rows
        ),
    )


def in_places(header: Sequence[str], columns: Sequence[str]) -> list[int]:
    """For each column of a file its place in the release:
    by its name where all names are the same ones, else as it stands.

    >>> in_places(["Zip", "age"], ["age", "zip"]), in_places(["a", "b"], ["c", "d"])
    ([1, 0], [0, 1])
    """
    ours, theirs = [name.casefold() for name in columns], [name.casefold() for name in header]
    if len(set(ours)) == len(ours) and sorted(ours) == sorted(theirs):
        return [ours.index(name) for name in theirs]
    return list(range(len(header)))


def arranged(shown: Shown, columns: Sequence[str]) -> Shown:
    """The same with the columns in the order of the release."""
    order = in_places(shown.columns, columns)
    if order == list(range(len(order))):
        return shown
    back = [order.index(at) for at in range(len(order))]
    return Shown(tuple(columns), (tuple(row[at] for at in back) for row in shown.rows))


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
