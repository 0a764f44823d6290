"""Portraits against counting by hand, and against the hospital of Machanavajjhala (2008)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asking import Desk, question
from report.answered import assessment_of, portraits
from tacit.checking.assess import Assessment
from tacit.families.microdata.portrait import BELIEFS, EXAMPLES, Portrait, foremost, portrait

Row = dict[str, Any]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    yield desk
    desk.engine.close()


def drawn(
    desk: Desk, rows: Sequence[Row], *, person: Sequence[str] = (), cuts: Sequence[int] = ()
) -> Portrait:
    with desk.counted(
        rows, quasi=["zip", "age"], sensitive=["illness"], person=person, types=TYPES
    ) as counted:
        return portrait(question(counted), cuts=cuts)


TYPES = {"name": "text", "zip": "text", "age": "integer", "illness": "text"}
ROW = st.fixed_dictionaries(
    {
        "name": st.sampled_from("abcdef"),
        "zip": st.sampled_from(["1", "2", None]),
        "age": st.sampled_from([30, 40]),
        "illness": st.sampled_from(["flu", "cold", "gout", None]),
    }
)
TABLE = st.lists(ROW, min_size=1, max_size=14)
SLOWLY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def people_of(rows: Sequence[Row], person: bool) -> set[Any]:
    return {row["name"] for row in rows} if person else {id(row) for row in rows}


def by_group(rows: Sequence[Row]) -> dict[Any, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[row["zip"], row["age"]].append(row)
    return groups


@SLOWLY
@given(rows=TABLE)
def test_sizes_are_those_found_by_counting(desk: Desk, rows: list[Row]) -> None:
    groups = by_group(rows)
    expected = Counter(len(groups[row["zip"], row["age"]]) for row in rows)
    found = drawn(desk, rows)
    assert {bar.low: bar.people for bar in found.sizes} == expected
    assert (found.people, found.groups, found.smallest) == (len(rows), len(groups), min(expected))


@SLOWLY
@given(rows=TABLE)
def test_diversity_and_beliefs_are_those_found_by_counting(desk: Desk, rows: list[Row]) -> None:
    values = {
        key: Counter(row["illness"] for row in group if row["illness"])
        for key, group in by_group(rows).items()
    }
    mine = [values[row["zip"], row["age"]] for row in rows]
    beliefs = Counter(Fraction(max(one.values()), one.total()) for one in mine if one)
    (found,) = drawn(desk, rows).exposures
    assert {bar.low: bar.people for bar in found.diversity} == Counter(map(len, mine))
    assert {bar.low: bar.people for bar in found.beliefs} == beliefs
    assert all(bar.low == bar.high for bar in found.beliefs)
    assert (found.certain, found.unknown) == (beliefs[Fraction(1)], sum(not one for one in mine))
    assert found.greatest == max(beliefs, default=0)


@SLOWLY
@given(rows=TABLE)
def test_somebody_in_several_groups_counts_once_where_they_are_most_exposed(
    desk: Desk, rows: list[Row]
) -> None:
    size = {key: len(people_of(group, True)) for key, group in by_group(rows).items()}
    worst = {
        name: min(size[row["zip"], row["age"]] for row in rows if row["name"] == name)
        for name in people_of(rows, True)
    }
    found = drawn(desk, rows, person=["name"])
    assert {bar.low: bar.people for bar in found.sizes if bar.people} == Counter(worst.values())
    (exposure,) = found.exposures
    assert sum(bar.people for bar in exposure.beliefs) + exposure.unknown == len(worst)


@SLOWLY
@given(rows=TABLE, person=st.booleans())
def test_examples_are_true_and_the_most_exposed_come_first(
    desk: Desk, rows: list[Row], person: bool
) -> None:
    (found,) = drawn(desk, rows, person=["name"] if person else []).exposures
    for example in found.examples:
        group = by_group(rows)[example.person.known["zip"], example.person.known["age"]]
        for share, where in ((example.before, rows), (example.after, group)):
            known = [row for row in where if row["illness"]]
            having = [row for row in known if row["illness"] == example.value]
            assert share == Fraction(len(people_of(having, person)), len(people_of(known, person)))
    if not found.several:
        beliefs = [example.after for example in found.examples]
        assert beliefs == sorted(beliefs, reverse=True)
        assert not beliefs or beliefs[0] == found.greatest
    assert len(found.examples) <= EXAMPLES


def test_many_sizes_become_ranges_with_the_required_k_as_an_edge(desk: Desk) -> None:
    rows = [
        {"name": "a", "zip": str(i), "age": 1, "illness": "flu"}
        for i in range(1, 16)
        for _ in range(i)
    ]
    found = drawn(desk, rows, cuts=(7,))
    assert [(bar.low, bar.high) for bar in found.sizes] == [
        (1, 1),
        (2, 2),
        (3, 3),
        (4, 4),
        (5, 6),
        (7, 9),
        (10, 19),
    ]
    assert sum(bar.people for bar in found.sizes) == len(rows)


def test_many_beliefs_become_ranges(desk: Desk) -> None:
    rows = [
        {"name": "a", "zip": str(i), "age": 1, "illness": "flu" if j else "cold"}
        for i in range(1, 30)
        for j in range(i + 1)
    ]
    (found,) = drawn(desk, rows).exposures
    assert [bar.low for bar in found.beliefs] == list(BELIEFS[1:5])
    assert sum(bar.people for bar in found.beliefs) == len(rows)
    assert found.beliefs[0].people == sum(i + 1 for i in range(19, 30))  # 19 of 20 is exactly 95 %


def test_the_hospital_has_four_people_whose_condition_is_certain(hospital: Assessment) -> None:
    april = portraits(hospital)["april"]
    (exposure,) = april.exposures
    assert [(bar.low, bar.people) for bar in april.sizes] == [(4, 12)]
    assert [(bar.low, bar.people) for bar in exposure.diversity] == [(1, 4), (2, 4), (3, 4)]
    assert (exposure.certain, exposure.greatest) == (4, 1)
    first = exposure.examples[0]
    assert first.person.identity == {"name": "Bruce"}
    assert (first.value, first.before, first.after) == ("Cancer", Fraction(5, 12), 1)
    assert {example.person.identity["name"] for example in exposure.examples[:4]} == {
        "Bruce",
        "Dev",
        "Kenji",
        "Laura",
    }


def test_spelling_is_no_diversity_in_the_pictures_either(
    assessed: Callable[[str], Assessment],
) -> None:
    assessment = assessed("""
version: 1
tables:
  people:
    columns: [name, town, illness]
    person: [name]
    identifiers: [name]
    quasi-identifiers: [town]
    sensitive: [illness]
    rows: [[Ann, A, flu], [Bea, A, Flu], [Cas, B, gout], [Dan, B, unknown]]
releases: {all: {table: people}}
checks: [{l-diversity: {release: all, kind: distinct, l: 2}}]
""")
    (exposure,) = portraits(assessment)["all"].exposures
    assert exposure.certain == 4
    found = {example.person.identity["name"] for example in exposure.examples}
    assert found in (
        {"Ann", "Cas"},
        {"Bea", "Cas"},
    )  # Ann and Bea are alike: one of them stands for both


def test_portraits_are_only_drawn_when_asked_for(hospital: Assessment) -> None:
    assert set(portraits(hospital)) == {"april", "may"}
    assert portraits(assessment_of("tacit.yaml", ())) == {}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), st.integers(1, 8))
def test_foremost_is_the_beginning_of_a_full_sort(
    pairs: list[tuple[int, int]], number: int
) -> None:
    keys = tuple(np.array([pair[i] for pair in pairs], dtype=np.float64) for i in (0, 1))
    expected = sorted(range(len(pairs)), key=lambda i: (*pairs[i], i))[:number]
    assert foremost(keys, number, np.arange(len(pairs))).tolist() == expected
