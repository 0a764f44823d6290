"""`serve` as an operator sees it: a process with a port, signals and messages."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.live import PLAN, add_user, write_plan
from tacit.errors import EngineError, MissingExtra, ParameterError, PlanError, TacitError
from tacit.workbench.serve import Options, serve
from waiting import soon

WARDS = {"sql": "SELECT ward FROM wards"}
SCRIPT = """
import sys
from pathlib import Path
from tacit.workbench.serve import serve
if __name__ == "__main__":
    serve(Path(sys.argv[1]), port=0, deciders=1, **eval(sys.argv[2]))
    print("ended", file=sys.stderr)
"""


class Served:
    """A gateway in a process of its own."""

    def __init__(self, folder: Path, plan: Path, options: dict[str, Any]) -> None:
        script = folder / "serve.py"
        script.write_text(SCRIPT)
        self.log = folder / "messages"
        path = os.pathsep.join(str(Path(__file__).parents[2] / part) for part in ("src", "tests"))
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(script), str(plan), repr(options)],
                stderr=log,
                stdout=log,
                env={**os.environ, "PYTHONPATH": path},
            )
        self.url = self.wait_for("Tacit answers at ").split()[3]

    def wait_for(self, words: str, seconds: float = 40) -> str:
        """The line of messages that has the words."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for line in self.log.read_text().splitlines():
                if words in line:
                    return line
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())


@contextmanager
def served(folder: Path, plan: Path, **options: Any) -> Iterator[Served]:
    found = Served(folder, plan, options)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.process.kill()
        found.process.wait()


def ask(url: str, token: str, timeout: float = 30) -> httpx.Response:
    return httpx.post(
        f"{url}/query",
        json=WARDS,
        headers={"Authorization": f"Bearer {token}"},
        timeout=timeout,
        trust_env=False,
        verify=False,
    )


def children(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").iterdir():
        found += [int(one) for one in (task / "children").read_text().split()]
    return found


@pytest.mark.slow
def test_it_answers_reads_again_and_ends(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    token = add_user(plan, "ann", ["nurses"])
    with served(tmp_path, plan) as gateway:
        assert ask(gateway.url, token).json()["rows"] == [["A"], ["B"]]
        below = children(gateway.process.pid)
        assert below
        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_for("read again")
        assert ask(gateway.url, token).status_code == 200
        gateway.process.send_signal(signal.SIGTERM)
        assert gateway.process.wait(20) == 0
        said = gateway.log.read_text()
        assert said.rstrip().endswith("ended")
        assert "Traceback" not in said and token not in said
        assert soon(lambda: not any(Path(f"/proc/{one}").exists() for one in below))


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux' own")
def test_systemd_is_told_when_it_answers_and_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(f"\0tacit-{os.getpid()}")
        systemd.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@tacit-{os.getpid()}")
        plan = write_plan(tmp_path)
        add_user(plan, "ann", ["nurses"])
        with served(tmp_path, plan) as gateway:
            assert systemd.recv(100) == b"READY=1"
            gateway.process.send_signal(signal.SIGTERM)
            assert systemd.recv(100) == b"STOPPING=1"


@pytest.mark.slow
def test_ctrl_c_ends_it_also_while_a_query_runs(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    token = add_user(plan, "ann", ["nurses"])
    with served(tmp_path, plan) as gateway:
        assert ask(gateway.url, token).status_code == 200
        idle = socket.create_connection(("127.0.0.1", int(gateway.url.rsplit(":", 1)[1])))
        gateway.process.send_signal(signal.SIGINT)
        assert gateway.process.wait(20) == 0
        idle.close()


@pytest.mark.slow
def test_data_in_files_are_read_again_when_told(tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("ward\nA\n")
    plan = write_plan(
        tmp_path,
        "version: 1\n"
        "tables: {wards: {columns: {ward: text}}, w: {columns: {a: text}, rows: [[x]]}}\n"
        "secrets: {s: 'S(a) :- w(a)'}\n"
        "roles: {nurses: {default: allow, deny: [s]}}\n",
    )
    token = add_user(plan, "ann", ["nurses"])
    with served(tmp_path, plan) as gateway:
        assert ask(gateway.url, token).json()["rows"] == [["A"]]
        (tmp_path / "wards.csv").write_text("ward\nB\n")
        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_for("read again")
        assert ask(gateway.url, token).json()["rows"] == [["B"]]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("version: 1\nroles: [", PlanError, "tacit.yaml"),
        (PLAN.partition("roles:")[0], PlanError, "roles"),
        (PLAN.replace("deny: [cancer]", "deny: [nothing]"), TacitError, "nothing"),
        (PLAN.replace("deny: [cancer]", "deny: [cancer], allow: [stays]"), PlanError, "cancer"),
    ],
)
def test_a_plan_that_cannot_be_used_stops_the_start(
    tmp_path: Path, text: str, error: type[TacitError], words: str
) -> None:
    plan = write_plan(tmp_path)
    add_user(plan, "ann", ["nurses"])
    plan.write_text(text)
    with pytest.raises(error, match=words):
        serve(plan, port=0, workbench=False)


def test_roles_that_contradict_themselves_stop_the_start_also_with_pages(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    plan = write_plan(tmp_path, PLAN.replace("deny: [cancer]", "deny: [cancer], allow: [stays]"))
    with pytest.raises(PlanError, match="is allowed stays, which discloses cancer"):
        serve(plan, port=0, workbench=True)


def test_without_users_there_is_nobody_to_answer(tmp_path: Path) -> None:
    with pytest.raises(TacitError):
        serve(write_plan(tmp_path), port=0, workbench=False)


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(EngineError, match="cannot listen"):
            serve(write_plan(tmp_path), port=other.getsockname()[1])


def test_a_host_that_is_not_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(
        EngineError, match=r"cannot listen at nohost:.*--host is an address of this machine"
    ):
        serve(write_plan(tmp_path), host="nohost", port=0)


def test_a_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "httptools" else find(name, *more),
    )
    with pytest.raises(MissingExtra, match=r"pip install 'tacit-privacy\[gateway\]'"):
        serve(write_plan(tmp_path), port=0)


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 0},
        {"row_limit": -1},
        {"queries": 0},
        {"port": 70000},
        {"audit_queries": "some"},
        {"decide_seconds": float("nan")},
    ],
)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Options(**options)


def test_the_token_for_the_numbers_is_not_shown() -> None:
    assert "hidden" not in repr(Options(metrics_token="hidden"))
