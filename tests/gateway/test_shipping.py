"""The audit log's lines reach a collector, each once and in order, also after it was away."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from gateway.live import live
from services import free_port
from tacit.errors import ParameterError
from tacit.gateway import shipping
from tacit.gateway.options import Options
from tacit.gateway.shipping import Shipper, collector_of
from waiting import soon

LINES = [json.dumps({"at": "2026-04-01T09:30:00.000Z", "n": n}).encode() for n in range(1_200)]


class Received:
    """What came, and a way to wait for it."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._more = threading.Condition()

    def put(self, line: bytes) -> None:
        with self._more:
            self.lines.append(line)
            self._more.notify_all()

    def wait(self, count: int) -> list[bytes]:
        with self._more:
            assert self._more.wait_for(lambda: len(self.lines) >= count, 60)
            return list(self.lines)


def message_of(data: bytes) -> bytes:
    head, _, message = data.partition(b" audit - ")
    assert head.startswith(b"<110>1 2") and b" tacit " in head
    return message


@contextmanager
def tcp(found: Received, port: int = 0) -> Iterator[str]:
    server = socket.create_server(("127.0.0.1", port))

    def read() -> None:
        while True:
            try:
                line, _ = server.accept()
            except OSError:
                return
            with line, line.makefile("rb") as file:
                while size := file_number(file):
                    found.put(message_of(file.read(size)))

    threading.Thread(target=read, daemon=True).start()
    try:
        yield f"syslog://127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def file_number(file: Any) -> int:
    digits = b""
    while (one := file.read(1)).isdigit():
        digits += one
    return int(digits or 0)


@contextmanager
def datagrams(found: Received, folder: Path, family: int) -> Iterator[str]:
    server = socket.socket(family, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    server.bind(str(folder / "log") if family == socket.AF_UNIX else ("127.0.0.1", 0))

    def read() -> None:
        while data := server.recv(1 << 16):
            found.put(message_of(data))

    threading.Thread(target=read, daemon=True).start()
    if family == socket.AF_UNIX:
        yield f"syslog+unix://{folder / 'log'}"
    else:
        yield f"syslog+udp://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def otlp(found: Received, status: Callable[[], int] = lambda: 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.path == "/v1/logs" and self.headers["Content-Type"] == "application/json"
            code = status()
            [resource] = body["resourceLogs"]
            for record in resource["scopeLogs"][0]["logRecords"] if code == 200 else ():
                assert record["timeUnixNano"].endswith("000000")
                found.put(record["body"]["stringValue"].encode())
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"otlp+http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextmanager
def shipper(url: str) -> Iterator[tuple[Shipper, list[str]]]:
    told: list[str] = []
    one = Shipper(collector_of(url), told.append, pause=0.01)
    try:
        yield one, told
    finally:
        one.close()


@pytest.mark.parametrize("way", ["tcp", "udp", "unix", "otlp"])
def test_lines_come_in_order_each_once(way: str, tmp_path: Path) -> None:
    found = Received()
    ways = {
        "tcp": lambda: tcp(found),
        "udp": lambda: datagrams(found, tmp_path, socket.AF_INET),
        "unix": lambda: datagrams(found, tmp_path, socket.AF_UNIX),
        "otlp": lambda: otlp(found),
    }
    with ways[way]() as url, shipper(url) as (one, told):
        for at in range(0, len(LINES), 100):
            one.put(LINES[at : at + 100])
            found.wait(at + 100)
        assert found.lines == LINES and not told


def test_what_could_not_be_sent_is_sent_later() -> None:
    found, port = Received(), free_port()
    with shipper(f"syslog://127.0.0.1:{port}") as (one, told):
        one.put(LINES[:700])
        with tcp(found, port):
            assert found.wait(700) == LINES[:700]
        assert one.lost == 0 and len(told) <= 2


def test_the_newest_lines_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "MOST_KEPT", 50)
    found, port = Received(), free_port()
    with shipper(f"syslog://127.0.0.1:{port}") as (one, _):
        one.put(LINES[:80])
        assert (one.lost, one.waiting) == (30, 50)
        with tcp(found, port):
            assert found.wait(50) == LINES[30:80]


def test_a_collector_that_refuses_lines_does_not_hold_up_others() -> None:
    found, codes = Received(), iter([503, 400, 200, 200])
    with otlp(found, lambda: next(codes)) as url, shipper(url) as (one, told):
        one.put(LINES[:10])
        while one.waiting:
            threading.Event().wait(0.01)
        one.put(LINES[10:20])
        assert found.wait(10) == LINES[10:20] and one.lost == 10
        assert any("not taken" in text for text in told)


def test_the_gateway_ships_what_is_in_its_log_with_its_seals(tmp_path: Path) -> None:
    found = Received()
    with tcp(found) as url, live(tmp_path, audit_to=url) as running:
        assert running.query("SELECT ward FROM wards").status_code == 200
        assert running.query("SELECT name FROM stays").status_code == 403
        events = [json.loads(line) for line in found.wait(4)]
        assert [one["event"] for one in events[:2]] == ["chain", "decision"]
        with running.client() as client:
            assert soon(lambda: "tacit_audit_waiting 0.0" in client.get("/metrics").text)
    lines = running.audit().encode().splitlines()
    assert found.wait(len(lines)) == lines and b'"seal"' in lines[0]


@pytest.mark.parametrize("url", ["logs.example", "http://x", "syslog://", "syslog://h:99999", ""])
def test_an_address_that_means_nothing_is_refused(url: str) -> None:
    with pytest.raises(ParameterError, match="no address of a collector"):
        Options(audit_to=url)
