"""Public files: the CSV and Parquet files that a synthetic release names, read by a DuckDB of their own, millions of lines in seconds."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines import shapes
from tacit.engines.attach import PARQUET
from tacit.engines.duckdb import DuckDB
from tacit.engines.duckdb_words import csv_as_text, csv_error
from tacit.errors import DataError, EngineError, Mark, did_you_mean
from tacit.files import cannot_read, csv_shape
from tacit.model.numbers import exact
from tacit.model.schema import Table
from tacit.synthesis_asking.labels import TEXTS, Labels, Spelling

if TYPE_CHECKING:
    from tacit.synthesis.held import Integers
    from tacit.utility.flows import Floats

WHOLE = "-?[0-9]{1,18}"
SHOWN = 40  # characters of a value in a message


class PublicFiles:
    """The files that the releases of a plan name. Each is read once; texts are compared where they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.engine = DuckDB(folder=folder)
        self._opened: dict[str, PublicFile] = {}
        self._made = 0

    def open(self, name: str) -> PublicFile:
        """A file, all its columns as text; lines without any value are left out."""
        if name not in self._opened:
            path = self.folder / name
            if not path.is_file():
                raise cannot_read(name, FileNotFoundError())
            table = self.fresh()
            columns = (
                self._read_parquet(name, table)
                if path.suffix.lower() in PARQUET
                else self._read_csv(name, path, table)
            )
            rows = int(self.numbers(f"SELECT COUNT(*) FROM {table}")[0][0])
            if not rows:
                raise DataError(
                    f"{name} has no lines below its first.",
                    hint="It needs a line for each value.",
                    mark=Mark(name),
                )
            self._opened[name] = PublicFile(self, name, path, table, columns, rows)
        return self._opened[name]

    def _read_csv(self, name: str, path: Path, table: str) -> tuple[str, ...]:
        """As texts, without asking what they look like: of millions of lines that would take longer than reading them."""
        shape = csv_shape(path, name)
        source = csv_as_text(path, shape.header, shape.separator)
        try:
            self.run(
                f"CREATE TABLE {table} AS SELECT * FROM {source} WHERE {some_value(shape.header)}"
            )
        except EngineError as error:
            raise csv_error(error, path, name) from None
        return shape.header

    def _read_parquet(self, name: str, table: str) -> tuple[str, ...]:
        raw = self.fresh()
        self.engine.attach(Table(raw, file=name))
        columns = tuple(self.engine.native_types(raw))
        texts = ", ".join(
            f"CAST({quoted(column)} AS VARCHAR) AS {quoted(column)}" for column in columns
        )
        source = self.engine.sql(shapes.columns_of(raw, columns))
        self.run(
            f"CREATE TABLE {table} AS SELECT {texts} FROM ({source}) WHERE {some_value(columns)}"
        )
        return columns

    def fresh(self) -> str:
        """A name that nothing has yet."""
        self._made += 1
        return f"public_{self._made}"

    def run(self, sql: str) -> None:
        """Have DuckDB do something."""
        self.engine._run(sql)

    def columns(self, sql: str) -> list[Any]:
        """The columns of a query as arrays."""
        return list(self.engine._run(sql).fetchnumpy().values())

    def numbers(self, sql: str) -> list[Integers]:
        """The columns of a query of whole numbers."""
        return [np.asarray(column, dtype=np.int64) for column in self.columns(sql)]

    def put(self, columns: Mapping[str, Any]) -> str:
        """Make columns of texts or whole numbers a table, in order; its name."""
        name = self.fresh()
        self.engine.put_map(name, columns)
        return name

    def close(self) -> None:
        """Forget the files."""
        self.engine.close()


@dataclass(frozen=True)
class PublicFile:
    """One file: `table` is where its rows stand, as text and in their order."""

    files: PublicFiles
    name: str
    path: Path
    table: str
    columns: tuple[str, ...]
    rows: int

    # -- columns ----------------------------------------------------------------------------------------

    def column(
        self, usual: Sequence[str], *, wanted: str | None = None, place: int | None = None
    ) -> str | None:
        """The column that is wanted, else one with a usual name, else the one at a place; None where there is none of them."""
        if wanted is not None:
            if wanted not in self.columns:
                raise DataError(
                    f"{self.name} has no column {wanted!r}.",
                    hint=did_you_mean(wanted, self.columns),
                    mark=Mark(self.name, 1),
                )
            return wanted
        known = {column.casefold(): column for column in self.columns}
        named = [known[name.casefold()] for name in usual if name.casefold() in known]
        if named:
            return named[0]
        return self.columns[place] if place is not None and place < len(self.columns) else None

    def needed(
        self, what: str, usual: Sequence[str], place: int | None = None, *, apart: str | None = None
    ) -> str:
        """A column that must be there, and another one than `apart`."""
        found = self.column(usual, place=place)
        if found is None or found == apart:
            raise DataError(
                f"{self.name} has no column of its own for {what}.",
                hint=f"Name it {usual[0]} in the first line; it has: {', '.join(self.columns)}.",
                mark=Mark(self.name, 1),
            )
        return found

    # -- what is wrong, and where -----------------------------------------------------------------------

    def mark(self, row: int) -> Mark:
        """The line of a row; looked for only when something is wrong with it."""
        if self.path.suffix.lower() in PARQUET:
            return Mark(self.name, row + 1)
        shape = csv_shape(self.path, self.name)
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=shape.separator)
            lines = (reader.line_num for cells in reader if any(cells))
            for number, line in enumerate(lines, -1):  # the header is the row before the first
                if number == row:
                    return Mark(self.name, line)
        return Mark(self.name)

    def wrong(self, row: int, message: str, hint: str) -> DataError:
        """The error about one row."""
        return DataError(message, hint=hint, mark=self.mark(row))

    def first(self, condition: str) -> tuple[int, Any] | None:
        """The first row of which a condition is true, with all its values by column."""
        names = ", ".join(quoted(column) for column in self.columns)
        found = self.files.engine._run(
            f"SELECT rowid, {names} FROM {self.table} WHERE {condition} ORDER BY rowid LIMIT 1"
        ).fetchone()
        return (int(found[0]), dict(zip(self.columns, found[1:], strict=True))) if found else None

    def check_filled(self, column: str) -> None:
        """Every row has a value."""
        if found := self.first(f"{quoted(column)} IS NULL"):
            raise self.wrong(
                found[0], f"this line has no {column}.", "Fill it in, or remove the line."
            )

    # -- values -----------------------------------------------------------------------------------------

    def keys(self, column: str, spelling: Spelling) -> str:
        """A relation (place, v) of the rows with the one spelling of their values."""
        self.check_filled(column)
        one, relation = quoted(column), self.files.fresh()
        source = f"CREATE VIEW {relation} AS SELECT t.rowid AS place, {{}} AS v FROM {self.table} t"
        if spelling.kind == "text":
            self.files.run(source.format(f"t.{one}"))
        elif spelling.kind == "integer" and not self.first(
            f"NOT regexp_full_match(trim({one}), '{WHOLE}')"
        ):
            self.files.run(source.format(f"CAST(CAST(trim(t.{one}) AS BIGINT) AS VARCHAR)"))
        else:
            raws = self._distinct(column)
            texts = [spelling.text(self._value(column, raw, spelling)) for raw in raws]
            known = self.files.put({"raw": raws, "v": texts})
            self.files.run(source.format("k.v") + f" JOIN {known} k ON k.raw = t.{one}")
        return relation

    def labels(self, column: str, spelling: Spelling) -> Labels:
        """The values of all rows, as the table's column has them."""
        one = quoted(column)
        if spelling.kind == "text":
            (texts,) = self.files.columns(f"SELECT {one} AS v FROM {self.table}")
            return Labels(np.asarray(texts).astype(TEXTS))
        if spelling.kind == "integer" and not self.first(
            f"NOT regexp_full_match(trim({one}), '{WHOLE}')"
        ):
            return Labels(
                self.files.numbers(f"SELECT CAST(trim({one}) AS BIGINT) AS v FROM {self.table}")[0]
            )
        (texts,) = self.files.columns(f"SELECT {one} AS v FROM {self.table}")
        return Labels.of(spelling.value(text) for text in np.asarray(texts).tolist())

    def _value(self, column: str, raw: str, spelling: Spelling) -> Any:
        try:
            return spelling.value(raw)
        except ValueError:
            row = self.first(f"{quoted(column)} = {string(raw)}")
            assert row is not None
            message = f"{shortened(raw)} is no value of {spelling.column!r}, which is {spelling.kind} in the table."
            raise self.wrong(
                row[0],
                message,
                "Write it as the table has it, or declare the table's column as text.",
            ) from None

    def _distinct(self, column: str) -> list[str]:
        (found,) = self.files.columns(
            f"SELECT DISTINCT {quoted(column)} AS v FROM {self.table} ORDER BY v"
        )
        return [str(text) for text in np.asarray(found).tolist()]

    def codes(self, column: str) -> tuple[list[str], Integers]:
        """The different texts of a column, sorted, and for each row which of them it has."""
        self.check_filled(column)
        texts = self._distinct(column)
        known = self.files.put({"v": texts, "code": np.arange(len(texts))})
        (codes,) = self.files.numbers(
            f"SELECT k.code FROM {self.table} t JOIN {known} k ON k.v = t.{quoted(column)} ORDER BY t.rowid"
        )
        return texts, codes

    def fractions(
        self,
        column: str,
        hint: str,
        *,
        above: int | None = None,
        least: int | None = None,
        most: int | None = None,
    ) -> tuple[list[Fraction], Integers]:
        """The different numbers of a column, exactly, and for each row which of them it has; those out of range are errors."""
        texts, codes = self.codes(column)
        found = []
        for text in texts:
            try:
                number = exact(text)
            except ValueError:
                raise self._wrong_number(
                    column, text, f"{column} is {shortened(text)}, which is no number.", hint
                ) from None
            if (
                (above is not None and number <= above)
                or (least is not None and number < least)
                or (most is not None and number > most)
            ):
                raise self._wrong_number(column, text, f"{column} is {text.strip()}.", hint)
            found.append(number)
        return found, codes

    def _wrong_number(self, column: str, text: str, message: str, hint: str) -> DataError:
        row = self.first(f"{quoted(column)} = {string(text)}")
        assert row is not None
        return self.wrong(row[0], message, hint)

    def degrees(self, column: str, most: int) -> Floats:
        """A column of coordinates; NaN where the cell is empty."""
        one = quoted(column)
        strange = (
            f"TRY_CAST({one} AS DOUBLE) IS NULL OR NOT abs(TRY_CAST({one} AS DOUBLE)) <= {most}"
        )
        if found := self.first(f"{one} IS NOT NULL AND ({strange})"):
            hint = f"Write degrees from -{most} to {most} as decimals, e.g. 40.7127."
            raise self.wrong(found[0], f"{column} is {shortened(found[1][column])}.", hint)
        (degrees,) = self.files.columns(
            f"SELECT COALESCE(TRY_CAST({one} AS DOUBLE), CAST('nan' AS DOUBLE)) AS v FROM {self.table}"
        )
        return np.asarray(degrees, dtype=np.float64)


@dataclass(frozen=True)
class Listing:
    """Values in a fixed order, each once: the cells of a release, or what they are made of."""

    labels: Labels
    relation: str
    files: PublicFiles
    file: PublicFile | None = None

    @classmethod
    def in_file(cls, file: PublicFile, column: str, spelling: Spelling) -> Listing:
        """The values of a file's column."""
        relation = file.keys(column, spelling)
        if row := second(file.files, relation):
            text = file.files.columns(f"SELECT v FROM {relation} WHERE place = {row}")[0][0]
            raise file.wrong(
                row, f"{shortened(text)} stands twice in {file.name}.", "Keep one of the lines."
            )
        return cls(file.labels(column, spelling), relation, file.files, file)

    @classmethod
    def of(cls, values: Sequence[Any], files: PublicFiles) -> Listing:
        """Values that are there already."""
        texts = [Spelling.text(value) for value in values]
        relation = files.put({"place": np.arange(len(values)), "v": texts})
        return cls(Labels.of(values), relation, files)

    def __len__(self) -> int:
        return len(self.labels)

    def find(self, values: Sequence[Any]) -> Integers:
        """The places of some values; -1 for those that are not listed."""
        asked = self.files.put({"v": [Spelling.text(value) for value in values]})
        sql = f"SELECT COALESCE(l.place, -1) AS place FROM {asked} a LEFT JOIN {self.relation} l ON l.v = a.v ORDER BY a.rowid"
        return self.files.numbers(sql)[0]

    def rows(self, file: PublicFile, column: str, spelling: Spelling) -> Integers:
        """For each row of a file the place of its value; -1 for those that are not listed."""
        keys = file.keys(column, spelling)
        sql = f"SELECT COALESCE(l.place, -1) AS place FROM {keys} k LEFT JOIN {self.relation} l ON l.v = k.v ORDER BY k.place"
        return self.files.numbers(sql)[0]


def second(files: PublicFiles, relation: str) -> int | None:
    """The first place of a relation whose value has been there before."""
    many, different = (
        int(one[0])
        for one in files.numbers(f"SELECT COUNT(*) AS n, COUNT(DISTINCT v) AS d FROM {relation}")
    )
    if many == different:
        return None
    again = (
        f"SELECT place, row_number() OVER (PARTITION BY v ORDER BY place) AS nth FROM {relation}"
    )
    return int(files.numbers(f"SELECT MIN(place) AS place FROM ({again}) WHERE nth = 2")[0][0])


def some_value(columns: Sequence[str]) -> str:
    """The condition that a line is not empty."""
    return " OR ".join(f"{quoted(column)} IS NOT NULL" for column in columns)


def quoted(column: str) -> str:
    """A column in SQL."""
    return shapes.column(column).sql(dialect="duckdb")


def string(text: str) -> str:
    """A text in SQL."""
    return shapes.literal(text).sql(dialect="duckdb")


def shortened(text: str) -> str:
    """A value as a message shows it.

    >>> shortened("x" * 50)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")
