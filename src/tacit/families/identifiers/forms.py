"""Forms: values that look like an identifier, whatever their column is called.

A bare number can be anything, so of numbers only those of cards are recognised, by their check
digit. A form that is found inside of a longer text counts, and so does one in other signs for the
same: dashes, spaces, digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from ipaddress import AddressValueError, IPv6Address
from typing import Any

from tacit.families.identifiers.kinds import (
    ACCOUNTS,
    DATES,
    DEVICES,
    EMAILS,
    IPS,
    OTHERS,
    PHONES,
    PHOTOS,
    PLACES,
    RECORDS,
    SOCIAL,
    URLS,
    VEHICLES,
    IdentifierKind,
)

OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
STREET = r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|boulevard|blvd|court|highway|hwy)"
YEAR = r"(?:1[89]|20)\d\d"
TH = r"(?:st|nd|rd|th)?"
PATTERNS: tuple[tuple[IdentifierKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (EMAILS, r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
        (URLS, r"\b(?:https?|ftp)://\S|\bwww\.[\w-]+\.\w"),
        (URLS, r"(?<![\w.@-])(?:[\w-]+\.)+(?:com|org|net|edu|gov)(?![\w-])"),
        (IPS, rf"(?<![\d.]){OCTET}(?:\.{OCTET}){{3}}(?![\d.])"),
        (DEVICES, r"(?<![0-9a-f:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![0-9a-f:-])"),
        (SOCIAL, r"(?<![\d-])\d{3}([ -])\d{2}\1\d{4}(?![\d-])|\bssn\b\D{0,5}\d{9}\b"),
        (RECORDS, r"\bmrn\b\W{0,5}(?:no\b\W{0,3})?\w*\d"),
        (PHONES, r"(?<![\w+-])(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ ./-])\d{3}[ .-]\d{4}(?![\w-])"),
        (PHONES, r"(?<![\w+])\+\d{1,3}[ .-]?\(?\d[\d ().-]{5,14}\d(?!\w)"),
        (PHONES, r"\b(?:tele)?(?:phone|fax|tel|cell|mobile)\b\W{0,3}\d[\d ()./-]{4,}\d"),
        (OTHERS, r"(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)"),
        (OTHERS, r"(?<!\w)(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?!\w)"),  # a hash
        (PHOTOS, r"data:image/|\w\.(?:jpe?g|png|gif|bmp|tiff?|heic|webp)\b"),
        (PLACES, r"(?<![\w-])\d{5}-\d{4}(?![\w-])|, *(?-i:[A-Z]{2}),? +\d{5}(?!\d)"),
        (PLACES, rf"\b\d+[a-z]? +(?:[\w.'-]+ +){{1,4}}{STREET}\b|\bp\. ?o\. ?box\b|\bpo box\b"),
        (PLACES, r"(?<![\d.])-?\d{1,2}\.\d{3,}[,; ]+-?\d{1,3}\.\d{3,}(?![\d.])"),
        (
            DATES,
            rf"(?<![\d.]){YEAR}([-/.])(?:0?[1-9]|1[0-2])"
            r"(?:\1(?:0?[1-9]|[12]\d|3[01]))?(?![\d.])",
        ),
        (
            DATES,
            r"(?<![\d./-])(?:0?[1-9]|[12]\d|3[01])([-/.])(?:0?[1-9]|[12]\d|3[01])\1"
            rf"(?:{YEAR}|\d\d)(?![\d./-])",
        ),
        (DATES, rf"(?<![\d./-])(?:0?[1-9]/|(?:0[1-9]|1[0-2])[/-]){YEAR}(?![\d./-])"),
        (DATES, rf"(?<!\d){YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)"),
        (DATES, rf"\b{YEAR}[ /-]?Q[1-4]\b|\bQ[1-4][ /-]?{YEAR}\b"),
        (DATES, rf"(?<![\w.])\d{{1,2}}{TH}(?: of)?[ .,/-]*{MONTH}(?![a-z])"),
        (DATES, rf"\b{MONTH}(?:[ .,/-]+|')(?:\d{{1,2}}{TH}|{YEAR})\b"),
    )
)
PLAIN_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
CARD = re.compile(r"(?<![\w.,-])\d(?:[ -]?\d){12,18}(?![\w-]|[.,]\d)")  # no part of a decimal
VIN = re.compile(r"(?<![\w.])[A-HJ-NPR-Z0-9]{17}(?!\w|-\d)", re.IGNORECASE)  # nor this
VIN_VALUES = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)), strict=True)
)
VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
IBAN_IN_TEXT = re.compile(
    r"\b[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)\b"
)


def kinds_of_value(value: Any) -> tuple[IdentifierKind, ...]:
    """The kinds that a value looks like.

    >>> kinds_of_value("write to ann@example.org, or call (607) 555-0199")
    (IdentifierKind(letter='F', what='e-mail addresses'), IdentifierKind(letter='D', what='telephone numbers'))
    >>> kinds_of_value("20-29"), kinds_of_value("E11.9"), kinds_of_value(13053)
    ((), (), ())
    """  # noqa: E501
    if isinstance(value, date):
        return (DATES,)
    text = unicodedata.normalize("NFKC", str(value)).translate(DASHES).strip()
    found = [kind for kind, has in CHECKED if has(text)]
    if not PLAIN_NUMBER.fullmatch(text):
        found += [kind for kind, pattern in PATTERNS if pattern.search(text)]
    return tuple(dict.fromkeys(found))


def has_card(text: str) -> bool:
    """Has it the number of a payment card, by its length and its last digit (Luhn)?

    >>> has_card("4111 1111 1111 1111"), has_card("4111 1111 1111 1112")
    (True, False)
    """
    return any(map(is_card, CARD.findall(text)))


def is_card(text: str) -> bool:
    """Do 13 to 19 digits end as the number of a card does?"""
    digits = re.sub(r"[ -]", "", text)
    if not digits.isascii() or not int(digits):
        return False
    doubled = [int(one) * (1 + at % 2) for at, one in enumerate(reversed(digits))]
    return sum(one - 9 if one > 9 else one for one in doubled) % 10 == 0


def has_iban(text: str) -> bool:
    """Has it the number of a bank account, by its check digits? Inside of a text it is in capitals.

    >>> has_iban("GB82 WEST 1234 5698 7654 32"), has_iban("GB83 WEST 1234 5698 7654 32")
    (True, False)
    >>> has_iban("paid from GB82WEST12345698765432"), has_iban("gb82 west1234 5698 7654 32")
    (True, True)
    """
    return any(map(is_iban, (text, *IBAN_IN_TEXT.findall(text))))


def is_iban(text: str) -> bool:
    """Is it nothing else than an IBAN?"""
    written = text.replace(" ", "").upper()
    if not (written.isascii() and IBAN.fullmatch(written)):
        return False
    return int("".join(str(int(one, 36)) for one in written[4:] + written[:4])) % 97 == 1


def has_vin(text: str) -> bool:
    """Has it the number of a vehicle, by its ninth sign?

    >>> has_vin("drove 1M8GDM9AXKP042788"), has_vin("1M8GDM9A1KP042788")
    (True, False)
    """
    return any(map(is_vin, VIN.findall(text)))


def is_vin(text: str) -> bool:
    """Do 17 letters and digits have the right one in the ninth place?"""
    if not text.isascii() or text.isdigit():
        return False
    values = [int(one) if one.isdigit() else VIN_VALUES[one] for one in text.upper()]
    rest = sum(one * weight for one, weight in zip(values, VIN_WEIGHTS, strict=True)) % 11
    return text[8].upper() == ("X" if rest == 10 else str(rest))


def is_ipv6(text: str) -> bool:
    """Is some word of it an address of IP, version 6?

    >>> is_ipv6("from 2001:db8::1"), is_ipv6("12:30:45"), is_ipv6("::")
    (True, False, False)
    """
    for word in re.findall(r"[0-9a-fA-F:.]{4,45}", text):
        try:
            if word.count(":") >= 2 and IPv6Address(word):
                return True
        except AddressValueError:
            continue
    return False


CHECKED: tuple[tuple[IdentifierKind, Callable[[str], bool]], ...] = (
    (ACCOUNTS, has_card),
    (ACCOUNTS, has_iban),
    (VEHICLES, has_vin),
    (IPS, is_ipv6),
)
