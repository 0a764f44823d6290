"""Memory: how much of it this process may have, by the machine and by what bounds its group."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")  # of cgroups, new and old


def memory_there(groups: Path = GROUPS, own: Path = OWN) -> int | None:
    """The bytes that this process may have at most, together with others of its group; None where
    nothing says so. systemd's MemoryMax and a container's limit bound a group.
    """
    found = list(group_limits(groups, own))
    with suppress(ValueError, OSError, AttributeError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=None)


def group_limits(groups: Path, own: Path) -> Iterator[int]:
    """The limits of the groups that the process is in, and of those around them."""
    lines = []
    with suppress(OSError):
        lines = own.read_text().splitlines()
    for line in lines:
        _, kinds, path = line.split(":", 2)
        top = groups / "memory" if "memory" in kinds.split(",") else groups
        place = top / path.lstrip("/")
        for group in (place, *place.parents):
            for name in LIMITS:
                with suppress(OSError, ValueError):
                    yield int((group / name).read_text())
            if group == top:
                break
