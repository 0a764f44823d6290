"""What users had of several gateways counts together, where these share a ledger."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gateway.live import FAKE, PLAN, Live, live
from gateway.test_draining import beside
from tacit.errors import EngineError
from tacit.gateway.options import Options
from tacit.gateway.quotas import Quotas
from tacit.gateway.turns import TooMuch
from tacit.ledger.postgres import PostgresStore
from tacit.ledger.usage import Had, SharedUsage


class Sums:
    """What SharedUsage does, in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], tuple[int, float]] = {}

    def exchange(self, had: list[Had]) -> list[Had]:
        for one in had:
            for name, amount in one.amounts.items():
                stretch, sum_ = self.kept.get((one.kind, name), (one.stretch, 0.0))
                if stretch <= one.stretch:
                    before = sum_ if stretch == one.stretch else 0.0
                    self.kept[one.kind, name] = one.stretch, before + amount
        return [
            Had(
                one.kind,
                one.stretch,
                {
                    name: sum_
                    for (kind, name), (stretch, sum_) in self.kept.items()
                    if (kind, stretch) == (one.kind, one.stretch)
                },
            )
            for one in had
        ]


def test_gateways_side_by_side_give_one_share(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [86_400.0 * 100]
    monkeypatch.setattr("tacit.gateway.quotas.time.time", lambda: clock[0])
    chance = random.Random(7)
    for _ in range(100):
        sums, given = Sums(), Counter[str]()
        gateways = [Quotas(Options(user_requests=50)) for _ in range(3)]
        clock[0] += 60
        for _ in range(400):
            one, user = chance.choice(gateways), chance.choice(["ann", "ben"])
            with suppress(TooMuch):
                one.enter(user)
                given[user] += 1
            if chance.random() < 0.5:
                told = one.untold()
                if chance.random() < 0.2:
                    one.keep(told)  # the ledger could not be reached
                else:
                    one.learn(sums.exchange(told))
        for one in gateways:
            one.learn(sums.exchange(one.untold()))
        for user, count in given.items():
            assert sums.kept["requests", user][1] == count
            assert 50 <= count <= 50 + 3 * 10
            with pytest.raises(TooMuch):
                gateways[0].learn(sums.exchange(gateways[0].untold()))
                gateways[0].enter(user)


@pytest.mark.slow
def test_the_sums_in_postgresql_are_those_in_memory(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = schema_of(request, "usage_sums")
    chance, sums = random.Random(3), Sums()
    usages = [SharedUsage(PostgresStore(where)) for _ in range(2)]
    for _ in range(60):
        had = [
            Had("requests", chance.randint(5, 7), {one: chance.randint(1, 9) for one in "ab"}),
            Had("bytes", 1, {chance.choice("abc"): 0.5}),
        ]
        assert chance.choice(usages).exchange(had) == sums.exchange(had)
    for one in usages:
        one.close()


@pytest.mark.slow
def test_two_gateways_on_one_ledger_and_a_restart_give_one_share(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = schema_of(request, "usage_two")
    text = f"{PLAN}ledger: '{where}'\n"
    with live(tmp_path, text, decider=FAKE, user_bytes=3_000) as first:
        second = Live.__new__(Live)
        beside(second, first.plan, decider=FAKE, user_bytes=3_000)
        second.token = first.token
        with second:
            long = "SELECT repeat('a', 2000) AS a"
            assert first.query(long).status_code == 200
            until_shared(second, 2_000)
            cut = second.query(long)
            assert (cut.status_code, cut.json()["error"]["code"]) == (429, "limit")
            assert 0 < int(cut.headers["Retry-After"]) <= 86_400
    again = Live.__new__(Live)
    beside(again, first.plan, decider=FAKE, user_bytes=3_000)
    again.token = first.token
    with again:
        assert again.query("SELECT 1 AS one").status_code == 429


def test_what_cannot_be_told_is_said_once_and_told_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def exchange(self, had: list[Had]) -> list[Had]:
            raise EngineError("it is gone.")

        def close(self) -> None:
            pass

    def share(running: Live, usage: Any) -> None:
        async def twice() -> None:
            now = replace(running.gateway.now(), usage=usage)
            for _ in range(2):
                await running.gateway._exchange(now)

        asyncio.run_coroutine_threadsafe(twice(), running.loop).result(20)

    with live(tmp_path, decider=FAKE, user_requests=1_000) as running:
        assert running.query("SELECT 1 AS one").status_code == 200
        share(running, Broken())
        sums = Sums()
        share(running, sums)
        assert [line for line in running.said if "other gateways" in line] == [
            "What users had cannot be told to other gateways: it is gone."
        ]
        assert sums.kept["requests", "ann"][1] == 1


def schema_of(request: pytest.FixtureRequest, name: str) -> str:
    """A schema of its own for a ledger."""
    where = request.getfixturevalue("postgres_url")
    with psycopg.connect(where, autocommit=True) as admin:
        admin.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")
    return f"{where}{'&' if '?' in where else '?'}options=-csearch_path%3D{name}"


def until_shared(running: Live, least: float) -> None:
    """Wait until a gateway has heard how many bytes another one gave."""
    until = time.time() + 20
    while running.gateway.quotas._bytes._sums["ann"] < least:
        assert time.time() < until
        time.sleep(0.05)
