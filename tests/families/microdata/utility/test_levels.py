"""The costs of all nodes of the lattice: equal to those of the releases, and in exact order."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from families.microdata.utility.releases import QUASI, TOP, asked, label, meaning_of, some_table
from oracles import utility as oracle
from tacit.errors import ParameterError
from tacit.families.microdata.recoded import generalized
from tacit.families.microdata.utility.levels import (
    lattice_costs,
    level_shares,
)
from tacit.families.microdata.utility.measures import LOSS, Height


@pytest.mark.parametrize("seed", range(2))
def test_shares_of_levels_and_costs_of_nodes_agree_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        table = some_table(rng)
        raw = asked(table)
        weights = rng.choice([None, {"age": 2}, {"age": "1/2", "town": 3}, {"age": 0}])
        shares = {name: level_shares(raw, name) for name in QUASI}
        grid, heights = (
            lattice_costs(raw, weights=weights).grid(),
            lattice_costs(raw, weights=weights, utility="height").grid(),
        )
        exact = lattice_costs(raw, weights=weights)
        assert grid.shape == heights.shape == tuple(top + 1 for top in TOP)
        for node in product(*(range(top + 1) for top in TOP)):
            release = [label(row, node) for row in table]
            meaning = meaning_of(table, node)
            for column, name in enumerate(QUASI):
                assert shares[name][node[column]] == oracle.share(table, release, column, meaning)
            recoded = generalized(raw, dict(zip(QUASI, node, strict=True)))
            assert grid[node] == pytest.approx(LOSS.cost(recoded, weights), abs=1e-12)
            assert exact.key(node) == LOSS.key(recoded, weights)
            assert exact.cost(node) == LOSS.cost(recoded, weights)
            assert heights[node] == Height().cost(recoded, weights)


def test_at_most_cuts_the_lattice() -> None:
    raw = asked(some_table(random.Random(1)))
    np.testing.assert_array_equal(
        lattice_costs(raw, {"age": 1}).grid(), lattice_costs(raw).grid()[:2]
    )


@pytest.mark.parametrize(
    ("at_most", "words"),
    [
        ({"agee": 1}, "Did you mean 'age'"),
        ({"age": 4}, "no level 4. Its hierarchy has levels 0"),
        ({"age": -1}, "no level"),
        ({"age": True}, "no level"),
    ],
)
def test_limits_that_are_no_levels_are_refused(at_most: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        lattice_costs(asked(some_table(random.Random(1))), at_most)


def test_measures_of_groups_have_no_costs_before_counting() -> None:
    with pytest.raises(ParameterError, match="depends on its groups"):
        lattice_costs(asked(some_table(random.Random(1))), utility="kl")
