"""Two databases that differ only in the secret:
what is refused is refused in the same words, and without a look at either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.gateway_plans import decider as made
from gateway.live import Live, live

PLAN = """version: 1
tables:
  stays: {columns: {name: text, ward: text, condition: text, age: integer}}
  wards: {columns: {ward: text, beds: integer}}
secrets: {cancer: "SELECT name FROM stays WHERE condition = 'cancer'"}
roles: {nurses: {default: allow, deny: [cancer]}}
"""
HARMLESS = "Ann,A,flu,30\nBob,B,flu,40\n"
SICK = (
    "",
    "Cy,A,cancer,50\n",
    "Cy,A,cancer,0\nDi,,cancer,\nDi,B,cancer,7\n" + "Eve,A,cancer,1\n" * 5_000,
)
REFUSED = (
    "SELECT name FROM stays",
    "SELECT count(*) FROM stays",
    "SELECT name FROM stays WHERE condition = 'cancer'",
    "SELECT nobody FROM stays",
    "SELECT name FROM stays WHERE condition = 'flu' AND 1 / age = 1",
    "SELECT name FROM stays WHERE CAST(name AS INTEGER) = 1",
    "SELECT max(age) FROM stays WHERE ward = 'A'",
    "SELECT 1 FROM stays WHERE 1 / 0 = 1",
    "SELECT * FROM nothing",
    "DELETE FROM stays",
    "SELECT name FROM stays WHERE condition = 'flu' ORDER BY (SELECT count(*) FROM stays)",
)
ANSWERED = (
    "SELECT name, age FROM stays WHERE condition = 'flu'",
    "SELECT 100 / age AS x FROM stays WHERE condition = 'flu'",
    "SELECT count(*) AS n FROM wards",
)


def said(running: Live) -> list[tuple[Any, ...]]:
    """What a nurse gets, all of it but the time that a decision took and the date."""
    found = []
    with running.client() as client:
        for path in ("/query", "/check"):
            for sql in (*REFUSED, *ANSWERED):
                answer = client.post(path, json={"sql": sql})
                body = answer.json()
                body.pop("milliseconds", None)
                headers = {
                    name: value
                    for name, value in answer.headers.items()
                    if name not in ("date", "content-length")
                }
                found.append((path, sql, answer.status_code, headers, body))
    return found


def test_refusals_are_the_same_whatever_the_secret_is(tmp_path: Path) -> None:
    found = []
    for number, sick in enumerate(SICK):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "stays.csv").write_text(f"name,ward,condition,age\n{HARMLESS}{sick}", "utf-8")
        (folder / "wards.csv").write_text("ward,beds\nA,1\nB,2\n", "utf-8")
        with live(folder, PLAN) as running:
            found.append(said(running))
    assert found[0] == found[1] == found[2]
    assert {
        status for path, sql, status, *_ in found[0] if path == "/query" and sql in REFUSED
    } == {400, 403}
    assert {status for path, sql, status, *_ in found[0] if sql in ANSWERED} == {200}


def test_a_refusal_does_not_ask_the_database(tmp_path: Path) -> None:
    """So it takes no longer where there is more to hide: nothing that runs queries is reached."""
    (tmp_path / "stays.csv").write_text(f"name,ward,condition,age\n{HARMLESS}", "utf-8")
    (tmp_path / "wards.csv").write_text("ward,beds\nA,1\n", "utf-8")
    with live(tmp_path, PLAN) as running:
        now = running.gateway.now()
        began = []
        now.places.begin = lambda *given: began.append(given)  # type: ignore[method-assign, assignment]
        for sql in REFUSED:
            assert running.query(sql).status_code in (400, 403)
        assert not began


NAMED = [
    "SELECT * FROM {}",
    "SELECT x FROM {} AS t WHERE t.y = 1",
    "SELECT t.* FROM {} t JOIN {} u ON t.a = u.b",
    "SELECT * FROM public.{}",
    "SELECT ward FROM wards WHERE ward IN (SELECT x FROM {})",
    "SELECT salary FROM {} WHERE person::int = 1",
    "SELECT 1 / salary FROM {} ORDER BY 2",
    "WITH {} AS (SELECT ward FROM wards) SELECT * FROM {}",
    "WITH a AS (SELECT * FROM {}) SELECT count(*) FROM a",
    "SELECT {}.person FROM {}",
    "SELECT person FROM {} UNION SELECT ward FROM wards",
    "SELECT * FROM {} TABLESAMPLE (10)",
    "SELECT * FROM wards, LATERAL (SELECT * FROM {}) q",
    "DELETE FROM {}",
    "SELECT person FROM {} WHERE person = ?",
    "SELECT * FROM elsewhere.{}",
]
HIDING = """\
version: 1
tables:
  stays: {columns: {name: text, disease: text}, nullable: [], key: [name], rows: [[a, flu]]}
  wards: {columns: {ward: text, beds: integer}, nullable: [], key: [ward], rows: [[a, 1]]}
  payroll: {columns: {person: text, salary: integer}, nullable: [], key: [person], rows: [[a, 1]]}
releases:
  flu: {query: "SELECT name FROM stays WHERE disease = 'flu'"}
  paid: {query: "SELECT person FROM payroll WHERE salary > 5"}
roles:
  clerks: {default: deny, allow: [wards, flu]}
  nurses: {default: allow, deny: [payroll]}
"""


@pytest.mark.parametrize("sql", NAMED)
@pytest.mark.parametrize("name", ["payroll", "paid", "PayRoll"])
def test_a_table_that_no_view_shows_is_as_one_that_is_not_there(
    tmp_path: Path, sql: str, name: str
) -> None:
    decider = made(tmp_path, HIDING)

    def told(table: str) -> str:
        found = decider.decide("clerks", sql.replace("{}", table))
        return repr((found.allowed, found.code, found.message, found.hint)).replace(table, "T")

    assert told(name) == told("nosuch")


def test_hints_name_nothing_that_is_denied(tmp_path: Path) -> None:
    decider = made(tmp_path, HIDING)
    for sql in ("SELECT * FROM payrol", "SELECT * FROM nosuch", "SELECT salry FROM payroll"):
        said = decider.decide("nurses", sql)
        assert said.code.startswith("unknown")
        assert not any(one in str(said.hint) for one in ("payroll", "paid", "salary", "person"))
    assert "beds" in str(decider.decide("nurses", "SELECT bed FROM wards").hint)
