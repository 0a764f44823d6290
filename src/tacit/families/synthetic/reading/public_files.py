"""Public files: the CSV and Parquet files that a synthetic release names, read by a DuckDB of
their own, millions of lines in seconds.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.duckdb.reserved_words import csv_as_text, csv_error
from tacit.engines.files import cannot_read, csv_shape
from tacit.engines.formats import PARQUET
from tacit.engines.sql import shapes, shapes_files
from tacit.errors import DataError, EngineError, Mark, did_you_mean
from tacit.families.synthetic.occupied_cells import Integers
from tacit.families.synthetic.reading.labels import TEXTS, Labels, Spelling
from tacit.families.synthetic.utility.flows import Floats
from tacit.model.numbers import exact
from tacit.model.schema import Table

SHOWN = 40  # characters of a value in a message


class PublicFiles:
    """The files that the releases of a plan name.
    Each is read once; texts are compared where they are.
    """

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
            rows = int(self.numbers(shapes_files.many_rows(table))[0][0])
            if not rows:
                raise DataError(
                    f"{name} has no lines below its first.",
                    hint="It needs a line for each value.",
                    mark=Mark(name),
                )
            self._opened[name] = PublicFile(self, name, path, table, columns, rows)
        return self._opened[name]

    def _read_csv(self, name: str, path: Path, table: str) -> tuple[str, ...]:
        """As texts, without asking what they look like:
        of millions of lines that would take longer than reading them.
        """
        shape = csv_shape(path, name)
        source = csv_as_text(path, shape.header, shape.separator)
        try:
            self.run(shapes_files.filled_lines(table, source, shape.header))
        except EngineError as error:
            raise csv_error(error, path, name) from None
        return shape.header

    def _read_parquet(self, name: str, table: str) -> tuple[str, ...]:
        raw = self.fresh()
        self.engine.attach(Table(raw, file=name))
        columns = tuple(self.engine.native_types(raw))
        source = self.engine.sql(shapes.columns_of(raw, columns))
        self.run(shapes_files.filled_texts(table, source, columns))
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

    # -- columns -----------------------------------------------------------------------------------

    def column(
        self, usual: Sequence[str], *, wanted: str | None = None, place: int | None = None
    ) -> str | None:
        """The column that is wanted, else one with a usual name, else the one at a place;
        None where there is none of them.
        """
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

    # -- what is wrong, and where ------------------------------------------------------------------

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
        sql = shapes_files.first_row(self.table, self.columns, condition)
        found = self.files.engine._run(sql).fetchone()
        return (int(found[0]), dict(zip(self.columns, found[1:], strict=True))) if found else None

    def check_filled(self, column: str) -> None:
        """Every row has a value."""
        if found := self.first(shapes_files.is_empty(column)):
            raise self.wrong(
                found[0], f"this line has no {column}.", "Fill it in, or remove the line."
            )

    # -- values ------------------------------------------------------------------------------------

    def keys(self, column: str, spelling: Spelling) -> str:
        """A relation (place, v) of the rows with the one spelling of their values."""
        self.check_filled(column)
        relation = self.files.fresh()
        if spelling.kind == "text":
            self.files.run(shapes_files.listed_texts(relation, self.table, column))
        elif spelling.kind == "integer" and not self.first(shapes_files.is_not_whole(column)):
            self.files.run(shapes_files.listed_numbers(relation, self.table, column))
        else:
            raws = self._distinct(column)
            texts = [spelling.text(self._value(column, raw, spelling)) for raw in raws]
            known = self.files.put({"raw": raws, "v": texts})
            self.files.run(shapes_files.listed_spellings(relation, self.table, column, known))
        return relation

    def labels(self, column: str, spelling: Spelling) -> Labels:
        """The values of all rows, as the table's column has them."""
        if spelling.kind == "text":
            (texts,) = self.files.columns(shapes_files.texts(self.table, column))
            return Labels(np.asarray(texts).astype(TEXTS))
        if spelling.kind == "integer" and not self.first(shapes_files.is_not_whole(column)):
            return Labels(self.files.numbers(shapes_files.whole_numbers(self.table, column))[0])
        (texts,) = self.files.columns(shapes_files.texts(self.table, column))
        return Labels.of(spelling.value(text) for text in np.asarray(texts).tolist())

    def _value(self, column: str, raw: str, spelling: Spelling) -> Any:
        try:
            return spelling.value(raw)
        except ValueError:
            row = self.first(shapes_files.is_text(column, raw))
            assert row is not None
            message = (
                f"{shortened(raw)} is no value of {spelling.column!r}, which is "
                f"{spelling.kind} in the table."
            )
            raise self.wrong(
                row[0],
                message,
                "Write it as the table has it, or declare the table's column as text.",
            ) from None

    def _distinct(self, column: str) -> list[str]:
        (found,) = self.files.columns(shapes_files.different_texts(self.table, column))
        return [str(text) for text in np.asarray(found).tolist()]

    def codes(self, column: str) -> tuple[list[str], Integers]:
        """The different texts of a column, sorted, and for each row which of them it has."""
        self.check_filled(column)
        texts = self._distinct(column)
        known = self.files.put({"v": texts, "code": np.arange(len(texts))})
        (codes,) = self.files.numbers(shapes_files.codes(self.table, column, known))
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
        """The different numbers of a column, exactly, and for each row which of them it has;
        those out of range are errors.
        """
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
        row = self.first(shapes_files.is_text(column, text))
        assert row is not None
        return self.wrong(row[0], message, hint)

    def degrees(self, column: str, most: int) -> Floats:
        """A column of coordinates; NaN where the cell is empty."""
        if found := self.first(shapes_files.is_no_degree(column, most)):
            hint = f"Write degrees from -{most} to {most} as decimals, e.g. 40.7127."
            raise self.wrong(found[0], f"{column} is {shortened(found[1][column])}.", hint)
        (degrees,) = self.files.columns(shapes_files.degrees(self.table, column))
        return np.asarray(degrees, dtype=np.float64)


@dataclass(frozen=True)
class ValueListing:
    """Values in a fixed order, each once: the cells of a release, or what they are made of."""

    labels: Labels
    relation: str
    files: PublicFiles
    file: PublicFile | None = None

    @classmethod
    def in_file(cls, file: PublicFile, column: str, spelling: Spelling) -> ValueListing:
        """The values of a file's column."""
        relation = file.keys(column, spelling)
        if row := second(file.files, relation):
            text = file.files.columns(shapes_files.value_at(relation, row))[0][0]
            raise file.wrong(
                row, f"{shortened(text)} stands twice in {file.name}.", "Keep one of the lines."
            )
        return cls(file.labels(column, spelling), relation, file.files, file)

    @classmethod
    def of(cls, values: Sequence[Any], files: PublicFiles) -> ValueListing:
        """Values that are there already."""
        texts = [Spelling.text(value) for value in values]
        relation = files.put({"place": np.arange(len(values)), "v": texts})
        return cls(Labels.of(values), relation, files)

    def __len__(self) -> int:
        return len(self.labels)

    def find(self, values: Sequence[Any]) -> Integers:
        """The places of some values; -1 for those that are not listed."""
        asked = self.files.put({"v": [Spelling.text(value) for value in values]})
        return self.files.numbers(shapes_files.places_of_texts(asked, self.relation))[0]

    def rows(self, file: PublicFile, column: str, spelling: Spelling) -> Integers:
        """For each row of a file the place of its value; -1 for those that are not listed."""
        keys = file.keys(column, spelling)
        return self.files.numbers(shapes_files.places_of_listed(keys, self.relation))[0]


def second(files: PublicFiles, relation: str) -> int | None:
    """The first place of a relation whose value has been there before."""
    many, different = (int(one[0]) for one in files.numbers(shapes_files.many_values(relation)))
    if many == different:
        return None
    return int(files.numbers(shapes_files.first_again(relation))[0][0])


def shortened(text: str) -> str:
    """A value as a message shows it.

    >>> shortened("x" * 50)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")
