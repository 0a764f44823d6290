"""What goes out is a function of the rows that go out:
the bytes are compared with an encoding of the decoded answer.
"""

from __future__ import annotations

import random
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tacit.engines.duckdb.engine import DuckDB
from tacit.gateway.http.compact import compact, compact_array
from tacit.gateway.http.formats import ArrowEncoder, CsvEncoder, Encoder, JsonEncoder, Piece
from tacit.gateway.query_runs import small

SAMPLES: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [True, False],
    pa.int8(): [1, -2],
    pa.uint16(): [3, 4],
    pa.int32(): [5, -6],
    pa.int64(): [7, 2**60],
    pa.float32(): [0.5, -1.5],
    pa.float64(): [2.5, 1e300],
    pa.date32(): [date(2020, 1, 1), date(1999, 12, 31)],
    pa.timestamp("us"): [datetime(2020, 1, 1, 2), datetime(1990, 1, 1)],
    pa.timestamp("us", "UTC"): [datetime(2020, 1, 1, 2), datetime(1990, 1, 1)],
    pa.time64("us"): [time(1, 2, 3), time(23, 59)],
    pa.duration("us"): [timedelta(1), timedelta(0, 5)],
    pa.month_day_nano_interval(): [pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([4, 5, 6])],
    pa.decimal128(9, 2): [Decimal("1.25"), Decimal("-9999.99")],
    pa.decimal256(60, 2): [Decimal("1.25"), Decimal("-9.99")],
    pa.string(): ["a", "longer than twelve letters", "", "é😀"],
    pa.large_string(): ["a", "bb" * 20],
    pa.binary(): [b"\0", b"xyz" * 9],
    pa.large_binary(): [b"q", b""],
    pa.binary(3): [b"abc", b"\0\1\2"],
    pa.string_view(): ["short", "longer than twelve letters"],
    pa.binary_view(): [b"short", b"longer than twelve letters"],
    pa.list_(pa.int64()): [[], [1, None], [2, 3, 4]],
    pa.list_(pa.string()): [["secret", None], []],
    pa.list_(pa.bool_()): [[True, None, False], [True]],
    pa.large_list(pa.string()): [["x"], ["y", "zz"]],
    pa.list_(pa.int16(), 2): [[1, 2], [None, 4]],
    pa.list_(pa.list_(pa.string())): [[["a"], None], [[], ["b", None]]],
    pa.struct([("a", pa.int64()), ("b", pa.string())]): [
        {"a": 1, "b": "x"},
        {"a": None, "b": "yy"},
    ],
    pa.struct([("a", pa.list_(pa.bool_()))]): [{"a": [True]}, {"a": None}],
    pa.map_(pa.string(), pa.int64()): [[("k", 1)], [("l", None), ("m", 3)], []],
    pa.list_(pa.struct([("d", pa.decimal128(9, 2))])): [[{"d": Decimal("1.5")}], [None]],
    pa.null(): [],
}


def rebuilt(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch as it is when it is made of its values, one by one."""
    return pa.record_batch(
        [pa.array(column.to_pylist(), column.type) for column in batch.columns], schema=batch.schema
    )


def encoded_again(body: bytes) -> bytes:
    """An Arrow stream, read, its values taken out, and written once more."""
    reader = pa.ipc.open_stream(body)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, reader.schema) as writer:
        while True:
            try:
                batch, metadata = reader.read_next_batch_with_custom_metadata()
            except StopIteration:
                break
            writer.write_batch(rebuilt(batch), custom_metadata=metadata)
    return sink.getvalue().to_pybytes()


def has_parts(kind: pa.DataType) -> bool:
    """Arrow has two ways to write a missing value with parts:
    as missing parts, and as empty ones.
    """
    return pa.types.is_struct(kind) or any(
        has_parts(kind.field(at).type) for at in range(kind.num_fields)
    )


def body_of(
    encoder: Encoder, schema: pa.Schema, batches: list[pa.RecordBatch], *, truncated: bool = False
) -> bytes:
    parts: Piece = [encoder.start(schema)]
    for batch in batches:
        parts += encoder.batch(batch)
    return b"".join([*parts, encoder.end(truncated)])


def slices(rng: random.Random, kind: pa.DataType) -> pa.RecordBatch:
    """A slice of a longer column, some values of which are hidden under a bitmap."""
    values = [
        rng.choice([*SAMPLES[kind], None]) if rng.random() < 0.9 else None
        for _ in range(rng.randint(0, 90))
    ]
    column = pa.array(values, kind)
    if (
        column.buffers()[0] is None
        and rng.random() < 0.5
        and len(column)
        and not pa.types.is_null(kind)
    ):
        bits = pa.py_buffer(rng.randbytes((len(column) + 7) // 8))
        children = (
            {"children": [column.field(at) for at in range(kind.num_fields)]}
            if pa.types.is_struct(kind)
            else {}
        )
        if not pa.types.is_nested(kind) or children:
            column = pa.Array.from_buffers(
                kind,
                len(column),
                [bits, *column.buffers()[1 : 1 if children else None]],
                **children,
            )
    start = rng.randint(0, len(column))
    return pa.record_batch([column.slice(start, rng.randint(0, len(column) - start))], ["x"])


@pytest.mark.sampled
@pytest.mark.parametrize("kind", SAMPLES, ids=str)
def test_the_bytes_of_every_type_are_those_of_the_values_alone(kind: pa.DataType) -> None:
    rng = random.Random(str(kind))
    for _ in range(150):
        batches = [slices(rng, kind) for _ in range(rng.randint(0, 3))]
        schema = pa.schema([("x", kind)])
        truncated = rng.random() < 0.5
        body = body_of(ArrowEncoder(), schema, batches, truncated=truncated)
        assert has_parts(kind) or body == encoded_again(body)
        for encoder in (ArrowEncoder, JsonEncoder, CsvEncoder):
            there = [batch for batch in batches if batch.num_rows]
            alone = body_of(
                encoder(), schema, [rebuilt(batch) for batch in there], truncated=truncated
            )
            assert body_of(encoder(), schema, there, truncated=truncated) == alone


@pytest.mark.parametrize("kind", SAMPLES, ids=str)
def test_compact_columns_have_the_same_values_and_are_valid(kind: pa.DataType) -> None:
    rng = random.Random(str(kind))
    for _ in range(50):
        batch = slices(rng, kind)
        found = compact(batch)
        found.validate(full=True)
        assert repr(found.to_pydict()) == repr(batch.to_pydict())


def test_words_from_a_list_bring_no_other_words_along() -> None:
    words = pa.array(["flu", "cancer", "flu"]).dictionary_encode()[:1]
    found = compact_array(words)
    assert found.type == pa.string() and found.to_pylist() == ["flu"]
    assert all(
        b"cancer" not in buffer.to_pybytes() for buffer in found.buffers() if buffer is not None
    )


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_equal_numbers_have_equal_bytes(kind: pa.DataType) -> None:
    """Of -0.0 and 0.0 an engine shows the one that it met first, and a NaN may be any of many."""
    word = np.dtype(f"u{kind.bit_width // 8}")
    odd = np.array([0.0, -0.0, np.nan, -np.nan, 1.5], f"f{kind.bit_width // 8}")
    other = (odd.view(word) | (np.isnan(odd) * word.type(5))).view(
        odd.dtype
    )  # with something in the NaN
    plain = np.array([0.0, 0.0, np.nan, np.nan, 1.5], odd.dtype).tobytes()
    for numbers in (odd, other):
        assert compact_array(pa.array(numbers, kind)).buffers()[1].to_pybytes() == plain
        nested = compact_array(pa.array([numbers], pa.list_(kind)))
        assert nested.values.buffers()[1].to_pybytes() == plain


def test_where_long_answers_are_cut_depends_on_their_rows_alone() -> None:
    """A list of long words beside a column, or letters beneath missing values, would count as
    part of its size.
    """
    few = pa.array(["a"] * 40)
    hidden = pa.DictionaryArray.from_arrays(pa.array([0] * 40), pa.array(["a", "x" * 30_000_000]))
    sizes = [
        [part.num_rows for part in small(compact(pa.record_batch([column], ["x"])))]
        for column in (few, hidden)
    ]
    assert sizes == [[40], [40]]


EVERY = """
    SELECT i, 'name ' || i AS t, CASE WHEN i % 3 > 0 THEN {secret} || i END AS s, i % 2 = 0 AS b, CASE WHEN i % 5 > 0 THEN i % 2 = 1 END AS bn,
    CAST(i AS DECIMAL(9, 2)) / 4 AS d, CAST(i AS DECIMAL(38, 3)) AS dd, DATE '2020-01-01' + CAST(i AS INTEGER) AS day, CAST(i AS DOUBLE) AS f,
    INTERVAL (i) DAY AS v, TIMESTAMP '2020-01-01' + INTERVAL (i) SECOND AS m, TIME '00:00:00' + INTERVAL (i) SECOND AS clock, ('x' || i)::BLOB AS raw,
    [i, NULL, i + 1] AS l, [{secret} || i] AS ls, {{'a': i, 'b': {secret} || i}} AS st, MAP {{'k' || i: i}} AS mp, [i, i + 1]::BIGINT[2] AS fl,
    CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END::ENUM('even', 'odd', 'neither') AS e, union_value(n := i)::UNION(n BIGINT, t VARCHAR) AS u,
    i::HUGEINT AS h, i::UTINYINT % 7 AS small, uuid() IS NULL AS never, NULL AS nothing, i::TINYINT AS tiny, i::FLOAT AS r4
    FROM range(120) r(i)
"""  # noqa: E501


@pytest.mark.parametrize("limit", [1, 7, 8, 61, 119])
@pytest.mark.parametrize(
    "ask",
    [
        "SELECT * FROM t ORDER BY i",
        "SELECT * FROM t ORDER BY i DESC",
        "SELECT * FROM t WHERE i % 3 = 1",
        "SELECT * FROM t",
        "SELECT * FROM t WHERE i % 3 = 0",
    ],
)
def test_what_duckdb_left_in_memory_does_not_go_out(ask: str, limit: int, tmp_path: Path) -> None:
    with DuckDB(folder=tmp_path) as engine:
        engine.connection.execute("CREATE TABLE t AS " + EVERY.format(secret="'secret '"))
        stream = engine.stream(ask)
        stream.begin()
        batch = pa.Table.from_batches(list(stream)).combine_chunks().to_batches()[0].slice(0, limit)
        stream.close()
    body = body_of(ArrowEncoder(), batch.schema, [batch])
    plain = [
        at for at, field in enumerate(batch.schema) if not pa.types.is_union(field.type)
    ]  # of which Arrow can make none from values
    assert pa.ipc.open_stream(body).read_all().to_pylist() == batch.to_pylist()
    body = body_of(ArrowEncoder(), batch.select(plain).schema, [batch.select(plain)])
    assert body == encoded_again(body)
