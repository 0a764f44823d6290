"""What may stay of zip codes, dates and ages: 45 CFR 164.514(b)(2)(i)(B) and (C).

Each rule looks at a label as the release shows it. What it does not understand may not stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date
from typing import Any

from tacit.families.identifiers.column_words import words

HIDDEN = re.compile(r"[*xX#?]*")
OLDEST = 89  # years; who is older is one of a single category

# Areas of three digits with 20,000 people or fewer: those that the guidance of the Department of
# Health and Human Services (2012) lists by the census of 2000, and those that others list by that
# of 2010. The files of the census itself were not read.
SMALL_AREAS = words(
    "036 059 063 102 203 205 369 556 692 753 772 790 821 823 830 831 878 879 884 890 893"
)
ZIP_MASKED = re.compile(r"(\d{0,3})([*xX#]{1,5})")
YEARS = re.compile(r"\D{0,2}(\d{4})(?:\D{1,5}(\d{4}))?\D{0,2}")
MONTHS = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june"
    r"|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
OLDER = re.compile(
    r"(?:(?P<more>>|over |above )|(?:>=|≥|from ))\s*(?P<after>\d+)"
    r"|(?P<before>\d+)\s*(?:\+|-\*?|(?:years? )?(?:or|and) (?:older|over|above|more))",
    re.IGNORECASE,
)
EARLIER = re.compile(
    r"(?:(?P<less><|before )|(?:<=|≤|until |to ))\s*(?P<after>\d{4})"
    r"|(?P<before>\d{4})\s*(?:or|and) (?:earlier|before)",
    re.IGNORECASE,
)


def is_hidden(value: Any) -> bool:
    """Does a label show nothing?

    >>> is_hidden("*"), is_hidden("130**"), is_hidden(None)
    (True, False, True)
    """
    return value is None or (isinstance(value, str) and HIDDEN.fullmatch(value.strip()) is not None)


def zip_may_stay(value: Any) -> bool:
    """The first three digits of a zip code, of an area that is large enough; else 000.

    A number lost its zeros at the front, and so may a masked one of four signs.

    >>> [zip_may_stay(one) for one in ("130**", "130", "000", "13053", "036**", 13053, "36**")]
    [True, True, True, False, False, False, False]
    """
    if isinstance(value, int):
        return value <= 500 and f"{value:03}" not in SMALL_AREAS  # no zip code is as small
    text = str(value).strip()
    if re.fullmatch(r"\d{1,3}", text):
        return text not in SMALL_AREAS
    masked = ZIP_MASKED.fullmatch(text)
    if masked is None or len(text) not in (4, 5):
        return masked is not None and not masked[1]
    digits = "0" + masked[1] if len(text) == 4 else masked[1]
    return len(digits) <= 3 and digits not in SMALL_AREAS


def date_may_stay(value: Any) -> bool:
    """A year, years from and to, or a word without digits that is no month.

    >>> [date_may_stay(one) for one in ("1985", "1980-1989", 1985, "1985-07", "May", "emergency")]
    [True, True, True, False, False, True]
    """
    if isinstance(value, date):  # so is a datetime
        return False
    text = str(value).strip()
    if not re.search(r"\d", text):
        return MONTHS.search(text) is None
    if EARLIER.fullmatch(text) or OLDER.fullmatch(text):
        return all(is_year(one) for one in NUMBER.findall(text))
    found = YEARS.fullmatch(text)
    return found is not None and all(is_year(one) for one in found.groups() if one)


def is_year(text: str) -> bool:
    """Four digits that can be a year of somebody's life."""
    return re.fullmatch(r"1[89]\d\d|20\d\d", text) is not None


def ages_that_stay_not(values: Collection[Any]) -> list[Any]:
    """The ages that say of somebody more than that they are 90 or older. One category without end
    may stay, if it begins at 90 or earlier.

    >>> ages_that_stay_not([43, 90, "80-89", "85-94", "90+"])
    [90, '85-94']
    >>> ages_that_stay_not(["85+", "90+"]), ages_that_stay_not([">=65", "40-64"])
    (['85+', '90+'], [])
    """
    found: list[Any] = []
    ends: list[Any] = []
    for value in values:
        text = str(value).strip()
        if older := OLDER.fullmatch(text):
            least = int(older["after"] or older["before"]) + (1 if older["more"] else 0)
            (ends if least <= OLDEST + 1 else found).append(value)
        elif greatest_number(text) > OLDEST:
            found.append(value)
    return found + (ends if len(ends) > 1 else [])


def greatest_number(text: str) -> float:
    """The greatest number of a label, without an end that does not belong to it; 0 without one."""
    numbers = [float(one) for one in NUMBER.findall(text)]
    if text.endswith((")", "[")) and len(numbers) > 1:
        numbers[-1] = max(numbers[-1] - 1, numbers[0])
    return max(numbers, default=0.0)


def births_that_stay_not(values: Collection[Any], year: int) -> list[Any]:
    """The years of birth that say in a year that somebody is over 89. One category without
    beginning may stay, if it ends late enough.

    >>> births_that_stay_not(["1980", "1930", "1930-1939", "1936 or earlier"], 2026)
    ['1930', '1930-1939']
    """
    found: list[Any] = []
    ends: list[Any] = []
    for value in values:
        text = str(value).strip()
        if earlier := EARLIER.fullmatch(text):
            last = int(earlier["after"] or earlier["before"]) - (1 if earlier["less"] else 0)
            (ends if year - last <= OLDEST + 1 else found).append(value)
        elif any(is_year(one) and year - int(one) > OLDEST for one in NUMBER.findall(text)):
            found.append(value)
    return found + (ends if len(ends) > 1 else [])
