"""Boxes: what a group of its own shows of each column."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from asking import handmade
from local_tables import CITIES, CODES, tree_of
from oracles.partitions import stands_for
from tacit.families.microdata.hierarchy import Hierarchy, hierarchy
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.repair.boxes import BoxAxis, HierarchyAxis, OrderedAxis, axis
from tacit.model.schema import DateHierarchy, FlatHierarchy, RangeHierarchy, Table


def axis_of(
    values: list[Any], tree: Hierarchy | None = None, *, spec: Any = None, hide: bool = False
) -> BoxAxis:
    base = handmade([{"x": value} for value in values])
    trees = {"x": tree or hierarchy("x", base.dictionaries["x"], spec)}
    table = Table("t", quasi_identifiers=("x",), hierarchies={"x": spec} if spec else {})
    question = MicrodataQuestion(
        "r",
        table,
        ("x",),
        (),
        base,
        {"x": trees["x"].level(0)},
        len(values),
        len(values),
        hierarchies=trees,
    )
    return axis(question, "x", hide_missing=hide)


def labels_of(found: BoxAxis, *groups: list[Any]) -> list[Any]:
    """The labels of some groups of values, all in one release."""
    codes = {value: place for place, value in enumerate((*found.values, None))}
    first = np.array([min(codes[value] for value in group) for group in groups])
    last = np.array([max(codes[value] for value in group) for group in groups])
    labels, number = found.labels(first, last)
    return [labels[i] for i in number.tolist()]


def test_whole_numbers_are_ranges_with_both_ends() -> None:
    ages = axis_of([28, 30, 34, 51, 70])
    assert isinstance(ages, OrderedAxis)
    assert labels_of(ages, [30, 34], [51], [28, 70], [51, 70]) == ["30-34", "51", "*", "51-70"]


def test_negative_numbers_are_written_like_the_bands_of_a_hierarchy() -> None:
    assert labels_of(axis_of([-5, -3, -1, 4]), [-5, -1]) == ["-5--1"]


def test_other_numbers_are_intervals_that_end_before_the_next_value() -> None:
    doses = axis_of([Decimal("0.5"), Decimal("0.7"), Decimal("1.2"), Decimal("2")])
    groups = [Decimal("0.5"), Decimal("0.7")], [Decimal("1.2"), Decimal("2")]
    assert labels_of(doses, *groups) == ["[0.5, 1.2)", "[1.2, 2]"]


def test_values_keep_their_type_where_nothing_is_generalized() -> None:
    assert labels_of(axis_of([28, 30]), [28], [30]) == [28, 30]
    assert labels_of(axis_of([28, 30, 31]), [28], [30, 31]) == ["28", "30-31"]


def test_dates_are_ranges() -> None:
    days = [datetime.date(1985, 7, n) for n in (4, 9, 30)]
    assert labels_of(axis_of([*days]), days[:2], days) == ["1985-07-04 to 1985-07-09", "*"]


def test_text_with_date_levels_is_ordered_by_date() -> None:
    found = axis_of(["1985-07-04", "1985-12-01", "1990-01-01"], spec=DateHierarchy(("year",)))
    assert isinstance(found, OrderedAxis)
    assert labels_of(found, ["1985-07-04", "1985-12-01"]) == ["1985-07-04 to 1985-12-01"]


def test_values_show_their_lowest_common_ancestor() -> None:
    cities = axis_of(list(CITIES), tree_of("city", tuple(CITIES)))
    assert isinstance(cities, HierarchyAxis)
    groups = (["a1"], ["a1", "a2"], ["a1", "b1"], ["c1", "c2"], ["b1", "c1"])
    assert labels_of(cities, *groups) == ["a1", "A", "west", "C", "*"]


def test_values_without_a_hierarchy_are_themselves_or_a_star() -> None:
    assert labels_of(axis_of(["red", "green", "blue"]), ["red"], ["green", "blue"]) == ["red", "*"]
    assert labels_of(axis_of(["red", "green", "blue"], spec=FlatHierarchy()), ["red", "green"]) == [
        "*"
    ]


def test_numbers_whose_hierarchy_joins_what_is_not_next_to_each_other_are_codes() -> None:
    codes = axis_of([1, 2, 3, 4], tree_of("code", tuple(CODES)))
    assert isinstance(codes, HierarchyAxis)
    assert labels_of(codes, [1, 3], [1, 2]) == ["odd", "*"]
    assert isinstance(axis_of([1, 2, 3, 4], spec=RangeHierarchy((2,))), OrderedAxis)


@pytest.mark.parametrize("values", [[1, 2, None], ["red", "blue", None], ["a1", "c1", None]])
def test_missing_values_alone_stay_missing_and_others_are_hidden_with_them(
    values: list[Any],
) -> None:
    tree = tree_of("city", ("a1", "c1")) if "a1" in values else None
    assert labels_of(axis_of(values, tree), [None], [values[0], None]) == [None, "*"]
    assert labels_of(axis_of(values, tree, hide=True), [None]) == ["*"]


def test_infinite_numbers_have_no_place_on_a_line() -> None:
    assert isinstance(axis_of([1.0, float("inf")]), HierarchyAxis)


def test_labels_stand_for_every_value_of_their_group() -> None:
    rng = random.Random(3)
    pools: list[tuple[list[Any], Hierarchy | None]] = [
        (list(range(-5, 20)), None),
        ([Decimal(n) / 8 for n in range(-9, 30)], None),
        ([n / 7 for n in range(-9, 30)], None),
        (list(CITIES), tree_of("city", tuple(CITIES))),
        ([datetime.date(2000, 1, n) for n in range(1, 20)], None),
    ]
    for _ in range(600):
        pool, tree = rng.choice(pools)
        values = pool if tree else rng.sample(pool, rng.randint(1, len(pool)))
        found = axis_of([*values, None], tree)
        groups = [
            rng.sample([*values, None], rng.randint(1, min(4, len(values)))) for _ in range(3)
        ]
        for group, label in zip(groups, labels_of(found, *groups), strict=True):
            for value in group:
                above = CITIES.get(value) if isinstance(value, str) else None
                assert stands_for(label, value, above), (group, label)


def test_a_wider_group_covers_no_less() -> None:
    rng = random.Random(4)
    for _ in range(300):
        values: list[Any] = rng.choice([list(range(9)), list(CITIES), ["red", "green", "blue"]])
        found = axis_of([*values, None], tree_of("city", tuple(CITIES)) if "a1" in values else None)
        a, b, c, d = sorted(rng.choices(range(len(values) + 1), k=4))
        inner, outer = found.widths(np.array([b, a]), np.array([c, d]))
        assert 0 <= inner <= outer <= 1
        assert (inner == 0) == (b == c)
