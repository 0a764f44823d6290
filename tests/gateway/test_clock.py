"""The clock and the current user in queries: constants of the request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from gateway.gateway_plans import decider
from gateway.live import Live, add_user, write_plan
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.clock import asks_clock
from tacit.gateway.policy.decisions import Decision

PLAN = """version: 1
tables:
  posts:
    columns: {id: integer, owner: text, made: timestamp, day: date}
    key: [id]
    nullable: []
    rows: [[1, ann, "2026-01-01 00:00:00", "2026-01-01"]]
releases:
  old: {query: "SELECT id, made, day FROM posts WHERE made < $now"}
  mine: {query: "SELECT id, owner FROM posts WHERE owner = $user"}
roles:
  app: {default: deny, allow: [old, mine]}
"""
ANN = Asker("ann", {}, datetime(2026, 11, 18, 21))


@pytest.fixture
def decide(tmp_path: Path) -> Callable[..., Decision]:
    found = decider(tmp_path, PLAN)
    return lambda sql, spoken=None, who=ANN: found.decide("app", sql, (), who, spoken=spoken)


@pytest.mark.parametrize(
    ("sql", "spoken", "allowed"),
    [
        ("SELECT id FROM posts WHERE made < now()", None, True),
        ("SELECT id FROM posts WHERE made < CURRENT_TIMESTAMP", None, True),
        ("SELECT id FROM posts WHERE made < now() - INTERVAL '7 days'", None, True),
        ("SELECT id FROM posts WHERE made < (now() - INTERVAL 2 HOUR)", None, True),
        ("SELECT id FROM posts WHERE made < now() + INTERVAL 1 SECOND", None, False),
        ("SELECT id FROM posts WHERE made < current_date", None, True),
        ("SELECT id FROM posts WHERE made < now() AND day = current_date", None, True),
        ("SELECT id FROM posts WHERE owner = current_user", None, True),
        ("SELECT id FROM posts WHERE owner <> current_user", None, False),
        ("SELECT id FROM posts WHERE made < NOW() - INTERVAL 3 DAY", "mysql", True),
        ("SELECT id FROM posts WHERE made < CURDATE()", "mysql", True),
        ("SELECT id FROM posts WHERE made < GETDATE()", "tsql", True),
    ],
)
def test_the_clock_is_the_moment_that_views_have(
    decide: Callable[..., Decision], sql: str, spoken: str | None, allowed: bool
) -> None:
    found = decide(sql, spoken)
    assert found.allowed == allowed, (found.code, found.message)
    if not allowed:
        assert found.code == "not-granted"


def test_what_is_run_has_constants_and_names(decide: Callable[..., Decision]) -> None:
    found = decide("SELECT current_user, current_date, now()")
    assert found.columns == ("current_user", "current_date", "current_timestamp")
    assert found.sql is not None
    assert "'ann'" in found.sql and "CAST('2026-11-18 21:00:00' AS TIMESTAMP)" in found.sql
    who = Asker("o'neill", {}, datetime(2026, 11, 19))
    other = decide("SELECT current_user, current_date, now()", None, who)
    assert other.sql is not None and "'o''neill'" in other.sql and "2026-11-19" in other.sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT current_timestamp(3)",
        "SELECT current_date('Europe/Paris')",
        "SELECT id FROM posts WHERE made < now() - INTERVAL '1 month'",
        "SELECT current_schema()",
        "SELECT random()",
        "SELECT clock_timestamp()",
    ],
)
def test_what_depends_on_more_than_the_moment_is_refused(
    decide: Callable[..., Decision], sql: str
) -> None:
    found = decide(sql)
    assert found.code in ("volatile-function", "unknown-function", "syntax", "may-fail")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT NOW ( )",
        "SELECT Current_Timestamp",
        "select getDate()",
        "SELECT * FROM t WHERE a=current_user",
        "SELECT localtimestamp",
        "SELECT utc_timestamp()",
        "SELECT session_user",
    ],
)
def test_no_decision_with_the_clock_is_kept_for_others(sql: str) -> None:
    assert asks_clock(sql)


def test_each_user_gets_their_own_name_and_each_request_its_own_moment(tmp_path: Path) -> None:
    with Live(write_plan(tmp_path)) as live:
        tokens = [live.token, add_user(live.plan, "bob", ["nurses"])]
        seen = []
        for token in tokens * 2:
            with live.client(token) as client:
                answer = client.post("/query", json={"sql": "SELECT current_user, now()"}).json()
                seen.append(tuple(answer["rows"][0]))
    assert [name for name, _ in seen] == ["ann", "bob", "ann", "bob"]
    assert len({moment for _, moment in seen}) == 4
