"""Digests: one keyed hash for an answer, whatever the order of its
rows and whichever engine gave them.
"""

from __future__ import annotations

import datetime as dt
import hmac
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from tacit.errors import DataError
from tacit.ledger.entries import canonical
from tacit.ledger.key import Key

SPACE = 1 << 256
# whole numbers above are written by way of Decimal: Python limits how many digits str() makes
PLAIN_BITS = 10_000


class AnswerDigest:
    """The keyed hash of a multiset of rows: streaming, in constant memory.

    Each row gets a keyed hash and these are added up modulo 2^256, so that order does not matter
    and repeated rows count. Without the key nobody can look for other rows with the same sum.
    Values are hashed by what they are: 3, 3.0 and Decimal("3.00") are one number, a date is its
    midnight.

    >>> one, two = AnswerDigest(Key(bytes(32)), ["n"]), AnswerDigest(Key(bytes(32)), ["N"])
    >>> one.add((1,))
    >>> one.add(("x",))
    >>> two.add(("x",))
    >>> two.add((Decimal("1.0"),))
    >>> one.hex() == two.hex()
    True
    """

    def __init__(self, key: Key, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self.rows = 0
        self._key = key
        self._for_rows = bytes.fromhex(key.mac("answer row", str(len(self.columns)).encode()))
        self._sum = 0

    def add(self, row: Sequence[Any]) -> None:
        """Count one more row in."""
        if len(row) != len(self.columns):
            raise DataError(
                f"a row of the answer has {len(row)} values, but there are "
                f"{len(self.columns)} columns."
            )
        hashed = hmac.digest(self._for_rows, b"".join(map(value_bytes, row)), "sha256")
        self._sum = (self._sum + int.from_bytes(hashed, "big")) % SPACE
        self.rows += 1

    def hex(self) -> str:
        """The hash of what was added so far.
        Engines do not tell Zip from zip, so neither does it.
        """
        said = canonical(
            [[column.casefold() for column in self.columns], self.rows, f"{self._sum:064x}"]
        )
        return self._key.mac("answer", said.encode())


def value_bytes(value: Any) -> bytes:
    """What a value is, with its length in front: no two rows are written alike.

    >>> value_bytes("ab"), value_bytes(120), value_bytes(None)
    (b'3:tab', b'5:n12E1', b'1:-')
    >>> value_bytes(dt.date(2026, 4, 1)) == value_bytes(dt.datetime(2026, 4, 1))
    True
    """
    write = WRITERS.get(type(value)) or _writer(value)
    written = write(value)
    return b"%d:%b" % (len(written), written)


def _whole(value: int) -> bytes:
    if abs(value).bit_length() > PLAIN_BITS:
        return _decimal(Decimal(value))
    digits = str(value)
    short = digits.rstrip("0")
    return f"n{short}E{len(digits) - len(short)}".encode() if short not in ("", "-") else b"n0E0"


def _decimal(value: Decimal) -> bytes:
    sign, digits, exponent = value.as_tuple()
    if isinstance(exponent, str):
        return _special(
            float("nan") if value.is_nan() else math.copysign(math.inf, -1 if sign else 1)
        )
    text = "".join(map(str, digits)).lstrip("0")
    short = text.rstrip("0")
    if not short:
        return b"n0E0"
    return f"n{'-' if sign else ''}{short}E{exponent + len(text) - len(short)}".encode()


def _float(value: float) -> bytes:
    # A column of decimals is a float on one engine and exact on another:
    # the shortest way to write it is both.
    return _decimal(Decimal(repr(value))) if math.isfinite(value) else _special(value)


def _special(value: float) -> bytes:
    return b"nNaN" if math.isnan(value) else b"n+oo" if value > 0 else b"n-oo"


def _text(value: str) -> bytes:
    return b"t" + value.encode("utf-8", "surrogatepass")


def _timestamp(value: dt.datetime) -> bytes:
    plain = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
    return b"d" + plain.isoformat(timespec="microseconds").encode()


def _date(value: dt.date) -> bytes:
    return b"d" + value.isoformat().encode() + b"T00:00:00.000000"


def _time(value: dt.time) -> bytes:
    return b"h" + value.isoformat(timespec="microseconds").encode()


def _interval(value: dt.timedelta) -> bytes:
    return f"i{value.days},{value.seconds},{value.microseconds}".encode()


def _list(value: Sequence[Any]) -> bytes:
    return b"l" + b"".join(map(value_bytes, value))


def _struct(value: Mapping[Any, Any]) -> bytes:
    pairs = sorted(value_bytes(name) + value_bytes(inner) for name, inner in value.items())
    return b"s" + b"".join(pairs)


WRITERS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda value: b"-",
    bool: lambda value: b"b1" if value else b"b0",
    int: _whole,
    float: _float,
    Decimal: _decimal,
    str: _text,
    bytes: lambda value: b"x" + value,
    bytearray: lambda value: b"x" + bytes(value),
    memoryview: lambda value: b"x" + bytes(value),
    dt.datetime: _timestamp,
    dt.date: _date,
    dt.time: _time,
    dt.timedelta: _interval,
    UUID: lambda value: _text(str(value)),
    list: _list,
    tuple: _list,
    dict: _struct,
}


def _writer(value: Any) -> Callable[[Any], bytes]:
    """For classes that are not listed:
    numbers of NumPy, and those that descend from a listed one.
    """
    numbers = "datetime64", "timedelta64"  # whose item() may be a bare number of nanoseconds
    if (
        callable(plain := getattr(value, "item", None))
        and type(value).__name__ not in numbers
        and type(plain()) in WRITERS
    ):
        return lambda one: WRITERS[type(one.item())](one.item())
    for kind in type(value).__mro__:
        if kind in WRITERS:
            return WRITERS[kind]
    raise DataError(
        f"an answer with values of type {type(value).__name__} cannot be hashed.",
        hint="Cast the column to text, a number or a date in the view.",
    )
