"""Run every benchmark in a process of its own and print one table."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parent.parent


def measured(*arguments: str) -> Any:
    """What a benchmark module printed."""
    command = [sys.executable, "-m", *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def cpu_seconds(*arguments: str) -> float:
    """The CPU time of a command, the least of five."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def startup(table: Table) -> None:
    bare = cpu_seconds("-c", "pass")
    for name, arguments, goal in (
        ("tacit --help", ("-m", "tacit", "--help"), "0.3 s CPU"),
        ("import tacit", ("-c", "import tacit"), "0.1 s CPU more than Python itself"),
    ):
        used = cpu_seconds(*arguments)
        table.add_row(name, f"{used:.2f} s CPU", f"python -c pass: {bare:.2f} s", f"{used / bare:.1f}", goal)


def lands(table: Table) -> None:
    for release in ("raw", "coarse"):
        times = measured("benchmarks.lands_check", release, "time")
        memory = measured("benchmarks.lands_check", release, "memory")["megabytes"]
        allowed = 1.5 * times["bare"] + 1
        table.add_row(
            f"check of 4.6 million rows, {release}",
            f"{times['tacit']:.2f} s, {memory:,.0f} MB peak",
            f"bare GROUP BY: {times['bare']:.2f} s",
            f"{times['tacit'] / times['bare']:.2f}",
            f"1.5 times it + 1 s = {allowed:.2f} s",
        )


def pycanon(table: Table) -> list[str]:
    found = measured("benchmarks.adult_pycanon")
    if "skipped" in found:
        return [found["skipped"]]
    peers = sum(row["peer"] for row in found["rows"])
    for row in found["rows"]:
        table.add_row(f"{row['name']} of Adult", f"{row['ours']}", f"pycanon: {row['peer']:.2f} s  {row['theirs']}", "", "")
    table.add_row(
        "all of these in one call", f"{found['tacit']:.3f} s", f"pycanon: {peers:.2f} s", f"1/{peers / found['tacit']:.0f}", "1/20"
    )
    example = found["recursive"]
    return [
        "Counts 10, 1, 1, 1 with l = 4 need c > 10 (r1 < c r4): "
        f"Tacit at c = 10: {example['tacit_at_10']}, at 10.01: {example['tacit_above_10']}; pycanon's c, l: {example['pycanon_c']}."
    ]


def definitions(table: Table) -> None:
    """Each definition on the raw release of Adult, beside counting the combinations once."""
    found = measured("benchmarks.adult_definitions")
    for row in found.get("rows", ()):
        table.add_row(
            f"{row['name']} of raw Adult", f"{row['seconds']:.3f} s", f"counting once: {found['scan']:.2f} s",
            f"{row['seconds'] / found['scan']:.2f}", "2",
        )


def main() -> None:
    os.environ.pop("PYTHONPATH", None)
    console = Console(width=150)
    table = Table("what", "Tacit", "peer or lower limit", "ratio", "goal", title="Tacit's benchmarks")
    startup(table)
    lands(table)
    notes = pycanon(table)
    definitions(table)
    console.print(table)
    for note in notes:
        console.print(note)


if __name__ == "__main__":
    main()
