"""Cores: several pieces of work at once, each with matrix products that keep to one core.

Libraries of linear algebra divide a matrix product among all cores by themselves. For products that
take a fraction of a millisecond, as ours do, waiting for each other costs more than it gains, and
many times more on a busy machine.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import TypeVar

import numpy as np

CORES = max(
    1,
    min(
        4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    ),
)
NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
Item = TypeVar("Item")
Result = TypeVar("Result")
_here = threading.local()


@cache
def _switch() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How to ask and to tell numpy's OpenBLAS on how many cores it may work;
    None where it has another library.
    """
    try:
        library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
        for name in NAMES:
            if hasattr(library, name.format("set")):
                return getattr(library, name.format("get")), getattr(library, name.format("set"))
    except (AttributeError, OSError):
        pass
    return None


@contextmanager
def one_core_each() -> Iterator[None]:
    """Matrix products keep to one core in here, where numpy's library can be told."""
    switch = _switch()
    before = switch[0]() if switch else 1
    if switch is None or before == 1:
        yield
        return
    switch[1](1)
    try:
        yield
    finally:
        switch[1](before)


def each(
    work: Callable[[Item], Result], items: Iterable[Item], *, is_long: bool = True
) -> Iterator[Result]:
    """Do some work for each item, on all cores, and give the results in order;
    no more are begun than will soon be asked for.

    Inside such work, and where it is not long, it is done here and now.

    >>> list(each(lambda x: x * x, [1, 2, 3]))
    [1, 4, 9]
    """
    if not is_long or CORES == 1 or getattr(_here, "is_busy", False):
        yield from map(work, items)
        return

    def busy(item: Item) -> Result:
        _here.is_busy = True
        return work(item)

    with one_core_each(), ThreadPoolExecutor(CORES) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                # With its own copy of the context, where the clock is that work looks at.
                waiting.append(pool.submit(copy_context().run, busy, item))
                if len(waiting) > 2 * CORES:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()
