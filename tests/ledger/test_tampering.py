"""Whatever someone without the key does to the tables, `verify` finds it."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import oracles.ledger as by_hand
from tacit.errors import DataError, EngineError, TacitError
from tacit.ledger import held_releases as holding
from tacit.ledger.entries import EntryDraft
from tacit.ledger.key import Key
from tacit.ledger.ledger import Ledger, open_ledger
from tacit.ledger.store import Ask
from tacit.ledger.users import Users
from tacit.ledger.verify import verify

Drafts = Callable[..., EntryDraft]
COLUMNS = {
    "tacit_entries": ("number", "kind", "release", "body", "hash"),
    "tacit_concerns": ("name", "identity", "number"),
    "tacit_head": ("number", "hash", "users", "mac"),
    "tacit_users": ("name", "body", "mac"),
    "tacit_users_head": ("version", "mac"),
}
CHAINED = ("tacit_entries", "tacit_concerns", "tacit_head")


@pytest.fixture
def filled(ledger: Ledger, draft: Drafts, key: Key) -> Ledger:
    for number in range(3):
        ledger.record(draft(f"r{number}", tables=("patients", "wards"), note=f"no. {number}"))
    ledger.record(draft("r1", kind="withdrawal", answer=None))
    ledger.record(
        draft("ghosts", shape="synthetic", to=(), spent={"epsilon": "23/5", "delta": "1/100000"})
    )
    ledger.record(draft("ghosts", shape="synthetic", to=(), spent={"epsilon": "1", "delta": "0"}))
    users = Users(ledger)
    for name in ("ann", "bob"):
        users.add(name, ["nurses"])
    users.revoke("bob")
    return ledger


class UndoneError(Exception):
    pass


def unguard(ask: Ask, ledger: Ledger) -> None:
    """What somebody does who may do all."""
    if "postgresql" in ledger.where:
        for table in ("tacit_ledger", "tacit_entries", "tacit_concerns"):
            ask(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        return
    for (name,) in ask("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        ask(f"DROP TRIGGER {name}")


@contextmanager
def opened_up(ledger: Ledger) -> Iterator[Ask]:
    """Without the guards, and undone afterwards."""
    with pytest.raises(UndoneError), ledger.store.writing() as ask:
        unguard(ask, ledger)
        yield ask
        raise UndoneError


def codes(ask: Ask, ledger: Ledger, expect: str | None = None) -> list[str]:
    return [fault.code for fault in verify(ask, ledger.book, expect).faults]


def where_is(table: str, row: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    return " AND ".join(f"{name} = ?" for name in COLUMNS[table]), row


@pytest.mark.parametrize("table", COLUMNS)
def test_every_column_of_every_row(filled: Ledger, table: str) -> None:
    names = ", ".join(COLUMNS[table])
    with filled.store.reading() as ask:
        rows = ask(f"SELECT {names} FROM {table}")
    assert len(rows) >= 1
    for row in rows:
        for place, column in enumerate(COLUMNS[table]):
            value = row[place]
            for other in (
                (value + 1000, -value - 1)
                if isinstance(value, int)
                else (value + " ", value[:-1] + ("1" if value[-1:] == "0" else "0"), "")
            ):
                with opened_up(filled) as ask:
                    where, values = where_is(table, row)
                    ask(f"UPDATE {table} SET {column} = ? WHERE {where}", other, *values)
                    assert codes(ask, filled), (table, column, row, other)
        with opened_up(filled) as ask:
            where, values = where_is(table, row)
            ask(f"DELETE FROM {table} WHERE {where}", *values)
            assert codes(ask, filled), (table, "deleted", row)
    assert filled.verify().intact


def test_every_field_of_every_entry(filled: Ledger) -> None:
    with filled.store.reading() as ask:
        rows = ask("SELECT number, body FROM tacit_entries")
    seen = set()
    for number, body in rows:
        said = json.loads(body)
        for name, value in said.items():
            other = (
                [*value, "x"]
                if isinstance(value, list)
                else {**value, "epsilon": "0"}
                if isinstance(value, dict)
                else f"{value}0"
            )
            changed = json.dumps({**said, name: other}, sort_keys=True, separators=(",", ":"))
            with opened_up(filled) as ask:
                ask("UPDATE tacit_entries SET body = ? WHERE number = ?", changed, number)
                assert "changed" in codes(ask, filled)
                # also where the forger seals it with a key of his own
                ask(
                    "UPDATE tacit_entries SET hash = ? WHERE number = ?",
                    Key(bytes(32)).mac("entry", changed.encode()),
                    number,
                )
                assert "changed" in codes(ask, filled)
            seen.add(name)
    assert len(seen) == 21


def test_what_was_done_is_told(filled: Ledger) -> None:
    def found(*statements: str) -> list[tuple[str, int | None, str]]:
        with opened_up(filled) as ask:
            for statement in statements:
                ask(statement)
            faults = verify(ask, filled.book).faults
        return [(one.code, one.entry, one.message) for one in faults]

    assert found(
        "DELETE FROM tacit_entries WHERE number IN (2, 3)",
        "DELETE FROM tacit_concerns WHERE number IN (2, 3)",
    ) == [("missing", 2, "the entries 2 to 3 are missing.")]
    assert found(
        "DELETE FROM tacit_entries WHERE number = 1", "DELETE FROM tacit_concerns WHERE number = 1"
    ) == [("missing", 1, "entry 1 is missing.")]
    assert found(
        "DELETE FROM tacit_entries WHERE number > 4", "DELETE FROM tacit_concerns WHERE number > 4"
    ) == [("cut", 5, "it ends with entry 4, but entry 6 was recorded.")]
    assert found("DELETE FROM tacit_entries", "DELETE FROM tacit_concerns")[0][:2] == ("cut", 1)
    assert found("UPDATE tacit_entries SET body = body || ' ' WHERE number = 3") == [
        ("changed", 3, "entry 3 is not what was recorded.")
    ]
    assert [
        one[:2]
        for one in found(
            "INSERT INTO tacit_entries SELECT 7, kind, release, body, hash FROM tacit_entries "
            "WHERE number = 6"
        )
    ] == [
        ("misplaced", 7),
        ("index", 7),
        ("foreign", 7),
    ]
    assert ("foreign", 0) in [
        one[:2]
        for one in found(
            "INSERT INTO tacit_entries SELECT 0, kind, release, body, hash FROM tacit_entries "
            "WHERE number = 6"
        )
    ]
    swapped = found(
        "UPDATE tacit_entries SET number = -1 WHERE number = 2",
        "UPDATE tacit_entries SET number = 2 WHERE number = 3",
        "UPDATE tacit_entries SET number = 3 WHERE number = -1",
    )
    assert {("misplaced", 2), ("misplaced", 3)} <= {one[:2] for one in swapped}
    assert found("DELETE FROM tacit_concerns WHERE number = 2 AND name = 'wards'") == [
        ("index", 2, "entry 2 is listed for what it does not say.")
    ]
    assert found("INSERT INTO tacit_concerns VALUES ('other', 'x', 2)")[0][:2] == ("index", 2)
    assert found("INSERT INTO tacit_concerns VALUES ('other', 'x', 99)")[0][:2] == ("index", 99)
    assert found("INSERT INTO tacit_concerns VALUES ('other', 'x', -5)")[0][:2] == ("index", -5)
    assert found("UPDATE tacit_head SET number = 5") == [
        ("head", None, "the head was not made with the owner's key.")
    ]
    assert found("DELETE FROM tacit_users WHERE name = 'bob'") == [
        ("users", None, "rows of the list of users were taken out or replaced by older ones.")
    ]
    assert found(
        "UPDATE tacit_users SET body = replace(body, 'nurses', 'chiefs') WHERE name = 'ann'"
    ) == [("users", None, "the row of the user 'ann' was not written with the owner's key.")]


def test_an_older_copy_is_found_by_the_hash_that_was_noted(filled: Ledger, draft: Drafts) -> None:
    with filled.store.reading() as ask:
        head = ask("SELECT number, hash, users, mac FROM tacit_head")[0]
    for _ in range(2):
        noted = filled.record(draft()).hash
    with opened_up(filled) as ask:
        ask("DELETE FROM tacit_entries WHERE number > 6")
        ask("DELETE FROM tacit_concerns WHERE number > 6")
        assert codes(ask, filled) == ["cut"]
        ask("UPDATE tacit_head SET number = ?, hash = ?, users = ?, mac = ?", *head)
        assert (
            codes(ask, filled) == []
        )  # as if the two had never been recorded: no key is needed for that
        assert codes(ask, filled, noted) == ["expected"]


def test_many_faults_are_told_up_to_a_limit(filled: Ledger, draft: Drafts) -> None:
    for _ in range(150):
        filled.record(draft())
    with opened_up(filled) as ask:
        ask("UPDATE tacit_entries SET body = '{}'")
        assert codes(ask, filled) == ["changed"] * 100


def test_reading_refuses_what_was_changed(filled: Ledger, draft: Drafts) -> None:
    with filled.store.writing() as ask:
        unguard(ask, filled)
        before = ask("SELECT body FROM tacit_entries WHERE number = 2")[0][0]
        ask(
            "UPDATE tacit_entries SET body = ? WHERE number = 2", before.replace("clinic", "nobody")
        )
    for asked in (
        lambda: filled.entry(2),
        lambda: list(filled.entries()),
        lambda: filled.held(["patients"]),
        lambda: filled.held(["none"]),
    ):
        with pytest.raises(DataError, match="entry 2 is not what was recorded") as caught:
            asked()
        assert "tacit ledger verify" in str(caught.value.hint)
    assert filled.entry(3).number == 3 and not filled.verify().intact


def test_a_large_ledger_checks_each_entry_that_it_tells(
    filled: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.ledger.ledger.SMALL", 0)
    for statement in (
        "UPDATE tacit_entries SET body = replace(body, 'clinic', 'nobody') WHERE number = 2",
        # the withdrawal
        "UPDATE tacit_entries SET body = replace(body, 'clinic', 'nobody') WHERE number = 4",
        "UPDATE tacit_entries SET number = 99 WHERE number = 2",
        "DELETE FROM tacit_entries WHERE number = 2",
        "UPDATE tacit_concerns SET identity = 'x' WHERE number = 2",
        "UPDATE tacit_concerns SET number = 1 WHERE number = 2",
        "UPDATE tacit_concerns SET name = 'patients', identity = 'y' WHERE number = 5",
        (
            "INSERT INTO tacit_concerns SELECT 'patients', identity, 6 FROM tacit_concerns "
            "WHERE number = 1 AND name = 'wards'"
        ),
        "UPDATE tacit_head SET number = 5",
        "DELETE FROM tacit_entries WHERE number = 6",
    ):
        with opened_up(filled) as ask:
            ask(statement)
            try:
                filled.book.end(ask)
                told = holding.holdings(ask, filled.book, ["patients"])
            except DataError as error:
                assert "was changed" in str(error)
            else:
                pytest.fail(f"{statement}: {told}")
    assert len(filled.held(["patients"])) == 5


def test_nothing_is_added_to_a_ledger_that_was_cut(filled: Ledger, draft: Drafts) -> None:
    with filled.store.writing() as ask:
        unguard(ask, filled)
        ask("DELETE FROM tacit_entries WHERE number = 6")
    with pytest.raises(DataError, match="does not end with entry 6"):
        filled.record(draft())
    with pytest.raises(DataError, match="does not end with entry 6"):
        filled.head()


def test_a_stranger_cannot_take_the_next_place(filled: Ledger, draft: Drafts) -> None:
    with filled.store.writing() as ask:
        ask("INSERT INTO tacit_entries VALUES (7, 'release', 'x', '{}', 'x')")
    with pytest.raises(DataError, match="does not end with entry 6"):
        filled.record(draft())
    assert [one.code for one in filled.verify().faults] == ["changed", "foreign"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tacit_entries SET hash = 'x' WHERE number = 1",
        "DELETE FROM tacit_entries WHERE number = 6",
        "UPDATE tacit_concerns SET name = 'x'",
        "DELETE FROM tacit_concerns",
        "UPDATE tacit_ledger SET format = 2",
        "DELETE FROM tacit_ledger",
        "INSERT OR REPLACE INTO tacit_entries VALUES (1, 'release', 'x', '{}', 'x')",
        "TRUNCATE tacit_entries CASCADE",
    ],
)
def test_rows_are_guarded(filled: Ledger, statement: str) -> None:
    mine = "postgresql" in filled.where
    if ("OR REPLACE" in statement and mine) or ("TRUNCATE" in statement and not mine):
        pytest.skip("the other database's word")
    with pytest.raises(EngineError, match="append-only"), filled.store.writing() as ask:
        ask(statement)
    assert filled.verify().intact


def test_thousands_of_random_changes(
    tmp_path: Path, draft: Drafts, key: Key, secret: bytes
) -> None:
    """The judge by hand reads the same tables and says whether the chain is whole."""
    rng = random.Random(9)
    ledger = open_ledger("out.sqlite", tmp_path, key=key, create=True)
    for number in range(5):
        ledger.record(
            draft(
                f"r{number % 2}", kind="withdrawal" if number == 3 else "release", note=str(number)
            )
        )
    connection: sqlite3.Connection = ledger.store._connection()  # type: ignore[attr-defined]
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {name}")

    def ask(statement: str, *values: Any) -> list[Any]:
        return connection.execute(statement, values).fetchall()

    def listed() -> list[Any]:
        return sorted(ask("SELECT * FROM tacit_concerns"), key=repr)

    whole, unchanged = listed(), 0
    for _ in range(3_000):
        connection.execute("BEGIN")
        for _ in range(rng.randint(1, 2)):
            change(rng, ask)
        rows = ask("SELECT number, kind, release, body, hash FROM tacit_entries ORDER BY number")
        heads = ask("SELECT number, hash, users, mac FROM tacit_head")
        fine = (
            len(heads) == 1
            and by_hand.chain(rows, heads[0], ledger.id, secret)
            and listed() == whole
        )
        assert verify(ask, ledger.book).intact is fine
        unchanged += fine
        connection.execute("ROLLBACK")
    assert 0 < unchanged < 1_000
    ledger.close()


def change(rng: random.Random, ask: Ask) -> None:
    """Something that SQLite lets a stranger do to one or two rows."""
    table = rng.choice(CHAINED)
    column = rng.choice(COLUMNS[table])
    rows = ask(f"SELECT {', '.join(COLUMNS[table])} FROM {table}")
    if not rows:
        return
    row, other = rng.choice(rows), rng.choice(rows)
    where, values = where_is(table, row)
    value = other[COLUMNS[table].index(column)]
    kind = rng.randrange(4)
    try:
        if kind == 0:
            ask(f"DELETE FROM {table} WHERE {where}", *values)
        elif kind == 1:
            ask(f"UPDATE {table} SET {column} = ? WHERE {where}", value, *values)
        elif kind == 2:
            letters = list(str(value))
            letters[rng.randrange(len(letters))] = rng.choice('0123456789abcdef"')
            ask(f"UPDATE {table} SET {column} = ? WHERE {where}", "".join(letters), *values)
        else:
            ask(
                f"UPDATE {table} SET {column} = ? WHERE {where}",
                rng.choice([b"\xff", "\u00fc", 7, -1, "7", b"{}"]),
                *values,
            )
    except sqlite3.Error:
        pass  # SQLite did not take it


def test_a_damaged_file_is_an_error_and_no_crash(tmp_path: Path, draft: Drafts, key: Key) -> None:
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        for _ in range(30):
            ledger.record(draft())
        noted = ledger.head()
    path, rng = tmp_path / "out.sqlite", random.Random(9)
    whole = path.read_bytes()
    found = 0
    for _ in range(150):
        raw = bytearray(whole)
        for _ in range(rng.choice([1, 10, 400])):
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path.write_bytes(raw)
        try:
            with open_ledger("out.sqlite", tmp_path, key=key) as ledger:
                intact = ledger.verify(noted).intact
                entries = list(ledger.entries()) if intact else []
            assert not intact or len(entries) == 30
            found += not intact
        except TacitError:
            found += 1
        for beside in ("out.sqlite-wal", "out.sqlite-shm"):
            (tmp_path / beside).unlink(missing_ok=True)
    assert found > 50


def listed(ledger: Ledger) -> tuple[list[Any], list[Any], list[Any]]:
    with ledger.store.reading() as ask:
        return (
            ask("SELECT name, body, mac FROM tacit_users"),
            ask("SELECT version, mac FROM tacit_users_head"),
            ask("SELECT number, hash, users, mac FROM tacit_head"),
        )


def put_back(ask: Ask, kept: tuple[list[Any], list[Any], list[Any]], *, head: bool) -> None:
    users, ending, heads = kept
    ask("DELETE FROM tacit_users")
    for row in users:
        ask("INSERT INTO tacit_users (name, body, mac) VALUES (?, ?, ?)", *row)
    ask("UPDATE tacit_users_head SET version = ?, mac = ?", *ending[0])
    if head:
        ask("UPDATE tacit_head SET number = ?, hash = ?, users = ?, mac = ?", *heads[0])


def test_an_older_list_of_users_does_not_undo_a_revocation(ledger: Ledger, draft: Drafts) -> None:
    ledger.record(draft())
    users = Users(ledger)
    token = users.add("nora", ["nurses"])
    before = listed(ledger)
    users.revoke("nora")
    assert users.find(token) is None
    noted = ledger.verify()
    assert noted.intact and noted.users == 2
    after = listed(ledger)
    with ledger.store.writing() as ask:
        put_back(ask, before, head=False)
    found = ledger.verify(noted.head)
    assert [(one.code, one.message) for one in found.faults] == [
        ("users", "the list of users is version 1, and the last one was version 2.")
    ]
    for ask_for in (users.all, lambda: Users(ledger).find(token), lambda: users.revoke("nora")):
        with pytest.raises(DataError, match="the list of users is version 1"):
            ask_for()
    # With the head of that time it is an older copy of all that is there:
    # whoever saw the newer list knows, and whoever noted its version.
    with ledger.store.writing() as ask:
        put_back(ask, before, head=True)
    assert ledger.verify(noted.head).intact
    assert [one.code for one in ledger.verify(noted.head, users=noted.users).faults] == ["users"]
    if "postgresql" not in ledger.where:  # there, the version that was asked a moment ago is used
        with pytest.raises(DataError, match="an older list of users was put in its place"):
            users.find(token)
    # Any entry since makes the older head unfit.
    with ledger.store.writing() as ask:
        put_back(ask, after, head=True)
    ledger.record(draft())
    with ledger.store.writing() as ask:
        put_back(ask, before, head=True)
    assert not ledger.verify().intact
    with pytest.raises(DataError, match="was changed"):
        ledger.record(draft())
    # A head that nobody sealed does not help either.
    with ledger.store.writing() as ask:
        ask("UPDATE tacit_head SET mac = ?", "0" * 64)
    with pytest.raises(DataError, match="head was not made"):
        Users(ledger).find(token)


FOREIGN = {
    "sqlite": [
        ("DROP TRIGGER tacit_entries_delete", "the trigger tacit_entries_delete is gone."),
        (
            "CREATE TRIGGER eats AFTER INSERT ON tacit_entries BEGIN DELETE FROM tacit_users; END",
            "the trigger eats is not of Tacit.",
        ),
        ("ALTER TABLE tacit_entries ADD COLUMN more TEXT", "the table tacit_entries was changed."),
        ("CREATE TABLE notes (a)", "the table notes is not of Tacit."),
        ("DROP INDEX tacit_concerns_number", "the index tacit_concerns_number is gone."),
    ],
    "postgres": [
        (
            "DROP TRIGGER tacit_entries_guard ON tacit_entries",
            "the trigger tacit_entries_guard is gone.",
        ),
        (
            "ALTER TABLE tacit_entries DISABLE TRIGGER ALL",
            "the trigger tacit_entries_guard was changed.",
        ),
        (
            "CREATE RULE eats AS ON INSERT TO tacit_entries DO INSTEAD NOTHING",
            "the rule eats is not of Tacit.",
        ),
        ("ALTER TABLE tacit_entries ADD COLUMN more TEXT", "the table tacit_entries was changed."),
        (
            (
                "CREATE OR REPLACE FUNCTION tacit_append_only() RETURNS trigger LANGUAGE "
                "plpgsql AS $$ BEGIN RETURN NULL; END $$"
            ),
            "the trigger tacit_ledger_guard was changed.",
        ),
    ],
}


def test_what_was_prepared_for_later_is_seen(filled: Ledger) -> None:
    for statement, message in FOREIGN["postgres" if "postgresql" in filled.where else "sqlite"]:
        with pytest.raises(UndoneError), filled.store.writing() as ask:
            ask(statement)
            assert message in filled.store.unlike(ask)
            raise UndoneError
    assert filled.verify().intact
    with filled.store.writing() as ask:
        ask("CREATE TABLE tacit_more (a INTEGER)") if "postgresql" in filled.where else ask(
            "CREATE VIEW more AS SELECT 1 AS a"
        )
    assert filled.verify().intact == (
        "postgresql" in filled.where
    )  # other tables of a database are not of the ledger


def test_the_tables_are_never_half_of_them(tmp_path: Path, key: Key, draft: Drafts) -> None:
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        ledger.record(draft())
    with sqlite3.connect(tmp_path / "out.sqlite") as connection:
        connection.execute("ALTER TABLE tacit_users RENAME TO other")
    connection.close()
    with pytest.raises(DataError, match="was changed: it has no table tacit_users"):
        open_ledger("out.sqlite", tmp_path, key=key, create=True)
    with sqlite3.connect(tmp_path / "foreign.sqlite") as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    with pytest.raises(TacitError, match="is a SQLite file, but not a ledger"):
        open_ledger("foreign.sqlite", tmp_path, key=key, create=True)


@pytest.mark.parametrize("is_open", [False, True])
def test_who_may_only_read_reads(
    tmp_path: Path, key: Key, draft: Drafts, is_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        ledger.record(draft())
        if not is_open:
            ledger.close()
        monkeypatch.setattr("tacit.ledger.sqlite.os.access", lambda path, mode: False)
        with open_ledger("out.sqlite", tmp_path, key=key) as reader:
            assert reader.verify().intact and len(list(reader.entries())) == 1
            with pytest.raises(EngineError, match="cannot be written to"):
                reader.record(draft())
