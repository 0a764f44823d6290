"""Long rows: a query of DuckDB that fails where a row of its answer is too long."""

from __future__ import annotations

from collections.abc import Sequence

LONG_ROW = "tacit: a long row"  # what the database says then
# Types whose values have all the same few bytes.
FIXED = {
    *("boolean", "decimal", "float", "double", "date", "interval", "uuid", "enum", "null"),
    *("tinyint", "smallint", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
    *("time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"),
    *("time with time zone", "timestamp with time zone"),
}
SIZES = {"varchar": "strlen({})", "blob": "octet_length({})"}
OTHER_SIZE = "strlen(CAST({} AS VARCHAR))"


def checked(sql: str, columns: Sequence[tuple[str, str]], most: int) -> str | None:
    """A query that answers as another one does, and fails at a row of more than `most` bytes;
    None where no row can have so many. `columns` are names and types.

    The rows keep their order: a SELECT around a query, with none of its own, leaves it as it is.

    >>> print(checked("SELECT a, b FROM t", [("a", "bigint"), ("b", "varchar")], 9))
    SELECT c0 AS "a", CASE WHEN coalesce(strlen(c1), 0) > 9 THEN error('tacit: a long row') ELSE c1 END AS "b" FROM (SELECT a, b FROM t
    ) AS t (c0, c1)
    """  # noqa: E501
    inner = [f"c{at}" for at in range(len(columns))]
    sizes = {
        at: f"coalesce({SIZES.get(kind, OTHER_SIZE).format(inner[at])}, 0)"
        for at, (_, kind) in enumerate(columns)
        if kind not in FIXED
    }
    if not sizes:
        return None
    first, shown = next(iter(sizes)), list(inner)
    is_long = f"{' + '.join(sizes.values())} > {most}"
    shown[first] = f"CASE WHEN {is_long} THEN error('{LONG_ROW}') ELSE {inner[first]} END"
    names = [name.replace('"', '""') for name, _ in columns]
    listed = ", ".join(f'{one} AS "{name}"' for one, name in zip(shown, names, strict=True))
    return f"SELECT {listed} FROM ({sql}\n) AS t ({', '.join(inner)})"
