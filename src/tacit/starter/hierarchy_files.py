"""Files of hierarchies: which columns they are for, by their values, and what is odd about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from tacit.engines.files import read_rows
from tacit.engines.formats import TEXT
from tacit.errors import DataError
from tacit.families.microdata.hierarchy import SUPPRESSED, csv_labels, value_text

MOST_BYTES = 4 << 20  # larger files are tables
MOST_SHOWN = 3
FEW = 10  # labels of a level that is proposed to begin with, at most
KEPT = 5  # different values up to which a column is released as it is, to begin with
NUMBER = r"(-?\d+(?:\.\d+)?)"
CLOSED = re.compile(rf"{NUMBER}\s*(?:-|–|to|bis)\s*{NUMBER}")
INTERVAL = re.compile(rf"([\[(])\s*{NUMBER}\s*[,;]\s*{NUMBER}\s*([\])])")
BELOW = re.compile(rf"(<=?|≤)\s*{NUMBER}")
ABOVE = re.compile(rf"(>=?|≥)\s*{NUMBER}|{NUMBER}\s*\+")

Rows = Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class HierarchyFile:
    """A file in which every value of a column has its levels; `level` is one to begin with."""

    file: str
    height: int
    level: int


def matches(
    files: Mapping[str, Path], columns: Mapping[str, Iterable[Any]]
) -> dict[str, HierarchyFile]:
    """For each column the file that has levels for all its values.

    `files` are named as the plan names them. Where several fit, the one that is called after the
    column, else the one with the fewest other values.
    """
    read = {name: rows for name, path in files.items() if (rows := hierarchy_rows(path, name))}
    texts = {name: [value_text(one) for one in values] for name, values in columns.items()}
    found = {}
    for column, values in texts.items():
        fitting = [
            (not is_called(column, name), len(rows), name)
            for name, rows in read.items()
            if fits(column, values, rows)
        ]
        if fitting:
            name = min(fitting)[2]
            rows = without_header(column, values, read[name])
            levels = csv_labels(column, tuple(values), rows, name)
            found[column] = HierarchyFile(name, len(levels), first_level(levels))
    return found


def fits(column: str, values: Sequence[str], rows: Rows) -> bool:
    """Has a file levels for all values of a column, and is it for nothing else?

    A file with one value in common, such as a list of everything there is, is not for the column.
    """
    with suppress(DataError):
        csv_labels(column, tuple(values), without_header(column, values, rows), "")
        return bool(values)
    return False


def without_header(column: str, values: Sequence[str], rows: Rows) -> Rows:
    """The lines of a file without a first one that names the column."""
    first = rows[0][1][0]
    return rows[1:] if first == column and first not in values else rows


def hierarchy_rows(path: Path, name: str) -> Rows | None:
    """The lines of a file that could be a hierarchy; None where it is none."""
    with suppress(DataError, OSError):
        if path.suffix.lower() in TEXT and path.stat().st_size <= MOST_BYTES:
            rows = read_rows(path, name)
            widths = {len(row) for _, row in rows}
            firsts = {row[0] for _, row in rows}
            if len(widths) == 1 and widths.pop() > 1 and len(firsts) == len(rows):
                return rows
    return None


def is_called(column: str, file: str) -> bool:
    """Is a file called after a column?

    >>> is_called("native-country", "hierarchy_native_country.csv"), is_called("age", "wages.csv")
    (True, False)
    """
    parts = [re.sub(r"[\W_]+", "_", one).strip("_").lower() for one in (column, Path(file).stem)]
    return f"_{parts[0]}_" in f"_{parts[1]}_"


def first_level(levels: Sequence[Sequence[Any]]) -> int:
    """The lowest level with few labels, but not the one that hides everything where there is
    another.

    >>> first_level([("a", "b"), ("*", "*")]), first_level([("*", "*")])
    (1, 0)
    """
    if len(levels) == 1 and len(levels[0]) <= KEPT:
        return 0
    few = next((at for at, labels in enumerate(levels, 1) if len(set(labels)) <= FEW), len(levels))
    return max(1, min(few, len(levels) - 1))


def oddities(values: Iterable[Any], rows: Rows) -> Iterator[str]:
    """What is odd about the lines of a hierarchy, in a sentence each.

    >>> rows = [(1, ["30", "25-29", "*"]), (2, ["31", "30-34", "*"]), (3, ["32", "30-34", "*"])]
    >>> for odd in oddities(["30", "32"], rows):
    ...     print(odd)
    "25-29" (level 1) is the label of 30, which is not in it.
    1 value stands in the file, and no row has it: 31.
    """
    lines = [row for _, row in rows]
    height = min(map(len, lines), default=1) - 1
    yield from _outside(lines, height)
    yield from _repeated_levels(lines, height)
    yield from _early_suppression(lines, height)
    there = {value_text(one) for one in values}
    if unseen := [row[0] for row in lines if row[0] not in there]:
        many = "1 value stands" if len(unseen) == 1 else f"{len(unseen):,} values stand"
        has = "has it" if len(unseen) == 1 else "has them"
        yield f"{many} in the file, and no row {has}: {listed(unseen)}."
    if height and len({row[height] for row in lines}) > 1:
        yield "The highest level has several labels: add one that is * for all, or values stay."


def _outside(lines: Sequence[Sequence[str]], height: int) -> Iterator[str]:
    """Labels that name a range in which a value is not."""
    for level in range(1, height + 1):
        wrong: dict[str, list[str]] = {}
        for row in lines:
            if is_inside(row[0], row[level]) is False:
                wrong.setdefault(row[level], []).append(row[0])
        if wrong:
            label, values = next(iter(wrong.items()))
            label_of = f'"{label}" (level {level}) is the label of {listed(values)}'
            more = f" {others(len(wrong) - 1)} odd in the same way." if len(wrong) > 1 else ""
            are = "is" if len(values) == 1 else "are"
            yield f"{label_of}, which {are} not in it.{more}"


def others(many: int) -> str:
    """How many more labels, with their verb.

    >>> others(1), others(19)
    ('1 more label is', '19 more labels are')
    """
    return "1 more label is" if many == 1 else f"{many:,} more labels are"


def _repeated_levels(lines: Sequence[Sequence[str]], height: int) -> Iterator[str]:
    """Levels at which nothing becomes coarser."""
    for level in range(1, height + 1):
        if len({row[level] for row in lines}) == len({row[level - 1] for row in lines}) > 1:
            yield f"Level {level} joins no values: it has as many labels as level {level - 1}."


def _early_suppression(lines: Sequence[Sequence[str]], height: int) -> Iterator[str]:
    """Levels with one label although others follow, and single values that are hidden early."""
    first = next(
        (at for at in range(1, height + 1) if len({row[at] for row in lines}) == 1), height
    )
    if first < height:
        yield f"Level {first} has one label for everything; the levels above it say nothing more."
    early = [row[0] for row in lines if SUPPRESSED in row[1:first]]
    if early:
        yield f"{listed(early)}: * already below level {first}, where others have a label."


def is_inside(value: str, label: str) -> bool | None:
    """Is a number in the range that a label names? None where either is none.

    >>> is_inside("30", "25-29"), is_inside("17", "[15, 20)"), is_inside("20", "[15, 20)")
    (False, True, False)
    >>> is_inside("91", ">=90"), is_inside("91", "90+"), is_inside("3", "<3"), is_inside("x", "1-2")
    (True, True, False, None)
    """
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    if found := CLOSED.fullmatch(label.strip()):
        return Decimal(found[1]) <= number <= Decimal(found[2])
    if found := INTERVAL.fullmatch(label.strip()):
        low, high = Decimal(found[2]), Decimal(found[3])
        return (low < number or (found[1] == "[" and low == number)) and (
            number < high or (found[4] == "]" and number == high)
        )
    if found := BELOW.fullmatch(label.strip()):
        return number < Decimal(found[2]) or (found[1] != "<" and number == Decimal(found[2]))
    if found := ABOVE.fullmatch(label.strip()):
        least = Decimal(found[2] or found[3])
        return number > least or (found[1] != ">" and number == least)
    return None


def listed(values: Sequence[str]) -> str:
    """Some values, and how many more.

    >>> listed(["a"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a, b, c and 2 more')
    """
    more = len(values) - MOST_SHOWN
    return ", ".join(values[:MOST_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
