"""Engine: the few methods that a place where rows live must have."""

from __future__ import annotations

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sqlglot import exp

from tacit.engines import output
from tacit.engines.column_types import check_types
from tacit.engines.sql import shapes, shapes_stored, shapes_text
from tacit.errors import DataError, EngineError
from tacit.model.schema import SourceKeys

if TYPE_CHECKING:
    from tacit.engines.identity import Origin
    from tacit.engines.streams import AnswerStream
    from tacit.model.schema import ColumnType, SourceReference, Table

    Numbers = tuple[np.ndarray[Any, np.dtype[np.int64]], ...]

# How each kind of column is declared in SQL; sqlglot spells it for the engine at hand.
SQL_TYPES: Mapping[str, str] = {
    "integer": "BIGINT",
    "decimal": "DECIMAL(38, 10)",
    "text": "TEXT",
    "date": "DATE",
    "timestamp": "TIMESTAMPNTZ",
    "boolean": "BOOLEAN",
    "distribution": "TEXT",
}
NOT_INTEGERS = "a question about whole numbers was answered with something else."


@dataclass(frozen=True, slots=True)
class NativeType:
    """What an engine's own type means here: a pattern for its name, the kind, how to read it, and
    what becomes of its values.

    `read` is SQL with `{c}` for the column. It brings values to one form on all engines: NaN is
    missing, a moment with a time zone is its UTC time, a float of 32 bits is its shortest decimal,
    and what has no kind of its own (UUID, array) is text. Every value is kept exactly, or what
    changes is said in `changed`, or it is refused: `lost` is SQL for a value that the reading
    cannot keep, `refusal` says why, and `instead` what to do. `compares`: whether values compare in
    queries as their kind does; without a word, where they are read as they are.
    """

    pattern: str
    kind: ColumnType
    read: str = "{c}"
    compares: bool | None = None
    changed: str | None = None
    lost: str | None = None
    refusal: str = ""
    instead: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether values compare in queries as those of the kind do."""
        return self.read == "{c}" if self.compares is None else self.compares

    @property
    def is_zoned(self) -> bool:
        """Does a value have a time zone, so that it is read as its UTC time?"""
        return self.changed == UTC


NAN = "NaN is missing"
UTC = "a moment is read as its UTC time"
SHORTEST = "a number is read as its shortest decimal: 0.1, and not 0.100000001490116"
CALENDAR = "beyond the years 1 to 9999"
WITHIN = "Put real dates there, or leave them empty (NULL)."
FLOATS_INSIDE = "with floats of 32 bits inside"
DOUBLES = "Make them doubles, or decimals."
NANOSECONDS = "that are finer than microseconds, or infinite"
MICROSECONDS = "Round them to microseconds first, or make the column text."


class Engine(ABC):
    """Where the rows live.

    Queries are sqlglot trees, built once in `shapes` and rendered here at the border.
    `collation` is the clause that makes text sort by code point, where the engine does not
    do so by itself: codes and witnesses must be the same on every engine.
    """

    dialect: ClassVar[str]
    collation: ClassVar[str | None] = None
    in_process: ClassVar[bool] = False  # an answer of all rows costs no more than their memory
    types: ClassVar[tuple[NativeType, ...]]  # the first that matches counts; the last matches all
    # Of which types equal values look alike, and which are numbers that do not;
    # of all others values that do not are not brought to one form.
    one_spelling: ClassVar[str]
    numbers_spelled: ClassVar[str]
    floats: ClassVar[str]

    def __init__(self) -> None:
        self._readings: dict[str, exp.Select] = {}
        self._attached: set[str] = set()
        self._refused: dict[
            tuple[str, str], tuple[str, str]
        ] = {}  # columns of files that cannot be read exactly, and what to do
        self.changes: dict[str, tuple[str, ...]] = {}  # what was changed as a table was read
        self._blanks: dict[
            str, tuple[Collection[str], exp.Select]
        ] = {}  # columns of a table in which blank texts are missing, and its reading
        self._sources: set[Path] = set()  # files that are read
        # whether types of CSV files and of rows in the plan come from the
        # plan alone, see `attach.by_plan`
        self.types_by_plan = False
        self.look_like: dict[
            str, dict[str, str]
            # by table: the SQL types that columns without a type look like, where they do not count
        ] = {}
        self._stamps: dict[
            Path, output.Stamp
        ] = {}  # of those that are read again when a release is written

    @abstractmethod
    def attach(self, table: Table) -> None:
        """Make the rows of a plan's table reachable under the table's name.

        An engine that reads files is told their folder when it is made.
        """

    def has(self, table: str) -> bool:
        """Is a table attached already? Rows that stand in a plan can be stored once only."""
        return table in self._attached

    def attach_once(self, table: Table) -> None:
        """Attach a table that is not attached yet."""
        if not self.has(table.name):
            self.attach(table)

    def apart(self) -> Self:
        """The same engine for other questions: what it is told of blank
        values, this one does not know.
        """
        other = copy.copy(self)
        other._blanks = {}
        return other

    def take_blanks_as_missing(self, table: str, columns: Iterable[str]) -> dict[str, int]:
        """Read blank texts in some columns of a table as missing from now on;
        how many there are in each that has some.
        """
        kinds = self.columns(table)
        texts = [name for name in columns if kinds.get(name) == "text"]
        if not texts:
            return {}
        before, _ = self._blanks.pop(table, ((), None))
        counts = next(self.rows(shapes_text.blank_counts(table, texts)))
        found = {name: int(many) for name, many in zip(texts, counts, strict=True) if many}
        if blank := {*before, *found}:
            inner = (
                self._readings[table].copy()
                if table in self._readings
                else shapes.columns_of(table, list(kinds))
            )
            self._blanks[table] = blank, shapes_text.without_blanks(inner, list(kinds), blank)
        return found

    @abstractmethod
    def native_types(self, table: str) -> dict[str, str]:
        """The columns of a table, in order, with the engine's own names for their types."""

    @abstractmethod
    def rows(self, query: exp.Expression) -> Iterator[tuple[Any, ...]]:
        """The rows of a query as Python values."""

    @abstractmethod
    def numbers(self, query: exp.Expression) -> Numbers:
        """The columns of a query that returns only integers (no NULL), as int64 arrays."""

    def parts(self, query: exp.Expression, rows: int) -> Iterator[Numbers]:
        """The same in order, about so many rows at a time: all at once where an engine has no
        other way.
        """
        yield self.numbers(query)

    def alike(
        self, query: exp.Expression, groups: Sequence[str], values: Sequence[str], most: int
    ) -> Numbers | None:
        """Groups that are alike, one for all: the rows of a query grouped by some columns, and
        groups that have equally many rows by `values` taken together.

        The columns are those of the first such group, its values, how many rows have each, and for
        how many groups it stands; in order. None where an engine leaves this to who asks, or where
        there would be more than `most` rows.
        """
        return None

    @abstractmethod
    def write(self, name: str, query: exp.Expression) -> None:
        """Store the rows of a query as a table of that name."""

    @abstractmethod
    def put_map(self, name: str, columns: Mapping[str, output.Relation]) -> None:
        """Make columns of whole numbers (int64 arrays) or texts reachable under a name, for
        queries to join with.
        """

    @abstractmethod
    def drop_map(self, name: str) -> None:
        """Forget what `put_map` was given."""

    @abstractmethod
    def explain(self, query: exp.Expression) -> None:
        """Have the engine read a query without running it; raise EngineError where it cannot."""

    @abstractmethod
    def lock(self, *, seconds: float | None = None) -> None:
        """From here on answer strangers: nothing can be changed and no
        other file or server reached.

        To be called when all tables are attached.
        `seconds` is how long any one query may take at most.
        """

    def powers(self) -> list[str]:
        """What the engine's user could do beyond reading tables, in words;
        a gateway should have none of it.
        """
        return []

    def origins(self, table: str) -> frozenset[Origin]:
        """What the rows of an attached table come from:
        two tables with an equal origin share rows. Rows that were handed over have none.
        """
        return frozenset()

    def entry(self, table: str) -> str | None:
        """The entry of the source's catalogue that an attached table is, as `origins` names it;
        None for views, files and rows that were handed over.
        """
        return None

    def declared(self, table: str) -> SourceKeys:
        """What the source itself declares of an attached table."""
        return SourceKeys()

    def references(self) -> list[SourceReference]:
        """All foreign keys that the source declares, also between tables that are not attached."""
        return []

    def computes(self, table: str) -> bool:
        """Are columns of a table computed when it is read (a view, generated columns)? What is
        computed can fail.
        """
        return False

    def is_lost(self) -> bool:
        """Is the connection to the database gone? Then only a new engine can answer."""
        return False

    @abstractmethod
    def stream(self, sql: str) -> AnswerStream:
        """A query in this engine's own words, whose rows will come as Arrow's record batches;
        not begun yet.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and temporary tables."""

    def check_target(
        self, target: str, *, replace: bool = False, keep: Collection[Path] = ()
    ) -> None:
        """Raise an error if a release could not be saved there: to be asked before the work starts.

        A target is a file (.csv or .parquet; what is there is replaced) or a table of the source. A
        table that exists is refused unless it may be replaced; what the engine reads, and files in
        `keep`, always.
        """
        path = output.file_of(target)
        if path is not None:
            output.check_file(path, [*self._sources, *keep])
        elif target.lower() in (name.lower() for name in self._attached):
            raise output.is_source(f"table {target}")
        else:
            self._check_table(target, replace=replace)

    def save(
        self, query: exp.Expression, target: str, *, rows: int | None = None, replace: bool = False
    ) -> None:
        """Write the rows of a query to a file or a table: all of them, or nothing.

        Where `rows` is given, a query that returns more or fewer is an error.
        A file is written beside its final place and then renamed, a table in a transaction.
        """
        self.check_target(target, replace=replace)
        output.check_unchanged(self._stamps)
        path = output.file_of(target)
        if path is None:
            self._save_table(query, target, rows, replace=replace)
            return
        with output.temporary_place(path) as place:
            written = self._save_file(query, place, path)
            output.check_rows(written, rows)
            output.check_unchanged(self._stamps)

    @abstractmethod
    def _check_table(self, name: str, *, replace: bool) -> None:
        """Raise an error if a table of that name could not be written to the source."""

    @abstractmethod
    def _save_table(
        self, query: exp.Expression, name: str, rows: int | None, *, replace: bool
    ) -> None:
        """Write the rows of a query to a table in one step."""

    @abstractmethod
    def _save_file(self, query: exp.Expression, place: Path, final: Path) -> int:
        """Write the rows of a query to the file `place`, in the format of `final`;
        how many there were.
        """

    def _reads_file(self, path: Path, *, again: bool) -> None:
        """Remember a file that is read, and whether it will be read again."""
        self._sources.add(path)
        if again:
            self._stamps[path] = output.stamp(path)

    def columns(self, table: str) -> dict[str, ColumnType]:
        """The columns of a table, in order, with their types."""
        native = self.native_types(table)
        return {name: self.meaning(sql_type).kind for name, sql_type in native.items()}

    def refuse_losses(self, table: str, columns: Iterable[str]) -> None:
        """Raise a DataError that names the first of some columns with
        values that could not be read exactly.
        """
        native = self.native_types(table)
        asked = [name for name in columns if name in native]
        for name in asked:
            if known := self._refused.get((table, name)):
                raise DataError(f"column {name!r} of table {table} has {known[0]}.", hint=known[1])
        meant = {
            name: one for name in asked if (one := self.meaning(native[name])).lost is not None
        }
        if not meant:
            return
        found = next(
            self.rows(
                shapes_stored.lost_counts(
                    table, {name: str(one.lost) for name, one in meant.items()}, self.dialect
                )
            )
        )
        for many, (name, one) in zip(found, meant.items(), strict=True):
            if many:
                raise DataError(
                    f"column {name!r} of table {table} has {many:,} values {one.refusal}.",
                    hint=one.instead,
                )

    def nullable(self, table: str) -> list[str]:
        """The columns of a table that may be missing:
        those in which some value is, where nothing is declared.
        """
        names = list(self.native_types(table))
        _, *missing = next(self.rows(shapes.missing_counts(table, names)))
        return [name for name, number in zip(names, missing, strict=True) if number]

    def spellings(self, table: str) -> dict[str, Literal["float", "number", "many"]]:
        """The columns of a table in which values can be equal and look different:
        numbers (of floating point, and others), and other values.
        """
        found: dict[str, Literal["float", "number", "many"]] = {}
        for name, native in self.native_types(table).items():
            if re.fullmatch(self.numbers_spelled, native):
                found[name] = "float" if re.fullmatch(self.floats, native) else "number"
            elif not re.fullmatch(self.one_spelling, native):
                found[name] = "many"
        return found

    def collations(self, table: str) -> dict[str, str]:
        """The text columns of a table with the collation that sorts them by code point.

        Empty where the engine sorts so by itself. Shapes that sort take this mapping.
        """
        if self.collation is None:
            return {}
        kinds = self.columns(table)
        return {name: self.collation for name, kind in kinds.items() if kind == "text"}

    def sql(self, query: exp.Expression) -> str:
        """The query in this engine's own words; what is not a query is refused."""
        if not isinstance(query, exp.Query):
            raise EngineError(
                f"Tacit only asks: {query.key.upper()} is not a query.", hint="Write a SELECT."
            )
        return shapes_stored.read_through(
            query, self._readings | {table: reading for table, (_, reading) in self._blanks.items()}
        ).sql(dialect=self.dialect)

    def _name(self, table: str) -> str:
        """A table's name in this engine's SQL; schema.table names both parts."""
        return shapes.table_of(table).sql(dialect=self.dialect)

    def value(self, query: exp.Expression) -> Any:
        """The single value of a query that returns one."""
        return next(self.rows(query))[0]

    @classmethod
    def meaning(cls, sql_type: str) -> NativeType:
        """What one of the engine's own types means here."""
        return next(known for known in cls.types if re.fullmatch(known.pattern, sql_type))

    @staticmethod
    def integers(array: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """One column of `numbers`, which must not hold anything else than integers."""
        if array.dtype.kind not in "iu" or np.any(getattr(array, "mask", False)):
            raise EngineError(NOT_INTEGERS)
        return np.asarray(array, dtype=np.int64)

    def _read_plainly(self, name: str, table: Table | None = None) -> None:
        """Read a table from now on in the form that all engines share;
        a type that the plan declares must be the source's.
        """
        native = self.native_types(name)
        meanings = {column: self.meaning(sql_type) for column, sql_type in native.items()}
        if table is not None:
            check_types(
                table, {column: (native[column], one.kind) for column, one in meanings.items()}
            )
        self._attached.add(name)
        if any(one.read != "{c}" for one in meanings.values()):
            self._readings[name] = shapes_stored.reading(
                name, {column: one.read for column, one in meanings.items()}, self.dialect
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
