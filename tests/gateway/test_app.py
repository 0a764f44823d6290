"""The HTTP interface, asked by httpx and by curl."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pyarrow as pa
import pytest

from gateway.live import FAKE, PLAN, Live, add_user, live, revoke
from waiting import soon

WARDS = "SELECT ward, beds FROM wards ORDER BY ward"


def curl(gateway: Live, *arguments: str) -> str:
    if shutil.which("curl") is None:
        pytest.skip("no curl: apt install curl")
    return subprocess.run(
        ["curl", "-sS", "--noproxy", "*", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout


# -- the decision as it is -------------------------------------------------------------------------


def test_an_allowed_query_is_answered_as_json(gateway: Live) -> None:
    found = gateway.query(WARDS)
    assert found.status_code == 200
    assert found.json() == {
        "columns": [{"name": "ward", "type": "text"}, {"name": "beds", "type": "integer"}],
        "rows": [["A", 10], ["B", 20]],
        "truncated": False,
    }
    assert found.headers["x-tacit-truncated"] == "false"
    assert found.headers["cache-control"] == "no-store"
    assert "server" not in found.headers


def test_by_curl_as_csv(gateway: Live) -> None:
    said = curl(
        gateway,
        "-H",
        f"Authorization: Bearer {gateway.token}",
        "-H",
        "Accept: text/csv",
        "-d",
        json.dumps({"sql": WARDS}),
        f"{gateway.url}/query",
    )
    assert said == '"ward","beds"\n"A",10\n"B",20\n'


def test_as_arrow(gateway: Live) -> None:
    found = gateway.query(WARDS, accept="application/vnd.apache.arrow.stream")
    assert found.headers["content-type"] == "application/vnd.apache.arrow.stream"
    assert pa.ipc.open_stream(found.content).read_all().to_pydict() == {
        "ward": ["A", "B"],
        "beds": [10, 20],
    }


@pytest.mark.parametrize(
    "accept", ["application/json", "text/csv", "application/vnd.apache.arrow.stream"]
)
def test_a_long_answer_arrives_whole_also_where_it_is_taken_slowly(
    open_gateway: Live, accept: str
) -> None:
    rows = 200_000
    request = {"sql": f"SELECT range AS n, 'name ' || range AS name FROM range({rows})"}
    with (
        open_gateway.client() as client,
        client.stream("POST", "/query", json=request, headers={"Accept": accept}) as answer,
    ):
        body = b""
        for number, part in enumerate(answer.iter_raw()):
            body += part
            time.sleep(0.1 if number < 5 else 0)
    if accept.endswith("json"):
        found = [tuple(row) for row in json.loads(body)["rows"]]
    elif accept.endswith("csv"):
        found = [
            (int(number), name.strip('"'))
            for number, name in (line.split(",") for line in body.decode().splitlines()[1:])
        ]
    else:
        table = pa.ipc.open_stream(body).read_all()
        found = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert found == [(number, f"name {number}") for number in range(rows)]


def test_a_query_about_the_secret_is_refused_and_says_which(gateway: Live) -> None:
    found = gateway.query("SELECT name FROM stays WHERE disease = 'cancer'")
    assert found.status_code == 403
    assert (found.json()["error"]["code"], found.json()["error"]["secret"]) == (
        "discloses",
        "cancer",
    )


def test_check_answers_without_running(gateway: Live) -> None:
    with gateway.client() as client:
        first = client.post("/check", json={"sql": "SELECT beds FROM wards WHERE beds > 3"}).json()
        second = client.post("/check", json={"sql": "SELECT beds FROM wards WHERE beds > 3"}).json()
    assert (
        first["allowed"],
        first["columns"],
        first["role"],
        first["cached"],
        second["cached"],
    ) == (True, ["beds"], "nurses", False, True)
    assert second["milliseconds"] < 20


def test_parameters_are_values(gateway: Live) -> None:
    assert gateway.query("SELECT ward FROM wards WHERE beds > ?", parameters=[15]).json()[
        "rows"
    ] == [["B"]]
    assert (
        gateway.query("SELECT ward FROM wards WHERE ward = ?", parameters=["A' OR '1'='1"]).json()[
            "rows"
        ]
        == []
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELEC 1",
        "SELECT 1; SELECT 2",
        "DROP TABLE wards",
        "SELECT * FROM nowhere",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT random() FROM wards",
    ],
)
def test_what_is_not_a_query_is_a_wrong_request(gateway: Live, sql: str) -> None:
    found = gateway.query(sql)
    assert found.status_code == 400
    assert found.json()["error"]["code"]


def test_me(gateway: Live) -> None:
    with gateway.client() as client:
        assert client.get("/me").json() == {
            "user": "ann",
            "roles": {"nurses": {"default": "allow", "deny": ["cancer"], "allow": []}},
        }


def test_roles(gateway: Live) -> None:
    both = add_user(gateway.plan, "both", ["nurses", "clerks"])
    with gateway.client(both) as client:
        assert client.post("/check", json={"sql": WARDS}).json()["error"]["code"] == "role"
        assert (
            client.post("/check", json={"sql": WARDS, "role": "clerks"}).json()["role"] == "clerks"
        )
        found = client.post("/query", json={"sql": "SELECT ward FROM stays", "role": "clerks"})
        assert (found.status_code, found.json()["error"]["code"]) == (403, "not-granted")
    with gateway.client() as client:
        found = client.post("/check", json={"sql": WARDS, "role": "clerks"})
        assert (found.status_code, found.json()["error"]["code"]) == (403, "role")
    with gateway.client(add_user(gateway.plan, "old", ["a role that was"])) as client:
        assert client.post("/check", json={"sql": WARDS}).status_code == 403


# -- tokens ----------------------------------------------------------------------------------------


def test_every_wrong_token_gets_the_same_answer(gateway: Live) -> None:
    gone = add_user(gateway.plan, "gone", ["nurses"])
    revoke(gateway.plan, "gone")
    wrong = [
        [],
        [("Authorization", "")],
        [("Authorization", "Bearer")],
        [("Authorization", f"Basic {gateway.token}")],
        [("Authorization", f"Bearer {gateway.token[:-1]}")],
        [("Authorization", f"Bearer {gateway.token}x")],
        [("Authorization", f"Bearer {gone}")],
        [("Authorization", "Bearer tacit_" + "a" * 43)],
        [("Authorization", "Bearer " + "x" * 10_000)],
        [("Authorization", "Bearer ' OR 1=1 --")],
        [("Authorization", "Bearer \xff")],
        [("Authorization", f"Bearer {gateway.token}")] * 2,
    ]
    with httpx.Client(base_url=gateway.url, trust_env=False, verify=False) as client:
        for path in ("/query", "/check"):
            found = [
                client.post(
                    path,
                    json={"sql": WARDS},
                    headers=[(name.encode(), value.encode("latin-1")) for name, value in one],
                )
                for one in wrong
            ]
            assert {one.status_code for one in found} == {401}
            assert len({one.content for one in found}) == 1
            assert {one.headers["www-authenticate"] for one in found} == {"Bearer"}
        assert client.get("/me").status_code == 401


def test_a_revoked_token_stops_at_once(gateway: Live) -> None:
    token = add_user(gateway.plan, "short", ["nurses"])
    with gateway.client(token) as client:
        assert client.post("/query", json={"sql": WARDS}).status_code == 200
        revoke(gateway.plan, "short")
        assert client.post("/query", json={"sql": WARDS}).status_code == 401


# -- errors ----------------------------------------------------------------------------------------


def test_errors_have_one_shape(gateway: Live) -> None:
    with gateway.client() as client:
        answers = {
            404: client.get("/nowhere"),
            405: client.get("/query"),
            400: client.post("/query", content=b"{"),
            413: client.post("/query", content=b" " * 1_000_001),
            406: client.post("/query", json={"sql": WARDS}, headers={"Accept": "image/png"}),
            431: client.get("/me", headers={f"X-{number}": "1" for number in range(101)}),
        }
    for status, found in answers.items():
        assert found.status_code == status
        assert set(found.json()["error"]) == {"code", "message", "hint", "secret"}


def test_a_long_body_without_a_length_is_cut(gateway: Live) -> None:
    with gateway.client() as client:
        found = client.post("/query", content=(b" " * 100_000 for _ in range(100)))
        assert found.status_code == 413


def test_health_and_documents_need_no_token_and_load_nothing(gateway: Live) -> None:
    with httpx.Client(base_url=gateway.url, trust_env=False, verify=False) as client:
        assert client.get("/health").json() == {"status": "ok", "version": "test"}
        page = client.get("/docs")
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert not any(
            word in page.text
            for word in ("<script", "<link", "<img", "@import", "src=", "//cdn", "url(")
        )
        assert client.get("/openapi.json").json()["openapi"] == "3.1.0"


def test_numbers_are_for_this_machine_only(gateway: Live) -> None:
    with httpx.Client(base_url=gateway.url, trust_env=False, verify=False) as client:
        text = client.get("/metrics").text
        assert "tacit_decisions_total" in text and '"ann"' not in text and "nurses" not in text
        for name in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
            assert client.get("/metrics", headers={name: "127.0.0.1"}).status_code == 401


def test_the_audit_log_tells_who_asked_what_without_literals_and_tokens(gateway: Live) -> None:
    gateway.query(
        "SELECT name FROM stays WHERE name = 'Ellen Moss' AND disease = 'cancer' -- Ellen"
    )
    assert soon(lambda: '"secret":"cancer"' in gateway.audit().splitlines()[-1].replace(": ", ":"))
    last = json.loads(gateway.audit().splitlines()[-1])
    assert (
        last["event"],
        last["user"],
        last["role"],
        last["decision"],
        last["code"],
        last["secret"],
    ) == ("decision", "ann", "nurses", "refused", "discloses", "cancer")
    assert (
        last["address"] == "127.0.0.1"
        and last["query"] == "SELECT name FROM stays WHERE name = ? AND disease = ?"
    )
    everything = gateway.audit() + "".join(gateway.said)
    assert (
        "Ellen" not in everything and gateway.token not in everything and "tacit_" not in everything
    )
    assert (gateway.plan.parent / "tacit-audit.jsonl").stat().st_mode & 0o777 == 0o600


def test_full_queries_in_the_log_where_the_owner_says_so(tmp_path: Path) -> None:
    with live(tmp_path, decider=FAKE, audit_queries="full", audit=tmp_path / "log") as running:
        running.query("SELECT 'Ellen' AS name", parameters=[1, "x"])
        assert '"parameters": [1, "x"]' in (tmp_path / "log").read_text()
        assert "SELECT 'Ellen' AS name" in (tmp_path / "log").read_text()


# -- running, with a decision that allows everything -----------------------------------------------


def test_rows_beyond_the_limit_are_left_out(open_gateway: Live) -> None:
    sql = "SELECT range AS n FROM range(100000)"
    for limit, rows, truncated in (
        (0, 0, True),
        (1, 1, True),
        (16384, 16384, True),
        (16385, 16385, True),
        (99_999, 99_999, True),
        (100_000, 100_000, False),
        (10**9, 100_000, False),
    ):
        found = open_gateway.query(sql, limit=limit)
        assert (len(found.json()["rows"]), found.json()["truncated"]) == (rows, truncated), limit
        table = open_gateway.query(sql, limit=limit, accept="text/csv").text
        assert table.count("\n") == rows + 1
    few = open_gateway.query(sql, limit=2, accept="text/csv")
    assert few.headers["x-tacit-truncated"] == "true" and few.headers["x-tacit-row-limit"] == "2"
    many = open_gateway.query(sql, limit=90_000, accept="text/csv")
    assert "x-tacit-truncated" not in many.headers


def test_an_error_of_the_database_is_a_wrong_request(open_gateway: Live) -> None:
    found = open_gateway.query("SELECT CAST(name AS INT) FROM stays")
    assert (found.status_code, found.json()["error"]["code"]) == (400, "database")


def test_an_error_in_the_middle_of_an_answer_ends_the_connection(open_gateway: Live) -> None:
    sql = (
        "SELECT CASE WHEN range < 500000 THEN range ELSE CAST('x' || range AS BIGINT) END AS "
        "n, repeat('y', 200) AS y FROM range(600000)"
    )
    with pytest.raises(httpx.RemoteProtocolError):
        open_gateway.query(sql, accept="text/csv")
    assert open_gateway.query(WARDS).status_code == 200


SLOW = "SELECT count(*) AS n FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7"


@pytest.mark.slow
def test_a_query_that_takes_too_long_is_stopped(open_gateway: Live) -> None:
    began = time.monotonic()
    found = open_gateway.query(SLOW)
    assert (found.status_code, found.json()["error"]["code"]) == (504, "timeout")
    assert time.monotonic() - began < 8
    assert running(open_gateway) == 0


def test_a_query_is_stopped_when_the_client_leaves(open_gateway: Live) -> None:
    with open_gateway.client() as client, pytest.raises(httpx.ReadTimeout):
        client.post("/query", json={"sql": SLOW}, timeout=0.5)
    assert soon(lambda: running(open_gateway) == 0, 2)  # less than the query's own time
    assert soon(lambda: json.loads(open_gateway.audit().splitlines()[-1]).get("outcome") == "left")


def test_a_query_is_stopped_when_the_client_leaves_in_the_middle_of_the_answer(
    open_gateway: Live,
) -> None:
    with (
        open_gateway.client() as client,
        client.stream(
            "POST", "/query", json={"sql": "SELECT range AS n FROM range(500000000)"}
        ) as found,
    ):
        next(found.iter_bytes())
    assert soon(lambda: running(open_gateway) == 0, 2)


def running(gateway: Live) -> int:
    return gateway.gateway.now().places.running


@pytest.mark.slow
def test_when_all_places_are_taken_others_wait_and_are_sent_away(open_gateway: Live) -> None:
    with ThreadPoolExecutor(6) as pool:
        busy = [pool.submit(open_gateway.query, SLOW) for _ in range(4)]
        assert soon(lambda: running(open_gateway) == 4)
        found = open_gateway.query(WARDS)
        assert (found.status_code, found.json()["error"]["code"], found.headers["retry-after"]) == (
            503,
            "busy",
            "5",
        )
        assert {one.result().status_code for one in busy} == {504}
    assert open_gateway.query(WARDS).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hang", "crash", "fault"])
def test_a_decision_that_hangs_or_dies_is_a_refusal_and_the_next_one_is_made(
    open_gateway: Live, how: str
) -> None:
    found = open_gateway.query(f"/* {how} */ SELECT 1 AS one")
    assert (found.status_code, found.json()["error"]["code"]) == (403, "undecided")
    assert "Ellen" not in found.text + "".join(open_gateway.said)
    assert open_gateway.query(f"SELECT '{how}' AS one").status_code == 200


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("discloses", 403),
        ("undecided", 403),
        ("may-fail", 403),
        ("not-granted", 403),
        ("syntax", 400),
        ("parameters", 400),
        ("too-large", 400),
    ],
)
def test_codes_and_their_status(open_gateway: Live, code: str, status: int) -> None:
    assert open_gateway.query(f"/* {code} */ SELECT 1").status_code == status


def test_two_hundred_clients_at_once(open_gateway: Live) -> None:
    def ask(number: int) -> int:
        with open_gateway.client() as client:
            return client.post("/check", json={"sql": f"SELECT {number % 20} AS n"}).status_code

    with ThreadPoolExecutor(200) as pool:
        assert set(pool.map(ask, range(400))) == {200}


def test_equal_values_of_different_kinds_do_not_share_a_decision(open_gateway: Live) -> None:
    told = [
        open_gateway.query("/* told */", parameters=[value]).json()["rows"][0][0]
        for value in (1, True, "1")
    ]
    assert len(set(told)) == 3


@pytest.mark.slow
def test_the_plan_says_what_counts_and_a_broken_one_stops_the_answers(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        assert running.query("SELECT name FROM stays WHERE disease = 'cancer'").status_code == 403
        running.plan.write_text(PLAN.replace("deny: [cancer]", "deny: []"))
        assert running.query(WARDS).status_code in (503, 200)
        assert wait_for(running, 200)
        assert running.query("SELECT name FROM stays WHERE disease = 'cancer'").status_code == 200
        running.plan.write_text("version: 1\nroles: [")
        found = running.query(WARDS)  # the very next request, not one a second later
        assert (found.status_code, found.json()["error"]["code"]) == (503, "policy")
        time.sleep(1.5)
        assert running.query(WARDS).status_code == 503
        assert any("cannot be used" in line for line in running.said)
        running.plan.write_text(PLAN)
        assert wait_for(running, 200)
        assert running.query("SELECT name FROM stays WHERE disease = 'cancer'").status_code == 403


def wait_for(running: Live, status: int) -> bool:
    return soon(lambda: running.query(WARDS).status_code == status, 20)


def test_a_log_that_cannot_be_written_stops_the_answers(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with live(tmp_path, decider=FAKE, audit=Path("/dev/full")) as running:
        for _ in range(2):
            found = running.query(WARDS)
            assert (found.status_code, found.json()["error"]["code"]) == (503, "audit")
        assert any("audit log cannot be written" in line for line in running.said)
        with running.client() as client:
            assert client.post("/check", json={"sql": WARDS}).status_code == 503
