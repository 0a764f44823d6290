"""The costs of all nodes of the lattice: equal to those of the releases, and in exact order."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from families.microdata.utility.releases import QUASI, TOP, asked, label, meaning_of, some_table
from oracles import utility as oracle
from tacit.errors import ParameterError
from tacit.families.microdata.recoded import generalized
from tacit.families.microdata.utility.levels import (
    NodeCosts,
    lattice_costs,
    level_shares,
    loss_key,
    node_costs,
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
            node_costs(raw, weights=weights),
            node_costs(raw, weights=weights, utility="height"),
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
            assert (
                exact.key(node)
                == LOSS.key(recoded, weights)
                == loss_key(raw, recoded.generalization or {}, weights)
            )
            assert exact.cost(node) == LOSS.cost(recoded, weights)
            assert heights[node] == Height().cost(recoded, weights)


def test_nodes_are_ordered_exactly_and_ties_by_their_levels() -> None:
    rng = random.Random(3)
    for _ in range(100):
        exact = lattice_costs(asked(some_table(rng)), utility=rng.choice(["loss", "height"]))
        nodes = list(product(*(range(top + 1) for top in TOP)))
        assert exact.order() == sorted(nodes, key=lambda node: (exact.key(node), node))
        some = rng.sample(nodes, 5)
        assert exact.cheapest(some) == min(some, key=lambda node: (exact.key(node), node))


def test_what_floats_cannot_tell_apart_is_decided_exactly() -> None:
    least = Fraction(1, 10**20)
    half, more = Fraction(1, 2), Fraction(1, 2) + least
    costs = NodeCosts("loss", ((more, half), (half, more)), (Fraction(1), Fraction(1)))
    grid = costs.grid()
    assert grid[0, 0] == grid[1, 0]
    assert costs.cheapest([(0, 0), (1, 0)]) == (1, 0)
    assert costs.order() == [(1, 0), (0, 0), (1, 1), (0, 1)]


def test_at_most_cuts_the_lattice() -> None:
    raw = asked(some_table(random.Random(1)))
    assert node_costs(raw, {"age": 1}).shape == (2, 3)
    np.testing.assert_array_equal(node_costs(raw, {"age": 1}), node_costs(raw)[:2])


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
        node_costs(asked(some_table(random.Random(1))), at_most)


def test_measures_of_groups_have_no_costs_before_counting() -> None:
    with pytest.raises(ParameterError, match="depends on its groups"):
        node_costs(asked(some_table(random.Random(1))), utility="kl")
