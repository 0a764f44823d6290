"""Engine: the few methods that a place where rows live must have."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sqlglot import exp

from tacit.engines import output, shapes, shapes_stored
from tacit.errors import EngineError

if TYPE_CHECKING:
    from tacit.engines.streams import Stream
    from tacit.model.schema import ColumnType, Table

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
    """What an engine's own type means here: a pattern for its name, the kind, how to read it.

    `read` is SQL with `{c}` for the column. It brings values to one form on all engines: NaN is
    missing, a moment with a time zone is its UTC time, and what has no kind of its own (enum,
    UUID, array) is text. `compares`: in queries values compare as their kind does, although they are read in another way.
    """

    pattern: str
    kind: ColumnType
    read: str = "{c}"
    compares: bool = False


class Engine(ABC):
    """Where the rows live.

    Queries are sqlglot trees, built once in `shapes` and rendered here at the border.
    `collation` is the clause that makes text sort by code point, where the engine does not
    do so by itself: codes and witnesses must be the same on every engine.
    """

    dialect: ClassVar[str]
    collation: ClassVar[str | None] = None
    types: ClassVar[tuple[NativeType, ...]]  # the first that matches counts; the last matches all

    def __init__(self) -> None:
        self._readings: dict[str, exp.Select] = {}
        self._attached: set[str] = set()
        self._sources: set[Path] = set()  # files that are read
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

    @abstractmethod
    def native_types(self, table: str) -> dict[str, str]:
        """The columns of a table, in order, with the engine's own names for their types."""

    @abstractmethod
    def rows(self, query: exp.Expression) -> Iterator[tuple[Any, ...]]:
        """The rows of a query as Python values."""

    @abstractmethod
    def numbers(self, query: exp.Expression) -> Numbers:
        """The columns of a query that returns only integers (no NULL), as int64 arrays."""

    @abstractmethod
    def write(self, name: str, query: exp.Expression) -> None:
        """Store the rows of a query as a table of that name."""

    @abstractmethod
    def put_map(self, name: str, columns: Mapping[str, output.Relation]) -> None:
        """Make columns of whole numbers (int64 arrays) or texts reachable under a name, for queries to join with."""

    @abstractmethod
    def drop_map(self, name: str) -> None:
        """Forget what `put_map` was given."""

    @abstractmethod
    def explain(self, query: exp.Expression) -> None:
        """Have the engine read a query without running it; raise EngineError where it cannot."""

    @abstractmethod
    def lock(self, *, seconds: float | None = None) -> None:
        """From here on answer strangers: nothing can be changed and no other file or server reached.

        To be called when all tables are attached. `seconds` is how long any one query may take at most.
        """

    def powers(self) -> list[str]:
        """What the engine's user could do beyond reading tables, in words; a gateway should have none of it."""
        return []

    def bases(self, table: str) -> set[str]:
        """What the rows of an attached table come from: two tables that share one of these share rows."""
        return {table}

    def computes(self, table: str) -> bool:
        """Are columns of a table computed when it is read (a view, generated columns)? What is computed can fail."""
        return False

    def is_lost(self) -> bool:
        """Is the connection to the database gone? Then only a new engine can answer."""
        return False

    @abstractmethod
    def stream(self, sql: str) -> Stream:
        """A query in this engine's own words, whose rows will come as Arrow's record batches; not begun yet."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and temporary tables."""

    def check_target(
        self, target: str, *, replace: bool = False, keep: Collection[Path] = ()
    ) -> None:
        """Raise an error if a release could not be saved there: to be asked before the work starts.

        A target is a file (.csv or .parquet; what is there is replaced) or a table of the source. A table
        that exists is refused unless it may be replaced; what the engine reads, and files in `keep`, always.
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

        Where `rows` is given, a query that returns more or fewer is an error. A file is written beside
        its final place and then renamed, a table in a transaction.
        """
        self.check_target(target, replace=replace)
        output.check_unchanged(self._stamps)
        path = output.file_of(target)
        if path is None:
            self._save_table(query, target, rows, replace=replace)
            return
        with output.beside(path) as place:
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
        """Write the rows of a query to the file `place`, in the format of `final`; how many there were."""

    def _reads_file(self, path: Path, *, again: bool) -> None:
        """Remember a file that is read, and whether it will be read again."""
        self._sources.add(path)
        if again:
            self._stamps[path] = output.stamp(path)

    def columns(self, table: str) -> dict[str, ColumnType]:
        """The columns of a table, in order, with their types."""
        native = self.native_types(table)
        return {name: self.meaning(sql_type).kind for name, sql_type in native.items()}

    def nullable(self, table: str) -> list[str]:
        """The columns of a table that may be missing: those in which some value is, where nothing is declared."""
        names = list(self.native_types(table))
        _, *missing = next(self.rows(shapes.missing_counts(table, names)))
        return [name for name, number in zip(names, missing, strict=True) if number]

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
        return shapes_stored.read_through(query, self._readings).sql(dialect=self.dialect)

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

    def _read_plainly(self, table: str) -> None:
        """Read a table from now on in the form that all engines share."""
        self._attached.add(table)
        how = {
            name: self.meaning(sql_type).read for name, sql_type in self.native_types(table).items()
        }
        if set(how.values()) - {"{c}"}:
            self._readings[table] = shapes_stored.reading(table, how, self.dialect)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
