"""Users: a token each, shown once; rows that only the owner's key can write."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.errors import DataError, InputError
from tacit.ledger import postgres
from tacit.ledger.entries import EntryDraft
from tacit.ledger.key import Key
from tacit.ledger.ledger import Ledger, open_ledger
from tacit.ledger.users import StoredUser, Users

Drafts = Callable[..., EntryDraft]


@pytest.fixture
def users(ledger: Ledger) -> Users:
    return Users(ledger)


def test_a_token_is_found_until_it_is_revoked(users: Users) -> None:
    tokens = {
        name: users.add(name, roles)
        for name, roles in (("ann", ["nurses", "heads", "nurses"]), ("bob", ("nurses",)))
    }
    assert (
        all(re.fullmatch(r"tacit_[A-Za-z0-9_-]{43}", token) for token in tokens.values())
        and len(set(tokens.values())) == 2
    )
    ann = users.find(tokens["ann"])
    assert ann is not None and (ann.name, ann.roles, ann.revoked) == (
        "ann",
        ("nurses", "heads"),
        None,
    )
    assert [one.name for one in users.all()] == ["ann", "bob"]
    users.revoke("ann")
    assert users.find(tokens["ann"]) is None and users.find(tokens["bob"]) is not None
    gone = users.all()[0]
    assert gone.revoked is not None and json.loads(json.dumps(gone.to_json()))["revoked"].endswith(
        "Z"
    )
    users.revoke("ann")
    assert users.all()[0] == gone


def test_a_revoked_name_may_be_given_a_new_token(users: Users) -> None:
    old = users.add("ann", ["nurses"])
    with pytest.raises(InputError, match="there is a user 'ann' already"):
        users.add("ann", ["heads"])
    users.revoke("ann")
    new = users.add("ann", ["heads"])
    found = users.find(new)
    assert (
        users.find(old) is None
        and found is not None
        and found.roles == ("heads",)
        and len(users.all()) == 1
    )


@pytest.mark.parametrize(
    "guess",
    [
        "",
        "tacit_",
        "tacit_" + "a" * 43,
        "x" * 10_000,
        "tacit_" + "ä" * 43,
        "tacit_" + "a" * 42 + "\n",
        "' OR 1=1 --",
        "\ud800",
        "\0",
    ],
)
def test_guesses_find_nobody(users: Users, guess: str) -> None:
    token = users.add("ann", ["nurses"])
    assert users.find(guess) is None
    for near in (
        token[:-1],
        token + "a",
        token.upper(),
        token.removeprefix("tacit_"),
        f" {token}",
        f"{token}\n",
    ):
        assert users.find(near) is None
    assert users.find(token) is not None


@pytest.mark.parametrize("name", ["", " ann", "a\nb", "a\0", "\ud800", "x" * 201])
def test_names_and_roles_are_plain(users: Users, name: str) -> None:
    for asked in ((name, ["nurses"]), ("ann", [name])):
        with pytest.raises(InputError, match="cannot be the name"):
            users.add(*asked)
    for roles in ([], (), "nurses"):
        with pytest.raises(InputError, match="needs a role"):
            users.add("ann", roles)
    assert users.all() == []


def test_who_is_not_there_cannot_be_revoked(users: Users) -> None:
    with pytest.raises(InputError, match="there is no user 'ann'"):
        users.revoke("ann")
    users.add("anna", ["nurses"])
    with pytest.raises(InputError, match="Did you mean 'anna'"):
        users.revoke("ana")


def test_no_token_is_kept(tmp_path: Path, key: Key) -> None:
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        token = Users(ledger).add("ann", ["nurses"])
        kept = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert (
        token.encode() not in kept
        and token.removeprefix("tacit_").encode() not in kept
        and b"ann" in kept
    )


def test_the_version_tells_of_changes_by_anybody(
    ledger: Ledger, place: str, tmp_path: Path, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = Users(ledger)
    first = users.version()
    assert users.version() == first
    token = users.add("ann", ["nurses"])
    second = users.version()
    assert second != first and users.version() == second and users.find(token) is not None
    monkeypatch.setattr(postgres, "FRESH_SECONDS", 0.05)
    with open_ledger(place, tmp_path, key=key) as other:
        Users(other).revoke("ann")
    if "postgres" in place:
        time.sleep(0.06)
    assert users.version() != second and users.find(token) is None


def test_a_row_that_someone_else_wrote_is_refused(ledger: Ledger, users: Users, key: Key) -> None:
    token = users.add("ann", ["nurses"])
    book = ledger.book
    forged = json.dumps(
        {
            "name": "eve",
            "roles": ["heads"],
            "added": "2026-04-01T00:00:00.000000Z",
            "revoked": None,
            "token": key.mac("token", b"x"),
        }
    )
    with ledger.store.writing() as ask:
        ask(
            "INSERT INTO tacit_users VALUES ('eve', ?, ?)",
            forged,
            Key(bytes(32)).mac("user", f"{book.id} {forged}".encode()),
        )
    asked: tuple[Callable[[], object], ...] = (
        users.all,
        lambda: users.find(token),
        lambda: users.add("bob", ["nurses"]),
        lambda: users.revoke("ann"),
    )
    for one in asked:
        with pytest.raises(DataError, match="'eve' was not written with the owner's key"):
            one()
    with ledger.store.writing() as ask:
        ask("DELETE FROM tacit_users WHERE name = 'eve'")
    assert users.find(token) is not None


def test_a_revocation_cannot_be_undone_by_putting_the_older_row_back(
    ledger: Ledger, users: Users
) -> None:
    token = users.add("ann", ["nurses"])
    with ledger.store.reading() as ask:
        row = ask("SELECT body, mac FROM tacit_users")[0]
        head = ask("SELECT version, mac FROM tacit_users_head")[0]
    users.revoke("ann")
    with ledger.store.writing() as ask:
        ask("UPDATE tacit_users SET body = ?, mac = ?", *row)
    with pytest.raises(DataError, match="replaced by older ones"):
        users.find(token)
    with ledger.store.writing() as ask:
        ask("UPDATE tacit_users_head SET version = ?", head[0])
    with pytest.raises(DataError, match="replaced by older ones"):
        users.find(token)
    assert [one.code for one in ledger.verify().faults] == ["users"]


def test_users_of_another_ledger_do_not_fit(tmp_path: Path, key: Key) -> None:
    with (
        open_ledger("one", tmp_path, key=key, create=True) as one,
        open_ledger("two", tmp_path, key=key, create=True) as two,
    ):
        token = Users(one).add("ann", ["nurses"])
        with one.store.reading() as ask:
            rows, head = (
                ask("SELECT * FROM tacit_users"),
                ask("SELECT version, mac FROM tacit_users_head")[0],
            )
        with two.store.writing() as ask:
            ask("INSERT INTO tacit_users VALUES (?, ?, ?)", *rows[0])
            ask("UPDATE tacit_users_head SET version = ?, mac = ?", *head)
        with pytest.raises(DataError, match="'ann' was not written"):
            Users(two).find(token)


def test_finding_is_fast(tmp_path: Path, key: Key, draft: Drafts) -> None:
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        users = Users(ledger)
        token = [users.add(f"user{number}", ["nurses"]) for number in range(50)][-1]
        users.find(token)
        start = time.process_time()
        for _ in range(1_000):
            assert users.find(token) is not None
        assert time.process_time() - start < 0.2


def test_an_owner_needs_no_role_and_is_found_as_one(users: Users) -> None:
    owner, both, nurse = (
        users.add("olga", [], owner=True),
        users.add("bea", ["nurses"], owner=True),
        users.add("ann", ["nurses"]),
    )
    found = [users.find(token) for token in (owner, both, nurse)]
    assert [(one.name, one.roles, one.owner) for one in found if one] == [
        ("olga", (), True),
        ("bea", ("nurses",), True),
        ("ann", ("nurses",), False),
    ]
    assert all(one is not None and users.has(one) for one in found)
    assert [one.to_json()["owner"] for one in users.all()] == [False, True, True]
    users.revoke("olga")
    assert users.find(owner) is None and [one.owner for one in users.all()] == [False, True, True]


def test_who_was_revoked_is_not_there_even_if_the_name_comes_back(users: Users) -> None:
    first = users.find(users.add("olga", [], owner=True))
    assert first is not None and users.has(first)
    users.revoke("olga")
    assert not users.has(first)
    users.add("olga", [], owner=True)
    assert not users.has(first)
    users.revoke("olga")
    users.add("olga", ["nurses"])
    assert not users.has(first)


def test_rows_of_users_who_are_no_owners_are_as_they_were_before_there_were_owners(
    tmp_path: Path, key: Key
) -> None:
    with open_ledger("old.sqlite", tmp_path, key=key, create=True) as ledger:
        Users(ledger).add("ann", ["nurses"])
        Users(ledger).add("olga", [], owner=True)
        with ledger.store.reading() as ask:
            bodies = dict(ask("SELECT name, body FROM tacit_users"))
    assert sorted(json.loads(bodies["ann"])) == [
        "added",
        "name",
        "revoked",
        "roles",
        "scram",
        "token",
    ]
    assert sorted(json.loads(bodies["olga"])) == [
        "added",
        "name",
        "owner",
        "revoked",
        "roles",
        "scram",
        "token",
    ]


def test_rows_from_before_there_was_scram_are_read_and_stay_as_they_are(
    tmp_path: Path, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = StoredUser.body
    monkeypatch.setattr(StoredUser, "body", lambda one: written(replace(one, scram=None)))
    with open_ledger("old.sqlite", tmp_path, key=key, create=True) as ledger:
        token = Users(ledger).add("ann", ["nurses"])
    monkeypatch.undo()
    with open_ledger("old.sqlite", tmp_path, key=key) as ledger:
        users = Users(ledger)
        found = users.find(token)
        assert found is not None and users.named("ann") == ((found, None),)
        newer = users.add("bob", ["nurses"])
        assert users.find(token) == found and users.find(newer) is not None
        assert users.named("bob")[0][1] is not None
        users.revoke("bob")
        assert users.named("bob") == users.named("nobody") == ()
        with ledger.store.reading() as ask:
            bodies = dict(ask("SELECT name, body FROM tacit_users"))
    assert "scram" not in json.loads(bodies["ann"]) and "scram" in json.loads(bodies["bob"])


def test_nobody_becomes_an_owner_by_writing_it_into_the_file(tmp_path: Path, key: Key) -> None:
    with open_ledger("mine.sqlite", tmp_path, key=key, create=True) as ledger:
        users = Users(ledger)
        token = users.add("ann", ["nurses"])
        with ledger.store.writing() as ask:
            body = json.loads(ask("SELECT body FROM tacit_users")[0][0])
            ask("UPDATE tacit_users SET body = ?", json.dumps({**body, "owner": True}))
        with pytest.raises(DataError, match="was not written with the owner's key"):
            users.find(token)


def test_a_name_in_other_letters_is_taken(users: Users) -> None:
    users.add("Nora", ["nurses"])
    for alike in ("nora", "NORA"):
        with pytest.raises(InputError, match="there is a user 'Nora' already"):
            users.add(alike, ["nurses"])
    users.revoke("Nora")
    with pytest.raises(
        InputError, match=r"there was a user 'Nora', who was revoked\. Write it as 'Nora'"
    ):
        users.add("nora", ["nurses"])
    users.add("Nora", ["nurses"])
    assert [one.name for one in users.all()] == ["Nora"]
