"""The measures of l-diversity over many groups at once, against one group at a time."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asking import as_they_are, handmade
from oracles import microdata as oracle
from tacit.families.microdata.definitions.diversity import distinct, entropic, recursive
from tacit.families.microdata.groups import Groups, group


def groups_with(*counts: list[int]) -> Groups:
    """Groups 0, 1, ... that have these counts of the values 0, 1, ...;
    no rows are needed for millions of people.
    """
    rows: list[dict[str, Any]] = []
    weights: list[int] = []
    for number, some in enumerate(counts):
        rows += [{"q": number, "s": value} for value in range(len(some))] or [
            {"q": number, "s": None}
        ]
        weights += some or [3]
    base = handmade(rows, weights=weights)
    return group(base, ["q"], as_they_are(base), "s")


many = st.lists(
    st.lists(st.one_of(st.integers(1, 6), st.integers(1, 10**9)), max_size=6),
    min_size=1,
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(many, st.integers(2, 5))
def test_distinct(counts: list[list[int]], least: int) -> None:
    found = distinct(groups_with(*counts), Fraction(least))
    values = [len(some) for some in counts]
    assert (found.l, values[found.number]) == (min(values), min(values))
    assert found.below.tolist() == [value < least for value in values]


@settings(max_examples=200, deadline=None)
@given(many, st.integers(2, 5), st.fractions(Fraction(1, 1000), 1000), st.booleans())
def test_recursive(counts: list[list[int]], least: int, c: Fraction, at_equality: bool) -> None:
    chosen = counts[0]
    if at_equality and sum(sorted(chosen, reverse=True)[least - 1 :]):
        c = Fraction(max(chosen), sum(sorted(chosen, reverse=True)[least - 1 :]))
    found = recursive(groups_with(*counts), Fraction(least), c)
    values = [oracle.recursive_value(some, c) for some in counts]
    assert (found.l, values[found.number]) == (min(values), min(values))
    assert found.below.tolist() == [not oracle.recursive_holds(some, c, least) for some in counts]


@pytest.mark.parametrize("c", [Fraction(10**40, 10**40 - 1), Fraction(1, 10**30), Fraction(10**25)])
def test_recursive_with_numbers_beyond_64_bits(c: Fraction) -> None:
    counts = [[10**15, 10**15], [5, 4, 3], [10**18, 1], [7]]
    found = recursive(groups_with(*counts), Fraction(2), c)
    assert found.below.tolist() == [not oracle.recursive_holds(some, c, 2) for some in counts]


dont_care = st.sets(st.integers(0, 5), max_size=4)


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 9), max_size=6), min_size=1, max_size=5),
    st.integers(2, 6),
    st.fractions(Fraction(1, 9), 9),
    dont_care,
)
def test_pd_recursive(counts: list[list[int]], least: int, c: Fraction, harmless: set[int]) -> None:
    """Definition 3.9, with values named by their place."""
    found = recursive(groups_with(*counts), Fraction(least), c, tuple(harmless))
    expected = [
        oracle.pd_recursive_holds(dict(enumerate(some)), c, least, harmless) for some in counts
    ]
    assert found.below.tolist() == [not holds for holds in expected]


def test_entropic_at_random_and_at_equality() -> None:
    rng = random.Random(11)
    for _ in range(400):
        counts = [
            [rng.randint(1, rng.choice([2, 5, 40])) for _ in range(rng.randint(0, 5))]
            for _ in range(rng.randint(1, 6))
        ]
        chosen = rng.choice(counts)
        near = Fraction(oracle.entropy_value(chosen).quantize(oracle.Decimal("1e-12")))
        least = max(
            Fraction(101, 100),
            rng.choice(
                [
                    near,
                    Fraction(round(near)),
                    near + Fraction(rng.choice([-1, 1]), 10**12),
                    Fraction(5, 2),
                ]
            ),
        )
        found = entropic(groups_with(*counts), least)
        assert found.below.tolist() == [not oracle.entropy_holds(some, least) for some in counts], (
            counts,
            least,
        )
        true = min(oracle.entropy_value(some) for some in counts)
        assert found.l <= true + oracle.Decimal("1e-40") < found.l + oracle.Decimal("0.0001")


def test_near_ties_among_hundreds_of_millions_of_people() -> None:
    """The second group is less diverse by 7e-10 and is the only one that fails:
    it is the witness.
    """
    counts = [[3 * 10**8, 10**8], [3 * 10**8 + 1, 10**8]]
    first, second = (Fraction(oracle.entropy_value(some)) for some in counts)
    assert 0 < first - second < Fraction(1, 10**8)
    found = entropic(groups_with(*counts), (first + second) / 2)
    assert found.below.tolist() == [False, True]
    assert found.number == 1


def test_many_different_values_are_still_decided_exactly() -> None:
    """Sums of many logarithms lose digits in floats;
    n people with n values are exactly n-diverse.
    """
    number = 20_000
    found = entropic(groups_with([1] * number), Fraction(number))
    assert (found.below.tolist(), found.l) == ([False], number)
    found = entropic(groups_with([1] * (number - 1) + [2]), Fraction(number))
    assert found.below.tolist() == [True]
