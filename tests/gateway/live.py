"""A gateway that listens: a real server on a free port of loopback, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from tacit.gateway.gateway import Gateway
from tacit.gateway.http.app import create_app
from tacit.gateway.options import Options
from tacit.gateway.tls import certificate_of
from tacit.ledger.ledger import open_ledger
from tacit.ledger.users import Users
from tacit.plan.read.load import load_plan
from tacit.workbench.serve import drain, listening, postgres_door, server_for

try:  # the loop that `tacit serve` takes
    from uvloop import new_event_loop
except ImportError:
    from asyncio import new_event_loop

PLAN = """\
version: 1
tables:
  stays:
    columns: {name: text, ward: text, disease: text, age: integer}
    key: [name]
    nullable: []
    rows: [[Alan, A, cancer, 23], [Bob, B, flu, 24], [Ellen, A, flu, 27], [Fen, B, cancer, 28]]
  wards: {columns: {ward: text, beds: integer}, key: [ward], nullable: [], rows: [[A, 10], [B, 20]]}
secrets: {cancer: "S(n) :- stays(n, w, 'cancer', a)"}
roles:
  nurses: {default: allow, deny: [cancer]}
  clerks: {default: deny, allow: [wards]}
"""
FAKE = "gateway.fakes:Decider"


def write_plan(folder: Path, text: str = PLAN) -> Path:
    """A plan in a folder."""
    path = folder / "tacit.yaml"
    path.write_text(text)
    return path


def add_user(plan: Path, name: str, roles: Sequence[str]) -> str:
    """A user beside the plan's ledger; the token."""
    found = load_plan(plan)
    with open_ledger(found.ledger, found.folder, create=True) as ledger:
        return Users(ledger).add(name, roles)


def revoke(plan: Path, name: str) -> None:
    found = load_plan(plan)
    with open_ledger(found.ledger, found.folder) as ledger:
        Users(ledger).revoke(name)


class Live:
    """A gateway in a thread. `said` is what the operator was told."""

    def __init__(self, plan: Path, *, decider: str | None = None, **options: Any) -> None:
        self.plan = plan
        self.said: list[str] = []
        self.token = add_user(plan, "ann", list(load_plan(plan).roles)[:1])
        self._options = Options(port=0, **{"deciders": 1, **options})
        self._decider = {"decider": decider} if decider else {}
        self._ready = threading.Event()
        self._failed: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._certificate = certificate_of(self._options)
        self._postgres = None
        if self._options.postgres_port is not None:
            self._other = listening(replace(self._options, port=self._options.postgres_port))
            self._postgres = self._other.__enter__()
            self.postgres_port = self._postgres.getsockname()[1]
        self._listening = listening(self._options)
        self._socket = self._listening.__enter__()
        self.port = self._socket.getsockname()[1]
        self.url = f"http{'s' if self._certificate else ''}://127.0.0.1:{self.port}"
        self._thread.start()
        assert self._ready.wait(60)
        if self._failed:
            raise self._failed[0]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.server.should_exit = True
        self._thread.join(30)
        self._listening.__exit__()
        if self._postgres is not None:
            self._other.__exit__()
        assert not self._thread.is_alive()

    def _run(self) -> None:
        async def main() -> None:
            try:
                self.gateway = Gateway(
                    self.plan, self._options, tell=self.said.append, **self._decider
                )
                try:
                    await self.gateway.start()
                except BaseException:
                    await self.gateway.close()
                    raise
                self.loop = asyncio.get_running_loop()
                async with postgres_door(self.gateway, self._postgres, self._certificate) as door:
                    self.server = server_for(
                        create_app(self.gateway, version="test"),
                        self._options,
                        certificate=self._certificate,
                        ending=lambda: drain(self.gateway, door),
                    )
                    announce = asyncio.create_task(self._announce())
                    await self.server.serve(sockets=[self._socket])
                announce.cancel()
            except BaseException as error:
                self._failed.append(error)
                self._ready.set()

        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(main())

    async def _announce(self) -> None:
        while not self.server.started:
            await asyncio.sleep(0.01)
        self._ready.set()

    def client(self, token: str | None = None, **more: Any) -> httpx.Client:
        """A client with a token: ann's unless another is given."""
        headers = {
            "Authorization": f"Bearer {self.token if token is None else token}",
            **more.pop("headers", {}),
        }
        return httpx.Client(
            base_url=self.url, headers=headers, timeout=60, trust_env=False, verify=False, **more
        )

    def query(self, sql: str, **body: Any) -> httpx.Response:
        """One query."""
        accept = body.pop("accept", "application/json")
        with self.client() as client:
            return client.post("/query", json={"sql": sql, **body}, headers={"Accept": accept})

    def raw(self, sql: str, limit: int | None, accept: str) -> bytes:
        """All that comes over the line for a query, with the borders
        of chunks, without the date.
        """
        body = json.dumps({"sql": sql, **({} if limit is None else {"limit": limit})})
        head = (
            "POST /query HTTP/1.1\r\n"
            "Host: x\r\n"
            f"Authorization: Bearer {self.token}\r\n"
            f"Accept: {accept}\r\n"
            "Content-Type: application/json"
        )
        with socket.create_connection(("127.0.0.1", self.port)) as line:
            line.sendall(
                f"{head}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
            )
            return re.sub(rb"\r\ndate: [^\r]*", b"", received(line), count=1, flags=re.IGNORECASE)

    def postgres(self, role: str = "", user: str = "ann", token: str = "", **more: str) -> str:
        """Where PostgreSQL's clients connect, as libpq is told it."""
        said = {
            "host": "127.0.0.1",
            "port": str(self.postgres_port),
            "user": user,
            "password": token or self.token,
            "dbname": role or next(iter(load_plan(self.plan).roles)),
            **more,
        }
        return " ".join(f"{name}={value}" for name, value in said.items())

    def audit(self) -> str:
        return (self.plan.parent / "tacit-audit.jsonl").read_text()


@contextmanager
def live(folder: Path, text: str = PLAN, **options: Any) -> Iterator[Live]:
    """A gateway on a plan in a folder."""
    with Live(write_plan(folder, text), **options) as running:
        yield running


def received(line: socket.socket) -> bytes:
    """All that comes until the connection ends."""
    parts = []
    while True:
        try:
            part = line.recv(65536)
        except ConnectionResetError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)
