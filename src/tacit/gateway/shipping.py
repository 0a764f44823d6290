"""Shipping: lines of the audit log on their way to a collector, by syslog or OpenTelemetry.

The file is the log: what cannot be shipped holds up nobody. It is tried again, the newest lines are
kept, and how many were lost is said.
"""

from __future__ import annotations

import json
import os
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from tacit.errors import ParameterError

MOST_KEPT = 100_000  # lines that wait
AT_ONCE = 500
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
SECONDS = 10.0  # for the other side to take something
MOST_DATAGRAM = 60_000  # bytes
LAST_SECONDS = 3.0  # for what waits when the gateway ends
PRIORITY = 13 * 8 + 6  # log audit, informational
NOT_AGAIN = (400, 404, 405, 413, 415)  # answers that another try would not change
INFO = 9  # as OpenTelemetry counts
SYSLOG = {"syslog": "tcp", "syslog+udp": "udp", "syslog+tls": "tls", "syslog+unix": "unix"}
OTLP = {"otlp+http": "http", "otlp+https": "https"}
FORMS = "syslog://HOST:514, syslog+udp://, syslog+tls://, syslog+unix:///dev/log, otlp+http(s)://"


@dataclass(frozen=True, slots=True)
class Collector:
    """Where lines go: `kind` is tcp, udp, tls or unix for syslog, http or https for OTLP."""

    kind: str
    host: str
    port: int
    path: str


def collector_of(url: str) -> Collector:
    """What an address means; a ParameterError where it means nothing.

    >>> collector_of("otlp+http://logs.example:4318")
    Collector(kind='http', host='logs.example', port=4318, path='/v1/logs')
    """
    found = urlsplit(url)
    kind = {**SYSLOG, **OTLP}.get(found.scheme)
    with suppress(ValueError):
        usual = {"tls": 6514, "http": 4318, "https": 4318}.get(kind or "", 514)
        path = found.path or ("/v1/logs" if found.scheme in OTLP else "")
        made = Collector(kind or "", found.hostname or "", found.port or usual, path)
        if kind is not None and (made.host or (kind == "unix" and path)):
            return made
    raise ParameterError(
        f"audit-to = {url} is no address of a collector.",
        parameter="audit_to",
        hint=f"Write one such as {FORMS}.",
    )


class Unwanted(Exception):
    """The collector read the lines, and will not take them."""


class Shipper:
    """Sends lines in a thread of its own. `lost` counts those that there was no room for."""

    def __init__(
        self, collector: Collector, tell: Callable[[str], None], *, pause: float = FIRST_PAUSE
    ) -> None:
        self.lost = 0
        self._collector = collector
        self._tell = tell
        self._pause = pause
        self._waiting: deque[bytes] = deque()
        self._more = threading.Condition()
        self._ending = threading.Event()
        self._line: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, name="tacit-audit-ship", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many lines were not taken yet."""
        return len(self._waiting)

    def put(self, lines: Sequence[bytes]) -> None:
        """Have lines sent soon."""
        with self._more:
            self._waiting.extend(lines)
            while len(self._waiting) > MOST_KEPT:
                self._waiting.popleft()
                self.lost += 1
            self._more.notify()

    def close(self) -> None:
        """Send what waits, for a short while, and stop."""
        self._ending.set()
        with self._more:
            self._more.notify()
        self._thread.join(LAST_SECONDS)

    def _run(self) -> None:
        pause, failing = self._pause, False
        while True:
            with self._more:
                self._more.wait_for(lambda: self._waiting or self._ending.is_set())
                lines, lost = list(islice(self._waiting, AT_ONCE)), self.lost
            if not lines:
                self._drop()
                return
            try:
                self._send(lines)
            except Unwanted as error:
                self._tell(f"{len(lines)} lines of the audit log were not taken: {error}")
                self._take_out(len(lines), lost, refused=True)
                continue
            except (OSError, ValueError) as error:
                self._drop()
                if not failing:
                    self._tell(f"The audit log's lines cannot be shipped, and wait: {error}")
                failing = True
                if self._ending.is_set():
                    return
                self._ending.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            if failing:
                self._tell(f"The audit log's lines are shipped again; {self.lost} were lost.")
            pause, failing = self._pause, False
            self._take_out(len(lines), lost)

    def _take_out(self, count: int, lost: int, *, refused: bool = False) -> None:
        """Let the first lines go; some of them may have been dropped since `lost` were."""
        with self._more:
            for _ in range(count - (self.lost - lost)):
                self._waiting.popleft()
                self.lost += refused

    def _send(self, lines: Sequence[bytes]) -> None:
        if self._collector.kind in OTLP.values():
            self._post(lines)
            return
        line = self._line = self._line or connected(self._collector)
        messages = [syslog_message(one) for one in lines]
        if self._collector.kind in ("udp", "unix"):
            for one in messages:
                line.send(one[:MOST_DATAGRAM])
        else:
            line.sendall(b"".join(b"%d %b" % (len(one), one) for one in messages))

    def _post(self, lines: Sequence[bytes]) -> None:
        one = self._collector
        request = urllib.request.Request(
            f"{one.kind}://{one.host}:{one.port}{one.path}",
            otlp_body(lines),
            {"Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=SECONDS) as answer:
                answer.read()
        except urllib.error.HTTPError as error:
            if error.code in NOT_AGAIN:
                raise Unwanted(str(error)) from None
            raise

    def _drop(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            with suppress(OSError):
                line.close()


def connected(collector: Collector) -> socket.socket:
    """A line to a collector of syslog."""
    if collector.kind == "unix":
        line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        line.settimeout(SECONDS)
        line.connect(collector.path)
        return line
    place = (collector.host, collector.port)
    if collector.kind == "udp":
        family, kind, protocol, _, address = socket.getaddrinfo(*place, type=socket.SOCK_DGRAM)[0]
        line = socket.socket(family, kind, protocol)
        line.connect(address)
        return line
    line = socket.create_connection(place, SECONDS)
    if collector.kind == "tls":
        context = ssl.create_default_context()
        return context.wrap_socket(line, server_hostname=collector.host)
    return line


def syslog_message(line: bytes) -> bytes:
    """A line as a message of syslog (RFC 5424).

    >>> syslog_message(b'{"at": "2026-04-01T09:30:00.000Z", "event": "x"}')[:32]
    b'<110>1 2026-04-01T09:30:00.000Z '
    """
    host = socket.gethostname() or "-"
    head = f"<{PRIORITY}>1 {said(line).get('at', '-')} {host} tacit {os.getpid()} audit - "
    return head.encode() + line


def otlp_body(lines: Sequence[bytes]) -> bytes:
    """Lines as a request of OTLP over HTTP, in JSON."""
    service = {"key": "service.name", "value": {"stringValue": "tacit"}}
    logs = {"scope": {"name": "tacit.audit"}, "logRecords": [log_record(one) for one in lines]}
    resource = {"resource": {"attributes": [service]}, "scopeLogs": [logs]}
    return json.dumps({"resourceLogs": [resource]}).encode()


def log_record(line: bytes) -> dict[str, Any]:
    """A line as a record of OpenTelemetry, with its texts as attributes."""
    event = said(line)
    record: dict[str, Any] = {
        "severityNumber": INFO,
        "severityText": "INFO",
        "body": {"stringValue": line.decode()},
        "attributes": [
            {"key": f"tacit.{name}", "value": {"stringValue": value}}
            for name, value in event.items()
            if isinstance(value, str) and name not in ("at", "seal")
        ],
    }
    with suppress(KeyError, TypeError, ValueError):
        at = datetime.fromisoformat(event["at"])
        record["timeUnixNano"] = str(int(at.timestamp() * 1_000) * 1_000_000)
    return record


def said(line: bytes) -> dict[str, Any]:
    """What a line says."""
    with suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict):
            return found
    return {}
