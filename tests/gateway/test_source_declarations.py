"""What the source declares decides at the gateway too:
keys and foreign keys are known, other types and shared rows stop the start.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from gateway.gateway_plans import policy
from gateway.live import live
from gateway.test_streams import as_user
from tacit.errors import DataError, PlanError, TacitError

CLINIC = """
    CREATE TABLE people (name {text} PRIMARY KEY, illness {text}, day date, bed integer);
    CREATE TABLE visits (name {text} REFERENCES people (name), ward {text}); CREATE TABLE wards (ward {text} UNIQUE, beds integer);
    INSERT INTO people VALUES ('Ann', 'cancer', '2020-01-01', 1), ('Bob', 'flu', '2021-02-02', 2); INSERT INTO wards VALUES ('A', 1);
    CREATE VIEW sick AS SELECT name, illness FROM people;
"""  # noqa: E501
POSTGRES = """
    CREATE VIEW told AS SELECT query_to_xml('SELECT * FROM people', true, false, '')::text AS x;
    CREATE ROLE declared_reader LOGIN; GRANT SELECT ON people, visits, wards, sick, told TO declared_reader;"""  # noqa: E501
DUCKDB = "CREATE VIEW told AS SELECT * FROM query('SELECT name AS x FROM people')"
OTHERS = "SELECT name FROM people WHERE illness <> 'cancer'"

Clinic = Callable[[str], str]


@pytest.fixture(scope="module", params=["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
def clinic(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Clinic]:
    """A database of each kind: the text of a plan on it, with what is added."""
    if request.param == "duckdb":
        path = tmp_path_factory.mktemp("clinic") / "clinic.duckdb"
        with duckdb.connect(str(path)) as one:
            one.execute(CLINIC.format(text="VARCHAR") + DUCKDB)
        yield lambda more: f"version: 1\nsource: {path}\n{more}"
        return
    import psycopg

    url = request.getfixturevalue("postgres_url")
    with psycopg.connect(url, autocommit=True) as one:
        one.execute(CLINIC.format(text="text") + POSTGRES)
        yield lambda more: f"version: 1\nsource: '{as_user(url, 'declared_reader')}'\n{more}"
        one.execute(
            "DROP VIEW told, sick; DROP TABLE visits, people, wards; DROP OWNED BY "
            "declared_reader; DROP ROLE declared_reader"
        )


def roles(tables: str, secret: str = "SELECT name FROM people WHERE illness = 'cancer'") -> str:
    return (
        f"tables: {tables}\n"
        f'secrets: {{s: "{secret}"}}\n'
        f"roles: {{nurses: {{default: allow, deny: [s]}}}}\n"
    )


def test_everybody_but_the_sick_is_not_answered_where_the_database_has_a_key(
    clinic: Clinic, tmp_path: Path
) -> None:
    with live(tmp_path, clinic(roles("{people: {}, wards: {}}"))) as gateway:
        assert gateway.query(OTHERS).status_code == 403
        assert gateway.query("SELECT beds FROM wards").json()["rows"] == [[1]]
    [said] = [one for one in gateway.said if one.startswith("The source declares")]
    assert (
        "(name) is a key of people" in said
        and "(ward) is unique, where it is not NULL, of wards" in said
    )


def test_keys_that_are_left_out_are_a_warning_at_the_start(clinic: Clinic, tmp_path: Path) -> None:
    with live(
        tmp_path, clinic("source-keys: ignore\n" + roles("{people: {}, wards: {}}"))
    ) as gateway:
        assert gateway.query(OTHERS).json()["rows"] == [["Bob"]], (
            "the owner says that nobody knows the key"
        )
    [said] = [one for one in gateway.said if one.startswith("Warning: source-keys: ignore")]
    assert "(name) is a key of people" in said


def test_a_foreign_key_of_the_database_ties_tables(clinic: Clinic, tmp_path: Path) -> None:
    found = policy(tmp_path, clinic(roles("{people: {}, visits: {}, wards: {}}")))
    assert (
        found.tied == (frozenset({"people", "visits"}),)
        and "visits (name) refers to people (name)" in found.said
    )
    assert (
        policy(tmp_path, clinic("source-keys: ignore\n" + roles("{people: {}, visits: {}}"))).tied
        == ()
    )


def test_what_the_database_calls_not_null_is_never_null(clinic: Clinic, tmp_path: Path) -> None:
    found = policy(tmp_path, clinic(roles("{people: {nullable: [name, illness, day, bed]}}")))
    assert found.relations["people"].nullable == {"illness", "day", "bed"} and found.relations[
        "people"
    ].keys == (("name",),)


@pytest.mark.parametrize(("column", "kind"), [("day", "date"), ("bed", "integer")])
def test_another_type_than_the_database_s_stops_the_start(
    clinic: Clinic, tmp_path: Path, column: str, kind: str
) -> None:
    plan = clinic(
        roles(
            f"{{people: {{columns: {{{column}: text}}}}}}",
            "SELECT name FROM people WHERE day = '2020-01-01'",
        )
    )
    with pytest.raises(DataError) as raised, live(tmp_path, plan):
        pass
    assert (
        f"column '{column}' of table people is declared text, but the source has "
        in raised.value.message
    )
    assert f"Write columns: {{{column}: {kind}}}" in str(raised.value.hint)


def test_a_date_is_the_same_however_it_is_written(clinic: Clinic, tmp_path: Path) -> None:
    plan = clinic(
        "source-keys: ignore\n"
        + roles(
            "{people: {columns: {day: date}}}", "SELECT name FROM people WHERE day = '2020-01-01'"
        )
    )
    with live(tmp_path, plan) as gateway:
        assert gateway.query("SELECT name FROM people WHERE day = '2020-1-1'").status_code == 403


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ("{people: {}, sick: {}}", "both come from the table people"),
        (
            "{people: {}, told: {}}",
            "what (the view )?told reads cannot be told: it (calls query_to_xml|reads query)",
        ),
    ],
)
def test_a_view_of_another_table_stops_the_start_also_where_it_runs_text(
    clinic: Clinic, tmp_path: Path, tables: str, why: str
) -> None:
    with pytest.raises(PlanError, match=why):
        policy(tmp_path, clinic(roles(tables)))


def test_copies_and_links_of_one_file_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,illness\nAnn,cancer\nBob,flu\n", "utf-8")
    shutil.copy(tmp_path / "people.csv", tmp_path / "copy.csv")
    os.link(tmp_path / "people.csv", tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to("people.csv")
    for name in ("copy", "hard", "soft"):
        with pytest.raises(TacitError, match=f"tables people and {name} share rows"):
            policy(tmp_path, f"version: 1\n{roles(f'{{people: {{}}, {name}: {{}}}}')}")


def test_a_type_that_is_not_a_parquet_file_s_stops_the_start(tmp_path: Path) -> None:
    duckdb.sql("SELECT 'Ann' AS name, DATE '2020-01-01' AS day").write_parquet(
        str(tmp_path / "people.parquet")
    )
    with pytest.raises(DataError, match="is declared text, but the source has DATE"):
        policy(
            tmp_path,
            f"version: 1\n{roles('{people: {columns: {day: text}}}', 'SELECT name FROM people')}",
        )
