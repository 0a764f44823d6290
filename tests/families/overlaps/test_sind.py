"""SIND against brute force, the paper's figures and propositions, and the swap equation."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from built_overlaps import built, of_classes, of_patients, of_shared, shared_sind
from oracles import overlap as oracle
from oracles.overlap import View
from oracles.overlap_cases import SIND, Case, cases, classes
from tacit.families.overlaps.overlap import Overlap, overlap_of
from tacit.families.overlaps.swapping import sind, swaps
from tacit.families.overlaps.swapping.sind import conservative_partition, sind_partition
from tacit.families.overlaps.swapping.swaps import Swaps, effects_of, swap_equation
from tacit.families.overlaps.system import NoTable
from tacit.model.deadline import OutOfTime, until
from tacit.model.jobs import Cancelled, Job

COUNT = int(os.environ.get("TACIT_ORACLE_OVERLAPS", "1000"))


def frozen(sets: Any) -> set[frozenset[Any]]:
    return {frozenset(one) for one in sets}


def check(case: Case, *, current: bool = True) -> None:
    made = built(case.people, case.truth, case.views, case.sind_domain())
    overlap = made.overlap if current else replace(made.overlap, current=None)
    found = sind_partition(overlap)
    assert made.keys(found.sets) == frozen(case.sind()), str(case)
    assert found.sizes == tuple(sum(len(made.members[one]) for one in some) for some in found.sets)
    assert found.smallest == oracle.level(case.sind())
    careful = conservative_partition(overlap)
    assert made.keys(careful.sets) == frozen(case.conservative())
    assert careful.smallest <= found.smallest


# -- SIND ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_crowds_are_those_of_brute_force() -> None:
    for number, case in enumerate(cases(SIND, 3 * COUNT // 2)):
        check(case, current=number % 4 > 0)


@pytest.mark.parametrize("way", ["no exchanges", "many pairs", "one table"])
def test_the_crowds_are_the_same_whatever_way_leads_there(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way != "many pairs":
        monkeypatch.setattr(sind, "IN_VAIN", 0)
    if way != "no exchanges":
        monkeypatch.setattr(sind, "FEW", -1)
    if way == "one table":
        monkeypatch.setattr(sind, "MORE_TABLES", 0)
    for case in cases(SIND, COUNT // 5, 5000):
        check(case)


def test_pairs_are_compared_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sind, "MOST_COMPARED", 7)
    for case in cases(SIND, COUNT // 10, 7000):
        check(case)


@pytest.mark.parametrize("case", shared_sind())
def test_shared_cases(case: dict[str, Any]) -> None:
    made = of_shared(case)
    found = sind_partition(made.overlap)
    assert made.keys(found.sets) == frozen(case["sind_partition"])
    assert found.smallest == case["k_sind_level"]
    careful = conservative_partition(made.overlap)
    assert (made.keys(careful.sets), careful.smallest) == (
        frozen(case["conservative_partition"]),
        case["conservative_level"],
    )


def test_people_whose_only_possible_value_is_the_same_are_one_crowd() -> None:
    overlap = overlap_of("xy", ["xx", "x", "xy"], [[0], [0], [1], [2], [2]])
    assert sind_partition(overlap).sets == ((0, 1, 2), (3, 4))


def test_more_classes_than_people_could_tell_apart_by_hand() -> None:
    rng = np.random.default_rng(3)
    member = rng.random((120, 8)) < 0.5
    has = rng.integers(4, size=120)
    overlap = overlap_of(
        range(4),
        [has[member[:, view]].tolist() for view in range(8)],
        [np.nonzero(one)[0].tolist() for one in member],
    )
    overlap = replace(overlap, current=np.eye(4, dtype=np.int64)[has])
    same = Counter(map(tuple, member.tolist()))
    assert sorted(sind_partition(overlap).sizes) == sorted(same.values())


def test_no_table_no_time_and_cancel() -> None:
    with pytest.raises(NoTable):
        sind_partition(overlap_of("xy", ["xy", "xy", "xy"], [[0, 2], [0, 1], [1, 2]]))
    with pytest.raises(OutOfTime), until(0):
        sind_partition(overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]]))
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        sind_partition(overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]]), job)


# -- the paper -------------------------------------------------------------------------------------

FIGURE_2 = View("figure 2", lambda row, value: row["zip"] in ("22032", "22033"), ("zip",))
FIGURE_3 = (
    View("first", lambda row, value: row["zip"] == "22030"),
    View("second", lambda row, value: row["id"] == 1 and value == "Obesity"),
)
FIGURE_4 = (
    View("by race", lambda row, value: row["zip"] == "22030", ("race",)),
    View("by gender", lambda row, value: row["race"] == "White", ("gender",)),
)


def test_figure_2_is_2_sind() -> None:
    made = of_patients(FIGURE_2, among=range(9, 13))
    found = sind_partition(made.overlap)
    assert made.keys(found.sets) == frozen([{9, 10}, {11, 12}])
    assert found.smallest == 2


def test_figure_3_is_not_2_sind() -> None:
    made = of_patients(*FIGURE_3, among=range(1, 5))
    assert made.keys(sind_partition(made.overlap).sets) == frozen([{1}, {2, 3, 4}])
    alone = of_patients(FIGURE_3[0], among=range(1, 5))
    assert sind_partition(alone.overlap).smallest == 4


def test_figure_4_with_t6_in_its_place() -> None:
    made = of_patients(*FIGURE_4)
    final = frozen([{1, 2, 3}, {4}, {5, 7, 9, 10}, {6}, {8, 11, 12}])
    assert made.keys(conservative_partition(made.overlap).sets) == final
    first, second = (of_patients(view) for view in FIGURE_4)
    assert first.keys(conservative_partition(first.overlap).sets) == frozen(
        [{1, 2, 3}, {4}, set(range(5, 13))]
    )
    white = frozen([{1, 2, 3, 8, 11, 12}, {6}, {4, 5, 7, 9, 10}])
    assert second.keys(conservative_partition(second.overlap).sets) == white
    # t4 is the only one of the first view's second row and has AIDS for
    # certain, as t6 has Hypertension.
    assert made.keys(sind_partition(made.overlap).sets) == final
    assert sind_partition(made.overlap).smallest == 1


def test_proposition_1_k_anonymity_gives_k_sind() -> None:
    rng = random.Random(1)
    for _ in range(COUNT // 10):
        many = rng.randint(2, 9)
        groups = [rng.randrange(3) for _ in range(many)]
        people = {one: {"group": group} for one, group in enumerate(groups)}
        truth = {one: rng.choice("xyz") for one in people}
        # Microdata is one view for each group.
        views = [
            View(f"g{group}", lambda row, value, group=group: row["group"] == group)
            for group in sorted(set(groups))
        ]
        found = sind_partition(built(people, truth, views, "xyz").overlap)
        assert found.smallest >= min(Counter(groups).values())


def test_proposition_5_only_if_needs_two_values_in_one_table() -> None:
    overlap = overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])
    assert sind_partition(overlap).sets == ((0, 2), (1,))


# -- the swap equation -----------------------------------------------------------------------------


def by_definition(given: oracle.Classes, one: int, p: int, other: int, q: int) -> bool:
    """Proposition 4, with multisets."""

    def answer(view: int, first: int, second: int) -> Counter[Any]:
        rows = (given.outputs[one][first][view], given.outputs[other][second][view])
        return Counter(row for row in rows if row is not None)

    return all(answer(view, p, q) == answer(view, q, p) for view in range(len(given.given)))


@pytest.mark.parametrize("most", [0, swaps.MOST_EFFECTS])
def test_the_swap_equation_is_that_of_the_definition(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swaps, "MOST_EFFECTS", most)
    for number in range(COUNT // 4):
        given = classes(number)
        overlap, _ = of_classes(given)
        prepared = Swaps(overlap)
        many, values = len(given.sizes), len(overlap.values)
        one, p, other, q = (
            axis.reshape(-1)
            for axis in np.meshgrid(
                *[np.arange(n) for n in (many, values, many, values)], indexing="ij"
            )
        )
        expected = [
            by_definition(given, *four)
            for four in zip(one.tolist(), p.tolist(), other.tolist(), q.tolist(), strict=True)
        ]
        assert swap_equation(overlap, one, p, other, q).tolist() == expected
        assert prepared.equation(one, p, other, q).tolist() == expected
        kinds = prepared.kinds()
        always = np.array(expected).reshape(many, values, many, values).all(axis=(1, 3))
        assert (always == (kinds[:, None] == kinds[None, :])).all()


def test_effects_of_very_many_views_are_numbered_without_overflow() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 40, size=(60, 30, 3))
    outputs = np.where(rows > 0, rows + 40 * np.arange(30)[None, :, None], 0)
    outputs[30:] = outputs[:30]
    overlap = Overlap(
        (0, 1, 2),
        tuple(map(str, range(30))),
        outputs,
        np.ones(60, dtype=np.int64),
        np.zeros(1300, dtype=np.int64),
    )
    effects = effects_of(overlap)
    for p, q in ((0, 1), (0, 2), (1, 2)):
        same = effects[:, None, p, q] == effects[None, :, p, q]
        one, other = np.meshgrid(np.arange(60), np.arange(60), indexing="ij")
        assert (same == swap_equation(overlap, one, p, other, q)).all()
        assert same.sum() == 120
