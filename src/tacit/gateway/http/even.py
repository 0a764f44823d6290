"""Even: batches that all have the same number of rows, wherever the engine broke them off.

DuckDB ends a batch where a part of its table ends: how many rows a batch has there would tell how many the query left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from tacit.engines.streams import BATCH_ROWS


def even(batches: Iterable[pa.RecordBatch], rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of `rows`, the last one perhaps smaller; only what crosses an old border is copied.

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
