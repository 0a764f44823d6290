"""Turns and quotas: nobody waits for another's queue, and who has had their share is told when to
come back.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from gateway.live import FAKE, add_user, live
from tacit.gateway.options import Options
from tacit.gateway.policy.refusals import Refusal
from tacit.gateway.quotas import Quotas
from tacit.gateway.turns import MOST_OF_ONE, TooMuch, Turns

SLOW = "SELECT count(*) AS n FROM range(100000) a, range(10000000) b WHERE a.range + b.range = 7"


def turns(count: int, each: int) -> Turns[int]:
    found: Turns[int] = Turns("places", each)
    for number in range(count):
        found.add(number)
    return found


def test_a_user_with_a_long_queue_is_served_in_turn_with_one_who_just_came() -> None:
    async def main() -> list[str]:
        one, served = turns(1, 1), []
        first = await one.take("ann")

        async def ask(user: str) -> None:
            got = await one.take(user)
            served.append(user)
            one.give(user, got)

        asked = [asyncio.create_task(ask(user)) for user in ["ann"] * 5 + ["ben"]]
        await asyncio.sleep(0)
        one.give("ann", first)
        await asyncio.gather(*asked)
        return served

    assert "ben" in asyncio.run(main())[:2]


def test_one_user_never_has_more_than_their_share_and_is_told_so() -> None:
    async def main() -> None:
        four = turns(4, 2)
        had = [await four.take("ann"), await four.take("ann")]
        with pytest.raises(TooMuch) as refused:
            await four.take("ann", 0.01)
        assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "5"})
        assert await four.take("ben", 0.01) is not None
        four.give("ann", had[0])
        assert await four.take("ann", 0.01) is not None
        await four.take("ben")
        with pytest.raises(Refusal) as busy:
            await four.take("cora", 0.01)  # ann has two, and ben too
        assert busy.value.status == 503

    asyncio.run(main())


def test_whoever_leaves_or_is_cancelled_leaves_nothing_behind() -> None:
    async def main() -> None:
        one = turns(1, 1)
        first = await one.take("ann")
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        leaving = asyncio.create_task(one.take("ben", 5, gone))
        cancelled = asyncio.create_task(one.take("cora"))
        await asyncio.sleep(0)
        assert one.waiting == 2
        gone.set_result(None)
        cancelled.cancel()
        assert await leaving is None
        await asyncio.gather(cancelled, return_exceptions=True)
        one.give("ann", first)
        assert (one.waiting, one.free) == (0, 1)

    asyncio.run(main())


def test_the_line_of_one_user_has_an_end_and_others_still_get_into_theirs() -> None:
    async def main() -> None:
        one = turns(1, 1)
        first = await one.take("ann")
        asked = [asyncio.create_task(one.take("ann")) for _ in range(MOST_OF_ONE)]
        await asyncio.sleep(0)
        with pytest.raises(TooMuch):
            await one.take("ann")
        other = asyncio.create_task(one.take("ben"))
        await asyncio.sleep(0)
        one.add(1)  # ann has her one already
        assert await asyncio.wait_for(other, 5) == 1
        one.give("ann", first)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    asyncio.run(main())


def test_at_random_nothing_is_lost_and_no_share_is_exceeded() -> None:
    async def main(seed: int) -> None:
        chance = random.Random(seed)
        count, each = chance.randint(1, 4), chance.randint(1, 3)
        some, held = turns(count, each), Counter[str]()

        async def ask(user: str) -> None:
            try:
                got = await some.take(user, chance.choice([None, 0.0, 0.001]))
            except Refusal:
                return
            held[user] += 1
            try:
                assert held[user] <= each and held.total() <= count
                await asyncio.sleep(chance.choice([0, 0.0005]))
            finally:
                held[user] -= 1
                some.give(user, got)

        tasks = [asyncio.create_task(ask(chance.choice("abc"))) for _ in range(40)]
        for task in chance.sample(tasks, 10):
            await asyncio.sleep(0)
            if chance.random() < 0.5:
                task.cancel()
        ended = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)
        assert all(one is None or isinstance(one, asyncio.CancelledError) for one in ended)
        assert (some.free, some.waiting) == (count, 0)

    for seed in range(100):
        asyncio.run(main(seed))


def test_quotas_begin_anew_with_the_minute_and_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [86_400.0 * 100 + 30]
    monkeypatch.setattr("tacit.gateway.quotas.time.time", lambda: clock[0])
    quotas = Quotas(Options(user_requests=2, user_seconds=1.5, user_bytes=10))
    quotas.enter("ann")
    quotas.enter("ann")
    with pytest.raises(TooMuch) as refused:
        quotas.enter("ann")
    assert (refused.value.limit, refused.value.headers["Retry-After"]) == ("requests", "30")
    quotas.enter("ben")
    clock[0] += 30
    quotas.enter("ann")
    quotas.ran("ann", 1.5)
    with pytest.raises(TooMuch) as refused:
        quotas.enter("ann")
    assert (refused.value.limit, refused.value.headers["Retry-After"]) == ("seconds", "86340")
    quotas.sent("ben", 10)
    with pytest.raises(TooMuch) as refused:
        quotas.enter("ben")
    assert refused.value.limit == "bytes"
    with pytest.raises(TooMuch):
        quotas.sent("ben", 1)
    clock[0] += 86_400
    quotas.enter("ann")
    quotas.enter("ben")


@pytest.mark.slow
def test_over_http_one_user_cannot_take_all_deciders_or_all_places(tmp_path: Path) -> None:
    with live(
        tmp_path, decider=FAKE, deciders=2, decide_seconds=3, queries=2, wait=0.3, timeout=3
    ) as running:
        ben = add_user(running.plan, "ben", ["nurses"])

        def ask(path: str, sql: str) -> None:
            with running.client() as client:
                statuses.append(client.post(path, json={"sql": sql}).status_code)

        for path, sql, mine in (
            ("/check", "/*hang*/ SELECT {}", "SELECT 1 AS one"),
            ("/query", SLOW + " AND {0} = {0}", "SELECT 2 AS two"),
        ):
            statuses: list[int] = []
            many = [threading.Thread(target=ask, args=(path, sql.format(n))) for n in range(3)]
            for thread in many:
                thread.start()
            time.sleep(0.2)
            with running.client(ben) as client:
                assert client.post(path, json={"sql": mine}).status_code == 200
                assert not any(status == 200 for status in statuses)
            for thread in many:
                thread.join()
        assert statuses.count(429) == 2
        with running.client(ben) as client:
            assert 'tacit_limited_total{limit="at-once"} 2.0' in client.get("/metrics").text


def test_over_http_a_share_that_is_used_up_is_429_and_a_long_answer_has_an_end(
    tmp_path: Path,
) -> None:
    with live(tmp_path, decider=FAKE, user_requests=3, answer_bytes=1000) as running:
        if time.time() % 60 > 55:
            time.sleep(6)  # the three requests fall into one minute
        assert running.query("SELECT 1 AS one").status_code == 200
        long = running.query("SELECT repeat('a', 2000) AS a")
        assert (long.status_code, long.json()["error"]["code"]) == (400, "answer-bytes")
        assert running.query("SELECT 1 AS one").status_code == 200
        refused = running.query("SELECT 1 AS one")
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "limit")
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
