"""The ledger in a PostgreSQL database, for owners whose machines come and go."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tacit.errors import DataError, EngineError, MissingExtra, TacitError
from tacit.ledger.checked_rows import changed
from tacit.ledger.schema import (
    APPEND_ONLY,
    REFUSE,
    TABLES,
    columns,
    differences,
    postgres_statements,
)
from tacit.ledger.store import WAIT_SECONDS, Ask, LedgerStore, Row

LOCK = 0x7AC17_1ED  # the advisory lock of writers: the same number in every Tacit
FRESH_SECONDS = 1.0  # how long a version of the users may be used

# A role may have turned waiting for the disk off; an entry is not recorded before it is there.
SESSION = (
    f"SET synchronous_commit = on; SET lock_timeout = '{WAIT_SECONDS}s'; SET row_security = off"
)


OF_TABLES = "FROM unnest(?::text[]) AS t (name) JOIN pg_class c ON c.oid = to_regclass(t.name)"
COLUMNS = (
    f"SELECT 'table ' || c.relname, string_agg(a.attname, ', ' ORDER BY a.attnum) {OF_TABLES} "
    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped GROUP BY "
    "c.relname"
)
TRIGGERS = (
    "SELECT 'trigger ' || g.tgname, c.relname || ' ' || g.tgenabled::text || ' ' || g.tgtype || ' "
    f"' || p.prosrc {OF_TABLES} "
    "JOIN pg_trigger g ON g.tgrelid = c.oid AND NOT g.tgisinternal JOIN pg_proc p ON p.oid "
    "= g.tgfoid"
)
RULES = (
    f"SELECT 'rule ' || r.rulename, c.relname {OF_TABLES} JOIN pg_rewrite r ON r.ev_class = c.oid"
)
GUARD = (
    2 | 8 | 16 | 32
)  # before DELETE, UPDATE and TRUNCATE, once for a statement, as pg_trigger writes it


class PostgresStore(LedgerStore):
    """Tables named tacit_... in the first schema of the search path;
    writers take turns by an advisory lock.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._open: Any = None
        self._seen: tuple[float, object] | None = None

    def begun(self) -> bool:
        """Are all tables there?"""
        with self.reading() as ask:
            found = _tables(ask)
        if missing := [table for table in TABLES if found and table not in found]:
            raise changed(self.where, f"it has no table {missing[0]}.")
        return bool(found)

    def create(self, fill: Callable[[Ask], None]) -> None:
        """Make the tables in one transaction."""
        with self.writing() as ask:
            if not _tables(ask):
                for statement in postgres_statements():
                    ask(statement)
                fill(ask)

    def unlike(self, ask: Ask) -> list[str]:
        """Columns, triggers with what they run, and rules."""
        made = [(f"table {table}", ", ".join(names)) for table, names in columns().items()]
        made += [(f"trigger {table}_guard", f"{table} O {GUARD} {REFUSE}") for table in APPEND_ONLY]
        found = [
            (name, said)
            for query in (COLUMNS, TRIGGERS, RULES)
            for name, said in ask(query, list(TABLES))
        ]
        return list(differences(made, found))

    def version(self) -> object:
        """The counter of the list of users, asked at most once a second."""
        with self._lock:
            if self._seen is None or time.monotonic() > self._seen[0] + FRESH_SECONDS:
                with self.reading() as ask:
                    self._seen = (
                        time.monotonic(),
                        tuple(ask("SELECT version, mac FROM tacit_users_head")),
                    )
            return self._seen[1]

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._open is not None:
                self._open.close()
            self._open = None

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Ask]:
        connection, psycopg = (
            self._begin("READ COMMITTED READ WRITE" if write else "REPEATABLE READ READ ONLY"),
            _psycopg(),
        )

        def ask(statement: str, *values: object) -> list[Row]:
            try:
                done = connection.execute(_marked(statement), values)
                return done.fetchall() if done.description else []
            except psycopg.Error as error:
                raise self._refused(error) from None

        try:
            if write:
                connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
                self._seen = None
            yield ask
            self._commit(connection, write=write)
        except psycopg.Error as error:
            self._undo(connection)
            raise self._refused(error) from None
        except BaseException:
            self._undo(connection)
            raise

    @staticmethod
    def _commit(connection: Any, *, write: bool) -> None:
        try:
            connection.execute("COMMIT")
        except _psycopg().Error:
            if write and (connection.closed or connection.broken):
                raise EngineError(
                    "the connection to the ledger broke in the last moment: whether it was "
                    "recorded is not known.",
                    hint="Look with tacit ledger list before you try again.",
                ) from None
            raise

    def _undo(self, connection: Any) -> None:
        with suppress(_psycopg().Error):
            connection.execute("ROLLBACK")
        if connection.closed or connection.broken:
            self.close()

    def _begin(self, level: str) -> Any:
        """A connection with an open transaction;
        a new connection where the server closed the old one.
        """
        psycopg = _psycopg()
        for again in (True, False):
            connection = self._open = self._open or _connect(self.where)
            try:
                connection.execute(f"BEGIN ISOLATION LEVEL {level}")
                return connection
            except psycopg.Error as error:
                self.close()
                if not again:
                    raise self._refused(error) from None
        raise AssertionError("unreachable")

    def _refused(self, error: Any) -> TacitError:
        from tacit.engines.postgres.session import refused

        if error.sqlstate == "55P03":
            return EngineError(
                f"another process has been writing to the ledger for more than {WAIT_SECONDS} "
                "seconds; nothing was recorded.",
                hint="Try again when it is done.",
            )
        if error.sqlstate == "42501":
            return EngineError(
                f"the ledger: {error.diag.message_primary}.",
                hint="Connect as the role that owns the ledger's tables.",
            )
        told = refused(error)
        return EngineError(f"the ledger: {told.message}", hint=told.hint)


def _tables(ask: Ask) -> set[str]:
    return {row[0] for row in ask(f"SELECT c.relname {OF_TABLES}", list(TABLES))}


def _marked(statement: str) -> str:
    """Psycopg's mark for a value is %s;
    our statements hold no other question marks and no per cent signs.
    """
    return statement.replace("?", "%s")


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", extra="postgres", purpose="PostgreSQL ledgers") from None
    return psycopg


def _connect(url: str) -> Any:
    psycopg = _psycopg()
    from tacit.engines.postgres.session import connection_settings, not_connected

    try:
        settings = connection_settings(url)
    except DataError as error:
        raise DataError(error.message.replace("source:", "ledger:"), hint=error.hint) from None
    try:
        connection = psycopg.connect(
            **settings, autocommit=True, client_encoding="UTF8", prepare_threshold=None
        )
        connection.execute(SESSION)
    except psycopg.Error as error:
        told = not_connected(error, settings)
        hint = told.hint and told.hint.replace("`source:` of the plan", "`ledger:` of the plan")
        raise EngineError(f"the ledger: {told.message}", hint=hint) from None
    return connection
