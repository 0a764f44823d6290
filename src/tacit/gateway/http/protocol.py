"""The server's side of one connection: heads of requests that come in time
and size, answers that somebody takes.

A connection that becomes a websocket goes its own way from there: no time of ours ends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
MOST_HEAD = 64 << 10  # bytes
STALL_SECONDS = 30.0
LOOK_SECONDS = 5.0
CHUNK = "tacit.chunk"  # the extension of ASGI that writes a chunk of an answer
TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\n"
    b"connection: "
    b"close\r\n\r\n"
)


class LimitedConnection(HttpToolsProtocol):
    """uvicorn's protocol with limits that it has not:
    on heads of requests, and on clients that take nothing of an answer.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Someone connected: the first head is due."""
        super().connection_made(transport)
        self._head = 0
        self._head_due: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Some bytes: of a head, or of a body."""
        in_body = (
            self.cycle is not None and self.cycle.more_body and not self.cycle.response_complete
        )
        if not in_body:
            self._head += len(data)
            if self._head_due is None and (self.cycle is None or self.cycle.response_complete):
                self._expect_head()
        super().data_received(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self._refuse(TOO_LONG)

    def on_message_begin(self) -> None:
        """A head begins, perhaps while the request before is still being answered."""
        super().on_message_begin()
        self.scope["extensions"] = {CHUNK: {"write": self.write_chunk}}
        if self._head_due is None:
            self._expect_head()

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._head = 0
        self._cancel_head()
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        """The connection becomes a websocket; not while another answer
        is still being written to it.
        """
        self._cancel_head()
        self._cancel_look()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
            return
        with suppress(Exception):
            super().handle_websocket_upgrade()
        # A head that its library does not like (of lines that are too long, say) would be left
        # without an answer and without an end.
        if (
            not getattr(self.transport.get_protocol(), "handshake_initiated", False)
            and not self.transport.is_closing()
        ):
            self._refuse(TOO_LONG)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._cancel_head()
        self._cancel_look()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take what was sent, yet."""
        super().pause_writing()
        if self._look is None:
            self._watch_buffer(self.transport.get_write_buffer_size(), 0.0)

    def resume_writing(self) -> None:
        """The client took something."""
        self._cancel_look()
        super().resume_writing()

    async def write_chunk(self, parts: Sequence[bytes | bytearray | memoryview]) -> None:
        """Write a chunk of an answer that has begun, in parts: uvicorn would copy them into one."""
        if self.flow.write_paused:
            await self.flow.drain()
        size = sum(map(len, parts))
        if size and not self.transport.is_closing():
            self.transport.writelines([b"%x\r\n" % size, *filter(len, parts), b"\r\n"])

    def _expect_head(self) -> None:
        self._head_due = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _head_is_late(self) -> None:
        self._head_due = None
        if self.cycle is not None and not self.cycle.response_complete:
            self._expect_head()
        elif not self.transport.is_closing():
            self._refuse(
                b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )

    def _watch_buffer(self, size: int, still: float) -> None:
        """Look again in a while; a buffer that has stood still for too long ends the connection."""
        if still >= STALL_SECONDS:
            self.transport.abort()
            return

        def look() -> None:
            now = self.transport.get_write_buffer_size()
            self._watch_buffer(now, still + LOOK_SECONDS if now >= size else 0.0)

        self._look = self.loop.call_later(LOOK_SECONDS, look)

    def _refuse(self, answer: bytes) -> None:
        if (
            self.cycle is None or self.cycle.response_complete
        ):  # never in the middle of another answer
            self.transport.write(answer)
        self.transport.close()

    def _cancel_head(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _cancel_look(self) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None
