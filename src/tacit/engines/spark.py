"""Spark: the rows stay with the cluster; a local one is started where none is configured."""

from __future__ import annotations

import importlib
import itertools
import logging
import os
import re
import secrets
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engines import output, shapes
from tacit.engines.attach import PARQUET, find_file, ragged_line, text_types, values_of, wrong_type
from tacit.engines.base import Engine, NativeType
from tacit.engines.streams import BATCH_ROWS, Stopped, Stream, arrow
from tacit.errors import DataError, EngineError, Mark, MissingExtra, did_you_mean
from tacit.files import csv_shape, not_utf8

if TYPE_CHECKING:
    from sqlglot import exp

    from tacit.engines.base import Numbers
    from tacit.model.schema import Table

MASTER_SECONDS = 5
CSV: dict[str, Any] = {
    "header": True,
    "escape": '"',
    "nullValue": "",
    "emptyValue": '""',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
    "compression": "none",
}
NO_JAVA = "Install Java 17 or newer (apt install openjdk-17-jre-headless) and set JAVA_HOME to it."
NO_MASTER = "Start the cluster, or correct the master in the plan's source (spark://host:7077)."


class Spark(Engine):
    """Rows in files or in Spark's catalog.

    Uses the session that is given or active, else makes one: on `master`, else on what Spark's own
    configuration says (SPARK_MASTER, spark-defaults.conf), else in this machine.
    """

    dialect = "spark"
    types = (
        NativeType(r"tinyint|smallint|int|bigint", "integer"),
        NativeType(r"decimal.*", "decimal"),
        NativeType(r"float|double", "decimal", "CASE WHEN NOT ISNAN({c}) THEN {c} END"),
        NativeType(r"date", "date"),
        NativeType(r"timestamp_ntz", "timestamp"),
        NativeType(
            r"timestamp",
            "timestamp",
            "CAST(CONVERT_TIMEZONE(CURRENT_TIMEZONE(), 'UTC', CAST({c} AS TIMESTAMP_NTZ)) AS TIMESTAMP_NTZ)",
        ),
        NativeType(r"boolean", "boolean"),
        NativeType(r"(map|struct)<.*", "distribution", "TO_JSON({c}, MAP('ignoreNullFields', 'false'))"),
        NativeType(r"string", "text"),
        NativeType(r".*", "text", "CAST({c} AS STRING)"),
    )

    def __init__(self, master: str | None = None, session: Any = None, *, folder: Path = Path(".")) -> None:
        super().__init__()
        self.folder = folder
        given = session or active_session()
        self.session = given or start_session(master)
        self._made_session = given is None
        self._views: list[str] = []
        if self.session.conf.get("spark.sql.ansi.enabled") != "true":
            raise EngineError(
                "this Spark session computes past overflows and bad values without saying so.",
                hint="Turn ANSI mode on: spark.conf.set('spark.sql.ansi.enabled', True)",
            )

    def attach(self, table: Table) -> None:
        """Make the table's rows, its file or the catalog's table reachable under its name."""
        if table.rows is not None:
            self._create(table)
        elif table.file is not None or not self.session.catalog.tableExists(self._name(table.name)):
            self._read_file(table)
        self._read_plainly(table.name)

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

    def write(self, name: str, query: exp.Expression) -> None:
        """Store the rows of a query as a table: in the metastore, or for as long as the session lasts."""
        with explaining():
            frame = self._frame(query)
            if self.session.conf.get("spark.sql.catalogImplementation") == "in-memory":
                self._view(name, frame.localCheckpoint())
            else:
                frame.write.saveAsTable(self._name(name))

    def put_map(self, name: str, columns: Mapping[str, output.Relation]) -> None:
        """Hand columns over by Arrow."""
        import numpy as np
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
        self, name: str, query: exp.Expression, by: str, work: Callable[[Iterator[Any]], Iterator[Any]], columns: Mapping[str, str]
    ) -> None:
        """Have every partition of a query's rows worked on where it is, and make what comes of it reachable under a name.

        Rows that are equal in the column `by` are in one partition and follow each other. `work` takes and gives Arrow's record
        batches. What it gives is kept: it is never worked out a second time, and where Spark loses it, reading it is an error.
        """
        with self._job(), explaining_work():
            frame = self._frame(query).repartition(by).sortWithinPartitions(by)
            self._view(name, frame.mapInArrow(work, schema(columns)).localCheckpoint())

    def explain(self, query: exp.Expression) -> None:
        """Have Spark resolve a query without running it."""
        with explaining():
            self._frame(query)

    def lock(self, *, seconds: float | None = None) -> None:
        """Times mean the same whoever asks. Spark has no way to close itself further: what may run is up to who renders the queries."""
        self.session.conf.set("spark.sql.session.timeZone", "UTC")

    def stream(self, sql: str) -> Stream:
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
                frame = self._frame(query).observe(seen, functions.count(functions.lit(1)).alias("n")).coalesce(1)
                if output.format_of(final) == "csv":
                    texts = [functions.col(quoted_name(name)).cast("string").alias(name) for name in frame.columns]
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
                hint="Write to a .csv or .parquet file, or configure a metastore (spark.sql.catalogImplementation).",
            )
        with explaining():
            if catalog.tableExists(self._name(name)) and not (
                replace and catalog.getTable(self._name(name)).tableType == "MANAGED"
            ):
                raise output.table_exists(name)

    def _save_table(self, query: exp.Expression, name: str, rows: int | None, *, replace: bool) -> None:
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
        """Work that Spark stops when we are stopped: else it would go on writing behind our back."""
        tag = f"tacit-{secrets.token_hex(4)}"
        self.session.addTag(tag)
        try:
            yield
        except BaseException:
            self.session.interruptTag(tag)
            raise
        finally:
            self.session.removeTag(tag)

    def _name(self, table: str) -> str:
        return shapes.table_of(table).sql(dialect=self.dialect)

    def _frame(self, query: exp.Expression) -> Any:
        return self.session.sql(self.sql(query))

    def _view(self, name: str, frame: Any) -> None:
        frame.createOrReplaceTempView(self._name(name))
        self._views.append(name)

    def _create(self, table: Table) -> None:
        values = values_of(table)
        with explaining():
            self._view(table.name, self.session.createDataFrame(list(values.rows), schema(values.sql_types)))

    def _read_file(self, table: Table) -> None:
        path, shown = self._find_file(table)
        self._reads_file(path, again=True)
        with explaining():
            if path.suffix.lower() in PARQUET:
                self._view(table.name, self.session.read.parquet(spark_path(path)))
            else:
                self._read_csv(table, path, shown)

    def _find_file(self, table: Table) -> tuple[Path, str]:
        try:
            return find_file(table, self.folder)
        except DataError as error:
            known = [found.name for found in self.session.catalog.listTables() if found.name not in self._views]
            if table.file is None and known:
                error.hint = f"{error.hint} In Spark's catalog: {did_you_mean(table.name, known)}"
            raise

    def _read_csv(self, table: Table, path: Path, shown: str) -> None:
        shape = csv_shape(path, shown)
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
            types = text_types(self, raw, table)
        except EngineError:
            raise ragged_line(path, shown, shape) or DataError(
                f"{shown} cannot be read as CSV.", mark=Mark(shown)
            ) from None
        # Kept by Spark: a CSV file is read by one task, and would be for every column that is counted.
        self._view(table.name, self._frame(shapes.typed(raw, types)).cache())
        try:
            self.value(shapes.row_count(table.name))
        except EngineError:
            raise wrong_type(shown) from None


class SparkStream(Stream):
    """A query of Spark. It must be read by the thread that began it: Spark knows its jobs by their thread."""

    def __init__(self, sql: str, session: Any) -> None:
        arrow()
        self._sql = sql
        self._session = session
        self._tag = f"tacit-{secrets.token_hex(8)}"
        self._stopped = False
        self._rows: Any = iter(())

    def begin(self) -> None:
        """Have Spark resolve the query."""
        from pyspark.sql.pandas.types import to_arrow_schema

        self._session.addTag(self._tag)
        with self._explaining():
            frame = self._session.sql(self._sql)
            self.schema = to_arrow_schema(frame.schema)
            self._rows = frame.toLocalIterator(prefetchPartitions=False)

    def __iter__(self) -> Iterator[Any]:
        with self._explaining():
            while rows := list(itertools.islice(self._rows, BATCH_ROWS)):
                columns = [arrow().array(column, one.type) for column, one in zip(zip(*rows, strict=True), self.schema, strict=True)]
                yield arrow().record_batch(columns, schema=self.schema)

    def stop(self) -> None:
        """Interrupt the jobs of this query."""
        self._stopped = True
        self._session.interruptTag(self._tag)

    def close(self) -> None:
        """End the query."""
        self._session.interruptTag(self._tag)
        self._session.removeTag(self._tag)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Spark's errors as ours."""
        try:
            if self._stopped:
                raise Stopped
            with explaining():
                yield
        except EngineError:
            if self._stopped:
                raise Stopped from None
            raise


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


def active_session() -> Any:
    """The session that this thread already works with."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("pyspark", extra="spark", purpose="Spark sources") from None
    return SparkSession.getActiveSession()


def start_session(master: str | None) -> Any:
    """A session of our own. What Spark logs goes to a file of its own, which is read when the start fails."""
    from pyspark import SparkConf, SparkContext, java_gateway
    from pyspark.sql import SparkSession

    be_quiet()
    chosen = settings(master)
    if chosen.get("spark.master", "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else Spark's workers run whatever python3 is
    if not answers(chosen.get("spark.master", "")):
        raise EngineError("Spark's master does not answer.", hint=NO_MASTER)
    conf = SparkConf().setAppName("tacit").setAll(list(chosen.items()))
    launch: Any = java_gateway.launch_gateway
    with tempfile.TemporaryFile() as log:
        try:
            gateway = SparkContext._gateway or launch(conf, popen_kwargs={"stderr": log})
            return SparkSession(SparkContext(conf=conf, gateway=gateway))
        except Exception as error:
            log.seek(0)
            raise not_started(error, log.read().decode(errors="replace")) from None


def answers(master: str) -> bool:
    """Whether somebody listens at one of the addresses of a master; Spark itself would try for a minute.

    >>> answers("local[2]")
    True
    """
    if not master.startswith("spark://"):
        return True
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        with suppress(OSError, ValueError), socket.create_connection((host, int(port)), MASTER_SECONDS):
            return True
    return False


def settings(master: str | None) -> dict[str, str]:
    """What we ask of Spark. Where nobody configured it: little, quiet and on this machine only.

    >>> settings("spark://host:7077")["spark.master"]
    'spark://host:7077'
    """
    chosen = {
        "spark.log.level": "OFF",
        "spark.sql.ansi.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
    }
    master = master or os.environ.get("SPARK_MASTER")
    if master:
        chosen["spark.master"] = master
    if not (master or "local").startswith("local") or {"SPARK_CONF_DIR", "SPARK_HOME"} & os.environ.keys():
        return chosen
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "tacit-spark-warehouse"),
        **chosen,
    }


def be_quiet() -> None:
    """Silence pyspark's own logger, which would print values, and its word on the version of pandas."""
    logging.getLogger("SQLQueryContextLogger").disabled = True
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)


def not_started(error: Exception, log: str) -> EngineError:
    """Why there is no session, from the error and from what Spark logged."""
    said = f"{error}\n{log}"
    if re.search(r"masters are unresponsive|Could not parse Master|stopped SparkContext|[Mm]aster must", said):
        return EngineError("Spark's master does not answer.", hint=NO_MASTER)
    if re.search(r"JAVA_GATEWAY_EXITED|JAVA_HOME|UnsupportedClassVersion", said):
        return EngineError("Spark cannot start without a Java that suits it.", hint=NO_JAVA)
    return EngineError(f"Spark cannot start: {first_sentence(str(error))}")


@contextmanager
def explaining() -> Iterator[None]:
    """Spark's errors as ours."""
    from pyspark.errors import PySparkException

    java_error = importlib.import_module("py4j.protocol").Py4JError
    try:
        yield
    except (PySparkException, java_error) as error:
        raise EngineError(f"Spark could not answer: {first_sentence(str(error))}") from None


@contextmanager
def explaining_work() -> Iterator[None]:
    """Errors of work that Spark's Python processes do, as ours."""
    from pyspark.errors import PythonException

    with explaining():
        try:
            yield
        except PythonException as error:
            raise work_failed(str(error)) from None


def work_failed(said: str) -> EngineError:
    """What went wrong in Spark's Python processes, from the last line that they print.

    >>> print(work_failed("An exception was thrown:\\nTraceback:\\n  File\\ntacit.errors.ParameterError: no draw is good.\\n\\tat java"))
    Spark's Python could not draw: no draw is good.
    """
    found = [line for line in said.splitlines() if re.match(r"[\w.]+(Error|Exception): ", line)]
    kind, _, words = (found or ["Error: no reason given"])[-1].partition(": ")
    if kind == "ModuleNotFoundError":
        return EngineError(
            f"Spark's Python has not all that Tacit needs: {words[0].lower()}{words[1:]}.",
            hint="Install tacit[spark,synthesis] for the Python of Spark's workers, or set PYSPARK_PYTHON to one that has it.",
        )
    return EngineError(f"Spark's Python could not draw: {words}")


def first_sentence(text: str) -> str:
    """What Spark has to say, without its class of errors and the stack.

    >>> first_sentence("An error occurred while calling o1.x.\\n: a.B: [C.D] No such thing. SQLSTATE: 42P01\\n\\tat")
    'No such thing.'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = next((line for line in lines if re.search(r"\[[A-Z_.]+\] ", line)), lines[0] if lines else "no reason given")
    return re.sub(r"^.*?\[[A-Z_.]+\] |\s*SQLSTATE: .*$", "", said)


def spark_path(path: Path) -> str:
    """A file's path for Spark, in which letters that would make it a pattern are plain.

    >>> spark_path(Path("/data/ward[1].csv"))
    'file:/data/ward\\\\[1\\\\].csv'
    """
    return "file:" + re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path.resolve()))
