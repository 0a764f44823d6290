"""Random counting questions: answers against brute force, the same ones for the same seed."""

from __future__ import annotations

import random

import numpy as np
import pytest

from families.microdata.utility.releases import COLUMNS, asked, local, some_table, whole_columns
from oracles import utility as oracle
from tacit.errors import ParameterError
from tacit.families.microdata.recoded import generalized
from tacit.families.microdata.utility.cover import shown_columns
from tacit.families.microdata.utility.workload import range_query_error, workload


@pytest.mark.parametrize("maker", [whole_columns, local])
def test_answers_agree_with_brute_force(maker: object) -> None:
    rng, draws = random.Random(str(maker.__name__)), np.random.default_rng(1)  # type: ignore[attr-defined]
    for _ in range(500):
        one = maker(rng)  # type: ignore[operator]
        base = one.recoded.raw.base
        work = workload(one.recoded, np.arange(len(base)), shown_columns(one.recoded))
        row = rng.randrange(len(base))
        chosen = {
            number: work.columns[number].around(int(work.columns[number].truth[row]), draws)
            for number in work.choose(draws)
        }
        assert next(iter(chosen)) < 2
        values = {number: (*base.dictionaries[COLUMNS[number]], None) for number in chosen}
        wanted = {
            number: {values[number][leaf] for leaf in np.flatnonzero(mask).tolist()}
            for number, mask in chosen.items()
        }
        truth, answer = work.answer(chosen)
        assert truth == oracle.truth(one.table, wanted) >= 1
        assert answer == pytest.approx(float(oracle.answer(*one.oracle, wanted)), abs=1e-9)


def test_a_condition_is_a_range_or_a_set_around_the_value() -> None:
    draws = np.random.default_rng(2)
    raw = asked([(30, "p", "x"), (20, "q", "y"), (25, "r", "x"), (None, "t", "x")])
    whole = generalized(raw, {})
    age, town, _ = workload(whole, np.arange(4), shown_columns(whole)).columns
    assert age.ordered
    assert not town.ordered
    ages = np.array([20, 25, 30])
    for leaf in range(3):
        for _ in range(30):
            mask = age.around(leaf, draws)
            assert mask[leaf]
            assert not mask[3]
            picked = ages[mask[:3]]
            assert len(picked) == sum(picked.min() <= one <= picked.max() for one in ages)
            assert town.around(leaf, draws)[leaf]
    assert age.around(3, draws).tolist() == [False, False, False, True]


def test_a_table_as_it_is_answers_without_error() -> None:
    rng = random.Random(3)
    for _ in range(20):
        found = range_query_error(
            generalized(asked(some_table(rng)), {}), np.random.default_rng(0), queries=20
        )
        assert (found.median, found.ninth_decile, found.sampled) == (0.0, 0.0, None)


def test_the_same_seed_asks_the_same_and_a_sample_says_so() -> None:
    rng = random.Random(4)
    table = [(rng.randint(18, 60), rng.choice("pqrtu"), rng.choice("xyz")) for _ in range(400)]
    release = generalized(asked(table), {"age": 2, "town": 1})
    whole = range_query_error(release, np.random.default_rng(5), queries=50)
    assert whole == range_query_error(release, np.random.default_rng(5), queries=50)
    assert whole.sampled is None
    assert 0 < whole.median <= whole.ninth_decile
    assert range_query_error(release, np.random.default_rng(5), queries=50, sample=60).sampled == 60


@pytest.mark.parametrize("wrong", [{"queries": 0}, {"sample": 0}])
def test_an_empty_workload_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="tells nothing"):
        range_query_error(
            generalized(asked(some_table(random.Random(1))), {}), np.random.default_rng(0), **wrong
        )
