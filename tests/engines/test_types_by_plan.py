"""Types that the plan gives, and types that no row has a say in."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.live import live
from tacit.engines.duckdb.engine import DuckDB
from tacit.errors import DataError, TacitError
from tacit.model.schema import Table
from tacit.plan.read.document import parse
from tacit.plan.read.load import read_plan

ROLES = (
    "secrets: {cancer: \"SELECT name FROM stays WHERE ill = 'cancer'\"}\n"
    "roles: {nurses: {default: allow, deny: [cancer]}}\n"
)


def table_of(written: str) -> Table:
    return read_plan(parse(f"version: 1\ntables:\n  t: {written}\n"), Path(".")).tables["t"]


def types_in(folder: Path, written: str, *, by_plan: bool = False) -> dict[str, str]:
    with DuckDB(folder=folder) as engine:
        engine.types_by_plan = by_plan
        engine.attach(table_of(written))
        return engine.native_types("t")


def test_a_decimal_has_as_many_digits_as_the_plan_says() -> None:
    assert table_of('{columns: {a: "decimal(8, 2)", b: "decimal(5)", c: decimal}}').digits == {
        "a": (8, 2),
        "b": (5, 0),
    }
    assert table_of('{columns: {a: "decimal(8, 2)"}}').columns == {"a": "decimal"}


@pytest.mark.parametrize(
    "kind",
    ['"decimal(2, 8)"', '"decimal(39, 2)"', '"decimal(0)"', '"decimal(a, b)"', "decimal(8, 2)"],
)
def test_digits_that_no_engine_has_are_refused_at_their_place(kind: str) -> None:
    with pytest.raises(TacitError, match=r'3:\d+: found .*"decimal\(8, 2\)", in quotes') as caught:
        table_of(f"{{columns: {{a: {kind}}}}}")
    assert caught.value.mark is not None and caught.value.mark.line == 3


def test_declared_digits_are_those_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1.5,7\n2.25,8\n")
    assert types_in(tmp_path, '{columns: {a: "decimal(9, 4)"}}') == {
        "a": "DECIMAL(9,4)",
        "b": "BIGINT",
    }
    with pytest.raises(
        DataError,
        match="has values with 2 digits behind the point, and is declared to have 1 at most",
    ):
        types_in(tmp_path, '{columns: {a: "decimal(9, 1)"}}')
    (tmp_path / "t.csv").write_text("a,b\n123456.5,7\n")
    with pytest.raises(DataError, match="not of the type declared"):
        types_in(tmp_path, '{columns: {a: "decimal(4, 1)"}}')


def test_declared_digits_are_those_of_rows(tmp_path: Path) -> None:
    assert types_in(tmp_path, '{columns: {a: "decimal(9, 4)"}, rows: [[1.5], [0], [null]]}') == {
        "a": "DECIMAL(9,4)"
    }
    for wrong in ("123456.5", "1.23"):
        with pytest.raises(DataError, match="column 'a' of table t"):
            types_in(tmp_path, f'{{columns: {{a: "decimal(4, 1)"}}, rows: [[{wrong}]]}}')


@pytest.mark.parametrize("rows", ["1.5,7,a\n", "1.5,7,a\n2.123456,x,3\n", ""])
def test_for_strangers_types_come_from_the_plan_alone(rows: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"a,b,c\n{rows}")
    assert types_in(tmp_path, "{columns: {a: decimal}}", by_plan=True) == {
        "a": "DECIMAL(38,10)",
        "b": "VARCHAR",
        "c": "VARCHAR",
    }


def test_a_domain_gives_a_type_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    assert types_in(tmp_path, "{domains: {a: [1, 2]}}", by_plan=True) == {
        "a": "BIGINT",
        "b": "VARCHAR",
    }


def test_for_strangers_the_header_alone_tells_the_separator(tmp_path: Path) -> None:
    for rows in ("x;y,z\n", "x;y\n"):
        (tmp_path / "t.csv").write_text(f"a,1;b,2;c\n{rows * 3}")
        with pytest.raises(DataError, match="line has"):
            types_in(tmp_path, "{}", by_plan=True)


@pytest.mark.parametrize(
    ("table", "rows", "told"),
    [
        ("{}", [["30", "1.5"]], True),
        ('{columns: {age: integer, dose: "decimal(38, 2)"}}', [[30, 1.5]], False),
    ],
)
def test_the_gateway_says_which_columns_are_text_for_want_of_a_type(
    table: str, rows: list[list[object]], told: bool, tmp_path: Path
) -> None:
    (tmp_path / "stays.csv").write_text("name,age,dose,ill\nAnn,30,1.5,flu\nBob,40,12.25,cancer\n")
    with live(tmp_path, f"version: 1\ntables: {{stays: {table}}}\n{ROLES}") as running:
        assert running.query("SELECT age, dose FROM stays WHERE ill = 'flu'").json()["rows"] == rows
        assert (
            any(
                'Write columns: {age: integer, dose: "decimal(38, 2)"}' in one
                for one in running.said
            )
            is told
        )
