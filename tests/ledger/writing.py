"""A process that records, to be killed, starved or run beside others.

python writing.py FOLDER WHERE loop [COUNT]     prints each number after record() returned
python writing.py FOLDER WHERE full LIMIT       the same, when no file may grow beyond LIMIT bytes
python writing.py FOLDER WHERE crash ROUNDS SEED    kills a writer ROUNDS times and looks what is left
"""  # noqa: E501

from __future__ import annotations

import os
import random
import resource
import select
import signal
import sys
import time
from pathlib import Path

from tacit.errors import EngineError, InputError
from tacit.ledger.entries import EntryDraft, LedgerVerdict
from tacit.ledger.key import Key
from tacit.ledger.ledger import Ledger, open_ledger

KEY = Key(bytes(range(32)))
JUDGED = (
    LedgerVerdict("perfect-privacy", "cancer", "holds", "exact"),
    LedgerVerdict("k-anonymity", None, "holds", "exact"),
)
EACH = 40  # kills before a new ledger is begun


def record(ledger: Ledger, number: int) -> None:
    answer = KEY.mac("answer", str(number % 7).encode())
    entry = ledger.record(
        EntryDraft(
            "release",
            f"r{number % 3}",
            "view",
            ("patients", "wards"),
            ("clinic",),
            "owner",
            answer,
            answer,
            answer,
            JUDGED,
            note="x" * (number % 900),
        )
    )
    os.write(1, f"{entry.number}\n".encode())


def loop(folder: Path, where: str, count: int) -> None:
    with open_ledger(where, folder, key=KEY, create=True) as ledger:
        for number in range(count):
            record(ledger, number)


def full(folder: Path, where: str, limit: int) -> None:
    with open_ledger(where, folder, key=KEY, create=True) as ledger:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        failed = 0
        for number in range(100_000):
            try:
                record(ledger, number)
            except EngineError as error:
                failed += 1
                if failed == 5:
                    print(error, flush=True)
                    break
        print("intact" if ledger.verify().intact else "changed", flush=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        record(ledger, 0)


def crash(folder: Path, where: str, rounds: int, seed: int) -> None:
    """Fork a writer, kill it at some moment, and look: round after round on the same ledger."""
    rng = random.Random(seed)
    told: set[int] = set()
    kept = in_vain = 0
    for number in range(rounds):
        if number % EACH == 0:
            told, name = set(), f"{number}-{where}"
        # Some are killed while they open or begin the ledger, most while they write.
        lines = killed(
            folder,
            name,
            rng.uniform(0, 0.004) if rng.random() < 0.3 else rng.uniform(0, 0.03),
            rng.random() < 0.5,
        )
        told |= set(lines)
        in_vain += not lines
        try:
            with open_ledger(name, folder, key=KEY) as ledger:
                entries = list(ledger.entries())
                found = ledger.verify()
        except InputError as error:
            assert not told and "there is no ledger" in str(error), error
            continue
        assert found.intact, found
        assert [one.number for one in entries] == list(range(1, len(entries) + 1))
        assert told <= {one.number for one in entries}, (told, len(entries))
        assert all(one.verdicts == JUDGED for one in entries)
        assert (
            len(entries) - max(told, default=0) <= number % EACH + 1
        )  # each killed writer may have left one that it did not tell
        kept = len(entries)
    print(
        f"{rounds} killed, {in_vain} of them before they told anything, {kept} entries in the "
        "last ledger"
    )


def killed(folder: Path, where: str, seconds: float, after_first: bool) -> list[int]:
    """What a writer told before it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(writer, 1)
        loop(folder, where, 1_000_000)
        os._exit(0)
    os.close(writer)
    if after_first:
        select.select([reader], [], [], 10)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as pipe:
        return [int(line) for line in pipe.read().split(b"\n")[:-1]]


def main(folder: str, where: str, what: str, *numbers: str) -> None:
    {"loop": loop, "full": full, "crash": crash}[what](Path(folder), where, *map(int, numbers))


if __name__ == "__main__":
    main(*sys.argv[1:])
