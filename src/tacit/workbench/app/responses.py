"""Responses of the workbench: the headers that keep them safe, and bodies of requests that are not
longer than they may be.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from tacit.gateway.http.app import reply
from tacit.gateway.policy.refusals import Headers
from tacit.workbench.app.callers import Message, Receive, RequestRefused, Scope, Send

SAFE = ("GET", "HEAD")
STILL_SECONDS = 60.0  # a body of which nothing came for so long is given up
# 'unsafe-eval': NiceGUI's own script runs what the server sends by eval and new Function.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; frame-src 'none'; base-uri 'self'; form-action 'self'; object-src "
    "'none'"
)
PLAIN_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
FILE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'; sandbox"
)
ALWAYS: dict[bytes, bytes] = {
    b"x-frame-options": b"DENY",
    b"x-content-type-options": b"nosniff",
    # by `no-referrer` browsers would not say either from which page a form of ours comes
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
STATIC = re.compile(r"/_nicegui/[0-9][^/]*/(static|libraries|components|resources|esm)/.+")
PLAIN: Headers = [(b"content-type", b"text/plain; charset=utf-8")]


class PageResponse:
    """What goes back to the browser, with the headers that keep it safe."""

    def __init__(self, send: Send, scope: Scope, prefix: str) -> None:
        self._send = send
        self._started = False
        self.policy = POLICY
        self._static = (
            scope["method"] in SAFE
            and STATIC.fullmatch(scope["path"].removeprefix(prefix)) is not None
        )
        self._head = scope["method"] == "HEAD"

    async def send(self, message: Message) -> None:
        """Send a part of an answer."""
        if message["type"] == "http.response.start":
            self._started = True
            message = {
                **message,
                "headers": guarded(
                    message.get("headers", []),
                    self.policy,
                    static=self._static and message["status"] in (200, 304),
                ),
            }
        await self._send(message)

    def instead(self, body: RequestBody) -> Send:
        """How an application sends whose answer is not wanted any more
        as soon as the body is too long.
        """

        async def send(message: Message) -> None:
            if body.refused is None or self._started:
                await self.send(message)

        return send

    async def refuse(self, refused: RequestRefused) -> None:
        """Say why there is no answer, unless there is one already."""
        if not self._started:
            self.policy = PLAIN_POLICY
            words = b"" if self._head else refused.words.encode()
            more: Headers = [(b"connection", b"close")] if refused.status in (408, 413) else []
            await reply(self.send, refused.status, words, [*PLAIN, *refused.headers, *more])


class RequestBody:
    """The body of a request, counted. One that is too long or does not
    come looks like a client that left.
    """

    def __init__(self, receive: Receive, most: int, heard: Callable[[bytes], None]) -> None:
        self._receive = receive
        self._left = most
        self._most = most
        self._heard = heard
        self.complete = False
        self.refused: RequestRefused | None = None

    async def receive(self) -> Message:
        """The next part."""
        if self.refused is not None:
            return {"type": "http.disconnect"}
        if self.complete:
            return await self._receive()
        try:
            async with asyncio.timeout(STILL_SECONDS):
                message = await self._receive()
        except TimeoutError:
            self.refused = RequestRefused(408, "The body did not come in time.")
            return {"type": "http.disconnect"}
        if message["type"] == "http.request":
            part = message.get("body", b"")
            self._left -= len(part)
            self.complete = not message.get("more_body")
            if self._left < 0:
                self.refused = too_large(self._most)
                return {"type": "http.disconnect"}
            self._heard(part)
        return message


def too_large(most: int) -> RequestRefused:
    """For a body that is too long."""
    return RequestRefused(413, f"This is more than the {most} bytes that are taken at once.")


def guarded(headers: Headers, policy: str, *, static: bool) -> Headers:
    """The headers of an answer, with ours in the place of what an application says to the same
    or lets others read it.
    """
    if any(name.lower() == b"content-disposition" for name, _ in headers):
        policy = FILE_POLICY  # what is saved must not run here, should a browser show it
    cache = b"private, max-age=3600" if static else b"no-store"
    own = {**ALWAYS, b"content-security-policy": policy.encode(), b"cache-control": cache}
    passed = [
        (name, value)
        for name, value in headers
        if name.lower() not in own and not name.lower().startswith(b"access-control-")
    ]
    return [*passed, *own.items()]
