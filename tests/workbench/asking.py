"""Asking the workbench's guard as a browser would, or as somebody
would who writes requests by hand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from tacit.ledger.users import User
from tacit.workbench.app.guard import Guard
from tacit.workbench.app.sign_in import Entering
from tacit.workbench.app.workbench_sessions import WorkbenchSessions

HOST = "127.0.0.1:8321"
NEAR = ("127.0.0.1", 50_000)
FAR = ("192.0.2.7", 50_000)
Message = MutableMapping[str, Any]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Got:
    """An answer."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def __getitem__(self, name: str) -> str:
        found = [value for key, value in self.headers if key == name]
        assert len(found) == 1, (name, self.headers)
        return found[0]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class FakeOwners:
    """Owners by their tokens."""

    tokens: dict[str, User] = field(default_factory=dict)
    fault: Exception | None = None

    async def find(self, token: str) -> User | None:
        if self.fault:
            raise self.fault
        return self.tokens.get(token)

    async def is_still(self, account: User) -> bool:
        if self.fault:
            raise self.fault
        return account in self.tokens.values()


class Inside:
    """What the guard protects: it tells what it got."""

    def __init__(self) -> None:
        self.seen: list[Message] = []
        self.answer: Callable[..., Awaitable[None]] | None = None

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        self.seen.append(scope)
        if self.answer is not None:
            await self.answer(scope, receive, send)
            return
        assert scope["type"] == "http"
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RuntimeError("the client left")
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        body = f"inside {size}".encode()
        headers = [
            (b"content-type", b"text/html"),
            (b"Cache-Control", b"public"),
            (b"Access-Control-Allow-Origin", b"*"),
            (b"access-control-allow-credentials", b"true"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class Bench:
    """A guard, the pages of entering, and something inside."""

    def __init__(self, **options: Any) -> None:
        self.clock = Clock()
        self.said: list[str] = []
        self.sessions = WorkbenchSessions(self.clock)
        self.owners = FakeOwners()
        self.inside = Inside()
        secure = options.get("secure", False)
        self.entering = Entering(
            self.sessions,
            self.owners,
            tell=self.said.append,
            address=lambda: f"http://{HOST}",
            secure=secure,
            clock=self.clock,
        )
        self.guard = Guard(
            self.inside, self.sessions, entering=self.entering, owners=self.owners, **options
        )

    def signed_in(self, user: User | None = None) -> str:
        """The cookie of somebody who is in."""
        return self.sessions.begin(user.name if user else "owner", user).cookie

    def ask(self, path: str, method: str = "GET", **more: Any) -> Got:
        return asyncio.run(self.asked(path, method, **more))

    async def asked(
        self, path: str, method: str = "GET", *, parts: Iterable[bytes] = (b"",), **more: Any
    ) -> Got:
        """The answer to one request."""
        sent: list[Message] = []
        body = list(parts)

        async def receive() -> Message:
            if body:
                return {"type": "http.request", "body": body.pop(0), "more_body": bool(body)}
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.guard(scope_of(path, method, **more), receive, send)
        assert [one["type"] for one in sent[:1]] == ["http.response.start"]
        headers = [(key.decode().lower(), value.decode()) for key, value in sent[0]["headers"]]
        return Got(sent[0]["status"], headers, b"".join(one.get("body", b"") for one in sent[1:]))

    def form(self, path: str, fields: dict[str, str] | bytes, **more: Any) -> Got:
        """Send a form, as our own page would."""
        from urllib.parse import urlencode

        body = fields if isinstance(fields, bytes) else urlencode(fields).encode()
        headers = {
            "content-type": "application/x-www-form-urlencoded",
            "origin": f"http://{more.get('host', HOST)}",
            "sec-fetch-site": "same-origin",
            **more.pop("headers", {}),
        }
        return self.ask(path, "POST", headers=headers, parts=[body], **more)


def scope_of(
    path: str,
    method: str = "GET",
    *,
    kind: str = "http",
    cookie: str | None = None,
    cookies: str | None = None,
    host: str | None = HOST,
    headers: dict[str, str] | list[tuple[str, str]] | None = None,
    client: tuple[str, int] = NEAR,
    server: tuple[str, int] = ("127.0.0.1", 8321),
    query: bytes = b"",
) -> Message:
    """The scope of a request below /workbench."""
    said = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
    if host is not None:
        said.insert(0, ("host", host))
    if cookie is not None:
        said.append(("cookie", f"tacit_session_8321={cookie}"))
    if cookies is not None:
        said.append(("cookie", cookies))
    return {
        "type": kind,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "/workbench",
        "query_string": query,
        "scheme": "http" if kind == "http" else "ws",
        "headers": [(key.encode("latin-1"), value.encode("latin-1")) for key, value in said],
        "client": client,
        "server": server,
        **({"method": method} if kind == "http" else {}),
    }
