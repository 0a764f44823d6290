"""Values that a table does not have get the labels that they would have had."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tacit.errors import DataError
from tacit.families.microdata.hierarchy import hierarchy
from tacit.families.microdata.labels import more_labels
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)

WARDS = [(1, ["A1", "A", "*"]), (2, ["A2", "A", "*"]), (3, ["B1", "B", "*"])]


def labelled(
    spec: HierarchySpec | None, values: tuple[Any, ...], level: int, more: tuple[Any, ...]
) -> tuple[Any, ...]:
    rows = WARDS if isinstance(spec, CsvHierarchy) else ()
    build = partial(hierarchy, spec=spec, rows=rows, file="ward.csv")
    return more_labels(build("ward", values), level, more, spec=spec, build=build)


@pytest.mark.parametrize(
    ("spec", "values", "level", "more", "labels"),
    [
        (None, ("A1",), 0, ("B1",), ("B1",)),
        (CsvHierarchy("ward.csv"), ("A1",), 1, ("A2", "B1"), ("A", "B")),
        (CsvHierarchy("ward.csv"), ("A1",), 2, ("B1",), ("*",)),
        (RangeHierarchy((10, 20)), (28, 31), 1, (25, 47), ("20-29", "40-49")),
        (RangeHierarchy((10, 20)), (28, 31), 2, (25, 47), ("20-39", "40-59")),
        (DateHierarchy(("month", "year")), ("1985-07-04",), 1, ("1985-07-30",), ("1985-07",)),
        (MaskHierarchy("right"), ("13053", "13068"), 2, ("13001", "14"), ("130**", "14***")),
        (FlatHierarchy(), ("a",), 1, ("b",), ("*",)),
    ],
)
def test_the_hierarchy_says_where_they_belong(
    spec: HierarchySpec | None,
    values: tuple[Any, ...],
    level: int,
    more: tuple[Any, ...],
    labels: tuple[Any, ...],
) -> None:
    assert labelled(spec, values, level, more) == labels


def test_a_half_belongs_to_the_band_of_whole_numbers_around_it() -> None:
    """With halves the bands are written [20, 30) instead of 20-29; they are the same bands."""
    from decimal import Decimal

    assert labelled(RangeHierarchy((10,)), (28, 31), 1, (Decimal("28.5"),)) == ("20-29",)


def test_what_has_no_place_is_named() -> None:
    with pytest.raises(DataError, match="hierarchy of column 'ward' has no place for 'C1'"):
        labelled(CsvHierarchy("ward.csv"), ("A1",), 1, ("A2", "C1"))
    with pytest.raises(DataError, match="mask of column 'ward' has no place for '130531'"):
        labelled(MaskHierarchy("right"), ("13053",), 1, ("130531",))
