"""Rows of DuckDB that are too long do not leave it, and all others do as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.streams import LongRow

KINDS = """\
SELECT i AS id, 'a' || i AS t, CAST('b' AS BLOB) AS "t", CAST('{}' AS JSON) AS j, [i, NULL] AS l,
{'a': 'x'} AS s, MAP {'k': i} AS m, CAST('101' AS BIT) AS b, 1.50 AS d, DATE '2020-01-01' AS y,
INTERVAL 1 DAY AS v, CAST('p' AS ENUM ('p', 'q')) AS e, NULL AS n, uuid() AS u
FROM range(1000) r(i) ORDER BY i % 7, i DESC"""


def read(engine: DuckDB, sql: str, most: int | None) -> tuple[object, list[object]]:
    stream = engine.stream(sql)
    stream.most_row = most
    try:
        stream.begin()
        names = [one for one in stream.schema if one.name != "u"]
        return names, [row["id"] for batch in stream for row in batch.to_pylist()]
    finally:
        stream.close()


def test_types_names_and_order_stay(tmp_path: Path) -> None:
    with DuckDB(folder=tmp_path) as engine:
        sql = KINDS.replace('"t"', '"a ""b"')
        assert read(engine, sql, 10_000) == read(engine, sql, None)


@pytest.mark.parametrize(
    "value", ["repeat('é', {})", "encode(repeat('éa', {}))", "[repeat('a', {} * 2)]", "range({})"]
)
def test_a_row_is_as_long_as_all_its_values(tmp_path: Path, value: str) -> None:
    with DuckDB(folder=tmp_path) as engine:
        short, long = (
            f"SELECT i AS id, {value.format(size)} AS a, 'x' AS b FROM range(3) r(i)"
            for size in (40, 501)
        )
        assert read(engine, short, 1_000)[1] == [0, 1, 2]
        with pytest.raises(LongRow, match="more than 1000 bytes"):
            read(engine, long, 1_000)
