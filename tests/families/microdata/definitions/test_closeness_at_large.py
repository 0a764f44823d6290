"""The same answers where 64 bits are not enough, where pairs come
in portions, and on larger groups.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from asking import handmade
from close_tables import Case, cases, lengths
from oracles import closeness as oracle
from tacit.families.microdata import distances, neighbours, ratios, transport
from tacit.families.microdata.definitions import number_line
from tacit.families.microdata.definitions.t_closeness import TCloseness
from tacit.families.microdata.distances import Discrete, Taxonomy, numeric, own, variational
from tacit.families.microdata.groups import group
from tacit.families.microdata.hierarchy import hierarchy
from tacit.families.microdata.neighbours import cells_of, largest_balls
from tacit.families.microdata.ratios import Ratios
from tacit.model.schema import CsvHierarchy


def some_cases() -> list[Case]:
    found = list(cases())
    return random.Random(1).sample(found, min(400, len(found)))


def test_unlimited_integers_give_the_same_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = some_cases()
    before = [case.definition().check(case.question(), sensitive="s") for case in chosen]
    for module in (ratios, number_line, distances):
        monkeypatch.setattr(module, "SAFE", 0)
    monkeypatch.setattr(neighbours, "PAIRS", 3)
    after = [case.definition().check(case.question(), sensitive="s") for case in chosen]
    assert [one.to_json() for one in before] == [one.to_json() for one in after]


def one_group(secrets: list[Any]) -> Any:
    base = handmade([{"q": "a", "s": one} for one in secrets])
    levels = {name: hierarchy(name, values).level(0) for name, values in base.dictionaries.items()}
    return group(base, ["q"], levels, "s")


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(8))
def test_balls_of_a_large_group(seed: int) -> None:
    rng = random.Random(seed)
    secrets: list[Any] = [
        rng.choice([rng.randint(0, 60), rng.randint(0, 2000)]) for _ in range(300)
    ]
    groups, epsilon = one_group(secrets), Fraction(rng.choice([0, 1, 5, "7/2", 40]))
    values = groups.dictionary
    rows = [(0, [str(v), str(v % 7), str(v % 7 % 2)]) for v in values]
    tree = hierarchy("s", values, CsvHierarchy("f"), rows=rows, file="f")
    ways = [(numeric("s", values), oracle.numeric), (Discrete(len(values)), oracle.discrete)]
    ways.append((own("s", values, lengths), lambda x, y: oracle.exactly(lengths(x, y))))

    ways.append(
        (Taxonomy(tree), oracle.taxonomy({v: [str(v % 7), str(v % 7 % 2)] for v in values}))
    )
    for distance, brute in ways:
        balls = largest_balls(groups, distance, epsilon)
        expected = oracle.neighbourhoods(secrets, brute, epsilon)
        assert int(balls.sizes[0]) == max(expected)
        assert expected[secrets.index(values[balls.centre(0)])] == max(expected)


def test_balls_of_many_distributions() -> None:
    rng = random.Random(5)
    secrets = []
    for _ in range(120):
        cuts = sorted(rng.randint(0, 100) for _ in range(3))
        parts = [b - a for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]
        secrets.append(
            "{" + ", ".join(f'"d{i}": {part / 100}' for i, part in enumerate(parts)) + "}"
        )
    groups = one_group(secrets)
    balls = largest_balls(groups, variational("s", groups.dictionary), Fraction(1, 5))
    assert int(balls.sizes[0]) == max(
        oracle.neighbourhoods(secrets, oracle.variational, Fraction(1, 5))
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_ordered_distance_of_long_lines(seed: int) -> None:
    """Many values of which a group has few: the gaps between its cells are what the sums skip."""
    rng = random.Random(seed)
    whole = np.array([rng.randint(1, 9) for _ in range(200)])
    rows = [
        {"q": rng.choice("abc"), "s": code} for code in range(200) for _ in range(int(whole[code]))
    ]
    base = handmade(rows)
    levels = {name: hierarchy(name, values).level(0) for name, values in base.dictionaries.items()}
    groups = group(base, ["q"], levels, "s")
    found = transport.ordered(cells_of(groups), whole, np.arange(200))
    for number in range(len(groups)):
        here = groups.cells(number)
        known, everybody = sum(here.values()), int(whole.sum())
        total = work = Fraction(0)
        for code in range(200):
            total += Fraction(here.get(code, 0), known) - Fraction(int(whole[code]), everybody)
            work += abs(total)
        assert found[number] == work / 199


def test_ratios_that_floats_cannot_tell_apart() -> None:
    """Two fractions that differ by 1e-30, and the first of equal ones."""
    close = Ratios(
        np.array([10**30, 10**30 + 1, 1, 10**30 + 1], dtype=object),
        np.array([2 * 10**30, 2 * 10**30, 2, 2 * 10**30], dtype=object),
    )
    assert (close.greatest(), close.least()) == (1, 0)
    assert close.above(Fraction(1, 2)).tolist() == [False, True, False, True]
    near = Ratios(np.array([2**61, 2**61 - 1]), np.array([2**61 + 1, 2**61]))
    assert (near.greatest(), near.least()) == (0, 1)


def test_ratios_compare_as_fractions_do() -> None:
    rng = random.Random(3)
    seen: Counter[bool] = Counter()
    for _ in range(300):
        tops = [rng.choice([rng.randint(-5, 5), rng.randint(-(2**62), 2**62)]) for _ in range(4)]
        bottoms = [rng.choice([rng.randint(1, 5), rng.randint(1, 2**62)]) for _ in range(4)]
        numbers = Ratios(np.array(tops), np.array(bottoms))
        fractions = [Fraction(a, b) for a, b in zip(tops, bottoms, strict=True)]
        limit = rng.choice([*fractions, Fraction(rng.randint(-9, 9), rng.randint(1, 9))])
        assert numbers.above(limit).tolist() == [one > limit for one in fractions]
        assert numbers.below(limit).tolist() == [one < limit for one in fractions]
        assert numbers.greatest() == fractions.index(max(fractions))
        assert numbers.least() == fractions.index(min(fractions))
        seen[bool(numbers.above(limit).any())] += 1
    assert min(seen.values()) > 30


@pytest.mark.parametrize("scale", [1, 10**9, 10**18])
def test_numbers_far_from_zero_have_the_same_variance(scale: int) -> None:
    far = [10**30 + scale * n for n in (1, 2, 4)]
    line = number_line.NumberLine(tuple(far), *distances.scaled("s", far), {})
    found = line.variances(cells_of(one_group(far)))
    assert found[0] == scale**2 * Fraction(14, 9)


def test_tiny_numbers_have_tiny_widths() -> None:
    tiny = [1e-300, 3e-300, 0.5]
    line = number_line.NumberLine(tuple(tiny), *distances.scaled("s", tiny), {})
    cells = cells_of(one_group(tiny))
    assert line.widths(cells)[0] == Fraction("0.5") - Fraction("1e-300")
    assert line.variances(cells)[0] == oracle.variance(dict.fromkeys(tiny, 1))


def test_t_closeness_of_a_table_with_one_value() -> None:
    case = Case(({"name": "a", "zip": "z", "age": "y", "s": 1},), (), TCloseness, {"t": 0})
    for distance in ("equal", "ordered"):
        verdict = TCloseness(t=0, distance=distance).check(case.question(), sensitive="s")
        assert (verdict.status, verdict.measured["t"]) == ("holds", 0)
