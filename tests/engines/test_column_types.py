"""A type that the plan declares is the source's, or the table is not read:
every declared type against every kind of column.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.errors import DataError
from tacit.model.schema import Table

# What the source has, and the declared types that mean the same.
DUCKDB = {
    "INTEGER": {"integer"},
    "UBIGINT": {"integer"},
    "HUGEINT": {"integer"},
    "DECIMAL(10,2)": {"decimal"},
    "DOUBLE": {"decimal"},
    "FLOAT": {"decimal"},
    "VARCHAR": {"text", "distribution"},
    "DATE": {"date"},
    "TIMESTAMP": {"timestamp"},
    "TIMESTAMP_NS": {"timestamp"},
    "TIMESTAMPTZ": {"timestamp"},
    "BOOLEAN": {"boolean"},
    "MAP(VARCHAR, DOUBLE)": {"distribution"},
    "UUID": {"text", "distribution"},
    "TIME": {"text", "distribution"},
    "BLOB": {"text", "distribution"},
    "INTEGER[]": {"text", "distribution"},
    "INTERVAL": {"text", "distribution"},
}
POSTGRES = {
    "smallint": {"integer"},
    "bigint": {"integer"},
    "numeric": {"decimal"},
    "numeric(10, 2)": {"decimal"},
    "real": {"decimal"},
    "double precision": {"decimal"},
    "text": {"text", "distribution"},
    "varchar(9)": {"text", "distribution"},
    "char(9)": {"text", "distribution"},
    "date": {"date"},
    "timestamp": {"timestamp"},
    "timestamptz": {"timestamp"},
    "boolean": {"boolean"},
    "uuid": {"text", "distribution"},
    "jsonb": {"text", "distribution"},
    "time": {"text", "distribution"},
    "inet": {"text", "distribution"},
    "money": {"text", "distribution"},
    "int[]": {"text", "distribution"},
}
SPARK = {
    "INT": {"integer"},
    "DECIMAL(10, 2)": {"decimal"},
    "DOUBLE": {"decimal"},
    "STRING": {"text", "distribution"},
    "DATE": {"date"},
    "TIMESTAMP": {"timestamp"},
    "TIMESTAMP_NTZ": {"timestamp"},
    "BOOLEAN": {"boolean"},
    "MAP<STRING, DOUBLE>": {"distribution"},
    "BINARY": {"text", "distribution"},
}
DECLARED = ("integer", "decimal", "text", "date", "timestamp", "boolean", "distribution")


def read_as(engine: Engine, name: str, declared: str) -> bool:
    """Is the column c of a table read under this type? Where it is
    not, the error says what to write.
    """
    try:
        engine.attach(Table(name, columns={"c": declared}))  # type: ignore[dict-item]
    except DataError as error:
        said = f"{error.message} {error.hint}"
        assert (
            f"column 'c' of table {name} is declared {declared}, but the source has " in said
            and "Write columns: {c: " in said
        )
        return False
    return True


def accepted(engine: Engine, tables: dict[str, str]) -> dict[str, set[str]]:
    return {
        sql_type: {declared for declared in DECLARED if read_as(engine, name, declared)}
        for name, sql_type in tables.items()
    }


def test_duckdb_and_parquet_have_their_own_types(tmp_path: Path) -> None:
    tables = {f"t{number}": sql_type for number, sql_type in enumerate(DUCKDB)}
    with duckdb.connect(str(tmp_path / "d.duckdb")) as one:
        for name, sql_type in tables.items():
            one.execute(
                f"CREATE TABLE {name} (c {sql_type}); COPY {name} TO '{tmp_path}/{name}.parquet' "
                "(FORMAT parquet)"
            )
    with DuckDB(tmp_path / "d.duckdb") as engine:
        assert accepted(engine, tables) == DUCKDB
    with DuckDB(folder=tmp_path) as engine:
        stored = {
            name: sql_type for name, sql_type in tables.items() if sql_type != "HUGEINT"
        }  # Parquet has none, and stores a double
        assert accepted(engine, stored) == {
            sql_type: DUCKDB[sql_type] for sql_type in stored.values()
        }


@pytest.mark.slow
def test_postgresql_has_its_own_types(postgres_url: str) -> None:
    import psycopg

    from tacit.engines.postgres.engine import Postgres

    tables = {f"t{number}": sql_type for number, sql_type in enumerate(POSTGRES)}
    with psycopg.connect(postgres_url, autocommit=True) as one:
        for name, sql_type in tables.items():
            one.execute(f"CREATE TABLE {name} (c {sql_type})")
    with Postgres(postgres_url) as engine:
        assert accepted(engine, tables) == POSTGRES


@pytest.fixture
def spark(spark_session: object, tmp_path: Path) -> Iterator[Engine]:
    from tacit.engines.spark.engine import Spark

    with Spark(session=spark_session, folder=tmp_path) as engine:
        yield engine


@pytest.mark.slow
def test_spark_has_its_own_types(spark: Engine, spark_session: object, tmp_path: Path) -> None:
    tables = {f"typed{number}": sql_type for number, sql_type in enumerate(SPARK)}
    for name, sql_type in tables.items():
        spark_session.sql(f"SELECT CAST(NULL AS {sql_type}) AS c").write.parquet(
            str(tmp_path / "parts" / name)
        )  # type: ignore[attr-defined]
        next((tmp_path / "parts" / name).glob("part-*")).rename(tmp_path / f"{name}.parquet")
    assert accepted(spark, tables) == SPARK
