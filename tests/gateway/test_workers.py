"""Deciding processes: replaced when they hang or die, and gone when the server is."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.live import FAKE
from tacit.errors import EngineError
from tacit.gateway import workers as workers_module
from tacit.gateway.policy.policy import GatewayPolicy
from tacit.gateway.policy.refusals import Refusal
from tacit.gateway.workers import Workers
from waiting import soon

POLICY = GatewayPolicy({}, "duckdb", {}, (), {}, "digest")


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    found = Workers(POLICY, 2, 1.0, decider=FAKE)
    found.wait_until_ready()
    yield found
    found.close()


def test_hanging_crashing_and_failing_are_no_decision_and_the_next_is_made(two: Workers) -> None:
    async def main() -> None:
        for how in ("hang", "crash", "fault"):
            assert (await two.judge("r", f"/*{how}*/", ())).decision is None
            found = await two.judge("r", "SELECT 'Ellen' AS a", ())
            assert (
                found.decision is not None
                and found.decision.allowed
                and found.redacted == "SELECT ? AS a"
            )

    asyncio.run(main())


def test_a_hanging_decision_holds_up_nobody_else(two: Workers) -> None:
    async def main() -> None:
        hanging = asyncio.create_task(two.judge("r", "/*hang*/", ()))
        await asyncio.sleep(0.1)
        for number in range(20):
            assert (await two.judge("r", f"SELECT {number} AS a", ())).decision is not None
        assert not hanging.done()
        assert (await hanging).decision is None

    asyncio.run(main())


def test_answers_in_any_order_never_get_mixed_up_whatever_crashes_between_them() -> None:
    # Time enough for every decision: a process that crashed takes its time to start again.
    patient = Workers(POLICY, 2, 60.0, decider=FAKE)
    patient.wait_until_ready()

    async def main() -> None:
        asked = [
            "/*crash*/" if number % 29 == 7 else f"SELECT {number} AS a" for number in range(120)
        ]
        found = await asyncio.gather(*(patient.judge("r", sql, ()) for sql in asked))
        for sql, one in zip(asked, found, strict=True):
            assert (
                (one.decision is None)
                if "crash" in sql
                else one.decision is not None and one.decision.sql == sql
            )

    try:
        asyncio.run(main())
    finally:
        patient.close()


def test_too_many_who_wait_are_sent_away(two: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "MOST_WAITING", 0)
    with pytest.raises(Refusal) as caught:
        asyncio.run(two.judge("r", "SELECT 1", ()))
    assert caught.value.status == 503


def test_a_process_that_cannot_start_is_an_error() -> None:
    found = Workers(POLICY, 1, 1.0, decider="gateway.fakes:NoSuchThing")
    with pytest.raises(EngineError, match="could not be started"):
        found.wait_until_ready()


PARENT = """
import sys, time
from tacit.gateway.policy.policy import GatewayPolicy
from tacit.gateway.workers import Workers
if __name__ == "__main__":
    policy = GatewayPolicy({}, "duckdb", {}, (), {}, "d")
    found = Workers(policy, 1, 60.0, decider="gateway.fakes:Decider")
    found.wait_until_ready()
    print(*[one._process.pid for one in found._all], flush=True)
    import asyncio
    asyncio.run(found.judge("r", "/*hang*/", ()))
"""


def test_processes_end_with_a_server_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    path = os.pathsep.join(str(Path(__file__).parents[2] / part) for part in ("src", "tests"))
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(0.2)  # in the middle of a decision
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert soon(lambda: not alive(child))


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
