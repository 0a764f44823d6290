"""Every measure against brute force on expanded rows; monotonicity; errors that teach."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from families.microdata.utility.releases import (
    COLUMNS,
    QUASI,
    TOP,
    Example,
    asked,
    local,
    some_table,
    whole_columns,
)
from oracles import utility as oracle
from tacit.errors import ParameterError
from tacit.families.microdata.recoded import Recoded, generalized
from tacit.families.microdata.utility.cover import leaves_by_label, shown
from tacit.families.microdata.utility.describe import describe
from tacit.families.microdata.utility.divergence import (
    divergence_of_cells,
    log_counts,
    log_domain,
)
from tacit.families.microdata.utility.marginals import marginals
from tacit.families.microdata.utility.measures import (
    KL,
    LOSS,
    MEASURES,
    AverageGroup,
    Discernibility,
    Height,
    measure,
)
from tacit.families.microdata.utility.shares import column_shares

MAKERS = {"whole columns": whole_columns, "local": local}


def examples(kind: str, seed: int, number: int) -> list[Example]:
    rng = random.Random(f"{kind} {seed}")
    return [MAKERS[kind](rng) for _ in range(number)]


@pytest.mark.sampled
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", range(3))
def test_every_measure_agrees_with_brute_force(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    for one in examples(kind, seed, 500):
        shares = [
            oracle.share(one.table, one.release, column, one.meaning)
            for column in range(len(QUASI))
        ]
        assert list(column_shares(one.recoded).values()) == shares
        given = {"age": rng.choice([1, 2, 0.5, "1/3"]), "town": rng.choice([0, 1, 3])}
        plain = [float(Fraction(str(weight))) for weight in given.values()]
        assert LOSS.cost(one.recoded) == pytest.approx(oracle.loss(shares, [1, 1]), abs=1e-12)
        assert LOSS.cost(one.recoded, given) == pytest.approx(oracle.loss(shares, plain), abs=1e-12)
        assert Discernibility().cost(one.recoded) == oracle.discernibility(one.release)
        assert AverageGroup().cost(one.recoded) == oracle.average_group(one.release)
        assert KL().cost(one.recoded) == pytest.approx(oracle.divergence(*one.oracle), abs=1e-10)
        for column, distance in enumerate(marginals(one.recoded).values()):
            assert distance == pytest.approx(
                float(oracle.moved(one.table, one.release, column, one.meaning)), abs=1e-12
            )


@pytest.mark.parametrize("kind", MAKERS)
def test_a_label_covers_what_a_reader_must_take_it_for(kind: str) -> None:
    for one in examples(kind, 9, 300):
        for number, column in enumerate(QUASI):
            covered = shown(one.recoded, column).cover
            labels = list(dict.fromkeys(one.recoded.labels[column]))
            values = (*one.recoded.raw.base.dictionaries[column], None)
            for label in {line[number] for line in one.release if line is not None}:
                mass = np.zeros(len(labels))
                mass[labels.index(label)] = 1
                spread = covered.spread(mass)
                found = {values[leaf] for leaf in np.flatnonzero(spread > 1e-9).tolist()}
                assert found == one.meaning[number, label]


def test_the_divergence_is_exact_where_cells_do_not_overlap_and_never_too_small() -> None:
    for one in [*examples("whole columns", 4, 300), *examples("local", 4, 300)]:
        mixture = oracle.divergence_from_mixture(*one.oracle)
        assert KL().cost(one.recoded) >= max(0.0, mixture) - 1e-10
        if one.recoded.generalization is not None and not one.recoded.suppressed:
            assert KL().cost(one.recoded) == pytest.approx(mixture, abs=1e-10)


def test_the_divergence_of_cells_is_that_of_the_release() -> None:
    rng = random.Random(5)
    for _ in range(300):
        one = whole_columns(rng)
        recoded, raw = one.recoded, one.recoded.raw
        levels = recoded.generalization or {}
        lines = [
            (shown_as, row[len(QUASI) :])
            for row, shown_as in zip(one.table, one.release, strict=True)
            if shown_as is not None
        ]
        different = sorted(set(lines), key=repr)
        area = 0.0
        for labels, _ in lines:
            for name, label in zip(QUASI, labels, strict=True):
                number = raw.hierarchies[name].levels[levels[name]].labels.index(label)
                area += math.log(leaves_by_label(raw, name, levels[name])[number])
        counts = np.array([lines.count(line) for line in different], dtype=np.int64)
        found = divergence_of_cells(
            counts,
            rows=raw.base.rows,
            own=log_counts(raw),
            area=area,
            suppressed=recoded.suppressed,
            domain=log_domain(raw),
        )
        assert found == pytest.approx(KL().cost(recoded), abs=1e-10)


def lattice() -> list[tuple[int, ...]]:
    return list(product(*(range(top + 1) for top in TOP)))


def test_measures_that_say_so_never_cost_less_when_a_release_is_coarser() -> None:
    rng = random.Random(6)
    for _ in range(150):
        raw = asked(some_table(rng, 8))
        costs = {
            node: [
                one.key(generalized(raw, dict(zip(QUASI, node, strict=True)))) for one in MEASURES
            ]
            for node in lattice()
        }
        for fine, coarse in product(lattice(), repeat=2):
            if all(low <= high for low, high in zip(fine, coarse, strict=True)):
                for one, before, after in zip(MEASURES, costs[fine], costs[coarse], strict=True):
                    assert one.monotone
                    slack = 1e-10 if one.name == "kl" else 0
                    assert before <= after + slack


def dropping(raw: Any, node: tuple[int, ...], k: int) -> Recoded:
    """A release without the rows of groups of less than k."""
    whole = generalized(raw, dict(zip(QUASI, node, strict=True)))
    lines = list(zip(*(whole.codes[name].tolist() for name in QUASI), strict=True))
    sizes = {
        line: sum(n for n, other in zip(whole.counts.tolist(), lines, strict=True) if other == line)
        for line in lines
    }
    return generalized(
        raw,
        dict(zip(QUASI, node, strict=True)),
        keep=np.array([sizes[line] >= k for line in lines]),
    )


def test_with_rows_dropped_only_height_stays_monotone() -> None:
    rng = random.Random(7)
    broken = set()
    for _ in range(150):
        raw = asked(some_table(rng, 8))
        costs = {node: [one.key(dropping(raw, node, 2)) for one in MEASURES] for node in lattice()}
        for fine, coarse in product(lattice(), repeat=2):
            if all(low <= high for low, high in zip(fine, coarse, strict=True)):
                pairs = zip(MEASURES, costs[fine], costs[coarse], strict=True)
                broken |= {
                    one.name for one, before, after in pairs if before > after + Fraction(1, 10**9)
                }
    assert broken == {one.name for one in MEASURES if not one.monotone_with_suppression}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_loss_is_written_rounded_up_by_less_than_a_unit(kind: str) -> None:
    for one in examples(kind, 8, 300):
        text = LOSS.text(one.recoded, {"age": 2})
        product_of_shares = LOSS.key(one.recoded, {"age": 2})
        written = Fraction(text)
        assert (1 + written) ** 3 >= product_of_shares
        assert written == 0 or (1 + written - Fraction(1, 10**6)) ** 3 < product_of_shares


def test_a_local_recoding_has_no_height() -> None:
    rng = random.Random(1)
    with pytest.raises(ParameterError, match="height adds up levels") as error:
        Height().cost(local(rng).recoded)
    assert "Use loss" in str(error.value)


def test_height_adds_up_levels_times_weights() -> None:
    rng = random.Random(2)
    for _ in range(100):
        one = whole_columns(rng)
        levels = one.recoded.generalization or {}
        assert Height().cost(one.recoded) == sum(levels.values())
        assert (
            Height().cost(one.recoded, {"age": "1/2"})
            == Fraction(levels["age"], 2) + levels["town"]
        )


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"agee": 1}, "no quasi-identifier. Did you mean 'age'"),
        ({"age": -1}, "negative"),
        ({"age": "much"}, "not a number"),
        ({"age": True}, "not a number"),
        ({"age": 0, "town": 0}, "all weights are 0"),
        ({"age": "0.123456789"}, "short numbers"),
    ],
)
def test_weights_that_say_nothing_are_refused(weights: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        LOSS.cost(whole_columns(random.Random(3)).recoded, weights)


@pytest.mark.parametrize("name", [one.name for one in MEASURES if not one.weighted])
def test_measures_of_groups_have_no_weights(name: str) -> None:
    with pytest.raises(ParameterError, match="counts groups"):
        measure(name).cost(whole_columns(random.Random(3)).recoded, {"age": 2})


def test_a_release_of_nothing_costs_the_most() -> None:
    raw = asked([(20, "p", "x"), (22, "q", "y"), (22, "q", "y")])
    nothing = generalized(raw, {}, keep=np.zeros(len(raw.base), dtype=bool))
    assert LOSS.text(nothing) == "1"
    assert Discernibility().cost(nothing) == 9
    assert AverageGroup().cost(nothing) == 3
    assert KL().cost(nothing) == pytest.approx(
        oracle.divergence([(20, "p", "x"), (22, "q", "y"), (22, "q", "y")], [None] * 3, 2, {})
    )
    assert marginals(nothing) == {"age": 1.0, "town": 1.0}
    assert describe(nothing)["range_queries"]["median_error"] == "1"


def test_a_column_with_one_value_has_nothing_to_lose() -> None:
    raw = asked([(20, "p", "x"), (20, "q", "y")])
    assert column_shares(generalized(raw, {"age": 3, "town": 2})) == {"age": 0, "town": 1}


def test_squares_of_many_rows_do_not_overflow() -> None:
    assert Discernibility.cost_of_groups(np.array([2**33, 1]), rows=2**33 + 1) == 2**66 + 1


@pytest.mark.parametrize("kind", MAKERS)
def test_a_description_writes_numbers_as_the_contract_says(kind: str) -> None:
    for one in examples(kind, 3, 25):
        found = describe(one.recoded, queries=5)
        flat = [
            *found["before"].items(),
            *found["after"].items(),
            *(pair for column in found["columns"].values() for pair in column.items()),
        ]
        for key, value in flat:
            if key.endswith("_decimal"):
                assert isinstance(value, float)
            else:
                assert isinstance(value, str)
                assert Fraction(value) >= 0
        for part in (found["before"], found["after"]):
            assert ("average_group_decimal" in part) == ("/" in part["average_group"])
        assert found["before"]["loss"] == found["before"]["kl"] == found["before"]["height"] == "0"
        assert ("height" in found["after"]) == (kind == "whole columns")
        assert (
            int(found["released"]) + int(found["suppressed"])
            == int(found["rows"])
            == len(one.table)
        )
        assert found == describe(one.recoded, queries=5)
        assert set(COLUMNS) > set(found["columns"])
        table = [row[: len(QUASI)] for row in one.table]
        assert int(found["before"]["discernibility"]) == oracle.discernibility(table)
        assert Fraction(found["before"]["average_group"]) == oracle.average_group(table)
        assert int(found["after"]["discernibility"]) == oracle.discernibility(one.release)
