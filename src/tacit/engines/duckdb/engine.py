"""DuckDB in this process: CSV and Parquet files, a database file, or tables in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import duckdb
import numpy as np
from sqlglot import exp

from tacit.engines import output
from tacit.engines.attach import (
    find_file,
    refuse_words,
    reworded,
    stored_values,
    text_types,
    wrong_type,
)
from tacit.engines.base import (
    CALENDAR,
    DOUBLES,
    FLOATS_INSIDE,
    MICROSECONDS,
    NAN,
    NANOSECONDS,
    SHORTEST,
    UTC,
    WITHIN,
    Engine,
    NativeType,
)
from tacit.engines.duckdb.catalog import SOURCE, Catalogue
from tacit.engines.duckdb.connection import begin
from tacit.engines.duckdb.parquet import unreadable_columns
from tacit.engines.duckdb.reserved_words import (
    csv_as_text,
    csv_error,
    first_line,
    not_written,
    parquet_file,
    quoted,
    sql_file,
    sql_name,
    sql_place,
)
from tacit.engines.duckdb.stream import DuckDBStream, Known
from tacit.engines.files import csv_shape
from tacit.engines.floats import shortest_float
from tacit.engines.formats import format_of
from tacit.engines.identity import file_origins
from tacit.engines.machine_memory import memory_there
from tacit.engines.sql import shapes, shapes_text
from tacit.errors import DataError, EngineError, Mark, did_you_mean
from tacit.model.deadline import look
from tacit.model.schema import SourceKeys

if TYPE_CHECKING:
    from tacit.engines.base import Numbers
    from tacit.engines.duckdb.frames import Frame
    from tacit.engines.identity import Origin
    from tacit.engines.streams import AnswerStream
    from tacit.model.schema import SourceReference, Table

Answer = TypeVar("Answer")

BATCH = 10_000
INSERT_ROWS = 500
GIVEN = "tacit given"
BETWEEN = "tacit in between"
WRITE = {
    "csv": (
        "FORMAT csv, HEADER true, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '', "
        "USE_TMP_FILE false"
    ),
    "parquet": "FORMAT parquet, USE_TMP_FILE false",
}
MOST_MEMORY = 4 << 30
ENDS = "NOT ISFINITE({c}) OR YEAR({c}) < 1 OR YEAR({c}) > 9999"
ENDS_IN_SECONDS = (
    "{c} IS NOT NULL AND COALESCE(" + ENDS.replace("{c}", "TRY_CAST({c} AS TIMESTAMP)") + ", true)"
)
FINER = "COALESCE(EPOCH_NS({c}) % 1000 <> 0, {c} IS NOT NULL)"  # of what is infinite it is NULL
COLLATED = "VARCHAR COLLATE"  # a type that only DuckDB compares


class DuckDB(Engine):
    """Rows in files below a folder, in a DuckDB database file, or handed over in memory.

    >>> from tacit.model.schema import Table
    >>> engine = DuckDB()
    >>> engine.attach(Table("t", columns={"zip": None, "age": None}, rows=(("13053", 28),)))
    >>> engine.columns("t")
    {'zip': 'text', 'age': 'integer'}
    """

    dialect = "duckdb"
    in_process = True
    one_spelling = (
        r"(?s)(?!.*(INTERVAL|VARIANT|COLLATE|TIME WITH|DOUBLE|FLOAT|UNION)).*|TIMESTAMP WITH "
        r"TIME ZONE(\[\])*"
    )
    numbers_spelled = floats = (
        r"(?s)(?!.*(INTERVAL|VARIANT|COLLATE|TIME WITH|UNION)).*(DOUBLE|FLOAT).*"
    )
    types = (
        NativeType(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER", "integer"),
        NativeType(r"DECIMAL\([^)]*\)", "decimal"),
        NativeType(r"DOUBLE", "decimal", "CASE WHEN NOT ISNAN({c}) THEN {c} END", changed=NAN),
        NativeType(
            r"FLOAT",
            "decimal",
            shortest_float("PRINTF('%.{0}e', {1})", "VARCHAR"),
            changed=SHORTEST,
        ),
        NativeType(r"DATE", "date", lost=ENDS, refusal=CALENDAR, instead=WITHIN),
        NativeType(r"TIMESTAMP", "timestamp", lost=ENDS, refusal=CALENDAR, instead=WITHIN),
        NativeType(
            r"TIMESTAMP WITH TIME ZONE",
            "timestamp",
            "TIMEZONE('UTC', {c})",
            changed=UTC,
            lost=ENDS,
            refusal=CALENDAR,
            instead=WITHIN,
        ),
        NativeType(
            r"TIMESTAMP_NS",
            "timestamp",
            "CAST({c} AS TIMESTAMP)",
            lost=FINER,
            refusal=NANOSECONDS,
            instead=MICROSECONDS,
        ),
        NativeType(
            r"TIMESTAMPTZ_NS",
            "timestamp",
            "TIMEZONE('UTC', CAST({c} AS TIMESTAMP WITH TIME ZONE))",
            changed=UTC,
            lost=FINER,
            refusal=NANOSECONDS,
            instead=MICROSECONDS,
        ),
        NativeType(
            r"TIMESTAMP_M?S",
            "timestamp",
            "CAST({c} AS TIMESTAMP)",
            lost=ENDS_IN_SECONDS,
            refusal=CALENDAR,
            instead=WITHIN,
        ),
        NativeType(r"BOOLEAN", "boolean"),
        NativeType(
            r"(MAP|STRUCT)\(.*\bFLOAT[,)\[].*",
            "distribution",
            "CAST(TO_JSON({c}) AS VARCHAR)",
            lost="{c} IS NOT NULL",
            refusal=FLOATS_INSIDE,
            instead=DOUBLES,
        ),
        NativeType(
            r"(MAP|STRUCT)\(.*\)",
            "distribution",
            "CAST(TO_JSON({c}) AS VARCHAR)",
            changed="it is read as JSON",
        ),
        NativeType(r"VARCHAR", "text"),
        NativeType(
            r"ENUM\(.*\)", "text", compares=False
        ),  # as it is: its values have an order of their own
        NativeType(
            r"UNION\(.*\)",
            "text",
            "UNION_TAG({c}) || ': ' || CAST({c} AS VARCHAR)",
            changed="it is read as its tag and what DuckDB writes",
        ),
        NativeType(
            r"VARIANT", "text", "CAST(TO_JSON({c}) AS VARCHAR)", changed="it is read as JSON"
        ),  # in which 1 and '1' differ
        NativeType(r".*", "text", "CAST({c} AS VARCHAR)", changed="it is read as DuckDB writes it"),
    )

    def __init__(self, database: Path | None = None, *, folder: Path = Path(".")) -> None:
        super().__init__()
        self.connection = begin()
        self.database = database
        self.folder = folder
        self._files: dict[str, Path] = {}
        self._given: set[str] = set()
        self._known: Known = {}
        if database is not None:
            self._open(database)
            self._reads_file(database, again=False)

    def attach(self, table: Table) -> None:
        """Make the table's file or rows reachable under its name."""
        if table.rows is not None:
            refuse_words(table)
            self._create(table)
            self._given.add(table.name)
        elif self.database is not None and table.file is None:
            refuse_words(table)
            self._read_database(table.name)
        else:
            self._read_file(table)
        self._read_plainly(table.name, table)

    def put(self, name: str, data: Any, columns: Sequence[str] = ()) -> None:
        """Copy a pandas, Polars or Arrow table, or a DuckDB relation, and
        make it reachable under a name.

        Where `columns` are given, only those of them that the table has are copied.
        """
        from tacit.engines.duckdb import frames

        frame = frames.readable(data, columns)
        names = list(getattr(frame.data, "column_names", frame.data.columns))
        if not names:
            raise DataError(
                f"the table has none of the columns {', '.join(columns)}."
                if columns
                else "the table has no columns."
            )
        if "" in names:
            place = names.index("") + 1
            raise DataError(f"column {place} of the table has no name.", hint="Give it one.")
        try:
            self._copy(name, frame, names)
        except (duckdb.Error, TypeError, ValueError) as error:
            raise self._unread(name, frame, names) or frames.refused(
                names[0], f"values that cannot be read: {first_line(error)}", ""
            ) from None
        self._read_plainly(name)

    def _copy(self, name: str, frame: Frame, columns: Sequence[str]) -> None:
        """Copy columns of a table in memory, each as the type that it is to have."""
        quoted_names = {one: shapes.column(one).sql(dialect="duckdb") for one in columns}
        picked = ", ".join(
            f"CAST({shown} AS {frame.casts[one]}) AS {shown}" if one in frame.casts else shown
            for one, shown in quoted_names.items()
        )
        self.connection.register(GIVEN, frame.data)
        try:
            self.connection.execute(
                f"CREATE OR REPLACE TABLE {sql_name(name)} AS SELECT {picked} FROM "
                f"{sql_name(GIVEN)}"
            )
        finally:
            self.connection.unregister(GIVEN)

    def _unread(self, name: str, frame: Frame, columns: Sequence[str]) -> DataError | None:
        """Which column of a table in memory DuckDB cannot read."""
        from tacit.engines.duckdb import frames

        for one in columns:
            try:
                self._copy(
                    name,
                    frames.Frame(
                        frame.data[[one]]
                        if hasattr(frame.data, "iloc")
                        else frame.data.select([one]),
                        frame.casts,
                    ),
                    [one],
                )
            except (duckdb.Error, TypeError, ValueError) as error:
                return frames.refused(
                    one,
                    f"values that DuckDB cannot read: {first_line(error)}",
                    "Make it text, or leave the column out.",
                )
        return None

    def native_types(self, table: str) -> dict[str, str]:
        """The columns of a table, in order, with DuckDB's names for their types."""
        found = self._run(f"DESCRIBE {sql_name(table)}").fetchall()
        return {
            str(row[0]): COLLATED if row[1] == "VARCHAR" and self._collates else str(row[1])
            for row in found
        }

    @cached_property
    def _catalogue(self) -> Catalogue:
        assert self.database is not None
        return Catalogue(self.database.resolve(), lambda sql: self._run(sql).fetchall())

    @cached_property
    def _collates(self) -> bool:
        """Does text of the database compare by rules of its own (COLLATE)? DuckDB does not tell
        of which column.
        """
        if self.database is None:
            return False
        said = self._run(
            f"SELECT sql FROM duckdb_tables() WHERE database_name = '{SOURCE}' UNION ALL SELECT "
            f"sql FROM duckdb_views() WHERE database_name = '{SOURCE}'"
        ).fetchall()
        return any("collate" in str(sql).lower() for (sql,) in said)

    def rows(self, query: exp.Expression) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, fetched in batches."""
        # A cursor of its own: another question on the same one would end this answer.
        cursor = self._run(self.sql(query), self.connection.cursor())
        while batch := self._fetch(cursor):
            yield from batch

    def numbers(self, query: exp.Expression) -> Numbers:
        """The columns of a query of integers as arrays."""
        sql = self.sql(query)
        with self._explaining():
            arrays = attentively(self.connection, lambda: self.connection.execute(sql).fetchnumpy())
        return tuple(self.integers(array) for array in arrays.values())

    def parts(self, query: exp.Expression, rows: int) -> Iterator[Numbers]:
        """The same a part at a time, out of a table in between: what does not fit into DuckDB's
        memory it puts on the disk.
        """
        self.stored(f"CREATE OR REPLACE TABLE {sql_name(BETWEEN)} AS {self.sql(query)}")
        try:
            begin = 0
            while True:
                sql = (
                    f"SELECT * FROM {sql_name(BETWEEN)} WHERE rowid >= {begin} AND rowid < "
                    f"{begin + rows}"
                )
                with self._explaining():
                    found = self.connection.execute(sql).fetchnumpy()
                arrays = tuple(self.integers(array) for array in found.values())
                if not len(arrays[0]):
                    return
                yield arrays
                begin += rows
        finally:
            self._run(f"DROP TABLE IF EXISTS {sql_name(BETWEEN)}")

    def write(self, name: str, query: exp.Expression) -> None:
        """Store the rows of a query as a table."""
        self._run(f"CREATE OR REPLACE TABLE {sql_name(name)} AS {self.sql(query)}")

    def put_map(self, name: str, columns: Mapping[str, output.Relation]) -> None:
        """Copy columns of numbers or texts into a table in memory."""
        arrays = {
            column: values
            if isinstance(values, np.ndarray)
            else np.array(list(values), dtype=object)
            for column, values in columns.items()
        }
        texts = {column for column, values in arrays.items() if values.dtype == object}
        picked = ", ".join(
            (
                f"CAST({sql_name(column)} AS {'VARCHAR' if column in texts else 'BIGINT'}) AS "
                f"{sql_name(column)}"
            )
            for column in arrays
        )
        self.connection.register(GIVEN, arrays)
        try:
            self._run(
                f"CREATE OR REPLACE TABLE {sql_name(name)} AS SELECT {picked} FROM "
                f"{sql_name(GIVEN)}"
            )
        finally:
            self.connection.unregister(GIVEN)

    def drop_map(self, name: str) -> None:
        """Drop the table."""
        self._run(f"DROP TABLE IF EXISTS {sql_name(name)}")

    def explain(self, query: exp.Expression) -> None:
        """Have DuckDB plan a query without running it."""
        self._run(f"EXPLAIN {self.sql(query)}")

    def lock(self, *, seconds: float | None = None) -> None:
        """Close the way to other files, to extensions and to Python's
        own variables, and keep it closed.
        """
        # DuckDB asks for leave both for the name that it is given and for the file that this means.
        files = ", ".join(
            dict.fromkeys(
                name
                for path in sorted(self._sources)
                for name in (quoted(path), quoted(path.absolute()), sql_file(path))
            )
        )
        with suppress(EngineError):  # without the extension for time zones there is nothing to set
            self._run("SET TimeZone = 'UTC'")
        self._run(
            "SET temp_directory = ''"
        )  # rows of people are not written to a file that a crash would leave behind
        # Its use of statistics loses rows of outer joins (2.0.0), depending on rows that the answer
        # has nothing to do with.
        self._run("SET disabled_optimizers = 'statistics_propagation'")
        self._run(f"SET memory_limit = '{memory_for_strangers()}B'")
        self._run("SET python_enable_replacements = false")
        self._run(f"SET allowed_paths = [{files}]")  # a Parquet file is read for every query
        self._run("SET enable_external_access = false")
        self._run("SET lock_configuration = true")

    def origins(self, table: str) -> frozenset[Origin]:
        """The file of a table that is one;
        else the tables of the database that it is or, a view, reads.
        """
        if table in self._files:
            return file_origins(self._files[table])
        return self._catalogue.origins(table) if self._is_in_database(table) else frozenset()

    def entry(self, table: str) -> str | None:
        """The table of the database, unless it is a view."""
        return self._catalogue.entry(table) if self._is_in_database(table) else None

    def declared(self, table: str) -> SourceKeys:
        """The keys and NOT NULL of a table of the database."""
        return self._catalogue.declared(table) if self._is_in_database(table) else SourceKeys()

    def references(self) -> list[SourceReference]:
        """The foreign keys of the database."""
        return [] if self.database is None else self._catalogue.references()

    def _is_in_database(self, table: str) -> bool:
        return self.database is not None and table not in self._files and table not in self._given

    def computes(self, table: str) -> bool:
        """Is it a view of the database, or has it generated columns?"""
        if self.database is None or table in self._files:
            return False
        name = quoted(table.split(".")[-1])
        views = (
            f"SELECT count(*) FROM duckdb_views() WHERE database_name = '{SOURCE}' AND "
            f"lower(view_name) = lower({name})"
        )
        columns = (
            f"SELECT count(*) FROM duckdb_columns() WHERE database_name = '{SOURCE}' AND "
            f"lower(table_name) = lower({name}) AND is_generated"
        )
        return any(self._run(sql).fetchall()[0][0] for sql in (views, columns))

    def stream(self, sql: str) -> AnswerStream:
        """A query on a cursor of its own: several may run at the same time."""
        return DuckDBStream(sql, self.connection.cursor(), self._known)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _run(
        self, sql: str, cursor: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyConnection:
        with self._explaining():
            return (cursor or self.connection).execute(sql)

    def _fetch(self, cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
        with self._explaining():
            return cursor.fetchmany(BATCH)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """DuckDB's errors as ours."""
        try:
            yield
        except duckdb.Error as error:
            raise EngineError(f"DuckDB could not answer: {first_line(error)}") from None
        except RuntimeError as error:
            # Ctrl-C during a statement: DuckDB stops, and says so in its own way.
            raise (KeyboardInterrupt if "interrupted" in str(error) else error) from None

    def _save_file(self, query: exp.Expression, place: Path, final: Path) -> int:
        how = WRITE[output.format_of(final)]
        try:
            return self.stored(f"COPY ({self.sql(query)}) TO {sql_place(place)} ({how})")
        except duckdb.Error as error:
            raise not_written(error, final) from None

    def stored(self, sql: str) -> int:
        """Run a long statement that stores rows; how many there were."""
        found = attentively(self.connection, lambda: self.connection.execute(sql).fetchone())
        assert found is not None
        return int(found[0])

    def _check_table(self, name: str, *, replace: bool) -> None:
        if self.database is None:
            raise output.no_database(name)
        if not os.access(self.database, os.W_OK):
            raise EngineError(
                f"{self.database} may not be written.",
                hint="Write to a .csv or .parquet file instead.",
            )
        schema, _, table = name.rpartition(".")
        if schema.lower() == "main":
            raise DataError(
                f"tables of the schema main are named without it: {name!r}.", hint=f"Write {table}."
            )
        known = self._run(
            f"SELECT schema_name FROM information_schema.schemata WHERE catalog_name = '{SOURCE}'"
        ).fetchall()
        schemas = [str(row[0]) for row in known]
        if schema and schema.lower() not in map(str.lower, schemas):
            raise DataError(
                f"{self.database} has no schema {schema!r}.", hint=did_you_mean(schema, schemas)
            )
        kind = self._run(
            f"SELECT table_type FROM information_schema.tables WHERE table_catalog = '{SOURCE}' "
            f"AND lower(table_schema) = lower({quoted(schema or 'main')}) AND lower(table_name) = "
            f"lower({quoted(table)})"
        ).fetchall()
        if kind and not (replace and kind[0][0] == "BASE TABLE"):
            raise output.table_exists(name)

    def _save_table(
        self, query: exp.Expression, name: str, rows: int | None, *, replace: bool
    ) -> None:
        schema, _, table = name.rpartition(".")
        target = f"{SOURCE}.{sql_name(schema or 'main')}.{sql_name(table)}"
        with self._writable(), self._transaction():
            if replace:
                self._run(f"DROP TABLE IF EXISTS {target}")
            with self._explaining():
                written = self.stored(f"CREATE TABLE {target} AS {self.sql(query)}")
            output.check_rows(written, rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._run("BEGIN TRANSACTION")
        try:
            yield
            self._run("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):
                self.connection.rollback()
            raise

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """The database file attached for writing; nobody else may have it open meanwhile."""
        assert self.database is not None
        self._run(f"DETACH {SOURCE}")
        try:
            self._open(self.database, "")
            try:
                yield
            finally:
                self._run(f"DETACH {SOURCE}")
        finally:
            self._open(self.database)

    def _open(self, database: Path, how: str = "(READ_ONLY)") -> None:
        """Attach a database file that is only read: what we store ourselves goes to memory."""
        if "\\" in str(database.absolute()):
            raise EngineError(
                f"DuckDB cannot open {database}: its path has a backslash, which would divide "
                "folders there.",
                hint="Rename the file or its folder.",
            )
        try:
            self.connection.execute(f"ATTACH {sql_place(database)} AS {SOURCE} {how}")
        except duckdb.Error as error:
            raise EngineError(
                f"{database} cannot be opened as a DuckDB database.", hint=first_line(error)
            ) from None

    def _read_database(self, name: str) -> None:
        *schemas, table = name.split(".")
        schema = schemas[-1] if schemas else "main"
        known = [
            str(found if found_schema == "main" else f"{found_schema}.{found}")
            for found_schema, found in self._run(
                "SELECT table_schema, table_name FROM information_schema.tables WHERE "
                f"table_catalog = '{SOURCE}'"
            ).fetchall()
        ]
        if name.lower() not in (one.lower() for one in known):
            raise DataError(
                f"{self.database} has no table {name!r}.", hint=did_you_mean(name, known)
            )
        if schemas:
            self._run(f"CREATE SCHEMA IF NOT EXISTS {sql_name(schema)}")
        self._run(
            f"CREATE OR REPLACE VIEW {sql_name(name)} AS FROM "
            f"{SOURCE}.{sql_name(schema)}.{sql_name(table)}"
        )

    def _create(self, table: Table) -> None:
        values = stored_values(self, table)
        target = sql_name(table.name)
        self._run(
            f"CREATE TABLE {target} {shapes.declared(values.sql_types).sql(dialect='duckdb')}"
        )
        # One statement for many rows: one for each takes six times as long.
        places = ", ".join(
            f"CAST(? AS {exp.DataType.build(kind).sql('duckdb')})"
            for kind in values.sql_types.values()
        )
        for start in range(0, len(values.rows), INSERT_ROWS):
            rows = values.rows[start : start + INSERT_ROWS]
            self.connection.execute(
                f"INSERT INTO {target} VALUES {', '.join([f'({places})'] * len(rows))}",
                [value for row in rows for value in row],
            )

    def _read_file(self, table: Table) -> None:
        path, shown = find_file(table, self.folder)
        self._files[table.name] = path.resolve()
        kind = format_of(path)
        self._reads_file(path, again=kind == "parquet")
        if kind == "parquet":
            self._refused |= {
                (table.name, name): why
                for name, why in unreadable_columns(path, shown, "duckdb").items()
            }
            self._make("VIEW", table.name, f"SELECT * FROM {parquet_file(path)}", shown)
            if table.unknown or table.decimal_comma:
                raw = f"{table.name} as written"
                self._make("VIEW", raw, f"SELECT * FROM {parquet_file(path)}", shown)
                self._make("VIEW", table.name, self._reworded(raw, table), shown)
        elif kind == "arrow":
            from tacit.engines.duckdb.feather import arrow_table

            raw = f"{table.name} as written"
            self.put(raw, arrow_table(path, shown))
            self._make("VIEW", table.name, self._reworded(raw, table), shown)
        elif kind == "csv":
            self._read_csv(table, path, shown)
        else:
            self._read_texts(table, path, shown)

    def _read_texts(self, table: Table, path: Path, shown: str) -> None:
        """A file of another program: its values as text, then typed as those of CSV are."""
        from tacit.engines.texts.read import read_texts

        found, raw = read_texts(path, shown), f"{table.name} as text"
        names = [shapes.column(name).sql(dialect="duckdb") for name in found.names]
        declared = ", ".join(f"{name} VARCHAR" for name in names)
        self._run(f"CREATE OR REPLACE TABLE {sql_name(raw)} ({declared})")
        texts = ", ".join(f'CAST("{at}" AS VARCHAR)' for at in range(len(names)))
        for chunk in found.chunks:
            look()
            arrays = [np.array(chunk[name], dtype=object) for name in found.names]
            self.connection.register(GIVEN, {str(at): one for at, one in enumerate(arrays)})
            try:
                self._run(f"INSERT INTO {sql_name(raw)} SELECT {texts} FROM {sql_name(GIVEN)}")
            finally:
                self.connection.unregister(GIVEN)
        self.changes[table.name] = found.notes
        self._store(table, raw, shown)
        self._run(f"DROP VIEW {sql_name(f'{table.name} as read')}")
        self._run(f"DROP TABLE {sql_name(raw)}")

    def _read_csv(self, table: Table, path: Path, shown: str) -> None:
        shape = csv_shape(path, shown, by_header=self.types_by_plan)
        raw = f"{table.name} as text"
        self._make(
            "VIEW", raw, f"SELECT * FROM {csv_as_text(path, shape.header, shape.separator)}", shown
        )
        try:
            self._store(table, raw, shown)
        except EngineError as error:
            raise csv_error(error, path, shown) from None

    def _store(self, table: Table, raw: str, shown: str) -> None:
        """A table of text with words for missing left out and its columns typed.

        Stored, because a view would read the file again for every column that is counted.
        """
        read = f"{table.name} as read"
        self._make("VIEW", read, self._reworded(raw, table), shown)
        types = text_types(self, read, table)
        self._make("TABLE", table.name, shapes_text.typed(read, types).sql(dialect="duckdb"), shown)

    def _reworded(self, raw: str, table: Table) -> str:
        found = reworded(self, raw, table)
        return found.sql(dialect="duckdb") if found else f"SELECT * FROM {sql_name(raw)}"

    def _make(self, what: Literal["TABLE", "VIEW"], name: str, sql: str, shown: str) -> None:
        """A table or view of what a file holds; `shown` is how the file is called in messages."""
        statement = f"CREATE OR REPLACE {what} {sql_name(name)} AS {sql}"
        try:
            attentively(self.connection, lambda: self.connection.execute(statement))
        except duckdb.ConversionException:
            raise wrong_type(shown) from None
        except duckdb.Error as error:
            raise DataError(
                f"{shown} cannot be read: {first_line(error)}", mark=Mark(shown)
            ) from None


def memory_for_strangers() -> int:
    """How many bytes all queries of others may take together: a quarter of what this process may
    have, and not more than a few gigabytes.
    """
    return min(MOST_MEMORY, (memory_there() or MOST_MEMORY) // 4)


def attentively(connection: duckdb.DuckDBPyConnection, work: Callable[[], Answer]) -> Answer:
    """Do long work in a thread of its own: DuckDB would notice neither Ctrl-C nor a
    deadline before it is done.
    """
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(work)
        try:
            while wait([answer], timeout=0.1).not_done:
                look()
            return answer.result()
        finally:
            while not answer.done():  # again and again: it may not have begun yet
                connection.interrupt()
                wait([answer], timeout=0.1)
