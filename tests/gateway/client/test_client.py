"""The Python client, curl and pandas against a gateway that runs:
DuckDB and PostgreSQL, right and wrong.
"""

from __future__ import annotations

import gc
import io
import json
import os
import pickle
import re
import select
import shutil
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.engines.open import open_engine
from tacit.errors import GatewayError, InputError, MissingExtra, ParameterError, QueryError, Refused
from tacit.gateway.client.client_answers import ARROW, Answer
from tacit.gateway.client.client_requests import request_body
from tacit.gateway.client.connection import Connection, CurrentUser, Rights, client_of
from tacit.ledger.ledger import open_ledger
from tacit.ledger.users import Users
from waiting import soon

for needed in ("httpx", "fastapi", "uvicorn", "prometheus_client"):
    pytest.importorskip(needed)
pa, ipc = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.ipc")

MANY = 120_000
PLAN = """\
version: 1
source: {source}
tables:
  patients: {{columns: {{name: text, illness: text, ward: text}}, key: [name], nullable: []{patients}}}
  stays: {{columns: {{id: integer, day: date, cost: decimal, until: timestamp, paid: boolean, note: text}}, key: [id], nullable: [cost, until, paid, note]{stays}}}
  visits: {{columns: {{id: integer, room: text, filler: text}}, key: [id], nullable: []{visits}}}
secrets:
  cancer: "SELECT name FROM patients WHERE illness = 'cancer'"
roles:
  nurses: {{default: allow, deny: [cancer]}}
  clerks: {{default: deny, deny: [cancer], allow: [stays]}}
"""  # noqa: E501
PATIENTS = [("Ann", "flu", "A"), ("Bob", "cancer", "B"), ("Cy", "flu", "B")]
STAYS = [
    (
        1,
        date(2026, 1, 2),
        Decimal("10.50"),
        datetime(2026, 1, 3, 10, 0, 0, 500000),
        True,
        'says "a, b"\n',
    ),
    (2, date(1999, 12, 31), None, None, None, None),
    (3, date(2026, 2, 1), Decimal("0.01"), datetime(2026, 2, 2), False, "ünï\u2028 '"),
]
CREATE = """
    CREATE TABLE patients (name text PRIMARY KEY, illness text NOT NULL, ward text NOT NULL);
    CREATE TABLE stays (id integer PRIMARY KEY, day date NOT NULL, cost numeric(10, 2), until timestamp, paid boolean, note text);
    CREATE TABLE visits (id integer PRIMARY KEY, room text NOT NULL, filler text NOT NULL);
    INSERT INTO visits SELECT i, 'room ' || i, repeat('x', 250) FROM generate_series(1, {many}) AS s(i);
"""  # noqa: E501


@dataclass(frozen=True)
class Running:
    """A gateway for tests, and the tokens of its users: ann is a nurse, cleo is nurse and clerk."""

    url: str
    tokens: dict[str, str] = field(repr=False)
    folder: Path
    process: subprocess.Popen[str]
    kind: str

    def metrics(self) -> str:
        import httpx

        return httpx.get(f"{self.url}/metrics", trust_env=False).text

    def running(self) -> int:
        found = re.search(r"^tacit_queries_running (\S+)$", self.metrics(), re.MULTILINE)
        return int(float(found[1])) if found else -1


@contextmanager
def served(folder: Path, kind: str, *words: str) -> Iterator[Running]:
    """`tacit serve` in a process of its own, on a free port."""
    with open_ledger("tacit-ledger.sqlite", folder, create=True) as ledger:
        users = Users(ledger)
        tokens = {
            "ann": users.add("ann", ["nurses"]),
            "cleo": users.add("cleo", ["nurses", "clerks"]),
        }
    command = [sys.executable, "-m", "tacit", "serve", "--port", "0", "--deciders", "1", *words]
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, "CI": ""}
    ) as process:
        try:
            yield Running(address(process), tokens, folder, process, kind)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def address(process: subprocess.Popen[str]) -> str:
    said, end = "", time.monotonic() + 60
    assert process.stderr
    while time.monotonic() < end and process.poll() is None:
        if select.select([process.stderr], [], [], 0.2)[0]:
            said += process.stderr.readline()
            if found := re.search(r"answers at (http://\S+)", said):
                return found[1]
    raise AssertionError(
        f"it does not listen: {said}{process.stderr.read() if process.poll() is not None else ''}"
    )


def duckdb_plan(folder: Path) -> str:
    import duckdb

    with duckdb.connect() as database:
        database.execute(CREATE.format(many=MANY))
        database.executemany("INSERT INTO patients VALUES (?, ?, ?)", PATIENTS)
        database.executemany("INSERT INTO stays VALUES (?, ?, ?, ?, ?, ?)", STAYS)
        for table in ("patients", "stays", "visits"):
            database.execute(f"COPY {table} TO '{folder / table}.parquet'")
    return PLAN.format(
        source=".", **{one: f", file: {one}.parquet" for one in ("patients", "stays", "visits")}
    )


@contextmanager
def postgres_plan(url: str) -> Iterator[str]:
    """Tables in the database and a role that may only read them:
    the gateway does not start as a superuser.
    """
    import psycopg
    from psycopg.conninfo import make_conninfo

    role = f"client_reader_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(CREATE.format(many=MANY))
        with database.cursor() as cursor:
            cursor.executemany("INSERT INTO patients VALUES (%s, %s, %s)", PATIENTS)
            cursor.executemany("INSERT INTO stays VALUES (%s, %s, %s, %s, %s, %s)", STAYS)
        database.execute(f"CREATE ROLE {role} LOGIN")
        database.execute(f"GRANT SELECT ON patients, stays, visits TO {role}")
        try:
            known = psycopg.conninfo.conninfo_to_dict(make_conninfo(url))
            source = f"postgresql://{role}@{known['host']}:{known['port']}/{known['dbname']}"
            yield PLAN.format(source=json.dumps(source), patients="", stays="", visits="")
        finally:
            database.execute("DROP TABLE patients, stays, visits")
            database.execute(f"DROP ROLE {role}")


@pytest.fixture(scope="module", params=["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
def gateway(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "duckdb":
        (folder / "tacit.yaml").write_text(duckdb_plan(folder), "utf-8")
        with served(folder, "duckdb") as running:
            yield running
    else:
        with postgres_plan(request.getfixturevalue("postgres_url")) as plan:
            (folder / "tacit.yaml").write_text(plan, "utf-8")
            with served(folder, "postgres") as running:
                yield running


@pytest.fixture
def ann(gateway: Running) -> Iterator[Connection]:
    with tacit.connect(gateway.url, gateway.tokens["ann"]) as connection:
        yield connection


@pytest.fixture
def cleo(gateway: Running) -> Iterator[Connection]:
    with tacit.connect(gateway.url, gateway.tokens["cleo"]) as connection:
        yield connection


ALL = "SELECT id, day, cost, until, paid, note FROM stays ORDER BY id"
LONG = "SELECT id, room FROM visits"


# -- answers ---------------------------------------------------------------------------------------


def test_rows_are_the_values_of_the_database(ann: Connection) -> None:
    assert ann.query(ALL).rows() == STAYS


def test_arrow_has_the_columns_and_their_types(ann: Connection) -> None:
    table = ann.query(ALL).arrow()
    assert table.column_names == ["id", "day", "cost", "until", "paid", "note"]
    assert pa.types.is_integer(table.schema.field("id").type) and pa.types.is_decimal(
        table.schema.field("cost").type
    )
    assert pa.types.is_date(table.schema.field("day").type) and pa.types.is_timestamp(
        table.schema.field("until").type
    )


def test_pandas_gives_a_frame(ann: Connection) -> None:
    frame = ann.query(ALL).pandas()
    assert (
        list(frame["id"]) == [1, 2, 3]
        and list(frame["note"])[2] == STAYS[2][5]
        and frame["cost"].isna().sum() == 1
    )


def test_an_answer_without_rows_has_its_columns(ann: Connection) -> None:
    answer = ann.query("SELECT id, note FROM stays WHERE id = 99")
    assert (
        answer.rows() == []
        and answer.arrow().column_names == ["id", "note"]
        and list(answer.batches()) == []
        and not answer.truncated
    )


def test_two_columns_of_the_same_name(ann: Connection) -> None:
    assert ann.query("SELECT id, id FROM stays WHERE id = 1").rows() == [(1, 1)]


def test_an_answer_can_be_asked_for_in_several_forms(ann: Connection) -> None:
    answer = ann.query(ALL)
    assert answer.arrow() is answer.arrow() and len(answer.pandas()) == 3 and answer.rows() == STAYS
    assert sum(batch.num_rows for batch in answer.batches()) == 3 and not answer.truncated
    assert repr(answer).endswith("3 rows>")


def test_parameters_by_place_and_by_name(gateway: Running, ann: Connection) -> None:
    assert ann.query(
        "SELECT id FROM stays WHERE note = $1 AND id = $2", [STAYS[0][5], 1]
    ).rows() == [(1,)]
    assert ann.query("SELECT id FROM stays WHERE note = $text", {"text": STAYS[2][5]}).rows() == [
        (3,)
    ]
    assert ann.query("SELECT id FROM stays WHERE id < $1", [Decimal("1.5")]).rows() == [(1,)]
    assert ann.query("SELECT id FROM stays WHERE day = $1", [date(1999, 12, 31)]).rows() == [(2,)]
    assert ann.query("SELECT id FROM stays WHERE until = $1", [STAYS[0][3]]).rows() == [(1,)]
    assert ann.query("SELECT id FROM stays WHERE cost = $1", [Decimal("10.50")]).rows() == [(1,)]
    if gateway.kind == "duckdb":  # in PostgreSQL ? is an operator
        assert ann.query("SELECT id FROM stays WHERE id = ?", [2]).rows() == [(2,)]
    hostile = "x' OR '1'='1"
    assert ann.query("SELECT id FROM stays WHERE note = $1", [hostile]).rows() == []


def test_a_large_answer_comes_in_batches(ann: Connection) -> None:
    answer = ann.query(LONG)
    sizes, total = [], 0
    for batch in answer.batches():
        sizes.append(batch.num_rows)
        total += sum(batch.column(0).to_pylist())
    assert sum(sizes) == MANY and total == MANY * (MANY + 1) // 2 and max(sizes) < MANY / 2
    assert answer.truncated is False


def test_a_large_answer_is_whole(ann: Connection) -> None:
    answer = ann.query(LONG)
    assert answer.arrow().num_rows == MANY and not answer.truncated
    assert sorted(answer.arrow().column(0).to_pylist()) == list(range(1, MANY + 1))


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4])
def test_a_limit_says_whether_rows_were_left_out(ann: Connection, limit: int) -> None:
    answer = ann.query(ALL, limit=limit)
    assert answer.truncated is (limit < 3) and answer.rows() == STAYS[:limit]


def test_a_limit_inside_a_large_answer(ann: Connection) -> None:
    answer = ann.query(LONG, limit=70_001)
    assert answer.truncated and answer.arrow().num_rows == 70_001
    again = ann.query(LONG, limit=70_001)
    for _ in again.batches():
        pass
    assert again.truncated


def test_batches_are_not_kept(ann: Connection) -> None:
    answer = ann.query(LONG)
    batches = answer.batches()
    assert next(batches).num_rows
    with pytest.raises(InputError, match="after the last batch"):
        _ = answer.truncated
    with pytest.raises(InputError, match="read already"):
        answer.arrow()
    answer.close()
    with pytest.raises((GatewayError, StopIteration)):
        while True:
            next(batches)


def wait_for(gateway: Running, running: int) -> None:
    assert soon(lambda: gateway.running() == running), "the query still runs"


def test_an_answer_that_is_left_ends_the_query(gateway: Running, ann: Connection) -> None:
    # more than the system keeps for a client that does not read
    wide = "SELECT id, room, filler FROM visits"
    with ann.query(wide) as answer:
        batches = answer.batches()
        assert next(batches).num_rows
        wait_for(gateway, 1)
    wait_for(gateway, 0)
    forgotten = ann.query(wide)
    assert isinstance(forgotten, Answer)
    wait_for(gateway, 1)
    del forgotten
    gc.collect()
    wait_for(gateway, 0)
    with tacit.connect(gateway.url, gateway.tokens["ann"]) as other:
        other.query(wide)
    wait_for(gateway, 0)
    assert ann.query(ALL).rows() == STAYS


def test_the_memory_of_a_client_that_reads_batches_stays_small(gateway: Running) -> None:
    code = f"""
import resource, tacit
connection = tacit.connect({gateway.url!r})
for batch in connection.query("SELECT id FROM stays").batches(): pass
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = 0
for batch in connection.query("SELECT a.id, b.room FROM visits a, visits b WHERE b.id <= 20", limit=1_000_000).batches():
    rows += batch.num_rows
print(rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "TACIT_TOKEN": gateway.tokens["ann"]},
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    rows, megabytes = done.stdout.split()
    assert int(rows) == 1_000_000 and float(megabytes) < 30


def test_threads_may_share_a_connection(ann: Connection) -> None:
    with ThreadPoolExecutor(6) as pool:
        found = list(
            pool.map(
                lambda number: ann.query(
                    "SELECT id FROM stays WHERE id = $1", [1 + number % 3]
                ).rows(),
                range(60),
            )
        )
    assert found == [[(1 + number % 3,)] for number in range(60)]


# -- decisions -------------------------------------------------------------------------------------


def test_what_is_refused_names_the_secret(ann: Connection) -> None:
    with pytest.raises(Refused) as caught:
        ann.query("SELECT name, illness FROM patients")
    assert (
        caught.value.code == "discloses"
        and caught.value.secret == "cancer"
        and "cancer" in str(caught.value)
    )
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, again.secret, str(again)) == (
        caught.value.code,
        caught.value.secret,
        str(caught.value),
    )
    assert isinstance(caught.value, tacit.TacitError) and tacit.Refused is Refused


def test_check_answers_and_runs_nothing(ann: Connection) -> None:
    allowed = ann.check("SELECT id FROM visits WHERE room = $1", ["room 1"])
    assert allowed and allowed.allowed and allowed.code == "allowed" and allowed.secret is None
    refused = ann.check("SELECT name FROM patients WHERE illness = $1", ["cancer"])
    assert (
        not refused
        and (refused.allowed, refused.code, refused.secret) == (False, "discloses", "cancer")
        and refused.message
    )
    wrong = ann.check("SELECT FROM WHERE")
    assert not wrong and wrong.code == "syntax"


@pytest.mark.parametrize(
    ("sql", "parameters", "code"),
    [
        ("SELECT nothing FROM stays", (), "unknown-column"),
        ("SELECT id FROM wards", (), "unknown-table"),
        ("DELETE FROM stays", (), "not-a-query"),
        ("SELECT id FROM stays WHERE id = $1", (), "parameters"),
        ("SELECT id FROM stays WHERE id = $1", (1, 2), "parameters"),
        ("SELECT id FROM stays; SELECT 1", (), None),
        ("x" * 100_001, (), "too-large"),
        ("", (), "body"),
    ],
)
def test_a_wrong_query_is_an_error_with_a_code(
    ann: Connection, sql: str, parameters: Any, code: str | None
) -> None:
    with pytest.raises(QueryError) as caught:
        ann.query(sql, parameters)
    assert caught.value.code == code or code is None
    assert isinstance(caught.value, ValueError) and not isinstance(caught.value, Refused)


def test_who_has_several_roles_names_one(gateway: Running, cleo: Connection) -> None:
    with pytest.raises(QueryError, match="several roles") as caught:
        cleo.query("SELECT id FROM stays")
    assert caught.value.code == "role"
    assert cleo.query("SELECT id FROM stays ORDER BY id", role="clerks").rows() == [
        (1,),
        (2,),
        (3,),
    ]
    assert cleo.check("SELECT id FROM visits", role="nurses") and not cleo.check(
        "SELECT id FROM visits", role="clerks"
    )
    with tacit.connect(gateway.url, gateway.tokens["cleo"], role="clerks") as clerk:
        with pytest.raises(Refused) as refused:
            clerk.query("SELECT id FROM visits")
        assert refused.value.code == "not-granted"
        assert clerk.query("SELECT room FROM visits WHERE id = 7", role="nurses").rows() == [
            ("room 7",)
        ]
    with pytest.raises(Refused) as other:
        cleo.query("SELECT id FROM stays", role="doctors")
    assert other.value.code == "role"


def test_me_lists_roles_and_rights(ann: Connection, cleo: Connection) -> None:
    nurse = Rights("allow", ("cancer",), ())
    assert ann.me() == CurrentUser("ann", {"nurses": nurse})
    assert cleo.me() == CurrentUser(
        "cleo", {"nurses": nurse, "clerks": Rights("deny", ("cancer",), ("stays",))}
    )


# -- tokens and addresses --------------------------------------------------------------------------


def test_a_token_may_come_from_the_environment(
    gateway: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_TOKEN", gateway.tokens["ann"])
    with tacit.connect(gateway.url) as connection:
        assert connection.me().user == "ann"
    monkeypatch.delenv("TACIT_TOKEN")
    with pytest.raises(InputError, match="no token"):
        tacit.connect(gateway.url)


def test_a_wrong_token_is_said_and_not_shown(gateway: Running) -> None:
    token = "tacit_" + "x" * 43
    connection = tacit.connect(gateway.url + "/", token)
    for ask in (lambda: connection.query(ALL), lambda: connection.check(ALL), connection.me):
        with pytest.raises(GatewayError, match="does not know this token") as caught:
            ask()
        shown = (
            "".join(traceback.format_exception(caught.value, chain=True))
            + repr(caught.value)
            + repr(vars(caught.value))
            + repr(connection)
        )
        assert caught.value.code == "token" and token not in shown


def test_a_revoked_token_stops_at_once(gateway: Running) -> None:
    with open_ledger("tacit-ledger.sqlite", gateway.folder) as ledger:
        users = Users(ledger)
        with tacit.connect(gateway.url, users.add("bea", ["nurses"])) as connection:
            assert connection.query(ALL).rows() == STAYS
            users.revoke("bea")
            with pytest.raises(GatewayError, match="revoked"):
                connection.query(ALL)


@pytest.mark.parametrize("token", ["", "  ", "two words", "tacit_é", "a\r\nX-Evil: 1", 5])
def test_what_is_no_token_is_not_sent(token: Any) -> None:
    with pytest.raises(InputError) as caught:
        tacit.connect("http://127.0.0.1:1", token)
    assert "Evil" not in str(caught.value) and "two words" not in str(caught.value)


def test_the_token_is_in_no_representation() -> None:
    connection = tacit.connect("https://clinic.example", "tacit_secret")
    known = (
        repr(connection)
        + repr(vars(connection))
        + repr(vars(connection._client))
        + str(connection._client.headers)
    )
    assert "tacit_secret" not in known


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8321",
        "clinic.example",
        "",
        "ftp://clinic.example",
        "http://",
        "http://[::1",
        "http://a:99999",
        None,
        5,
    ],
)
def test_what_is_no_address(url: Any) -> None:
    with pytest.raises(InputError, match="not the address"):
        tacit.connect(url, "tacit_x")


@pytest.mark.parametrize(
    "url",
    [
        "http://ann:tacit_x@127.0.0.1:1",
        "https://clinic.example?token=tacit_x",
        "https://clinic.example#tacit_x",
    ],
)
def test_a_token_does_not_belong_into_the_address(url: str) -> None:
    with pytest.raises(InputError, match="more than host") as caught:
        tacit.connect(url, "tacit_x")
    assert "tacit_x" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.5:8321", "http://clinic.example", "http://localhost.example"]
)
def test_plain_http_to_another_machine_warns(url: str) -> None:
    with pytest.warns(UserWarning, match="not encrypted") as caught:
        tacit.connect(url, "tacit_x")
    assert caught[0].filename == __file__ and "tacit_x" not in str(caught[0].message)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1",
        "http://127.3.4.5",
        "http://[::1]:5",
        "http://localhost:5",
        "https://clinic.example",
    ],
)
def test_this_machine_and_https_do_not(url: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.connect(url, "tacit_x")


def test_a_proxy_of_the_environment_is_not_asked_on_the_way_to_this_machine(
    gateway: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with tacit.connect(gateway.url, gateway.tokens["ann"]) as connection:
        assert connection.me().user == "ann"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_a_time(timeout: float) -> None:
    with pytest.raises(ParameterError, match="not a time"):
        tacit.connect("http://127.0.0.1:1", "tacit_x", timeout=timeout)


def test_a_closed_connection_says_so(gateway: Running) -> None:
    with tacit.connect(gateway.url, gateway.tokens["ann"]) as connection:
        pass
    for ask in (lambda: connection.query(ALL), lambda: connection.check(ALL), connection.me):
        with pytest.raises(InputError, match="closed"):
            ask()


def test_nobody_there() -> None:
    with pytest.raises(GatewayError, match="nobody answers") as caught:
        tacit.connect("http://127.0.0.1:1", "tacit_x").me()
    assert caught.value.code == "unreachable"


def test_a_wrong_path_is_a_wrong_address(gateway: Running) -> None:
    with (
        tacit.connect(gateway.url + "/other", gateway.tokens["ann"]) as connection,
        pytest.raises(GatewayError) as caught,
    ):
        connection.query(ALL)
    assert caught.value.code == "not-found"


def test_https_where_http_is_spoken(gateway: Running) -> None:
    with (
        tacit.connect(gateway.url.replace("http:", "https:"), gateway.tokens["ann"]) as connection,
        pytest.raises(GatewayError) as caught,
    ):
        connection.me()
    assert caught.value.code in ("unreachable", "broken-off")


# -- parameters that cannot be sent ----------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("NaN"), b"bytes", object(), [1], {"a": 1}, 1 + 2j]
)
def test_a_value_that_sql_has_not_is_not_sent(value: Any) -> None:
    with pytest.raises(ParameterError, match="cannot be sent"):
        request_body("SELECT $1", [value], None, None)


@pytest.mark.parametrize("parameters", ["flu", b"flu", 5, {1, 2}])
def test_parameters_are_a_list_or_a_mapping(parameters: Any) -> None:
    with pytest.raises(ParameterError, match="neither a list"):
        request_body("SELECT $1", parameters, None, None)


@pytest.mark.parametrize("limit", [-1, True, 1.5, "5"])
def test_a_limit_is_a_number_of_rows(limit: Any) -> None:
    with pytest.raises(ParameterError, match="number of rows"):
        request_body("SELECT 1", (), None, limit)


def test_what_is_sent_is_json_with_exact_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    values = [
        10**30,
        Decimal("1e-7"),
        Decimal("-0.10"),
        1e300,
        numpy.int64(5),
        numpy.float32(0.5),
        'a"b\\\n\u2028é',
        None,
        False,
    ]
    body = json.loads(request_body("SELECT 1", values, "röle", 3), parse_float=Decimal)
    assert body["parameters"] == [
        10**30,
        Decimal("1e-7"),
        Decimal("-0.10"),
        Decimal("1e300"),
        5,
        Decimal("0.5"),
        values[6],
        None,
        False,
    ]
    assert (body["sql"], body["role"], body["limit"]) == ("SELECT 1", "röle", 3)


# -- somebody else answers, or the answer is cut off -----------------------------------------------


@contextmanager
def answering(
    status: int, headers: dict[str, str], body: bytes, *, wait: float = 0.0
) -> Iterator[str]:
    """A server that always says the same."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            seen.append(self.headers.get("authorization"))
            time.sleep(wait)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            with suppress(OSError):  # the client may be gone by now
                self.end_headers()
                self.wfile.write(body)
            self.close_connection = True

        do_GET = do_POST  # noqa: N815 (the name that is looked for)

        def log_message(self, *_: object) -> None:
            pass

    seen: list[str | None] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def stream(rows: int = 100, batches: int = 3) -> bytes:
    sink = io.BytesIO()
    schema = pa.schema([("id", pa.int64())])
    with ipc.new_stream(sink, schema) as writer:
        for _ in range(batches):
            writer.write_batch(pa.record_batch([pa.array(range(rows))], schema=schema))
    return sink.getvalue()


@pytest.mark.parametrize(
    ("status", "headers", "body", "code"),
    [
        (200, {"Content-Type": "text/html"}, b"<html>hello</html>", "not-a-gateway"),
        (200, {"Content-Type": ARROW, "Content-Length": "5"}, b"hello", "not-a-gateway"),
        (200, {"Content-Type": ARROW}, b"", "not-a-gateway"),
        (404, {"Content-Type": "text/html"}, b"<html>nothing here</html>", "not-a-gateway"),
        (302, {"Location": "http://elsewhere.example/query"}, b"", "not-a-gateway"),
        (502, {"Content-Type": "application/json"}, b'{"error": "bad gateway"}', "not-a-gateway"),
        (200, {"Content-Type": "application/json"}, b"[1, 2]", "not-a-gateway"),
        (
            503,
            {"Content-Type": "application/json"},
            b'{"error": {"code": "busy", "message": "all taken.", "hint": null, "secret": null}}',
            "busy",
        ),
        (
            504,
            {"Content-Type": "application/json"},
            b'{"error": {"code": "timeout", "message": "slow.", "hint": null, "secret": null}}',
            "timeout",
        ),
        (
            500,
            {"Content-Type": "application/json"},
            b'{"error": {"code": "fault", "message": "fault 12.", "hint": null, "secret": null}}',
            "fault",
        ),
    ],
)
def test_what_others_answer_is_no_answer(
    status: int, headers: dict[str, str], body: bytes, code: str
) -> None:
    with answering(status, headers, body) as url, tacit.connect(url, "tacit_x") as connection:
        with pytest.raises(GatewayError) as caught:
            connection.query("SELECT 1").arrow()
        assert caught.value.code == code
        for ask in (lambda: connection.check("SELECT 1"), connection.me):
            with pytest.raises(GatewayError):
                ask()


@pytest.mark.parametrize("framing", ["length", "chunked", "until closed"])
def test_an_answer_that_is_cut_off_is_an_error_wherever_it_is_cut(framing: str) -> None:
    whole = stream()
    for end in sorted(
        {
            1,
            7,
            8,
            50,
            len(whole) // 3,
            len(whole) // 2,
            len(whole) - 400,
            len(whole) - 9,
            len(whole) - 8,
            len(whole) - 4,
            len(whole) - 1,
        }
    ):
        headers, body = {"Content-Type": ARROW}, whole[:end]
        if framing == "length":
            headers["Content-Length"] = str(len(whole))
        elif framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
            body = b"%x\r\n" % len(body) + body + b"\r\n"
        with (
            answering(200, headers, body) as url,
            tacit.connect(url, "tacit_x") as connection,
            pytest.raises(GatewayError) as caught,
        ):
            connection.query("SELECT 1").arrow()
        assert caught.value.code == "broken-off" or (framing == "until closed" and end < 4), (
            end,
            str(caught.value),
        )


def test_the_same_answer_whole_is_read() -> None:
    with (
        answering(200, {"Content-Type": ARROW}, stream()) as url,
        tacit.connect(url, "tacit_x") as connection,
    ):
        assert connection.query("SELECT 1").arrow().num_rows == 300


def test_a_gateway_that_does_not_answer_in_time() -> None:
    with (
        answering(200, {"Content-Type": ARROW}, stream(), wait=1.0) as url,
        tacit.connect(url, "tacit_x", timeout=0.2) as connection,
    ):
        with pytest.raises(GatewayError, match="in time") as caught:
            connection.query("SELECT 1")
        assert caught.value.code == "timeout"


# -- extras ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["httpx", "pyarrow"])
def test_a_missing_package_says_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=re.escape("pip install 'tacit-privacy[client]'")):
        tacit.connect("http://127.0.0.1:1", "tacit_x")


def test_data_frames_need_pandas_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        answering(200, {"Content-Type": ARROW}, stream()) as url,
        tacit.connect(url, "tacit_x") as connection,
    ):
        answer = connection.query("SELECT 1")
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtra, match="pip install pandas"):
            answer.pandas()
        assert answer.arrow().num_rows == 300


@pytest.mark.slow
def test_the_client_follows_nobody_elsewhere() -> None:
    assert client_of("https://clinic.example", "tacit_x", 1.0).follow_redirects is False


# -- others than ours ------------------------------------------------------------------------------


def curl(gateway: Running, path: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    if shutil.which("curl") is None:
        pytest.skip("no curl")
    return subprocess.run(
        ["curl", "-sS", "--max-time", "60", *words, gateway.url + path], capture_output=True
    )


def body(sql: str, **more: Any) -> tuple[str, str]:
    return "-d", json.dumps({"sql": sql, **more})


def test_curl_gets_json_csv_and_arrow(gateway: Running) -> None:
    bearer = ("-H", f"Authorization: Bearer {gateway.tokens['ann']}")
    found = json.loads(
        curl(gateway, "/query", *bearer, *body("SELECT id, note FROM stays ORDER BY id")).stdout
    )
    assert found["rows"] == [[one[0], one[5]] for one in STAYS] and found["truncated"] is False
    text = curl(
        gateway,
        "/query",
        *bearer,
        *body("SELECT id, cost FROM stays ORDER BY id"),
        "-H",
        "Accept: text/csv",
    ).stdout.decode()
    assert text.splitlines() == ['"id","cost"', "1,10.50", "2,", "3,0.01"]
    arrow = curl(gateway, "/query", *bearer, *body(LONG), "-H", f"Accept: {ARROW}").stdout
    assert ipc.open_stream(arrow).read_all().num_rows == MANY


def test_curl_is_refused_like_anybody(gateway: Running) -> None:
    bearer = ("-H", f"Authorization: Bearer {gateway.tokens['ann']}")
    said = curl(
        gateway,
        "/query",
        *bearer,
        *body("SELECT name FROM patients WHERE illness = 'cancer'"),
        "-w",
        "%{http_code}",
    ).stdout.decode()
    assert said.endswith("403") and json.loads(said[:-3])["error"]["secret"] == "cancer"
    assert (
        curl(gateway, "/query", *body(ALL), "-o", os.devnull, "-w", "%{http_code}").stdout == b"401"
    )
    assert (
        curl(
            gateway, "/check", *bearer, *body("SELECT 1; DROP TABLE stays"), "-w", "%{http_code}"
        ).stdout[-3:]
        == b"200"
    )


def test_pandas_reads_csv_from_the_gateway_itself(gateway: Running) -> None:
    pandas = pytest.importorskip("pandas")
    import urllib.request

    request = urllib.request.Request(
        f"{gateway.url}/query",
        json.dumps({"sql": ALL}).encode(),
        {
            "Authorization": f"Bearer {gateway.tokens['ann']}",
            "Accept": "text/csv",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        frame = pandas.read_csv(answer, parse_dates=["day", "until"])
    assert (
        list(frame["id"]) == [1, 2, 3]
        and frame["day"][1] == pandas.Timestamp("1999-12-31")
        and frame["note"][0] == STAYS[0][5]
    )
    assert (
        frame["until"][0] == pandas.Timestamp("2026-01-03 10:00:00.5") and frame["cost"][2] == 0.01
    )


def test_the_fixture_is_what_the_plan_says(gateway: Running) -> None:
    from tacit.plan.read.load import load_plan

    plan = load_plan(gateway.folder / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        assert engine.dialect == gateway.kind
