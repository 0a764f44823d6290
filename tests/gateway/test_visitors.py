"""Who came in, who did not, and who changed the users: lines of the audit log, in one chain."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.live import Live, live
from tacit.cli import cli
from tacit.gateway.trail_check import verify_trail
from tacit.gateway.visitors import Visitors
from tacit.ledger.key import read_key
from tacit.ledger.ledger import open_ledger
from tacit.ledger.users import Users


def events(path: Path, *names: str) -> list[dict[str, Any]]:
    said = [json.loads(line) for line in (path / "tacit-audit.jsonl").read_text().splitlines()]
    return [one for one in said if one["event"] in names]


def run(*arguments: str) -> int:
    return int(cli.main(list(arguments), "tacit", standalone_mode=False) or 0)


def test_a_gateway_writes_down_what_it_refused_and_the_chain_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with live(tmp_path, postgres_port=0) as running:
        assert running.query("SELECT ward FROM wards").status_code == 200
        with running.client(token="tacit_" + "x" * 43) as stranger:
            assert stranger.get("/me").status_code == 401
        postgres_sign_ins(running)
        plan = str(running.plan)
        assert run("user", "add", "bob", "--role", "nurses", "--plan", plan) == 0
        assert run("user", "rotate", "bob", "--overlap", "1h", "--plan", plan) == 0
        assert run("user", "revoke", "bob", "--plan", plan) == 0
    refused = events(tmp_path, "sign-in-refused")
    assert [one["path"] for one in refused] == ["/me", "postgres"]
    assert refused[1]["user"] == "ann" and refused[0]["address"] == "127.0.0.1"
    assert [one["user"] for one in events(tmp_path, "sign-in")] == ["ann"]
    changes = events(tmp_path, "user-added", "token-rotated", "token-revoked")
    assert [one["user"] for one in changes] == ["bob"] * 3 and all(one["by"] for one in changes)
    assert "tacit_" not in (tmp_path / "tacit-audit.jsonl").read_text()
    assert verify_trail([tmp_path / "tacit-audit.jsonl"], read_key(tmp_path)).intact
    capsys.readouterr()
    assert run("audit", "verify", "--plan", plan) == 0
    assert "nothing was changed" in capsys.readouterr().out
    log = tmp_path / "tacit-audit.jsonl"
    log.write_text(log.read_text().replace('"allowed"', '"refused"', 1))
    assert run("audit", "verify", "--plan", plan, "--json") == 1
    assert json.loads(capsys.readouterr().out)["faults"][0]["code"] == "changed"


def postgres_sign_ins(running: Live) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(running.postgres()) as line:
        assert line.execute("SELECT ward FROM wards").fetchall()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(running.postgres(token="tacit_" + "x" * 43))


def test_both_tokens_open_both_doors_while_they_overlap(tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg")
    with (
        live(tmp_path, postgres_port=0) as running,
        open_ledger("tacit-ledger.sqlite", tmp_path) as ledger,
    ):
        users = Users(ledger)
        second = users.rotate("ann", overlap=timedelta(hours=1))
        for token in (running.token, second):
            with running.client(token=token) as client:
                assert client.get("/me").status_code == 200
            psycopg.connect(running.postgres(token=token)).close()
        users.rotate("ann")
        for token in (running.token, second):
            with running.client(token=token) as client:
                assert client.get("/me").status_code == 401
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(running.postgres(token=token))


def test_who_was_there_is_listed(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        running.query("SELECT ward FROM wards")
        running.query("SELECT ward FROM wards")
    with open_ledger("tacit-ledger.sqlite", tmp_path) as ledger:
        assert Users(ledger).all()[0].used is not None


def test_who_tries_tokens_fills_no_disk_and_no_token_stands_in_the_log() -> None:
    said: list[dict[str, Any]] = []
    clock = [0.0]
    visitors = Visitors(said.append, lambda: clock[0])
    for _ in range(1_000):
        visitors.refused("postgres", "::1", "tacit_secret")
    assert len(said) == 100 and all(one["user"] == "_" for one in said)
    clock[0] = 61.0
    visitors.refused("postgres", "::1", "x" * 1_000)
    assert said[100] == {"event": "sign-ins-refused", "more": 900}
    assert len(said[101]["user"]) == 200
