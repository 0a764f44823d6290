"""Entropy diversity is decided as the integers say, at every size, and never rounded up."""

from __future__ import annotations

import decimal
import random
from decimal import Decimal
from fractions import Fraction
from math import isqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.microdata import entropy_holds, entropy_value
from tacit.families.microdata.definitions.entropy import (
    coprime_base,
    diversity,
    is_diverse,
    is_equal,
)

STEP = Decimal("0.0001")


def close_thresholds(rng: random.Random, counts: list[int]) -> list[Fraction]:
    """Thresholds around the true value: far, near, and as near as 60 digits go."""
    value = Fraction(entropy_value(counts, 70))
    return [
        Fraction(rng.randint(2, 90), rng.randint(1, 12)) + 1,
        Fraction(round(value)) if round(value) > 1 else Fraction(2),
        value + Fraction(rng.choice([-1, 1]), 10 ** rng.randint(2, 50)),
        Fraction(round(value * 10**4), 10**4),
    ]


def test_decisions_are_those_of_the_integer_formula() -> None:
    rng = random.Random(1)
    for _ in range(800):
        counts = [rng.randint(1, rng.choice([3, 9, 40])) for _ in range(rng.randint(1, 9))]
        for least in close_thresholds(rng, counts):
            assert is_diverse(counts, least) == entropy_holds(counts, least), (counts, least)


# Counts with a diversity that is a whole number, apart from equal ones.
EXACT = [
    ([4, 1, 1, 1, 1], 4),
    ([8, 2, 2, 2, 2], 4),
    ([2, 2, 2], 3),
    ([7], 1),
    ([1] * 30, 30),
    ([4, 4, *[1] * 8], 8),
]


@pytest.mark.parametrize(("counts", "value"), EXACT)
def test_equality_holds_and_a_hair_more_does_not(counts: list[int], value: int) -> None:
    assert is_diverse(counts, Fraction(value))
    assert not is_diverse(counts, value + Fraction(1, 10**300))
    assert is_equal(counts, Fraction(value))
    assert diversity(counts) == value


def exact_cases() -> list[tuple[list[int], Fraction]]:
    """All small counts, by brute force, whose diversity is a fraction with denominator up to 4."""
    found = []
    for total in range(2, 17):
        for counts in partitions(total, total):
            value = entropy_value(counts, 40)
            for bottom in range(1, 5):
                near = Fraction(round(value * bottom), bottom)
                if (
                    near > 1
                    and entropy_holds(counts, near)
                    and not entropy_holds(counts, near + Fraction(1, 10**30))
                ):
                    found.append((counts, near))
                    break
    return found


def partitions(total: int, most: int) -> list[list[int]]:
    if total == 0:
        return [[]]
    return [
        [first, *rest]
        for first in range(min(total, most), 0, -1)
        for rest in partitions(total - first, first)
    ]


def test_every_small_table_that_meets_a_threshold_exactly() -> None:
    cases = exact_cases()
    assert any(len(set(counts)) > 1 for counts, _ in cases)
    for counts, value in cases:
        for times in (1, 3, 1_000_003):
            many = [count * times for count in counts]
            assert is_diverse(many, value), (many, value)
            assert not is_diverse(many, value + Fraction(1, 10**40)), (many, value)


def test_millions_of_people_and_a_difference_of_one() -> None:
    rng = random.Random(2)
    for _ in range(40):
        number, values = rng.randint(10**6, 10**7), rng.randint(2, 12)
        counts = [number] * values
        assert is_diverse(counts, Fraction(values))
        counts[rng.randrange(values)] += rng.choice([-1, 1])
        assert not is_diverse(counts, Fraction(values))
        assert diversity(counts) == values - STEP


def test_near_ties_of_large_counts_are_decided_as_exact_integers_would() -> None:
    """The integers have tens of thousands of digits here, which is as far as the formula itself
    can be followed.
    """
    rng = random.Random(3)
    for _ in range(30):
        counts = [rng.randint(1, 400) for _ in range(rng.randint(2, 8))]
        value = Fraction(entropy_value(counts, 80))
        for least in (
            value + Fraction(1, 10**70),
            value - Fraction(1, 10**70),
            Fraction(round(value * 10**12), 10**12),
        ):
            assert is_diverse(counts, least) == entropy_holds(counts, least), (counts, least)


def test_convergents_come_as_near_as_fractions_can() -> None:
    """2,1,1 is 2^(3/2)-diverse: irrational, and the convergents of
    the square root of 8 straddle it.
    """
    top, bottom = 3, 1  # 3/1, then (3p + 8q)/(p + 3q): solutions of p^2 - 8q^2 = 1
    for _ in range(60):
        assert top * top - 8 * bottom * bottom == 1
        assert not is_diverse([2, 1, 1], Fraction(top, bottom))
        below = Fraction(8 * bottom, top)
        assert is_diverse([2, 1, 1], below)
        top, bottom = 3 * top + 8 * bottom, top + 3 * bottom
    scale = 10**200
    root = isqrt(8 * scale * scale)
    assert is_diverse([2, 1, 1], Fraction(root, scale))
    assert not is_diverse([2, 1, 1], Fraction(root + 1, scale))


@settings(max_examples=400, deadline=None)
@given(st.lists(st.integers(1, 10**7), min_size=1, max_size=12))
def test_diversity_is_rounded_down_and_by_less_than_a_step(counts: list[int]) -> None:
    told = diversity(counts)
    true = entropy_value(counts, 60)
    slack = Decimal("1e-45")  # the oracle's own rounding
    assert told <= true + slack
    assert told + STEP > true - slack
    assert told >= 1


def test_diversity_of_small_counts_is_exactly_the_floor() -> None:
    rng = random.Random(4)
    for _ in range(600):
        counts = [rng.randint(1, 30) for _ in range(rng.randint(1, 7))]
        told = Fraction(diversity(counts))
        assert entropy_holds(counts, told)
        assert not entropy_holds(counts, told + Fraction(STEP))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.integers(2, 50), st.randoms())
def test_scale_and_order_do_not_matter(counts: list[int], times: int, rng: random.Random) -> None:
    shuffled = counts[:]
    rng.shuffle(shuffled)
    assert (
        diversity(counts) == diversity(shuffled) == diversity([count * times for count in counts])
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(1, 10**6), max_size=8))
def test_a_coprime_base_is_coprime_and_generates(numbers: list[int]) -> None:
    from math import gcd

    base = coprime_base(numbers)
    assert all(gcd(one, other) == 1 for i, one in enumerate(base) for other in base[:i])
    for number in numbers:
        for one in base:
            while number % one == 0:
                number //= one
        assert number == 1


@pytest.mark.parametrize("digits", [3, 5, 9])
def test_a_decimal_context_set_elsewhere_in_the_program_changes_nothing(digits: int) -> None:
    counts = [10_000_019, 9_999_991, 5_000_011, 77, 3]
    expected = diversity(counts), is_diverse(counts, Fraction(28, 10)), diversity([1] * 12_345)
    with decimal.localcontext() as context:
        context.prec = digits
        assert (
            diversity(counts),
            is_diverse(counts, Fraction(28, 10)),
            diversity([1] * 12_345),
        ) == expected
