"""The answer to a query of Spark as a stream, one partition after the other."""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tacit.engines.spark.session import explaining
from tacit.engines.streams import BATCH_ROWS, AnswerStream, FailsOnRows, arrow
from tacit.errors import EngineError

# what Spark finds on rows
ON_ROWS = (
    r"(?i)cannot be (cast|parsed|converted)|division by zero|overflow|out of "
    r"(range|bounds)|malformed|invalid (index|value|input)"
)


class SparkStream(AnswerStream):
    """A query of Spark. It must be read by the thread that began it:
    Spark knows its jobs by their thread.
    """

    def __init__(self, sql: str, session: Any) -> None:
        super().__init__(sql)
        self._session = session
        self._tag = f"tacit-{secrets.token_hex(8)}"
        self._rows: Any = iter(())

    def begin(self) -> None:
        """Have Spark resolve the query."""
        from pyspark.sql.pandas.types import to_arrow_schema

        self._session.addTag(self._tag)
        with self._until_stopped():
            frame = self._session.sql(self._sql)
            self.schema = to_arrow_schema(frame.schema)
            self._rows = frame.toLocalIterator(prefetchPartitions=False)

    def describe(self) -> None:
        """Have Spark resolve the query; its rows are made when they are read."""
        self.begin()

    def __iter__(self) -> Iterator[Any]:
        with self._until_stopped():
            while rows := list(itertools.islice(self._rows, BATCH_ROWS)):
                columns = [
                    arrow().array(column, one.type)
                    for column, one in zip(zip(*rows, strict=True), self.schema, strict=True)
                ]
                yield arrow().record_batch(columns, schema=self.schema)

    def close(self) -> None:
        """End the query."""
        self._interrupt()
        self._session.removeTag(self._tag)

    def _interrupt(self) -> None:
        self._session.interruptTag(self._tag)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Spark's errors as ours; those of data hold a value of the row."""
        try:
            with explaining():
                yield
        except EngineError as error:
            if re.search(ON_ROWS, error.message):
                raise FailsOnRows from None
            raise
