"""Stream: the answer to one query as Arrow's record batches, made while they are read, and
stopped from outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tacit.errors import EngineError, MissingExtra

# a few megabytes of most tables; a third of a part of DuckDB's tables, so that batches of whole
# ones are even by themselves
BATCH_ROWS = 40_960
NUMBER = {
    b"tacit": b"number"
}  # marks a column of text that holds numbers: they have more digits than Arrow's have


class Stopped(EngineError):
    """A query that was stopped from outside; nothing is wrong with it."""

    def __init__(self) -> None:
        super().__init__("the query was stopped.")


class FailsOnRows(EngineError):
    """A query that fails on a row of its answer. On which of them the database failed first
    depends on how it works, and so on all rows: no value is shown.
    """

    def __init__(self) -> None:
        super().__init__(
            "an expression of the query fails on a row of its answer.",
            hint=(
                "Ask only for rows on which it can be computed: divide by no zero, convert "
                "what can be converted."
            ),
        )


class LongRow(EngineError):
    """A row of the answer has more bytes than a row may have."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"a row of the answer has more than {most} bytes.",
            hint="Ask for a part of it, or ask the owner to raise --row-bytes.",
        )


class AnswerStream(ABC):
    """The answer to one query: begun, read and closed by one thread; `stop` may come from any.

    Nothing is computed far ahead of what is read. After `close` the engine can take the next query.
    """

    schema: Any  # pyarrow.Schema, once it has begun
    most_row: int | None = None  # bytes of a row; where it is set, LongRow is raised beyond it
    writes_csv = False  # whether `csv` can be read instead of the batches, once it has begun

    def __init__(self, sql: str) -> None:
        arrow()
        self._sql = sql
        self._stopped = False

    @abstractmethod
    def begin(self) -> None:
        """Have the engine start on it; an EngineError where it cannot, Stopped after `stop`."""

    @abstractmethod
    def describe(self) -> None:
        """Have the engine say what the answer would look like (`schema`), and run nothing."""

    def estimate(self) -> float:
        """How much work the engine expects it to be, in the engine's own unit; nothing is run."""
        raise EngineError("this engine does not say how much work a query is.")

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """The batches, each with at least one row;
        an EngineError where the engine fails, Stopped after `stop`.
        """

    def csv(self, most: int) -> Iterator[tuple[bytes | bytearray, int]]:
        """Lines of CSV without a header as the engine itself writes them, with their number;
        one part ends after `most` rows.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Have the engine give up at once;
        safe at any time, also before it began and after it ended.

        Where the engine is between two steps it may not hear it:
        to be called again until the reading has ended.
        """
        self._stopped = True
        self._interrupt()

    @abstractmethod
    def close(self) -> None:
        """End the query, also in the middle of its answer."""

    @abstractmethod
    def _interrupt(self) -> None:
        """Tell the engine to give up what it does for this query."""

    @abstractmethod
    def _explaining(self) -> AbstractContextManager[None]:
        """The engine's errors as ours."""

    @contextmanager
    def _until_stopped(self) -> Iterator[None]:
        """The engine's errors as ours; after `stop`, whatever went wrong is that."""
        try:
            if self._stopped:
                raise Stopped
            with self._explaining():
                yield
        except EngineError:
            if self._stopped:
                raise Stopped from None
            raise


def is_number(field: Any) -> bool:
    """Is it a column of text that holds numbers?"""
    return bool(field.metadata) and field.metadata.get(b"tacit") == NUMBER[b"tacit"]


def arrow() -> Any:
    """The package pyarrow, or the way to get it."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("pyarrow", extra="gateway", purpose="answers as streams") from None
    return pyarrow
