"""Boxes: how a group of rows that is recoded on its own looks:
a stretch of each column, and its label.

Every quasi-identifier becomes an axis, a line of places on which like values are neighbours:
numbers and dates stand in their order, other values as in their hierarchy, so that everything below
one label is one stretch; a missing value stands last. A group is then known by its first and last
place on every axis.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.families.microdata.hierarchy import SUPPRESSED, Hierarchy, Labels, as_date, value_text
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.model.schema import DateHierarchy

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers

    Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class BoxAxis(ABC):
    """A column as a line of places.
    `place` has the place of each code; missing ones stand at `last`.

    `values` are the column's values by place. With `hide_missing` a group in which all values are
    missing shows `*`, for checks that read an empty cell as if it could be anything.
    """

    column: str
    values: Labels
    place: Integers
    hide_missing: bool

    @property
    def last(self) -> int:
        """The place of a missing value."""
        return len(self.values)

    @abstractmethod
    def widths(self, first: Integers, last: Integers) -> Floats:
        """How much of the column each stretch covers as it will be shown:
        0 for one value, 1 for all.
        """

    @abstractmethod
    def names(self, first: Integers, last: Integers) -> tuple[list[Any], Integers]:
        """What each stretch is called: the different names, and the
        number of each stretch's name.
        """

    def labels(self, first: Integers, last: Integers) -> tuple[Labels, Integers]:
        """What the release shows for each stretch:
        labels, each once, and the code of each stretch's label.

        Where something is generalized the whole column is text, so that a file has one type for it.
        """
        names, number = self.names(first, last)
        if bool((first < last).any()):
            names = [None if name is None else value_text(name) for name in names]
        if self.hide_missing:
            names = [SUPPRESSED if name is None else name for name in names]
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        return tuple(codes), np.array([codes[name] for name in names], dtype=np.int64)[number]


@dataclass(frozen=True, slots=True)
class OrderedAxis(BoxAxis):
    """Numbers or dates in their order; any stretch of them is a label.
    `texts` has each value as a label writes it.
    """

    kind: Literal["whole numbers", "numbers", "dates"]
    texts: tuple[str, ...]

    def widths(self, first: Integers, last: Integers) -> Floats:
        """By ranks among the different values; with missing ones among others nothing is shown."""
        share = (last - first) / max(1, len(self.values) - 1)
        return np.where(last == self.last, (first < last).astype(np.float64), share)

    def names(self, first: Integers, last: Integers) -> tuple[list[Any], Integers]:
        """30-34 for whole numbers, [0.5, 0.8) for others, * for everything."""
        room = self.last + 1
        found, number = np.unique(first * room + last, return_inverse=True)
        return [self._name(*divmod(key, room)) for key in found.tolist()], number.reshape(-1)

    def _name(self, first: int, last: int) -> Any:
        if first == last:
            return self.values[first] if first < self.last else None
        if last == self.last or (first == 0 and last == self.last - 1):
            return SUPPRESSED
        if self.kind == "whole numbers":
            return f"{self.texts[first]}-{self.texts[last]}"
        if self.kind == "dates":
            return f"{self.texts[first]} to {self.texts[last]}"
        # Up to the next value that occurs, so that the label has an end
        # like the bands of a hierarchy.
        if last + 1 < self.last:
            return f"[{self.texts[first]}, {self.texts[last + 1]})"
        return f"[{self.texts[first]}, {self.texts[last]}]"


@dataclass(frozen=True, slots=True)
class HierarchyAxis(BoxAxis):
    """Values in the order of their hierarchy;
    the label of a stretch is the lowest that all have in common.

    `codes[height][place]` is the label's code at a level, `names_at[height]` the labels by code,
    and `sizes[height][place]` how many values have that label. The last level has one label only.
    """

    codes: Integers
    names_at: tuple[Labels, ...]
    sizes: Integers

    def heights(self, first: Integers, last: Integers) -> Integers:
        """The lowest level at which all values of each stretch are one."""
        height = np.zeros(len(first), dtype=np.int64)
        apart = first != last
        for level in self.codes:
            apart = apart & (level[first] != level[last])
            height += apart
        return height

    def widths(self, first: Integers, last: Integers) -> Floats:
        """By the number of values under the label."""
        under = self.sizes[self.heights(first, last), first]
        share: Floats = (under - 1) / max(1, int(self.sizes[-1, 0]) - 1)
        return share

    def names(self, first: Integers, last: Integers) -> tuple[list[Any], Integers]:
        """The labels of the lowest common level."""
        height = self.heights(first, last)
        room = int(self.codes.max(initial=0)) + 1
        key = height * room + self.codes[height, first]
        found, number = np.unique(key, return_inverse=True)
        return [self.names_at[one // room][one % room] for one in found.tolist()], number.reshape(
            -1
        )

    def children(self, height: Integers, place: Integers) -> Integers:
        """The labels just below a level, by code."""
        below: Integers = self.codes[height - 1, place]
        return below


def axis(question: MicrodataQuestion, column: str, *, hide_missing: bool = False) -> BoxAxis:
    """The axis of a quasi-identifier.

    Numbers and dates are a line, unless they have a hierarchy that joins some which are not
    neighbours: then they are codes whose order means nothing.
    """
    values = question.base.dictionaries[column]
    tree = question.hierarchies.get(column)
    dated = isinstance(question.table.hierarchies.get(column), DateHierarchy)
    keys = order_keys(column, values, dated=dated)
    if keys is not None:
        order = np.array(sorted(range(len(values)), key=keys.__getitem__), dtype=np.int64)
        if tree is None or keeps_order(tree, order):
            return line_axis(
                column, tuple(values[i] for i in order.tolist()), order, hide_missing=hide_missing
            )
    return tree_axis(column, values, tree, hide_missing=hide_missing)


def line_axis(column: str, values: Labels, order: Integers, *, hide_missing: bool) -> OrderedAxis:
    """The axis of ordered values.

    >>> axis = line_axis("dose", (1, 2, 5, 9), np.arange(4), hide_missing=False)
    >>> axis.labels(np.array([0, 2, 0]), np.array([1, 2, 3]))[0]
    ('1-2', '*', '5')
    """
    if not all(is_number(value) for value in values):
        return OrderedAxis(
            column, values, placed(order), hide_missing, "dates", tuple(map(value_text, values))
        )
    if all(value == int(value) for value in values):
        texts = tuple(str(int(value)) for value in values)
        return OrderedAxis(column, values, placed(order), hide_missing, "whole numbers", texts)
    return OrderedAxis(
        column, values, placed(order), hide_missing, "numbers", tuple(map(value_text, values))
    )


def order_keys(column: str, values: Labels, *, dated: bool) -> Labels | None:
    """What numbers or dates are sorted by; None for values that are neither."""
    if all(is_number(value) for value in values):
        return values
    if dated:
        return tuple(as_date(column, value).isoformat() for value in values)
    kinds = {type(value) for value in values}
    return values if kinds in ({datetime.date}, {datetime.datetime}) else None


def is_number(value: Any) -> bool:
    """Is it a number that can be compared with others?

    >>> [is_number(value) for value in (3, Decimal("0.5"), True, float("nan"), "3")]
    [True, True, False, False, False]
    """
    return (
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) and isfinite(value)
    )


def keeps_order(tree: Hierarchy, order: Integers) -> bool:
    """Is every label of a hierarchy a stretch of the ordered values?"""
    for level in tree.levels:
        codes = level.codes[order]
        if len(codes) and int((codes[1:] != codes[:-1]).sum()) + 1 > len(np.unique(codes)):
            return False
    return True


def placed(order: Integers) -> Integers:
    """The place of each code when they are put into an order; missing comes last."""
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = len(order)
    return place


def tree_axis(
    column: str, values: Labels, tree: Hierarchy | None, *, hide_missing: bool
) -> HierarchyAxis:
    """The axis of values that have no order: siblings side by side.
    Above the last level stands `*`.

    A column without a hierarchy has no labels between a value and `*`.
    """
    levels: list[Any] = (
        [level.codes for level in tree.levels] if tree else [np.arange(len(values) + 1)]
    )
    names = [level.labels for level in tree.levels] if tree else [(*values, None)]
    if len(np.unique(levels[-1])) > 1:
        levels.append(np.zeros(len(values) + 1, dtype=np.int64))
        names.append((SUPPRESSED,))
    order = (
        np.lexsort([level[:-1] for level in levels]) if len(values) else np.zeros(0, dtype=np.int64)
    )
    codes = np.stack([np.append(level[order], level[-1]) for level in levels])
    sizes = np.stack(
        [np.bincount(level[:-1], minlength=int(level.max()) + 1)[level] for level in codes]
    )
    sizes = np.maximum(sizes, 1)
    found = tuple(values[i] for i in order.tolist())
    return HierarchyAxis(column, found, placed(order), hide_missing, codes, tuple(names), sizes)


def axes_of(question: MicrodataQuestion, *, hide_missing: bool = False) -> tuple[BoxAxis, ...]:
    """The axes of all quasi-identifiers."""
    return tuple(axis(question, column, hide_missing=hide_missing) for column in question.quasi)


def places_of(question: MicrodataQuestion, axes: Sequence[BoxAxis]) -> Integers:
    """Where each combination of the table stands: a row for each axis."""
    found = [one.place[question.base.codes(one.column)] for one in axes]
    return np.stack(found) if found else np.zeros((0, len(question.base)), dtype=np.int64)
