"""Tables and queries at random over PostgreSQL's protocol: the same bytes whatever is hidden, and
value by value what HTTP answers.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gateway.answer_pairs import HIDDEN, Case
from gateway.live import Live, live
from gateway.postgres.raw_client import RawClient, error_of, rows_of
from gateway.test_answers_at_random import PLAN, QUERIES, reader, written
from gateway.test_streams import as_user
from tacit.gateway.http.formats import JSON
from thorough import THOROUGH

CASES = THOROUGH
WAYS = ("simple", "text", "binary", "copy")
Messages = list[tuple[bytes, bytes]]
Answers = dict[tuple[str, str], Messages]
KINDS = {20: "integer", 21: "integer", 23: "integer", 16: "boolean", 1082: "date"}
KINDS |= {700: "decimal", 701: "decimal", 1700: "decimal", 1114: "timestamp", 1184: "timestamp"}


def asked(line: RawClient, sql: str, way: str) -> Messages:
    if way == "simple":
        return line.ask(sql)
    if way == "copy":
        return line.ask(f"COPY ({sql}) TO STDOUT WITH CSV HEADER")
    return line.extended(sql, int(way == "binary"))


def answers(running: Live, queries: list[str]) -> Answers:
    with RawClient(running.postgres_port, "ann", running.token, "nurses") as line:
        return {(sql, way): asked(line, sql, way) for sql in queries for way in WAYS}


def compare(running: Live, queries: list[str], found: list[Answers]) -> None:
    """All databases of a case get the same bytes, and the last of them what HTTP says."""
    first, *others = found
    for one, answer in first.items():
        assert all(other[one] == answer for other in others), one
    good = [sql for sql in queries if not error_of(first[sql, "simple"])]
    assert len(good) > len(queries) / 4
    for sql in queries:
        over_http = running.query(sql, accept=JSON)
        assert (over_http.status_code == 200) == (sql in good), sql
        if sql not in good:
            code = over_http.json()["error"]["code"]
            assert f"code of this refusal is {code}" in error_of(first[sql, "simple"])["D"]
            continue
        body = json.loads(over_http.text, parse_float=str, parse_int=str)
        check_values(sql, first[sql, "simple"], body)
        assert rows_of(first[sql, "text"]) == rows_of(first[sql, "simple"])
        assert len(rows_of(first[sql, "binary"])) == len(body["rows"])


def check_values(sql: str, messages: Messages, body: dict[str, Any]) -> None:
    """Types and values are those of HTTP, as PostgreSQL writes them."""
    described = next(body for kind, body in messages if kind == b"T")
    kinds = []
    at = 2
    for column in body["columns"]:
        end = described.index(b"\0", at)
        assert described[at:end].decode() == column["name"]
        number = int.from_bytes(described[end + 7 : end + 11])
        kinds.append(KINDS.get(number, "text"))
        assert kinds[-1] == column["type"], (sql, column, number)
        at = end + 19
    for row, theirs in zip(rows_of(messages), body["rows"], strict=True):
        for value, other, kind in zip(row, theirs, kinds, strict=True):
            assert same(None if value is None else value.decode(), other, kind), (sql, value, other)


def same(value: str | None, other: Any, kind: str) -> bool:
    if value is None:
        return other is None
    if kind == "boolean":
        return value == ("t" if other else "f")
    if kind == "timestamp":
        return value.removesuffix("+00").replace(" ", "T") == other.removesuffix("Z")
    if other is None:  # JSON has no such number
        return re.fullmatch("NaN|-?Infinity", value) is not None
    return value == other


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("way", ["duckdb", "parquet"])
def test_answers_on_duckdb_are_a_function_of_their_rows(
    way: str, seed: int, tmp_path: Path
) -> None:
    case = Case("duckdb", random.Random(f"wire {way} {seed}"))
    queries = case.queries(QUERIES)
    found = []
    for hidden in HIDDEN:
        folder = tmp_path / str(hidden)
        folder.mkdir()
        with live(folder, written(folder, case, hidden, way), postgres_port=0) as running:
            found.append(answers(running, queries))
            if hidden == HIDDEN[-1]:
                compare(running, queries, found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2 * CASES))
def test_answers_on_postgresql_are_a_function_of_their_rows(
    seed: int, tmp_path: Path, postgres_url: str
) -> None:
    case = Case("postgres", random.Random(f"wire postgres {seed}"))
    queries = case.queries(QUERIES)

    def fill(hidden: int) -> None:
        for statement in (
            "DROP TABLE IF EXISTS stays",
            *case.statements(hidden),
            "GRANT SELECT ON stays TO random_reader",
            "ANALYZE stays",
        ):
            admin.execute(statement)

    with psycopg.connect(postgres_url, autocommit=True) as admin, reader(admin):
        fill(0)
        source = f"'{as_user(postgres_url, 'random_reader')}'"
        with live(tmp_path, PLAN.format(source=source, table="{}"), postgres_port=0) as running:
            found = []
            for hidden in HIDDEN:
                fill(hidden)
                found.append(answers(running, queries))
            compare(running, queries, found)
