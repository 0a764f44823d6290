"""CSV that no spreadsheet runs, where that is asked for; and the names that the gateway goes by."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import httpx
import pytest

from gateway.live import FAKE, live

PLAN = """\
version: 1
tables:
  said:
    columns: {words: text, n: integer}
    nullable: []
    rows: [['=1+1', -1], ['+a', 2], ['-b', 3], ['@c', 4], ["\\tx", 5], ['plain', 6], ['a=b', 7], ['-5', 8]]
roles: {nurses: {default: allow}}
"""  # noqa: E501
SQL = 'SELECT words AS "=w", n, -n AS m FROM said ORDER BY n'


def lines(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("harmless", [True, False])
def test_texts_that_a_spreadsheet_runs_and_numbers(tmp_path: Path, harmless: bool) -> None:
    with live(tmp_path, PLAN, csv_harmless=harmless, decider=FAKE) as running:
        head, *rows = lines(running.query(SQL, accept="text/csv").text)
        as_json = running.query(SQL).json()["rows"]
    mark = "'" if harmless else ""
    assert head == [f"{mark}=w", "n", "m"]
    assert [row[0] for row in rows] == [
        *(f"{mark}{word}" for word in ("=1+1", "+a", "-b", "@c", "\tx")),
        *("plain", "a=b", f"{mark}-5"),
    ]
    assert [row[2] for row in rows] == ["1", "-2", "-3", "-4", "-5", "-6", "-7", "-8"]
    assert as_json[0][0] == "=1+1"


def test_other_names_are_refused_where_names_are_given(tmp_path: Path) -> None:
    with (
        live(tmp_path, hosts="tacit.clinic.example, localhost") as running,
        running.client() as client,
    ):
        for name, status in (
            ("tacit.clinic.example", 200),
            ("TACIT.clinic.example:443", 200),
            (f"localhost:{running.port}", 200),
            ("evil.example", 421),
            ("tacit.clinic.example.evil.example", 421),
            ("localhost@evil.example", 421),
            (f"127.0.0.1:{running.port}", 421),
        ):
            assert client.get("/me", headers={"Host": name}).status_code == status, name
            assert client.get("/ready", headers={"Host": name}).status_code == 200
        with running.client(token="x") as stranger:
            assert stranger.get("/me", headers={"Host": "evil.example"}).status_code == 421
        assert httpx.get(f"{running.url}/docs", trust_env=False).status_code == 421
