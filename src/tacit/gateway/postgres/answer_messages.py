"""Answers: the rows of a statement, piece by piece, wherever they come from: a query that runs, or
a few rows that are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from tacit.gateway.admission import Run
from tacit.gateway.http.formats import Piece
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.postgres.rows import Described, RowEncoder


class AnswerRows(Protocol):
    """Rows of an answer. `count` is final when `next` has given None."""

    @property
    def schema(self) -> pa.Schema:
        """What they look like."""

    @property
    def count(self) -> int:
        """How many there were."""

    def work(self) -> None:
        """Start on the next piece."""

    async def next(self) -> Piece | None:
        """The next piece, None after the last."""

    async def end(self, finished: bool) -> None:
        """No more of them are wanted; `finished`: all were sent."""


class RunRows:
    """The rows of a query that runs. The first piece is there already: the schema comes with it."""

    def __init__(self, run: Run, encoder: Described, limit: int) -> None:
        self._run = run
        self._encoder = encoder
        self._limit = limit
        self._held: Piece | None = None

    async def begin(self) -> None:
        """Have the first piece made."""
        self._held = await self._run.next()

    @property
    def schema(self) -> pa.Schema:
        """What the engine says."""
        assert self._encoder.schema is not None
        return self._encoder.schema

    @property
    def count(self) -> int:
        """How many rows came from the engine."""
        return self._run.answer.rows

    def work(self) -> None:
        """Start on the next piece, while one is sent."""
        self._run.answer.work()

    async def next(self) -> Piece | None:
        """The next piece; a Trouble where there are more rows than an answer may have: no client
        can take a part for the whole.
        """
        held, self._held = self._held, None
        if held is not None:
            return held
        found = await self._run.next()
        if found is None and self._run.answer.truncated:
            self._run.finished()
            raise Trouble(
                "54000",
                f"the answer has more than {self._limit} rows.",
                hint="Ask for fewer with LIMIT, or ask the owner to raise --row-limit.",
            )
        return found

    async def end(self, finished: bool) -> None:
        """Free the place of the query."""
        if finished:
            self._run.finished()
        elif self._run.outcome == "fault":
            self._run.outcome = "left"
        await self._run.end()


class KnownRows:
    """Rows that are in memory."""

    def __init__(self, table: pa.Table, formats: Sequence[int] = ()) -> None:
        encoder = RowEncoder(formats)
        encoder.start(table.schema)
        self._pieces = [encoder.batch(one) for one in table.combine_chunks().to_batches()]
        self._table = table

    @property
    def schema(self) -> pa.Schema:
        """The table's."""
        return self._table.schema

    @property
    def count(self) -> int:
        """The table's."""
        return int(self._table.num_rows)

    def work(self) -> None:
        """Nothing: all is there."""

    async def next(self) -> Piece | None:
        """The next piece."""
        return self._pieces.pop(0) if self._pieces else None

    async def end(self, finished: bool) -> None:
        """Nothing is held."""
