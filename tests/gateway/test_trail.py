"""The chain of the audit log: what was written stays, and what was changed is found."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tacit.errors import EngineError, InputError
from tacit.gateway.trail import Trail, encoded, head_file
from tacit.gateway.trail_check import TrailVerified, verify_trail
from tacit.ledger.key import Key
from thorough import THOROUGH

KEY, OTHER = Key(b"k" * 32), Key(b"o" * 32)


def write(path: Path, *numbers: int, key: Key | None = KEY, **more: int) -> None:
    trail = Trail(path, key, **more)
    for number in numbers:
        trail.append([encoded({"n": number})])
    trail.close()


def numbers(path: Path) -> list[int]:
    said = map(json.loads, path.read_text().splitlines())
    return [one["n"] for one in said if "n" in one]


def codes(found: TrailVerified) -> set[str]:
    return {one.code for one in found.faults}


def test_what_was_written_is_intact_over_several_starts(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, 1, 2)
    write(log, 3)
    found = verify_trail([log], KEY)
    assert (found.faults, found.notes, found.lines) == ((), (), 4)
    assert numbers(log) == [1, 2, 3]
    assert log.stat().st_mode & 0o777 == head_file(log).stat().st_mode & 0o777 == 0o600
    assert codes(verify_trail([log], OTHER)) >= {"changed", "head"}


@pytest.mark.parametrize("seed", range(60))
def test_any_change_of_a_line_is_found(tmp_path: Path, seed: int) -> None:
    """A byte, a line less, twice, or elsewhere; the end cut off at any byte."""
    rng, log = random.Random(seed), tmp_path / "log"
    write(log, *range(12))
    said = log.read_bytes()
    lines = said.splitlines(keepends=True)
    at, other = rng.sample(range(len(lines)), 2)
    kind = seed % 5
    if kind == 0:
        place = rng.randrange(len(said))
        said = said[:place] + bytes([said[place] ^ 1 << rng.randrange(7)]) + said[place + 1 :]
    elif kind == 1:
        said = b"".join(lines[:at] + lines[at + 1 :])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
        said = b"".join(lines)
    elif kind == 3:
        lines.insert(other, lines[at])
        said = b"".join(lines)
    else:
        said = said[: rng.randrange(1, len(said))]
    log.write_bytes(said)
    assert not verify_trail([log], KEY).intact
    write(log, 99)  # a gateway that goes on does not heal it
    assert not verify_trail([log], KEY).intact


def test_lines_that_somebody_else_wrote_are_found(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, 1, 2)
    write(tmp_path / "forged", 3, key=OTHER)
    whole = log.read_bytes()
    for more in ((tmp_path / "forged").read_bytes(), b'{"n": 3}\n', b"nonsense\n"):
        log.write_bytes(whole + more)
        assert not verify_trail([log], KEY).intact
        write(log, 4)
        assert not verify_trail([log], KEY).intact


def test_taking_the_head_away_or_an_older_one_is_found(tmp_path: Path) -> None:
    log, head = tmp_path / "log", head_file(tmp_path / "log")
    write(log, 1, 2)
    older = head.read_bytes(), log.read_bytes()
    write(log, 3)
    noted = verify_trail([log], KEY).last
    newer = head.read_bytes()
    head.unlink()
    assert codes(verify_trail([log], KEY)) == {"head"}
    assert verify_trail([log], KEY, noted).intact
    write(log, 4)
    assert codes(verify_trail([log], KEY)) == {"head"}
    head.write_bytes(newer)
    log.write_bytes(older[1])
    assert codes(verify_trail([log], KEY)) == {"cut"}
    write(log, 5)
    assert codes(verify_trail([log], KEY)) == {"gap"}
    head.write_bytes(older[0])  # both of them put back: only who noted the seal can tell
    log.write_bytes(older[1])
    assert verify_trail([log], KEY).intact
    assert codes(verify_trail([log], KEY, noted)) == {"expected"}


def test_all_seals_stripped_is_no_old_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, 1, 2)
    log.write_text('{"n": 1}\n{"n": 2}\n')
    assert codes(verify_trail([log], KEY)) >= {"unsealed", "cut"}
    head_file(log).unlink()
    assert codes(verify_trail([log], KEY)) >= {"unsealed"}


def test_an_old_log_without_seals_is_gone_on_with_and_fixed_from_then_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, 1, 2, key=None)
    old = log.read_bytes()
    write(log, 3)
    assert log.read_bytes().startswith(old)
    found = verify_trail([log], KEY)
    assert (found.faults, found.unsealed, numbers(log)) == ((), 2, [1, 2, 3])
    log.write_bytes(log.read_bytes().replace(b'"n": 1', b'"n": 7'))
    assert not verify_trail([log], KEY).intact


def test_a_kill_in_the_middle_is_told_and_is_no_change(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, 1)
    head = head_file(log).read_bytes()
    write(log, 2)
    whole = log.read_bytes()
    for torn in (b"", b'{"at": "2026', b"x"):
        head_file(log).write_bytes(head)  # a kill after the lines, and before the head
        log.write_bytes(whole + torn)
        write(log, 3)
        found = verify_trail([log], KEY)
        assert found.intact, (torn, found.faults)
        assert numbers_of_whole(log) == [1, 2, 3]
        assert bool(found.notes) == bool(torn)


def numbers_of_whole(path: Path) -> list[int]:
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(json.loads(line).get("n"))
        except ValueError:
            continue
    return [one for one in found if one is not None]


def test_files_that_were_moved_away_are_one_chain(tmp_path: Path) -> None:
    log, one = tmp_path / "log.jsonl", tmp_path / "log.1"
    write(log, 1, 2)
    log.rename(one)
    write(log, 3)
    assert verify_trail([one, log], KEY).intact
    alone = verify_trail([log], KEY)
    assert alone.intact and "earlier file" in alone.notes[0]
    write(log, 4, 5, most=100)
    moved = sorted(path for path in tmp_path.glob("log-*.jsonl"))
    assert len(moved) == 2 and numbers(log) == [5]
    assert verify_trail([one, *moved, log], KEY).intact
    assert not verify_trail([one, moved[1], log], KEY).intact
    assert not verify_trail([one, moved[1], moved[0], log], KEY).intact


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    log = tmp_path / "log"
    threads = [
        threading.Thread(target=write, args=(log, *range(start, start + 100)))
        for start in range(0, 600, 100)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers(log)) == list(range(600))
    assert verify_trail([log], KEY).intact


def test_neither_log_nor_head_is_written_through_a_link(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / "link").symlink_to(mine)
    with pytest.raises(EngineError, match="symbolic link"):
        Trail(tmp_path / "link", KEY)
    head_file(tmp_path / "log").symlink_to(mine)
    with pytest.raises(EngineError):
        Trail(tmp_path / "log", KEY)
    assert mine.read_text() == "mine"


def test_what_fails_is_not_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    write(log, 1)
    trail, write_some = Trail(log, KEY), os.write

    def fails(file: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return write_some(file, data[:50])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fails)
        with pytest.raises(OSError):
            trail.append([encoded({"n": 2})])
    trail.append([encoded({"n": 2})])
    trail.close()
    assert numbers(log) == [1, 2] and verify_trail([log], KEY).intact


def test_a_seal_that_is_none_and_a_file_that_is_not_there_are_told(tmp_path: Path) -> None:
    write(tmp_path / "log", 1)
    with pytest.raises(InputError, match="not a seal"):
        verify_trail([tmp_path / "log"], KEY, "abc")
    with pytest.raises(InputError, match="cannot be read"):
        verify_trail([tmp_path / "other"], KEY)


def test_a_head_that_cannot_be_written_leaves_no_lines_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    write(log, 1)

    def full(*given: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        for _ in range(3):
            with pytest.raises(OSError):
                write(log, 2)
    write(log, 2)
    assert numbers(log) == [1, 2] and verify_trail([log], KEY).intact


def test_a_head_that_was_made_longer_is_told_once_and_the_chain_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, 1)
    head_file(log).write_bytes(head_file(log).read_bytes() + b"more")
    assert codes(verify_trail([log], KEY)) == {"head"}
    write(log, 2, 3)
    found = verify_trail([log], KEY)
    assert codes(found) == {"head"} and len(found.faults) == 1


def test_a_log_without_lines_was_not_changed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log)
    found = verify_trail([log], KEY)
    assert (found.faults, found.lines, found.notes) == ((), 0, ("there are no lines yet",))


@pytest.mark.slow
def test_killed_writers_lose_no_line_that_was_told(tmp_path: Path) -> None:
    script, rounds = Path(__file__).with_name("killing.py"), 200 * THOROUGH
    command = [sys.executable, script, tmp_path, str(rounds), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"{rounds} killed"), done.stderr
