"""Spark: the rows stay with the cluster; a local one is started where none is configured."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np

from tacit.engines import output
from tacit.engines.attach import (
    find_file,
    ragged_line,
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
    NAN,
    SHORTEST,
    UTC,
    WITHIN,
    Engine,
    NativeType,
)
from tacit.engines.duckdb.parquet import unreadable_columns
from tacit.engines.files import csv_shape, mixed_line_ends, not_utf8
from tacit.engines.floats import shortest_float
from tacit.engines.formats import PACKED, PARQUET, format_of
from tacit.engines.identity import Origin, file_origins
from tacit.engines.spark.constraints import constraints_in, keys_in, references_in
from tacit.engines.spark.session import active_session, explaining, explaining_work, start_session
from tacit.engines.spark.stream import SparkStream
from tacit.engines.sql import shapes, shapes_text
from tacit.errors import DataError, EngineError, Mark, did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp

    from tacit.engines.base import Numbers
    from tacit.engines.streams import AnswerStream
    from tacit.model.schema import SourceKeys, SourceReference, Table

CSV: dict[str, Any] = {
    "header": True,
    "escape": '"',
    "nullValue": "",
    "emptyValue": '""',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
    "compression": "none",
}


ENDS = "YEAR({c}) < 1 OR YEAR({c}) > 9999"


class Spark(Engine):
    """Rows in files or in Spark's catalog.

    Uses the session that is given or active, else makes one: on `master`, else on what Spark's own
    configuration says (SPARK_MASTER, spark-defaults.conf), else in this machine.
    """

    dialect = "spark"
    one_spelling = r"(?s)(?!.*(interval|double|float|collate|variant)).*"
    numbers_spelled = floats = r"double|float"
    types = (
        NativeType(r"tinyint|smallint|int|bigint", "integer"),
        NativeType(r"decimal.*", "decimal"),
        NativeType(r"double", "decimal", "CASE WHEN NOT ISNAN({c}) THEN {c} END", changed=NAN),
        NativeType(
            r"float",
            "decimal",
            shortest_float("FORMAT_STRING('%.{0}e', {1})", "STRING", half_up=True),
            changed=SHORTEST,
        ),
        NativeType(r"date", "date", lost=ENDS, refusal=CALENDAR, instead=WITHIN),
        NativeType(r"timestamp_ntz", "timestamp", lost=ENDS, refusal=CALENDAR, instead=WITHIN),
        NativeType(
            r"timestamp",
            "timestamp",
            "CAST(CONVERT_TIMEZONE(CURRENT_TIMEZONE(), 'UTC', CAST({c} AS TIMESTAMP_NTZ)) AS "
            "TIMESTAMP_NTZ)",
            changed=UTC,
            lost=ENDS,
            refusal=CALENDAR,
            instead=WITHIN,
        ),
        NativeType(r"boolean", "boolean"),
        NativeType(
            r"(map|struct)<.*\bfloat[,>].*",
            "distribution",
            "TO_JSON({c})",
            lost="{c} IS NOT NULL",
            refusal=FLOATS_INSIDE,
            instead=DOUBLES,
        ),
        NativeType(
            r"(map|struct)<.*",
            "distribution",
            "TO_JSON({c}, MAP('ignoreNullFields', 'false'))",
            changed="it is read as JSON",
        ),
        NativeType(r"string", "text"),
        NativeType(
            r"binary",
            "text",
            "CONCAT('\\\\x', HEX({c}))",
            changed="it is read as its bytes in hexadecimal",
        ),
        NativeType(r".*", "text", "CAST({c} AS STRING)", changed="it is read as Spark writes it"),
    )

    def __init__(
        self, master: str | None = None, session: Any = None, *, folder: Path = Path(".")
    ) -> None:
        super().__init__()
        self.folder = folder
        given = session or active_session()
        self.session = given or start_session(master)
        self._made_session = given is None
        self._views: list[str] = []
        self._given: set[str] = set()  # tables whose rows stand in the plan
        if self.session.conf.get("spark.sql.ansi.enabled") != "true":
            raise EngineError(
                "this Spark session computes past overflows and bad values without saying so.",
                hint="Turn ANSI mode on: spark.conf.set('spark.sql.ansi.enabled', True)",
            )

    def attach(self, table: Table) -> None:
        """Make the table's rows, its file or the catalog's table reachable under its name."""
        if table.rows is not None:
            refuse_words(table)
            self._create(table)
        elif table.file is not None or not self.session.catalog.tableExists(self._name(table.name)):
            self._read_file(table)
        else:
            refuse_words(table)
        self._read_plainly(table.name, table)

    def native_types(self, table: str) -> dict[str, str]:
        """The columns of a table, in order, with Spark's names for their types."""
        with explaining():
            return dict(self.session.table(self._name(table)).dtypes)

    def rows(self, query: exp.Expression) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one partition after the other."""
        with explaining():
            for row in self._frame(query).toLocalIterator(prefetchPartitions=True):
                yield tuple(row)

    def numbers(self, query: exp.Expression) -> Numbers:
        """The columns of a query of integers as arrays, by Arrow."""
        with explaining():
            found = self._frame(query).toArrow()
        return tuple(self.integers(column.to_numpy()) for column in found.columns)

    def parts(self, query: exp.Expression, rows: int) -> Iterator[Numbers]:
        """The same, partition by partition."""
        found = self.rows(query)
        while some := list(islice(found, rows)):
            yield tuple(np.array(some, dtype=np.int64).T)

    def alike(
        self, query: exp.Expression, groups: Sequence[str], values: Sequence[str], most: int
    ) -> Numbers | None:
        """Groups that are alike, one for all, found by the workers."""
        from pyspark.sql import functions as f

        with explaining():
            cells = self._frame(query).groupBy(*groups, *values).count()
            whole = cells.groupBy(*groups).agg(
                f.sort_array(f.collect_list(f.struct(*values, "count"))).alias("cells")
            )
            kinds = whole.groupBy("cells").agg(
                f.min(f.struct(*groups)).alias("first"), f.count("*").alias("times")
            )
            rows = kinds.select("first.*", "times", f.explode("cells").alias("cell"))
            found = rows.select(*groups, "cell.*", "times").limit(most + 1).toArrow()
        if found.num_rows > most:
            return None
        columns = [self.integers(column.to_numpy()) for column in found.columns]
        order = np.lexsort([*reversed(columns[: len(groups) + len(values)])])
        return tuple(column[order] for column in columns)

    def write(self, name: str, query: exp.Expression) -> None:
        """Store the rows of a query as a table:
        in the metastore, or for as long as the session lasts.
        """
        with explaining():
            frame = self._frame(query)
            if self.session.conf.get("spark.sql.catalogImplementation") == "in-memory":
                self._view(name, frame.localCheckpoint())
            else:
                frame.write.saveAsTable(self._name(name))

    def put_map(self, name: str, columns: Mapping[str, output.Relation]) -> None:
        """Hand columns over by Arrow."""
        import pyarrow as pa

        arrays = {
            column: pa.array(values, pa.int64() if isinstance(values, np.ndarray) else pa.string())
            for column, values in columns.items()
        }
        with explaining():
            self._view(name, self.session.createDataFrame(pa.table(arrays)))

    def drop_map(self, name: str) -> None:
        """Drop the view on the columns."""
        if name in self._views:
            self._views.remove(name)
            self.session.catalog.dropTempView(name)

    def map_groups(
        self,
        name: str,
        query: exp.Expression,
        by: str,
        work: Callable[[Iterator[Any]], Iterator[Any]],
        columns: Mapping[str, str],
    ) -> None:
        """Have every partition of a query's rows worked on where it is, and make what comes of it
        reachable under a name.

        Rows that are equal in the column `by` are in one partition and follow each other. `work`
        takes and gives Arrow's record batches. What it gives is kept: it is never worked out a
        second time, and where Spark loses it, reading it is an error.
        """
        with self._job(), explaining_work():
            frame = self._frame(query).repartition(by).sortWithinPartitions(by)
            self._view(name, frame.mapInArrow(work, schema(columns)).localCheckpoint())

    def explain(self, query: exp.Expression) -> None:
        """Have Spark resolve a query without running it."""
        with explaining():
            self._frame(query)

    def lock(self, *, seconds: float | None = None) -> None:
        """Times mean the same whoever asks. Spark has no way to close itself further:
        what may run is up to who renders the queries.
        """
        self.session.conf.set("spark.sql.session.timeZone", "UTC")

    def origins(self, table: str) -> frozenset[Origin]:
        """The files that Spark reads for a table, also through views,
        and its entry in the catalog.
        """
        if table in self._given:
            return frozenset()
        with explaining():
            files = [
                Path(unquote(urlsplit(one).path))
                for one in self.session.table(self._name(table)).inputFiles()
            ]
        found = {
            origin
            for path in files
            for origin in (
                file_origins(path)
                if path.is_file()
                else [Origin("file", str(path), f"the file {path.name}")]
            )
        }
        if table in self._views:
            return frozenset(found)
        value, is_view = self._catalogued(table)
        if not files and is_view:
            found.add(
                Origin(
                    "hidden",
                    value,
                    f"what the view {table} reads cannot be told: Spark names no file that it "
                    "comes from",
                )
            )
        return frozenset({*found, Origin("table", value, f"the table {table}")})

    def entry(self, table: str) -> str | None:
        """The table of the catalog, unless it is a view."""
        value, is_view = ("", True) if table in self._views else self._catalogued(table)
        return None if is_view else value

    def declared(self, table: str) -> SourceKeys:
        """The keys that the catalog has for a table, where it has any."""
        return keys_in(self._constraints(table))

    def references(self) -> list[SourceReference]:
        """The foreign keys of the attached tables."""
        entries = {
            table: entry
            for table in sorted(self._attached)
            if (entry := self.entry(table)) is not None
        }
        return [
            one
            for table, entry in entries.items()
            for one in references_in(self._constraints(table), entry, entries.values())
        ]

    def _catalogued(self, table: str) -> tuple[str, bool]:
        """How the catalog knows a table, and whether it is a view."""
        with explaining():
            found = self.session.catalog.getTable(self._name(table))
        name = ".".join(
            [*filter(None, [found.catalog, *(found.namespace or ())]), found.name]
        ).lower()
        return f"spark/{name}", found.tableType in ("VIEW", "TEMPORARY")

    def _constraints(self, table: str) -> list[str]:
        """The constraints that the catalog has for a table."""
        if self.entry(table) is None:
            return []
        with explaining():
            return list(
                constraints_in(
                    [
                        tuple(row)
                        for row in self.session.sql(
                            f"DESCRIBE TABLE EXTENDED {self._name(table)}"
                        ).collect()
                    ]
                )
            )

    def stream(self, sql: str) -> AnswerStream:
        """A query, whose rows come one partition after the other."""
        return SparkStream(sql, self.session)

    def close(self) -> None:
        """Stop the session if it was made here; forget what was attached."""
        for view in self._views:
            self.session.catalog.uncacheTable(self._name(view))
            self.session.catalog.dropTempView(view)
        if self._made_session:
            self.session.stop()

    def _save_file(self, query: exp.Expression, place: Path, final: Path) -> int:
        """Spark writes folders: one with a single part is made, and the part taken out."""
        from pyspark.sql import Observation, functions

        seen = Observation()
        folder = place.with_suffix(".parts.tmp")
        try:
            with self._job(), explaining():
                frame = (
                    self._frame(query)
                    .observe(seen, functions.count(functions.lit(1)).alias("n"))
                    .coalesce(1)
                )
                if output.format_of(final) == "csv":
                    texts = [
                        functions.col(quoted_name(name)).cast("string").alias(name)
                        for name in frame.columns
                    ]
                    frame.select(*texts).write.csv("file:" + str(folder), **CSV)
                else:
                    frame.write.parquet("file:" + str(folder))
            part = next(folder.glob("part-*"))
            part.replace(place)
        finally:
            output.discard(folder)
        return int(seen.get["n"])

    def _check_table(self, name: str, *, replace: bool) -> None:
        catalog = self.session.catalog
        lasting = self.session.conf.get("spark.sql.catalogImplementation") != "in-memory"
        if self._made_session and not lasting and catalog.currentCatalog() == "spark_catalog":
            raise EngineError(
                "this Spark has no catalog that outlives the session.",
                hint=(
                    "Write to a .csv or .parquet file, or configure a metastore "
                    "(spark.sql.catalogImplementation)."
                ),
            )
        with explaining():
            if catalog.tableExists(self._name(name)) and not (
                replace and catalog.getTable(self._name(name)).tableType == "MANAGED"
            ):
                raise output.table_exists(name)

    def _save_table(
        self, query: exp.Expression, name: str, rows: int | None, *, replace: bool
    ) -> None:
        *schema, _ = name.split(".")
        beside = self._name(".".join([*schema, f"tacit_{secrets.token_hex(8)}"]))
        try:
            with self._job(), explaining():
                self._frame(query).write.saveAsTable(beside)
                output.check_rows(self.session.table(beside).count(), rows)
                output.check_unchanged(self._stamps)
                if replace:
                    self.session.sql(f"DROP TABLE IF EXISTS {self._name(name)}")
                self.session.sql(f"ALTER TABLE {beside} RENAME TO {self._name(name)}")
        except BaseException:
            with suppress(Exception):
                self.session.sql(f"DROP TABLE IF EXISTS {beside}")
            raise

    @contextmanager
    def _job(self) -> Iterator[None]:
        """Work that Spark stops when we are stopped:
        else it would go on writing behind our back.
        """
        tag = f"tacit-{secrets.token_hex(4)}"
        self.session.addTag(tag)
        try:
            yield
        except BaseException:
            self.session.interruptTag(tag)
            raise
        finally:
            self.session.removeTag(tag)

    def _frame(self, query: exp.Expression) -> Any:
        return self.session.sql(self.sql(query))

    def _view(self, name: str, frame: Any) -> None:
        frame.createOrReplaceTempView(self._name(name))
        self._views.append(name)

    def _create(self, table: Table) -> None:
        values = stored_values(self, table)
        self._given.add(table.name)
        with explaining():
            self._view(
                table.name,
                self.session.createDataFrame(list(values.rows), schema(values.sql_types)),
            )

    def _read_file(self, table: Table) -> None:
        path, shown = self._find_file(table)
        if path.name.startswith(("_", ".")) or ":" in str(path.resolve()):
            raise DataError(
                f"Spark does not read {shown}: it passes over names that begin with _ or ., and "
                "takes none with a colon.",
                hint="Rename the file.",
                mark=Mark(shown),
            )
        self._reads_file(path, again=True)
        with explaining():
            if path.suffix.lower() in PARQUET:
                for name, (has, instead) in unreadable_columns(
                    path, shown, "spark"
                ).items():  # Spark would read no column of the file
                    raise DataError(
                        f"column {name!r} of {shown} has {has}.", hint=instead, mark=Mark(shown)
                    )
                frame = self.session.read.parquet(spark_path(path))
                self._view(f"{table.name} as written", frame)
                query = reworded(self, f"{table.name} as written", table)
                self._view(table.name, self._frame(query) if query else frame)
            else:
                self._read_csv(table, path, shown)

    def _find_file(self, table: Table) -> tuple[Path, str]:
        try:
            path, shown = find_file(table, self.folder)
        except DataError as error:
            known = [
                found.name
                for found in self.session.catalog.listTables()
                if found.name not in self._views
            ]
            if table.file is None and known:
                error.hint = f"{error.hint} In Spark's catalog: {did_you_mean(table.name, known)}"
            raise
        if path.suffix.lower() in PACKED or format_of(path) not in ("csv", "parquet"):
            raise DataError(
                f"{shown}: Spark reads plain CSV files and Parquet here.",
                hint="Write it as Parquet, or use source: . which reads it by DuckDB.",
                mark=Mark(shown),
            )
        return path, shown

    def _read_csv(self, table: Table, path: Path, shown: str) -> None:
        shape = csv_shape(path, shown, by_header=self.types_by_plan)
        raw = f"{table.name} as text"
        if not self.session.read.text(spark_path(path)).where("NOT is_valid_utf8(value)").isEmpty():
            raise not_utf8(path, shown)
        frame = self.session.read.csv(
            spark_path(path),
            schema=schema(dict.fromkeys(shape.header, "TEXT")),
            sep=shape.separator,
            header=True,
            escape='"',
            nullValue="",
            emptyValue="",
            multiLine=True,
            mode="FAILFAST",
        )
        self._view(raw, frame)
        try:
            if query := reworded(self, raw, table):
                raw = f"{table.name} as read"
                self._view(raw, self._frame(query))
            types = text_types(self, raw, table)
        except EngineError:
            raise (
                mixed_line_ends(path, shown)
                or ragged_line(path, shown, shape)
                or DataError(f"{shown} cannot be read as CSV.", mark=Mark(shown))
            ) from None
        if self.value(shapes_text.line_end_count(raw, shape.header[-1])) and (
            found := mixed_line_ends(path, shown)
        ):
            raise found
        # Kept by Spark: a CSV file is read by one task, and would be
        # for every column that is counted.
        self._view(table.name, self._frame(shapes_text.typed(raw, types)).cache())
        try:
            self.value(shapes.row_count(table.name))
        except EngineError:
            raise wrong_type(shown) from None


def schema(types: Mapping[str, str]) -> str:
    """Columns as Spark's readers take them.

    >>> schema({"zip": "TEXT", "dose": "DECIMAL(38, 2)"})
    '`zip` STRING, `dose` DECIMAL(38, 2)'
    """
    return shapes.declared(types).sql(dialect="spark")[1:-1]


def quoted_name(column: str) -> str:
    """A column's name as Spark's functions take it.

    >>> quoted_name("back`tick")
    '`back``tick`'
    """
    return "`" + column.replace("`", "``") + "`"


def spark_path(path: Path) -> str:
    """A file's path for Spark, in which letters that would make it a pattern are plain.

    >>> spark_path(Path("/data/ward[1].csv"))
    'file:/data/ward\\\\[1\\\\].csv'
    """
    return "file:" + re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path.resolve()))
