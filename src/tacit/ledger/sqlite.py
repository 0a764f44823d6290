"""The ledger in a SQLite file: one file in the plan's folder, safe for several processes."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from tacit.errors import EngineError, InputError, TacitError
from tacit.ledger.checked_rows import changed
from tacit.ledger.schema import TABLES, differences, sqlite_statements
from tacit.ledger.store import WAIT_SECONDS, Ask, LedgerStore, Row

# What SQLite refused, by the beginning of its name for it, and what to do next.
REFUSALS = (
    ("SQLITE_FULL", "the disk is full; nothing was recorded", "Free some space, then try again."),
    (
        "SQLITE_IOERR",
        "the disk does not take what is written; nothing was recorded",
        "Is it full, or at a limit? Look at df and ulimit -f, then try again.",
    ),
    (
        "SQLITE_BUSY",
        (
            f"another process has been writing for more than {WAIT_SECONDS} seconds; nothing "
            "was recorded"
        ),
        "Try again when it is done.",
    ),
    (
        "SQLITE_READONLY",
        "it cannot be written to",
        "Run as the user who owns the file and its folder.",
    ),
    (
        "SQLITE_CANTOPEN",
        "it cannot be opened",
        "Check the path, and that this user may write to its folder.",
    ),
    (
        "SQLITE_NOTADB",
        "it is not a SQLite file",
        "Correct `ledger:` in the plan, or put the ledger back from your copy.",
    ),
    ("SQLITE_CORRUPT", "the file is damaged", "Put the ledger back from your copy."),
)

THINGS = (
    "SELECT type || ' ' || name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_stat_' "
    "ESCAPE '!' ORDER BY 1"
)

# Python fails to decode the words of SQLite's error where a damaged file is quoted in them.
TROUBLE = (sqlite3.Error, UnicodeDecodeError)


class SQLiteStore(LedgerStore):
    """A SQLite file in write-ahead mode; a commit waits until the disk has it."""

    def __init__(self, path: Path, shown: str) -> None:
        super().__init__(shown)
        self.path = path
        self._open: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._own = 0  # SQLite tells us about the changes of others, not about ours

    def begun(self) -> bool:
        """A file that is not there, or is empty as after a crash at
        its beginning, is no ledger yet.
        """
        if not self.path.exists():
            return False
        with self.reading() as ask:
            found = {row[0] for row in ask("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if found and found.isdisjoint(TABLES):
            raise InputError(
                f"{self.where} is a SQLite file, but not a ledger.",
                hint="Write `ledger:` with another file in the plan.",
            )
        if missing := [table for table in TABLES if found and table not in found]:
            raise changed(self.where, f"it has no table {missing[0]}.")
        return bool(found)

    def create(self, fill: Callable[[Ask], None]) -> None:
        """Make the file, for this user only, and all tables in one transaction."""
        try:
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(
                f"the ledger {self.where} cannot be made: {reason}.",
                hint="Make its folder, and writable for this user.",
            ) from None
        self._write_ahead()
        with self.writing() as ask:
            if not ask("SELECT 1 FROM sqlite_master WHERE name = 'tacit_ledger'"):
                for statement in sqlite_statements():
                    ask(statement)
                fill(ask)
        from tacit.engines.output import settle

        settle(self.path.parent)

    def unlike(self, ask: Ask) -> list[str]:
        """Compared with what the same statements make in memory; statistics are SQLite's own."""
        with closing(sqlite3.connect(":memory:")) as new:
            for statement in sqlite_statements():
                new.execute(statement)
            made = new.execute(THINGS).fetchall()
        return list(differences(made, [(name, said) for name, said in ask(THINGS)]))

    def version(self) -> object:
        """Which file it is, what others changed in it, and what we changed."""
        with self._lock:
            try:
                changed = self._connection().execute("PRAGMA data_version").fetchone()[0]
            except TROUBLE as error:
                raise self._refused(error) from None
            return self._file, changed, self._own

    def close(self) -> None:
        """Close the file; the last one to do so tidies it into one."""
        with self._lock:
            if self._open is not None:
                self._open.close()
            self._open = None

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Ask]:
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        except TROUBLE as error:
            raise self._refused(error) from None

        def ask(statement: str, *values: object) -> list[Row]:
            try:
                return connection.execute(statement, values).fetchall()
            except TROUBLE as error:
                raise self._refused(error) from None

        try:
            yield ask
            connection.execute("COMMIT")
            self._own += write
        except TROUBLE as error:
            self._undo(connection)
            raise self._refused(error) from None
        except BaseException:
            self._undo(connection)
            raise

    @staticmethod
    def _undo(connection: sqlite3.Connection) -> None:
        # A full disk may have ended the transaction already.
        with suppress(*TROUBLE):
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _connection(self) -> sqlite3.Connection:
        """The open file; opened again where another one was put in its place."""
        try:
            found = os.stat(self.path)
        except OSError:
            self.close()
            raise EngineError(
                f"the ledger {self.where} is gone.", hint="Put it back from your copy."
            ) from None
        now = found.st_dev, found.st_ino
        if self._open is None or now != self._file:
            self.close()
            self._open, self._file = self._connect(), now
        return self._open

    def _connect(self) -> sqlite3.Connection:
        place = f"file:{quote(str(self.path.absolute()))}?{self._mode()}"
        connection = sqlite3.connect(
            place, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        # Whatever a stranger wrote into a text comes back, and its hash will not fit.
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        # EXTRA is FULL in write-ahead mode, and does as much where a file
        # system does not know that mode.
        try:
            for pragma in (
                "synchronous = EXTRA",
                "fullfsync = ON",
                "checkpoint_fullfsync = ON",
                "trusted_schema = OFF",
            ):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _mode(self) -> str:
        """Who may only read its folder reads the file:
        as it is where nobody has it open, for SQLite could not make its own files there.
        """
        if os.access(self.path.parent, os.W_OK) and os.access(self.path, os.W_OK):
            return "mode=rw"
        return (
            "mode=ro"
            if self.path.with_name(f"{self.path.name}-wal").exists()
            else "mode=ro&immutable=1"
        )

    def _write_ahead(self) -> None:
        """Readers and a writer at once. Two processes that begin together may meet here, where
        SQLite does not wait.
        """
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self._connection().execute("PRAGMA journal_mode = WAL")
                return
            except TROUBLE as error:
                if not _name(error).startswith("SQLITE_BUSY") or time.monotonic() > until:
                    raise self._refused(error) from None
                time.sleep(0.02)

    def _refused(self, error: Exception) -> TacitError:
        name = _name(error)
        for beginning, what, hint in REFUSALS:
            if name.startswith(beginning):
                return EngineError(f"the ledger {self.where}: {what}.", hint=hint)
        return EngineError(
            f"the ledger {self.where}: SQLite could not answer: {str(error).rstrip('.')}."
        )


def _name(error: Exception) -> str:
    """SQLite's name for what went wrong."""
    return (
        "SQLITE_CORRUPT"
        if isinstance(error, UnicodeError)
        else str(getattr(error, "sqlite_errorname", ""))
    )
