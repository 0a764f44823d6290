"""The audit log: in order, complete, and loud when it cannot be written."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tacit.errors import EngineError
from tacit.gateway import audit
from tacit.gateway.audit import Audit
from tacit.gateway.policy.refusals import Refusal
from waiting import soon


def lines(path: Path) -> list[int]:
    return [json.loads(line)["n"] for line in path.read_text().splitlines()]


def test_lines_are_in_order_and_for_the_owner_only(tmp_path: Path) -> None:
    log = Audit(tmp_path / "log")
    for number in range(1000):
        log.put({"n": number})
    log.close()
    assert lines(tmp_path / "log") == list(range(1000))
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_what_was_awaited_is_in_the_file(tmp_path: Path) -> None:
    async def main() -> None:
        log = Audit(tmp_path / "log")
        for number in range(50):
            await log.written({"n": number})
            assert lines(tmp_path / "log")[-1] == number
        log.close()

    asyncio.run(main())


def test_many_threads(tmp_path: Path) -> None:
    log = Audit(tmp_path / "log")
    threads = [
        threading.Thread(target=lambda: [log.put({"n": number}) for number in range(500)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    assert sorted(lines(tmp_path / "log")) == sorted(list(range(500)) * 8)


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    log = Audit(tmp_path / "log")
    log.put({"n": 1})
    assert soon(lambda: lines(tmp_path / "log") == [1])
    (tmp_path / "log").rename(tmp_path / "log.1")
    log.put({"n": 2})
    log.close()
    assert lines(tmp_path / "log.1") == [1] and lines(tmp_path / "log") == [2]


def test_a_full_disk_is_said_once_and_nothing_is_lost_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    full = threading.Event()
    write = os.write

    def fails(file: int, data: bytes) -> int:
        if full.is_set():
            raise OSError(28, "No space left on device")
        return write(file, data[: max(1, len(data) // 2)])  # in parts, as systems may

    monkeypatch.setattr(audit, "RETRY_SECONDS", 0.05)

    async def main() -> None:
        log = Audit(tmp_path / "log", said.append)
        monkeypatch.setattr(os, "write", fails)
        await log.written({"n": 1})
        full.set()
        with pytest.raises(Refusal) as caught:
            await log.written({"n": 2})
        assert (caught.value.status, caught.value.code) == (503, "audit")
        with pytest.raises(Refusal):
            log.check()
        full.clear()
        await log.written({"n": 3})
        log.check()
        log.close()

    asyncio.run(main())
    assert lines(tmp_path / "log") == [1, 2, 3]
    assert len(said) == 2


def test_a_log_that_cannot_be_opened_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="cannot be written"):
        Audit(tmp_path / "no" / "log")


def test_a_link_is_not_followed_neither_at_the_start_nor_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "RETRY_SECONDS", 0.05)
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / "link").symlink_to(other)
    with pytest.raises(EngineError, match="symbolic link"):
        Audit(tmp_path / "link")

    async def main() -> None:
        log = Audit(tmp_path / "log")
        await log.written({"n": 1})
        (tmp_path / "log").rename(tmp_path / "log.1")
        (tmp_path / "log").symlink_to(tmp_path / "log.1")
        with pytest.raises(Refusal):
            await log.written({"n": 2})
        (tmp_path / "log").unlink()
        await log.written({"n": 3})
        log.close()

    asyncio.run(main())
    assert (other.read_text(), lines(tmp_path / "log.1")) == ("mine", [1])
    assert lines(tmp_path / "log") == [2, 3]


def test_standard_output_can_be_the_log_although_it_is_a_link() -> None:
    if not Path("/dev/stdout").is_symlink():
        pytest.skip("/dev/stdout is no link here")
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "from pathlib import Path; from tacit.gateway.audit import Audit\n"
            "log = Audit(Path('/dev/stdout')); log.put({'n': 1}); log.close()",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert json.loads(said)["n"] == 1
