"""DuckDB's own parser: what it makes of statements, without any data."""

from __future__ import annotations

import json
import os
import threading
from functools import cache
from typing import Any

import duckdb

TREES = "PREPARE trees AS SELECT json_serialize_sql($1::VARCHAR), json_serialize_sql($2::VARCHAR)"


def trees(text: str, other: str) -> tuple[Any, Any]:
    """The trees of two statements, as JSON has them; of one that it does not read, the error.

    >>> [tree["error"] for tree in trees("SELECT 1", "SELECT (")]
    [False, True]
    """
    connection, lock = _connection(os.getpid())
    with lock:
        (row,) = connection.execute(f"EXECUTE trees({_quoted(text)}, {_quoted(other)})").fetchall()
    return json.loads(row[0]), json.loads(row[1])


@cache
def _connection(process: int) -> tuple[duckdb.DuckDBPyConnection, threading.Lock]:
    """A DuckDB without data, one for each process: it only parses."""
    found = duckdb.connect(":memory:", config={"threads": 1})
    found.execute(TREES)
    return found, threading.Lock()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
