"""A gateway on PostgreSQL: what it sees, what it stops, and whom it refuses to be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pyarrow as pa
import pytest

from gateway.live import FAKE, PLAN, Live, live
from gateway.test_streams import as_user
from tacit.errors import EngineError
from waiting import soon

pytestmark = pytest.mark.slow

STAYS = """
    CREATE TABLE stays (name TEXT PRIMARY KEY, ward TEXT NOT NULL, disease TEXT NOT NULL, age BIGINT NOT NULL);
    INSERT INTO stays VALUES ('Alan', 'A', 'cancer', 23), ('Bob', 'B', 'flu', 24), ('Ellen', 'A', 'flu', 27), ('Fen', 'B', 'cancer', 28);
    CREATE TABLE wards (ward TEXT PRIMARY KEY, beds BIGINT NOT NULL, open BOOLEAN DEFAULT true, rate NUMERIC DEFAULT 0.10);
    INSERT INTO wards VALUES ('A', 10), ('B', 20);
    CREATE ROLE gateway_reader LOGIN; GRANT SELECT ON stays, wards TO gateway_reader;"""  # noqa: E501
DROP = "DROP TABLE stays, wards; DROP OWNED BY gateway_reader; DROP ROLE gateway_reader"
SLOW = (
    "SELECT count(*) AS n FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b "
    "WHERE a + b = 7"
)
WARDS = "SELECT ward, beds FROM wards ORDER BY ward"


@pytest.fixture(scope="module")
def admin(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres_url, autocommit=True) as found:
        found.execute(STAYS)
        yield found
        found.execute(DROP)


def plan_on(url: str) -> str:
    return f"""\
version: 1
source: '{url}'
tables: {{stays: {{key: [name]}}, wards: {{key: [ward]}}, given: {{columns: {{a: integer}}, rows: [[7]]}}}}
secrets: {{cancer: "SELECT name FROM stays WHERE disease = 'cancer'"}}
roles: {{nurses: {{default: allow, deny: [cancer]}}}}
"""  # noqa: E501


@pytest.fixture(scope="module")
def decides(
    admin: psycopg.Connection[Any], postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    with_temp = f"GRANT TEMPORARY ON DATABASE {admin.info.dbname} TO gateway_reader"
    admin.execute(with_temp)
    with live(
        tmp_path_factory.mktemp("pg"), plan_on(as_user(postgres_url, "gateway_reader"))
    ) as running:
        yield running


@pytest.fixture(scope="module")
def opened(
    admin: psycopg.Connection[Any], postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("pg-open")
    with live(
        folder,
        plan_on(as_user(postgres_url, "gateway_reader")),
        decider=FAKE,
        timeout=3,
        queries=2,
        user_queries=2,
    ) as running:
        yield running


def working(admin: psycopg.Connection[Any]) -> int:
    """How many queries the gateway's role runs, as the server itself sees it."""
    found = admin.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'gateway_reader' AND state "
        "= 'active'"
    ).fetchone()
    assert found is not None
    return int(found[0])


def test_it_decides_and_answers(decides: Live) -> None:
    assert decides.query(WARDS).json()["rows"] == [["A", 10], ["B", 20]]
    assert decides.query("SELECT name FROM stays WHERE disease = 'cancer'").status_code == 403
    assert decides.query("SELECT a FROM given").json()["rows"] == [[7]]
    assert decides.query("SELECT ward FROM wards WHERE beds > $1", parameters=[15]).json()[
        "rows"
    ] == [["B"]]


def test_all_formats_say_the_same(opened: Live) -> None:
    sql = "SELECT ward, beds, open, rate, NULL::date AS day FROM wards ORDER BY ward"
    assert opened.query(sql).json()["rows"] == [
        ["A", 10, True, 0.10, None],
        ["B", 20, True, 0.10, None],
    ]
    assert (
        opened.query(sql, accept="text/csv").text
        == '"ward","beds","open","rate","day"\n"A",10,true,0.1,\n"B",20,true,0.1,\n'
    )
    table = pa.ipc.open_stream(
        opened.query(sql, accept="application/vnd.apache.arrow.stream").content
    ).read_all()
    assert table.column("rate").to_pylist() == [0.1, 0.1]


def test_every_query_sees_the_rows_as_they_are_now(
    opened: Live, admin: psycopg.Connection[Any]
) -> None:
    for beds in (11, 12, 13):
        admin.execute("UPDATE wards SET beds = %s WHERE ward = 'A'", (beds,))
        assert opened.query("SELECT beds FROM wards WHERE ward = 'A'").json()["rows"] == [[beds]]
    admin.execute("UPDATE wards SET beds = 10 WHERE ward = 'A'")


@pytest.mark.parametrize(
    "accept", ["text/csv", "application/json", "application/vnd.apache.arrow.stream"]
)
def test_rows_beyond_the_limit_are_left_out(opened: Live, accept: str) -> None:
    sql = "SELECT generate_series(1, 300000) AS n"
    for limit in (0, 1, 2, 16384, 99_999, 300_000):
        found = opened.query(sql, limit=limit, accept=accept)
        if accept == "text/csv":
            assert found.text.count("\n") == limit + 1
        elif accept == "application/json":
            assert (len(found.json()["rows"]), found.json()["truncated"]) == (
                limit,
                limit < 300_000,
            )
        else:
            assert pa.ipc.open_stream(found.content).read_all().num_rows == limit
    assert opened.query(WARDS).status_code == 200


def test_nothing_can_be_written(opened: Live, admin: psycopg.Connection[Any]) -> None:
    admin.execute("GRANT INSERT ON wards TO gateway_reader")
    admin.execute(
        "CREATE OR REPLACE FUNCTION add_ward() RETURNS INT LANGUAGE sql AS $$ INSERT INTO wards "
        "VALUES ('C', 1) RETURNING 1 $$"
    )
    for sql in (
        "SELECT add_ward()",
        "WITH x AS (INSERT INTO wards VALUES ('C', 1) RETURNING ward) SELECT ward FROM x",
        "INSERT INTO wards VALUES ('C', 1)",
        "SELECT 1) TO STDOUT; INSERT INTO wards VALUES ('C', 1); COPY (SELECT 1",
    ):
        found = opened.query(sql)
        assert (found.status_code, found.json()["error"]["code"]) == (400, "database"), sql
    assert opened.query("SELECT count(*) AS n FROM wards").json()["rows"] == [[2]]
    admin.execute("DROP FUNCTION add_ward()")


def test_a_query_that_takes_too_long_is_stopped_in_the_database(
    opened: Live, admin: psycopg.Connection[Any]
) -> None:
    assert opened.query(SLOW).status_code == 504
    assert soon(lambda: working(admin) == 0)


@pytest.mark.parametrize("sql", [SLOW, "SELECT generate_series(1, 2000000000) AS n"])
def test_a_query_is_stopped_in_the_database_when_the_client_leaves(
    opened: Live, admin: psycopg.Connection[Any], sql: str
) -> None:
    with (
        opened.client() as client,
        pytest.raises(httpx.ReadTimeout),
        client.stream("POST", "/query", json={"sql": sql}, timeout=0.7) as found,
    ):
        assert working(admin) == 1
        next(found.iter_bytes())
        raise httpx.ReadTimeout("enough")
    assert soon(lambda: working(admin) == 0)
    assert opened.query(WARDS).status_code == 200


def test_a_session_that_was_ended_is_replaced(opened: Live, admin: psycopg.Connection[Any]) -> None:
    for _ in range(4):
        assert opened.query(WARDS).status_code == 200
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gateway_reader'"
    )
    for _ in range(4):
        assert opened.query(WARDS).status_code == 200


def test_a_database_that_cannot_be_reached_is_not_described_to_clients(
    opened: Live, admin: psycopg.Connection[Any]
) -> None:
    admin.execute("ALTER ROLE gateway_reader NOLOGIN")
    try:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = "
            "'gateway_reader'"
        )
        found = opened.query(WARDS)
        assert (found.status_code, found.json()["error"]["code"]) == (503, "database")
        assert "gateway_reader" not in found.text and "127.0.0.1" not in found.text
    finally:
        admin.execute("ALTER ROLE gateway_reader LOGIN")
    assert opened.query(WARDS).status_code == 200


def test_a_superuser_is_refused_unless_told(
    admin: psycopg.Connection[Any], postgres_url: str, tmp_path: Path
) -> None:
    with (
        pytest.raises(EngineError, match="superuser") as caught,
        live(tmp_path, plan_on(postgres_url)),
    ):
        pass
    assert "--allow-superuser" in str(caught.value)
    with live_again(tmp_path, postgres_url) as running:
        assert running.query(WARDS).status_code == 200


def live_again(folder: Path, url: str) -> Any:
    other = folder / "other"
    other.mkdir()
    return live(other, plan_on(url), decider=FAKE, allow_superuser=True)


def test_users_beside_a_ledger_in_the_database(
    admin: psycopg.Connection[Any], postgres_url: str, tmp_path: Path
) -> None:
    from gateway.live import revoke

    with live(tmp_path, PLAN + f"ledger: '{postgres_url}'\n", decider=FAKE) as running:
        assert running.query(WARDS).status_code == 200
        revoke(running.plan, "ann")
        assert soon(lambda: running.query(WARDS).status_code == 401, 3)
    for table in [
        row[0]
        for row in admin.execute(
            "SELECT tablename FROM pg_tables WHERE tablename LIKE 'tacit\\_%'"
        ).fetchall()
    ]:
        admin.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
