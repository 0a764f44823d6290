"""PostgreSQL: the rows stay in the database; one read-only snapshot answers all questions of a session."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines import shapes
from tacit.engines.attach import values_of
from tacit.engines.base import NOT_INTEGERS, Engine, NativeType
from tacit.errors import DataError, EngineError, MissingExtra, TacitError, did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp

    from tacit.engines.base import Numbers
    from tacit.model.schema import Table

BATCH = 10_000
CONNECT_SECONDS = 10
MANY_TABLES = 20
COPY_HEADER = 19  # bytes: signature, flags and the length of an extension that is not there
COPY_TRAILER = b"\xff\xff"

# Rows hidden by a policy would be left out of every count: better an error than a wrong verdict.
# A cursor is read to its end, so plans are to be fast as a whole and not for the first rows.
SESSION = "SET row_security = off; SET cursor_tuple_fraction = 1"

COLUMNS = """
    SELECT a.attname,
           format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL)
           || CASE WHEN c.collisdeterministic THEN '' ELSE coalesce(' ' || c.collname, '') END
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation c ON c.oid = a.attcollation
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
      AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
    ORDER BY a.attnum"""

TABLES = """
    SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^(pg_|information_schema$)'
      AND has_schema_privilege(n.oid, 'USAGE')"""

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
    own, and a new snapshot follows.
    """

    dialect = "postgres"
    collation = "C"
    types = (
        NativeType(r"smallint|integer|bigint", "integer"),
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
        self._cursors = itertools.count()

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

    def explain(self, query: exp.Expression) -> None:
        """Have PostgreSQL plan a query without running it."""
        self._ask(f"EXPLAIN {self.sql(query)}")

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
        target = self._name(table.name)
        with self._changing() as cursor:
            cursor.execute(f"CREATE TEMPORARY TABLE {target} {shapes.declared(values.sql_types).sql(dialect=self.dialect)}")
            with cursor.copy(f"COPY {target} FROM STDIN") as copy:
                for row in values.rows:
                    copy.write_row(row)

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
