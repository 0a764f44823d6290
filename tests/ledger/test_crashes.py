"""Killed writers, full disks, lost power, many writers at once:
what record() returned is there, and nothing is half there.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import oracles.ledger as by_hand
from tacit.errors import EngineError, InputError
from tacit.ledger.entries import EntryDraft
from tacit.ledger.key import Key
from tacit.ledger.ledger import open_ledger
from tacit.ledger.sqlite import SQLiteStore
from thorough import THOROUGH

WRITING = Path(__file__).parent / "writing.py"
Drafts = Callable[..., EntryDraft]


def start(folder: Path, where: str, what: str, *numbers: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITING), str(folder), where, what, *map(str, numbers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(one: subprocess.Popen[str]) -> list[str]:
    out, wrong = one.communicate(timeout=900)
    assert one.returncode == 0, wrong
    return out.splitlines()


def whole_by_hand(path: Path, secret: bytes) -> bool:
    connection = sqlite3.connect(path)
    own = connection.execute("SELECT id FROM tacit_ledger").fetchone()[0]
    rows = connection.execute(
        "SELECT number, kind, release, body, hash FROM tacit_entries ORDER BY number"
    ).fetchall()
    head = connection.execute("SELECT number, hash, users, mac FROM tacit_head").fetchone()
    connection.close()
    return by_hand.chain(rows, head, own, secret)


def test_a_killed_writer_loses_nothing_that_it_was_told(tmp_path: Path, secret: bytes) -> None:
    told = finish(start(tmp_path, "out.sqlite", "crash", 60, 9))
    assert told[-1].startswith("60 killed")
    for path in tmp_path.glob("*.sqlite"):
        assert whole_by_hand(path, secret)


@pytest.mark.slow
def test_many_killed_writers(tmp_path: Path, secret: bytes) -> None:
    told = finish(start(tmp_path, "out.sqlite", "crash", 100 * THOROUGH, 10))
    assert told[-1].startswith(f"{100 * THOROUGH} killed")
    for path in tmp_path.glob("*.sqlite"):
        assert whole_by_hand(path, secret)


@pytest.mark.slow
def test_a_killed_writer_of_a_database(ledger_url: str, tmp_path: Path, key: Key) -> None:
    """The client dies, the server ends its transaction."""
    for _ in range(8):
        writer = start(tmp_path, ledger_url, "loop", 1_000_000)
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(5)]
        writer.kill()
        lines += writer.stdout.read().splitlines()
        writer.communicate()
        with open_ledger(ledger_url, tmp_path, key=key) as ledger:
            assert ledger.verify().intact and {int(line) for line in lines} <= {
                one.number for one in ledger.entries()
            }


def test_eight_writers_at_once(tmp_path: Path, key: Key, secret: bytes) -> None:
    """They also begin it at once."""
    told = [
        int(line)
        for one in [start(tmp_path, "out.sqlite", "loop", 25) for _ in range(8)]
        for line in finish(one)
    ]
    assert sorted(told) == list(range(1, 201))
    assert whole_by_hand(tmp_path / "out.sqlite", secret)
    with open_ledger("out.sqlite", tmp_path, key=key) as ledger:
        assert ledger.verify().intact and len(list(ledger.entries())) == 200


@pytest.mark.slow
def test_eight_writers_of_a_database_at_once(ledger_url: str, tmp_path: Path, key: Key) -> None:
    told = [
        int(line)
        for one in [start(tmp_path, ledger_url, "loop", 25) for _ in range(8)]
        for line in finish(one)
    ]
    assert sorted(told) == list(range(1, 201))
    with open_ledger(ledger_url, tmp_path, key=key) as ledger:
        assert ledger.verify().intact


@pytest.mark.parametrize("limit", [60_000, 123_456, 400_000])
def test_a_file_that_may_not_grow(tmp_path: Path, key: Key, secret: bytes, limit: int) -> None:
    *told, error, intact, last = finish(start(tmp_path, "out.sqlite", "full", limit))
    assert ("nothing was recorded" in error and "Free some space" in error) or "df" in error
    assert intact == "intact" and int(last) == len(told) + 1
    assert [int(line) for line in told] == list(range(1, len(told) + 1))
    assert whole_by_hand(tmp_path / "out.sqlite", secret)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 kB, where this user may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or os.geteuid()
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=300k", "none", str(place)], capture_output=True
        ).returncode
    ):
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(small_disk: Path, key: Key, draft: Drafts, secret: bytes) -> None:
    ballast = small_disk / "ballast"
    with open_ledger("out.sqlite", small_disk, key=key, create=True) as ledger:
        ballast.write_bytes(b"x" * 100_000)
        told = 0
        with pytest.raises(EngineError, match="disk") as caught:
            for _ in range(10_000):
                ledger.record(draft(note="x" * 500))
                told += 1
        assert "nothing was recorded" in str(caught.value)
        with pytest.raises(EngineError):
            ledger.record(draft(note="x" * 500))
        assert ledger.verify().intact and len(list(ledger.entries())) == told > 3
        ballast.unlink()
        assert ledger.record(draft()).number == told + 1
    assert whole_by_hand(small_disk / "out.sqlite", secret)


def test_a_disk_that_is_full_from_the_beginning(small_disk: Path, key: Key) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 295_000)
    with pytest.raises(EngineError, match="disk"):
        open_ledger("out.sqlite", small_disk, key=key, create=True)
    (small_disk / "ballast").unlink()
    with open_ledger("out.sqlite", small_disk, key=key, create=True) as ledger:
        assert ledger.verify().intact


def test_power_that_fails_leaves_a_ledger_that_ends_earlier(
    tmp_path: Path, key: Key, draft: Drafts
) -> None:
    """What was not on the disk yet is cut off or garbled, anywhere in the write-ahead file:
    entries are whole or not there.
    """
    here, copy = tmp_path / "here", tmp_path / "copy"
    here.mkdir()
    hashes = []
    with open_ledger("out.sqlite", here, key=key, create=True) as ledger:
        for number in range(6):
            hashes.append(ledger.record(draft(f"r{number}", note="x" * 100 * number)).hash)
        written = (here / "out.sqlite-wal").read_bytes()
        main = (here / "out.sqlite").read_bytes()
    rng, seen = random.Random(9), set()
    for _ in range(250):
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        cut = rng.randrange(len(written) + 1)
        tail = rng.randbytes(rng.choice([0, 0, 24, 4120])) if rng.random() < 0.5 else b""
        (copy / "out.sqlite").write_bytes(main)
        (copy / "out.sqlite-wal").write_bytes(written[:cut] + tail)
        try:
            with open_ledger("out.sqlite", copy, key=key) as ledger:
                assert ledger.verify().intact
                entries = [one.hash for one in ledger.entries()]
                assert entries == hashes[: len(entries)]
                seen.add(len(entries))
                if len(entries) < 6:
                    assert not ledger.verify(hashes[-1]).intact
                assert ledger.record(draft()).number == len(entries) + 1
        except InputError as error:
            assert "there is no ledger" in str(error)
            seen.add(-1)
    assert seen >= set(range(-1, 6))


def test_a_writer_that_does_not_end_is_told(
    tmp_path: Path, key: Key, draft: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.ledger.sqlite.WAIT_SECONDS", 0.1)
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        ledger.record(draft())
        other = SQLiteStore(tmp_path / "out.sqlite", "out.sqlite")
        with other.writing():
            with pytest.raises(EngineError, match="another process has been writing"):
                ledger.record(draft())
            assert len(ledger.held(["patients"])) == 1  # readers do not wait
        other.close()
        assert ledger.record(draft()).number == 2


def test_a_file_without_rights_is_told(tmp_path: Path, key: Key, draft: Drafts) -> None:
    if not os.geteuid():
        pytest.skip("root may do everything")
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        ledger.record(draft())
    (tmp_path / "out.sqlite").chmod(0o400)
    with (
        open_ledger("out.sqlite", tmp_path, key=key) as ledger,
        pytest.raises(EngineError, match="cannot be written"),
    ):
        ledger.record(draft())
