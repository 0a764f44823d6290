"""Possible or not against brute force: cells, pairs of cells, first tables, and which views
contradict each other.
"""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import replace

import numpy as np
import pytest

from built_overlaps import built, of_classes
from oracles import overlap as oracle
from oracles.overlap_cases import SIND, Case, cases, classes
from tacit.families.overlaps.counting import filling, possible_cells
from tacit.families.overlaps.counting.filling import TableFilling, solution
from tacit.families.overlaps.counting.linear import certainly_empty
from tacit.families.overlaps.counting.possible_cells import (
    contradiction,
    first_table,
    fits,
    jointly,
    pieces_of,
)
from tacit.families.overlaps.overlap import Integers, Overlap, overlap_of
from tacit.families.overlaps.system import NoTable, system_of
from tacit.model.deadline import OutOfTime, until
from tacit.model.jobs import Cancelled, Job

COUNT = int(os.environ.get("TACIT_ORACLE_OVERLAPS", "1000"))


def irregular(seed: int, people: int, values: int, views: int) -> Overlap:
    """Every person is in about half of the views, and rare values are rare."""
    rng = np.random.default_rng(seed)
    member = rng.random((people, views)) < 0.5
    has = rng.choice(
        values,
        people,
        p=np.array([1 / 3**one for one in range(values)])
        / sum(1 / 3**one for one in range(values)),
    )
    answers = [has[member[:, view]].tolist() for view in range(views)]
    found = overlap_of(range(values), answers, [np.nonzero(one)[0].tolist() for one in member])
    return replace(found, current=np.eye(values, dtype=np.int64)[has])


def tables_of(given: oracle.Classes) -> list[Integers]:
    """All tables of the oracle, as the people of each class with each value."""
    outputs = [
        rows for size, rows in zip(given.sizes, given.outputs, strict=True) for _ in range(size)
    ]
    class_of = [one for one, size in enumerate(given.sizes) for _ in range(size)]
    found = []
    for table in oracle.fitting(outputs, given.given):
        counts = np.zeros((len(given.sizes), len(given.outputs[0])), dtype=np.int64)
        np.add.at(counts, (class_of, list(table)), 1)
        found.append(counts)
    return found


# -- which cells -----------------------------------------------------------------------------------


def check(case: Case, *, current: bool) -> None:
    values = case.sind_domain()
    made = built(case.people, case.truth, case.views, values)
    overlap = made.overlap if current else replace(made.overlap, current=None)
    found = possible_cells.possible(overlap)
    for class_, keys in enumerate(made.members):
        for at, value in enumerate(values):
            expected = any(table[key] == value for table in case.instances().tables for key in keys)
            assert found.can[class_, at] == expected, str(case)
            instance = found.instance_with(class_, at)
            assert (instance is not None) == expected
            assert instance is None or (instance[class_, at] > 0 and fits(overlap, instance))
    shown = np.logical_or.reduce([instance > 0 for instance in found.instances])
    assert (shown == found.can).all()
    assert all(fits(overlap, instance) for instance in found.instances)


def test_a_cell_is_possible_exactly_if_brute_force_finds_a_table() -> None:
    for number, case in enumerate(cases(SIND, COUNT)):
        check(case, current=number % 3 > 0)


@pytest.mark.parametrize("number", range(3))
def test_a_larger_one_agrees_with_asking_for_every_cell(number: int) -> None:
    overlap = irregular(number, 30, 5, 6)
    found = possible_cells.possible(overlap)
    assert all(fits(overlap, instance) for instance in found.instances)
    for part in found.system.parts:
        for at, cell in enumerate(part.place.tolist()):
            alone = np.zeros(len(part.place), dtype=bool)
            alone[at] = True
            assert found.can.reshape(-1)[cell] == (solution(part, some=alone) is not None)


def test_small_parts_are_searched_together_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overlap = overlap_of("xyz", ["xy", "yz", "xyz"], [[0], [0], [1], [1], [2], [2], [2], []])
    together = possible_cells.possible(overlap)
    assert len(together.pieces) == 1
    monkeypatch.setattr(possible_cells, "TOGETHER", 1)
    apart = possible_cells.possible(overlap)
    assert len(apart.pieces) == 4
    assert (together.can == apart.can).all()
    assert all(fits(overlap, instance) for instance in (*apart.instances, *together.instances))


def test_only_the_cells_that_are_asked_for_are_searched() -> None:
    overlap = replace(overlap_of("xy", ["xy"], [[0], [0]]), current=np.array([[1, 0], [0, 1]]))
    assert possible_cells.possible(overlap, asked=np.zeros((2, 2), dtype=bool)).can.tolist() == [
        [True, False],
        [False, True],
    ]


def test_a_current_table_that_does_not_fit_is_not_relied_on() -> None:
    overlap = replace(overlap_of("xy", ["xx"], [[0], [0]]), current=np.array([[0, 1], [0, 1]]))
    assert possible_cells.possible(overlap).can.tolist() == [[True, False], [True, False]]


def test_tables_that_take_too_much_room_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    overlap = irregular(5, 30, 6, 4)
    expected = possible_cells.possible(overlap)
    monkeypatch.setattr(possible_cells, "MOST_BYTES", 5 * expected.can.size)
    found = possible_cells.possible(overlap)
    assert (found.can == expected.can).all()
    for class_, value in zip(*np.nonzero(found.can), strict=True):
        instance = found.instance_with(int(class_), int(value))
        assert instance is not None and instance[class_, value] > 0 and fits(overlap, instance)


def test_no_room_for_any_proof_is_like_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(possible_cells, "MOST_BYTES", 10)
    with pytest.raises(OutOfTime):
        possible_cells.possible(irregular(5, 30, 6, 4))


def test_no_table_fits() -> None:
    with pytest.raises(NoTable):
        possible_cells.possible(overlap_of("xy", ["xy", "xy", "xy"], [[0, 2], [0, 1], [1, 2]]))


def test_the_deadline_and_cancel_are_kept() -> None:
    with pytest.raises(OutOfTime), until(0):
        possible_cells.possible(irregular(1, 200, 8, 8))
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        possible_cells.possible(irregular(1, 200, 8, 8), job)


# -- filling ---------------------------------------------------------------------------------------


def test_what_linear_programming_proves_empty_is_empty() -> None:
    for number in range(100):
        given = classes(number, consistent=True)
        tables = tables_of(given)
        for part in system_of(of_classes(given)[0]).parts:
            empty = certainly_empty(part, part.low == 0, 9.0)
            shown = np.logical_or.reduce([table.reshape(-1)[part.place] > 0 for table in tables])
            assert not (empty & shown).any()


def test_linear_programming_proves_what_no_bound_of_a_cell_shows() -> None:
    proved = 0
    for number in range(12):
        overlap = irregular(number, 14, 4, 4)
        can = possible_cells.possible(overlap).can.reshape(-1)
        for part in system_of(overlap).parts:
            empty = certainly_empty(part, part.low == 0, 9.0)
            assert not (empty & can[part.place]).any()
            proved += int(empty.sum())
    assert proved


@pytest.mark.parametrize("without", ["exchanged", "proofs", "near"])
def test_each_way_alone_finds_the_same(without: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if without == "exchanged":
        monkeypatch.setattr(
            TableFilling,
            "exchanged",
            lambda self, wanted, *more: self.table if (wanted & (self.table > 0)).any() else None,
        )
    elif without == "proofs":
        monkeypatch.setattr(
            filling,
            "certainly_empty",
            lambda part, wanted, seconds: np.zeros(len(wanted), dtype=bool),
        )
        monkeypatch.setattr(
            TableFilling, "_bound", lambda self, cell: self._is_bounded.__setitem__(cell, True)
        )
    if without in ("exchanged", "near"):
        monkeypatch.setattr(filling, "NEAR_TURNS", 0)
    for case in cases(SIND, 60, 3000):
        check(case, current=True)
    overlap = irregular(4, 25, 4, 5)
    found = possible_cells.possible(overlap).can
    monkeypatch.undo()
    assert (possible_cells.possible(overlap).can == found).all()


def test_joined_parts_are_the_parts() -> None:
    parts = system_of(
        overlap_of("xyz", ["xy", "yz", "xyz"], [[0], [0], [1], [1], [2], [2], [2]])
    ).parts
    (joined,) = pieces_of(parts)
    assert sorted(joined.place.tolist()) == sorted(
        cell for part in parts for cell in part.place.tolist()
    )
    assert [one.total for one in joined.rows] and joined.people == sum(
        part.people for part in parts
    )
    for one in joined.classes:
        assert len(set((joined.place[one.cells] // 3).tolist())) == 1


# -- two at once -----------------------------------------------------------------------------------


def test_two_values_at_once() -> None:
    for number in range(COUNT // 8):
        given = classes(number, consistent=True)
        tables = tables_of(given)
        overlap, _ = of_classes(given)
        cells = list(itertools.product(range(len(given.sizes)), range(len(overlap.values))))
        known = possible_cells.possible(overlap)
        for one in random.Random(number).sample(cells, min(3, len(cells))):
            for other in cells:
                if one == other:
                    expected = any(table[one] >= 2 for table in tables)
                else:
                    expected = any(table[one] and table[other] for table in tables)
                assert known.jointly(one, other) == expected
        assert all(fits(overlap, instance) for instance in known.instances)


def test_two_values_at_once_without_asking_for_all() -> None:
    overlap = overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])
    assert jointly(overlap, (0, 0), (2, 0))
    assert not jointly(overlap, (0, 0), (2, 1))
    assert not jointly(overlap, (0, 0), (0, 0))
    assert not jointly(overlap, (0, 0), (0, 1))


# -- first tables and contradictions ---------------------------------------------------------------


def test_a_first_table_is_found_exactly_if_there_is_one() -> None:
    for number in range(COUNT // 4):
        given = classes(number)
        overlap, _ = of_classes(given)
        table = first_table(overlap)
        assert (table is None) == (not tables_of(given))
        assert table is None or fits(overlap, table)


def test_contradicting_views_are_a_smallest_set_of_one_or_two_or_a_minimal_one() -> None:
    sizes = []
    for number in range(COUNT // 4):
        given = classes(number, consistent=False)
        overlap, first = of_classes(given)
        found = tuple(int(name[1:]) for name in contradiction(overlap, first))
        if not found:
            assert tables_of(given)
            continue
        assert fails(given, found)
        assert not any(
            fails(given, fewer) for fewer in itertools.combinations(found, len(found) - 1)
        )
        if len(found) > 1:
            assert not any(fails(given, (one,)) for one in range(len(given.given)))
        if len(found) > 2:
            assert not any(
                fails(given, pair) for pair in itertools.combinations(range(len(given.given)), 2)
            )
        sizes.append(len(found))
    assert {1, 2} <= set(sizes)


def fails(given: oracle.Classes, chosen: tuple[int, ...]) -> bool:
    """Does no table fit these views?"""
    outputs = [
        [[row[view] for view in chosen] for row in rows]
        for size, rows in zip(given.sizes, given.outputs, strict=True)
        for _ in range(size)
    ]
    return not oracle.fitting(outputs, [given.given[view] for view in chosen])


def test_three_views_of_which_no_two_contradict_each_other() -> None:
    overlap = overlap_of("xy", ["xy", "xy", "xy", "xx"], [[0, 2], [0, 1], [1, 2], [3], [3]])
    assert contradiction(overlap) == ("view 1", "view 2", "view 3")


def test_a_row_that_nobody_can_put_into_a_view_is_of_the_view_that_is_said() -> None:
    # Rows 1 and 2 are of the first view, 3 of the second, which nobody can put into it.
    outputs = np.array([[[1, 2], [0, 0]]])
    overlap = Overlap(("x", "y"), ("one", "two"), outputs, np.array([2]), np.array([0, 1, 1, 1]))
    assert contradiction(overlap, [1, 3]) == ("two",)


def test_at_the_deadline_all_views_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    overlap = overlap_of("xy", ["xy", "xy", "xy", "xx"], [[0, 2], [0, 1], [1, 2], [3], [3]])
    asked: list[Overlap] = []

    def slow(overlap: Overlap) -> Integers | None:
        asked.append(overlap)
        if len(asked) > 3:
            raise OutOfTime
        return first_table(overlap)

    monkeypatch.setattr(possible_cells, "first_table", slow)
    assert contradiction(overlap) == ("view 1", "view 2", "view 3", "view 4")
