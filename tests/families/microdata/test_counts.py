"""Counts: combinations packed into integers come out as they went
in, however many columns there are.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asking import Desk, handmade, question
from oracles import microdata as oracle
from tacit.families.microdata import counts, groups
from tacit.families.microdata.counts import (
    ROOM,
    Counts,
    count,
    pack_codes,
    pack_columns,
    run_starts,
    tally,
)
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.families.microdata.definitions.l_diversity import LDiversity


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    opened = Desk(tmp_path_factory.mktemp("desk"))
    yield opened
    opened.engine.close()


def combinations(base: Counts) -> Counter[tuple[Any, ...]]:
    """The combinations with how often they occur, unpacked again."""
    names = list(base.dictionaries)
    found: Counter[tuple[Any, ...]] = Counter()
    for row in range(len(base)):
        found[tuple(base.value(name, row) for name in names)] += int(base.occurrences[row])
    return found


def random_rows(rng: random.Random, columns: int, rows: int, values: int) -> list[dict[str, Any]]:
    return [
        {
            f"c{i}": None if rng.random() < 0.1 else f"v{rng.randrange(values)}"
            for i in range(columns)
        }
        for _ in range(rows)
    ]


@pytest.mark.parametrize(("columns", "values"), [(1, 2), (3, 4), (12, 60), (40, 3), (70, 9)])
def test_the_engine_counts_combinations_of_any_width(desk: Desk, columns: int, values: int) -> None:
    """12 columns of 60 values are 71 bits, 70 columns of 9 are 232: more than one integer of 62."""
    rng = random.Random(columns)
    rows = random_rows(rng, columns, 60, values)
    rows += rng.choices(rows, k=20)
    names = list(rows[0])
    with desk.counted(rows, quasi=names, types=dict.fromkeys(names, "text")) as counted:
        assert combinations(counted.base) == Counter(tuple(row.values()) for row in rows)
        assert (len(counted.base.packing) > 1) == (columns >= 12)
        for column in names:
            assert counted.base.size(column) == len({row[column] for row in rows} - {None}) + 1


def test_a_wide_table_is_judged_like_a_narrow_one(desk: Desk) -> None:
    """Groups over more than 62 bits: codes are renumbered on the way, and nothing is mixed up."""
    rng = random.Random(5)
    people = random_rows(rng, 40, 12, 30)
    rows = [
        {**row, "condition": rng.choice("xyz")} for row in people for _ in range(rng.randint(1, 3))
    ]
    quasi = [f"c{i}" for i in range(40)]
    with desk.counted(
        rows, quasi=quasi, sensitive=["condition"], types=dict.fromkeys(rows[0], "text")
    ) as counted:
        asked = question(counted)
        for missing in ("own-group", "match-any"):
            k = KAnonymity(k=2, missing=missing).check(asked)
            l = LDiversity(kind="distinct", l=2, missing=missing).check(asked)  # noqa: E741
            sizes = oracle.k_anonymity(rows, quasi, 2, (), missing)
            values = oracle.l_diversity(
                rows, quasi, ["condition"], (), missing, kind="distinct", l=2
            )
            assert k.measured["k"] == oracle.measured(sizes)
            assert l.measured["l"] == oracle.measured(values)


@pytest.mark.parametrize(
    ("others", "smallest"),
    [
        (
            [{"c0": "w"}, {"c0": None}],
            2,
        ),  # the third matches both, the first two do not match each other
        ([{"c0": "w", "c6": None}], 1),  # they differ in c0, whatever c6 is
        ([{"c69": None}], 2),
    ],
)
def test_more_than_sixty_quasi_identifiers_may_have_missing_values(
    desk: Desk, others: list[dict[str, Any]], smallest: int
) -> None:
    """Which values are missing does not fit into one integer any more."""
    columns = [f"c{i}" for i in range(70)]
    first = dict.fromkeys(columns, "v")
    rows = [first, *({**first, **other} for other in others)]
    with desk.counted(rows, quasi=columns, types=dict.fromkeys(columns, "text")) as counted:
        verdict = KAnonymity(k=3, missing="match-any").check(question(counted))
    assert oracle.measured(oracle.k_anonymity(rows, columns, 3, (), "match-any")) == smallest
    assert verdict.measured["k"] == smallest


def test_persons_are_counted_per_combination(desk: Desk) -> None:
    rows = [
        {"p": "Ann", "zip": "a"},
        {"p": "Ann", "zip": "a"},
        {"p": "Ann", "zip": "b"},
        {"p": "Bob", "zip": "a"},
    ]
    with desk.counted(rows, quasi=["zip"], person=["p"]) as counted:
        base = counted.base
    assert base.persons is not None
    triples = sorted(
        zip(
            (base.value("zip", i) for i in range(len(base))),
            base.persons.tolist(),
            base.occurrences.tolist(),
            strict=True,
        )
    )
    assert triples == [("a", 0, 2), ("a", 1, 1), ("b", 0, 1)]
    assert (counted.people, counted.rows) == (2, 4)


def test_text_that_looks_alike_stays_apart(desk: Desk) -> None:
    values = [
        "a",
        "A",
        "a ",
        "é",
        "e\u0301",
        "ß",
        "ss",
        "7",
        "07",
        "7.0",
        "NULL",
        "*",
        "😀",
        "a\nb",
        "'",
        '"',
        ";",
    ]
    rows = [{"zip": value} for value in (*values, None)]
    with desk.counted(rows, quasi=["zip"], types={"zip": "text"}) as counted:
        assert combinations(counted.base) == Counter((value,) for value in (*values, None))
        assert list(counted.base.dictionaries["zip"]) == sorted(values)


def test_text_in_which_nothing_can_be_read_is_missing(desk: Desk) -> None:
    rows = [{"zip": value} for value in ("", " ", "\u200b", "\u00a0\t", "a", None)]
    with desk.counted(rows, quasi=["zip"], types={"zip": "text"}) as counted:
        assert combinations(counted.base) == Counter({("a",): 1, (None,): 5})
        assert counted.warnings == (
            "zip is blank in 4 of 6 rows: empty text or spaces, taken as missing",
            "zip is missing in 5 of 6 rows",
        )


def test_counting_without_columns(desk: Desk) -> None:
    """Nothing is looked up: everybody is in one group."""
    rows = [{"condition": "x"}, {"condition": "y"}, {"condition": None}]
    with desk.counted(
        rows, quasi=[], sensitive=["condition"], types={"condition": "text"}
    ) as counted:
        asked = question(counted)
        assert KAnonymity(k=3).check(asked).status == "holds"
        assert LDiversity(kind="distinct", l=2).check(asked).status == "holds"


def test_counting_no_columns_at_all(desk: Desk) -> None:
    desk.engine.connection.execute(
        "CREATE OR REPLACE TABLE lonely AS SELECT 1 AS a UNION ALL SELECT 2"
    )
    assert count(desk.engine, "lonely", []).occurrences.tolist() == [2]


@pytest.mark.parametrize("values", [1, 3, 60])
def test_sorted_here_or_grouped_by_the_engine_rows_are_counted_alike(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, values: int
) -> None:
    """Both ways are asked about tables of which most rows are alike, and most are different."""
    rng = random.Random(values)
    for _ in range(5):
        rows = random_rows(rng, 3, rng.randrange(1, 80), values)
        rows += rng.choices(rows, k=rng.randrange(20))
        expected = Counter(tuple(row.values()) for row in rows)
        for here in (True, False):
            monkeypatch.setattr(counts, "mostly_different", lambda *_, here=here: here)
            with desk.counted(
                rows, quasi=["c0", "c1", "c2"], types=dict.fromkeys(rows[0], "text")
            ) as counted:
                base = counted.base
            assert combinations(base) == expected
            assert len(base) == len(expected)
            assert base.keys[0].tolist() == sorted(base.keys[0].tolist())
            for name in base.dictionaries:
                assert [int(base.codes_at(name, row)) for row in range(len(base))] == base.codes(
                    name
                ).tolist()


def test_rows_are_sorted_here_only_where_most_of_them_differ(desk: Desk) -> None:
    run = desk.engine.connection.execute
    run("CREATE OR REPLACE TABLE alike AS SELECT i % 10 AS a, i % 7 AS b FROM range(1000) t(i)")
    run("CREATE OR REPLACE TABLE apart AS SELECT i AS a, i % 7 AS b FROM range(1000) t(i)")
    assert not counts.mostly_different(desk.engine, "alike", ["a", "b"])
    assert counts.mostly_different(desk.engine, "apart", ["a", "b"])


@pytest.mark.parametrize("part", [1, 7, 1000])
def test_groups_are_the_same_however_many_combinations_are_recoded_at_a_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr(groups, "PART", part)
    rng = random.Random(part)
    rows = [
        {
            "age": rng.choice([None, *range(18, 90)]),
            "sex": rng.choice("FM"),
            "condition": rng.choice("xyz"),
        }
        for _ in range(120)
    ]
    with desk.counted(
        rows,
        quasi=["age", "sex"],
        sensitive=["condition"],
        hierarchies={"age": {"ranges": [10]}, "sex": "*"},
    ) as counted:
        for age, sex in ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1)):
            found = question(counted, {"age": age, "sex": sex}).groups("condition")
            expected: dict[tuple[Any, ...], Counter[str]] = {}
            for row in rows:
                band = row["age"] // 10 * 10 if row["age"] is not None else None
                shown = (row["age"], band, "*")[age], (row["sex"], "*")[sex]
                expected.setdefault(shown, Counter())[row["condition"]] += 1
            there = sorted(sorted(found.cells(i).items()) for i in range(len(found)))
            assert there == sorted(sorted(one.items()) for one in expected.values())


# -- packing ------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.integers(1, 2**40), max_size=30))
def test_columns_are_packed_in_order_and_each_integer_has_room(sizes: list[int]) -> None:
    named = {f"c{i}": size for i, size in enumerate(sizes)}
    packing = pack_columns(named)
    assert [name for key in packing for name in key] == list(named)
    for key in packing:
        room = 1
        for name in key:
            room *= named[name]
        assert room <= ROOM


wide = st.integers(1, 8).flatmap(
    lambda columns: st.tuples(
        st.lists(st.integers(1, 2**40), min_size=columns, max_size=columns),
        st.lists(
            st.lists(st.integers(0, 2**62), min_size=columns, max_size=columns),
            min_size=1,
            max_size=8,
        ),
    )
)


@settings(max_examples=300, deadline=None)
@given(wide)
def test_packed_codes_are_equal_where_the_codes_are_and_sort_like_them(
    case: tuple[list[int], list[list[int]]],
) -> None:
    sizes, drawn = case
    rows = [tuple(value % size for value, size in zip(row, sizes, strict=True)) for row in drawn]
    rows += rows[:2]
    codes = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(len(sizes))]
    key, room = pack_codes(codes, sizes, len(rows))
    packed = key.tolist()
    assert all(0 <= value < room for value in packed)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (packed[i] < packed[j]) == (one < other)


def test_packing_no_codes_puts_all_rows_under_one_key() -> None:
    key, room = pack_codes([], [], 3)
    assert (key.tolist(), room) == ([0, 0, 0], 1)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(1, 3) | st.integers(1, 10**12)), max_size=40
    ),
    st.sampled_from([51, 10**6, 2**61]),
)
def test_tally_adds_up_by_key(pairs: list[tuple[int, int]], room: int) -> None:
    expected: Counter[int] = Counter()
    for key, weight in pairs:
        expected[key] += weight
    keys = np.array([key for key, _ in pairs], dtype=np.int64)
    found, sums = tally(keys, np.array([weight for _, weight in pairs], dtype=np.int64), room)
    assert dict(zip(found.tolist(), sums.tolist(), strict=True)) == dict(expected)
    assert found.tolist() == sorted(expected)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5)).map(sorted))
def test_runs_begin_where_the_value_changes(keys: list[int]) -> None:
    expected = [i for i, key in enumerate(keys) if i == 0 or keys[i - 1] != key]
    assert run_starts(np.array(keys, dtype=np.int64)).tolist() == expected


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.lists(st.one_of(st.none(), st.sampled_from("abcd")), min_size=width, max_size=width),
            min_size=1,
            max_size=10,
        )
    )
)
def test_codes_of_a_column_are_found_again(rows: list[list[str | None]]) -> None:
    named = [{f"c{i}": value for i, value in enumerate(row)} for row in rows]
    base = handmade(named)
    for number, row in enumerate(named):
        assert {name: base.value(name, number) for name in row} == row
    for name in named[0]:
        assert base.missing(name) == sum(row[name] is None for row in named)
