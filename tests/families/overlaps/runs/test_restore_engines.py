"""The same restoration on every engine: what is found is a matter of the people, and not of
where their rows live.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services import ENGINES, open_kind
from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.families.overlaps.runs.restore import restore
from tacit.plan.read.document import parse
from tacit.plan.read.load import read_plan

SOURCES = {"postgres": "postgresql://localhost/clinic", "spark": "spark"}
COLUMNS = {
    "name": "VARCHAR(9)",
    "sex": "VARCHAR(9)",
    "age": "INT",
    "born": "DATE",
    "wage": "DECIMAL(6, 2)",
    "insured": "BOOLEAN",
    "condition": "VARCHAR(9)",
}
PEOPLE = [
    ("Alan", "M", 23, "2001-03-05", "9.50", True, "Heart"),
    ("Bob", "M", 24, "2000-02-29", "10.25", None, "SARS"),
    ("Clark", "M", 25, "1999-03-05", "100", True, "Viral"),
    ("Donald", "M", 26, "1998-03-05", "0.1", True, "SARS"),
    ("Ellen", "F", 27, "1997-03-05", "0.25", False, "Viral"),
    ("Fen", "F", 28, "1996-03-05", "3", False, "SARS"),
    ("Garcia", "F", 28, "1996-02-29", "7", True, "Flu"),
]


def rows_in_sql() -> str:
    """The people with the types that a database would have for them."""
    rows = ", ".join(
        f"({', '.join('NULL' if cell is None else repr(str(cell)) for cell in row)})"
        for row in PEOPLE
    )
    return (
        "SELECT "
        f"{', '.join(f'CAST({name} AS {type_}) AS {name}' for name, type_ in COLUMNS.items())}"
        f" FROM (VALUES {rows}) AS t({', '.join(COLUMNS)})"
    )


def made(kind: str, name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    """A table of the database itself, as its owner made it; for DuckDB a file."""
    if kind == "postgres":
        import psycopg

        with psycopg.connect(request.getfixturevalue("postgres_url"), autocommit=True) as owner:
            owner.execute(f"CREATE TABLE {name} AS {rows_in_sql()}")
    elif kind == "spark":
        request.getfixturevalue("spark_session").sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {rows_in_sql()}"
        )
    else:
        with DuckDB() as engine:
            engine.connection.execute(
                f"COPY ({rows_in_sql()}) TO '{folder / name}.parquet' (FORMAT parquet)"
            )


def found_on(engine: Engine, source: str, name: str, columns: list[str]) -> dict[str, Any]:
    """What is found; without how long it took."""
    plan = {
        "version": 1,
        "tables": {name: {"key": ["name"], "sensitive": ["condition"]}},
        "releases": {
            "male": {"query": f"SELECT condition FROM {name} WHERE sex = 'M'"},
            "old": {"query": f"SELECT condition FROM {name} WHERE age BETWEEN 26 AND 28"},
        },
        "checks": [{"gamma-privacy": {"releases": ["male", "old"], "gamma": "1/2"}}],
    }
    read = replace(read_plan(parse(json.dumps(plan)), Path()), source=source)
    found = restore(read, columns=columns, views=2, engine=engine).to_json()
    assert found["status"] == "restored" and [one["status"] for one in found["verdicts"]] == [
        "breached",
        "holds",
    ]
    return {key: value for key, value in found.items() if key != "seconds"}


@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_finds_the_same_views(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    name, columns = f"restored_{kind}", ["born", "wage", "insured"]
    for one in {"duckdb", kind}:
        made(one, name, tmp_path, request)
    with DuckDB(folder=tmp_path) as judge, open_kind(kind, request, tmp_path) as engine:
        assert found_on(engine, SOURCES.get(kind, "."), name, columns) == found_on(
            judge, ".", name, columns
        )
