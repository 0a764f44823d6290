"""Schema: tables, their columns and roles, keys, and how columns are generalized."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ColumnType = Literal["integer", "decimal", "text", "date", "timestamp", "boolean", "distribution"]
DateUnit = Literal["day", "month", "quarter", "year", "decade"]


@dataclass(frozen=True, slots=True)
class CsvHierarchy:
    """Levels listed in a file: value;level 1;level 2;..."""

    file: str


@dataclass(frozen=True, slots=True)
class RangeHierarchy:
    """Bands of the given widths, counted from 0, then *."""

    widths: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DateHierarchy:
    """Calendar units from fine to coarse, then *;
    of times with a time zone, those of the calendar in `zone`, or of UTC.
    """

    units: tuple[DateUnit, ...]
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class MaskHierarchy:
    """Characters replaced by * one at a time, from the right or from the left."""

    side: Literal["right", "left"]


@dataclass(frozen=True, slots=True)
class FlatHierarchy:
    """One level: the value is suppressed."""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Every row's values in some columns stand in columns of another table."""

    columns: tuple[str, ...]
    table: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceKeys:
    """What a source itself declares of a table: keys, and the columns that are never missing.

    A column of a key may be missing (UNIQUE without NOT NULL); then the key tells rows apart only
    where it is not. Not `enforced`: the source declares it and does not look.
    """

    keys: tuple[tuple[str, ...], ...] = ()
    never_missing: frozenset[str] = frozenset()
    enforced: bool = True


@dataclass(frozen=True, slots=True)
class SourceReference:
    """A foreign key that a source declares, between two entries of its catalogue."""

    entry: str
    columns: tuple[str, ...]
    other: str
    references: tuple[str, ...]


HierarchySpec = CsvHierarchy | RangeHierarchy | DateHierarchy | MaskHierarchy | FlatHierarchy


@dataclass(frozen=True, slots=True)
class Table:
    """A table and what its columns mean.

    `person` names the columns that tell people apart; where it is empty each row is taken as one
    person. `unknown` lists values that mean that nothing is known (under `*` those of every
    column), `decimal_comma` says that a file has numbers such as 61,5, `merge_spelling` the columns
    in which values that differ only in case and spaces are one, `as_written` those in which every
    spelling is a value of its own. `columns` gives declared types (None: taken from the data),
    `digits` how many digits a decimal has, and how many of them behind the point, where that is
    declared; `rows` is small data that stands in the plan itself. `snapshot_of` is the table that
    it was at another time, with the same columns and roles, `derived_from` are the tables on whose
    rows its own may depend.
    """

    name: str
    file: str | None = None
    columns: Mapping[str, ColumnType | None] = field(default_factory=dict)
    rows: tuple[tuple[Any, ...], ...] | None = None
    keys: tuple[tuple[str, ...], ...] = ()
    person: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    hierarchies: Mapping[str, HierarchySpec] = field(default_factory=dict)
    domains: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    nullable: tuple[str, ...] | None = None
    distances: Mapping[str, Any] = field(default_factory=dict)
    unknown: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    decimal_comma: bool = False
    merge_spelling: tuple[str, ...] = ()
    as_written: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    digits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    snapshot_of: str | None = None
    derived_from: tuple[str, ...] = ()

    def words_for_missing(self, column: str) -> tuple[Any, ...]:
        """The values of a column that are missing for whoever reads the table.

        Those that stand under a sensitive column's own name are values for SQL views.
        """
        own = () if column in self.sensitive else self.unknown.get(column, ())
        return (*self.unknown.get("*", ()), *own)

    @property
    def today(self) -> str:
        """The table that this is a snapshot of, or itself."""
        return self.snapshot_of or self.name

    @property
    def naming(self) -> tuple[str, ...]:
        """The columns that say who is who in several snapshots: the first key, else the person."""
        return self.keys[0] if self.keys else self.person
