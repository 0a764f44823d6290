"""DuckDB's reader of PostgreSQL as a client of the gateway: prints what it gets.

Exit status 3 where DuckDB has no such reader.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import duckdb

EXTENSION = "postgres_scanner"


def main(where: str) -> None:
    line = duckdb.connect()
    found = find_spec(f"duckdb_extension_{EXTENSION}")
    places = [] if found is None else list(Path(found.origin or "").parent.rglob("*.duckdb_*"))
    names = [place for place in places if f"v{duckdb.__version__}" in str(place)] or [EXTENSION]
    try:
        line.execute(f"LOAD '{names[0]}'")
    except duckdb.Error as error:
        print(error)
        sys.exit(3)
    line.execute(f"ATTACH '{where}' AS gateway (TYPE postgres, READ_ONLY)")
    print("tables", *sorted(row[2] for row in line.execute("SHOW ALL TABLES").fetchall()))
    for sql in (
        "SELECT ward, beds FROM gateway.public.wards WHERE beds > 15",
        "SELECT count(*) FROM gateway.public.wards",
        "SELECT * FROM postgres_query('gateway', 'SELECT max(beds) AS most FROM wards')",
    ):
        print("rows", line.execute(sql).fetchall())
    try:
        line.execute("SELECT name FROM gateway.public.stays").fetchall()
    except duckdb.Error as error:
        print("refused", "must not learn" in str(error))


if __name__ == "__main__":
    main(sys.argv[1])
