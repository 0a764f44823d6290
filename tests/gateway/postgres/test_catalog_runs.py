"""Questions about catalogs that somebody makes up: they keep nobody waiting and fill no memory."""

from __future__ import annotations

import asyncio

import duckdb
import pytest

from tacit.gateway.postgres.catalog_runs import MOST_BYTES, CatalogRuns
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.query_runs import Gone

ENDLESS = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range < 0"


def test_a_user_with_endless_questions_keeps_no_other_waiting() -> None:
    async def main() -> None:
        runs, database = CatalogRuns(), duckdb.connect(config={"threads": "1"})
        stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        many = [
            asyncio.ensure_future(runs.table(database, ENDLESS, "ann", stop)) for _ in range(20)
        ]
        for number in range(3):
            never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            found = await runs.table(database, f"SELECT {number} AS one", "ben", never)
            assert found.to_pylist() == [{"one": number}] and not any(one.done() for one in many)
        stop.set_result(None)
        ended = await asyncio.gather(*many, return_exceptions=True)
        assert all(isinstance(one, Gone) for one in ended)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT repeat('a', 300000) AS a", "a row has more than"),
        (f"SELECT repeat('a', 100000) AS a FROM range({MOST_BYTES})", "too many rows or bytes"),
        ("SELECT 1 FROM range(1000000)", "too many rows or bytes"),
        ("SELECT list(a.range) FROM range(100000) a", "a row has more than"),
    ],
)
def test_an_answer_has_an_end_before_it_is_in_memory(sql: str, said: str) -> None:
    async def main() -> None:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with pytest.raises(Trouble, match=said):
            await CatalogRuns().table(duckdb.connect(), sql, "ann", never)

    asyncio.run(main())
