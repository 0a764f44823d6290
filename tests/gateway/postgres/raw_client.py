"""A client of PostgreSQL's protocol that keeps every byte, and shares no code with ours."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import struct
from typing import Self


class RawClient:
    """Signs in by SCRAM; `ask` sends messages and gives what comes until the server is ready."""

    def __init__(self, port: int, user: str, token: str, database: str) -> None:
        self._line = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._held = b""
        said = b"".join(word.encode() + b"\0" for word in ("user", user, "database", database))
        self._line.sendall(struct.pack(">II", len(said) + 9, 196608) + said + b"\0")
        self._prove(token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def _prove(self, token: str) -> None:
        kind, body = self.message()
        assert (kind, body[:4]) == (b"R", struct.pack(">I", 10)), body
        bare = b"n=,r=abcdefgh"
        self.send(b"p", b"SCRAM-SHA-256\0" + struct.pack(">I", len(bare) + 3) + b"n,," + bare)
        _, body = self.message()
        first = body[4:]
        nonce, salt, rounds = (part.split(b"=", 1)[1] for part in first.split(b","))
        salted = hashlib.pbkdf2_hmac("sha256", token.encode(), base64.b64decode(salt), int(rounds))
        key = hmac.digest(salted, b"Client Key", "sha256")
        final = b"c=biws,r=" + nonce
        signature = hmac.digest(
            hashlib.sha256(key).digest(), b",".join((bare, first, final)), "sha256"
        )
        proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
        self.send(b"p", final + b",p=" + base64.b64encode(proof))
        self.until_ready()

    def send(self, letter: bytes, body: bytes = b"") -> None:
        self._line.sendall(letter + struct.pack(">I", len(body) + 4) + body)

    def message(self) -> tuple[bytes, bytes]:
        while len(self._held) < 5 or len(self._held) < 1 + int.from_bytes(self._held[1:5]):
            came = self._line.recv(1 << 16)
            if not came:
                raise ConnectionError(self._held)
            self._held += came
        size = 1 + int.from_bytes(self._held[1:5])
        whole, self._held = self._held[:size], self._held[size:]
        return whole[:1], whole[5:]

    def until_ready(self) -> list[tuple[bytes, bytes]]:
        found = [self.message()]
        while found[-1][0] != b"Z":
            found.append(self.message())
        return found

    def ask(self, sql: str) -> list[tuple[bytes, bytes]]:
        """A simple query: all messages of the answer."""
        self.send(b"Q", sql.encode() + b"\0")
        return self.until_ready()

    def extended(self, sql: str, form: int, most: int = 0) -> list[tuple[bytes, bytes]]:
        """The same by parse, bind, describe and execute."""
        self.send(b"P", b"\0" + sql.encode() + b"\0\0\0")
        self.send(b"B", b"\0\0\0\0\0\0" + struct.pack(">HH", 1, form))
        self.send(b"D", b"P\0")
        self.send(b"E", b"\0" + struct.pack(">I", most))
        self.send(b"S")
        return self.until_ready()


def rows_of(messages: list[tuple[bytes, bytes]]) -> list[list[bytes | None]]:
    """The values of all rows."""
    found = []
    for kind, body in messages:
        if kind != b"D":
            continue
        at, row = 2, []
        for _ in range(int.from_bytes(body[:2])):
            (size,) = struct.unpack(">i", body[at : at + 4])
            row.append(None if size < 0 else body[at + 4 : at + 4 + size])
            at += 4 + max(size, 0)
        assert at == len(body)
        found.append(row)
    return found


def error_of(messages: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """The fields of the error among the messages, if there is one."""
    body = next((body for kind, body in messages if kind == b"E"), b"")
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}
