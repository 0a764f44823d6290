"""Exact numbers: thresholds in, fractions and safely rounded decimals out.

Decimal parameters are decimals: 0.1 means 1/10, never the nearest binary float.
"""

from __future__ import annotations

import re
from fractions import Fraction

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(/\d+)?|[+-]?\d+/\d+")

EXPONENT = re.compile(r"[eE][+-]?(\d+)")
LARGEST_EXPONENT = 400  # a fraction of 1e-999999999 would fill the memory


def exact(value: object) -> Fraction:
    """Read a threshold as an exact fraction.

    Floats are read by their shortest decimal form, so 0.1 is 1/10.

    >>> exact("1/3"), exact(0.1), exact("2.8"), exact(4)
    (Fraction(1, 3), Fraction(1, 10), Fraction(14, 5), Fraction(4, 1))
    >>> exact("many")
    Traceback (most recent call last):
    ValueError: 'many' is not a number; write a decimal such as 0.5 or a fraction such as "1/3"
    >>> exact("1e-999999999")
    Traceback (most recent call last):
    ValueError: '1e-999999999' is too long to be worked with exactly
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    text = repr(value) if isinstance(value, float) else str(value).strip()
    if isinstance(value, bool) or not NUMBER.fullmatch(text):
        raise ValueError(
            f'{value!r} is not a number; write a decimal such as 0.5 or a fraction such as "1/3"'
        )
    exponent = EXPONENT.search(text)
    if exponent and (len(exponent[1]) > 6 or int(exponent[1]) > LARGEST_EXPONENT):
        raise ValueError(f"{value!r} is too long to be worked with exactly")
    if "/" in text and int(text.rsplit("/", 1)[1]) == 0:
        raise ValueError(f"{value!r} divides by zero")
    return Fraction(text)


def fraction_text(value: Fraction | int) -> str:
    """How a verdict writes an exact number.

    >>> fraction_text(Fraction(4, 5)), fraction_text(Fraction(4, 1)), fraction_text(7)
    ('4/5', '4', '7')
    """
    exact = Fraction(value)
    return digits(exact.numerator) + (
        f"/{digits(exact.denominator)}" if exact.denominator != 1 else ""
    )


def digits(number: int) -> str:
    """An integer as text, however long: Python itself refuses more than 4,300 digits.

    >>> digits(-7), len(digits(10**5000))
    ('-7', 5001)
    """
    if number < 0:
        return f"-{digits(-number)}"
    if number < 10**4000:
        return str(number)
    half = number.bit_length() * 30103 // 200000
    high, low = divmod(number, 10**half)
    return digits(high) + digits(low).zfill(half)


def plain(value: Fraction | int) -> str:
    """How a person reads an exact number: a short decimal where there is one, else a fraction.

    >>> plain(Fraction(14, 5)), plain(Fraction(1, 3)), plain(4)
    ('2.8', '1/3', '4')
    """
    value = Fraction(value)
    for digits in range(7):
        if 10**digits % value.denominator == 0:
            whole, rest = divmod(abs(value.numerator) * 10**digits // value.denominator, 10**digits)
            point = f".{rest:0{digits}}" if digits else ""
            return f"{'-' if value < 0 else ''}{whole}{point}"
    return str(value)


def percent(value: Fraction, *, up: bool = False) -> str:
    """A share in whole percent, as a person reads it; 0 % and 100 % only when exact. A bound is rounded `up`, and never understated.

    >>> percent(Fraction(5, 12)), percent(Fraction(999, 1000)), percent(Fraction(1))
    ('42 %', '99 %', '100 %')
    >>> percent(Fraction(5, 8)), percent(Fraction(5, 8), up=True)
    ('62 %', '63 %')
    >>> percent(Fraction(998, 1000), up=True)
    '99.8 %'
    """
    rounded = -(-value.numerator * 100 // value.denominator) if up else round(value * 100)
    if up and Fraction(99, 100) < value < 1:
        return _nearly_all(value)
    if value not in (0, 1):
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"


def _nearly_all(value: Fraction) -> str:
    """A bound between 99 and 100 percent, with as many digits as it needs to stay below 100; 100 % where these are too many to read."""
    for places in range(1, 7):
        unit = 10**places
        rounded = -(-value.numerator * 100 * unit // value.denominator)
        if rounded < 100 * unit:
            return f"{plain(Fraction(rounded, unit))} %"
    return "100 %"
