"""Rows: the batches of an answer as messages of PostgreSQL's protocol, or as lines of a COPY.

All of a batch is put together by Arrow: for each row its head, and for each value its length and
its bytes. What comes out is one piece of memory that holds nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.gateway.http.formats import Encoder, Piece, bytes_of
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.postgres.types import column_of, fixed_bytes, text_values, type_of, values_of
from tacit.gateway.postgres.wire import WireColumn, packet

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # what begins a COPY in binary


class Described(Encoder):
    """An encoder that remembers what the answer looks like; nothing stands before the rows."""

    content_type = "application/x-postgresql"

    def __init__(self) -> None:
        self.schema: pa.Schema | None = None

    def start(self, schema: pa.Schema) -> bytes:
        """Nothing: what the rows look like is told apart from them."""
        self.schema = schema
        return b""

    def end(self, truncated: bool) -> bytes:
        """Nothing: how it ended is told apart from the rows."""
        return b""


class RowEncoder(Described):
    """Rows as DataRow messages. `formats` are those that the client asked for: none, one for all
    columns, or one for each.
    """

    def __init__(self, formats: Sequence[int] = ()) -> None:
        super().__init__()
        self._asked = formats

    def start(self, schema: pa.Schema) -> bytes:
        """Check that there is a format for every column."""
        super().start(schema)
        self.formats = formats_for(self._asked, len(schema))
        return b""

    def columns(self) -> list[WireColumn]:
        """What the client is told of the columns."""
        assert self.schema is not None
        return columns_of(self.schema, self._asked)

    def batch(self, batch: pa.RecordBatch) -> Piece:
        """Some rows."""
        values = [
            values_of(column, field, form)
            for column, field, form in zip(batch.columns, batch.schema, self.formats, strict=True)
        ]
        return [data_rows(values, batch.num_rows)]


def formats_for(asked: Sequence[int], count: int) -> list[int]:
    """The format of each column.

    >>> formats_for((), 2), formats_for((1,), 2), formats_for((0, 1), 2)
    ([0, 0], [1, 1], [0, 1])
    """
    if len(asked) not in (0, 1, count):
        raise Trouble("08P01", f"there are {len(asked)} formats for {count} columns.")
    return list(asked) if len(asked) == count else list(asked or (0,)) * count


def columns_of(schema: pa.Schema, formats: Sequence[int] = ()) -> list[WireColumn]:
    """What the client is told of an answer."""
    return [
        column_of(field, form)
        for field, form in zip(schema, formats_for(formats, len(schema)), strict=True)
    ]


def data_rows(values: Sequence[pa.Array], count: int) -> memoryview:
    """Values, column by column, as DataRow messages.

    >>> bytes(data_rows([pa.array([b"a", None])], 2))
    b'D\\x00\\x00\\x00\\x0b\\x00\\x01\\x00\\x00\\x00\\x01aD\\x00\\x00\\x00\\n\\x00\\x01\\xff\\xff\\xff\\xff'
    """
    return messages(b"D", values, count)


def messages(letter: bytes, values: Sequence[pa.Array], count: int) -> memoryview:
    """For each row a message: how many values, and for each value its length and its bytes."""
    sizes = [lengths(one) for one in values]
    heads = np.zeros(count, HEAD)
    heads["letter"], heads["columns"] = letter, len(values)
    heads["size"] = 6 + 4 * len(values) + sum(np.maximum(one, 0) for one in sizes)
    parts = [fixed_bytes(heads.view(np.uint8), 7, count)]
    for size, one in zip(sizes, values, strict=True):
        parts += [
            fixed_bytes(size.astype(">i4").view(np.uint8), 4, count),
            pc.fill_null(one, b"") if one.null_count else one,
        ]
    return bytes_of(pc.binary_join_element_wise(*parts, b""))


HEAD = np.dtype([("letter", "S1"), ("size", ">u4"), ("columns", ">u2")])
LINE = np.dtype([("letter", "S1"), ("size", ">u4")])


def lengths(values: pa.Array) -> Any:
    """How many bytes each value has, -1 where there is none."""
    return pc.fill_null(pc.binary_length(values), -1).to_numpy()


def split_rows(data: memoryview, most: int) -> tuple[memoryview, memoryview, int]:
    """The first rows, at most so many; the rest; and how many the first are.

    >>> rows = data_rows([pa.array([b"a", b"bc", None])], 3)
    >>> first, rest, count = split_rows(rows, 2)
    >>> count, len(rest), split_rows(rest, 2)[2]
    (2, 11, 1)
    """
    at = count = 0
    while count < most and at < len(data):
        at += 1 + int.from_bytes(data[at + 1 : at + 5])
        count += 1
    return data[:at], data[at:], count


# -- COPY ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CopyForm:
    """How a COPY writes: text, csv or binary, and what stands between and instead of values."""

    format: str = "text"
    header: bool = False
    delimiter: str | None = None
    null: str | None = None
    quote: str = '"'
    escape: str | None = None
    force_quote: bool = False

    def filled(self) -> CopyForm:
        """With what is not said as PostgreSQL has it."""
        csv = self.format == "csv"
        return replace(
            self,
            delimiter=self.delimiter or ("," if csv else "\t"),
            null=self.null if self.null is not None else ("" if csv else "\\N"),
            escape=self.escape or self.quote,
        )


class CopyEncoder(Described):
    """Rows as the data of a COPY ... TO STDOUT, each a CopyData message, as clients expect."""

    def __init__(self, form: CopyForm) -> None:
        super().__init__()
        self._form = form.filled()
        self._begun = False

    def head(self) -> bytes:
        """The message before the first row, if there is one."""
        assert self.schema is not None
        if not self._form.header or self._form.format == "binary":
            return b""
        names = [self._field(pa.array([name], pa.string()), False) for name in self.schema.names]
        return bytes(self._lines(names))

    def batch(self, batch: pa.RecordBatch) -> Piece:
        """Some rows."""
        if self._form.format == "binary":
            return self._binary(batch)
        fields = [
            self._field(text_values(column, type_of(field)).cast(pa.string()), True)
            for column, field in zip(batch.columns, batch.schema, strict=True)
        ]
        return [self._lines(fields or [pa.array([""] * batch.num_rows)])]

    def foot(self) -> bytes:
        """The message after the last row, if there is one."""
        before = b"" if self._begun else SIGNATURE
        return packet(b"d", before, b"\xff\xff") if self._form.format == "binary" else b""

    def _binary(self, batch: pa.RecordBatch) -> Piece:
        """Rows in binary. Before the first, in the same message, stands what they begin with."""
        values = [
            values_of(column, field, 1)
            for column, field in zip(batch.columns, batch.schema, strict=True)
        ]
        rows = messages(b"d", values, batch.num_rows)
        if self._begun:
            return [rows]
        self._begun = True
        first, rest, _ = split_rows(rows, 1)
        return [packet(b"d", SIGNATURE, bytes(first[5:])), rest]

    def _lines(self, fields: Sequence[pa.Array]) -> memoryview:
        between = pc.binary_join_element_wise(*fields, self._form.delimiter)
        lines = pc.binary_join_element_wise(between, "\n", "").cast(pa.binary())
        heads = np.zeros(len(lines), LINE)
        heads["letter"], heads["size"] = b"d", lengths(lines) + 4
        first = fixed_bytes(heads.view(np.uint8), 5, len(lines))
        return bytes_of(pc.binary_join_element_wise(first, lines, b""))

    def _field(self, words: pa.Array, forced: bool) -> pa.Array:
        """Values as fields of a line."""
        form = self._form
        assert form.delimiter is not None and form.null is not None and form.escape is not None
        if form.format == "text":
            for letter, written in ESCAPES:
                words = pc.replace_substring(words, letter, written)
            words = pc.replace_substring(words, form.delimiter, "\\" + form.delimiter)
            return pc.fill_null(words, form.null)
        odd = pc.equal(words, form.null)
        for letter in (form.delimiter, form.quote, "\n", "\r"):
            odd = pc.or_(odd, pc.match_substring(words, letter))
        odd = pc.or_(odd, pc.equal(words, "\\."))
        inner = words
        if form.escape != form.quote:
            inner = pc.replace_substring(inner, form.escape, form.escape * 2)
        inner = pc.replace_substring(inner, form.quote, form.escape + form.quote)
        quoted = pc.binary_join_element_wise(form.quote, inner, form.quote, "")
        if not (forced and form.force_quote):
            quoted = pc.if_else(odd, quoted, words)
        return pc.fill_null(quoted, form.null)


ESCAPES = (
    ("\\", "\\\\"),
    ("\b", "\\b"),
    ("\f", "\\f"),
    ("\n", "\\n"),
    ("\r", "\\r"),
    ("\t", "\\t"),
    ("\v", "\\v"),
)
