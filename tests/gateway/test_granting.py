"""The statements of a role, run by PostgreSQL itself: the role reads its views and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tacit.errors import InputError
from tacit.gateway.policy.grants import grants
from tacit.plan.read.load import load_plan

PLAN = """version: 1
source: "{url}"
tables:
  granted_patients: {{nullable: []}}
  granted_wards: {{}}
secrets: {{cancer: "SELECT name FROM granted_patients WHERE illness = 'cancer'"}}
releases:
  flu: {{query: "SELECT name FROM granted_patients WHERE illness = 'flu'"}}
  names: {{query: "SELECT name FROM granted_patients"}}
  staff: {{query: "V(n) :- granted_wards(w, n)"}}
  few: {{query: "SELECT n FROM staff WHERE n < 'M' -- some"}}
roles:
  granted-nurses: {{default: deny, deny: [cancer], allow: [flu, names, staff, few, granted_wards]}}
  nobody: {{deny: [cancer]}}
"""


@pytest.fixture
def connection(postgres_url: str) -> Any:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as found:
        found.execute("DROP TABLE IF EXISTS granted_patients, granted_wards CASCADE")
        found.execute("CREATE TABLE granted_patients (name text NOT NULL, illness text NOT NULL)")
        found.execute("CREATE TABLE granted_wards (ward text, nurse text)")
        found.execute("INSERT INTO granted_patients VALUES ('Ann', 'flu'), ('Bob', 'cancer')")
        found.execute("INSERT INTO granted_wards VALUES ('A', 'Kim'), ('B', 'Zoe')")
        yield found
        found.execute("DROP TABLE granted_patients, granted_wards CASCADE")


def test_the_database_takes_them(tmp_path: Path, postgres_url: str, connection: Any) -> None:
    (tmp_path / "tacit.yaml").write_text(PLAN.format(url=postgres_url), "utf-8")
    found = grants(load_plan(tmp_path / "tacit.yaml"), "granted-nurses")
    assert [name for name, _ in found.views] == ["flu", "staff", "few", "granted_wards"]
    assert [(one.view, one.secret, one.verdict.status) for one in found.left_out] == [
        ("names", "cancer", "breached")
    ]
    assert "-- Left out: names discloses cancer." in found.sql()
    assert f'CREATE ROLE "{found.role}";' in found.sql()
    assert found.to_json()["statements"] == list(found.statements())
    connection.execute('DROP ROLE IF EXISTS "granted-nurses"')
    connection.execute('CREATE ROLE "granted-nurses"')
    connection.execute(found.sql())
    try:
        connection.execute('SET ROLE "granted-nurses"')
        asked = {
            name: connection.execute(f'SELECT * FROM "granted-nurses"."{name}"').fetchall()
            for name, _ in found.views
        }
        assert asked == {
            "flu": [("Ann",)],
            "staff": [("Kim",), ("Zoe",)],
            "few": [("Kim",)],
            "granted_wards": [("A", "Kim"), ("B", "Zoe")],
        }
        with pytest.raises(Exception, match="permission denied"):
            connection.execute("SELECT * FROM granted_patients")
    finally:
        connection.execute("RESET ROLE")
        connection.execute('DROP SCHEMA IF EXISTS "granted-nurses" CASCADE')
        connection.execute('DROP OWNED BY "granted-nurses"')
        connection.execute('DROP ROLE "granted-nurses"')


def test_what_cannot_be_granted(tmp_path: Path, postgres_url: str, connection: Any) -> None:
    (tmp_path / "tacit.yaml").write_text(PLAN.format(url=postgres_url), "utf-8")
    plan = load_plan(tmp_path / "tacit.yaml")
    with pytest.raises(InputError, match="allowed no view"):
        grants(plan, "nobody")
    with pytest.raises(InputError, match="no role 'nurses'"):
        grants(plan, "nurses")
    (tmp_path / "tacit.yaml").write_text(PLAN.format(url="."), "utf-8")
    with pytest.raises(InputError, match="only PostgreSQL"):
        grants(load_plan(tmp_path / "tacit.yaml"), "granted-nurses")
