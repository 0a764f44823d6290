"""RSIND against brute force, the paper's figures and propositions,
and what the errata say about it.
"""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from built_overlaps import Built, built, of_patients, of_shared, shared_sind
from oracles import overlap as oracle
from oracles.overlap import View
from oracles.overlap_cases import SIND, Case, cases
from tacit.families.overlaps.overlap import overlap_of
from tacit.families.overlaps.swapping import rsind
from tacit.families.overlaps.swapping.allowed_sets import Exchanges, allowed_sets, bound, cliques
from tacit.families.overlaps.swapping.crowd_division import largest
from tacit.families.overlaps.swapping.rsind import RestrictedCrowds, Variant, rsind_level
from tacit.families.overlaps.swapping.sind import sind_partition
from tacit.families.overlaps.system import NoTable
from tacit.model.deadline import until
from tacit.model.jobs import Cancelled, Job

COUNT = int(os.environ.get("TACIT_ORACLE_OVERLAPS", "1000"))
VARIANTS: tuple[Variant, ...] = ("diverse", "literal")


def crowds(made: Built, truth: dict[Any, Any], found: RestrictedCrowds) -> list[list[Any]]:
    """The sets by people's keys."""
    left = {
        (class_, value): [key for key in keys if truth[key] == name]
        for class_, keys in enumerate(made.members)
        for value, name in enumerate(made.overlap.values)
    }
    sets = [
        [left[class_, value].pop() for class_, value, many in some for _ in range(many)]
        for some in found.sets
    ]
    assert not found.sets or not any(left.values())
    return sets


def check(case: Case, variant: Variant) -> None:
    diverse = variant == "diverse"
    made = built(case.people, case.truth, case.views, case.sind_domain())
    level, _ = case.rsind(diverse)
    found = rsind_level(made.overlap, variant)
    assert (found.level, found.most) == (level, level), f"{case}\n{variant}"
    sets = crowds(made, case.truth, found)
    assert bool(sets) == bool(level)
    assert all(oracle.rsind_set(case.instances(), case.truth, one, diverse) for one in sets)
    assert not sets or oracle.level(sets) == level


# -- against brute force ---------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_level_is_that_of_brute_force(variant: Variant) -> None:
    for case in cases(SIND, 7 * COUNT // 10):
        check(case, variant)


@pytest.mark.parametrize("way", ["search", "settle all"])
def test_the_level_is_the_same_whatever_way_leads_there(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is settled by the bound or by few sets, so that it depends
    on what people can have at once.
    """
    monkeypatch.setattr(rsind, "bound", lambda exchanges, counts, diverse: int(counts.sum()))
    monkeypatch.setattr(rsind, "FEW_SETS", 0)
    if way == "settle all":
        monkeypatch.setattr(rsind._Search, "_above", lambda self, sets: None)
    for case in cases(SIND, COUNT // 5, 9000):
        for variant in VARIANTS:
            check(case, variant)


@pytest.mark.parametrize("case", shared_sind())
def test_shared_cases(case: dict[str, Any]) -> None:
    made = of_shared(case)
    assert rsind_level(made.overlap, "literal").level == case["k_rsind_level_def4"]
    assert rsind_level(made.overlap, "diverse").level == case["k_rsind_level_diverse"]


def test_asking_for_a_level_settles_whether_it_is_reached() -> None:
    for case in cases(SIND, COUNT // 10, 2000):
        made = built(case.people, case.truth, case.views, case.sind_domain())
        for variant in VARIANTS:
            level, _ = case.rsind(variant == "diverse")
            for wanted in (1, 2, 3):
                found = rsind_level(made.overlap, variant, at_least=wanted)
                assert found.level <= level <= found.most
                assert found.level >= wanted or found.most < wanted


# -- not enough time -------------------------------------------------------------------------------


def test_without_time_the_level_is_between_what_is_proved() -> None:
    for case in cases(SIND, COUNT // 10, 1000):
        made = built(case.people, case.truth, case.views, case.sind_domain())
        for variant in VARIANTS:
            with until(0):
                found = rsind_level(made.overlap, variant)
            level, _ = case.rsind(variant == "diverse")
            assert found.level <= level <= found.most
            sets = crowds(made, case.truth, found)
            assert all(
                oracle.rsind_set(case.instances(), case.truth, one, variant == "diverse")
                for one in sets
            )
            assert not sets or oracle.level(sets) == found.level


@pytest.mark.parametrize("limit", ["MOST_KINDS", "MOST_SETS"])
def test_beyond_its_limits_the_level_is_between_what_is_proved(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rsind, limit, 0)
    monkeypatch.setattr(rsind, "FEW_SETS", 0)
    for case in cases(SIND, COUNT // 20, 6000):
        made = built(case.people, case.truth, case.views, case.sind_domain())
        for variant in VARIANTS:
            found = rsind_level(made.overlap, variant)
            assert found.level <= case.rsind(variant == "diverse")[0] <= found.most
            sets = crowds(made, case.truth, found)
            assert all(
                oracle.rsind_set(case.instances(), case.truth, one, variant == "diverse")
                for one in sets
            )


def test_a_table_that_is_not_there_or_does_not_fit_and_cancel() -> None:
    overlap = overlap_of("xy", ["xy"], [[0], [0]])
    with pytest.raises(NoTable):
        rsind_level(overlap, "diverse")
    with pytest.raises(NoTable):
        rsind_level(replace(overlap, current=np.array([[1, 0], [1, 0]])), "diverse")
    job = Job()
    job.cancel()
    chain = replace(
        overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]]),
        current=np.array([[1, 0], [0, 1], [1, 0]]),
    )
    with pytest.raises(Cancelled):
        rsind_level(chain, "diverse", job)


# -- the paper -------------------------------------------------------------------------------------

FIGURE_3 = (
    View("first", lambda row, value: row["zip"] == "22030"),
    View("second", lambda row, value: row["id"] == 1 and value == "Obesity"),
)


@pytest.mark.parametrize("variant", VARIANTS)
def test_figures_3_and_5_are_2_rsind(variant: Variant) -> None:
    made = of_patients(*FIGURE_3, among=range(1, 5))
    found = rsind_level(made.overlap, variant)
    assert (found.level, found.is_exact) == (2, True)
    truth = {1: "Cold", 2: "AIDS", 3: "Obesity", 4: "AIDS"}
    (first,) = (set(one) for one in crowds(made, truth, found) if 1 in one)
    assert first in ({1, 2}, {1, 4})  # t1 cannot exchange Obesity with t3


def test_proposition_2_k_sind_gives_k_rsind() -> None:
    diverse = 0
    for case in cases(SIND, COUNT // 4, 3000):
        made = built(case.people, case.truth, case.views, case.sind_domain())
        sets = sind_partition(made.overlap)
        assert sets.smallest <= rsind_level(made.overlap, "literal").level
        current = made.overlap.current
        assert current is not None
        if all((current[list(some)].sum(axis=0) > 0).sum() > 1 for some in sets.sets):
            assert sets.smallest <= rsind_level(made.overlap, "diverse").level
            diverse += 1
    assert diverse > 10


def test_releasing_everything_is_vacuous_unless_crowds_are_diverse() -> None:
    """Errata 20: people with the same value may always exchange it."""
    people = {one: {"id": one} for one in range(6)}
    truth = dict(enumerate("xxxyyz"))
    made = built(people, truth, [View("all", lambda row, value: True, ("id",))], "xyz")
    assert rsind_level(made.overlap, "literal").level == 1
    truth[5] = "y"
    made = built(people, truth, [View("all", lambda row, value: True, ("id",))], "xyz")
    assert rsind_level(made.overlap, "literal").level == 3
    assert rsind_level(made.overlap, "diverse") == RestrictedCrowds((), 0, 0)


def test_people_who_never_have_two_values_at_once_may_be_in_one_crowd() -> None:
    """Definition 3 asks only of tables in which they have them:
    the first and the last person always agree.
    """
    chain = replace(
        overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]]),
        current=np.array([[1, 0], [0, 1], [1, 0]]),
    )
    found = rsind_level(chain, "literal")
    assert found.level == 1
    four = replace(
        overlap_of("xy", ["xy", "xy", "xy"], [[0], [0, 1], [1, 2], [2]]),
        current=np.array([[1, 0], [0, 1], [1, 0], [0, 1]]),
    )
    assert rsind_level(four, "literal").sets == (
        ((0, 0, 1), (2, 0, 1)),
        ((1, 1, 1), (3, 1, 1)),
    )


# -- allowed sets and divisions --------------------------------------------------------------------


def random_exchanges(rng: random.Random) -> tuple[Exchanges, np.ndarray[Any, Any]]:
    kinds, values = rng.randint(1, 5), rng.randint(1, 4)
    found = Exchanges(kinds, tuple(range(values)))
    dense = rng.random()
    for one, other in itertools.combinations(range(values), 2):
        may = np.array([[rng.random() < dense for _ in range(kinds)] for _ in range(kinds)])
        found.set(one, other, may & may.T)
        if value_twins := rng.random() < 0.2:
            found.set(one, other, np.full((kinds, kinds), value_twins))
    return found, np.array(
        [[rng.choice([0, 1, 2, 5]) for _ in range(values)] for _ in range(kinds)]
    )


def is_allowed(exchanges: Exchanges, types: frozenset[tuple[int, int]]) -> bool:
    kinds, values = sorted({kind for kind, _ in types}), sorted({value for _, value in types})
    return all(
        exchanges.may(*two, pair)
        for pair in itertools.combinations(kinds, 2)
        for two in itertools.combinations(values, 2)
    )


def all_allowed(
    exchanges: Exchanges, counts: np.ndarray[Any, Any], diverse: bool
) -> set[frozenset[tuple[int, int]]]:
    """The maximal ones, by trying all sets of kinds and values."""
    found = set()
    for kinds in subsets(range(exchanges.kinds)):
        for values in subsets(exchanges.values):
            types = frozenset(
                (kind, value) for kind in kinds for value in values if counts[kind, value]
            )
            if (
                types
                and is_allowed(exchanges, types)
                and (not diverse or len({value for _, value in types}) > 1)
            ):
                found.add(types)
    return {one for one in found if not any(one < other for other in found)}


def subsets(items: Any) -> list[tuple[int, ...]]:
    items = list(items)
    return [
        some for size in range(1, len(items) + 1) for some in itertools.combinations(items, size)
    ]


@pytest.mark.parametrize("diverse", [True, False])
def test_allowed_sets_are_all_that_are_maximal(diverse: bool) -> None:
    rng = random.Random(diverse)
    for _ in range(COUNT // 2):
        exchanges, counts = random_exchanges(rng)
        sets, is_all = allowed_sets(exchanges, counts, diverse=diverse, most=1000)
        assert is_all
        expected = all_allowed(exchanges, counts, diverse)
        assert set(map(frozenset, sets)) == expected
        inside = [
            max(
                (sum(int(counts[one]) for one in some) for some in expected if type_ in some),
                default=0,
            )
            for type_ in map(tuple, np.argwhere(counts > 0).tolist())
        ]
        if inside:
            assert bound(exchanges, counts, diverse=diverse) >= min(inside)


def test_allowed_sets_end_after_so_many() -> None:
    exchanges = Exchanges(4, (0, 1))
    exchanges.set(0, 1, np.zeros((4, 4), dtype=bool))
    counts = np.ones((4, 2), dtype=np.int64)
    sets, is_all = allowed_sets(exchanges, counts, diverse=True, most=2)
    assert (len(sets), is_all) == (3, False)
    with until(0):
        assert allowed_sets(exchanges, counts, diverse=True, most=9)[1] is False


def test_cliques_are_all_that_are_maximal() -> None:
    rng = random.Random(2)
    for _ in range(COUNT // 2):
        many = rng.randint(1, 7)
        near = {one: 1 << one for one in range(many)}
        for one, other in itertools.combinations(range(many), 2):
            if rng.random() < 0.6:
                near[one] |= 1 << other
                near[other] |= 1 << one
        all_ = [
            some
            for some in subsets(range(many))
            if all(near[one] >> other & 1 for one in some for other in some)
        ]
        expected = {
            sum(1 << one for one in some)
            for some in all_
            if not any(set(some) < set(more) for more in all_)
        }
        found = list(cliques(near))
        assert set(found) == expected and len(found) == len(expected)


def test_a_division_is_as_good_as_any() -> None:
    rng = random.Random(4)
    for _ in range(COUNT // 10):
        types = [(kind, value) for kind in range(2) for value in range(2)]
        people = {one: rng.randint(1, 2) for one in types}
        sets = [rng.sample(types, rng.randint(1, 4)) for _ in range(rng.randint(1, 4))]
        for diverse in (True, False):
            found = largest(sets, people, diverse=diverse)
            assert found.level == found.most == best_by_hand(sets, people, diverse)


def best_by_hand(
    sets: list[list[tuple[int, int]]], people: dict[tuple[int, int], int], diverse: bool
) -> int:
    """Every person into every set."""
    everybody = [type_ for type_, many in people.items() for _ in range(many)]
    best = 0
    for choice in itertools.product(range(len(sets)), repeat=len(everybody)):
        used: dict[int, list[tuple[int, int]]] = {}
        for type_, place in zip(everybody, choice, strict=True):
            used.setdefault(place, []).append(type_)
        if all(set(some) <= set(sets[place]) for place, some in used.items()) and (
            not diverse or all(len({value for _, value in some}) > 1 for some in used.values())
        ):
            best = max(best, min(map(len, used.values())))
    return best
