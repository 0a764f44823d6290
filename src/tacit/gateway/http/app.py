"""The HTTP interface: /query, /check, /me, /health, /ready, /metrics and its
description, as one FastAPI application.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import secrets
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    MutableMapping,
)
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tacit.gateway.admission import Admitted, Run, admitted, event_of
from tacit.gateway.gateway import refusal_of
from tacit.gateway.http.auth import same_token, token_of
from tacit.gateway.http.documentation import PAGE_HEADERS, openapi, page
from tacit.gateway.http.formats import CsvEncoder, Encoder, Piece, encoder_for
from tacit.gateway.http.protocol import CHUNK
from tacit.gateway.http.requests import MOST_BYTES, read_request, too_large
from tacit.gateway.policy.refusals import (
    JSON_HEADERS,
    SECURITY,
    Headers,
    Refusal,
    unauthorized,
)
from tacit.gateway.query_runs import Gone
from tacit.gateway.readiness import Readiness

if TYPE_CHECKING:
    from tacit.gateway.gateway import Gateway

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Chunk = Callable[[Piece], Awaitable[None]]

BODY_SECONDS = 10.0
AWAY_SECONDS, AWAY_BYTES = 2.0, 8 << 20
MOST_HEADERS = 100
PROBES = ("/health", "/ready")  # which clusters ask by an address
FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via")
WORDS = {
    404: ("not-found", "there is nothing here."),
    405: ("method", "this path does not take this method."),
}


def create_app(gateway: Gateway, *, version: str = "") -> FastAPI:
    """The application for a gateway, which starts and ends with it.

    The paths are plain ASGI: what FastAPI would do for each request costs
    more than a decision that is known.
    """

    @asynccontextmanager
    async def alive(app: FastAPI) -> AsyncIterator[None]:
        await gateway.start()
        try:
            yield
        finally:
            await gateway.close()

    app = FastAPI(
        title="Tacit",
        version=version,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=alive,
    )
    described = openapi(version)
    app.openapi = lambda: described  # type: ignore[method-assign]
    pages: list[tuple[str, str, Endpoint]] = [
        ("/query", "POST", QueryEndpoint(gateway)),
        ("/check", "POST", CheckEndpoint(gateway)),
        ("/me", "GET", MeEndpoint(gateway)),
        ("/metrics", "GET", MetricsEndpoint(gateway)),
        (
            "/health",
            "GET",
            Fixed(gateway, json.dumps({"status": "ok", "version": version}).encode(), JSON_HEADERS),
        ),
        ("/ready", "GET", Ready(gateway)),
        ("/openapi.json", "GET", Fixed(gateway, json.dumps(described).encode(), JSON_HEADERS)),
        ("/docs", "GET", Fixed(gateway, page(described).encode(), PAGE_HEADERS)),
    ]
    for path, method, endpoint in pages:
        app.router.routes.append(Route(path, endpoint, methods=[method]))
    app.add_exception_handler(HTTPException, plain_error)
    return app


async def plain_error(request: Request, error: Exception) -> Response:
    """What the framework itself refuses (no such path, no such method), in our words."""
    assert isinstance(error, HTTPException)
    code, message = WORDS.get(error.status_code, ("http", "this request is not understood."))
    refusal = Refusal(error.status_code, code, message, hint="GET /docs says what there is.")
    headers = {
        **(error.headers or {}),
        **{name.decode(): value.decode() for name, value in JSON_HEADERS},
    }
    return Response(refusal.body(), error.status_code, headers)


class Endpoint:
    """A path: answers, or turns what went wrong into an error that says
    nothing about rows or this machine.
    """

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        started = [0]

        async def counted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started[0] = message["status"]
            await send(message)

        try:
            if len(scope["headers"]) > MOST_HEADERS:
                raise Refusal(
                    431,
                    "headers",
                    f"there are more than {MOST_HEADERS} headers.",
                    headers={"Connection": "close"},
                )
            self.check_name(scope)
            await self.answer(scope, receive, counted)
        except Refusal as refusal:
            if refusal.status == 401:
                self.gateway.visitors.refused(scope["path"], address_of(scope))
            if not started[0]:
                await reply(
                    counted,
                    refusal.status,
                    refusal.body(),
                    [*JSON_HEADERS, *more_headers(refusal.headers)],
                )
        except Gone:
            pass
        except Exception as error:
            # The type says where to look; its text may hold values of people, and stays here.
            number = secrets.token_hex(6)
            self.gateway.tell(
                f"Fault {number}: {type(error).__name__} while answering "
                f"{scope['path']}.{where(error)}"
            )
            if not started[0]:
                fault = Refusal(
                    500,
                    "fault",
                    f"something went wrong here (fault {number}).",
                    hint="Tell the owner this number.",
                )
                await reply(counted, 500, fault.body(), JSON_HEADERS)
        finally:
            self.gateway.metrics.request(scope["path"], started[0])

    def check_name(self, scope: Scope) -> None:
        """Raise a Refusal where somebody calls us by a name that is none of ours: their page's
        name may have been made to point here.
        """
        known = self.gateway.host_names
        if known and scope["path"] not in PROBES:
            said = (header(scope, b"host") or b"").decode("latin-1").lower()
            if re.sub(r":\d+$", "", said) not in known:
                raise Refusal(
                    421,
                    "host",
                    "the gateway is not known by this name.",
                    hint="Ask by a name that its owner gave to --hosts.",
                    headers={"Connection": "close"},
                )

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or raise a Refusal."""
        raise NotImplementedError


class Fixed(Endpoint):
    """A page that is always the same, for everybody."""

    def __init__(self, gateway: Gateway, body: bytes, headers: Headers) -> None:
        super().__init__(gateway)
        self._body = body
        self._headers = headers

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await reply(send, 200, self._body, self._headers)


class Ready(Endpoint):
    """Can the gateway answer now? For whoever sends it requests, or starts it again."""

    def __init__(self, gateway: Gateway) -> None:
        super().__init__(gateway)
        self._readiness = Readiness(gateway)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what is ready; status 503 where something is not."""
        parts = await self._readiness.parts()
        ready = all(parts.values()) and not self.gateway.draining
        body = {"ready": ready, "parts": parts}
        await reply(send, 200 if ready else 503, json.dumps(body).encode(), JSON_HEADERS)


class MetricsEndpoint(Endpoint):
    """What is counted, for whoever asks on this machine and not through a proxy, or has the
    token for it.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the numbers."""
        expected = self.gateway.options.metrics_token
        if not (
            is_near(scope)
            or (expected and same_token(token_of(header(scope, b"authorization")), expected))
        ):
            raise unauthorized()
        kind = self.gateway.metrics.content_type.encode()
        await reply(send, 200, self.gateway.metrics.text(), [(b"content-type", kind), *SECURITY])


class MeEndpoint(Endpoint):
    """Who one is, and in which roles one may ask what."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send name and roles."""
        now = self.gateway.now()
        user = await now.door.user(header(scope, b"authorization"))
        roles = {
            name: {
                "default": role.default,
                "deny": sorted(role.denied),
                "allow": sorted(role.allowed),
            }
            for name, role in now.policy.roles.items()
            if name in user.roles
        }
        await reply(
            send, 200, json.dumps({"user": user.name, "roles": roles}).encode(), JSON_HEADERS
        )


class DecideEndpoint(Endpoint):
    """What /check and /query share: who asks what, and the decision."""

    async def decide(self, scope: Scope, receive: Receive) -> Admitted:
        """Let the user in, read the request and decide."""
        began = time.perf_counter()
        gateway = self.gateway
        now = gateway.now()
        gateway.audit.check()
        user = await now.door.user(header(scope, b"authorization"))
        asked = read_request(await read_body(scope, receive))
        return await admitted(
            gateway, now, user, asked, path=scope["path"], address=address_of(scope), began=began
        )


class CheckEndpoint(DecideEndpoint):
    """Would a query be answered? Nothing is run."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the decision."""
        one = await self.decide(scope, receive)
        self.gateway.audit.put(event_of(self.gateway, one))
        decision = one.decided.decision
        body = {
            "allowed": decision.allowed,
            "code": decision.code,
            "message": decision.message,
            "hint": decision.hint,
            "secret": decision.secret,
            "columns": list(decision.columns),
            "role": one.role,
            "cached": one.cached,
            "milliseconds": one.milliseconds(),
        }
        await reply(
            send, 200, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), JSON_HEADERS
        )


class QueryEndpoint(DecideEndpoint):
    """Decide, run, and stream the answer."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the rows, or why not."""
        encoder = encoder_for(header(scope, b"accept"))
        if isinstance(encoder, CsvEncoder):
            encoder.harmless = self.gateway.options.csv_harmless
        one = await self.decide(scope, receive)
        await self.gateway.audit.written(event_of(self.gateway, one))
        decision = one.decided.decision
        if not decision.allowed or decision.sql is None:
            raise refusal_of(decision)
        self.gateway.check(one.now)
        gone = asyncio.ensure_future(left(receive))
        try:
            await self.run(one, encoder, send, chunks_of(scope, send), gone)
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone

    async def run(
        self,
        one: Admitted,
        encoder: Encoder,
        send: Send,
        chunk: Chunk,
        gone: asyncio.Future[None],
    ) -> None:
        """Run the query, stream its answer, and write down how it ended."""
        options = self.gateway.options
        limit = min(
            options.row_limit, options.row_limit if one.asked.limit is None else one.asked.limit
        )
        running = await Run.begin(
            self.gateway, one, encoder, gone, limit=limit, seconds=options.timeout
        )
        try:
            await self.stream(running, encoder, limit, send, chunk)
            running.finished()
        finally:
            await running.end()

    async def stream(
        self, running: Run, encoder: Encoder, limit: int, send: Send, chunk: Chunk
    ) -> None:
        """Send the answer piece by piece; the next is made while one is sent.

        An error after the first byte ends the connection without the mark of its end:
        no client can take the part for the whole.
        """
        headers: Headers = [
            (b"content-type", encoder.content_type.encode()),
            *SECURITY,
            (b"x-tacit-row-limit", b"%d" % limit),
        ]
        answer = running.answer
        piece = await running.next()
        following = await running.next()
        assert piece is not None
        if following is None:
            told = b"true" if answer.truncated else b"false"
            await reply(send, 200, b"".join(piece), [*headers, (b"x-tacit-truncated", told)])
        else:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            while piece is not None:
                if following is not None:
                    answer.work()
                await chunk(piece)
                piece, following = (
                    following,
                    await running.next() if following is not None else None,
                )
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def chunks_of(scope: Scope, send: Send) -> Chunk:
    """What sends a piece of a long answer: without copying it where the server can do that."""

    async def copied(piece: Piece) -> None:
        await send({"type": "http.response.body", "body": b"".join(piece), "more_body": True})

    write: Chunk = scope.get("extensions", {}).get(CHUNK, {}).get("write", copied)
    return write


async def reply(send: Send, status: int, body: bytes, headers: Headers) -> None:
    """Send a whole answer."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*headers, (b"content-length", b"%d" % len(body))],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """The body of a request, as long as it is short and comes quickly."""
    said = header(scope, b"content-length")
    if said is not None and (not said.isdigit() or len(said) > 9 or int(said) > MOST_BYTES):
        await read_away(receive)
        raise too_large()
    message = await next_part(receive)
    if not message.get("more_body"):
        return bytes(message["body"])
    parts = bytearray(message["body"])
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while message.get("more_body"):
                message = await next_part(receive)
                parts += message["body"]
                if len(parts) > MOST_BYTES:
                    await read_away(receive)
                    raise too_large()
    except TimeoutError:
        raise Refusal(
            408, "slow", "the body did not come in time.", headers={"Connection": "close"}
        ) from None
    return bytes(parts)


async def read_away(receive: Receive) -> None:
    """Read some more of a body that is too long:
    who is still sending when the connection ends never sees why.
    """
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(AWAY_SECONDS):
            while size < AWAY_BYTES:
                message = await next_part(receive)
                size += len(message["body"])
                if not message.get("more_body"):
                    return


async def next_part(receive: Receive) -> MutableMapping[str, Any]:
    """The next part of a body; Gone where there is nobody any more."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Gone
    return message


async def left(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def header(scope: Scope, name: bytes) -> bytes | None:
    """The value of a header; None where there is none, or more than one:
    two readers might take different ones.
    """
    found = [value for key, value in scope["headers"] if key == name]
    return found[0] if len(found) == 1 else None


def more_headers(headers: Mapping[str, str]) -> Headers:
    """Headers as the server takes them."""
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def address_of(scope: Scope) -> str | None:
    """Where a request comes from."""
    client = scope.get("client")
    return str(client[0]) if client else None


def is_near(scope: Scope) -> bool:
    """Does a request come from this machine itself, and not by way of a proxy?"""
    if any(name in FORWARDED for name, _ in scope["headers"]):
        return False
    try:
        return ipaddress.ip_address(address_of(scope) or "").is_loopback
    except ValueError:
        return False


def where(error: BaseException) -> str:
    """The line of our own code in which an error came up: enough to look for it, and no values."""
    trace = error.__traceback__
    found = ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("tacit."):
            found = f" At {name}:{trace.tb_lineno}."
        trace = trace.tb_next
    return found
