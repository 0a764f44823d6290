"""Tables and queries at random: what goes out is the same whatever is hidden, and a function of
the rows that go out.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

from gateway.answer_pairs import HIDDEN, SECRET, Case
from gateway.live import Live, live
from gateway.test_compact import encoded_again, has_parts
from gateway.test_streams import as_user
from tacit.gateway.http.formats import ARROW, CSV, ENCODERS, JSON
from thorough import THOROUGH

CASES = THOROUGH
QUERIES = 30
HEADERS = {
    "cache-control",
    "connection",
    "content-length",
    "content-type",
    "server",
    "x-content-type-options",
    "x-tacit-row-limit",
    "x-tacit-truncated",
}
PLAN = (
    'version: 1\nsource: {source}\ntables: {{stays: {table}}}\nsecrets: {{cancer: "'
    + SECRET
    + '"}}\nroles: {{nurses: {{default: allow, deny: [cancer]}}}}\n'
)

Answers = dict[tuple[str, int | None, str], bytes]


def answers(running: Live, case: Case, queries: list[str]) -> Answers:
    limits = random.Random(len(case.seen))
    asked = [(sql, limit) for sql in queries for limit in (None, limits.choice((0, 1, 7, 64)))]
    return {
        (sql, limit, accept): running.raw(sql, limit, accept)
        for sql, limit in asked
        for accept in ENCODERS
    }


def compare(found: list[Answers]) -> None:
    """All databases of a case get the same bytes;
    and most queries are answered, or nothing would be compared.
    """
    first, *others = found
    for asked, answer in first.items():
        assert all(other[asked] == answer for other in others), (
            asked,
            [other[asked] for other in found],
        )
    bodies = {
        asked: body_of(answer)
        for asked, answer in first.items()
        if answer.startswith(b"HTTP/1.1 200 ")
    }
    assert len(bodies) > len(first) / 3
    for (sql, limit, accept), body in bodies.items():
        if accept == JSON:
            rows = check_json(body)
            check_csv(bodies[sql, limit, CSV], rows)
        elif accept == ARROW and not any(
            has_parts(kind) for kind in pa.ipc.open_stream(body).schema.types
        ):
            assert encoded_again(body) == body, sql


def body_of(answer: bytes) -> bytes:
    """The body of an answer, whose head says nothing but what we know of."""
    head, _, body = answer.partition(b"\r\n\r\n")
    said = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head.decode().split("\r\n")[1:])
    }
    assert said.keys() <= HEADERS and int(said["content-length"]) == len(body)
    return body


class Written(str):
    """A number as it was written."""


def check_json(body: bytes) -> list[list[Any]]:
    """The rows of an answer; written once more they are the answer."""
    found: Mapping[str, Any] = json.loads(body, parse_float=Written, parse_int=Written)
    texts = [
        ",".join(
            one if isinstance(one, Written) else json.dumps(one, ensure_ascii=False) for one in row
        )
        for row in found["rows"]
    ]
    again = (
        f'{{"columns": {json.dumps(found["columns"], ensure_ascii=False)}, "rows": '
        f'[{",".join(f"[{text}]" for text in texts)}], "truncated": '
        f"{json.dumps(found['truncated'])}}}"
    )
    assert again.encode() == body
    return list(found["rows"])


def check_csv(body: bytes, rows: list[list[Any]]) -> None:
    """CSV has the values that JSON has, and nothing else;
    only of what JSON has no number (NaN) it has more.
    """
    _, *lines = list(csv.reader(io.StringIO(body.decode(), newline="")))
    expected = [
        [
            "" if value is None else str(value).lower() if isinstance(value, bool) else value
            for value in row
        ]
        for row in rows
    ]
    odd = re.compile("-?inf(inity)?|nan", re.IGNORECASE)
    found = [
        [
            "" if odd.fullmatch(value) and not wanted else value
            for value, wanted in zip(line, row, strict=True)
        ]
        for line, row in zip([line or [""] for line in lines], expected, strict=True)
    ]
    assert found == expected


def written(folder: Path, case: Case, hidden: int, way: str) -> str:
    """The table in files of DuckDB's; the plan."""
    with duckdb.connect(str(folder / "clinic.duckdb")) as made:
        for statement in case.statements(hidden):
            made.execute(statement)
        if way in ("parquet", "csv", "csv without types"):
            made.execute(
                f"COPY stays TO '{folder / ('stays.' + way[:7].split()[0])}' "
                f"({'FORCE_QUOTE *, ' if 'csv' in way else ''}FORMAT {way[:7].split()[0]})"
            )
    types = ", ".join(f"{name}: {kind.plan}" for name, kind in case.columns.items())
    return PLAN.format(
        source="clinic.duckdb" if way == "duckdb" else ".",
        table="{columns: {age: integer, " + types + "}}"
        if way == "csv"
        else "{columns: {age: integer}}"
        if "csv" in way
        else "{}",
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("way", ["duckdb", "parquet", "csv", "csv without types"])
def test_answers_on_duckdb_are_a_function_of_their_rows(
    way: str, seed: int, tmp_path: Path
) -> None:
    case = Case("duckdb", random.Random(f"{way} {seed}"), plain="csv" in way)
    queries = case.queries(QUERIES)
    found = []
    for hidden in HIDDEN:
        folder = tmp_path / str(hidden)
        folder.mkdir()
        with live(folder, written(folder, case, hidden, way)) as running:
            found.append(answers(running, case, queries))
    compare(found)


@contextmanager
def reader(admin: psycopg.Connection[Any]) -> Iterator[None]:
    admin.execute(
        "CREATE ROLE random_reader LOGIN; ALTER ROLE random_reader SET enable_bitmapscan = off"
    )  # by an index, rows come in its order
    try:
        yield
    finally:
        admin.execute(
            "DROP TABLE IF EXISTS stays; DROP OWNED BY random_reader; DROP ROLE random_reader"
        )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2 * CASES))
def test_answers_on_postgresql_are_a_function_of_their_rows(
    seed: int, tmp_path: Path, postgres_url: str
) -> None:
    case = Case("postgres", random.Random(f"postgres {seed}"))
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
        with live(
            tmp_path, PLAN.format(source=f"'{as_user(postgres_url, 'random_reader')}'", table="{}")
        ) as running:
            found = []
            for hidden in HIDDEN:
                fill(hidden)
                found.append(answers(running, case, queries))
    compare(found)


SPELLED = """
    CREATE TABLE stays AS SELECT 'flu ' || i AS name, 'flu' AS ill, 1000 - i AS age, CASE i % 3 WHEN 0 THEN 1.5 WHEN 1 THEN 1.50 ELSE 1.500 END AS dose,
        CASE i % 2 WHEN 0 THEN '0' ELSE '-0' END::float8 AS score FROM generate_series(1, 300) AS i;
    INSERT INTO stays SELECT 'hidden', 'cancer', i, i, i FROM generate_series(1, {hidden}) AS i;
    CREATE INDEX stays_ill ON stays (ill, age); ANALYZE stays; GRANT SELECT ON stays TO random_reader"""  # noqa: E501


@pytest.mark.slow
def test_what_postgresql_met_first_does_not_show(tmp_path: Path, postgres_url: str) -> None:
    """Among many others it finds rows by the index, in another order:
    of 1.5 and 1.50 it showed the other one then, and another name in its error.
    """
    asked = [
        f"SELECT {sql} FROM stays WHERE ill = 'flu'"
        for sql in (
            "DISTINCT dose",
            "DISTINCT score",
            "min(dose) AS m",
            "max(score) AS m",
            "dose, score",
        )
    ]
    asked += [
        "SELECT CAST(name AS INTEGER) AS i FROM stays WHERE ill = 'flu'",
        "SELECT dose, score, count(*) AS n FROM stays WHERE ill = 'flu' GROUP BY dose, score",
    ]
    with psycopg.connect(postgres_url, autocommit=True) as admin, reader(admin):
        admin.execute(SPELLED.format(hidden=0))
        with live(
            tmp_path, PLAN.format(source=f"'{as_user(postgres_url, 'random_reader')}'", table="{}")
        ) as running:
            found = [
                {(sql, accept): running.raw(sql, 9, accept) for sql in asked for accept in ENCODERS}
            ]
            admin.execute("DROP TABLE stays;" + SPELLED.format(hidden=20_000))
            found.append(
                {(sql, accept): running.raw(sql, 9, accept) for sql in asked for accept in ENCODERS}
            )
    assert found[0] == found[1]
    assert b'"rows": [[1.5,0,300]]' in found[0][asked[-1], JSON] and found[0][
        asked[-1], CSV
    ].endswith(b"\n1.5,0,300\n")
