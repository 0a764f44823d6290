"""Arrow tables, and by way of them Polars frames and DuckDB relations: what becomes of each type.

| type | becomes |
|---|---|
| bool, int8 to int64, uint8 to uint64, double, string, binary, date32, date64 | the same |
| float (32 bits), halffloat (16 bits) | its shortest decimal |
| decimal of up to 38 digits | the same; one of more where its values need no more, else refused |
| timestamp | the same; finer than microseconds refused, with a time zone its UTC time |
| duration, interval | text; finer than microseconds refused |
| time | text |
| dictionary | its values; where it is ordered, in that order |
| run-end encoded | its values |
| struct, map | a distribution |
| list and others that DuckDB reads | text |
| parts of a list, struct or map that DuckDB would round | refused |
| what DuckDB does not read | refused |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tacit.engines.duckdb.frames import FrameColumn, in_order, no_table, refused

MOST_DIGITS = 38
FINER = "Round it to microseconds first, or make it text."


def as_table(data: Any) -> Any:
    """An Arrow table of what can be made one without a change."""
    import pyarrow as pa

    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    for way in (
        "to_arrow_table",
        "to_arrow",
        "read_all",
        "to_table",
    ):  # of DuckDB, Polars, Arrow's readers and datasets
        if not isinstance(data, pa.Table) and callable(made := getattr(data, way, None)):
            data = made()
    if not isinstance(data, pa.Table):
        raise no_table(data)
    return data


def read_array(array: Any, name: str) -> FrameColumn:
    """A column of an Arrow table, as DuckDB reads it exactly."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        return _dictionary(array, name)
    if pa.types.is_run_end_encoded(kind):
        return read_array(
            pa.chunked_array([pc.run_end_decode(one) for one in array.chunks], kind.value_type),
            name,
        )
    if pa.types.is_float16(kind):
        return FrameColumn(_shortest(array))
    if pa.types.is_decimal(kind) and not pa.types.is_decimal128(kind):
        return FrameColumn(_decimal(array, name))
    if pa.types.is_duration(kind) and kind.unit == "ns" and _some_finer(array.cast(pa.int64())):
        raise refused(name, "durations that are finer than microseconds", FINER)
    if kind == pa.month_day_nano_interval() and any(
        one is not None and one.nanoseconds % 1000 for one in array.to_pylist()
    ):
        raise refused(name, "durations that are finer than microseconds", FINER)
    if pa.types.is_date64(kind):
        return FrameColumn(_days(array, name))
    if rounded := next((part for part in _inside(kind) if _is_rounded(part)), None):
        raise refused(
            name,
            f"values of type {kind}: DuckDB would round {rounded} in it",
            "Give its parts another type, or make it text.",
        )
    return FrameColumn(array)


def _inside(kind: Any) -> Iterator[Any]:
    """The types that a type is made of."""
    parts = [kind.field(at).type for at in range(kind.num_fields)]
    parts += [
        one
        for one in (getattr(kind, "storage_type", None), getattr(kind, "value_type", None))
        if one is not None
    ]
    for part in parts:
        yield part
        yield from _inside(part)


def _is_rounded(part: Any) -> bool:
    """Is it a type whose values DuckDB would round, or not read, inside another?"""
    import pyarrow as pa

    finer = pa.types.is_duration(part) and part.unit == "ns"
    return bool(
        finer
        or part == pa.month_day_nano_interval()
        or pa.types.is_decimal256(part)
        or pa.types.is_float16(part)
    )


def _dictionary(array: Any, name: str) -> FrameColumn:
    """The values of a dictionary; in its order where that means something."""
    import pyarrow as pa

    values = array.cast(array.type.value_type)
    if not array.type.ordered or pa.types.is_nested(array.type.value_type):
        return read_array(values, name)
    orders = [
        list(dict.fromkeys(one for one in chunk.dictionary.to_pylist() if one is not None))
        for chunk in array.chunks
    ]
    labels: list[Any] = max(orders, key=len, default=[])
    if any([label for label in labels if label in {*order}] != order for order in orders):
        raise refused(
            name,
            "several dictionaries, whose orders do not fit together",
            "Give all chunks one dictionary.",
        )
    if all(isinstance(label, str) for label in labels):
        return in_order(values, labels)
    if labels != sorted(labels):
        raise refused(
            name,
            "a dictionary with an order of its own, of values that are no text",
            "Make its values text, or leave out the order.",
        )
    return read_array(values, name)


def _days(array: Any, name: str) -> Any:
    """Dates that were stored in milliseconds."""
    import pyarrow as pa

    try:
        return array.cast(pa.date32())
    except pa.ArrowInvalid:
        raise refused(name, "dates with a time of day", "Make it a timestamp.") from None


def _shortest(array: Any) -> Any:
    """Floats of 16 bits as doubles that are written with as few digits."""
    import numpy as np
    import pyarrow as pa

    half = np.array([np.nan if one is None else one for one in array.to_pylist()], dtype=np.float16)
    return pa.array(
        [
            None if one is None else float(str(short))
            for one, short in zip(array.to_pylist(), half, strict=True)
        ],
        pa.float64(),
    )


def _decimal(array: Any, name: str) -> Any:
    """Decimals in 128 bits, where all fit."""
    import pyarrow as pa

    scale = min(array.type.scale, MOST_DIGITS)
    try:
        return array.cast(pa.decimal128(min(array.type.precision, MOST_DIGITS), scale))
    except pa.ArrowInvalid:
        raise refused(
            name,
            f"numbers of more than {MOST_DIGITS} digits",
            "Round them, or make the column text.",
        ) from None


def _some_finer(numbers: Any) -> bool:
    """Is there a number of nanoseconds that is no whole number of microseconds?"""
    import pyarrow.compute as pc

    return bool(pc.any(pc.not_equal(pc.multiply(pc.divide(numbers, 1000), 1000), numbers)).as_py())
