"""A session with PostgreSQL: connecting, how it is set up, and what
the server refuses, in our words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tacit.errors import DataError, EngineError, MissingExtra

CONNECT_SECONDS = 10

# Rows hidden by a policy would be left out of every count: better an error than a wrong verdict.
# A cursor is read to its end, so plans are to be fast as a whole and not for the first rows.
# Dates in a file are ISO dates, and durations and bytes are written in one way, whatever the role
# likes to see.
SESSION = (
    "SET row_security = off; SET cursor_tuple_fraction = 1; SET datestyle = 'ISO, YMD'; SET "
    "extra_float_digits = 1; SET intervalstyle = 'postgres'; SET bytea_output = 'hex'"
)

# What strangers' queries run under: times mean the same whoever asks, and a gateway that died
# leaves no query behind.
LOCKED = (
    "SET timezone = 'UTC'; SET statement_timeout = {0}; SET "
    "idle_in_transaction_session_timeout = {0}; SET lock_timeout = '10s'"
)
NOTICE_THE_END = "SET client_connection_check_interval = '5s'"  # not every system can

# What went wrong when connecting, by libpq's words, and what to do next.
CONNECTING = (
    (
        "connection refused|no such file",
        "Start PostgreSQL, or correct host and port in its address (`source:` of the plan).",
    ),
    (
        "could not translate host name|resolve host",
        "Correct the host in its address (`source:` of the plan).",
    ),
    (
        "timeout expired|timed out",
        "The host does not answer: check the network and the firewall, or set PGCONNECT_TIMEOUT.",
    ),
    (
        "database .* does not exist",
        "Correct the database in its address (`source:` of the plan); psql -l lists what there is.",
    ),
    (
        "password|authentication|no pg_hba.conf|role .* does not exist",
        (
            "Tacit uses libpq's settings: PGUSER and PGPASSWORD, ~/.pgpass, or a service file "
            "(PGSERVICE)."
        ),
    ),
)

# What PostgreSQL refused, by SQLSTATE, and what to do next.
REFUSALS = {
    "42501": "Have the owner run: GRANT SELECT ON the table TO the role that you connect as.",
    "57014": "Raise the limit for this role: ALTER ROLE ... SET statement_timeout = '10min'.",
    "55P03": "Another session holds a lock: try again later.",
    "53100": "The server's disk is full: free space or lower work_mem, then try again.",
    "25006": "Connect to the primary server: a standby cannot store rows.",
    "40001": (
        "The standby cancelled the question: raise max_standby_streaming_delay or ask the primary."
    ),
}
SPECIAL = (
    (
        "row-level security",
        (
            "Some rows are hidden from this role: use one with BYPASSRLS, or check a view made "
            "for the release."
        ),
    ),
    (
        "denied for schema",
        "Have the owner run: GRANT USAGE (to read) or CREATE (to store) ON the schema TO the role.",
    ),
    (
        "temporary tables",
        "Rows in the plan need this right: GRANT TEMPORARY ON DATABASE ... TO the role.",
    ),
)


def connect(url: str) -> Any:
    """A read-only connection; who connects is up to libpq
    (environment, ~/.pgpass, service file).
    """
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", extra="postgres", purpose="PostgreSQL sources") from None
    settings = connection_settings(url)
    try:
        connection = psycopg.connect(
            **settings, autocommit=True, client_encoding="UTF8", prepare_threshold=None
        )
        connection.execute(SESSION)
    except psycopg.Error as error:
        raise not_connected(error, settings) from None
    connection.autocommit = False
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return connection


def connection_settings(url: str) -> dict[str, Any]:
    """What the URL says, with our defaults where neither it nor the environment says anything."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        settings: dict[str, Any] = dict(conninfo_to_dict(url))
    except psycopg.Error:
        # libpq's own words may quote a part of the password.
        raise DataError(
            "source: postgresql://... is not a URL that PostgreSQL understands.",
            hint="Write postgresql://user@host:5432/database, special characters as %XX.",
        ) from None
    settings.setdefault("fallback_application_name", "tacit")
    if "PGCONNECT_TIMEOUT" not in os.environ:
        settings.setdefault("connect_timeout", CONNECT_SECONDS)
    return settings


def not_connected(error: Exception, settings: dict[str, Any]) -> EngineError:
    """Why there is no connection and what to do, without the password."""
    text = re.sub(r"\s+", " ", str(error).strip().split("\n")[0])
    text = re.sub(r"^connection (failed|is bad): ", "", text)
    for secret in (settings.get("password"), os.environ.get("PGPASSWORD")):
        text = text.replace(str(secret), "***") if secret else text
    hint = next((hint for words, hint in CONNECTING if re.search(words, text, re.IGNORECASE)), None)
    return EngineError(f"PostgreSQL cannot be reached: {text.rstrip('.')}.", hint=hint)


def refused(error: Any) -> EngineError:
    """What PostgreSQL refused and what to do."""
    said = error.diag.message_primary or str(error).strip().split("\n")[0]
    special = (hint for words, hint in SPECIAL if words in said)
    hint = next(special, REFUSALS.get(error.sqlstate or ""))
    return EngineError(f"PostgreSQL could not answer: {said.rstrip('.')}.", hint=hint)


@contextmanager
def explaining() -> Iterator[None]:
    """PostgreSQL's errors as ours."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise refused(error) from None
