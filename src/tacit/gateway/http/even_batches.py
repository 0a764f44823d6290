"""Even: batches that all have the same number of rows, and pieces of the same size, wherever the
engine broke them off.

DuckDB ends a batch where a part of its table ends: how many rows a batch has there would tell how
many the query left out. What PostgreSQL sends comes in parts that depend on how long it worked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from tacit.engines.streams import BATCH_ROWS

PIECE_BYTES = 1 << 20


def even(batches: Iterable[pa.RecordBatch], rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of `rows`, the last one perhaps smaller;
    only what crosses an old border is copied.

    >>> [
    ...     batch.num_rows
    ...     for batch in even(
    ...         [pa.record_batch([pa.array(range(many))], ["x"]) for many in (3, 1, 5)], 4
    ...     )
    ... ]
    [4, 4, 1]
    """
    held: list[pa.RecordBatch] = []
    missing = rows
    for batch in batches:
        while batch.num_rows:
            held.append(batch.slice(0, missing))
            batch = batch.slice(held[-1].num_rows)
            missing -= held[-1].num_rows
            if not missing:
                yield held[0] if len(held) == 1 else pa.concat_batches(held)
                held, missing = [], rows
    if held:
        yield held[0] if len(held) == 1 else pa.concat_batches(held)


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
