"""Catalogs: what clients ask of them is answered, and nothing in them is hidden from the role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gateway.live import Live, add_user, live
from gateway.postgres.raw_client import RawClient, error_of
from tacit.gateway.postgres.catalog_rows import tables

ASKED = Path(__file__).with_name("asked") / "catalogs.sql"
PLAN = """\
version: 1
tables:
  wards: {columns: {ward: text, beds: integer}, key: [ward], nullable: [], rows: [[A, 10]]}
  stays:
    columns: {name: text, ward: text, disease: text, age: integer, paid: "decimal(12, 3)"}
    key: [name]
    nullable: [paid]
    foreign-keys: {ward: wards.ward}
    rows: [[Alan, A, cancer, 23, 1.5]]
  payroll_hidden: {columns: {salary_hidden: integer}, nullable: [], rows: [[77123]]}
secrets: {cancer: "S(n) :- stays(n, w, 'cancer', a, p)"}
releases:
  flu: {query: "SELECT name, age FROM stays WHERE disease = 'flu'"}
  totals_hidden: {query: "SELECT sum(salary_hidden) AS paid_hidden FROM payroll_hidden"}
roles:
  nurses: {default: allow, deny: [cancer, payroll_hidden]}
  clerks: {default: deny, allow: [wards]}
  owners: {default: allow}
"""


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(tmp_path_factory.mktemp("catalogs"), PLAN, postgres_port=0) as running:
        running.tokens = {  # type: ignore[attr-defined]
            role: add_user(running.plan, f"in-{role}", [role])
            for role in ("nurses", "clerks", "owners")
        }
        yield running


def connect(door: Live, role: str) -> psycopg.Connection[Any]:
    token = door.tokens[role]  # type: ignore[attr-defined]
    return psycopg.connect(door.postgres(role, f"in-{role}", token), autocommit=True)


def asked() -> list[tuple[str, str]]:
    """What clients ask: client and query."""
    parts = ASKED.read_text("utf-8").partition("\n")[2].split("\n;;\n")
    return [tuple(part.removeprefix("-- ").split("\n", 1)) for part in parts if part]  # type: ignore[misc]


@pytest.mark.slow
def test_all_that_clients_ask_is_answered(door: Live) -> None:
    """Also before there are values, which is when some clients ask for the columns."""
    token = door.tokens["owners"]  # type: ignore[attr-defined]
    with RawClient(door.postgres_port, "in-owners", token, "owners") as line:
        for client, sql in asked():
            line.send(b"P", b"\0" + sql.encode() + b"\0\0\0")
            line.send(b"D", b"S\0")
            line.send(b"S")
            found = line.until_ready()
            assert [kind for kind, _ in found] == [b"1", b"t", b"T", b"Z"], (client, sql, found)
            if "$1" not in sql:
                assert not error_of(line.ask(sql)), (client, sql)


@pytest.mark.parametrize("role", ["nurses", "clerks"])
def test_nothing_in_the_catalogs_is_hidden_from_the_role(door: Live, role: str) -> None:
    with connect(door, role) as line:
        found = ""
        for name in tables():
            schema = (
                "information_schema" if name.startswith("information_schema_") else "pg_catalog"
            )
            table = name.removeprefix("information_schema_")
            found += repr(line.execute(f"SELECT * FROM {schema}.{table}").fetchall())
        for _, sql in asked():
            if "$1" not in sql:
                found += repr(line.execute(sql).fetchall())  # type: ignore[call-overload]
    assert "wards" in found and ("stays" in found) == (role == "nurses")
    assert "hidden" not in found and "77123" not in found
    assert ("flu" in found) == (role == "nurses")
    assert not any(name in found for name in ("Alan", "cancer", "owners"))


def test_catalogs_count_no_rows(door: Live) -> None:
    with connect(door, "owners") as line:
        assert line.execute("SELECT DISTINCT reltuples, relpages FROM pg_class").fetchall() == [
            (-1.0, 0)
        ]
        assert line.execute("SELECT pg_table_size(16384)").fetchall() == [(None,)]


def test_types_keys_and_references_are_the_plans(door: Live) -> None:
    with connect(door, "owners") as line:
        found = line.execute(
            "SELECT column_name, data_type, is_nullable, numeric_precision, numeric_scale FROM "
            "information_schema.columns WHERE table_name = 'stays' ORDER BY ordinal_position"
        ).fetchall()
        assert found[0] == ("name", "text", "NO", None, None)
        assert found[3:] == [
            ("age", "bigint", "NO", 64, 0),
            ("paid", "numeric", "YES", 12, 3),
        ]
        said = line.execute(
            "SELECT conname, pg_get_constraintdef(oid), conrelid::regclass FROM pg_constraint "
            "ORDER BY 1"
        ).fetchall()
        assert said == [
            ("stays_pkey", 'PRIMARY KEY ("name")', "stays"),
            ("stays_ward_fkey", 'FOREIGN KEY ("ward") REFERENCES "wards"("ward")', "stays"),
            ("wards_pkey", 'PRIMARY KEY ("ward")', "wards"),
        ]
        assert line.execute(
            "SELECT format_type(1700, 786439), 'int4'::regtype::oid"
        ).fetchone() == (
            "numeric(12,3)",
            23,
        )


def test_a_session_knows_itself(door: Live) -> None:
    with connect(door, "nurses") as line:
        found = line.execute(
            "SELECT current_user, session_user, current_database(), current_schema(), "
            "current_setting('client_encoding'), version()"
        ).fetchone()
    assert found is not None and found[:5] == ("in-nurses", "in-nurses", "nurses", "public", "UTF8")
    assert re.fullmatch(r"PostgreSQL 15\.0 \(Tacit\)", found[5])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM pg_class, wards",
        "SELECT * FROM pg_class, read_csv('/etc/passwd')",
        "SELECT read_text('/etc/passwd') FROM pg_class",
        "SELECT getenv('HOME') FROM pg_class",
        "SELECT * FROM pg_class, '/etc/passwd'",
        "SELECT * FROM duckdb_settings(), pg_class",
        "SELECT current_setting('temp_directory') || relname FROM pg_class, duckdb_tables()",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT * FROM pg_shadow",
        "SELECT set_config('client_encoding', 'LATIN1', false)",
        "COPY pg_class TO STDOUT",
        "SELECT 1 FROM pg_class; DROP TABLE pg_class",
    ],
)
def test_catalogs_lead_nowhere_else(door: Live, sql: str) -> None:
    with connect(door, "nurses") as line, pytest.raises(psycopg.Error) as refused:
        line.execute(sql)
    assert "root:" not in str(refused.value)


@pytest.mark.slow
def test_a_question_that_takes_too_long_is_ended(door: Live) -> None:
    endless = "SELECT count(*) FROM " + ", ".join(f"pg_attribute a{i}" for i in range(9))
    with connect(door, "owners") as line:
        with pytest.raises(psycopg.errors.QueryCanceled):
            line.execute(endless + ", pg_type t1, pg_type t2, pg_type t3")
        assert line.execute("SELECT count(*) FROM pg_namespace").fetchone() == (3,)


@pytest.mark.slow
def test_a_question_writes_no_file(door: Live) -> None:
    with connect(door, "owners") as line:
        for name in ("temp_directory", "memory_limit", "threads"):
            with pytest.raises(psycopg.Error):
                line.execute(f"SELECT current_setting('{name}') FROM duckdb_settings()")
        many = ", ".join(f"pg_type t{at}" for at in range(5))
        with pytest.raises(psycopg.Error) as refused:
            line.execute(f"SELECT t0.typname, t1.typname FROM {many} ORDER BY 1, 2")
    assert "not answered here" in str(refused.value) or "too long" in str(refused.value)
    assert not Path(".tmp").exists()


def test_views_that_speak_of_whoever_asks_are_described(tmp_path: Path) -> None:
    with live(tmp_path, ABOUT_ANN, postgres_port=0) as running:
        asked = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = "
        with psycopg.connect(running.postgres("members"), autocommit=True) as line:
            for view in ("mine", "noted"):
                found = line.execute(f"{asked}'{view}'").fetchall()  # type: ignore[call-overload]
                assert [name for name, _ in found] == ["owner", "made"]


ABOUT_ANN = """\
version: 1
tables:
  notes: {columns: {owner: text, made: timestamp}, nullable: [], rows: []}
releases:
  mine: {query: "SELECT * FROM notes WHERE owner = $user AND made < $now"}
  noted: {query: "N(owner, made) :- notes(owner, made), owner = $user, made < $now"}
roles: {members: {default: deny, allow: [mine, noted]}}
"""
