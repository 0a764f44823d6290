"""Values of other programs as text, each as a CSV file would have it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any


def text_of(value: Any) -> str | None:
    """A value as text; None where there is none.

    >>> [text_of(one) for one in (3.0, 0.1, True, float("nan"), None, "")]
    ['3', '0.1', 'true', None, None, None]
    >>> text_of(datetime(2024, 2, 29, 13, 5)), text_of(date(2024, 2, 29)), text_of(1e21)
    ('2024-02-29 13:05:00', '2024-02-29', '1000000000000000000000')
    """
    if value is None or value != value or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(repr(value))
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time | timedelta | int | str):
        return str(value)
    return text_of(value.item()) if hasattr(value, "item") else str(value)


def number_text(written: str) -> str:
    """A float as digits, without an exponent, and without a point where it is whole.

    >>> number_text("39.0"), number_text("1e-07"), number_text("-0.0"), number_text("inf")
    ('39', '0.0000001', '0', 'inf')
    """
    number = Decimal(written)
    if not number.is_finite():
        return written
    if number == number.to_integral_value():
        return f"{int(number)}"
    return f"{number:f}"
