"""Numbers in PostgreSQL's own form, all at once as one by one."""

from __future__ import annotations

import decimal
import random
from decimal import Decimal

import pyarrow as pa
import pytest

from tacit.gateway.postgres.types import binary_numeric, numerics


@pytest.mark.parametrize("digits", [1, 4, 9, 12, 17, 18, 19, 38])
def test_numbers_are_written_alike_however_many_there_are(digits: int) -> None:
    draw = random.Random(digits)
    for behind in range(digits + 1):
        with decimal.localcontext(decimal.Context(prec=60)):
            most = 10**digits - 1
            values = [None, *(Decimal(one).scaleb(-behind) for one in (0, most, -most))]
            for _ in range(20):
                one = draw.randint(0, 10 ** draw.randint(0, digits) - 1) * draw.choice((1, -1))
                zeros = draw.choice((0, 0, draw.randint(0, digits)))
                whole = int(one / 10**zeros) * 10 ** draw.randint(0, zeros)
                whole = whole if abs(whole) <= most else 0
                values.append(Decimal(whole).scaleb(-behind))
        column = pa.array(values, pa.decimal128(digits, behind)).slice(draw.randint(0, 3))
        written = column.cast(pa.string()).to_pylist()
        expected = [None if one is None else binary_numeric(one) for one in written]
        assert numerics(column).to_pylist() == expected
        assert numerics(column.slice(0, 0)).to_pylist() == []
