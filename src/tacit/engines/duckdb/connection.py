"""A DuckDB in memory that can be interrupted while it writes, and keeps to the memory that it may
take.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from contextlib import suppress

import duckdb

from tacit.model import memory

SHARE = 2  # DuckDB may take one part of so many of the memory; Python has the rest


def begin() -> duckdb.DuckDBPyConnection:
    """A connection of its own."""
    connection = duckdb.connect(":memory:")
    with suppress(duckdb.Error):  # before 2.0 there is no such setting
        # A COPY that writes in the background may wait for itself, and for ever, when it is
        # interrupted (2.0.0).
        connection.execute("SET async_threads = 0")
    if (most := memory.told()) is not None:
        keep_within(connection, most // SHARE)
    return connection


def keep_within(connection: duckdb.DuckDBPyConnection, most: int) -> None:
    """Put what does not fit into a folder that only its owner may read, and that goes with the
    connection.
    """
    folder = tempfile.mkdtemp(prefix="tacit-")
    place = folder.replace("'", "''")
    connection.execute(f"SET memory_limit = '{most}B'")
    connection.execute(f"SET temp_directory = '{place}'")
    weakref.finalize(connection, shutil.rmtree, folder, ignore_errors=True)
