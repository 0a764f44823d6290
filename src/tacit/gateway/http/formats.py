"""Answers as JSON, CSV or Arrow: batches in, bytes out, one batch at a time."""

from __future__ import annotations

import io
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, ipc

from tacit.engines.streams import is_number
from tacit.gateway.http.compact import compact
from tacit.gateway.policy.refusals import Refusal

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
MOST_ACCEPT = 1_000
NEEDS_ESCAPE = '["\\\\\\x00-\\x1f]'
SPACE, QUOTE, BACKSLASH = b' "\\'
FORMULA = r"\A[=+\-@\t\r]"  # what begins so is run by spreadsheets
FORMULA_HERE = re.compile(rf"(?={FORMULA})")
TRUNCATED = {b"tacit.truncated": b"true"}


Part = bytes | bytearray | memoryview
Piece = list[Part]  # the parts stand one after the other; nothing is copied to make them one


class Encoder(ABC):
    """Turns the batches of one answer into bytes.
    What `start`, `batch` and `end` give, in order, is the whole body.

    Where `costly` a batch takes a while, and after the first nothing is remembered from one to the
    next: several may be encoded at the same time.
    """

    content_type: str
    costly = True
    rows_wanted = True  # False: only what the answer would look like

    @abstractmethod
    def start(self, schema: pa.Schema) -> bytes:
        """What stands before the first row."""

    @abstractmethod
    def batch(self, batch: pa.RecordBatch) -> Piece:
        """Some rows."""

    @abstractmethod
    def end(self, truncated: bool) -> bytes:
        """What stands after the last row."""


class JsonEncoder(Encoder):
    """`{"columns": [{"name", "type"}], "rows": [[...]], "truncated": false}`;
    numbers keep all their digits.
    """

    content_type = JSON

    def start(self, schema: pa.Schema) -> bytes:
        """Names and types of the columns."""
        self._marked = [is_number(field) for field in schema]
        self._some = False
        columns = [{"name": field.name, "type": kind_of(field)} for field in schema]
        return b'{"columns": ' + json.dumps(columns, ensure_ascii=False).encode() + b', "rows": ['

    def batch(self, batch: pa.RecordBatch) -> Piece:
        """Rows as arrays. Each begins with a comma, so that Arrow's own buffer of all rows is
        the text, and is not copied.
        """
        parts: list[pa.Array | str] = []
        between = ",["
        for column, marked in zip(batch.columns, self._marked, strict=True):
            before, texts, after = json_texts(column, marked)
            parts += [between + before, texts]
            between = after + ","
        parts.append(between[:-1] + "]")
        rows = (
            pc.binary_join_element_wise(*parts, "")
            if batch.num_columns
            else pa.array([",[]"] * batch.num_rows)
        )
        text = bytes_of(rows)
        text, self._some = text[0 if self._some else 1 :], True
        return [text]

    def end(self, truncated: bool) -> bytes:
        """Whether rows were left out."""
        return b'], "truncated": ' + (b"true" if truncated else b"false") + b"}"


class CsvEncoder(Encoder):
    """CSV with a header. Text is in quotes, a missing value is nothing at all. `harmless`: a text
    that a spreadsheet would run as a formula begins with an apostrophe.
    """

    content_type = CSV + "; charset=utf-8; header=present"
    harmless = False

    def start(self, schema: pa.Schema) -> bytes:
        """The line with the names."""
        self._marked = [is_number(field) for field in schema]
        names = [FORMULA_HERE.sub("'", name) if self.harmless else name for name in schema.names]
        return ",".join('"' + name.replace('"', '""') + '"' for name in names).encode() + b"\n"

    def batch(self, batch: pa.RecordBatch) -> Piece:
        """Rows as lines."""
        if self.harmless:
            batch = without_formulas(batch, self._marked)
        if any(self._marked):
            fields = [
                csv_fields(column, marked)
                for column, marked in zip(batch.columns, self._marked, strict=True)
            ]
            lines = pc.binary_join_element_wise(*fields, ",")
            return [bytes_of(pc.binary_join_element_wise(lines, "\n", ""))]
        plain = pa.record_batch(
            [csv_column(column) for column in batch.columns],
            names=list(map(str, range(batch.num_columns))),
        )
        sink = io.BytesIO()
        csv.write_csv(
            plain, sink, csv.WriteOptions(include_header=False, batch_size=max(1, batch.num_rows))
        )
        return [sink.getbuffer()]

    def end(self, truncated: bool) -> bytes:
        """Nothing: CSV has no place for it."""
        return b""


class ArrowEncoder(Encoder):
    """Arrow's stream format. Where rows were left out the last batch is
    empty and says so in its metadata.

    Columns without missing values are not copied:
    the pieces are the memory that the engine wrote them to.
    """

    content_type = ARROW
    costly = False

    def start(self, schema: pa.Schema) -> bytes:
        """Nothing yet: the writer has the schema. Numbers of which no digits were declared are
        doubles, words from a list are text.
        """
        self._schema = pa.schema([pa.field(field.name, arrow_type(field)) for field in schema])
        self._written = Collected()
        self._writer = ipc.new_stream(self._written, self._schema)
        return b""

    def batch(self, batch: pa.RecordBatch) -> Piece:
        """Rows as a record batch, after the schema where it is the first;
        nothing goes out that is no row, see `compact`.
        """
        if not batch.schema.equals(self._schema):
            columns = [
                column.cast(field.type)
                for column, field in zip(compact(batch).columns, self._schema, strict=True)
            ]
            batch = pa.record_batch(columns, schema=self._schema)
        self._writer.write_batch(compact(batch))
        return self._written.taken()

    def end(self, truncated: bool) -> bytes:
        """The end of the stream; before it the schema, where there was no batch."""
        if truncated:
            nothing = pa.record_batch(
                [pa.array([], field.type) for field in self._schema], schema=self._schema
            )
            self._writer.write_batch(nothing, custom_metadata=TRUNCATED)
        self._writer.close()
        return b"".join(self._written.taken())


class Collected(io.RawIOBase):
    """A file for Arrow's writer that keeps what is written as it is:
    memory of whole columns, and a few bytes between them.
    """

    def __init__(self) -> None:
        self._parts: Piece = []

    def writable(self) -> bool:
        """It is written only."""
        return True

    def write(self, part: Any) -> int:
        """Keep a part; Arrow changes none that it has written."""
        self._parts.append(memoryview(part))
        return len(self._parts[-1])

    def taken(self) -> Piece:
        """What was written since the last time."""
        taken, self._parts = self._parts, []
        return taken


ENCODERS: Mapping[str, Callable[[], Encoder]] = {
    JSON: JsonEncoder,
    CSV: CsvEncoder,
    ARROW: ArrowEncoder,
}


def encoder_for(accept: bytes | None) -> Encoder:
    """The encoder for what a client accepts: its favourite, JSON where it has none;
    status 406 where we have none of it.
    """
    return ENCODERS[wanted(accept or b"*/*")]()


@lru_cache(maxsize=100)
def wanted(accept: bytes) -> str:
    """The media type that fits an Accept header best.

    >>> (
    ...     wanted(b"text/csv;q=0.5, application/vnd.apache.arrow.stream"),
    ...     wanted(b"text/*"),
    ...     wanted(b"*/*"),
    ... )
    ('application/vnd.apache.arrow.stream', 'text/csv', 'application/json')
    """
    weights = read_accept(accept.decode("latin-1")) if len(accept) <= MOST_ACCEPT else {}
    best, most = None, 0.0
    for known in ENCODERS:
        family = known.split("/")[0] + "/*"
        weight = next((weights[one] for one in (known, family, "*/*") if one in weights), 0.0)
        if weight > most:
            best, most = known, weight
    if best is None:
        raise Refusal(
            406,
            "accept",
            "answers come in none of the accepted types.",
            hint=f"Accept one of: {', '.join(ENCODERS)}.",
        )
    return best


def read_accept(accept: str) -> dict[str, float]:
    """The media types of an Accept header with their weights, from 0 to 1;
    what is not understood counts as 0.
    """
    weights: dict[str, float] = {}
    for part in accept.split(","):
        name, *parameters = (one.strip().lower() for one in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    weight = min(1.0, max(0.0, float(parameter[2:])))
                except ValueError:
                    weight = 0.0
        if name:
            weights[name] = max(weight, weights.get(name, 0.0)) if weight == weight else 0.0
    return weights


def arrow_type(field: pa.Field) -> pa.DataType:
    """The type of a column in Arrow's format."""
    if is_number(field):
        return pa.float64()
    return field.type.value_type if pa.types.is_dictionary(field.type) else field.type


def kind_of(field: pa.Field) -> str:
    """A column's type in the words of the plan.

    >>> kind_of(pa.field("a", pa.int32())), kind_of(pa.field("b", pa.list_(pa.int8())))
    ('integer', 'text')
    """
    kind, is_a = field.type, pa.types
    if is_a.is_integer(kind):
        return "integer"
    if is_number(field) or is_a.is_decimal(kind) or is_a.is_floating(kind):
        return "decimal"
    if is_a.is_boolean(kind):
        return "boolean"
    if is_a.is_date(kind):
        return "date"
    return "timestamp" if is_a.is_timestamp(kind) else "text"


def json_texts(column: pa.Array, number: bool) -> tuple[str, pa.Array, str]:
    """The values of a column as JSON, nothing missing, and what still has to stand before and after
    each of them.

    >>> before, texts, after = json_texts(pa.array(["a", "b"]), False)
    >>> before, texts.to_pylist(), after
    ('"', ['a', 'b'], '"')
    """
    kind, is_a = column.type, pa.types
    if is_a.is_null(kind):
        return "", pa.array(["null"] * len(column)), ""
    if is_a.is_boolean(kind):
        texts = pc.if_else(column, "true", "false")
    elif is_a.is_integer(kind) or is_a.is_decimal(kind):
        texts = column.cast(pa.string())
    elif is_a.is_floating(kind):
        texts = pc.if_else(pc.is_finite(column), column.cast(pa.string()), None)
    elif number:
        texts = pc.if_else(pc.match_substring_regex(column, "^-?[0-9]"), column, None)
    else:
        texts = texts_of(column)
        if not texts.null_count and not needs_escape(texts):
            return '"', texts, '"'  # quotes that come with the commas cost nothing
        texts = quoted(texts)
    return "", pc.fill_null(texts, "null"), ""


def quoted(texts: pa.Array) -> pa.Array:
    """Texts as JSON strings; only those that need it are escaped one by one."""
    found = pc.binary_join_element_wise('"', texts, '"', "")
    if not needs_escape(texts):
        return found
    special = pc.match_substring_regex(texts, NEEDS_ESCAPE)
    escaped = [json.dumps(text, ensure_ascii=False) for text in texts.filter(special).to_pylist()]
    return pc.replace_with_mask(found, pc.fill_null(special, False), pa.array(escaped, found.type))


def needs_escape(texts: pa.Array) -> bool:
    """Does any text hold what JSON writes otherwise? All are looked at as one:
    that is many times faster than one by one.
    """
    found = np.frombuffer(bytes_of(texts), np.uint8)
    return bool((found < SPACE).any() or (found == QUOTE).any() or (found == BACKSLASH).any())


def bytes_of(texts: pa.Array) -> memoryview:
    """The bytes of all texts, one after the other, not copied.

    >>> bytes(bytes_of(pa.array(["a", None, "bc", "d"])[1:3]))
    b'bc'
    """
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return memoryview(b"")
    ends = np.frombuffer(offsets, np.int32)
    return memoryview(data)[ends[texts.offset] : ends[texts.offset + len(texts)]]


def texts_of(column: pa.Array) -> pa.Array:
    """The values of a column as text: dates and times as ISO has them, bytes as \\x and digits,
    what has parts as JSON.
    """
    kind, is_a = column.type, pa.types
    if is_a.is_dictionary(kind):
        return texts_of(column.dictionary_decode())
    if is_a.is_string(kind) or is_a.is_large_string(kind):
        return column.cast(pa.string())
    if is_a.is_timestamp(kind):
        moments = column.cast(pa.timestamp(kind.unit, "UTC")) if kind.tz else column
        return pc.replace_substring(moments.cast(pa.string()), " ", "T", max_replacements=1)
    if is_a.is_date(kind) or is_a.is_time(kind):
        return column.cast(pa.string())
    return pa.array(
        [None if value is None else text_of(value) for value in column.to_pylist()], pa.string()
    )


def text_of(value: Any) -> str:
    """One value of a rare type as text.

    >>> text_of(b"ab"), text_of([1, None])
    ('\\\\x6162', '[1, null]')
    """
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    return (
        json.dumps(value, default=str, ensure_ascii=False)
        if isinstance(value, list | dict | tuple)
        else str(value)
    )


def csv_fields(column: pa.Array, number: bool) -> pa.Array:
    """A column as fields of CSV, for answers with numbers that Arrow has as text:
    its own writer would put them into quotes.

    >>> (
    ...     csv_fields(pa.array(["1.5", None]), True).to_pylist(),
    ...     csv_fields(pa.array(['6" of', None]), False).to_pylist(),
    ... )
    (['1.5', ''], ['"6"" of"', ''])
    """
    plain = column if number else csv_column(column)
    if number or not pa.types.is_string(plain.type):
        return pc.fill_null(plain.cast(pa.string()), "")
    return pc.fill_null(
        pc.binary_join_element_wise('"', pc.replace_substring(plain, '"', '""'), '"', ""), ""
    )


def without_formulas(batch: pa.RecordBatch, marked: Sequence[bool]) -> pa.RecordBatch:
    """The rows with an apostrophe before texts that a spreadsheet would run; numbers as they are.

    >>> batch = pa.record_batch([["=1+1", "a=1"], [-1, 2]], ["=x", "n"])
    >>> without_formulas(batch, [False, False]).to_pydict()
    {'=x': ["'=1+1", 'a=1'], 'n': [-1, 2]}
    """
    columns = [csv_column(column) for column in batch.columns]
    kept = [
        pc.replace_substring_regex(made, FORMULA, r"'\0")
        if is_text(made.type) and not number
        else column
        for column, made, number in zip(batch.columns, columns, marked, strict=True)
    ]
    return pa.record_batch(kept, names=batch.schema.names)


def is_text(kind: pa.DataType) -> bool:
    """Are the values of a type texts?"""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def csv_column(column: pa.Array) -> pa.Array:
    """A column as the writer of CSV takes it."""
    kind, is_a = column.type, pa.types
    if is_a.is_null(kind):
        return column.cast(pa.string())
    simple = (
        is_a.is_boolean(kind)
        or is_a.is_integer(kind)
        or is_a.is_floating(kind)
        or is_a.is_decimal(kind)
        or is_a.is_date(kind)
    )
    return column if simple else texts_of(column)
