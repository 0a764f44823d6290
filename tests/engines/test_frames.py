"""Tables in memory: every type of pandas, Arrow and Polars is kept exactly, read in its order,
or refused by column.
"""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql import shapes
from tacit.errors import DataError

FINER = "finer than microseconds"
LONG = Decimal("1." + "1" * 30)


class Refused(str):
    """Why a column is refused."""


def series(values: Any, kind: Any = None) -> pd.DataFrame:
    return pd.DataFrame({"a": pd.Series(values, dtype=kind)})


def arrow(values: Any, kind: Any) -> Any:
    return pa.table({"a": pa.array(values, kind)})


def polars(values: Any, kind: Any) -> pl.DataFrame:
    return pl.DataFrame({"a": pl.Series(values, dtype=kind)})


def words(labels: list[str | None]) -> Any:
    """Every one of some labels, in their order."""
    return pa.DictionaryArray.from_arrays(
        pa.array(range(len(labels))), pa.array(labels), ordered=True
    )


def relation(sql: str) -> Any:
    return duckdb.sql(f"SELECT {sql} AS a")


class Named(str, enum.Enum):  # noqa: UP042 (of which str() is Named.FLU)
    FLU = "flu"


DAYS = pd.to_datetime(["2024-01-01", "2024-01-02"])

# A column, and its different values in their order, the missing one last.
PANDAS: dict[str, tuple[Any, Any]] = {
    "float16": (series([0.1, 0.3], "float16"), [0.1, 0.3]),
    "float32": (series([0.1, np.nan], "float32"), [0.1, None]),
    "Float32": (series([0.1, None], "Float32"), [0.1, None]),
    "float64": (series([0.1, np.nan]), [0.1, None]),
    "longdouble": (series([0.1], np.longdouble), Refused("values of type float128")),
    "complex": (series([1j]), Refused("values of type complex128")),
    "uint64": (series([2**64 - 1], "uint64"), [2**64 - 1]),
    "Int64": (series([2**60 + 1, None], "Int64"), [2**60 + 1, None]),
    "whole numbers of any size": (series([2**100, 1, None], object), [1, 2**100, None]),
    "whole numbers beyond all sizes": (series([2**127], object), Refused("more than 127 bits")),
    "a large number after many small ones": (
        series([*range(2000), 2**70], object),
        [*range(2000), 2**70],
    ),
    "large numbers beside floats": (
        series([2**60 + 1, 0.5], object),
        Refused("floats beside whole numbers"),
    ),
    "whole numbers beside floats": (series([2, 0.5], object), [0.5, 2.0]),
    "numpy's floats": (series([np.float32(0.1)], object), [0.1]),
    "numbers beside text": (series([1, "1"], object), Refused("int and str")),
    "one number after much text": (series(["x"] * 2000 + [7], object), Refused("int and str")),
    "decimals": (series([Decimal("1.10"), LONG, None], object), [Decimal("1.10"), LONG, None]),
    "decimals too long": (series([Decimal("1e-40")], object), Refused("more than 38 digits")),
    "decimals too long together": (
        series([Decimal("1e-20"), Decimal("1e20")], object),
        Refused("more than 38 digits"),
    ),
    "nanoseconds": (series(pd.to_datetime([1], unit="ns")), Refused(FINER)),
    "whole microseconds": (
        series(pd.to_datetime([1000], unit="ns")),
        [dt.datetime(1970, 1, 1, 0, 0, 0, 1)],
    ),
    "nanoseconds with a zone": (
        series(pd.to_datetime([1], unit="ns").tz_localize("UTC")),
        Refused(FINER),
    ),
    "a zone": (
        series(pd.to_datetime(["2024-06-01"]).tz_localize("Europe/Berlin")),
        [dt.datetime(2024, 5, 31, 22)],
    ),
    "nanoseconds as objects": (series([pd.Timestamp(1)], object), Refused(FINER)),
    "durations of nanoseconds": (series(pd.to_timedelta([1], unit="ns")), Refused(FINER)),
    "durations": (series(pd.to_timedelta([1], unit="us")), ["00:00:00.000001"]),
    "durations as objects": (
        series([dt.timedelta(days=1, microseconds=1)], object),
        ["24:00:00.000001"],
    ),
    "durations of seconds": (
        series(np.array([86400, "NaT"], "timedelta64[s]")),
        ["24:00:00", None],
    ),
    "durations too long": (
        series(np.array([10**15], "timedelta64[s]")),
        Refused("too long to be counted"),
    ),
    "dates": (series([dt.date(2024, 2, 29), None], object), [dt.date(2024, 2, 29), None]),
    "dates beside times": (
        series([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1)], object),
        Refused("date and datetime"),
    ),
    "zoned beside plain times": (
        series([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)], object),
        Refused("with a time zone beside"),
    ),
    "times of day": (series([dt.time(1, 2, 3)], object), ["01:02:03"]),
    "truths": (series([True, None], object), [True, None]),
    "identifiers": (series([uuid.UUID(int=1)], object), ["00000000-0000-0000-0000-000000000001"]),
    "mappings": (series([{"flu": 0.5}], object), ['{"flu":0.5}']),
    "mappings to numpy's floats": (
        series([{"flu": np.float32(0.1)}, None], object),
        ['{"flu":0.1}', None],
    ),
    "mappings of numbers": (series([{1: 0.5}, {"1": 0.5}], object), Refused("keys are no text")),
    "mappings to numbers and text": (
        series([{"a": 1}, {"a": "1"}], object),
        Refused("of several types"),
    ),
    "mappings to large numbers and floats": (
        series([{"a": 2**60 + 1}, {"a": 0.5}], object),
        Refused("no float holds"),
    ),
    "lists": (series([[1], ["1"]], object), ["['1']", "[1]"]),
    "lists of numpy": (series([np.array([1, 2])], object), ["[1, 2]"]),
    "tuples": (series([(1, 2)], object), Refused("values of type tuple")),
    "bytes": (series([b"a\xff"], object), ["a\\xFF"]),
    "texts with a name": (series([Named.FLU], object), ["flu"]),
    "texts and numbers": (series([Decimal(1), 1], object), Refused("Decimal and int")),
    "boolean": (series([True, None], "boolean"), [True, None]),
    "UInt8": (series([255, None], "UInt8"), [255, None]),
    "seconds": (series(np.array(["2024-01-01"], "datetime64[s]")), [dt.datetime(2024, 1, 1)]),
    "far seconds": (
        series(np.array(["20000-01-01"], "datetime64[s]")),
        Refused("beyond the years"),
    ),
    "milliseconds": (
        series(np.array(["2024-01-01T00:00:00.001"], "datetime64[ms]")),
        [dt.datetime(2024, 1, 1, 0, 0, 0, 1000)],
    ),
    "nothing": (series([None, None], object), [None]),
    "half a character": (series(["\ud800"], object), Refused("DuckDB cannot read")),
    "something else": (series([object()], object), Refused("values of type object")),
    "ordered categories": (
        series(pd.Categorical(["low", "high", None], ["low", "mid", "high"], ordered=True)),
        ["low", "high", None],
    ),
    "categories": (
        series(pd.Categorical(["low", "high"], ["low", "mid", "high"])),
        ["high", "low"],
    ),
    "categories of numbers": (series(pd.Categorical([10, 9])), [9, 10]),
    "ordered categories of numbers": (
        series(pd.Categorical([9, 10], [10, 9], ordered=True)),
        ["10", "9"],
    ),
    "ordered categories of floats": (
        series(
            pd.Categorical(
                np.array([0.1, 0.3], "float32"), np.array([0.3, 0.1], "float32"), ordered=True
            )
        ),
        ["0.3", "0.1"],
    ),
    "ordered categories of dates": (
        series(pd.Categorical(DAYS, DAYS[::-1], ordered=True)),
        ["2024-01-02T00:00:00.000000000", "2024-01-01T00:00:00.000000000"],
    ),
    "ordered categories of truths": (
        series(pd.Categorical([True, False], ordered=True)),
        [False, True],
    ),
    "ordered categories of numbers beside text": (
        series(pd.Categorical(["a", 1], ["a", 1], ordered=True)),
        Refused("int and str"),
    ),
    "intervals of cut": (
        series(pd.cut([100, 5, 7], [0, 5, 10, 200])),
        ["(0, 5]", "(5, 10]", "(10, 200]"],
    ),
    "intervals": (
        series(pd.arrays.IntervalArray.from_tuples([(10, 20), (2, 3)])),
        ["(2, 3]", "(10, 20]"],
    ),
    "periods": (series(pd.PeriodIndex(["2024-02", "2023-11"], freq="M")), ["2023-11", "2024-02"]),
    "periods of several lengths": (
        series([pd.Period("2024"), pd.Period("2024-01", freq="M")], object),
        Refused("cannot be compared"),
    ),
    "periods beside intervals": (
        series([pd.Period("2024"), pd.Interval(0, 1)], object),
        Refused("cannot be compared"),
    ),
    "sparse": (series(pd.arrays.SparseArray([0, 1])), [0, 1]),
    "of Arrow": (series([0.1, None], "float32[pyarrow]"), [0.1, None]),
    "ordered, of Arrow": (
        series(["z", "b"], pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string(), ordered=True))),
        ["z", "b"],
    ),
    "text of Arrow": (series(["a", None], "string[pyarrow]"), ["a", None]),
    "long decimals of Arrow": (
        series([LONG + Decimal("1e-40")], pd.ArrowDtype(pa.decimal256(60, 50))),
        Refused("more than 38 digits"),
    ),
    "text": (series(["", " a", None, np.nan], object), ["", " a", None]),
    "texts": (series(["a", None], "string"), ["a", None]),
}
ARROW: dict[str, tuple[Any, Any]] = {
    "half floats": (arrow([np.float16(0.1), None], pa.float16()), [0.1, None]),
    "floats": (arrow([0.1, None], pa.float32()), [0.1, None]),
    "long decimals that fit": (arrow([LONG, None], pa.decimal256(50, 30)), [LONG, None]),
    "long decimals": (
        arrow([Decimal("12345678901") + LONG], pa.decimal256(50, 30)),
        Refused("more than 38 digits"),
    ),
    "nanoseconds": (arrow([1], pa.timestamp("ns")), Refused(FINER)),
    "nanoseconds with a zone": (arrow([1], pa.timestamp("ns", "Europe/Berlin")), Refused(FINER)),
    "durations": (arrow([1], pa.duration("ns")), Refused(FINER)),
    "months and nanoseconds": (
        arrow([pa.MonthDayNano([1, 2, 3])], pa.month_day_nano_interval()),
        Refused(FINER),
    ),
    "nanoseconds of a day": (arrow([1], pa.time64("ns")), ["00:00:00.000000001"]),
    "far days": (arrow([10**7], pa.date32()), Refused("beyond the years")),
    "unsigned": (arrow([2**64 - 1], pa.uint64()), [2**64 - 1]),
    "ordered": (
        pa.table(
            {
                "a": pa.DictionaryArray.from_arrays(
                    pa.array([1, 0, None]), pa.array(["low", "high"]), ordered=True
                )
            }
        ),
        ["low", "high", None],
    ),
    "a dictionary": (
        pa.table({"a": pa.array(["low", "high"]).dictionary_encode()}),
        ["high", "low"],
    ),
    "half floats in a dictionary": (
        pa.table({"a": pa.array([0.5, 0.5], pa.float32()).dictionary_encode()}),
        [0.5],
    ),
    "an order in chunks": (
        pa.table({"a": pa.chunked_array([words(["high"]), words(["low", "high"])])}),
        ["low", "high"],
    ),
    "orders in chunks that do not fit": (
        pa.table({"a": pa.chunked_array([words(["high", "low"]), words(["low", "high"])])}),
        Refused("do not fit together"),
    ),
    "ordered numbers": (
        pa.table(
            {"a": pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([9, 3]), ordered=True)}
        ),
        Refused("an order of its own"),
    ),
    "ordered with a missing and a double value": (
        pa.table({"a": words(["b", None, "a", "b"])}),
        ["b", "a", None],
    ),
    "nothing": (arrow([None], pa.null()), [None]),
    "large text": (arrow(["a"], pa.large_string()), ["a"]),
    "text views": (arrow(["a"], pa.string_view()), ["a"]),
    "bytes": (arrow([b"a\xff"], pa.large_binary()), ["a\\xFF"]),
    "bytes of one length": (arrow([b"ab"], pa.binary(2)), ["ab"]),
    "decimals of 32 bits": (arrow([Decimal("1.5")], pa.decimal32(5, 1)), [Decimal("1.5")]),
    "days in milliseconds": (arrow([dt.date(2024, 2, 29)], pa.date64()), [dt.date(2024, 2, 29)]),
    "days with hours": (
        pa.table({"a": pa.array([1], pa.int64()).view(pa.date64())}),
        Refused("time of day"),
    ),
    "very far seconds": (arrow([10**14], pa.timestamp("s")), Refused("beyond the years")),
    "durations of seconds": (arrow([86400], pa.duration("s")), ["24:00:00"]),
    "runs": (
        pa.table(
            {
                "a": pa.RunEndEncodedArray.from_arrays(
                    pa.array([2], pa.int32()), pa.array([np.float16(0.1)], pa.float16())
                )
            }
        ),
        [0.1],
    ),
    "runs of durations": (
        pa.table(
            {
                "a": pa.RunEndEncodedArray.from_arrays(
                    pa.array([2], pa.int32()), pa.array([1], pa.duration("ns"))
                )
            }
        ),
        Refused(FINER),
    ),
    "shares": (arrow([{"flu": 0.5}], pa.struct([("flu", pa.float64())])), ['{"flu":0.5}']),
    "shares of 32 bits": (
        arrow([{"flu": 0.5}], pa.struct([("flu", pa.float32())])),
        Refused("floats of 32 bits inside"),
    ),
    "lists": (arrow([[1, 2]], pa.list_(pa.int64())), ["[1, 2]"]),
    "lists of nanoseconds": (
        arrow([[1]], pa.list_(pa.timestamp("ns"))),
        ["['1970-01-01 00:00:00.000000001']"],
    ),
    "lists of durations": (arrow([[1]], pa.list_(pa.duration("ns"))), Refused("would round")),
    "lists of long decimals": (
        arrow([[LONG]], pa.list_(pa.decimal256(50, 30))),
        Refused("would round"),
    ),
    "identifiers": (
        pa.table({"a": pa.array([uuid.UUID(int=1).bytes], pa.uuid())}),
        ["00000000-0000-0000-0000-000000000001"],
    ),
    "text that is none": (
        pa.table({"a": pa.array([b"\xff"]).view(pa.string())}),
        Refused("DuckDB cannot read"),
    ),
}
RELATIONS: dict[str, tuple[Any, Any]] = {
    "floats": (relation("CAST(0.1 AS FLOAT)"), [0.1]),
    "huge numbers": (
        relation("CAST('170141183460469231731687303715884105727' AS HUGEINT)"),
        [2**127 - 1],
    ),
    "huge numbers without sign": (
        relation("CAST('340282366920938463463374607431768211455' AS UHUGEINT)"),
        [2**128 - 1],
    ),
    "numbers of any size": (relation("CAST(repeat('9', 60) AS BIGNUM)"), ["9" * 60]),
    "bits": (relation("CAST('101' AS BIT)"), ["101"]),
    "an enum": (relation("UNNEST(CAST(['z', 'a'] AS ENUM('z', 'a')[]))"), ["z", "a"]),
    "identifiers": (
        relation("CAST('00000000-0000-0000-0000-000000000001' AS UUID)"),
        ["00000000-0000-0000-0000-000000000001"],
    ),
    "hours with a zone": (relation("CAST('10:00:00+02' AS TIMETZ)"), ["10:00:00+02"]),
    "lists": (relation("[CAST(1 AS UHUGEINT)]"), ["[1]"]),
    "one of several": (
        duckdb.sql(
            "SELECT CAST(x AS UNION(n INT, t VARCHAR)) AS a FROM (SELECT union_value(n := 1) AS x) "
            "UNION ALL SELECT CAST(union_value(t := '1') AS UNION(n INT, t VARCHAR))"
        ),
        ["n: 1", "t: 1"],
    ),
    "huge numbers inside": (
        relation("{'a': CAST(1 AS UHUGEINT)}"),
        Refused("which Arrow cannot hold"),
    ),
    "shares": (relation("{'a': 0.5}"), ['{"a":0.5}']),
}
POLARS: dict[str, tuple[Any, Any]] = {
    "floats": (polars([0.1, None], pl.Float32), [0.1, None]),
    "an enum": (polars(["low", "high", None], pl.Enum(["low", "high"])), ["low", "high", None]),
    "categories": (polars(["low", "high"], pl.Categorical), ["high", "low"]),
    "durations": (polars([1], pl.Duration("ns")), Refused(FINER)),
    "very whole numbers": (polars([2**100, None], pl.Int128), [2**100, None]),
    "very whole numbers without sign": (polars([2**127], pl.UInt128), [2**127]),
    "lists of very whole numbers": (polars([[2**100]], pl.List(pl.Int128)), Refused("cannot hold")),
    "objects": (polars([object()], pl.Object), Refused("Python's objects")),
    "decimals": (polars([Decimal("1.5")], pl.Decimal(10, 1)), [Decimal("1.5")]),
    "times of day": (polars([dt.time(1, 2, 3)], pl.Time), ["01:02:03"]),
    "times": (polars([dt.datetime(2024, 1, 1)], pl.Datetime("ns")), [dt.datetime(2024, 1, 1)]),
    "lists": (polars([[1, 2]], pl.List(pl.Int64)), ["[1, 2]"]),
    "arrays": (polars([[1, 2]], pl.Array(pl.Int64, 2)), ["[1, 2]"]),
    "shares": (polars([{"flu": 0.5}], pl.Struct({"flu": pl.Float64})), ['{"flu":0.5}']),
    "nothing": (polars([None], pl.Null), [None]),
    "bytes": (polars([b"a"], pl.Binary), ["a"]),
    "lazy": (pl.LazyFrame({"a": [1]}), [1]),
}
CASES = {
    f"{kind}: {what}": case
    for kind, some in (
        ("pandas", PANDAS),
        ("arrow", ARROW),
        ("polars", POLARS),
        ("relation", RELATIONS),
    )
    for what, case in some.items()
}


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES)
def test_every_type_of_a_table_in_memory_is_kept_or_refused_by_column(case: str) -> None:
    data, expected = CASES[case]
    with DuckDB() as engine:
        if isinstance(expected, Refused):
            with pytest.raises(DataError, match=rf"column '?a'? .*{expected}"):
                engine.put("t", data)
                engine.refuse_losses("t", ["a"])
            return
        engine.put("t", data)
        engine.refuse_losses("t", ["a"])
        assert [value for (value,) in engine.rows(shapes.dictionary("t", ["a"]))] == expected


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1, 2]], columns=["q", "q"]),
        pa.table([[1], [2]], names=["q", "q"]),
        duckdb.sql("SELECT 1 AS q, 2 AS q"),
    ],
)
def test_two_columns_of_one_name_are_refused(data: Any) -> None:
    with pytest.raises(DataError, match=r"two columns named 'q' \(columns 1 and 2\)"):
        tacit.check(data, tacit.KAnonymity(k=2), quasi_identifiers=["q"])


def test_names_that_differ_in_case_are_two_columns() -> None:
    data = pd.DataFrame({"q": [1, 1, 1], "Q": [1, 2, 3]})
    assert tacit.check(data, tacit.KAnonymity(k=3), quasi_identifiers=["q"]).status == "holds"
    assert tacit.check(data, tacit.KAnonymity(k=3), quasi_identifiers=["Q"]).status == "breached"
    with pytest.raises(DataError, match="'q' and 'Q', which differ only in case"):
        tacit.check(data, tacit.KAnonymity(k=3), quasi_identifiers=["q", "Q"])


@pytest.mark.parametrize("asked", [[0], ["a"]])
def test_columns_that_are_numbers_are_refused_unless_nobody_asks(asked: list[Any]) -> None:
    data = pd.DataFrame({0: [1, 2], "a": [1, 1]})
    if asked == ["a"]:
        assert tacit.check(data, tacit.KAnonymity(k=2), quasi_identifiers=asked).status == "holds"
        return
    with pytest.raises(DataError, match=r"quasi_identifiers\[0\]: 0 is no text"):
        tacit.check(data, tacit.KAnonymity(k=2), quasi_identifiers=asked)
    gamma = tacit.GammaPrivacy(gamma=0.5)
    with pytest.raises(DataError, match=r"the column 0 of the table has no text for a name"):
        tacit.overlapping_views(data, ["SELECT a FROM data"], [gamma], key="a", sensitive="a")


def test_a_column_that_nobody_asks_about_is_not_read() -> None:
    data = pd.DataFrame({"a": [1, 1], "odd": [1j, 2j]})
    assert tacit.check(data, tacit.KAnonymity(k=2), quasi_identifiers=["a"]).status == "holds"


@pytest.mark.parametrize(
    "data",
    [
        pl.DataFrame({"a": [1, 1], "odd": pl.Series([object(), object()], dtype=pl.Object)}),
        duckdb.sql("SELECT 1 AS a, CAST(1 AS UHUGEINT) AS odd FROM range(2)"),
    ],
)
def test_nor_is_one_of_another_library(data: Any) -> None:
    assert tacit.check(data, tacit.KAnonymity(k=2), quasi_identifiers=["a"]).status == "holds"


def test_what_is_no_table_is_said() -> None:
    with pytest.raises(DataError, match="a dict is not a table that Tacit can read"):
        tacit.check({"a": [1]}, tacit.KAnonymity(k=2), quasi_identifiers=["a"])


def test_floats_of_32_bits_are_as_far_apart_as_they_are_written() -> None:
    """0.1 and 0.3 are within 0.2; in binary they are not."""
    data = pd.DataFrame({"zip": ["1"] * 4, "dose": np.array([0.1, 0.3, 0.1, 0.3], dtype="float32")})
    verdict = tacit.check(
        data, tacit.EpsM(epsilon="0.2", m=2), quasi_identifiers=["zip"], sensitive="dose"
    )
    assert verdict.status == "breached"


def test_a_range_of_floats_of_32_bits_ends_where_it_is_written() -> None:
    data = pd.DataFrame({"share": np.array([0.7, 0.65], dtype="float32")})
    with DuckDB() as engine:
        engine.put("t", data)
        query = shapes.matching("t", ["share"], {"share": Decimal("0.7")}, limit=2)
        assert list(engine.rows(query)) == [(0.7,)]


def test_ordered_categories_are_in_their_order_for_t_closeness() -> None:
    """Everybody in group 1 is low or mid, which are neighbours in this
    order and not in that of the alphabet.
    """
    order = ["low", "mid", "high"]
    data = pd.DataFrame(
        {
            "zip": ["1", "1", "2", "2"],
            "pay": pd.Categorical(["low", "mid", "mid", "high"], order, ordered=True),
        }
    )
    as_text = data.assign(pay=data["pay"].astype(str))
    ordered, alphabet = (
        tacit.check(
            one,
            tacit.TCloseness(t="0.2", distance="ordered"),
            quasi_identifiers=["zip"],
            sensitive="pay",
        )
        for one in (data, as_text)
    )
    assert (ordered.measured["t"], alphabet.measured["t"]) == (Fraction(1, 4), Fraction(1, 8))


def test_a_breach_along_ordered_categories_can_be_replayed_with_their_order() -> None:
    order = ["low", "mid", "high"]
    data = pd.DataFrame(
        {
            "zip": ["1", "1", "2", "2"],
            "pay": pd.Categorical(["low", "mid", "mid", "high"], order, ordered=True),
        }
    )
    verdict = tacit.check(
        data,
        tacit.TCloseness(t="0.2", distance="ordered"),
        quasi_identifiers=["zip"],
        sensitive="pay",
    )
    rows = data.astype(str).to_dict("records")
    assert verdict.status == "breached"
    assert tacit.replay(
        verdict, rows, ["zip"], distance=lambda x, y: abs(order.index(x) - order.index(y))
    )


def test_infinite_numbers_are_at_the_ends_of_an_order() -> None:
    data = pd.DataFrame(
        {"zip": ["1", "1", "2", "2"], "pay": [1.0, float("inf"), 2.0, float("-inf")]}
    )
    verdict = tacit.check(
        data,
        tacit.TCloseness(t="0.1", distance="ordered"),
        quasi_identifiers=["zip"],
        sensitive="pay",
    )
    assert verdict.measured["t"] == Fraction(1, 6) and tacit.replay(
        verdict, data.to_dict("records"), ["zip"]
    )
