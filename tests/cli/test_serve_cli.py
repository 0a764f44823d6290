"""`tacit serve` and `tacit grants` as an operator runs them:
options, warnings, and how they end.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import Any

import pytest

from tacit.cli import cli

PLAN = """\
version: 1
tables:
  patients: {columns: [name, ward, condition], key: [name], rows: [[Ann, A, flu], [Bob, B, cancer]], nullable: []}
  wards: {columns: [ward, floor], key: [ward], rows: [[A, first], [B, second]], nullable: []}
secrets:
  cancer: "SELECT name FROM patients WHERE condition = 'cancer'"
releases:
  floors: {query: "SELECT ward, floor FROM wards WHERE floor <> 'third'"}
roles:
  nurses: {default: allow, deny: [cancer]}
"""  # noqa: E501


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tacit.yaml").write_text(PLAN, "utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("TACIT_KEY_FILE", "TACIT_METRICS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the command asks of the server, which does not start."""
    calls: list[Any] = []

    def serve(plan_path: Path, *, tell: Any, **options: Any) -> None:
        tell(f"listening for {plan_path}")
        calls.append((plan_path, options))

    stand_in = ModuleType("tacit.workbench.serve")
    stand_in.serve = serve  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tacit.workbench.serve", stand_in)
    return calls


# -- options ---------------------------------------------------------------------------------------


def test_without_options_the_server_decides(tacit: Any, asked: list[Any]) -> None:
    ran = tacit("serve")
    assert ran.status == 0 and asked == [(Path("tacit.yaml"), {"allow_superuser": False})]
    assert ran.out == "" and ran.err == "listening for tacit.yaml\n"


def test_every_option_reaches_the_server(
    tacit: Any, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_METRICS_TOKEN", "sesame")
    words = (
        "clinic.yaml --host ::1 --port 0 --audit a.jsonl --audit-queries full --timeout 1.5 "
        "--row-limit 7 --queries 3 --wait 2 --deciders 1"
    )
    ran = tacit(
        "serve",
        *words.split(),
        "--decide-seconds",
        "0.5",
        "--cache",
        "9",
        "--proxies",
        "10.0.0.2,10.0.0.3",
        "--allow-superuser",
    )
    assert ran.status == 0 and "sesame" not in ran.out + ran.err
    assert asked == [
        (
            Path("clinic.yaml"),
            {
                "host": "::1",
                "port": 0,
                "audit": Path("a.jsonl"),
                "audit_queries": "full",
                "timeout": 1.5,
                "row_limit": 7,
                "queries": 3,
                "wait": 2.0,
                "deciders": 1,
                "decide_seconds": 0.5,
                "cache": 9,
                "proxies": "10.0.0.2,10.0.0.3",
                "allow_superuser": True,
                "metrics_token": "sesame",
            },
        )
    ]


def test_an_option_can_be_an_environment_variable_and_the_command_line_comes_first(
    tacit: Any, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PORT": "9", "WORKBENCH": "no", "AUDIT": "a", "TIMEOUT": "7"}.items():
        monkeypatch.setenv(f"TACIT_SERVE_{name}", value)
    assert tacit("serve", "--timeout", "8").status == 0
    assert asked[0][1] == {
        "port": 9,
        "workbench": False,
        "audit": Path("a"),
        "timeout": 8.0,
        "allow_superuser": False,
    }
    monkeypatch.setenv("TACIT_SERVE_PORT", "many")
    wrong = tacit("serve")
    assert wrong.status == 2 and "--port" in wrong.err


def test_the_help_names_the_defaults_of_the_server() -> None:
    pytest.importorskip("fastapi")
    from tacit.workbench.serve import Options

    help_of = {one.name: one.help for one in cli.commands["serve"].params if hasattr(one, "help")}
    for option in dataclasses.fields(Options):
        if option.name == "metrics_token":
            continue
        said = help_of[option.name]
        if option.name not in (
            "audit",
            "audit_queries",
            "audit_to",
            "query_cost",
            "proxies",
            "allow_superuser",
            "workbench",
            "folder",
            "workbench_hosts",
            "postgres_port",
            "tls_certificate",
            "tls_key",
            "user_queries",
            "user_decisions",
            "user_requests",
            "user_seconds",
            "user_bytes",
            "answer_bytes",
            "audit_bytes",
            "oidc_issuer",
            "drain_seconds",
            "cell_bytes",
            "hosts",
            "csv_harmless",
            "oidc_audience",
            "oidc_keys",
            "oidc_attributes",
        ):
            assert (
                f"default: {option.default:g}" in said
                if isinstance(option.default, float)
                else f"default: {option.default}" in said
            )


@pytest.mark.parametrize(
    "words",
    [
        ("--port", "70000"),
        ("--port", "http"),
        ("--timeout", "0"),
        ("--timeout", "-1"),
        ("--row-limit", "0"),
        ("--queries", "0"),
        ("--audit-queries", "all"),
        ("--wait", "0"),
        ("--deciders", "0"),
        ("--cache", "0"),
        ("--token", "x"),
        ("a.yaml", "b.yaml"),
    ],
)
def test_a_wrong_option_is_said_before_anything_starts(
    tacit: Any, asked: list[Any], words: tuple[str, ...]
) -> None:
    ran = tacit("serve", *words)
    assert (
        ran.status == 2
        and ran.err.startswith("error: ")
        and "tacit serve --help" in ran.err
        and not asked
    )


# -- the real server -------------------------------------------------------------------------------


@contextmanager
def started(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A gateway in a process of its own, its address, and what it said so far."""
    command = [sys.executable, "-m", "tacit", "serve", "--port", "0", "--deciders", "1", *words]
    with subprocess.Popen(
        command,
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "CI": ""},
    ) as process:
        try:
            yield process, *address(process)
        finally:
            if process.poll() is None:
                process.kill()


def address(process: subprocess.Popen[str]) -> tuple[str, str]:
    said, patience = "", Timer(60, process.kill)
    patience.start()
    assert process.stderr
    for line in process.stderr:
        said += line
        if found := re.search(r"http://[\w.\[\]:]+:\d+", line):
            patience.cancel()
            return found[0], said
    patience.cancel()
    raise AssertionError(f"it does not listen: {said}")


def ask(url: str, token: str, sql: str) -> tuple[int, Any]:
    request = urllib.request.Request(
        f"{url}/query",
        json.dumps({"sql": sql}).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.slow
def test_from_the_plan_to_an_answer(tacit: Any, folder: Path) -> None:
    pytest.importorskip("fastapi")
    token = tacit("user", "add", "ann", "--role", "nurses", "--json").json["token"]
    with started(folder) as (process, url, told):
        assert url.startswith("http://127.0.0.1:") and "TLS" not in told
        status, said = ask(url, token, "SELECT floor FROM wards WHERE ward = 'A'")
        assert (status, said["rows"]) == (200, [["first"]])
        status, said = ask(url, token, "SELECT name FROM patients")
        assert status == 403 and said["error"]["secret"] == "cancer"
        assert tacit("user", "revoke", "ann").status == 0
        assert ask(url, token, "SELECT floor FROM wards WHERE ward = 'A'")[0] == 401
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert process.stdout and process.stdout.read() == ""


@pytest.mark.slow
def test_ctrl_c_ends_it_as_asked(tacit: Any, folder: Path) -> None:
    pytest.importorskip("fastapi")
    tacit("user", "add", "ann", "--role", "nurses")
    with started(folder, "--json") as (process, url, _):
        with urllib.request.urlopen(f"{url}/health", timeout=30) as answer:
            assert json.load(answer)["status"] == "ok"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (
            process.returncode == 0
            and json.loads(out) == {"plan": "tacit.yaml", "stopped": True}
            and "Traceback" not in err
        )


def test_an_address_that_others_reach_needs_a_proxy_with_tls(tacit: Any, folder: Path) -> None:
    pytest.importorskip("fastapi")
    tacit("user", "add", "ann", "--role", "nurses")
    with started(folder, "--host", "0.0.0.0") as (_, _, told):
        assert "Warning: 0.0.0.0 can be reached from other machines" in told and "TLS proxy" in told


def test_a_plan_without_roles_does_not_start(tacit: Any, folder: Path) -> None:
    pytest.importorskip("fastapi")
    (folder / "tacit.yaml").write_text(PLAN.partition("roles:")[0], "utf-8")
    ran = tacit("serve", "--port", "0", "--json", "--no-workbench")
    assert ran.status == 2 and "role" in ran.json["error"]["message"]


def test_without_users_it_does_not_start_and_says_how_to_add_one(tacit: Any, folder: Path) -> None:
    pytest.importorskip("fastapi")
    (folder / "tacit.yaml").write_text(PLAN, "utf-8")
    ran = tacit("serve", "--port", "0", "--json", "--no-workbench")
    assert (
        ran.status == 2
        and ran.json["error"]["message"]
        == "there is no ledger tacit-ledger.sqlite yet, and so no users."
    )
    assert "tacit user add NAME --role ROLE" in ran.json["error"]["hint"]


def test_an_allowed_view_that_discloses_a_denied_secret_stops_the_start(
    tacit: Any, folder: Path
) -> None:
    pytest.importorskip("fastapi")
    tacit("user", "add", "ann", "--role", "nurses")
    plan = PLAN.replace("deny: [cancer]}", "deny: [cancer], allow: [all]}").replace(
        "  floors:", '  all: {query: "SELECT name, condition FROM patients"}\n  floors:'
    )
    (folder / "tacit.yaml").write_text(plan, "utf-8")
    ran = tacit("serve", "--port", "0", "--no-workbench")
    assert (
        ran.status == 2 and "all" in ran.err and "cancer" in ran.err and "Traceback" not in ran.err
    )


def test_a_missing_plan_is_named(tacit: Any) -> None:
    pytest.importorskip("fastapi")
    ran = tacit("serve", "no.yaml", "--port", "0", "--no-workbench")
    assert ran.status == 2 and "no.yaml" in ran.err


def test_a_missing_folder_is_named(tacit: Any) -> None:
    pytest.importorskip("nicegui")
    ran = tacit("serve", "nowhere/tacit.yaml", "--port", "0", "--workbench")
    assert ran.status == 2 and "nowhere" in ran.err and "Traceback" not in ran.err


def test_a_missing_extra_says_what_to_install(folder: Path) -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['tacit', 'serve']; from "
        "tacit.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert (
        done.returncode == 2
        and "pip install 'tacit-privacy[gateway]'" in done.stderr
        and "Traceback" not in done.stderr
    )


# -- grants ----------------------------------------------------------------------------------------

GRANTS = PLAN.replace(
    "  nurses: {default: allow, deny: [cancer]}",
    "  nurses: {default: deny, deny: [cancer], allow: [floors]}",
)


@pytest.mark.slow
def test_grants_are_sql_that_postgresql_runs_and_that_keeps_the_table_back(
    tacit: Any, folder: Path, postgres_url: str
) -> None:
    import psycopg

    plan = GRANTS.replace("version: 1\n", f"version: 1\nsource: {json.dumps(postgres_url)}\n")
    plan = re.sub(r"columns: [^]]*\], | rows: .*\]\],", "", plan)
    (folder / "tacit.yaml").write_text(plan, "utf-8")
    with psycopg.connect(postgres_url, autocommit=True) as database:
        database.execute(
            "CREATE TABLE patients (name text PRIMARY KEY, ward text NOT NULL, condition text "
            "NOT NULL)"
        )
        database.execute("INSERT INTO patients VALUES ('Ann', 'A', 'flu'), ('Bob', 'B', 'cancer')")
        database.execute("CREATE TABLE wards (ward text PRIMARY KEY, floor text NOT NULL)")
        database.execute("INSERT INTO wards VALUES ('A', 'first'), ('B', 'second'), ('C', 'third')")
        database.execute("CREATE ROLE nurses")
        try:
            ran = tacit("grants", "nurses")
            assert (
                ran.status == 0
                and "CREATE OR REPLACE VIEW" in ran.out
                and "GRANT SELECT" in ran.out
                and "cancer" in ran.out.splitlines()[0]
            )
            printed = tacit("grants", "nurses", "--json")
            assert (
                printed.status == 0
                and printed.json["views"] == ["floors"]
                and all(one + ";" in ran.out for one in printed.json["statements"])
            )
            database.execute(ran.out)
            database.execute("SET ROLE nurses")
            assert database.execute("SELECT * FROM nurses.floors ORDER BY 1").fetchall() == [
                ("A", "first"),
                ("B", "second"),
            ]
            for table in ("patients", "wards"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    database.execute(f"SELECT * FROM {table}")
        finally:
            database.execute("RESET ROLE")
            database.execute("DROP SCHEMA IF EXISTS nurses CASCADE")
            database.execute("DROP TABLE patients, wards")
            database.execute("DROP ROLE nurses")


def test_only_a_database_with_users_can_be_granted_something(tacit: Any, folder: Path) -> None:
    (folder / "tacit.yaml").write_text(GRANTS, "utf-8")
    ran = tacit("grants", "nurses")
    assert ran.status == 2 and "PostgreSQL" in ran.err and "tacit serve" in ran.err


def test_grants_of_an_unknown_role(tacit: Any, folder: Path) -> None:
    (folder / "tacit.yaml").write_text(GRANTS, "utf-8")
    ran = tacit("grants", "nurse")
    assert ran.status == 2 and "Did you mean 'nurses'?" in ran.err
