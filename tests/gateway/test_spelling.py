"""Values that are equal and look different: no query shows which of them the database met first."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from gateway.gateway_plans import policy
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.postgres.engine import Postgres
from tacit.gateway.policy.decisions import Decider

PLAN = """version: 1
source: clinic.duckdb
tables: {stays: {}}
secrets: {cancer: "SELECT name FROM stays WHERE ill = 'cancer'"}
roles: {nurses: {default: allow, deny: [cancer]}}
"""


@pytest.fixture(scope="module")
def decider(tmp_path_factory: pytest.TempPathFactory) -> Decider:
    folder = tmp_path_factory.mktemp("clinic")
    with duckdb.connect(str(folder / "clinic.duckdb")) as made:
        made.execute(
            "CREATE TABLE stays (name VARCHAR, ill VARCHAR, score DOUBLE, stayed INTERVAL, paid "
            "DECIMAL(9, 2))"
        )
    return Decider(policy(folder, PLAN))


def asked(sql: str) -> str:
    return sql if "WHERE" in sql else f"{sql} FROM stays WHERE ill = 'flu'"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT stayed",
        "SELECT *",
        "SELECT DISTINCT stayed",
        "SELECT max(stayed)",
        "SELECT CAST(max(stayed) AS VARCHAR)",
        "SELECT name, stayed + stayed",
        "SELECT q.s FROM (SELECT DISTINCT stayed AS s FROM stays WHERE ill = 'flu') q",
        "SELECT count(*) FROM stays WHERE ill = 'flu' GROUP BY stayed",
        (
            "SELECT name FROM stays WHERE ill = 'flu' AND 'x' = (SELECT CAST(max(stayed) AS "
            "VARCHAR) FROM stays WHERE ill = 'flu')"
        ),
        "SELECT DISTINCT CAST(score AS VARCHAR)",
        "SELECT CAST(max(score) AS VARCHAR)",
        "SELECT CAST(score AS VARCHAR), count(*) FROM stays WHERE ill = 'flu' GROUP BY score",
        "SELECT sum(score)",
        "SELECT avg(score + 1)",
        "SELECT sum(q.s) FROM (SELECT score AS s FROM stays WHERE ill = 'flu') q",
        "SELECT sum(score) OVER (ORDER BY name)",
        "SELECT sum(CAST(score AS DOUBLE)) OVER ()",
        (
            "SELECT CAST(q.s AS VARCHAR) FROM (SELECT DISTINCT score AS s FROM stays WHERE ill "
            "= 'flu') q"
        ),
        "SELECT 1 / max(score)",
        (
            "SELECT concat(q.s, 'x') FROM (SELECT score AS s FROM stays WHERE ill = 'flu' "
            "UNION SELECT score FROM stays WHERE ill = 'flu') q"
        ),
        (
            "WITH w AS (SELECT score FROM stays WHERE ill = 'flu' ORDER BY score LIMIT 1) "
            "SELECT CAST(score AS VARCHAR) FROM w"
        ),
        (
            "SELECT CAST((SELECT max(score) FROM stays WHERE ill = 'flu') AS VARCHAR) FROM "
            "stays WHERE ill = 'flu'"
        ),
    ],
)
def test_what_tells_equal_values_apart_is_refused(decider: Decider, sql: str) -> None:
    found = decider.decide("nurses", asked(sql))
    assert (found.allowed, found.code) == (False, "order"), found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST(stayed AS VARCHAR) AS s",
        "SELECT DISTINCT CAST(stayed AS VARCHAR) AS s",
        "SELECT count(stayed)",
        "SELECT count(DISTINCT paid)",
        "SELECT name FROM stays WHERE ill = 'flu' AND stayed IS NULL",
        "SELECT sum(paid), avg(paid)",
        "SELECT sum(CAST(score AS DECIMAL(18, 6)))",
        "SELECT sum(CAST(score AS DOUBLE))",
        "SELECT score",
        "SELECT DISTINCT score",
        "SELECT max(score), min(score)",
        "SELECT score, count(*) FROM stays WHERE ill = 'flu' GROUP BY score",
        "SELECT CAST(score AS VARCHAR)",
        "SELECT DISTINCT CAST(CAST(score AS DECIMAL(18, 3)) AS VARCHAR)",
        "SELECT name, max(score) FROM stays WHERE ill = 'flu' GROUP BY name",
        "SELECT DISTINCT CAST(paid AS VARCHAR)",
        "SELECT DISTINCT score * 2 + 1",
    ],
)
def test_what_tells_them_not_apart_is_answered(decider: Decider, sql: str) -> None:
    found = decider.decide("nurses", asked(sql))
    assert found.allowed, found


def test_of_which_types_equal_values_can_look_different(tmp_path: Path) -> None:
    with DuckDB(folder=tmp_path) as engine:
        engine.connection.execute(
            "CREATE TABLE t (a INTEGER, b DOUBLE, c FLOAT[], d INTERVAL, e TIMESTAMPTZ, f UUID, g "
            "STRUCT(x INTERVAL), h ENUM('x'), i DECIMAL(9, 2), j TIMETZ)"
        )
        assert engine.spellings("t") == {
            "b": "float",
            "c": "float",
            "d": "many",
            "g": "many",
            "j": "many",
        }


@pytest.mark.slow
def test_of_which_types_of_postgresql_equal_values_can_look_different(postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as made:
        made.execute("""
            CREATE TYPE mood AS ENUM ('well', 'ill'); CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
            CREATE TABLE spelled (a int, b numeric, c numeric(9, 2), d real, e interval, f jsonb, g mood, h char(5), i bpchar, j text COLLATE loose, k text[], l numeric[], m timestamptz, n numrange)""")  # noqa: E501
        with Postgres(postgres_url) as engine:
            assert engine.spellings("spelled") == {"b": "number", "d": "float"} | dict.fromkeys(
                "efijln", "many"
            )
        made.execute("DROP TABLE spelled; DROP TYPE mood; DROP COLLATION loose")
