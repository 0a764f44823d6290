"""Catalog runs: questions about catalogs as they run, a few at a time, one of each user.

Whoever asks may write any question. So it ends after some seconds, or when nobody listens, and
its answer has an end before all of it is in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa

from tacit.engines.duckdb.stream import bounded
from tacit.engines.sql.long_rows import LONG_ROW
from tacit.gateway.postgres.catalog_queries import MACRO, SCHEMA
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.query_runs import Gone
from tacit.gateway.turns import Turns

SECONDS = 5.0
STEP = 0.1
AT_ONCE, WAIT_SECONDS = 2, 30.0
MOST_ROWS, MOST_ROW, MOST_BYTES = 100_000, 256 << 10, 16 << 20


class CatalogRuns:
    """Places for questions about catalogs, of which a user has one at most."""

    def __init__(self) -> None:
        self._turns: Turns[int] = Turns("places for questions about catalogs", 1)
        for place in range(AT_ONCE):
            self._turns.add(place)

    async def table(
        self,
        database: duckdb.DuckDBPyConnection,
        sql: str,
        user: str,
        stop: asyncio.Future[None],
    ) -> pa.Table:
        """What a database in memory answers; a Trouble, or Gone where nobody wants it any more."""
        place = await self._turns.take(user, WAIT_SECONDS, stop)
        if place is None:
            raise Gone
        try:
            cursor = database.cursor()
            working = asyncio.ensure_future(asyncio.to_thread(_answered, cursor, sql))
            try:
                await _finished(working, stop, cursor.interrupt)
            finally:
                cursor.interrupt()
                working.add_done_callback(lambda _: cursor.close())
            if stop.done() and working.exception() is not None:
                raise Gone
            return working.result()
        finally:
            self._turns.give(user, place)


async def _finished(
    working: asyncio.Future[pa.Table], stop: asyncio.Future[None], interrupt: Callable[[], Any]
) -> None:
    """Wait for some work, which is interrupted when its time is up or nobody wants it."""
    both: set[asyncio.Future[Any]] = {working, stop}
    await asyncio.wait(both, timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED)
    while not working.done():  # again and again: between two steps it is not heard
        interrupt()
        await asyncio.wait({working}, timeout=STEP)


def _answered(database: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """What the database in memory answers."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    try:
        reader = bounded(database, sql, MOST_ROW, lambda: database.sql(sql), {})
        for batch in reader:
            held.append(batch)
            rows, size = rows + batch.num_rows, size + batch.get_total_buffer_size()
            if rows > MOST_ROWS or size > MOST_BYTES:
                raise Trouble("54000", "the answer about catalogs has too many rows or bytes.")
        return pa.Table.from_batches(held, reader.schema)
    except (duckdb.Error, OSError, RuntimeError, ValueError) as error:  # Arrow's, once rows came
        said = str(error).partition("\n")[0]
        if isinstance(error, duckdb.InterruptException) or "INTERRUPT" in said:
            raise Trouble("57014", "the question about catalogs took too long.") from None
        if LONG_ROW in said:
            raise Trouble("54000", f"a row has more than {MOST_ROW} bytes.") from None
        raise Trouble(
            "0A000",
            "this question about catalogs is not answered here.",
            detail=said.replace(f"{SCHEMA}.", "").replace(MACRO, ""),
        ) from None
