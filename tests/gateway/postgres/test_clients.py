"""The clients that people have: psql, asyncpg, SQLAlchemy, pandas, DuckDB, pgjdbc, psqlODBC."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.live import Live, live

HERE = Path(__file__).parent
PLAN = """\
version: 1
tables:
  wards: {columns: {ward: text, beds: integer}, key: [ward], nullable: [], rows: [[A, 10], [B, 20]]}
  stays:
    columns: {name: text, ward: text, disease: text, age: integer, paid: "decimal(12, 3)"}
    nullable: [paid]
    key: [name]
    rows: [[Alan, A, cancer, 23, 1.5], [Bob, B, flu, 24, null]]
secrets: {cancer: "S(n) :- stays(n, w, 'cancer', a, p)"}
releases: {large: {query: "SELECT ward FROM wards WHERE beds > 15"}}
roles: {nurses: {default: allow, deny: [cancer]}}
"""
# Debian: apt install libpostgresql-jdbc-java odbc-postgresql
JDBC = Path(os.environ.get("TACIT_TEST_JDBC", "/usr/share/java/postgresql.jar"))
# A Python with DuckDB and pip install duckdb-extension-postgres-scanner of the same version
DUCKDB = os.environ.get("TACIT_TEST_DUCKDB", sys.executable)
ODBC = Path(os.environ.get("TACIT_TEST_ODBC", "/usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so"))


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(tmp_path_factory.mktemp("clients"), PLAN, postgres_port=0) as running:
        yield running


def url(door: Live) -> str:
    return f"postgresql://ann:{door.token}@127.0.0.1:{door.postgres_port}/nurses"


def psql(door: Live, *commands: str) -> str:
    if shutil.which("psql") is None:
        pytest.skip("no psql: apt install postgresql-client")
    given = [word for command in commands for word in ("-c", command)]
    return subprocess.run(
        ["psql", "-X", url(door), *given], capture_output=True, text=True, check=True
    ).stdout


def test_psql_describes_and_asks(door: Live) -> None:
    listed = psql(door, r"\d")
    assert all(f"| {name} " in listed for name in ("large", "stays", "wards"))
    described = psql(door, r"\d stays")
    assert "paid    | numeric(12,3) " in described and '"stays_pkey" PRIMARY KEY' in described
    assert psql(door, r"\pset format csv", "SELECT * FROM wards").endswith("A,10\nB,20\n")
    for command in (r"\d+", r"\l", r"\du", r"\dn", r"\df", r"\dp", r"\di", r"\dT", r"\d+ large"):
        assert psql(door, command)
    assert psql(door, r"\copy (SELECT ward FROM wards) TO STDOUT") == "A\nB\n"


def test_asyncpg(door: Live) -> None:
    asyncpg = pytest.importorskip("asyncpg", reason="no asyncpg: pip install asyncpg")

    async def ask() -> None:
        line = await asyncpg.connect(url(door))
        found = await line.fetch("SELECT ward, beds FROM wards WHERE beds > $1", 15)
        assert [tuple(row) for row in found] == [("B", 20)]
        async with line.transaction(readonly=True):
            rows = [row async for row in line.cursor("SELECT beds FROM wards", prefetch=1)]
            assert sorted(row["beds"] for row in rows) == [10, 20]
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await line.fetch("SELECT name FROM stays")
        await line.reset()
        assert await line.fetchval("SELECT 1") == 1
        await line.close()

    asyncio.run(ask())


def test_sqlalchemy_reflects_and_maps(door: Live) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="no SQLAlchemy: pip install sqlalchemy")
    from sqlalchemy import orm

    engine = sqlalchemy.create_engine(url(door).replace("postgresql", "postgresql+psycopg", 1))
    known = sqlalchemy.inspect(engine)
    assert known.get_table_names() == ["stays", "wards"] and known.get_view_names() == ["large"]
    assert known.get_pk_constraint("stays")["constrained_columns"] == ["name"]
    types = {one["name"]: str(one["type"]) for one in known.get_columns("stays")}
    assert types["age"] == "BIGINT" and types["paid"] == "NUMERIC(12, 3)"
    meta = sqlalchemy.MetaData()
    meta.reflect(engine, views=True)
    assert set(meta.tables) == {"wards", "stays", "large"}

    class Ward(orm.declarative_base()):  # type: ignore[misc]
        __table__ = meta.tables["wards"]

    with orm.Session(engine) as session:
        found = session.scalars(sqlalchemy.select(Ward).where(Ward.beds > 15)).all()
        assert [one.ward for one in found] == ["B"]
    engine.dispose()


def test_pandas_reads_sql(door: Live) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="no SQLAlchemy: pip install sqlalchemy")
    pandas = pytest.importorskip("pandas")
    engine = sqlalchemy.create_engine(url(door).replace("postgresql", "postgresql+psycopg", 1))
    frame = pandas.read_sql("SELECT ward, beds FROM wards ORDER BY ward", engine)
    assert frame.values.tolist() == [["A", 10], ["B", 20]]
    assert pandas.read_sql_table("wards", engine).shape == (2, 2)
    parts = engine.connect().execution_options(stream_results=True)
    read = pandas.read_sql("SELECT ward FROM wards ORDER BY ward", parts, chunksize=1)
    assert [part.values.tolist() for part in read] == [[["A"]], [["B"]]]
    parts.close()
    engine.dispose()


@pytest.mark.slow
def test_pgjdbc(door: Live, tmp_path: Path) -> None:
    if not JDBC.exists() or shutil.which("javac") is None:
        pytest.skip(
            "no pgjdbc or no Java: apt install libpostgresql-jdbc-java default-jdk-headless"
        )
    subprocess.run(["javac", "-d", tmp_path, HERE / "J.java"], check=True)
    where = f"jdbc:postgresql://127.0.0.1:{door.postgres_port}/nurses"
    said = subprocess.run(
        ["java", "-cp", f"{tmp_path}:{JDBC}", "J", where, "ann", door.token],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert "table|null|public|stays|TABLE|null|||||" in said
    assert "key|null|public|stays|name|1|stays_pkey" in said
    assert any(line.startswith("column|null|public|stays|paid|2|numeric|12|") for line in said)
    assert [line for line in said if line.startswith("prepared7")] == [
        "prepared7|A|10",
        "prepared7|B|20",
    ]
    assert [line for line in said if line.startswith("fetched")] == ["fetched|A|10", "fetched|B|20"]
    assert said[-2:] == ["refused|42501", "valid|true"] and "said|int8" in said


@pytest.mark.slow
def test_psqlodbc(door: Live) -> None:
    """In a process of its own: the driver's libraries may be found by its environment only."""
    if not ODBC.exists():
        pytest.skip("no psqlODBC: apt install odbc-postgresql")
    pytest.importorskip("pyodbc", reason="no pyodbc: pip install pyodbc", exc_type=ImportError)
    said = subprocess.run(
        [sys.executable, HERE / "odbc_client.py", ODBC, str(door.postgres_port), door.token],
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines() == [
        "tables large stays wards",
        "columns name ward disease age paid",
        "keys name",
        "indexes stays_pkey",
        "rows [('B', 20)] [('A', 10), ('B', 20)]",
        "refused 42501",
    ]


@pytest.mark.slow
def test_duckdb_reads_it_as_postgresql(door: Live) -> None:
    said = subprocess.run(
        [DUCKDB, HERE / "duckdb_client.py", door.postgres("nurses")], capture_output=True, text=True
    )
    if said.returncode == 3:
        pytest.skip("no reader: pip install duckdb-extension-postgres-scanner")
    assert said.returncode == 0, said.stderr
    lines = [line for line in said.stdout.splitlines() if line[:4] in ("tabl", "rows", "refu")]
    assert lines == [
        "tables large stays wards",
        "rows [('B', 20)]",
        "rows [(2,)]",
        "rows [(20,)]",
        "refused True",
    ]
