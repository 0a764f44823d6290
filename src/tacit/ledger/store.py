"""Where the entries lie: a database that answers in transactions, one writer at a time."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
Row = tuple[Any, ...]
Ask = Callable[..., list[Row]]  # a statement with ? for each value, and the values

WAIT_SECONDS = 30  # for another writer to finish


class LedgerStore(ABC):
    """A database with the tables of a ledger. Safe for threads: one transaction at a time."""

    where: str  # as the plan writes it, without a password

    def __init__(self, where: str) -> None:
        self.where = where
        self._lock = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[Ask]:
        """One snapshot: what is asked inside fits together."""
        with self._lock, self._transaction(write=False) as ask:
            yield ask

    @contextmanager
    def writing(self) -> Iterator[Ask]:
        """The only writer; what was written is on the disk when the block ends, or nothing of it
        if it fails.
        """
        with self._lock, self._transaction(write=True) as ask:
            yield ask

    @abstractmethod
    def _transaction(self, *, write: bool) -> AbstractContextManager[Ask]:
        """Begin, and commit or roll back."""

    @abstractmethod
    def begun(self) -> bool:
        """Are there the tables of a ledger? An error where other things lie in their place, or
        some are missing.
        """

    @abstractmethod
    def create(self, fill: Callable[[Ask], None]) -> None:
        """Make the tables and fill them, unless someone else just did."""

    @abstractmethod
    def version(self) -> object:
        """Something that changes when the users changed; cheap enough for every request."""

    @abstractmethod
    def unlike(self, ask: Ask) -> list[str]:
        """What of the tables and their guards is not as a new ledger has it."""

    @abstractmethod
    def close(self) -> None:
        """Let the database go."""


def chunks(values: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    """A long list in pieces that fit into one statement.

    >>> list(chunks([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    for start in range(0, len(values), size):
        yield values[start : start + size]
