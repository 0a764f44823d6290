"""Flows, true against synthetic: every number against the definition in plain Python, on
thousands of small cities.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from statistics import median

import numpy as np
import pytest

from tacit.errors import DataError
from tacit.families.synthetic.utility import flow_queries
from tacit.families.synthetic.utility.flow_comparison import compare
from tacit.families.synthetic.utility.flow_utility import BANDS, FlowUtility
from tacit.families.synthetic.utility.flows import Flows
from tacit.families.synthetic.utility.positions import Positions, miles_between

Counts = dict[tuple[int, int], int]


def city(seed: int) -> tuple[int, int, Counts, Counts, Positions]:
    """Groups, values, true and synthetic counts and places of a small random city."""
    draw = random.Random(seed)
    groups, values = draw.randint(1, 5), draw.randint(1, 14)
    most = draw.choice([1, 2, 5, 40])

    def counts(share: float) -> Counts:
        return {
            (group, value): draw.randint(1, most)
            for group in range(groups)
            for value in range(values)
            if draw.random() < share
        }

    def places(number: int) -> tuple[np.ndarray, np.ndarray]:
        unknown = draw.choice([0.0, 0.0, 0.2])
        known = [draw.random() >= unknown for _ in range(number)]
        return (
            np.array([draw.uniform(-60, 70) if one else math.nan for one in known]),
            np.array([draw.uniform(-179, 179) if one else math.nan for one in known]),
        )

    return (
        groups,
        values,
        counts(draw.random()),
        counts(draw.random()),
        Positions(*places(values), *places(groups)),
    )


def flows(groups: int, values: int, counts: Counts, seed: int = 0) -> Flows:
    """Flows with rows in any order, some of them split in two."""
    draw = random.Random(seed)
    rows = []
    for (group, value), count in counts.items():
        part = draw.randint(0, count)
        rows += [(group, value, part), (group, value, count - part)]
    draw.shuffle(rows)
    return Flows.of(rows, range(groups), range(values))


def haversine(positions: Positions, group: int, value: int) -> float | None:
    """The distance in miles by the spherical law of cosines on vectors, another formula than the
    one in use.
    """
    degrees = (
        positions.latitude[value],
        positions.longitude[value],
        positions.group_latitude[group],
        positions.group_longitude[group],
    )
    if any(math.isnan(one) for one in degrees):
        return None
    a, b, c, d = map(math.radians, degrees)
    one = (math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a))
    other = (math.cos(c) * math.cos(d), math.cos(c) * math.sin(d), math.sin(c))
    return 2 * 3958.7613 * math.asin(min(1.0, math.dist(one, other) / 2))


def variation(true: dict[object, int], synthetic: dict[object, int]) -> Fraction:
    """Half the sum of the differences of shares."""
    people, drawn = sum(true.values()), sum(synthetic.values())
    if not people or not drawn:
        return Fraction(int(people != drawn))
    keys = {*true, *synthetic}
    return (
        sum(
            (
                abs(Fraction(true.get(key, 0), people) - Fraction(synthetic.get(key, 0), drawn))
                for key in keys
            ),
            Fraction(0),
        )
        / 2
    )


def of_group(counts: Counts, group: int) -> dict[object, int]:
    return {value: count for (one, value), count in counts.items() if one == group}


def top_chances(counts: dict[object, int]) -> dict[object, Fraction]:
    """The chance of each value to be among the first ten, ties broken at random."""
    found = {}
    for value, count in counts.items():
        above = sum(other > count for other in counts.values())
        tied = sum(other == count for other in counts.values())
        found[value] = min(Fraction(1), max(Fraction(0), Fraction(10 - above, tied)))
    return found


def hits(true: dict[object, int], synthetic: dict[object, int]) -> Fraction:
    one, other = top_chances(true), top_chances(synthetic)
    return sum((one[value] * other.get(value, 0) for value in one), Fraction(0))


def everybody(counts: Counts, positions: Positions, group: int | None = None) -> list[float]:
    """The distance of every single person who has one, sorted."""
    found = []
    for (one, value), count in counts.items():
        if group in (None, one) and (miles := haversine(positions, one, value)) is not None:
            found += [miles] * count
    return sorted(found)


def close(ours: float, theirs: float | None) -> bool:
    return (
        math.isnan(ours)
        if theirs is None
        else math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-6)
    )


def mean(numbers: list[float]) -> float | None:
    return math.fsum(numbers) / len(numbers) if numbers else None


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_every_number_is_what_its_definition_says(block: int) -> None:
    for seed in range(500 * block, 500 * block + 500):
        groups, values, true, synthetic, positions = city(seed)
        found = compare(
            flows(groups, values, true, seed),
            flows(groups, values, synthetic, seed + 1),
            positions,
            queries=3,
            group_queries=2,
        )
        assert found.people == sum(true.values())
        assert found.drawn == sum(synthetic.values())
        assert found.total_variation == variation(dict(true), dict(synthetic))
        totals = [Counter[object]() for _ in range(2)]
        for total, counts in zip(totals, (true, synthetic), strict=True):
            for (_, value), count in counts.items():
                total[value] += count
        assert found.value_variation == variation(*totals)
        assert math.isclose(found.top, hits(*totals), abs_tol=1e-9)
        assert found.of_top == min(10, len(totals[0]))
        check_distances(found, true, synthetic, positions)
        for group in range(groups):
            check_group(found, group, true, synthetic, positions)
        check_bands(found, groups, true, synthetic, positions)


def check_distances(
    found: FlowUtility, true: Counts, synthetic: Counts, positions: Positions
) -> None:
    here, there = everybody(true, positions), everybody(synthetic, positions)
    assert close(found.mean_true, mean(here))
    assert close(found.mean_synthetic, mean(there))
    middle = here[(len(here) + 1) // 2 - 1] if here else None
    assert close(found.short, middle)
    assert found.without_place == sum(synthetic.values()) - len(there)
    # The limit as it was computed: a distance may fall on either side
    # of the median by its last digit.
    assert close(
        found.short_mean_true,
        mean(
            [
                one
                for one in here
                if middle is not None and one < found.short and not close(one, middle)
            ]
        ),
    )


def check_group(
    found: FlowUtility, group: int, true: Counts, synthetic: Counts, positions: Positions
) -> None:
    here, there = everybody(true, positions, group), everybody(synthetic, positions, group)
    ours, theirs = of_group(true, group), of_group(synthetic, group)
    by = found.groups
    assert by.people[group] == sum(ours.values())
    assert by.drawn[group] == sum(theirs.values())
    assert by.total_variation(group) == variation(ours, theirs)
    assert close(by.mean_true[group], mean(here))
    assert close(by.mean_synthetic[group], mean(there))
    assert close(by.longest[group], here[-1] if here else None)
    far = here[math.ceil(Fraction(99 * len(here), 100)) - 1] if here else None
    assert close(by.far[group], far)
    assert by.beyond_longest[group] == sum(bool(here) and one > here[-1] + 1e-7 for one in there)
    assert by.beyond_far[group] == sum(far is not None and one > far + 1e-7 for one in there)
    assert math.isclose(by.top[group], hits(ours, theirs), abs_tol=1e-9)
    assert by.of_top[group] == min(10, len(ours))


def check_bands(
    found: FlowUtility, groups: int, true: Counts, synthetic: Counts, positions: Positions
) -> None:
    expected = []
    for least, most in BANDS:
        inside = [
            one
            for one in range(groups)
            if least <= sum(of_group(true, one).values()) <= (most or math.inf)
        ]
        if inside:
            means = [
                (mean(everybody(true, positions, one)), mean(everybody(synthetic, positions, one)))
                for one in inside
            ]
            errors = [abs(a - b) for a, b in means if a is not None and b is not None]
            moved = [
                float(variation(of_group(true, one), of_group(synthetic, one))) for one in inside
            ]
            expected.append((least, len(inside), median(errors) if errors else None, median(moved)))
    assert [(band.least, band.groups) for band in found.bands] == [one[:2] for one in expected]
    for band, (_, _, error, moved) in zip(found.bands, expected, strict=True):
        assert close(band.error, error)
        assert math.isclose(band.total_variation, moved, abs_tol=1e-9)


def relative(truth: int, answer: int, people: int) -> float | None:
    return None if truth == answer == 0 else abs(answer - truth) / max(truth, people / 1000, 1)


@pytest.mark.parametrize("placed", [True, False])
def test_range_queries_count_people_one_by_one(placed: bool) -> None:
    for seed in range(300):
        groups, values, true, synthetic, positions = city(seed)
        here = positions if placed and not np.isnan(positions.latitude).all() else None
        asked = flow_queries.Questions.of(here, here, 6, seed)
        occupied = sorted({value for _, value in (*true, *synthetic)})
        if here is None:  # the only way to know a random set is to draw it
            chosen = [
                {value for value, one in zip(occupied, mask, strict=True) if one}
                for mask in asked.masks(len(occupied), 6)
            ]
        else:
            corners = {
                (float(a), float(b)) for a, b in zip(here.latitude, here.longitude, strict=True)
            }
            assert all(
                {south, north} <= {a for a, _ in corners}
                and {west, east} <= {b for _, b in corners}
                for south, north, west, east in asked.boxes.tolist()
            )
            chosen = [
                {
                    v
                    for v in occupied
                    if south <= here.latitude[v] <= north and west <= here.longitude[v] <= east
                }
                for south, north, west, east in asked.boxes.tolist()
            ]

        def errors(
            group: int | None,
            chosen: list[set[int]] = chosen,
            true: Counts = true,
            synthetic: Counts = synthetic,
        ) -> list[float]:
            mine = [
                {pair: n for pair, n in counts.items() if group in (None, pair[0])}
                for counts in (true, synthetic)
            ]
            answers = [
                [sum(n for (_, value), n in counts.items() if value in one) for counts in mine]
                for one in chosen
            ]
            found = [relative(*answer, sum(mine[0].values())) for answer in answers]
            return [one for one in found if one is not None]

        found = compare(
            flows(groups, values, true),
            flows(groups, values, synthetic),
            here,
            queries=6,
            group_queries=6,
            seed=seed,
        )
        check_queries(found, groups, true, errors)


def check_queries(
    found: FlowUtility, groups: int, true: Counts, errors: Callable[[int | None], list[float]]
) -> None:
    every: list[float] = []
    for group in range(groups):
        mine = errors(group) if of_group(true, group) else []
        every += mine
        assert close(
            found.groups.query_median[group], float(np.quantile(mine, 0.5)) if mine else None
        )
        assert close(
            found.groups.query_high[group], float(np.quantile(mine, 0.9)) if mine else None
        )
    for ours, theirs in ((found.queries, errors(None)), (found.group_queries, every)):
        assert ours.asked == len(theirs)
        assert close(ours.median, float(np.quantile(theirs, 0.5)) if theirs else None)
        assert close(ours.high, float(np.quantile(theirs, 0.9)) if theirs else None)


def test_the_same_flows_have_no_error() -> None:
    true = flows(3, 12, {(g, v): g + v for g in range(3) for v in range(12) if g + v})
    found = compare(true, true)
    assert (
        found.total_variation,
        found.value_variation,
        found.queries.high,
        found.group_queries.high,
    ) == (0, 0, 0, 0)
    assert found.top == found.of_top == 10
    assert not found.has_distances


def test_a_group_that_nobody_was_drawn_for_is_all_wrong() -> None:
    true = Flows.of([("mill", "north", 3), ("yard", "north", 2)])
    drawn = Flows.of([("mill", "north", 3)], true.groups, true.values)
    found = compare(true, drawn)
    assert [found.groups.total_variation(group) for group in (0, 1)] == [0, 1]
    assert found.empty == 1


def test_sizes_that_overflow_64_bits_are_still_exact() -> None:
    big = 3 * 10**9
    true = Flows.of([("mill", "north", big), ("mill", "south", 1)])
    drawn = Flows.of([("mill", "north", big - 1), ("mill", "south", 4)], true.groups, true.values)
    found = compare(true, drawn)
    expected = Fraction(4, big + 3) - Fraction(1, big + 1)
    assert found.total_variation == found.groups.total_variation(0) == expected


def test_a_sample_of_very_many_groups_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_queries, "MOST_ASKED", 5)
    true = flows(30, 6, {(group, value): 1 + value for group in range(30) for value in range(6)})
    asked = ~np.isnan(compare(true, true).groups.query_median)
    assert asked.sum() == 5


def test_nothing_at_all_can_be_compared() -> None:
    empty = Flows.of([])
    found = compare(empty, empty)
    assert (found.people, found.total_variation, found.bands) == (0, 0, ())
    json.dumps(found.to_json())


def test_json_has_no_nan_and_every_group_where_names_are_given() -> None:
    groups, values, true, synthetic, positions = city(11)
    for places in (positions, None):
        found = compare(flows(groups, values, true), flows(groups, values, synthetic), places)
        document = found.to_json([f"g{one}" for one in range(groups)])
        assert "NaN" not in json.dumps(document)
        assert len(document["by_group"]) == groups
        assert "by_group" not in found.to_json()
        assert ("miles" in document) == (places is not None)


@pytest.mark.parametrize(
    ("group", "value", "count", "said"),
    [
        ([0], [0], [-1], "negative"),
        ([1], [0], [1], "group"),
        ([0], [5], [1], "value"),
        ([0, 0], [0], [1], "length"),
    ],
)
def test_flows_that_cannot_be_are_refused(
    group: list[int], value: list[int], count: list[int], said: str
) -> None:
    bad = Flows(("mill",), ("north",), np.array(group), np.array(value), np.array(count))
    with pytest.raises(DataError, match=said):
        compare(bad, bad)


def test_flows_over_other_lists_are_refused() -> None:
    with pytest.raises(DataError, match="over 1 and 2 values"):
        compare(
            Flows.of([("mill", "north", 1)]), Flows.of([("mill", "north", 1), ("mill", "south", 1)])
        )


def test_distances_agree_with_known_ones() -> None:
    quarter = miles_between(
        np.array([0.0, 90.0]), np.array([0.0, 0.0]), np.array([0.0, 0.0]), np.array([90.0, 12.0])
    )
    assert np.allclose(quarter, math.pi / 2 * 3958.7613)


def test_a_million_people_are_compared_in_a_moment() -> None:
    draw = np.random.default_rng(3)
    groups, values, rows = 2000, 2000, 300_000
    sides = [
        Flows(
            range(groups),
            range(values),
            draw.integers(0, groups, rows),
            draw.integers(0, values, rows),
            draw.integers(1, 8, rows),
        )
        for _ in range(2)
    ]
    positions = Positions(
        *(draw.uniform(40, 41, many) for many in (values, values, groups, groups))
    )
    start = time.perf_counter()
    assert compare(*sides, positions).people > 10**6
    assert time.perf_counter() - start < 10
