"""Hierarchies: for every value of a column, what it is called at each level of generalization.

However a hierarchy is written (a CSV file, ranges, dates, a mask, a flat `*`), it becomes one label
per value and level. The labels are checked to be nested: values that are equal at one level are
equal at all higher levels.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import DataError, Mark
from tacit.model.numbers import plain
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.model.zones import time_zone

if TYPE_CHECKING:
    Codes = np.ndarray[Any, np.dtype[np.int64]]

SUPPRESSED = "*"
Labels = tuple[Any, ...]
Rows = Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class HierarchyLevel:
    """One level of a column: its labels, and for each value's code the code of its label.

    The last value code stands for a missing value; its label is None unless the level suppresses
    the column altogether, when it is `*` like everybody's.
    """

    labels: Labels
    codes: Codes

    @property
    def is_identity(self) -> bool:
        """Does this level leave every value as it is?"""
        return bool(np.array_equal(self.codes, np.arange(len(self.labels))))

    def by_value(self) -> list[Any]:
        """The label of each value's code."""
        return [self.labels[code] for code in self.codes.tolist()]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A column's levels; level 0 is the values themselves.

    `has_root` says whether the highest level of the whole hierarchy, also of values that the data
    do not have, is one label.
    """

    column: str
    values: Labels
    levels: tuple[HierarchyLevel, ...]
    has_root: bool = True

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.levels) - 1

    def level(self, height: int) -> HierarchyLevel:
        """One level, or an error that says which there are."""
        if not 0 <= height <= self.height:
            raise DataError(
                f"column {self.column!r} has no level {height}.",
                hint=f"Its hierarchy has levels 0 (as it is) to {self.height}.",
            )
        return self.levels[height]


def hierarchy(
    column: str,
    values: Labels,
    spec: HierarchySpec | None = None,
    *,
    rows: Rows = (),
    file: str = "",
) -> Hierarchy:
    """Build the hierarchy of a column for the values it has.

    `rows` are the numbered lines of `file` where `spec` is a CSV hierarchy.

    >>> ages = hierarchy("age", (28, 31), RangeHierarchy((Fraction(10), Fraction(20))))
    >>> [level.labels for level in ages.levels]
    [(28, 31, None), ('20-29', '30-39', None), ('20-39', None), ('*',)]
    """
    labels: list[Labels] = [values]
    if rows and rows[0][1][0] == column and column not in map(value_text, values):
        rows = rows[1:]  # a header
    if isinstance(spec, CsvHierarchy):
        labels += csv_labels(column, values, rows, file)
    elif isinstance(spec, RangeHierarchy):
        labels += range_labels(column, values, spec)
    elif isinstance(spec, DateHierarchy):
        labels += date_labels(column, values, spec)
    elif isinstance(spec, MaskHierarchy):
        labels += mask_labels(values, spec)
    elif isinstance(spec, FlatHierarchy):
        labels += [(SUPPRESSED,) * len(values)]
    check_nested(column, labels, file)
    hidden = suppressing(spec, rows, len(labels))
    levels = [coded(one, suppressed=hides) for one, hides in zip(labels, hidden, strict=True)]
    tops = {row[-1] for _, row in rows} if isinstance(spec, CsvHierarchy) else set()
    return Hierarchy(column, values, tuple(levels), has_root=len(tops) < 2)


def suppressing(spec: HierarchySpec | None, rows: Rows, levels: int) -> list[bool]:
    """Which levels hide the column altogether, whoever is in the table:
    those where every value reads `*`.
    """
    if isinstance(spec, CsvHierarchy):
        hides = [
            height > 0 and all(row[height] == SUPPRESSED for _, row in rows)
            for height in range(levels)
        ]
        # Above a level that hides everything there is nothing to tell apart, whatever it is called.
        return list(accumulate(hides, or_))
    return [height == levels - 1 > 0 for height in range(levels)]


def coded(labels: Labels, *, suppressed: bool) -> HierarchyLevel:
    """Number the labels in the order of the values;
    where the column is suppressed all read the same, `*` as a rule.
    """
    if suppressed:
        return HierarchyLevel(
            (labels[0] if labels else SUPPRESSED,), np.zeros(len(labels) + 1, dtype=np.int64)
        )
    numbers: dict[Any, int] = {}
    for label in (*labels, None):
        numbers.setdefault(label, len(numbers))
    return HierarchyLevel(
        tuple(numbers), np.array([numbers[label] for label in (*labels, None)], dtype=np.int64)
    )


def check_nested(column: str, levels: Sequence[Labels], file: str) -> None:
    """Values that are equal at one level must be equal at the next."""
    for height in range(1, len(levels) - 1):
        above: dict[Any, Any] = {}
        for label, parent in zip(levels[height], levels[height + 1], strict=True):
            if above.setdefault(label, parent) != parent:
                raise DataError(
                    f"the hierarchy of {column!r} is not nested: {label!r} (level {height}) stands "
                    f"below both {above[label]!r} and {parent!r} (level {height + 1}).",
                    hint="Give it one parent, or use two different labels.",
                    mark=Mark(file) if file else None,
                )


def csv_labels(column: str, values: Labels, rows: Rows, file: str) -> list[Labels]:
    """Look up every value in the rows `value;level 1;level 2;...` of a file.

    >>> csv_labels("sex", ("F", "M"), [(1, ["F", "*"]), (2, ["M", "*"])], "sex.csv")
    [('*', '*')]
    """
    if not rows:
        raise DataError(
            f"{file} is empty.", hint="Each line says: value;level 1;level 2;...;*", mark=Mark(file)
        )
    width = len(rows[0][1])
    table: dict[str, tuple[int, Sequence[str]]] = {}
    for line, row in rows:
        if len(row) != width or width < 2 or "" in row or row[0] in table:
            check_hierarchy_row(column, file, line, row, width, table.get(row[0]))
        table[row[0]] = (line, row)
    missing = [value for value in values if value_text(value) not in table]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        top = ";".join(["*"] * (width - 1))
        raise DataError(
            f"the hierarchy of {column!r} does not cover {value_text(missing[0])!r}{more}, which "
            "the data has.",
            hint=f"Add a line to {file}: {value_text(missing[0])};{top}",
            mark=Mark(file),
        )
    found = [table[value_text(value)][1] for value in values]
    return [tuple(row[height] for row in found) for height in range(1, width)]


def check_hierarchy_row(
    column: str,
    file: str,
    line: int,
    row: Sequence[str],
    width: int,
    before: tuple[int, Sequence[str]] | None,
) -> None:
    """Every line has as many levels as the first, and no value stands in two lines that differ."""
    if len(row) != width or width < 2:
        raise DataError(
            f"this line has {len(row) - 1} levels, the first line has {width - 1}."
            if width > 1
            else f"the hierarchy of {column!r} has no levels.",
            hint="Each line says: value;level 1;level 2;...;*",
            mark=Mark(file, line),
        )
    if "" in row[1:]:
        raise DataError(
            f"level {list(row[1:]).index('') + 1} of {row[0]!r} is empty.",
            hint="Write * to suppress a value.",
            mark=Mark(file, line),
        )
    if before is not None and list(before[1]) != list(row):
        raise DataError(
            f"{row[0]!r} stands in line {before[0]} already, with other levels.",
            hint="Keep one of the two lines.",
            mark=Mark(file, line),
        )


def range_labels(column: str, values: Labels, spec: RangeHierarchy) -> list[Labels]:
    """Bands of growing width that begin at 0, then `*`.

    >>> range_labels("age", (28, 31), RangeHierarchy((5,)))
    [('25-29', '30-34'), ('*', '*')]
    >>> range_labels("dose", (Decimal("0.7"),), RangeHierarchy((Fraction(1, 2),)))
    [('[0.5, 1)',), ('*',)]
    """
    numbers = [as_number(column, value) for value in values]
    whole = all(number.denominator == 1 for number in numbers)
    levels = [
        tuple(band(number, Fraction(width), whole=whole) for number in numbers)
        for width in spec.widths
    ]
    return [*levels, (SUPPRESSED,) * len(values)]


def band(number: Fraction, width: Fraction, *, whole: bool) -> str:
    """The band of a number: 30-34 for whole numbers, [30, 35) otherwise.

    >>> band(Fraction(-3), Fraction(5), whole=True)
    '-5--1'
    """
    low = number // width * width
    if whole and width.denominator == 1:
        return plain(low) if width == 1 else f"{plain(low)}-{plain(low + width - 1)}"
    return f"[{plain(low)}, {plain(low + width)})"


def as_number(column: str, value: Any) -> Fraction:
    """A value of a column that has ranges, as an exact number."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return Fraction(repr(value))
    raise DataError(
        f"column {column!r} has ranges, but {value_text(value)!r} is not a number.",
        hint=(
            "Write numbers as 1234 or 1234.5, without separators between digits; leave "
            'unknown ones empty. Intervals and words need a file with their levels, or "*".'
        ),
    )


def date_labels(column: str, values: Labels, spec: DateHierarchy) -> list[Labels]:
    """Calendar units, then `*`.

    >>> date_labels("born", ("1985-07-04",), DateHierarchy(("month", "quarter", "decade")))
    [('1985-07',), ('1985-Q3',), ('1980s',), ('*',)]
    >>> date_labels(
    ...     "seen",
    ...     (datetime.datetime(2026, 3, 31, 23, 30),),
    ...     DateHierarchy(("month",), zone="Europe/Paris"),
    ... )
    [('2026-04',), ('*',)]
    """
    zone = time_zone(spec.zone) if spec.zone else None
    dates = [in_zone(as_date(column, value), zone) for value in values]
    return [
        *(tuple(UNITS[unit](date) for date in dates) for unit in spec.units),
        (SUPPRESSED,) * len(values),
    ]


UNITS: dict[str, Callable[[datetime.date], str]] = {
    "day": lambda date: date.isoformat()[:10],
    "month": lambda date: date.isoformat()[:7],
    "quarter": lambda date: f"{date.year:04}-Q{(date.month + 2) // 3}",
    "year": lambda date: f"{date.year:04}",
    "decade": lambda date: f"{date.year // 10 * 10:04}s",
}


def in_zone(date: datetime.date, zone: datetime.tzinfo | None) -> datetime.date:
    """A time on the calendar of a zone.
    Engines read times with a time zone in UTC, and leave the zone out.
    """
    if zone is None or not isinstance(date, datetime.datetime):
        return date
    return (date if date.tzinfo else date.replace(tzinfo=datetime.UTC)).astimezone(zone)


def as_date(column: str, value: Any) -> datetime.date:
    """A value of a column that has date levels."""
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise DataError(
            f"column {column!r} has date levels, but {value_text(value)!r} is not a date.",
            hint="Write dates as 2026-04-30; leave unknown ones empty.",
        ) from None


def mask_labels(values: Labels, spec: MaskHierarchy) -> list[Labels]:
    """Replace characters by * one more at each level; shorter values count as if filled up.

    >>> mask_labels(("13053", "13068"), MaskHierarchy("right"))[:2]
    [('1305*', '1306*'), ('130**', '130**')]
    >>> mask_labels(("AB1", "AB"), MaskHierarchy("right"))
    [('AB*', 'AB*'), ('A**', 'A**'), ('*', '*')]
    """
    texts = [value_text(value) for value in values]
    longest = max(map(len, texts), default=1)
    return [
        tuple(masked(text, hidden, longest, spec.side) for text in texts)
        for hidden in range(1, longest + 1)
    ]


def masked(text: str, hidden: int, longest: int, side: str) -> str:
    """One value with its last (or first) characters hidden."""
    kept = longest - hidden
    if kept == 0:
        return SUPPRESSED
    if side == "right":
        return text[:kept] + SUPPRESSED * (longest - len(text[:kept]))
    return SUPPRESSED * (longest - len(text[-kept:])) + text[-kept:]


def value_text(value: Any) -> str:
    """A value as a hierarchy file or a reader would write it.

    >>> value_text(28), value_text(Decimal("63.0")), value_text(datetime.date(2026, 4, 30))
    ('28', '63.0', '2026-04-30')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)
