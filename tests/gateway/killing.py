"""A process that kills writers of an audit log, and looks what is left.

python killing.py FOLDER ROUNDS SEED
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

from tacit.gateway.trail import Trail, encoded
from tacit.gateway.trail_check import verify_trail
from tacit.ledger.key import Key

KEY = Key(b"k" * 32)
MOST = 200_000  # bytes of one file


def write(log: Path, first: int, told: int) -> None:
    """Lines, a few at a time; each number is told once its line is there."""
    trail, draw = Trail(log, KEY, most=MOST), random.Random(first)
    while True:
        numbers = range(first, first + draw.randint(1, 30))
        trail.append([encoded({"n": n, "x": "y" * draw.randint(0, 300)}) for n in numbers])
        first = numbers[-1] + 1
        os.write(told, f"{numbers[-1]}\n".encode())


def killed(log: Path, first: int, draw: random.Random) -> int:
    """Start a writer and kill it somewhere; the last number that it told."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        write(log, first, writing)
    os.close(writing)
    wanted, came = draw.randint(1, 6), b""
    while came.count(b"\n") < wanted:
        select.select([reading], [], [])
        came += os.read(reading, 1 << 16)
    time.sleep(draw.random() / 500)  # somewhere in the next line
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 1 << 16):
        came += more
    os.close(reading)
    return int(came.split()[-1])


def main(folder: Path, rounds: int, seed: int) -> None:
    draw, log, told = random.Random(seed), folder / "log.jsonl", -1
    for _ in range(rounds):
        told = killed(log, told + 1, draw)
    files = [*sorted(folder.glob("log-*.jsonl")), log]
    found = verify_trail(files, KEY)
    assert found.intact, found.faults
    lines = [line for path in files for line in path.read_bytes().splitlines()]
    there = {json.loads(line).get("n") for line in lines if line.endswith(b"}")}
    missing = set(range(told + 1)) - there
    assert not missing, sorted(missing)[:10]
    print(f"{rounds} killed, {told + 1} lines, {len(files)} files, {len(found.notes)} notes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
