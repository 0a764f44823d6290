"""Answers of views from files: a header, one line per row, in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.attach import CONVERSIONS
from tacit.engines.files import csv_shape
from tacit.engines.sql import shapes
from tacit.errors import DataError
from tacit.model.schema import Table

if TYPE_CHECKING:
    from tacit.families.overlaps.overlap import Integers
    from tacit.families.overlaps.question import ViewAnswer
    from tacit.families.overlaps.reading.views import OverlapView

Cells = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows of a file as they are written, each with how often it is there;
    an empty cell is None.
    """

    file: str
    header: tuple[str, ...]
    cells: Mapping[tuple[Any, ...], int]

    @property
    def rows(self) -> int:
        """How many rows the file has."""
        return sum(self.cells.values())

    def column(self, place: int) -> set[Any]:
        """The different values of a column."""
        return {row[place] for row in self.cells}

    def converted(self, place: int | None, convert: Callable[[str | None], Any]) -> FileRows:
        """The same with the values of one column as what they mean."""
        if place is None:
            return self
        meant = {cell: convert(cell) for cell in self.column(place)}
        cells: Counter[tuple[Any, ...]] = Counter()
        for row, many in self.cells.items():
            cells[*row[:place], meant[row[place]], *row[place + 1 :]] += many
        return replace(self, cells=cells)


def read_answer(folder: Path, file: str) -> FileRows:
    """The rows of a CSV file, counted where they are read: there may be millions."""
    from tacit.engines.duckdb.engine import DuckDB

    header = csv_shape(folder / file, file).header
    with DuckDB(folder=folder) as engine:
        engine.attach(Table("answer", file=file, columns=dict.fromkeys(header, "text")))
        query = shapes.tallied(shapes.columns_of("answer", header), header)
        return FileRows(file, header, {row[:-1]: row[-1] for row in engine.rows(query)})


def arranged(given: FileRows, view: OverlapView) -> FileRows:
    """The same with the columns as the view has them:
    told by their names where these are all there, else by their order.
    """
    wanted = [one.name.lower() for one in view.columns]
    header = [name.lower() for name in given.header]
    if len(header) != len(wanted):
        raise DataError(
            f"{given.file} has {len(header)} columns, and {view.name!r} has {len(wanted)}.",
            hint="Write a header and one line per row of the view.",
        )
    if sorted(header) != sorted(wanted):
        moved = [name for at, name in enumerate(header) if name in wanted and wanted[at] != name]
        if moved:
            raise DataError(
                f"{given.file} has the column {moved[0]!r} in another place than {view.name!r}, "
                "and others by other names.",
                hint=(
                    "Write the columns as the view has them: "
                    f"{', '.join(one.name for one in view.columns)}."
                ),
            )
        return given
    if header == wanted:
        return given
    places = [header.index(name) for name in wanted]
    cells = {tuple(row[place] for place in places): many for row, many in given.cells.items()}
    return FileRows(given.file, tuple(given.header[place] for place in places), cells)


def cell_key(cell: str | None, kind: str | None) -> Any:
    """What a cell says, however it is written: equal for cells that are the same value of a type.

    Without a type a number is taken as one. What does not fit the type stays as it is.

    >>> (
    ...     cell_key("1.50", "decimal") == cell_key("1.5", "decimal"),
    ...     cell_key("01", "text") == cell_key("1", "text"),
    ... )
    (True, False)
    """
    if not cell:
        return None
    if kind == "text":
        return cell
    try:
        if kind in (None, "integer", "decimal"):
            number = Decimal(cell)
            return number if number.is_finite() else cell
        return CONVERSIONS[kind](cell)  # type: ignore[index]
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return cell


def finder(shown: Sequence[Cells], kinds: Sequence[str | None]) -> Callable[[Cells], int | None]:
    """Finds the place of some cells among those that an engine wrote:
    as written, or else as what they say.

    >>> find = finder([("1.50", "x"), ("2.00", "x")], ["decimal", "text"])
    >>> find(("1.5", "x")), find(("3", "x"))
    (0, None)
    """
    exact = {cells: at for at, cells in enumerate(shown)}
    said: dict[Cells, list[int]] = {}
    for at, cells in enumerate(shown):
        said.setdefault(keys(cells, kinds), []).append(at)

    def find(cells: Cells) -> int | None:
        if cells in exact:
            return exact[cells]
        alike = said.get(keys(cells, kinds), [])
        return alike[0] if len(alike) == 1 else None

    return find


def keys(cells: Cells, kinds: Sequence[str | None]) -> Cells:
    """What the cells of a row say."""
    return tuple(cell_key(cell, kind) for cell, kind in zip(cells, kinds, strict=True))


@dataclass(frozen=True, slots=True)
class NumberedAnswer:
    """An answer from a file by the numbers of the view's rows, counted from its first;
    `strange` are rows that it cannot have.
    """

    given: FileRows
    counts: Integers
    strange: tuple[tuple[Any, ...], ...]


def numbered(
    given: FileRows, view: OverlapView, answer: ViewAnswer, values: Sequence[Any]
) -> NumberedAnswer:
    """How often each row of a view stands in its file."""
    find = finder(answer.shown, [one.kind for one in view.shown])
    place = {value: number for number, value in enumerate(values)}
    counts = np.zeros(answer.rows(len(values)), dtype=np.int64)
    strange = []
    for row, many in given.cells.items():
        at = find(others(row, view.private))
        if at is not None and view.private is not None:
            number = place.get(row[view.private])
            at = None if number is None else at * len(values) + number
        if at is None:
            strange.append(row)
        else:
            counts[at] += many
    return NumberedAnswer(
        given,
        counts,
        tuple(sorted(strange, key=lambda row: [(cell is None, str(cell)) for cell in row])),
    )


def others(row: tuple[Any, ...], private: int | None) -> Cells:
    """A row without the private value."""
    return row if private is None else row[:private] + row[private + 1 :]


def checked_with_data(
    told: NumberedAnswer,
    view: OverlapView,
    shown: Integers,
    answer: ViewAnswer,
    values: Sequence[Any],
) -> None:
    """An answer from elsewhere is what the data give, or the first row
    in which they differ is an error.
    """
    if told.strange:
        row = told.strange[0]
        in_file, in_data = told.given.cells[row], 0
    elif bool((differs := told.counts != shown).any()):
        at = int(np.flatnonzero(differs)[0])
        which, value = divmod(at, len(values)) if view.private is not None else (at, 0)
        row = answer.shown[which]
        if view.private is not None:
            row = (*row[: view.private], values[value], *row[view.private :])
        in_file, in_data = int(told.counts[at]), int(shown[at])
    else:
        return
    raise DataError(
        f"{told.given.file} is not what the data give for {view.name!r}: the row {written(row)} "
        f"stands {times(in_file)} in the file and {times(in_data)} in the data.",
        hint="Correct the file, or leave it out.",
    )


def people_fit(
    told: NumberedAnswer, view: OverlapView, answer: ViewAnswer, people: Integers, values: int
) -> None:
    """An answer from elsewhere has a row for everybody whom the view
    selects, with what it shows of them.

    `people` is how many have each combination that the view shows.
    Where the private column decides who is selected, there may be fewer rows.
    """
    file = told.given.file
    if told.strange:
        row = told.strange[0]
        raise DataError(
            f"{file} has the row {written(row)}, and nobody whom {view.name!r} selects can "
            "give it.",
            hint="Correct the file, the query or the table; a private value must be in the domain.",
        )
    rows, selected = told.given.rows, int(people.sum())
    if rows > selected or (rows < selected and not view.tests):
        most = "at most " if view.tests else ""
        raise DataError(
            f"{file} has {rows:,} rows, and {view.name!r} selects {most}{selected:,} people.",
            hint="Write one line per row of the view.",
        )
    found = told.counts.reshape(len(people), 1 if view.private is None else values).sum(axis=1)
    wrong = np.flatnonzero((found > people) if view.tests else (found != people))
    if len(wrong):
        at = int(wrong[0])
        raise DataError(
            f"{file} has {int(found[at]):,} rows that show {written(answer.shown[at])}, and "
            f"{view.name!r} selects {int(people[at]):,} such people.",
            hint="Correct the file, the query or the table.",
        )


def written(row: Sequence[Any]) -> str:
    """A row as a message has it.

    >>> written(("94305", None))
    '(94305, nothing)'
    """
    return f"({', '.join('nothing' if cell is None else str(cell) for cell in row)})"


def times(number: int) -> str:
    """How often.

    >>> times(1), times(0)
    ('once', '0 times')
    """
    return "once" if number == 1 else f"{number:,} times"
