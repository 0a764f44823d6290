"""Tokens: they expire, they are replaced with some overlap, and rows say when they were used."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.ledger import users as module
from tacit.ledger.key import Key
from tacit.ledger.ledger import Ledger, open_ledger
from tacit.ledger.users import Users

HOUR = timedelta(hours=1)


class Clock(datetime):
    """A time that tests set."""

    ahead = timedelta(0)

    @classmethod
    def now(cls, tz: object = None) -> datetime:
        return datetime.now(UTC) + cls.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Clock]]:
    monkeypatch.setattr(module, "datetime", Clock)
    yield Clock
    Clock.ahead = timedelta(0)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger("ledger.sqlite", tmp_path, key=Key(b"k" * 32), create=True) as opened:
        yield opened


def test_a_token_opens_nothing_after_its_time(ledger: Ledger, clock: type[Clock]) -> None:
    users = Users(ledger)
    token = users.add("ann", ["nurses"], expires=datetime.now(UTC) + HOUR)
    ann = users.find(token)
    assert ann is not None and users.has(ann) and users.named("ann")
    clock.ahead = 2 * HOUR
    for one in (users, Users(ledger)):
        assert one.find(token) is None and not one.has(ann) and one.named("ann") == ()
    assert users.all()[0].expired()
    with pytest.raises(InputError, match="over"):
        users.rotate("ann", expires=datetime.now(UTC) + HOUR)


def test_the_token_before_is_taken_for_the_overlap_and_its_sessions_end_with_it(
    ledger: Ledger, clock: type[Clock]
) -> None:
    users = Users(ledger)
    first = users.add("ann", ["nurses"])
    session = users.find(first)
    second = users.rotate("ann", overlap=HOUR)
    assert first != second and session is not None
    assert users.find(first) is not None and users.find(second) is not None
    assert users.has(session)
    (_, main), (_, older) = users.named("ann")
    assert main is not None and older is not None and main.salt == older.salt
    clock.ahead = 2 * HOUR
    assert users.find(first) is None and not users.has(session)
    later = users.find(second)
    assert later is not None and users.has(later) and len(users.named("ann")) == 1


def test_without_overlap_the_token_before_opens_nothing_at_once(ledger: Ledger) -> None:
    users = Users(ledger)
    first = users.add("ann", ["nurses"])
    session = users.find(first)
    users.rotate("ann")
    assert users.find(first) is None and session is not None and not users.has(session)


def test_an_overlap_makes_no_token_live_longer(ledger: Ledger, clock: type[Clock]) -> None:
    users = Users(ledger)
    first = users.add("ann", ["nurses"], expires=datetime.now(UTC) + HOUR)
    users.rotate("ann", overlap=24 * HOUR)
    clock.ahead = 2 * HOUR
    assert users.find(first) is None


def test_revoking_takes_both_tokens(ledger: Ledger) -> None:
    users = Users(ledger)
    first = users.add("ann", ["nurses"])
    second = users.rotate("ann", overlap=HOUR)
    users.revoke("ann")
    assert users.find(first) is None and users.find(second) is None and users.named("ann") == ()
    with pytest.raises(InputError, match="revoked"):
        users.rotate("ann")


def test_a_third_token_ends_the_first(ledger: Ledger) -> None:
    users = Users(ledger)
    first = users.add("ann", ["nurses"])
    second = users.rotate("ann", overlap=HOUR)
    third = users.rotate("ann", overlap=HOUR)
    assert users.find(first) is None
    assert users.find(second) is not None and users.find(third) is not None


def test_the_day_of_the_last_use_is_written_once_and_ends_no_session(ledger: Ledger) -> None:
    users = Users(ledger)
    token = users.add("ann", ["nurses"])
    ann = users.find(token)
    assert ann is not None and ann.used is None
    before = ledger.verify().users
    users.mark_used(["ann", "nobody"])
    users.mark_used(["ann"])
    assert ledger.verify().users == before + 1 and ledger.verify().intact
    assert users.has(ann) and users.all()[0].used == datetime.now(UTC).date().isoformat()


def test_an_earlier_row_put_back_is_found(ledger: Ledger) -> None:
    """Whoever can write to the database, and has no key, makes no token live longer."""
    users = Users(ledger)
    users.add("ann", ["nurses"], expires=datetime.now(UTC) + HOUR)
    with ledger.store.reading() as ask:
        row = ask("SELECT name, body, mac FROM tacit_users")[0]
    users.rotate("ann", expires=datetime.now(UTC) + HOUR)
    with ledger.store.writing() as ask:
        ask("UPDATE tacit_users SET body = ?, mac = ? WHERE name = ?", row[1], row[2], row[0])
    assert not ledger.verify().intact
