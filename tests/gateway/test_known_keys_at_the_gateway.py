"""Where everybody knows which keys there are, foreign keys into them refuse nothing."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from gateway.gateway_plans import decider, policy
from tacit.checking.assess import assess
from tacit.families.queries.definitions import perfect_privacy
from tacit.model.deadline import OutOfTime
from tacit.plan.read.load import load_plan

PLAN = """version: 1
source: clinic.duckdb
tables: {people: {}, visits: {}, illnesses: {}}
secrets: {ill: "SELECT person FROM illnesses WHERE name = 'HIV'"}
releases:
  mild: {query: "SELECT person FROM illnesses WHERE name = 'flu'"}
  beds: {query: "SELECT id, bed FROM people"}
roles: {analysts: {default: allow, deny: [ill]}}
checks:
  - perfect-privacy: {secret: ill, release: mild}
  - perfect-privacy: {secret: ill, release: beds}
"""
BEDS = "SELECT p.bed, count(*) AS n FROM people p JOIN visits v ON v.person = p.id GROUP BY p.bed"
NUMBERS = "SELECT i.id FROM illnesses i JOIN people p ON p.id = i.person"
OTHERS = "SELECT person FROM illnesses WHERE name <> 'HIV'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as one:
        one.execute("CREATE TABLE people (id integer PRIMARY KEY, bed integer)")
        one.execute(
            "CREATE TABLE visits (person integer NOT NULL REFERENCES people (id), ward VARCHAR)"
        )
        one.execute(
            "CREATE TABLE illnesses (id integer PRIMARY KEY, person integer NOT NULL "
            "REFERENCES people (id), name VARCHAR)"
        )
    return tmp_path


def codes(folder: Path, text: str) -> list[str]:
    found = decider(folder, text)
    return [found.decide("analysts", one).code for one in (BEDS, NUMBERS, OTHERS)]


def test_foreign_keys_into_known_keys_refuse_nothing(folder: Path) -> None:
    assert codes(folder, PLAN) == ["undecided"] * 3
    people = PLAN + "dictionary: [people.id]\n"
    assert codes(folder, people) == ["allowed", "discloses", "discloses"]
    assert codes(folder, PLAN + "dictionary: [people.id, illnesses.id]\n") == [
        "allowed",
        "allowed",
        "discloses",
    ]
    assert policy(folder, PLAN).digest != policy(folder, people).digest


def test_known_values_that_are_no_key_tie_the_rows_of_their_table(folder: Path) -> None:
    found = policy(folder, PLAN + "dictionary: [people.id, illnesses.name]\n")
    assert found.tied == (frozenset({"illnesses"}),)
    assert found.known.columns == {"people": "id"}


def test_a_breach_shows_the_row_that_is_there_otherwise(folder: Path) -> None:
    (folder / "tacit.yaml").write_text(PLAN + "dictionary: [people.id, illnesses.id]\n", "utf-8")
    mild, beds = assess(load_plan(folder / "tacit.yaml")).verdicts
    assert beds.status == "holds" and "keys-known" in {one.id for one in beds.assumptions}
    assert mild.status == "breached" and mild.witness is not None
    facts = mild.witness.facts
    assert facts["instead_secret"]["values"][0] == facts["critical_tuple"]["values"][0]
    assert facts["executed"]["secret"]["without"] == ()
    assert "in the place of illnesses(" in mild.story


def test_the_order_of_known_keys_tells_what_stands_beside_them(folder: Path) -> None:
    text = PLAN.replace(
        "SELECT person FROM illnesses WHERE name = 'HIV'", "SELECT id FROM people WHERE bed = 3"
    )
    found = decider(folder, text + "dictionary: [people.id]\n")
    asked = {
        "SELECT id FROM people": True,
        "SELECT id FROM people ORDER BY bed": False,
        "SELECT id FROM people ORDER BY id DESC": True,
        "SELECT id FROM people ORDER BY id, bed": False,
        "SELECT id AS bed FROM people ORDER BY bed": True,
        "SELECT p.id FROM people p, people q ORDER BY q.bed": False,
        "SELECT id FROM people ORDER BY (SELECT max(bed) FROM people)": False,
        "SELECT person FROM visits ORDER BY ward": True,
    }
    for query, allowed in asked.items():
        decision = found.decide("analysts", query)
        assert (decision.code == "allowed") == allowed, (query, decision)
        assert not allowed or "ORDER BY" in decision.sql


def test_a_wide_table_with_many_references_is_decided_at_once(tmp_path: Path) -> None:
    columns = [f"concept{at}" for at in range(24)]
    written = ", ".join(f"{one} integer REFERENCES concepts (id)" for one in columns)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as one:
        one.execute("CREATE TABLE concepts (id integer PRIMARY KEY, name VARCHAR)")
        one.execute(f"CREATE TABLE visits (id integer PRIMARY KEY, {written})")
        one.execute(
            "CREATE TABLE illnesses (id integer PRIMARY KEY, visit integer NOT NULL "
            "REFERENCES visits (id), concept integer REFERENCES concepts (id))"
        )
    text = """version: 1
source: clinic.duckdb
tables: {concepts: {}, visits: {}, illnesses: {}}
dictionary: [concepts.id, visits.id]
secrets: {ill: "SELECT visit FROM illnesses WHERE concept = 5"}
roles: {analysts: {default: allow, deny: [ill]}}
"""
    deciding = decider(tmp_path, text)
    sql = "SELECT {} FROM illnesses i JOIN visits v ON v.id = i.visit JOIN concepts c ON c.id = {}"
    found = deciding.decide("analysts", sql.format("v.concept1", "i.concept"))
    assert found.code == "discloses"


def test_what_takes_too_long_is_undecided(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        raise OutOfTime

    deciding = decider(folder, PLAN + "dictionary: [people.id]\n")
    monkeypatch.setattr(perfect_privacy, "shown", slow)
    decision = deciding.decide("analysts", "SELECT person FROM illnesses")
    assert decision.code == "undecided" and "not decided within" in decision.message
