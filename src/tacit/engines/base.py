"""Engine: the few methods that a place where rows live must have."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sqlglot import exp

from tacit.engines import shapes
from tacit.errors import EngineError

if TYPE_CHECKING:
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
    UUID, array) is text.
    """

    pattern: str
    kind: ColumnType
    read: str = "{c}"


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

    @abstractmethod
    def attach(self, table: Table) -> None:
        """Make the rows of a plan's table reachable under the table's name.

        An engine that reads files is told their folder when it is made.
        """

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
    def explain(self, query: exp.Expression) -> None:
        """Have the engine read a query without running it; raise EngineError where it cannot."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and temporary tables."""

    def columns(self, table: str) -> dict[str, ColumnType]:
        """The columns of a table, in order, with their types."""
        native = self.native_types(table)
        return {name: self.meaning(sql_type).kind for name, sql_type in native.items()}

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
            raise EngineError(f"Tacit only asks: {query.key.upper()} is not a query.", hint="Write a SELECT.")
        return shapes.read_through(query, self._readings).sql(dialect=self.dialect)

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
        how = {name: self.meaning(sql_type).read for name, sql_type in self.native_types(table).items()}
        if set(how.values()) - {"{c}"}:
            self._readings[table] = shapes.reading(table, how, self.dialect)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
