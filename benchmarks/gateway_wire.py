"""The gateway in PostgreSQL's protocol: known decisions, psql's \\d, a million rows, memory.

    python -m benchmarks.gateway_wire known | described | rows | memory | fairness

The gateway is `tacit serve` in a process of its own; the clients are asyncpg, psql and psycopg, in
this one and on the same cores. Time inside the server is by its own histogram
(`tacit_query_seconds`): from the message to the last byte of the answer.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.__main__ import ROOT
from benchmarks.gateway import COLUMNS, ROWS, Gateway, a_postgres, alone, serving

CLIENTS, PER_SECOND, SECONDS = 200, 500, 10.0
REQUESTS = 100_000
TIMES = 5
KNOWN = [f"SELECT ward, nurse FROM wards WHERE floor = {number}" for number in range(100)]


@contextmanager
def door(source: str = ".", *words: str, **more: Any) -> Iterator[tuple[Gateway, str]]:
    """A gateway, and where PostgreSQL's clients connect."""
    sys.path.insert(0, str(ROOT / "tests"))
    from services import free_port

    port = free_port()
    with serving(source, "--postgres-port", str(port), "--no-workbench", *words, **more) as found:
        yield found, f"postgresql://nurse:{found.token}@127.0.0.1:{port}/nurses"


def known() -> dict[str, Any]:
    """Many clients ask what is decided already, so many times a second in all."""
    with door() as (gateway, url):
        return asyncio.run(load(gateway, url))


async def load(gateway: Gateway, url: str) -> dict[str, Any]:
    """The load, and what it took, inside the server and outside."""
    import asyncpg

    lines = [await asyncpg.connect(url) for _ in range(CLIENTS)]
    for sql in KNOWN:
        await lines[0].fetch(sql)
    decisions = "tacit_decision_seconds"
    before, decided, took = buckets(gateway), buckets(gateway, decisions), []
    used = gateway.cpu()

    async def ask(number: int) -> None:
        await asyncio.sleep(number * CLIENTS / PER_SECOND / CLIENTS)
        until = time.perf_counter() + SECONDS
        while time.perf_counter() < until:
            begun = time.perf_counter()
            await lines[number].fetch(KNOWN[number % len(KNOWN)])
            took.append(time.perf_counter() - begun)
            await asyncio.sleep(max(0.0, CLIENTS / PER_SECOND - took[-1]))

    await asyncio.gather(*(ask(number) for number in range(CLIENTS)))
    inside = {bound: count - before.get(bound, 0) for bound, count in buckets(gateway).items()}
    judged = {
        bound: count - decided.get(bound, 0) for bound, count in buckets(gateway, decisions).items()
    }
    cpu = gateway.cpu() - used
    for line in lines:
        await line.close()
    return {
        "asked": len(took),
        "CPU milliseconds each": 1000 * cpu / len(took),
        "decision, median under": least(judged, 0.5),
        "decision, 99 % under": least(judged, 0.99),
        "per second": len(took) / SECONDS,
        "inside, median under": least(inside, 0.5),
        "inside, 99 % under": least(inside, 0.99),
        "outside, median": statistics.median(took),
        "outside, 99 %": statistics.quantiles(took, n=100)[98],
    }


def buckets(gateway: Gateway, name: str = "tacit_query_seconds") -> dict[float, float]:
    """A histogram of the server's own: of queries, or of decisions that were known."""
    with urllib.request.urlopen(f"http://127.0.0.1:{gateway.port}/metrics") as answer:
        text = answer.read().decode()
    known = '(?:cached="yes",)?'
    found = re.findall(rf'{name}_bucket\{{{known}le="([^"]+)"\}} (\S+)', text)
    return {float(bound): float(count) for bound, count in found}


def least(counts: dict[float, float], share: float) -> float:
    """The least bound under which so large a share lies."""
    return min(bound for bound, count in counts.items() if count >= share * counts[float("inf")])


def described() -> dict[str, Any]:
    """psql's \\d of a table: the first time, and the median of the next."""
    with door() as (_, url):
        took = []
        for _ in range(TIMES * 2):
            empty = seconds_of(["psql", "-X", url, "-c", "SELECT 1"])
            took.append(seconds_of(["psql", "-X", url, "-c", r"\d patients"]) - empty)
    return {"first": took[0], "median of others": statistics.median(took[1:])}


def seconds_of(command: list[str]) -> float:
    """How long a command takes."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def rows() -> dict[str, Any]:
    """A million rows by psycopg: from the gateway, and from PostgreSQL itself."""
    found: dict[str, Any] = {}
    sql, words = f"SELECT {COLUMNS} FROM people WHERE id <= {ROWS}", ("--row-limit", "100000000")
    nullable = "[name, age, amount, day]"
    with ExitStack() as stack:
        source, owner = stack.enter_context(a_postgres())
        folder = stack.enter_context(TemporaryDirectory())
        alone("make_duckdb", f"{folder}/people.duckdb")
        _, ours = stack.enter_context(door(source, *words, nullable=nullable))
        _, duck = stack.enter_context(door(f"{folder}/people.duckdb", *words, nullable=nullable))
        for binary in (False, True):
            times = {"PostgreSQL": [], "gateway": [], "gateway on DuckDB": []}
            for _ in range(TIMES):
                for name, url in zip(times, (owner, ours, duck), strict=True):
                    times[name].append(fetched(url, sql, binary))
            form = "binary" if binary else "text"
            found |= {f"{name}, {form}": statistics.median(one) for name, one in times.items()}
    return found


def fetched(url: str, sql: str, binary: bool) -> float:
    """Seconds until psycopg has all rows."""
    import psycopg

    with psycopg.connect(url) as line:
        begun = time.perf_counter()
        assert len(line.cursor(binary=binary).execute(sql).fetchall()) == ROWS  # type: ignore[call-overload]
        return time.perf_counter() - begun


def memory() -> dict[str, Any]:
    """The server's memory after a tenth of many requests, and after all."""
    import psycopg

    with door() as (gateway, url):
        at = {}
        for number in range(REQUESTS):
            if number % 1_000 == 0:
                line = psycopg.connect(url, autocommit=True)
            line.execute(KNOWN[number % len(KNOWN)]).fetchall()  # type: ignore[call-overload]
            if number % 1_000 == 999:
                line.close()
            if number + 1 in (REQUESTS // 10, REQUESTS):
                at[f"MB after {number + 1:,}"] = round(gateway.megabytes("VmRSS"), 1)
    return at


def fairness() -> dict[str, Any]:
    """How long somebody waits who asks now and then, alone and beside a user at full load: slow
    queries in many connections, and queries that nobody asked before.
    """
    with door(also="other") as (gateway, url):
        return asyncio.run(beside(gateway, url))


async def beside(gateway: Gateway, url: str) -> dict[str, Any]:
    """The waits of one user, in milliseconds, before and while another is at full load."""
    import asyncpg

    other = await asyncpg.connect(url.replace(f"nurse:{gateway.token}", gateway.others["other"]))
    alone = await waits(other)
    stop = asyncio.Event()

    async def load(number: int) -> int:
        line, done = await asyncpg.connect(url), 0
        while not stop.is_set():
            done += 1
            sql = SLOW if number % 2 else f"SELECT nurse FROM wards WHERE floor = {number}{done}"
            try:
                await line.fetch(sql)
            except asyncpg.PostgresError as error:
                refused[error.sqlstate] = refused.get(error.sqlstate, 0) + 1
        return done

    refused: dict[str, int] = {}
    tasks = [asyncio.create_task(load(number)) for number in range(GREEDY)]
    await asyncio.sleep(2)
    loaded = await waits(other)
    stop.set()
    for task in tasks:
        task.cancel()
    asked = "asked by the other user meanwhile"
    return {"alone": alone, "beside": loaded, "refused": refused, asked: len(tasks)}


async def waits(line: Any) -> dict[str, float]:
    """How long known and new queries take, in milliseconds."""
    took = []
    for number in range(CALM):
        new = number % 5 == 0
        sql = f"SELECT ward FROM wards WHERE floor = {time.time_ns()}" if new else KNOWN[0]
        begun = time.perf_counter()
        await line.fetch(sql)
        took.append(1000 * (time.perf_counter() - begun))
        await asyncio.sleep(0.05)
    return {"median": statistics.median(took), "99 %": statistics.quantiles(took, n=100)[98]}


SLOW = f"SELECT count(*) AS n FROM {', '.join(f'wards w{at}' for at in range(24))}"
GREEDY, CALM = 20, 200

if __name__ == "__main__":
    wanted = {"known": known, "described": described, "rows": rows, "memory": memory}
    wanted["fairness"] = fairness
    print(json.dumps(wanted[sys.argv[1]](), indent=2))
