"""The answer to a query of DuckDB as a stream, read while it is made."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb

from tacit.engines.duckdb.reserved_words import first_line
from tacit.engines.sql.long_rows import LONG_ROW, checked
from tacit.engines.streams import BATCH_ROWS, AnswerStream, FailsOnRows, LongRow
from tacit.errors import EngineError

# their words hold a value of the row
ON_ROWS = r"(Conversion|Out of Range|Invalid Input|Mismatch Type) Error"
# Rows with texts are read a few at a time: DuckDB makes all rows of a batch before it gives any,
# and a text that it has once itself may stand in each of them.
FEW_ROWS, FEW_BYTES = 256, 256 << 20
MOST_KNOWN = 10_000
Known = dict[tuple[str, int], str]  # queries as they are checked for long rows, by what was asked


class DuckDBStream(AnswerStream):
    """A query of DuckDB, as a relation: what `execute` gives would be made as a whole first."""

    def __init__(
        self, sql: str, cursor: duckdb.DuckDBPyConnection, known: Known | None = None
    ) -> None:
        super().__init__(sql)
        self._cursor = cursor
        self._known = {} if known is None else known
        self._reader: Any = ()

    def begin(self) -> None:
        """Have DuckDB plan the query and start on it."""
        with self._until_stopped():
            if self.most_row is None:
                self._reader = batches(self._relation(), BATCH_ROWS)
            else:
                asked = (self._cursor, self._sql, self.most_row)
                self._reader = bounded(*asked, self._relation, self._known)
            self.schema = self._reader.schema

    def describe(self) -> None:
        """Have DuckDB plan the query: no row of it is wanted."""
        with self._until_stopped():
            self.schema = batches(self._relation().limit(0), 1).schema

    def estimate(self) -> float:
        """The rows that all steps of the plan are expected to give."""
        with self._until_stopped():
            self._relation()  # one query, and nothing else
            [(_, plan)] = self._cursor.execute(f"EXPLAIN (FORMAT JSON) {self._sql}").fetchall()
            return sum(expected_rows(one)[1] for one in json.loads(plan))

    def __iter__(self) -> Iterator[Any]:
        with self._until_stopped():
            yield from self._reader

    def close(self) -> None:
        """End the query and the cursor."""
        self._interrupt()
        self._cursor.close()

    def _relation(self) -> Any:
        statements = self._cursor.extract_statements(self._sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise EngineError("this is not one query.")
        return self._cursor.sql(self._sql)

    def _interrupt(self) -> None:
        self._cursor.interrupt()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """DuckDB's errors as ours; they come through Arrow once the first rows are there."""
        try:
            yield
        except (duckdb.Error, OSError, ValueError, RuntimeError) as error:
            if (
                "out of memory" in str(error).lower()
            ):  # the rest of the message is about what others do on this machine
                raise EngineError(
                    "DuckDB had too little memory to answer.", hint="Ask for less at a time."
                ) from None
            if LONG_ROW in str(error) and self.most_row is not None:
                raise LongRow(self.most_row) from None
            if re.search(ON_ROWS, str(error)):
                raise FailsOnRows from None
            raise EngineError(f"DuckDB could not answer: {first_line(error)}") from None


def batches(relation: Any, rows: int) -> Any:
    """A relation's answer as a reader of batches, by the name that this version of DuckDB has."""
    newer = getattr(relation, "to_arrow_reader", None)
    return (newer or relation.fetch_arrow_reader)(rows)


def bounded(
    cursor: duckdb.DuckDBPyConnection,
    sql: str,
    most: int,
    relation: Callable[[], Any],
    known: Known,
) -> Any:
    """The answer to a query as a reader of batches that fit into memory: a row of more than `most`
    bytes is an error, before any of it leaves DuckDB. `relation` is asked for the columns, unless
    they are `known`: planning a query takes as long as running a short one.
    """
    short = known.get((sql, most))
    if short is None:
        if len(known) >= MOST_KNOWN:
            known.clear()
        found = relation()
        columns = list(zip(found.columns, (kind.id for kind in found.types), strict=True))
        short = known[sql, most] = checked(sql, columns, most) or sql
    few = max(1, min(FEW_ROWS, FEW_BYTES // most))
    return batches(cursor.sql(short), BATCH_ROWS if short == sql else few)


def expected_rows(step: Mapping[str, Any]) -> tuple[float, float]:
    """How many rows a step of a plan is expected to give, and how many it gives with those before
    it. DuckDB says it of most steps: of products it does not, and these are what costs.

    >>> scan = {"name": "SCAN", "children": [], "extra_info": {"Estimated Cardinality": "10"}}
    >>> expected_rows({"name": "CROSS_PRODUCT", "children": [scan, scan], "extra_info": {}})
    (100.0, 120.0)
    """
    before = [expected_rows(one) for one in step["children"]]
    said = step["extra_info"].get("Estimated Cardinality")
    if said is not None:
        own = float(str(said).strip("~ "))
    elif "PRODUCT" in step["name"]:
        own = math.prod(rows for rows, _ in before)
    else:
        own = max((rows for rows, _ in before), default=0.0)
    return own, own + sum(work for _, work in before)
