"""What a source itself declares is known to everybody: keys, foreign keys, NOT NULL.
`tacit check` reads them, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tacit.checking.assess import assess
from tacit.errors import DataError, TacitError
from tacit.model.verdict import Verdict
from tacit.plan.read.load import load_plan

CLINIC = """
    CREATE TABLE people (name {text} PRIMARY KEY, illness {text} NOT NULL, bed INTEGER UNIQUE);
    CREATE TABLE visits (name {text} REFERENCES people (name), ward {text});
    CREATE TABLE wards (ward {text}, beds INTEGER);
    CREATE VIEW sick AS SELECT name, illness FROM people;
    INSERT INTO people VALUES ('Ann', 'cancer', 1), ('Bob', 'flu', 2);
"""
CANCER = "SELECT name FROM people WHERE illness = 'cancer'"
OTHERS = "SELECT name FROM people WHERE illness <> 'cancer'"

Clinic = Callable[[str], str]


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
def clinic(request: pytest.FixtureRequest, tmp_path: Path) -> Clinic:
    """A database of each kind: the text of a plan on it, with what is added."""
    if request.param == "duckdb":
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as one:
            one.execute(CLINIC.format(text="VARCHAR"))
        return lambda more: f"version: 1\nsource: clinic.duckdb\n{more}"
    import psycopg

    url = request.getfixturevalue("ledger_url")  # a schema of its own
    with psycopg.connect(url, autocommit=True) as one:
        one.execute(CLINIC.format(text="text"))
    return lambda more: f"version: 1\nsource: '{url}'\n{more}"


def verdict(folder: Path, text: str) -> Verdict:
    path = folder / "tacit.yaml"
    path.write_text(text, "utf-8")
    [found] = assess(load_plan(path))
    return found


def asked(
    secret: str, query: str, tables: str = "{people: {}}", check: str = "perfect-privacy"
) -> str:
    return (
        f"tables: {tables}\n"
        f'secrets: {{s: "{secret}"}}\n'
        f'releases: {{v: {{query: "{query}"}}}}\n'
        f"checks: [{check}: {{secret: s, release: v}}]\n"
    )


def assumed(found: Verdict) -> dict[str, str]:
    return {one.id: one.text for one in found.assumptions}


WITHOUT = "source-keys: ignore\n"
NO_KEYS = "{people: {columns: {name: text, illness: text, bed: integer}}}"


@pytest.mark.parametrize("tables", ["{people: {}}", NO_KEYS])
def test_a_key_of_the_database_is_known_whether_or_not_the_plan_names_the_columns(
    clinic: Clinic, tmp_path: Path, tables: str
) -> None:
    found = verdict(tmp_path, clinic(asked(CANCER, OTHERS, tables)))
    assert found.status != "holds"
    assert (
        "(name) is a key of people" in assumed(found)["source-keys"]
        and "(bed) is unique, where it is not NULL, of people" in assumed(found)["source-keys"]
    )


def test_keys_that_are_left_out_are_an_assumption_of_every_verdict(
    clinic: Clinic, tmp_path: Path
) -> None:
    for tables in ("{people: {}}", NO_KEYS):
        found = verdict(tmp_path, clinic(WITHOUT + asked(CANCER, OTHERS, tables)))
        assert found.status == "holds" and "source-keys" not in assumed(found)
        assert (
            "keys and foreign keys that the source declares are left out"
            in assumed(found)["source-keys-ignored"]
        )
    assert "types-as-declared" in assumed(found), "nothing was asked of the database"
    microdata = (
        "tables: {people: {quasi-identifiers: [bed], sensitive: [illness]}}\n"
        "releases: {r: {table: people}}\n"
        "checks: [k-anonymity: {release: r, k: 2}]\n"
    )
    assert "source-keys-ignored" in assumed(verdict(tmp_path, clinic(WITHOUT + microdata)))


def test_a_foreign_key_ties_tables_also_to_one_that_is_not_in_the_plan(
    clinic: Clinic, tmp_path: Path
) -> None:
    both = asked(
        "SELECT name FROM people WHERE illness = 'cancer'",
        "SELECT ward FROM visits",
        "{people: {}, visits: {}}",
    )
    found = verdict(tmp_path, clinic(both))
    assert found.status == "undecided" and found.reason and found.reason.code == "constraints"
    assert "visits (name) refers to people (name)" in assumed(found)["source-keys"]
    alone = verdict(
        tmp_path,
        clinic(
            asked(
                "SELECT name FROM visits WHERE ward = 'A'",
                "SELECT name FROM visits WHERE ward = 'B'",
                "{visits: {}}",
            )
        ),
    )
    assert (
        alone.status == "undecided"
        and "visits (name) refers to a table that is not in the plan"
        in assumed(alone)["source-keys"]
    )
    apart = verdict(
        tmp_path,
        clinic(
            asked("SELECT beds FROM wards", "SELECT name FROM visits", "{wards: {}, visits: {}}")
        ),
    )
    assert apart.status == "holds"


def test_view_safety_takes_the_keys_of_the_database_into_account(
    clinic: Clinic, tmp_path: Path
) -> None:
    ask = asked(
        "SELECT DISTINCT name FROM people WHERE illness = 'cancer'",
        "SELECT DISTINCT name FROM people WHERE illness = 'flu'",
        "{people: {domains: {name: [Ann, Bob], illness: [flu, cancer], bed: [1, 2]}}}",
        "e-safety",
    )
    assert verdict(tmp_path, clinic(ask)).status == "breached", "Bob has flu, and nothing else"
    assert verdict(tmp_path, clinic(WITHOUT + ask)).status == "holds"


def test_a_view_of_the_database_is_not_taken_for_a_table_without_keys(
    clinic: Clinic, tmp_path: Path
) -> None:
    ask = asked(
        "SELECT name FROM sick WHERE illness = 'cancer'",
        "SELECT name FROM sick WHERE illness = 'flu'",
        "{sick: {}}",
    )
    found = verdict(tmp_path, clinic(ask))
    assert found.status == "undecided" and any(
        "sick is a view of the source" in one for one in found.warnings
    )
    keyed = verdict(tmp_path, clinic(ask.replace("{sick: {}}", "{sick: {key: [name]}}")))
    assert keyed.status != "holds"
    with pytest.raises(DataError, match="sick is a view of the source"):
        verdict(tmp_path, clinic(ask.replace("perfect-privacy", "g-safety")))


def test_two_tables_with_the_same_people_are_tied(clinic: Clinic, tmp_path: Path) -> None:
    ask = asked(CANCER, "SELECT name FROM sick", "{people: {}, sick: {key: [name]}}")
    found = verdict(tmp_path, clinic(WITHOUT + ask))
    assert found.status == "undecided" and any(
        "people and sick share rows, or may: both come from the table " in one
        for one in found.warnings
    )
    with pytest.raises(TacitError, match="people and sick share rows"):
        verdict(tmp_path, clinic(WITHOUT + ask.replace("perfect-privacy", "g-safety")))


def test_copies_of_a_file_are_tied(tmp_path: Path) -> None:
    for name in ("people.csv", "others.csv"):
        (tmp_path / name).write_text("name,illness\nAnn,cancer\nBob,flu\n", "utf-8")
    found = verdict(
        tmp_path,
        f"version: 1\n{asked(CANCER, 'SELECT name FROM others', '{people: {}, others: {}}')}",
    )
    assert (
        found.status == "undecided"
        and "people and others share rows, or may: they have the same rows" in found.warnings
    )


def test_a_type_that_is_not_the_source_s_is_an_error(clinic: Clinic, tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="column 'bed' of table people is declared text, but the source has "
    ):
        verdict(tmp_path, clinic(asked(CANCER, OTHERS, "{people: {columns: {bed: text}}}")))


def test_files_in_another_folder_are_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    duckdb.sql("SELECT 'Ann' AS name, DATE '2020-01-01' AS day").write_parquet(
        str(tmp_path / "data" / "people.parquet")
    )
    ask = asked(
        "SELECT name FROM people WHERE day = '2020-01-01'",
        "SELECT name FROM people WHERE day = '2020-1-1'",
        "{people: {columns: {name: text, day: text}}}",
    )
    with pytest.raises(
        DataError, match="column 'day' of table people is declared text, but the source has DATE"
    ):
        verdict(tmp_path, f"version: 1\nsource: data\n{ask}")


def test_a_private_column_in_a_key_of_the_database_is_refused_where_its_values_are_counted(
    clinic: Clinic, tmp_path: Path
) -> None:
    plan = (
        "tables: {people: {key: [name], sensitive: [bed]}}\n"
        'releases: {v: {query: "SELECT bed FROM people"}}\n'
        "checks: [gamma-privacy: {releases: [v], gamma: 0.9}]\n"
    )
    with pytest.raises(DataError, match=r"the source declares \(bed\) unique in people"):
        verdict(tmp_path, clinic(plan))
    assert verdict(tmp_path, clinic(WITHOUT + plan)).status == "holds"


def test_a_database_that_cannot_be_reached_is_an_error_that_names_the_way_out(
    tmp_path: Path,
) -> None:
    head, ask = (
        "version: 1\nsource: postgresql://127.0.0.1:1/clinic\n",
        asked(CANCER, OTHERS, NO_KEYS),
    )
    with pytest.raises(TacitError) as raised:
        verdict(tmp_path, head + ask)
    assert "source-keys: ignore" in str(raised.value.hint)
    assert verdict(tmp_path, head + WITHOUT + ask).status == "holds"
