"""Every value that comes in is kept exactly, or read as the table of types says, or its column
is refused: value by value on every engine.
"""

from __future__ import annotations

import random
import struct
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from services import ENGINES, open_kind
from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.postgres.engine import Postgres
from tacit.engines.spark.engine import Spark
from tacit.engines.sql import shapes
from tacit.errors import DataError
from tacit.model.schema import Table

FINER, YEARS = "finer than microseconds", "beyond the years 1 to 9999"
BIG = 2**63 - 1


class Refused(str):
    """Why a column is refused."""


CASES: dict[str, dict[str, tuple[str, Any]]] = {
    "duckdb": {
        "tiny": ("CAST(-128 AS TINYINT)", -128),
        "big": (f"CAST({BIG} AS BIGINT)", BIG),
        "unsigned": ("CAST(18446744073709551615 AS UBIGINT)", 2**64 - 1),
        "huge": ("CAST('170141183460469231731687303715884105727' AS HUGEINT)", 2**127 - 1),
        "decimal": (
            "CAST('0.123456789012345678901234567890' AS DECIMAL(38, 30))",
            Decimal("0.123456789012345678901234567890"),
        ),
        "double": ("CAST(0.1 AS DOUBLE)", 0.1),
        "no number": ("CAST('nan' AS DOUBLE)", None),
        "float": ("CAST(0.1 AS FLOAT)", 0.1),
        "float that is no number": ("CAST('nan' AS FLOAT)", None),
        "infinite float": ("CAST('inf' AS FLOAT)", float("inf")),
        "day": ("DATE '2024-02-29'", date(2024, 2, 29)),
        "end of days": ("CAST('infinity' AS DATE)", Refused(YEARS)),
        "late day": ("CAST('10000-01-01' AS DATE)", Refused(YEARS)),
        "early day": ("CAST('0044-03-15 (BC)' AS DATE)", Refused(YEARS)),
        "moment": (
            "TIMESTAMP '2024-02-29 10:00:00.123456'",
            datetime(2024, 2, 29, 10, 0, 0, 123456),
        ),
        "late moment": ("CAST('infinity' AS TIMESTAMP)", Refused(YEARS)),
        "zoned": ("CAST('2024-02-29 10:00:00+02' AS TIMESTAMPTZ)", datetime(2024, 2, 29, 8)),
        "seconds": ("CAST('2024-02-29 10:00:00' AS TIMESTAMP_S)", datetime(2024, 2, 29, 10)),
        "nanoseconds": ("CAST('2024-02-29 10:00:00.123456789' AS TIMESTAMP_NS)", Refused(FINER)),
        "whole microseconds": (
            "CAST('2024-02-29 10:00:00.123456' AS TIMESTAMP_NS)",
            datetime(2024, 2, 29, 10, 0, 0, 123456),
        ),
        "zoned nanoseconds": (
            "CAST('2024-02-29 10:00:00.123456789+02' AS TIMESTAMPTZ_NS)",
            Refused(FINER),
        ),
        "truth": ("true", True),
        "shares": ("{'flu': 0.5, 'cold': 0.5}", '{"flu":0.5,"cold":0.5}'),
        "text": ("' Flu'", " Flu"),
        "choice": ("CAST('low' AS ENUM('mid', 'low'))", "low"),
        "span": ("INTERVAL '1 month'", "1 month"),
        "nanosecond of a day": ("CAST('12:00:00.123456789' AS TIME_NS)", "12:00:00.123456789"),
        "bytes": ("CAST('\\xFF' AS BLOB)", "\\xFF"),
        "list": ("[1, 2]", "[1, 2]"),
        "small": ("CAST(1 AS SMALLINT)", 1),
        "integer": ("CAST(1 AS INTEGER)", 1),
        "unsigned tiny": ("CAST(255 AS UTINYINT)", 255),
        "unsigned small": ("CAST(65535 AS USMALLINT)", 65535),
        "unsigned integer": ("CAST(4294967295 AS UINTEGER)", 2**32 - 1),
        "unsigned huge": (
            "CAST('340282366920938463463374607431768211455' AS UHUGEINT)",
            2**128 - 1,
        ),
        "any size": ("CAST(repeat('9', 60) AS BIGNUM)", "9" * 60),
        "milliseconds": (
            "CAST('2024-02-29 10:00:00.123' AS TIMESTAMP_MS)",
            datetime(2024, 2, 29, 10, 0, 0, 123000),
        ),
        "late seconds": ("CAST('200000-01-01' AS TIMESTAMP_S)", Refused(YEARS)),
        "infinite nanoseconds": ("CAST('infinity' AS TIMESTAMP_NS)", Refused("or infinite")),
        "shares of 32 bits": ("{'flu': CAST(0.1 AS FLOAT)}", Refused("floats of 32 bits inside")),
        "shares by name": ("MAP {'flu': 0.5}", '{"flu":0.5}'),
        "shares of a float": ("{'FLOAT': 0.5}", '{"FLOAT":0.5}'),
        "hour": ("TIME '10:00:00.000001'", "10:00:00.000001"),
        "hour with a zone": ("CAST('10:00:00+02' AS TIMETZ)", "10:00:00+02"),
        "bits": ("CAST('101' AS BIT)", "101"),
        "identifier": (
            "CAST('00000000-0000-0000-0000-000000000001' AS UUID)",
            "00000000-0000-0000-0000-000000000001",
        ),
        "json": ("CAST('{\"a\": 1.0}' AS JSON)", '{"a": 1.0}'),
        "array": ("array_value(1, 2)", "[1, 2]"),
        "tuple": ("row(1, 'a')", "(1, a)"),
        "point": ("CAST('POINT(1 2)' AS GEOMETRY)", "POINT (1 2)"),
        "nothing": ("NULL", None),
        "one of several": ("CAST(union_value(t := '1') AS UNION(n INT, t VARCHAR))", "t: 1"),
        "anything": ("CAST('1' AS VARIANT)", '"1"'),
        "decimals": ("[CAST(1.5 AS DECIMAL(2, 1))]", "[1.5]"),
        "choices": ("CAST(['low'] AS ENUM('mid', 'low')[])", "[low]"),
        "moments": (
            "[CAST('2024-02-29 10:00:00.123456789' AS TIMESTAMP_NS)]",
            "['2024-02-29 10:00:00.123456789']",
        ),
        "structs": ("[{'a': 1}]", "[{'a': 1}]"),
    },
    "postgres": {
        "small": ("(-32768)::smallint", -32768),
        "big": (f"{BIG}::bigint", BIG),
        "numeric": (
            "0.12345678901234567890123456789012345678901234567890::numeric",
            Decimal("0.12345678901234567890123456789012345678901234567890"),
        ),
        "scaled": ("1.50::numeric(10, 2)", Decimal("1.50")),
        "no number": ("'NaN'::numeric", None),
        "double": ("0.1::double precision", 0.1),
        "real": ("0.1::real", 0.1),
        "real that is no number": ("'NaN'::real", None),
        "real of nine digits": ("16777.217::real", 16777.217),
        "day": ("date '2024-02-29'", date(2024, 2, 29)),
        "end of days": ("date 'infinity'", Refused(YEARS)),
        "early day": ("date '0044-03-15 BC'", Refused(YEARS)),
        "moment": (
            "timestamp '2024-02-29 10:00:00.123456'",
            datetime(2024, 2, 29, 10, 0, 0, 123456),
        ),
        "late moment": ("timestamp '10000-01-01 00:00:00'", Refused(YEARS)),
        "zoned": ("timestamptz '2024-02-29 10:00:00+02'", datetime(2024, 2, 29, 8)),
        "truth": ("true", True),
        "text": ("' Flu'::text", " Flu"),
        "span": ("interval '1 month'", "1 mon"),
        "bytes": ("'\\xff'::bytea", "\\xff"),
        "list": ("array[1, 2]", "{1,2}"),
        "integer": ("1::integer", 1),
        "infinite": ("'Infinity'::double precision", float("inf")),
        "money": ("'1234.50'::money", "$1,234.50"),
        "filled up": ("'ab'::char(5)", "ab"),
        "short": ("'ab'::varchar(5)", "ab"),
        "hour": ("time '10:00:00.000001'", "10:00:00.000001"),
        "hour with a zone": ("timetz '10:00:00+02'", "10:00:00+02"),
        "range": ("int4range(1, 5)", "[1,5)"),
        "point": ("point(1, 2)", "(1,2)"),
        "json": ("'{\"a\": 1.0}'::json", '{"a": 1.0}'),
        "jsonb": ("'{\"a\": 1.0}'::jsonb", '{"a": 1.0}'),
        "identifier": (
            "'00000000-0000-0000-0000-000000000001'::uuid",
            "00000000-0000-0000-0000-000000000001",
        ),
        "bits": ("B'101'", "101"),
        "address": ("'1.2.3.4'::inet", "1.2.3.4/32"),
        "domain": ("5::adult", 5),
        "domain of a domain": ("5::senior", 5),
        "choice": ("'low'::mood", "low"),
    },
    "spark": {
        "tiny": ("CAST(-128 AS TINYINT)", -128),
        "big": (f"CAST({BIG} AS BIGINT)", BIG),
        "decimal": (
            "CAST('0.123456789012345678901234567890' AS DECIMAL(38, 30))",
            Decimal("0.123456789012345678901234567890"),
        ),
        "double": ("CAST(0.1 AS DOUBLE)", 0.1),
        "no number": ("CAST('NaN' AS DOUBLE)", None),
        "float": ("CAST(0.1 AS FLOAT)", 0.1),
        "missing float": ("CAST(NULL AS FLOAT)", None),
        "infinite float": ("CAST('Infinity' AS FLOAT)", float("inf")),
        "float that Java writes with more digits": ("CAST('5.236334E10' AS FLOAT)", 5.236334e10),
        "day": ("DATE '2024-02-29'", date(2024, 2, 29)),
        "late day": ("CAST('+10000-01-01' AS DATE)", Refused(YEARS)),
        "moment": (
            "TIMESTAMP_NTZ '2024-02-29 10:00:00.123456'",
            datetime(2024, 2, 29, 10, 0, 0, 123456),
        ),
        "zoned": ("TIMESTAMP '2024-02-29 10:00:00+02:00'", datetime(2024, 2, 29, 8)),
        "truth": ("true", True),
        "shares": ("NAMED_STRUCT('flu', 0.5, 'cold', 0.5)", '{"flu":0.5,"cold":0.5}'),
        "text": ("' Flu'", " Flu"),
        "bytes": ("X'FF'", "\\xFF"),
        "list": ("ARRAY(1, 2)", "[1, 2]"),
        "small": ("CAST(1 AS SMALLINT)", 1),
        "integer": ("1", 1),
        "shares by name": ("MAP('flu', 0.5)", '{"flu":0.5}'),
        "shares of 32 bits": (
            "MAP('flu', CAST(0.1 AS FLOAT))",
            Refused("floats of 32 bits inside"),
        ),
        "months": ("INTERVAL '1' MONTH", "INTERVAL '1' MONTH"),
        "days": ("INTERVAL '1' DAY", "INTERVAL '1' DAY"),
        "nothing": ("NULL", None),
    },
}
DOMAINS = (
    "CREATE DOMAIN adult AS integer; CREATE DOMAIN senior AS adult; CREATE TYPE mood AS ENUM "
    "('mid', 'low'); SET lc_monetary = 'C'"
)


@pytest.fixture(params=ENGINES)
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """An engine of each kind that has a table `odd` with a column for each case."""
    with open_kind(request.param, request, tmp_path) as engine:
        columns = ", ".join(
            f"{sql} AS {shapes.column(name).sql(dialect=engine.dialect)}"
            for name, (sql, _) in CASES[engine.dialect].items()
        )
        if isinstance(engine, DuckDB):
            engine.connection.execute(f"CREATE TABLE odd AS SELECT {columns}")
            engine._read_plainly("odd")
        elif isinstance(engine, Postgres):
            with psycopg.connect(request.getfixturevalue("postgres_url"), autocommit=True) as admin:
                admin.execute(
                    "DROP TABLE IF EXISTS odd; DROP DOMAIN IF EXISTS senior; DROP DOMAIN IF EXISTS "
                    "adult; DROP TYPE IF EXISTS mood"
                )
                admin.execute(DOMAINS)
                admin.execute(f"CREATE TABLE odd AS SELECT {columns}")
            engine.attach(Table("odd"))
        else:
            assert isinstance(engine, Spark)
            engine.session.sql(f"SELECT {columns}").createOrReplaceTempView("odd")
            engine.attach(Table("odd"))
        yield engine


def test_every_value_is_kept_exactly_or_its_column_is_refused(loaded: Engine) -> None:
    for name, (_, expected) in CASES[loaded.dialect].items():
        if isinstance(expected, Refused):
            with pytest.raises(DataError, match=f"column '{name}' of table odd has .*{expected}"):
                loaded.refuse_losses("odd", [name])
            continue
        loaded.refuse_losses("odd", [name])
        found = loaded.value(shapes.columns_of("odd", [name]))
        assert (found, type(found)) == (expected, type(expected)), name


def test_every_line_of_the_table_of_types_has_a_value(loaded: Engine) -> None:
    seen = {loaded.meaning(kind) for kind in loaded.native_types("odd").values()}
    assert set(loaded.types) - seen == set(), "add a case for each of these types"


def test_every_type_that_duckdb_has_is_among_the_values() -> None:
    """TYPE is for its own use. What a new version adds is read as text until somebody has
    thought about it.
    """
    with DuckDB() as engine:
        known = {
            str(name)
            for (name,) in engine.connection.execute(
                "SELECT DISTINCT logical_type FROM duckdb_types()"
            ).fetchall()
        }
        seen = [
            engine.connection.execute(f"SELECT typeof({sql})").fetchall()[0][0]
            for sql, _ in CASES["duckdb"].values()
        ]
    plain = {
        "LIST"
        if one.endswith("[]")
        else "ARRAY"
        if one.endswith("]")
        else one.partition("(")[0].strip('"')
        for one in seen
    }
    assert known - plain == {"TYPE"}


FLOATS = [
    0.1,
    0.3,
    0.7,
    1e10,
    8.41e21,
    2e-3,
    1.5,
    16777216.0,
    19781.0625,
    -2854276.25,
    3.4028235e38,
    1.1754944e-38,
    1e-45,
    1e-40,
    -0.5,
    123456.79,
]


def test_floats_of_32_bits_are_read_by_their_shortest_decimal(
    engine: Engine, request: pytest.FixtureRequest
) -> None:
    """The oracle is NumPy, which writes the fewest digits that mean a float;
    of two that are equally near the even one.
    """
    rng = random.Random(18)
    drawn = [struct.unpack("f", struct.pack("I", rng.getrandbits(32)))[0] for _ in range(300)]
    floats = [
        float(np.float32(one))
        for one in (*FLOATS, *(one for one in drawn if abs(one) < float("inf")))
    ]
    rows = ", ".join(f"({number}, {value!r})" for number, value in enumerate(floats))
    if isinstance(engine, Postgres):
        with psycopg.connect(request.getfixturevalue("postgres_url"), autocommit=True) as admin:
            admin.execute("DROP TABLE IF EXISTS floats")
            admin.execute(
                f"CREATE TABLE floats AS SELECT n, f::real AS f FROM (VALUES {rows}) AS v(n, f)"
            )
        engine.attach(Table("floats"))
    elif isinstance(engine, Spark):
        engine.session.createDataFrame(
            list(enumerate(floats)), "n INT, f FLOAT"
        ).createOrReplaceTempView("floats")
        engine.attach(Table("floats"))
    else:
        assert isinstance(engine, DuckDB)
        engine.connection.execute(
            f"CREATE TABLE floats AS SELECT n, CAST(f AS FLOAT) AS f FROM (VALUES {rows}) AS "
            "v(n, f)"
        )
        engine._read_plainly("floats")
    found = [value for _, value in sorted(engine.rows(shapes.columns_of("floats", ["n", "f"])))]
    assert all(float(np.float32(value)) == one for value, one in zip(found, floats, strict=True))
    other = [
        one
        for value, one in zip(found, floats, strict=True)
        if value != float(str(np.float32(one)))
    ]
    # PostgreSQL takes no decimal that lies midway between two floats.
    assert all(isinstance(engine, Postgres) and is_midway(one) for one in other)


def is_midway(one: float) -> bool:
    short = Fraction(str(np.float32(one)))
    return any(
        short * 2 == Fraction(one) + Fraction(float(np.nextafter(np.float32(one), np.float32(end))))
        for end in (-np.inf, np.inf)
    )


# Two cells of a column in a CSV file, and what they are read as.
CELLS: dict[str, tuple[tuple[str, str], tuple[Any, Any]]] = {
    "whole": (("1", "-2"), (1, -2)),
    "longest": (("9" * 18, "-" + "9" * 18), (10**18 - 1, 1 - 10**18)),
    "too long": (("9" * 19, "1"), ("9" * 19, "1")),
    "zip": (("01305", "1305"), ("01305", "1305")),
    "signed": (("+5", "5"), ("+5", "5")),
    "decimal": (("1.10", "1.1"), (Decimal("1.10"), Decimal("1.10"))),
    "long": (
        ("0." + "1" * 20, "1" * 18),
        (Decimal("0." + "1" * 20), Decimal("1" * 18 + "." + "0" * 20)),
    ),
    "too fine": (("0." + "1" * 21, "1"), ("0." + "1" * 21, "1")),
    "half written": ((".5", "1."), (".5", "1.")),
    "scientific": (("1e5", "100000"), ("1e5", "100000")),
    "other digits": (("１２", "٣"), ("１２", "٣")),
    "spaces": ((" 5", "5 "), (" 5", "5 ")),
    "words": (("NaN", "inf"), ("NaN", "inf")),
    "null": (("NULL", "null"), ("NULL", "null")),
    "empty": (("", '""'), (None, None)),
    "truth": (("true", "false"), ("true", "false")),
    "day": (("2024-02-29", "29.02.2024"), ("2024-02-29", "29.02.2024")),
    "quotes": (('"a""b"', '"x, y"'), ('a"b', "x, y")),
    "lines": (('"x\ny"', "\\n"), ("x\ny", "\\n")),
    "letters": (("café", "cafe\u0301"), ("café", "cafe\u0301")),
}


@pytest.mark.parametrize("kind", ["duckdb", pytest.param("spark", marks=pytest.mark.slow)])
def test_every_cell_of_a_csv_file_is_kept_as_it_is_written(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    lines = [
        ",".join(CELLS),
        *(",".join(cells[at] for cells, _ in CELLS.values()) for at in (0, 1)),
    ]
    (tmp_path / "cells.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open_kind(kind, request, tmp_path) as engine:
        engine.attach(Table("cells"))
        found = list(zip(*engine.rows(shapes.columns_of("cells", list(CELLS))), strict=True))
    for (name, (_, expected)), values in zip(CELLS.items(), found, strict=True):
        assert {*map(repr, values)} == {*map(repr, expected)}, name
