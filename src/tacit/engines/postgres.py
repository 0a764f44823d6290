"""PostgreSQL: the rows stay in the database; one read-only snapshot answers all questions of a session."""

from __future__ import annotations

import itertools
import os
import re
import secrets
import selectors
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from tacit.engines import output, shapes
from tacit.engines.attach import Values, values_of
from tacit.engines.base import NOT_INTEGERS, Engine, NativeType
from tacit.engines.streams import BATCH_ROWS, NUMBER, Stopped, Stream, arrow
from tacit.errors import DataError, EngineError, MissingExtra, TacitError, did_you_mean

if TYPE_CHECKING:
    from tacit.engines.base import Numbers
    from tacit.model.schema import Table

BATCH = 10_000
CONNECT_SECONDS = 10
MANY_TABLES = 20
COPY_HEADER = 19  # bytes: signature, flags and the length of an extension that is not there
MOST_DIGITS = 38  # of a decimal in Parquet
COPY_TRAILER = b"\xff\xff"

# Rows hidden by a policy would be left out of every count: better an error than a wrong verdict.
# A cursor is read to its end, so plans are to be fast as a whole and not for the first rows.
# Dates in a file are ISO dates, whatever the role likes to see.
SESSION = "SET row_security = off; SET cursor_tuple_fraction = 1; SET datestyle = 'ISO, YMD'"

COLUMNS = """
    SELECT a.attname,
           format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL)
           || CASE WHEN t.oid = 1700 AND a.atttypmod >= 0 THEN ' scaled' ELSE '' END
           || CASE WHEN c.collisdeterministic THEN '' ELSE coalesce(' ' || c.collname, '') END
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation c ON c.oid = a.attcollation
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
      AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
    ORDER BY a.attnum"""

NULLABLE = """
    SELECT a.attname FROM pg_attribute a
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped AND NOT a.attnotnull
    ORDER BY a.attnum"""

TABLES = """
    SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^(pg_|information_schema$)'
      AND has_schema_privilege(n.oid, 'USAGE')"""

# Whether tables can be made in a schema (or on the search path), and what is there under a name.
PLACE = """
    SELECT pg_is_in_recovery(), n.nspname,
           n.oid IS NOT NULL AND has_schema_privilege(n.oid, 'CREATE'), (SELECT relkind FROM pg_class WHERE oid = to_regclass(%s))
    FROM (SELECT coalesce(%s, current_schema()) AS name) AS s LEFT JOIN pg_namespace n ON n.nspname = s.name"""

# What a file's columns become in Parquet; the rest is text.
PARQUET_TYPES = {
    "smallint": "BIGINT",
    "integer": "BIGINT",
    "bigint": "BIGINT",
    "real": "DOUBLE",
    "double precision": "DOUBLE",
    "date": "DATE",
    "timestamp without time zone": "TIMESTAMP",
    "boolean": "BOOLEAN",
}

# What strangers' queries run under: times mean the same whoever asks, and a gateway that died leaves no query behind.
LOCKED = "SET timezone = 'UTC'; SET statement_timeout = {0}; SET idle_in_transaction_session_timeout = {0}; SET lock_timeout = '10s'"
NOTICE_THE_END = "SET client_connection_check_interval = '5s'"  # not every system can

# A table, and all that its rows come from or go to: through views, partitions, inheritance.
BASES = """
    WITH RECURSIVE b(oid) AS (
        SELECT to_regclass(%s)::oid
        UNION SELECT x.oid FROM b, LATERAL (
            SELECT d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            WHERE r.ev_class = b.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> b.oid
            UNION ALL SELECT inhparent FROM pg_inherits WHERE inhrelid = b.oid
            UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = b.oid) AS x(oid))
    SELECT oid FROM b WHERE oid IS NOT NULL"""

COMPUTES = """
    SELECT coalesce(bool_or(c.relkind IN ('v', 'f') OR a.attgenerated = 'v'), false)
    FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.oid = to_regclass(%s)"""

# What a role could do beyond reading tables. Membership that cannot be used at once counts too.
POWERS = """
    SELECT 'is a superuser' FROM pg_roles WHERE rolname = current_user AND rolsuper
    UNION ALL SELECT 'can become the superuser ' || quote_ident(rolname) FROM pg_roles
    WHERE rolsuper AND rolname <> current_user AND pg_has_role(current_user, oid, 'MEMBER')
    UNION ALL SELECT 'is a member of ' || rolname FROM pg_roles
    WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_write_all_data')
      AND pg_has_role(current_user, oid, 'MEMBER') AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"""

# Arrow's types for PostgreSQL's, by their numbers in pg_type; numeric is apart, and all others are text.
ARROW_TYPES = {
    16: "bool", 20: "int64", 21: "int16", 23: "int32", 700: "float", 701: "double", 1082: "date32[day]",
}  # fmt: skip
TIMESTAMP, TIMESTAMP_TZ, NUMERIC = 1114, 1184, 1700
OWN_WORDS = {16, 700, 701, TIMESTAMP, TIMESTAMP_TZ}
STREAM_BYTES = 1 << 20

# What went wrong when connecting, by libpq's words, and what to do next.
CONNECTING = (
    ("connection refused|no such file", "Start PostgreSQL, or correct host and port in the plan's source."),
    ("could not translate host name|resolve host", "Correct the host in the plan's source."),
    ("timeout expired|timed out", "The host does not answer: check the network and the firewall, or set PGCONNECT_TIMEOUT."),
    ("database .* does not exist", "Correct the database in the plan's source; psql -l lists what there is."),
    (
        "password|authentication|no pg_hba.conf|role .* does not exist",
        "Tacit uses libpq's settings: PGUSER and PGPASSWORD, ~/.pgpass, or a service file (PGSERVICE).",
    ),
)

# What PostgreSQL refused, by SQLSTATE, and what to do next.
REFUSALS = {
    "42501": "Have the owner run: GRANT SELECT ON the table TO the role that you connect as.",
    "57014": "Raise the limit for this role: ALTER ROLE ... SET statement_timeout = '10min'.",
    "55P03": "Another session holds a lock: try again later.",
    "53100": "The server's disk is full: free space or lower work_mem, then try again.",
    "25006": "Connect to the primary server: a standby cannot store rows.",
    "40001": "The standby cancelled the question: raise max_standby_streaming_delay or ask the primary.",
}
SPECIAL = (
    (
        "row-level security",
        "Some rows are hidden from this role: use one with BYPASSRLS, or check a view made for the release.",
    ),
    ("denied for schema", "Have the owner run: GRANT USAGE (to read) or CREATE (to store) ON the schema TO the role."),
    ("temporary tables", "Rows in the plan need this right: GRANT TEMPORARY ON DATABASE ... TO the role."),
)


class Postgres(Engine):
    """Rows in a PostgreSQL database.

    The session cannot change anything. All its questions are answered from one snapshot, taken at
    the first of them, so that counts made one after the other fit together. The only exceptions
    are `write` and rows that stand in the plan (a temporary table): each is a transaction of its
    own, and a new snapshot follows. A release is saved from the snapshot that was counted: to a file
    by this session, to a table by one of its own that sees the same rows.
    """

    dialect = "postgres"
    collation = "C"
    types = (
        NativeType(r"smallint|integer|bigint", "integer"),
        # NaN is a number like others to PostgreSQL, the largest. With a declared scale equal numbers are also written the same.
        NativeType(r"numeric scaled", "decimal", "NULLIF({c}, 'NaN')", compares=True),
        NativeType(r"numeric|real|double precision", "decimal", "NULLIF({c}, 'NaN')"),
        NativeType(r"date", "date"),
        NativeType(r"timestamp without time zone", "timestamp"),
        NativeType(r"timestamp with time zone", "timestamp", "{c} AT TIME ZONE 'UTC'"),
        NativeType(r"boolean", "boolean"),
        NativeType(r"text|character varying", "text"),
        NativeType(r".*", "text", 'CAST({c} AS TEXT) COLLATE "C"'),
    )

    def __init__(self, url: str) -> None:
        super().__init__()
        self.connection = connect(url)
        self._url = url
        self._cursors = itertools.count()
        self._given: dict[str, Values] = {}

    def attach(self, table: Table) -> None:
        """Find the table in the database, or store the rows that stand in the plan for this session."""
        if table.file is not None:
            raise DataError(
                f"table {table.name} names the file {table.file}, but the source is a PostgreSQL database.",
                hint="Load the file into the database (psql: \\copy), or use the folder as source: .",
            )
        if table.rows is not None:
            self._create(table)
        elif not self.native_types(table.name):
            raise self._not_readable(table.name)
        self._read_plainly(table.name)

    def native_types(self, table: str) -> dict[str, str]:
        """The columns that may be read, in order, with PostgreSQL's names for their types."""
        return {str(name): str(sql_type) for name, sql_type in self._ask(COLUMNS, (self._name(table),))}

    def nullable(self, table: str) -> list[str]:
        """The columns that are not declared NOT NULL; those of a view never are."""
        return [str(name) for (name,) in self._ask(NULLABLE, (self._name(table),))]

    def rows(self, query: exp.Expression) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, fetched in batches from a cursor on the server."""
        with self._explaining(), self.connection.cursor(f"tacit {next(self._cursors)}") as cursor:
            cursor.itersize = BATCH
            cursor.execute(self.sql(query))
            yield from cursor

    def numbers(self, query: exp.Expression) -> Numbers:
        """The columns of a query of integers as arrays, by COPY in its binary form."""
        sql = f"COPY ({self.sql(query)}) TO STDOUT (FORMAT binary)"
        with self._explaining(), self.connection.cursor() as cursor, cursor.copy(sql) as copy:
            columns = cursor.pgresult.nfields
            data = b"".join(copy)
        return integers(data, columns)

    def write(self, name: str, query: exp.Expression) -> None:
        """Store the rows of a query as a new table."""
        if self._ask("SELECT 1 WHERE to_regclass(%s) IS NOT NULL", (self._name(name),)):
            raise DataError(f"the database has a table {name!r} already.", hint="Choose another name, or drop it.")
        with self._changing() as cursor:
            cursor.execute(f"CREATE TABLE {self._name(name)} AS {self.sql(query)}")

    def put_map(self, name: str, columns: Mapping[str, output.Relation]) -> None:
        """Have queries carry the columns as arrays: a temporary table would need another snapshot, and rights."""
        arrays = [array_of(values) for values in columns.values()]
        names = [exp.to_identifier(column, quoted=True) for column in columns]
        alias = exp.TableAlias(this=exp.to_identifier("m"), columns=names)
        self._readings[name] = exp.select(exp.Star()).from_(exp.Unnest(expressions=arrays, alias=alias))

    def drop_map(self, name: str) -> None:
        """Forget the columns."""
        self._readings.pop(name, None)

    def explain(self, query: exp.Expression) -> None:
        """Have PostgreSQL plan a query without running it."""
        self._ask(f"EXPLAIN {self.sql(query)}")

    def lock(self, *, seconds: float | None = None) -> None:
        """Set the session for strangers' queries; that it only reads is so from the start."""
        import psycopg

        limit = 0 if seconds is None else max(1, int(seconds * 1000))
        with self._explaining(), self.connection.cursor() as cursor:
            cursor.execute(LOCKED.format(limit))
            self.connection.commit()
        try:
            self.connection.execute(NOTICE_THE_END)
            self.connection.commit()
        except psycopg.Error:
            self.connection.rollback()

    def bases(self, table: str) -> set[str]:
        """The tables that a view reads, or that share rows with a table by inheritance, also over others."""
        return {str(row[0]) for row in self._ask(BASES, (self._name(table),))}

    def computes(self, table: str) -> bool:
        """Is it a view, a foreign table, or has it columns that are generated when they are read?"""
        return bool(self._ask(COMPUTES, (self._name(table),))[0][0])

    def powers(self) -> list[str]:
        """What the role could do beyond reading: a superuser, or one who can read and write the server's files."""
        found = [str(row[0]) for row in self._ask(POWERS)]
        self.connection.rollback()
        return found

    def is_lost(self) -> bool:
        """Has the session ended?"""
        return bool(self.connection.closed)

    def stream(self, sql: str) -> Stream:
        """A query in a snapshot of its own, by COPY; one at a time for each session."""
        return PostgresStream(sql, self.connection)

    def close(self) -> None:
        """Close the connection; temporary tables go with it."""
        self.connection.close()

    def _name(self, table: str) -> str:
        return shapes.table_of(table).sql(dialect=self.dialect)

    def _ask(self, sql: str, parameters: tuple[Any, ...] | None = None) -> list[tuple[Any, ...]]:
        with self._explaining(), self.connection.cursor() as cursor:
            return list(cursor.execute(sql, parameters).fetchall())

    def _create(self, table: Table) -> None:
        values = values_of(table)
        with self._changing() as cursor:
            self._store(cursor, table.name, values)
        self._given[table.name] = values

    def _store(self, cursor: Any, name: str, values: Values) -> None:
        target = self._name(name)
        cursor.execute(f"CREATE TEMPORARY TABLE {target} {shapes.declared(values.sql_types).sql(dialect=self.dialect)}")
        with cursor.copy(f"COPY {target} FROM STDIN") as copy:
            for row in values.rows:
                copy.write_row(row)

    def _save_file(self, query: exp.Expression, place: Path, final: Path) -> int:
        types = self._types(query)
        if output.format_of(final) == "csv":
            return self._stream(query, types, place)
        written = place.with_suffix(".csv.tmp")
        try:
            rows = self._stream(query, types, written)
            to_parquet(written, types, place, final)
        finally:
            output.discard(written)
        return rows

    def _stream(self, query: exp.Expression, types: Mapping[str, str], place: Path) -> int:
        """Write the rows of a query to a CSV file as the server sends them; how many there were."""
        sql = f"COPY ({self.sql(with_words(query, types))}) TO STDOUT (FORMAT csv, HEADER true)"
        try:
            with self._explaining(), self.connection.cursor() as cursor, place.open("wb") as file:
                with cursor.copy(sql) as copy:
                    for part in copy:
                        file.write(part)
                return int(cursor.rowcount)
        except BaseException:  # a full disk, Ctrl-C: the server was cut short, and takes no more questions in this snapshot
            if not self.connection.closed:
                self.connection.rollback()
            raise

    def _types(self, query: exp.Expression) -> dict[str, str]:
        """The columns of a query with PostgreSQL's names for their types; nothing is run."""
        with self._explaining(), self.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({self.sql(query)}) AS q LIMIT 0")
            codes = {str(one.name): one.type_code for one in cursor.description}
            cursor.execute("SELECT t, format_type(t, NULL) FROM unnest(%s::oid[]) AS t", (list(codes.values()),))
            names = dict(cursor.fetchall())
        return {name: str(names[code]) for name, code in codes.items()}

    def _check_table(self, name: str, *, replace: bool) -> None:
        schema = name.rpartition(".")[0] or None
        standby, found, allowed, kind = self._ask(PLACE, (self._name(name), schema))[0]
        if standby:
            raise EngineError("this server is a standby: it cannot store a table.", hint=REFUSALS["25006"])
        if found is None:
            raise DataError(f"the database has no schema {schema or 'to make tables in'!r}.", hint="Write schema.table.")
        if not allowed:
            raise EngineError(
                f"this role may not make tables in schema {found}.",
                hint=f"Have its owner run: GRANT CREATE ON SCHEMA {found} TO {self._role()}",
            )
        if kind is not None and not (replace and kind in ("r", b"r")):
            raise output.table_exists(name)

    def _save_table(self, query: exp.Expression, name: str, rows: int | None, *, replace: bool) -> None:
        *schema, table = name.split(".")
        beside = ".".join([*schema, f"tacit_{secrets.token_hex(8)}"])
        with self._writing(query) as cursor:
            # Beside the old table, which others can read until the last moment.
            cursor.execute(f"CREATE TABLE {self._name(beside)} AS {self.sql(query)}")
            output.check_rows(int(cursor.rowcount), rows)
            if replace:
                cursor.execute(f"DROP TABLE IF EXISTS {self._name(name)}")
            cursor.execute(f"ALTER TABLE {self._name(beside)} RENAME TO {shapes.table_of(table).sql(dialect=self.dialect)}")
        with self._explaining():
            self.connection.rollback()  # a new snapshot, in which the table is there

    @contextmanager
    def _writing(self, query: exp.Expression) -> Iterator[Any]:
        """A transaction in a session of its own that sees what this one sees, and may write."""
        import psycopg

        shared = self._ask("SELECT pg_export_snapshot()")[0][0]
        other = connect(self._url)
        try:
            other.read_only = False
            with other.cursor() as cursor:
                cursor.execute(f"SET TRANSACTION SNAPSHOT '{shared}'")
                for table in {found.name for found in query.find_all(exp.Table)} & self._given.keys():
                    self._store(cursor, table, self._given[table])
                yield cursor
            other.commit()
        except psycopg.Error as error:
            raise refused(error) from None
        finally:
            other.close()  # what was not committed is gone with the session

    def _not_readable(self, name: str) -> TacitError:
        known = [str(row[0]) for row in self._ask(TABLES)]
        if name in known or self._ask("SELECT 1 WHERE to_regclass(%s) IS NOT NULL", (self._name(name),)):
            return EngineError(
                f"table {name} may not be read by this role.",
                hint=f"Have its owner run: GRANT SELECT ON {self._name(name)} TO {self._role()}",
            )
        hint = did_you_mean(name, known)
        if hint.startswith("Known") and len(known) > MANY_TABLES:
            hint = f"None of its {len(known)} tables has a name like this; psql's \\d lists them."
        return DataError(f"the database has no table {name!r}.", hint=hint or "It has no tables that this role can see.")

    def _role(self) -> str:
        return str(self._ask("SELECT quote_ident(current_user)")[0][0])

    @contextmanager
    def _changing(self) -> Iterator[Any]:
        """A transaction of its own that may write; the snapshot ends with it."""
        with self._explaining():
            self.connection.rollback()
            self.connection.read_only = False
        try:
            with self._explaining(), self.connection.cursor() as cursor:
                yield cursor
                self.connection.commit()
        finally:
            if not self.connection.closed:
                self.connection.rollback()
                self.connection.read_only = True

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """PostgreSQL's errors as ours; the transaction that failed is over."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            if not self.connection.closed:
                self.connection.rollback()
            raise refused(error) from None


class PostgresStream(Stream):
    """A query of PostgreSQL, sent as CSV, which Arrow reads faster than Python could make values.

    The query is prepared first: it must be one whole statement, so that nothing in it can end the COPY around it.
    """

    def __init__(self, sql: str, connection: Any) -> None:
        arrow()
        self._sql = sql
        self._connection = connection
        self._stopped = False
        self._reader: ThreadPoolExecutor | None = None
        self._ahead: Future[Any] | None = None

    def begin(self) -> None:
        """Take a new snapshot and start to copy."""
        from psycopg import pq

        with self._explaining():
            self._connection.rollback()
            self._connection.execute("SELECT")  # begins the transaction that only reads
            encoded = self._sql.encode()
            self._check(self._connection.pgconn.prepare(b"", encoded), pq.ExecStatus.COMMAND_OK)
            described = self._check(self._connection.pgconn.describe_prepared(b""), pq.ExecStatus.COMMAND_OK)
            self.schema = schema_of(described)
            # What PostgreSQL writes otherwise than we do: t and f, the space in a timestamp, NaN.
            self.writes_csv = not any(described.ftype(number) in OWN_WORDS for number in range(described.nfields))
            if self._stopped:
                raise Stopped
            copied = self._connection.pgconn.exec_(b"COPY (" + encoded + b"\n) TO STDOUT (FORMAT csv)")
            self._check(copied, pq.ExecStatus.COPY_OUT)

    def __iter__(self) -> Iterator[Any]:
        with self._explaining():
            for block, _ in self._read_ahead(self._blocks()):
                yield from read_block(block, self.schema).to_batches(max_chunksize=BATCH_ROWS)

    def csv(self, most: int) -> Iterator[tuple[bytes | bytearray, int]]:
        """The lines as they come from the server."""
        with self._explaining():
            yield from self._read_ahead(self._blocks(most))

    def stop(self) -> None:
        """Ask the server to cancel what this session does."""
        self._stopped = True
        if not self._connection.closed:
            self._connection.cancel_safe(timeout=CONNECT_SECONDS)

    def close(self) -> None:
        """End the transaction; where rows are still to come the server is told to stop, and the rest is read away."""
        from psycopg import pq

        copying = self._connection.pgconn
        if not self._connection.closed and copying.transaction_status == pq.TransactionStatus.ACTIVE:
            self._connection.cancel_safe(timeout=CONNECT_SECONDS)
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

    def _read_ahead(self, blocks: Iterator[tuple[bytearray, int]]) -> Iterator[tuple[bytearray, int]]:
        """The blocks; from the second on each is received while the one before is worked on."""
        block = next(blocks, None)
        while block is not None:
            if self._reader is None:
                self._reader = ThreadPoolExecutor(1, thread_name_prefix="tacit-copy")
            self._ahead = self._reader.submit(next, blocks, None)
            yield block
            block = self._ahead.result()

    def _blocks(self, most: int | None = None) -> Iterator[tuple[bytearray, int]]:
        """Whole lines with their number, about as many at a time as fit STREAM_BYTES; one part ends after `most` rows.

        The server sends each row by itself, so for each row as little is done as can be: the size of the block is looked at
        only when all that has come is read, which is no more than libpq's buffer holds.
        """
        from psycopg import pq

        copying = self._connection.pgconn
        receive, block, rows, left, size = copying.get_copy_data, bytearray(), 0, most or -1, 0
        with selectors.DefaultSelector() as arriving:
            arriving.register(copying.socket, selectors.EVENT_READ)
            while size >= 0:
                while rows != left:
                    size, row = receive(1)
                    if size <= 0:
                        break
                    block += row  # keeping the rows themselves until there are many takes seven times as long
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
        """PostgreSQL's errors as ours."""
        import psycopg

        try:
            if self._stopped:
                raise Stopped
            yield
        except psycopg.Error as error:
            if self._stopped:
                raise Stopped from None
            raise refused(error) from None


def schema_of(described: Any) -> Any:
    """Arrow's schema for a query that PostgreSQL described.

    A numeric with a declared number of digits is a decimal; one without is text that is marked as a number.
    """
    pa = arrow()

    def field(number: int) -> Any:
        name, code, modifier = described.fname(number).decode(), described.ftype(number), described.fmod(number)
        if code == NUMERIC:
            digits, after = (modifier - 4) >> 16, ((modifier - 4) & 0x7FF ^ 0x400) - 0x400  # 11 bits with a sign
            exact = modifier >= 4 and digits <= MOST_DIGITS and 0 <= after <= digits
            return pa.field(name, pa.decimal128(digits, after)) if exact else pa.field(name, pa.string(), metadata=NUMBER)
        if code in (TIMESTAMP, TIMESTAMP_TZ):
            return pa.field(name, pa.timestamp("us", "UTC" if code == TIMESTAMP_TZ else None))
        return pa.field(name, pa.type_for_alias(ARROW_TYPES.get(code, "string")))

    return pa.schema([field(number) for number in range(described.nfields)])


def read_block(block: bytearray, schema: Any) -> Any:
    """Lines of CSV as PostgreSQL writes them, as a table of Arrow.

    >>> pa = arrow()
    >>> read_block(bytearray(b'1,""\\n,\\n'), pa.schema([("a", pa.int64()), ("b", pa.string())])).to_pylist()
    [{'a': 1, 'b': ''}, {'a': None, 'b': None}]
    """
    pa = arrow()
    try:
        return read_typed(block, schema)
    except pa.ArrowInvalid:
        # A decimal that is no number (NaN) is missing, as everywhere here; what else Arrow has not is said.
        plain = pa.schema([pa.field(one.name, pa.string()) if pa.types.is_decimal(one.type) else one for one in schema])
    try:
        table = read_typed(block, plain)
        columns = [
            numbers_only(column).cast(wanted.type) if pa.types.is_decimal(wanted.type) else column
            for column, wanted in zip(table.columns, schema, strict=True)
        ]
        return pa.table(columns, schema=schema)
    except pa.ArrowInvalid:
        raise EngineError(
            "the answer holds a date or a number that Arrow has not (infinity, or a year before 1).",
            hint="Leave it out, or ask for it as text: CAST(... AS TEXT).",
        ) from None


def numbers_only(column: Any) -> Any:
    """A column of text in which what is not a finite number is missing."""
    import pyarrow.compute as pc

    return pc.if_else(pc.match_substring_regex(column, "^-?[0-9]"), column, None)


def read_typed(block: bytearray, schema: Any) -> Any:
    """Lines of CSV as a table of the given types. Names do not matter here: two columns may have the same."""
    from pyarrow import csv

    names = [str(number) for number in range(len(schema))]
    table = csv.read_csv(
        arrow().BufferReader(block),
        csv.ReadOptions(column_names=names, block_size=len(block) + 1, use_threads=False),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=dict(zip(names, schema.types, strict=True)), null_values=[""], true_values=["t"],
            false_values=["f"], strings_can_be_null=True, quoted_strings_can_be_null=False,
        ),
    )  # fmt: skip
    return arrow().table(table.columns, schema=schema)


def connect(url: str) -> Any:
    """A read-only connection; who connects is up to libpq (environment, ~/.pgpass, service file)."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", extra="postgres", purpose="PostgreSQL sources") from None
    settings = connection_settings(url)
    try:
        connection = psycopg.connect(**settings, autocommit=True, client_encoding="UTF8", prepare_threshold=None)
        connection.execute(SESSION)
    except psycopg.Error as error:
        raise not_connected(error, settings) from None
    connection.autocommit = False
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return connection


def connection_settings(url: str) -> dict[str, Any]:
    """What the URL says, with our defaults where neither it nor the environment says anything."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        settings: dict[str, Any] = dict(conninfo_to_dict(url))
    except psycopg.Error:
        # libpq's own words may quote a part of the password.
        raise DataError(
            "source: postgresql://... is not a URL that PostgreSQL understands.",
            hint="Write postgresql://user@host:5432/database, special characters as %XX.",
        ) from None
    settings.setdefault("fallback_application_name", "tacit")
    if "PGCONNECT_TIMEOUT" not in os.environ:
        settings.setdefault("connect_timeout", CONNECT_SECONDS)
    return settings


def not_connected(error: Exception, settings: dict[str, Any]) -> EngineError:
    """Why there is no connection and what to do, without the password."""
    text = re.sub(r"\s+", " ", str(error).strip().split("\n")[0])
    text = re.sub(r"^connection (failed|is bad): ", "", text)
    for secret in (settings.get("password"), os.environ.get("PGPASSWORD")):
        text = text.replace(str(secret), "***") if secret else text
    hint = next((hint for words, hint in CONNECTING if re.search(words, text, re.IGNORECASE)), None)
    return EngineError(f"PostgreSQL cannot be reached: {text.rstrip('.')}.", hint=hint)


def refused(error: Any) -> EngineError:
    """What PostgreSQL refused and what to do."""
    said = error.diag.message_primary or str(error).strip().split("\n")[0]
    special = (hint for words, hint in SPECIAL if words in said)
    hint = next(special, REFUSALS.get(error.sqlstate or ""))
    return EngineError(f"PostgreSQL could not answer: {said.rstrip('.')}.", hint=hint)


def array_of(values: Sequence[Any] | np.ndarray[Any, Any]) -> exp.Cast:
    """Whole numbers or texts as one array in SQL.

    >>> print(array_of(['say "hi"', None]).sql(dialect="postgres"))
    CAST('{"say \\"hi\\"",NULL}' AS TEXT[])
    """
    if isinstance(values, np.ndarray):
        return exp.cast(exp.Literal.string("{" + ",".join(map(str, values.tolist())) + "}"), "BIGINT[]")
    texts = ("NULL" if value is None else '"' + re.sub(r'(["\\])', r"\\\1", str(value)) + '"' for value in values)
    return exp.cast(exp.Literal.string("{" + ",".join(texts) + "}"), "TEXT[]")


def with_words(query: exp.Expression, types: Mapping[str, str]) -> exp.Expression:
    """A query with its truth values as the words true and false: COPY would write t and f."""
    if "boolean" not in types.values() or not isinstance(query, exp.Query):
        return query
    return exp.select(
        *(
            exp.alias_(exp.cast(shapes.column(name), "TEXT"), name, quoted=True) if kind == "boolean" else shapes.column(name)
            for name, kind in types.items()
        )
    ).from_(query.subquery("w"))


def to_parquet(written: Path, types: Mapping[str, str], place: Path, final: Path) -> None:
    """Make a Parquet file of the CSV file that the server sent; here NULL and the empty text still differ."""
    import duckdb

    from tacit.engines.duckdb import not_written, quoted

    with duckdb.connect() as connection:
        names = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in types)
        source = (
            f"read_csv({quoted(written)}, auto_detect=false, header=true, columns={{{names}}}, delim=',', quote='\"', "
            "escape='\"', nullstr='', allow_quoted_nulls=false)"
        )
        try:
            picked = ", ".join(
                f"CAST({name} AS {parquet_type(connection, source, name, kind)}) AS {name}"
                for name, kind in ((shapes.column(name).sql(dialect="duckdb"), kind) for name, kind in types.items())
            )
            connection.execute(f"COPY (SELECT {picked} FROM {source}) TO {quoted(place)} (FORMAT parquet, USE_TMP_FILE false)")
        except duckdb.Error as error:
            raise not_written(error, final) from None


def parquet_type(connection: Any, source: str, name: str, kind: str) -> str:
    """The type of a column in Parquet; a numeric has as many digits after the point as its values need."""
    if kind != "numeric":
        return PARQUET_TYPES.get(kind, "VARCHAR")
    whole, part, special = connection.execute(
        f"SELECT max(length(split_part(ltrim({name}, '-'), '.', 1))), max(length(split_part({name}, '.', 2))), "
        f"count(*) FILTER (NOT regexp_full_match({name}, '-?[0-9.]+')) FROM {source}"
    ).fetchone()
    if special or (whole or 0) + (part or 0) > MOST_DIGITS:
        return "DOUBLE"
    return f"DECIMAL(38, {part or 0})"


def integers(data: bytes, columns: int) -> Numbers:
    """Read PostgreSQL's binary COPY format, all fields integers of fixed width.

    A row is a field count and for each field its length and its bytes, the most significant first.

    >>> row = bytes([0, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 4, 255, 255, 255, 254])
    >>> [array.tolist() for array in integers(bytes(19) + row + row + COPY_TRAILER, 2)]
    [[7, 7], [-2, -2]]
    """
    body = memoryview(data)[COPY_HEADER : -len(COPY_TRAILER)]
    if not body:
        return tuple(np.empty(0, dtype=np.int64) for _ in range(columns))
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    offset = 2
    widths = []
    for i in range(columns):
        widths.append(int.from_bytes(body[offset : offset + 4], "big", signed=True))
        fields += [(f"length{i}", ">i4"), (f"value{i}", f">i{widths[i]}")]
        offset += 4 + widths[i]
    if not set(widths) <= {2, 4, 8} or len(body) % offset:
        raise EngineError(NOT_INTEGERS)
    table = np.frombuffer(body, dtype=np.dtype(fields))
    if any((table[f"length{i}"] != width).any() for i, width in enumerate(widths)):
        raise EngineError(NOT_INTEGERS)
    return tuple(table[f"value{i}"].astype(np.int64) for i in range(columns))
