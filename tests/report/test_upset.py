"""The picture of who is in which view:
its counts against a look at every person, and how it is drawn.
"""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit.checking.assess import question_alone
from tacit.checking.holdings.holdings import holdings_of
from tacit.families.overlaps.family import FAMILY
from tacit.families.overlaps.memberships import (
    Combination,
    Memberships,
    memberships,
    seats,
    true_memberships,
)
from tacit.families.overlaps.overlap import Overlap, merged
from tacit.plan.open_plan import OpenPlan
from tacit.plan.read.load import load_plan
from tacit.report.charts.upset import (
    columns_of,
    describe_combinations,
    finding,
    names_of,
    rows_of,
    short_number,
    upset_chart,
)
from tacit.report.crowds import charts

ROWS = """[[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS],
           [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]"""
PLAN = f"""\
version: 1
tables:
  patients:
    columns: [name, sex, age, condition]
    key: [name]
    sensitive: [condition]
    domains: {{condition: [Heart, SARS, Viral, Flu]}}
    rows: {ROWS}
releases:
  male:      {{query: "SELECT condition FROM patients WHERE sex = 'M'"}}
  age26to28: {{query: "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28"}}
  sars:      {{query: "SELECT age FROM patients WHERE condition = 'SARS'"}}
checks:
"""
BOTH = "  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5}\n"
ALL = "  - gamma-privacy: {releases: [male, age26to28, sars], gamma: 0.5}\n"
YOUNG = "  - k-sind: {releases: [age26to28, sars], k: 2}\n"


def some(views: int, *combinations: tuple[tuple[int, ...], tuple[int, ...], int]) -> Memberships:
    return Memberships(
        tuple(f"v{number}" for number in range(views)),
        tuple(Combination(*one) for one in combinations),
        "condition",
    )


# -- counting --------------------------------------------------------------------------------------


def a_table(rng: random.Random) -> tuple[list[tuple[list[set[int]], int]], int, int]:
    """People by hand: for each view the values with which it selects
    them, and the value that they have.
    """
    views, values = rng.randint(1, 4), rng.randint(1, 3)
    kinds = [
        [
            {v for v in range(values) if rng.random() < share}
            for share in rng.choices((0.0, 0.5, 1.0, 1.0), k=views)
        ]
        for _ in range(rng.randint(1, 4))
    ]
    return (
        [(rng.choice(kinds), rng.randrange(values)) for _ in range(rng.randint(1, 12))],
        views,
        values,
    )


def overlap_of_people(people: list[tuple[list[set[int]], int]], views: int, values: int) -> Overlap:
    """The same as arrays, everybody a class of their own."""
    outputs = np.zeros((len(people), views, values), dtype=np.int64)
    current = np.zeros((len(people), values), dtype=np.int64)
    for person, (selected, value) in enumerate(people):
        current[person, value] = 1
        for view, by in enumerate(selected):
            outputs[person, view, sorted(by)] = 1 + view
    names = tuple(f"v{number}" for number in range(views))
    return Overlap(
        tuple(range(values)),
        names,
        outputs,
        np.ones(len(people), dtype=np.int64),
        np.zeros(views + 1, dtype=np.int64),
        current,
    )


def test_counts_are_those_of_a_look_at_everybody() -> None:
    rng = random.Random(10)
    for _ in range(1000):
        people, views, values = a_table(rng)
        by_hand: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
        truly: Counter[tuple[int, ...]] = Counter()
        for selected, value in people:
            sure = tuple(view for view in range(views) if selected[view] == set(range(values)))
            perhaps = tuple(view for view in range(views) if selected[view] and view not in sure)
            by_hand[sure, perhaps] += 1
            truly[tuple(view for view in range(views) if value in selected[view])] += 1
        overlap = overlap_of_people(people, views, values)
        for one in (overlap, merged(overlap)):
            found, true = memberships(one), true_memberships(one)
            assert {(c.inside, c.perhaps): c.people for c in found.combinations} == by_hand
            assert found.people == true.people == len(people)
            assert [c.people for c in found.combinations] == sorted(by_hand.values(), reverse=True)
            assert {c.inside: c.people for c in true.combinations} == truly and true.is_certain
            for view in range(views):
                assert true.shown_by(view) == sum(
                    value in selected[view] for selected, value in people
                )
        assert true_memberships(replace(overlap, current=None)) == memberships(overlap)


def test_views_that_share_a_row_lose_nobody() -> None:
    rng = random.Random(11)
    for _ in range(300):
        people, views, values = a_table(rng)
        found = memberships(overlap_of_people(people, views, values))
        kept = sorted(rng.sample(range(views), rng.randint(0, views - 1)))
        less = found.together(kept)
        assert less.people == found.people and len(less.views) == len(kept) + 1
        for place, view in enumerate(kept):
            assert less.shown_by(place) == found.shown_by(view)
        rest = [view for view in range(views) if view not in kept]
        assert less.shown_by(len(kept)) == sum(
            one.people for one in found.combinations if {*one.inside, *one.perhaps} & set(rest)
        )


@pytest.mark.parametrize(
    ("check", "told_of", "true_of"),
    [
        (BOTH, {((0,), ()): 3, ((1,), ()): 3, ((0, 1), ()): 1}, {(0,): 3, (1,): 3, (0, 1): 1}),
        (
            ALL,
            {((0,), (2,)): 3, ((1,), (2,)): 3, ((0, 1), (2,)): 1},
            {(0,): 2, (0, 2): 1, (0, 1, 2): 1, (1,): 2, (1, 2): 1},
        ),
        (YOUNG, {((), (1,)): 3, ((0,), (1,)): 4}, {(): 2, (1,): 1, (0,): 2, (0, 1): 2}),
    ],
)
def test_counts_come_from_the_rows(
    tmp_path: Path, check: str, told_of: dict[object, int], true_of: dict[object, int]
) -> None:
    (tmp_path / "tacit.yaml").write_text(PLAN + check, "utf-8")
    plan = load_plan(tmp_path / "tacit.yaml")
    with OpenPlan(plan) as opened:
        found = seats(question_alone(FAMILY, plan.checks[0], opened, holdings_of(opened)))
    assert {(one.inside, one.perhaps): one.people for one in found.told.combinations} == told_of
    assert {one.inside: one.people for one in found.true.combinations} == true_of
    assert found.told.sensitive == "condition" and found.told.views == plan.checks[0].releases


# -- the picture -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "title"),
    [
        (some(2, ((0,), (), 3), ((0, 1), (), 1)), "1 of 4 people is in both views"),
        (some(3, ((0, 2), (), 4)), "All 4 people are in more than one view"),
        (
            some(3, ((0, 2), (), 4), ((0,), (1,), 2)),
            "4 of 6 people are in more than one view, and 2 more may be",
        ),
        (some(2, ((0,), (1,), 2), ((), (), 5)), "2 of 7 people may be in both views"),
        (some(2, ((0,), (), 2), ((1,), (), 5)), "Nobody is in more than one view"),
    ],
)
def test_the_title_says_how_many_are_in_several_views(found: Memberships, title: str) -> None:
    assert finding(found) == title
    drawn = upset_chart(found)
    assert drawn is not None and drawn.title == title


def test_the_picture_stands_alone_and_is_the_same_every_time() -> None:
    found = some(3, ((0,), (), 30), ((1,), (2,), 12), ((), (), 4), ((0, 1, 2), (), 1))
    drawn = upset_chart(found)
    assert drawn is not None and drawn == upset_chart(found)
    assert (
        drawn.svg.startswith('<svg role="img"')
        and "http" not in drawn.svg
        and "<script" not in drawn.svg
    )
    root = ET.fromstring(drawn.svg)
    assert root.attrib["aria-label"].startswith(drawn.title)
    assert (
        "30 people in v0 only; 12 people in v1, perhaps in v2; 4 people in no view; 1 "
        "person in v0, v1 and v2 only"
    ) in root.attrib["aria-label"]
    texts = [node.text for node in root.iter("text")]
    assert (
        texts.count("30") == 1 and "v2" in texts and "13" in texts
    )  # a bar, a view, and all who are or may be in a view
    assert "A ring: people are in that view or not, depending on their condition." in drawn.note
    assert "A column without a dot: people whom no view shows." in drawn.note


def test_names_are_text_and_no_markup() -> None:
    evil = "<b>&\"'</b>"
    drawn = upset_chart(replace(some(2, ((0, 1), (), 2)), views=(evil, "b")))
    assert drawn is not None and evil not in drawn.svg
    assert evil in [node.text for node in ET.fromstring(drawn.svg).iter("text")]


def test_small_combinations_are_added_up() -> None:
    found = some(
        6,
        *(((number % 6,), (), 100 - number) for number in range(6)),
        *(((a, b), (), 2) for a in range(6) for b in range(a)),
    )
    columns = columns_of(found.combinations, 8)
    assert len(columns) == 8 and columns[-1].label == "rest"
    assert sum(one.people for one in columns) == found.people
    assert [one.people for one in columns[:-1]] == [one.people for one in found.combinations[:7]]
    assert columns_of(found.combinations, len(found.combinations))[-1].label == ""
    drawn = upset_chart(found)
    assert drawn is not None
    left = re.search(r"(\d+) smaller combinations are added up in the last column", drawn.note)
    assert left is not None and 3 < len(found.combinations) - int(left[1]) < len(found.combinations)


def test_many_views_share_a_row_and_long_names_are_numbered() -> None:
    found = some(20, *(((number,), (), 50 - number) for number in range(20)), ((0, 19), (), 7))
    rows = rows_of(found)
    assert len(rows.views) == 12 and rows.views[-1] == "9 others" and rows.people == found.people
    assert rows.views[:11] == tuple(f"v{number}" for number in range(11))
    drawn = upset_chart(found)
    assert drawn is not None and "The views with the fewest people share one row." in drawn.note
    long = replace(some(2, ((0, 1), (), 2)), views=("a view with a very long name", "b"))
    assert names_of(long) == ["1 a view with …", "2 b"]
    drawn = upset_chart(long)
    assert drawn is not None and "In full: 1 a view with a very long name; 2 b." in drawn.note


def test_there_is_nothing_to_draw_for_one_view_or_nobody() -> None:
    assert upset_chart(None) is None
    assert upset_chart(some(1, ((0,), (), 5))) is None
    assert upset_chart(some(2, ((), (), 5))) is None


@pytest.mark.parametrize(
    "number",
    [
        0,
        1,
        999,
        9_999,
        10_000,
        99_949,
        99_950,
        99_951,
        999_499,
        999_500,
        999_999,
        10**6,
        123_456_789,
        10**9,
    ],
)
def test_numbers_above_bars_are_short_and_near(number: int) -> None:
    text = short_number(number)
    assert len(text) <= 5
    unit = {"k": 1000, "M": 10**6, "G": 10**9}.get(text[-1], 1)
    value = float(text.rstrip("kMG").replace(",", "")) * unit
    assert abs(value - number) <= max(0.0, 0.01 * number)


def test_many_combinations_are_told_in_words_but_not_all() -> None:
    found = some(5, *(((number % 5,), (), 40 - number) for number in range(14)))
    assert describe_combinations(found).endswith("; 55 people in 2 other combinations")


# -- who sees what ---------------------------------------------------------------------------------


def test_others_see_what_the_public_columns_say(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text(PLAN + ALL, "utf-8")
    plan = load_plan(tmp_path / "tacit.yaml")
    with OpenPlan(plan) as opened:
        found = seats(question_alone(FAMILY, plan.checks[0], opened, holdings_of(opened)))
    [owner], [shared] = charts(None, [], "owner", found), charts(None, [], "shared", found)
    assert "A ring" in shared.note and "A ring" not in owner.note
    assert shared == upset_chart(found.told) and owner == upset_chart(found.true)
    for name in ("Alan", "Donald", "Garcia"):
        assert name not in owner.svg + shared.svg
