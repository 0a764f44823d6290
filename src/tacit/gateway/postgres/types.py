"""Types: Arrow's columns as PostgreSQL's values, in text and in binary, and parameters as ours.

A value is the one that HTTP sends; it is written as PostgreSQL writes its type: t and f, a space in
a timestamp, NaN. What PostgreSQL has no type for is text, as HTTP has it.
"""

from __future__ import annotations

import datetime as dt
import math
import struct
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.engines.streams import is_number
from tacit.gateway.http.formats import texts_of
from tacit.gateway.http.requests import Value
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.postgres.wire import WireColumn

BOOL, BYTEA, INT8, INT2, INT4, TEXT, OID = 16, 17, 20, 21, 23, 25, 26
FLOAT4, FLOAT8, UNKNOWN, VARCHAR, BPCHAR, NAME, CHAR = 700, 701, 705, 1043, 1042, 19, 18
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, NUMERIC, UUID = 1082, 1083, 1114, 1184, 1700, 2950
TEXTS = (0, TEXT, UNKNOWN, VARCHAR, BPCHAR, NAME, CHAR)
SIZES = {BOOL: 1, INT8: 8, INT2: 2, INT4: 4, OID: 4, FLOAT4: 4, FLOAT8: 8}
SIZES |= {DATE: 4, TIME: 8, TIMESTAMP: 8, TIMESTAMPTZ: 8, UUID: 16}
EPOCH = 10_957  # days from 1970 to 2000, where PostgreSQL begins to count
EPOCH_MICROSECONDS = EPOCH * 86_400_000_000
SAID = b"postgres"  # a field whose metadata name its type: columns of the catalogs do

INTEGERS = {
    pa.int8(): INT2,
    pa.uint8(): INT2,
    pa.int16(): INT2,
    pa.uint16(): INT4,
    pa.int32(): INT4,
    pa.uint32(): INT8,
    pa.int64(): INT8,
    pa.uint64(): NUMERIC,
}


def column_of(field: pa.Field, form: int = 0) -> WireColumn:
    """What the client is told of a column.

    >>> column_of(pa.field("paid", pa.decimal128(12, 3)))
    WireColumn(name='paid', type=1700, size=-1, modifier=786439, format=0)
    """
    number, modifier = type_of(field), -1
    if pa.types.is_decimal(field.type):
        modifier = (field.type.precision << 16 | field.type.scale) + 4
    return WireColumn(field.name, number, SIZES.get(number, -1), modifier, form)


def type_of(field: pa.Field) -> int:
    """The number of a column's type in PostgreSQL.

    >>> type_of(pa.field("a", pa.int32())), type_of(pa.field("b", pa.list_(pa.int8())))
    (23, 25)
    """
    kind, is_a = field.type, pa.types
    if field.metadata and SAID in field.metadata:
        return int(field.metadata[SAID])
    if is_a.is_integer(kind):
        return INTEGERS[kind]
    if is_number(field) or is_a.is_decimal(kind):
        return NUMERIC
    if is_a.is_floating(kind):
        return FLOAT8 if kind.bit_width == 64 else FLOAT4
    if is_a.is_timestamp(kind) and kind.unit != "ns":  # PostgreSQL has no nanoseconds
        return TIMESTAMPTZ if kind.tz else TIMESTAMP
    if is_a.is_time(kind) and kind.unit != "ns":
        return TIME
    simple = {is_a.is_boolean: BOOL, is_a.is_date: DATE}
    simple |= {is_a.is_binary: BYTEA, is_a.is_large_binary: BYTEA}
    return next((number for test, number in simple.items() if test(kind)), TEXT)


# -- columns as values -----------------------------------------------------------------------------


def values_of(column: pa.Array, field: pa.Field, form: int) -> pa.Array:
    """The values of a column, each as the bytes that are sent; NULL where there is none."""
    number = type_of(field)
    if form == 1:
        if number in (TEXT, NAME, CHAR, VARCHAR):
            return as_bytes(texts_of(column))
        if number in PACKED:
            return packed(column, number)
        if number == NUMERIC:
            return numerics(column)
        return as_bytes(raw(column)) if number == BYTEA else as_bytes(text_values(column, number))
    return as_bytes(text_values(column, number))


def text_values(column: pa.Array, number: int) -> pa.Array:
    """The values of a column as PostgreSQL writes them.

    >>> text_values(pa.array([True, None]), BOOL).to_pylist()
    ['t', None]
    >>> text_values(pa.array([float("nan"), float("-inf"), 1.5]), FLOAT8).to_pylist()
    ['NaN', '-Infinity', '1.5']
    """
    if number == BOOL:
        return pc.if_else(column, "t", "f")
    if number in (FLOAT4, FLOAT8):
        found = column.cast(pa.string())
        for ours, theirs in (("^nan$", "NaN"), ("^(-?)inf$", r"\1Infinity")):
            found = pc.replace_substring_regex(found, ours, theirs)
        return found
    if number in (TIMESTAMP, TIMESTAMPTZ):
        plain = column.cast(pa.timestamp(column.type.unit)).cast(pa.string())
        return plain if number == TIMESTAMP else pc.binary_join_element_wise(plain, "+00", "")
    if number in (INT2, INT4, INT8, NUMERIC, DATE, TIME):
        return column.cast(pa.string())
    return texts_of(column)


def texts(column: pa.Array) -> list[str | None]:
    """Numbers as text, one by one."""
    return list(column.cast(pa.string()).to_pylist())


def raw(column: pa.Array) -> pa.Array:
    """Bytes as they are."""
    return column.cast(pa.binary())


def as_bytes(column: pa.Array) -> pa.Array:
    """Texts as bytes."""
    return column.cast(pa.binary())


def shifted(column: pa.Array, unit: str, by: int) -> Any:
    """Moments as whole numbers from PostgreSQL's own beginning."""
    kind = pa.timestamp(unit) if pa.types.is_timestamp(column.type) else pa.time64(unit)
    return pc.fill_null(column.cast(kind).cast(pa.int64()), 0).to_numpy() - by


def whole(column: pa.Array) -> Any:
    """Numbers, zero where one is missing."""
    return pc.fill_null(column, 0).to_numpy()


PACKED: Mapping[int, tuple[str, Callable[[pa.Array], Any]]] = {
    BOOL: ("u1", lambda column: pc.fill_null(column, False).to_numpy(zero_copy_only=False)),
    INT2: (">i2", whole),
    INT4: (">i4", whole),
    INT8: (">i8", whole),
    OID: (">u4", whole),
    FLOAT4: (">f4", whole),
    FLOAT8: (">f8", whole),
    DATE: (">i4", lambda one: whole(one.cast(pa.date32()).cast(pa.int32())) - EPOCH),
    TIME: (">i8", lambda one: shifted(one, "us", 0)),
    TIMESTAMP: (">i8", lambda one: shifted(one, "us", EPOCH_MICROSECONDS)),
    TIMESTAMPTZ: (">i8", lambda one: shifted(one, "us", EPOCH_MICROSECONDS)),
}


def packed(column: pa.Array, number: int) -> pa.Array:
    """Values of a fixed number of bytes, big end first."""
    form, read = PACKED[number]
    values = np.ascontiguousarray(read(column).astype(form))
    found = fixed_bytes(values.view(np.uint8), values.dtype.itemsize, len(column))
    return pc.if_else(column.is_valid(), found, None) if column.null_count else found


def fixed_bytes(data: Any, size: int, count: int) -> pa.Array:
    """Values of `size` bytes each, one after the other, as an array of bytes."""
    ends = np.arange(count + 1, dtype=np.int32) * size
    return pa.Array.from_buffers(
        pa.binary(), count, [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(data))]
    )


def numerics(column: pa.Array) -> pa.Array:
    """Numbers in PostgreSQL's own form: all at once where they are short, else one by one.

    >>> numerics(pa.array([Decimal("-12345.60")])).to_pylist()[0].hex()
    '0003000140000002000109291770'
    """
    kind = column.type
    scale = kind.scale if pa.types.is_decimal128(kind) else -1
    behind = -(-scale // GROUP) * GROUP  # digits that whole groups behind the point have
    if not len(column) or scale < 0 or kind.precision - scale + behind > INT64_DIGITS:
        found = [None if one is None else binary_numeric(one) for one in texts(column)]
        return pa.array(found, pa.binary())
    low = np.frombuffer(column.buffers()[1], "<i8")[2 * column.offset :: 2][: len(column)]
    low = np.where(column.is_valid().to_numpy(zero_copy_only=False), low, 0)
    parts = behind // GROUP + max(1, -(-(kind.precision - scale) // GROUP))
    rest, groups = np.abs(low) * 10 ** (behind - scale), np.empty((len(low), parts), ">u2")
    for at in reversed(range(parts)):
        rest, groups[:, at] = np.divmod(rest, 10**GROUP)
    first, last = leading_zeros(groups), leading_zeros(groups[:, ::-1])
    count = np.maximum(0, parts - first - last)
    heads = np.zeros((len(low), 4), ">u2")
    heads[:, 0] = count
    heads[:, 1] = np.where(count > 0, parts - behind // GROUP - 1 - first, 0)
    heads[:, 2] = np.where(low < 0, 0x4000, 0)
    heads[:, 3] = scale
    places = np.minimum(first[:, None] + np.arange(parts), parts - 1)
    words = np.concatenate([heads, np.take_along_axis(groups, places, 1)], axis=1)
    kept = words[np.arange(parts + 4) < count[:, None] + 4]
    ends = np.concatenate([[0], np.cumsum(2 * count + 8)]).astype(np.int32)
    made = pa.Array.from_buffers(
        pa.binary(), len(low), [None, pa.py_buffer(ends), pa.py_buffer(kept.astype(">u2"))]
    )
    return pc.if_else(column.is_valid(), made, None) if column.null_count else made


def leading_zeros(groups: Any) -> Any:
    """How many groups of each row are 0 before the first that is not."""
    return np.where((groups != 0).any(axis=1), (groups != 0).argmax(axis=1), groups.shape[1])


GROUP = 4  # digits that PostgreSQL keeps together
INT64_DIGITS = 18


def binary_numeric(written: str) -> bytes:
    """A number in PostgreSQL's own form: groups of four digits, weight, sign, digits behind the
    point.

    >>> binary_numeric("-12345.60").hex()
    '0003000140000002000109291770'
    """
    if written in NOT_FINITE:
        return struct.pack(">hhHh", 0, 0, NOT_FINITE[written], 0)
    sign = 0x4000 if written.startswith("-") else 0
    whole_part, _, behind = format(Decimal(written.lstrip("-")), "f").partition(".")
    before = whole_part.zfill(-(-len(whole_part) // 4) * 4)
    after = behind.ljust(-(-len(behind) // 4) * 4, "0")
    digits = before + after
    groups = [int(digits[at : at + 4]) for at in range(0, len(digits), 4)]
    weight = len(before) // 4 - 1
    while groups and groups[0] == 0:
        groups, weight = groups[1:], weight - 1
    while groups and groups[-1] == 0:
        groups.pop()
    weight = weight if groups else 0
    return struct.pack(
        f">hhHh{len(groups)}h", len(groups), weight, sign if groups else 0, len(behind), *groups
    )


NOT_FINITE = {"NaN": 0xC000, "Infinity": 0xD000, "-Infinity": 0xF000}


# -- parameters ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WireValue:
    """The value of a parameter as it came: bytes, format, number of its type."""

    data: bytes | None
    format: int
    type: int

    def value(self) -> Value:
        """The value as the gateway takes it: text, a number, true, false or NULL.

        >>> WireValue(b"5", 0, INT4).value(), WireValue(bytes(7) + b"\\x05", 1, INT8).value()
        (5, 5)
        """
        if self.data is None:
            return None
        try:
            return self._binary(self.data) if self.format == 1 else self._text(self.data)
        except (
            ValueError,
            ArithmeticError,
            InvalidOperation,
            struct.error,
            OverflowError,
        ):
            raise Trouble("22P02", f"a parameter is no value of its type ({self.type}).") from None

    def _text(self, data: bytes) -> Value:
        said = data.decode()
        if self.type in (INT2, INT4, INT8, OID):
            return int(said)
        if self.type in (NUMERIC, FLOAT4, FLOAT8):
            number = Decimal(said.strip())
            if not number.is_finite():
                raise ValueError
            return number
        if self.type == BOOL:
            return TRUTHS[said.strip().lower()] if said.strip().lower() in TRUTHS else _no(said)
        return said

    def _binary(self, data: bytes) -> Value:
        if self.type in TEXTS:
            return data.decode()
        if self.type in UNPACKED:
            form, read = UNPACKED[self.type]
            return read(struct.unpack(form, data)[0])
        if self.type == NUMERIC:
            return numeric_of(data)
        if self.type == UUID and len(data) == 16:
            return str(uuid.UUID(bytes=data))
        raise Trouble(
            "0A000",
            f"a parameter of the type {self.type} in binary is not read.",
            hint="Send it as text, with a CAST in the query.",
        )


def _no(said: str) -> bool:
    raise ValueError(said)


def moment(microseconds: int) -> str:
    """A moment from PostgreSQL's own count."""
    found = dt.datetime(2000, 1, 1) + dt.timedelta(microseconds=microseconds)
    return found.isoformat(" ")


def finite(number: float) -> Decimal:
    """A number that is one."""
    if not math.isfinite(number):
        raise ValueError
    return Decimal(repr(number))


UNPACKED: Mapping[int, tuple[str, Callable[[Any], Value]]] = {
    BOOL: ("?", bool),
    INT2: (">h", int),
    INT4: (">i", int),
    INT8: (">q", int),
    OID: (">I", int),
    FLOAT4: (">f", lambda one: finite(float(np.float32(one).astype(str)))),
    FLOAT8: (">d", finite),
    DATE: (">i", lambda days: (dt.date(2000, 1, 1) + dt.timedelta(days=days)).isoformat()),
    TIME: (">q", lambda one: (dt.datetime.min + dt.timedelta(microseconds=one)).time().isoformat()),
    TIMESTAMP: (">q", moment),
    TIMESTAMPTZ: (">q", lambda one: moment(one) + "+00"),
}
TRUTHS = {"t": True, "true": True, "1": True, "on": True, "yes": True, "y": True}
TRUTHS |= {"f": False, "false": False, "0": False, "off": False, "no": False, "n": False}


def numeric_of(data: bytes) -> Decimal:
    """A number from PostgreSQL's own form.

    >>> numeric_of(binary_numeric("-12345.60"))
    Decimal('-12345.60')
    """
    count, weight, sign, scale = struct.unpack(">hhHh", data[:8])
    if sign not in (0, 0x4000) or not 0 <= scale <= 1000 or abs(weight) > 100:
        raise ValueError
    groups = struct.unpack(f">{count}H", data[8:])
    if any(group > 9999 for group in groups):
        raise ValueError
    with_exponent = sum(Decimal(group).scaleb(4 * (weight - at)) for at, group in enumerate(groups))
    number = Decimal(with_exponent).quantize(Decimal(1).scaleb(-scale)) if groups else Decimal(0)
    return -number if sign else number
