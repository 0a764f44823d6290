"""One value of the plan file: what it must be, and the words for what was found instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tacit.errors import did_you_mean
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.model.numbers import exact
from tacit.model.zones import time_zone

LONGEST_NUMBER = (
    60  # characters; 10**-60 is no threshold, and a fraction of 1e-999999999 fills the memory
)
LARGEST_EXPONENT = 400

# user:password@ in an address (host:port/...@ is none), and password=... as libpq also reads it.
PASSWORD = re.compile(
    r"(://[^/\s:@]*:)(?!\d+/)(.+)(?=@)|(password=)([^&\s\"']+)", re.IGNORECASE | re.DOTALL
)

EPSILON = (
    "a number above 0 and up to 700 such as 1, or ln(5): the logarithm of how much likelier "
    "an output may become"
)
FRACTION = 'a decimal such as 0.5 or a fraction in quotes such as "1/3"'


class UnfitError(ValueError):
    """A value that does not belong where it stands: what was found, and what to write instead.

    >>> unfit = UnfitError(3, "a name")
    >>> unfit.found, unfit.instead
    ('the number 3', 'a name')
    """

    def __init__(self, value: object, instead: str, *, near: str = "") -> None:
        self.found = quote_value(value)
        self.instead = instead
        self.hint = " ".join(part for part in (near, f"Write {instead}.") if part)
        super().__init__(f"found {self.found}")


def redact(text: str) -> str:
    """Cover passwords with stars of the same length, so that carets still point right.

    >>> redact("source: postgresql://ann:secret@db/clinic")
    'source: postgresql://ann:******@db/clinic'
    >>> redact("postgresql://db:5432/clinic")
    'postgresql://db:5432/clinic'
    """
    return PASSWORD.sub(
        lambda part: (part[1] or part[3]) + "*" * len(part[2] or part[4]),
        text,
    )


def quote_value(value: object) -> str:
    """A value as an error message names it.

    >>> [quote_value(value) for value in ("x", 3, Decimal("0.5"), None, True, [1], {})]
    ["'x'", 'the number 3', 'the number 0.5', 'nothing', 'true', 'a list', 'a mapping']
    """
    if isinstance(value, str):
        shown = redact(value)
        return repr(shown if len(shown) <= 60 else shown[:57] + "...")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | Decimal):
        return (
            f"the number {value}"
            if abs(value) < 10**LONGEST_NUMBER
            else f"a number of {Decimal(value).adjusted() + 1:,} digits"
        )
    if value is None:
        return "nothing"
    return "a list" if isinstance(value, list | tuple) else "a mapping"


def text(value: object, instead: str) -> str:
    """Text that is not empty.

    >>> text("zip", "a column")
    'zip'
    >>> text(13, "a column")
    Traceback (most recent call last):
    tacit.plan.read.values.UnfitError: found the number 13
    """
    if isinstance(value, str) and value.strip():
        return value
    raise UnfitError(value, instead)


def whole(value: object, instead: str) -> int:
    """A whole number from 0 on.

    >>> whole(2, "a level")
    2
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and re.fullmatch(r"\d+", value):
        instead += ", without quotes or leading zeros"
    raise UnfitError(value, instead)


def number(value: object, instead: str = FRACTION) -> Fraction:
    """An exact number: a decimal, or a fraction in quotes.

    >>> number(Decimal("2.8")), number("1/3"), number(4)
    (Fraction(14, 5), Fraction(1, 3), Fraction(4, 1))
    >>> number("1e-999999999")
    Traceback (most recent call last):
    tacit.plan.read.values.UnfitError: found '1e-999999999'
    """
    if isinstance(value, int | Decimal | str) and is_short_number(str(value)):
        try:
            return exact(value)
        except ValueError:
            pass
    raise UnfitError(value, instead)


def epsilon(value: object) -> Fraction | str:
    """An epsilon above 0: an exact number, or a logarithm as text.

    >>> epsilon(Decimal("4.6")), epsilon("LN( 50 )")
    (Fraction(23, 5), 'ln(50)')
    >>> epsilon("ln(1/2)")
    Traceback (most recent call last):
    tacit.plan.read.values.UnfitError: found 'ln(1/2)'
    """
    if (
        isinstance(value, int | Decimal | str)
        and not isinstance(value, bool)
        and is_short_number(str(value))
    ):
        try:
            one = Epsilon.read(value)
        except (ValueError, OverflowError):
            raise UnfitError(value, EPSILON) from None
        return one.value if one.value is not None else str(one)
    raise UnfitError(value, EPSILON)


def share(value: object) -> Fraction:
    """A share of the rows: a percentage, a decimal or a fraction, from 0 to less than 1.

    >>> share("5%"), share("1/20"), share(Decimal("0.05"))
    (Fraction(1, 20), Fraction(1, 20), Fraction(1, 20))
    """
    instead = 'a share of the rows such as "5%", 0.05 or "1/20"'
    if isinstance(value, str) and value.strip().endswith("%"):
        found = number(value.strip()[:-1].strip(), instead) / 100
    else:
        found = number(value, instead)
    if not 0 <= found < 1:
        raise UnfitError(value, f"{instead}, below 100%")
    return found


def is_short_number(written: str) -> bool:
    """Whether a number is short enough to be worked with exactly.

    >>> is_short_number("1e-5"), is_short_number("1e999999999")
    (True, False)
    """
    exponent = re.search(r"[eE][-+]?(\d+)", written)
    if exponent and (len(exponent[1]) > 6 or int(exponent[1]) > LARGEST_EXPONENT):
        return False
    return len(written) <= LONGEST_NUMBER


def listed(value: object, instead: str) -> tuple[Any, ...]:
    """A list; one text alone stands for a list of one.

    >>> listed("zip", "a column"), listed(["zip", "age"], "a column")
    (('zip',), ('zip', 'age'))
    """
    if isinstance(value, str) and value.strip():
        return (value,)
    if isinstance(value, list):
        return tuple(value)
    raise UnfitError(value, instead)


def items(value: object, instead: str) -> list[Any]:
    """A list, and nothing that could stand for one."""
    if isinstance(value, list):
        return value
    raise UnfitError(value, instead)


def mapping(value: object, instead: str) -> dict[Any, Any]:
    """Keys and values."""
    if isinstance(value, dict):
        return value
    raise UnfitError(value, instead)


def choice(value: object, choices: Iterable[str]) -> str:
    """One of a few words.

    >>> choice("entropi", ("distinct", "entropy"))
    Traceback (most recent call last):
    tacit.plan.read.values.UnfitError: found 'entropi'
    """
    words = list(choices)
    if isinstance(value, str) and value in words:
        return value
    near = did_you_mean(value, words) if isinstance(value, str) else ""
    raise UnfitError(value, either(words), near="" if near.startswith("Known") else near)


def either(words: Iterable[str], last: str = "or") -> str:
    """Words as a sentence lists them.

    >>> either(["distinct", "entropy", "recursive"]), either(["k", "l"], "and"), either(["k"])
    ('distinct, entropy or recursive', 'k and l', 'k')
    """
    *most, end = words
    return f"{', '.join(most)} {last} {end}" if most else end


def repeated(names: Iterable[Any]) -> list[tuple[int, Any]]:
    """Names that stand in a list a second time, with their positions.

    >>> repeated(["zip", "age", "zip"])
    [(2, 'zip')]
    """
    seen: set[Any] = set()
    again = []
    for position, name in enumerate(names):
        if name in seen:
            again.append((position, name))
        seen.add(name)
    return again


def day(value: object) -> date:
    """A day of the calendar.

    >>> day("2030-01-31")
    datetime.date(2030, 1, 31)
    """
    instead = "a day as year-month-day, e.g. 2030-01-31"
    try:
        found = date.fromisoformat(text(value, instead))
    except ValueError:
        raise UnfitError(value, instead) from None
    if found.isoformat() != value:  # 20300131 and 2030-W05-4 are days too
        raise UnfitError(value, instead)
    return found


def zone(value: object) -> str:
    """The name of a time zone.

    >>> zone("Europe/Paris")
    'Europe/Paris'
    """
    try:
        time_zone(str(value))
    except ValueError:
        raise UnfitError(value, "the name of a time zone such as Europe/Paris, or UTC") from None
    return str(value)
