"""No short query makes long texts in memory, and no value of an answer is longer than it may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import parse_one

from gateway.live import Live, live
from tacit.errors import QueryError
from tacit.families.queries.understanding import QueryText
from tacit.gateway.policy.sizes import check_sizes


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Live:
    with live(tmp_path_factory.mktemp("sizes"), cell_bytes=1_000) as running:
        yield running


@pytest.mark.parametrize(
    "made",
    [
        "repeat('a', 400000000)",
        "lpad('a', 400000000, 'b')",
        "rpad(ward, 10001, 'b')",
        "repeat(repeat('a', 200), 200)",
        "repeat('a', beds * 100000000)",
        "repeat('a', 4e8)",
        "repeat('a', CAST('400000000' AS INTEGER))",
        "repeat('a', (SELECT 400000000))",
        "length(repeat('a', 400000000))",
        "format('{:400000000}', beds)",
        "format('{:{}}', beds, 400000000)",
        "format(ward || '{:400000000}', beds)",
    ],
)
def test_what_would_fill_the_memory_is_refused_before_it_runs(door: Live, made: str) -> None:
    for sql in (
        f"SELECT {made} AS x FROM wards",
        f"WITH q AS (SELECT ward, {made} AS x FROM wards) SELECT ward FROM q WHERE x = 'a'",
    ):
        answer = door.query(sql)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "too-large")


@pytest.mark.parametrize("kind", ["CHAR", "CHARACTER", "NCHAR", "BPCHAR", "BIT"])
def test_types_that_fill_their_values_up_are_short(kind: str) -> None:
    check_sizes(
        parse_one(f"SELECT CAST(ward AS {kind}(10000))", read="postgres"), QueryText("", "query")
    )
    with pytest.raises(QueryError, match="more than 10000 letters"):
        check_sizes(
            parse_one(f"SELECT ward::{kind}(10001)", read="postgres"), QueryText("", "query")
        )


def test_texts_over_several_queries_are_taken_together(door: Live) -> None:
    sql = "WITH q AS (SELECT repeat(ward, 200) AS x FROM wards) SELECT repeat(x, 200) AS y FROM q"
    assert door.query(sql).json()["error"]["code"] == "too-large"


def test_ordinary_texts_are_made(door: Live) -> None:
    rows = door.query("SELECT lpad(ward, 3, '0') AS a, repeat('-', 3) AS b FROM wards").json()
    assert rows["rows"] == [["00A", "---"], ["00B", "---"]]
    sql = "SELECT format('{:5}', ward) AS a, CAST(ward AS CHAR(3)) AS b FROM wards"
    assert door.query(sql).json()["rows"][0] == ["A    ", "A"]


@pytest.mark.parametrize(
    "accept", ["application/json", "text/csv", "application/vnd.apache.arrow.stream"]
)
def test_a_value_that_is_too_long_ends_the_answer(door: Live, accept: str) -> None:
    assert door.query("SELECT repeat(ward, 1000) AS x FROM wards", accept=accept).status_code == 200
    answer = door.query("SELECT repeat(ward, 1001) AS x FROM wards", accept=accept)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "answer-bytes")


def test_many_short_values_are_no_long_one(tmp_path: Path) -> None:
    with live(tmp_path, cell_bytes=10) as running:
        assert running.query("SELECT ward, beds FROM wards").status_code == 200


def test_a_row_that_is_too_long_ends_the_answer_before_it_is_in_memory(tmp_path: Path) -> None:
    with live(tmp_path, row_bytes=20) as running:
        for accept in ("application/json", "text/csv", "application/vnd.apache.arrow.stream"):
            row = "SELECT repeat(ward, 10) AS x, repeat(ward, 10) AS y{} FROM wards"
            assert running.query(row.format(""), accept=accept).status_code == 200
            answer = running.query(row.format(", ward"), accept=accept)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "answer-bytes")
            assert "a row of the answer has more than 20 bytes" in answer.text
