"""The server: a port where PostgreSQL's clients connect, their sessions, and how they end."""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl
import time
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacit.gateway.admission import explained, limited
from tacit.gateway.http.app import where
from tacit.gateway.policy.refusals import Refusal
from tacit.gateway.postgres import wire
from tacit.gateway.postgres.catalog_runs import CatalogRuns
from tacit.gateway.postgres.catalogs import Catalog
from tacit.gateway.postgres.client_line import ClientLine
from tacit.gateway.postgres.knowledge import RoleKnowledge
from tacit.gateway.postgres.postgres_errors import Trouble, trouble_of
from tacit.gateway.postgres.rows import Described
from tacit.gateway.postgres.session import PostgresSession
from tacit.gateway.postgres.signing_in import first_of, signed_in
from tacit.gateway.postgres.text_readers import TextReaders
from tacit.gateway.query_runs import Gone
from tacit.gateway.turns import NOBODY

if TYPE_CHECKING:
    from tacit.gateway.gateway import Gateway, InForce
    from tacit.gateway.postgres.signing_in import SignedIn

MOST_CONNECTIONS = 1_000
LOOK_SECONDS = 0.05
SIGN_IN_SECONDS = 10.0
MOST_SCHEMAS = 10_000


class Schema(Described):
    """An encoder for queries of which only the columns are wanted."""

    rows_wanted = False

    def batch(self, batch: pa.RecordBatch) -> list[Any]:
        """Nothing: there is none."""
        return []


class PostgresDoor:
    """All sessions of one gateway. What belongs to a policy is forgotten with it."""

    def __init__(self, gateway: Gateway, tls: ssl.SSLContext | None = None) -> None:
        self._gateway = gateway
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._lines: set[ClientLine] = set()
        self._sessions: dict[int, tuple[bytes, PostgresSession]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._now: InForce | None = None
        self._catalogs: dict[str, Catalog] = {}
        self._catalog_runs = CatalogRuns()
        self.readers = TextReaders()
        self._schemas: OrderedDict[str, pa.Schema] = OrderedDict()

    async def listen(self, place: socket.socket) -> asyncio.Server:
        """Let clients in at a socket that listens already."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: ClientLine(self.session), sock=place)
        return self._server

    async def drain(self, seconds: float) -> None:
        """Let nobody in any more, end sessions as they have their answers, and wait for that."""
        if self._server is not None:
            self._server.close()
        for _, session in list(self._sessions.values()):
            session.end_soon()
        until = time.monotonic() + seconds
        while self._sessions and time.monotonic() < until:
            await asyncio.sleep(LOOK_SECONDS)

    def close(self) -> None:
        """End all sessions."""
        for line in list(self._lines):
            line.end()

    def keep(self, task: asyncio.Future[Any]) -> None:
        """Hold on to a task until it is done."""
        assert isinstance(task, asyncio.Task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def session(self, line: ClientLine) -> None:
        """One connection, from its first byte to its last."""
        self._lines.add(line)
        process, secret = secrets.randbits(31) or 1, secrets.token_bytes(4)
        try:
            if len(self._lines) > MOST_CONNECTIONS:
                raise Trouble("53300", "there are too many connections.", fatal=True)
            who = await asyncio.wait_for(self._signed_in(line), SIGN_IN_SECONDS)
            if who is not None:
                self._check_share(who)
                session = PostgresSession(self._gateway, self, line, who)
                self._sessions[process] = (secret, session)
                await session.serve(process, secret)
        except (Gone, TimeoutError):
            pass
        except wire.WireError as error:
            self._say(line, Trouble("08P01", str(error), fatal=True))
        except Trouble as trouble:
            self._say(line, trouble)
        except Refusal as refusal:
            final = trouble_of(refusal)
            final.fatal = True
            self._say(line, final)
        except Exception as error:
            self._gateway.tell(f"Fault: {type(error).__name__} in a session.{where(error)}")
        finally:
            self._sessions.pop(process, None)
            self._lines.discard(line)
            line.close()

    def _check_share(self, who: SignedIn) -> None:
        """One user has at most half of the connections."""
        own = sum(one.user == who.user.name for _, one in self._sessions.values())
        if own >= MOST_CONNECTIONS // 2:
            self._gateway.metrics.limited("connections")
            raise Trouble("53300", f"you have {own} connections already.", fatal=True)

    def catalog(self, now: InForce, who: SignedIn) -> Catalog:
        """What a role may know of, as catalogs; made when it is first asked for."""
        self._follow(now)
        found = self._catalogs.get(who.role)
        if found is None:
            knowledge = RoleKnowledge(now.plan, now.policy, who.role)
            found = Catalog(
                knowledge,
                lambda sql: self.schema(now, sql, asyncio.Future()),
                self._catalog_runs,
                self.readers,
            )
            self._catalogs[who.role] = found
        return found

    async def schema(
        self, now: InForce, sql: str, stop: asyncio.Future[None], user: str = NOBODY
    ) -> pa.Schema:
        """What the answer to a query looks like, by its source; nothing is run."""
        self._follow(now)
        found = self._schemas.get(sql)
        if found is None:
            encoder = Schema()
            seconds = self._gateway.options.timeout
            with limited(self._gateway):
                answer = await now.places.begin(sql, encoder, 0, seconds, stop, user)
            try:
                with explained(self._gateway):
                    await answer.next()
            finally:
                await now.places.end(answer)
            found = self._schemas[sql] = encoder.schema
            if len(self._schemas) > MOST_SCHEMAS:
                self._schemas.popitem(last=False)
        return found

    def _follow(self, now: InForce) -> None:
        if self._now is not now:
            self._now, self._catalogs, self._schemas = now, {}, OrderedDict()

    async def _signed_in(self, line: ClientLine) -> SignedIn | None:
        first = await first_of(line, self._tls)
        if isinstance(first, wire.Cancel):
            known, session = self._sessions.get(first.process, (b"", None))
            if session is not None and secrets.compare_digest(known, first.secret):
                session.cancel()
            return None
        visitors, address = self._gateway.visitors, line.address
        try:
            who = await signed_in(line, self._gateway.now(), first)
        except Trouble as trouble:
            if trouble.state == "28P01":
                visitors.refused("postgres", address, dict(first.settings).get("user", ""))
            raise
        visitors.came(who.user.name, "postgres", address, role=who.role)
        return who

    def _say(self, line: ClientLine, trouble: Trouble) -> None:
        with suppress(Exception):
            line.send(wire.fields_of(b"E", trouble.fields()))
