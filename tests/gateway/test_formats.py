"""The same rows as JSON, CSV and Arrow."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engines.streams import NUMBER
from tacit.gateway.http.formats import (
    ARROW,
    CSV,
    JSON,
    ArrowEncoder,
    CsvEncoder,
    Encoder,
    JsonEncoder,
    Piece,
    wanted,
)
from tacit.gateway.policy.refusals import Refusal

TYPES = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.string(): st.text(st.characters(codec="utf-8"), max_size=8),
    pa.float64(): st.floats(),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
    pa.decimal128(20, 4): st.decimals(-(10**15), 10**15, places=4),
    pa.list_(pa.int64()): st.lists(st.integers(-9, 9), max_size=2),
    pa.binary(): st.binary(max_size=3),
}


@st.composite
def batches(draw: Any) -> list[pa.RecordBatch]:
    kinds = draw(st.lists(st.sampled_from(list(TYPES)), min_size=1, max_size=4))
    schema = pa.schema(
        [pa.field(draw(st.sampled_from(["a", "b", 'x"y', "é,"])), kind) for kind in kinds]
    )
    made = []
    for size in draw(st.lists(st.integers(1, 4), max_size=3)):
        columns = [
            pa.array([draw(st.none() | TYPES[kind]) for _ in range(size)], kind) for kind in kinds
        ]
        made.append(pa.record_batch(columns, schema=schema))
    return [pa.record_batch([pa.array([], kind) for kind in kinds], schema=schema), *made]


def whole(encoder: Encoder, found: list[pa.RecordBatch], *, truncated: bool = False) -> bytes:
    parts: Piece = [encoder.start(found[0].schema)]
    for batch in found[1:]:
        parts += encoder.batch(batch)
    return b"".join([*parts, encoder.end(truncated)])


def expected(value: Any) -> Any:
    """A value as JSON has it, worked out one by one."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    return str(value) if isinstance(value, date) else value


@settings(max_examples=600, deadline=None)
@given(batches(), st.booleans())
def test_json_says_what_the_batches_hold(found: list[pa.RecordBatch], truncated: bool) -> None:
    told = json.loads(whole(JsonEncoder(), found, truncated=truncated), parse_float=Decimal)
    values = [
        list(row)
        for batch in found
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    assert told["truncated"] is truncated
    assert [column["name"] for column in told["columns"]] == found[0].schema.names
    assert len(told["rows"]) == len(values)
    for got, row in zip(told["rows"], values, strict=True):
        for one, value in zip(got, map(expected, row), strict=True):
            assert float(one) == value if isinstance(value, float) else one == value


@settings(max_examples=60, deadline=None)
@given(batches())
def test_json_is_the_same_text_in_one_batch_or_row_by_row(found: list[pa.RecordBatch]) -> None:
    rows = [batch.slice(number, 1) for batch in found for number in range(batch.num_rows)]
    assert whole(JsonEncoder(), [found[0], *rows]) == whole(JsonEncoder(), found)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("texts", "rows"),
    [
        (["a", "é😀", "\x7f, ]["], '["a",1],["é😀",1],["\x7f, ][",1]'),
        (["", "b"], '["",1],["b",1]'),
        (["a", None], '["a",1],[null,1]'),
        ([None, None], "[null,1],[null,1]"),
        (["a", '"', "\\", "\n", "\0"], r'["a",1],["\"",1],["\\",1],["\n",1],["\u0000",1]'),
        (["a", None, "\t"], r'["a",1],[null,1],["\t",1]'),
        (["x" * 5_000_000], '["' + "x" * 5_000_000 + '",1]'),
    ],
)
def test_texts_in_json(texts: list[str | None], rows: str, kind: pa.DataType) -> None:
    batch = pa.record_batch([pa.array(texts, kind), pa.array([1] * len(texts))], names=["t", "n"])
    encoder = JsonEncoder()
    encoder.start(batch.schema)
    assert [b"".join(encoder.batch(batch)).decode() for _ in range(2)] == [rows, "," + rows]


def test_rows_without_columns_are_rows() -> None:
    encoder = JsonEncoder()
    encoder.start(pa.schema([]))
    batch = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert batch.num_rows == 2 and b"".join(encoder.batch(batch)) == b"[],[]"


@settings(max_examples=400, deadline=None)
@given(batches())
def test_csv_has_a_field_for_each_value_and_tells_missing_from_empty(
    found: list[pa.RecordBatch],
) -> None:
    text = whole(CsvEncoder(), found).decode()
    head, *rows = list(csv.reader(io.StringIO(text, newline="")))
    assert head == found[0].schema.names
    values = [
        row
        for batch in found
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    rows = [row or [""] for row in rows]  # a line without anything is a single missing value
    assert len(rows) == len(values)
    for got, row in zip(rows, values, strict=True):
        for one, value in zip(got, row, strict=True):
            if value is None:
                assert one == ""
            elif isinstance(value, str | int | bytes | list):
                assert one == (
                    str(value).lower() if isinstance(value, bool) else str(expected(value))
                )


@settings(max_examples=200, deadline=None)
@given(batches(), st.booleans())
def test_arrow_is_the_same_table(found: list[pa.RecordBatch], truncated: bool) -> None:
    reader = pa.ipc.open_stream(whole(ArrowEncoder(), found, truncated=truncated))
    marks, got = [], []
    while True:
        try:
            batch, metadata = reader.read_next_batch_with_custom_metadata()
        except StopIteration:
            break
        got.append(batch)
        marks.append(metadata)
    assert repr(pa.Table.from_batches(got, found[0].schema).to_pydict()) == repr(
        pa.Table.from_batches(found).to_pydict()
    )
    assert (
        bool(marks) and marks[-1] is not None and marks[-1].get(b"tacit.truncated") == b"true"
    ) is truncated


def test_arrow_is_not_copied_where_nothing_is_missing() -> None:
    batch = pa.record_batch([pa.array(range(1000)), pa.array(["x"] * 1000)], ["n", "x"])
    encoder = ArrowEncoder()
    encoder.start(batch.schema)
    sent = {pa.py_buffer(part).address for part in encoder.batch(batch)}
    assert {
        buffer.address
        for column in batch.columns
        for buffer in column.buffers()
        if buffer is not None
    } <= sent


FIXED = [
    pa.bool_(),
    pa.int8(),
    pa.uint16(),
    pa.int32(),
    pa.float32(),
    pa.float64(),
    pa.date32(),
    pa.timestamp("us"),
    pa.time64("us"),
    pa.duration("us"),
    pa.decimal128(38, 2),
    pa.decimal256(60, 2),
    pa.month_day_nano_interval(),
    pa.binary(4),
]


def sent(column: pa.Array) -> bytes:
    batch = pa.record_batch([column], ["x"])
    return whole(ArrowEncoder(), [batch, batch])


@pytest.mark.parametrize("kind", FIXED, ids=str)
def test_what_lies_beneath_missing_values_does_not_go_out(kind: pa.DataType) -> None:
    """The database leaves there what it had in memory, such as values of rows that the query
    does not select.
    """
    plain, secret = bytes(9 * kind.bit_width // 8 + 2), b"\xff" * (9 * kind.bit_width // 8 + 2)
    for start, end in ((0, 8), (3, 8), (0, 3)):
        told = {
            sent(
                pa.Array.from_buffers(kind, 8, [pa.py_buffer(b"\0"), pa.py_buffer(under)])[
                    start:end
                ]
            )
            for under in (plain, secret)
        }
        assert len(told) == 1


def test_the_present_ones_among_missing_values_stay() -> None:
    column = pa.array([1, None, 3, None, 5])
    hidden = pa.Array.from_buffers(
        pa.int64(), 5, [column.buffers()[0], pa.array([1, 77, 3, 77, 5]).buffers()[1]]
    )
    for one in (
        hidden,
        hidden[1:],
        hidden[:4],
        pa.array([[1, None], None]),
        pa.array([{"a": None, "b": "x"}, None]),
        pa.array(["a", None]),
    ):
        body = sent(one)
        assert pa.ipc.open_stream(body).read_all().column("x").to_pylist() == one.to_pylist()
        assert b"\x4d" + bytes(7) not in body


def test_text_beneath_a_missing_value_does_not_go_out() -> None:
    offsets = pa.py_buffer(np.array([0, 6, 7], dtype=np.int32))
    hidden = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\x02"), offsets, pa.py_buffer(b"Cancerx")]
    )
    body = sent(hidden)
    assert pa.ipc.open_stream(body).read_all().column("x").to_pylist() == [None, "x"]
    assert b"Cancer" not in body


def test_infinity_and_nan_are_null_in_json_only() -> None:
    values = pa.array([math.inf, -math.inf, math.nan, None])
    found = [pa.record_batch([values[:0]], names=["n"]), pa.record_batch([values], names=["n"])]
    assert b'"rows": [[null],[null],[null],[null]]' in whole(JsonEncoder(), found)
    assert whole(CsvEncoder(), found).split() == [b'"n"', b"inf", b"-inf", b"nan"]
    assert (
        str(pa.ipc.open_stream(whole(ArrowEncoder(), found)).read_all().column("n").to_pylist())
        == "[inf, -inf, nan, None]"
    )


def test_numbers_without_declared_digits() -> None:
    schema = pa.schema([pa.field("n", pa.string(), metadata=NUMBER)])
    found = [
        pa.record_batch([pa.array(values, pa.string())], schema=schema)
        for values in ([], ["1.10", "NaN", None, "123456789012345678901234567890.5"])
    ]
    assert whole(JsonEncoder(), found) == (
        b'{"columns": [{"name": "n", "type": "decimal"}], "rows": '
        b'[[1.10],[null],[null],[123456789012345678901234567890.5]], "truncated": false}'
    )
    column = pa.ipc.open_stream(whole(ArrowEncoder(), found)).read_all().column("n").to_pylist()
    assert column[0] == 1.1 and math.isnan(column[1]) and column[2] is None


def test_words_from_a_list_and_times_with_a_zone() -> None:
    words = pa.array(["a", None, "a"]).dictionary_encode()
    times = pa.array([datetime(2024, 1, 1, 12)] * 3, pa.timestamp("us", "Europe/Berlin"))
    found = [pa.record_batch([words, times], names=["w", "t"])]
    found = [found[0].slice(0, 0), *found]
    rows = json.loads(whole(JsonEncoder(), found))["rows"]
    assert rows[1] == [None, "2024-01-01T12:00:00.000000Z"]
    assert b'"a","2024-01-01T12:00:00.000000Z"' in whole(CsvEncoder(), found)
    assert pa.ipc.open_stream(whole(ArrowEncoder(), found)).read_all().column("w").to_pylist() == [
        "a",
        None,
        "a",
    ]


@pytest.mark.parametrize(
    ("accept", "type_"),
    [
        (b"*/*", JSON),
        (b"application/json", JSON),
        (b"text/csv", CSV),
        (b"TEXT/CSV", CSV),
        (b"application/*", JSON),
        (b"text/*", CSV),
        (b"text/html, text/csv;q=0.1", CSV),
        (b"application/vnd.apache.arrow.stream", ARROW),
        (b"application/json;q=0, */*", CSV),
        (b"text/csv;q=0.5,application/json;q=0.4", CSV),
        (b"text/html,application/xhtml+xml,*/*;q=0.8", JSON),
        (b"text/csv; charset=utf-8", CSV),
    ],
)
def test_the_favourite_type_is_taken(accept: bytes, type_: str) -> None:
    assert wanted(accept) == type_


@pytest.mark.parametrize(
    "accept",
    [
        b"text/html",
        b"image/*",
        b"application/json;q=0",
        b"*/*;q=nan",
        b"x" * 2000,
        b";;;",
        b"text/csv;q=x",
    ],
)
def test_other_types_are_refused(accept: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        wanted(accept)
    assert caught.value.status == 406
