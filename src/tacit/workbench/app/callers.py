"""Callers: what a request says of the browser and the page that it comes from, and what is
answered to those who get nothing.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from tacit.gateway.policy.refusals import Headers

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]

SESSION = "tacit.session"  # where pages find it in the scope of a request
CALLED = "tacit.called"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_COOKIE = 8 << 10  # bytes


@dataclass(frozen=True, slots=True)
class Called:
    """By which name a browser called us; `here`: on this machine itself, as it calls itself."""

    host: str
    here: bool

    def cookie(self, name: str, *, secure: bool) -> str:
        """The name of a cookie: with the port, because browsers give
        cookies to all ports of a machine.

        >>> (
        ...     Called("localhost:8321", here=True).cookie("session", secure=True),
        ...     Called("tacit.org", here=False).cookie("session", secure=True),
        ... )
        ('tacit_session_8321', '__Host-tacit_session')
        """
        port = re.search(r":([0-9]{1,5})$", self.host)
        return (
            f"{'__Host-' if secure and not self.here else ''}tacit_{name}"
            f"{f'_{port[1]}' if port else ''}"
        )


class RequestRefused(Exception):
    """A request that gets no page: status and words."""

    def __init__(self, status: int, words: str, *, headers: Headers | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.words = words
        self.headers = headers or []


def near_hosts(scope: Scope) -> tuple[str, ...]:
    """The names of this machine for itself, with the port on which the request came, and the
    address on which it came.

    >>> (
    ...     near_hosts({"server": ("127.0.0.2", 8321)})[-1],
    ...     "localhost" in near_hosts({"server": ("127.0.0.1", 80)}),
    ... )
    ('127.0.0.2:8321', True)
    """
    address, port = scope.get("server") or ("", None)
    names = (*LOOPBACK, f"[{address}]" if ":" in address else address)
    named = tuple(f"{name}:{port}" for name in names)
    return (*named, *names) if port == 80 else named


def is_same_origin(origin: str, host: str, *, secure: bool = False) -> bool:
    """Is an origin the one of the host that the browser called?

    >>> (
    ...     is_same_origin("http://localhost:8321", "localhost:8321"),
    ...     is_same_origin("http://localhost:9999", "localhost:8321"),
    ... )
    (True, False)
    >>> (
    ...     is_same_origin("null", "localhost:8321"),
    ...     is_same_origin("http://tacit.org", "tacit.org", secure=True),
    ... )
    (False, False)
    """
    schemes = ("https",) if secure else ("http", "https")
    return bool(host) and origin.lower() in [f"{scheme}://{host}" for scheme in schemes]


def cookie_of(scope: Scope, name: str) -> str | None:
    """The value of a cookie; None where there is none, or more than one:
    someone else may have set the other.

    >>> (
    ...     cookie_of({"headers": [(b"cookie", b"a=1; b=2")]}, "b"),
    ...     cookie_of({"headers": [(b"cookie", b"b=1; b=2")]}, "b"),
    ... )
    ('2', None)
    """
    lines = [value for key, value in scope["headers"] if key == b"cookie"]
    if sum(map(len, lines)) > MOST_COOKIE:
        return None
    pairs = [
        part.strip().partition("=") for line in lines for part in line.decode("latin-1").split(";")
    ]
    found = [value.strip() for key, _, value in pairs if key.strip() == name]
    return found[0] if len(found) == 1 else None
