"""Cores: what an answer is computed from, and whether it matters how often a row is there."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from tacit.gateway.policy.cores import cores, counts


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT t.a FROM t", True),
        ("SELECT DISTINCT t.a FROM t LIMIT 3", False),
        ("SELECT MAX(t.a) AS m, COUNT(DISTINCT t.b) AS n FROM t", False),
        ("SELECT t.a, MIN(t.b) AS m FROM t GROUP BY t.a", False),
        ("SELECT t.a, MIN(t.b) AS m FROM t GROUP BY t.a HAVING COUNT(*) > 1", True),
        ("SELECT SUM(t.a) AS s FROM t", True),
        ("SELECT MAX(t.a) OVER () AS m FROM t", True),
        ("SELECT t.a FROM t GROUP BY t.a", False),
        ("SELECT t.a FROM t GROUP BY t.a ORDER BY COUNT(*)", True),
    ],
)
def test_how_often_a_row_is_there_matters(sql: str, expected: bool) -> None:
    select = parse_one(sql, read="duckdb")
    assert isinstance(select, exp.Select) and counts(select) == expected


def texts(sql: str) -> list[str] | None:
    select = parse_one(sql, read="duckdb")
    assert isinstance(select, exp.Select)
    found = cores(select)
    return None if found is None else [one.tree().sql(dialect="duckdb") for one in found]


def test_a_left_join_is_the_rows_with_and_without_a_partner() -> None:
    found = texts("SELECT a.x, b.y FROM a LEFT JOIN b ON a.k = b.k WHERE a.x > 1")
    assert found is not None and len(found) == 2
    assert "CROSS JOIN b" in found[0] and "a.k" in found[0]
    assert " b" not in found[1] and "a.k" in found[1] and "a.x > 1" in found[1]


def test_a_condition_on_the_partner_leaves_rows_without_one_out() -> None:
    found = texts("SELECT a.x FROM a LEFT JOIN b ON a.k = b.k WHERE b.y = 1")
    assert found is not None and len(found) == 1 and "CROSS JOIN b" in found[0]


def test_alternatives_of_a_set_are_looked_at_one_by_one() -> None:
    found = texts("SELECT DISTINCT a.x FROM a LEFT JOIN b ON a.k = b.k WHERE b.y = 1 OR a.x = 2")
    assert found is not None and len(found) == 2
    assert "b.y = 1" in found[0] and " b" not in found[1]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.x, (SELECT MAX(b.y) FROM b) AS m FROM a",
        "SELECT a.x FROM a FULL JOIN b ON a.k = b.k",
        "SELECT s.x FROM (SELECT a.x FROM a) AS s",
    ],
)
def test_what_is_computed_from_other_rows_is_not_seen(sql: str) -> None:
    assert texts(sql) is None
