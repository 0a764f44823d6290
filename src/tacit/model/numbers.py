"""Exact numbers: thresholds in, fractions and safely rounded decimals out.

Decimal parameters are decimals: 0.1 means 1/10, never the nearest binary float.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(/\d+)?|[+-]?\d+/\d+")

EXPONENT = re.compile(r"[eE][+-]?(\d+)")
LEAST_SHARE = Fraction(1, 10**7)  # smaller ones have too many zeros to read
MOST_DIGITS = 9
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
    # numpy's floats are floats that print otherwise
    text = repr(float(value)) if isinstance(value, float) else str(value).strip()
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


def percent(
    value: Fraction | float | Decimal | str, *, down: bool = False, beside: Fraction | None = None
) -> str:
    """A share in percent with two significant digits, rounded up, or `down`;
    0 % and 100 % only when exact.

    Every share that people read is written here. What somebody believes afterwards, a risk and a
    loss are rounded up, and so never understated; what was believed before is rounded `down` (see
    `percents`). Near 100 % and near `beside`, a limit, there are as many digits as tell them apart.

    >>> (
    ...     percent(Fraction(5, 12)),
    ...     percent(Fraction(14, 45222)),
    ...     percent(Fraction(14, 45222), down=True),
    ...     percent(1),
    ... )
    ('42 %', '0.031 %', '0.03 %', '100 %')
    >>> (
    ...     percent(Fraction(9997, 10000)),
    ...     percent(Fraction(9997, 10000), down=True),
    ...     percent("1.234"),
    ...     percent(0.5),
    ... )
    ('99.97 %', '99 %', '124 %', '50 %')
    >>> (
    ...     percent(Fraction(4999, 10000), beside=Fraction(1, 2)),
    ...     percent(Fraction(1, 10**30)),
    ...     percent(1 - Fraction(1, 10**30)),
    ... )
    ('49.99 %', 'under 0.00001 %', 'over 99.999999 %')
    """
    # A float that was computed is a little more or less than what is meant:
    # 0.30000000000000004 is 30 %.
    share = (
        value
        if isinstance(value, Fraction)
        else exact(f"{value:.12g}" if isinstance(value, float) else value)
    )
    if share < 0:
        return f"-{percent(-share, down=not down, beside=beside)}"
    if share in (0, 1):
        return f"{share * 100} %"
    if share < LEAST_SHARE:
        return f"under {plain(LEAST_SHARE * 100)} %"
    for digits in range(2, MOST_DIGITS):
        rounded = significant(share, digits + (share > 1), down=down)
        if rounded not in (1, beside):
            return f"{plain(rounded * 100)} %"
    return f"{plain(share * 100)} %" if share == beside else "over 99.999999 %"


def percents(before: Fraction, *after: Fraction) -> tuple[str, ...]:
    """A belief before, and after each step, rounded so that what is learned never looks smaller;
    one that stayed does not look as if it had moved.

    >>> (
    ...     percents(Fraction(1, 7), Fraction(4, 9)),
    ...     percents(Fraction(4, 9), Fraction(1, 7)),
    ...     percents(Fraction(1, 3), Fraction(1, 3)),
    ... )
    (('14 %', '45 %'), ('45 %', '14 %'), ('34 %', '34 %'))
    >>> percents(Fraction(1, 3), Fraction(1, 3), Fraction(2, 3))
    ('33 %', '33 %', '67 %')
    """
    first = percent(before, down=bool(after) and before < after[-1])
    return first, *(first if one == before else percent(one, down=one < before) for one in after)


def percent_exactly(value: Fraction) -> str:
    """A limit, as it was asked for: in percent where that is a short decimal, else the fraction.

    >>> percent_exactly(Fraction(3, 4)), percent_exactly(Fraction(2, 3))
    ('75 %', '2/3')
    """
    return f"{plain(value * 100)} %" if 10**6 % (value * 100).denominator == 0 else plain(value)


def significant(value: Fraction, digits: int, *, down: bool) -> Fraction:
    """A number above 0 with so many significant digits.

    >>> significant(Fraction(1, 3), 2, down=False), significant(Fraction(1, 300), 2, down=True)
    (Fraction(17, 50), Fraction(33, 10000))
    """
    power = (
        len(str(value.numerator // value.denominator))
        if value >= 1
        else 1 - len(str(-(-value.denominator // value.numerator) - 1))
    )
    unit = Fraction(10) ** (power - digits)
    return (value // unit if down else -(-value // unit)) * unit
