"""Disks for tests: one that is soon full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def little_disk(limit: int = 50_000) -> Iterator[None]:
    """Files cannot grow beyond some bytes: for a program it looks like a disk that is full."""
    resource = pytest.importorskip("resource", reason="Windows limits no files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
