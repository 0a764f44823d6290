"""What a hierarchy calls values that the table does not have:
a prior or another table may have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacit.errors import DataError
from tacit.families.microdata.hierarchy import Hierarchy, Labels, value_text
from tacit.model.schema import HierarchySpec, MaskHierarchy


def more_labels(
    tree: Hierarchy,
    height: int,
    more: Labels,
    *,
    spec: HierarchySpec | None,
    build: Callable[[str, Labels], Hierarchy],
) -> Labels:
    """The labels of more values at one level of a column's hierarchy.

    `build` makes the hierarchy of other values. It is built again with the new ones; the labels of
    the old ones may be written differently then, but must hold the same values together.

    >>> from functools import partial
    >>> from tacit.model.schema import RangeHierarchy
    >>> from tacit.families.microdata.hierarchy import hierarchy
    >>> ages = RangeHierarchy((10,))
    >>> build = partial(hierarchy, spec=ages)
    >>> more_labels(build("age", (28, 31)), 1, (25, 47), spec=ages, build=build)
    ('20-29', '40-49')
    """
    if height == 0:
        return more
    for value in more:
        if isinstance(spec, MaskHierarchy) and len(value_text(value)) > longest(tree.values):
            message = f"the mask of column {tree.column!r} has no place for {value_text(value)!r}."
            raise DataError(message, hint="It is longer than every value of the table.")
    try:
        larger = build(tree.column, (*tree.values, *more))
    except DataError as error:
        raise no_place(tree, more, build, error) from None
    old = tree.level(height).by_value()[:-1]
    new = larger.level(height).by_value()[:-1]
    name_of = dict(zip(new, old, strict=False))
    return tuple(name_of.get(label, label) for label in new[len(old) :])


def longest(values: Labels) -> int:
    """How long the longest value is, written out."""
    return max((len(value_text(value)) for value in values), default=0)


def no_place(
    tree: Hierarchy, more: Labels, build: Callable[[str, Labels], Hierarchy], error: DataError
) -> DataError:
    """The error that names the first value for which the hierarchy has no labels."""

    def fits(value: Any) -> bool:
        try:
            build(tree.column, (*tree.values, value))
        except DataError:
            return False
        return True

    value = next((value for value in more if not fits(value)), more[0])
    message = f"the hierarchy of column {tree.column!r} has no place for {value_text(value)!r}."
    return DataError(message, hint=error.hint)
