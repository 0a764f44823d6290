"""Kinds: which values and columns can be compared, and how a written constant is read for a column.

Engines turn a quoted constant into the type of the column beside it; so do we, where the result is
the same on all of them. Where it is not, the comparison is left to the engine.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

FAMILIES: Mapping[str, str] = {
    "integer": "number",
    "decimal": "number",
    "text": "text",
    "date": "date",
    "timestamp": "timestamp",
    "boolean": "boolean",
    "distribution": "distribution",
}
ENGINE = "engine"  # the kind of a column whose values only the database compares
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?")
MOST_DIGITS = 38
BOOLEANS = {"true": True, "false": False, "t": True, "f": False}


class Clash(ValueError):
    """A constant that can be no value of the column."""


def family(kind: str | None) -> str | None:
    """What a type is compared as.

    >>> family("integer"), family("decimal"), family(None)
    ('number', 'number', None)
    """
    return FAMILIES.get(kind) if kind else None


def family_of(value: Any) -> str | None:
    """What a constant is compared as; NULL goes with everything.

    >>> family_of(1), family_of("x"), family_of(True), family_of(None)
    ('number', 'text', 'boolean', None)
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | Decimal):
        return "number"
    if isinstance(value, dt.datetime):
        return "timestamp"
    return "date" if isinstance(value, dt.date) else "text"


def number(written: str) -> int | Decimal:
    """A number as exact as it was written.

    >>> number("1"), number("1.50"), number("2.0"), number("1e2")
    (1, Decimal('1.50'), 2, 100)
    """
    value = Decimal(written)
    return int(value) if value == value.to_integral_value() else value


def day(written: str) -> dt.date | None:
    """The day that a text names, if it names one.

    >>> day("1994-01-01"), day("tomorrow")
    (datetime.date(1994, 1, 1), None)
    """
    found = DAY.fullmatch(written.strip())
    try:
        return dt.date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def moment(written: str) -> dt.datetime | None:
    """The moment that a text names, if it names one without a time zone,
    and as finely as databases keep it.

    >>> (
    ...     moment("2020-01-01 10:00:00.5"),
    ...     moment("2020-01-01 10:00:00.0000019"),
    ...     moment("20200101T10"),
    ... )
    (datetime.datetime(2020, 1, 1, 10, 0, 0, 500000), None, None)
    """
    if (at := day(written)) is not None:
        return dt.datetime(at.year, at.month, at.day)
    if not MOMENT.fullmatch(written.strip()):
        return None  # databases round, cut or read it in other ways
    try:
        found = dt.datetime.fromisoformat(written.strip())
    except ValueError:
        return None
    return found if found.tzinfo is None else None


def fitted(value: Any, kind: str | None) -> tuple[bool, Any]:
    """A constant as a value of a column:
    (True, the value), or (False, None) where only the engine knows.

    >>> fitted("12", "integer"), fitted(12, "text"), fitted("1994-01-01", "date")
    ((True, 12), (False, None), (True, datetime.date(1994, 1, 1)))
    >>> fitted("x", "integer")
    Traceback (most recent call last):
    tacit.families.queries.kinds.Clash: 'x' is no number
    """
    wanted, found = family(kind), family_of(value)
    if wanted is None or found is None or wanted == found:
        return True, value
    if found == "date" and wanted == "timestamp":
        return True, dt.datetime(value.year, value.month, value.day)
    if not isinstance(value, str):
        return False, None
    return _quoted(value, wanted)


def _quoted(written: str, wanted: str) -> tuple[bool, Any]:
    if wanted == "number":
        if not NUMBER.fullmatch(written.strip()):
            raise Clash(f"{written!r} is no number")
        # '12.7' is 13 beside a whole number on some engines, and 12.7 on others.
        return ("." not in written and "e" not in written.lower()), number(written.strip())
    if wanted in ("date", "timestamp"):
        if not re.search(r"\d", written):
            raise Clash(f"{written!r} is no {wanted}")
        found: Any = day(written) if wanted == "date" else moment(written)
        return found is not None, found
    if wanted == "boolean":
        if written.strip().lower() not in BOOLEANS:
            raise Clash(f"{written!r} is neither true nor false")
        return True, BOOLEANS[written.strip().lower()]
    return False, None


def domain_value(value: Any, kind: str | None) -> Any:
    """A value that a plan lists in a domain, as the column has it;
    Clash where that would change it, or cannot be.

    >>> (
    ...     domain_value(13053, "text"),
    ...     domain_value("12", "integer"),
    ...     domain_value("1.50", "decimal"),
    ...     domain_value("2020-01-01", "date"),
    ... )
    ('13053', 12, Decimal('1.50'), datetime.date(2020, 1, 1))
    >>> domain_value(12.5, "integer")
    Traceback (most recent call last):
    tacit.families.queries.kinds.Clash: 12.5 is no whole number
    """
    wanted, found = family(kind), family_of(value)
    value = Decimal(str(value)) if isinstance(value, float) else value
    if wanted == "text" and found == "number":
        if "E" in str(value):
            raise Clash(f"{value} is a number, and could be written in other ways")
        return str(value)
    if wanted == "number" and found in ("number", "text"):
        return _number_of(value, str(kind))
    fits, fit = fitted(value, kind)
    if not fits or (
        wanted is not None
        and family_of(fit) not in (wanted, None)
        and wanted in FAMILIES.values()
        and wanted != "distribution"
    ):
        raise Clash(f"{value!r} is not of type {kind}")
    return fit


def _number_of(value: Any, kind: str) -> int | Decimal:
    """A number with as many digits as some engine has."""
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()):
        raise Clash(f"{value!r} is no number")
    found = Decimal(value.strip() if isinstance(value, str) else value)
    if found.adjusted() >= MOST_DIGITS or -int(found.as_tuple().exponent) > MOST_DIGITS:
        raise Clash(
            f"this number has more than {MOST_DIGITS} digits before or behind the point, which no "
            "database has"
        )
    if kind == "integer" and found != found.to_integral_value():
        raise Clash(f"{value} is no whole number")
    return number(str(found))


def order(left: Any, right: Any) -> int | None:
    """-1, 0 or 1 as the first of two constants is less, equal or greater;
    None where they do not compare.

    >>> order(1, Decimal("1.5")), order("b", "a"), order(1, "1")
    (-1, 1, None)
    """
    if family_of(left) != family_of(right) or left is None or right is None:
        return None
    return 0 if left == right else (-1 if left < right else 1)
