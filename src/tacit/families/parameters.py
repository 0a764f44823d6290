"""Parameters of definitions: exact numbers within their range, or
an error that says what to use.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tacit.errors import ParameterError
from tacit.model.numbers import exact, plain


def number(
    name: str,
    value: Any,
    *,
    above: int | None = None,
    least: int | None = None,
    most: int | None = None,
    because: str = "is out of range",
) -> Fraction:
    """A parameter as an exact number, greater than `above`, from `least` to `most`.

    >>> number("l", "2.8", above=1)
    Fraction(14, 5)
    >>> number("t", 2, least=0, most=1)
    Traceback (most recent call last):
    tacit.errors.ParameterError: t=2 is out of range. Use 0 <= t <= 1.
    """
    try:
        given = exact(value)
    except ValueError as error:
        raise ParameterError(f"{name}: {error}.", parameter=name) from None
    inside = (
        (above is None or given > above)
        and (least is None or given >= least)
        and (most is None or given <= most)
    )
    if not inside:
        raise ParameterError(
            f"{name}={plain(given)} {because}.",
            parameter=name,
            hint=f"Use {bounds(name, above, least, most)}.",
        )
    return given


def whole(name: str, value: Any, *, least: int, because: str = "is out of range") -> int:
    """A parameter that counts something.

    >>> whole("k", "2.5", least=2)
    Traceback (most recent call last):
    tacit.errors.ParameterError: k=2.5 is not a whole number. Use k >= 2.
    """
    given = number(name, value)
    if given.denominator != 1:
        raise ParameterError(
            f"{name}={plain(given)} is not a whole number.",
            parameter=name,
            hint=f"Use {name} >= {least}.",
        )
    return int(number(name, given, least=least, because=because))


def bounds(name: str, above: int | None, least: int | None, most: int | None) -> str:
    """A range in words.

    >>> bounds("t", 0, None, 1)
    '0 < t <= 1'
    """
    if most is None:
        return f"{name} > {above}" if above is not None else f"{name} >= {least}"
    low = f"{above} < " if above is not None else f"{least} <= " if least is not None else ""
    return f"{low}{name} <= {most}"
