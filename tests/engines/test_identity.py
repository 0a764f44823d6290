"""One person's rows under two names are found:
by file, by the database's catalogue, by their content.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.identity import shared_rows
from tacit.model.schema import Table


def because(engine: Engine, *tables: Table) -> list[str]:
    for table in tables:
        engine.attach(table)
    return [one.because for one in shared_rows(engine, [table.name for table in tables])]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("name,illness\nAnn,cancer\nBob,flu\n", "utf-8")
    return path


def test_a_link_to_a_file_is_the_file(people: Path) -> None:
    (people.parent / "link.csv").symlink_to(people)
    os.link(people, people.parent / "hard.csv")
    for other in ("./people.csv", "link.csv", "hard.csv"):
        with DuckDB(folder=people.parent) as engine:
            [said] = because(engine, Table("a", file="people.csv"), Table("b", file=other))
            assert said.startswith("both come from the file ")


def test_a_copy_of_a_file_has_the_same_rows_also_in_another_format_or_order(people: Path) -> None:
    folder = people.parent
    shutil.copy(people, folder / "copy.csv")
    (folder / "turned.csv").write_text("illness;Name\nflu;Bob\ncancer;Ann\n", "utf-8")
    duckdb.sql(
        f"COPY (SELECT * FROM read_csv('{people}')) TO '{folder}/copy.parquet' (FORMAT parquet)"
    )
    for other in ("copy.csv", "turned.csv", "copy.parquet"):
        with DuckDB(folder=folder) as engine:
            assert because(engine, Table("a", file="people.csv"), Table("b", file=other)) == [
                "they have the same rows"
            ]


def test_other_rows_other_columns_and_no_rows_are_no_copy(people: Path) -> None:
    folder = people.parent
    (folder / "other.csv").write_text("name,illness\nAnn,cancer\nBob,cold\n", "utf-8")
    (folder / "twice.csv").write_text("name,illness\nAnn,cancer\nAnn,cancer\n", "utf-8")
    (folder / "wards.csv").write_text("name,ward\nAnn,cancer\nBob,flu\n", "utf-8")
    for number in (1, 2):
        (folder / f"empty{number}.csv").write_text("name,illness\n", "utf-8")
    with DuckDB(folder=folder) as engine:
        names = ("people", "other", "twice", "wards", "empty1", "empty2")
        assert because(engine, *(Table(name) for name in names)) == []


def test_a_view_of_a_duckdb_file_comes_from_its_tables(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as one:
        one.execute(
            "CREATE SCHEMA old; CREATE TABLE people AS SELECT 'Ann' AS name; CREATE TABLE "
            "old.people AS SELECT 'Eve' AS name, 1 AS n;"
            "CREATE TABLE wards AS SELECT 'A' AS ward; CREATE VIEW v AS SELECT upper(name) AS n "
            "FROM people; CREATE VIEW w AS SELECT 1 AS one FROM v"
        )
    for one, other, shared in (
        ("people", "w", True),
        ("old.people", "wards", False),
        ("people", "old.people", False),
        ("wards", "v", False),
    ):
        with DuckDB(tmp_path / "clinic.duckdb") as engine:
            assert because(engine, Table(one), Table(other)) == (
                ["both come from the table people"] if shared else []
            )


@pytest.mark.parametrize(
    ("definition", "why"),
    [
        ("SELECT * FROM query('SELECT name FROM people')", "it reads query(...)"),
        ("SELECT * FROM query_table('people')", "it reads query_table(...)"),
        ("SELECT sick() AS n", "it may call the macro sick"),
        ("SELECT * FROM all_of()", "it may call the macro all_of"),
        ("SELECT * FROM wards, LATERAL query('SELECT name FROM people')", "it reads query(...)"),
    ],
)
def test_a_view_of_a_duckdb_file_that_runs_text_hides_what_it_reads(
    tmp_path: Path, definition: str, why: str
) -> None:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as one:
        one.execute(
            "CREATE TABLE people AS SELECT 'Ann' AS name; CREATE TABLE wards AS SELECT 'A' AS ward"
        )
        one.execute(
            "CREATE MACRO sick() AS (SELECT count(*) FROM people); CREATE MACRO all_of() AS TABLE "
            "SELECT * FROM people"
        )
        one.execute(f"CREATE VIEW v AS {definition}")
    with DuckDB(tmp_path / "clinic.duckdb") as engine:
        [said] = because(engine, Table("people"), Table("v"))
        assert said == f"what the view v reads cannot be told: {why}"


POSTGRES = """
    CREATE TABLE people (name text, illness text); CREATE TABLE wards (ward text); CREATE TABLE copy AS SELECT * FROM people;
    INSERT INTO people VALUES ('Ann', 'cancer'); INSERT INTO copy SELECT * FROM people;
    CREATE FUNCTION sick() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT count(*) FROM people';
    CREATE VIEW plain AS SELECT upper(ward) AS w, now() AS at, ward || 'x' AS x FROM wards WHERE ward LIKE 'A%' GROUP BY ward;
    CREATE VIEW over AS SELECT w FROM plain;
    CREATE VIEW xml AS SELECT query_to_xml('SELECT * FROM people', true, false, '')::text AS x;
    CREATE VIEW stat AS SELECT word FROM ts_stat('SELECT to_tsvector(illness) FROM people');
    CREATE VIEW own AS SELECT sick() AS n; CREATE VIEW system AS SELECT relname, reltuples FROM pg_class;
    CREATE TABLE guarded (ward text); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
    CREATE POLICY p ON guarded USING (EXISTS (SELECT 1 FROM people WHERE illness = 'cancer'));
"""  # noqa: E501


@pytest.fixture(scope="module")
def clinic(postgres_url: str) -> str:
    """A database with views of all kinds."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as one:
        one.execute(POSTGRES)
    return postgres_url


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("over", None),
        ("copy", "they have the same rows"),
        ("guarded", "both come from the table people"),
        ("xml", "what xml reads cannot be told: it calls query_to_xml"),
        ("stat", "what stat reads cannot be told: it calls ts_stat"),
        ("own", "what own reads cannot be told: it calls sick"),
        ("system", "what pg_class reads cannot be told: it tells of other tables"),
    ],
)
def test_a_view_of_postgresql_comes_from_its_tables_or_hides_them(
    clinic: str, table: str, why: str | None
) -> None:
    from tacit.engines.postgres.engine import Postgres

    with Postgres(clinic) as engine:
        assert because(engine, Table("people"), Table(table)) == ([] if why is None else [why])


@pytest.mark.slow
def test_spark_names_the_files_of_tables_and_views(spark_session: Any, people: Path) -> None:
    from tacit.engines.spark.engine import Spark

    shutil.copy(people, people.parent / "same.csv")
    duckdb.sql(f"SELECT * FROM read_csv('{people}')").write_parquet(
        str(people.parent / "p.parquet")
    )
    os.link(people.parent / "p.parquet", people.parent / "q.parquet")
    spark_session.read.parquet(f"file:{people.parent}/p.parquet").createOrReplaceTempView(
        "spark_view"
    )
    spark_session.range(3).createOrReplaceTempView("spark_numbers")
    with Spark(session=spark_session, folder=people.parent) as engine:
        assert because(engine, Table("people"), Table("same")) == ["they have the same rows"]
        assert because(engine, Table("p"), Table("q")) == [
            "both come from the file p.parquet"
        ] or because(engine, Table("p"), Table("q")) == ["both come from the file q.parquet"]
        assert because(engine, Table("p"), Table("spark_view")) == [
            "both come from the file p.parquet"
        ]
        assert because(engine, Table("p"), Table("spark_numbers")) == [
            (
                "what the view spark_numbers reads cannot be told: Spark names no file that it "
                "comes from"
            )
        ]
        assert (
            engine.declared("p").keys == ()
            and engine.references() == []
            and engine.entry("spark_view") is None
        )
    spark_session.catalog.dropTempView("spark_view")
    spark_session.catalog.dropTempView("spark_numbers")
