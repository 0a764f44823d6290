"""Hierarchies: however they are written, values become coarser, and never in two ways at once."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import microdata as oracle
from tacit.errors import DataError
from tacit.families.microdata.hierarchy import Hierarchy, hierarchy, value_text
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)


def labels(tree: Hierarchy, height: int) -> list[Any]:
    """What every value, and then a missing one, is called at a level."""
    return tree.level(height).by_value()


def csv(values: tuple[Any, ...], *lines: str) -> Hierarchy:
    rows = [(number, line.split(";")) for number, line in enumerate(lines, 1)]
    return hierarchy("column", values, CsvHierarchy("column.csv"), rows=rows, file="column.csv")


# -- what each way of writing means -------------------------------------------------------------


def test_without_a_hierarchy_there_is_only_the_value_itself() -> None:
    tree = hierarchy("zip", ("13053", "13068"))
    assert tree.height == 0
    assert labels(tree, 0) == ["13053", "13068", None]


def test_a_star_suppresses_also_who_has_no_value() -> None:
    assert labels(hierarchy("zip", ("a", "b"), FlatHierarchy()), 1) == ["*", "*", "*"]


def test_ranges_count_from_zero_also_below_it() -> None:
    tree = hierarchy("age", (-6, -5, -1, 0, 4, 5), RangeHierarchy((5, 10)))
    assert labels(tree, 1) == ["-10--6", "-5--1", "-5--1", "0-4", "0-4", "5-9", None]
    assert labels(tree, 2) == ["-10--1", "-10--1", "-10--1", "0-9", "0-9", "0-9", None]
    assert labels(tree, 3) == ["*"] * 7


def test_ranges_over_decimals_say_which_end_is_open() -> None:
    tree = hierarchy(
        "dose", (Decimal("0.1"), Decimal("0.5"), Decimal("0.70")), RangeHierarchy((Fraction(1, 2),))
    )
    assert labels(tree, 1) == ["[0, 0.5)", "[0.5, 1)", "[0.5, 1)", None]


def test_ranges_over_floats_use_the_decimal_that_is_shown() -> None:
    """0.3 lies at the border of a band of 0.1; the nearest binary fraction lies below it."""
    tree = hierarchy("dose", (0.3, 0.1 + 0.2), RangeHierarchy((Fraction(1, 10),)))
    assert labels(tree, 1) == ["[0.3, 0.4)", "[0.3, 0.4)", None]


def test_bands_of_very_long_numbers_stay_apart() -> None:
    values = (Decimal(10**33), Decimal(10**33 + 5))
    first, second, _ = labels(hierarchy("account", values, RangeHierarchy((5,))), 1)
    assert first != second


@pytest.mark.parametrize("value", ["31", True, float("inf"), "n/a"])
def test_ranges_refuse_what_is_no_number(value: Any) -> None:
    with pytest.raises(DataError, match="is not a number"):
        hierarchy("age", (value,), RangeHierarchy((5,)))


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("day", "2024-02-29"),
        ("month", "2024-02"),
        ("quarter", "2024-Q1"),
        ("year", "2024"),
        ("decade", "2020s"),
    ],
)
def test_dates(unit: Any, expected: str) -> None:
    for value in (
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 23, 59),
        "2024-02-29",
        "2024-02-29 10:00:00",
    ):
        assert labels(hierarchy("born", (value,), DateHierarchy((unit,))), 1)[0] == expected


def test_early_years_have_four_digits() -> None:
    tree = hierarchy("born", (datetime.date(987, 1, 1),), DateHierarchy(("year", "decade")))
    assert (labels(tree, 1)[0], labels(tree, 2)[0]) == ("0987", "0980s")


@pytest.mark.parametrize("value", ["31.12.1999", "1999-02-30", "yesterday", 19990101.5])
def test_dates_refuse_what_is_no_date(value: Any) -> None:
    with pytest.raises(DataError, match="is not a date"):
        hierarchy("born", (value,), DateHierarchy(("month",)))


def test_masks_hide_from_either_side_and_end_in_a_star() -> None:
    right = hierarchy("zip", ("13053", "13068"), MaskHierarchy("right"))
    assert [labels(right, i)[0] for i in range(6)] == [
        "13053",
        "1305*",
        "130**",
        "13***",
        "1****",
        "*",
    ]
    left = hierarchy("phone", ("13053",), MaskHierarchy("left"))
    assert [labels(left, i)[0] for i in range(6)] == [
        "13053",
        "*3053",
        "**053",
        "***53",
        "****3",
        "*",
    ]
    assert labels(right, 4)[-1] is None
    assert labels(right, 5)[-1] == "*"


def test_masks_hide_how_long_a_value_was() -> None:
    tree = hierarchy("code", ("A", "AB", "AB1"), MaskHierarchy("right"))
    assert labels(tree, 1)[:3] == ["A**", "AB*", "AB*"]
    assert labels(tree, 2)[:3] == ["A**", "A**", "A**"]


# -- files --------------------------------------------------------------------------------------


def test_a_file_may_have_values_that_the_data_has_not() -> None:
    assert labels(csv(("F",), "F;human;*", "M;human;*"), 1) == ["human", None]


def test_numbers_dates_and_booleans_are_found_as_they_are_written() -> None:
    assert labels(csv((7,), "7;odd"), 1)[0] == "odd"
    assert labels(csv((datetime.date(2024, 2, 29),), "2024-02-29;leap"), 1)[0] == "leap"
    assert labels(csv((True,), "true;yes"), 1)[0] == "yes"
    assert labels(csv((Decimal("1.50"),), "1.50;high"), 1)[0] == "high"


def test_a_file_that_does_not_cover_a_value_says_which_line_to_add() -> None:
    with pytest.raises(DataError) as caught:
        csv(("F", "X", "Y"), "F;human;*")
    assert "'X' and 1 more" in caught.value.message
    assert caught.value.hint == "Add a line to column.csv: X;*;*"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("F;a;*", "M;b"), "1 levels, the first line has 2"),
        (("F",), "has no levels"),
        (("F;a;*", "F;b;*"), "stands in line 1 already"),
        (("F;;*",), "level 1 of 'F' is empty"),
        (("F;a;x", "M;a;y"), "not nested"),
        ((), "is empty"),
    ],
)
def test_files_that_are_wrong_are_refused(lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(DataError, match=said):
        csv(("F", "M") if len(lines) > 1 else ("F",), *lines)


def test_a_line_that_stands_twice_the_same_is_no_error() -> None:
    assert labels(csv(("F",), "F;a;*", "F;a;*"), 1)[0] == "a"


def test_a_header_line_is_left_out() -> None:
    assert labels(csv(("F",), "column;level 1;level 2", "F;a;*"), 1) == ["a", None]


def test_a_value_that_is_called_like_its_column_is_not_a_header() -> None:
    """A column "other" in which somebody wrote "other"."""
    assert labels(csv(("F", "column"), "column;a;*", "F;a;*"), 1) == ["a", "a", None]


def test_there_is_no_level_beyond_the_last_and_none_below_zero() -> None:
    tree = hierarchy("zip", ("a",), FlatHierarchy())
    for height in (2, -1):
        with pytest.raises(DataError, match=r"no level.*levels 0 \(as it is\) to 1"):
            tree.level(height)


# -- missing values -----------------------------------------------------------------------------


def test_a_star_among_the_values_does_not_swallow_the_missing_ones() -> None:
    """Level 0 is the values as they are: somebody wrote "*", others wrote nothing."""
    assert labels(hierarchy("zip", ("*",), FlatHierarchy()), 0) == ["*", None]


def test_a_column_without_values_still_has_all_its_levels() -> None:
    assert labels(hierarchy("zip", (), FlatHierarchy()), 1) == ["*"]
    assert labels(hierarchy("age", (), RangeHierarchy((5, 10))), 1) == [None]
    assert labels(hierarchy("age", (), RangeHierarchy((5, 10))), 3) == ["*"]


def test_what_a_missing_value_is_called_depends_on_the_file_and_not_on_who_is_in_the_table() -> (
    None
):
    """Level 1 keeps "b" apart: it does not suppress the column, also
    where nobody happens to have "y".

    Definition 3.3: a generalization is a partition of the domain, not of the values that occur.
    """
    lines = ("x;*;*", "y;b;*")
    assert labels(csv(("x", "y"), *lines), 1) == ["*", "b", None]
    assert labels(csv(("x",), *lines), 1) == ["*", None]


# -- properties ---------------------------------------------------------------------------------

numbers = st.lists(st.integers(-60, 60), unique=True, max_size=12)
fractions = st.lists(st.decimals(-20, 20, places=2), unique=True, max_size=12)
texts = st.lists(st.text("AB1*", min_size=1, max_size=4), unique=True, max_size=10)
dates = st.lists(st.dates(datetime.date(1, 1, 1)), unique=True, max_size=10)
widths = st.sampled_from([[5], [2, 4], [1, 3, 9], [10, 20, 100], [Fraction(1, 2), 1, 5]])
UNITS = ("day", "month", "quarter", "year", "decade")
units = st.lists(st.sampled_from(UNITS), unique=True, min_size=1).map(
    lambda some: sorted(some, key=UNITS.index)
)

written = st.one_of(
    st.tuples(st.one_of(numbers, fractions), widths.map(lambda steps: {"ranges": steps})),
    st.tuples(texts, st.sampled_from([{"mask": "right"}, {"mask": "left"}])),
    st.tuples(dates, units.map(lambda steps: {"dates": steps})),
    st.tuples(texts, st.just("*")),
)


def spec_of(plan: Any) -> HierarchySpec:
    if plan == "*":
        return FlatHierarchy()
    ((way, steps),) = plan.items()
    return {
        "ranges": lambda: RangeHierarchy(tuple(steps)),
        "dates": lambda: DateHierarchy(tuple(steps)),
        "mask": lambda: MaskHierarchy(steps),
    }[way]()


@settings(max_examples=500, deadline=None)
@given(written)
def test_levels_are_those_of_the_oracle(case: tuple[list[Any], Any]) -> None:
    values, plan = sorted(case[0]), case[1]
    tree = hierarchy("column", tuple(values), spec_of(plan))
    assert tree.height == oracle.height(plan, values)
    for height in range(tree.height + 1):
        expected = [oracle.generalized(value, plan, height, values) for value in (*values, None)]
        assert labels(tree, height) == expected


@settings(max_examples=300, deadline=None)
@given(written)
def test_levels_are_nested_and_end_in_a_star(case: tuple[list[Any], Any]) -> None:
    values = tuple(sorted(case[0]))
    tree = hierarchy("column", values, spec_of(case[1]))
    for height in range(tree.height):
        below, above = labels(tree, height), labels(tree, height + 1)
        parents: dict[Any, Any] = {}
        for fine, coarse in zip(below, above, strict=True):
            assert parents.setdefault(fine, coarse) == coarse
    assert set(labels(tree, tree.height)) == {"*"}


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.text("abcxyz", min_size=1, max_size=3),
        st.lists(st.sampled_from("PQ*"), min_size=2, max_size=2),
        min_size=1,
    )
)
def test_a_file_is_either_nested_or_refused(table: dict[str, list[str]]) -> None:
    parents: dict[str, set[str]] = {}
    for fine, coarse in table.values():
        parents.setdefault(fine, set()).add(coarse)
    nested = all(len(above) == 1 for above in parents.values())
    lines = [";".join([value, *steps]) for value, steps in table.items()]
    if nested:
        tree = csv(tuple(sorted(table)), *lines)
        assert [labels(tree, 1)[:-1], labels(tree, 2)[:-1]] == [
            [table[value][i] for value in sorted(table)] for i in (0, 1)
        ]
    else:
        with pytest.raises(DataError, match="not nested"):
            csv(tuple(sorted(table)), *lines)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (28, "28"),
        (Decimal("1E+2"), "100"),
        (False, "false"),
        ("a b", "a b"),
        (datetime.date(987, 1, 2), "0987-01-02"),
    ],
)
def test_values_as_a_file_writes_them(value: Any, text: str) -> None:
    assert value_text(value) == text
