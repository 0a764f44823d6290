"""Databases that differ only in the secret give the same answers, byte by byte:
in every format, with limits, whatever the types are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psycopg
import pytest

from gateway.live import Live, live
from gateway.test_streams import as_user
from tacit.gateway.http.formats import ENCODERS

FLU = [
    (
        f"flu {at}",
        "AB"[at % 2] if at % 5 else None,
        at % 90,
        f"{at}.{at % 4}5" if at % 3 else "",
        f"2020-01-{at % 28 + 1:02}",
        at % 7,
    )
    for at in range(75)
]
HIDDEN: tuple[list[tuple[str, str | None, int, str, str, object]], ...] = (
    [],
    [("Cy, a patient whose name is long", "A", 50, "12.345678", "1950-12-31", "x")],
    [
        (f"hidden {at}", "C" if at % 2 else None, at, "7.5" * (at % 2), "1999-09-09", 2.5)
        for at in range(300)
    ],
)
NAMES = ("name", "ward", "age", "dose", "day", "score")
TYPES = "name: text, ward: text, age: integer, {dose}, day: date, {score}, ill: text"
PLAN = """version: 1
source: {source}
tables:
  stays: {table}
secrets: {{cancer: "SELECT name FROM stays WHERE ill = 'cancer'"}}
roles: {{nurses: {{default: allow, deny: [cancer]}}}}
"""
QUERIES = (
    "SELECT * FROM stays WHERE ill = 'flu'",
    "SELECT name, ward, dose FROM stays WHERE ill = 'flu' ORDER BY name",
    "SELECT * FROM stays WHERE ill = 'flu' ORDER BY age DESC, name",
    "SELECT day, dose FROM stays WHERE ill = 'flu' AND ward IS NULL ORDER BY day, name",
    (
        "SELECT ward, count(*) AS n, sum(age) AS s, min(score) AS m FROM stays WHERE ill = "
        "'flu' GROUP BY ward ORDER BY ward"
    ),
    "SELECT age > 30 AS old, age, ward = 'A' AS a FROM stays WHERE ill = 'flu' ORDER BY name",
    "SELECT name FROM stays WHERE ill = 'flu' AND age > 1000",
)
LIMITS = (None, 0, 1, 7, 8, 64)


def rows_of(hidden: int) -> list[tuple[object, ...]]:
    """The rows of a database: those that may be seen, with hidden ones
    before, between and behind them.
    """
    sick = [(*row, "cancer") for row in HIDDEN[hidden]]
    seen = [(*row, "flu") for row in FLU]
    return [*sick[:2], *seen[:40], *sick[2:], *seen[40:], *sick[:1]]


def all_answers(
    running: Live, queries: tuple[str, ...] = QUERIES
) -> dict[tuple[str, int | None, str], bytes]:
    found = {
        (sql, limit, accept): running.raw(sql, limit, accept)
        for sql in queries
        for limit in LIMITS
        for accept in ENCODERS
    }
    assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in found.values())
    return found


def in_csv(folder: Path, hidden: int, types: str) -> str:
    lines = [
        ",".join("" if value is None else f'"{value}"' for value in row) for row in rows_of(hidden)
    ]
    (folder / "stays.csv").write_text("\n".join([",".join((*NAMES, "ill")), *lines, ""]), "utf-8")
    return PLAN.format(source=".", table=f"{{columns: {types}}}" if types else "{}")


def in_plan(folder: Path, hidden: int, types: str) -> str:
    numbers = [
        (*row[:3], float(str(row[3])) if row[3] else None, *row[4:])
        for row in rows_of(hidden)
        if row[6] == "flu" or row[2] in range(60)
    ]
    return PLAN.format(
        source=".",
        table=f"{{columns: {types or json.dumps([*NAMES, 'ill'])}, rows: {json.dumps(numbers)}}}",
    )


def in_duckdb(folder: Path, hidden: int, parquet: str) -> str:
    with duckdb.connect(str(folder / "clinic.duckdb")) as made:
        made.execute(
            "CREATE TABLE stays (name VARCHAR, ward VARCHAR, age INTEGER, dose DECIMAL(12, 6), day "
            "DATE, score VARCHAR, ill VARCHAR)"
        )
        made.executemany(
            "INSERT INTO stays VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*row[:3], row[3] or None, row[4], str(row[5]), row[6]) for row in rows_of(hidden)],
        )
        if parquet:
            made.execute(f"COPY stays TO '{folder / 'stays.parquet'}'")
    return PLAN.format(source="." if parquet else "clinic.duckdb", table="{}")


WAYS = {
    "csv, types declared": (
        in_csv,
        "{" + TYPES.format(dose='dose: "decimal(12, 6)"', score="score: text") + "}",
    ),
    "csv, decimal without digits": (
        in_csv,
        "{" + TYPES.format(dose="dose: decimal", score="score: text") + "}",
    ),
    "csv, some types declared": (in_csv, "{age: integer}"),
    "csv, no types declared": (in_csv, ""),
    "rows, types declared": (
        in_plan,
        "{" + TYPES.format(dose="dose: decimal", score="score: text") + "}",
    ),
    "rows, no types declared": (in_plan, ""),
    "a DuckDB file": (in_duckdb, ""),
    "a Parquet file": (in_duckdb, "parquet"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
def test_answers_on_duckdb_are_the_same_whatever_is_hidden(way: str, tmp_path: Path) -> None:
    write, how = WAYS[way]
    queries = tuple(
        sql
        for sql in QUERIES
        if "age" not in sql.replace("age DESC", "") or "age: integer" in how or write is in_duckdb
    )
    found = []
    for hidden in range(len(HIDDEN)):
        folder = tmp_path / str(hidden)
        folder.mkdir()
        with live(folder, write(folder, hidden, how)) as running:
            found.append(all_answers(running, queries))
    assert len(queries) >= 3
    for asked, answer in found[0].items():
        assert answer == found[1][asked] == found[2][asked], asked


@contextmanager
def stays_on(admin: psycopg.Connection[object], hidden: int) -> Iterator[None]:
    admin.execute(
        "CREATE TABLE stays (name TEXT, ward VARCHAR(3), age INTEGER, dose NUMERIC, day DATE, "
        "score TEXT, ill TEXT, paid NUMERIC(9, 2) DEFAULT 1.5, ok BOOLEAN DEFAULT true)"
    )
    with admin.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO stays VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [(*row[:3], row[3] or None, row[4], str(row[5]), row[6]) for row in rows_of(hidden)],
        )
    admin.execute("CREATE ROLE stays_reader LOGIN; GRANT SELECT ON stays TO stays_reader")
    try:
        yield
    finally:
        admin.execute("DROP TABLE stays; DROP OWNED BY stays_reader; DROP ROLE stays_reader")


@pytest.mark.slow
def test_answers_on_postgresql_are_the_same_whatever_is_hidden(
    tmp_path: Path, postgres_url: str
) -> None:
    found = []
    many = (
        "SELECT s.name, s.dose, t.name AS other, u.age FROM stays s, stays t, stays u WHERE "
        "s.ill = 'flu' AND t.ill = 'flu' AND u.ill = 'flu' AND u.age < 9 ORDER BY 1, 2, 3, 4"
    )
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        for hidden in range(len(HIDDEN)):
            folder = tmp_path / str(hidden)
            folder.mkdir()
            with (
                stays_on(admin, hidden),
                live(
                    folder,
                    PLAN.format(source=f"'{as_user(postgres_url, 'stays_reader')}'", table="{}"),
                ) as running,
            ):
                found.append(
                    all_answers(running)
                    | {(many, None, accept): running.raw(many, None, accept) for accept in ENCODERS}
                )
    assert any(b"chunked" in answer for answer in found[0].values())
    for asked, answer in found[0].items():
        assert answer == found[1][asked] == found[2][asked], asked
