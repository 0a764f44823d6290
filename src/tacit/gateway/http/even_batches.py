"""Even: batches that end where their rows say, and pieces of the same size, wherever the engine
broke them off.

DuckDB ends a batch where a part of its table ends: how many rows a batch has there would tell how
many the query left out. What PostgreSQL sends comes in parts that depend on how long it worked.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.engines.streams import BATCH_ROWS

PIECE_BYTES = 1 << 20
BATCH_BYTES = 16 << 20
FIXED_BYTES = 8  # what a value of any other type than text counts for
is_a = pa.types


def even(
    batches: Iterable[pa.RecordBatch], rows: int = BATCH_ROWS, most: int = BATCH_BYTES
) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of `rows`, the last one perhaps smaller; a batch ends earlier with
    the row by which it has `most` bytes. So where batches end is a function of the rows.

    >>> [
    ...     batch.num_rows
    ...     for batch in even(
    ...         [pa.record_batch([pa.array(range(many))], ["x"]) for many in (3, 1, 5)], 4
    ...     )
    ... ]
    [4, 4, 1]
    """
    held: list[pa.RecordBatch] = []
    count = size = 0  # rows that are held, and bytes that these have at most
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        size += batch.get_total_buffer_size() + FIXED_BYTES * batch.num_rows * batch.num_columns
        if count >= rows or size >= most:
            rest, size = yield from _cut(joined(held), rows, most)
            held, count = [rest], rest.num_rows
    if count:
        yield joined(held)


def _cut(
    batch: pa.RecordBatch, rows: int, most: int
) -> Generator[pa.RecordBatch, None, tuple[pa.RecordBatch, int]]:
    """The whole batches at the beginning of some rows; what is left of them, and its bytes."""
    sizes, start = row_bytes(batch), 0
    while True:
        sums = np.cumsum(sizes[start : start + rows])
        long = int(np.searchsorted(sums, most))
        if long == len(sums) < rows:
            return batch.slice(start), int(sums[-1]) if len(sums) else 0
        end = start + min(long + 1, len(sums))
        yield batch.slice(start, end - start)
        start = end


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches as one."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def row_bytes(batch: pa.RecordBatch) -> Any:
    """How long each row is, by its values alone.

    >>> row_bytes(pa.record_batch([pa.array([1, 2]), pa.array(["abc", None])], ["a", "b"])).tolist()
    [19, 16]
    """
    return text_bytes(batch) + FIXED_BYTES * batch.num_columns


def text_bytes(batch: pa.RecordBatch) -> Any:
    """How long the texts of each row are."""
    return sum(map(value_bytes, batch.columns), np.zeros(batch.num_rows, np.int64))


def value_bytes(column: pa.Array) -> Any:
    """How long the texts of each value are, and the parts of a list; of a missing one 0."""
    kind = column.type
    if any(test(kind) for test in TEXTS):
        return pc.fill_null(pc.binary_length(column), 0).to_numpy(zero_copy_only=False)
    if is_a.is_list(kind) or is_a.is_large_list(kind) or is_a.is_map(kind):
        ends = column.offsets.to_numpy()
        inner = value_bytes(column.values.slice(ends[0], ends[-1] - ends[0])) + FIXED_BYTES
        sums = np.concatenate([[0], np.cumsum(inner)])
        there = column.is_valid().to_numpy(zero_copy_only=False)
        return np.diff(sums[ends - ends[0]]) * there
    if is_a.is_struct(kind):
        return sum(map(value_bytes, column.flatten()), np.zeros(len(column), np.int64))
    return np.zeros(len(column), np.int64)


TEXTS = (is_a.is_string, is_a.is_binary, is_a.is_large_string, is_a.is_large_binary)


def even_bytes(
    parts: Iterable[bytes | bytearray], size: int = PIECE_BYTES
) -> Iterator[list[memoryview]]:
    """The same bytes in pieces of `size`, the last one perhaps smaller, none of them copied:
    what comes together depends on the time it takes.

    >>> [b"".join(piece) for piece in even_bytes([b"abc", b"d", b"efghi"], 4)]
    [b'abcd', b'efgh', b'i']
    """
    held: list[memoryview] = []
    missing = size
    for part in parts:
        rest = memoryview(part)
        while len(rest) >= missing:
            yield [*held, rest[:missing]]
            rest, held, missing = rest[missing:], [], size
        if rest:
            held.append(rest)
            missing -= len(rest)
    if held:
        yield held
