"""The guard behind the real server: sockets that live, requests written by hand, and whatever a
proxy or a browser would not send.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from gateway.live import received
from tacit.gateway.http import protocol
from tacit.gateway.options import Options
from tacit.workbench.app import sockets
from tacit.workbench.app.guard import Guard
from tacit.workbench.app.sign_in import Entering
from tacit.workbench.app.sockets import OVER, TO_SIGN_IN
from tacit.workbench.app.workbench_sessions import WorkbenchSessions
from tacit.workbench.serve import listening, server_for

SOCKET = "/workbench/_nicegui_ws/socket.io/"


class Echo:
    """Something behind the guard: it repeats what it hears, and counts what was sent to it."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.paths.append(scope["path"])
        if scope["type"] == "http":
            size, more = 0, True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                size, more = size + len(message["body"]), message.get("more_body", False)
            await PlainTextResponse(f"inside {size}")(scope, receive, send)
            return
        while (message := await receive())["type"] != "websocket.disconnect":
            if message["type"] == "websocket.connect":
                await send({"type": "websocket.accept"})
            else:
                await send({"type": "websocket.send", "text": message["text"]})


class Running:
    """A server with a path of the gateway's and the guarded workbench."""

    def __init__(self) -> None:
        self.sessions, self.echo = WorkbenchSessions(), Echo()
        entering = Entering(self.sessions, tell=lambda text: None, address=lambda: "")
        guard = Guard(self.echo, self.sessions, entering=entering, upload_bytes=3 << 20)
        app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
        app.router.routes += [
            Route("/query", PlainTextResponse("query")),
            Mount("/workbench", guard),
        ]
        options = Options(port=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            self.server = server_for(app, options, pages=True)
            self.server.config.load()
        self._listening = listening(options)
        self._socket = self._listening.__enter__()
        self.port = self._socket.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def _run(self) -> None:
        async def main() -> None:
            self.loop = asyncio.get_running_loop()
            await self.server.serve(sockets=[self._socket])

        asyncio.run(main())

    def stop(self) -> None:
        self.server.should_exit = True
        self._thread.join(20)
        self._listening.__exit__()
        assert not self._thread.is_alive()

    def signed_in(self) -> str:
        return self.sessions.begin("owner").cookie

    def open(self, cookie: str | None, path: str = SOCKET, **more: Any) -> ClientConnection:
        """A socket, as a page of ours would open it."""
        headers = {"Cookie": f"tacit_session_{self.port}={cookie}"} if cookie else {}
        headers |= more.pop("headers", {})
        return connect(
            f"ws://{self.host}{path}",
            origin=more.pop("origin", f"http://{self.host}"),
            additional_headers=headers,
            open_timeout=10,
            **more,
        )

    def raw(
        self, *lines: str, body: bytes = b"", cookie: str | None = None, host: bool = True
    ) -> bytes:
        """The answer to a request that is written by hand."""
        head = [
            *lines,
            *([f"Host: {self.host}"] if host else []),
            *([f"Cookie: tacit_session_{self.port}={cookie}"] if cookie else []),
            "Connection: close",
        ]
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as line:
            line.sendall("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)
            return received(line)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    before = protocol.HEAD_SECONDS, sockets.LOOK_SECONDS
    protocol.HEAD_SECONDS, sockets.LOOK_SECONDS = 0.3, 0.1
    server = Running()
    yield server
    server.stop()
    protocol.HEAD_SECONDS, sockets.LOOK_SECONDS = before


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def refused(call: Any) -> int:
    """With which status a socket is refused."""
    with pytest.raises(InvalidStatus) as caught, call():
        pass
    return caught.value.response.status_code


def test_a_socket_lives_longer_than_a_head_may_take(running: Running) -> None:
    with running.open(running.signed_in()) as line:
        line.send("first")
        assert line.recv(5) == "first"
        time.sleep(0.8)
        line.send("second" * 10_000)
        assert line.recv(5) == "second" * 10_000
        line.ping().wait(5)


def test_sockets_without_a_session_or_of_other_pages_are_refused(running: Running) -> None:
    cookie = running.signed_in()
    assert refused(lambda: running.open(None)) == 403
    assert refused(lambda: running.open("x" * 43)) == 403
    assert refused(lambda: running.open(cookie, origin="http://evil.example")) == 403
    assert refused(lambda: running.open(cookie, origin=None)) == 403
    assert refused(lambda: running.open(cookie, headers={"X-Forwarded-For": "192.0.2.1"})) == 403


@pytest.mark.parametrize(
    "path",
    [
        "/query",
        "/",
        "/workbench",
        "/workbench/",
        "/workbench/overview",
        "/docs",
        "/workbench/%2e%2e/query",
        SOCKET + "%2e%2e/",
        "//workbench/_nicegui_ws/socket.io/",
        "/workbench/sign-in",
    ],
)
def test_sockets_have_one_place(running: Running, path: str) -> None:
    before = len(running.echo.paths)
    assert (
        refused(lambda: running.open(running.signed_in(), path)) == 403
        and len(running.echo.paths) == before
    )


def test_a_socket_closes_when_its_session_ends_and_the_page_goes_to_sign_in(
    running: Running,
) -> None:
    cookie = running.signed_in()
    with (
        running.open(cookie) as one,
        running.open(cookie) as two,
        running.open(running.signed_in()) as other,
    ):
        for line in (one, two, other):
            line.send("here")
            assert line.recv(5) == "here"
        session = running.sessions.find(cookie)
        assert session is not None
        running.loop.call_soon_threadsafe(running.sessions.end, session)
        for line in (one, two):
            assert line.recv(5) == TO_SIGN_IN
            with pytest.raises(ConnectionClosed) as closed:
                line.recv(5)
            assert closed.value.rcvd is not None and closed.value.rcvd.code == OVER
        other.send("still")
        assert other.recv(5) == "still"


def test_a_message_that_is_too_long_ends_the_socket(running: Running) -> None:
    with (
        running.open(running.signed_in(), max_size=None) as line,
        pytest.raises(ConnectionClosed) as closed,
    ):
        line.send("x" * (5 << 20))
        line.recv(10)
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


@pytest.mark.parametrize("size", [9_000, 30_000, 70_000])
def test_a_giant_cookie_opens_nothing_and_breaks_nothing(running: Running, size: int) -> None:
    cookie = running.signed_in()
    began = time.monotonic()
    with pytest.raises((InvalidHandshake, ConnectionClosed, OSError, EOFError)):
        running.open(cookie, headers={"X-Long": "x" * size}).close()
    assert time.monotonic() - began < 3, "it is refused, and does not stay"
    got = running.raw("GET /workbench/overview HTTP/1.1", f"Cookie: a={'x' * size}", cookie=cookie)
    assert got == b"" or status(got) in (303, 431)
    assert status(running.raw("GET /workbench/overview HTTP/1.1", cookie=cookie)) == 200


@pytest.mark.parametrize(
    "more",
    [
        "Sec-WebSocket-Key: x",
        "Sec-WebSocket-Version: 99",
        "Upgrade: h2c",
        "Sec-WebSocket-Extensions: \x80",
        "X: \xff",
    ],
)
def test_an_odd_offer_of_a_socket_breaks_nothing(running: Running, more: str) -> None:
    cookie, before = running.signed_in(), len(running.echo.paths)
    got = running.raw(
        f"GET {SOCKET} HTTP/1.1",
        "Upgrade: websocket",
        more,
        f"Origin: http://{running.host}",
        cookie=None,
    )
    assert got == b"" or status(got) in (400, 401, 403, 426, 500)
    assert (
        len(running.echo.paths) == before
        and status(running.raw("GET /workbench/x HTTP/1.1", cookie=cookie)) == 200
    )


def test_no_socket_begins_in_the_middle_of_another_answer(running: Running) -> None:
    key = f"Cookie: tacit_session_{running.port}={running.signed_in()}"
    upgrade = [
        f"GET {SOCKET} HTTP/1.1",
        f"Host: {running.host}",
        key,
        f"Origin: http://{running.host}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    first = ["GET /workbench/x HTTP/1.1", f"Host: {running.host}", key]
    with socket.create_connection(("127.0.0.1", running.port), timeout=10) as line:
        line.sendall("\r\n".join([*first, "", *upgrade, "", ""]).encode())
        line.settimeout(2)
        assert b" 101 " not in received(line)


@pytest.mark.parametrize(
    "target",
    [
        "/workbench/%2e%2e/query",
        "/workbench/..%2fquery",
        "/workbench/../query",
        "//workbench/overview",
        "/workbench//overview",
        "/workbench/%5c..%5cquery",
        "/workbench/%00",
        "/%77orkbench/%2e/overview",
        "/workbench/_nicegui/..%2f..%2fquery",
        "/workbench%2f%2foverview",
    ],
)
def test_paths_that_are_written_oddly_lead_nowhere(running: Running, target: str) -> None:
    before = len(running.echo.paths)
    for cookie in (None, running.signed_in()):
        assert status(running.raw(f"GET {target} HTTP/1.1", cookie=cookie)) in (400, 404)
    assert len(running.echo.paths) == before


@pytest.mark.parametrize(
    "target",
    ["/%77orkbench/overview", "/workbench%2foverview", "http://evil.example/workbench/overview"],
)
def test_other_ways_to_write_a_page_need_a_session_too(running: Running, target: str) -> None:
    before = len(running.echo.paths)
    assert (
        status(running.raw(f"GET {target} HTTP/1.1")) == 303 and len(running.echo.paths) == before
    )
    assert status(running.raw(f"GET {target} HTTP/1.1", cookie=running.signed_in())) == 200


@pytest.mark.parametrize(
    "lines",
    [
        ("GET /workbench/x HTTP/1.0",),
        ("GET /workbench/x HTTP/1.1", "Host: evil.example"),
        ("GET http://evil.example/workbench/x HTTP/1.1", "Host: evil.example"),
    ],
)
def test_a_request_without_a_name_of_ours_is_refused(
    running: Running, lines: tuple[str, ...]
) -> None:
    assert status(running.raw(*lines, cookie=running.signed_in(), host=False)) == 421
    if len(lines) > 1:
        assert status(running.raw(*lines, cookie=running.signed_in())) == 421, "two names"


def test_the_gateway_beside_it_takes_no_notice_of_sessions(running: Running) -> None:
    assert status(running.raw("GET /query HTTP/1.1", cookie=running.signed_in())) == 200
    assert status(running.raw("GET /workbench HTTP/1.1")) == 404


@pytest.mark.parametrize("chunked", [True, False])
def test_a_file_that_is_too_large_is_refused_and_the_client_hears_why(
    running: Running, chunked: bool
) -> None:
    upload = "POST /workbench/_nicegui/client/1/upload/2 HTTP/1.1"
    origin = f"Origin: http://{running.host}"

    def sent(size: int) -> bytes:
        body = b"a" * size
        if chunked:
            pieces = [body[start : start + 65536] for start in range(0, size, 65536)]
            body = (
                b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
            )
        length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
        return running.raw(upload, origin, length, body=body, cookie=running.signed_in())

    fits, over = sent(3 << 20), sent((3 << 20) + 1)
    assert status(fits) == 200 and b"inside 3145728" in fits
    assert status(over) == 413 and b"3145728 bytes" in over


def test_the_other_transport_of_a_page_needs_a_session_too(running: Running) -> None:
    target = f"{SOCKET}?EIO=4&transport=polling"
    assert status(running.raw(f"GET {target} HTTP/1.1")) == 401
    assert (
        status(
            running.raw(
                f"POST {target} HTTP/1.1", f"Origin: http://{running.host}", "Content-Length: 0"
            )
        )
        == 401
    )
    assert status(running.raw(f"GET {target} HTTP/1.1", cookie=running.signed_in())) == 200
    assert (
        status(
            running.raw(
                f"OPTIONS {target} HTTP/1.1",
                "Origin: http://evil.example",
                "Access-Control-Request-Method: GET",
                cookie=running.signed_in(),
            )
        )
        == 405
    )
    assert (
        status(
            running.raw(
                f"GET {target} HTTP/1.1", "Origin: http://evil.example", cookie=running.signed_in()
            )
        )
        == 403
    )
