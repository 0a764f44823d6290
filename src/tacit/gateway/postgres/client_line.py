"""The server's side of one connection: bytes in time and size, answers that somebody takes, TLS."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from tacit.gateway.http.formats import Part
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.postgres.wire import MOST_MESSAGE, First, Message, MessageReader
from tacit.gateway.query_runs import Gone

STALL_SECONDS = 30.0  # for a client to take something of an answer
LOOK_SECONDS = 5.0
TURN_SECONDS = 0.0005  # that one client may have the loop; then others are asked
TLS_SECONDS = 10.0
Read = TypeVar("Read")


class ClientLine(asyncio.Protocol):
    """One client's line. `gone` is done when there is nobody any more."""

    def __init__(self, session: Callable[[ClientLine], Coroutine[Any, Any, None]]) -> None:
        self._session = session
        self._reader = MessageReader()
        self._out: list[Part] = []
        self._came = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._paused = False
        self._since = time.monotonic()  # when others had their turn
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.secure = False
        self.address: str | None = None

    # -- what the loop calls -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Someone connected."""
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if isinstance(peer, tuple) and peer else None
        self._task = asyncio.ensure_future(self._session(self))

    def data_received(self, data: bytes) -> None:
        """Some bytes; who sends faster than is read is not read for a while."""
        self._reader.feed(data)
        self._came.set()
        if len(self._reader) > MOST_MESSAGE and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        if not self.gone.done():
            self.gone.set_result(None)
        self._came.set()
        self._writable.set()

    def pause_writing(self) -> None:
        """The client does not take what was sent, yet."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The client took something."""
        self._writable.set()

    # -- what the session calls --------------------------------------------------------------------

    async def first(self) -> First:
        """The next packet of somebody who connects."""
        return await self._read(self._reader.first)

    async def receive(self) -> Message:
        """The next message."""
        return await self._read(self._reader.next)

    def trust(self) -> None:
        """From now on messages may be long: the client has shown who it is."""
        self._reader.most = MOST_MESSAGE

    async def let_others(self) -> None:
        """Give others a turn, where what this client sent at once has taken a while."""
        if time.monotonic() - self._since > TURN_SECONDS:
            await asyncio.sleep(0)
            self._since = time.monotonic()

    def send(self, *parts: Part) -> None:
        """Have something sent with the next flush."""
        self._out += parts

    async def flush(self) -> None:
        """Send what waits, and wait while the client takes nothing; Gone where it never does."""
        if self._out and not self._transport.is_closing():
            self._transport.writelines(self._out)
        self._out = []
        size = self._transport.get_write_buffer_size()
        still = 0.0
        while not self._writable.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._writable.wait(), LOOK_SECONDS)
                break
            now = self._transport.get_write_buffer_size()
            still = still + LOOK_SECONDS if now >= size else 0.0
            size = now
            if still >= STALL_SECONDS:
                self._transport.abort()
                raise Gone
        if self.gone.done():
            raise Gone

    async def encrypt(self, context: ssl.SSLContext) -> None:
        """Speak TLS from here on. What was sent before it, in the clear, is not listened to."""
        if len(self._reader):
            raise Trouble("08P01", "there are bytes between the lines.", fatal=True)
        await self.flush()
        loop = asyncio.get_running_loop()
        try:
            upgraded = await loop.start_tls(
                self._transport,
                self,
                context,
                server_side=True,
                ssl_handshake_timeout=TLS_SECONDS,
            )
        except (OSError, ssl.SSLError):
            raise Gone from None
        if upgraded is None:
            raise Gone
        self._transport = upgraded
        self.secure = True

    def close(self) -> None:
        """End the connection when all is sent."""
        if not self._transport.is_closing():
            self._transport.writelines(self._out)
            self._transport.close()
        self._out = []

    def end(self) -> None:
        """End it now, whatever is being done."""
        if self._task is not None:
            self._task.cancel()
        self._transport.abort()

    async def _read(self, take: Callable[[], Read | None]) -> Read:
        while (found := take()) is None:
            if self.gone.done():
                raise Gone
            if self._paused:
                self._paused = False
                self._transport.resume_reading()
            self._came.clear()
            await self._came.wait()
            self._since = time.monotonic()
        await self.let_others()
        return found
