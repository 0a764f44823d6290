"""Connections that are slow, long or rude."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import pytest

from gateway.live import FAKE, Live, live, received
from tacit.gateway.http import app, protocol
from waiting import soon


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A gateway with limits that a test can wait for."""
    before = protocol.HEAD_SECONDS, protocol.STALL_SECONDS, protocol.LOOK_SECONDS, app.BODY_SECONDS
    protocol.HEAD_SECONDS, protocol.STALL_SECONDS, protocol.LOOK_SECONDS, app.BODY_SECONDS = (
        1.0,
        1.0,
        0.2,
        1.0,
    )
    with live(tmp_path_factory.mktemp("strict"), decider=FAKE) as running:
        yield running
    protocol.HEAD_SECONDS, protocol.STALL_SECONDS, protocol.LOOK_SECONDS, app.BODY_SECONDS = before


def connect(gateway: Live) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", gateway.port))
    found.settimeout(10)
    return found


def asking(gateway: Live, sql: str, *more: str) -> bytes:
    body = json.dumps({"sql": sql})
    head = [
        "POST /query HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {gateway.token}",
        f"Content-Length: {len(body)}",
        *more,
    ]
    return ("\r\n".join(head) + "\r\n\r\n" + body).encode()


def test_who_says_nothing_is_sent_away(strict: Live) -> None:
    with connect(strict) as line:
        began = time.monotonic()
        assert b" 408 " in received(line)
        assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    "piece", [b"G", b"\r\n", b"GET /health HTTP/1.1\r\n", b"GET /health HTTP/1.1\r\nX: y\r\n"]
)
def test_who_says_the_head_letter_by_letter_is_sent_away(strict: Live, piece: bytes) -> None:
    with connect(strict) as line:
        began = time.monotonic()
        line.sendall(piece)
        line.settimeout(0.2)
        said = b""
        while time.monotonic() - began < 5:
            try:
                part = line.recv(1000)
                said += part
                if not part:
                    break
            except TimeoutError:
                try:
                    line.sendall(b"\r\n" if piece == b"\r\n" else b"a")
                except OSError:
                    break
            except ConnectionError:
                break
        assert time.monotonic() - began < 4


def test_a_second_head_that_does_not_come_ends_the_connection_too(strict: Live) -> None:
    with connect(strict) as line:
        line.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /hea")
        began = time.monotonic()
        said = received(line)
        assert said.startswith(b"HTTP/1.1 200") and time.monotonic() - began < 5


def test_a_body_that_does_not_come_ends_the_request(strict: Live) -> None:
    with connect(strict) as line:
        line.sendall(asking(strict, "SELECT 1 AS one")[:-5])
        assert b" 408 " in received(line)


def test_a_head_without_end_is_refused(strict: Live) -> None:
    with connect(strict) as line:
        line.sendall(b"GET /health HTTP/1.1\r\n")
        try:
            for number in range(200):
                line.sendall(b"X-%d: %s\r\n" % (number, b"a" * 1000))
        except OSError:
            pass
        assert b" 200 " not in received(line)


@pytest.mark.parametrize(
    "junk",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /query HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /query HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello",
        b"\x16\x03\x01\x02\x00",
    ],
)
def test_junk_is_no_request(strict: Live, junk: bytes) -> None:
    with connect(strict) as line:
        line.sendall(junk)
        said = received(line)
        assert b" 200 " not in said and b"Traceback" not in said


def test_requests_in_one_go_are_answered_in_order(strict: Live) -> None:
    with connect(strict) as line:
        line.sendall(
            asking(strict, "SELECT 1 AS one")
            + asking(strict, "SELECT 2 AS two", "Connection: close")
        )
        said = received(line)
        assert said.index(b'"one"') < said.index(b'"two"')


def test_who_takes_nothing_of_an_answer_loses_it_and_the_query_ends(strict: Live) -> None:
    with connect(strict) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(asking(strict, "SELECT range AS n, repeat('x', 100) AS x FROM range(900000)"))
        places = strict.gateway.now().places
        assert soon(lambda: places.running == 1)
        assert soon(lambda: places.running == 0)


def test_who_takes_an_answer_slowly_gets_all_of_it(strict: Live) -> None:
    with connect(strict) as line:
        line.sendall(
            asking(
                strict,
                "SELECT range AS n, repeat('x', 100) AS x FROM range(200000)",
                "Connection: close",
                "Accept: text/csv",
            )
        )
        size, began = 0, time.monotonic()
        while part := line.recv(1 << 20):
            size += len(part)
            if time.monotonic() - began < 3:
                time.sleep(0.3)
        assert size > 200_000 * 105


def test_a_client_that_is_gone_before_its_turn_takes_no_place(strict: Live) -> None:
    for _ in range(20):
        with connect(strict) as line:
            line.sendall(
                asking(
                    strict,
                    "SELECT count(*) AS n FROM range(10000000) a, range(10000000) b WHERE a.range "
                    "+ b.range = 7",
                )
            )
            time.sleep(0.02)
    places = strict.gateway.now().places
    assert soon(lambda: (places.running, places.waiting) == (0, 0))
    assert strict.query("SELECT 1 AS one").status_code == 200
