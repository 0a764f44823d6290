"""Readiness: what is not ready is named, and nothing else is said."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg
import pytest

from gateway.live import PLAN, Live, live
from gateway.test_streams import as_user

PARTS = ("plan", "audit", "ledger", "deciders", "database")


def ready(running: Live) -> tuple[int, list[str]]:
    """The status, and what is not ready."""
    time.sleep(2.1)  # what was found is told for a while
    with running.client("nobody") as client:
        answer = client.get("/ready")
    body = answer.json()
    assert set(body) == {"ready", "parts"} and set(body["parts"]) == set(PARTS)
    assert body["ready"] == (answer.status_code == 200)
    return answer.status_code, [name for name in PARTS if not body["parts"][name]]


def test_a_gateway_that_answers_is_ready(gateway: Live) -> None:
    assert ready(gateway) == (200, [])


@pytest.mark.slow
def test_a_broken_plan_is_not_ready(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        running.plan.write_text(PLAN.replace("roles:", "rolls:"))
        assert ready(running) == (503, ["plan", "ledger", "deciders", "database"])
        running.plan.write_text(PLAN)
        until = time.monotonic() + 30
        while ready(running)[0] != 200:
            assert time.monotonic() < until
        assert running.query("SELECT ward FROM wards").status_code == 200


def test_a_ledger_that_was_tampered_with_is_not_ready(tmp_path: Path) -> None:
    import sqlite3

    with live(tmp_path) as running:
        with sqlite3.connect(tmp_path / "tacit-ledger.sqlite") as ledger:
            ledger.execute("UPDATE tacit_users SET mac = 'x'")
        assert ready(running) == (503, ["ledger"])


def test_an_audit_log_that_cannot_be_written_is_not_ready(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        running.gateway.audit.failing = True
        assert ready(running) == (503, ["audit"])


def test_places_that_are_all_taken_are_ready(tmp_path: Path) -> None:
    with live(tmp_path, queries=1) as running:
        now = running.gateway.now()
        taken = [now.places._turns._free.popleft()]
        assert ready(running) == (200, [])
        now.places._turns.add(taken.pop())


@pytest.mark.slow
def test_a_database_that_is_gone_is_not_ready(tmp_path: Path, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE ROLE ready_reader LOGIN; CREATE TABLE waits (a int)")
        admin.execute("GRANT SELECT ON waits TO ready_reader")
        source = as_user(postgres_url, "ready_reader")
        plan = (
            f"version: 1\nsource: '{source}'\ntables: {{waits: {{}}}}\n"
            "roles: {nurses: {default: allow}}\n"
        )
        try:
            with live(tmp_path, plan) as running:
                assert ready(running) == (200, [])
                admin.execute("ALTER ROLE ready_reader NOLOGIN")
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE usename = 'ready_reader'"
                )
                assert ready(running) == (503, ["database"])
        finally:
            admin.execute("DROP TABLE waits; DROP OWNED BY ready_reader; DROP ROLE ready_reader")
