"""The answer to a query of PostgreSQL as a stream:
sent as CSV, which Arrow reads faster than Python could make values.
"""

from __future__ import annotations

import json
import selectors
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any

from tacit.engines.postgres.copy import MOST_DIGITS
from tacit.engines.postgres.session import CONNECT_SECONDS, explaining
from tacit.engines.streams import (
    BATCH_ROWS,
    NUMBER,
    AnswerStream,
    FailsOnRows,
    LongRow,
    Stopped,
    arrow,
    is_number,
)
from tacit.errors import EngineError

# Arrow's types for PostgreSQL's, by their numbers in pg_type;
# numeric is apart, and all others are text.
ARROW_TYPES = {
    16: "bool",
    20: "int64",
    21: "int16",
    23: "int32",
    700: "float",
    701: "double",
    1082: "date32[day]",
}
TIMESTAMP, TIMESTAMP_TZ, NUMERIC = 1114, 1184, 1700
OWN_WORDS = {16, 700, 701, TIMESTAMP, TIMESTAMP_TZ}
STREAM_BYTES = 1 << 20
MOST_ROW = 1 << 31  # bytes: more than PostgreSQL itself sends
ON_ROWS = ("21", "22")  # classes of errors: two rows where one is due, and what cannot be computed
ZEROS = r"^(-?[0-9]+)(\.0+|(\.[0-9]*[1-9])0+)$"  # a number that ends in zeros behind the point


class PostgresStream(AnswerStream):
    """A query of PostgreSQL.

    It is prepared first: it must be one whole statement, so that
    nothing in it can end the COPY around it.
    """

    def __init__(self, sql: str, connection: Any) -> None:
        super().__init__(sql)
        self._connection = connection
        self._reader: ThreadPoolExecutor | None = None
        self._ahead: Future[Any] | None = None

    def begin(self) -> None:
        """Take a new snapshot and start to copy."""
        from psycopg import pq

        with self._until_stopped():
            described = self._prepared()
            # What PostgreSQL writes otherwise than we do: t and f, the space in a timestamp, NaN,
            # zeros at the end of a number.
            self.writes_csv = not any(
                described.ftype(number) in OWN_WORDS or is_number(self.schema.field(number))
                for number in range(described.nfields)
            )
            if self._stopped:
                raise Stopped
            copied = self._connection.pgconn.exec_(
                b"COPY (" + self._sql.encode() + b"\n) TO STDOUT (FORMAT csv)"
            )
            self._check(copied, pq.ExecStatus.COPY_OUT)

    def describe(self) -> None:
        """Prepare the query, and run nothing."""
        with self._until_stopped():
            self._prepared()

    def estimate(self) -> float:
        """The total cost, as EXPLAIN says it."""
        from psycopg import pq

        with self._until_stopped():
            self._prepared()
            explained = self._connection.pgconn.exec_(
                b"EXPLAIN (FORMAT JSON) " + self._sql.encode()
            )
            self._check(explained, pq.ExecStatus.TUPLES_OK)
            [plan] = json.loads(explained.get_value(0, 0))
            return float(plan["Plan"]["Total Cost"])

    def __iter__(self) -> Iterator[Any]:
        with self._until_stopped():
            for block, _ in self._read_ahead(self._blocks()):
                yield from normalized_numbers(read_block(block, self.schema)).to_batches(
                    max_chunksize=BATCH_ROWS
                )

    def csv(self, most: int) -> Iterator[tuple[bytes | bytearray, int]]:
        """The lines as they come from the server."""
        with self._until_stopped():
            yield from self._read_ahead(self._blocks(most))

    def close(self) -> None:
        """End the transaction; where rows are still to come the server is told to stop, and the
        rest is read away.
        """
        from psycopg import pq

        copying = self._connection.pgconn
        if (
            not self._connection.closed
            and copying.transaction_status == pq.TransactionStatus.ACTIVE
        ):
            self._interrupt()
            if self._ahead is not None:
                wait([self._ahead])
            with suppress(Exception):  # what the server says of a copy that was cut short
                while copying.get_copy_data(0)[0] > 0:
                    pass
            while copying.get_result() is not None:
                pass
        if self._reader is not None:
            self._reader.shutdown(wait=False)
        if not self._connection.closed:
            self._connection.rollback()

    def _prepared(self) -> Any:
        """The query, prepared in a new transaction that only reads, and described."""
        from psycopg import pq

        self._connection.rollback()
        self._connection.execute("SELECT")  # begins the transaction
        prepared = self._connection.pgconn.prepare(b"", self._sql.encode())
        self._check(prepared, pq.ExecStatus.COMMAND_OK)
        described = self._check(
            self._connection.pgconn.describe_prepared(b""), pq.ExecStatus.COMMAND_OK
        )
        self.schema = schema_of(described)
        return described

    def _interrupt(self) -> None:
        """Ask the server to cancel what this session does."""
        if not self._connection.closed:
            self._connection.cancel_safe(timeout=CONNECT_SECONDS)

    def _read_ahead(
        self, blocks: Iterator[tuple[bytearray, int]]
    ) -> Iterator[tuple[bytearray, int]]:
        """The blocks; from the second on each is received while the one before is worked on."""
        block = next(blocks, None)
        while block is not None:
            if self._reader is None:
                self._reader = ThreadPoolExecutor(1, thread_name_prefix="tacit-copy")
            self._ahead = self._reader.submit(next, blocks, None)
            yield block
            block = self._ahead.result()

    def _blocks(self, most: int | None = None) -> Iterator[tuple[bytearray, int]]:
        """Whole lines with their number, about as many at a time as fit STREAM_BYTES;
        one part ends after `most` rows.

        The server sends each row by itself, so for each row as little is done as can be: the size
        of the block is looked at only when all that has come is read, which is no more than libpq's
        buffer holds.
        """
        from psycopg import pq

        copying, longest = self._connection.pgconn, self.most_row or MOST_ROW
        receive, block, rows, left, size = copying.get_copy_data, bytearray(), 0, most or -1, 0
        with selectors.DefaultSelector() as arriving:
            arriving.register(copying.socket, selectors.EVENT_READ)
            while size >= 0:
                while rows != left:
                    size, row = receive(1)
                    if size <= 0:
                        break
                    if size > longest:
                        raise LongRow(longest)
                    # keeping the rows themselves until there are many takes seven times as long
                    block += row
                    rows += 1
                if len(block) >= STREAM_BYTES or rows == left:
                    yield block, rows
                    block, rows, left = bytearray(), 0, left - rows or -1
                elif size == 0:
                    arriving.select()
                    copying.consume_input()
        while (result := copying.get_result()) is not None:
            self._check(result, pq.ExecStatus.COMMAND_OK)
        if block:
            yield block, rows

    def _check(self, result: Any, expected: Any) -> Any:
        from psycopg import errors

        if result.status != expected:
            raise errors.error_from_result(result, encoding="utf-8")
        return result

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """PostgreSQL's errors as ours; those of data hold a value of the row."""
        from psycopg import Error

        with explaining():
            try:
                yield
            except Error as error:
                if (error.sqlstate or "")[:2] in ON_ROWS:
                    raise FailsOnRows from None
                raise


def schema_of(described: Any) -> Any:
    """Arrow's schema for a query that PostgreSQL described.

    A numeric with a declared number of digits is a decimal;
    one without is text that is marked as a number.
    """
    pa = arrow()

    def field(number: int) -> Any:
        name, code, modifier = (
            described.fname(number).decode(),
            described.ftype(number),
            described.fmod(number),
        )
        if code == NUMERIC:
            digits, after = (
                (modifier - 4) >> 16,
                ((modifier - 4) & 0x7FF ^ 0x400) - 0x400,
            )  # 11 bits with a sign
            exact = modifier >= 4 and digits <= MOST_DIGITS and 0 <= after <= digits
            return (
                pa.field(name, pa.decimal128(digits, after))
                if exact
                else pa.field(name, pa.string(), metadata=NUMBER)
            )
        if code in (TIMESTAMP, TIMESTAMP_TZ):
            return pa.field(name, pa.timestamp("us", "UTC" if code == TIMESTAMP_TZ else None))
        return pa.field(name, pa.type_for_alias(ARROW_TYPES.get(code, "string")))

    return pa.schema([field(number) for number in range(described.nfields)])


def normalized_numbers(table: Any) -> Any:
    """The table with numbers that are equal written alike, without zeros at their end.

    Of 1.5 and 1.50 PostgreSQL shows the one that it met first, where it shows one (DISTINCT, GROUP
    BY, max): which one that is depends on how it works, and that on all rows, also on those that
    the answer leaves out.

    >>> normalized_numbers(
    ...     arrow().table(
    ...         {"x": ["1.50", "10", "2.000", "NaN", None]},
    ...         schema=arrow().schema([arrow().field("x", "string", metadata=NUMBER)]),
    ...     )
    ... )["x"].to_pylist()
    ['1.5', '10', '2', 'NaN', None]
    """
    import pyarrow.compute as pc

    for at, field in enumerate(table.schema):
        if is_number(field):
            table = table.set_column(
                at, field, pc.replace_substring_regex(table.column(at), ZEROS, r"\1\3")
            )
    return table


def read_block(block: bytearray, schema: Any) -> Any:
    """Lines of CSV as PostgreSQL writes them, as a table of Arrow.

    >>> pa = arrow()
    >>> read_block(
    ...     bytearray(b'1,""\\n,\\n'), pa.schema([("a", pa.int64()), ("b", pa.string())])
    ... ).to_pylist()
    [{'a': 1, 'b': ''}, {'a': None, 'b': None}]
    """
    pa = arrow()
    try:
        return read_typed(block, schema)
    except pa.ArrowInvalid:
        # A decimal that is no number (NaN) is missing, as everywhere here;
        # what else Arrow has not is said.
        plain = pa.schema(
            [
                pa.field(one.name, pa.string()) if pa.types.is_decimal(one.type) else one
                for one in schema
            ]
        )
    try:
        table = read_typed(block, plain)
        columns = [
            numbers_only(column).cast(wanted.type) if pa.types.is_decimal(wanted.type) else column
            for column, wanted in zip(table.columns, schema, strict=True)
        ]
        return pa.table(columns, schema=schema)
    except pa.ArrowInvalid:
        raise EngineError(
            "the answer holds a date or a number that Arrow has not (infinity, or a year "
            "before 1).",
            hint="Leave it out, or ask for it as text: CAST(... AS TEXT).",
        ) from None


def numbers_only(column: Any) -> Any:
    """A column of text in which what is not a finite number is missing."""
    import pyarrow.compute as pc

    return pc.if_else(pc.match_substring_regex(column, "^-?[0-9]"), column, None)


def read_typed(block: bytearray, schema: Any) -> Any:
    """Lines of CSV as a table of the given types.
    Names do not matter here: two columns may have the same.
    """
    from pyarrow import csv

    names = [str(number) for number in range(len(schema))]
    table = csv.read_csv(
        arrow().BufferReader(block),
        csv.ReadOptions(column_names=names, block_size=len(block) + 1, use_threads=False),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=dict(zip(names, schema.types, strict=True)),
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return arrow().table(table.columns, schema=schema)
