"""The guard of the workbench: who has no session, or comes by way of a page that is not ours,
gets nothing below /workbench.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Protocol

from tacit.errors import TacitError
from tacit.gateway.http.app import header, is_near, read_away, reply
from tacit.gateway.query_runs import Gone
from tacit.ledger.users import User
from tacit.workbench.app.callers import (
    CALLED,
    SESSION,
    App,
    Called,
    Receive,
    RequestRefused,
    Scope,
    Send,
    cookie_of,
    is_same_origin,
    near_hosts,
)
from tacit.workbench.app.responses import PLAIN_POLICY, SAFE, PageResponse, RequestBody, too_large
from tacit.workbench.app.sockets import EVENT, Socket
from tacit.workbench.app.workbench_sessions import WorkbenchSession, WorkbenchSessions

METHODS = ("GET", "HEAD", "POST")
UPLOAD_BYTES = 2 << 30
BODY_BYTES = 1 << 20
MOST_HEADERS = 100
MOST_UPLOADS = 4
MOST_SOCKETS = 200
NOT_PASSED_ON = (
    b"x-forwarded-prefix",
    b"x-forwarded-host",
)  # a client could have pages written with addresses of its choice
UPLOAD = re.compile(r"/_nicegui/client/[^/]+/upload/[^/]+")
SOCKET = "/_nicegui_ws/socket.io/"
ENTERING = ("/enter", "/sign-in", "/sign-out", "/new-link")
ALIVE = "/alive"


class Lookup(Protocol):
    """Who is an owner still."""

    async def is_still(self, account: User) -> bool:
        """Is someone who signed in earlier an owner still?"""


class Guard:
    """An ASGI application around another: only requests with a session reach it, with the session
    in their scope.

    `entering` answers the few pages that need no session. `near_only` keeps everybody out who does
    not come from this machine itself; who does may name it 127.0.0.1, localhost or ::1, with our
    port, and all others must use one of `hosts`: a page of somebody else whose name was made to
    point here (DNS rebinding) has another name. `secure`: these are reached by https alone.
    `owners` is asked whether who signed in still may.
    """

    def __init__(
        self,
        app: App,
        sessions: WorkbenchSessions,
        *,
        entering: App,
        owners: Lookup | None = None,
        near_only: bool = True,
        hosts: frozenset[str] | None = None,
        prefix: str = "/workbench",
        secure: bool = False,
        upload_bytes: int = UPLOAD_BYTES,
    ) -> None:
        self.app = app
        self._sessions = sessions
        self._entering = entering
        self._owners = owners
        self._near_only = near_only
        self._hosts = frozenset(host.lower() for host in hosts or ())
        self._prefix = prefix
        self._secure = secure
        self._upload_bytes = upload_bytes
        self._uploads = 0
        self._sockets = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    # What every request must be

    def _path(self, scope: Scope) -> str:
        """The path below the prefix, if it is one that could not be read in two ways."""
        path: str = scope["path"]
        inside = path.removeprefix(self._prefix)
        if len(scope["headers"]) > MOST_HEADERS:
            raise RequestRefused(431, "There are too many headers.")
        if inside == path or not inside.startswith("/"):
            raise RequestRefused(404, "There is nothing here.")
        if (
            "//" in path
            or "\\" in path
            or any(part in (".", "..") for part in path.split("/"))
            or not path.isprintable()
        ):
            raise RequestRefused(404, "There is nothing here.")
        return inside

    def _called(self, scope: Scope) -> Called:
        """The name by which we are called; a Refused where it is none of ours."""
        near = is_near(scope)
        if self._near_only and not near:
            raise RequestRefused(
                403,
                "The workbench is open on this machine only. Its owner can open it to others: "
                "tacit serve --workbench-hosts NAME.",
            )
        said = header(scope, b"host")
        host = said.decode("latin-1").lower() if said is not None else ""
        here = near and host in near_hosts(scope)
        if not here and host not in self._hosts:
            raise RequestRefused(
                421,
                "The workbench is not known by this name. Use the address that tacit serve prints, "
                "or allow this one: tacit serve --workbench-hosts NAME.",
            )
        return Called(host, here)

    def _check_origin(self, scope: Scope, called: Called, *, needed: bool) -> None:
        """The page that asks is ours, as far as the browser says where it comes from;
        with `needed`, it has to say it.
        """
        found = [value for key, value in scope["headers"] if key == b"origin"]
        if found or needed:
            origin = found[0].decode("latin-1") if len(found) == 1 else ""
            if not is_same_origin(origin, called.host, secure=self._secure and not called.here):
                raise RequestRefused(403, "This was asked by a page that is not the workbench's.")
        site, mode = header(scope, b"sec-fetch-site"), header(scope, b"sec-fetch-mode")
        if site in (b"cross-site", b"same-site") and (needed or mode != b"navigate"):
            raise RequestRefused(403, "This was asked by a page that is not the workbench's.")

    async def _session(
        self, scope: Scope, called: Called, *, touch: bool
    ) -> WorkbenchSession | None:
        """The session that the cookie belongs to, unless it is over or its user lost the right."""
        cookie = cookie_of(scope, called.cookie("session", secure=self._secure))
        session = self._sessions.find(cookie, touch=False) if cookie is not None else None
        if session is None or not await self._may_stay(session):
            return None
        if touch:
            self._sessions.touch(session)
        return session

    async def _may_stay(self, session: WorkbenchSession) -> bool:
        """Has neither the session ended nor its user's right? One whose
        user lost the right ends here.
        """
        if session.account is not None:
            try:
                still = self._owners is not None and await self._owners.is_still(session.account)
            except TacitError:
                raise RequestRefused(
                    503,
                    "The list of users cannot be read; its owner has to look at it.",
                    headers=[(b"retry-after", b"10")],
                ) from None
            if not still:
                self._sessions.end(session)
        return not self._sessions.is_over(session)

    # Pages

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = PageResponse(send, scope, self._prefix)
        try:
            await self._answer(scope, receive, answer)
        except RequestRefused as refused:
            await answer.refuse(refused)
        except Gone:
            pass

    async def _answer(self, scope: Scope, receive: Receive, answer: PageResponse) -> None:
        path, method = self._path(scope), scope["method"]
        called = self._called(scope)
        if method not in METHODS:
            raise RequestRefused(
                405,
                "This path does not take this method.",
                headers=[(b"allow", ", ".join(METHODS).encode())],
            )
        self._check_origin(scope, called, needed=method not in SAFE)
        polling = (path + "/").startswith(SOCKET)
        passive = polling or path == ALIVE or header(scope, b"nicegui-check") is not None
        session = await self._session(scope, called, touch=not passive)
        within = {
            **scope,
            "headers": [one for one in scope["headers"] if one[0] not in NOT_PASSED_ON],
            SESSION: session,
            CALLED: called,
        }
        if path in ENTERING:
            answer.policy = PLAIN_POLICY
            await self._entering(within, receive, answer.send)
        elif session is None:
            if method in SAFE and is_page(scope, path):
                await self._to_sign_in(scope, answer)
                return
            raise RequestRefused(401, "The session is over, or there was none: sign in.")
        elif path == ALIVE:
            await answer.send({"type": "http.response.start", "status": 204, "headers": []})
            await answer.send({"type": "http.response.body", "body": b""})
        else:
            within["endpoint"] = self.app
            await self._pass_on(within, receive, answer, session, path, polling=polling)

    async def _to_sign_in(self, scope: Scope, answer: PageResponse) -> None:
        """Send somebody to where one signs in.

        Who followed a link on another page came without the cookie, which is for our own pages
        alone. A page of ours takes them there, so that those who have one are seen to be in.
        """
        place = f"{self._prefix}/sign-in"
        if header(scope, b"sec-fetch-site") != b"cross-site":
            raise RequestRefused(303, "Sign in first.", headers=[(b"location", place.encode())])
        answer.policy = PLAIN_POLICY
        words = (
            '<!doctype html><html lang="en"><title>Tacit workbench</title><meta '
            f'http-equiv="refresh" content="0; url={place}"><p><a href="{place}">Go '
            "on</a></p></html>"
        )
        await reply(
            answer.send,
            200,
            words.encode() if scope["method"] == "GET" else b"",
            [(b"content-type", b"text/html; charset=utf-8")],
        )

    async def _pass_on(
        self,
        scope: Scope,
        receive: Receive,
        answer: PageResponse,
        session: WorkbenchSession,
        path: str,
        *,
        polling: bool,
    ) -> None:
        """Let the application answer, with a body that is not longer than it may be."""
        is_upload = scope["method"] == "POST" and UPLOAD.fullmatch(path) is not None
        most = self._upload_bytes if is_upload else BODY_BYTES
        said = header(scope, b"content-length")
        if said is not None and (not said.isdigit() or len(said) > 18 or int(said) > most):
            await read_away(receive)
            raise too_large(most)
        if is_upload and self._uploads >= MOST_UPLOADS:
            await read_away(receive)
            raise RequestRefused(
                503,
                f"{MOST_UPLOADS} files are being sent already: wait for one of them.",
                headers=[(b"retry-after", b"10")],
            )
        body = RequestBody(
            receive,
            most,
            lambda text: (
                self._sessions.touch(session) if polling and EVENT.encode() in text else None
            ),
        )
        self._uploads += is_upload
        try:
            await self.app(scope, body.receive, answer.instead(body))
        except Exception:
            if body.refused is None:
                raise
        finally:
            self._uploads -= is_upload
        if body.refused is not None:
            if not body.complete:
                await read_away(receive)
            raise body.refused

    # Sockets

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            path = self._path(scope)
            called = self._called(scope)
            self._check_origin(scope, called, needed=True)
            session = await self._session(scope, called, touch=False)
            if (
                session is None
                or path + "/" not in (SOCKET, SOCKET + "/")
                or self._sockets >= MOST_SOCKETS
            ):
                raise RequestRefused(403, "")
        except RequestRefused:
            with suppress(Exception):
                await receive()  # the offer, which is not taken up
            await send({"type": "websocket.close", "code": 1008})
            return
        self._sockets += 1
        try:
            within = {
                **scope,
                "headers": [one for one in scope["headers"] if one[0] not in NOT_PASSED_ON],
                SESSION: session,
                CALLED: called,
            }
            await Socket(
                session, receive, send, may_stay=self._may_stay, touch=self._sessions.touch
            ).run(self.app, within)
        finally:
            self._sockets -= 1


def is_page(scope: Scope, path: str) -> bool:
    """Does somebody want to see a page, so that they can be sent to another?"""
    return (
        not path.startswith("/_nicegui")
        and path != ALIVE
        and header(scope, b"sec-fetch-mode") in (None, b"navigate")
    )
