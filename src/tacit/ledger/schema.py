"""The tables of a ledger, the same in SQLite and PostgreSQL, and
what keeps them from being changed.

tacit_ledger      one row: the format, the ledger's own number (random), and a proof that the key fits
tacit_entries     the chain: each body is the canonical JSON that the hash is made of
tacit_concerns    which entries are about a table, so that a check reads only those; made from the bodies
tacit_head        one row: where the chain ends, and which list of users is the last
tacit_users       who may ask the gateway; tacit_users_head ends their list
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

FORMAT = 1
TABLES = (
    "tacit_ledger",
    "tacit_entries",
    "tacit_concerns",
    "tacit_head",
    "tacit_users",
    "tacit_users_head",
)
APPEND_ONLY = ("tacit_ledger", "tacit_entries", "tacit_concerns")
REFUSAL = "the ledger is append-only"
REFUSE = f" BEGIN RAISE EXCEPTION '{REFUSAL}'; END "  # what a guard runs in PostgreSQL

# {name} is text that is compared byte by byte.
# `kind` and `release` repeat what the body says, for the indexes.
STATEMENTS = (
    "CREATE TABLE tacit_ledger (one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL, "
    "id {name} NOT NULL, "
    "begun {name} NOT NULL, proof {name} NOT NULL)",
    "CREATE TABLE tacit_entries (number {number} PRIMARY KEY, kind {name} NOT NULL, release {name} "
    "NOT NULL, "
    "body {name} NOT NULL, hash {name} NOT NULL)",
    "CREATE INDEX tacit_entries_release ON tacit_entries (release, number)",
    (
        "CREATE INDEX tacit_entries_withdrawn ON tacit_entries (release, number) WHERE kind = "
        "'withdrawal'"
    ),
    "CREATE TABLE tacit_concerns (name {name} NOT NULL, identity {name} NOT NULL, number {number} "
    "NOT NULL, "
    "PRIMARY KEY (name, identity, number)){bare}",
    "CREATE INDEX tacit_concerns_number ON tacit_concerns (number)",
    "CREATE TABLE tacit_head (one INTEGER PRIMARY KEY CHECK (one = 1), number {number} NOT NULL, "
    "hash {name} NOT NULL, "
    "users {number} NOT NULL, mac {name} NOT NULL)",
    "CREATE TABLE tacit_users (name {name} PRIMARY KEY, body {name} NOT NULL, mac {name} NOT NULL)",
    (
        "CREATE TABLE tacit_users_head (one INTEGER PRIMARY KEY CHECK (one = 1), version "
        "{number} NOT NULL, mac {name} NOT NULL)"
    ),
)

SQLITE = {"name": "TEXT", "number": "INTEGER", "bare": " WITHOUT ROWID"}
POSTGRES = {"name": 'TEXT COLLATE "C"', "number": "BIGINT", "bare": ""}


def sqlite_statements() -> list[str]:
    """All statements that begin a ledger in SQLite."""
    guards = [
        (
            f"CREATE TRIGGER {table}_{deed.lower()} BEFORE {deed} ON {table} BEGIN SELECT "
            f"RAISE(ABORT, '{REFUSAL}'); END"
        )
        for table in APPEND_ONLY
        for deed in ("UPDATE", "DELETE")
    ]
    # INSERT OR REPLACE takes a row away without asking the guard against DELETE.
    guards.append(
        "CREATE TRIGGER tacit_entries_insert BEFORE INSERT ON tacit_entries WHEN EXISTS "
        "(SELECT 1 FROM tacit_entries WHERE number = NEW.number) BEGIN SELECT RAISE(ABORT, "
        f"'{REFUSAL}'); END"
    )
    return [statement.format(**SQLITE) for statement in STATEMENTS] + guards


def postgres_statements() -> list[str]:
    """All statements that begin a ledger in PostgreSQL."""
    refuse = f"CREATE FUNCTION tacit_append_only() RETURNS trigger LANGUAGE plpgsql AS $${REFUSE}$$"
    guards = [
        f"CREATE TRIGGER {table}_guard BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION tacit_append_only()"
        for table in APPEND_ONLY
    ]
    return [statement.format(**POSTGRES) for statement in STATEMENTS] + [refuse, *guards]


def columns() -> dict[str, list[str]]:
    """The columns of every table.

    >>> columns()["tacit_users_head"]
    ['one', 'version', 'mac']
    """
    made = {
        match[1]: match[2]
        for one in STATEMENTS
        if (match := re.match(r"CREATE TABLE (\w+) \((.*)\)", one))
    }
    return {
        table: re.findall(r"(?:^|, )([a-z]+) (?:INTEGER|\{)", said) for table, said in made.items()
    }


def differences(
    expected: Iterable[tuple[str, str]], found: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """What is not as it was made: things by what they are called, and how they are written.

    >>> list(
    ...     differences(
    ...         [("trigger a", "x"), ("table b", "y")], [("table b", "z"), ("trigger c", "")]
    ...     )
    ... )
    ['the trigger a is gone.', 'the table b was changed.', 'the trigger c is not of Tacit.']
    """
    made, there = dict(expected), dict(found)
    yield from (f"the {name} is gone." for name in made if name not in there)
    yield from (
        f"the {name} was changed." for name in made if name in there and there[name] != made[name]
    )
    yield from (f"the {name} is not of Tacit." for name in there if name not in made)
