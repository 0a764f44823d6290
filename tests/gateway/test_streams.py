"""Answers come while they are made, stop when told, and say the
same whichever engine makes them.
"""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

import services
from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.postgres.stream import STREAM_BYTES
from tacit.engines.streams import FailsOnRows, Stopped
from tacit.errors import EngineError
from tacit.model.schema import Table

PEOPLE = Table(
    "people",
    columns={
        "name": "text",
        "age": "integer",
        "paid": "decimal",
        "born": "date",
        "seen": "timestamp",
        "well": "boolean",
    },
    rows=(
        ("Ann", 23, "1.50", "1999-01-31", "2024-05-01T10:00:00", True),
        ("", None, None, None, None, None),
        ('Say "hi", é\n\\N', -1, "-0.25", "2024-02-29", "2024-05-01T10:00:00.5", False),
    ),
)


def read(engine: Engine, sql: str) -> pa.Table:
    stream = engine.stream(sql)
    try:
        stream.begin()
        return pa.Table.from_batches(list(stream), schema=stream.schema)
    finally:
        stream.close()


def test_every_type_arrives(engine: Engine) -> None:
    engine.attach(PEOPLE)
    engine.lock(seconds=60)
    found = read(
        engine, "SELECT name, age, paid, born, seen, well FROM people ORDER BY name"
    ).to_pylist()
    assert [row["name"] for row in found] == sorted(row[0] for row in PEOPLE.rows or ())
    by_name = {row["name"]: [str(value) for value in row.values()][1:] for row in found}
    assert (
        by_name["Ann"][0] == "23"
        and float(by_name["Ann"][1]) == 1.5
        and by_name["Ann"][2] == "1999-01-31"
    )
    assert by_name["Ann"][3].startswith("2024-05-01 10:00:00") and by_name["Ann"][4] == "True"
    assert by_name[""] == ["None"] * 5


def test_nothing_is_an_answer_too(engine: Engine) -> None:
    engine.attach(PEOPLE)
    found = read(engine, "SELECT name, age FROM people WHERE age > 1000")
    assert (found.num_rows, found.column_names) == (0, ["name", "age"])


def test_several_streams_one_after_the_other(engine: Engine) -> None:
    engine.attach(PEOPLE)
    engine.lock()
    for _ in range(3):
        assert read(engine, "SELECT age FROM people WHERE age IS NULL").to_pylist() == [
            {"age": None}
        ]
        with pytest.raises(EngineError):
            read(engine, "SELECT no_such_column FROM people")


def test_an_error_in_the_middle_is_ours(engine: Engine) -> None:
    engine.attach(PEOPLE)
    with pytest.raises(FailsOnRows) as failed:
        read(engine, "SELECT CAST(name AS INT) FROM people")
    assert not any(str(row[0]) in str(failed.value) for row in PEOPLE.rows or () if row[0]), (
        "which row it was depends on how rows are stored"
    )


@pytest.mark.parametrize("kind", ["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS a; SELECT 2 AS b",
        "CREATE TABLE zz (a INT)",
        "SELECT 1) TO STDOUT; SELECT (2",
        "INSERT INTO people VALUES (1)",
        "COPY people TO '/tmp/x'",
        "SET search_path = x",
        "",
    ],
)
def test_only_one_query_runs(
    kind: str, sql: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with services.open_kind(kind, request, tmp_path) as engine:
        engine.attach(PEOPLE)
        engine.lock()
        with pytest.raises(EngineError):
            read(engine, sql)
        assert read(engine, "SELECT count(*) AS n FROM people").to_pylist() == [{"n": 3}]


SLOW = {
    "duckdb": (
        "SELECT count(*) AS n FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7"
    ),
    "postgres": (
        "SELECT count(*) AS n FROM generate_series(1, 1000000) a, generate_series(1, 1000000) "
        "b WHERE a + b = 7"
    ),
}
LONG = {
    "duckdb": "SELECT range AS n FROM range(1000000000)",
    "postgres": "SELECT generate_series(1, 1000000000) AS n",
}


@pytest.mark.parametrize("kind", ["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
def test_a_query_stops_when_told_and_the_engine_goes_on(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with services.open_kind(kind, request, tmp_path) as engine:
        engine.lock(seconds=60)
        stream = engine.stream(SLOW[kind])
        threading.Timer(0.3, stream.stop).start()
        began = time.monotonic()
        with pytest.raises(Stopped):
            stream.begin()
            list(stream)
        stream.close()
        assert time.monotonic() - began < 5
        assert read(engine, "SELECT 1 AS one").to_pylist() == [{"one": 1}]


@pytest.mark.parametrize("kind", ["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
def test_a_long_answer_can_be_left_in_the_middle(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with services.open_kind(kind, request, tmp_path) as engine:
        engine.lock(seconds=60)
        for csv in (False, kind == "postgres"):
            stream = engine.stream(LONG[kind])
            began = time.monotonic()
            stream.begin()
            rows = stream.csv(10) if csv else iter(stream)
            first = next(rows)
            assert first[1] == 10 if csv else first.num_rows > 0
            next(rows)
            stream.close()
            assert time.monotonic() - began < 5
            assert read(engine, "SELECT 1 AS one").to_pylist() == [{"one": 1}]


@pytest.mark.slow
def test_lines_of_csv_are_all_there_and_one_part_ends_where_it_shall(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    expected = b"".join(b'%d,"%d\n"\n' % (number, number) for number in range(1, 200_001))
    with services.open_kind("postgres", request, tmp_path) as engine:
        for most in (0, 1, 10, 100_000, 200_000, 200_001):
            stream = engine.stream("SELECT n, n || E'\\n' FROM generate_series(1, 200000) AS s(n)")
            stream.begin()
            parts = list(stream.csv(most))
            stream.close()
            assert b"".join(lines for lines, _ in parts) == expected
            ends = list(itertools.accumulate(rows for _, rows in parts))
            assert ends[-1] == 200_000 and (not 0 < most <= 200_000 or most in ends)
            assert all(0 < len(lines) < 1.5 * STREAM_BYTES for lines, _ in parts)


@pytest.mark.parametrize("kind", ["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
def test_an_answer_that_nobody_can_hold_needs_little_memory(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with services.open_kind(kind, request, tmp_path) as engine:
        stream = engine.stream(
            LONG[kind].replace("1000000000", "3000000")
            if kind == "postgres"
            else LONG[kind].replace("1000000000", "20000000")
        )
        stream.begin()
        before, most = memory(), 0
        for _ in stream:
            most = max(most, memory() - before)
        stream.close()
        assert most < 100  # the whole would be 160 MB of numbers in DuckDB


def memory() -> int:
    """Megabytes that this process has."""
    line = next(
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )
    return int(line.split()[1]) // 1024


def test_too_little_memory_says_nothing_about_what_others_do() -> None:
    with DuckDB() as engine:
        engine.connection.execute("SET memory_limit = '20MB'; SET temp_directory = ''")
        with pytest.raises(EngineError) as told:
            read(engine, "SELECT i, random() AS r FROM range(20000000) t(i) ORDER BY r")
    assert told.value.message == "DuckDB had too little memory to answer."


def test_a_stream_that_was_stopped_does_not_begin() -> None:
    with DuckDB() as engine:
        stream = engine.stream("SELECT 1 AS one")
        stream.stop()
        with pytest.raises(Stopped):
            stream.begin()
        stream.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM secret_frame",
        "SELECT * FROM 'https://example.com/x.csv'",
    ],
)
def test_a_locked_duckdb_reads_no_other_file_and_no_variable(sql: str, tmp_path: Path) -> None:
    secret_frame = pa.table({"a": [1]})  # noqa: F841 (what DuckDB would find in Python)
    with DuckDB(folder=tmp_path) as engine:
        engine.lock()
        with pytest.raises(EngineError):
            read(engine, sql)
        for setting in (
            "SET enable_external_access = true",
            "SET python_enable_replacements = true",
            "RESET lock_configuration",
        ):
            with pytest.raises(EngineError):
                engine._run(setting)


def test_a_locked_duckdb_still_reads_the_files_of_the_plan(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "numbers.parquet")
    (tmp_path / "words.csv").write_text("w\nx\n")
    with DuckDB(folder=tmp_path) as engine:
        engine.attach(Table("numbers"))
        engine.attach(Table("words"))
        engine.lock()
        assert read(engine, "SELECT sum(a) AS s FROM numbers").num_rows == 1
        assert read(engine, "SELECT w FROM words").to_pylist() == [{"w": "x"}]


@pytest.mark.slow
def test_postgres_types_that_arrow_has_not(postgres_url: str) -> None:
    from tacit.engines.postgres.engine import Postgres

    with Postgres(postgres_url) as engine:
        engine.lock()
        sql = (
            "SELECT d::numeric(6,2) AS d, n, f, v, a FROM (VALUES (1.50, 1.1::numeric, "
            "'NaN'::float8, 'a'::varchar, '{1,2}'::int[]), ('NaN', 'NaN', 2, NULL, NULL)) AS "
            "t(d, n, f, v, a)"
        )
        found = read(engine, sql)
        assert str(found.schema.field("d").type) == "decimal128(6, 2)"
        assert [str(one) for one in found.column("d").to_pylist()] == ["1.50", "None"]
        assert found.column("n").to_pylist() == ["1.1", "NaN"]
        assert found.column("a").to_pylist() == ["{1,2}", None]
        assert read(engine, "SELECT NULL::text AS a UNION ALL SELECT ''").column(
            "a"
        ).to_pylist() == [None, ""]
        assert (
            read(engine, "SELECT timestamptz '2024-01-01 12:00+02' AS t")
            .to_pylist()[0]["t"]
            .isoformat()
            == "2024-01-01T10:00:00+00:00"
        )
        with pytest.raises(EngineError, match="infinity"):
            read(engine, "SELECT 'infinity'::date AS d")
        assert read(engine, "SELECT 1 AS one").num_rows == 1


@pytest.mark.slow
def test_postgres_refuses_to_write_and_tells_what_its_role_could_do(postgres_url: str) -> None:
    import psycopg

    from tacit.engines.postgres.engine import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE kept (a INT)")
        admin.execute(
            "CREATE FUNCTION writes() RETURNS INT LANGUAGE sql AS 'INSERT INTO kept VALUES (1) "
            "RETURNING a'"
        )
        admin.execute("CREATE ROLE plain_reader LOGIN")
        admin.execute("CREATE ROLE file_reader LOGIN IN ROLE pg_read_server_files")
        admin.execute("CREATE ROLE may_become LOGIN NOINHERIT")
        admin.execute(f"GRANT {admin.info.user} TO may_become")
        try:
            with Postgres(postgres_url) as engine:
                engine.lock()
                assert engine.powers() == ["is a superuser"]
                with pytest.raises(EngineError, match="read-only"):
                    read(engine, "SELECT writes() AS a")
            for role, said in {
                "plain_reader": [],
                "file_reader": ["is a member of pg_read_server_files"],
            }.items():
                with Postgres(as_user(postgres_url, role)) as engine:
                    assert engine.powers() == said
            with Postgres(as_user(postgres_url, "may_become")) as engine:
                assert any("can become the superuser" in one for one in engine.powers())
        finally:
            admin.execute(
                "DROP FUNCTION writes(); DROP TABLE kept; DROP ROLE plain_reader; DROP ROLE "
                "file_reader; DROP ROLE may_become"
            )


def as_user(url: str, role: str) -> str:
    from urllib.parse import quote, urlencode

    from psycopg.conninfo import conninfo_to_dict

    return "postgresql:///?" + urlencode({**conninfo_to_dict(url), "user": role}, quote_via=quote)
