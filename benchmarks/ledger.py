"""The ledger: what is held among a million entries, and how many entries a second are recorded.

    python -m benchmarks.ledger held | record

Half of the million entries are about one table: 20 releases that are recorded again and again. The
others are about 1,000 tables with 50 releases each. The lower limit of `held` is to read those
entries from SQLite by their numbers, that of `record` is to insert the same text into one table of
SQLite and wait for the disk. Milliseconds are of the clock, the median of several runs; everything
lies in a temporary folder.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tacit.ledger.entries import EntryDraft, LedgerVerdict, canonical, content
from tacit.ledger.key import Key
from tacit.ledger.ledger import Ledger, append, open_ledger

ENTRIES = 1_000_000
BATCH = 10_000
KEY = Key(bytes(32))
JUDGED = (
    LedgerVerdict("perfect-privacy", "cancer", "holds", "exact"),
    LedgerVerdict("gamma-privacy", "income", "holds", "exact"),
)
RECORDED = 1_000
WRITERS = 32  # threads that record at once, and wait for the disk together
MANY = 10_000


def draft(number: int) -> EntryDraft:
    """The draft of an entry: every second one is about the table that everybody asks for."""
    if number % 2:
        release, table = f"patients-{number // 2 % 20}", "patients"
    else:
        release, table = f"t{number // 2 % 1_000}-{number // 2_000 % 50}", f"t{number // 2 % 1_000}"
    own = KEY.mac("definition", release.encode())
    return EntryDraft(
        "release", release, "view", (table,), ("clinic", "press"), "owner", own, own, own, JUDGED
    )


def fill(ledger: Ledger, entries: int) -> None:
    """Many entries in few transactions."""
    before = ledger.head()
    for start in range(0, entries, BATCH):
        with ledger.store.writing() as ask:
            for number in range(start, min(start + BATCH, entries)):
                entry = ledger._sealed(draft(number), number + 1, before)
                append(ask, ledger.book, entry)
                before = entry.hash


def median(work: Callable[[], Any], times: int) -> float:
    """The median of several runs, in seconds of the clock."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def held(folder: Path) -> dict[str, Any]:
    rows = []
    with open_ledger("out.sqlite", folder, key=KEY, create=True) as ledger:
        fill(ledger, ENTRIES)
    for tables in (["patients"], ["t7"], ["t7", "t8", "patients"], ["nobody"]):

        def cold(tables: list[str] = tables) -> None:
            with open_ledger("out.sqlite", folder, key=KEY) as opened:
                opened.held(tables)

        with open_ledger("out.sqlite", folder, key=KEY) as ledger:
            numbers = [one.entry for one in ledger.held(tables)]
            warm = median(lambda tables=tables: ledger.held(tables), 20)  # type: ignore[misc]
        bare = sqlite3.connect(folder / "out.sqlite")
        marks = ", ".join("?" for _ in numbers)
        peer = median(
            lambda: bare.execute(  # noqa: B023
                f"SELECT body FROM tacit_entries WHERE number IN ({marks})",  # noqa: B023
                numbers,  # noqa: B023
            ).fetchall(),
            20,
        )
        bare.close()
        rows.append(
            {
                "tables": tables,
                "held": len(numbers),
                "seconds": warm,
                "opened": median(cold, 10),
                "peer": peer,
                "goal": 0.1,
            }
        )
    with open_ledger("out.sqlite", folder, key=KEY) as ledger:
        start = time.perf_counter()
        assert ledger.verify().intact
        verified = time.perf_counter() - start
        assert ledger.record(draft(0)).number == ENTRIES + 1
    return {
        "entries": ENTRIES,
        "rows": rows,
        "verify": verified,
        "megabytes": (folder / "out.sqlite").stat().st_size / 1e6,
    }


def record(folder: Path) -> dict[str, Any]:
    with open_ledger("out.sqlite", folder, key=KEY, create=True) as ledger:
        start = time.perf_counter()
        for number in range(RECORDED):
            entry = ledger.record(draft(number))
        ours = time.perf_counter() - start
        start = time.perf_counter()
        with ThreadPoolExecutor(WRITERS) as writers:
            for _ in writers.map(lambda number: ledger.record(draft(number)), range(MANY)):
                pass
        together = time.perf_counter() - start
        assert ledger.verify().intact
    bare = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT)")
    body = canonical(content(entry))
    start = time.perf_counter()
    for number in range(RECORDED):
        bare.execute("INSERT INTO entries VALUES (?, ?)", (number, body))
    peer = time.perf_counter() - start
    bare.close()
    return {
        "rows": [
            {
                "entries": RECORDED,
                "per_second": RECORDED / ours,
                "peer_per_second": RECORDED / peer,
                "writers": WRITERS,
                "together_per_second": MANY / together,
            }
        ]
    }


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tacit-ledger-") as folder:
        print(json.dumps({"held": held, "record": record}[sys.argv[1]](Path(folder))))


if __name__ == "__main__":
    main()
