"""A DuckDB in memory, as all that reads or writes files here begins it."""

from __future__ import annotations

from contextlib import suppress

import duckdb


def begin() -> duckdb.DuckDBPyConnection:
    """A connection of its own, which can be interrupted whatever it does."""
    connection = duckdb.connect(":memory:")
    with suppress(duckdb.Error):  # before 2.0 there is no such setting, and all is written in order
        # A file that is written in the background waits for itself, and for ever, when its COPY
        # is interrupted (2.0.0: about once in a thousand times).
        connection.execute("SET async_threads = 0")
    return connection
