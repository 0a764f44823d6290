"""PostgreSQL: the rows stay in the database;
one read-only snapshot answers all questions of a session.
"""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from tacit.engines import output
from tacit.engines.attach import Values, refuse_words, stored_values
from tacit.engines.base import CALENDAR, NAN, SHORTEST, UTC, WITHIN, Engine, NativeType
from tacit.engines.identity import Origin
from tacit.engines.postgres import catalog as postgres_catalog
from tacit.engines.postgres.copy import integer_parts, integers, to_parquet, with_words
from tacit.engines.postgres.session import (
    LOCKED,
    NOTICE_THE_END,
    REFUSALS,
    connect,
    explaining,
    refused,
)
from tacit.engines.postgres.stream import PostgresStream
from tacit.engines.sql import shapes
from tacit.errors import DataError, EngineError, TacitError, did_you_mean
from tacit.model.schema import SourceKeys, SourceReference

if TYPE_CHECKING:
    from tacit.engines.base import Numbers
    from tacit.engines.streams import AnswerStream
    from tacit.model.schema import Table

BATCH = 10_000
MANY_TABLES = 20
ENDS = "NOT ISFINITE({c}) OR {c} < '0001-01-01' OR {c} >= '10000-01-01'"


class Postgres(Engine):
    """Rows in a PostgreSQL database.

    The session cannot change anything. All its questions are answered from one snapshot, taken at
    the first of them, so that counts made one after the other fit together. The only exceptions are
    `write` and rows that stand in the plan (a temporary table): each is a transaction of its own,
    and a new snapshot follows. A release is saved from the snapshot that was counted: to a file by
    this session, to a table by one of its own that sees the same rows.
    """

    dialect = "postgres"
    collation = "C"
    one_spelling = (
        r"(smallint|integer|bigint|oid|numeric scaled|boolean|date|timestamp with(out)? time "
        r"zone|time with(out)? time zone|text|character varying|character|name|\"char\"|"
        r"uuid|bytea|inet|cidr|macaddr8?|bit|bit varying|money|.* enum)(\[\])*"
    )
    numbers_spelled = r"numeric|double precision|real"
    floats = r"double precision|real"
    types = (
        NativeType(r"smallint|integer|bigint", "integer"),
        # NaN is a number like others to PostgreSQL, the largest.
        # With a declared scale equal numbers are also written the same.
        NativeType(r"numeric scaled", "decimal", "NULLIF({c}, 'NaN')", compares=True, changed=NAN),
        NativeType(r"numeric|double precision", "decimal", "NULLIF({c}, 'NaN')", changed=NAN),
        NativeType(
            r"real",
            "decimal",
            "NULLIF(CAST(CAST({c} AS TEXT) AS DOUBLE PRECISION), 'NaN')",
            changed=SHORTEST,
        ),
        NativeType(r"date", "date", lost=ENDS, refusal=CALENDAR, instead=WITHIN),
        NativeType(
            r"timestamp without time zone", "timestamp", lost=ENDS, refusal=CALENDAR, instead=WITHIN
        ),
        NativeType(
            r"timestamp with time zone",
            "timestamp",
            "{c} AT TIME ZONE 'UTC'",
            changed=UTC,
            lost=ENDS,
            refusal=CALENDAR,
            instead=WITHIN,
        ),
        NativeType(r"boolean", "boolean"),
        NativeType(r"text|character varying", "text"),
        NativeType(
            r".*",
            "text",
            'CAST({c} AS TEXT) COLLATE "C"',
            changed="it is read as PostgreSQL writes it",
        ),
    )

    def __init__(self, url: str) -> None:
        super().__init__()
        self.connection = connect(url)
        self._url = url
        self._cursors = itertools.count()
        self._given: dict[str, Values] = {}

    def attach(self, table: Table) -> None:
        """Find the table in the database, or store the rows that stand
        in the plan for this session.
        """
        if table.file is not None:
            raise DataError(
                f"table {table.name} names the file {table.file}, but the source is a PostgreSQL "
                "database.",
                hint=(
                    "Load the file into the database (psql: \\copy), or use the folder as source: ."
                ),
            )
        refuse_words(table)
        if table.rows is not None:
            self._create(table)
        elif not self.native_types(table.name):
            raise self._not_readable(table.name)
        self._read_plainly(table.name, table)

    def native_types(self, table: str) -> dict[str, str]:
        """The columns that may be read, in order, with PostgreSQL's names for their types."""
        return {
            str(name): str(sql_type)
            for name, sql_type in self._ask(postgres_catalog.COLUMNS, (self._name(table),))
        }

    def nullable(self, table: str) -> list[str]:
        """The columns that are not declared NOT NULL; those of a view never are."""
        return [str(name) for (name,) in self._ask(postgres_catalog.NULLABLE, (self._name(table),))]

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

    def parts(self, query: exp.Expression, rows: int) -> Iterator[Numbers]:
        """The same a part at a time, as the server sends them."""
        sql = f"COPY ({self.sql(query)}) TO STDOUT (FORMAT binary)"
        with self._explaining(), self.connection.cursor() as cursor, cursor.copy(sql) as copy:
            columns = cursor.pgresult.nfields
            yield from integer_parts(map(bytes, copy), columns, rows)

    def write(self, name: str, query: exp.Expression) -> None:
        """Store the rows of a query as a new table."""
        if self._exists(name):
            raise DataError(
                f"the database has a table {name!r} already.",
                hint="Choose another name, or drop it.",
            )
        with self._changing() as cursor:
            cursor.execute(f"CREATE TABLE {self._name(name)} AS {self.sql(query)}")

    def put_map(self, name: str, columns: Mapping[str, output.Relation]) -> None:
        """Have queries carry the columns as arrays:
        a temporary table would need another snapshot, and rights.
        """
        arrays = [array_of(values) for values in columns.values()]
        names = [exp.to_identifier(column, quoted=True) for column in columns]
        alias = exp.TableAlias(this=exp.to_identifier("m"), columns=names)
        self._readings[name] = exp.select(exp.Star()).from_(
            exp.Unnest(expressions=arrays, alias=alias)
        )

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

    def origins(self, table: str) -> frozenset[Origin]:
        """The tables that a view reads, or that share rows with a table
        by inheritance, also over others.
        """
        if table in self._given:
            return frozenset()
        asked = {"table": self._name(table), "plain": postgres_catalog.PLAIN_FUNCTIONS}
        return frozenset(
            origin
            for row in self._ask(postgres_catalog.ORIGINS, asked)
            for origin in origins_of(*row)
        )

    def entry(self, table: str) -> str | None:
        """The table of the database, unless it is a view, or read together with tables that
        inherit from it.
        """
        found = (
            [] if table in self._given else self._ask(postgres_catalog.ENTRY, (self._name(table),))
        )
        return str(found[0][0]) if found else None

    def declared(self, table: str) -> SourceKeys:
        """Keys, unique indexes and NOT NULL."""
        if table in self._given:
            return SourceKeys()
        keys = [
            tuple(map(str, row[0]))
            for row in self._ask(postgres_catalog.KEYS, (self._name(table),))
        ]
        return SourceKeys(
            tuple(dict.fromkeys(keys)),
            frozenset(self.native_types(table)) - {*self.nullable(table)},
        )

    def references(self) -> list[SourceReference]:
        """The foreign keys of the database."""
        return [
            SourceReference(entry, tuple(columns), other, tuple(others))
            for entry, columns, other, others in self._ask(postgres_catalog.REFERENCES)
        ]

    def computes(self, table: str) -> bool:
        """Is it a view, a foreign table, or has it columns that are
        generated when they are read?
        """
        return bool(self._ask(postgres_catalog.COMPUTES, (self._name(table),))[0][0])

    def powers(self) -> list[str]:
        """What the role could do beyond reading:
        a superuser, or one who can read and write the server's files.
        """
        found = [str(row[0]) for row in self._ask(postgres_catalog.POWERS)]
        self.connection.rollback()
        return found

    def is_lost(self) -> bool:
        """Has the session ended?"""
        return bool(self.connection.closed)

    def stream(self, sql: str) -> AnswerStream:
        """A query in a snapshot of its own, by COPY; one at a time for each session."""
        return PostgresStream(sql, self.connection)

    def close(self) -> None:
        """Close the connection; temporary tables go with it."""
        self.connection.close()

    def _ask(
        self, sql: str, parameters: tuple[Any, ...] | Mapping[str, Any] | None = None
    ) -> list[tuple[Any, ...]]:
        with self._explaining(), self.connection.cursor() as cursor:
            return list(cursor.execute(sql, parameters).fetchall())

    def _exists(self, table: str) -> bool:
        return bool(self._ask(postgres_catalog.EXISTS, (self._name(table),)))

    def _create(self, table: Table) -> None:
        values = stored_values(self, table)
        with self._changing() as cursor:
            self._store(cursor, table.name, values)
        self._given[table.name] = values

    def _store(self, cursor: Any, name: str, values: Values) -> None:
        target = self._name(name)
        cursor.execute(
            f"CREATE TEMPORARY TABLE {target} "
            f"{shapes.declared(values.sql_types).sql(dialect=self.dialect)}"
        )
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
        # a full disk, Ctrl-C: the server was cut short, and takes no
        # more questions in this snapshot
        except BaseException:
            if not self.connection.closed:
                self.connection.rollback()
            raise

    def _types(self, query: exp.Expression) -> dict[str, str]:
        """The columns of a query with PostgreSQL's names for their types; nothing is run."""
        with self._explaining(), self.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({self.sql(query)}) AS q LIMIT 0")
            codes = {str(one.name): one.type_code for one in cursor.description}
            cursor.execute(
                "SELECT t, format_type(t, NULL) FROM unnest(%s::oid[]) AS t",
                (list(codes.values()),),
            )
            names = dict(cursor.fetchall())
        return {name: str(names[code]) for name, code in codes.items()}

    def _check_table(self, name: str, *, replace: bool) -> None:
        schema = name.rpartition(".")[0] or None
        standby, found, allowed, kind = self._ask(
            postgres_catalog.PLACE, (self._name(name), schema)
        )[0]
        if standby:
            raise EngineError(
                "this server is a standby: it cannot store a table.", hint=REFUSALS["25006"]
            )
        if found is None:
            raise DataError(
                f"the database has no schema {schema or 'to make tables in'!r}.",
                hint="Write schema.table.",
            )
        if not allowed:
            raise EngineError(
                f"this role may not make tables in schema {found}.",
                hint=f"Have its owner run: GRANT CREATE ON SCHEMA {found} TO {self._role()}",
            )
        if kind is not None and not (replace and kind in ("r", b"r")):
            raise output.table_exists(name)

    def _save_table(
        self, query: exp.Expression, name: str, rows: int | None, *, replace: bool
    ) -> None:
        *schema, table = name.split(".")
        beside = ".".join([*schema, f"tacit_{secrets.token_hex(8)}"])
        with self._writing(query) as cursor:
            # Beside the old table, which others can read until the last moment.
            cursor.execute(f"CREATE TABLE {self._name(beside)} AS {self.sql(query)}")
            output.check_rows(int(cursor.rowcount), rows)
            if replace:
                cursor.execute(f"DROP TABLE IF EXISTS {self._name(name)}")
            cursor.execute(f"ALTER TABLE {self._name(beside)} RENAME TO {self._name(table)}")
        with self._explaining():
            self.connection.rollback()  # a new snapshot, in which the table is there

    @contextmanager
    def _writing(self, query: exp.Expression) -> Iterator[Any]:
        """A transaction in a session of its own that sees what this one sees, and may write."""
        shared = self._ask("SELECT pg_export_snapshot()")[0][0]
        other = connect(self._url)
        try:
            with explaining():
                other.read_only = False
                with other.cursor() as cursor:
                    cursor.execute(f"SET TRANSACTION SNAPSHOT '{shared}'")
                    for table in {
                        found.name for found in query.find_all(exp.Table)
                    } & self._given.keys():
                        self._store(cursor, table, self._given[table])
                    yield cursor
                other.commit()
        finally:
            other.close()  # what was not committed is gone with the session

    def _not_readable(self, name: str) -> TacitError:
        known = [str(row[0]) for row in self._ask(postgres_catalog.TABLES)]
        if name in known or self._exists(name):
            return EngineError(
                f"table {name} may not be read by this role.",
                hint=f"Have its owner run: GRANT SELECT ON {self._name(name)} TO {self._role()}",
            )
        hint = did_you_mean(name, known)
        if hint.startswith("Known") and len(known) > MANY_TABLES:
            hint = f"None of its {len(known)} tables has a name like this; psql's \\d lists them."
        return DataError(
            f"the database has no table {name!r}.",
            hint=hint or "It has no tables that this role can see.",
        )

    def _role(self) -> str:
        return str(self._ask(postgres_catalog.ROLE)[0][0])

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


def origins_of(number: int, whole: str, name: str, hidden: str | None) -> Iterator[Origin]:
    """An entry of the catalog: by its number, by its name, and why
    its rows may come from elsewhere.
    """
    yield from (
        Origin("table", value, f"the table {name}")
        for value in (f"{whole.partition('/')[0]}/{number}", whole)
    )
    if hidden is not None:
        yield Origin("hidden", whole, f"what {name} reads cannot be told: {hidden}")


def array_of(values: Sequence[Any] | np.ndarray[Any, Any]) -> exp.Cast:
    """Whole numbers or texts as one array in SQL.

    >>> print(array_of(['say "hi"', None]).sql(dialect="postgres"))
    CAST('{"say \\"hi\\"",NULL}' AS TEXT[])
    """
    if isinstance(values, np.ndarray):
        return exp.cast(
            exp.Literal.string("{" + ",".join(map(str, values.tolist())) + "}"), "BIGINT[]"
        )
    texts = (
        "NULL" if value is None else '"' + re.sub(r'(["\\])', r"\\\1", str(value)) + '"'
        for value in values
    )
    return exp.cast(exp.Literal.string("{" + ",".join(texts) + "}"), "TEXT[]")
