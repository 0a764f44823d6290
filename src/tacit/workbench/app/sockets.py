"""Sockets of pages: each lasts as long as the session behind it, and what somebody does on the
page keeps that.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tacit.workbench.app.callers import App, Message, Receive, RequestRefused, Scope, Send
from tacit.workbench.app.workbench_sessions import WorkbenchSession

LOOK_SECONDS = 2.0  # how often the session behind an open socket is looked at
# how socket.io writes what somebody did on a page;
# pings, echoes and reports of pages are no use of them
EVENT = '42["event"'
TO_SIGN_IN = "42" + json.dumps(["open", {"path": "/sign-in", "new_tab": False}])
# What a page does whose socket cannot be opened again:
# it asks whether its session is over (or the server a new one), and leaves.
WHEN_LOST = """\
(function look() {
  if (!window.socket) return setTimeout(look, 200);
  window.socket.on("connect_error", async () => {
    const answer = await fetch(window.path_prefix + "/alive", {cache: "no-store"}).catch(() => null);
    if (answer && answer.status === 401) window.location.assign(window.path_prefix + "/sign-in");
  });
})();
"""  # noqa: E501
OVER = 4401  # why a socket is closed: its session has ended


class Socket:
    """An open socket of a page: closed when its session ends, and the
    page goes to where one signs in.
    """

    def __init__(
        self,
        session: WorkbenchSession,
        receive: Receive,
        send: Send,
        *,
        may_stay: Callable[[WorkbenchSession], Awaitable[bool]],
        touch: Callable[[WorkbenchSession], None],
    ) -> None:
        self._session = session
        self._may_stay = may_stay
        self._touch = touch
        self._receive = receive
        self._send = send
        self._open = False
        self._over = asyncio.Event()

    async def run(self, app: App, scope: Scope) -> None:
        """Let the application talk to the page as long as the session lasts."""
        self._session.on_end.append(self._over.set)
        talk = asyncio.ensure_future(app(scope, self.receive, self.send))
        look = asyncio.ensure_future(self._until_over())
        try:
            await asyncio.wait((talk, look), return_when=asyncio.FIRST_COMPLETED)
            if self._over.is_set():
                await self._close()
                await asyncio.wait(
                    (talk,), timeout=LOOK_SECONDS
                )  # it hears of the end by `receive`
        finally:
            for task in (talk, look):
                task.cancel()
            await asyncio.gather(talk, look, return_exceptions=True)
            with suppress(ValueError):
                self._session.on_end.remove(self._over.set)
        if (
            not talk.cancelled()
            and (error := talk.exception()) is not None
            and not self._over.is_set()
        ):
            raise error

    async def receive(self) -> Message:
        """What the page says; where its session is over, that it is gone."""
        if self._over.is_set():
            return {"type": "websocket.disconnect", "code": OVER}
        hear, over = (
            asyncio.ensure_future(self._receive()),
            asyncio.ensure_future(self._over.wait()),
        )
        try:
            await asyncio.wait((hear, over), return_when=asyncio.FIRST_COMPLETED)
            message = hear.result() if hear.done() else None
        finally:
            hear.cancel()
            over.cancel()
        if message is not None and is_use(message) and not await self._is_over():
            self._touch(self._session)
        if message is None or self._over.is_set():
            return {"type": "websocket.disconnect", "code": OVER}
        return message

    async def send(self, message: Message) -> None:
        """Pass on what the application says, as long as the session lasts;
        how it ends then is up to us.
        """
        if message["type"] == "websocket.accept":
            self._open = True
        if not self._over.is_set():
            await self._send(message)

    async def _until_over(self) -> None:
        while not await self._is_over():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), LOOK_SECONDS)

    async def _is_over(self) -> bool:
        with suppress(
            RequestRefused
        ):  # users that cannot be read just now: the next request says so
            if not await self._may_stay(self._session):
                self._over.set()
        return self._over.is_set()

    async def _close(self) -> None:
        with suppress(Exception):  # the page may be gone already
            if self._open:
                await self._send({"type": "websocket.send", "text": TO_SIGN_IN})
            await self._send({"type": "websocket.close", "code": OVER if self._open else 1008})


def is_use(message: Message) -> bool:
    """Is a message of a socket something that somebody did on the page?"""
    text = message.get("text") if message["type"] == "websocket.receive" else None
    return text is not None and text.startswith(EVENT)
