"""Attacks on the door for PostgreSQL's clients: nobody comes in, and nothing that was not judged
goes out.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gateway.live import PLAN, Live, add_user, live, revoke
from gateway.postgres.raw_client import RawClient, error_of, rows_of

DENIED = "SELECT name FROM stays"
ALLOWED = "SELECT ward FROM wards"
SICK = (b"Alan", b"Fen")


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(tmp_path_factory.mktemp("attacked"), PLAN, postgres_port=0) as running:
        yield running


@pytest.fixture
def ann(door: Live) -> Iterator[RawClient]:
    with RawClient(door.postgres_port, "ann", door.token, "nurses") as client:
        yield client


class Tapped(RawClient):
    """A client whose bytes somebody writes down."""

    heard: list[bytes]

    def send(self, letter: bytes, body: bytes = b"") -> None:
        self.__dict__.setdefault("heard", []).append(
            letter + struct.pack(">I", len(body) + 4) + body
        )
        super().send(letter, body)


def startup(**settings: str) -> bytes:
    said = b"".join(one.encode() + b"\0" for pair in settings.items() for one in pair)
    return struct.pack(">II", len(said) + 9, 196608) + said + b"\0"


def sent(door: Live, *parts: bytes) -> bytes:
    """What comes for bytes until the line ends; some of it may be lost where it ends early."""
    came = b""
    with (
        socket.create_connection(("127.0.0.1", door.postgres_port), timeout=30) as line,
        suppress(ConnectionError),
    ):
        line.sendall(b"".join(parts))
        while more := line.recv(1 << 16):
            came += more
    return came


def kinds(came: bytes) -> set[bytes]:
    """The letters of messages."""
    found, at = set(), 0
    while at < len(came):
        found.add(came[at : at + 1])
        at += 1 + int.from_bytes(came[at + 1 : at + 5])
    return found


def query(sql: str) -> bytes:
    return b"Q" + struct.pack(">I", len(sql) + 5) + sql.encode() + b"\0"


def decided(door: Live) -> list[Any]:
    lines = [json.loads(line) for line in door.audit().splitlines()]
    return [one["decision"] for one in lines if one["event"] == "decision"]


def test_what_was_heard_of_a_sign_in_opens_nothing_again(door: Live) -> None:
    with Tapped(door.postgres_port, "ann", door.token, "nurses") as client:
        heard = client.heard
    came = sent(door, startup(user="ann", database="nurses"), *heard, query(ALLOWED))
    assert kinds(came) <= {b"R", b"E"} and struct.pack(">I", 12) not in came


@pytest.mark.parametrize("before", [b"", b"p\0\0\0\x04", b"S\0\0\0\x04", b"X\0\0\0\x04"])
def test_nothing_is_answered_before_the_sign_in(door: Live, before: bytes) -> None:
    came = sent(door, startup(user="ann", database="nurses"), before, query(ALLOWED))
    assert kinds(came) <= {b"R", b"E"}


def test_a_long_message_before_the_sign_in_is_not_waited_for(door: Live) -> None:
    came = sent(door, startup(user="ann"), b"p" + struct.pack(">I", 1 << 30))
    assert b"up to 10,000 are read" in came


def test_settings_of_a_connection_change_no_role(door: Live) -> None:
    token = add_user(door.plan, "cara", ["clerks"])
    with RawClient(door.postgres_port, "cara", token, "clerks") as line:
        for sql in (
            "SET ROLE nurses",
            "SET role = nurses",
            "SET SESSION AUTHORIZATION ann",
            "SELECT set_config('role', 'nurses', false)",
            "SET session_authorization = ann",
        ):
            assert error_of(line.ask(sql)), sql
        assert rows_of(line.ask("SELECT current_user, current_database()")) == [
            [b"cara", b"clerks"]
        ]


def test_only_its_secret_stops_a_session(door: Live, ann: RawClient) -> None:
    guesses = [struct.pack(">I", number) for number in range(50)] + [b"", b"\0" * 4]
    for number in range(1, 200):
        secret = guesses[number % len(guesses)]
        body = struct.pack(">II", 80877102, number) + secret
        assert sent(door, struct.pack(">I", len(body) + 4) + body) == b""
    assert rows_of(ann.ask(ALLOWED)) == [[b"A"], [b"B"]]


def test_a_portal_answers_the_statement_that_it_was_made_of(ann: RawClient) -> None:
    ann.send(b"P", b"\0" + ALLOWED.encode() + b"\0\0\0")
    ann.send(b"B", b"p\0\0\0\0\0\0\0\0")
    ann.send(b"P", b"\0" + DENIED.encode() + b"\0\0\0")  # another statement by the same name
    ann.send(b"E", b"p\0\0\0\0\0")
    ann.send(b"S")
    assert rows_of(ann.until_ready()) == [[b"A"], [b"B"]]
    ann.send(b"P", b"s\0" + ALLOWED.encode() + b"\0\0\0")
    ann.send(b"P", b"s\0" + DENIED.encode() + b"\0\0\0")
    ann.send(b"B", b"q\0s\0\0\0\0\0\0\0")
    ann.send(b"E", b"q\0\0\0\0\0")
    ann.send(b"S")
    found = ann.until_ready()
    assert error_of(found)["C"] == "42P05" and not rows_of(found)


def test_each_way_to_ask_is_decided(door: Live, ann: RawClient) -> None:
    ways = {
        "simple": lambda: ann.ask(DENIED),
        "extended": lambda: ann.extended(DENIED, 0),
        "copy": lambda: ann.ask(f"COPY ({DENIED}) TO STDOUT"),
        "cursor": lambda: ann.ask(f"BEGIN; DECLARE c CURSOR FOR {DENIED}; FETCH ALL FROM c"),
        "second": lambda: ann.ask(f"{ALLOWED}; {DENIED}; {DENIED}"),
        "quoted": lambda: ann.ask(f"SELECT ';' AS a, $$;{DENIED};$$ AS b; {DENIED}"),
        "commented": lambda: ann.ask(f"/* ; {ALLOWED} */ {DENIED} -- ; {ALLOWED}"),
    }
    for way, ask in ways.items():
        before = decided(door).count("refused")
        found = ask()
        assert error_of(found)["C"] == "42501", way
        assert not any(one in body for _, body in found for one in SICK), way
        assert decided(door).count("refused") == before + 1, way
        ann.ask("ROLLBACK")


def test_copy_reaches_no_file(door: Live, ann: RawClient, tmp_path: Path) -> None:
    place = tmp_path / "out"
    for sql in (
        f"COPY ({ALLOWED}) TO '{place}'",
        f"COPY ({ALLOWED}) TO PROGRAM 'touch {place}'",
        "COPY wards FROM STDIN",
        f"COPY wards FROM '{door.plan}'",
        f"COPY ({ALLOWED}) TO STDOUT; COPY ({ALLOWED}) TO '{place}'",
    ):
        assert error_of(ann.ask(sql)), sql
    assert not place.exists()


def test_a_value_is_never_read_as_sql(ann: RawClient) -> None:
    for value in (b"' OR 'a' = 'a", b"'; SELECT name FROM stays; --", b"\\' UNION SELECT 1 --"):
        ann.send(b"P", b"\0SELECT beds FROM wards WHERE ward = $1\0\0\0")
        bound = struct.pack(">HHi", 0, 1, len(value)) + value + b"\0\0"
        ann.send(b"B", b"\0\0" + bound)
        ann.send(b"E", b"\0\0\0\0\0")
        ann.send(b"S")
        assert rows_of(ann.until_ready()) == []


def test_who_was_revoked_reads_no_portal_on(door: Live) -> None:
    token = add_user(door.plan, "gina", ["clerks"])
    with RawClient(door.postgres_port, "gina", token, "clerks") as line:
        line.ask("BEGIN")
        assert len(rows_of(line.extended(ALLOWED, 0, most=1))) == 1
        revoke(door.plan, "gina")
        line.send(b"E", b"\0\0\0\0\0")
        kind, body = line.message()
        assert kind == b"E" and b"revoked" in body
