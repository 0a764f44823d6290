"""Counts: the distinct combinations of a table's columns, counted once by the engine.

Everything else (groups of a release, other levels, other columns) is a rollup of these integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.sql import shapes, shapes_coded
from tacit.errors import DataError
from tacit.model import memory

if TYPE_CHECKING:
    from tacit.engines.base import Engine

    Integers = np.ndarray[Any, np.dtype[np.int64]]

SAMPLE = 100_000  # rows that tell whether most are different
DENSE = 8  # sums for so many keys that do not occur cost less than to sort those that do
MOST_SORTED = 1 << 25  # rows that are sorted here: they take two times 256 megabytes
ROOM = 2**62  # a packed combination must stay below this, so that sums of codes cannot overflow


@dataclass(frozen=True, slots=True)
class Counts:
    """Distinct combinations with how often each occurs.

    `dictionaries[column]` lists a column's values by code; the code after the last means missing.
    `keys` are the packed combinations as the engine sent them, `packing` the columns inside each,
    `radix` the number of codes that each column was packed with.
    `persons` has each combination's person where a person can have several rows, else None.
    `with_missing` names the columns in which some value is missing; `recoded` has the codes of
    columns whose values were cleaned after counting, `raw` the values that became one. `absent`
    says how many rows have no value of columns that are not counted themselves.
    """

    dictionaries: Mapping[str, tuple[Any, ...]]
    radix: Mapping[str, int]
    packing: tuple[tuple[str, ...], ...]
    keys: tuple[Integers, ...]
    occurrences: Integers
    persons: Integers | None = None
    with_missing: frozenset[str] = frozenset()
    recoded: Mapping[str, Integers] = field(default_factory=dict, repr=False)
    raw: Mapping[str, Mapping[Any, tuple[Any, ...]]] = field(default_factory=dict, repr=False)
    absent: Mapping[str, int] = field(default_factory=dict, repr=False)
    _codes: dict[str, Integers] = field(default_factory=dict, init=False, repr=False, compare=False)
    _rows: dict[str, Integers] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.occurrences)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.occurrences.sum())

    def size(self, column: str) -> int:
        """How many codes a column has, the one for missing among them."""
        return len(self.dictionaries[column]) + 1

    def codes(self, column: str) -> Integers:
        """The code of a column in every combination."""
        if column in self.recoded:
            return self.recoded[column]
        if column not in self._codes:
            self._codes[column] = self.codes_at(column, slice(None))
        return self._codes[column]

    def codes_at(self, column: str, rows: Any) -> Any:
        """The code of a column in some combinations: an index, a slice or an array of them."""
        known = self.recoded.get(column, self._codes.get(column))
        if known is not None:
            return known[rows]
        number = next((i for i, key in enumerate(self.packing) if column in key), None)
        if number is None:
            raise too_large()
        codes = self.keys[number][rows] // self._stride(number, column)
        return codes if column == self.packing[number][0] else codes % self.radix[column]

    def missing(self, column: str) -> int:
        """How many rows have no value in a column."""
        if column not in self.with_missing:
            return 0
        if column in self.absent:
            return self.absent[column]
        absent = self.codes(column) == self.size(column) - 1
        return int(self.occurrences[absent].sum())

    def value(self, column: str, row: int) -> Any:
        """The value of a column in one combination; None where it is missing."""
        code, values = int(self.codes_at(column, row)), self.dictionaries[column]
        return values[code] if code < len(values) else None

    def people(self, rows: Integers) -> int:
        """How many people some combinations belong to."""
        if self.persons is None:
            return int(self.occurrences[rows].sum())
        return len(np.unique(self.persons[rows]))

    def rows_by_code(self, column: str) -> Integers:
        """How many rows have each code of a column, the one for missing among them."""
        if column not in self._rows:
            found = np.bincount(
                self.codes(column), weights=self.occurrences, minlength=self.size(column)
            )
            self._rows[column] = found.astype(np.int64)
        return self._rows[column]

    def people_by_code(self, column: str) -> Integers:
        """How many people have each value of a column."""
        code, number = self.codes(column), self.size(column) - 1
        if self.persons is None:
            return np.bincount(code, weights=self.occurrences, minlength=number).astype(np.int64)[
                :number
            ]
        pair = np.unique(code * (int(self.persons.max(initial=0)) + 1) + self.persons)
        return np.bincount(pair // (int(self.persons.max(initial=0)) + 1), minlength=number)[
            :number
        ]

    def packed(self, columns: Sequence[str]) -> Integers | None:
        """The codes of some columns in one integer, where the engine has packed them so already."""
        first = self.packing[0] if self.packing else ()
        if (
            not columns
            or first[: len(columns)] != tuple(columns)
            or self.recoded.keys() & set(columns)
        ):
            return None
        stride = self._stride(0, columns[-1])
        return self.keys[0] // stride if stride > 1 else self.keys[0]

    def only(self, rows: Integers) -> Counts:
        """The same counts without the other combinations."""
        return replace(
            self,
            keys=tuple(key[rows] for key in self.keys),
            occurrences=self.occurrences[rows],
            persons=None if self.persons is None else self.persons[rows],
            recoded={name: codes[rows] for name, codes in self.recoded.items()},
        )

    def _stride(self, number: int, column: str) -> int:
        key = self.packing[number]
        return prod(self.radix[name] for name in key[key.index(column) + 1 :])


def count(
    engine: Engine, table: str, columns: Sequence[str], *, person: Sequence[str] = ()
) -> Counts:
    """Count the distinct combinations of some columns where the rows are."""
    collations = engine.collations(table)
    found = {
        name: [row[0] for row in engine.rows(shapes.dictionary(table, [name], collations))]
        for name in columns
    }
    dictionaries = {
        name: tuple(value for value in values if value is not None)
        for name, values in found.items()
    }
    sizes = {name: len(values) + 1 for name, values in dictionaries.items()}
    packing = pack_columns(sizes)
    if not person and len(packing) == 1 and mostly_different(engine, table, columns):
        rows = shapes_coded.coded_rows(table, sizes, keys=packing, collations=collations)
        (key,) = engine.numbers(rows)
        key, occurrences = runs(key)
        keys = [key]
    else:
        *keys, occurrences = engine.numbers(
            shapes_coded.coded_counts(
                table, sizes, keys=packing, person=person, collations=collations
            )
        )
    persons = keys.pop() if person else None
    with_missing = frozenset(name for name in columns if len(found[name]) > len(dictionaries[name]))
    return Counts(dictionaries, sizes, packing, tuple(keys), occurrences, persons, with_missing)


def mostly_different(engine: Engine, table: str, columns: Sequence[str]) -> bool:
    """Are most rows the only ones of their combination, and all of them few enough to sort here?

    Then sorting the packed rows takes half the time and the memory of a GROUP BY. The first rows
    tell; where they mislead, the counts are the same and only take longer.
    """
    if not engine.in_process or not columns:
        return False
    rows = int(engine.value(shapes.row_count(table)))
    return rows <= MOST_SORTED and seem_different(engine, table, columns, rows)


def seem_different(engine: Engine, table: str, columns: Sequence[str], rows: int) -> bool:
    """Are most of the first rows of a table different?"""
    seen = min(rows, SAMPLE)
    return seen < 2 * int(engine.value(shapes.distinct_among_first(table, columns, seen)))


def runs(keys: Integers) -> tuple[Integers, Integers]:
    """The different keys in order, and how often each occurs. `keys` is used up.

    >>> [part.tolist() for part in runs(np.array([5, 2, 5]))]
    [[2, 5], [1, 2]]
    """
    keys.sort()
    starts = run_starts(keys)
    if len(starts) == len(keys):
        return keys, np.ones(len(keys), dtype=np.int64)
    return keys[starts], np.diff(starts, append=len(keys))


def pack_columns(sizes: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """Put columns, in order, into as few integers as hold them.

    >>> pack_columns({"a": 10, "b": 10, "c": 2**60})
    (('a', 'b'), ('c',))
    """
    packing: list[list[str]] = [[]]
    room = ROOM
    for name, size in sizes.items():
        if size > room and packing[-1]:
            packing.append([])
            room = ROOM
        packing[-1].append(name)
        room //= size
    return tuple(tuple(key) for key in packing)


def narrow(codes: Integers, size: int) -> Any:
    """Codes in as few bytes as hold them: a table of millions is read from memory again and again.

    >>> narrow(np.array([0, 200]), 201).dtype
    dtype('uint8')
    """
    return codes.astype(np.min_scalar_type(max(size - 1, 0)))


def pack_codes(
    codes: Sequence[Integers], sizes: Sequence[int], length: int
) -> tuple[Integers, int]:
    """One integer per row for several codes, in lexicographic order, and the size of its range.

    Where the range would not fit into 62 bits, what was packed so far is renumbered densely first.

    >>> key, size = pack_codes([np.array([0, 1]), np.array([2, 0])], [2, 3], 2)
    >>> key.tolist(), size
    ([2, 3], 6)
    """
    key = np.zeros(length, dtype=np.int64)
    room = 1
    for code, size in zip(codes, sizes, strict=True):
        if room * size > ROOM:
            unique, key = np.unique(key, return_inverse=True)
            room = len(unique)
        key = key * size + code
        room *= size
    return key, room


def tally(keys: Integers, weights: Integers, room: int) -> tuple[Integers, Integers]:
    """Add up weights by key: the keys that occur, in order, and their sums.
    Where nothing is to do, these are the arrays that were given.

    >>> [part.tolist() for part in tally(np.array([5, 2, 5]), np.array([1, 1, 2]), 6)]
    [[2, 5], [1, 3]]
    """
    if not len(keys):
        return keys, weights
    least, total = int(weights.min()), int(weights.sum())
    if room <= max(DENSE * len(keys), 1 << 12) and total < 2**53 and least > 0:
        # Exact: bincount adds in floats, and these sums stay below what floats hold exactly.
        sums = np.bincount(keys) if total == len(keys) else np.bincount(keys, weights=weights)
        found = np.flatnonzero(sums)
        return found, sums[found].astype(np.int64)
    if not bool(np.all(keys[1:] >= keys[:-1])):
        if least > 0 and total <= 2 * len(keys):
            # Sorting them all is faster than sorting an order and following it.
            short = np.int32 if room < 2**31 else np.int64
            each = keys if total == len(keys) else np.repeat(keys, weights)
            once, times = runs(each.astype(short))
            return once.astype(np.int64), times
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
    starts = run_starts(keys)
    if len(starts) == len(keys):
        return keys, weights
    return keys[starts], np.add.reduceat(weights, starts)


def run_starts(keys: Integers) -> Integers:
    """Where each run of equal keys begins in sorted keys.

    >>> run_starts(np.array([2, 2, 5])).tolist()
    [0, 2]
    """
    begins = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def too_large(what: str = "this question") -> DataError:
    """What cannot be answered within the memory that may be taken."""
    gigabytes = memory.allowed() / 10**9
    return DataError(
        f"{what} needs all combinations of the table at once, and they do not fit into "
        f"{gigabytes:.1f} GB.",
        hint="Allow more with --memory, or generalize the release further.",
    )
