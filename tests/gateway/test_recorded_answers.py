"""Roles with `record: answers`: what the gateway answered counts as held by the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from gateway.live import Live, live
from tacit.checking.assess import assess
from tacit.checking.recording.record import record
from tacit.engines.sql.one_select import one_select
from tacit.ledger.checked_rows import Changed
from tacit.ledger.entries import Entry
from tacit.ledger.ledger import open_ledger
from tacit.plan.read.load import load_plan

MEN = "SELECT condition FROM patients WHERE sex = 'M'"
PLAN = """\
version: 1
tables:
  patients:
    columns: {name: text, sex: text, age: integer, condition: text}
    nullable: []
    key: [name]
    identifiers: [name]
    quasi-identifiers: [sex, age]
    sensitive: [condition]
    hierarchies: {sex: "*", age: "*"}
    rows: [[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS],
           [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]
releases:
  older: {query: "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28", to: [TO]}
  copy: {table: patients, generalization: {sex: 1, age: 1}, to: [TO]}
  everyone: {query: "SELECT condition, sex FROM patients"}
checks:
  - gamma-privacy: {release: older, gamma: 0.5}
  - k-sind: {release: older, k: 2}
  - l-diversity: {release: copy, l: 2, kind: distinct}
roles:
  researchers: {default: deny, allow: [everyone], record: answers}
  helpers: {default: deny, allow: [everyone]}
"""


def plan_for(to: str, more: str = "") -> str:
    return PLAN.replace("TO", to).replace("  everyone:", f"{more}  everyone:")


def verdicts(plan: Path) -> list[tuple[str, str, Any]]:
    return [
        (one.check, one.status, one.reason.code if one.reason else None)
        for one in assess(load_plan(plan)).verdicts
    ]


def entries(plan: Path) -> list[Entry]:
    found = load_plan(plan)
    with open_ledger(found.ledger, found.folder) as ledger:
        return list(ledger.entries())


def same_recorded(folder: Path, query: str, to: str) -> list[tuple[str, str, Any]]:
    """The verdicts where a release with that query was recorded by hand."""
    folder.mkdir()
    plan = folder / "tacit.yaml"
    plan.write_text(plan_for(to, f'  men: {{query: "{query}", to: [{to}]}}\n'))
    record(load_plan(plan), "men", out_already=True)
    return verdicts(plan)


@pytest.mark.parametrize("door", ["http", "postgres"])
def test_an_answer_is_judged_with_what_goes_out_later(tmp_path: Path, door: str) -> None:
    with live(tmp_path, plan_for("ann"), postgres_port=0) as running:
        before = verdicts(running.plan)
        assert [status for _, status, _ in before[:2]] == ["holds", "holds"]
        for _ in range(3):
            assert sorted(asked(running, MEN, door)) == ["Heart", "SARS", "SARS", "Viral"]
        [entry] = entries(running.plan)
        assert entry.to == ("ann",) and entry.tables == ("patients",)
        assert entry.release.startswith("gateway-answer-") and "'M'" in entry.query
        found = verdicts(running.plan)
        assert found[0][:2] == ("gamma-privacy", "breached")
        assert found == same_recorded(tmp_path / "by hand", MEN, "ann")


def test_others_do_not_hold_it_and_other_roles_record_nothing(tmp_path: Path) -> None:
    with live(tmp_path, plan_for("bob")) as running:
        before = verdicts(running.plan)
        assert running.query(MEN).status_code == 200
        assert verdicts(running.plan) == before
    text = plan_for("ann").replace(", record: answers", "")
    folder = tmp_path / "other"
    folder.mkdir()
    with live(folder, text) as running:
        assert running.query(MEN).status_code == 200
        assert not entries(running.plan)


def test_what_is_no_view_of_one_table_makes_it_undecided(tmp_path: Path) -> None:
    with live(tmp_path, plan_for("ann")) as running:
        assert running.query("SELECT count(*) FROM patients WHERE sex = 'M'").status_code == 200
        assert all(status == "undecided" for _, status, _ in verdicts(running.plan))
        assert running.query("SELECT 1 AS one").status_code == 200
        assert len(entries(running.plan)) == 1


def test_an_answer_that_was_otherwise_makes_it_undecided(tmp_path: Path) -> None:
    with live(tmp_path, plan_for("ann")) as running:
        assert running.query(MEN).status_code == 200
    running.plan.write_text(running.plan.read_text().replace("23, Heart", "23, Flu"))
    assert verdicts(running.plan)[0][1:] == ("undecided", "answer-changed")


def test_a_part_of_an_answer_is_not_given(tmp_path: Path) -> None:
    with live(tmp_path, plan_for("ann"), row_limit=6) as running:
        for body in ({"sql": MEN, "limit": 2}, {"sql": "SELECT condition FROM patients"}):
            refused = running.query(**body)
            assert refused.status_code == 400
            assert refused.json()["error"]["code"] == "answer-recorded"
        assert not entries(running.plan)


def test_what_cannot_be_recorded_is_not_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live(tmp_path, plan_for("ann"), postgres_port=0) as running:
        ledger = running.gateway.now().ledger

        def fails(*_: object, **__: object) -> None:
            raise Changed("the ledger was changed.")

        monkeypatch.setattr(type(ledger), "record", fails)
        refused = running.query(MEN)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "ledger")
        with (
            psycopg.connect(running.postgres("researchers")) as line,
            pytest.raises(psycopg.Error) as raised,
        ):
            line.execute(MEN)
        assert "cannot be recorded" in str(raised.value) and "Heart" not in str(raised.value)


def asked(running: Live, sql: str, door: str) -> list[Any]:
    if door == "http":
        return [row[0] for row in running.query(sql).json()["rows"]]
    with psycopg.connect(running.postgres("researchers")) as line:
        return [row[0] for row in line.execute(sql).fetchall()]  # type: ignore[call-overload]


QUERIES = {
    "views and conditions": (
        'SELECT "b"."x" AS "y" FROM (SELECT "a"."age" AS "x" FROM "t" AS "a" WHERE "a"."age" > 1) '
        'AS "b" WHERE "b"."x" < 5 OR "b"."x" = 9 ORDER BY 1',
        'SELECT "a"."age" AS "y" FROM "t" AS "a" WHERE ("a"."age" > 1) AND '
        '("a"."age" < 5 OR "a"."age" = 9)',
    ),
    "a limit keeps its order": ('SELECT "a"."x" FROM "t" AS "a" ORDER BY 1 LIMIT 2', None),
    "what counts stays": (
        'SELECT COUNT(*) AS "n" FROM (SELECT "a"."x" FROM "t" AS "a") AS "b"',
        None,
    ),
    "distinct stays": (
        'SELECT "b"."x" AS "x" FROM (SELECT DISTINCT "a"."x" AS "x" FROM "t" AS "a") AS "b"',
        None,
    ),
    "a limit inside stays": (
        'SELECT "b"."x" AS "x" FROM (SELECT "a"."x" AS "x" FROM "t" AS "a" LIMIT 1) AS "b"',
        None,
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_queries_are_kept_as_one_select_where_that_is_plain(name: str) -> None:
    sql, expected = QUERIES[name]
    assert one_select(sql, "duckdb") == (expected or sql)
