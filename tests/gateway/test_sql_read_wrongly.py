"""SQL that was once read otherwise than databases run it:
the gateway answers none of it, on DuckDB and PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.gateway_plans import decider
from services import ENGINES
from tacit.gateway.policy.decisions import Decider

SICK = "EXISTS (SELECT 1 FROM sick WHERE sick.pid = visits.pid AND illness = 'cancer')"
SCHEMA = """
    CREATE TABLE visits (pid INTEGER NOT NULL, day INTEGER NOT NULL);
    CREATE TABLE sick (pid INTEGER NOT NULL, illness TEXT NOT NULL);
    CREATE TABLE emp (name TEXT NOT NULL, dept TEXT NOT NULL, salary INTEGER NOT NULL);
    CREATE TABLE a (k INTEGER NOT NULL, x INTEGER NOT NULL);
    CREATE TABLE b (k INTEGER NOT NULL, x INTEGER NOT NULL);
    CREATE TABLE c (k INTEGER NOT NULL, x INTEGER NOT NULL)"""
PLAN = """version: 1
SOURCE
tables:
  visits: {columns: {pid: integer, day: integer}, nullable: [], ROWS}
  sick: {columns: {pid: integer, illness: text}, nullable: [], ROWS}
  emp: {columns: {name: text, dept: text, salary: integer}, nullable: [], ROWS}
  a: {columns: {k: integer, x: integer}, nullable: [], ROWS}
  b: {columns: {k: integer, x: integer}, nullable: [], ROWS}
  c: {columns: {k: integer, x: integer}, nullable: [], ROWS}
secrets:
  cancer: "SELECT pid FROM sick WHERE illness = 'cancer'"
  cheap: "SELECT name, salary FROM emp WHERE salary < 50000"
  two: "SELECT k FROM a WHERE x = 2"
roles:
  r: {default: allow, deny: [cancer, cheap, two]}
"""


@pytest.fixture(params=ENGINES[:2], scope="module")
def gateway(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Decider]:
    folder: Path = tmp_path_factory.mktemp("wrongly")
    if request.param == "duckdb":
        yield decider(folder, PLAN.replace("SOURCE\n", "").replace("ROWS", "rows: []"))
        return
    import psycopg

    url = request.getfixturevalue("postgres_url")
    connection: Any
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA)
        yield decider(folder, PLAN.replace("SOURCE", f"source: '{url}'").replace(", ROWS", ""))
        connection.execute("DROP TABLE visits, sick, emp, a, b, c")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT dept, avg(salary) AS salary FROM emp GROUP BY dept HAVING salary > 100000",
        "SELECT dept, sum(salary) AS salary FROM emp GROUP BY dept HAVING salary > 100000",
        (
            "SELECT * FROM (SELECT dept, max(salary) AS salary FROM emp GROUP BY dept HAVING "
            "salary > 100000) q"
        ),
        (
            "SELECT count(*) FROM visits GROUP BY pid IN (SELECT pid FROM sick WHERE illness = "
            "'cancer')"
        ),
        f"SELECT count(*) FROM visits GROUP BY {SICK}",
        f"SELECT count(*) FROM visits GROUP BY CASE WHEN {SICK} THEN 1 END",
        (
            "SELECT count(*) FROM visits GROUP BY (SELECT max(illness) FROM sick WHERE "
            "sick.pid = visits.pid)"
        ),
        f"SELECT count(*) FROM visits GROUP BY GROUPING SETS ((pid), ({SICK}))",
        f"SELECT * FROM (SELECT pid FROM visits ORDER BY {SICK} DESC, pid) q LIMIT 1",
        f"(SELECT pid FROM visits ORDER BY {SICK} DESC, pid) LIMIT 1",
        f"WITH q AS (SELECT pid FROM visits ORDER BY {SICK} DESC, pid) SELECT * FROM q LIMIT 1",
        (
            "SELECT string_agg(q.p, ',') FROM (SELECT CAST(pid AS TEXT) AS p FROM visits "
            f"ORDER BY {SICK} DESC, pid) q"
        ),
        (
            f"SELECT pid, row_number() OVER () FROM (SELECT pid FROM visits ORDER BY {SICK} "
            "DESC, pid) q"
        ),
        (
            "SELECT k FROM a WHERE EXISTS (SELECT count(*) AS n FROM c WHERE c.k = a.k AND a.x "
            "= 1 GROUP BY ALL)"
        ),
        (
            "SELECT k FROM a WHERE EXISTS (SELECT count(*) AS n FROM c WHERE c.k = a.k AND a.x "
            "= 1 GROUP BY ())"
        ),
        "SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE 1 = 0 ORDER BY count(*) LIMIT 1)",
        "SELECT k FROM a WHERE EXISTS (SELECT DISTINCT ON (count(*)) 1 FROM b WHERE 1 = 0)",
        (
            "SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE 1 = 0 WINDOW w AS (ORDER BY "
            "count(*)))"
        ),
        "SELECT k FROM a WHERE EXISTS (SELECT max(a.k) FROM b WHERE b.k = a.k AND a.x = 1)",
        "WITH RECURSIVE q AS (SELECT k FROM w), w AS (SELECT k FROM a) SELECT k FROM q",
        'WITH q AS (SELECT 1 AS k), "Q" AS (SELECT k FROM a) SELECT k FROM "Q"',
        'WITH "main.q" AS (SELECT k FROM a) SELECT k FROM main.q',
        'SELECT "x.y".k FROM a AS "x.y"',
        "SELECT k FROM b WHERE EXISTS (SELECT 1 FROM a AS b WHERE main.b.k = 1)",
        "SELECT b.k FROM b JOIN (SELECT 1 AS rowid) q ON EXISTS (SELECT 1 FROM a WHERE rowid = 1)",
        "SELECT b.k FROM b JOIN (SELECT 1 AS ctid) q ON EXISTS (SELECT 1 FROM a WHERE ctid = 1)",
        "SELECT b.k FROM b JOIN (SELECT 1 AS a) q ON EXISTS (SELECT 1 FROM a WHERE a IS NULL)",
        (
            "SELECT p.x_1 FROM b AS p(k, x_1) WHERE EXISTS (SELECT 1 FROM (SELECT a.x, c.x "
            "FROM a, c) q WHERE x_1 = 1)"
        ),
        "SELECT max(k) FROM b UNION ALL BY NAME SELECT max(x) FROM a",
        "SELECT k FROM b{# WHERE x = 1 #}",
        "SELECT k\u200bx FROM b",
        "SELECT k\u00a0x FROM b",
        "SELECT\u2028k FROM b",
    ],
)
def test_what_was_read_wrongly_is_not_answered(gateway: Decider, sql: str) -> None:
    found = gateway.decide("r", sql)
    assert not found.allowed and found.sql is None, found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT dept, max(salary) AS salary FROM emp WHERE emp.salary > 60000 GROUP BY dept",
        (
            "SELECT dept, count(*) AS n FROM emp WHERE salary > 60000 GROUP BY dept HAVING "
            "count(*) > 2 ORDER BY n DESC, dept"
        ),
        (
            "SELECT k FROM a WHERE x = 1 AND EXISTS (SELECT 1 FROM b WHERE b.k = a.k) ORDER BY "
            "k LIMIT 3"
        ),
        "WITH q AS (SELECT k FROM a WHERE x = 1) SELECT q.k, b.x FROM q JOIN b ON q.k = b.k",
        (
            "SELECT k, rank() OVER (ORDER BY x) AS r FROM b WHERE NOT (x = 1 OR k IN (1, 2)) "
            "AND x IS NOT NULL"
        ),
    ],
)
def test_what_is_plain_is_answered_as_before(gateway: Decider, sql: str) -> None:
    found = gateway.decide("r", sql)
    assert found.allowed, found


def test_what_is_assembled_wrongly_by_sqlglot_is_a_refusal_and_no_error(gateway: Decider) -> None:
    assert not gateway.decide("r", "SELECT (SELECT 2 AS x FROM b) ORDER BY 1 NULLS FIRST").allowed
