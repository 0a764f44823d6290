"""Exact numbers in and out: 0.1 is a tenth, and what is printed is what was meant."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.model.numbers import exact, fraction_text, percent, plain


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1/3", Fraction(1, 3)),
        (" 1/3 ", Fraction(1, 3)),
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (0.30000000000000004, Fraction("0.30000000000000004")),
        ("1e-5", Fraction(1, 100_000)),
        (1e-5, Fraction(1, 100_000)),
        (1e22, Fraction(10**22)),
        ("-2.50", Fraction(-5, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        (4, Fraction(4)),
        (Decimal("2.80"), Fraction(14, 5)),
        (Fraction(2, 6), Fraction(1, 3)),
        (10**40, Fraction(10**40)),
    ],
)
def test_thresholds_are_read_as_written(written: object, meant: Fraction) -> None:
    assert exact(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "many",
        "",
        "1/0",
        "0/0",
        "1,5",
        "1 000",
        "1_000",
        "nan",
        "inf",
        float("nan"),
        float("inf"),
        True,
        False,
        None,
        [1],
        "1/2/3",
        "--1",
        "0x10",
        "50%",
        "2.5/3",
        "1e3/7",
        Decimal("NaN"),
        Decimal("Infinity"),
        "1/-3",
    ],
)
def test_what_is_no_number_is_refused_with_a_value_error(written: object) -> None:
    with pytest.raises(ValueError) as caught:
        exact(written)
    assert type(caught.value) is ValueError


@settings(deadline=None)
@given(st.fractions())
def test_fractions_survive_being_written(value: Fraction) -> None:
    assert exact(fraction_text(value)) == value
    assert exact(plain(value)) == value


@settings(deadline=None)
@given(st.integers(-(10**60), 10**60), st.integers(0, 6))
@example(10**30 + 1, 0)
@example(10**30 + 1, 1)
def test_decimals_of_any_length_are_printed_in_full(number: int, digits: int) -> None:
    value = Fraction(number, 10**digits)
    assert Fraction(plain(value)) == value


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_short_decimals_are_printed_as_decimals(value: Decimal) -> None:
    assert "/" not in plain(Fraction(value))
    assert "e" not in plain(Fraction(value)).lower()


def test_a_decimal_context_set_elsewhere_in_the_program_changes_nothing() -> None:
    with decimal.localcontext() as context:
        context.prec = 3
        assert plain(Fraction(123_456)) == "123456"
        assert plain(Fraction("1234.5678")) == "1234.5678"
        assert exact("1234.5678") == Fraction("1234.5678")


@settings(deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_percent_says_0_and_100_only_when_exact(part: int, whole: int) -> None:
    share = Fraction(min(part, whole), whole)
    said = percent(share)
    assert (said == "0 %") == (share == 0)
    assert (said == "100 %") == (share == 1)
    shown = Fraction(said.removeprefix("under ").removeprefix("over ").removesuffix(" %"))
    assert shown >= share * 100 or said.startswith("over ")
    assert shown <= share * 110 or said.startswith("under ")
