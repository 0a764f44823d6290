"""What holds on every engine beyond the shapes."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlglot import parse_one

from tacit.engines.base import Engine
from tacit.engines.sql import shapes
from tacit.errors import DataError, EngineError, TacitError
from tacit.model.schema import Table

PEOPLE = Table(
    "people", columns={"name": None, "age": None}, rows=(("Ana", 28), ("Bo", None), ("Cy", 31))
)


def asked(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    return list(engine.rows(parse_one(sql)))


def test_rows_in_the_plan_keep_their_values_and_types(engine: Engine) -> None:
    engine.attach(
        Table(
            "kinds",
            columns={
                "n": None,
                "d": None,
                "t": None,
                "b": None,
                "day": "date",
                "at": "timestamp",
                "zip": "text",
                "dist": None,
            },
            rows=(
                (
                    1,
                    Decimal("0.10"),
                    "x",
                    True,
                    "2024-02-29",
                    "2024-02-29T10:00:00+02:00",
                    1305,
                    {"flu": 0.5},
                ),
                (None,) * 8,
            ),
        )
    )
    kinds = ("integer", "decimal", "text", "boolean", "date", "timestamp", "text", "text")
    assert tuple(engine.columns("kinds").values()) == kinds
    assert asked(engine, "SELECT * FROM kinds WHERE NOT n IS NULL") == [
        (
            1,
            Decimal("0.10"),
            "x",
            True,
            date(2024, 2, 29),
            datetime(2024, 2, 29, 8),
            "1305",
            '{"flu": 0.5}',
        )
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", "28.7"),
        ("integer", 2**63),
        ("decimal", "1,5"),
        ("date", "29.2.2024"),
        ("boolean", "perhaps"),
        ("integer", "x"),
    ],
)
def test_values_that_do_not_fit_are_errors_and_never_rounded(
    engine: Engine, kind: Any, value: Any
) -> None:
    with pytest.raises(DataError, match=f"is not of type {kind}"):
        engine.attach(Table("t", columns={"c": kind}, rows=((value,),)))


def test_rows_that_end_in_a_decimal_are_stored(engine: Engine) -> None:
    engine.attach(
        Table(
            "doses", columns={"name": None, "dose": None}, rows=(("a", Decimal("0.125")), ("b", 2))
        )
    )
    assert sorted(asked(engine, "SELECT * FROM doses")) == [
        ("a", Decimal("0.125")),
        ("b", Decimal("2.000")),
    ]


def test_rows_of_the_wrong_length_are_an_error(engine: Engine) -> None:
    with pytest.raises(DataError, match="do not have 2 values"):
        engine.attach(Table("t", columns={"a": None, "b": None}, rows=((1,),)))


def test_a_missing_table_is_explained(engine: Engine) -> None:
    with pytest.raises(TacitError, match="inpatient"):
        engine.attach(Table("inpatient"))


def test_answers_do_not_get_into_each_others_way(engine: Engine) -> None:
    engine.attach(PEOPLE)
    names = engine.rows(parse_one("SELECT name FROM people ORDER BY name"))
    assert next(names) == ("Ana",)
    assert engine.value(shapes.row_count("people")) == 3
    assert list(names) == [("Bo",), ("Cy",)]


def test_only_questions_are_asked(engine: Engine) -> None:
    engine.attach(PEOPLE)
    with pytest.raises(EngineError, match="DROP is not a query"):
        engine.explain(parse_one("DROP TABLE people"))
    assert engine.value(shapes.row_count("people")) == 3


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nobody FROM people",
        "SELECT name FROM nowhere",
        "SELECT name + 1 FROM people WHERE age",
    ],
)
def test_a_question_that_cannot_be_read_is_refused_before_it_runs(engine: Engine, sql: str) -> None:
    engine.attach(PEOPLE)
    engine.explain(parse_one("SELECT name FROM people"))
    with pytest.raises(EngineError, match="could not answer"):
        engine.explain(parse_one(sql))
    assert engine.value(shapes.row_count("people")) == 3


def test_an_error_in_the_rows_is_explained(engine: Engine) -> None:
    engine.attach(PEOPLE)
    with pytest.raises(EngineError, match="could not answer"):
        asked(engine, "SELECT CAST(name AS INTEGER) AS n FROM people")
    assert engine.value(shapes.row_count("people")) == 3


def test_what_is_written_can_be_read(engine: Engine) -> None:
    engine.attach(PEOPLE)
    name = f"written_{id(engine)}"
    engine.write(name, shapes.distinct_rows("people", ["age"]))
    assert sorted(asked(engine, f"SELECT age FROM {name} WHERE NOT age IS NULL")) == [(28,), (31,)]
    assert engine.columns(name) == {"age": "integer"}


def test_collations_name_the_text_columns_where_they_are_needed(engine: Engine) -> None:
    engine.attach(PEOPLE)
    expected = {"name": "C"} if engine.dialect == "postgres" else {}
    assert engine.collations("people") == expected


def test_a_folder_of_files_reads_the_same_on_both_engines_that_read_files(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "mixed.csv").write_bytes(
        "\ufeffzip;age; half ;note;none\r\n"
        '01305;28;0.5;"a ""b""; c\nd \\n \\";\r\n'
        '13053;;1.25;"";""\r\n'
        ";31;-2; é ;\r\n".encode()
    )
    if engine.dialect == "postgres":
        with pytest.raises(DataError, match=r"names the file mixed\.csv.*\\copy"):
            engine.attach(Table("mixed", file="mixed.csv"))
        return
    engine.attach(Table("mixed"))
    assert engine.columns("mixed") == {
        "zip": "text",
        "age": "integer",
        "half": "decimal",
        "note": "text",
        "none": "text",
    }
    assert asked(engine, "SELECT * FROM mixed") == [
        ("01305", 28, Decimal("0.50"), 'a "b"; c\nd \\n \\', None),
        ("13053", None, Decimal("1.25"), None, None),
        (None, 31, Decimal("-2.00"), " é ", None),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"a,b\n1,2\n" * 12 + b"1,2,3\n",
            r"t\.csv:25: the first line names 2 columns, this line has 3",
        ),
        (
            b"a,b\n1,2\n" * 12 + b"1\n",
            r"t\.csv:25: the first line names 2 columns, this line has 1",
        ),
        (b"a,b\n1,\xe9\n", r"t\.csv:2:3: t\.csv is not UTF-8 \(byte 0xe9"),
        (b"", r"t\.csv is empty"),
        (b"a\nx\n", "column 'a' of table t is declared integer, but 1 of its 1 values"),
        (b"day\n2024-02-30\n", r"t\.csv has values that are not of the type declared"),
    ],
)
def test_a_broken_file_is_explained_with_its_line(
    engine: Engine, tmp_path: Path, content: bytes, message: str
) -> None:
    if engine.dialect == "postgres":
        pytest.skip("reads no files")
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=message):
        engine.attach(
            Table("t", columns={"a": "integer", "day": "date"} if b"," not in content else {})
        )


def test_odd_types_are_read_in_one_form(engine: Engine, tmp_path: Path) -> None:
    """NaN is missing, times with a zone are UTC, enums, lists and UUIDs are text, structs JSON."""
    if engine.dialect == "postgres":
        pytest.skip("reads no files; see test_postgres")
    import duckdb

    duckdb.connect().execute(
        "SET TimeZone = 'Europe/Paris';"
        "CREATE TYPE mood AS ENUM ('sad', 'ok');"
        f"COPY (SELECT x AS f, CAST(x AS FLOAT) AS g, TIMESTAMPTZ '2024-02-29 10:00:00+02' AS at, "
        "TIMESTAMP '2024-03-31 02:30:00' AS wall, CAST('sad' AS mood) AS m, [1, 2] AS l, "
        "MAP {'flu': 0.5} AS d, {'flu': 0.5, 'cold': NULL} AS s, DATE '2024-02-29' AS day "
        f"FROM (VALUES ('NaN'::DOUBLE), (0.5), (NULL)) v(x)) TO '{tmp_path}/odd.parquet'"
    )
    engine.attach(Table("odd"))
    kinds = [
        "decimal",
        "decimal",
        "timestamp",
        "timestamp",
        "text",
        "text",
        "distribution",
        "distribution",
        "date",
    ]
    assert list(engine.columns("odd").values()) == kinds
    assert [row[0] for row in engine.rows(shapes.dictionary("odd", ["f"]))] == [0.5, None]
    assert engine.numbers(shapes.missing_counts("odd", ["f", "g"]))[1].tolist() == [2]
    rest = (
        datetime(2024, 2, 29, 8),
        datetime(2024, 3, 31, 2, 30),
        "sad",
        "[1, 2]",
        '{"flu":0.5}',
        '{"flu":0.5,"cold":null}',
        date(2024, 2, 29),
    )
    assert asked(engine, "SELECT * FROM odd WHERE f > 0") == [(0.5, 0.5, *rest)]
