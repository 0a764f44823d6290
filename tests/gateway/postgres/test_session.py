"""Sessions: what a client of PostgreSQL's protocol asks, and what it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gateway.live import FAKE, PLAN, Live, add_user, live, revoke
from gateway.postgres.raw_client import RawClient, error_of, rows_of
from waiting import soon

SLOW = "SELECT count(*) FROM range(100000000000) t(i) WHERE i % 7 = 3"


KEYLESS = PLAN.replace("    key: [name]\n", "")


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(tmp_path_factory.mktemp("door"), KEYLESS, postgres_port=0) as running:
        yield running


@pytest.fixture(scope="module")
def open_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A gateway whose decision is a stand-in that allows everything."""
    with live(
        tmp_path_factory.mktemp("open"),
        decider=FAKE,
        postgres_port=0,
        timeout=2,
        queries=4,
        user_queries=4,
        row_limit=50_000,
    ) as running:
        yield running


@pytest.fixture
def ann(door: Live) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(door.postgres(), autocommit=True) as connection:
        yield connection


@pytest.fixture
def bob(open_door: Live) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(open_door.postgres(), autocommit=True) as connection:
        yield connection


def test_a_query_is_answered(ann: psycopg.Connection[Any]) -> None:
    assert ann.execute("SELECT ward, beds FROM wards").fetchall() == [("A", 10), ("B", 20)]
    assert ann.execute("SELECT w.ward FROM public.wards w WHERE beds > %s", [15]).fetchall() == [
        ("B",)
    ]
    assert ann.info.dbname == "nurses" and ann.info.parameter_status("TimeZone") == "UTC"


def test_a_refusal_has_its_code_and_what_may_be_asked_instead(
    ann: psycopg.Connection[Any],
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
        ann.execute("SELECT name FROM stays")
    said = refused.value.diag
    assert said.sqlstate == "42501" and "say something about cancer" in str(said.message_primary)
    assert said.message_detail == ("The code of this refusal is discloses; it is about cancer.")
    assert said.message_hint == "Try a query that leaves out the rows about cancer."


@pytest.mark.parametrize(
    ("sql", "state", "place"),
    [
        ("SELECT nme FROM wards", "42703", "8"),
        ("SELECT ward\nFROM nowhere", "42P01", "18"),
        ("INSERT INTO wards VALUES ('C', 1)", "25006", "1"),
        ("EXPLAIN SELECT ward FROM wards", None, None),
        ("SELECT ward FROM", None, None),
        ("VACUUM", None, None),
    ],
)
def test_what_is_wrong_has_a_state_and_a_place(
    ann: psycopg.Connection[Any], sql: str, state: str | None, place: str | None
) -> None:
    with pytest.raises(psycopg.Error) as wrong:
        ann.execute(sql)
    assert wrong.value.diag.sqlstate
    if state is not None:
        assert wrong.value.diag.sqlstate == state
        assert wrong.value.diag.statement_position == place
    assert ann.execute("SELECT beds FROM wards WHERE ward = 'A'").fetchone() == (10,)


def test_the_same_decision_is_in_the_audit_log_as_over_http(
    door: Live, ann: psycopg.Connection[Any]
) -> None:
    ann.execute("SELECT beds FROM wards WHERE ward = 'audited'")
    door.query("SELECT beds FROM wards WHERE ward = 'audited'")

    def ends() -> bool:
        """Both ended by the log: it is written behind the answers."""
        lines = [json.loads(line) for line in door.audit().splitlines()[-4:]]
        return [line["event"] for line in lines].count("answer") == 2

    assert soon(ends)
    lines = [json.loads(line) for line in door.audit().splitlines()]
    found = [one for one in lines if "audited" not in one.get("query", "audited")]
    ours = next(one for one in reversed(found) if one["path"] == "postgres")
    theirs = next(one for one in reversed(found) if one["path"] == "/query")
    same = ("user", "role", "query", "decision", "code", "parameters")
    assert [ours[name] for name in same] == [theirs[name] for name in same]
    ended = next(one for one in lines if one["event"] == "answer" and one["id"] == ours["id"])
    assert (ended["outcome"], ended["rows"]) == ("complete", 0)


def test_only_who_has_the_token_comes_in(door: Live) -> None:
    other = add_user(door.plan, "cleo", ["clerks"])
    said = set()
    for user, token in (("ann", other), ("nobody", door.token), ("ann", "tacit_x"), ("", "x")):
        with pytest.raises(psycopg.OperationalError) as refused:
            psycopg.connect(door.postgres(user=user or "''", token=token))
        said.add(str(refused.value).partition("FATAL:")[2])
    assert len(said) == 1 and "a valid token as password" in said.pop()


def test_the_database_is_the_role(door: Live) -> None:
    token = add_user(door.plan, "dora", ["clerks", "nurses"])
    with psycopg.connect(door.postgres("clerks", "dora", token)) as line:
        assert line.execute("SELECT count(*) FROM wards").fetchone() == (2,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            line.execute("SELECT name FROM stays WHERE disease = 'flu'")
    with psycopg.connect(door.postgres("nurses", "dora", token)) as line:
        rows = line.execute("SELECT name FROM stays WHERE disease = 'flu'").fetchall()
        assert sorted(rows) == [("Bob",), ("Ellen",)]
    with pytest.raises(psycopg.OperationalError, match="one of your roles as database: clerks, nu"):
        psycopg.connect(door.postgres("doctors", "dora", token))
    only = add_user(door.plan, "eve", ["clerks"])
    with psycopg.connect(door.postgres("eve", "eve", only)) as line:  # no role: their only one
        assert line.execute("SELECT current_database()").fetchone() == ("clerks",)


def test_a_session_ends_with_its_token(door: Live) -> None:
    token = add_user(door.plan, "fred", ["nurses"])
    with psycopg.connect(door.postgres(user="fred", token=token), autocommit=True) as line:
        line.execute("SELECT ward FROM wards")
        revoke(door.plan, "fred")
        with pytest.raises(psycopg.Error, match="revoked"):
            line.execute("SELECT ward FROM wards")
        assert line.closed


def test_transactions_are_words(ann: psycopg.Connection[Any]) -> None:
    status = ann.info
    ann.execute("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY")
    assert status.transaction_status.name == "INTRANS"
    ann.execute("SAVEPOINT a")
    with pytest.raises(psycopg.Error):
        ann.execute("SELECT name FROM stays")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        ann.execute("SELECT ward FROM wards")
    ann.execute("ROLLBACK TO SAVEPOINT a")
    assert len(ann.execute("SELECT ward FROM wards").fetchall()) == 2
    ann.execute("COMMIT")
    assert status.transaction_status.name == "IDLE"
    with ann.transaction():
        ann.execute("SELECT ward FROM wards")


def test_settings_that_clients_send(ann: psycopg.Connection[Any]) -> None:
    for sql in (
        "SET extra_float_digits = 3",
        "SET application_name TO 'test of mine'",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        "SET search_path TO public, pg_catalog",
        "SET TIME ZONE 'Europe/Berlin'",
        "SET client_encoding TO 'UTF8'",
        "SET DateStyle = 'ISO, DMY'",
        "SET statement_timeout = '5s'",
    ):
        ann.execute(sql)
    assert ann.execute("SHOW application_name").fetchone() == ("test of mine",)
    assert ann.execute("SHOW statement_timeout").fetchone() == ("5s",)
    assert ann.info.parameter_status("application_name") == "test of mine"
    for sql, state in (
        ("SET client_encoding TO 'LATIN1'", "22023"),
        ("SET DateStyle = 'German'", "22023"),
        ("SET role TO admin", "42501"),
        ("SHOW nothing_like_it", "42704"),
        ("SET server_version = '9'", "55P02"),
    ):
        with pytest.raises(psycopg.Error) as wrong:
            ann.execute(sql)
        assert wrong.value.diag.sqlstate == state
    ann.execute("RESET ALL")
    assert ann.execute("SHOW search_path").fetchone() == ('"$user", public',)


def test_several_statements_in_one_text(door: Live) -> None:
    with RawClient(door.postgres_port, "ann", door.token, "nurses") as line:
        found = line.ask("SELECT 1 AS a; ; SET x.y = 1; SELECT ward FROM wards ORDER BY ward")
        tags = [body for kind, body in found if kind == b"C"]
        assert tags == [b"SELECT 1\0", b"SET\0", b"SELECT 2\0"]
        assert rows_of(found) == [[b"1"], [b"A"], [b"B"]]
        failed = line.ask("SELECT 1; SELECT nothing FROM wards; SELECT 2")
        assert error_of(failed)["C"] == "42703" and rows_of(failed) == [[b"1"]]
        assert [kind for kind, _ in line.ask(" ; -- nothing")] == [b"I", b"Z"]


def test_a_text_that_is_too_long_is_not_looked_at(door: Live) -> None:
    with RawClient(door.postgres_port, "ann", door.token, "nurses") as line:
        assert error_of(line.ask(";" * 1_000_000))["C"] == "54000"
        assert error_of(line.extended("SELECT 1 --" + "x" * 200_000, 0))["C"] == "54000"
        assert rows_of(line.ask("SELECT beds FROM wards WHERE ward = 'A'")) == [[b"10"]]


def test_an_error_skips_to_the_next_sync(door: Live) -> None:
    with RawClient(door.postgres_port, "ann", door.token, "nurses") as line:
        failed = line.extended("SELECT nothing FROM wards", 0)
        assert [kind for kind, _ in failed] == [b"1", b"2", b"E", b"Z"]
        assert rows_of(line.extended("SELECT beds FROM wards ORDER BY beds", 0))[0] == [b"10"]


def test_values_come_in_text_and_in_binary(open_door: Live) -> None:
    sql = """SELECT 1::SMALLINT a, -2::INTEGER b, 3::BIGINT c, 1.5::REAL d, 2.5::DOUBLE e,
        12.50::DECIMAL(10, 2) f, -0.001::DECIMAL(12, 3) g, TRUE h, DATE '2024-02-29' i,
        TIMESTAMP '2024-02-29 12:34:56.789' j, 'é😀' k, NULL l, '\\x00\\xFF'::BLOB m,
        TIMESTAMPTZ '2024-02-29 12:00:00+02' n, 'nan'::DOUBLE o, 123456789012345::HUGEINT p,
        TIME '10:11:12.5' q, 200::UTINYINT r, 18446744073709551615::UBIGINT s"""
    for binary in (False, True):
        with psycopg.connect(open_door.postgres()) as line:
            row = line.cursor(binary=binary).execute(sql).fetchone()
        assert row is not None
        assert row[:9] == (
            1,
            -2,
            3,
            1.5,
            2.5,
            Decimal("12.50"),
            Decimal("-0.001"),
            True,
            date(2024, 2, 29),
        )
        assert row[9].isoformat() == "2024-02-29T12:34:56.789000"
        assert row[10:13] == ("é😀", None, b"\x00\xff")
        assert row[13].isoformat() == "2024-02-29T10:00:00+00:00"
        assert row[14] != row[14] and row[15] == 123456789012345
        assert row[16].isoformat() == "10:11:12.500000"
        assert row[17:] == (200, Decimal(18446744073709551615))


def test_parameters_come_in_text_and_in_binary(open_door: Live) -> None:
    """The stand-in answers with the type that the decision was given."""
    with psycopg.connect(open_door.postgres(), autocommit=True) as line:
        for value, kind in (
            (5, "int"),
            (2.5, "Decimal"),
            (Decimal("1.5"), "Decimal"),
            (True, "bool"),
            ("x", "str"),
            (date(2024, 1, 1), "str"),
            (None, "NoneType"),
        ):
            for mark in ("%t", "%b"):
                found = line.execute(f"/* told */ SELECT {mark}", [value]).fetchone()
                assert found == (kind,), (value, mark)


def test_a_parameter_has_the_type_of_the_column_beside_it(door: Live) -> None:
    with psycopg.connect(door.postgres(), autocommit=True) as line:
        found = line.execute("SELECT ward FROM wards WHERE beds > %s", ["15"]).fetchall()
        assert found == [("B",)]
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            line.execute("SELECT ward FROM wards WHERE beds > %s", ["many"])
        for again in range(8):  # psycopg prepares what it asks often
            assert line.execute("SELECT beds FROM wards WHERE ward = %s", ["A"]).fetchone() == (
                10,
            ), again


def test_values_decide_also_where_the_statement_was_prepared(door: Live) -> None:
    with psycopg.connect(door.postgres(), autocommit=True) as line:
        sql = "SELECT name FROM stays WHERE disease = %s"
        for _ in range(7):
            assert len(line.execute(sql, ["flu"], prepare=True).fetchall()) == 2
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                line.execute(sql, ["cancer"], prepare=True)


def test_portals_give_so_many_rows_at_a_time(open_door: Live) -> None:
    with RawClient(open_door.postgres_port, "ann", open_door.token, "nurses") as line:
        line.ask("BEGIN")
        line.send(b"P", b"\0SELECT i FROM range(5) t(i)\0\0\0")
        line.send(b"B", b"p\0\0\0\0\0\0\0\0")
        for _ in range(4):
            line.send(b"E", b"p\0\0\0\0\2")
        line.send(b"S")
        found = line.until_ready()
        kinds = b"".join(kind for kind, _ in found)
        assert kinds == b"12DDsDDsDCCZ", kinds
        assert rows_of(found) == [[b"%d" % i] for i in range(5)]
        assert [body for kind, body in found if kind == b"C"] == [b"SELECT 1\0", b"SELECT 0\0"]
        line.ask("COMMIT")
        line.send(b"E", b"p\0\0\0\0\0")
        line.send(b"S")
        assert error_of(line.until_ready())["C"] == "34000"


def test_cursors(bob: psycopg.Connection[Any]) -> None:
    with bob.transaction(), bob.cursor("mine") as cursor:
        cursor.itersize = 1000
        cursor.execute("SELECT i FROM range(2500) t(i) ORDER BY i")
        assert cursor.fetchmany(3) == [(0,), (1,), (2,)]
        assert sum(1 for _ in cursor) == 2497
    with pytest.raises(psycopg.errors.NoActiveSqlTransaction):
        bob.execute("DECLARE c CURSOR FOR SELECT 1")


def test_copy_to_stdout(bob: psycopg.Connection[Any]) -> None:
    def copied(sql: str) -> bytes:
        with bob.cursor().copy(sql) as copy:
            return b"".join(bytes(part) for part in copy)

    query = """SELECT 1 AS a, 'x,"y"\t' AS b, NULL AS c UNION ALL SELECT 2, '', NULL ORDER BY 1"""
    assert copied(f"COPY ({query}) TO STDOUT") == b'1\tx,"y"\\t\t\\N\n2\t\t\\N\n'
    assert copied(f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER)") == (
        b'a,b,c\n1,"x,""y""\t",\n2,"",\n'
    )
    assert copied("COPY wards TO STDOUT WITH CSV DELIMITER ';'") == b"A;10\nB;20\n"
    assert copied("COPY wards (beds) TO STDOUT") == b"10\n20\n"
    with bob.cursor().copy("COPY wards TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["text", "int8"])
        assert list(copy.rows()) == [("A", 10), ("B", 20)]
    for wrong in ("COPY wards TO '/tmp/x'", "COPY wards TO STDOUT (FORMAT xml)"):
        with pytest.raises(psycopg.Error):
            bob.execute(wrong)


def test_a_copy_of_what_is_denied_is_refused(ann: psycopg.Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ann.execute("COPY stays TO STDOUT")
    with pytest.raises(psycopg.Error):
        ann.execute("COPY stays FROM STDIN")


def test_more_rows_than_an_answer_may_have_are_an_error(bob: psycopg.Connection[Any]) -> None:
    assert len(bob.execute("SELECT i FROM range(50000) t(i)").fetchall()) == 50_000
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="more than 50000 rows"):
        bob.execute("SELECT i FROM range(50001) t(i)")
    assert bob.execute("SELECT 1").fetchone() == (1,)


def test_a_query_is_cancelled(bob: psycopg.Connection[Any]) -> None:
    threading.Timer(0.5, bob.cancel_safe).start()
    with pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
        bob.execute(SLOW)
    assert bob.execute("SELECT 1").fetchone() == (1,)


def test_a_query_takes_no_longer_than_it_may(bob: psycopg.Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.QueryCanceled, match="did not answer in time"):
        bob.execute(SLOW)
    bob.execute("SET statement_timeout = 100")
    began = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled):
        bob.execute(SLOW)
    assert time.monotonic() - began < 1.9


def test_who_leaves_frees_the_place(open_door: Live) -> None:
    lines = [psycopg.connect(open_door.postgres()) for _ in range(4)]
    for line in lines:
        line.pgconn.send_query(SLOW.encode())
    assert soon(lambda: open_door.gateway.now().places.running == 4)
    for line in lines:
        line.close()
    with psycopg.connect(open_door.postgres()) as line:
        assert line.execute("SELECT 1").fetchone() == (1,)


def test_a_fault_has_a_number_and_no_values(open_door: Live) -> None:
    with psycopg.connect(open_door.postgres(), autocommit=True) as line:
        with pytest.raises(psycopg.Error) as wrong:
            line.execute("/* fault */ SELECT 1")
        assert "Moss" not in str(wrong.value)
        assert line.execute("SELECT 1").fetchone() == (1,)


def test_pipelines(bob: psycopg.Connection[Any]) -> None:
    with bob.pipeline():
        found = [bob.execute(f"SELECT {i}") for i in range(50)]
    assert [one.fetchone() for one in found] == [(i,) for i in range(50)]


def test_while_the_plan_is_broken_nothing_is_answered(tmp_path: Path) -> None:
    with (
        live(tmp_path, postgres_port=0) as running,
        psycopg.connect(running.postgres(), autocommit=True) as line,
    ):
        line.execute("SELECT ward FROM wards")
        running.plan.write_text(PLAN.replace("roles:", "rolls:"))
        with pytest.raises(psycopg.Error) as wrong:
            line.execute("SELECT ward FROM wards")
        assert wrong.value.diag.sqlstate == "57P03"


def test_bytes_that_are_no_message_end_the_session(door: Live) -> None:
    with RawClient(door.postgres_port, "ann", door.token, "nurses") as line:
        line.send(b"!", b"")
        kind, body = line.message()
        assert kind == b"E" and b"08P01" in body
        with pytest.raises(ConnectionError):
            line.message()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(door.postgres(replication="database"))
