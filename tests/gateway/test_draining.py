"""A gateway that ends: it says so, answers what was asked; several side by side lose nothing."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from gateway.live import FAKE, PLAN, Live, add_user, live, revoke, write_plan
from tacit.gateway.trail_check import verify_trail
from tacit.ledger.key import read_key

WARDS = "SELECT ward FROM wards ORDER BY ward"
SLOW = "SELECT sum(a.i * b.i % 7) AS n FROM range(12000) a(i), range(12000) b(i)"


def test_while_it_drains_it_is_not_ready_and_answers_on(tmp_path: Path) -> None:
    with live(tmp_path, postgres_port=0, drain_seconds=1.5) as running:
        with running.client() as client, psycopg.connect(running.postgres()) as line:
            assert client.get("/ready").status_code == 200
            line.execute(WARDS)  # in a transaction
            running.server.should_exit = True
            while client.get("/ready").status_code == 200:
                pass
            answer = client.post("/query", json={"sql": WARDS})
            assert (answer.status_code, answer.headers["connection"]) == (200, "close")
            assert line.execute(WARDS).fetchall() == [("A",), ("B",)]
            line.commit()
        with psycopg.connect(running.postgres(), autocommit=True) as idle:
            with pytest.raises(psycopg.OperationalError):
                while True:
                    idle.execute(WARDS)
            assert idle.closed


def test_what_is_being_answered_is_answered_to_its_end(tmp_path: Path) -> None:
    answers: list[Any] = []

    def over_http(running: Live) -> None:
        answers.append(running.query(SLOW).status_code)

    def over_postgres(running: Live) -> None:
        with psycopg.connect(running.postgres(), autocommit=True) as line:
            answers.append(len(line.execute(SLOW).fetchall()))

    with live(tmp_path, decider=FAKE, postgres_port=0) as running:
        asking = [
            threading.Thread(target=one, args=(running,)) for one in (over_http, over_postgres)
        ]
        for one in asking:
            one.start()
        until = time.time() + 30
        while running.gateway.now().places.running < 2:
            assert time.time() < until
        running.server.should_exit = True
        for one in asking:
            one.join(60)
    assert sorted(answers) == [1, 200]


@pytest.mark.slow
@pytest.mark.parametrize("far", [False, True])
def test_two_side_by_side_are_restarted_in_turn_and_no_request_is_lost(
    tmp_path: Path, far: bool, request: pytest.FixtureRequest
) -> None:
    """As a proxy does it: to whom is ready, again to another where a connection is refused."""
    text = PLAN
    if far:
        where = request.getfixturevalue("postgres_url")
        with psycopg.connect(where, autocommit=True) as admin:
            admin.execute("DROP SCHEMA IF EXISTS side CASCADE; CREATE SCHEMA side")
        mark = "&" if "?" in where else "?"
        text += f"ledger: '{where}{mark}options=-csearch_path%3Dside'\n"
    plan = write_plan(tmp_path, text)
    token = add_user(plan, "otto", ["nurses"])
    failed: list[Any] = []
    done = threading.Event()
    running: list[Live | None] = [None, None]

    def ask() -> None:
        while not done.is_set():
            for one in [one for one in running if one is not None]:
                if answered(one):
                    break
            else:
                failed.append("nobody was ready")

    def answered(one: Live) -> bool:
        with one.client(token=token) as client:
            try:
                if client.get("/ready").status_code != 200:
                    return False
            except httpx.HTTPError:  # nobody there, or there no more
                return False
            try:
                found = client.post("/query", json={"sql": WARDS})
                if found.status_code != 200:
                    failed.append(found.text)
            except httpx.HTTPError as error:
                failed.append(error)
            return True

    def started() -> Live:
        one = Live.__new__(Live)
        Live.__init__(one, plan, drain_seconds=1) if first else beside(one, plan)
        return one.__enter__()

    first = True
    running[0] = started()
    first = False
    running[1] = started()
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for place in (0, 1):
            old = running[place]
            assert old is not None
            old.__exit__(None, None, None)
            running[place] = started()
    finally:
        done.set()
        asking.join(30)
    assert not failed
    revoke(plan, "otto")  # users are shared
    until = time.time() + 5
    for one in running:
        assert one is not None
        with one.client(token=token) as client:
            while client.get("/me").status_code != 401:
                assert time.time() < until
        one.__exit__(None, None, None)
    assert verify_trail([tmp_path / "tacit-audit.jsonl"], read_key(tmp_path)).intact


def beside(one: Live, plan: Path, **options: Any) -> None:
    """One more gateway on a plan whose user ann is there already."""
    from gateway import live as module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "add_user", lambda *given: "")
        Live.__init__(one, plan, **{"drain_seconds": 1, **options})
