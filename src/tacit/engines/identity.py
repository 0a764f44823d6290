"""Identity: what the rows of a table come from, so that one
person's rows under two names are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tacit.engines.sql import shapes, shapes_stored

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.model.schema import ColumnType


@dataclass(frozen=True, slots=True)
class Origin:
    """One thing that the rows of a table come from. Two tables that have an equal one share rows.

    A `file` is known by its whole path and by its place on the disk (`inode`: hard links have the
    same), an entry of a database's catalogue (`table`) by its number and by its name. `hidden` says
    that the rows may also come from elsewhere, and `text` why: such a table may share rows with any
    other. `value` is compared and is the same in every run; `text` tells the owner.
    """

    kind: Literal["file", "inode", "table", "hidden"]
    value: str
    text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class SharedRows:
    """Two tables under which the same people stand, or may, and why."""

    tables: tuple[str, str]
    because: str


def file_origins(path: Path) -> frozenset[Origin]:
    """A file by its whole path, and by its place on the disk."""
    whole = path.resolve()
    found = whole.stat()
    return frozenset(
        {
            Origin("file", str(whole), f"the file {whole.name}"),
            Origin("inode", f"{found.st_dev}:{found.st_ino}", f"the file {whole.name}"),
        }
    )


def shared_rows(engine: Engine, tables: Sequence[str]) -> Iterator[SharedRows]:
    """Pairs of attached tables that share rows: they come from one place, may do so, or one is a
    copy of the other.

    A copy has columns of the same names and types and the same rows, at least one.
    Tables whose rows stand in the plan are not to be named here: their owner sees both.
    """
    origins = {name: engine.origins(name) for name in tables}
    copies = CopyFinder(engine)
    for one, other in combinations(tables, 2):
        if because := _one_place(origins[one], origins[other]) or copies.because(one, other):
            yield SharedRows((one, other), because)


def _one_place(first: Iterable[Origin], second: Iterable[Origin]) -> str | None:
    """Why two tables come from one place, or may."""
    common = sorted({*first} & {*second}, key=lambda one: (one.kind == "hidden", one.text))
    if common and common[0].kind != "hidden":
        return f"both come from {common[0].text}"
    return next((one.text for one in (*first, *second) if one.kind == "hidden"), None)


class CopyFinder:
    """Finds tables that are copies of each other.
    Rows are compared only where columns and their number are the same, and counted once.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._columns: dict[str, dict[str, ColumnType]] = {}
        self._rows: dict[str, int] = {}

    def because(self, one: str, other: str) -> str | None:
        """Why a table is a copy of another: it has the same rows."""
        names = list(self._shape(one))
        if (
            self._shape(one) != self._shape(other)
            or not self._count(one)
            or self._count(one) != self._count(other)
        ):
            return None
        left = self._engine.rows(
            shapes_stored.missing_rows(
                one, self._as_written(one, names), other, self._as_written(other, names)
            )
        )
        return "they have the same rows" if next(left, None) is None else None

    def _shape(self, table: str) -> dict[str, ColumnType]:
        """The columns of a table with their types, whatever their case."""
        if table not in self._columns:
            self._columns[table] = self._engine.columns(table)
        return {name.casefold(): kind for name, kind in self._columns[table].items()}

    def _as_written(self, table: str, names: Sequence[str]) -> list[str]:
        written = {name.casefold(): name for name in self._columns[table]}
        return [written[name] for name in names]

    def _count(self, table: str) -> int:
        if table not in self._rows:
            self._rows[table] = int(self._engine.value(shapes.row_count(table)))
        return self._rows[table]
