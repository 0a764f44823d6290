"""Asks a gateway by ODBC, and prints what it says: driver, port, token."""

from __future__ import annotations

import sys


def main(driver: str, port: str, token: str) -> None:
    import pyodbc  # it needs a library of the system, which not every machine has

    line = pyodbc.connect(
        f"Driver={driver};Server=127.0.0.1;Port={port};Database=nurses;Uid=ann;Pwd={token}"
    )
    cursor = line.cursor()
    print("tables", *(row[2] for row in cursor.tables()))
    print("columns", *(row[3] for row in cursor.columns(table="stays")))
    print("keys", *(row[3] for row in cursor.primaryKeys("stays")))
    print("indexes", *dict.fromkeys(row[5] for row in cursor.statistics("stays") if row[5]))
    bound = cursor.execute("SELECT ward, beds FROM wards WHERE beds > ?", 15).fetchall()
    plain = cursor.execute("SELECT ward, beds FROM wards ORDER BY ward").fetchall()
    print("rows", [tuple(row) for row in bound], [tuple(row) for row in plain])
    try:
        cursor.execute("SELECT name FROM stays")
    except pyodbc.Error as refused:
        print("refused", refused.args[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
