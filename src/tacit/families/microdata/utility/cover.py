"""Cover: which values of a column a label of the release may stand for.

The values of a column (its leaves) are those that the table has; a missing value is one more where
it occurs. Where whole columns are recoded, the level says what a label covers. In a local recoding
a reader has the label only: it stands for every value that some level of the hierarchy calls so; a
range for all values between its ends; anything else for the values that are shown so.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import run_starts
from tacit.families.microdata.hierarchy import SUPPRESSED, Hierarchy, HierarchyLevel, Labels

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.groups import Mask
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.recoded import Recoded

    Floats = np.ndarray[Any, np.dtype[np.float64]]

NUMBER = r"-?\d+(?:\.\d+)?"
BAND = re.compile(rf"({NUMBER})-({NUMBER})|\[({NUMBER}), ({NUMBER})([)\]])")


def leaves_of(raw: MicrodataQuestion, column: str) -> int:
    """How many different values a column has in the table;
    missing counts as one where it occurs.
    """
    return len(raw.base.dictionaries[column]) + (column in raw.base.with_missing)


def rows_by_leaf(raw: MicrodataQuestion, column: str) -> Integers:
    """How many rows of the table have each value of a column, by code."""
    return raw.base.rows_by_code(column)[: leaves_of(raw, column)]


def leaves_by_label(raw: MicrodataQuestion, column: str, level: int) -> Integers:
    """How many values of the table each label of a level covers.

    A search adds their logarithms to know how large the cells of a node are.
    """
    shown = raw.hierarchies[column].level(level)
    return np.bincount(shown.codes[: leaves_of(raw, column)], minlength=len(shown.labels))


@dataclass(frozen=True, slots=True)
class Cover:
    """What the labels of a column cover, as runs of places in the order of its values.

    `place[code]` is the place of a value; run r says that label `owner[r]` covers the places from
    `start[r]` to before `stop[r]`. A range over thousands of values is one run.
    """

    place: Integers
    labels: int
    owner: Integers
    start: Integers
    stop: Integers

    @property
    def sizes(self) -> Integers:
        """How many values each label covers."""
        return self._by_label(self.stop - self.start).astype(np.int64)

    def spread(self, mass: Floats) -> Floats:
        """The mass of each label shared out evenly among the values it covers, by value."""
        part = (mass / np.maximum(self.sizes, 1))[self.owner]
        one = self.stop == self.start + 1
        steps, singles = np.zeros(len(self.place) + 1), np.zeros(len(self.place))
        np.add.at(
            singles, self.start[one], part[one]
        )  # added directly: a value shown as it is gets its own mass exactly
        np.add.at(steps, self.start[~one], part[~one])
        np.subtract.at(steps, self.stop[~one], part[~one])
        return np.asarray((np.cumsum(steps)[:-1] + singles)[self.place])

    def parts(self, chosen: Mask) -> Floats:
        """Of what each label covers, the part that is among some chosen values."""
        before = np.zeros(len(self.place) + 1, dtype=np.int64)
        inside = np.zeros(len(self.place), dtype=np.int64)
        inside[self.place] = chosen
        np.cumsum(inside, out=before[1:])
        hits = self._by_label(before[self.stop] - before[self.start])
        return np.asarray(hits / np.maximum(self.sizes, 1))

    def _by_label(self, amounts: Integers) -> Floats:
        return np.bincount(self.owner, weights=amounts, minlength=self.labels).astype(np.float64)


@dataclass(frozen=True, slots=True)
class CoveredColumn:
    """A column of a release: the label of every cell, what the labels
    cover, how many released rows show each.

    Labels are numbered, each once, however often the recoding lists it.
    """

    codes: Integers
    cover: Cover
    rows: Integers


def shown_columns(recoded: Recoded) -> dict[str, CoveredColumn]:
    """All quasi-identifiers of a release: worked out once for everything that is measured."""
    return {column: shown(recoded, column) for column in recoded.raw.quasi}


def shown(recoded: Recoded, column: str) -> CoveredColumn:
    """One quasi-identifier of a release."""
    given, codes = recoded.labels[column], recoded.codes[column]
    numbers: dict[Any, int] = {}
    renumbered = np.array([numbers.setdefault(one, len(numbers)) for one in given], dtype=np.int64)
    labels = tuple(numbers)
    codes = codes if len(labels) == len(given) else renumbered[codes]
    leaves = leaves_of(recoded.raw, column)
    place = places(recoded.raw.base.dictionaries[column], leaves)
    if recoded.generalization is not None:
        level = recoded.raw.hierarchies[column].level(recoded.generalization.get(column, 0))
        cover = by_level(level, place)
    else:
        cover = by_label(recoded, column, labels, codes, place)
    rows = np.bincount(codes, weights=recoded.counts, minlength=len(labels)).astype(np.int64)
    return CoveredColumn(codes, cover, rows)


def by_label(
    recoded: Recoded, column: str, labels: Labels, codes: Integers, place: Integers
) -> Cover:
    """The cover of a local recoding, where a reader has the labels only."""
    values, leaves = recoded.raw.base.dictionaries[column], len(place)
    order = sorted(values) if in_order(values) else []
    called = called_so(recoded.raw.hierarchies.get(column), leaves, set(labels))
    is_range = np.array([bool(order) and label not in called for label in labels], dtype=bool)
    pairs = np.unique(codes * leaves + place[recoded.raw.base.codes(column)[recoded.rows]])
    label, at = np.divmod(pairs, leaves)
    between = is_range[label] & (at < len(order))  # a value that is missing lies between no others
    runs = [
        as_runs(
            (number, int(place[leaf]), int(place[leaf]) + 1)
            for number, one in enumerate(labels)
            for leaf in called.get(one, ())
        ),
        as_runs(
            (number, *inside_band(labels[number], order))
            for number in np.flatnonzero(is_range).tolist()
        ),
        hulls(label[between], at[between]),
        np.stack((label, at, at + 1))[:, ~between],
    ]
    return Cover(place, len(labels), *merged(np.concatenate(runs, axis=1)))


def as_runs(runs: Iterable[tuple[int, int, int]]) -> Integers:
    """Owner, start and stop of some runs, as three rows."""
    return np.array(list(runs), dtype=np.int64).reshape(-1, 3).T


def hulls(label: Integers, at: Integers) -> Integers:
    """For each label the run from its first place to its last; both come in order.

    >>> hulls(np.array([0, 0, 2]), np.array([3, 7, 1])).tolist()
    [[0, 2], [3, 1], [8, 2]]
    """
    first = run_starts(label)
    last = np.append(first[1:], len(label))[: len(first)] - 1
    return np.stack((label[first], at[first], at[last] + 1))


def merged(runs: Integers) -> Integers:
    """Runs of the same label that touch or overlap as one; empty ones left out.

    >>> merged(np.array([[0, 0, 0, 1], [4, 1, 2, 3], [5, 2, 3, 3]])).tolist()
    [[0, 0], [1, 4], [3, 5]]
    """
    runs = runs[:, runs[1] < runs[2]]
    room = int(runs[2].max(initial=0)) + 1  # so far apart, runs of different labels never touch
    owner, start, stop = runs[:, np.argsort(runs[0] * room + runs[1], kind="stable")]
    reach = np.maximum.accumulate(owner * room + stop)
    first = np.flatnonzero(np.append(True, (owner * room + start)[1:] > reach[:-1]))[: len(owner)]
    last = np.append(first[1:], len(owner))[: len(first)] - 1
    return np.stack((owner[first], start[first], reach[last] - owner[first] * room))


def by_level(level: HierarchyLevel, place: Integers) -> Cover:
    """The cover of a whole level: every value has one label."""
    label_at = np.empty(len(place), dtype=np.int64)
    label_at[place] = level.codes[: len(place)]
    start = np.concatenate(([0], np.flatnonzero(label_at[1:] != label_at[:-1]) + 1))[: len(place)]
    stop = np.append(start[1:], len(place))[: len(start)]
    return Cover(place, len(level.labels), label_at[start], start, stop)


def places(values: Labels, leaves: int) -> Integers:
    """The place of each value: numbers and dates in their order, others as they come, missing last.

    >>> places((30, 20), 3).tolist()
    [1, 0, 2]
    """
    place = np.arange(leaves, dtype=np.int64)
    if in_order(values):
        place[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values))
    return place


def in_order(values: Labels) -> bool:
    """Does a range of these values mean something? Numbers and dates have an order, words do not.

    >>> (
    ...     in_order((3, 1)),
    ...     in_order((datetime.date(2026, 4, 30),)),
    ...     in_order(("a", "b")),
    ...     in_order((True, False)),
    ... )
    (True, True, False, False)
    """
    kinds = {type(value) for value in values}
    if not kinds or not all(value == value for value in values):
        return False
    return kinds <= {int, float, Decimal, Fraction} or kinds in (
        {datetime.date},
        {datetime.datetime},
    )


def called_so(tree: Hierarchy | None, leaves: int, labels: set[Any]) -> dict[Any, set[int]]:
    """For each label, the values that some level of the hierarchy calls so;
    `*` may be any value.
    """
    found: dict[Any, set[int]] = {SUPPRESSED: set(range(leaves))} if SUPPRESSED in labels else {}
    for level in tree.levels if tree is not None else ():
        for leaf, label in enumerate(level.by_value()[:leaves]):
            if label in labels:
                found.setdefault(label, set()).add(leaf)
    return found


def inside_band(label: Any, order: Sequence[Any]) -> tuple[int, int]:
    """The places of the values in a range such as 30-34 or [30, 35);
    none where the label is no range.

    >>> (
    ...     inside_band("20-30", (10, 20, 30)),
    ...     inside_band("[10, 30)", (10, 20, 30)),
    ...     inside_band("old", (10, 20)),
    ... )
    ((1, 3), (0, 2), (0, 0))
    """
    found = BAND.fullmatch(str(label))
    if not found or isinstance(order[0], datetime.date):
        return 0, 0
    low, high = exact(found[1] or found[3]), exact(found[2] or found[4])
    end = bisect_left(order, high) if found[5] == ")" else bisect_right(order, high)
    return bisect_left(order, low), end


def exact(number: str) -> int | Fraction:
    """A number in a label; whole ones as such, because comparing them is quick."""
    return Fraction(number) if "." in number else int(number)
