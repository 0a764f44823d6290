"""The database's own parser: what it reads as another tree is
refused, and what it reads alike is not.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from sqlglot import parse_one

from families.queries.sql.test_sql_supports import RELATIONS, WRITTEN
from tacit.errors import QueryError
from tacit.families.queries.read import read
from tacit.families.queries.sql.engines import Unparsed, same_tree, written_out

DIALECTS = (
    "duckdb",
    pytest.param(
        "postgres",
        marks=pytest.mark.skipif(
            "not __import__('importlib').util.find_spec('pglast')",
            reason="no pglast: pip install 'tacit-privacy[postgres]'",
        ),
    ),
)

ALIKE = [
    "SELECT a FROM t WHERE NOT a = 1 AND b = 2 OR a IS NOT NULL AND b NOT IN (1, 2)",
    "SELECT a FROM t WHERE a NOT BETWEEN 1 AND b AND a NOT LIKE 'x' AND (a = 1) IS NOT TRUE",
    "SELECT a FROM t WHERE a + b * 2 - 1 < - a AND a IS DISTINCT FROM b",
    (
        "SELECT date_trunc('month', d), mod(a, 2), substr(s, 1, 2), coalesce(a, b), CAST(a AS "
        "varchar), d + INTERVAL '1' DAY, .5, 'it''s' FROM t"
    ),
    (
        "SELECT string_agg(s, ',' ORDER BY s), count(*) FILTER (WHERE a = 1), rank() OVER "
        "(PARTITION BY a ORDER BY b DESC) FROM t"
    ),
    (
        "SELECT x.a FROM t x LEFT JOIN u USING (a) CROSS JOIN v WHERE a = ANY (SELECT b FROM "
        "t) ORDER BY a DESC NULLS LAST LIMIT 3 OFFSET 1"
    ),
    (
        "WITH q(z) AS (SELECT a FROM t EXCEPT SELECT b FROM t) SELECT DISTINCT z FROM q GROUP "
        "BY z HAVING count(*) > 1"
    ),
    'SELECT "a" AS "A b" FROM "t" -- the end',
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", ALIKE)
def test_what_is_written_in_other_words_is_the_same(sql: str, dialect: str) -> None:
    assert same_tree(dialect, sql, written_out(parse_one(sql, read=dialect), dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "condition", ["a IS TRUE || b IS NULL", "a IS TRUE + 1 = 1", "a IS NOT FALSE % a = b"]
)
def test_what_the_engine_brackets_otherwise_is_refused(condition: str, dialect: str) -> None:
    sql = f"SELECT a FROM R WHERE {condition}"
    assert not same_tree(dialect, sql, written_out(parse_one(sql, read=dialect), dialect))
    with pytest.raises(QueryError) as caught:
        read(sql, RELATIONS, name="q", dialect=dialect)
    assert caught.value.code in ("read-differently", "not-read")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_constants_that_are_added_up_have_the_same_tree(dialect: str) -> None:
    assert not same_tree(
        dialect, "SELECT a FROM t WHERE a = 1 + 2 * 3", "SELECT a FROM t WHERE a = (1 + 2) * 3"
    )
    assert not same_tree(dialect, "SELECT upper(s) AS x FROM t", "SELECT upper(r) AS x FROM t")
    assert not same_tree(dialect, "SELECT upper(s) AS x FROM t", "SELECT upper(s) AS y FROM t")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_the_engine_does_not_parse_is_refused(dialect: str) -> None:
    with pytest.raises(Unparsed, match="says: syntax error"):
        same_tree(dialect, "SELECT FROM WHERE", "SELECT 1")
    with pytest.raises(QueryError, match=r"does not parse: (DuckDB|PostgreSQL) says") as caught:
        read(
            "SELECT a FROM R EXCEPT WITH q AS (SELECT 1 AS x) SELECT x FROM q"
            if dialect == "duckdb"
            else "SELECT * EXCLUDE (a) FROM R",
            RELATIONS,
            name="q",
            dialect=dialect,
        )
    assert caught.value.code in ("syntax", "not-read")


def test_nothing_that_was_read_is_refused_by_the_engine() -> None:
    for sql, _ in WRITTEN:
        assert same_tree("duckdb", sql, written_out(parse_one(sql, read="duckdb"), "duckdb")), sql


def test_datalog_needs_no_engine() -> None:
    code = (
        "import sys; from tacit.families.queries.query import Relation; from "
        "tacit.families.queries.read import read;read('S(x) :- R(x)', {'R': Relation('R', "
        "('x',))}, name='s'); assert 'duckdb' not in sys.modules and 'sqlglot' not in "
        "sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
