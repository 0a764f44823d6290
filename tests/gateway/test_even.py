"""Where batches end says nothing about rows that the query leaves out."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.streams import BATCH_ROWS
from tacit.gateway.http.even_batches import even


def test_the_rows_stay_and_all_batches_but_the_last_are_equal() -> None:
    rng = random.Random(3)
    for _ in range(200):
        sizes = [rng.randint(0, 9) for _ in range(rng.randint(0, 6))]
        values = iter(range(100))
        batches = [
            pa.record_batch([pa.array([next(values) for _ in range(size)], pa.int64())], ["x"])
            for size in sizes
        ]
        found = list(even(batches, 4))
        assert [one for batch in found for one in batch.column(0).to_pylist()] == list(
            range(sum(sizes))
        )
        assert all(batch.num_rows == 4 for batch in found[:-1]) and (
            not found or 0 < found[-1].num_rows <= 4
        )


@pytest.mark.parametrize("hidden", [0, 1_000])
def test_the_number_of_hidden_rows_does_not_show(hidden: int, tmp_path: Path) -> None:
    """DuckDB ends a batch with each part of its table: the rows left out there could be counted."""
    with DuckDB(folder=tmp_path) as engine:
        engine.connection.execute(
            f"CREATE TABLE t AS SELECT i - {hidden} AS i FROM range({130_000 + hidden}) r(i)"
        )
        stream = engine.stream("SELECT i FROM t WHERE i >= 0")
        stream.begin()
        assert [batch.num_rows for batch in even(stream)] == [BATCH_ROWS] * 3 + [
            130_000 - 3 * BATCH_ROWS
        ]
        stream.close()


def test_a_batch_ends_with_the_row_that_makes_it_long_however_the_rows_came() -> None:
    rng = random.Random(5)
    for _ in range(100):
        words = ["x" * rng.choice([0, 1, 5, 40]) for _ in range(rng.randint(1, 40))]
        lists = [rng.choice([None, [], ["ab"], ["c", None, "defg"]]) for _ in words]
        expected, count, size = [], 0, 0
        for word, some in zip(words, lists, strict=True):
            count += 1
            size += 16 + len(word) + sum(8 + len(one or "") for one in some or ())
            if count == 7 or size >= 100:
                expected.append(count)
                count = size = 0
        whole = pa.record_batch(
            [pa.array(words), pa.array(lists, pa.list_(pa.string()))], ["a", "b"]
        )
        parts, at = [], 0
        while at < len(words):
            many = rng.randint(0, 6)
            parts.append(whole.slice(at, many))
            at += many
        found = list(even(parts, 7, 100))
        assert [one.num_rows for one in found] == expected + [count] * bool(count)
        assert pa.Table.from_batches(found).equals(pa.table(whole))
