"""The gateway: time for decisions, decisions per second, and large answers beside the engine alone.

    python -m benchmarks.gateway decisions | uncached | saturation | answers

The gateway is `tacit serve` in a process of its own on a port of this machine; the load comes from
another process, on the same cores. Time inside the server is what it says itself, from the head of
the request to its decision. Large answers are read and thrown away. The peers are the engine alone
in a process, writing the same rows in the same format: `share` is against one whose bytes go to a
reader on the same cores, as ours do (DuckDB through a pipe; psql has read them from the server),
`bare` against one whose bytes reach nobody. Both have answered the same query before. They run in
turn, and shares are medians of the engine's time over the gateway's, pair by pair: where others
work on the machine the least of some times is luck, and more often with the shorter work. CPU
seconds are of the gateway and of the peer, without PostgreSQL's server, which does the same for
both.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import resource
import select
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.__main__ import ROOT, measured
from benchmarks.overlap import require

CONNECTIONS, PER_SECOND, SECONDS = 200, 500, 10.0
KNOWN = 100  # queries that are asked again and again
NEW = 400  # queries that nobody asked before
ROWS, TIMES = 1_000_000, 9
COLUMNS = "id, name, age, amount, day"
MAKE = """
    CREATE TABLE people AS SELECT i AS id, 'name ' || i AS name, CAST(i % 100 AS integer) AS age,
    CAST(i * 1.5 AS decimal(12, 2)) AS amount, DATE '2020-01-01' + CAST(i % 1000 AS integer) AS day FROM generate_series(1, {rows}) AS s(i)
"""  # noqa: E501
PLAN = """\
version: 1
source: {source}
tables:
  people: {{key: [id], nullable: {nullable}}}
  patients: {{columns: {{pid: integer, name: text, age: integer, illness: text, ward: text}}, nullable: [], rows: [[1, Ann, 30, flu, A], [2, Bob, 40, cancer, B]]}}
  wards: {{columns: {{ward: text, nurse: text, floor: integer}}, nullable: [], rows: [[A, Kim, 1], [B, Lee, 2]]}}
  stays: {{columns: {{pid: integer, ward: text, day: integer}}, nullable: [], rows: [[1, A, 1], [2, B, 2]]}}
secrets:
  cancer: "SELECT name FROM patients WHERE illness = 'cancer'"
  old: "SELECT p.name, s.day FROM patients p, stays s WHERE p.pid = s.pid AND p.age > 90 AND p.illness = 'cold' AND s.ward = 'C'"
  together: "SELECT a.pid, b.pid FROM stays a, stays b WHERE a.ward = b.ward AND a.day = b.day AND a.ward = 'D'"
roles:
  nurses: {{default: allow, deny: [cancer, old, together]}}
"""  # noqa: E501
# Of a nurse's day: some are allowed, some are not. {0} is a number that makes each another query.
ASKED = (
    "SELECT ward, nurse FROM wards WHERE floor = {0}",
    "SELECT age, ward FROM patients WHERE illness = 'flu{0}'",
    (
        "SELECT p.name, w.nurse FROM patients p JOIN wards w ON p.ward = w.ward WHERE "
        "p.illness = 'flu' AND p.age = {0} AND w.floor = 2"
    ),
    (
        "SELECT w.nurse, s.day FROM wards w JOIN stays s ON s.ward = w.ward WHERE w.ward = 'A' "
        "AND w.floor > {0} ORDER BY 2 DESC"
    ),
    "SELECT name FROM patients WHERE age < {0} AND ward IN ('A', 'B')",
    (
        "SELECT p.name, a.day FROM patients p, stays a, stays b, wards w WHERE p.pid = a.pid "
        "AND a.ward = b.ward AND b.ward = w.ward AND w.floor = {0}"
    ),
    "SELECT nurse, count(*) FROM wards WHERE floor <> {0} GROUP BY nurse",
)
ARROW, CSV, JSON = "application/vnd.apache.arrow.stream", "text/csv", "application/json"
alone = partial(measured, "benchmarks.gateway")


# -- a gateway to measure --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gateway:
    """A gateway that runs: where, with which token, as which process."""

    port: int
    token: str
    process: int
    others: Mapping[str, str] = field(default_factory=dict)  # NAME:TOKEN of further users

    def cpu(self) -> float:
        """The CPU seconds of the server's own process so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self, which: str = "VmHWM") -> float:
        """The most memory of the server's own process so far, or what it holds now (VmRSS)."""
        lines = Path(f"/proc/{self.process}/status").read_text("utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(which))

    def forget_peak(self) -> None:
        """Count the peak from here on, where the system lets us."""
        with suppress(OSError):
            Path(f"/proc/{self.process}/clear_refs").write_text("5")


@contextmanager
def serving(
    source: str = ".", *words: str, nullable: str = "[]", also: str = ""
) -> Iterator[Gateway]:
    """`tacit serve` on a plan in a folder of its own."""
    from tacit.ledger.ledger import open_ledger
    from tacit.ledger.users import Users

    with TemporaryDirectory() as name:
        folder = Path(name)
        plan = PLAN.format(source=json.dumps(source), nullable=nullable)
        if source == ".":
            plan = re.sub("^  people:.*\n", "", plan, flags=re.MULTILINE)
        (folder / "tacit.yaml").write_text(plan, "utf-8")
        with open_ledger("tacit-ledger.sqlite", folder, create=True) as ledger:
            token = Users(ledger).add("nurse", ["nurses"])
            others = {also: f"{also}:{Users(ledger).add(also, ['nurses'])}"} if also else {}
        command = [
            sys.executable,
            "-m",
            "tacit",
            "serve",
            str(folder / "tacit.yaml"),
            "--port",
            "0",
            *words,
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                yield Gateway(port_of(process), token, process.pid, others)
            finally:
                process.terminate()


def port_of(process: subprocess.Popen[str]) -> int:
    """The port that a gateway says it listens at."""
    said = ""
    assert process.stderr
    while process.poll() is None:
        if select.select([process.stderr], [], [], 60)[0]:
            said += process.stderr.readline()
            if found := re.search(r"answers at http://[^:]+:(\d+)", said):
                return int(found[1])
    raise RuntimeError(said + process.stderr.read())


# -- load ------------------------------------------------------------------------------------------


class Asker(asyncio.Protocol):
    """One connection: sends a request that is ready-made, and hears when its answer is complete."""

    def __init__(self, heard: Callable[[Asker, bytes, float], None]) -> None:
        self._heard = heard
        self._answer = b""
        self._length = 0
        self._begun = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Someone is there."""
        self._transport = transport

    def ask(self, request: bytes) -> None:
        """Send a request; nothing else is under way on this connection."""
        self._answer, self._length, self._begun = b"", 0, time.perf_counter()
        self._transport.write(request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Some of the answer."""
        self._answer += data
        if not self._length and (head := self._answer.find(b"\r\n\r\n")) > 0:
            at = self._answer.index(b"content-length: ") + 16
            self._length = head + 4 + int(self._answer[at : self._answer.index(b"\r", at)])
        if self._length and len(self._answer) >= self._length:
            self._heard(self, self._answer, time.perf_counter() - self._begun)


def request_of(token: str, path: str, sql: str, accept: str = JSON) -> bytes:
    """A request, ready to send."""
    body = json.dumps({"sql": sql}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\n"
        "Host: gateway\r\n"
        f"Authorization: Bearer {token}\r\n"
        f"Accept: {accept}\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}"
    )
    return head.encode() + b"\r\n\r\n" + body


def queries(count: int, first: int = 0) -> list[str]:
    """Some queries, no two alike."""
    return [ASKED[number % len(ASKED)].format(number) for number in range(first, first + count)]


async def load(
    port: int, token: str, connections: int, rate: float | None, seconds: float
) -> dict[str, Any]:
    """Ask queries that are known by now on many connections:
    so many a second in all, or (None) as many as are answered.
    """
    loop = asyncio.get_running_loop()
    requests = [request_of(token, "/check", sql) for sql in queries(KNOWN)]
    took: list[float] = []
    answers: list[bytes] = []
    asked, late, ending = 0, 0, time.perf_counter() + seconds
    free: list[Asker] = []

    def heard(asker: Asker, answer: bytes, time_taken: float) -> None:
        nonlocal asked
        took.append(time_taken)
        answers.append(answer)
        if rate is None and time.perf_counter() < ending:
            asker.ask(requests[asked % KNOWN])
            asked += 1
        else:
            free.append(asker)

    for _ in range(connections):
        free.append((await loop.create_connection(lambda: Asker(heard), "127.0.0.1", port))[1])
    begun = time.perf_counter()
    ending = begun + seconds
    free.reverse()
    if rate is None:
        for asker in [free.pop() for _ in range(connections)]:
            asker.ask(requests[asked % KNOWN])
            asked += 1
    else:
        for number in range(int(rate * seconds)):
            due = begun + number / rate
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            if free:
                free.pop(0).ask(requests[number % KNOWN])  # in turn: all connections are used
            else:
                late += 1
    while len(free) < connections:
        await asyncio.sleep(0.001)
    wall = time.perf_counter() - begun
    cpu = time.process_time()
    inside, cached = read_answers(answers)
    found = {"answered": len(answers), "cached": cached, "late": late, "wall": wall, "cpu": cpu}
    for part, name in ((0.5, "median"), (0.99, "p99"), (1.0, "most")):
        found |= {name: share(inside, part), f"round_{name}": 1000 * share(took, part)}
    return found


def read_answers(answers: list[bytes]) -> tuple[list[float], int]:
    """The milliseconds that the server took by its own clock, and how many decisions were known;
    all must be answers.
    """
    require(all(one.startswith(b"HTTP/1.1 200") for one in answers), "a request was not answered")
    bodies = [json.loads(one.partition(b"\r\n\r\n")[2]) for one in answers]
    return [one["milliseconds"] for one in bodies], sum(one["cached"] for one in bodies)


def loaded(
    gateway: Gateway, connections: int, rate: float | None, seconds: float
) -> dict[str, Any]:
    """The same, from another process."""
    return alone(
        "load", str(gateway.port), gateway.token, str(connections), str(rate or ""), str(seconds)
    )


def decide_all(gateway: Gateway) -> None:
    """Have all queries that are asked again and again decided once, however long it takes."""
    with socket.create_connection(("127.0.0.1", gateway.port)) as line:
        for sql in queries(KNOWN):
            answer_to(line, request_of(gateway.token, "/check", sql))


def share(values: list[float], part: float) -> float:
    """The value that a part of all does not exceed."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def decisions() -> list[dict[str, Any]]:
    """Known decisions under a steady load."""
    with serving() as gateway:
        decide_all(gateway)
        loaded(gateway, 4, None, 1.0)  # the server is warm
        found = loaded(gateway, CONNECTIONS, PER_SECOND, SECONDS)
    require(found["cached"] == found["answered"], "a decision was not known")
    require(found["answered"] + found["late"] == int(PER_SECOND * SECONDS), "requests were lost")
    return [{"name": f"{CONNECTIONS} connections, {PER_SECOND} requests/s", **found}]


def saturation() -> list[dict[str, Any]]:
    """As many known decisions as there can be."""
    rows = []
    with serving() as gateway:
        decide_all(gateway)
        loaded(gateway, 4, None, 1.0)
        for connections in (8, CONNECTIONS):
            before = gateway.cpu()
            found = loaded(gateway, connections, None, SECONDS)
            cpu, asked = gateway.cpu() - before, found["answered"]
            more = {
                "per_second": asked / found["wall"],
                "server_cpu": cpu / asked,
                "load_cpu": found["cpu"] / asked,
            }
            rows.append({"name": f"{connections} connections", **found, **more})
    return rows


def uncached() -> list[dict[str, Any]]:
    """Decisions on queries that nobody asked before, one after the other."""
    with serving() as gateway, socket.create_connection(("127.0.0.1", gateway.port)) as line:
        told = [
            answer_to(line, request_of(gateway.token, "/check", sql)) for sql in queries(NEW, 1000)
        ]
    require(not any(one["cached"] for one in told), "a decision was known")
    times = [one["milliseconds"] for one in told[20:]]  # the first ones find the processes cold
    return [
        {
            "name": f"{len(times)} new queries",
            "median": statistics.median(times),
            "p99": share(times, 0.99),
            "most": max(times),
            "codes": dict(Counter(one["code"] for one in told)),
            "first": told[0]["milliseconds"],
        }
    ]


def answer_to(line: socket.socket, request: bytes) -> Any:
    """The body of an answer, which is JSON."""
    line.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += line.recv(65536)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
    while len(body) < length:
        body += line.recv(65536)
    require(head.startswith(b"HTTP/1.1 200"), body.decode())
    return json.loads(body)


# -- large answers ---------------------------------------------------------------------------------


def drained(port: int, token: str, accept: str, sql: str) -> dict[str, Any]:
    """Read an answer and throw it away: seconds and bytes, and that it was whole."""
    room, size, last = bytearray(1 << 20), 0, b""
    begun = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.sendall(request_of(token, "/query", sql, accept))
        first = line.recv_into(room)
        require(bytes(room[:12]) == b"HTTP/1.1 200", bytes(room[:first]).decode("utf-8", "replace"))
        size, last = first, bytes(room[max(0, first - 5) : first])
        while not last.endswith(b"0\r\n\r\n"):
            count = line.recv_into(room)
            require(count > 0, "the answer was cut off")
            size, last = size + count, (last + bytes(room[max(0, count - 5) : count]))[-5:]
    return {"seconds": time.perf_counter() - begun, "bytes": size}


def answers() -> list[dict[str, Any]]:
    """A million rows through the gateway in each format, beside the engine alone;
    and four million, to see whether memory grows.
    """
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        alone("make_duckdb", f"{folder}/people.duckdb")
        rows += compared("DuckDB", f"{folder}/people.duckdb", f"{folder}/people.duckdb")
    try:
        with ExitStack() as stack:
            source, owner = stack.enter_context(a_postgres())
            rows += compared("PostgreSQL", source, owner)
    except Unavailable as reason:
        rows.append({"skipped": f"PostgreSQL: {reason}"})
    return rows


def compared(engine: str, source: str, peer: str) -> Iterator[dict[str, Any]]:
    """Each format on one engine, the gateway and the engine in turn:
    medians, and the least of each.
    """
    with serving(
        source, "--row-limit", "100000000", nullable="[name, age, amount, day]"
    ) as gateway:
        for name, accept in (("Arrow", ARROW), ("CSV", CSV), ("JSON", JSON)):
            sql = f"SELECT {COLUMNS} FROM people WHERE id <= {ROWS}"
            ask = partial(alone, "drained", str(gateway.port), gateway.token, accept)
            ask(sql)
            gateway.forget_peak()
            before, used = gateway.megabytes("VmRSS"), gateway.cpu()
            times, peers = [], []
            for _ in range(TIMES):
                times.append(ask(sql))
                peers.append(alone("engine", engine, peer, name))
            cpu, most = (gateway.cpu() - used) / TIMES, gateway.megabytes()
            gateway.forget_peak()
            ask(f"SELECT {COLUMNS} FROM people")
            ours, theirs = [one["seconds"] for one in times], [one["seconds"] for one in peers]
            bare = [one["bare"] for one in peers]
            yield {
                "name": f"{engine}, {name}",
                "seconds": statistics.median(ours),
                "peer": statistics.median(theirs),
                "share": part_of(ours, theirs),
                "bare": part_of(ours, bare),
                "least": min(ours),
                "peer_least": min(theirs),
                "cpu": cpu,
                "peer_cpu": statistics.mean(one["cpu"] for one in peers),
                "bytes": times[0]["bytes"],
                "before": before,
                "most": most,
                "most_of_four": gateway.megabytes(),
                "how": peers[0]["how"],
            }


def part_of(ours: list[float], theirs: list[float]) -> float:
    """What part of the peer's speed we have, the median of pairs."""
    return statistics.median(peer / took for took, peer in zip(ours, theirs, strict=True))


def engine(kind: str, source: str, name: str) -> dict[str, Any]:
    """The engine alone: the rows in a format, thrown away. `how` says how."""
    return (postgres_alone if kind == "PostgreSQL" else duckdb_alone)(
        source, name, f"SELECT {COLUMNS} FROM people WHERE id <= {ROWS}"
    )


def duckdb_alone(source: str, name: str, sql: str) -> dict[str, Any]:
    """DuckDB in this process: its batches as Arrow's stream, or its own COPY.
    The second time counts: the gateway is warm too.
    """
    import duckdb

    with duckdb.connect(source, read_only=True) as database:
        for _ in range(2):
            begun, cpu = time.perf_counter(), time.process_time()
            write_all(database, name, sql, os.devnull)
            bare, used = time.perf_counter() - begun, time.process_time() - cpu
            read = to_a_reader(partial(write_all, database, name, sql))
    return {
        "seconds": read,
        "bare": bare,
        "cpu": used,
        "how": (
            f"{'its batches as a stream' if name == 'Arrow' else f'its COPY to {name}'}, to "
            "a reader"
        ),
    }


def to_a_reader(write: Callable[[str], None]) -> float:
    """Seconds until another process has read all that is written to a file, and thrown it away
    as `drained` does.
    """
    room = 1 << 20
    loop = (
        "import os\n"
        f"room = bytearray({room})\n"
        "os.write(1, b'.')\n"
        "while os.readv(0, [room]): pass\n"
        "os.write(1, b'.')"
    )
    with subprocess.Popen(
        [sys.executable, "-S", "-c", loop], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin is not None and reader.stdout is not None
        fcntl.fcntl(reader.stdin, fcntl.F_SETPIPE_SZ, room)
        reader.stdout.read(1)  # it is there
        begun = time.perf_counter()
        write(f"/dev/fd/{reader.stdin.fileno()}")
        reader.stdin.close()
        reader.stdout.read(1)  # it has read all
        return time.perf_counter() - begun


def write_all(database: Any, name: str, sql: str, place: str) -> None:
    """Have DuckDB write an answer to a file."""
    from pyarrow import ipc

    from tacit.engines.streams import BATCH_ROWS

    if name == "Arrow":
        relation = database.sql(sql)
        reader = (
            relation.to_arrow_reader
            if hasattr(relation, "to_arrow_reader")
            else relation.fetch_arrow_reader
        )(BATCH_ROWS)
        with open(place, "wb") as sink, ipc.new_stream(sink, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
    else:
        array = ", ARRAY true" if name == "JSON" else ""
        database.execute(
            f"COPY ({sql}) TO '{place}' (FORMAT {name.lower()}{array}, USE_TMP_FILE false)"
        )


def postgres_alone(source: str, name: str, sql: str) -> dict[str, Any]:
    """psql's \\copy by its own clock, which leaves out that it starts.
    PostgreSQL has no Arrow: CSV is its fastest way out as text.
    """
    wanted = f"SELECT json_build_array({COLUMNS}) FROM ({sql}) AS x" if name == "JSON" else sql
    how = {
        "JSON": "psql, COPY of JSON arrays",
        "CSV": "psql, COPY to CSV",
        "Arrow": "psql, COPY to CSV (it has no Arrow)",
    }[name]
    copy = f"\\copy ({wanted}) TO '{os.devnull}' (FORMAT {'text' if name == 'JSON' else 'csv'})"
    command = ["psql", "-X", "-v", "ON_ERROR_STOP=1", source, "-c", "\\timing on", "-c", copy]
    told = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    ).stdout
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = float(re.findall(r"Time: ([0-9.]+) ms", told)[-1]) / 1000
    return {"seconds": took, "bare": took, "cpu": used.ru_utime + used.ru_stime, "how": how}


def make_duckdb(path: str) -> None:
    """Four million people in a file."""
    import duckdb

    with duckdb.connect(path) as database:
        database.execute(MAKE.format(rows=4 * ROWS))


class Unavailable(Exception):
    """There is no PostgreSQL here."""


@contextmanager
def a_postgres() -> Iterator[tuple[str, str]]:
    """The people in a PostgreSQL of our own:
    the gateway's URL, whose role may only read, and the owner's.
    """
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        import services
    except ImportError as error:
        raise Unavailable(str(error)) from None
    if shutil.which("psql") is None:
        raise Unavailable("no psql to compare with")
    with ExitStack() as stack:
        try:
            url = stack.enter_context(services.database(stack.enter_context(services.postgres())))
        except services.UnavailableError as reason:
            raise Unavailable(str(reason)) from None
        reader = f"gateway_reader_{os.getpid()}"
        with psycopg.connect(url, autocommit=True) as database:
            database.execute(MAKE.format(rows=4 * ROWS).encode())
            database.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
            database.execute(f"CREATE ROLE {reader} LOGIN")
            database.execute(
                f"GRANT SELECT ON people TO {reader}; GRANT TEMPORARY ON DATABASE "
                f"{database.info.dbname} TO {reader}"
            )
            database.execute("VACUUM ANALYZE people")
        known = conninfo_to_dict(url)
        try:
            yield f"postgresql://{reader}@{known['host']}:{known['port']}/{known['dbname']}", url
        finally:
            with psycopg.connect(url, autocommit=True) as database:
                database.execute(f"DROP OWNED BY {reader}")
                database.execute(f"DROP ROLE {reader}")


def main() -> None:
    what, *words = sys.argv[1:]
    if what == "load":
        port, token, connections, rate, seconds = words
        with suppress(ImportError):
            import uvloop

            asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
        found: Any = asyncio.run(
            load(int(port), token, int(connections), float(rate) if rate else None, float(seconds))
        )
    elif what == "drained":
        found = drained(int(words[0]), *words[1:])
    elif what in ("engine", "make_duckdb"):
        found = globals()[what](*words)
    else:
        found = {
            "rows": {
                "decisions": decisions,
                "uncached": uncached,
                "saturation": saturation,
                "answers": answers,
            }[what]()
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
