"""Which engine a plan's source means."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import pytest

from tacit.engines.open import open_engine
from tacit.engines.sql import shapes
from tacit.errors import DataError, EngineError, MissingExtra
from tacit.model.schema import Table


def test_a_folder_is_relative_to_the_plan(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "t.csv").write_text("a\n1\n")
    engine = open_engine("data", tmp_path)
    engine.attach(Table("t"))
    assert engine.value(shapes.row_count("t")) == 1


@pytest.fixture
def wards(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "wards.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE beds AS SELECT 'NaN'::DOUBLE AS x, 1 AS n; CREATE SCHEMA s; CREATE TABLE "
            "s.beds AS SELECT 2 AS n"
        )
    return tmp_path


def test_a_database_file_is_only_read(wards: Path) -> None:
    with open_engine("wards.duckdb", wards) as engine:
        for name in ("beds", "s.beds"):
            engine.attach(Table(name))
        engine.attach(Table("here", columns={"a": None}, rows=((1,),)))
        engine.write("there", shapes.distinct_rows("s.beds", ["n"]))
        assert list(engine.rows(shapes.columns_of("beds", ["x", "n"]))) == [(None, 1)]
        assert engine.value(shapes.distinct_rows("there", ["n"])) == 2
    with duckdb.connect(str(wards / "wards.duckdb")) as connection:
        assert len(connection.execute("SHOW ALL TABLES").fetchall()) == 2


def test_a_table_that_a_database_file_lacks_is_named(wards: Path) -> None:
    with pytest.raises(DataError, match=r"has no table 'bed'. Did you mean 'beds'\?"):
        open_engine("wards.duckdb", wards).attach(Table("bed"))


def test_a_file_that_is_no_database_is_explained(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database, but long enough to be looked at")
    with pytest.raises(EngineError, match=r"x\.db cannot be opened as a DuckDB database"):
        open_engine("x.db", tmp_path)


@pytest.mark.parametrize("source", ["nowhere", "mysql://ann:secret@host/db", "data.xlsx"])
def test_other_sources_are_told_what_is_possible(source: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"source: \..*postgresql://.*spark") as raised:
        open_engine(source, tmp_path)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["missing.duckdb", "missing.db"])
def test_a_missing_database_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"there is no database {name}"):
        open_engine(name, tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@host/db",
        "postgres://ann@host/db?password=s3cret",
        "postgresql://host/db?x=1&sslpassword=s3cret",
    ],
)
def test_a_plan_holds_no_password(url: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds a password.*PGPASSWORD") as raised:
        open_engine(url, tmp_path)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("source", "package"), [("postgresql://host/db", "psycopg"), ("spark", "pyspark")]
)
def test_a_missing_package_answers_with_the_command(
    source: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        MissingExtra,
        match=rf"need the package {package}\. Run: pip install 'tacit-privacy\[",
    ):
        open_engine(source, tmp_path)
