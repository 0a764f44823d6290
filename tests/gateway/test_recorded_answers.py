"""Roles with `record: answers`: what the gateway answered counts as held by the user."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from gateway.live import Live, live
from tacit.checking.assess import assess
from tacit.checking.holdings.gateway_answers import gateway_answers
from tacit.checking.recording.answer_digests import Answers
from tacit.checking.recording.record import record
from tacit.engines.sql.one_select import one_select
from tacit.ledger.checked_rows import Changed
from tacit.ledger.entries import Entry
from tacit.ledger.ledger import open_ledger
from tacit.plan.open_plan import OpenPlan
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


KINDS = "id, price, day, at, zoned, number, word, truth"


@pytest.mark.slow
def test_answers_of_postgresql_are_those_that_the_check_reads(
    tmp_path: Path, postgres_url: str
) -> None:
    text = f"""\
version: 1
source: {json.dumps(postgres_url)}
tables: {{told: {{key: [id], nullable: [], sensitive: [word]}}}}
releases: {{all: {{query: "SELECT id, word FROM told", to: [ann]}}}}
checks: [{{gamma-privacy: {{release: all, gamma: 0.9}}}}]
roles: {{readers: {{default: allow, record: answers}}}}
"""
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "CREATE TABLE told (id integer PRIMARY KEY, price numeric(9, 3) NOT NULL, day date NOT "
            "NULL, at timestamp NOT NULL, zoned timestamptz NOT NULL, number float NOT NULL, word "
            "text NOT NULL, truth boolean NOT NULL)"
        )
        admin.execute(
            "INSERT INTO told SELECT i, i * 1.5, DATE '2020-01-01' + i, TIMESTAMP '2020-01-01' + i "
            "* INTERVAL '1.5 s', now(), i / 3.0, 'w' || i % 2, i % 3 = 0 FROM generate_series(1, "
            "50) s(i)"
        )
        try:
            with live(tmp_path, text, allow_superuser=True) as running:
                sql = f"SELECT {KINDS} FROM told WHERE id <= 40"
                assert len(running.query(sql).json()["rows"]) == 40
                [entry] = entries(running.plan)
            found = load_plan(running.plan)
            with open_ledger(found.ledger, found.folder) as ledger, OpenPlan(found) as opened:
                name = next(iter(gateway_answers(found)))
                opened.add_releases(gateway_answers(found))
                today = Answers(opened, ledger.key).today(name)
            assert today is not None and today.digest == entry.answer
        finally:
            admin.execute("DROP TABLE told")


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


def nested(draw: random.Random) -> str:
    """A SELECT of a SELECT of a table, with conditions of three values in both."""
    inner = ['"a"."x" AS "p"', draw.choice(['"a"."y" AS "q"', '"a"."x" + "a"."y" AS "q"'])]
    inner += draw.choice([[], ['1 AS "r"']])
    where = draw.choice(["", 'WHERE "a"."x" > 1', 'WHERE "a"."y" IS NULL OR "a"."x" = 2'])
    outer = draw.choice(['"b"."q" AS "z"', '"b"."p" * 2 AS "z", "b"."q"', '"b"."q" - "b"."p" AS z'])
    top = draw.choice(["", 'WHERE "b"."p" < 3', 'WHERE NOT ("b"."q" = 2 OR "b"."p" = 1)'])
    order = draw.choice(["", "ORDER BY 1", "ORDER BY 1 LIMIT 3"])
    deep = f'(SELECT {", ".join(inner)} FROM "t" AS "a" {where}) AS "b"'
    if draw.random() < 0.3:
        deep = f'(SELECT "c"."p" AS "p", "c"."q" AS "q" FROM {deep[:-3]}"c") AS "b"'
    return f"SELECT {outer} FROM {deep} {top} {order}"


def test_a_query_and_what_is_kept_of_it_have_the_same_rows() -> None:
    draw, plain = random.Random(5), 0
    with duckdb.connect() as database:
        database.execute('CREATE TABLE "t" (x INTEGER, y INTEGER)')
        values = [*product((None, 1, 2, 3), repeat=2)] * 2
        database.executemany('INSERT INTO "t" VALUES (?, ?)', values)
        for _ in range(150):
            sql = nested(draw)
            kept = one_select(sql, "duckdb")
            plain += kept.count("SELECT") == 1
            one, other = (sorted(database.sql(each).fetchall(), key=repr) for each in (sql, kept))
            assert one == other, (sql, kept)
    assert plain > 75
