"""One keyed hash for an answer: equal for equal multisets of rows, on every engine."""

from __future__ import annotations

import datetime as dt
import random
import tracemalloc
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from oracles.ledger import same_answer
from tacit.engines.base import Engine
from tacit.errors import DataError
from tacit.ledger.digests import AnswerDigest, value_bytes
from tacit.ledger.key import Key

NOON = dt.datetime(2026, 4, 1, 12)
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    10,
    100,
    1_000_000,
    1.0,
    -0.0,
    0.1,
    0.5,
    1e20,
    1e-7,
    float("inf"),
    Decimal("0.10"),
    Decimal("0.1"),
    Decimal("1E+2"),
    Decimal("-1.000"),
    Decimal("0E-5"),
    Decimal("1E-7"),
    Decimal("123456789012345678901234567890123456.78"),
    "",
    "1",
    "a",
    "A",
    "ä",
    "a\u0308",
    "None",
    "t",
    "\0",
    "'",
    "2026-04-01",
    b"",
    b"a",
    b"1",
    dt.date(2026, 4, 1),
    dt.datetime(2026, 4, 1),
    NOON,
    NOON.replace(tzinfo=dt.UTC),
    NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))),
    dt.datetime(2026, 4, 1, 10),
    dt.datetime(2026, 4, 1, 12, 0, 0, 1),
]


def digest(key: Key, rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> str:
    made = AnswerDigest(key, columns)
    for row in rows:
        made.add(row)
    return made.hex()


def test_thousands_of_answers_are_told_apart_and_recognized(key: Key) -> None:
    rng = random.Random(9)
    alike = 0
    for _ in range(4_000):
        width, few = rng.randint(1, 3), rng.sample(VALUES, rng.randint(1, 4))
        one = [[rng.choice(few) for _ in range(width)] for _ in range(rng.randint(0, 4))]
        two = rng.sample(one, len(one))
        if rng.random() < 0.7 and two:
            place = rng.randrange(len(two))
            two[place] = [rng.choice(few) for _ in range(width)]
        if rng.random() < 0.2:
            two.append([rng.choice(few) for _ in range(width)])
        names, same = ["a", "b", "c"][:width], same_answer(one, two)
        assert (digest(key, one, names) == digest(key, two, names)) is same, (one, two)
        alike += same
    assert 500 < alike < 3_500


def test_every_pair_of_values(key: Key) -> None:
    for one in VALUES:
        for two in VALUES:
            assert (value_bytes(one) == value_bytes(two)) is same_answer([[one]], [[two]]), (
                one,
                two,
            )
    assert value_bytes(float("inf")) == value_bytes(Decimal("inf")) != value_bytes(float("-inf"))
    assert value_bytes(float("nan")) == value_bytes(Decimal("nan")) == value_bytes(Decimal("sNaN"))


def test_order_does_not_matter_and_repetition_does(key: Key) -> None:
    rows = [(1, "a"), (2, "b"), (1, "a")]
    assert digest(key, rows, "xy") == digest(key, rows[::-1], "xy") != digest(key, rows[:2], "xy")
    assert digest(key, [("ab", "c")], "xy") != digest(key, [("a", "bc")], "xy")
    assert digest(key, [], "xy") != digest(key, [], "x") and digest(key, [], "xy") == digest(
        key, [], "XY"
    ) != digest(key, [], "yx")


def test_rows_that_cancel_out_are_not_nothing(key: Key) -> None:
    made = AnswerDigest(key, ["x"])
    for _ in range(2):
        made.add((1,))
    assert made.hex() != digest(key, [], ["x"]) and made.rows == 2


def test_other_keys_give_other_hashes(key: Key) -> None:
    assert digest(key, [(1,)], "x") != digest(Key(bytes(32)), [(1,)], "x")


def test_numbers_of_numpy_and_descendants_are_what_they_stand_for() -> None:
    class Name(str):
        pass

    for one, two in [
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (Name("a"), "a"),
        (OrderedDict(a=1), {"a": 1}),
        (uuid.UUID(int=1), str(uuid.UUID(int=1))),
        (bytearray(b"a"), b"a"),
        ((1, 2), [1, 2]),
        (dt.time(1), dt.time(1, 0)),
        (10**5000, Decimal(10**5000)),
        (dt.timedelta(1), dt.timedelta(hours=24)),
    ]:
        assert value_bytes(one) == value_bytes(two)
    assert value_bytes([1, [2]]) != value_bytes([[1], 2]) and value_bytes({"a": 1}) != value_bytes(
        {"a": 2}
    )


def test_what_has_no_plain_value_is_refused() -> None:
    for value in (object(), np.datetime64("2026-04-01T00:00:00.000000001", "ns"), 1j):
        with pytest.raises(DataError, match="cannot be hashed"):
            value_bytes(value)


def test_a_row_has_a_value_for_each_column(key: Key) -> None:
    with pytest.raises(DataError, match="2 values, but there are 1 columns"):
        AnswerDigest(key, ["x"]).add((1, 2))


def test_memory_stays_small(key: Key) -> None:
    made = AnswerDigest(key, ["x", "y"])
    tracemalloc.start()
    for number in range(20_000):
        made.add((number, "text"))
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_all_engines_give_the_same_hash(engine: Engine, key: Key) -> None:
    import sqlglot

    sql = """
        SELECT CAST(1 AS BIGINT) AS n, CAST(2.50 AS DECIMAL(10, 2)) AS d, 'a' AS t, CAST('2026-04-01' AS DATE) AS day,
               CAST('2026-04-01 12:00:00' AS TIMESTAMP) AS at, TRUE AS b, CAST(0.1 AS DOUBLE) AS f, CAST(NULL AS TEXT) AS nothing
        UNION ALL SELECT 2, 0, 'ü', CAST('1999-12-31' AS DATE), CAST('1999-12-31 23:59:59' AS TIMESTAMP), FALSE, 1e10, 'x'"""  # noqa: E501
    rows = list(engine.rows(sqlglot.parse_one(sql, read="duckdb")))
    by_hand = [
        (2, 0, "ü", dt.date(1999, 12, 31), dt.datetime(1999, 12, 31, 23, 59, 59), False, 1e10, "x"),
        (1, Decimal("2.5"), "a", dt.date(2026, 4, 1), NOON, True, 0.1, None),
    ]
    columns = ["n", "d", "t", "day", "at", "b", "f", "nothing"]
    assert digest(key, rows, columns) == digest(key, by_hand, columns)
