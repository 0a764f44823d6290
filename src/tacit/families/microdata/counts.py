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

if TYPE_CHECKING:
    from tacit.engines.base import Engine

    Integers = np.ndarray[Any, np.dtype[np.int64]]

ROOM = 2**62  # a packed combination must stay below this, so that sums of codes cannot overflow


@dataclass(frozen=True, slots=True)
class Counts:
    """Distinct combinations with how often each occurs.

    `dictionaries[column]` lists a column's values by code; the code after the last means missing.
    `keys` are the packed combinations as the engine sent them, `packing` the columns inside each,
    `radix` the number of codes that each column was packed with.
    `persons` has each combination's person where a person can have several rows, else None.
    `with_missing` names the columns in which some value is missing; `recoded` has the codes of
    columns whose values were cleaned after counting, `raw` the values that became one.
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
            number = next(i for i, key in enumerate(self.packing) if column in key)
            codes = self.keys[number] // self._stride(number, column)
            self._codes[column] = (
                codes if column == self.packing[number][0] else codes % self.radix[column]
            )
        return self._codes[column]

    def missing(self, column: str) -> int:
        """How many rows have no value in a column."""
        if column not in self.with_missing:
            return 0
        absent = self.codes(column) == self.size(column) - 1
        return int(self.occurrences[absent].sum())

    def value(self, column: str, row: int) -> Any:
        """The value of a column in one combination; None where it is missing."""
        code, values = int(self.codes(column)[row]), self.dictionaries[column]
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
        return self.keys[0] // self._stride(0, columns[-1])

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
    query = shapes_coded.coded_counts(
        table, sizes, keys=packing, person=person, collations=collations
    )
    *keys, occurrences = engine.numbers(query)
    persons = keys.pop() if person else None
    with_missing = frozenset(name for name in columns if len(found[name]) > len(dictionaries[name]))
    return Counts(dictionaries, sizes, packing, tuple(keys), occurrences, persons, with_missing)


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

    >>> [part.tolist() for part in tally(np.array([5, 2, 5]), np.array([1, 1, 2]), 6)]
    [[2, 5], [1, 3]]
    """
    if room <= max(4 * len(keys), 1 << 16):
        # Exact: bincount adds in floats, and sums of people stay far below 2**53.
        sums = np.bincount(keys, weights=weights, minlength=0).astype(np.int64)
        found = np.flatnonzero(np.bincount(keys, minlength=0))
        return found, sums[found]
    if len(keys) and not bool(np.all(keys[1:] >= keys[:-1])):
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
    starts = run_starts(keys)
    return keys[starts], np.add.reduceat(weights, starts) if len(starts) else weights


def run_starts(keys: Integers) -> Integers:
    """Where each run of equal keys begins in sorted keys.

    >>> run_starts(np.array([2, 2, 5])).tolist()
    [0, 2]
    """
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(keys[1:] != keys[:-1]) + 1))
