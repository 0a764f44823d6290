"""Meter: CPU seconds and memory of what a process does, here or in one of its own.
Standard library only.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
REPEATS = 5


class Meter:
    """CPU seconds, and the most memory beyond what is held now, since it was made."""

    def __init__(self) -> None:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text(
                "5"
            )  # the peak is counted from here on, where the system lets us
        self.memory, self.time = peak(), time.process_time()

    def row(self) -> dict[str, float]:
        """What was used since then."""
        return {"seconds": time.process_time() - self.time, "megabytes": peak() - self.memory}


def peak() -> float:
    """The most memory of this process so far, in megabytes.
    What the parent held before exec is in ru_maxrss too, so Linux is asked itself.
    """
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def cpu(
    work: Callable[[], Any], repeats: int = REPEATS, *, before: Callable[[], None] = lambda: None
) -> tuple[float, Any]:
    """The least CPU time of a few runs in this process, and the last answer;
    `before` is not counted.
    """
    times = []
    for _ in range(repeats):
        before()
        begun = time.process_time()
        answer = work()
        times.append(time.process_time() - begun)
    return min(times), answer


def measured(*arguments: str) -> Any:
    """What a benchmark module printed in a process of its own."""
    command = [sys.executable, "-m", *arguments]
    return json.loads(
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    )


def require(holds: bool, message: str) -> None:
    """Stop where an answer is wrong: how fast it came is no measurement then."""
    if not holds:
        raise SystemExit(message)
