"""Queries in the spelling of other databases are judged and run as translated, or refused."""

from __future__ import annotations

import pytest

from gateway.gateway_plans import decider
from tacit.gateway.policy.decisions import Decider

PLAN = """version: 1
tables:
  posts:
    columns: {id: integer, text: text, public: boolean}
    nullable: [text]
    key: id
    rows: []
releases:
  open: {query: "SELECT * FROM posts WHERE public = true"}
roles:
  members: {default: deny, allow: [open]}
"""


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Decider:
    return decider(tmp_path_factory.mktemp("dialects"), PLAN)


@pytest.mark.parametrize(
    ("spoken", "sql", "parameters", "code"),
    [
        ("mysql", "SELECT `id` FROM `posts` WHERE `public` = 1 LIMIT ?, ?", (5, 2), "allowed"),
        ("mysql", "SELECT `id` FROM `posts` WHERE `public` = 0", (), "not-granted"),
        ("mysql", "SELECT `id` FROM `posts` WHERE `public` IN (1)", (), "allowed"),
        ("tsql", "SELECT TOP 3 [id] FROM [posts] WHERE [public] = 1 ORDER BY [id]", (), "allowed"),
        (
            "postgres",
            "SELECT id FROM posts WHERE public = true LIMIT 2 OFFSET 1",
            (),
            "allowed",
        ),
        ("mysql", "SELECT id / 2 FROM posts WHERE public = 1", (), "dialect"),
        ("mysql", "SELECT id FROM posts WHERE text REGEXP 'a'", (), "dialect"),
        ("mysql", "SELECT id FROM posts FOR UPDATE", (), "dialect"),
        ("mysql", "SELECT 1; SELECT 2", (), "not-a-query"),
        ("mysql", "DELETE FROM posts", (), "not-a-query"),
        ("mysql", "SELECT 'tacit parameter 1' AS a, ? AS b FROM posts", (1,), "dialect"),
        (None, "SELECT `id` FROM posts WHERE public = true", (), "syntax"),
    ],
)
def test_queries_of_other_dialects(
    members: Decider, spoken: str | None, sql: str, parameters: tuple[int, ...], code: str
) -> None:
    found = members.decide("members", sql, parameters, None, None, spoken)
    assert found.code == code, found


def test_places_keep_their_values_where_the_order_changes(members: Decider) -> None:
    sql = "SELECT `id` FROM `posts` WHERE `public` = ? ORDER BY `text` LIMIT ?, ?"
    found = members.decide("members", sql, (True, 5, 2), None, None, "mysql")
    assert found.sql is not None and "LIMIT 2 OFFSET 5" in found.sql
    assert "NULLS FIRST" in found.sql
