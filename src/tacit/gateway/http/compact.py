"""Batches whose memory is a function of their rows:
what goes out is made of the rows that go out, and of nothing else.

An engine's batch may share its memory with rows that the answer leaves out: beyond the ends of a
slice, beneath missing values, in a list of words beside the column. Arrow's writer sends such
memory too, up to the next border of 64 bytes.

And numbers that are equal go out alike: of -0.0 and 0.0, or of two NaN, DISTINCT shows the one that
the engine met first, which depends on how it works, and that on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

is_a = pa.types


def compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows in memory that holds nothing else; words from a list are text.

    Not copied: columns of whole bytes without a missing value, of which only the ends are moved.
    """
    columns = [compact_array(column) for column in batch.columns]
    fields = [
        field.with_type(column.type) for field, column in zip(batch.schema, columns, strict=True)
    ]
    if not columns:
        return batch
    return pa.record_batch(columns, schema=pa.schema(fields, metadata=batch.schema.metadata))


def compact_array(column: pa.Array) -> pa.Array:
    r"""The same values in memory that holds nothing else.

    >>> hidden = pa.Array.from_buffers(
    ...     pa.int64(), 2, [pa.py_buffer(b"\x02"), pa.array([11, 22]).buffers()[1]]
    ... )
    >>> (
    ...     hidden.to_pylist(),
    ...     compact_array(hidden).to_pylist(),
    ...     compact_array(hidden).buffers()[1].to_pybytes()[:8],
    ... )
    ([None, 22], [None, 22], b'\x00\x00\x00\x00\x00\x00\x00\x00')
    """
    kind = column.type
    if is_a.is_dictionary(kind):
        return compact_array(column.dictionary_decode())
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, compact_array(column.storage))
    made = next((make for test, make in LAYOUTS if test(kind)), None)
    if made is None or not len(column):
        return pa.array(column.to_pylist(), kind)
    there = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
    buffers, children = made(column, there)
    bits = None if there is None else packed(there)
    return pa.Array.from_buffers(
        kind, len(column), [bits, *buffers], column.null_count, children=children
    )


# What a layout gives: its buffers beside the bitmap of what is there, and its children.
There = Any  # a numpy array of truth values; None where nothing is missing
Made = tuple[list[pa.Buffer], list[pa.Array]]


def fixed(column: pa.Array, there: There) -> Made:
    """Values of a whole number of bytes, one after the other; zeros where one is missing."""
    size = column.type.bit_width // 8
    values = column.buffers()[1].slice(column.offset * size, len(column) * size)
    if is_a.is_floating(column.type):
        values = canonical_numbers(np.frombuffer(values, f"f{size}"), values)
    if there is not None:
        word = next(word for word in (8, 4, 2, 1) if size % word == 0)
        values = pa.py_buffer(
            np.frombuffer(values, f"u{word}").reshape(len(column), -1) * there[:, None]
        )
    return [values], []


def canonical_numbers(numbers: Any, values: pa.Buffer) -> pa.Buffer:
    """The numbers with one zero and one NaN; `values`, their memory, where they have no other.

    >>> canonical_numbers(np.array([-0.0, 1.5]), None).to_pybytes() == np.array(
    ...     [0.0, 1.5]
    ... ).tobytes()
    True
    """
    odd = np.isnan(numbers) | (np.signbit(numbers) & (numbers == 0))
    if not odd.any():
        return values
    return pa.py_buffer(np.where(np.isnan(numbers), np.nan, numbers + 0.0).astype(numbers.dtype))


def truths(column: pa.Array, there: There) -> Made:
    """Truth values, one bit each; none of those behind the last."""
    known = column if there is None else pc.fill_null(column, False)
    return [packed(known.to_numpy(zero_copy_only=False))], []


def texts(column: pa.Array, there: There) -> Made:
    """Texts or bytes one after the other, and where each ends; nothing where one is missing."""
    word = (
        np.int64
        if is_a.is_large_string(column.type) or is_a.is_large_binary(column.type)
        else np.int32
    )
    ends = np.frombuffer(
        column.buffers()[1], word, len(column) + 1, column.offset * word().itemsize
    )
    if there is not None and (ends[1:] != ends[:-1])[~there].any():
        return texts(pc.fill_null(column, pa.scalar(b"", column.type)), None)
    data = column.buffers()[2]
    letters = (
        pa.py_buffer(b"") if data is None else data.slice(int(ends[0]), int(ends[-1] - ends[0]))
    )
    return [pa.py_buffer(ends - ends[0] if ends[0] else ends), letters], []


def lists(column: pa.Array, there: There) -> Made:
    """Lists and maps: where each ends, and the values of those that are there."""
    word = np.int64 if is_a.is_large_list(column.type) else np.int32
    ends = np.frombuffer(
        column.buffers()[1], word, len(column) + 1, column.offset * word().itemsize
    )
    lengths, values = np.diff(ends), column.values.slice(int(ends[0]), int(ends[-1] - ends[0]))
    if there is not None and lengths[~there].any():
        values = values.filter(pa.array(np.repeat(there, lengths)))
        lengths = lengths * there
    return [pa.py_buffer(np.concatenate([np.zeros(1, word), np.cumsum(lengths, dtype=word)]))], [
        compact_array(values)
    ]


def structs(column: pa.Array, there: There) -> Made:
    """Values with named parts: a part is missing where the whole is."""
    return [], [compact_array(part) for part in column.flatten()]


def equal_lists(column: pa.Array, there: There) -> Made:
    """Lists of one length: their values are missing where the list is."""
    size = column.type.list_size
    values = column.values.slice(column.offset * size, len(column) * size)
    return [], [compact_array(values if there is None else where(np.repeat(there, size), values))]


def unions(column: pa.Array, there: There) -> Made:
    """Values of one of some types: each type has a place for every value, which is empty where
    the value is of another.
    """
    codes = np.frombuffer(column.buffers()[1], np.int8, len(column), column.offset)
    parts = [
        where(codes == code, column.field(at)) for at, code in enumerate(column.type.type_codes)
    ]
    return [pa.py_buffer(codes)], [compact_array(part) for part in parts]


def where(wanted: Any, values: pa.Array) -> pa.Array:
    """The wanted values; the others are missing."""
    return pc.if_else(pa.array(wanted), values, pa.scalar(None, values.type))


def packed(bits: Any) -> pa.Buffer:
    """Truth values as Arrow has them, the bits behind the last one zero."""
    return pa.py_buffer(np.packbits(bits, bitorder="little"))


# Of every other type the column is made anew from its values, one by one.
LAYOUTS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array, There], Made]], ...] = (
    (is_a.is_boolean, truths),
    (
        lambda kind: bool(
            is_a.is_primitive(kind) or is_a.is_decimal(kind) or is_a.is_fixed_size_binary(kind)
        ),
        fixed,
    ),
    (
        lambda kind: bool(
            is_a.is_string(kind)
            or is_a.is_binary(kind)
            or is_a.is_large_string(kind)
            or is_a.is_large_binary(kind)
        ),
        texts,
    ),
    (lambda kind: bool(is_a.is_list(kind) or is_a.is_large_list(kind) or is_a.is_map(kind)), lists),
    (is_a.is_fixed_size_list, equal_lists),
    (is_a.is_struct, structs),
    (lambda kind: bool(is_a.is_union(kind) and kind.mode == "sparse"), unions),
)
