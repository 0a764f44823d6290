"""Groups: people by what can be looked up, against counting by hand."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asking import as_they_are, handmade
from oracles import microdata as oracle
from tacit.errors import DataError
from tacit.families.microdata import groups as module
from tacit.families.microdata.groups import Groups, group, one_value_each

Row = dict[str, Any]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], list[str], bool]:
    """Rows with two or three quasi-identifiers and a secret; some have persons."""
    width = draw(st.integers(0, 3))
    quasi = [f"q{i}" for i in range(width)]
    cell = st.one_of(st.none(), st.sampled_from("ab"))
    row = st.fixed_dictionaries(
        {
            **dict.fromkeys(quasi, cell),
            "s": st.one_of(st.none(), st.sampled_from("xyz")),
            "p": st.integers(0, 4),
        }
    )
    return draw(st.lists(row, min_size=1, max_size=9)), quasi, draw(st.booleans())


def grouped(rows: list[Row], quasi: list[str], persons: bool, missing: str) -> Groups:
    base = handmade(
        [{name: row[name] for name in (*quasi, "s")} for row in rows],
        persons=[row["p"] for row in rows] if persons else None,
    )
    return group(base, quasi, as_they_are(base), "s", match_any=missing == "match-any")


@pytest.mark.parametrize("missing", ["own-group", "match-any"])
@settings(max_examples=200, deadline=None)
@given(case=tables())
def test_groups_sizes_and_cells_are_those_of_counting_by_hand(
    case: tuple[list[Row], list[str], bool], missing: str
) -> None:
    rows, quasi, persons = case
    person = ("p",) if persons else ()
    found = grouped(rows, quasi, persons, missing)
    expected = oracle.groups(rows, quasi, missing)
    assert len(found) == len(expected)
    several = False
    for number in range(len(found)):
        key = tuple(found.label(number).values())
        members = expected[key]
        assert int(found.sizes[number]) == oracle.people(members, person)
        known = oracle.known_values(members, "s", person)
        cells = found.cells(number)
        assert list(cells.values()) == sorted(cells.values(), reverse=True)
        if all(len(values) <= 1 for values in known.values()):
            assert cells == oracle.value_counts(members, "s", person)
        else:
            several = True
            assert sum(cells.values()) == sum(1 for values in known.values() if values)
            assert_majorizes(list(cells.values()), members)
    assert found.several == several


def assert_majorizes(counts: list[int], members: list[Row]) -> None:
    """No pick of one value for each person is more concentrated than the counts."""
    for pick in oracle.picks(members, "s", ("p",)):
        chosen = sorted(pick.values(), reverse=True)
        assert sum(chosen) == sum(counts)
        assert all(sum(chosen[:n]) <= sum(counts[:n]) for n in range(1, len(chosen) + 1)), (
            counts,
            chosen,
        )


@settings(max_examples=200, deadline=None)
@given(case=tables())
def test_match_any_groups_contain_the_groups_of_their_own(
    case: tuple[list[Row], list[str], bool],
) -> None:
    rows, quasi, _ = case
    own, any_ = grouped(rows, quasi, False, "own-group"), grouped(rows, quasi, False, "match-any")
    assert [own.label(i) for i in range(len(own))] == [any_.label(i) for i in range(len(any_))]
    assert bool(np.all(any_.sizes >= own.sizes))


@settings(max_examples=200, deadline=None)
@given(case=tables(), missing=st.sampled_from(["own-group", "match-any"]), chosen=st.randoms())
def test_people_in_some_groups_are_counted_once(
    case: tuple[list[Row], list[str], bool], missing: str, chosen: random.Random
) -> None:
    rows, quasi, persons = case
    found = grouped(rows, quasi, persons, missing)
    mask = np.array([chosen.random() < 0.5 for _ in range(len(found))])
    keys = {tuple(found.label(i).values()) for i in range(len(found)) if mask[i]}
    inside = [row for row in rows if tuple(row[name] for name in quasi) in keys]
    assert found.people(mask) == oracle.people(inside, ("p",) if persons else ())


def test_weights_are_people() -> None:
    base = handmade(
        [{"q": "a", "s": "x"}, {"q": "a", "s": "y"}, {"q": "b", "s": None}], weights=[10**9, 3, 7]
    )
    found = group(base, ["q"], as_they_are(base), "s")
    assert found.sizes.tolist() == [10**9 + 3, 7]
    assert found.cells(0) == {"x": 10**9, "y": 3}
    assert found.cells(1) == {}


def test_groups_without_a_sensitive_column_have_sizes_only() -> None:
    base = handmade([{"q": "a"}, {"q": "b"}, {"q": "a"}])
    assert group(base, ["q"], as_they_are(base)).sizes.tolist() == [2, 1]


def test_groups_over_more_than_sixty_two_bits() -> None:
    rng = random.Random(7)
    rows = [
        {**{f"q{i}": rng.randrange(40) for i in range(14)}, "s": rng.randrange(50)}
        for _ in range(400)
    ]
    rows += [{**row, "s": 99} for row in rows[:100]]
    base = handmade(rows)
    quasi = [f"q{i}" for i in range(14)]
    found = group(base, quasi, as_they_are(base), "s")
    expected = oracle.groups(rows, quasi, "own-group")
    assert len(found) == len(expected)
    for number in range(len(found)):
        members = expected[tuple(found.label(number).values())]
        assert found.cells(number) == oracle.value_counts(members, "s", ())


def test_too_many_matches_are_refused_with_what_to_do_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_MATCHES", 10)
    base = handmade([{"q": None, "s": "x"}, *({"q": f"v{i}", "s": "x"} for i in range(20))])
    with pytest.raises(DataError, match="missing: own-group"):
        group(base, ["q"], as_they_are(base), match_any=True)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.lists(st.sets(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=5),
        min_size=1,
        max_size=3,
    )
)
def test_one_value_each_is_the_most_concentrated_way(people: list[list[set[int]]]) -> None:
    """Every group is a list of people, everybody a set of values."""
    cells = [
        (number, value, sum(value in one for one in members))
        for number, members in enumerate(people)
        for value in range(4)
        if any(value in one for one in members)
    ]
    owner, values, counts = (np.array(part, dtype=np.int64) for part in zip(*cells, strict=True))
    limit = np.array([len(members) for members in people], dtype=np.int64)
    owners, _, left = one_value_each(owner, values, counts, limit)
    for number, members in enumerate(people):
        kept = sorted(
            (int(n) for o, n in zip(owners, left, strict=True) if o == number), reverse=True
        )
        rows = [{"p": who, "s": value} for who, mine in enumerate(members) for value in mine]
        assert sum(kept) == len(members)
        assert_majorizes(kept, rows)
