"""Meter: CPU seconds and memory of what a process does from here on. Standard library only."""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from pathlib import Path


class Meter:
    """CPU seconds, and the most memory beyond what is held now, since it was made."""

    def __init__(self) -> None:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on, where the system lets us
        self.memory, self.time = peak(), time.process_time()

    def row(self) -> dict[str, float]:
        """What was used since then."""
        return {"seconds": time.process_time() - self.time, "megabytes": peak() - self.memory}


def peak() -> float:
    """The most memory of this process so far, in megabytes. What the parent held before exec is in ru_maxrss too, so Linux is asked itself."""
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))
