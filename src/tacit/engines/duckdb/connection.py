"""A DuckDB in memory that can be interrupted while it writes."""

from __future__ import annotations

from contextlib import suppress

import duckdb


def begin() -> duckdb.DuckDBPyConnection:
    """A connection of its own."""
    connection = duckdb.connect(":memory:")
    with suppress(duckdb.Error):  # before 2.0 there is no such setting
        # A COPY that writes in the background may wait for itself, and for ever, when it is
        # interrupted (2.0.0).
        connection.execute("SET async_threads = 0")
    return connection
