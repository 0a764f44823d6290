"""Who sends much at once keeps nobody else waiting: neither by many messages nor by long ones."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from pathlib import Path

import psycopg
import pytest

from gateway.live import add_user, live
from tacit.gateway.postgres import client_line
from tacit.gateway.postgres.client_line import ClientLine
from tacit.gateway.postgres.text_readers import LONG, TextReaders

ENCRYPT = struct.pack(">II", 8, 80877103)


def test_between_messages_that_came_at_once_others_have_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_line, "TURN_SECONDS", -1.0)

    async def main() -> None:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async def session(line: ClientLine) -> None:
            for _ in range(100):
                await line.receive()

        line = ClientLine(session)
        line.data_received(b"S\0\0\0\x04" * 100)
        other = asyncio.ensure_future(others())
        await session(line)
        other.cancel()
        assert turns >= 100

    asyncio.run(main())


def test_whether_to_encrypt_is_asked_once(tmp_path: Path) -> None:
    with (
        live(tmp_path, postgres_port=0) as door,
        socket.create_connection(("127.0.0.1", door.postgres_port), timeout=30) as line,
    ):
        line.sendall(ENCRYPT * 2)
        came = b""
        while more := line.recv(1 << 16):
            came += more
        assert came[:1] == b"N" and b"asked already" in came


def test_long_texts_of_one_user_are_read_one_after_the_other() -> None:
    async def main() -> None:
        readers, go = TextReaders(), threading.Event()
        many = [asyncio.ensure_future(readers.read("ann", go.wait)) for _ in range(20)]
        for _ in range(3):
            assert await readers.read_if_long("ben", "x" * LONG, lambda: "read") == "read"
        assert not any(one.done() for one in many)
        go.set()
        assert all(await asyncio.gather(*many))

    asyncio.run(main())


def test_one_user_has_at_most_half_of_the_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.gateway.postgres.server.MOST_CONNECTIONS", 4)
    with live(tmp_path, postgres_port=0) as door:
        ben = add_user(door.plan, "ben", ["nurses"])
        with psycopg.connect(door.postgres()), psycopg.connect(door.postgres()):
            with pytest.raises(psycopg.OperationalError, match="you have 2 connections already"):
                psycopg.connect(door.postgres())
            psycopg.connect(door.postgres(user="ben", token=ben)).close()
